"""Runs a program on a pseudo-terminal and keeps the screen that it draws."""

import errno
import fcntl
import os
import pty
import select
import signal
import struct
import termios
import time

import pyte

DEADLINE = 30  # seconds; only reached when something is wrong

KEYS = {
    "up": "\x1bOA", "down": "\x1bOB", "right": "\x1bOC", "left": "\x1bOD", "home": "\x1bOH", "end": "\x1bOF",
    "pgup": "\x1b[5~", "pgdn": "\x1b[6~", "backtab": "\x1b[Z", "f1": "\x1bOP", "f2": "\x1bOQ", "f3": "\x1bOR",
    "f4": "\x1bOS", "f5": "\x1b[15~", "f6": "\x1b[17~", "f9": "\x1b[20~", "f10": "\x1b[21~", "esc": "\x1b",
    "enter": "\r", "tab": "\t", "backspace": "\x7f",
}


class Emulator(pyte.Screen):
    """With three sequences that terminals have and pyte does not: repeat a character, scroll up and down."""

    last = " "

    def draw(self, data):
        self.last = data[-1:] or self.last
        super().draw(data)

    def repeat(self, count=1, **_):
        super().draw(self.last * (count or 1))

    def at_top(self, what, count):
        row = self.cursor.y
        self.cursor.y = self.margins.top if self.margins else 0
        what(count)
        self.cursor.y = row

    def scroll_up(self, count=1, **_):
        self.at_top(self.delete_lines, count or 1)

    def scroll_down(self, count=1, **_):
        self.at_top(self.insert_lines, count or 1)


class Stream(pyte.ByteStream):
    csi = dict(pyte.ByteStream.csi, b="repeat", S="scroll_up", T="scroll_down")
    events = pyte.ByteStream.events | {"repeat", "scroll_up", "scroll_down"}


class Screen:
    """Starts `program` as the leader of a session whose terminal this is. Its end is waited for in close()."""

    def __init__(self, program, rows=40, cols=120, term="xterm-256color", env=None):
        self.rows, self.cols = rows, cols
        self.screen = Emulator(cols, rows)
        self.stream = Stream(self.screen)
        self.bytes = b""
        self.status = None
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, cols, 0, 0))
        self.before = termios.tcgetattr(slave)
        # A shell that knows no home leaves no history there.
        environment = {"TERM": term, "HOME": "/nonexistent", "LC_ALL": "C.UTF-8", "TZ": "UTC",
                       "PATH": os.environ.get("PATH", "/usr/bin"), "ASAN_OPTIONS": "handle_segv=0:handle_abort=0"}
        environment.update(env or {})
        self.pid = os.fork()
        if self.pid == 0:
            os.setsid()
            fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
            for fd in (0, 1, 2):
                os.dup2(slave, fd)
            os.closerange(3, 64)
            signal.signal(signal.SIGHUP, signal.SIG_DFL)  # as after a login, also when the suite runs under nohup
            os.execvpe(program[0], program, {k: v for k, v in environment.items() if v is not None})
        self.slave = slave

    def resize(self, rows, cols):
        self.rows, self.cols = rows, cols
        self.screen.resize(rows, cols)
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, cols, 0, 0))

    def send(self, *keys):
        for key in keys:
            os.write(self.master, KEYS.get(key, key).encode())
            if key == "esc":  # else the next key would be part of a sequence
                self.read_for(0.1)

    def read(self, timeout):
        """What has come, if anything did in that time."""
        ready, _, _ = select.select([self.master], [], [], timeout)
        if not ready:
            return False
        try:
            data = os.read(self.master, 65536)
        except OSError as error:
            if error.errno != errno.EIO:
                raise
            data = b""
        self.bytes += data
        self.stream.feed(data)
        return data != b""

    def read_for(self, seconds):
        """All that comes in that time; not less of it, however soon something comes."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            self.read(left)

    def text(self):
        return "\n".join(line.rstrip() for line in self.screen.display)

    def line_of(self, part):
        """The first line that has it; None."""
        for line in self.screen.display:
            if part in line:
                return line.rstrip()
        return None

    def wait(self, condition, what="the condition"):
        """Until condition(text) is true."""
        end = time.monotonic() + DEADLINE
        while time.monotonic() < end:
            if condition(self.text()):
                for _ in range(20):  # the rest of the same frame
                    if not self.read(0.03):
                        break
                return self.text()
            self.read(0.05)
        raise AssertionError(f"waited in vain for {what}; the screen is:\n{self.text()}")

    def wait_for(self, part):
        return self.wait(lambda text: part in text, repr(part))

    def wait_all(self, *parts):
        return self.wait(lambda text: all(part in text for part in parts), repr(parts))

    def wait_without(self, part):
        return self.wait(lambda text: part not in text, f"{part!r} to go")

    def ended(self):
        """Its status, or None while it runs."""
        if self.status is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid != 0:
                self.status = status
        return self.status

    def wait_end(self):
        end = time.monotonic() + DEADLINE
        while self.ended() is None and time.monotonic() < end:
            if self.master >= 0:
                self.read(0.02)
            else:
                time.sleep(0.02)
        assert self.status is not None, "it did not end"
        while self.master >= 0 and self.read(0.05):
            pass
        return self.status

    def close(self):
        if self.status is None and self.ended() is None:
            os.kill(self.pid, signal.SIGKILL)
            os.kill(self.pid, signal.SIGCONT)
            os.waitpid(self.pid, 0)
        for fd in (self.master, self.slave):
            if fd >= 0:
                os.close(fd)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
