"""The progress line of a long log: shown on a terminal while the log is read, and removed afterwards."""

import os
import pty
import subprocess
import threading
import unittest

COMMAND = os.environ["TIDEMARK_COMMAND"]
LINE = b"2026-11-15 07:36:20.265 | info     |          Always | nothing about what this is for (a.cpp:1)\n" * 512


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

    def test_a_log_in_which_nothing_is_said(self):
        self.terminal, end = pty.openpty()
        self.text, self.shown = b"", threading.Event()
        self.addCleanup(os.close, self.terminal)
        program = subprocess.Popen([COMMAND, "log", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=end)
        os.close(end)
        reader = threading.Thread(target=self.read_terminal)
        reader.start()
        while not self.shown.is_set():  # a log that goes on until the line was seen
            program.stdin.write(LINE)
        out, _ = program.communicate()
        reader.join()
        self.assertEqual(program.returncode, 0)
        self.assertIn(b"stock log of the runtime; 0 records", out)
        self.assertRegex(self.text, rb"\rreading logs: \d+ MiB\x1b\[K")
        self.assertTrue(self.text.endswith(b"\r\x1b[K"), self.text[-40:])
