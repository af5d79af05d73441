"""What is reported besides buffers: traces and the buffers that they may overwrite, statistics, clashes, pinned memory."""

import json
import os
import subprocess
import unittest

from standin import BIN, PRELOAD, PROGRAMS, RELEASES, Case, environment


class Traces(Case):
    def findings(self, seen):
        return {f["finding"]: f for f in seen["findings"]}

    def test_a_buffer_that_a_replay_may_overwrite(self):
        for release in RELEASES:
            with self.subTest(release=release):
                running, _, seen = self.look(release, PROGRAMS, "trace", "replay", TIDEMARK_STACKS="8")
                hazard = self.findings(seen)["trace_live"]
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
                self.assertEqual(self.findings(seen)["trace_freed"]["first_address"], 1169472)
                self.assertEqual(running.finish()[0], 0)

    def test_a_trace_that_is_not_replayed(self):
        for release in RELEASES:
            with self.subTest(release=release):
                running, _, seen = self.look(release, PROGRAMS, "trace", TIDEMARK_KEEP="1")
                self.assertNotIn("trace_live", self.findings(seen))
                self.assertEqual(seen["devices"][0]["traces"][0]["replays"], 0)
                self.assertEqual(running.finish()[0], 0)


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
        running, _, seen = self.look("today", PROGRAMS, "pin", TIDEMARK_KEEP="1")
        pinned = [b for b in seen["buffers"] if b["kind"] not in ("dram", "l1", "l1_small", "trace")]
        self.assertEqual([b["asked_bytes"] for b in pinned], [1 << 20])
        self.assertEqual(running.finish()[0], 0)

    def test_open_close_and_the_names_of_cards(self):
        for release in RELEASES:
            for card, shape in (("n300", ("1", "2")), ("p150", ("1", "1")), ("n150", ("1", "1"))):
                with self.subTest(release=release, card=card):
                    running, _, seen = self.look(release, PROGRAMS, "mesh", *shape, card)
                    self.assertIn(seen["devices"][0]["card"], (card, card + "a", card + "b", None))
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
                clash = next(f for f in summary["processes"][0]["findings"] if f["finding"] == "clash")
                self.assertEqual((clash["clashes"], clash["cb_end"]), (2, 105664 + 16 * 131072))


if __name__ == "__main__":
    unittest.main()
