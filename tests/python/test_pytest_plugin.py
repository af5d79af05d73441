"""The pytest plugin, in real runs of pytest with tests that report what they would hold."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

from support import ROOT

HAS_PYTEST = subprocess.run([sys.executable, "-c", "import pytest"], capture_output=True, check=False).returncode == 0
HAS_XDIST = HAS_PYTEST and subprocess.run([sys.executable, "-c", "import xdist"], capture_output=True, check=False).returncode == 0

HEAD = """
import itertools, pytest, tidemark
GIB, MIB, KIB = 1 << 30, 1 << 20, 1 << 10
ids = itertools.count(1)

def hold(size, kind="dram", device=0, banks=1):
    number = next(ids)
    assert tidemark.alloc(kind, number, size, device=device, banks=banks, name=f"{kind} {number}") == 0
    return number

def use(size, kind="dram", device=0, banks=1):
    tidemark.free(kind, hold(size, kind, device, banks), device=device)
"""


@unittest.skipUnless(HAS_PYTEST, "pytest is not installed")
class Plugin(unittest.TestCase):
    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="tidemark-pytest."))
        self.addCleanup(shutil.rmtree, self.directory)

    def run_pytest(self, tests, *options, plugin=True, conftest="", **env):
        (self.directory / "test_it.py").write_text(HEAD + tests)
        (self.directory / "conftest.py").write_text(conftest)
        loads = ["-p", "tidemark.pytest_plugin"] if plugin else []
        path = os.pathsep.join(p for p in os.environ["PATH"].split(os.pathsep) if not os.path.exists(f"{p}/tidemark"))
        environment = {**os.environ, "PATH": path, "COLUMNS": "160", "PY_COLORS": "0", **env}
        return subprocess.run([sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-W", "error", *loads, *options, "test_it.py"],
                              cwd=self.directory, env=environment, capture_output=True, text=True, timeout=200, check=False)

    def outcomes(self, done):
        """The last line: "1 failed, 2 passed"."""
        return done.stdout.strip().splitlines()[-1].strip("= ").rsplit(" in ", 1)[0]

    def check(self, done, outcomes, *lines):
        self.assertEqual(self.outcomes(done), outcomes, done.stdout + done.stderr)
        for line in lines:
            self.assertIn(line, done.stdout)

    def test_limits(self):
        done = self.run_pytest("""
@pytest.mark.limit_device_memory("dram=8GiB", "l1=1MiB")
def test_below():
    use(8 * GIB)
    use(64 * MIB, "l1", banks=64)

@pytest.mark.limit_device_memory("dram=8GiB", "l1=1MiB")
def test_dram():
    use(8 * GIB + 1 * MIB)

@pytest.mark.limit_device_memory("dram=8GiB", "l1=1MiB")
def test_l1_is_per_core():
    use(65 * MIB, "l1", banks=65)
    use(64 * MIB + 64, "l1", banks=64)

@pytest.mark.limit_device_memory(dram="2 MiB", l1=KIB)
def test_keywords():
    use(3 * MIB)

@pytest.mark.limit_device_memory("l1_device=1MiB", "dram_bank=1KiB")
def test_scopes():
    use(2 * MIB, "l1", banks=64)
    use(64 * KIB, banks=32)

@pytest.mark.limit_device_memory("1MiB")
def test_any_kind():
    use(2 * MIB, "trace")
""", "--tidemark")
        self.check(done, "5 failed, 1 passed",
                   "dram: the peak of 8193 MiB is above the limit of 8 GiB (on device 0; 0 B was held before the test, at most 1 buffer)",
                   "l1: the peak of 1.00 MiB is above the limit of 1 MiB (on device 0, in one core; 0 B was held before the test",
                   "dram: the peak of 3 MiB is above the limit of 2 MiB (on device 0; ",
                   "l1: the peak of 2 MiB is above the limit of 1 MiB (on device 0; ",
                   "dram: the peak of 2 KiB is above the limit of 1 KiB (on device 0, in one bank; ",
                   "trace: the peak of 2 MiB is above the limit of 1 MiB (on device 0; ")

    def test_what_is_held_counts_and_what_was_before_does_not(self):
        done = self.run_pytest("""
@pytest.fixture(scope="module")
def model():
    return hold(3 * MIB)

def test_before(model):
    use(100 * MIB)

