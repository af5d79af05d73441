"""What the monitor does to its terminal, to signals, and to other processes."""

import fcntl
import functools
import os
import re
import signal
import struct
import subprocess
import termios
import time
import unittest

import tui
from screen import Screen
from tui import FIXTURE, go_on, start_in_shell, stop

ENTER, LEAVE = b"\x1b[?1049h", b"\x1b[?1049l"
start = functools.partial(tui.start, rows=30, cols=110)


class Leaving(unittest.TestCase):
    def is_as_before(self, s):
        self.assertEqual(termios.tcgetattr(s.slave), s.before)
        self.assertGreater(s.bytes.rfind(LEAVE), s.bytes.rfind(ENTER))
        self.assertGreater(s.bytes.rfind(b"\x1b[?25h"), s.bytes.rfind(b"\x1b[?25l"))  # the cursor is seen

    def test_keys_that_quit(self):
        for key in ("q", "f10"):
            with start() as s:
                s.wait_for("1000 anna")
                self.assertNotEqual(termios.tcgetattr(s.slave), s.before)
                s.send(key)
                self.assertEqual(s.wait_end(), 0)
                self.assertIn(b"ended well", s.bytes)
                self.is_as_before(s)

    def test_escape_leaves_a_screen_and_never_quits(self):
        with start() as s:
            s.wait_for("1000 anna")
            s.send("4")
            s.wait_for("RESERVED")
            s.send("esc")
            s.wait_for("MEMORY▽")
            s.send("esc", "esc")
            s.wait_for("q quits")
            s.send("4")
            s.wait_for("RESERVED")
            self.assertIsNone(s.ended())

    def test_signals_that_end(self):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
            with start() as s:
                s.wait_for("1000 anna")
                os.kill(s.pid, number)
                self.assertEqual(s.wait_end(), 0, number)
                self.is_as_before(s)

    def test_control_c(self):
        with start() as s:
            s.wait_for("1000 anna")
            s.send("\x03")
            self.assertEqual(s.wait_end(), 0)
            self.is_as_before(s)

    def test_a_crash(self):
        with start("crash=3") as s:
            status = s.wait_end()
            self.assertTrue(os.WIFSIGNALED(status), status)
            self.assertEqual(os.WTERMSIG(status), signal.SIGSEGV)
            self.is_as_before(s)

    def test_memory_runs_out(self):
        with start("hungry=3") as s:
            self.assertEqual(os.WEXITSTATUS(s.wait_end()), 2)
            self.is_as_before(s)
            self.assertIn(b"tui_fixture: out of memory", s.bytes)

    def test_signals_that_kill(self):
        for number in (signal.SIGABRT, signal.SIGUSR1, signal.SIGALRM, signal.SIGXCPU):
            with start() as s:
                s.wait_for("1000 anna")
                os.kill(s.pid, number)
                self.assertEqual(os.WTERMSIG(s.wait_end()), number)
                self.is_as_before(s)

    def test_so_many_frames(self):
        with start("frames=3", "interval=50") as s:
            self.assertEqual(s.wait_end(), 0)
            self.is_as_before(s)

    def test_the_terminal_disappears(self):
        with start() as s:
            s.wait_for("1000 anna")
            os.close(s.slave)
            os.close(s.master)
            s.slave = s.master = -1
            s.wait_end()

    def test_the_terminal_disappears_and_nobody_says_so(self):
        """Without the signal: it must see it by itself, and not spin."""
        with Screen(["/bin/sh", "-c", "trap '' HUP; exec \"$0\" interval=60000", FIXTURE], 30, 110) as s:
            s.wait_for("1000 anna")
            os.close(s.slave)
            os.close(s.master)
            s.slave = s.master = -1
            s.wait_end()

    def test_stopped_and_continued(self):
        with start_in_shell() as s:
            stop(s)
            self.assertGreater(s.bytes.rfind(LEAVE), s.bytes.rfind(ENTER))
            go_on(s)
            self.assertGreater(s.bytes.rfind(ENTER), s.bytes.rfind(LEAVE))
            s.send("q")
            s.wait_for("ended well")
            s.send("exit\r")
            s.wait_end()

    def test_stopped_by_a_signal_that_it_cannot_see(self):
        with start("interval=50") as s:
            s.wait_for("1000 anna")
            os.kill(s.pid, signal.SIGSTOP)
            os.waitpid(s.pid, os.WUNTRACED)
            while s.read(0.2):
                pass
            s.screen.reset()
            os.kill(s.pid, signal.SIGCONT)
            s.wait_for("1000 anna")  # all of it is drawn again
            s.send("q")
            self.assertEqual(s.wait_end(), 0)
            self.is_as_before(s)

    def test_resized_while_it_was_stopped(self):
        with start_in_shell() as s:
            stop(s)
            s.resize(20, 60)
            s.screen.reset()
            s.send("fg\r")
            s.wait(lambda text: text.split("\n")[19].startswith(" F1 Help"), "the last line in its new place")
            s.send("q")
            s.wait_for("ended well")


