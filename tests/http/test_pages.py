"""What the pages show, and to whom."""

import itertools
import json
import os
import re
import socket
import subprocess
import unittest

from server import COMMAND, DAEMON, Case, wait_for

OPENMETRICS = "application/openmetrics-text; version=1.0.0"
NOBODY = 65534

# Names that others chose, with units that Prometheus does not recommend.
LINT_ALLOWED = {"tt_voltage_millivolts", "tt_current_milliamps", "tt_process_count"}


class Metrics(Case):
    def check(self, text, openmetrics):
        if openmetrics:
            from prometheus_client.openmetrics.parser import text_string_to_metric_families
        else:
            from prometheus_client.parser import text_string_to_metric_families
        families = {family.name: family for family in text_string_to_metric_families(text)}
        for family in families.values():
            self.assertTrue(family.documentation, family.name)
            self.assertNotEqual(family.type, "unknown", family.name)
            if openmetrics and family.name.endswith(("_bytes", "_seconds", "_ratio", "_celsius", "_watts")):
                self.assertEqual(family.unit, family.name.rpartition("_")[2])
        return families

    def check_both_formats(self, *options):
        """The families of a daemon."""
        server = self.start("--process-metrics", *options)
        plain = self.get("/metrics", unix=True)
        self.assertEqual(plain.status, 200)
        self.assertEqual(plain.headers["content-type"], "text/plain; version=0.0.4; charset=utf-8")
        families = self.check(plain.text, False)
        done = subprocess.run(["promtool", "check", "metrics"], input=plain.body, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT)
        lint = [line for line in done.stdout.decode().splitlines() if line.split(" ")[0] not in LINT_ALLOWED
                and "megabytes" not in line]
        self.assertEqual(lint, [])
        opened = self.get("/metrics", unix=True, Accept=OPENMETRICS)
        self.assertEqual(opened.headers["content-type"], OPENMETRICS + "; charset=utf-8")
        self.assertTrue(opened.text.endswith("\n# EOF\n"))
        # The parsers name counters and facts differently; some are about the scrape before, if there was one.
        self.assertEqual({re.sub("_(total|info)$", "", name) for name in families},
                         {name for name in self.check(opened.text, True) if not name.startswith("tt_scrape_")})
        server.terminate()
        server.wait()
        return set(families)

    def test_both_formats_are_understood_by_parsers_and_promtool(self):
        self.add_card()
        program = self.program("wait", tool="tracked")
        own = self.check_both_formats()
        self.assertLessEqual({"tt_dram_used_bytes", "tt_process_dram_bytes", "tt_server_refused_messages",
                              "tt_power_watts"}, own)
        exporter = self.check_both_formats("--metric-names", "tt-exporter") - own
        self.assertEqual(exporter, {"tenstorrent_" + name for name in (
            "dram_used_bytes", "l1_used_bytes", "chip_dram_used_bytes", "proc_dram_used_bytes", "power_watts",
            "temperature_celsius", "aiclk_mhz", "active_workers")})
        telemetry = self.check_both_formats("--metric-names", "tt-telemetry") - own
        self.assertEqual(telemetry, {"tt_device_dram_used_megabytes", "tt_device_dram_total_megabytes",
                                     "tt_dram_used_megabytes", "tt_dram_total_megabytes", "tt_process_count"})
        self.assertEqual(self.check_both_formats("--metric-names", "tt-exporter,tt-telemetry"), own | exporter | telemetry)
        program.kill()

    def test_the_format_is_the_one_that_the_reader_prefers(self):
        self.start()
        openmetrics, plain = OPENMETRICS + "; charset=utf-8", "text/plain; version=0.0.4; charset=utf-8"
        name = "application/openmetrics-text"
        for accept, expected in ((name, openmetrics), ("*/*", plain), ("text/*", plain), ("text/html", plain),
                                 (f"{name};q=0", plain), (f"{name};q=0,*/*", plain), (f"{name};q=0.2,*/*", plain),
                                 (f"{name};q=0.2,text/*;q=0.3", plain), (f"text/plain;q=0.1,{name};q=0.2,*/*", openmetrics),
                                 (f"text/plain;q=0.5, {name} ; version=1.0.0 ; q=0.5", openmetrics),
                                 (f"{name};version=1.0.0,{name};version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,"
                                  "*/*;q=0.1", openmetrics)):
            answer = self.get("/metrics", Accept=accept)
            self.assertEqual((accept, answer.headers["content-type"]), (accept, expected))
            self.assertEqual(answer.text.endswith("# EOF\n"), expected == openmetrics)
        # A header that is given twice is one list.
        two = self.raw(f"GET /metrics HTTP/1.0\r\nHost: localhost\r\nAccept: text/plain;q=0.5\r\n"
                       f"Accept: {name}\r\n\r\n".encode())
        self.assertIn(openmetrics.encode(), two)

    def test_the_cost_of_workers_is_part_of_the_daemons(self):
        self.program()
        self.start()

        def cost():
            text = self.get("/metrics").text
            self.assertRegex(text, r"(?m)^tt_http_open_connections [1-9]")
            return float(re.search(r"(?m)^tt_workers_cpu_seconds_total (\S+)$", text)[1])

        before = cost()
        for _ in range(3):
            self.assertEqual(self.get("/api/v1/buffers", unix=True).status, 200)
        wait_for("their cost", lambda: cost() > before)

    def test_every_family_is_documented(self):
        path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "metrics.md")
        with open(path) as file:
            documented = set(re.findall(r"`((?:tt|tenstorrent|process|tidemark)_\w+)`", file.read()))
        kinds = "dram|l1_small|l1|trace|cb|dfb|scratchpad|kernel|firmware|system|config"
        self.program()
        self.start("--process-metrics", "--stats", "--metric-names", "tt-exporter,tt-telemetry")
        for name in re.findall(r"^# TYPE (\S+)", self.get("/metrics", unix=True).text, re.M):
            general = re.sub(f"^tt_(process_)?({kinds})_", r"tt_\1KIND_", name)
            self.assertTrue(name in documented or general in documented, name)

    def test_the_figures_are_those_of_status(self):
        self.program()
        self.start()
        status = json.loads(subprocess.run([COMMAND, "status", "--json"], env=self.environment, check=True,
                                           stdout=subprocess.PIPE).stdout)
        text = self.get("/metrics").text
        shown = {(kind, figure): int(value) for kind, figure, value in
                 re.findall(r"^tt_([a-z0-9_]+?)_(total|peak)_bytes\{.*\} (\d+)$", text, re.M)}
        for kind in status["device_info"][0]["memory"]["kinds"][:5]:
            for figure in ("total", "peak"):
                if kind["kind"] != "dram" or figure != "peak":  # which may still grow
                    self.assertEqual(shown.get((kind["kind"], figure)), kind[figure], (kind["kind"], figure))
        self.assertIn("tt_dram_largest_free_block_bytes{", text)
        self.assertIn("tt_fragmentation_ratio{", text)

    def test_a_dead_process_leaves_its_series(self):
        program = self.program()
        self.start("--process-metrics")
        mark = f'pid="{program.pid}"'
        self.assertIn(mark, self.get("/metrics", unix=True).text)
        program.kill()
        program.wait()
        wait_for("the series to go", lambda: mark not in self.get("/metrics", unix=True).text)
        self.assertIn("tt_source_last_collect_success", self.get("/metrics").text)

    def test_what_a_program_counted_at_its_end_is_not_lost(self):
        program = self.program("oom")
        self.start()
        text = self.get("/metrics").text
        self.assertRegex(text, r'(?m)^tt_oom_total\{.*kind="dram"\} 0$')
        self.assertRegex(text, r"(?m)^tt_lost_events_total\{.*\} 1$")
        program.stdin.close()  # it fails, frees everything and ends: no ledger is left
        program.wait()
        second = self.program()  # uses the same device
        text = wait_for("the failure", lambda: (lambda t: t if re.search(r'(?m)^tt_oom_total\{.*\} [1-9]', t) else None)(
            self.get("/metrics").text))
        self.assertIsNone(second.poll())
        self.assertRegex(text, r'(?m)^tt_oom_total\{.*kind="dram"\} 1$')
        self.assertRegex(text, r"(?m)^tt_lost_events_total\{.*\} 1$")

    def test_programs_are_counted_while_nobody_asks(self):
        self.start()
        before = self.get("/metrics").text
        self.assertNotIn("tt_oom_total", before)
        steady = self.program()
        program = self.program("oom")

        def is_seen():  # nobody asks, but the daemon looks
            folder = f"/proc/{self.server.pid}/fd"
            return any(f"/{program.pid}." in os.readlink(os.path.join(folder, fd)) for fd in os.listdir(folder))

        wait_for("the daemon to see the program", is_seen)
        program.stdin.close()
        program.wait()
        wait_for("the failure", lambda: re.search(r'(?m)^tt_oom_total\{.*kind="dram"\} 1$', self.get("/metrics").text))
        self.assertIsNone(steady.poll())

    def test_an_unreadable_source_is_shown_as_failed(self):
        os.mkdir(os.path.join(self.folder, "ledgers"))
        self.start("--dir", os.path.join(self.folder, "ledgers"))
        self.assertIn('tt_source_last_collect_success{source="ledger"} 1', self.get("/metrics").text)
        self.assertEqual(self.get("/readyz").status, 200)
        os.rmdir(os.path.join(self.folder, "ledgers"))
        open(os.path.join(self.folder, "ledgers"), "w").close()
        wait_for("the failure", lambda: 'tt_source_last_collect_success{source="ledger"} 0'
                 in self.get("/metrics").text)
        self.assertEqual(self.get("/readyz").status, 503)
        # The age is that of the last time that it could be read.
        wait_for("it to grow old", lambda: re.search(r'(?m)^tt_source_age_seconds\{source="ledger"\} [1-9]\d*\.\d+$',
                                                     self.get("/metrics").text))
        self.assertNotIn('tt_source_age_seconds{source="driver"}', self.get("/metrics").text)  # there never was one
        self.assertEqual(self.get("/healthz").status, 200)

    def test_leaks_are_found_while_they_grow(self):
        self.program("lose")
        self.start("--leaks", "1000")
        self.assertEqual(self.get("/api/v1/findings", unix=True).status, 503)
        wait_for("a leak", lambda: re.search(r'^tt_leak_suspect_bytes\{.*verdict=".*"\} [1-9]',
                                             self.get("/metrics").text, re.M))
        answer = self.get("/api/v1/findings", unix=True)
        self.assertEqual(answer.json["schema"], "tidemark.leaks")
        self.assertIn(answer.json["leaks"]["sites"][0]["verdict"], ("leak", "suspect"))


