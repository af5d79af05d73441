"""What instrumented programs and their users notice of the daemon's socket."""

import contextlib
import os
import random
import resource
import signal
import socket
import struct
import unittest

from server import *


class Messages(DaemonTest):
    def test_all_sizes_are_served_at_once_and_get_replies_of_their_size(self):
        self.start()
        clients = [self.client(size) for size in SIZES]
        for i, client in enumerate(clients):
            client.send(ALLOC, 0, 1000, DRAM, id=i)
            client.send(ALLOC, 0, 200, L1, id=i + 100)
            self.assertEqual(client.query()[0], (i + 1) * 1000)
        for client in clients:
            self.assertEqual(client.query()[:4], (4000, 800, 0, 0))
            client.socket.setblocking(False)
            self.assertRaises(BlockingIOError, client.socket.recv, 1)  # nothing beyond the reply

    def test_every_kind_is_counted_where_the_first_server_counts_it(self):
        self.start()
        client = self.client(144)
        for kind, nbytes in ((DRAM, 1), (L1, 10), (SYSTEM, 100), (L1_SMALL, 1000), (TRACE, 10000)):
            client.send(ALLOC, 3, nbytes, kind, id=7)
        client.send(CB_ALLOC, 3, 100000, id=7)
        client.send(LOAD, 3, 1000000, 1, id=7)
        self.assertEqual(client.query(3), (1, 10, 1100, 10000, 100000, 1000000))
        self.assertEqual(client.query(2), (0, 0, 0, 0, 0, 0))
        self.assertEqual(client.query(-5), (0, 0, 0, 0, 0, 0))

    def test_split_and_merged_sends_make_no_difference(self):
        self.start("--quiet")
        random.seed(7)
        for size in SIZES:
            client = self.client(size)
            stream = b"".join(message(size, ALLOC, 0, 10, DRAM, id=size << 20 | i) for i in range(200))
            stream += b"".join(message(size, FREE, 0, id=size << 20 | i) for i in range(150))
            before = client.query()[0]
            at = 0
            while at < len(stream):
                step = random.choice((1, 7, 39, 40, 41, size - 1, size, size + 1, 3 * size, 5000))
                client.socket.sendall(stream[at:at + step])
                at += step
            self.assertEqual(client.query()[0] - before, 500)
        self.assertEqual(self.statistic("Connections closed: not messages"), 0)

    def test_the_first_messages_may_come_in_any_pieces(self):
        self.start("--quiet")
        for size in SIZES:
            for cut in (1, 39, 40, 41, 71, 72, 73, 112, 128, size - 1, size, size + 1):
                client = self.client(size)
                stream = message(size, ALLOC, 0, 10, DRAM, id=cut) + message(size, FREE, 0, id=cut)
                client.socket.sendall(stream[:cut])
                self.statistic("Allocations")  # the daemon has seen the first piece
                client.socket.sendall(stream[cut:])
                self.assertEqual(client.query()[0], 0)
                client.close()

    def test_a_release_without_kind_takes_the_newest(self):
        self.start()
        client = self.client(128)
        client.send(ALLOC, 0, 10, L1, id=5)
        client.send(ALLOC, 0, 20, DRAM, id=5)
        client.send(ALLOC, 0, 40, TRACE, id=5)
        client.send(CB_ALLOC, 0, 80, id=5)
        client.send(FREE, 0, id=5)
        self.assertEqual(client.query(), (20, 10, 0, 0, 80, 0))
        client.send(FREE, 0, id=5)
        self.assertEqual(client.query(), (0, 10, 0, 0, 80, 0))
        client.send(FREE, 0, id=5)
        client.send(FREE, 0, id=5)
        self.assertEqual(client.query(), (0, 0, 0, 0, 80, 0))
        self.assertEqual(self.statistic("Releases that several buffers match"), 2)
        self.assertEqual(self.statistic("Releases of unknown buffers"), 1)

    def test_sums_never_inflate_or_wrap(self):
        self.start()
        client = self.client(144)
        for _ in range(3):
            client.send(CB_ALLOC, 0, 1000, id=1)
            client.send(LOAD, 0, 500, id=1)
            client.send(ALLOC, 0, 70, DRAM, id=1)
        self.assertEqual(client.query(), (70, 0, 0, 0, 1000, 500))
        client.send(CB_FREE, 0, 9999, id=2)
        client.send(CB_FREE, 0, 9999, id=1)
        client.send(CB_FREE, 0, 9999, id=1)
        client.send(UNLOAD, 0, 9999, id=1)
        client.send(UNLOAD, 0, 9999, id=1)
        self.assertEqual(client.query(), (70, 0, 0, 0, 0, 0))
        self.assertEqual(self.statistic("Allocated again while live"), 6)

    def test_two_processes_with_the_same_id_do_not_share_a_buffer(self):
        self.start()
        client = self.client()
        other = self.other_process("c.send(ALLOC, 0, 100, DRAM, id=5); c.query(); print('sent', flush=True); sys.stdin.read(1)\n"
                                   "c.send(FREE, 0, id=5); c.query(); print('freed', flush=True); sys.stdin.read(1)")
        self.assertEqual(other.stdout.readline(), "sent\n")
        client.send(ALLOC, 0, 10, DRAM, id=5)
        self.assertEqual(client.query()[0], 110)
        print(file=other.stdin, flush=True)
        self.assertEqual(other.stdout.readline(), "freed\n")
        self.assertEqual(client.query()[0], 10)

    def test_kernels_are_loaded_as_before_after_another_process_has_come(self):
        self.start()
        client = self.client(144)
        client.send(LOAD, 0, 100, 0, id=1)
        self.assertEqual(client.query()[5], 100)
        other = self.other_process("c.send(ALLOC, 1, 10, DRAM, id=1); c.query(); print('sent', flush=True); sys.stdin.read(1)")
        self.assertEqual(other.stdout.readline(), "sent\n")
        client.send(LOAD, 0, 20, 0, id=2)
        self.assertEqual(client.query()[5], 120)
        client.send(UNLOAD, 0, id=2)
        self.assertEqual(client.query()[5], 100)
        self.assertEqual(self.statistic("Refused: size or kind"), 0)

    def test_what_makes_no_sense_is_refused_and_counted(self):
        self.start()
        client = self.client()
        client.send(ALLOC, -3, 10, DRAM, id=1)
        client.send(ALLOC, 0, 0, DRAM, id=2)
        client.send(ALLOC, 0, 2**63, DRAM, id=3)
        client.send(ALLOC, 0, 10, 5, id=4)
        client.send(RESPONSE)
        self.assertEqual(client.query(), (0, 0, 0, 0))
        self.assertEqual(self.statistic("Refused: device"), 1)
        self.assertEqual(self.statistic("Refused: size or kind"), 3)
        self.assertEqual(self.statistic("Messages of unknown type"), 1)

    def test_a_process_may_use_64_devices_with_any_numbers(self):
        self.start("--quiet")
        client = self.client()
        numbers = [i * 1000003 for i in range(64)]
        for number in numbers:
            client.send(ALLOC, number, 10, DRAM, id=1)
        client.send(ALLOC, 5, 10, DRAM, id=1)
        self.assertEqual([client.query(number)[0] for number in numbers], [10] * 64)
        self.assertEqual(client.query(5)[0], 0)
        self.assertEqual(self.statistic("Refused: device"), 1)
        other = self.other_process("for i in range(64): c.send(ALLOC, 7000 + i, 3, DRAM, id=1)\nprint(c.query(7063)[0], flush=True); sys.stdin.read(1)")
        self.assertEqual(other.stdout.readline(), "3\n")

    def test_kernels_are_counted_after_another_program_has_come(self):
        self.start()
        client = self.client(144)
        client.send(LOAD, 0, 500, 1, id=1)
        self.assertEqual(client.query()[5], 500)
        other = self.other_process("c.send(ALLOC, 0, 3, DRAM, id=1); c.query(); print('sent', flush=True); sys.stdin.read(1)")
        self.assertEqual(other.stdout.readline(), "sent\n")
        client.send(LOAD, 0, 700, 1, id=2)
        self.assertEqual(client.query()[5], 1200)

    def test_bytes_that_are_no_messages_close_the_connection(self):
        self.start()
        good = self.client()
        good.send(ALLOC, 0, 10, DRAM, id=1)
        for garbage in (b"GET / HTTP/1.1\r\n\r\n", b"\0" * 72, message(72, ALLOC) + b"\x63" * 72 * 10, b"TIDEMARK" * 40):
            client = self.client()
            client.socket.sendall(garbage)
            self.assertEqual(client.socket.recv(1), b"")
        self.assertEqual(good.query()[0], 10)

    def test_a_client_that_reads_no_replies_stops_only_itself(self):
        self.start("--quiet")
        lazy = self.client()
        sent = self.fill(lazy)
        client = self.client()
        client.send(ALLOC, 0, 10, DRAM, id=1)
        self.assertEqual(client.query()[0], 10)
        self.assertEqual([struct.unpack_from("<i", lazy.receive(), 4)[0] for _ in range(sent)], list(range(sent)))

    def test_device_information(self):
        self.add_card("0", "0000:01:00.0", "n300", "wormhole", "0100014611802000")
        self.add_card("1", "0000:02:00.0", "p150a", "blackhole", "0100014611802001")
        self.start()
        self.assertIn("   Device 0: Wormhole (12GB DRAM, 80.0625MB L1) [Local]\n", self.text())
        self.assertIn("   Total: 3 device(s) detected\n", self.text())
        gib, n300 = 2**30, (12 * 2**30, 56 * 1464 * 1024, 2, 12, 2**30, 1464 * 1024, 1, 0)
        for size, at in ((112, 72), (128, 88), (144, 88)):
            client = self.client(size)
            for device, expected in ((-1, (0, 0, 0, 0, 0, 0, 1, 3)), (0, n300), (2, n300), (3, (0,) * 8)):
                client.send(INFO, device)
                reply = client.receive()
                self.assertEqual((reply[0], struct.unpack_from("<i", reply, 4)[0]), (INFO_RESPONSE, device))
                self.assertEqual(struct.unpack_from("<2Q6I", reply, at), expected)
            client.send(INFO, 1)
            dram, _, arch = struct.unpack_from("<2QI", client.receive(), at)
            self.assertEqual((round(dram / gib), arch), (32, 3))

    def test_device_information_without_devices(self):
        self.start()
        for size, at in ((112, 72), (128, 88), (144, 88)):
            client = self.client(size)
            for device in (-1, 0, 9):
                client.send(INFO, device)
                reply = client.receive()
                self.assertEqual((reply[0], struct.unpack_from("<i", reply, 4)[0]), (INFO_RESPONSE, device))
                self.assertEqual(reply[at:at + 40], b"\0" * 40)


