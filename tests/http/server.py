"""A server of HTTP for a test, with a folder of its own, and programs that report there."""

import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import unittest

COMMAND = os.environ["TIDEMARK_COMMAND"]
DAEMON = os.environ["TIDEMARK_DAEMON"]
TOOLS = os.environ["TIDEMARK_TEST_TOOLS"]
PATIENCE_S = 60


def wait_for(what, condition):
    """Waits until the condition gives something true, and returns that."""
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.02)
    raise AssertionError(f"waited in vain for {what}")


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Answer:
    def __init__(self, data):
        head, _, self.body = data.partition(b"\r\n\r\n")
        lines = head.decode("latin-1").split("\r\n")
        parts = lines[0].split(" ", 2)
        self.status = int(parts[1]) if len(parts) > 1 and parts[1].isdigit() else None
        self.headers = {}
        for line in lines[1:]:
            name, _, value = line.partition(":")
            self.headers[name.strip().lower()] = value.strip()
        if self.headers.get("transfer-encoding") == "chunked":
            self.body = self.unchunk(self.body)

    def unchunk(self, data):
        out = b""
        while data:
            size, _, data = data.partition(b"\r\n")
            if int(size or b"0", 16) == 0:
                return out
            out += data[:int(size, 16)]
            data = data[int(size, 16) + 2:]
        raise AssertionError("the answer is not whole")

    @property
    def text(self):
        return self.body.decode()

    @property
    def json(self):
        return json.loads(self.body)


class Case(unittest.TestCase):
    """A test with a folder, removed afterwards with all that runs."""

    def setUp(self):
        self.stack = contextlib.ExitStack()
        self.addCleanup(self.stack.close)
        shm = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
        self.folder = tempfile.mkdtemp(prefix="tidemark-http.", dir=shm)
        self.stack.callback(shutil.rmtree, self.folder, ignore_errors=True)
        os.chmod(self.folder, 0o1777)
        self.empty = os.path.join(self.folder, "empty")
        os.mkdir(self.empty)
        self.environment = dict(os.environ, TIDEMARK_DIR=self.folder, TIDEMARK_SHM_DIR=self.empty,
                                TIDEMARK_SYSFS_ROOT=self.empty, TIDEMARK="1")

    def end(self, process):
        if process.stdin:
            process.stdin.close()
        else:
            process.terminate()
        try:
            process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            raise
        finally:
            for stream in (process.stdout, process.stderr):
                if stream:
                    stream.close()
        self.assertIn(process.returncode, (0, -9))  # a sanitizer has another code

    def start(self, *options, **environment):
        """The daemon, or http_alone for options that only that one has; self.port and self.socket say where it listens."""
        self.socket = os.path.join(self.folder, "http.sock")
        is_alone = "--leaks" in options or "--stats" in options
        program = [os.path.join(TOOLS, "http_alone")] if is_alone else [
            DAEMON, "--quiet", "--socket", os.path.join(self.folder, "daemon.sock")]
        for _ in range(20):
            self.port = free_port()
            errors = tempfile.TemporaryFile()
            process = subprocess.Popen(
                [*program, "--http-port", str(self.port), "--http-socket", self.socket, *options],
                stdin=subprocess.PIPE if is_alone else None, stdout=subprocess.PIPE, stderr=errors,
                env=dict(self.environment, STATE_DIRECTORY=os.path.join(self.folder, "state"), **environment))
            line = process.stdout.readline()
            while line and b"ready" not in line and b"Press Ctrl+C" not in line:
                line = process.stdout.readline()
            if line:
                self.server = process
                self.errors = errors
                self.stack.callback(errors.close)
                self.stack.callback(self.end, process)
                return process
            process.wait()
            if process.stdin:
                process.stdin.close()
            process.stdout.close()
            errors.seek(0)
            said = errors.read()
            errors.close()
            if b"in use" not in said:
                raise AssertionError(said.decode())
        raise AssertionError("no free port")

    def add_card(self):
        """The machine of what is started from now on has a card, and tt-metal counts what is on it."""
        tool = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli", "fake_machine")
        machine = os.path.join(self.folder, "machine")
        values = ("tt_asic_id=0000000000001234", "tt_aiclk=1000", "device/hwmon/hwmon5/temp1_input=47250",
                  "device/hwmon/hwmon5/power1_input=35500000", "device/hwmon/hwmon5/in0_input=850",
                  "device/hwmon/hwmon5/curr1_input=40000")
        for words in (["card", "0", "0000:01:00.0", "n150", "wormhole", "0100018611902010", *values],
                      ["region", "4660", "0", "dram=24576"]):
            subprocess.run([sys.executable, tool, machine, *words], check=True)
        self.environment.update(TIDEMARK_SYSFS_ROOT=machine + "/sys", TIDEMARK_SHM_DIR=machine + "/shm")

    def program(self, what="steady", user=None, tool="leaky"):
        """A program that reports and waits; see tests/integration/leaky.c and tracked.c."""
        process = subprocess.Popen([os.path.join(TOOLS, tool), what], stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, env=self.environment, user=user, group=user)
        self.assertIn(b"ready", process.stdout.readline())
        self.stack.callback(self.end, process)
        return process

    def connect(self, unix=False):
        s = socket.socket(socket.AF_UNIX if unix else socket.AF_INET)
        s.settimeout(PATIENCE_S)
        s.connect(self.socket if unix else ("127.0.0.1", self.port))
        return s

    def raw(self, data, unix=False, patience_s=None):
        """Sends bytes and reads until the connection is closed, or nothing comes for some time if that is allowed."""
        with self.connect(unix) as s:
            out = b""
            if patience_s is not None:
                s.settimeout(patience_s)
            try:
                s.sendall(data)
                while True:
                    more = s.recv(65536)
                    if not more:
                        break
                    out += more
            except ConnectionError:
                pass
            except TimeoutError:
                if patience_s is None:
                    raise
            return out

    def get(self, path, unix=False, host="localhost", method="GET", **headers):
        lines = [f"{method} {path} HTTP/1.1", f"Host: {host}", "Connection: close"]
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        return Answer(self.raw("\r\n".join(lines + ["", ""]).encode(), unix))
