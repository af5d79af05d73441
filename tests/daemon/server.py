"""A real tidemarkd in a folder of its own, and clients that speak the messages of instrumented programs."""

import fcntl
import json
import os
import re
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import termios
import time
import unittest

BIN = os.environ["TIDEMARK_BIN"]
SIZES = (72, 112, 128, 144)
ALLOC, FREE, QUERY, RESPONSE, DUMP, INFO, INFO_RESPONSE, CB_ALLOC, CB_FREE, LOAD, UNLOAD, DUMP_KERNELS = range(1, 13)
DRAM, L1, SYSTEM, L1_SMALL, TRACE = range(5)
BOX = ("\n╔══════════════════════════════════════════════════════════════╗\n"
       "║           {:<50}║\n"
       "╚══════════════════════════════════════════════════════════════╝\n")
REMAINING = BOX.format("REMAINING ALLOCATED BUFFERS")
KERNELS = BOX.format("DETAILED KERNEL ALLOCATIONS")
PERFECT = REMAINING + "Total tracked allocations: 0\n\n✓ No buffers remaining - perfect cleanup!\n"
WAIT_S = float(os.environ.get("TDM_WAIT", 60))  # for anything that is certain to come; the machine may be slow


def message(size, kind, device=0, nbytes=0, buffer_type=0, id=0, pid=None):
    pid = os.getpid() if pid is None else pid
    stamp = time.time_ns() if kind == ALLOC else 0
    return struct.pack("<BxxxiQBxxxiQQ", kind, device, nbytes, buffer_type, pid, id, stamp).ljust(size, b"\0")


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Client:
    """A connection whose messages have one size."""

    def __init__(self, path, size=72):
        self.size = size
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(WAIT_S)
        self.socket.connect(path)

    def send(self, *args, **keys):
        self.socket.sendall(message(self.size, *args, **keys))

    def receive(self):
        got = b""
        while len(got) < self.size:
            piece = self.socket.recv(self.size - len(got))
            if not piece:
                raise EOFError(f"closed after {len(got)} of {self.size} bytes")
            got += piece
        return got

    def query(self, device=0):
        """dram, l1, l1_small, trace, and for the two larger sizes cb and kernel."""
        self.send(QUERY, device)
        reply = self.receive()
        assert reply[0] == RESPONSE and struct.unpack_from("<i", reply, 4)[0] == device, reply
        assert reply[8:40].strip(b"\0") == b"", reply
        return struct.unpack_from("<6Q" if self.size >= 128 else "<4Q", reply, 40)

    def close(self):
        self.socket.close()


