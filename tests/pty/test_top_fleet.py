"""`tidemark top --connect` on a terminal: other machines, whose daemons are tests/cli/fleet_server."""

import os
import shutil
import subprocess
import tempfile
import time
import unittest

from screen import Screen

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
COMMAND = os.environ["TIDEMARK_COMMAND"]


class Fleet(unittest.TestCase):
    def machine(self, name):
        """A machine that answers with the picture of this name; its folder, and its host and port."""
        folder = tempfile.mkdtemp(prefix="tidemark-fleet-")
        self.addCleanup(shutil.rmtree, folder)
        shutil.copy(f"{TESTS}/data/fleet/{name}.json", f"{folder}/picture.json")
        server = subprocess.Popen([f"{TESTS}/cli/fleet_server", folder], stdin=subprocess.PIPE)
        self.addCleanup(server.wait)
        self.addCleanup(server.stdin.close)
        while not os.path.exists(f"{folder}/port"):
            self.assertIsNone(server.poll())
            time.sleep(0.02)
        with open(f"{folder}/port") as port:
            return folder, "127.0.0.1:" + port.read().strip()

    def top(self, *hosts, **how):
        return Screen([COMMAND, "top", "--no-config", "-r", "200", "--connect", ",".join(hosts)], **how)

    def test_machines_in_one_picture(self):
        (_, one), (_, two) = self.machine("lab-1"), self.machine("lab-2")
        with self.top(one, two, cols=140) as s:
            s.wait_all(f"{one}:0", f"{two}:0", f"{two}:1", "n150", "p150a", "python3 serve.py", "./train --steps 100")
            s.send("enter")
            s.wait_all("weights", two)
            s.send("2")
            s.wait_for("DRAM: ")
            s.send("4")
            s.wait_for("Events are not fetched from other machines")
            s.send("q")
            self.assertEqual(s.wait_end(), 0)

    def test_a_machine_that_does_not_answer_is_named(self):
        _, one = self.machine("lab-1")
        with self.top(one, "127.0.0.1:1", cols=140) as s:
            s.wait_all(f"{one}:0", "127.0.0.1:1", "none of its figures are known")
            s.send("!")
            s.wait_for("Failed to connect")

    def test_no_machine_answers(self):
        with self.top("127.0.0.1:1", cols=140) as s:
            s.wait_all("No device: none of the machines has answered", "Failed to connect")
            self.assertNotIn("doctor", s.text())

    def test_the_last_figures_stay_with_their_age(self):
        (_, one), (folder, two) = self.machine("lab-1"), self.machine("lab-2")
        with self.top(one, two, cols=140) as s:
            s.wait_all(f"{one}:0", f"{two}:1", "./train --steps 100")
            with open(f"{folder}/status", "w") as status:
                status.write("500")
            s.wait_all("HTTP status 500", " old", f"{two}:1", "./train --steps 100")
            os.remove(f"{folder}/status")
            s.wait_without("HTTP status 500")

    def test_no_signal_goes_to_a_pid_of_another_machine(self):
        _, one = self.machine("lab-1")
        with self.top(one) as s:
            s.wait_for("python3 serve.py")
            s.send("k")
            s.wait_for("the processes are on other machines")


if __name__ == "__main__":
    unittest.main()