class Clients(DaemonTest):
    def test_a_client_is_in_the_views_as_its_own_process(self):
        self.start()
        other = self.other_process("c.send(ALLOC, 2, 4096, DRAM, id=0x1000); c.query(); print('sent', flush=True); sys.stdin.read(1)")
        self.assertEqual(other.stdout.readline(), "sent\n")
        processes = self.dump()["processes"]
        self.assertEqual([process["pid"] for process in processes], [other.pid])
        self.assertEqual(len(processes[0]["buffers"]), 1)
        buffer = processes[0]["buffers"][0]
        self.assertEqual((buffer["device"], buffer["kind"], buffer["address"]), (2, "dram", 0x1000), buffer)
        done = subprocess.run([os.path.join(BIN, "tidemark"), "status"], env=dict(self.environment(), TIDEMARK_DIR=self.shm, COLUMNS="200"),
                              capture_output=True, text=True, check=True)
        self.assertIn("L ledger: tracked by libtidemark, bytes reserved; by tidemarkd, bytes asked for. ", done.stdout)

    def test_a_process_lives_as_long_as_any_of_its_threads(self):
        self.start("--quiet")
        other = self.other_process("import ctypes, threading\n"
                                   "def rest():\n"
                                   "    sys.stdin.read(1); c.send(ALLOC, 0, 20, DRAM, id=32); c.query(); print('sent', flush=True)\n"
                                   "    sys.stdin.read(1); os._exit(0)\n"
                                   "c.send(ALLOC, 0, 10, DRAM, id=16); c.query(); threading.Thread(target=rest).start()\n"
                                   "ctypes.CDLL(None).pthread_exit(None)")
        state = lambda: open(f"/proc/{other.pid}/stat", encoding="ascii").read().split()[2]
        self.wait_for(lambda: state() == "Z", "the end of the first thread")
        print(file=other.stdin, flush=True)
        self.assertEqual(other.stdout.readline(), "sent\n")
        process, = self.dump()["processes"]
        self.assertEqual((process["state"], len(process["buffers"])), ("running", 2))
        print(file=other.stdin, flush=True)
        other.wait()
        self.wait_for(lambda: self.dump()["processes"][0]["state"] == "ended", "the end")

    def test_only_addresses_are_shown_as_addresses(self):
        self.start("--quiet", "--short-socket", self.path + ".short")
        runtime = self.client(144)  # ids are addresses
        runtime.send(ALLOC, 0, 64, L1, id=0x50003000001c4)  # core (5, 3): a launch message
        runtime.send(ALLOC, 0, 64, L1, id=0x1a0000)
        runtime.send(ALLOC, 0, 64, DRAM, id=0x1000)
        runtime.send(CB_ALLOC, 0, 64, id=0x20000)
        runtime.send(ALLOC, 0, 64, L1, id=0x5000300010000)  # core (5, 3), as firmware and kernels are reported
        runtime.send(LOAD, 0, 64, id=0x40)
        runtime.query()
        address = {(b["kind"], b["id"]): b["address"] for b in self.dump()["processes"][0]["buffers"]}
        self.assertEqual(address, {("l1", 0x1a0000): 0x1a0000, ("dram", 0x1000): 0x1000, ("cb", 0x20000): 0x20000,
                                   ("l1", 0x5000300010000): None, ("l1", 0x50003000001c4): None, ("kernel", 0x40): None})
        lines = self.tidemark("dump", "--dir", self.shm).stdout.splitlines()
        self.assertEqual([line.split()[2] for line in lines if line.endswith("-  -                id 0x5000300010000")], ["-"])
        self.assertEqual([line.split()[2] for line in lines if line.endswith("-  -                Application  id 0x40")], ["-"])
        short = self.client(path=self.path + ".short")  # ids are numbers from 0 on
        for index in (0, 16):
            short.socket.sendall(struct.pack("<BiQII", 9, 1, 700, index, 64))
        self.wait_for(lambda: runtime.query(1)[4] == 1400, "the circular buffers")
        self.assertEqual({b["address"] for b in self.dump()["processes"][0]["buffers"] if b["device"] == 1}, {None})
        other = self.other_process("for i in range(1, 100): c.send(ALLOC, 2, 64, DRAM, id=i)\n"  # the client in Python
                                   "c.query(); print('sent', flush=True); sys.stdin.read(1)")
        other.stdout.readline()
        buffers, = (p["buffers"] for p in self.dump()["processes"] if p["pid"] == other.pid)
        self.assertEqual(({b["address"] for b in buffers}, len(buffers)), ({None}, 99))

    def test_no_allocation_no_ledger(self):
        self.start()
        client = self.client()
        client.send(FREE, 0, id=1)
        client.query()
        self.assertEqual([files for _, _, files in os.walk(self.shm) if files], [])

    def test_a_closed_connection_releases_nothing_while_its_process_lives(self):
        self.start()
        first, second = self.client(), self.client(144)
        first.send(ALLOC, 0, 10, DRAM, id=1)
        first.query()
        first.close()
        self.assertEqual(second.query()[0], 10)
        third = self.client(112)
        third.send(FREE, 0, id=1)
        self.assertEqual(third.query()[0], 0)

    def test_what_a_killed_process_held_is_a_leak_and_leaves_the_sums(self):
        self.start("--quiet")
        watcher = self.client()
        other = self.other_process("c.send(ALLOC, 0, 1048576, DRAM, id=1); c.send(ALLOC, 1, 2097152, L1, id=2)\n"
                                   "c.send(CB_ALLOC, 0, 4096, id=3); c.query(); print('sent', flush=True); sys.stdin.read(1)")
        self.assertEqual(other.stdout.readline(), "sent\n")
        self.assertEqual(watcher.query()[0], 1048576)
        other.kill()
        self.wait_for(lambda: watcher.query()[0] == 0, "the end of the process")
        self.wait_text(f"⚠️  Detected dead processes, cleaning up orphaned buffers...\n"
                       f"   PID {other.pid} is dead, removing its buffers...\n"
                       f"   ✓ Removed 2 buffers (3 MB) from PID {other.pid}\n"
                       f"   ✓ Removed 1 CBs (0.00390625 MB) from PID {other.pid}\n")
        process, = self.dump()["processes"]
        self.assertEqual((process["pid"], process["state"], len(process["buffers"])), (other.pid, "ended", 3))
        self.assertEqual(self.statistic("Buffers they left"), 3)

    def test_what_ended_processes_left_moves_to_disk(self):
        archive = os.path.join(self.folder, "state", "tidemark")
        self.start("--quiet", "--dead-limit=1")
        other = self.other_process("c.send(ALLOC, 0, 1048576, DRAM, id=1); c.query(); print('sent', flush=True); sys.stdin.read(1)")
        self.assertEqual(other.stdout.readline(), "sent\n")
        other.kill()
        self.wait_for(lambda: os.path.isdir(archive) and len(self.dump(archive)["processes"]) == 1, "the archive")
        process, = self.dump(archive)["processes"]
        self.assertEqual((process["pid"], len(process["buffers"])), (other.pid, 1))
        self.wait_for(lambda: self.dump()["processes"] == [], "the room in memory")
        self.assertIn('"what": "client_ended"', self.tidemark("leaks", "--json", "--dir", archive).stdout)  # it is still a leak

    def test_a_process_that_released_everything_leaves_no_ledger(self):
        self.start("--quiet")
        other = self.other_process("c.send(ALLOC, 0, 10, DRAM, id=1); c.send(FREE, 0, id=1); c.query()")
        other.wait()
        self.wait_for(lambda: self.statistic("Processes ended") == 1, "the end of the process")
        self.assertEqual([files for _, _, files in os.walk(self.shm) if files], [])

    def test_what_a_process_sent_before_it_ended_counts(self):
        daemon = self.start("--quiet")
        other = self.other_process(
            "c.send(ALLOC, 0, 10, DRAM, id=0); c.query(); print('sent', flush=True); sys.stdin.read(1)\n"
            "c.socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)\n"
            "c.socket.sendall(b''.join(message(72, ALLOC, 0, 10, DRAM, id=i) for i in range(1, 1000)) +\n"
            "                 b''.join(message(72, FREE, 0, id=i) for i in range(0, 100)))")
        other.stdout.readline()
        self.halt(daemon)  # so that it finds everything at once
        print(file=other.stdin, flush=True)
        other.wait()
        daemon.send_signal(signal.SIGCONT)
        self.wait_for(lambda: self.statistic("Processes ended") == 1, "the end of the process")
        self.assertEqual(self.statistic("Buffers they left"), 900)
        process, = self.dump()["processes"]
        self.assertEqual(len(process["buffers"]), 900)

    def test_a_process_that_ended_before_its_first_bytes_were_read_is_dead_at_once(self):
        daemon = self.start("--quiet")
        watcher = self.client()
        last_words = "print('ready', flush=True); sys.stdin.read(1); {}c.send(ALLOC, 0, 10, DRAM, id=1); os._exit(0)"
        programs = ("c.query();" + last_words.format(""), "c.close();" + last_words.format(f"c = Client({self.path!r});"))
        for number, program in enumerate(programs):
            other = self.other_process(program)
            self.assertEqual(other.stdout.readline(), "ready\n")
            self.assertEqual(watcher.query()[0], 0)
            self.halt(daemon)
            print(file=other.stdin, flush=True)
            other.wait()
            daemon.send_signal(signal.SIGCONT)
            self.wait_for(lambda: other.pid in (process["pid"] for process in self.dump()["processes"]), "the ledger")
            self.assertEqual(watcher.query()[0], 0, program)
            self.assertEqual(self.statistic("Buffers they left"), number + 1, program)
            self.assertEqual({process["state"] for process in self.dump()["processes"]}, {"ended"}, program)

    def test_who_ended_before_the_daemon_is_told_to_end_is_in_its_last_report(self):
        daemon = self.start("--quiet")
        program = "print('ready', flush=True); sys.stdin.read(1); c.send(ALLOC, 0, 10, DRAM, id=1); c.send(FREE, 0, id=1); os._exit(0)"
        known = self.other_process("c.send(ALLOC, 0, 20, DRAM, id=2); c.send(FREE, 0, id=2); c.query();" + program)
        waiting = self.other_process("c.query();" + program)
        late = self.other_process("c.close();" + program.replace("c.send", f"c = Client({self.path!r}); c.send", 1))
        others = (known, waiting, late)
        for other in others:
            self.assertEqual(other.stdout.readline(), "ready\n")
        self.halt(daemon)
        for other in others:
            print(file=other.stdin, flush=True)
            other.wait()
        daemon.send_signal(signal.SIGTERM)
        daemon.send_signal(signal.SIGCONT)
        self.assertEqual(daemon.wait(), 0)
        self.assertIn("Allocations: 4\n", self.text())
        self.assertIn("Processes ended: 3\n", self.text())
        self.assertEqual([files for _, _, files in os.walk(self.shm) if files], [])

    def test_what_is_in_the_socket_when_the_daemon_is_told_to_end_counts(self):
        daemon = self.start("--quiet")
        lazy, eager = self.client(), self.client()
        asked = self.fill(lazy)  # its messages wait until it reads
        lazy.send(ALLOC, 0, 10, DRAM, id=1000)
        eager.query()
        self.halt(daemon)
        if os.geteuid() == 0:
            eager.socket.setsockopt(socket.SOL_SOCKET, 32, 8 << 20)  # SO_SNDBUFFORCE: as much as can be waiting
        eager.socket.setblocking(False)
        piece = b"".join(message(72, ALLOC, 0, 20, DRAM, id=i) for i in range(500))
        sent = 0
        with contextlib.suppress(BlockingIOError):
            while True:
                sent += eager.socket.send(piece[sent % len(piece):])
        late = self.client()  # it has not been accepted
        late.send(ALLOC, 1, 30, DRAM, id=1)
        daemon.send_signal(signal.SIGTERM)
        daemon.send_signal(signal.SIGCONT)
        self.assertEqual(daemon.wait(), 0)
        self.assertIn(f"Allocations: {sent // 72 + 2}\n", self.text(), (sent, asked))
        process, = self.dump()["processes"]
        self.assertEqual({(b["device"], b["id"], b["reserved_bytes"]) for b in process["buffers"]},
                         {(0, i, 20) for i in range(500)} | {(0, 1000, 10), (1, 1, 30)})

    def test_who_never_stops_sending_does_not_keep_the_daemon_from_ending(self):
        daemon = self.start("--quiet")
        flood = ("piece = b''.join(message(72, ALLOC, 0, 10, DRAM, id=i) for i in range(500))\n"
                 "print('connected', flush=True)\n"
                 "try:\n while True: c.socket.sendall(piece)\n"
                 "except OSError: print('closed', flush=True)")
        others = [self.other_process(flood) for _ in range(4)]
        for other in others:
            self.assertEqual(other.stdout.readline(), "connected\n")
        self.wait_for(lambda: self.statistic("Allocations") > 10000, "the flood")
        daemon.terminate()
        self.assertEqual(daemon.wait(WAIT_S), 0)
        for other in others:
            self.assertEqual(other.stdout.readline(), "closed\n")
        self.assertIn("Allocation Server stopped", self.text())
        self.assertEqual({len(process["buffers"]) for process in self.dump()["processes"]}, {500})

    def test_a_process_that_executes_another_program_stays_the_same_client(self):
        """The kernel keeps its pid and start time, so nothing is lost and nothing counts twice."""
        self.start("--quiet")
        watcher = self.client()
        here = os.path.dirname(os.path.abspath(__file__))
        second = ("import sys; sys.path.insert(0, %r); from server import *; c = Client(%r)\n"
                  "old = socket.socket(fileno=int(sys.argv[1])) if sys.argv[1] != '-' else None\n"
                  "if old is not None: old.sendall(message(72, FREE, 0, id=1))\n"
                  "c.send(ALLOC, 0, 7, DRAM, id=2); c.send(ALLOC, 0, 100, DRAM, id=3); c.query()\n"
                  "print('executed', flush=True); sys.stdin.read(1)" % (here, self.path))
        for keeps in (True, False):
            other = self.other_process(
                "c.send(ALLOC, 0, 10, DRAM, id=1); c.send(ALLOC, 0, 20, DRAM, id=2); c.query()\n"
                f"os.set_inheritable(c.socket.fileno(), {keeps})\n"
                "os.execv(sys.executable, ['python', '-c', %r, str(c.socket.fileno()) if %r else '-'])" % (second, keeps))
            self.assertEqual(other.stdout.readline(), "executed\n")
            held = 7 + 100 + (0 if keeps else 10)
            self.wait_for(lambda: watcher.query()[0] == held, "the messages of both connections")
            process, = (process for process in self.dump()["processes"] if process["state"] == "running")
            self.assertEqual((process["pid"], sorted(buffer["id"] for buffer in process["buffers"])),
                             (other.pid, [2, 3] if keeps else [1, 2, 3]))
            other.kill()
            self.wait_for(lambda: watcher.query()[0] == 0, "the end of the process")
        self.assertEqual(self.statistic("Buffers they left"), 5)

    def test_the_last_words_of_a_process_count(self):
        self.start("--quiet")
        for i in range(20):
            other = self.other_process("for i in range(500): c.send(ALLOC, 0, 10, DRAM, id=i)\nos._exit(0)")
            other.wait()
        self.wait_for(lambda: self.statistic("Buffers they left") == 20 * 500, "all buffers")

    def test_identity_is_the_kernels_not_the_messages(self):
        self.start()
        client = self.client()
        client.send(ALLOC, 0, 10, DRAM, id=1, pid=1)
        self.assertEqual(client.query()[0], 10)
        self.wait_text(f"✓ [PID {os.getpid()}] Allocated 10 bytes of DRAM on device 0 (buffer_id=0x1)\n")
        self.assertEqual(self.dump()["processes"][0]["pid"], os.getpid())
        self.assertEqual(self.statistic("Messages that name another process"), 1)

    @unittest.skipUnless(os.geteuid() == 0, "only root can be another user")
    def test_a_process_that_the_daemon_may_not_signal_is_alive(self):
        os.chown(self.folder, 65534, 65534)
        os.chown(self.shm, 65534, 65534)
        self.start("--quiet", user=65534, group=65534, extra_groups=[])
        os.chmod(self.path, 0o666)
        client = self.client()
        client.send(ALLOC, 0, 10, DRAM, id=1)
        self.assertEqual(client.query()[0], 10)
        client.close()
        watcher = self.client()
        for _ in range(300):  # the looks at clients come in between
            self.assertEqual(watcher.query()[0], 10)
            time.sleep(0.01)

    @unittest.skipUnless(os.geteuid() == 0, "only root can be another user")
    def test_a_stranger_sees_sums_and_his_own_buffers_only(self):
        self.start("--quiet", "--socket-mode=0666")
        client = self.client()
        client.send(ALLOC, 0, 1024, DRAM, id=0xabc)
        client.query()
        self.assertIn("- Buffer 0xabc: 1 KB", self.ask("summary"))
        asker = self.spawn([sys.executable, "-c",
                            "import socket; s = socket.socket(socket.AF_UNIX)\n"
                            f"s.connect({self.path!r}); s.sendall(b'TIDEMARK summary\\n'); print(s.makefile().read())"],
                           stdout=subprocess.PIPE, text=True, user=65534, group=65534, extra_groups=[])
        text, _ = asker.communicate()
        self.assertIn("DRAM: 1 buffers, 0.000976562 MB total\n", text)
        self.assertNotIn("0xabc", text)

    @unittest.skipUnless(os.geteuid() == 0, "only root can be another user")
    def test_the_socket_is_for_its_owner_and_group_unless_told_otherwise(self):
        self.start("--quiet")
        self.assertEqual(os.stat(self.path).st_mode & 0o777, 0o660)