class Documents(Case):
    def test_documents_have_the_keys_of_the_commands(self):
        self.program()
        self.start()
        for path, command, schema in (("status", "status", "tidemark.status"), ("buffers", "dump", "tidemark.dump")):
            answer = self.get(f"/api/v1/{path}", unix=True)
            self.assertEqual((answer.status, answer.headers["content-type"]), (200, "application/json"))
            printed = json.loads(subprocess.run([COMMAND, command, "--json"], env=self.environment, check=True,
                                                stdout=subprocess.PIPE).stdout)
            self.assertEqual(answer.json["schema"], schema)
            self.assertEqual(answer.json.keys(), printed.keys())
        self.assertEqual(answer.json["dump"]["processes"][0].keys(), printed["dump"]["processes"][0].keys())
        devices = self.get("/api/v1/devices", unix=True).json
        processes = self.get("/api/v1/processes", unix=True).json
        status = self.get("/api/v1/status", unix=True).json
        self.assertEqual(devices["devices"], status["device_info"])
        self.assertEqual(processes["processes"], status["processes"])

    def test_buffers_come_by_page_and_filter(self):
        program = self.program()
        self.start()

        def page(query):
            answer = self.get("/api/v1/buffers?" + query, unix=True)
            self.assertEqual(answer.status, 200, answer.text)
            return answer.json["dump"]["processes"][0]

        whole = page(f"pid={program.pid}&kind=dram&sort=address")
        self.assertGreater(len(whole["buffers"]), 20)
        # The oldest ones stay as long as the program runs.
        first = page("sort=age&limit=5")["buffers"]
        second = page("sort=age&limit=5&offset=5")["buffers"]
        self.assertEqual([len(first), len(second)], [5, 5])
        self.assertLess(max(b["id"] for b in first), min(b["id"] for b in second))
        self.assertEqual(page("offset=18446744073709551614")["buffers"], [])
        self.assertEqual(page("kind=l1")["buffers"], [])
        self.assertEqual(page("device=0&limit=1")["buffers"][0]["device"], 0)

    def test_wrong_arguments_are_refused_with_a_reason(self):
        self.start()
        for query in ("kind=gold", "limit=0", "limit=-1", "limit=999999999", "sort=colour", "pid=x", "device=",
                      "device=0x5", "what=1", "pid=99999999999999999999", "&".join("pid=1" for _ in range(17))):
            answer = self.get("/api/v1/buffers?" + query, unix=True)
            self.assertEqual((query, answer.status), (query, 400))
            self.assertTrue(answer.json["error"]["reason"])
        self.assertEqual(self.get("/api/v1/status?kind=l1").status, 400)
        # The reason says what would be right.
        for query, right in (("limit=x", "1 to 100000"), ("limit=0", "1 to 100000"), ("offset=-1", "number"),
                             ("pid=0", "1 to 2147483647"), ("kind=gold", "dram, l1, l1_small, trace, cb"),
                             ("device=lab:0", "device=0"), ("sort=colour", "size, age, site or address"),
                             ("what=1", "device pid kind sort limit offset"), ("pid=1&pid=2", "once")):
            answer = self.get("/api/v1/buffers?" + query, unix=True)
            self.assertEqual((query, answer.status), (query, 400))
            self.assertIn(right, answer.json["error"]["reason"], query)
        self.assertIn("0 or 1", self.get("/api/v1/picture?buffers=2", unix=True).json["error"]["reason"])
        self.assertIn("PCI", self.get("/api/v1/devices?device=a!").json["error"]["reason"])
        self.assertEqual(self.get("/api/v1/nothing").status, 404)
        self.assertEqual(self.get("/api/v1/status/").status, 404)

    def test_head_has_no_body(self):
        self.program()
        self.start()
        for path in ("/metrics", "/api/v1/status", "/api/v1/buffers", "/api/v1/events", "/"):
            answer = self.get(path, unix=True, method="HEAD")
            self.assertEqual((path, answer.status, answer.body), (path, 200, b""))


