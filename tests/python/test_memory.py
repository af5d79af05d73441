"""The live figures of this process, and the functions that torch.cuda has, too."""

import math
import threading
import unittest

import tidemark
from support import check_python, run_python
from tidemark import Kind, _memory
from tidemark._sizes import format_size, parse_size

MIB = 1 << 20


class Memory(unittest.TestCase):
    next_device = 500

    def setUp(self):
        tidemark.enable()
        self.addCleanup(tidemark.disable)
        Memory.next_device += 1
        self.device = Memory.next_device
        self.addCleanup(lambda: [tidemark.free_all(kind, device=self.device) for kind in Kind])

    def alloc(self, kind, number, size, **details):
        self.assertEqual(tidemark.alloc(kind, number, size, device=self.device, **details), 0)

    def free(self, kind, number):
        self.assertEqual(tidemark.free(kind, number, device=self.device), 0)

    def test_device_memory(self):
        self.assertNotIn(self.device, tidemark.device_memory())
        self.alloc("dram", 1, 3 * MIB, banks=2)
        self.alloc("dram", 2, MIB, banks=2)
        self.free("dram", 1)
        figures = tidemark.device_memory()[self.device]
        self.assertEqual(figures["dram"], {"bytes": MIB, "peak": 4 * MIB, "asked": MIB, "buffers": 1, "per_bank": MIB // 2,
                                           "peak_per_bank": 2 * MIB})
        self.assertEqual(figures["l1"]["bytes"], 0)
        # Not every runtime says how much these take: nothing reported is not nothing there.
        self.assertEqual(set(figures["kernel"].values()), {None})
        self.assertIn(self.device, tidemark.devices())
        tidemark.report_kernel(100, device=self.device)
        self.assertEqual(tidemark.device_memory()[self.device]["kernel"]["bytes"], 100)

    def test_the_names_of_torch(self):
        self.alloc("dram", 1, 3 * MIB)
        self.alloc("dram", 2, MIB)
        self.free("dram", 1)
        self.assertEqual(tidemark.memory_allocated(self.device), MIB)
        self.assertEqual(tidemark.memory_allocated(f"tt:{self.device}"), MIB)
        self.assertEqual(tidemark.max_memory_allocated(self.device), 4 * MIB)
        self.assertEqual(tidemark.memory_reserved(self.device), MIB)
        tidemark.reset_peak_memory_stats(self.device)
        self.assertEqual(tidemark.max_memory_allocated(self.device), MIB)
        self.alloc("dram", 3, MIB)
        self.free("dram", 3)  # nobody looked in between
        self.assertEqual(tidemark.max_memory_allocated(self.device), 2 * MIB)
        self.assertEqual(tidemark.max_memory_reserved(str(self.device)), 2 * MIB)
        self.assertEqual(tidemark.device_memory()[self.device]["dram"]["peak"], 4 * MIB)
        self.assertEqual(tidemark.memory_allocated(self.device, kind="l1"), 0)

    def test_stats(self):
        self.assertEqual(tidemark.memory_stats(self.device), {})
        self.alloc("dram", 1, 1000, bytes_per_bank=512, banks=2)
        self.alloc("dram", 2, 1000, bytes_per_bank=512, banks=2)
        self.free("dram", 1)
        self.alloc("l1", 1, 64)
        tidemark.out_of_memory("dram", MIB, device=self.device)
        stats = tidemark.memory_stats(self.device)
        for name, expected in {"allocated_bytes.all": (1024, 2048, 2048, 1024), "active_bytes.all": (1024, 2048, 2048, 1024),
                               "reserved_bytes.all": (1024, 2048, 2048, 1024), "requested_bytes.all": (1000, 2000, 2000, 1000),
                               "allocation.all": (1, 2, 2, 1), "active.all": (1, 2, 2, 1),
                               "allocated_bytes.l1": (64, 64, 64, 0)}.items():
            self.assertEqual(tuple(stats[f"{name}.{what}"] for what in ("current", "peak", "allocated", "freed")), expected, name)
        self.assertEqual((stats["num_ooms"], stats["num_alloc_retries"]), (1, 0))
        self.assertEqual(tidemark.memory_stats(self.device, kind="l1")["allocated_bytes.all.current"], 64)
        self.assertFalse([key for key in stats if "cb" in key])

    def test_adopted_buffers_balance(self):
        self.assertEqual(tidemark.adopt("dram", 1, 100, device=self.device), 0)
        stats = tidemark.memory_stats(self.device)
        self.assertEqual((stats["allocation.all.allocated"], stats["allocation.all.freed"]), (1, 0))
        self.free("dram", 1)
        stats = tidemark.memory_stats(self.device)
        self.assertEqual((stats["allocation.all.allocated"], stats["allocation.all.freed"]), (1, 1))
        self.assertEqual((stats["allocated_bytes.all.allocated"], stats["allocated_bytes.all.freed"]), (100, 100))

    def test_summary(self):
        self.assertEqual(tidemark.memory_summary(self.device), f"device {self.device}: nothing was reported\n")
        self.alloc("dram", 1, 3 * MIB, banks=2)
        self.alloc("cb", 1, 4096, ranges=[(0, 0, 1, 0)])
        self.assertEqual(tidemark.memory_summary(self.device),
                         f"device {self.device}\n"
                         "kind   held   peak  asked for  in one bank  buffers\n"
                         "dram  3 MiB  3 MiB      3 MiB     1536 KiB        1\n"
                         "cb    4 KiB  4 KiB      4 KiB        2 KiB        1\n")

    def test_unknown_is_not_zero(self):
        self.assertTrue(math.isnan(tidemark.memory_allocated(self.device)))
        self.alloc("dram", 1, 64)
        self.assertTrue(math.isnan(tidemark.max_memory_allocated(self.device, kind="firmware")))

    def test_names_of_devices(self):
        class TorchDevice:
            index = self.device

        self.alloc("dram", 1, 64)
        self.assertEqual(tidemark.memory_allocated(TorchDevice()), 64)
        for wrong in ("cuda:0", "tt:", "tt:x", "x", -1, 1 << 32, 1.5, object()):
            with self.assertRaisesRegex(ValueError, "is not a device"):
                tidemark.memory_allocated(wrong)
        with self.assertRaisesRegex(ValueError, "'hbm' is not a kind of memory; the kinds are dram, l1, l1_small"):
            tidemark.memory_allocated(self.device, kind="hbm")

    def test_windows_do_not_disturb_each_other(self):
        window, inner = _memory.PeakWindow(), _memory.PeakWindow()
        self.alloc("dram", 1, 100)
        window.start()
        self.alloc("dram", 2, 400)
        self.free("dram", 2)
        inner.start()
        self.alloc("dram", 3, 50)
        self.free("dram", 3)
        tidemark.reset_peak_memory_stats(self.device)
        self.alloc("dram", 4, 7)
        peaks = [w.usage(self.device, Kind.DRAM).window_peak_bytes for w in (window, inner)]
        self.assertEqual(peaks, [500, 150])
        self.assertEqual(tidemark.max_memory_allocated(self.device), 107)
        window.stop()
        inner.stop()

    def test_threads_miss_no_peak(self):
        """A window that spans all others sees the one high peak, however often the others begin anew."""
        window, stop = _memory.PeakWindow(), threading.Event()
        self.alloc("dram", 1, 1)
        window.start()

        def reset():
            while not stop.is_set():
                tidemark.reset_peak_memory_stats(self.device)

        thread = threading.Thread(target=reset)
        thread.start()
        for i in range(300):
            self.alloc("dram", 2, 5000 if i == 150 else 10)
            self.free("dram", 2)
        stop.set()
        thread.join()
        self.assertEqual(window.usage(self.device, Kind.DRAM).window_peak_bytes, 5001)
        window.stop()