REUSE = """
import sys; sys.path.insert(0, {here!r})
from server import *
daemon = subprocess.Popen({command!r}, stdout=open({out!r}, "wb"), stderr=subprocess.STDOUT)
def reach(condition):
    end = time.monotonic() + WAIT_S
    while not condition() and time.monotonic() < end:
        time.sleep(0.01)
reach(lambda: os.path.exists({path!r}))
watcher = Client({path!r}, 112)
watcher.query()
reader, writer = os.pipe()
def run(pid, nbytes):
    with open("/proc/sys/kernel/ns_last_pid", "w") as last:
        last.write(str(pid - 1))
    if os.fork() == 0:
        c = Client({path!r})
        c.send(ALLOC, 0, nbytes, DRAM, id=nbytes)
        os.write(writer, os.getpid().to_bytes(4, "little"))
        signal.pause()
    return int.from_bytes(os.read(reader, 4), "little")
daemon.send_signal(signal.SIGSTOP)
reach(lambda: open(f"/proc/{{daemon.pid}}/stat").read().split()[2] == "T")
first = run(20000, 16)
os.kill(first, signal.SIGKILL)
os.waitpid(first, 0)
second = run(first, 32)
daemon.send_signal(signal.SIGCONT)
reach(lambda: watcher.query()[0] == 32)
print(first == second, watcher.query()[0], flush=True)
daemon.terminate()
daemon.wait()
os.kill(second, signal.SIGKILL)
"""


