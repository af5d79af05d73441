"""Buffers that the preload cannot see: every view says so, with the reason, and none says that nothing is there."""

import json
import os
import subprocess
import unittest

from standin import BIN, PRELOAD, PROGRAMS, STANDIN, Case, as_printed, as_seen, environment, facts_of

REASSURING = ("every buffer was freed", "no live buffers", "no leak found", "everything was freed", "all figures are 0",
              "agree with the runtime", "ok       seen: buffers")
HIDDEN = {
    "AllocatorImpl::allocate_buffer": ["15allocate_buffer", "17deallocate_buffer", "12GraphTracker14track_allocateE",
                                       "12GraphTracker16track_deallocateE"],
    "Buffer::is_l1": ["6Buffer5is_l1Ev", "6Buffer7is_dramEv"],
    "Buffer::address": ["6Buffer7addressEv"],
}


class Views(Case):
    def command(self, *words, runtime=None):
        env = dict(environment(TIDEMARK_DIR=self.directory, TIDEMARK_SHM_DIR=self.directory, COLUMNS="1000"))
        env["TIDEMARK_PRELOAD"] = PRELOAD
        if runtime:
            env["LD_LIBRARY_PATH"] = runtime
        return subprocess.run([os.path.join(BIN, "tidemark"), *words], env=env, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120)

    def assert_unseen(self, text, sentence):
        for word in REASSURING:
            self.assertNotIn(word, text)
        self.assertIn(sentence, " ".join(text.split()))


class Unseen(Views):
    def test_every_view_says_what_is_not_seen_and_why(self):
        for name, words in HIDDEN.items():
            with self.subTest(name=name):
                sentence = "buffers are not seen: this runtime has no " + name
                runtime = self.hide("today", self.symbols("today", words))
                running, _, seen = self.look("today", PROGRAMS, "mesh", "1", "2", LD_LIBRARY_PATH=runtime)
                pid = str(running.process.pid)
                for command in (["dump"], ["leaks"], ["status"], ["status", "--long"], ["doctor"], ["doctor", "--metal", pid]):
                    self.assert_unseen(self.command(*command).stdout, sentence)
                self.assertEqual(self.command("leaks", "--fail").returncode, 2)
                self.assertEqual(seen["not_seen"], sentence)
                self.assertEqual([f["severity"] for f in seen["findings"] if f["what"] == "not_seen"], ["warning"])
                for info in json.loads(self.command("status", "--json").stdout)["device_info"]:
                    used = {k["kind"]: k["used"] for k in info["memory"]["kinds"]}
                    self.assertEqual([used[k] for k in ("dram", "l1", "l1_small", "trace")], [None] * 4)
                self.assertEqual(running.finish()[0], 0)
                done = self.command("run", "--", PROGRAMS, "mesh", "1", "2", runtime=runtime)
                self.assert_unseen(done.stderr, sentence)

    def test_a_program_that_calls_nothing_that_can_be_hooked(self):
        """`run` says so, as `doctor` does, though no hook was ever called."""
        done = self.command("run", "--", PROGRAMS, "mesh", "1", "2", runtime=os.path.join(STANDIN, "bound"))
        sentence = "calls none of the hooked functions by name: its own calls never leave it, so the hooks see few or none"
        self.assert_unseen(done.stderr, sentence)
        self.assertIn(sentence, self.command("doctor", "--metal", PROGRAMS, runtime=os.path.join(STANDIN, "bound")).stdout)

    def test_a_runtime_that_calls_its_own_buffers_directly(self):
        """Some of its functions are hooked, and those of its buffers are bound."""
        running, _, seen = self.look("mixed", PROGRAMS, "mesh", "1", "2")
        self.assertEqual(seen["not_seen"], "buffers are not seen: this runtime calls its own AllocatorImpl::allocate_buffer "
                         "directly (-Bsymbolic-functions or link-time optimisation)")
        self.assert_unseen(self.command("dump").stdout, seen["not_seen"])
        self.assert_unseen(self.command("doctor").stdout, seen["not_seen"])
        self.assertEqual(running.finish()[0], 0)

    def test_what_is_seen_is_not_called_unseen(self):
        for words in (["15allocate_buffer"], ["21aligned_size_per_bank"], ["6Buffer5is_l1Ev"], []):
            with self.subTest(words=words):
                runtime = self.hide("today", self.symbols("today", words) if words else [])
                running, _, seen = self.look("today", PROGRAMS, "order", LD_LIBRARY_PATH=runtime)
                self.assertIsNone(seen["not_seen"])
                self.assertNotIn("not_seen", [f["what"] for f in seen["findings"]])
                self.assertEqual(running.finish()[0], 0)


