"""Bad input and faults: whatever clients send, the daemon serves the others, and its figures are right."""

import os
import pathlib
import random
import resource
import socket
import struct
import subprocess
import unittest

from support import *  # noqa: F403: the vocabulary of these tests

MIB = 1 << 20


class Bytes(ServerTest):
    def test_messages_of_every_size_arrive_in_pieces_of_any_length(self):
        self.daemon.start()
        for piece in (1, 7, 39, 71, 73, 100):
            for size in SIZES:
                client = self.client(size)
                client.tell(f"pieces {piece}", "alloc 3 0 1000 1", "alloc 3 1 200 2", "alloc 3 0 30 3", "free 3 1")
                self.assertEqual(client.query(3)[:2], (30, 200), (piece, size))
                client.tell("free 3 2", "free 3 3")
                self.assertEqual(client.query(3)[:2], (0, 0), (piece, size))
                client.end()

    def test_a_message_that_ends_early_counts_only_if_it_is_whole(self):
        self.daemon.start()
        whole = message(144, ALLOC, bytes_=4096, type_=DRAM)
        for length in range(1, 145):
            line = self.line()
            line.socket.sendall(whole[:24] + struct.pack("<Q", length) + whole[32:length] if length >= 32 else whole[:length])
            line.close()
        watcher = self.line()
        until("the four whole messages are counted", lambda: watcher.query()[0] == 4 * 4096)

    def test_random_bytes_disturb_nobody(self):
        self.daemon.start("--quiet")
        seed = random.Random(7)
        good = self.client()
        good.tell("alloc 5 0 123456 1")
        for _ in range(scaled(2000)):
            line = self.line()
            kind = seed.randrange(3)
            data = seed.randbytes(seed.randrange(1, 700))
            if kind == 1:  # a type that exists
                data = bytes([seed.randrange(1, 13)]) + data
            elif kind == 2:  # damaged at one place
                whole = bytearray(b"".join(message(seed.choice(SIZES), seed.randrange(1, 13), device=seed.randrange(8),
                                                   id_=seed.randrange(4)) for _ in range(5)))
                whole[seed.randrange(len(whole))] = seed.randrange(256)
                data = bytes(whole)
            try:
                line.socket.sendall(data)
            except OSError:
                pass  # it was thrown out before the end
            line.close()
        self.assertEqual(good.query(5)[0], 123456)
        self.assertLess(self.daemon.private_bytes(), 256 * MIB)


class Lies(ServerTest):
    def test_absurd_fields_change_no_total(self):
        self.daemon.start()
        client = self.client()
        client.tell("alloc 0 0 1000 1")
        self.assertEqual(client.query(0), (1000, 0, 0, 0, 0, 0))
        absurd = [f"alloc {device} 0 4096 7" for device in (-1, -2147483648, 2147483647)]
        absurd += [f"alloc 0 {type_} 4096 7" for type_ in (5, 6, 100, 255)]
        absurd += [f"alloc 0 0 {bytes_} 7" for bytes_ in (0, 2**63, 2**64 - 1, 2**62)]
        absurd += ["free 0 99", "free -1 1", "free 77 1", "cbfree 0 5000 1", "unload 0 5000 1", "cbfree 0 0 1"]
        client.tell(*absurd)
        for kind in (RESPONSE, INFO_RESPONSE):
            client.tell("raw " + message(144, kind).hex())
        self.assertEqual(client.query(0), (1000, 0, 0, 0, 0, 0))

    def test_reports_that_come_twice_do_not_inflate(self):
        self.daemon.start()
        client = self.client()
        client.tell(*["alloc 0 0 1000 1", "cb 0 500 2", "kernel 0 1 70 3"] * 5)
        self.assertEqual(client.query(0), (1000, 0, 0, 0, 500, 70))
        client.tell("cbfree 0 999999 2", "unload 0 999999 3", "cbfree 0 500 2", "free 0 1", "free 0 1")
        self.assertEqual(client.query(0), (0, 0, 0, 0, 0, 0))

    def test_a_claimed_pid_is_only_a_claim(self):
        self.daemon.start()
        victim, liar = self.client(), self.client()
        victim.tell("alloc 1 0 1000 1", "sync")
        victim.hear_until("synced")
        liar.tell(f"pid {victim.pid}", "alloc 1 0 50 2", "free 1 1", "pid 1", "alloc 1 0 7 3", "pid 0", "alloc 1 0 3 4")
        self.assertEqual(liar.query(1)[0], 1060)
        dump = self.daemon.dump()
        self.assertEqual(sum(dump[victim.pid].values()), 1000)
        self.assertEqual(sum(dump[liar.pid].values()), 60)
        self.assertEqual(set(dump), {victim.pid, liar.pid})

    def test_equal_ids_of_two_processes_and_of_two_kinds_are_different_buffers(self):
        self.daemon.start()
        one, two = self.client(72), self.client(112)
        for client in (one, two):
            client.tell("alloc 0 0 1000 1", "alloc 0 1 200 1", "sync")
            client.hear_until("synced")
        self.assertEqual(one.query(0)[:2], (2000, 400))
        one.tell("free 0 1")  # the newest of the two
        self.assertEqual(one.query(0)[:2], (2000, 200))
        two.kill()
        until("the dead one's buffers are gone", lambda: one.query(0)[:2] == (1000, 0))

    def test_64_devices_and_no_more(self):
        self.daemon.start()
        client = self.client()
        client.tell(*[f"alloc {device} 0 100 1" for device in range(0, 6500, 100)], "sync")
        client.hear_until("synced")
        self.assertEqual(sum(client.query(device)[0] for device in range(0, 6500, 100)), 6400)
        other = self.client()
        other.tell("alloc 6400 0 100 1")
        self.assertEqual(other.query(6400)[0], 100)

    def test_a_closed_connection_releases_nothing(self):
        self.daemon.start()
        client, watcher = self.client(), self.client()
        client.tell("alloc 0 0 1000 1", "sync", "close", "say closed")
        client.hear_until("closed")
        self.assertEqual(watcher.query(0)[0], 1000)
        client.tell("free 0 1")
        self.assertEqual(client.query(0)[0], 0)


