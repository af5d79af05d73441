"""The monitor with made-up devices and processes, for the tests of its screens."""

import contextlib
import os
import re
import shlex

from screen import Screen

FIXTURE = os.environ["TUI_FIXTURE"]


def start(*options, rows=40, cols=130, **how):
    return Screen([FIXTURE, *options], rows, cols, **how)


def first_pids(text):
    """The pids of the process table, from above."""
    return [int(m.group(1)) for m in re.finditer(r"^[ *]\s*(\d{4,7}) \w", text, re.MULTILINE)]


def wait_chosen(s, pid):
    """Until the line of a process is the chosen one."""
    def is_chosen(_):
        for y, line in enumerate(s.screen.display):
            if re.match(rf"\s+{pid} ", line):
                return s.screen.buffer[y][0].bg != "default"
        return False
    s.wait(is_chosen, f"{pid} to be chosen")


@contextlib.contextmanager
def start_in_shell():
    """As a job of a shell, which can stop it."""
    with Screen(["/bin/bash", "--norc", "--noprofile", "-i"], 30, 110, env={"PS1": "ready> "}) as s:
        s.wait_for("ready>")
        s.send(f"{shlex.quote(FIXTURE)}\r")
        s.wait_for("1000 anna")
        yield s


def stop(s):
    s.send("\x1a")
    s.wait_for("Stopped")


def go_on(s):
    s.screen.reset()
    s.send("fg\r")
    s.wait_for("1000 anna")
