"""Questions are answered by a thread of their own: whatever a connection does before, meanwhile and afterwards."""

import os
import signal
import threading
import unittest

from server import *


class Questions(DaemonTest):
    def threads(self, daemon):
        return {open(f"/proc/{daemon.pid}/task/{thread}/comm", encoding="ascii").read().strip()
                for thread in os.listdir(f"/proc/{daemon.pid}/task")}

    def test_who_only_asks_has_a_thread_and_everything_else_still_works(self):
        daemon = self.start("--quiet")
        for size in SIZES:
            client = self.client(size)
            for _ in range(20):
                for _ in range(3):
                    self.assertEqual(client.query()[0], 0)
                client.send(ALLOC, 0, 10, DRAM, id=1)
                self.assertEqual(client.query()[0], 10)
                client.send(FREE, 0, id=1)
                self.assertEqual(client.query()[0], 0)
        self.assertIn("questions", self.threads(daemon))
        self.assertEqual(self.statistic("Connections closed: not messages"), 0)

    def test_a_question_in_pieces(self):
        self.start("--quiet")
        for size in SIZES:
            client = self.client(size)
            client.query()
            client.query()
            question = message(size, QUERY, 0)
            for cut in (1, 8, 40, size - 1):
                client.socket.sendall(question[:cut])
                self.ask("statistics")  # the daemon has seen the first piece
                client.socket.sendall(question[cut:] + question)
                self.assertEqual((client.receive()[0], client.receive()[0]), (RESPONSE, RESPONSE))

    def test_after_questions_nonsense_closes_the_connection_and_the_end_is_noticed(self):
        self.start("--quiet")
        client, other = self.client(), self.client()
        for asker in (client, other):
            asker.query()
            asker.query()
        client.socket.sendall(b"\x63" * 72 * 10)
        self.assertEqual(client.socket.recv(1), b"")
        other.close()
        self.wait_for(lambda: self.statistic("Connections open") == 1, "the end of both")  # the one that asks for it

    def test_words_and_lists_after_questions(self):
        self.start()
        client = self.client()
        client.query()
        client.query()
        client.send(DUMP)
        self.wait_text("DUMP_REMAINING complete.")
        self.assertEqual(client.query(), (0, 0, 0, 0))

    def test_answers_are_right_while_devices_come_and_go_and_another_daemon_takes_over(self):
        first = self.start("--quiet")
        holder = self.client()
        holder.send(ALLOC, 7, 1234, DRAM, id=1)
        holder.query()
        wrong, is_over = [], threading.Event()

        def ask(size):
            client = self.client(size)
            while not is_over.is_set():
                for device, expected in ((7, 1234), (99, 0)):
                    got = client.query(device)[0]
                    if got != expected:
                        wrong.append((size, device, got))

        askers = [threading.Thread(target=ask, args=(size,)) for size in SIZES * 2]
        for asker in askers:
            asker.start()
        try:
            for i in range(30):
                other = self.other_process(f"c.send(ALLOC, {100 + i}, 10, DRAM, id=1); print(c.query({100 + i})[0], flush=True)")
                self.assertEqual(other.stdout.readline(), "10\n")
                self.assertEqual(other.wait(), 0)
            second = self.start("--quiet", "--replace")
            self.assertEqual(first.wait(), 0)
        finally:
            is_over.set()
            for asker in askers:
                asker.join()
        self.assertEqual(wrong, [])
        self.assertEqual(holder.query(7)[0], 1234)
        second.send_signal(signal.SIGTERM)
        self.assertEqual(second.wait(), 0)


if __name__ == "__main__":
    unittest.main()
