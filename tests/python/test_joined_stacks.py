"""Call stacks of a Python program whose C code reports buffers: C frames, the Python frames that called them, and the rest."""

import json
import os
import re
import unittest

from support import check_python

PROBE = os.path.join(os.environ["TIDEMARK_TOOLS"], "stack_probe.so")
COMMAND = os.path.join(os.environ["TIDEMARK_BIN"], "tidemark")

# A ctypes.PyDLL holds the GIL during a call, a CDLL releases it.
HEAD = f"""
import ctypes, gc, os, subprocess, sys, threading, weakref
held, released = ctypes.PyDLL({PROBE!r}), ctypes.CDLL({PROBE!r})
callback = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_uint64)
for library in (held, released):
    for name in ("inner", "outer", "in_handler", "with_error", "at_exit"):
        getattr(library, "probe_" + name).argtypes = [ctypes.c_uint64]
held.probe_back.argtypes = [ctypes.c_uint64, callback]
def leaf(number):
    return held.probe_outer(number)
class Model:
    def forward(self, number):
        return leaf(number)
def show():
    print(subprocess.run([{COMMAND!r}, "dump", "--json", "--stacks", "--pid", str(os.getpid())], capture_output=True,
                         check=True, text=True).stdout)
"""


def words(frame):
    """A Python frame's text, or the function and the file of an address."""
    return frame["text"] or f"{frame['function']} in {frame['module']}"


class JoinedStacks(unittest.TestCase):
    def stacks(self, code, **env):
        """The stack of each live buffer, as texts."""
        out = check_python(self, HEAD + code + "\nshow()", TIDEMARK="1", **{"TIDEMARK_STACKS": "40", **env})
        buffers = [b for process in json.loads(out)["dump"]["processes"] for b in process["buffers"]]
        return {b["id"]: [words(f) for f in b["stack"]] for b in buffers}

    @staticmethod
    def python_functions(stack):
        """Of the frames like "file.py:12 function", the functions."""
        return [f.rsplit(" ", 1)[1] for f in stack if re.search(r":[0-9]+ [^ ]+$", f)]

    def assert_order(self, stack, *texts):
        """Each text is in the stack, in this order."""
        at = 0
        for text in texts:
            found = [i for i in range(at, len(stack)) if text in stack[i]]
            self.assertTrue(found, f"{text} after {stack[:at]} in {stack}")
            at = found[0] + 1

    def test_c_then_python_then_its_caller(self):
        stack = self.stacks("assert Model().forward(1) == 0")[1]
        self.assert_order(stack, "probe_inner", "probe_outer", " leaf", " Model.forward", " <module>", "libc.so")
        self.assertEqual(self.python_functions(stack), ["leaf", "Model.forward", "<module>"])
        self.assertFalse([f for f in stack if " in python" in f or " in libpython" in f], stack)

    def test_without_the_gil_no_object_is_touched(self):
        stack = self.stacks("assert released.probe_outer(1) == 0")[1]
        self.assert_order(stack, "probe_inner", "probe_outer", "python", "libc.so")
        self.assertEqual(self.python_functions(stack), [])

    def test_a_callback(self):
        stack = self.stacks("assert held.probe_back(1, callback(lambda number: leaf(number))) == 0")[1]
        self.assert_order(stack, "probe_inner", "probe_outer", " leaf", " <lambda>", " <module>", "probe_back", "libc.so")

    def test_a_signal_handler_gets_no_python_frames(self):
        for unwind in ("auto", "fp"):
            stack = self.stacks("assert held.probe_in_handler(1) == 0", TIDEMARK_UNWIND=unwind)[1]
            self.assert_order(stack, "probe_inner")
            self.assertEqual(self.python_functions(stack), [])

    def test_frame_pointers(self):
        stack = self.stacks("assert Model().forward(1) == 0", TIDEMARK_UNWIND="fp")[1]
        self.assertEqual(self.python_functions(stack), ["leaf", "Model.forward", "<module>"])

    def test_the_depth_counts_frames_of_both(self):
        stack = self.stacks("assert Model().forward(1) == 0", TIDEMARK_STACKS="5")[1]
        self.assertEqual(len(stack), 5)

    def test_a_name_in_any_language_and_a_long_one(self):
        stack = self.stacks("""
exec(compile("def grüße(n): return leaf(n)", "/ж" * 300 + "/end.py", "exec"))
assert grüße(1) == 0""")[1]
        self.assert_order(stack, " leaf", "/end.py:1 grüße", " <module>")

    def test_the_interpreter_notices_nothing(self):
        self.stacks("""
code, before = leaf.__code__, sys.getrefcount(leaf.__code__)
text = sys.getrefcount(code.co_filename)
for number in range(1000):
    assert Model().forward(number) == 0
assert (sys.getrefcount(code), sys.getrefcount(code.co_filename)) == (before, text)
def hold():
    local = Model()
    assert local.forward(999) == 0
    return weakref.ref(local)
assert hold()() is None # nothing keeps the frame
assert gc.isenabled()
gc.disable()
assert leaf(1000) == 0 and not gc.isenabled()
gc.enable()
try:
    held.probe_with_error(1001)
    raise SystemExit("the exception is gone")
except KeyError as error:
    assert error.args == ("still here",)
""")

    def test_garbage_is_not_collected_inside_a_report(self):
        """A finalizer that runs inside a report could call the program's allocator."""
        self.stacks("""
inside = ctypes.c_int.in_dll(held, "probe_is_inside")
class Loop:
    def __init__(self):
        self.me = self
    def __del__(self):
        if inside.value:
            os._exit(3)
def deep(levels):
    return deep(levels - 1) if levels else held.probe_inner(1)
for levels in range(30, 40): # makes so many frame objects
    gc.collect()
    Loop()
    gc.set_threshold(gc.get_count()[0] + 15)
    deep(levels)
""")

    def test_threads(self):
        stacks = self.stacks("""
def work(first):
    for number in range(first, first + 200):
        assert (Model().forward(number) if number % 2 else released.probe_outer(number)) == 0
threads = [threading.Thread(target=work, args=(1000 * n,)) for n in range(1, 5)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
""")
        self.assertEqual(len(stacks), 800)
        for number, stack in stacks.items():
            expected = ["leaf", "Model.forward", "work"] if number % 2 else []
            self.assertEqual(self.python_functions(stack)[:3], expected)

    def test_after_the_interpreter_has_ended(self):
        check_python(self, HEAD + "assert held.probe_at_exit(1) == 0", TIDEMARK="1", TIDEMARK_STACKS="40")