@pytest.mark.limit_device_memory("dram=4MiB")
def test_after(model):
    use(1 * MIB)

@pytest.mark.limit_device_memory("dram=4MiB")
def test_with_the_model(model):
    use(2 * MIB)
""", "--tidemark")
        self.check(done, "1 failed, 2 passed", "dram: the peak of 5 MiB is above the limit of 4 MiB (on device 0; 3 MiB was held before")

    def test_a_reset_in_a_test_hides_nothing(self):
        done = self.run_pytest("""
@pytest.mark.limit_device_memory("dram=4MiB")
def test_reset():
    use(5 * MIB)
    tidemark.reset_peak_memory_stats()
    assert tidemark.max_memory_allocated() == 0
""", "--tidemark")
        self.check(done, "1 failed", "dram: the peak of 5 MiB is above")

    def test_devices(self):
        done = self.run_pytest("""
@pytest.mark.limit_device_memory("dram=1MiB", device=1)
def test_one():
    use(2 * MIB, device=0)
    use(1 * MIB, device=1)

@pytest.mark.limit_device_memory("dram=1MiB", device="tt:1")
def test_other():
    use(2 * MIB, device=1)

@pytest.mark.limit_device_memory("dram=1MiB")
def test_each():
    use(2 * MIB, device=3)
""", "--tidemark")
        self.check(done, "2 failed, 1 passed", "(on device 1; ", "(on device 3; ")

    def test_the_nearest_marker_wins(self):
        done = self.run_pytest("""
pytestmark = pytest.mark.limit_device_memory("dram=1MiB", "l1=1KiB")

@pytest.mark.limit_device_memory("dram=3MiB")
def test_more():
    use(2 * MIB)

@pytest.mark.limit_device_memory("dram=3MiB")
def test_the_rest_applies():
    use(2 * KIB, "l1")
""", "--tidemark")
        self.check(done, "1 failed, 1 passed", "l1: the peak of 2 KiB is above")

    def test_leaks(self):
        done = self.run_pytest("""
kept = []

@pytest.fixture(scope="session")
def weights():
    kept.append(hold(100 * MIB))

@pytest.fixture(scope="module")
def model(request):
    request.getfixturevalue("weights")
    number = hold(30 * MIB)
    yield number
    tidemark.free("dram", number)

@pytest.fixture
def tensors():
    numbers = []
    yield numbers
    for number in numbers:
        tidemark.free("dram", number)

@pytest.mark.limit_device_leaks("1MiB")
def test_fixtures_are_not_leaks(model, tensors):
    tensors.append(hold(10 * MIB))

@pytest.mark.limit_device_leaks("1MiB")
def test_leak():
    kept.append(hold(2 * MIB))
    use(50 * MIB)

class Buffer:
    def __init__(self): self.me, self.number = self, hold(5 * MIB)
    def __del__(self): tidemark.free("dram", self.number)

@pytest.mark.limit_device_leaks("dram=0")
def test_garbage_is_not_held():
    Buffer()

@pytest.mark.limit_device_leaks("1MiB")
def test_the_end_of_a_fixture_hides_no_leak(model):
    kept.append(hold(3 * MIB))
""", "--tidemark")
        self.check(done, "4 passed, 2 errors", "dram: the test left 2 MiB behind, above the limit of 1 MiB (on device 0)",
                   "ERROR test_it.py::test_leak\n", "dram: the test left 3 MiB behind", "ERROR test_it.py::test_the_end_of_a_fixture")

    def test_other_outcomes(self):
        done = self.run_pytest("""
@pytest.mark.limit_device_memory("dram=1MiB")
def test_fails_anyway():
    use(2 * MIB)
    assert False, "by itself"

@pytest.mark.xfail
@pytest.mark.limit_device_memory("dram=1MiB")
def test_expected():
    use(2 * MIB)

@pytest.mark.limit_device_memory("dram=1MiB")
def test_skipped():
    pytest.skip("not today")

@pytest.fixture
def broken():
    use(9 * MIB)
    raise OSError("no device")

@pytest.mark.limit_device_memory("dram=1MiB")
def test_never_runs(broken):
    pass
