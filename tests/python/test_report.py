"""The calls of the library through the package: buffers, devices, names, stacks, fork, threads."""

import os
import threading
import unittest

import tidemark
from support import check_python
from tidemark import Kind

EEXIST, EINVAL, ENOENT = 17, 22, 2


class Reports(unittest.TestCase):
    device = 0

    def setUp(self):
        Reports.device += 1  # a fresh one for each test
        self.device = Reports.device
        self.assertEqual(tidemark.enable(), 0)
        self.addCleanup(tidemark.disable)

    def ledger(self):
        with open(tidemark.ledger_path(), "rb") as f:
            return f.read()

    def in_ledger(self, text):
        return text in self.ledger()

    def test_the_library_is_there(self):
        self.assertTrue(tidemark.available)
        self.assertEqual(tidemark.version(), tidemark.__version__)
        self.assertTrue(tidemark.is_enabled())
        self.assertTrue(os.path.exists(tidemark.ledger_path()) or tidemark.ledger_path() == "")
        self.assertEqual(tidemark.strerror(-ENOENT), "no live buffer with this id on this device")

    def test_alloc_and_free(self):
        self.assertEqual(tidemark.alloc(Kind.DRAM, 0x1000, 12 * 4096, device=self.device, address=0x1000,
                                        bytes_per_bank=4096, banks=12, page_size=4096, name="weights"), 0)
        self.assertEqual(tidemark.alloc("l1", 7, 64 * 2048, device=self.device, bytes_per_bank=2048, banks=64, cores=64), 0)
        held = tidemark.usage("dram", device=self.device)
        self.assertEqual((held.bytes, held.asked_bytes, held.bank_bytes, held.buffers, held.allocs),
                         (49152, 49152, 4096, 1, 1))
        self.assertEqual(tidemark.usage(Kind.L1, device=self.device).bytes, 64 * 2048)
        self.assertEqual(tidemark.free(Kind.DRAM, 0x1000, device=self.device), 0)
        self.assertEqual(tidemark.free(Kind.DRAM, 0x1000, device=self.device), -ENOENT)
        held = tidemark.usage(Kind.DRAM, device=self.device)
        self.assertEqual((held.bytes, held.peak_bytes, held.buffers, held.frees), (0, 49152, 0, 1))
        self.assertEqual(held.double_frees + held.unknown_frees, 1)
        self.assertEqual(tidemark.free_all(Kind.L1, device=self.device), 1)
        self.assertTrue(self.in_ledger(b"weights"))

    def test_a_buffer_from_before_is_adopted(self):
        self.assertEqual(tidemark.adopt(Kind.DRAM, 1, 4096, device=self.device, banks=2, name="older"), 0)
        self.assertEqual(tidemark.adopt(Kind.DRAM, 1, 64, device=self.device), -EEXIST)
        held = tidemark.usage(Kind.DRAM, device=self.device)
        self.assertEqual((held.bytes, held.peak_bytes, held.buffers, held.allocs, held.adopted), (4096, 4096, 1, 0, 1))
        self.assertEqual(tidemark.free(Kind.DRAM, 1, device=self.device), 0)
        tidemark.disable()
        self.assertEqual(tidemark.adopt(Kind.DRAM, 2, 64, device=self.device), 0)
        self.assertEqual(tidemark.usage(Kind.DRAM, device=self.device).frees, 1)

    def test_a_view_has_no_bytes(self):
        self.assertEqual(tidemark.alloc(Kind.CB, 1, 4096, device=self.device, view=True, ranges=[(0, 0, 7, 7)]), 0)
        held = tidemark.usage(Kind.CB, device=self.device)
        self.assertEqual((held.bytes, held.buffers), (0, 1))
        self.assertEqual(tidemark.free(Kind.CB, 1, device=self.device), 0)

    def test_buffer_in_a_with_statement(self):
        with tidemark.buffer(Kind.TRACE, 5, 1024, device=self.device) as b:
            self.assertEqual((b.kind, b.id, b.bytes, b.device), (Kind.TRACE, 5, 1024, self.device))
            self.assertEqual(tidemark.usage(Kind.TRACE, device=self.device).asked_bytes, 1024)
        self.assertEqual(tidemark.usage(Kind.TRACE, device=self.device).buffers, 0)
        with self.assertRaises(KeyError), tidemark.buffer(Kind.TRACE, 5, 1024, device=self.device):
            raise KeyError
        held = tidemark.usage(Kind.TRACE, device=self.device)
        self.assertEqual((held.buffers, held.allocs, held.unknown_frees + held.double_frees), (0, 2, 0))

    def test_a_buffer_from_before_is_not_freed(self):
        tidemark.disable()
        with tidemark.buffer(Kind.DRAM, 9, 64, device=self.device):
            tidemark.enable()
        self.assertIn(tidemark.usage(Kind.DRAM, device=self.device), (None, tidemark.Usage()))

    def test_off_does_nothing(self):
        tidemark.disable()
        self.assertFalse(tidemark.is_enabled())
        self.assertEqual(tidemark.alloc(Kind.DRAM, 1, 64, device=self.device), 0)
        self.assertEqual(tidemark.free(Kind.DRAM, 1, device=self.device), 0)
        self.assertIsNone(tidemark.usage(Kind.DRAM, device=self.device))

    def test_wrong_kinds_and_sizes_are_answered(self):
        self.assertEqual(tidemark.alloc(99, 1, 64, device=self.device), -EINVAL)
        self.assertEqual(tidemark.alloc("sram", 1, 64, device=self.device), -EINVAL)
        self.assertEqual(tidemark.alloc("dram", 1, 1 << 70, device=self.device), -EINVAL)
        self.assertEqual(tidemark.alloc("dram", 1, 64, bytes_per_bank=1 << 64, device=self.device), -EINVAL)
        self.assertIsNone(tidemark.usage("sram", device=self.device))
        self.assertGreaterEqual(tidemark.lost(), 2)

    def test_ids_that_do_not_fit_are_refused(self):
        lost = tidemark.lost()
        self.assertEqual(tidemark.alloc(Kind.DRAM, 2 ** 64 - 1, 64, device=self.device), 0)
        self.assertEqual(tidemark.alloc(Kind.DRAM, 0, 64, device=self.device), 0)
        for wrong in (-1, -2 ** 63, 2 ** 64, 2 ** 70):
            self.assertEqual(tidemark.alloc(Kind.DRAM, wrong, 64, device=self.device), -EINVAL)
            self.assertEqual(tidemark.free(Kind.DRAM, wrong, device=self.device), -EINVAL)
        self.assertEqual(tidemark.usage(Kind.DRAM, device=self.device).buffers, 2)
        self.assertEqual(tidemark.lost() - lost, 8)

    def test_numbers_that_do_not_fit_are_refused(self):
        """Cut, they would be another device, another core or another size."""
        self.assertEqual(tidemark.alloc(Kind.DRAM, 1, 64, device=self.device), 0)
        self.assertEqual(tidemark.report_cb(64, 1, device=self.device), 0)
        lost = tidemark.lost()
        for device in (self.device + 2 ** 32, self.device - 2 ** 32):
            self.assertEqual(tidemark.alloc(Kind.DRAM, 2, 64, device=device), -EINVAL)
            self.assertEqual(tidemark.free(Kind.DRAM, 1, device=device), -EINVAL)
            self.assertEqual(tidemark.free_all(Kind.DRAM, device=device), -EINVAL)
            self.assertEqual(tidemark.out_of_memory(Kind.DRAM, 64, device=device), -EINVAL)
            self.assertEqual(tidemark.report_kernel(64, device=device), -EINVAL)
            self.assertEqual(tidemark.report_cb(64, 2, device=device), -EINVAL)
            self.assertEqual(tidemark.report_cb_free(1, device=device), -EINVAL)
            self.assertEqual(tidemark.describe_device(device, "n300"), -EINVAL)
            self.assertIsNone(tidemark.usage(Kind.DRAM, device=device))
        self.assertEqual(tidemark.lost() - lost, 16)
        for wrong in ({"banks": 2 ** 32}, {"holding": -1}, {"page_size": 2 ** 32}, {"cores": -1}, {"address": 2 ** 64},
                      {"bytes_per_bank": -2 ** 64}, {"ranges": [(0, 0, 65536, 0)]}, {"ranges": [(-1, 0, 1, 0)]},
                      {"ranges": [(5, 5, 1, 1)]}, {"ranges": [(5, 5)]}):
            self.assertEqual(tidemark.alloc(Kind.CB, 2, 64, device=self.device, **wrong), -EINVAL, wrong)
        self.assertEqual(tidemark.alloc(Kind.DRAM, 2, -2 ** 64, device=self.device), -EINVAL)
        self.assertEqual(tidemark.report_cb(2 ** 64, 1, device=self.device), -EINVAL)
        self.assertEqual(tidemark.report_cb(64, 2 ** 32 + 1, device=self.device), -EINVAL)
        self.assertEqual(tidemark.report_cb(64, 1, (0, 0, 65536, 0), device=self.device), -EINVAL)
        self.assertEqual(tidemark.report_cb_free(2 ** 32 + 1, device=self.device), -EINVAL)
        self.assertEqual(tidemark.report_kernel(2 ** 64, device=self.device), -EINVAL)
        self.assertEqual(tidemark.usage(Kind.DRAM, device=self.device).buffers, 1)
        self.assertEqual(tidemark.usage(Kind.CB, device=self.device).buffers, 1)

    def test_devices(self):
        self.assertEqual(tidemark.describe_device(
            self.device, "n150", chip_id=0x1234, grid=(8, 8),
            regions=[tidemark.Region(Kind.DRAM, 12, 1 << 30, align=32), tidemark.Region("l1", 64, 1499136)]), 0)
        self.assertEqual(tidemark.alloc(Kind.DRAM, 1, 1 << 20, device=self.device), 0)
        held = tidemark.usage(Kind.DRAM, device=self.device)
        self.assertEqual(held.asked_bytes, 1 << 20)
        self.assertGreaterEqual(held.bytes, 1 << 20)
        self.assertLess(held.bank_bytes, 1 << 20)
        self.assertTrue(self.in_ledger(b"n150"))
        tidemark.free_all(Kind.DRAM, device=self.device)

    def test_the_short_interface(self):
        self.assertEqual(tidemark.report_kernel(24576, device=self.device), 0)
        self.assertEqual(tidemark.report_kernel(1024, device=self.device, core_type=1), 0)
        self.assertEqual(tidemark.report_cb(4096, 3, (0, 0, 7, 7), device=self.device), 0)
        self.assertEqual(tidemark.report_cb(8192, 4, device=self.device), 0)
        self.assertEqual(tidemark.usage(Kind.CB, device=self.device).buffers, 2)
        self.assertEqual(tidemark.report_cb_free(3, device=self.device), 0)
        self.assertEqual(tidemark.usage(Kind.CB, device=self.device).buffers, 1)
        self.assertGreater(tidemark.usage(Kind.KERNEL, device=self.device).bytes, 0)
        for kind in (Kind.CB, Kind.KERNEL):
            tidemark.free_all(kind, device=self.device)

    def test_circular_buffers_have_cores(self):
        left, right = (0, 0, 0, 3), tidemark.CoreRange(1, 0, 1, 3)
        self.assertEqual(tidemark.report_cb(100, 0, left, device=self.device), 0)
        self.assertEqual(tidemark.report_cb(200, 0, right, device=self.device), 0)
        self.assertEqual(tidemark.usage(Kind.CB, device=self.device).bytes, 1200)
        self.assertEqual(tidemark.report_cb(50, 0, left, device=self.device), 0)
        self.assertEqual(tidemark.usage(Kind.CB, device=self.device).bytes, 1000)
        self.assertEqual(tidemark.report_cb_free(0, right, device=self.device), 0)
        self.assertEqual(tidemark.report_cb_free(0, right, device=self.device), -ENOENT)
        self.assertEqual(tidemark.report_cb_free(0, device=self.device), 0)
        self.assertEqual(tidemark.usage(Kind.CB, device=self.device).buffers, 0)

    def test_core_identity(self):
        self.assertEqual(tidemark.core_id(5, 3, 0x20000), 0x0005000300020000)

    def test_out_of_memory(self):
        self.assertEqual(tidemark.out_of_memory(Kind.L1, 1 << 30, device=self.device, bytes_per_bank=1 << 24), 0)
        self.assertEqual(tidemark.usage(Kind.L1, device=self.device).out_of_memory, 1)

    def test_names(self):
        number = tidemark.name("encoder.0.weight")
        self.assertNotEqual(number, 0)
        self.assertEqual(tidemark.name("encoder.0.weight"), number)
        self.assertNotEqual(tidemark.name("encoder.1.weight"), number)
        self.assertNotEqual(tidemark.name("Gewichte \N{GREEK SMALL LETTER ALPHA} \udcff"), 0)

    def test_programs_and_phases(self):
        self.assertEqual(tidemark.phase("LOAD").code, 0)
        with tidemark.phase("FORWARD"), tidemark.program("matmul") as outer:
            self.assertEqual((outer.name, outer.code), ("matmul", 0))
            with tidemark.phase("FORWARD/attention"), tidemark.program("softmax"):
                tidemark.alloc(Kind.DRAM, 1, 64, device=self.device)
        self.assertEqual(tidemark.program(None).code, 0)
        for text in (b"LOAD", b"FORWARD", b"FORWARD/attention", b"matmul", b"softmax"):
            self.assertTrue(self.in_ledger(text), text)
        tidemark.free(Kind.DRAM, 1, device=self.device)

    def test_stacks(self):
        self.addCleanup(tidemark.enable_stacks, 0)
        tidemark.enable_stacks(2)
        self.assertEqual(tidemark.stack_depth(), 2)

        def innermost():
            return tidemark.alloc(Kind.DRAM, 1, 64, device=self.device)

        def outermost():
            return innermost()

        self.assertEqual(outermost(), 0)
        for function in (innermost, outermost):
            text = f"{__file__}:{function.__code__.co_firstlineno + 1} {function.__qualname__}"
            self.assertTrue(self.in_ledger(text.encode()), text)
        self.assertFalse(self.in_ledger(b"unittest/case.py"))  # deeper than asked for
        with tidemark.buffer(Kind.DRAM, 2, 64, device=self.device):
            self.assertTrue(self.in_ledger(b" Reports.test_stacks"))
        self.assertFalse(self.in_ledger(b"tidemark/_report.py"))  # the package's own frames tell nobody anything
        with self.assertRaises(ValueError):
            tidemark.enable_stacks(65)
        tidemark.free(Kind.DRAM, 1, device=self.device)

    def test_threads(self):
        def work(number):
            for i in range(500):
                tidemark.alloc(Kind.DRAM, number << 32 | i, 64, device=self.device)
                if i % 2:
                    tidemark.free(Kind.DRAM, number << 32 | i, device=self.device)

        threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        held = tidemark.usage(Kind.DRAM, device=self.device)
        self.assertEqual((held.buffers, held.allocs, held.asked_bytes), (2000, 4000, 2000 * 64))
        self.assertEqual(tidemark.free_all(Kind.DRAM, device=self.device), 2000)


