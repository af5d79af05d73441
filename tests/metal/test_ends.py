"""Processes that end in the middle, fork, become another program, or use the runtime from Python."""

import concurrent.futures
import os
import signal
import subprocess
import sys
import unittest

from standin import PROGRAMS, RELEASES, SANITIZE, STANDIN, Case, Running, as_printed, as_seen, dump, environment, facts_of

PYTHON = """
import ctypes, sys
runtime = ctypes.CDLL(sys.argv[1]) # RTLD_LOCAL
runtime.standin_open.restype = runtime.standin_allocate.restype = ctypes.c_void_p
runtime.standin_open.argtypes = [ctypes.c_char_p, ctypes.c_uint, ctypes.c_uint, ctypes.c_size_t, ctypes.c_size_t]
runtime.standin_allocate.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_uint64, ctypes.c_uint64, ctypes.c_void_p]
def work(pages):
    mesh = runtime.standin_open(b"n150", 1, 1, 0, 0)
    runtime.standin_allocate(mesh, 0, 2048 * pages, 2048, None)
def ready():
    print("ready", flush=True)
    sys.stdin.read()
"""
WORKERS = PYTHON + """
import multiprocessing
def worker(pages, done, go):
    if multiprocessing.get_start_method() == "fork" or pages:
        work(pages)
    done.put(pages)
    go.wait()
if __name__ == "__main__":
    multiprocessing.set_start_method(sys.argv[2])
    work(1)
    done, go = multiprocessing.Queue(), multiprocessing.Event()
    workers = [multiprocessing.Process(target=worker, args=(pages, done, go)) for pages in (2, 3)]
    for w in workers:
        w.start()
    for w in workers:
        done.get()
    ready()
    go.set()
    for w in workers:
        w.join()
    print([w.exitcode for w in workers])
"""