class Rights(Case):
    def command_line(self, text):
        return "leaky" in text

    def test_a_stranger_gets_totals_only(self):
        self.program()
        self.start("--process-metrics")
        for path in ("/metrics", "/api/v1/status", "/api/v1/devices"):
            answer = self.get(path)
            self.assertEqual(answer.status, 200)
            self.assertNotIn("leaky", answer.text)
        self.assertIn("tt_dram_used_bytes", self.get("/metrics").text)
        status = self.get("/api/v1/status").json
        self.assertEqual((status["processes"], status["status"]["process_count"]), ([], 1))
        for path in ("processes", "buffers", "findings", "events"):
            self.assertEqual(self.get("/api/v1/" + path).status, 403)
        for answer in (self.get("/metrics", unix=True), self.get("/api/v1/processes", unix=True)):
            self.assertIn("leaky", answer.text)

    def test_the_bearer_of_the_token_gets_everything(self):
        token = "0123456789abcdef-token"
        path = os.path.join(self.folder, "token")
        with open(path, "w") as file:
            file.write(token + "\n")
        self.program()
        self.start("--token-file", path, "--process-metrics")
        self.assertIn("leaky", self.get("/metrics", Authorization="Bearer " + token).text)
        self.assertEqual(self.get("/api/v1/buffers", Authorization="bearer  " + token).status, 200)
        for wrong in ("Bearer " + token[:-1], "Bearer " + token + "x", "Bearer ", "Bearer", "Basic " + token,
                      "Bearer " + token.upper(), token):
            answer = self.get("/metrics", Authorization=wrong)
            self.assertEqual((wrong, answer.status), (wrong, 401))
            self.assertIn("Bearer", answer.headers["www-authenticate"])
        self.assertEqual(self.get("/metrics").status, 200)  # totals, from this machine
        self.assertNotIn("leaky", self.get("/metrics").text)
        self.assertEqual(self.get("/healthz", Authorization="Bearer wrong").status, 200)

    def test_a_token_that_others_can_read_is_a_warning(self):
        path = os.path.join(self.folder, "token")
        with open(path, "w") as file:
            file.write("0123456789abcdef-token\n")
        for mode, warns in ((0o600, False), (0o640, False), (0o644, True)):
            os.chmod(path, mode)
            self.start("--token-file", path)
            self.errors.seek(0)
            said = self.errors.read()
            self.assertEqual((mode, b"warning: others can read the token" in said), (mode, warns))
            self.server.terminate()
            self.server.wait()

    def test_a_bad_token_file_is_refused(self):
        for content in ("", "short\n", "a token with blanks in it\n", "x" * 5000):
            path = os.path.join(self.folder, "token")
            with open(path, "w") as file:
                file.write(content)
            with self.assertRaisesRegex(AssertionError, "token"):
                self.start("--token-file", path)
        with self.assertRaisesRegex(AssertionError, "token"):
            self.start("--token-file", path + ".absent")

    @unittest.skipUnless(os.geteuid() == 0, "needs root to become another user")
    def test_a_user_sees_his_own_over_the_unix_socket(self):
        mine, other = self.program(), self.program(user=NOBODY)
        self.start("--process-metrics", "--leaks", "1000")
        script = ("import socket, sys\n"
                  "s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1])\n"
                  "s.sendall(f'GET {sys.argv[2]} HTTP/1.1\\r\\nHost: x\\r\\nConnection: close\\r\\n\\r\\n'.encode())\n"
                  "sys.stdout.write(s.makefile().read())\n")

        def ask(path):
            return subprocess.run(["/usr/bin/python3", "-c", script, self.socket, path], user=NOBODY, group=NOBODY,
                                  check=True, stdout=subprocess.PIPE, text=True).stdout

        for path in ("/metrics", "/api/v1/processes", "/api/v1/buffers", "/api/v1/status"):
            text = ask(path)
            self.assertRegex(text, rf'"?pid"?(=|: )"?{other.pid}\b', path)
            self.assertNotRegex(text, rf'"?pid"?(=|: )"?{mine.pid}\b', path)
        wait_for("findings", lambda: " 200 " in ask("/api/v1/findings")[:20])
        everything = self.get("/api/v1/buffers", unix=True).json
        self.assertEqual({p["pid"] for p in everything["dump"]["processes"]}, {mine.pid, other.pid})


