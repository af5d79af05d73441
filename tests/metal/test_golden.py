"""The stand-in makes the calls that the real library makes, in the same order, with the same figures."""

import os
import pathlib
import re
import unittest

from standin import PROGRAMS, SANITIZE, STANDIN, Case

DATA = pathlib.Path(__file__).resolve().parents[1] / "data" / "metal"

# What only one of the two has: parts of the real library that no hook needs, and notes of its log.
LEFT_OUT = ("BankManager::", "MeshTrace::", "MeshDeviceImpl::begin", "MeshDeviceImpl::end", "MeshDeviceImpl::release",
            "MeshDeviceImpl::reshape", "MeshDevice::reshape", "MeshDevice::create_submesh", "PinnedMemoryImpl",
            "mark_address", "ProgramImpl C1", "!!! failed request", "===  hook", "=== hook", " ", "track_allocate addr")
NUMBERS = re.compile(r"(?:->|\b(?:addr|size|size@24|type@32|layout@36|page|npages|perbank|aligned|l1|dram|trace|glob|id)=) ?(\d+)")


def calls(path):
    """Each call as a name and its figures; pointers, and numbers that only look like arguments, are left out."""
    lines = [re.match(r"\[(\d+)\] (.*)", line).groups() for line in path.read_text().splitlines()]
    main = lines[0][0]
    result = []
    for thread, text in lines:
        name = text.split(" ")[0].split("(")[0]
        if text.startswith(LEFT_OUT) or (name.startswith("AllocatorImpl::") and thread != main):
            continue
        if text.startswith("===") or text.startswith("!!!"):
            result.append(re.sub(r" prog=.*", "", text))
            continue
        if " > " in text:
            name += " >"
        elif text.endswith(" <"):
            name += " <"
        figures = [] if name.startswith(("SharedMemory", "kernel_compile", "Device::")) else NUMBERS.findall(text)
        cores = re.search(r"numcores=1(\w{8})$| \((\d+,\d+\)-\(\d+,\d+)\)", text)
        result.append(" ".join([name, *figures, *(cores.groups("") if cores else [])]).strip())
    return result


@unittest.skipIf(SANITIZE, "the log is no test of memory")
class Golden(Case):
    def compare(self, golden, *program, until=None, status=0):
        log = pathlib.Path(self.directory) / "calls"
        self.run_program(PROGRAMS, *program, status=status, STANDIN_LOG=str(log),
                         LD_PRELOAD=os.path.join(STANDIN, "metal_call_log.so"))
        expected, got = calls(DATA / (golden + ".calls")), calls(log)
        if until:
            expected, got = (x[:x.index("=== MARK " + until)] for x in (expected, got))
        self.assertGreater(len(expected), 50)
        self.assertEqual(got, expected)

    def test_prog(self):
        self.compare("prog", "prog")

    def test_recb(self):
        self.compare("recb", "recb")

    def test_oom(self):
        self.compare("oom", "oom")

    def test_trace(self):
        self.compare("trace0", "trace")

    def test_submesh(self):
        self.compare("submesh", "submesh")

    def test_pin(self):
        self.compare("pin", "pin")

    def test_late(self):
        self.compare("late", "late")

    def test_exit(self):
        self.compare("exit", "exit", until="exit-without-close", status=3)

    def test_quick_exit(self):
        self.compare("quick_exit", "quick_exit", status=4)
