"""Running programs with the stand-in, with and without the preload, and looking at what was seen."""

import json
import os
import re
import signal
import subprocess
import tempfile
import threading
import unittest

BIN = os.environ["TIDEMARK_BIN"]
PRELOAD = os.environ["METAL_PRELOAD"]
STANDIN = os.environ["METAL_STANDIN"]
SANITIZE = os.environ["METAL_SANITIZE"]
RELEASES = ["v0.57", "v0.64", "v0.66", "today"]
KINDS = ["dram", "l1", None, "l1_small", "trace"]
PROGRAMS = os.path.join(STANDIN, "metal_programs")


def environment(release="today", directory=None, preload=PRELOAD, **more):
    """Without a directory for the ledger, nothing is preloaded."""
    result = dict(os.environ, LD_LIBRARY_PATH=os.path.join(STANDIN, release), PYTHONDONTWRITEBYTECODE="1")
    # A runtime that lacks functions loses what they would have released; and the program that finds the names of
    # functions for a report cannot have our preload.
    result["ASAN_OPTIONS"] = result.get("ASAN_OPTIONS", "") + ":detect_leaks=0:symbolize=0"
    if directory:
        result.update(TIDEMARK="1", TIDEMARK_DIR=directory, LD_PRELOAD=preload)
    result.update(more)
    return result


def tidemark(*arguments, status=0, **more):
    done = subprocess.run([os.path.join(BIN, "tidemark"), *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, timeout=120, **more)
    assert done.returncode == status, (arguments, done.returncode, done.stdout, done.stderr)
    return done.stdout


def dump(directory, *options):
    return json.loads(tidemark("dump", "--json", "--dir", directory, *options))["dump"]["processes"]


def facts_of(text, word="buffer"):
    """The lines of a program that begin with `word`, as dictionaries of numbers."""
    return [dict((key, int(value)) for key, value in re.findall(r"(\w+)=(\d+)", line))
            for line in text.splitlines() if line.startswith(word + " ")]


def as_printed(buffers):
    """What a program prints about buffers, in one order."""
    return sorted((b["device"], KINDS[b["kind"]], b["address"], b["size"], b["page"], b["taken"], b["banks"], b["cores"])
                  for b in buffers)


def as_seen(buffers, kinds=("dram", "l1", "l1_small", "trace")):
    """The same of the buffers of a dump."""
    return sorted((b["device"], b["kind"], b["address"], b["asked_bytes"], b["page_bytes"], b["bytes_per_bank"],
                   b["banks"], b["cores"] or 0) for b in buffers if b["kind"] in kinds)


class Running:
    """A program that has come to the point where it may be looked at."""

    def __init__(self, command, env):
        self.process = subprocess.Popen(command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True, start_new_session=True)
        self.text = ""
        stuck = threading.Timer(120, os.killpg, (self.process.pid, signal.SIGKILL)) # then the program has not come there, which is said below
        stuck.start()
        for line in self.process.stdout:
            if line == "ready\n":
                stuck.cancel()
                return
            self.text += line
        stuck.cancel()
        raise AssertionError((command, self.process.wait(), self.text, self.process.stderr.read()))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.returncode is None:
            os.killpg(self.process.pid, signal.SIGKILL) # with its children
            self.process.communicate()

    def finish(self):
        """Lets it end; its exit code, and whatever it wrote since."""
        out, err = self.process.communicate(timeout=120)
        return self.process.returncode, out, err


class Case(unittest.TestCase):
    maxDiff = 20000

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="tidemark-metal.")
        self.addCleanup(folder.cleanup)
        self.directory = folder.name

    def run_program(self, *command, status=0, **env):
        """The program's output, with standard input at its end at once."""
        done = subprocess.run(command, env=environment(**env), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, timeout=120)
        if status is not None:
            self.assertEqual(done.returncode, status, (command, done.stdout[-2000:], done.stderr[-2000:]))
        return done

    def run_and_summarise(self, *command, release="today", status=0):
        """`tidemark run`: the program's end, and the summary."""
        report = os.path.join(self.directory, "report.json")
        env = dict(environment(release), TIDEMARK_PRELOAD=PRELOAD)
        done = subprocess.run([os.path.join(BIN, "tidemark"), "run", "--dir", self.directory, "--json", report, "--", *command],
                              env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              timeout=120)
        self.assertEqual(done.returncode, status, (command, done.stdout[-2000:], done.stderr[-2000:]))
        with open(report, encoding="utf-8") as file:
            return done, json.load(file)["run"]

    def pids(self):
        return [process["pid"] for process in dump(self.directory)]

    def look(self, release, *command, **env):
        """Runs it until it may be looked at; gives it, what it printed, and its process in the dump."""
        running = Running(command, environment(release, self.directory, **env))
        self.addCleanup(running.__exit__)
        found = [p for p in dump(self.directory) if p["pid"] == running.process.pid]
        self.assertEqual(len(found), 1, "no ledger of the program")
        return running, running.text, found[0]

    def at_the_end(self, running):
        """The process in the dump, after a program with TIDEMARK_KEEP has ended."""
        return next(p for p in dump(self.directory) if p["pid"] == running.process.pid)

    def assert_same_behaviour(self, *command, release="today", **env):
        """The program does and says the same with and without the preload."""
        results = []
        for directory in (None, self.directory):
            done = self.run_program(*command, status=None, release=release, directory=directory, **env)
            results.append((done.returncode, done.stdout, done.stderr))
        self.assertEqual(results[0], results[1])
        return results[0]
