"""Everything that the daemon refuses, drops or loses is counted, and the counts are in its metrics."""

import fcntl
import re
import resource
import unittest

from server import *


class Counts(DaemonTest):
    def metrics(self):
        return {line.rsplit(" ", 1)[0]: float(line.rsplit(" ", 1)[1]) for line in self.get("/metrics").splitlines()
                if re.match(r"tt_(server|archive|http_refused)", line)}

    def wait_metric(self, name, value):
        self.wait_for(lambda: self.metrics()[name] >= value, f"{name} {value}")
        self.assertEqual(self.metrics()[name], value, name)

    def start_deaf(self, *options):
        """A daemon whose output nobody reads, with few descriptors."""
        reading, writing = os.pipe()
        self.addCleanup(os.close, reading)
        self.addCleanup(os.close, writing)
        fcntl.fcntl(writing, fcntl.F_SETPIPE_SZ, 4096)
        limit = lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
        self.out = os.devnull
        for _ in range(20):  # another may take the port
            command = self.command("--http-port", str(free_port()), "--http-socket", self.http, *options)
            daemon = self.spawn(command, stdout=writing, preexec_fn=limit)
            self.wait_for(lambda: daemon.poll() is not None or self.answers(), "the daemon")
            if daemon.poll() is None:
                return daemon
        return self.fail("no free port")

    def answers(self):
        try:
            return self.get("/healthz")
        except OSError:
            return False

    def refuse(self):
        """Makes every mistake that a client can make, each so many times."""
        client = self.client(144)
        client.query()
        for times, what in enumerate((dict(kind=99), dict(kind=ALLOC, device=-1, nbytes=1),
                                         dict(kind=ALLOC, nbytes=1 << 60), dict(kind=FREE, id=77),
                                         dict(kind=ALLOC, nbytes=1, id=5, pid=1), dict(kind=DUMP)), 1):
            for _ in range(times):
                client.send(**what)
        client.send(FREE, id=5)  # reported five times: four were replaced
        for kind in (DRAM, L1):
            client.send(ALLOC, nbytes=10, buffer_type=kind, id=6)
        client.send(FREE, id=6)
        self.assertEqual(client.query()[0], 10)
        for _ in range(7):
            bad, half = self.client(), self.client()
            bad.socket.sendall(bytes(200))
            half.socket.sendall(message(72, ALLOC, 0, 10, DRAM, id=1)[:50])
            half.close()
        return client

    def test_all_of_them(self):
        daemon = self.start_deaf("--dead-limit", "1")
        client = self.refuse()
        for name, value in (('refused_messages_total{reason="type"}', 1), ('refused_messages_total{reason="device"}', 2),
                            ('refused_messages_total{reason="invalid"}', 3), ("unknown_releases_total", 4),
                            ("claimed_pids_total", 5), ('messages_total{type="other"}', 6), ("replaced_buffers_total", 4),
                            ("ambiguous_releases_total", 1), ("bad_streams_total", 7), ("half_messages_total", 7)):
            self.wait_metric("tt_server_" + name, value)
        seen = {name for name, value in self.metrics().items() if value != 0}

        # A process whose ledger cannot be made, and one whose child goes on when it has ended.
        os.rename(self.shm, self.shm + ".away")
        open(self.shm, "w", encoding="ascii").close()
        other = self.other_process("for i in range(3): c.send(ALLOC, 0, 10, DRAM, id=i)\nc.query(); print(flush=True)")
        other.stdout.readline()
        self.wait_metric('tt_server_refused_messages_total{reason="space"}', 3)
        os.unlink(self.shm)
        os.rename(self.shm + ".away", self.shm)
        other.wait()
        self.wait_metric("tt_server_ended_clients_total", 1)
        other = self.other_process("for i in range(8): c.send(ALLOC, 1, 100, DRAM, id=i)\nc.query()\n"
                                   "if os.fork() != 0: os._exit(0)\n"
                                   "sys.stdin.readline()\nfor i in range(9): c.send(ALLOC, 1, 10, DRAM, id=i)\nc.query()\n")
        self.wait_metric("tt_server_ended_clients_total", 2)
        other.stdin.write("\n")
        other.stdin.flush()
        self.wait_metric('tt_server_refused_messages_total{reason="nobody"}', 9)
        self.wait_metric("tt_server_left_buffers_total", 8)
        self.wait_metric("tt_server_left_bytes_total", 800)
        self.wait_metric("tt_archive_ledgers", 1)
        seen |= {name for name, value in self.metrics().items() if value != 0}

        # Nobody reads the log, nor the replies of one client.
        self.fill(self.client())
        for i in range(300):
            client.socket.sendall(b"".join(message(144, ALLOC, 0, 10, DRAM, id=100 * i + k) for k in range(100)))
        client.send(ALLOC, 0, 10, L1, id=1)  # listed, and to be found among the others
        client.socket.sendall(message(144, DUMP) * 5000)
        client.query()
        self.wait_for(lambda: self.metrics()['tt_server_refused_messages_total{reason="busy"}'] > 0, "refused lists")
        self.wait_for(lambda: self.metrics()["tt_server_lost_log_lines_total"] > 0, "lost lines")
        self.assertGreater(self.metrics()["tt_server_queued_bytes"], 0)
        many = [self.client() for _ in range(64)]
        self.wait_for(lambda: self.metrics()["tt_server_refused_connections_total"] > 0, "refused connections")
        for one in many:
            one.close()
        seen |= {name for name, value in self.metrics().items() if value != 0}

        # Another daemon goes on, and has no room on disk.
        daemon.kill()
        daemon.wait()
        os.unlink(self.http)
        self.start_deaf("--dead-limit", "1", "--archive-limit", "1")
        self.wait_metric("tt_server_resumed_ledgers_total", 1)
        self.wait_metric("tt_archive_removed_ledgers_total", 1)
        seen |= {name for name, value in self.metrics().items() if value != 0}
        never = {name for name in self.metrics() if not name.startswith("tt_http")} - seen
        self.assertEqual(never, set(), "a counter that no test reaches")


if __name__ == "__main__":
    unittest.main()
