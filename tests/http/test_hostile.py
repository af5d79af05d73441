"""Requests that are slow, huge, malformed or smuggled, and readers that do not read."""

import json
import os
import random
import re
import select
import socket
import subprocess
import time
import unittest

from server import TOOLS, Answer, Case, wait_for

NOBODY = 65534


class Form(Case):
    def alive(self):
        self.assertEqual(self.get("/healthz").text, "ok\n")

    def refused(self, data, *statuses):
        """Every answer that comes on the connection is a refusal."""
        out = self.raw(data, patience_s=2)
        found = [int(status) for status in re.findall(rb"HTTP/1\.[01] (\d+) ", out)]
        for status in found:
            self.assertIn(status, statuses, (data[:80], out[:200]))
        self.alive()

    def test_malformed_requests_are_refused(self):
        self.start()
        for data in (b"\r\n\r\n\r\n", b"GET\r\n\r\n", b"GET /metrics\r\n\r\n", b"\x00\x01\x02\x03\r\n\r\n",
                     b"GET /metrics HTTP/9.9\r\nHost: localhost\r\n\r\n", b"GET  HTTP/1.1\r\nHost: localhost\r\n\r\n",
                     b"GET /metrics HTTP/1.1\r\n\r\n", b"GET /metrics HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
                     b"GET /metrics HTTP/1.1\r\nHost localhost\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
                     b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n",
                     b"GET /metrics HTTP/1.1\r\nHost: evil.example\r\nHost: localhost\r\n\r\n",
                     b"GET http://evil.example/metrics HTTP/1.1\r\nHost: evil.example\r\n\r\n"):
            with self.subTest(data=data):
                with self.connect() as s:
                    s.settimeout(1)
                    try:
                        s.sendall(data)
                        out = s.recv(65536)
                    except (ConnectionError, TimeoutError):
                        out = b""  # it waits for the rest, but not for long: see the slow ones below
                self.assertNotIn(b" 200 ", out)
        self.alive()

    def test_a_request_has_no_body(self):
        self.start()
        with self.connect() as s:
            s.settimeout(10)
            s.sendall(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n")
            self.assertIn(b" 200 ", s.recv(65536))
        for method in ("POST", "PUT", "DELETE", "PATCH", "TRACE", "CONNECT", "OPTIONS", "NONSENSE", "get"):
            self.assertIn(self.get("/metrics", method=method).status, (400, 405, 501))
        body = b"GET /api/v1/status HTTP/1.1\r\nHost: localhost\r\n\r\n"
        for headers in (b"Content-Length: 49\r\n", b"Transfer-Encoding: chunked\r\n",
                        b"Content-Length: 0\r\nContent-Length: 49\r\n", b"Content-Length: 49\r\nContent-Length: 0\r\n",
                        b"Content-Length: 0\r\nTransfer-Encoding: chunked\r\n",
                        b"Transfer-Encoding: chunked\r\nContent-Length: 0\r\n",
                        b"Content-Length: +0\r\n", b"Content-Length: 0x0\r\n", b"Content-Length: -1\r\n",
                        b"Content-Length : 49\r\n", b"Transfer-Encoding\t: chunked\r\n", b" Content-Length: 49\r\n",
                        b"Content-Length: 18446744073709551616\r\n", b"Transfer-Encoding: identity, chunked\r\n"):
            for method in (b"GET", b"POST"):
                with self.subTest(headers=headers, method=method):
                    # The request in the body is never answered: the connection is closed before.
                    self.refused(method + b" /metrics HTTP/1.1\r\nHost: localhost\r\n" + headers + b"\r\n" + body,
                                 400, 405, 413, 501)

    def test_huge_requests_are_refused(self):
        self.start()
        big = b"x" * 100000
        self.refused(b"GET /" + big + b" HTTP/1.1\r\nHost: localhost\r\n\r\n", 400, 413, 414, 431)
        self.refused(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nX: " + big + b"\r\n\r\n", 400, 413, 431)
        self.refused(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n" + b"A: b\r\n" * 20000 + b"\r\n", 400, 413, 431)
        self.refused(b"GET /metrics?" + b"a=b&" * 3000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n", 400, 413, 414, 431)
        with self.connect() as s:
            s.settimeout(1)
            try:
                while True:
                    s.sendall(big)
            except (ConnectionError, TimeoutError):
                pass
        self.alive()

    def test_pipelined_requests_are_answered_one_by_one(self):
        self.start()
        one = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
        last = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
        self.assertEqual(self.raw(one * 20 + last).count(b"\r\n\r\nok\n"), 21)

    def test_random_bytes_do_no_harm(self):
        self.start()
        chosen = random.Random(20260131)
        good = b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nAccept: text/plain;q=0.5\r\nConnection: close\r\n\r\n"
        for _ in range(300):
            data = bytearray(good)
            for _ in range(chosen.randint(1, 6)):
                at = chosen.randrange(len(data))
                what = chosen.randrange(3)
                if what == 0:
                    data[at] = chosen.randrange(256)
                elif what == 1:
                    del data[at:at + chosen.randint(1, 8)]
                else:
                    data[at:at] = bytes(chosen.choices(b"\r\n :\x00%&?=;,/", k=chosen.randint(1, 5)))
            with self.connect() as s:
                s.settimeout(0.05)
                try:
                    s.sendall(bytes(data))
                    s.recv(65536)
                except (ConnectionError, TimeoutError):
                    pass
        self.alive()


class Slow(Case):
    def test_requests_that_never_end_are_given_up(self):
        self.start()
        starts = (b"", b"G", b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n", b"GET /metrics HTTP/1.1\r\nX: ",
                  b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n", b"x" * 1000)
        waiting = []
        try:
            for start in starts:
                s = self.connect()
                s.sendall(start)
                waiting.append(s)

            def all_closed():
                for s in list(waiting):
                    try:
                        s.send(b"x")  # slow, not silent
                        if s in select.select([s], [], [], 0)[0] and not s.recv(65536):
                            raise ConnectionError
                    except ConnectionError:
                        waiting.remove(s)
                        s.close()
                time.sleep(0.2)
                return not waiting

            wait_for("the connections to be closed", all_closed)
        finally:
            for s in waiting:
                s.close()
        self.assertEqual(self.get("/healthz").text, "ok\n")
        self.assertRegex(self.get("/metrics").text, r'tt_http_refused_total\{reason="slow"\} [1-9]')


class Readers(Case):
    def test_many_silent_connections_leave_room_for_others(self):
        self.start()
        silent = []
        try:
            for i in range(400):
                s = self.connect()
                if i % 2:
                    s.sendall(b"GET /metrics HTTP/1.1\r\nHo")
                silent.append(s)
            self.assertEqual(self.get("/healthz").text, "ok\n")
            self.assertRegex(self.get("/metrics").text, r'tt_http_refused_total\{reason="no_room"\} [1-9]')
            self.assertEqual(self.get("/healthz", unix=True).text, "ok\n")
        finally:
            for s in silent:
                s.close()

    def test_readers_that_take_no_answer_leave_room_for_others(self):
        self.start()
        stuck = []
        try:
            for _ in range(300):  # each has a part of its answers before the next one comes
                s = self.connect(unix=True)
                stuck.append(s)
                s.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n" * 150)
                self.assertTrue(select.select([s], [], [], 120)[0])
            self.assertEqual(self.get("/healthz", unix=True).text, "ok\n")
            # They did not go because they were silent for too long, but to make room.
            self.assertRegex(self.get("/metrics").text, r'tt_http_refused_total\{reason="no_room"\} [1-9]')
        finally:
            for s in stuck:
                s.close()

    @unittest.skipIf(os.geteuid() != 0, "only root can be several users")
    def test_a_user_does_not_get_all_workers(self):
        process = subprocess.Popen([os.path.join(TOOLS, "crowd"), "2", "2", "2", "20000"], stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, env=self.environment, user=NOBODY, group=NOBODY)
        self.stack.callback(self.end, process)
        self.assertEqual(process.stdout.readline(), b"ready\n")
        self.start()
        held = []
        try:
            for _ in range(8):
                os.seteuid(NOBODY)
                try:
                    held.append(self.connect(unix=True))
                finally:
                    os.seteuid(0)
                held[-1].sendall(b"GET /api/v1/buffers?limit=100000 HTTP/1.1\r\nHost: x\r\n\r\n")
            answers = [s.recv(12) for s in held]
            self.assertEqual(answers.count(b"HTTP/1.1 200"), 2)
            self.assertEqual(answers.count(b"HTTP/1.1 503"), 6)
            self.assertEqual(self.get("/api/v1/buffers?limit=1", unix=True).status, 200)
        finally:
            for s in held:
                s.close()

    def test_a_slow_reader_of_events_loses_frames_and_is_told(self):
        self.start()
        # Makes more events than a queue and a socket hold.
        for _ in range(3):
            self.program()
        with self.connect(unix=True) as s:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            s.sendall(b"GET /api/v1/events HTTP/1.0\r\nHost: x\r\n\r\n")
            wait_for("frames to be lost", lambda: re.search(r"^tt_events_lost_frames_total [1-9]",
                                                           self.get("/metrics").text, re.M))
            self.assertEqual(self.get("/healthz").text, "ok\n")
            with s.makefile("rb") as lines:
                line = b""
                while line != b"event: lost\n":
                    line = lines.readline()
                    self.assertTrue(line)
                lost = json.loads(lines.readline()[6:])
        self.assertGreater(lost["frames"], 0)
        self.assertGreaterEqual(lost["events"], lost["frames"])

    def test_readers_of_buffers_that_stop_do_not_stop_the_daemon(self):
        process = subprocess.Popen([os.path.join(TOOLS, "crowd"), "2", "2", "2", "20000"], stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, env=self.environment)
        self.stack.callback(self.end, process)
        self.assertEqual(process.stdout.readline(), b"ready\n")
        self.start()
        stopped = []
        try:
            for _ in range(4):
                s = self.connect(unix=True)
                s.sendall(b"GET /api/v1/buffers?limit=100000 HTTP/1.1\r\nHost: x\r\n\r\n")
                stopped.append(s)
            wait_for("workers", lambda: "tt_http_workers 4" in self.get("/metrics").text)
            self.assertEqual(self.get("/api/v1/buffers", unix=True).status, 503)
            self.assertEqual(self.get("/api/v1/status").status, 200)
            out = b""
            while b"\r\n0\r\n\r\n" not in out[-16:]:
                out += stopped[0].recv(1 << 20)
            document = Answer(out).json
            self.assertEqual([len(p["buffers"]) for p in document["dump"]["processes"]], [20000, 20000])
        finally:
            for s in stopped:
                s.close()
        wait_for("the workers to end", lambda: "tt_http_workers 0" in self.get("/metrics").text)
        self.assertEqual(self.get("/api/v1/buffers?limit=1", unix=True).status, 200)

    def test_a_worker_that_is_killed_leaves_an_answer_that_is_not_whole(self):
        process = subprocess.Popen([os.path.join(TOOLS, "crowd"), "1", "1", "1", "50000"], stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, env=self.environment)
        self.stack.callback(self.end, process)
        self.assertEqual(process.stdout.readline(), b"ready\n")
        self.start("--leaks", "off")  # the watch is another worker
        with self.connect(unix=True) as s:
            s.sendall(b"GET /api/v1/buffers?limit=100000 HTTP/1.1\r\nHost: x\r\n\r\n")
            out = s.recv(4096)
            with open(f"/proc/{self.server.pid}/task/{self.server.pid}/children") as file:
                workers = [int(pid) for pid in file.read().split()]
            self.assertEqual(len(workers), 1)
            os.kill(workers[0], 9)
            try:
                while more := s.recv(1 << 20):
                    out += more
            except ConnectionError:
                pass
        self.assertNotIn(b"\r\n0\r\n\r\n", out[-16:])
        self.assertEqual(self.get("/healthz").text, "ok\n")


class Many(Case):
    def test_free_blocks_are_known_with_many_buffers(self):
        process = subprocess.Popen([os.path.join(TOOLS, "crowd"), "2", "2", "2", "15000"], stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, env=self.environment)
        self.stack.callback(self.end, process)
        self.assertEqual(process.stdout.readline(), b"ready\n")
        self.start("--leaks", "1000")
        wait_for("the largest free blocks", lambda: len(re.findall(
            r"^tt_dram_largest_free_block_bytes\{.*\} [1-9]", self.get("/metrics").text, re.M)) == 2)
        self.assertIn('tt_fragmentation_ratio{', self.get("/metrics").text)


class Labels(Case):
    def test_command_lines_with_quotes_newlines_and_thousands_of_characters(self):
        from prometheus_client.openmetrics.parser import text_string_to_metric_families
        self.start("--process-metrics")
        name = 'say "hi"\\\n\xff\t' + "x" * 10000
        process = subprocess.Popen(
            [name.encode("latin-1"), "steady"], executable=os.path.join(TOOLS, "leaky"), stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, env=self.environment)
        self.assertIn(b"ready", process.stdout.readline())
        self.stack.callback(self.end, process)
        text = wait_for("the process", lambda: (lambda t: t if f'pid="{process.pid}"' in t else None)(
            self.get("/metrics", unix=True, Accept="application/openmetrics-text").text))
        commands = {sample.labels.get("command") for family in text_string_to_metric_families(text)
                    for sample in family.samples} - {None}
        self.assertEqual(len(commands), 1)
        self.assertTrue(commands.pop().startswith('say "hi"\\'))
        for line in text.splitlines():
            self.assertLess(len(line), 2000)
        self.get("/api/v1/status", unix=True).json