class Hosts(Case):
    def test_only_known_names_are_served(self):
        self.start("--http-hosts", "metrics.example, other.example")
        for host in ("localhost", "LOCALHOST:9740", "127.0.0.1", "10.1.2.3:80", "[::1]:9740", "metrics.example",
                     "other.example:1", os.uname().nodename):
            self.assertEqual((host, self.get("/metrics", host=host).status), (host, 200))
        for host in ("evil.example", "localhost.evil.example", "evil.example:9740", "metrics.example.", "", "[::1",
                     "127.0.0.1.evil.example", "localhost:port", "metrics.example, other.example", "::1",
                     "metrics.example,"):
            self.assertIn(self.get("/metrics", host=host).status, (400, 421), host)
        self.assertEqual(self.get("/healthz", host="10.0.0.1").status, 200)
        self.assertEqual(self.get("/healthz", host="evil.example").status, 200)
        self.assertIn('tt_http_refused_total{reason="host"} ',
                      self.get("/metrics").text)

    def test_no_page_of_another_origin_may_read_it(self):
        self.start()
        answer = self.get("/metrics", Origin="http://evil.example")
        self.assertNotIn("access-control-allow-origin", answer.headers)
        self.assertEqual(self.get("/metrics", method="OPTIONS", Origin="http://evil.example").status, 405)

    def test_a_taken_port_is_a_warning_when_it_was_not_asked_for(self):
        with socket.socket() as s:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                s.bind(("127.0.0.1", 9740))
                s.listen()
            except OSError:
                pass  # somebody else has it
            self.socket = os.path.join(self.folder, "http.sock")
            process = subprocess.Popen(
                [DAEMON, "--quiet", "--socket", os.path.join(self.folder, "daemon.sock"), "--http-socket", self.socket],
                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                env=dict(self.environment, STATE_DIRECTORY=os.path.join(self.folder, "state")))
            self.stack.callback(self.end, process)
            self.assertIn(b"warning: cannot listen on 127.0.0.1, port 9740", process.stderr.readline())
            wait_for("the Unix socket", lambda: os.path.exists(self.socket))
            self.assertEqual(wait_for("it to be ready", lambda: self.try_get("/healthz")).text, "ok\n")

    def try_get(self, path):
        try:
            return self.get(path, unix=True)
        except ConnectionError:
            return None

    def test_an_address_of_the_other_family(self):
        try:
            with socket.socket(socket.AF_INET6) as s:
                s.bind(("::1", 0))
        except OSError:
            self.skipTest("this machine has no IPv6")
        self.program()
        token = os.path.join(self.folder, "token")
        with open(token, "w") as file:
            file.write("0123456789abcdef-token\n")
        self.start("--http-host", "::1", "--token-file", token)
        for options, count in ((["--token-file", token], 1), ([], 0)):  # on loopback: totals without the token
            done = subprocess.run([COMMAND, "status", "--json", "--connect", f"[::1]:{self.port}", *options],
                                  env=self.environment, check=True, stdout=subprocess.PIPE)
            status = json.loads(done.stdout)
            self.assertEqual((len(status["device_info"]), len(status["processes"])), (1, count))

    def test_a_taken_port_is_refused_when_it_was_asked_for(self):
        self.start()
        tool = os.path.join(os.environ["TIDEMARK_TEST_TOOLS"], "http_alone")
        done = subprocess.run([tool, "--http-port", str(self.port)], input=b"", env=self.environment,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual((done.returncode, done.stdout), (1, b""))
        self.assertIn(b"Address already in use", done.stderr)
        # The socket of a running server is not taken away, that of a dead one is.
        done = subprocess.run([tool, "--http-port", "0", "--http-socket", self.socket], input=b"",
                              env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(self.get("/healthz", unix=True).status, 200)
        self.server.kill()
        self.server.wait()
        self.assertTrue(os.path.exists(self.socket))
        self.start()
        self.assertEqual(self.get("/healthz", unix=True).status, 200)


class Events(Case):
    def test_events_come_as_frames(self):
        program = self.program()
        self.start()
        with self.connect(unix=True) as s, s.makefile("rb") as lines:
            s.sendall(f"GET /api/v1/events?pid={program.pid}&kind=dram HTTP/1.0\r\nHost: x\r\n\r\n".encode())
            self.assertIn(b" 200 ", lines.readline())
            kinds = set()
            while not {"alloc", "free"} <= kinds:
                line = lines.readline()
                self.assertTrue(line)
                if line.startswith(b"data: "):
                    frame = json.loads(line[6:])
                    self.assertLessEqual(len(line), 65536)
                    for event in frame["events"]:
                        self.assertEqual((event["pid"], event["kind"]), (program.pid, "dram"))
                        kinds.add(event["event"])
            self.assertIn("tt_events_readers 1", self.get("/metrics").text)
        wait_for("the reader to be missed", lambda: "tt_events_readers 0" in self.get("/metrics").text)

    def frames(self, lines):
        """The fields of each frame, as they come."""
        frame = {}
        while line := lines.readline().decode().rstrip("\r\n"):
            pass  # the head of the answer
        while raw := lines.readline():
            line = raw.decode().rstrip("\n")
            if line:
                name, _, value = line.partition(": ")
                frame[name] = value
            else:
                yield frame
                frame = {}

    def test_a_reader_of_one_kind_is_told_which_events_are_missing(self):
        self.program()  # makes more events than a picture has
        self.start()
        with self.connect(unix=True) as s, s.makefile("rb") as lines:
            s.sendall(b"GET /api/v1/events?kind=dram HTTP/1.0\r\nHost: x\r\n\r\n")
            lost = []
            for frame in itertools.islice(self.frames(lines), 100):
                events = json.loads(frame.get("data", "{}")).get("events", [])
                lost = [event for event in events if event["event"] == "lost"]
                if lost:
                    break
            self.assertTrue(lost)
            self.assertGreater(lost[0]["count"], 0)

    def test_a_reader_that_comes_back_is_told_that_it_was_away(self):
        self.program()
        self.start()
        with self.connect(unix=True) as s, s.makefile("rb") as lines:
            s.sendall(b"GET /api/v1/events HTTP/1.0\r\nHost: x\r\nLast-Event-ID: 41\r\n\r\n")
            frames = self.frames(lines)
            self.assertEqual(next(frames), {"retry": "5000"})
            self.assertEqual(next(frames), {"event": "lost", "data": '{"frames": null, "events": null}'})
            self.assertEqual(next(frames)["id"], "42")

    def test_too_many_readers_are_refused(self):
        self.start()
        readers = []
        try:
            for _ in range(32):
                s = self.connect(unix=True)
                s.sendall(b"GET /api/v1/events HTTP/1.1\r\nHost: x\r\n\r\n")
                self.assertIn(b" 200 ", s.recv(64))
                readers.append(s)
            self.assertEqual(self.get("/api/v1/events", unix=True).status, 503)
        finally:
            for s in readers:
                s.close()

    def test_the_end_of_the_daemon_ends_the_stream(self):
        self.start()
        with self.connect(unix=True) as s:
            s.sendall(b"GET /api/v1/events HTTP/1.0\r\nHost: x\r\n\r\n")
            self.assertIn(b" 200 ", s.recv(64))
            self.server.terminate()
            while s.recv(4096):
                pass
        self.assertEqual(self.server.wait(), 0)