class Processes(unittest.TestCase):
    def test_the_default_device(self):
        """None, and what torch means by a device without a number."""
        self.assertEqual(check_python(self, """
import tidemark
class Device: # as torch.device("tt") is
    type, index = "tt", None
tidemark.alloc('dram', 1, 10, device=5)
tidemark.alloc('dram', 1, 20, device=3)
print([tidemark.memory_allocated(device) for device in (None, "tt", Device(), "tt:5", 5)], tidemark.devices())
""", TIDEMARK="1"), "[20, 20, 20, 10, 10] [3, 5]\n")

    def test_off(self):
        self.assertEqual(check_python(self, "import tidemark\ntidemark.reset_peak_memory_stats()\n"
                                      "print(tidemark.memory_allocated(), tidemark.memory_stats(), tidemark.device_memory())"),
                         "nan {} {}\n")

    def test_without_the_library(self):
        done = run_python("import tidemark\ntidemark.reset_peak_memory_stats()\nprint(tidemark.memory_allocated() / 2**20, "
                          "tidemark.memory_stats(), tidemark.device_memory(), tidemark.memory_summary())",
                          TIDEMARK_LIBRARY="/none/such.so")
        self.assertEqual((done.returncode, done.stdout), (0, "nan {} {} device 0: nothing was reported\n\n"), done.stderr)

    def test_a_forked_child_begins_anew(self):
        code = """
import os, tidemark
tidemark.alloc('dram', 1, 100); tidemark.free('dram', 1)
tidemark.reset_peak_memory_stats()
tidemark._memory.PeakWindow().start()
child = os.fork()
if child == 0:
    tidemark.alloc('dram', 2, 30)
    os._exit(0 if tidemark.max_memory_allocated() == 30 else 1)
assert os.waitpid(child, 0)[1] == 0
print(tidemark.max_memory_allocated())
"""
        self.assertEqual(check_python(self, code, TIDEMARK="1"), "0\n")


class Sizes(unittest.TestCase):
    def test_parsing(self):
        for text, size in {"4096": 4096, "64K": 65536, "64KiB": 65536, "64 kb": 65536, "1.5GiB": 3 << 29, "0x1000": 4096,
                           " 8 GiB ": 8 << 30, "32 B": 32, 77: 77}.items():
            self.assertEqual(parse_size(text), size, text)
        for wrong in ("", "x", "5 X", "1.5", "0.3KiB", "-1", -1, "99999999E", None, True, "1 2", "0x"):
            with self.assertRaises(ValueError, msg=repr(wrong)):
                parse_size(wrong)

    def test_formatting(self):
        for size, text in {0: "0 B", 32: "32 B", 1024: "1 KiB", 1464 << 10: "1464 KiB", 3 << 29: "1536 MiB", 1500: "1.46 KiB",
                           -(2 << 20): "-2 MiB", math.nan: "unknown", 1 << 40: "1 TiB"}.items():
            self.assertEqual(format_size(size), text)


if __name__ == "__main__":
    unittest.main()