class Ends(Case):
    def test_killed_in_the_middle(self):
        for release in RELEASES:
            with self.subTest(release=release):
                running = Running([PROGRAMS, "busy"], environment(release, self.directory))
                running.process.send_signal(signal.SIGKILL)
                running.process.communicate()
                found = next(p for p in dump(self.directory) if p["pid"] == running.process.pid)
                self.assertEqual((found["state"], found["closed"]), ("ended", False))
                seen, printed = as_seen(found["buffers"]), as_printed(facts_of(running.text))
                self.assertEqual([b for b in printed if b not in seen], [])
                self.assertLessEqual(len(seen), len(printed) + 2 * 3) # what its threads were at

    def test_ends_of_all_sorts_while_threads_allocate(self):
        for how, code in (("exit", 5), ("_exit", 6), ("abort", -signal.SIGABRT)):
            with self.subTest(how=how):
                for directory in (None, self.directory):
                    with Running([PROGRAMS, "busy", how], environment("today", directory)) as running:
                        self.assertEqual(running.finish()[0::2], (code, ""))

    def assert_seen_at_the_end(self, processes, reason):
        """The requests that were refused, in the summary of `run` or in the dump: one for each chip."""
        process, = processes
        refused = [(d["device"], k["kind"], k["out_of_memory"], k["last_out_of_memory_bytes"])
                   for d in process["devices"] for k in d["kinds"] if k["out_of_memory"]]
        is_refused = reason in ("oom", "noexcept")
        self.assertEqual(refused, [(i, "dram", 1, 64424509440) for i in range(2)] if is_refused else [])
        clashes = [tuple(f["figures"][key] for key in ("cb_begin", "cb_end", "devices", "clashes"))
                   for f in process["findings"] if f["what"] == "clash"]
        self.assertEqual(clashes, [(105664, 629952, 2, 1)] if reason == "clash" else [])

    def test_what_ends_the_program_is_seen(self):
        for release in RELEASES:
            for how in (["oom"], ["oom", "thread"], ["clash"], ["noexcept"], ["form"], ["abort"]):
                with self.subTest(release=release, how=how):
                    plain = self.run_program(PROGRAMS, "uncaught", *how, release=release, status=-signal.SIGABRT)
                    done, summary = self.run_and_summarise(PROGRAMS, "uncaught", *how, release=release, status=128 + signal.SIGABRT)
                    self.assertEqual(summary["signal"], signal.SIGABRT)
                    self.assert_seen_at_the_end(summary["processes"], how[0])
                    self.assertEqual((done.stdout, done.stderr[:len(plain.stderr)]), (plain.stdout, plain.stderr))
                    if how[0] == "oom":
                        self.assertIn("out-of-memory note", done.stderr)
                        self.assertIn("Out of Memory", plain.stderr)

    def test_what_ended_the_program_is_in_its_ledger(self):
        for reason in ("oom", "clash"):
            with self.subTest(reason=reason):
                ledgers = os.path.join(self.directory, reason)
                os.mkdir(ledgers)
                self.run_program(PROGRAMS, "uncaught", reason, directory=ledgers, status=-signal.SIGABRT)
                self.assert_seen_at_the_end(dump(ledgers), reason)

    def test_a_thread_that_does_not_come_back_from_a_question(self):
        """The preload asks allocators on the program's threads: nobody waits for ever for one that has gone, has ended
        the program from there, or has left by a jump."""
        for how, code in (("end", 3), ("exit", 5), ("jump", 3)):
            with self.subTest(how=how):
                done = self.run_program(PROGRAMS, "leaves", how, status=code, directory=self.directory)
                self.assertEqual((done.stdout, done.stderr), ("ended\n", ""))

    def test_exit_while_others_allocate_never_hangs(self):
        rounds = 40 if SANITIZE else 200
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            ends = list(pool.map(lambda _: self.run_program(PROGRAMS, "exits", status=5, directory=self.directory).stdout,
                                 range(rounds)))
        self.assertEqual(set(ends), {"ended\n"})

    def test_buffers_released_after_the_close(self):
        for release in RELEASES:
            with self.subTest(release=release):
                running, _, seen = self.look(release, PROGRAMS, "late", TIDEMARK_KEEP="1")
                self.assertEqual(seen["buffers"], [], "the close released all")
                self.assertEqual(running.finish(), (0, "", ""))
                end = self.at_the_end(running)
                for kind in (k for d in end["devices"] for k in d["kinds"]):
                    self.assertEqual((kind["buffers"], kind["unknown_frees"], kind["double_frees"]), (0, 0, 0))

    def test_fork(self):
        for release in RELEASES:
            with self.subTest(release=release):
                running, text, seen = self.look(release, PROGRAMS, "fork", TIDEMARK_KEEP="1")
                self.assertIn("child 11", text)
                self.assertEqual(as_seen(seen["buffers"]), as_printed(facts_of(text)))
                child = next(p for p in dump(self.directory) if p["pid"] != running.process.pid)
                self.assertEqual(child["buffers"], [])
                self.assertEqual(child["lost_events"], 0)
                self.assertEqual([d["card"] for d in child["devices"]], ["n300"]) # described again
                self.assertEqual(running.finish()[0], 0)
                for name in os.listdir(self.directory): # the next release begins anew
                    subprocess.run(["rm", "-r", os.path.join(self.directory, name)], check=True)

    def test_a_forked_worker_is_not_called_killed(self):
        """Python's workers end by _exit(), which runs nothing that could close a ledger."""
        done, summary = self.run_and_summarise(PROGRAMS, "fork")
        self.assertEqual(sorted(p["closed"] for p in summary["processes"]), [False, True])
        self.assertEqual(done.stderr.count("  killed or crashed, or left by _exit (post-mortem)"), 1)

    def test_exec(self):
        for release in ("v0.57", "today"):
            with self.subTest(release=release):
                running, text, seen = self.look_after_exec(release)
                self.assertEqual(as_seen(seen["buffers"]), as_printed(facts_of(text)))
                self.assertEqual(running.finish()[0], 0)

    def look_after_exec(self, release):
        # execv() gets the program's own name and arguments: PROGRAMS exec PROGRAMS order
        running = Running([PROGRAMS, "exec", PROGRAMS, "order"], environment(release, self.directory))
        self.addCleanup(running.__exit__)
        found = [p for p in dump(self.directory) if p["pid"] == running.process.pid and not p["replaced"]]
        self.assertEqual(len(found), 1)
        return running, running.text, found[0]

    @unittest.skipIf(SANITIZE, "a forked child may hang in the sanitizer, with and without the preload")
    def test_processes_started_while_threads_allocate(self):
        """posix_spawn, vfork and fork."""
        for release in ("v0.57", "today"):
            with self.subTest(release=release):
                ledgers = os.path.join(self.directory, release)
                os.mkdir(ledgers)
                env = environment(release, ledgers, TIDEMARK_KEEP="1")
                with Running([PROGRAMS, "spawn", PROGRAMS, "errno"], env) as running:
                    self.assertIn("children 12\n", running.text)
                    self.assertEqual(running.text.count("errno changed 0 times\n"), 8)
                    found = dump(ledgers)
                    mine = [p for p in found if p["pid"] == running.process.pid]
                    self.assertEqual([as_seen(p["buffers"]) for p in mine], [as_printed(facts_of(running.text))])
                    self.assertEqual(sum(p["lost_events"] for p in found), 0)
                    others = [p for p in found if p["pid"] != running.process.pid]
                    forked = [p for p in others if p["buffers"]]
                    self.assertEqual((len(others), len(forked)), (12, 4))
                    for child in forked:
                        self.assertEqual([b["asked_bytes"] for b in child["buffers"]], [8192])
                        self.assertEqual([d["card"] for d in child["devices"]], ["n300"])
                    self.assertEqual(running.finish()[::2], (0, ""))

    def test_exec_of_a_program_without_the_runtime(self):
        done = self.run_program(PROGRAMS, "exec", os.path.join(STANDIN, "metal_plain"), directory=self.directory)
        self.assertEqual((done.stdout, done.stderr), ("plain\n", ""))

    @unittest.skipIf(SANITIZE, "the interpreter is not built with it")
    def test_python(self):
        script = os.path.join(self.directory, "script.py")
        with open(script, "w", encoding="utf-8") as file:
            file.write(PYTHON + "work(5)\nready()\n")
        ledgers = os.path.join(self.directory, "ledgers")
        os.mkdir(ledgers)
        for release in RELEASES:
            with self.subTest(release=release):
                library = os.path.join(STANDIN, release, "libtt_metal.so")
                with Running([sys.executable, script, library], environment(release, ledgers)) as running:
                    found = next(p for p in dump(ledgers) if p["pid"] == running.process.pid)
                    self.assertEqual([(b["kind"], b["address"], b["asked_bytes"]) for b in found["buffers"]],
                                     [("dram", 1048640, 10240)])
                    self.assertEqual(running.finish(), (0, "", ""))

    @unittest.skipIf(SANITIZE, "the interpreter is not built with it")
    def test_multiprocessing(self):
        script = os.path.join(self.directory, "workers.py")
        with open(script, "w", encoding="utf-8") as file:
            file.write(WORKERS)
        library = os.path.join(STANDIN, "today", "libtt_metal.so")
        for method in ("fork", "spawn"):
            with self.subTest(method=method):
                ledgers = os.path.join(self.directory, method)
                os.mkdir(ledgers)
                with Running([sys.executable, script, library, method], environment("today", ledgers)) as running:
                    sizes = sorted(b["asked_bytes"] // 2048 for p in dump(ledgers) for b in p["buffers"])
                    self.assertEqual(sizes, [1, 2, 3])
                    self.assertEqual(running.finish(), (0, "[0, 0]\n", ""))


if __name__ == "__main__":
    unittest.main()
