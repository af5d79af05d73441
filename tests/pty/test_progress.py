"""The progress line of a long log: shown on a terminal while the log is read, and removed afterwards."""

import os
import pty
import resource
import signal
import subprocess
import threading
import unittest

COMMAND = os.environ["TIDEMARK_COMMAND"]
LINE = b"2026-11-15 07:36:20.265 | info     |          Always | nothing about what this is for (a.cpp:1)\n" * 512
ENDS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)


def as_a_user_starts_it():
    """Also where the suite runs in the background; SIGQUIT leaves no file behind."""
    for number in ENDS:
        signal.signal(number, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


class Progress(unittest.TestCase):
    def read_terminal(self):
        """All that comes on the terminal; says when the line with the progress has come."""
        while True:
            try:
                piece = os.read(self.terminal, 4096)
            except OSError:  # nobody has the other end any more
                return
            self.text += piece
            if b"reading logs: " in self.text:
                self.shown.set()

    def start(self):
        """A command that reads a log, once its progress line has been seen; and the reader of the terminal."""
        self.terminal, end = pty.openpty()
        self.text, self.shown = b"", threading.Event()
        self.addCleanup(os.close, self.terminal)
        program = subprocess.Popen([COMMAND, "log", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=end,
                                   preexec_fn=as_a_user_starts_it)
        os.close(end)
        reader = threading.Thread(target=self.read_terminal)
        reader.start()
        while not self.shown.is_set():  # a log that goes on until the line was seen
            program.stdin.write(LINE)
        return program, reader

    def test_a_signal_that_ends_it(self):
        for number in ENDS:
            program, reader = self.start()
            program.send_signal(number)
            self.assertEqual(program.wait(60), -number)
            for pipe in (program.stdin, program.stdout):
                pipe.close()
            reader.join()
            self.assertTrue(self.text.endswith(b"\r\x1b[K"), (number, self.text[-40:]))

    def test_a_log_in_which_nothing_is_said(self):
        program, reader = self.start()
        out, _ = program.communicate()
        reader.join()
        self.assertEqual(program.returncode, 0)
        self.assertIn(b"stock log of the runtime; 0 records", out)
        self.assertRegex(self.text, rb"\rreading logs: \d+ MiB\x1b\[K")
        self.assertTrue(self.text.endswith(b"\r\x1b[K"), self.text[-40:])
