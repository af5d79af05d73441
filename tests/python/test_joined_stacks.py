"""Call stacks of a Python program whose C code reports buffers: C frames, the Python frames that called them, and the rest."""

import json
import os
import re
import sys
import unittest

from support import check_python

PROBE = os.path.join(os.environ["TIDEMARK_TOOLS"], "stack_probe.so")
COMMAND = os.path.join(os.environ["TIDEMARK_BIN"], "tidemark")

# A ctypes.PyDLL holds the GIL during a call, a CDLL releases it.
HEAD = f"""
import ctypes, gc, os, subprocess, sys, threading, warnings, weakref
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

    def assert_no_interpreter(self, stack):
        """No function of the interpreter is in the stack, except where the program starts."""
        self.assertFalse([f for f in stack if re.search(" in (lib)?python", f) and not f.startswith("_start ")], stack)

    def test_c_then_python_then_its_caller(self):
        stack = self.stacks("assert Model().forward(1) == 0")[1]
        self.assert_order(stack, "probe_inner", "probe_outer", " leaf", " Model.forward", " <module>", "libc.so")
        self.assertEqual(self.python_functions(stack), ["leaf", "Model.forward", "<module>"])
        self.assert_no_interpreter(stack)

    def test_without_the_gil(self):
        """As bindings call that release it around each operation."""
        stacks = self.stacks("""
class Released(Model):
    def forward(self, number):
        return released.probe_outer(number)
assert Released().forward(1) == 0
assert Released().forward(2) == 0
""")
        for stack in stacks.values():
            self.assert_order(stack, "probe_inner", "probe_outer", " Released.forward", " <module>", "libc.so")
            self.assert_no_interpreter(stack)

    def test_a_callback(self):
        """Each part of Python is where the interpreter was called from."""
        for library in ("held", "released"):
            stack = self.stacks(f"released.probe_back.argtypes = held.probe_back.argtypes\n"
                                f"assert {library}.probe_back(1, callback(lambda number: leaf(number))) == 0")[1]
            self.assert_order(stack, "probe_inner", "probe_outer", " leaf", " <lambda>", "probe_back", " <module>", "libc.so")
            self.assertEqual(self.python_functions(stack), ["leaf", "<lambda>", "<module>"])

    def test_callbacks_in_callbacks(self):
        """Also where a C function of the interpreter itself calls Python."""
        stack = self.stacks("""
def steps(number):
    yield from (leaf(n) for n in [number])
def back(levels, number):
    if levels == 0:
        return sorted([number], key=lambda n: list(steps(n)))[0] * 0
    return held.probe_back(number, callback(lambda n: back(levels - 1, n)))
assert back(3, 1) == 0
""", TIDEMARK_STACKS="64")[1]
        found = [f.split(" ")[-1] if ".so" not in f else f.split(" ")[0] for f in stack]
        found = [f for f in found if f in ("leaf", "steps", "back", "probe_back") or "<" in f]
        inner = ["leaf", "steps.<locals>.<genexpr>", "steps", "back.<locals>.<lambda>", "back", "back.<locals>.<lambda>", "probe_back"]
        outer = ["back", "back.<locals>.<lambda>", "probe_back"] * 2 + ["back", "<module>"]
        self.assertEqual([f for f in found if f != "ffi_closure_unix64"], inner + outer)

    def test_lines_are_those_of_python(self):
        """In long functions, statements over several lines, and after code without lines."""
        out = check_python(self, HEAD + """
import re, json
body = ["def long(number):"]
for i in range(3000):
    body.append(f"    x{i & 31} = (number,")
    body.append(f"        {i}) if number else None")
    if i & 127 == 0:
        body.append(f"    try:\\n        with open('/dev/null') as f: check(\\n            {i})\\n    finally: pass")
lines = {}
def check(number):
    lines[number] = [sys._getframe(1).f_lineno, sys._getframe(0).f_lineno + 1]
    assert (released if number & 128 else held).probe_inner(number) == 0
exec(compile("\\n".join(body), "long.py", "exec"))
long(1)
document = json.loads(subprocess.run([%r, "dump", "--json", "--stacks", "--pid", str(os.getpid())], capture_output=True,
                                     check=True, text=True).stdout)
buffers = [b for process in document["dump"]["processes"] for b in process["buffers"]]
assert len(buffers) == 24
for b in buffers:
    texts = [f["text"] for f in b["stack"] if f["text"]]
    found = [int(re.search(r":([0-9]+) ", t).group(1)) for t in texts[:2]]
    assert found == lines[b["id"]][::-1], (texts, lines[b["id"]])
""" % COMMAND, TIDEMARK="1", TIDEMARK_STACKS="40")
        self.assertEqual(out, "")

    REMARK = "frames unknown, the thread has released the GIL)"

    def test_a_version_that_is_not_known(self):
        stacks = self.stacks("""
