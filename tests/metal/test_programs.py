"""Circular buffers and the other memory of programs."""

import os
import pathlib
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
                self.assertEqual(kind_of(seen, "cb")["rereports"], 0) # the old one ended
                self.assertEqual(running.finish()[0], 0)

    def test_they_end_with_their_program(self):
        for release in RELEASES: # v0.57 says nothing when a program ends, but its device is closed
            with self.subTest(release=release):
                running, _, _ = self.look(release, PROGRAMS, "prog", TIDEMARK_KEEP="1")
                self.assertEqual(running.finish()[0], 0)
                end = self.at_the_end(running)
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

    def test_programs_without_names_do_not_fill_the_ledger(self):
        sizes = []
        for total in ("5000", "20000"):
            running, _, seen = self.look("today", PROGRAMS, "programs", total, "10", "nameless")
            names = {b["name"] for b in seen["buffers"] if b["kind"] == "cb"}
            self.assertEqual((len(circular(seen)), names), (10, {"programs without a name"}))
            sizes.append(512 * os.stat(seen["ledger"]).st_blocks)
            self.assertEqual(running.finish()[0], 0)
        self.assertLess(sizes[1] - sizes[0], 256 * 1024)

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
                # The refused program has nothing on the device, and a clash is no lack of memory.
                self.assertEqual([b for b in seen["buffers"] if b["kind"] == "cb"], [])
                self.assertIsNone(kind_of(seen, "cb"))
                self.assertIsNone(kind_of(seen, "kernel"))
                clash, = [f["figures"] for f in seen["findings"] if f["what"] == "clash"]
                self.assertEqual((clash["cb_begin"], clash["cb_end"], clash["devices"], clash["clashes"]),
                                 (105664, 629952, 2, 1))
                self.assertEqual(clash["cb_end"] - clash["overlap_bytes"], clash["lowest_l1"])
                self.assertIn("ends at %d" % clash["cb_end"], text)
                self.assertIn("allocated at %d" % clash["lowest_l1"], text)
                self.assertEqual(running.finish()[0], 0)

    def test_a_refused_program_that_is_launched_again(self):
        for release in RELEASES:
            with self.subTest(release=release):
                running, text, seen = self.look(release, PROGRAMS, "retry")
                self.assertEqual((text.count("refused"), text.count("launched")), (2, 1))
                cbs = [b for b in seen["buffers"] if b["kind"] == "cb" and b["device"] == 0]
                self.assertEqual(sorted(b["address"] for b in cbs), [105664 + 65536 * i for i in range(8)])
                cb = kind_of(seen, "cb")
                self.assertEqual((cb["reserved_bytes"], cb["peak_reserved_bytes"], cb["allocations"]), (8 * 65536 * 4,) * 2 + (8,))
                code = kind_of(seen, "kernel")
                self.assertEqual(code and (code["asked_bytes"], code["allocations"]),
                                 (1268, 1) if release in ("v0.66", "today") else None)
                self.assertEqual([(f["figures"]["clashes"], f["severity"])
                                  for f in seen["findings"] if f["what"] == "clash"], [(2, "error")])
                self.assertEqual(running.finish()[0], 0)

    def test_what_is_refused_for_another_reason_is_no_lack_of_memory(self):
        for release in RELEASES:
            with self.subTest(release=release):
                running, text, seen = self.look(release, PROGRAMS, "wrong")
                self.assertEqual(text.count("refused: L1_SMALL"), 2)
                for device in seen["devices"]:
                    self.assertEqual({k["kind"]: k["out_of_memory"] for k in device["kinds"] if k["out_of_memory"]}, {})
                self.assertIn(b"metal: the runtime refused a buffer for another reason than lack of memory",
                              pathlib.Path(seen["ledger"]).read_bytes())
                self.assertEqual(running.finish()[0], 0)


if __name__ == "__main__":
    unittest.main()
