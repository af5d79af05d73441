"""Clients that end, stop reading or are too many: nothing is lost that was heard, and nobody else waits."""

import resource
import threading
import unittest

from server import *


class LastWords(DaemonTest):
    def test_what_was_sent_after_questions_counts_though_nobody_takes_the_answers(self):
        daemon = self.start("--quiet")
        other = self.other_process("c.query(); print(flush=True); sys.stdin.readline()\n"
                                   "c.socket.sendall(b''.join(message(72, QUERY if i % 100 == 0 else ALLOC, 0, 10, DRAM, id=i)"
                                   " for i in range(2000)))\nos._exit(0)")
        other.stdout.readline()
        self.halt(daemon)
        other.stdin.write("\n")
        other.stdin.flush()
        other.wait()
        daemon.send_signal(signal.SIGCONT)
        self.wait_for(lambda: self.statistic("Processes ended") == 1, "its end")
        self.assertEqual(self.statistic("Buffers they left"), 1980)

    def test_a_client_that_takes_no_replies_any_more_is_still_heard(self):
        self.start("--quiet")
        client, watcher = self.client(), self.client()
        client.socket.shutdown(socket.SHUT_RD)
        for i in range(100):
            client.send(QUERY)
            client.send(ALLOC, 0, 10, DRAM, id=i)
        self.wait_for(lambda: watcher.query()[0] == 1000, "the buffers")

    def test_what_an_ended_process_sent_on_two_connections_is_not_mixed_up(self):
        daemon = self.start("--quiet")
        program = (f"print(flush=True); sys.stdin.readline(); both = [Client({self.path!r}) for _ in range(2)]\n"
                   # more than the daemon reads at once
                   "both[0].socket.sendall(b''.join(message(72, ALLOC, 0, 10, DRAM, id=i) for i in range(1400)))\n"
                   "both[1].socket.sendall(b''.join(message(72, FREE, 0, id=i) for i in range(500)) +\n"
                   "                       b''.join(message(72, ALLOC, 1, 1000, L1, id=i) for i in range(500)))\n"
                   "os._exit(0)")
        other = self.other_process(program)
        other.stdout.readline()
        self.halt(daemon)
        print(file=other.stdin, flush=True)
        other.wait()
        daemon.send_signal(signal.SIGCONT)
        self.wait_for(lambda: self.statistic("Processes ended") != 0, "its end")
        self.assertEqual([self.statistic(name) for name in ("Allocations", "Releases", "Allocated again while live",
                                                            "Releases of unknown buffers", "Buffers they left",
                                                            "Bytes they left", "Processes ended")],
                         [1900, 500, 0, 0, 1400, 9000 + 500000, 1])

    def test_what_a_process_sent_at_last_on_a_connection_that_only_asked_counts(self):
        daemon = self.start("--quiet")
        other = self.other_process(f"asker = Client({self.path!r}); asker.query()\n"
                                   "for i in range(5): c.send(ALLOC, 0, 10, DRAM, id=i)\n"
                                   "c.query(); asker.query(); print(flush=True); sys.stdin.readline()\n"
                                   "for i in range(4): asker.send(FREE, 0, id=i)\n"
                                   "os._exit(0)")
        other.stdout.readline()
        self.halt(daemon)
        print(file=other.stdin, flush=True)
        other.wait()
        daemon.send_signal(signal.SIGCONT)
        self.wait_for(lambda: self.statistic("Processes ended") == 1, "its end")
        self.assertEqual([self.statistic(name) for name in ("Releases", "Releases of unknown buffers", "Buffers they left")],
                         [4, 0, 1])

    def test_the_children_of_a_process_that_has_ended_keep_nobody_waiting(self):
        self.start("--quiet")
        other = self.other_process("c.send(ALLOC, 0, 10, DRAM, id=1); c.query()\n"
                                   "block, children = message(72, FREE, 0, id=9) * 400, []\n"
                                   "while len(children) < 6:\n"
                                   "    children.append(os.fork())\n"
                                   "    while children[-1] == 0:\n"
                                   "        try: c.socket.sendall(block)\n"
                                   "        except OSError: os._exit(0)\n"
                                   "print(*children, flush=True)\nos._exit(0)")
        children = [int(word) for word in other.stdout.readline().split()]
        try:
            other.wait()
            self.wait_for(lambda: self.statistic("Processes ended") == 1, "its end")
            self.assertEqual(self.client().query()[0], 0)
            self.wait_for(lambda: self.statistic("Refused: unknown process") > 1000, "refusals")
        finally:
            for child in children:
                os.kill(child, signal.SIGKILL)


class Deleted(DaemonTest):
    def files(self):
        return [os.path.join(folder, name) for folder, _, names in os.walk(self.shm) for name in names]

    def test_a_deleted_ledger_is_made_anew_once(self):
        self.start("--quiet")
        client = self.client()
        count = 0

        def report():
            nonlocal count
            client.send(ALLOC, 0, 10, DRAM, id=count)
            count += 1
            self.assertEqual(client.query()[0], 10 * count)
            return bool(self.files())

        for _ in range(2):
            report()
            path, = self.files()
            os.unlink(path)
            self.wait_for(report, "a new ledger")
            for _ in range(100):
                report()
            self.assertEqual(len(self.files()), 1, self.files())
        process, = self.dump()["processes"]
        self.assertEqual(len(process["buffers"]), count)