""", "--tidemark")
        self.check(done, "1 failed, 1 skipped, 1 xfailed, 1 error", "by itself", "- device memory -", "dram: the peak of 2 MiB")
        self.assertNotIn("not checked", done.stdout)

    def test_wrong_markers(self):
        for mark, error in {'"hbm=1GiB"': "'hbm' is not a kind of memory; the kinds are dram, l1", '"dram=much"': "'much' is not a size",
                            '"dram=1", device="cuda:0"': "'cuda:0' is not a device", "": "there is no size",
                            "device=0": "there is no size", "dram=-1": "-1 is not a size", "1e9": "1000000000.0 is not a size",
                            '"dram"': "'dram' has no size; write for example dram=1GiB", '"l1="': "'l1' has no size",
                            '"dram=1MiB", "dram=2MiB"': "there are two limits for dram",
                            '"dram=1MiB", dram="1MiB"': "there are two limits for dram", "1, 2": "there are two limits for each kind",
                            '"dram=1MiB, l1=1KiB"': "'1MiB, l1=1KiB' is not a size"}.items():
            done = self.run_pytest(f"@pytest.mark.limit_device_memory({mark})\ndef test_x(): pass\n")
            self.check(done, "1 error", f"@pytest.mark.limit_device_memory: {error}")

    def test_the_report(self):
        tests = """
@pytest.mark.parametrize("size", range(1, 8))
def test_size(size):
    use(size * MIB)
    if size == 7:
        hold(64 * KIB)
        use(128 * KIB, "l1", banks=64)
def test_nothing(): pass
"""
        done = self.run_pytest(tests, "--most-device-memory", "2")
        self.check(done, "8 passed", """dram, on a whole device
        peak        left  test
       7 MiB      64 KiB  test_it.py::test_size[7] (device 0)
       6 MiB         0 B  test_it.py::test_size[6] (device 0)
l1, in one core
        peak        left  test
       2 KiB         0 B  test_it.py::test_size[7] (device 0)
""")
        self.assertEqual(self.run_pytest(tests, "--tidemark").stdout.count("(device 0)"), 6)
        self.assertEqual(self.run_pytest(tests, "--most-device-memory=0").stdout.count("::test_size"), 8)
        quiet = self.run_pytest(tests, TIDEMARK="1")
        self.check(quiet, "8 passed")
        self.assertNotIn("device memory", quiet.stdout)
        (self.directory / "pytest.ini").write_text("[pytest]\ntidemark = true\nmost_device_memory = 1\n")
        self.assertEqual(self.run_pytest(tests).stdout.count("(device 0)"), 2)

    def test_json(self):
        target = self.directory / "memory.json"
        self.run_pytest("""
def test_a():
    use(4 * MIB, banks=4)
    hold(MIB, banks=2, device=2)
@pytest.mark.limit_device_memory("cb=1KiB")
def test_b(): pass
""", "--device-memory-json", str(target))
        document = json.loads(target.read_text())
        self.assertEqual((document["schema"], document["version"]), ("tidemark.pytest", 1))
        first, second = document["tests"]
        self.assertEqual(first, {
            "test": "test_it.py::test_a", "worker": None, "unchecked": None,
            "devices": {"0": {"dram": {"peak": 4 << 20, "peak_per_bank": 1 << 20, "buffers": 1, "growth": 0, "growth_per_bank": 0}},
                        "2": {"dram": {"peak": 1 << 20, "peak_per_bank": 1 << 19, "buffers": 1, "growth": 1 << 20, "growth_per_bank": 1 << 19}}}})
        self.assertEqual(second["unchecked"], "nothing was reported about cb")

    def test_what_cannot_be_checked_is_said(self):
        limited = '@pytest.mark.limit_device_memory("dram=1MiB")\ndef test_x():\n    {}\n\ndef test_y(): pass\n'
        off = self.run_pytest(limited.format("use(2 * MIB)"))
        self.check(off, "2 passed", "1 test has limits that were not checked: tracking is off (pytest --tidemark turns it on)\n  test_it.py::test_x\n")
        nothing = self.run_pytest(limited.format("pass"), "--tidemark")
        self.check(nothing, "2 passed", "no device memory was reported in any test",
                   "1 test has limits that were not checked: the process reported no device memory")
        for options in ((), ("--tidemark",)):
            strict = self.run_pytest(limited.format("pass"), "--tidemark-strict", *options)
            self.check(strict, "1 failed, 1 passed", "the limit of device memory was not checked: ")
        on = self.run_pytest(limited.format("use(2 * MIB)"), TIDEMARK="1")  # by the environment, or by `tidemark run`
        self.check(on, "1 failed, 1 passed", "the peak of 2 MiB is above")

    def test_without_the_library(self):
        """Said once; tests run; and no limit seems to be kept."""
        tests = '@pytest.mark.limit_device_memory("dram=1MiB")\ndef test_x(): pass\ndef test_y(): pass\n'
        said = "libtidemark cannot be used, so nothing is tracked: /none/such.so"
        for options in ((), ("--tidemark",), *([("--tidemark", "-n", "2")] if HAS_XDIST else ())):
            done = self.run_pytest(tests, *options, TIDEMARK_LIBRARY="/none/such.so")
            self.check(done, "2 passed", f"1 test has limits that were not checked: {said}")
            self.assertEqual(done.stderr.count(said), 1)
            self.assertNotIn("turns it on", done.stdout)
        self.check(self.run_pytest(tests, "--tidemark-strict", TIDEMARK_LIBRARY="/none/such.so"), "1 failed, 1 passed", said)

    def test_wrong_options(self):
        for options, error in {("--most-device-memory=-1",): "'-1' is not a number of tests", ("-o", "most_device_memory=x"): "'x' is not a number",
                               ("--device-memory-json", "/none/x.json"): "No such file or directory: '/none/x.json'"}.items():
            done = self.run_pytest("def test_x(): pass\n", *options)
            self.assertEqual((done.returncode, done.stdout), (4, ""))
            self.assertIn(error, done.stderr)
            self.assertNotIn("INTERNALERROR", done.stderr)

    def test_tests_of_all_sorts(self):
        """Of unittest, with parameters that have markers, in forked children, and with children of their own."""
        done = self.run_pytest("""