assert held.probe_set_version(0x03630000) == 0
assert leaf(1) == 0 and released.probe_outer(2) == 0
assert held.probe_back(3, callback(lambda number: leaf(number))) == 0
""")
        self.assertEqual(self.python_functions(stacks[1]), ["leaf", "<module>"])
        self.assert_order(stacks[2], "probe_outer", f"(Python 3.99: {self.REMARK}", "python", "libc.so")
        self.assertEqual(self.python_functions(stacks[2])[1:], [])
        self.assert_order(stacks[3], "probe_outer", " leaf", " <lambda>", " <module>", "probe_back")

    def test_a_version_that_is_not_as_it_says(self):
        is_now = sys.version_info[1]
        for minor in {10, 11, 12, 13} - {is_now}:
            stacks = self.stacks(f"""
assert held.probe_set_version(0x03{minor:02x}0000) == 0
assert released.probe_outer(1) == 0 and leaf(2) == 0 and released.probe_outer(3) == 0
""")
            for number in (1, 3):
                self.assert_order(stacks[number], "probe_outer", f"(Python 3.{minor}: {self.REMARK}", "libc.so")
            self.assertEqual(self.python_functions(stacks[2]), ["leaf", "<module>"])

    def test_a_second_interpreter(self):
        """Its frames, or none: not those of the interpreter that called it."""
        stacks = self.stacks(f"""
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters
try:
    other = interpreters.create("legacy") if sys.version_info >= (3, 13) else interpreters.create(isolated=False)
except TypeError: # 3.9
    other = interpreters.create()
def around(code):
    interpreters.run_string(other, code)
around('''
import ctypes
held, released = ctypes.PyDLL({PROBE!r}), ctypes.CDLL({PROBE!r})
def inside(library, number):
    library.probe_outer(ctypes.c_uint64(number))
inside(held, 1)
inside(released, 2)
''')
assert leaf(3) == 0 and released.probe_outer(4) == 0
interpreters.destroy(other)
assert released.probe_outer(5) == 0
""")
        is_known = sys.version_info >= (3, 12)
        for number in (1, 2):
            self.assertEqual(self.python_functions(stacks[number])[:2], ["inside", "<module>"] if is_known else [], stacks[number])
        self.assertEqual(self.python_functions(stacks[3]), ["leaf", "<module>"])
        self.assertEqual(self.python_functions(stacks[4]), ["<module>"] if is_known else [])
        if not is_known:
            self.assert_order(stacks[2], "probe_outer", "frames unknown, there are several interpreters)", "python", "libc.so")
        self.assertEqual(self.python_functions(stacks[5]), ["<module>"] if sys.version_info >= (3, 10) else [])

    def test_the_interpreter_ends_while_threads_report(self):
        """Daemon threads are still in C code when the main thread ends the interpreter and frees their frames."""
        code = HEAD + """
count, ready = int(sys.argv[1]) if len(sys.argv) > 1 else 3, []
def deep(levels, first):
    if levels:
        return deep(levels - 1, first)
    ready.append(first)
    number = first
    while True:
        released.probe_outer(number % 50 + first)
        number += 1
for i in range(count):
    threading.Thread(target=deep, args=(20, 1000 * i), daemon=True).start()
while len(ready) < count:
    pass
"""
        for _ in range(3):
            check_python(self, code, TIDEMARK="1", TIDEMARK_STACKS="40")

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
            expected = ["leaf", "Model.forward", "work"] if number % 2 else ["work", "Thread.run", "Thread._bootstrap_inner"]
            self.assertEqual(self.python_functions(stack)[:3], expected)

    def test_a_forked_child(self):
        """It reads its own memory, where the frames are others than in its parent."""
        out = check_python(self, HEAD + """
def of_the_child(number):
    assert released.probe_outer(number) == 0
def in_thread(function, number):
    thread = threading.Thread(target=function, args=(number,))
    thread.start()
    thread.join()
in_thread(released.probe_outer, 1)
warnings.simplefilter("ignore") # 3.12 and later warn of a fork while there are threads, and one that has ended may still count
child = os.fork()
if child == 0:
    in_thread(of_the_child, 2)
    of_the_child(3)
    show()
    sys.stdout.flush()
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
""", TIDEMARK="1", TIDEMARK_STACKS="40")
        buffers = [b for process in json.loads(out)["dump"]["processes"] for b in process["buffers"]]
        self.assertEqual([self.python_functions([words(f) for f in b["stack"]])[0] for b in buffers], ["of_the_child"] * 2)

    def test_after_the_interpreter_has_ended(self):
        check_python(self, HEAD + "assert held.probe_at_exit(1) == 0", TIDEMARK="1", TIDEMARK_STACKS="40")
