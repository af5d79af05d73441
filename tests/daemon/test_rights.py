"""Several users on one machine: who may release, see and read what, when the daemon is root's and when it is not."""

import unittest

from server import *

ONE, TWO, STRANGER = 65534, 65533, 65532  # users; they need no names
TOKEN = "a-token-of-the-tests"

# What a process of another user needs: it may not be able to read these files.
SMALL = ("import os, signal, socket, struct, sys\n"
         "def message(kind, device=0, nbytes=0, buffer_type=0, id=0, pid=0):\n"
         "    return struct.pack('<BxxxiQBxxxiQQ', kind, device, nbytes, buffer_type, pid, id, 0).ljust(144, b'\\0')\n"
         "def query(device=0):\n"
         "    c.sendall(message(3, device))\n"
         "    return struct.unpack_from('<6Q', c.recv(144, socket.MSG_WAITALL), 40)\n"
         "c = socket.socket(socket.AF_UNIX); c.connect(sys.argv[1])\n")
ASK = ("import socket, sys\n"
       "s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); s.sendall(sys.argv[2].encode())\n"
       "sys.stdout.buffer.write(s.makefile('rb').read())\n")


@unittest.skipUnless(os.geteuid() == 0, "only root can be another user")
class Rights(DaemonTest):
    def user(self, uid):
        return {"user": uid, "group": uid, "extra_groups": []} if uid != 0 else {}

    def small(self, uid, program):
        """A process of a user, connected. It ends with its stdin."""
        process = self.spawn([sys.executable, "-c", SMALL + program + "\nsys.stdin.read()", self.path], stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE, text=True, **self.user(uid))
        self.addCleanup(process.stdin.close)
        return process

    def ask_as(self, uid, question, path=None):
        return subprocess.run([sys.executable, "-c", ASK, path or self.path, question], check=True, timeout=WAIT_S,
                              stdout=subprocess.PIPE, **self.user(uid)).stdout.decode()

    def get_as(self, uid, page, **headers):
        lines = [f"GET {page} HTTP/1.0", "Host: localhost", *(f"{name}: {value}" for name, value in headers.items())]
        head, _, body = self.ask_as(uid, "\r\n".join([*lines, "", ""]), self.http).partition("\r\n\r\n")
        return int(head.split()[1]), body

    def tidemark_as(self, uid, *args):
        done = subprocess.run([os.path.join(BIN, "tidemark"), *args], capture_output=True, text=True, timeout=WAIT_S,
                              cwd="/", env=dict(self.environment(), HOME="/", TIDEMARK_DIR=self.shm), **self.user(uid))
        return done.stdout, done.stderr

    def two_users(self, *options):
        """A process of each of two users, with a buffer and a kernel each. Their memory has the same ids."""
        token = os.path.join(self.folder, "token")
        with open(token, "w", encoding="ascii") as file:
            file.write(TOKEN)
        os.chmod(token, 0o600)
        self.start_http("--quiet", "--socket-mode=0666", "--process-metrics", "--token-file", token, *options)
        hold = "c.sendall(message(1, 0, {0}, 0, 7) + message(10, 0, {1}, 0, 9)); print(query()[0], flush=True)"
        one = self.small(ONE, hold.format(1000, 64))
        self.assertEqual(one.stdout.readline(), "1000\n")
        two = self.small(TWO, hold.format(500, 32))
        self.assertEqual(two.stdout.readline(), "1500\n")
        return one, two

    def seen(self, text, *processes):
        return [bool(re.search(rf'\bpid"?(=|: ?)"?{p.pid}\b', text)) for p in processes]

    def test_a_user_cannot_release_what_is_anothers(self):
        one, _ = self.two_users()
        thief = self.small(TWO, f"c.sendall(message(2, 0, 0, 0, 7, {one.pid}) + message(11, 0, 64, 0, 9, {one.pid})"
                                f" + message(1, 0, 2, 0, 7, {one.pid}) + message(2, 0, 0, 0, 7, {one.pid}))\n"
                                "print(query(), flush=True)")
        self.assertEqual(thief.stdout.readline(), "(1500, 0, 0, 0, 0, 96)\n")
        self.assertEqual(self.statistic("Releases of unknown buffers"), 2)
        self.assertEqual(self.statistic("Messages that name another process"), 4)
        # The owner is the kernel's word, not the message's.
        buffers = {p["pid"]: p["uid"] for p in self.dump()["processes"]}
        self.assertEqual(buffers[one.pid], ONE)

    def test_questions_in_words_list_what_is_ones_own(self):
        one, two = self.two_users()
        for uid, sees in ((0, [True, True]), (ONE, [True, False]), (TWO, [False, True]), (STRANGER, [False, False])):
            for question in ("summary", "kernels"):
                text = self.ask_as(uid, f"TIDEMARK {question}\n")
                self.assertEqual([bool(re.search(rf"PID:? {p.pid}\b", text)) for p in (one, two)], sees, (uid, question, text))
            self.assertNotIn("PID", self.ask_as(uid, "TIDEMARK statistics\n"))
            text, _ = self.tidemark_as(uid, "dump", "--server", "--socket", self.path)
            self.assertEqual([f"PID {p.pid}," in text for p in (one, two)], sees, (uid, text))

    def test_pages_show_what_is_ones_own(self):
        one, two = self.two_users()
        pages = ("/metrics", "/api/v1/status", "/api/v1/processes", "/api/v1/buffers", "/api/v1/picture",
                 "/api/v1/picture?buffers=1&ended=1")
        self.wait_for(lambda: self.seen(self.get("/api/v1/processes"), one, two) == [True, True], "the processes")
        for uid, sees in ((0, [True, True]), (ONE, [True, False]), (TWO, [False, True]), (STRANGER, [False, False])):
            for page in pages:
                status, body = self.get_as(uid, page)
                self.assertEqual((status, self.seen(body, one, two)), (200, sees), (uid, page, body))
                for p, is_seen in zip((one, two), sees):  # nowhere else, either
                    self.assertEqual(bool(re.search(rf"(?<!\d){p.pid}(?!\d)", body)), is_seen, (uid, page, body))
            for p, is_seen in zip((one, two), sees):
                for page in (f"/api/v1/processes?pid={p.pid}", f"/api/v1/buffers?pid={p.pid}"):
                    self.assertEqual(self.seen(self.get_as(uid, page)[1], p), [is_seen], (uid, page))
            self.assertEqual(self.get_as(uid, "/api/v1/status")[0], 200)
            self.assertEqual(self.get_as(uid, "/metrics", Authorization="Bearer wrong")[0], 401)
            body = self.get_as(uid, "/api/v1/processes", Authorization="Bearer " + TOKEN)[1]
            self.assertEqual(self.seen(body, one, two), [True, True])

    def test_loopback_gets_totals(self):
        one, two = self.two_users()
        def tcp(page, **headers):
            lines = [f"GET {page} HTTP/1.0", "Host: localhost", *(f"{name}: {value}" for name, value in headers.items())]
            with socket.create_connection(("127.0.0.1", self.port), timeout=WAIT_S) as s, s.makefile("rb") as answer:
                s.sendall("\r\n".join([*lines, "", ""]).encode())
                head, _, body = answer.read().partition(b"\r\n\r\n")
            return int(head.split()[1]), body.decode()

        self.wait_for(lambda: self.seen(self.get("/api/v1/processes"), one, two) == [True, True], "the processes")
        for page in ("/metrics", "/api/v1/status", "/api/v1/devices", "/api/v1/picture", "/"):
            status, body = tcp(page)
            self.assertEqual(status, 200)
            for p in (one, two):
                self.assertNotRegex(body, rf"(?<!\d){p.pid}(?!\d)", page)
            for word in (sys.executable, self.shm, self.folder):
                self.assertNotIn(word, body, page)
        self.assertRegex(tcp("/metrics")[1], r"(?m)^tt_dram_used_bytes\{.*\} 1500$")
        for page in ("processes", "buffers", "findings", "events", "picture?buffers=1", "picture?ended=1"):
            self.assertEqual(tcp("/api/v1/" + page)[0], 403, page)
        # A process number in the request tells nothing about the process.
        devices = [json.loads(tcp(f"/api/v1/status?pid={pid}")[1]) for pid in (one.pid, 2 ** 22 - 1)]
        self.assertEqual(devices[0]["device_info"], devices[1]["device_info"])
        self.assertEqual(self.seen(tcp("/api/v1/buffers", Authorization="Bearer " + TOKEN)[1], one, two), [True, True])

    def test_events_are_of_ones_own_processes(self):
        self.two_users()
        streams = {}
        for uid in (ONE, STRANGER, 0):
            program = ("import socket, sys\ns = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1])\n"
                       "s.sendall(b'GET /api/v1/events HTTP/1.0\\r\\nHost: x\\r\\n\\r\\n')\n"
                       "for line in s.makefile('r'): print(line, end='', flush=True)\n")
            streams[uid] = self.spawn([sys.executable, "-c", program, self.http], stdout=subprocess.PIPE, text=True,
                                      **self.user(uid))
            self.assertIn(" 200 ", streams[uid].stdout.readline())
        talkers = {uid: self.small(uid, "for i in range(100, 200): c.sendall(message(1, 0, 10, 0, i))\n"
                                        "print(query(), flush=True)") for uid in (TWO, ONE)}
        pids = {uid: talker.pid for uid, talker in talkers.items()}

        def read(uid, until):
            """The processes of the events that a reader gets until these are among them."""
            found = set()
            while not until <= found:
                line = streams[uid].stdout.readline()
                self.assertTrue(line)
                if line.startswith("data: "):
                    found |= {event["pid"] for event in json.loads(line[6:])["events"]}
            return found

        read(0, {pids[ONE], pids[TWO]})
        self.assertNotIn(pids[TWO], read(ONE, {pids[ONE]}))
        streams[STRANGER].terminate()
        self.assertNotIn("data: ", streams[STRANGER].stdout.read())

    def test_ledgers_are_for_the_daemons_user(self):
        one, two = self.two_users()
        folder = os.path.join(self.shm, "tidemark-0")
        self.assertEqual(os.stat(folder).st_mode & 0o7777, 0o700)
        for name in os.listdir(folder):
            facts = os.stat(os.path.join(folder, name))
            self.assertEqual((facts.st_mode & 0o7777, facts.st_uid), (0o600, 0))
        for command in ("status", "dump", "leaks"):
            text = "".join(self.tidemark_as(ONE, command, *(["--for", "100ms"] if command == "leaks" else [])))
            for p in (one, two):
                self.assertNotRegex(text, rf"(?<!\d){p.pid}(?!\d)", (command, text))
            if command != "leaks":  # of those who run, it says nothing
                self.assertIn(folder + ": Permission denied", text)

    def test_what_a_user_sees_with_connect(self):
        one, two = self.two_users()
        self.wait_for(lambda: self.seen(self.get("/api/v1/processes"), one, two) == [True, True], "the processes")
        for uid, sees in ((0, [True, True]), (ONE, [True, False]), (STRANGER, [False, False])):
            text, errors = self.tidemark_as(uid, "status", "--json", "--connect", "unix:" + self.http)
            self.assertEqual([p.pid in [q["pid"] for q in json.loads(text)["processes"]] for p in (one, two)], sees,
                             (uid, errors))

    def test_a_daemon_of_an_ordinary_user(self):
        for path in (self.folder, self.shm):
            os.chown(path, ONE, ONE)
        os.chmod(self.folder, 0o755)
        self.start_http("--quiet", "--socket-mode=0666", "--process-metrics", **self.user(ONE))
        two = self.small(TWO, "c.sendall(message(1, 0, 1000, 0, 7)); print(query()[0], flush=True)")
        self.assertEqual(two.stdout.readline(), "1000\n")
        self.wait_for(lambda: self.seen(self.get_as(ONE, "/api/v1/processes")[1], two) == [True], "the process")
        for uid, sees in ((0, True), (ONE, True), (TWO, True), (STRANGER, False)):
            for page in ("/api/v1/processes", "/api/v1/buffers", "/metrics"):
                self.assertEqual(self.seen(self.get_as(uid, page)[1], two), [sees], (uid, page))
        folder = os.path.join(self.shm, f"tidemark-{ONE}")
        self.assertEqual((os.stat(folder).st_uid, os.stat(folder).st_mode & 0o7777), (ONE, 0o700))
        two.kill()
        two.wait()
        self.wait_for(lambda: self.statistic("Processes ended") == 1, "its end")
        self.assertEqual(self.statistic("Buffers they left"), 1)


if __name__ == "__main__":
    unittest.main()
