"""What a program has besides circular buffers, whose it is, and what is left of it."""

import os
import pathlib
import unittest

from standin import BIN, PROGRAMS, Case, dump, tidemark

SQUARE, ROW = [[1, 1, 1, 1]], [[0, 2, 3, 2]]
MATMUL = "ttnn::matmul"


def items(process, kind, device=0):
    return sorted((b for b in process["buffers"] if b["kind"] == kind and b["device"] == device),
                  key=lambda b: (b["address"] or 0, b["bytes_per_bank"], b["banks"] or 0))


class Parts(Case):
    def test_dataflow_buffers(self):
        running, _, seen = self.look("today", PROGRAMS, "parts")
        for device in (0, 1):
            self.assertEqual([(b["address"], b["bytes_per_bank"], b["core_ranges"], b["view"], b["name"])
                              for b in items(seen, "dfb", device)],
                             [(105664, 8192, SQUARE, False, "compute + writer"), (105664, 8192, ROW, False, "compute + writer"),
                              (113856, 2048, SQUARE, False, "compute + writer")])
            told = next(k for d in seen["devices"] if d["device"] == device for k in d["kinds"] if k["kind"] == "dfb")
            self.assertEqual(told["reserved_bytes"], 8192 + 2048 + 4 * 8192)
        self.assertEqual(running.finish()[0], 0)

    def test_dataflow_buffers_on_a_second_mesh(self):
        running, _, seen = self.look("today", PROGRAMS, "second_mesh", TIDEMARK_KEEP="1")
        for device in (0, 1):
            self.assertEqual([(b["address"], b["bytes_per_bank"], b["core_ranges"]) for b in items(seen, "dfb", device)],
                             [(105664, 8192, ROW)], device)
        self.assertEqual(running.finish()[0], 0)
        end = next(p for p in dump(self.directory) if p["pid"] == running.process.pid)
        for kind in (k for d in end["devices"] for k in d["kinds"]):
            self.assertEqual((kind["reserved_bytes"], kind["double_frees"], kind["unknown_frees"], kind["rereports"]), (0, 0, 0, 0))

    def test_scratchpads_are_said_not_to_be_seen(self):
        running, _, seen = self.look("today", PROGRAMS, "parts")
        self.assertIn(b"metal: scratchpads are not seen", pathlib.Path(seen["ledger"]).read_bytes())
        self.assertEqual(running.finish()[0], 0)
        running, _, seen = self.look("today", PROGRAMS, "recb")
        self.assertNotIn(b"metal: scratchpads", pathlib.Path(seen["ledger"]).read_bytes())
        self.assertEqual(running.finish()[0], 0)

    def test_the_name_is_the_operation_or_the_kernels_or_a_number(self):
        for release in ("v0.66", "today"):
            with self.subTest(release=release):
                running, _, seen = self.look(release, PROGRAMS, "parts")
                self.assertEqual([(b["name"], b["program"]) for b in items(seen, "cb")],
                                 [("program 3", None), (MATMUL, MATMUL)])
                # the operation has ended
                self.assertEqual([b["program"] for b in items(seen, "dram")], [None])
                self.assertEqual(running.finish()[0], 0)

    def test_code_of_all_kernels(self):
        running, _, seen = self.look("today", PROGRAMS, "parts")
        self.assertEqual(sorted((b["name"], b["asked_bytes"], b["address"]) for b in items(seen, "kernel")),
                         [("compute + writer", 1200, None), (MATMUL, 1000, None)])
        self.assertEqual(running.finish()[0], 0)

    def test_nothing_is_left_when_programs_outlive_their_device(self):
        for release in ("v0.66", "today"):
            with self.subTest(release=release):
                running, _, _ = self.look(release, PROGRAMS, "parts", TIDEMARK_KEEP="1")
                self.assertEqual(running.finish()[0], 0)
                end = self.at_the_end(running)
                self.assertEqual(end["buffers"], [])
                for kind in (k for d in end["devices"] for k in d["kinds"]):
                    self.assertEqual((kind["reserved_bytes"], kind["double_frees"], kind["unknown_frees"], kind["rereports"]),
                                     (0, 0, 0, 0), kind["kind"])

    def test_a_clash_says_what_the_runtime_compared(self):
        done = self.run_program(os.path.join(BIN, "tidemark"), "run", "--dir", self.directory, "--", PROGRAMS, "oom",
                                directory=self.directory)
        text = " ".join(done.stderr.split())
        self.assertIn("clash with L1 buffers: they end at 0x99cc0, the lowest L1 buffer is at 0x75000", text)
        self.assertIn("do not fit into L1: they need 2,097,152 of the 1,393,472 B that a core has for them, and would end at "
                      "0x219cc0, 703,680 B beyond the end of L1 at 0x16e000", text)

    def test_stacks_have_no_frames_of_the_preload(self):
        running, _, seen = self.look("today", PROGRAMS, "parts", TIDEMARK_STACKS="24")
        live = next(p for p in dump(self.directory, "--stacks") if p["pid"] == running.process.pid)
        for buffer in live["buffers"]:
            modules = {f["module"] for f in buffer["stack"]}
            self.assertFalse([m for m in modules if m and "tidemark-metal" in m])
            self.assertIn("libtt_metal.so", modules)
            self.assertIn("metal_programs", modules)
        self.assertEqual(running.finish()[0], 0)

    def test_the_place_of_a_buffer_is_outside_of_the_runtime(self):
        running, _, _ = self.look("today", PROGRAMS, "trace", "replay", TIDEMARK_STACKS="24")
        text = tidemark("dump", "--dir", self.directory)
        self.assertIn("standin_allocate", text)
        self.assertNotIn("tt::tt_metal::", text)
        self.assertEqual(running.finish()[0], 0)


if __name__ == "__main__":
    unittest.main()
