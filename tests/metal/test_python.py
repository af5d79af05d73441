"""Python programs that open the runtime with RTLD_LOCAL, as ttnn's package does, and use the package beside it: nothing in them imports
the one for the other, and there is one ledger for each process."""

import json
import os
import pathlib
import subprocess
import sys
import unittest

from standin import SANITIZE, STANDIN, Case, Running, dump, environment, tidemark

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMMAND = os.path.join(os.environ["TIDEMARK_BIN"], "tidemark")
LIBRARY = os.path.join(STANDIN, "today", "libtt_metal.so")
HAS_PYTEST = subprocess.run([sys.executable, "-c", "import pytest"], capture_output=True, check=False).returncode == 0

HEAD = f"""
import ctypes, multiprocessing, sys, threading
import tidemark
runtime = ctypes.CDLL({LIBRARY!r}) # releases the GIL around each call
runtime.standin_open.restype = runtime.standin_allocate.restype = ctypes.c_void_p
runtime.standin_open.argtypes = [ctypes.c_char_p, ctypes.c_uint, ctypes.c_uint, ctypes.c_size_t, ctypes.c_size_t]
runtime.standin_allocate.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_uint64, ctypes.c_uint64, ctypes.c_void_p]
runtime.standin_release.argtypes = [ctypes.c_void_p]
MIB = 1 << 20
def open_mesh():
    return runtime.standin_open(b"n150", 1, 1, 0, 0)
def allocate(mesh, size, kind=0):
    return runtime.standin_allocate(mesh, kind, size, 2048, None)
def ready():
    print("ready", flush=True)
    sys.stdin.read()
"""