@unittest.skipUnless(os.geteuid() == 0, "only root can choose a pid")
class Reuse(DaemonTest):
    def test_a_process_that_gets_the_pid_of_an_ended_one_is_another(self):
        one, other = socket.socketpair()
        with one, other:
            try:
                os.close(struct.unpack("i", one.getsockopt(socket.SOL_SOCKET, 77, 4))[0])  # SO_PEERPIDFD
            except OSError:
                self.skipTest("this Linux cannot tell whether a peer has ended")
        self.out = os.path.join(self.folder, "out")
        here = os.path.dirname(os.path.abspath(__file__))
        program = REUSE.format(here=here, command=self.command("--quiet"), out=self.out, path=self.path)
        inside = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc"]
        if subprocess.run(inside + ["true"], capture_output=True, check=False).returncode != 0:
            self.skipTest("no namespace of processes can be made here")
        done = subprocess.run(inside + [sys.executable, "-c", program], env=self.environment(), capture_output=True, text=True,
                              timeout=WAIT_S * 2, check=False)
        self.assertEqual((done.stdout, done.returncode), ("True 32\n", 0), done.stderr)
        self.assertIn("  Processes ended: 1\n  Buffers they left: 1\n  Bytes they left: 16\n", self.text())


class Limits(DaemonTest):
    def test_without_descriptors_new_clients_are_refused_and_old_ones_served(self):
        limit = lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
        daemon = self.start("--quiet", preexec_fn=limit)
        first = self.client()
        first.send(ALLOC, 0, 10, DRAM, id=1)
        clients, refused = [], 0
        for _ in range(100):
            client = self.client()
            client.socket.setblocking(True)
            client.socket.settimeout(WAIT_S)
            try:
                client.query()
                clients.append(client)
            except (EOFError, ConnectionError):
                refused += 1
        self.assertGreater(len(clients), 20)
        self.assertGreater(refused, 30)
        self.assertEqual(first.query()[0], 10)
        for client in clients:
            client.close()
        self.wait_for(lambda: len(os.listdir(f"/proc/{daemon.pid}/fd")) < 20, "the end of the connections")
        self.assertEqual(self.statistic("Connections refused"), refused)
        first.send(FREE, 0, id=1)
        self.assertEqual(first.query()[0], 0)

    def test_without_room_for_the_ledger_messages_are_refused_and_counted(self):
        os.rmdir(self.shm)
        open(self.shm, "w").close()  # nothing can be made in there
        self.start("--quiet")
        client = self.client()
        for i in range(300):
            client.send(ALLOC, 0, 10, DRAM, id=i)
        self.assertEqual(client.query()[0], 0)
        self.assertEqual(self.statistic("Refused: no room"), 300)
        os.unlink(self.shm)
        os.mkdir(self.shm)
        for i in range(1000):  # it tries again after a while
            client.send(ALLOC, 0, 10, DRAM, id=i)
        self.assertGreater(client.query()[0], 0)


