"""Circular buffers and the other memory of programs."""

import unittest

from standin import PROGRAMS, RELEASES, Case, dump, facts_of


def circular(process, device=0):
    return sorted((b["address"], b["bytes_per_bank"], b["view"], tuple(map(tuple, b["core_ranges"] or ())))
                  for b in process["buffers"] if b["kind"] == "cb" and b["device"] == device)


def kind_of(process, name, device=0):
    device = next(d for d in process["devices"] if d["device"] == device)
    return next((k for k in device["kinds"] if k["kind"] == name), None)


SQUARE = ((0, 0, 1, 1),)


class Programs(Case):
    def test_circular_buffers_of_two_programs(self):
        for release in RELEASES:
            with self.subTest(release=release):
                running, _, seen = self.look(release, PROGRAMS, "prog")
                wide = ((0, 0, 3, 1),)
                for device in (0, 1):
                    self.assertEqual(circular(seen, device), sorted([
                        (105664, 4096, False, SQUARE), (109760, 4096, False, SQUARE), (113856, 4096, False, SQUARE),
                        (1429504, 4096, True, SQUARE), (105664, 8192, False, wide), (113856, 8192, False, wide)]))
                self.assertEqual(running.finish()[0], 0)

    def test_a_core_counts_shared_addresses_once(self):
        for release in RELEASES:
            with self.subTest(release=release):
                running, _, seen = self.look(release, PROGRAMS, "prog")
                # the first takes 12288 bytes of four cores, the second 16384 of eight, from the same address on
                self.assertEqual(kind_of(seen, "cb")["reserved_bytes"], 8 * 16384)
                self.assertEqual(running.finish()[0], 0)

    def test_a_new_layout_replaces_the_old(self):
        for release in RELEASES:
            with self.subTest(release=release):
                running, _, seen = self.look(release, PROGRAMS, "recb")
                self.assertEqual(circular(seen), [(105664, 8192, False, SQUARE)])
                self.assertEqual(running.finish()[0], 0)

    def test_they_end_with_their_program(self):
        for release in RELEASES[1:]: # v0.57 says nothing when a program ends
            with self.subTest(release=release):
                running, _, _ = self.look(release, PROGRAMS, "prog", TIDEMARK_KEEP="1")
                self.assertEqual(running.finish()[0], 0)
                end = next(p for p in dump(self.directory) if p["pid"] == running.process.pid)
                self.assertEqual(circular(end), [])

    def test_thousands_of_programs(self):
        for release in ("v0.64", "today"):
            with self.subTest(release=release):
                running, text, seen = self.look(release, PROGRAMS, "programs", "3000", "300")
                self.assertEqual(len(circular(seen)), 300)
                most = facts_of(text, "fullest")[0]["core"]
                self.assertEqual(max(c[1] for c in circular(seen)), most)
                self.assertEqual(seen["lost_events"], 0)
                self.assertEqual(running.finish()[0], 0)

    def test_the_operation_is_named(self):
        for release in ("v0.66", "today"):
            with self.subTest(release=release):
                running, _, seen = self.look(release, PROGRAMS, "programs", "10", "10")
                names = {b["name"] or b["program"] for b in seen["buffers"] if b["kind"] == "cb"}
                self.assertTrue(any(name and "matmul" in name for name in names), names)
                self.assertEqual(running.finish()[0], 0)

    def test_kernel_code(self):
        running, _, seen = self.look("today", PROGRAMS, "prog")
        code = kind_of(seen, "kernel")
        self.assertIsNotNone(code)
        self.assertEqual(code["asked_bytes"], 2 * (1268 + 1668 + 868))
        self.assertEqual(running.finish()[0], 0)

    def test_clash_and_out_of_memory_are_counted(self):
        for release in RELEASES:
            with self.subTest(release=release):
                running, text, seen = self.look(release, PROGRAMS, "oom")
                self.assertEqual(text.count("refused: Out of Memory"), 3)
                for name, size in (("dram", 64424509440), ("l1", 1073741824), ("l1_small", 262144)):
                    kind = kind_of(seen, name)
                    self.assertEqual((kind["out_of_memory"], kind["last_out_of_memory_bytes"]), (1, size), name)
                self.assertIn("clash with L1 buffers", text)
                self.assertEqual(running.finish()[0], 0)


if __name__ == "__main__":
    unittest.main()
