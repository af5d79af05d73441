"""Phases and programs: as calls, in with statements, as decorators of all sorts of functions, in threads and tasks."""

import asyncio
import json
import os
import shutil
import subprocess
import tempfile
import threading
import unittest

import tidemark
from support import ROOT, check_python
from tidemark import _library


class Order(unittest.TestCase):
    """What is marked, in which order."""

    def setUp(self):
        self.marked = []
        self.call = _library.call
        self.addCleanup(setattr, _library, "call", self.call)
        _library.call = self.record

    def record(self, function, *arguments):
        if function == "tidemark_phase":
            self.marked.append(arguments[0].decode())
        elif function == "tidemark_program":
            self.marked.append(arguments[0] and "program " + arguments[0].decode())
        return 0

    def check(self, *expected):
        self.assertEqual(self.marked, list(expected))
        self.marked.clear()

    def test_a_plain_call_marks_at_once(self):
        tidemark.phase("LOAD")
        self.check("LOAD")
        self.assertEqual(tidemark.phase("RUN").code, 0)
        self.check("RUN")
        tidemark.program("matmul")
        tidemark.program(None)
        self.check("program matmul", None)
        self.assertEqual(repr(tidemark.phase("X")), "phase(name='X', code=0)")
        self.check("X")

    def test_with_statements(self):
        with tidemark.phase("A") as outer:
            self.assertEqual((outer.name, outer.code), ("A", 0))
            self.check("A")
            with tidemark.phase("B"), tidemark.program("op"):
                self.check("B", "program op")
            self.check(None, "A")
            with self.assertRaises(KeyError), tidemark.phase("C"):
                raise KeyError
            self.check("C", "A")
        self.check()  # it lasts until the next mark

    def test_one_object_many_times(self):
        forward = tidemark.phase("FORWARD")
        self.check()
        for _ in range(2):
            with forward:
                pass
        with forward, forward:
            pass
        del forward
        self.check("FORWARD", "FORWARD", "FORWARD", "FORWARD", "FORWARD")

    def test_a_decorator_marks_when_the_function_runs(self):
        @tidemark.phase("STEP")
        @tidemark.program("step")
        def step(x, *, y):
            """adds"""
            self.check("STEP", "program step")
            if y == 0:
                raise ZeroDivisionError
            return x + y

        self.check()  # not when it is defined
        self.assertEqual((step.__name__, step.__doc__, step(1, y=2)), ("step", "adds", 3))
        self.check(None)
        with tidemark.phase("EPOCH"):
            self.marked.clear()
            with self.assertRaises(ZeroDivisionError):
                step(1, y=0)
            self.check(None, "EPOCH")
        with self.assertRaisesRegex(TypeError, "phase decorates functions, not int"):
            tidemark.phase("X")(5)

    def test_methods(self):
        class Model:
            @tidemark.phase("FORWARD")
            def forward(self, x):
                return x

            @tidemark.phase("LOAD")
            @classmethod
            def load(cls, x):
                return cls, x

            @staticmethod
            @tidemark.phase("SAVE")
            def save(x):
                return x

            @tidemark.phase("SAVE")
            @staticmethod
            def save_again(x):
                return x

        self.assertEqual(Model().forward(3), 3)
        self.check("FORWARD")
        self.assertEqual((Model.load(4), Model().load(5)), ((Model, 4), (Model, 5)))
        self.assertEqual((Model.save(1), Model().save(2), Model.save_again(3), Model().save_again(4)), (1, 2, 3, 4))
        self.check("LOAD", "LOAD", "SAVE", "SAVE", "SAVE", "SAVE")
        with self.assertRaisesRegex(TypeError, "phase decorates functions, not classes"):
            tidemark.phase("X")(Model)

    def test_a_generator_has_the_phase_while_it_runs(self):
        closed = []

        @tidemark.phase("DATA")
        def batches():
            got = []
            try:
                while len(got) < 2:
                    try:
                        got.append((yield len(got)))
                    except KeyError:
                        got.append("key")
            finally:
                closed.append(True)
            return got

        with tidemark.phase("TRAIN"):
            self.check("TRAIN")
            b = batches()
            self.check()
            self.assertEqual(next(b), 0)
            self.check("DATA", "TRAIN")
            self.assertEqual(b.send("sent"), 1)
            with self.assertRaises(StopIteration) as end:
                b.throw(KeyError())
            self.assertEqual(end.exception.value, ["sent", "key"])
            self.check("DATA", "TRAIN", "DATA", "TRAIN")
            b = batches()
            next(b)
            closed.clear()
            b.close()
            self.assertEqual(closed, [True])
            self.assertEqual(list(batches()), [0, 1])

    def test_coroutines_and_async_generators(self):
        @tidemark.phase("FETCH")
        async def fetch(x):
            await asyncio.sleep(0)
            return x

        @tidemark.phase("STREAM")
        async def stream():
            try:
                got = yield 1
                try:
                    yield got
                except KeyError:
                    yield "key"
            finally:
                self.marked.append("closed")

        async def main():
            with tidemark.phase("MAIN"):
                self.assertEqual(await fetch(7), 7)
                self.check("MAIN", "FETCH", "MAIN")
                s = stream()
                self.assertEqual(await s.__anext__(), 1)
                self.check("STREAM", "MAIN")
                self.assertEqual(await s.asend(5), 5)
                self.assertEqual(await s.athrow(KeyError()), "key")
                self.marked.clear()
                await s.aclose()
                self.check("STREAM", "closed", "MAIN")
                self.assertEqual([x async for x in stream()], [1, None])

        asyncio.run(main())

    def test_tasks_have_names_of_their_own(self):
        async def task(name, first, second):
            with tidemark.phase(name):
                first.set()
                await second.wait()
                with tidemark.phase(name + "/inner"):
                    pass

        async def main():
            one, two = asyncio.Event(), asyncio.Event()
            await asyncio.gather(task("A", one, two), task("B", two, one))

        asyncio.run(main())
        self.assertEqual(sorted(self.marked), ["A", "A", "A/inner", "B", "B", "B/inner"])

    def test_threads_have_names_of_their_own(self):
        with tidemark.phase("MAIN"):
            def work():
                with tidemark.phase("THREAD"):
                    pass

            thread = threading.Thread(target=work)
            thread.start()
            thread.join()
        self.check("MAIN", "THREAD")