class Short(DaemonTest):
    def setUp(self):
        super().setUp()
        self.short, self.helper = self.path + ".short", self.path + ".helper"
        self.daemon = self.start("--short-socket", self.short, "--helper-socket", self.helper)

    def test_short_messages_have_a_socket_of_their_own(self):
        watcher, short = self.client(144), self.client(path=self.short)
        stream = struct.pack("<BiQB", 8, 1, 5000, 0) * 2 + struct.pack("<BiQII", 9, 1, 700, 3, 64)
        stream += struct.pack("<BiQII", 9, 1, 900, 4, 64) + struct.pack("<BiQI", 10, 1, 700, 3)
        for byte in stream[:60]:
            short.socket.sendall(bytes([byte]))
        short.socket.sendall(stream[60:])
        self.wait_for(lambda: watcher.query(1) == (0, 0, 0, 0, 900, 10000), "the sums")
        cb, = (b for b in self.dump()["processes"][0]["buffers"] if b["kind"] == "cb")
        self.assertEqual([cb[key] for key in ("id", "cores", "bytes_per_bank", "asked_bytes", "reserved_bytes", "occupied_bytes")],
                         [4, 64, 900, 900, 64 * 900, 64 * 900])
        short.socket.sendall(struct.pack("<BiQII", 9, 2, 5, 7, 0))  # on an unknown number of cores
        short.socket.sendall(struct.pack("<BiQII", 9, 2, 100 << 30, 8, 2**32 - 1))
        self.wait_for(lambda: watcher.query(2)[4] == 5, "the other sum")
        self.wait_for(lambda: self.statistic("Refused: size or kind") == 1, "the refusal")

    def test_kernels_without_id_are_all_different(self):
        named = self.client(144)
        named.send(LOAD, 1, 100, id=1)
        named.send(LOAD, 1, 100, id=2)
        load = struct.pack("<BiQB", 8, 1, 5000, 0)
        self.client(path=self.short).socket.sendall(load * 2)
        self.wait_for(lambda: named.query(1)[5] == 10200, "the sum")
        self.daemon.kill()
        self.daemon.wait()
        self.start("--short-socket", self.short)
        self.client(path=self.short).socket.sendall(load * 2)
        watcher = self.client(144)
        self.wait_for(lambda: self.statistic("Allocations") == 2, "the kernels")
        self.assertEqual(watcher.query(1)[5], 20200)

    def test_helper_messages_have_a_socket_of_their_own(self):
        watcher, helper = self.client(144), self.client(path=self.helper)
        def one(kind, nbytes, id):
            return struct.pack("<BxxxiQQixxxx", kind, 2, nbytes, id, os.getpid())
        stream = one(CB_ALLOC, 100, 1 << 40) + one(LOAD, 2000, 7 << 32 | 1) + one(LOAD, 500, 8 << 32) + one(UNLOAD, 0, 8 << 32)
        helper.socket.sendall(stream[:45])
        helper.socket.sendall(stream[45:])
        self.wait_for(lambda: watcher.query(2) == (0, 0, 0, 0, 100, 2000), "the sums")
        helper.socket.sendall(one(ALLOC, 1, 1))
        self.assertEqual(helper.socket.recv(1), b"")


if __name__ == "__main__":
    unittest.main()