class Processes(unittest.TestCase):
    def test_on_by_the_environment(self):
        code = "import tidemark; print(tidemark.is_enabled(), tidemark.stack_depth())"
        self.assertEqual(check_python(self, code), "False 0\n")
        self.assertEqual(check_python(self, code, TIDEMARK="1", TIDEMARK_STACKS="8"), "True 8\n")
        self.assertEqual(check_python(self, code, TT_ALLOC_TRACKING_ENABLED="1", TIDEMARK_STACKS="many"), "True 0\n")

    def test_a_forked_child_has_a_ledger_of_its_own(self):
        code = """
import os, tidemark
tidemark.enable(); tidemark.enable_stacks(4)
tidemark.alloc('dram', 1, 100, name='parent')
number, path = tidemark.name('both'), tidemark.ledger_path()
child = os.fork()
if child == 0:
    tidemark.alloc('dram', 1, 30, name='child')
    good = tidemark.ledger_path() != path and tidemark.usage('dram').asked_bytes == 30
    good = good and b'child' in open(tidemark.ledger_path(), 'rb').read()
    tidemark.free('dram', 1)
    os._exit(0 if good else 1)
assert os.waitpid(child, 0)[1] == 0
assert tidemark.ledger_path() == path and tidemark.usage('dram').asked_bytes == 100
tidemark.free('dram', 1)
print('fine')
"""
        self.assertEqual(check_python(self, code), "fine\n")


if __name__ == "__main__":
    unittest.main()
