"""The unit of deploy/systemd leaves the daemon the rights that it needs."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import unittest

from server import ALLOC, BIN, DRAM, Client, DaemonTest

HERE = os.path.dirname(os.path.abspath(__file__))
UNIT = os.path.join(HERE, "..", "..", "deploy", "systemd", "tidemarkd.service")
DAEMON, ALICE = 61001, 61002  # users


@unittest.skipUnless(os.getuid() == 0, "only root can take rights away")
@unittest.skipUnless(all(map(shutil.which, ("systemd-analyze", "ip", "gcc", "nsenter", "setpriv"))),
                     "systemd-analyze, ip, gcc, nsenter or setpriv is not installed")
@unittest.skipUnless(subprocess.run(["unshare", "--mount", "--net", "true"], stderr=subprocess.DEVNULL, check=False)
                     .returncode == 0, "namespaces are not permitted")
class Unit(DaemonTest):
    def start_unit(self):
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(self.path)
            listener.listen()
            self.out = os.path.join(self.folder, "out")
            # The leak check of a sanitizer needs rights that the unit does not leave it.
            environment = dict(os.environ, ASAN_OPTIONS=os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0")
            with open(self.out, "wb") as out:
                daemon = self.spawn([sys.executable, os.path.join(HERE, "sandbox"), UNIT, os.path.join(BIN, "tidemarkd"),
                                     str(DAEMON), str(listener.fileno())], env=environment, stdout=out, stderr=out,
                                    pass_fds=[listener.fileno()])
        self.wait_for(lambda: "Press Ctrl+C" in self.text() or daemon.poll() is not None, "the start of the daemon")
        self.assertIsNone(daemon.poll(), self.text())
        self.http = f"/proc/{daemon.pid}/root/run/tidemark/http.sock"
        return daemon

    def status(self):
        done = self.tidemark("status", "--json", "--connect", "unix:" + self.http)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def test_the_daemon_works_with_the_rights_of_its_unit(self):
        daemon = self.start_unit()
        with open(f"/proc/{daemon.pid}/status", encoding="utf-8") as file:
            rights = dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)
        self.assertEqual((rights["Uid"].split()[0], int(rights["CapBnd"], 16), int(rights["CapEff"], 16),
                          rights["NoNewPrivs"], rights["Seccomp"]), (str(DAEMON), 4, 4, "1", "2"))
        client = Client(self.path)
        self.addCleanup(client.close)
        client.send(ALLOC, 0, 1000, DRAM, id=1)
        self.assertEqual(client.query()[0], 1000)
        if not os.path.exists(f"/proc/{daemon.pid}/root{BIN}/tidemark"):
            self.skipTest("this tree is in a folder that the unit hides, such as /tmp")
        # A program of another user, whose ledger only its owner may read.
        demo = self.spawn(["nsenter", "--target", str(daemon.pid), "--mount", "--wd=/", "setpriv", f"--reuid={ALICE}",
                           f"--regid={ALICE}", "--clear-groups", os.path.join(BIN, "tidemark"), "demo", "--workload",
                           "leak", "--view", "none"], stdout=subprocess.DEVNULL, env=dict(os.environ))
        self.wait_for(lambda: {p["pid"] for p in self.status()["processes"]} == {os.getpid(), demo.pid}, "both programs")
        leaks = self.tidemark("leaks", "--all", "--json", "--connect", "unix:" + self.http)
        self.assertIn("classifier.weight", leaks.stdout)  # a process of its own reads the buffers
        folder = f"/proc/{daemon.pid}/root/dev/shm/tidemark-"
        self.assertEqual([len(os.listdir(folder + str(uid))) for uid in (DAEMON, ALICE)], [1, 1])
        # That a process has ended is noticed at once, and what it held is known.
        demo.kill()
        demo.wait()
        self.wait_for(lambda: [p["pid"] for p in self.status()["processes"]] == [os.getpid()], "its end")
        self.assertEqual(self.status()["status"]["hosts"][0]["reason"], None)
        daemon.send_signal(signal.SIGTERM)
        self.assertEqual(daemon.wait(), 0, self.text())


if __name__ == "__main__":
    unittest.main()
