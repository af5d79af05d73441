"""`tidemark top` itself: with a program that has a ledger, and on a machine with only the runtime's shared memory."""

import os
import pathlib
import re
import signal
import subprocess
import tempfile
import unittest

from screen import Screen

COMMAND = os.environ["TIDEMARK_COMMAND"]
TOOLS = pathlib.Path(os.environ["TUI_FIXTURE"]).parent
FAKE_MACHINE = pathlib.Path(__file__).resolve().parents[1] / "cli" / "fake_machine"


class Top(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory(prefix="tidemark-pty.")
        self.addCleanup(holder.cleanup)
        self.root = pathlib.Path(holder.name)
        for name in ("ledgers", "m/sys", "m/proc", "m/shm"):
            (self.root / name).mkdir(parents=True)
        self.env = {"TIDEMARK_DIR": str(self.root / "ledgers"), "TIDEMARK_SHM_DIR": str(self.root / "m/shm"),
                    "TIDEMARK_SYSFS_ROOT": str(self.root / "m/sys")}

    def top(self, *options, **env):
        return Screen([COMMAND, "top", "-r", "100", *options], 50, 150, env={**self.env, **env})

    def tracked(self, what="wait"):
        program = subprocess.Popen([TOOLS / "tracked", what], env={**os.environ, **self.env, "TIDEMARK": "1"},
                                   stdout=subprocess.PIPE)
        self.addCleanup(program.stdout.close)
        self.addCleanup(program.wait)
        self.addCleanup(program.kill)
        self.assertEqual(program.stdout.readline(), b"ready\n")
        return program

    def test_a_program_with_a_ledger(self):
        program = self.tracked()
        with self.top() as s:
            s.wait(lambda text: re.search(rf"^ +{program.pid} ", text, re.M), "the program")
            s.wait_all("n150", "chip 0x1234", "ledger", "of 12 GiB")
            s.send("enter")
            s.wait(lambda text: re.search(r"\d+ buffers", text) and f" {program.pid}  " in text, "its buffers")
            s.send("2")
            s.wait_all("DRAM: 12 banks of 1 GiB", "largest hole")
            s.send("1", "k")
            s.wait_for(f"Signal to {program.pid} tracked?")
            s.send("enter")
            s.wait_for(f"SIGTERM was sent to {program.pid}")
            self.assertEqual(program.wait(60), -signal.SIGTERM)
            s.wait(lambda text: re.search(rf"^ +{program.pid} .*\[crashed\]", text, re.M), "its mark")
            s.send("q")
            self.assertEqual(s.wait_end(), 0)

    def figures(self, s):
        """The bytes of L1 and of circular buffers in each core, and the gaps; None where a figure is marked as old."""
        def kib(text):
            number, unit = text.split()
            return float(number) * {"B": 1 / 1024, "KiB": 1, "MiB": 1024}[unit]

        def used(name):
            return kib(re.search(rf"^ +{name} .* (\S+ [KM]?i?B) of 64 MiB", s.text(), re.M).group(1)) / 64

        gap = re.search(r"^ +CB .* ([\d.]+ [KM]?i?B)(\*?) ?free(?: between buffers and CBs)?, fullest core", s.text(), re.M)
        in_map = re.search(r"L1 of one core: (.*) between", s.text())
        is_old = "Map of " in s.text()
        return (used("L1"), used("CB"), None if gap.group(2) else kib(gap.group(1)),
                None if is_old or in_map is None else kib(in_map.group(1)))

    def test_no_figure_is_older_than_its_frame(self):
        self.tracked("busy")
        checked = states = 0
        before = None
        with self.top() as s:
            s.wait_for("n150")
            for screen in ("1", "2"):
                s.send(screen)
                s.wait(lambda text: ("free between buffers and CBs, fullest core" in text) and ("L1 of one core" in text) == (screen == "2"), "the gap")
                for _ in range(8):
                    s.send("z")
                    s.wait_for(" frozen ")
                    l1, cb, gap, in_map = self.figures(s)
                    for found in (gap, in_map):
                        if found is not None:
                            self.assertAlmostEqual(found, 1024 - l1 - cb, delta=0.01, msg=s.text())
                            checked += 1
                    states += (l1, cb) != before
                    before = (l1, cb)
                    s.send("z")
                    s.wait_without(" frozen ")
        self.assertGreater(checked, 8)
        self.assertGreater(states, 4)

    def test_a_killed_process_stays_with_its_post_mortem(self):
        program = self.tracked("oom")
        other = self.tracked()
        with self.top() as s:
            s.wait(lambda text: re.search(rf"^ +{program.pid} ", text, re.M), "the program")
            program.kill()
            program.wait()
            s.wait(lambda text: re.search(rf"^ +{program.pid} .*\[crashed\]", text, re.M), "its mark")
            lines = s.text().splitlines()
            places = [next(i for i, line in enumerate(lines) if re.match(rf" +{pid} ", line))
                      for pid in (other.pid, program.pid)]
            self.assertLess(*places)  # those that run come first
            s.send("down", "enter")
            s.wait_all(f" {program.pid}  ", "Killed or crashed: it ended without closing its ledger.", "last report ",
                       " ago", "it held 24.98 KiB", "in 3 buffers", "program matmul", "phase forward",
                       "out of memory: 3 MiB of L1 were refused", "its last events:")
            s.wait(lambda text: re.search(rf"{program.pid} +0 +oom ", text), "the refused request")
            s.wait(lambda text: re.search(r"^ DRAM +0 .* weights", text, re.M), "its buffers")
            s.send("k")
            s.wait_for("no process to signal")
            other.kill()
        with self.top() as s:  # also one that starts after its end
            s.wait(lambda text: re.search(rf"^ +{program.pid} .*\[crashed\]", text, re.M), "its mark")
            s.resize(24, 80)
            s.send("3")
            s.wait_all("Killed or crashed", "out of memory: 3 MiB of L1 were refused\n")
            s.wait(lambda text: re.search(r" oom +L1 +3 MiB ", text), "what was asked for")
            s.send("1")
            s.send("3")
            s.wait_all("Killed or crashed", "its last events:")

    def test_what_was_named_and_is_not_there(self):
        self.tracked()
        for options, message in ((("-d", "77"), "no device '77'"), (("-p", "1"), "no process 1 ")):
            with self.top(*options) as s:
                s.wait_for(message)
                self.assertEqual(os.waitstatus_to_exitcode(s.wait_end()), 2)

    def test_what_an_untouched_runtime_publishes(self):
        for args in (["card", "0", "0000:01:00.0", "n150", "wormhole", "0100018611902010"],
                     ["process", "4242", "python3", "0"],
                     ["region", str(0x0100018611902010), "0", f"dram={5 << 30}", f"l1={75 << 20}", "4242"]):
            subprocess.run([FAKE_MACHINE, self.root / "m", *args], check=True)
        with self.top(TIDEMARK_PROC_ROOT=str(self.root / "m/proc")) as s:
            s.wait_all("n150", "/dev/tenstorrent/0", "0000:01:00.0", "metal_shm", "5 GiB of", "4242")
            s.send("enter")
            s.wait_all("4242", "python3", "source", "metal_shm", "phase unknown", "out of memory unknown")
            s.send("2")
            s.wait_all("No map:", "metal_shm: allocations of other threads may be missing,",
                       "and the CB total may be the last writer's alone")

    def test_a_process_without_a_ledger_on_many_devices(self):
        for d in range(8):
            for args in (["card", str(d), f"0000:0{d}:00.0", "n150", "wormhole", f"010001861190201{d}"],
                         ["region", str(0x0100018611902010 + d), str(d), f"dram={1 << 30}", f"l1={75 << 20}", "4242"]):
                subprocess.run([FAKE_MACHINE, self.root / "m", *args], check=True)
        subprocess.run([FAKE_MACHINE, self.root / "m", "process", "4242", "python3", "0"], check=True)
        with self.top(TIDEMARK_PROC_ROOT=str(self.root / "m/proc")) as s:
            s.wait_for("4242")
            s.send("enter")
            s.wait_all("\n  7     L1 ", "the process has no ledger")  # no line is left out while others are empty
            s.send("4")
            s.wait_for("No event yet")

    def demo(self, *options):
        program = subprocess.Popen([COMMAND, "demo", "--view", "none", *options], env={**os.environ, **self.env},
                                   stdout=subprocess.DEVNULL)
        self.addCleanup(program.wait)
        self.addCleanup(program.terminate)
        return program

    def test_buffers_without_a_name_have_their_function(self):
        self.demo("--workload", "clash")
        with self.top() as s:
            s.wait_for(" demo -w clash")
            s.send("enter")
            s.wait(lambda text: re.search(r"KERNEL .* \w+ \(demo_card\.c:\d+\)", text), "the function")
            s.send("g")
            s.wait(lambda text: re.search(r"KERNEL .* \w+ \(demo_card\.c:\d+\) <- \w+ \(", text), "its caller")

    def test_the_last_events_of_a_program_have_its_number(self):
        program = self.demo("--workload", "inference")
        with self.top() as s:
            s.wait_for(" demo -w inference")
            s.send("4")
            s.wait_for(" decode.shards")
            program.kill()
            program.wait()
            s.send("1")
            s.wait_for("[crashed]")  # everything that it left was read
            s.send("4")
            s.wait_for(" events ")
            pids = re.findall(r"^ [\d:.]{12} +(\S+)", s.text(), re.M)
            self.assertEqual(set(pids), {str(program.pid)}, s.text())

    def test_what_was_captured_without_dispatch_is_apart(self):
        self.demo("--workload", "training", "--mode", "default", "--card", "p150")
        with self.top() as s:
            s.wait_all("virtual: a sum, not a real card", " 0v ")
            s.send("enter")
            s.wait(lambda text: re.search(r"^  0v +DRAM ", text, re.M), "its line")
            s.wait(lambda text: re.search(r"^ DRAM +0v ", text, re.M), "its buffers")

    def test_only_one_process(self):
        first, second = self.tracked(), self.tracked()
        with self.top("-p", str(second.pid)) as s:
            s.wait(lambda text: re.search(rf"^ +{second.pid} ", text, re.M), "the program")
            self.assertNotRegex(s.text(), rf"(?m)^ +{first.pid} ")

    def test_it_reads_only_when_told_so(self):
        program = self.tracked()
        with self.top("--read-only") as s:
            s.wait(lambda text: re.search(rf"^ +{program.pid} ", text, re.M), "the program")
            s.send("k")
            s.wait_for("started read-only")
            self.assertIsNone(program.poll())


if __name__ == "__main__":
    unittest.main()
