"""The daemon and its clients are killed in every order, in the middle of what they do, and the totals are compared with what was sent.

Each client has a device of its own, so a query tells what the daemon knows about it. What was acknowledged (the answer to a query came) is
never lost. What was sent after that may be lost with whoever is killed, but only from its end: the daemon knows a beginning of it.
"""

import fcntl
import os
import random
import signal
import socket
import struct
import time

from support import *  # noqa: F403: the vocabulary of these tests

F_OFD_SETLK = 37
SLOTS = 5
ROUNDS = 1000
DUMP_EVERY = 25
FLOODS = 100
FLOOD = 5000  # messages


class Reporter:
    """A client, with everything that it has sent: the totals of its device after each message."""

    def __init__(self, test, slot, seed):
        self.test, self.slot, self.seed = test, slot, seed
        self.client = test.client(seed.choice(SIZES))
        self.live = {}  # id: bytes, as far as the daemon is known to have heard
        self.pending = []  # (id, bytes or None for a release), sent after that
        self.next_id = 1

    def report(self, count):
        """Sends some reports; their fate is not known yet."""
        ids = {**self.live}
        for id_, bytes_ in self.pending:
            ids[id_] = bytes_
        ids = [id_ for id_, bytes_ in ids.items() if bytes_ is not None]
        lines = []
        for _ in range(count):
            if ids and self.seed.random() < 0.4:
                id_ = ids.pop(self.seed.randrange(len(ids)))
                self.pending.append((id_, None))
                lines.append(f"free {self.slot} {id_}")
            else:
                bytes_ = self.seed.randrange(1, 1 << 33)
                ids.append(self.next_id)
                self.pending.append((self.next_id, bytes_))
                lines.append(f"alloc {self.slot} {DRAM} {bytes_} {self.next_id}")
                self.next_id += 1
        self.client.tell(*lines)

    def totals(self):
        """The total after each of the pending messages, the one before them first."""
        live, total = dict(self.live), sum(self.live.values())
        yield total
        for id_, bytes_ in self.pending:
            total += bytes_ if bytes_ is not None else -live[id_]
            live[id_] = bytes_
            yield total

    def settle(self, total):
        """The daemon says that this is the total: up to where has it heard?"""
        totals = list(self.totals())
        self.test.assertIn(total, totals, f"slot {self.slot}: the daemon is not at the end of any message")
        heard = len(totals) - 1 - totals[::-1].index(total)
        for id_, bytes_ in self.pending[:heard]:
            if bytes_ is None:
                del self.live[id_]
            else:
                self.live[id_] = bytes_
        self.pending = []

    def acknowledge(self):
        """Waits until everything is acknowledged."""
        total = self.client.query(self.slot)[0]
        self.test.assertEqual(total, list(self.totals())[-1], f"slot {self.slot}")
        self.settle(total)


