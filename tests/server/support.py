"""A daemon with its own socket and ledgers, and clients of it, for the tests of tests/server.

$TIDEMARK_BIN has the commands, $TIDEMARK_TOOLS has wire_client; TIDEMARK_SCALE divides the number of rounds.
"""

import json
import os
import pathlib
import resource
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import time
import unittest

BIN = pathlib.Path(os.environ["TIDEMARK_BIN"])
TOOLS = pathlib.Path(os.environ["TIDEMARK_TOOLS"])
SCALE = int(os.environ.get("TIDEMARK_SCALE", "1"))
PATIENCE_S = 120  # only a defect makes anybody wait that long

SIZES = (72, 112, 128, 144)
ALLOC, FREE, QUERY, RESPONSE, DUMP, INFO, INFO_RESPONSE, CB, CB_FREE, KERNEL, UNLOAD, KERNELS = range(1, 13)
DRAM, L1, SYSTEM, L1_SMALL, TRACE = range(5)


def scaled(count):
    return max(1, count // SCALE)


def until(what, check, pause_s=0.005):
    """Waits until check() gives something true, and gives it back."""
    end = time.monotonic() + PATIENCE_S
    while True:
        result = check()
        if result:
            return result
        if time.monotonic() > end:
            raise AssertionError(f"still not: {what}")
        time.sleep(pause_s)


def message(size, kind, device=0, bytes_=0, type_=0, id_=0, pid=None):
    pid = os.getpid() if pid is None else pid
    return struct.pack("<BxxxiQBxxxiQQ", kind, device, bytes_, type_, pid, id_, 0).ljust(size, b"\0")


class Line:
    """A connection of this process."""

    def __init__(self, path, size=144):
        self.size = size
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            self.socket.connect(str(path))  # blocks while too many others wait
        except OSError:
            self.socket.close()
            raise
        self.socket.settimeout(PATIENCE_S)

    def listener_lives(self):
        """Not the socket of a daemon that was killed, which somebody else may hold for a moment."""
        (pid,) = struct.unpack_from("i", self.socket.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
        return pid == 0 or pathlib.Path(f"/proc/{pid}").exists()

    def send(self, kind, **fields):
        self.socket.sendall(message(self.size, kind, **fields))

    def receive(self):
        reply = b""
        while len(reply) < self.size:
            part = self.socket.recv(self.size - len(reply))
            if not part:
                raise EOFError("the daemon has closed the connection")
            reply += part
        return reply

    def query(self, device=0):
        """The totals of a device: dram, l1, l1_small, trace, cb, kernel."""
        self.send(QUERY, device=device)
        reply = self.receive()
        count = 6 if self.size >= 128 else 4
        return struct.unpack_from(f"<{count}Q", reply, 40)

    def close(self):
        self.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class Client:
    """A process of its own: wire_client."""

    def __init__(self, path, size=144):
        self.process = subprocess.Popen([TOOLS / "wire_client", path, str(size)], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True, bufsize=1)
        self.pid = self.process.pid

    def tell(self, *lines):
        self.process.stdin.write("".join(line + "\n" for line in lines))
        self.process.stdin.flush()

    def hear(self):
        return self.process.stdout.readline().rstrip("\n")

    def hear_until(self, word):
        """The lines before the one that is this word."""
        lines = []
        while (line := self.hear()) != word:
            if line == "":
                raise AssertionError(f"wire_client has ended before it said {word}: {lines}")
            lines.append(line)
        return lines

    def query(self, device=0):
        self.tell(f"query {device}")
        words = self.hear().split()
        return tuple(int(word) for word in words[1::2])

    def kill(self):
        self.process.kill()
        self.end()

    def end(self):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()


class Daemon:
    """tidemarkd in a directory of its own."""

    def __init__(self, root, prefix=(), limit=None, stdout=None):
        self.root = pathlib.Path(root)
        self.socket = self.root / "socket"
        self.dir = self.root / "ledgers"
        self.log = self.root / "log"
        self.errors = self.root / "errors"
        self.prefix, self.limit, self.stdout = list(prefix), limit, stdout
        self.process = None
        self.dir.mkdir(exist_ok=True)

    def environment(self):
        return dict(os.environ, TIDEMARK_DIR=str(self.dir), STATE_DIRECTORY=str(self.root / "state"))

    def command_line(self):
        """Without HTTP, whose usual port is not for tests."""
        return [BIN / "tidemarkd", "--socket", self.socket, "--no-http"]

    def start(self, *args):
        def prepare():
            resource.setrlimit(resource.RLIMIT_NOFILE, (self.limit, self.limit))

        with open(self.log, "ab") as log, open(self.errors, "ab") as errors:
            self.process = subprocess.Popen([*self.prefix, *self.command_line(), *args], stdin=subprocess.DEVNULL,
                                            stdout=self.stdout or log, stderr=errors, env=self.environment(),
                                            preexec_fn=prepare if self.limit else None)  # without it, a start is faster
        until("the daemon listens", self.listens, 0.0005)
        return self

    def listens(self):
        if self.process.poll() is not None:
            raise AssertionError(f"tidemarkd has ended with {self.process.returncode}: {self.said()}")
        try:
            with Line(self.socket) as line:
                return line.listener_lives()
        except OSError:
            return False

    def said(self):
        return self.errors.read_text(errors="replace")[-4000:]

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self):
        """Ends it in an orderly way, which it must do whatever it has seen."""
        if self.process is None or self.process.returncode is not None:
            return
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(PATIENCE_S)
        if code != 0:
            raise AssertionError(f"tidemarkd has ended with {code}: {self.said()}")

    def private_bytes(self):
        text = pathlib.Path(f"/proc/{self.process.pid}/smaps_rollup").read_text()
        return int(next(line for line in text.splitlines() if line.startswith("Anonymous:")).split()[1]) * 1024

    def command(self, *args):
        """The output of `tidemark` about this daemon's ledgers. A code says that something is wrong with them; no output at all,
        that something is wrong with the command."""
        done = subprocess.run([*self.prefix, BIN / "tidemark", *args], env=self.environment(), capture_output=True, text=True,
                              check=False)
        if not done.stdout:
            raise AssertionError(f"tidemark {' '.join(args)} has ended with {done.returncode}: {done.stderr}")
        return done.stdout

    def statistic(self, name):
        """A number that the daemon tells in words."""
        with Line(self.socket) as line:
            line.socket.sendall(b"TIDEMARK statistics\n")
            with line.socket.makefile() as answer:
                return next(int(text.rsplit(": ", 1)[1]) for text in answer if text.strip().startswith(name + ": "))

    def dump(self, *pids):
        """The live buffers of these processes, or of each that a ledger knows: {pid: {(device, kind, id): bytes}}."""
        result = {}
        for process in json.loads(self.command("dump", "--json", *[f"--pid={pid}" for pid in pids]))["dump"]["processes"]:
            buffers = result.setdefault(process["pid"], {})
            for buffer in process["buffers"]:
                buffers[(buffer["device"], buffer["kind"], buffer["id"])] = buffer["asked_bytes"]
        return result


class ServerTest(unittest.TestCase):
    """Has self.daemon, which is started by the test, and lives on until its end."""

    def setUp(self):
        place = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
        self.root = tempfile.mkdtemp(prefix="tidemark-server.", dir=place)
        self.addCleanup(shutil.rmtree, self.root, ignore_errors=True)
        self.clients = []
        self.daemon = Daemon(self.root)

    def tearDown(self):
        for client in self.clients:
            if client.process.returncode is None:
                client.kill()
        process = self.daemon.process
        try:
            self.daemon.stop()
        finally:
            if process is not None and process.poll() is None:
                process.kill()
                process.wait()

    def client(self, size=144):
        self.clients.append(Client(self.daemon.socket, size))
        return self.clients[-1]

    def line(self, size=144):
        line = Line(self.daemon.socket, size)
        self.addCleanup(line.close)
        return line
