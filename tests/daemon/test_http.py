"""The daemon with both of its sides: programs report on the socket, and others ask over HTTP."""

import json
import os
import re
import socket
import struct
import subprocess
import unittest

from server import ALLOC, DRAM, FREE, L1, DaemonTest


class Http(DaemonTest):
    def status(self):
        done = self.tidemark("status", "--json", "--connect", "unix:" + self.http)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def program(self):
        """A process that holds 3 MB of DRAM and 500 bytes of L1 on device 0."""
        program = self.other_process(f"for m in ({ALLOC}, 0, 2000000, {DRAM}, 1), ({ALLOC}, 0, 1000000, {DRAM}, 2), "
                                     f"({ALLOC}, 0, 500, {L1}, 3), ({ALLOC}, 0, 7, {DRAM}, 4), ({FREE}, 0, 0, 0, 4):\n"
                                     "    c.send(*m)\n"
                                     "print(c.query(0), flush=True)\nsys.stdin.read()")
        self.assertEqual(program.stdout.readline(), "(3000000, 500, 0, 0)\n")
        return program

    def test_what_a_client_holds_is_in_the_metrics_and_in_status_of_another_machine(self):
        self.start_http("--process-metrics")
        program = self.program()
        figure = re.compile(r'^tt_dram_used_bytes\{.*\} 3000000$', re.M)
        self.wait_for(lambda: figure.search(self.get("/metrics", unix=False)), "the client's memory")
        text = self.get("/metrics")
        self.assertRegex(text, rf'(?m)^tt_process_dram_bytes\{{.*pid="{program.pid}".*\}} 3000000$')
        self.assertNotIn(f'pid="{program.pid}"', self.get("/metrics", unix=False))  # nobody knows who asks
        for line in ('messages_total{type="alloc"} 4', 'messages_total{type="free"} 1',
                     'messages_total{type="query"} 1', 'messages_total{type="other"} 0', "clients 1"):
            self.assertIn(f"\ntt_server_{line}\n", text)
        shown = self.status()
        self.assertEqual([p["pid"] for p in shown["processes"]], [program.pid])
        kinds = {kind["kind"]: kind["used"] for kind in shown["device_info"][0]["memory"]["kinds"]}
        self.assertEqual((kinds["dram"], kinds["l1"]), (3000000, 500))
        self.assertEqual(shown["status"]["process_count"], 1)

    def test_the_picture_has_buffers_and_the_ended_if_asked(self):
        self.start_http()
        program = self.program()

        def picture(arguments=""):
            document = json.loads(self.get("/api/v1/picture" + arguments))
            self.assertEqual(document["schema"], "tidemark.picture")
            return document["picture"]

        def rows(held):
            return sorted(row[2] for holding in held["holdings"] for kind in holding.get("buffers", {}).values()
                          for row in kind)

        self.wait_for(lambda: [p["pid"] for p in picture()["processes"]] == [program.pid], "the client")
        self.assertEqual(rows(picture()), [])
        self.assertEqual(rows(picture("?buffers=1")), [500, 1000000, 2000000])
        program.kill()
        program.wait()
        self.wait_for(lambda: picture()["processes"] == [], "its end")
        ended = picture("?buffers=1&ended=1")
        self.assertEqual([(p["pid"], p["life"]) for p in ended["processes"]], [(program.pid, "ended")])
        self.assertEqual(rows(ended), [500, 1000000, 2000000])

    def test_http_goes_on_when_another_daemon_takes_over(self):
        first = self.start_http()
        program = self.program()
        second = self.start("--http-port", str(self.port), "--http-socket", self.http, "--replace")
        self.assertIsNone(second.poll(), self.text())
        self.assertEqual(first.wait(), 0)
        self.assertIn(f"   HTTP on port: {self.port}\n", self.text())
        self.assertIn("tt_server_resumed_ledgers_total 1\n", self.get("/metrics", unix=False))
        self.wait_for(lambda: [p["pid"] for p in self.status()["processes"]] == [program.pid], "the client")

    def test_it_waits_for_the_port_of_the_daemon_that_it_replaces(self):
        with socket.socket(socket.AF_UNIX) as listener, socket.socket() as port:
            listener.bind(self.path)
            listener.listen()
            port.bind(("127.0.0.1", 0))
            port.listen()
            self.port = port.getsockname()[1]
            self.out = os.path.join(self.folder, "out")
            with open(self.out, "wb") as out:
                daemon = self.spawn(self.command("--http-port", str(self.port), "--replace"), stdout=out, stderr=out)
            connection, _ = listener.accept()
            with connection:
                self.assertEqual(connection.recv(100), b"TIDEMARK takeover\n")
                path = struct.pack("108s144x", self.path.encode())
                for kind, given in ((1, [listener.fileno()]), (3, [])):
                    head = struct.pack("<8s9I4x3Q", b"TDMTAKE1", 72 + len(path) + 4, kind, *[0] * 10)
                    socket.send_fds(connection, [head + path + bytes(4)], given)
                with self.assertRaises(subprocess.TimeoutExpired, msg=self.text()):
                    daemon.wait(0.3)
                port.close()
        self.wait_text("Press Ctrl+C")
        self.assertIn("tt_server_clients 0\n", self.get("/metrics", unix=False))

    def test_a_mistake_with_http_costs_no_connection_when_it_takes_over(self):
        first = self.start_http()
        client = self.client()
        client.send(ALLOC, 0, 10, DRAM, id=1)
        self.assertEqual(client.query()[0], 10)
        self.start("--http-port", str(self.port), "--replace", "--token-file", "/missing")
        self.assertEqual(first.wait(), 0)
        self.assertIn("/missing", self.text())
        self.assertEqual(client.query()[0], 10)


if __name__ == "__main__":
    unittest.main()