class DaemonTest(unittest.TestCase):
    """Each test has a folder, which is removed after the daemons and other processes of the test have ended."""

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="tdm.")
        os.chmod(self.folder, 0o755)
        self.live_in(self.folder)
        self.processes = []
        self.addCleanup(self.clean)

    def live_in(self, folder):
        """The machine of what is started from now on."""
        self.machine = os.path.join(folder, "machine")
        self.path = os.path.join(folder, "sock")
        self.http = os.path.join(folder, "http")
        self.shm = os.path.join(folder, "shm")
        os.makedirs(self.shm, exist_ok=True)

    def clean(self):
        for process in self.processes:
            if process.poll() is None:
                process.kill()
            process.wait()
            if process.stdout is not None:
                process.stdout.close()
        shutil.rmtree(self.folder)

    def environment(self):
        # no card of this machine plays a part
        return dict(os.environ, TIDEMARK_SYSFS_ROOT=self.machine + "/sys", TIDEMARK_PROC_ROOT=self.machine + "/proc",
                    TIDEMARK_SHM_DIR=self.machine + "/shm", XDG_STATE_HOME=os.path.join(self.folder, "state"))

    def add_card(self, *words):
        """A card of the machine that the daemon sees: N PCI TYPE ARCH SERIAL."""
        tool = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli", "fake_machine")
        subprocess.run([sys.executable, tool, self.machine, "card", *words], check=True)

    def spawn(self, argv, **keys):
        process = subprocess.Popen(argv, env=keys.pop("env", self.environment()), **keys)
        self.processes.append(process)
        return process

    def command(self, *options):
        """A command line of the daemon. Without a port it has no HTTP: the usual port is not for tests."""
        http = [] if "--http-port" in options else ["--no-http"]
        return [os.path.join(BIN, "tidemarkd"), "--socket", self.path, "--dir", self.shm, *http, *options]

    def start(self, *options, out=None, before=(), **keys):
        """Starts a daemon and waits until clients can connect. Its output is in self.out. `before`: a program that
        becomes it."""
        self.out = out if out is not None else os.path.join(self.folder, f"out{len(self.processes)}")
        with open(self.out, "ab") as file:
            process = self.spawn([*before, *self.command(*options)], stdout=file, stderr=subprocess.STDOUT, **keys)
        self.wait_for(lambda: "Press Ctrl+C" in self.text() or process.poll() is not None, "the start of the daemon")
        return process

    def start_http(self, *options, **keys):
        """On a port that is free, and on a Unix socket."""
        for _ in range(20):
            self.port = free_port()
            daemon = self.start("--http-port", str(self.port), "--http-socket", self.http, *options, **keys)
            if daemon.poll() is None:
                return daemon
            self.assertIn("in use", self.text())
        return self.fail("no free port")

    def get(self, path, unix=True):
        with socket.socket(socket.AF_UNIX if unix else socket.AF_INET) as s:
            s.settimeout(WAIT_S)
            s.connect(self.http if unix else ("127.0.0.1", self.port))
            s.sendall(f"GET {path} HTTP/1.0\r\nHost: localhost\r\n\r\n".encode())
            with s.makefile("rb") as answer:
                head, _, body = answer.read().partition(b"\r\n\r\n")
        self.assertIn(b" 200 ", head.split(b"\r\n")[0])
        return body.decode()

    def metric(self, name, unix=True):
        """A metric of the daemon's own; labels, if it has any, are part of the name."""
        for line in self.get("/metrics", unix).splitlines():
            if line.startswith(name + " "):
                return float(line.rsplit(" ", 1)[1])
        return self.fail(f"no metric {name}")

    def wait_for(self, condition, what):
        """`what`: a text, or a function that gives it when it is needed."""
        end = time.monotonic() + WAIT_S
        while not condition():
            if time.monotonic() > end:
                self.fail(f"{what() if callable(what) else what} did not come:\n{self.text()}")
            time.sleep(0.01)

    def halt(self, process):
        """Stops a process until it gets SIGCONT."""
        process.send_signal(signal.SIGSTOP)
        self.wait_for(lambda: open(f"/proc/{process.pid}/stat", encoding="ascii").read().split()[2] == "T", "the stop")

    def text(self):
        with open(self.out, encoding="utf-8") as file:
            return file.read()

    def wait_text(self, text):
        self.wait_for(lambda: text in self.text(), repr(text))

    def client(self, size=72, path=None):
        client = Client(path or self.path, size)
        self.addCleanup(client.close)
        return client

    def ask(self, question):
        with socket.socket(socket.AF_UNIX) as asker:
            asker.settimeout(WAIT_S)
            asker.connect(self.path)
            asker.sendall(f"TIDEMARK {question}\n".encode())
            got = b""
            while piece := asker.recv(65536):
                got += piece
        return got.decode()

    def statistic(self, name):
        for line in self.ask("statistics").splitlines():
            if line.strip().startswith(name + ": "):
                return int(line.rsplit(": ", 1)[1])
        self.fail(f"no statistic {name!r}")

    def fill(self, client):
        """Asks without reading the answers until the daemon waits. Returns how often; the devices are 0, 1, 2, ..."""
        sent = 0
        waits = lambda: self.statistic("Waits for a client that does not read") != 0
        # a socket with a time-out stops sending when a quarter of its room is used, so the daemon must not fall behind
        unread = lambda: struct.unpack("i", fcntl.ioctl(client.socket, termios.TIOCOUTQ, bytes(4)))[0]
        while not waits():
            for _ in range(20):
                client.send(QUERY, sent)
                sent += 1
            self.wait_for(lambda: unread() == 0 or waits(), "the daemon's turn")
        return sent

    def tidemark(self, *args):
        return subprocess.run([os.path.join(BIN, "tidemark"), *args], env=dict(os.environ), capture_output=True, text=True,
                              check=False)

    def dump(self, folder=None):
        done = self.tidemark("dump", "--json", "--dir", folder or self.shm)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)["dump"]

    def other_process(self, program):
        """A Python process that has `c`, a client, and what this file has. It writes lines to its stdout."""
        here = os.path.dirname(os.path.abspath(__file__))
        head = f"import sys; sys.path.insert(0, {here!r}); from server import *; c = Client({self.path!r})\n"
        process = self.spawn([sys.executable, "-c", head + program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.addCleanup(process.stdin.close)
        return process