@unittest.skipIf(SANITIZE, "the interpreter is not built with it")
class Python(Case):
    def start(self, code, *options):
        """A program under `tidemark run`, with nothing set for it but where the package is."""
        script = os.path.join(self.directory, "model.py")
        pathlib.Path(script).write_text(HEAD + code, encoding="utf-8")
        self.ledgers = os.path.join(self.directory, "ledgers")
        os.mkdir(self.ledgers)
        running = Running([COMMAND, "run", "--dir", self.ledgers, *options, "--", sys.executable, script],
                          environment(PYTHONPATH=str(ROOT / "python")))
        self.addCleanup(running.__exit__)
        return running

    def phases(self, process):
        """What the process has marked, in order."""
        text = tidemark("phases", "--json", "--dir", self.ledgers, "--pid", str(process["pid"]))
        return [phase for source in json.loads(text)["phases"]["inputs"] for run in source["runs"] for phase in run["phases"]]

    def names(self, process):
        return [phase["name"] for phase in self.phases(process)]

    def test_phases_and_buffers_in_one_ledger(self):
        running = self.start("""
mesh = open_mesh()
with tidemark.phase("MODEL_CREATION"):
    weights = allocate(mesh, 24 * MIB)
with tidemark.phase("TRAINING"):
    with tidemark.phase("FORWARD_PASS"):
        runtime.standin_release(allocate(mesh, 12 * MIB))
    kept = allocate(mesh, 6 * MIB)
tidemark.phase("END")
held, peak = tidemark.memory_allocated(), tidemark.max_memory_allocated("tt:0")
print(held // MIB, peak // MIB, tidemark.memory_stats()["allocation.all.current"], tidemark.device_memory()[0]["dram"]["buffers"])
print(len({line.split(None, 5)[5] for line in open("/proc/self/maps") if "libtidemark.so" in line}), "ttnn" in sys.modules)
ready()
""")
        self.assertEqual(running.text, "30 36 2 2\n1 False\n")
        process, = dump(self.ledgers)
        self.assertEqual(sorted(b["asked_bytes"] >> 20 for b in process["buffers"]), [6, 24])
        self.assertEqual([(phase["name"], phase["dram_cumulative_current"] >> 20) for phase in self.phases(process)],
                         [("MODEL_CREATION", 24), ("TRAINING", 24), ("FORWARD_PASS", 24), ("TRAINING", 30), ("END", 30)])
        code, out, err = running.finish()
        self.assertEqual((code, out), (0, ""))
        self.assertIn("36.00MiB", err)

    def test_a_stack_of_both(self):
        """The call of the runtime has released the GIL, and so has a thread's."""
        running = self.start("""
class Layer:
    def forward(self, mesh, size):
        return allocate(mesh, size)
mesh = open_mesh()
Layer().forward(mesh, MIB)
thread = threading.Thread(target=lambda: Layer().forward(mesh, 2 * MIB))
thread.start()
thread.join()
ready()
""", "--stacks", "30")
        process, = dump(self.ledgers, "--stacks")
        stacks = {b["asked_bytes"] >> 20: [f["text"] or f["module"] for f in b["stack"]] for b in process["buffers"]}
        for size, outermost in ((1, "<module>"), (2, "<lambda>")):
            stack = stacks[size]
            ours = [f.rsplit(" ", 1)[1] if "model.py:" in f else f for f in stack if "model.py:" in f or f == "libtt_metal.so"]
            self.assertEqual(ours[0], "libtt_metal.so", stack)
            self.assertEqual([f for f in ours if f != "libtt_metal.so"], ["allocate", "Layer.forward", outermost])
            self.assertEqual(ours[-3:], ["allocate", "Layer.forward", outermost])
        self.assertEqual(running.finish()[0], 0)

    def test_threads_with_nested_phases(self):
        running = self.start("""
mesh = open_mesh()
def work(name, turn, other):
    for i in range(3):
        turn.acquire()
        with tidemark.phase(name):
            with tidemark.phase(f"{name}_{i}"):
                allocate(mesh, MIB)
        other.release()
one, two = threading.Semaphore(1), threading.Semaphore(0)
threads = [threading.Thread(target=work, args=a) for a in (("A", one, two), ("B", two, one))]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
ready()
""")
        process, = dump(self.ledgers)
        self.assertEqual(len(process["buffers"]), 6)
        self.assertEqual(self.names(process),
                         [name for i in range(3) for thread in "AB" for name in (thread, f"{thread}_{i}", thread)])
        self.assertEqual(running.finish()[0], 0)

    def test_multiprocessing(self):
        """Each child has a ledger of its own, with its own phases and buffers. A forked one is still inside the phase of its parent."""
        for method, around in (("fork", ["PARENT"]), ("spawn", [])):
            with self.subTest(method=method):
                self.directory = os.path.join(self.directory, method)
                os.mkdir(self.directory)
                running = self.start(f"""
def worker(size, done, go):
    with tidemark.phase(f"WORKER_{{size}}"):
        allocate(open_mesh(), size * MIB)
    done.put(tidemark.memory_allocated() // MIB)
    go.wait()
if __name__ == "__main__":
    context = multiprocessing.get_context({method!r})
    mesh = open_mesh()
    with tidemark.phase("PARENT"):
        allocate(mesh, MIB)
        done, go = context.Queue(), context.Event()
        workers = [context.Process(target=worker, args=(size, done, go)) for size in (2, 3)]
        for w in workers:
            w.start()
        print(sorted(done.get() for w in workers), tidemark.memory_allocated() // MIB)
    ready()
    go.set()
    for w in workers:
        w.join()
    print([w.exitcode for w in workers])
""")
                self.assertEqual(running.text, "[2, 3] 1\n")
                found = {tuple(b["asked_bytes"] >> 20 for b in p["buffers"]): self.names(p)
                         for p in dump(self.ledgers) if p["buffers"]}
                self.assertEqual(found, {(1,): ["PARENT"], (2,): ["WORKER_2", *around], (3,): ["WORKER_3", *around]})
                self.assertEqual(running.finish()[:2], (0, "[0, 0]\n"))

    @unittest.skipUnless(HAS_PYTEST, "pytest is not installed")
    def test_limits_of_tests(self):
        test = os.path.join(self.directory, "test_model.py")
        pathlib.Path(test).write_text(HEAD + """
import pytest
@pytest.fixture(scope="session")
def mesh():
    return open_mesh()
@pytest.mark.limit_device_memory("dram=8MiB")
def test_small(mesh):
    runtime.standin_release(allocate(mesh, 6 * MIB))
@pytest.mark.limit_device_memory("dram=8MiB")
def test_large(mesh):
    runtime.standin_release(allocate(mesh, 12 * MIB))
@pytest.mark.limit_device_leaks("1MiB")
def test_leak(mesh):
    allocate(mesh, 3 * MIB)
""", encoding="utf-8")
        done = subprocess.run([COMMAND, "run", "--dir", self.directory, "--", sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p",
                               "tidemark.pytest_plugin", "--tidemark", test], env=environment(PYTHONPATH=str(ROOT / "python")),
                              cwd=self.directory, capture_output=True, text=True, timeout=120, check=False)
        self.assertIn("1 failed, 2 passed, 1 error", done.stdout)
        self.assertIn("dram: the peak of 12 MiB is above the limit of 8 MiB", done.stdout)
        self.assertIn("dram: the test left 3 MiB behind, above the limit of 1 MiB", done.stdout)


if __name__ == "__main__":
    unittest.main()
