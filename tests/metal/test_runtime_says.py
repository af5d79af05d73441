"""What is reported besides buffers: traces and the buffers that they may overwrite, statistics, clashes, pinned memory."""

import json
import os
import subprocess
import unittest

from standin import BIN, PRELOAD, PROGRAMS, RELEASES, Case, dump, environment


class Traces(Case):
    def findings(self, seen):
        return {f["what"]: f for f in seen["findings"]}

    def test_a_buffer_that_a_replay_may_overwrite(self):
        for release in RELEASES:
            with self.subTest(release=release):
                running, _, seen = self.look(release, PROGRAMS, "trace", "replay", TIDEMARK_STACKS="8")
                hazard = self.findings(seen)["trace_live"]["figures"]
                self.assertEqual((hazard["trace"], hazard["buffers"], hazard["devices"], hazard["first_address"]),
                                 (0, 2, 2, 1169472))
                for device in seen["devices"]:
                    trace = device["traces"][0]
                    self.assertEqual((trace["replays"], trace["allocations_meanwhile"]), (1, 1))
                    self.assertIsNotNone(trace["captured_age_ns"])
                    self.assertIsNone(trace["released_age_ns"])
                self.assertEqual(running.finish()[0], 0)

    def test_a_buffer_that_was_released_before_the_replay(self):
        for release in RELEASES:
            with self.subTest(release=release):
                running, _, seen = self.look(release, PROGRAMS, "trace", "replay", "free")
                self.assertNotIn("trace_live", self.findings(seen))
                self.assertEqual(self.findings(seen)["trace_freed"]["figures"]["first_address"], 1169472)
                self.assertEqual(running.finish()[0], 0)

    def test_a_trace_that_is_not_replayed(self):
        for release in RELEASES:
            with self.subTest(release=release):
                running, _, seen = self.look(release, PROGRAMS, "trace", TIDEMARK_KEEP="1")
                self.assertNotIn("trace_live", self.findings(seen))
                self.assertEqual(seen["devices"][0]["traces"][0]["replays"], 0)
                self.assertEqual(running.finish()[0], 0)
                for device in self.at_the_end(running)["devices"]:
                    self.assertIsNotNone(device["traces"][0]["released_age_ns"])


class Said(Case):
    def test_statistics_agree(self):
        for release in RELEASES:
            for program in (["order"], ["many", "400"], ["submesh"], ["mesh", "2", "4"]):
                with self.subTest(release=release, program=program):
                    running, _, seen = self.look(release, PROGRAMS, *program)
                    for device in seen["devices"]:
                        self.assertGreater(len(device["statistics"]), 0)
                        for said in device["statistics"]:
                            self.assertEqual(said["runtime_bytes_per_bank"], said["counted_bytes_per_bank"], said["kind"])
                    self.assertEqual(running.finish()[0], 0)

    def test_pinned_memory(self):
        running, _, seen = self.look("today", PROGRAMS, "pin", "2", TIDEMARK_KEEP="1")
        pinned = [b for b in seen["buffers"] if b["kind"] not in ("dram", "l1", "l1_small", "trace")]
        self.assertEqual([(b["device"], b["asked_bytes"]) for b in pinned], [(0, 1 << 20), (1, 1 << 20)])
        self.assertEqual(running.finish()[0], 0)
        self.assertEqual(self.at_the_end(running)["buffers"], [])

    def test_pinned_memory_that_moves(self):
        """It belongs to the object that it has moved to, and is counted once."""
        running, _, seen = self.look("today", PROGRAMS, "pins", TIDEMARK_KEEP="1")
        for device in (0, 1):
            self.assertEqual(sorted(b["asked_bytes"] for b in seen["buffers"] if b["device"] == device), [512, 4096])
        self.assertEqual(running.finish(), (0, "", ""))
        end = next(p for p in dump(self.directory) if p["pid"] == running.process.pid)
        self.assertEqual(end["buffers"], [])
        for kind in (k for d in end["devices"] for k in d["kinds"]):
            self.assertEqual((kind["buffers"], kind["double_frees"], kind["unknown_frees"], kind["rereports"]), (0, 0, 0, 0))

    def test_a_device_that_is_open_and_idle(self):
        """Before v0.61, nothing tells of it before the first buffer."""
        for release in RELEASES[1:]:
            with self.subTest(release=release):
                running, _, seen = self.look(release, PROGRAMS, "idle")
                self.assertEqual([(d["device"], d["open"]) for d in seen["devices"]], [(0, True), (1, True)])
                done = self.run_program(os.path.join(BIN, "tidemark"), "status", "--json", TIDEMARK_DIR=self.directory,
                                        TIDEMARK_SHM_DIR=self.directory)
                for device in json.loads(done.stdout)["device_info"]:
                    total = {k["kind"]: k["total"] for k in device["memory"]["kinds"]}
                    self.assertEqual((total["dram"], total["l1"]), (12 * 1072340928, 56 * 1360704))
                self.assertEqual(running.finish()[0], 0)

    def test_a_device_that_was_closed(self):
        for release in RELEASES:
            with self.subTest(release=release):
                running, _, seen = self.look(release, PROGRAMS, "idle", "close", "left")
                self.assertEqual([(d["device"], d["open"]) for d in seen["devices"]], [(0, False), (1, False)])
                left = [f for f in seen["findings"] if f["what"] == "left_at_close"]
                self.assertEqual([(f["figures"]["buffers"], f["figures"]["devices"], f["severity"]) for f in left], [(6, 2, "note")])
                self.assertEqual(running.finish(), (0, "", ""))

    def test_nothing_is_left_by_a_program_that_cleans_up(self):
        for release in RELEASES:
            with self.subTest(release=release):
                running, _, _ = self.look(release, PROGRAMS, "prog", TIDEMARK_KEEP="1")
                self.assertEqual(running.finish()[0], 0)
                end = next(p for p in dump(self.directory) if p["pid"] == running.process.pid)
                self.assertEqual([d["open"] for d in end["devices"]], [False, False])
                self.assertNotIn("left_at_close", [f["what"] for f in end["findings"]])

    def test_open_close_and_the_names_of_cards(self):
        for release in RELEASES:
            for card, shape in (("n300", ("1", "2")), ("p150", ("1", "1")), ("n150", ("1", "1"))):
                with self.subTest(release=release, card=card):
                    running, _, seen = self.look(release, PROGRAMS, "mesh", *shape, card)
                    self.assertEqual(seen["devices"][0]["card"], card if card == "n300" else None) # its grid says it
                    self.assertEqual(running.finish()[0], 0)


