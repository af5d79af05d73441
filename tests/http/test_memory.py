"""The daemon's own memory stays bounded, whatever clients and readers do. The limits are generous: without bounds, each flood takes more."""

import os
import socket
import subprocess

from server import TOOLS, Case, wait_for

MIB = 1 << 20


class Memory(Case):
    def private(self):
        with open(f"/proc/{self.server.pid}/smaps_rollup", encoding="ascii") as file:
            return next(int(line.split()[1]) for line in file if line.startswith("Anonymous:")) * 1024

    def begin(self, *options):
        self.start(*options)
        with open(f"/proc/{self.server.pid}/status", encoding="ascii") as file:
            size = next(int(line.split()[1]) for line in file if line.startswith("VmSize:")) * 1024
        if size > 1 << 40:
            self.skipTest("a sanitizer has its own memory")
        self.client("alloc 0 0 10 1")
        for path in ("/metrics", "/api/v1/status", "/api/v1/buffers"):
            self.assertEqual(self.get(path, unix=True).status, 200)
        self.before = self.private()

    def check(self, what, most):
        """What it has more than before."""
        self.assertEqual(self.get("/metrics", unix=True).status, 200)
        self.assertLess(self.private() - self.before, most, what)

    def client(self, *lines, name="wire_client"):
        """A process that reports, and has ended afterwards."""
        done = subprocess.run([name, os.path.join(self.folder, "daemon.sock"), "72"], executable=os.path.join(TOOLS, "wire_client"),
                              input="".join(line + "\n" for line in (*lines, "sync")), capture_output=True, text=True, check=True)
        self.assertIn("synced", done.stdout)

    def test_ids_devices_and_names(self):
        self.begin("--process-metrics")
        self.client("flood 1000000 1000 64 0 4096")
        self.check("ids", 4 * MIB)
        for i in range(30):  # of processes that end
            self.client(*[f"alloc {1000 * i + device} 0 10 {device}" for device in range(64)], name=f"{i}" + "x" * 10000)
            self.assertEqual(self.get("/metrics", unix=True).status, 200)
        self.check("devices and names", 8 * MIB)

    def test_connections_requests_and_readers(self):
        self.begin()
        for i in range(1500):
            with self.connect(unix=i % 2 == 0) as s:
                s.sendall(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * (i * 10) + (b"\r\n\r\n" if i % 3 else b""))
        self.check("connections that were left", 16 * MIB)
        for i in range(500):
            self.assertEqual(self.get(f"/api/v1/status?pid={i + 1}", unix=True).status, 200)
        self.check("different requests", 16 * MIB)
        waiting = [self.connect(unix=i % 2 == 0) for i in range(500)]
        try:
            self.check("connections that say nothing", 16 * MIB)
        finally:
            for s in waiting:
                s.close()

    def test_readers_of_events_that_do_not_read(self):
        self.begin()
        readers = []
        try:
            for _ in range(32):
                s = self.connect(unix=True)
                s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                s.sendall(b"GET /api/v1/events HTTP/1.0\r\nHost: x\r\n\r\n")
                readers.append(s)
            wait_for("the readers", lambda: "\ntt_events_readers 32\n" in self.get("/metrics").text)
            talker = subprocess.Popen([os.path.join(TOOLS, "wire_client"), os.path.join(self.folder, "daemon.sock")],
                                      stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            self.stack.callback(self.end, talker)

            def lost():
                talker.stdin.write("flood 2000 10 10 0 4096\n")
                talker.stdin.flush()
                talker.stdout.readline()
                text = self.get("/metrics").text
                return int(next(line for line in text.splitlines() if line.startswith("tt_events_lost_frames_total ")).split()[1])

            wait_for("frames to be lost by all", lambda: lost() > 100)
            self.check("readers", 32 * MIB)
        finally:
            for s in readers:
                s.close()
        wait_for("the readers to be missed", lambda: "\ntt_events_readers 0\n" in self.get("/metrics").text)
        self.check("readers that left", 8 * MIB)