import os, unittest

class Old(unittest.TestCase):
    @pytest.mark.limit_device_memory("dram=1MiB")
    def test_old(self):
        for size in (1, 2):
            with self.subTest(size=size):
                use(size * MIB)

@pytest.mark.limit_device_memory("dram=2MiB")
@pytest.mark.parametrize("size", [2, 3, pytest.param(4, marks=pytest.mark.limit_device_memory("dram=4MiB"))])
def test_parameters(size):
    use(size * MIB)

@pytest.mark.limit_device_memory("dram=1MiB")
def test_child():
    child = os.fork()
    if child == 0:
        use(9 * MIB)  # in a ledger of its own
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    use(1 * MIB)
""", "--tidemark")
        self.check(done, "2 failed, 3 passed", "FAILED test_it.py::Old::test_old", "FAILED test_it.py::test_parameters[3]")

    def test_the_largest_buffers(self):
        done = self.run_pytest("""
@pytest.mark.limit_device_memory("dram=1MiB")
def test_keeps():
    hold(3 * MIB)
""", "--tidemark", PATH=f"{os.environ['TIDEMARK_BIN']}:{os.environ['PATH']}")
        self.check(done, "1 failed", "held after the test:", "dram 1")

    @unittest.skipUnless(HAS_XDIST, "pytest-xdist is not installed")
    def test_workers(self):
        target = self.directory / "memory.json"
        done = self.run_pytest("""
@pytest.mark.limit_device_memory("dram=3MiB")
@pytest.mark.parametrize("size", range(1, 6))
def test_size(size):
    use(size * MIB)
""", "-n", "2", "--most-device-memory", "1", "--device-memory-json", str(target))
        self.check(done, "2 failed, 3 passed", "       5 MiB         0 B  test_it.py::test_size[5] (device 0)")
        self.assertEqual(done.stdout.count("(device 0)\n"), 1)
        tests = json.loads(target.read_text())["tests"]
        self.assertEqual(sorted(t["devices"]["0"]["dram"]["peak"] >> 20 for t in tests), [1, 2, 3, 4, 5])
        self.assertLessEqual({t["worker"] for t in tests}, {"gw0", "gw1"})

    def test_it_is_found_when_it_is_installed(self):
        sys.path.insert(0, str(ROOT / "python"))
        import build_wheel
        import zipfile
        site = self.directory / "site"
        with zipfile.ZipFile(self.directory / build_wheel.build_wheel(str(self.directory))) as wheel:
            wheel.extractall(site)
        done = self.run_pytest("def test_x(): use(MIB)\n", "--tidemark", plugin=False, PYTHONPATH=str(site))
        self.check(done, "1 passed", "test_it.py::test_x (device 0)")


if __name__ == "__main__":
    unittest.main()
