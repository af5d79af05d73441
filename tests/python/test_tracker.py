"""MemoryUsageTracker: names, texts and errors of the original."""

import contextlib
import gc
import io
import unittest

import tidemark
from support import DATA, check_python
from tidemark import Kind, MemoryUsageTracker, RunMode

MB = 1024 * 1024


class Tracker(unittest.TestCase):
    def setUp(self):
        self.next_id = 1
        self.live = []
        self.addCleanup(tidemark.disable)
        self.addCleanup(self.free_live)
        self.addCleanup(MemoryUsageTracker.clear)

    def free_live(self):
        for kind, number in self.live:
            tidemark.free(kind, number)

    def alloc(self, kind, bytes, **details):
        self.next_id += 1
        self.assertEqual(tidemark.alloc(kind, self.next_id, bytes, **details), 0)
        self.live.append((kind, self.next_id))
        return self.next_id

    def free(self, kind, number):
        self.assertEqual(tidemark.free(kind, number), 0)
        self.live.remove((kind, number))

    def raises(self, text):
        return self.assertRaisesRegex(RuntimeError, f"^{text}$")

    def test_segments(self):
        guard = MemoryUsageTracker.begin_capture()
        weights = self.alloc(Kind.DRAM, 4 * MB)
        MemoryUsageTracker.snapshot("MODEL_CREATION")
        activation = self.alloc(Kind.DRAM, 2 * MB)
        self.free(Kind.DRAM, activation)
        self.alloc(Kind.TRACE, MB)
        MemoryUsageTracker.snapshot("FORWARD_PASS")
        self.free(Kind.DRAM, weights)
        MemoryUsageTracker.end_capture()
        self.assertEqual(MemoryUsageTracker.get_trace_names(), ["MODEL_CREATION", "FORWARD_PASS", "END_TRACE"])
        self.assertEqual(MemoryUsageTracker.get_dram_usage("MODEL_CREATION"), tidemark.DRAMUsage(4 * MB, 4 * MB, 0))
        self.assertEqual(MemoryUsageTracker.get_dram_usage("FORWARD_PASS"), tidemark.DRAMUsage(2 * MB, 3 * MB, 2 * MB))
        self.assertEqual(MemoryUsageTracker.get_dram_usage(), tidemark.DRAMUsage(0, 0, 4 * MB))
        self.assertEqual(dict(MemoryUsageTracker.get_dram_usage_all())["FORWARD_PASS"].peak, 2 * MB)
        guard.release()

    def test_l1(self):
        guard = MemoryUsageTracker.begin_capture(RunMode.NO_DISPATCH)
        for kind, size in ((Kind.CB, 12288), (Kind.L1, 2048), (Kind.DFB, 512), (Kind.SCRATCHPAD, 256)):
            self.alloc(kind, 64 * size, bytes_per_bank=size, banks=64)
        self.alloc(Kind.CB, 4096, bytes_per_bank=4096, view=True)
        MemoryUsageTracker.end_capture("op")
        usage = MemoryUsageTracker.get_l1_usage("op")
        self.assertEqual(usage, tidemark.L1UsagePerCore(12288, 2048, 512, 256, 12288 + 2048 + 512 + 256))
        self.assertEqual(MemoryUsageTracker.get_l1_usage_all(), [("op", usage)])
        self.assertEqual(str(usage), "Peak Memory Usage Per Core:\n  CB:         12288 bytes\n  L1:         2048 bytes\n"
                         "  DFB:        512 bytes\n  Scratchpad: 256 bytes\n  Total:      15104 bytes")
        del guard
        self.live.clear()  # what was added up without dispatch is nowhere

    def test_texts_of_figures(self):
        usage = tidemark.DRAMUsage(5 * MB // 2, 3 * MB, MB // 4)
        self.assertEqual(str(usage), "DRAM Usage:\n  Peak:          2.50 MB\n  Allocations:   3.00 MB\n  Deallocations: 0.25 MB")
        self.assertEqual(repr(usage), "DRAMUsage(peak=2621440, total_allocations=3145728, total_deallocations=262144)")

    def test_the_printed_text(self):
        """The sums behind a summary of the original code."""
        segments = [("MODEL_CREATION", 446464, 767488, 767488, 139264, 295168, 434432),
                    ("FORWARD_PASS", 6639488, 11478848, 5142464, 126976, 481472, 539200),
                    ("BACKWARD_PASS", 1905408, 6716416, 6568512, 276480, 158528, 335296)]
        guard = MemoryUsageTracker.begin_capture()
        for name, peak, allocations, deallocations, cb, buffer, total in segments:
            # One tensor stays; temporaries beside it, the first of which reaches the peak, fill up the sums.
            kept = allocations - deallocations
            if kept:
                self.alloc(Kind.DRAM, kept)
            rest = deallocations
            while rest > 0:
                piece = min(rest, peak - kept)
                self.free(Kind.DRAM, self.alloc(Kind.DRAM, piece))
                rest -= piece
            large = self.alloc(Kind.L1, buffer, bytes_per_bank=buffer, banks=1)
            self.free(Kind.L1, large)
            small = self.alloc(Kind.L1, total - cb, bytes_per_bank=total - cb, banks=1)
            circular = self.alloc(Kind.CB, cb, bytes_per_bank=cb, banks=1)
            self.free(Kind.CB, circular)
            self.free(Kind.L1, small)
            MemoryUsageTracker.snapshot(name)
            self.assertEqual(MemoryUsageTracker.get_dram_usage(name), tidemark.DRAMUsage(peak, allocations, deallocations))
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            MemoryUsageTracker.print_memory_usage()
        self.assertEqual(output.getvalue(), (DATA / "graph" / "print_memory_usage.expected").read_text(encoding="utf-8"))
        del guard

    def test_nothing_captured(self):
        self.assertEqual(MemoryUsageTracker.format_memory_usage(), "WARNING: No traces captured\n")

    def test_errors(self):
        with self.raises("MemoryUsageTracker: Cannot snapshot - capture is not active"):
            MemoryUsageTracker.snapshot("X")
        MemoryUsageTracker.end_capture("X")  # nothing to end
        guard = MemoryUsageTracker.begin_capture()
        with self.raises("MemoryUsageTracker: Capture already active"):
            MemoryUsageTracker.begin_capture()
        gc.collect()  # the guard that was never made ends nothing
        MemoryUsageTracker.snapshot("repeated")
        MemoryUsageTracker.snapshot("repeated")
        MemoryUsageTracker.snapshot("unique")
        ambiguous = (r"MemoryUsageTracker: Trace 'repeated' is ambiguous \(2 segments share this name\); "
                     r"use get_dram_usage_all\(\)/get_l1_usage_all\(\) instead")
        for get in (MemoryUsageTracker.get_dram_usage, MemoryUsageTracker.get_l1_usage):
            with self.raises(ambiguous):
                get("repeated")
            with self.raises("MemoryUsageTracker: Trace 'no_such_trace' not found"):
                get("no_such_trace")
            get("unique")
        self.assertEqual(MemoryUsageTracker.get_trace_names(), ["repeated", "repeated", "unique"])
        del guard

    def test_the_guard_ends_and_clears(self):
        guard = MemoryUsageTracker.begin_capture()
        MemoryUsageTracker.snapshot("X")
        del guard
        self.assertEqual(MemoryUsageTracker.get_trace_names(), [])
        MemoryUsageTracker.begin_capture()  # nobody keeps the guard: over at once
        MemoryUsageTracker.begin_capture().release()
        with self.raises("MemoryUsageTracker: Capture already active"):
            MemoryUsageTracker.begin_capture()
        MemoryUsageTracker.clear()

    def test_a_with_statement_ends_the_capture_and_leaves_the_segments(self):
        with MemoryUsageTracker.begin_capture() as guard:
            self.assertIsInstance(guard, tidemark.MemoryUsageGuard)
            MemoryUsageTracker.snapshot("X")
        del guard
        self.assertEqual(MemoryUsageTracker.get_trace_names(), ["X", "END_TRACE"])
        with MemoryUsageTracker.begin_capture():  # the first one is over
            MemoryUsageTracker.end_capture("Y")
        self.assertEqual(MemoryUsageTracker.get_trace_names(), ["X", "END_TRACE", "Y"])
        with self.assertRaises(ValueError), MemoryUsageTracker.begin_capture():
            raise ValueError
        MemoryUsageTracker.begin_capture()

    def test_the_mode_of_another_package(self):
        class TheirRunMode:
            name = "NO_DISPATCH"

        guard = MemoryUsageTracker.begin_capture(TheirRunMode())
        self.alloc(Kind.DRAM, 1000)
        self.live.clear()
        held = tidemark.usage(Kind.DRAM)
        self.assertTrue(held is None or held.asked_bytes == 0, held)  # added up, placed nowhere
        MemoryUsageTracker.end_capture("X")
        self.assertEqual(MemoryUsageTracker.get_dram_usage("X").peak, 1000)
        del guard

    def test_a_guard_at_the_end_of_the_program(self):
        out = check_python(self, "from tidemark import MemoryUsageTracker as t\nguard = t.begin_capture()\nt.snapshot('X')\n"
                           "print(t.get_trace_names())")
        self.assertEqual(out, "['X']\n")


if __name__ == "__main__":
    unittest.main()