class Crowds(ServerTest):
    def test_ten_thousand_connections(self):
        count = scaled(10000)
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        if hard < count + 100:
            self.skipTest(f"only {hard} descriptors are allowed")
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        self.daemon.limit = hard
        self.daemon.start("--quiet")
        before = self.daemon.private_bytes()
        lines = [self.line(SIZES[i % 4]) for i in range(count)]
        for i, line in enumerate(lines):
            line.send(ALLOC, bytes_=10, id_=i + 1)
        for line in lines:
            line.query()
        self.assertEqual(lines[-1].query()[0], 10 * count)
        self.assertLess(self.daemon.private_bytes() - before, 256 * MIB)
        for line in lines:
            line.close()
        self.assertEqual(self.line().query()[0], 10 * count)

    def test_idle_connections_of_many_processes_cost_little(self):
        self.daemon.start("--quiet")
        clients = [self.client(SIZES[i % 4]) for i in range(scaled(200))]
        for client in clients:
            client.tell("connect")
        for client in clients:
            client.hear_until("connected")
        used = sum(file.stat().st_blocks * 512 for file in self.daemon.dir.rglob("*") if file.is_file())
        self.assertEqual(used, 0)  # a ledger is made with the first buffer

    def served(self):
        """What a new connection is told; None: it was refused."""
        try:
            with Line(self.daemon.socket) as line:
                return line.query()[0]
        except (OSError, EOFError):
            return None

    def test_used_up_descriptors(self):
        self.daemon.limit = 64
        self.daemon.start()
        first = self.line()
        first.send(ALLOC, bytes_=1000, id_=1)
        self.assertEqual(first.query()[0], 1000)
        more = [self.line() for _ in range(150)]  # the rest waits in the backlog
        first.send(ALLOC, bytes_=500, id_=2)
        self.assertEqual(first.query()[0], 1500)
        for line in more:
            line.close()
        until("the closed ones are noticed", lambda: self.served() == 1500)

    def test_a_client_that_never_reads_stops_nobody(self):
        self.daemon.start("--quiet")
        deaf, good = self.line(), self.client()
        deaf.socket.settimeout(1)
        good.tell("alloc 0 0 1000 1")
        try:
            for _ in range(scaled(200000) // 100):
                deaf.socket.sendall(message(144, QUERY) * 100)
        except OSError:
            pass  # thrown out, or not read any more: both are right
        self.assertEqual(good.query(0)[0], 1000)
        self.assertLess(self.daemon.private_bytes(), 256 * MIB)

    def test_a_log_that_nobody_reads_stops_nobody(self):
        reading, writing = os.pipe()
        self.addCleanup(os.close, reading)
        self.addCleanup(os.close, writing)
        self.daemon.stdout = writing
        self.daemon.start()
        client = self.client(72)
        client.tell(f"flood {scaled(100000)} 10 1 0 4096")
        client.hear_until("flooded")
        self.assertEqual(client.query(0)[0], 10 * 4096)

    def test_floods_of_every_size_at_once(self):
        self.daemon.start("--quiet")
        clients = [self.client(SIZES[i % 4]) for i in range(16)]
        for i, client in enumerate(clients):
            client.tell(f"flood {scaled(100000) + i + 1} {i + 1} {1 + i * 5} {i} {i << 40}")
        for client in clients:
            client.hear_until("flooded")
        for i, client in enumerate(clients):
            self.assertEqual(client.query(i)[0], (i + 1) * 4096)


class NoRoom(ServerTest):
    def small_tmpfs(self):
        """Mounts a megabyte where the ledgers are, for those who enter the name space of a process that waits."""
        if os.geteuid() != 0:
            self.skipTest("only root can mount")
        script = f'mount -t tmpfs -o size=1m tmpfs "{self.daemon.dir}" && echo mounted && read line'
        holder = subprocess.Popen(["unshare", "-m", "sh", "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.addCleanup(holder.communicate, "\n")
        if holder.stdout.readline() != "mounted\n":
            self.skipTest("no tmpfs can be mounted here")
        self.daemon.prefix = ["nsenter", "-m", "-t", str(holder.pid)]

    def refused(self):
        return self.daemon.statistic("Refused: no room")

    def test_a_full_tmpfs_loses_nothing_that_fits(self):
        self.small_tmpfs()
        self.daemon.start("--quiet")
        client, other, count = self.client(), self.client(), 30000
        client.tell(*[f"alloc 0 0 1 {i}" for i in range(1, count + 1)])
        kept = client.query(0)[0]
        self.assertGreater(kept, 100)
        self.assertEqual(self.refused(), count - kept)
        other.tell("alloc 1 0 1 1")
        self.assertEqual(other.query(1)[0] + self.refused(), count - kept + 1)  # a small ledger may still fit

        # What was acknowledged survives the daemon, though there is no room for anything new.
        self.daemon.kill()
        self.daemon.start("--quiet")
        for one in (client, other):
            one.tell("close")
        self.assertEqual(client.query(0)[0], kept)
        known = self.daemon.dump()[client.pid]
        self.assertEqual(len(known), kept)
        client.tell("alloc 0 0 1 1000000")
        self.assertEqual(client.query(0)[0] + self.refused(), kept + 1)

        # With room again, everybody goes on.
        client.tell(*[f"free 0 {i}" for i in range(1, count + 1)], "free 0 1000000")
        self.assertEqual(client.query(0)[0], 0)
        client.tell(*[f"alloc 0 0 1 {i}" for i in range(1, 101)])
        self.assertEqual(client.query(0)[0], 100)
        client.kill()
        other.tell(*[f"alloc 1 0 1 {i}" for i in range(1, 1001)], "sync")
        other.hear_until("synced")
        until("the dead one's room is used", lambda: other.tell("alloc 1 0 1 1001") or other.query(1)[0] > 0)
        held = other.query(1)[0]
        self.assertEqual(len(self.daemon.dump()[other.pid]), held)


class Places(ServerTest):
    def run_second(self):
        return subprocess.run(self.daemon.command_line(), env=self.daemon.environment(), capture_output=True, text=True,
                              timeout=PATIENCE_S, check=False)

    def test_a_second_daemon_is_refused(self):
        self.daemon.start()
        second = self.run_second()
        self.assertEqual(second.returncode, 2)
        self.assertNotEqual(second.stderr, "")
        self.assertTrue(self.daemon.listens())

    def test_a_stale_socket_is_replaced(self):
        self.daemon.start().kill()
        self.assertTrue(self.daemon.socket.exists())
        self.daemon.start()

    def test_a_planted_link_or_file_is_left_alone(self):
        target = self.daemon.root / "precious"
        target.write_text("precious")
        self.daemon.socket.symlink_to(target)
        self.assertEqual(self.run_second().returncode, 2)
        self.assertTrue(self.daemon.socket.is_symlink())
        self.daemon.socket.unlink()
        self.daemon.socket.write_text("a file")
        self.assertEqual(self.run_second().returncode, 2)
        self.assertEqual(self.daemon.socket.read_text(), "a file")
        self.assertEqual(target.read_text(), "precious")