class Run(Case):
    def summary(self, release, program, status):
        report = os.path.join(self.directory, "report.json")
        ledgers = os.path.join(self.directory, "ledgers." + release)
        os.mkdir(ledgers)
        env = dict(environment(release), LD_PRELOAD=PRELOAD, TIDEMARK_DIR=ledgers)
        done = subprocess.run([os.path.join(BIN, "tidemark"), "run", "--json", report, "--", PROGRAMS, program], env=env,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60)
        self.assertEqual(done.returncode, status, done.stderr)
        with open(report, encoding="utf-8") as file:
            return json.load(file)["run"], done

    def test_buffers_that_were_live_at_the_close_are_not_called_freed(self):
        summary, done = self.summary("today", "late", 0)
        self.assertIn("left_at_close", [f["what"] for f in summary["processes"][0]["findings"]])
        self.assertNotIn("every buffer was freed", done.stderr)
        self.assertIn("no live buffers at the end", done.stderr)

    def test_a_program_that_fails(self):
        summary, done = self.summary("today", "exceptions", 7)
        self.assertIn("caught again", done.stdout)
        self.assertEqual(summary["exit_code"], 7)
        self.assertEqual(summary["processes"][0]["devices"][0]["kinds"][0]["out_of_memory"], 2)

    def test_clashes(self):
        """One with L1 buffers, one beyond the end of L1."""
        for release in RELEASES:
            with self.subTest(release=release):
                summary, _ = self.summary(release, "oom", 0)
                found = {f["what"]: f for f in summary["processes"][0]["findings"]}
                self.assertIn("need 2,097,152 of the 1,393,472 B that a core has for them", found["beyond_l1"]["text"])
                clash, beyond = found["clash"]["figures"], found["beyond_l1"]["figures"]
                self.assertEqual((clash["clashes"], clash["cb_end"], clash["l1_bytes"]), (1, 629952, None))
                self.assertEqual((beyond["clashes"], beyond["cb_end"], beyond["l1_bytes"], beyond["lowest_l1"]),
                                 (1, 105664 + 16 * 131072, 1499136, None))
                self.assertEqual(beyond["excess_bytes"], beyond["cb_end"] - beyond["l1_bytes"])
                for kind in (k for d in summary["processes"][0]["devices"] for k in d["kinds"]):
                    self.assertNotEqual(kind["kind"], "cb")


if __name__ == "__main__":
    unittest.main()