class Descriptors(DaemonTest):
    """A daemon with few descriptors, and more processes than it has descriptors for."""

    LIMIT = 64

    def crowd(self, count):
        """That many processes, one after the other, each with a connection and 10 bytes. Returns those that were served."""
        crowd = self.other_process("c.close(); r, w = os.pipe()\n"
                                   f"for i in range({count}):\n"
                                   "    if os.fork() == 0:\n"
                                   f"        c = Client({self.path!r})\n"
                                   "        try: c.send(ALLOC, i % 8, 10, DRAM, id=i); c.query(); ok = 'served'\n"
                                   "        except (OSError, EOFError): ok = 'refused'\n"
                                   "        sys.stdout.write(f'{os.getpid()} {ok}\\n'); sys.stdout.flush()\n"
                                   "        os.write(w, b'.'); signal.pause()\n"
                                   "    os.read(r, 1)\n"
                                   "signal.pause()\n")
        lines = [crowd.stdout.readline().split() for _ in range(count)]
        self.addCleanup(lambda: [os.kill(int(pid), signal.SIGKILL) for pid, _ in lines if os.path.exists(f"/proc/{pid}")])
        crowd.kill()  # nobody reaps them, so they are reaped at once when they end
        crowd.wait()
        return [int(pid) for pid, word in lines if word == "served"]

    def ticks(self, daemon):
        with open(f"/proc/{daemon.pid}/stat", encoding="ascii") as file:
            return sum(int(word) for word in file.read().rsplit(")", 1)[1].split()[11:13])

    def held(self, client):
        return sum(client.query(device)[0] for device in range(8))

    def test_processes_without_descriptors_for_them(self):
        limit = lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (self.LIMIT, self.LIMIT))
        daemon = self.start_http("--quiet", preexec_fn=limit)
        watcher = self.client()
        watcher.query()
        served = self.crowd(60)
        held = self.held(watcher)
        self.assertGreater(len(served), 10)
        self.assertGreaterEqual(held, 10)
        # Who was refused is in the metrics, though descriptors are used up.
        self.wait_for(lambda: self.metric("tt_server_refused_connections_total") >= 60 - len(served), "the refusals")
        refused = self.metric('tt_server_refused_messages_total{reason="space"}')
        self.assertEqual(held, 10 * (len(served) - refused))
        self.assertEqual(self.metric("tt_server_ended_clients_total"), 0)
        before = self.ticks(daemon)
        time.sleep(1)
        self.assertLess(self.ticks(daemon) - before, 50, "it spins")
        self.assertEqual(self.held(watcher), held)
        for pid in served:
            os.kill(pid, signal.SIGKILL)
        self.wait_for(lambda: self.held(watcher) == 0, "their end")
        self.assertEqual(self.metric("tt_server_left_bytes_total"), held)
        self.assertEqual(len(self.crowd(5)), 5)
        self.assertEqual(self.held(watcher), 50)


class Lists(DaemonTest):
    def test_those_who_ask_for_lists_again_and_again_keep_nobody_waiting(self):
        self.start_http("--quiet")
        client, watcher = self.client(), self.client()
        for i in range(0, 200000, 500):
            client.socket.sendall(b"".join(message(72, ALLOC, 0, 10, DRAM, id=i + k) for k in range(500)))
        client.send(ALLOC, 0, 10, L1, id=1)  # a single one is listed, and must be found among the others
        self.assertEqual(client.query()[0], 2000000)
        asker = self.client()
        asker.socket.sendall(message(72, DUMP) * 1500 + message(72, DUMP_KERNELS) * 1000)
        self.assertEqual(watcher.query()[0], 2000000)
        asker.query()
        self.assertGreater(self.metric('tt_server_refused_messages_total{reason="busy"}'), 1000)
        self.wait_text("- Buffer 0x1: 0.00976562 KB")
        self.wait_text("📋 DUMP_REMAINING complete.")

    def test_answers_that_nobody_reads_take_bounded_memory(self):
        self.start("--quiet")
        client = self.client()
        for device in range(64):
            client.socket.sendall(b"".join(message(72, LOAD, device, 10, 0, id=i) for i in range(600)))
        client.query()
        askers = [self.client() for _ in range(60)]
        for asker in askers:
            asker.socket.sendall(b"TIDEMARK kernels\n")
        self.wait_for(lambda: self.statistic("Refused: too many lists") > 0, "a refusal")
        for asker in askers[1:]:
            asker.close()
        with askers[0].socket.makefile(encoding="utf-8") as answer:  # it is whole
            self.assertEqual(answer.read().count("Kernel ID"), 64 * 600)


if __name__ == "__main__":
    unittest.main()