class InTheLedger(unittest.TestCase):
    """With and without a library in the process that was there before: one ledger, whoever reports."""

    PROGRAM = """
import ctypes, tidemark
tidemark.alloc("dram", 1, 100)
with tidemark.phase("FORWARD_PASS"):
    with tidemark.phase("ATTENTION"):
        pass
tidemark.phase("OPTIMIZER")
print(tidemark.ledger_path())
"""

    def setUp(self):
        self.directory = tempfile.mkdtemp(prefix="tidemark-marks.")
        self.addCleanup(shutil.rmtree, self.directory)
        self.library = os.path.realpath(os.environ["TIDEMARK_LIBRARY"])

    def phases(self, path):
        command = [os.path.join(os.environ["TIDEMARK_BIN"], "tidemark"), "phases", "--json", path]
        document = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        return [phase["name"] for source in document["phases"]["inputs"] for run in source["runs"] for phase in run["phases"]]

    def test_alone(self):
        path = check_python(self, self.PROGRAM, TIDEMARK="1", TIDEMARK_KEEP="1", TIDEMARK_DIR=self.directory).strip()
        self.assertEqual(self.phases(path), ["FORWARD_PASS", "ATTENTION", "FORWARD_PASS", "OPTIMIZER"])

    def preload(self):
        """A library that is preloaded and reports by itself, as the one for tt-metal does, with a copy of libtidemark."""
        shutil.copy(self.library, os.path.join(self.directory, "libtidemark.so.0"))
        source = """#include "tidemark.h"
__attribute__((constructor)) static void begin(void)
{
	struct tidemark_buffer b = TIDEMARK_BUFFER_INIT;
	b.kind = TIDEMARK_L1, b.id = 7, b.bytes = 4096;
	tidemark_alloc(&b);
}
"""
        hook = os.path.join(self.directory, "libhook.so")
        subprocess.run(["gcc", "-shared", "-fPIC", f"-I{ROOT / 'include'}", "-x", "c", "-", "-x", "none",
                        os.path.join(self.directory, "libtidemark.so.0"), "-Wl,-rpath,$ORIGIN", "-o", hook],
                       input=source, text=True, check=True)
        return hook

    def test_beside_a_preload(self):
        program = self.PROGRAM + """
print(sorted({l.split(None, 5)[5].strip() for l in open('/proc/self/maps') if 'libtidemark' in l}))
print(tidemark.usage("l1").bytes, tidemark.device_memory()[0]["dram"]["bytes"])
"""
        # The preload reports in other programs, too: gcc is not among them, it has run.
        out = check_python(self, program, TIDEMARK="1", TIDEMARK_KEEP="1", TIDEMARK_DIR=self.directory,
                           LD_PRELOAD=self.preload()).splitlines()
        self.assertEqual(out[1:], [f"['{self.directory}/libtidemark.so.0']", "4096 100"])
        self.assertEqual(self.phases(out[0]), ["FORWARD_PASS", "ATTENTION", "FORWARD_PASS", "OPTIMIZER"])


if __name__ == "__main__":
    unittest.main()