class Odd(unittest.TestCase):
    def fails_with(self, s, *parts):
        status = s.wait_end()
        self.assertEqual(os.WEXITSTATUS(status), 2)
        for part in parts:
            self.assertIn(part, s.bytes.decode().replace("\r\n", ""))
        self.assertNotIn(ENTER, s.bytes)
        self.assertEqual(termios.tcgetattr(s.slave), s.before)

    def test_a_terminal_that_nobody_knows(self):
        with start(term="nonsense-42", cols=200) as s:
            self.fails_with(s, "nonsense-42", "try TERM=xterm-256color")

    def test_a_dumb_terminal(self):
        with start(term="dumb", cols=200) as s:
            self.fails_with(s, '"dumb"', "xterm-256color")

    def test_no_terminal_type(self):
        with start(env={"TERM": None}, cols=200) as s:
            self.fails_with(s, "TERM is not set")

    def test_no_terminal(self):
        done = subprocess.run([FIXTURE], stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"needs a terminal", done.stderr)

    def test_bytes_that_are_no_key(self):
        with start() as s:
            s.wait_for("1000 anna")
            os.write(s.master, b"\xff\xfe\x80\x00\x1b[200~\x1b[1;5D\x1b[<0;10;10M\x1bx")
            s.send("4")
            s.wait_for("RESERVED")
            self.assertIsNone(s.ended())

    def test_escape_and_a_key_that_come_together(self):
        with start() as s:
            s.wait_for("1000 anna")
            os.write(s.master, b"?\x1b2")  # a box, its end, a screen
            s.wait(lambda text: "DRAM: 12 banks" in text and "Keys (and" not in text, "the device")
            os.write(s.master, b"\x1b\x1bOQ")  # back, and F2
            s.wait(lambda text: "Setup:" in text and "DRAM: 12 banks" not in text, "the box over the overview")
            os.write(s.master, b"\x1b/anna\x1bt")  # no box; a search; none; the tree
            s.wait(lambda text: "└─ " in text and "Search  anna" not in text, "the tree")

    def test_alt_with_a_key_does_not_end_it(self):
        with start() as s:
            s.wait_for("MEMORY▽")
            os.write(s.master, b"\x1bP")
            s.wait_for("PID▽")
            self.assertIsNone(s.ended())

    def test_output_that_is_stopped_does_not_hold_it(self):
        with start("moving=1", "interval=50", cols=200, rows=60) as s:
            s.wait_for("1000 anna")
            termios.tcflow(s.slave, termios.TCOOFF)
            time.sleep(0.3)  # so that a frame meets it; without one the test still holds
            os.kill(s.pid, signal.SIGTERM)
            self.assertEqual(s.wait_end(), 0)

    def test_output_that_is_stopped_in_the_middle_of_a_frame_does_not_hold_it(self):
        with start("moving=1", "interval=50", cols=200, rows=60) as s:
            s.wait_for("1000 anna")
            waiting, same = -1, 0
            while same < 10:  # nobody reads: at last it waits for room
                time.sleep(0.1)
                now = struct.unpack("i", fcntl.ioctl(s.master, termios.FIONREAD, b"0000"))[0]
                waiting, same = now, same + 1 if now == waiting else 0
            termios.tcflow(s.slave, termios.TCOOFF)
            os.kill(s.pid, signal.SIGTERM)
            self.assertEqual(s.wait_end(), 0)

    def test_the_size_is_the_terminals_own(self):
        with start(env={"LINES": "10", "COLUMNS": "40"}) as s:
            s.wait_for("MEMORY")


class Signals(unittest.TestCase):
    def setUp(self):
        self.child = subprocess.Popen(["/bin/sleep", "1000"])
        self.addCleanup(self.child.wait)
        self.addCleanup(self.child.kill)

    def test_terminate(self):
        with start(f"target={self.child.pid}") as s:
            s.wait_for(f"{self.child.pid} anna")
            s.send("k")
            s.wait_for(f"Signal to {self.child.pid} prog0?")
            s.send("enter")
            s.wait_for(f"SIGTERM was sent to {self.child.pid}")
            self.assertEqual(self.child.wait(60), -signal.SIGTERM)

    def test_another_signal_by_its_letter(self):
        with start(f"target={self.child.pid}") as s:
            s.wait_for(f"{self.child.pid} anna")
            s.send("f9")
            s.wait_for("Signal to")
            s.send("K", "enter")
            s.wait_for(f"SIGKILL was sent to {self.child.pid}")
            self.assertEqual(self.child.wait(60), -signal.SIGKILL)

    def test_taken_back(self):
        with start(f"target={self.child.pid}") as s:
            s.wait_for(f"{self.child.pid} anna")
            s.send("k")
            s.wait_for("Signal to")
            s.send("esc")
            s.wait_without("Signal to")
            self.assertIsNone(self.child.poll())

    def test_another_process_has_the_number(self):
        with start(f"target={self.child.pid}", "start=12345") as s:
            s.wait_for(f"{self.child.pid} anna")
            s.send("k")
            s.wait_for("Signal to")
            s.send("enter")
            s.wait_for("its pid was reused")
            self.assertIsNone(self.child.poll())

    def test_read_only(self):
        with start(f"target={self.child.pid}", "read_only=1") as s:
            s.wait_for(f"{self.child.pid} anna")
            self.assertNotIn("Signal", s.text())
            s.send("k")
            s.wait_for("started read-only")
            self.assertIsNone(self.child.poll())

    def test_never_the_first_process(self):
        with start("target=1", "start=1", "processes=1") as s:
            s.wait(lambda text: re.search(r"^\s+1 anna", text, re.M), "process 1")
            s.send("k")
            s.wait_for("no process to signal")


if __name__ == "__main__":
    unittest.main()