class UnknownChips(Views):
    """A device whose chips nobody can tell is shown as a device of its own, with all it has."""

    ID = 1 << 30

    def setUp(self):
        super().setUp()
        self.runtime = self.hide("today", self.symbols("today", ["get_device_ids"]))

    def test_loaded_late(self):
        library = os.path.join(self.runtime, "libtt_metal.so")
        running, text, seen = self.look("today", os.path.join(STANDIN, "metal_by_dlopen"), library, TIDEMARK_KEEP="1")
        printed = [(self.ID, *b[1:]) for b in as_printed(facts_of(text))]
        self.assertEqual(as_seen(seen["buffers"]), printed)
        self.assertEqual([(d["device"], d["chips_unknown"], d["open"]) for d in seen["devices"]], [(self.ID, True, True)])
        self.assertIsNone(seen["not_seen"])
        self.assertRegex(self.command("dump").stdout, r"\n +\? chips unknown +dram ")
        self.assertRegex(self.command("dump").stdout, r"\n +\? +dram +0x")
        for command in (["status", "--long"], ["top", "--once"]):
            text = self.command(*command).stdout
            self.assertIn("chips unknown", text)
            self.assertNotIn(str(self.ID), text)
        self.assertIn("chips unknown", self.command("status", "-d", "?", "--long").stdout)
        device = json.loads(self.command("status", "--json").stdout)["device_info"][0]["memory"]
        self.assertEqual((device["number"], device["chips_unknown"]), (None, True))
        self.assertEqual(running.finish()[0], 0)
        end = self.at_the_end(running)
        self.assertEqual((end["buffers"], [d["open"] for d in end["devices"]]), ([], [False]))

    def test_circular_buffers(self):
        """The runtime announces them chip by chip; the first runtime says which chips these are, the second does not."""
        for words, chips in ((["get_device_ids"], {0, 1}), (["get_device_ids", "StatsProviderC1", "6Device2idEv"], {self.ID + 1, self.ID + 2})):
            with self.subTest(words=words):
                runtime = self.hide("today", self.symbols("today", words))
                running, _, seen = self.look("today", PROGRAMS, "parts", LD_LIBRARY_PATH=runtime, TIDEMARK_KEEP="1")
                self.assertEqual({b["device"] for b in seen["buffers"] if b["kind"] == "cb"}, chips)
                self.assertEqual({b["device"] for b in seen["buffers"] if b["kind"] != "cb"}, {self.ID})
                self.assertEqual(running.finish()[0], 0)
                self.assertEqual(self.at_the_end(running)["buffers"], [])

    def test_two_of_them_are_two(self):
        """In two processes, and opened one after the other."""
        library = os.path.join(self.runtime, "libtt_metal.so")
        for _ in range(2):
            running, _, _ = self.look("today", os.path.join(STANDIN, "metal_by_dlopen"), library)
        devices = json.loads(self.command("status", "--json").stdout)["device_info"]
        self.assertEqual([d["memory"]["chips_unknown"] for d in devices], [True, True])
        self.assertEqual(running.finish()[0], 0)

    def test_without_virtual_tables(self):
        runtime = self.hide("today", self.symbols("today", ["_ZTV"]))
        running, text, seen = self.look("today", PROGRAMS, "order", LD_LIBRARY_PATH=runtime, TIDEMARK_KEEP="1")
        buffers = [b for b in seen["buffers"] if b["kind"] == "dram"]
        self.assertEqual({b["device"] for b in buffers}, {self.ID})
        self.assertEqual(len(buffers), len({b[2] for b in as_printed(facts_of(text)) if b[1] == "dram"}))
        self.assertEqual(running.finish()[0], 0)
        self.assertEqual(self.at_the_end(running)["buffers"], [])


if __name__ == "__main__":
    unittest.main()