class Kill(ServerTest):
    def begin(self, slot):
        reporter = Reporter(self, slot, self.seed)
        self.reporters[slot] = reporter
        return reporter

    def bury(self, slot):
        """Kills a client; its device has nothing any more as soon as the daemon has noticed."""
        reporter = self.reporters[slot]
        reporter.client.kill()
        self.clients.remove(reporter.client)
        self.dead.append((reporter.client.pid, reporter))
        self.begin(slot)

    def check_all(self, watcher):
        for slot, reporter in self.reporters.items():
            if reporter.next_id == 1:  # new: the one before it is dead
                until(f"slot {slot} is empty", lambda: watcher.query(slot)[0] == 0, 0.0005)
            else:
                reporter.settle(watcher.query(slot)[0])

    def check_dump(self):
        dump = self.daemon.dump(*[reporter.client.pid for reporter in self.reporters.values()])
        for reporter in self.reporters.values():
            self.assertEqual({key[2]: bytes_ for key, bytes_ in dump.get(reporter.client.pid, {}).items()}, reporter.live)

    def play(self, victims, order):
        """One round: everybody reports, some are killed in the middle of it, and who is left goes on."""
        acknowledged = [r for r in self.reporters.values() if self.seed.random() < 0.5]
        for reporter in self.reporters.values():
            reporter.report(self.seed.randrange(1, 20))
        for reporter in acknowledged:
            reporter.acknowledge()
        for reporter in self.reporters.values():
            reporter.report(self.seed.randrange(0, 20))
            reporter.client.tell("say done")
        for victim in order:
            if victim == "daemon":
                self.daemon.kill()
            else:
                self.bury(victim)
        for slot, reporter in self.reporters.items():
            if slot not in victims:
                reporter.client.hear_until("done")
        if "daemon" in victims:
            self.daemon.start("--quiet")
        for slot, reporter in self.reporters.items():
            reporter.client.tell("close", "connect")
            reporter.client.hear_until("connected")

    def test_totals_survive_every_order_of_kills(self):
        self.seed = random.Random(11)
        self.reporters, self.dead = {}, []
        self.daemon.start("--quiet")
        for slot in range(SLOTS):
            self.begin(slot)
        for number in range(scaled(ROUNDS)):
            victims = [slot for slot in range(SLOTS) if self.seed.random() < 0.2]
            if self.seed.random() < 0.6:
                victims.append("daemon")
            order = self.seed.sample(victims, len(victims))
            with self.subTest(round=number, order=order):
                self.play(victims, order)
                line = Line(self.daemon.socket)
                self.check_all(line)
                line.close()
                if number % DUMP_EVERY == 0:
                    self.check_dump()
            if self._outcome.result.failures or self._outcome.result.errors:
                return

    def test_a_flood_that_is_cut_is_known_up_to_some_message(self):
        """The daemon is killed while it writes, and the next one goes on with the beginning of what was sent."""
        seed, step = random.Random(5), 0x1000
        self.daemon.start("--quiet")
        for number in range(scaled(FLOODS)):
            client = self.client(seed.choice(SIZES))
            client.tell(f"flood {FLOOD} {FLOOD} {seed.choice((1, 7, 64))} 0 {step}", "say done")
            time.sleep(seed.random() * 0.02)  # wherever it is then
            self.daemon.kill()
            client.hear_until("done")
            self.daemon.start("--quiet")
            watcher = Line(self.daemon.socket)
            total = watcher.query(0)[0]
            known = sorted(key[2] for key in self.daemon.dump(client.pid).get(client.pid, {}))
            self.assertEqual(known, [(i + 1) * step for i in range(len(known))], number)
            self.assertEqual(total, len(known) * 4096, number)
            client.tell("close", f"alloc 0 1 77 {1 << 60}")
            self.assertEqual(client.query(0)[:2], (total, 77), number)
            client.kill()
            self.clients.remove(client)
            until("the daemon has noticed", lambda: watcher.query(0)[:2] == (0, 0), 0.0005)
            watcher.close()

    def test_last_words_of_dead_clients_are_heard(self):
        """The daemon reads what a client has sent when the client has ended already: its buffers are leaks, and all of them."""
        self.daemon.start("--quiet")
        watcher = self.client()
        watcher.query(0)
        for is_connected in (True, False):
            client = self.client(72)
            if is_connected:
                client.tell("connect")
                client.hear_until("connected")
            self.daemon.process.send_signal(signal.SIGSTOP)
            client.tell("flood 1000 1000 64 0 4096")
            client.hear_until("flooded")
            client.kill()
            self.daemon.process.send_signal(signal.SIGCONT)
            until("all is known", lambda: len(self.daemon.dump(client.pid).get(client.pid, {})) == 1000)
            self.assertEqual(watcher.query(0)[0], 0)  # it is no part of the totals
            self.assertIn(str(client.pid), self.daemon.command("leaks"))

    def test_what_a_killed_daemon_held_is_waited_for(self):
        """Whoever has an open file of a killed daemon, such as a child that is not yet running, holds the lock of a ledger a little longer."""
        self.daemon.start("--quiet")
        client = self.client()
        client.tell("alloc 0 0 1000 1", "sync")
        client.hear_until("synced")
        self.daemon.kill()
        (ledger,) = [path for path in self.daemon.dir.rglob("*") if path.is_file() and path.name.startswith(f"{client.pid}.")]
        with open(ledger, "r+b") as held:
            fcntl.fcntl(held, F_OFD_SETLK, struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, 0, 1, 0))
            self.daemon.start("--quiet")  # returns when it listens, before it goes on with ledgers
        client.tell("close")
        self.assertEqual(client.query(0)[0], 1000)

    def test_the_listener_of_a_killed_daemon_is_waited_for(self):
        """As above, with the socket: who listened has ended, but a child still has it."""
        test, (ready, told) = os.getpid(), os.pipe()
        listener = os.fork()
        if listener == 0:
            held = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            held.bind(str(self.daemon.socket))
            held.listen()
            if os.fork() != 0:
                os.write(told, b"x")
                os._exit(0)
            found = test
            while found == test:  # until the daemon has found it
                line = held.accept()[0]
                (found,) = struct.unpack_from("i", line.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
            time.sleep(0.1)
            os._exit(0)
        os.close(told)
        os.read(ready, 1)
        os.close(ready)
        os.waitpid(listener, 0)
        self.daemon.start("--quiet")
        self.assertEqual(self.client().query(0)[0], 0)

    def test_a_killed_client_leaves_its_buffers_as_leaks(self):
        self.daemon.start("--quiet")
        client, watcher = self.client(), self.client()
        client.tell("alloc 0 0 1000 1", "alloc 0 1 200 2", "sync")
        client.hear_until("synced")
        client.kill()
        until("the daemon has noticed", lambda: watcher.query(0)[:2] == (0, 0))
        self.assertIn(str(client.pid), self.daemon.command("leaks"))
