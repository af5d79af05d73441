"""Every buffer of a program that knows nothing of us: kind, place, size, banks and pages, in every release."""

import json
import os
import unittest

from standin import BIN, KINDS, PROGRAMS, RELEASES, STANDIN, Case, as_printed, as_seen, dump, facts_of, tidemark


class Buffers(Case):
    def check(self, release, *program, **env):
        """While it runs, its buffers are those that it prints; at its end there are none, and nothing was odd."""
        with self.subTest(release=release, program=program):
            command = program if os.path.isabs(program[0]) else (PROGRAMS, *program)
            running, text, seen = self.look(release, *command, TIDEMARK_KEEP="1", **env)
            printed = facts_of(text)
            self.assertGreater(len(printed), 0)
            self.assertEqual(as_seen(seen["buffers"]), as_printed(printed))
            self.assertEqual(seen["lost_events"], 0)
            code, _, err = running.finish()
            self.assertEqual((code, err), (0, ""))
            end = self.at_the_end(running)
            self.assertEqual(end["buffers"], [])
            self.assertTrue(end["closed"])
            for device in end["devices"]:
                for said in device["statistics"]: # what the allocator itself says
                    self.assertEqual(said["differing"], 0, (device["device"], said))
                for kind in device["kinds"]:
                    for fault in ("double_frees", "unknown_frees", "rereports"):
                        self.assertEqual(kind[fault], 0, (device["device"], kind["kind"], fault))
            return text, seen

    def test_a_mix_in_no_order(self):
        for release in RELEASES:
            text, seen = self.check(release, "many", "600")
            # what the allocator itself says was allocated is what the buffers add up to
            for said in facts_of(text, "statistics"):
                self.assertEqual(sum_of(seen, KINDS[said["kind"]]), said["allocated"])

    def test_the_allocator_rounds_up(self):
        """It gives each kind in steps of the alignment of DRAM, which a buffer's own figure knows nothing of."""
        for release in RELEASES:
            for card, step in (("p150", 64), ("n150", 32)):
                text, seen = self.check(release, "small", card)
                self.assertEqual({b["bytes_per_bank"] for b in seen["buffers"]}, {step})
                for said in facts_of(text, "statistics"):
                    self.assertEqual(sum_of(seen, KINDS[said["kind"]]), said["allocated"])

    def test_the_allocator_rounds_up_on_all_threads(self):
        """Where others allocate meanwhile, it cannot be seen what one buffer takes."""
        text, seen = self.check("today", "threads", "4", "100", "16")
        for said in facts_of(text, "statistics"):
            self.assertEqual(sum_of(seen, KINDS[said["kind"]]), said["allocated"])

    def test_the_size_of_l1_small_that_a_run_needed(self):
        report = os.path.join(self.directory, "report.json")
        self.run_program(os.path.join(BIN, "tidemark"), "run", "--dir", self.directory, "--json", report, "--", PROGRAMS,
                         "small", "p150", directory=self.directory)
        with open(report, encoding="utf-8") as file:
            sizes = json.load(file)["run"]["processes"][0]["open_sizes"]
        self.assertEqual([s["needed_bytes"] for s in sizes if s["option"] == "l1_small_size"], [20 * 64])

    def test_a_mesh_and_a_bare_device_are_compared_together(self):
        for release in RELEASES:
            _, seen = self.check(release, "small", "p150", "bare")
            for said in seen["devices"][0]["statistics"]:
                self.assertGreater(said["reports"], 1, said)
                self.assertEqual(said["runtime_bytes_per_bank"], said["counted_bytes_per_bank"], said)

    def test_threads(self):
        for release in RELEASES:
            self.check(release, "threads", "4", "200")
        for _ in range(8): # the allocator is asked for its figures while other threads change them
            self.check("today", "threads", "8", "150")

    def test_threads_that_get_addresses_of_each_other(self):
        """The release of a buffer is reported before the next one at its address can be."""
        for release in RELEASES:
            self.check(release, "churn", "4", "2000")

    def test_release_order(self):
        for release in RELEASES:
            self.check(release, "order")

    def test_meshes(self):
        for release in RELEASES:
            self.check(release, "mesh", "1", "2")
        for release in ("v0.57", "today"):
            self.check(release, "mesh", "2", "4")
            self.check(release, "mesh", "1", "1", "p150")

    def test_a_mesh_buffer_is_on_each_chip_and_not_multiplied(self):
        _, seen = self.check("today", "mesh", "2", "4")
        self.assertEqual([d["device"] for d in seen["devices"]], list(range(8)))
        for device in seen["devices"]:
            dram = next(k for k in device["kinds"] if k["kind"] == "dram")
            bare = device["device"] == 7
            self.assertEqual(dram["asked_bytes"], 1048576 + 131072 + (10240 if bare else 0))
            self.assertEqual(dram["reserved_bytes"], 12 * (88064 + 32768 + (2048 if bare else 0)))

    def test_submesh_has_its_own_addresses(self):
        for release in RELEASES:
            text, seen = self.check(release, "submesh")
            self.assertEqual(len([b for b in seen["buffers"] if b["device"] == 0 and b["address"] == 1048640]), 2)

    def test_shards_say_their_cores(self):
        for release in RELEASES:
            _, seen = self.check(release, "prog")
            ranges = {(b["kind"], b["address"]): b["core_ranges"] for b in seen["buffers"] if b["cores"]}
            self.assertEqual(ranges[("l1", 1429504)], [[0, 0, 1, 1]])

    def test_static_constructors(self):
        for release in RELEASES:
            self.check(release, os.path.join(STANDIN, "metal_before_main"))

    def test_loaded_late(self):
        for release in RELEASES:
            self.check(release, os.path.join(STANDIN, "metal_by_dlopen"),
                       os.path.join(STANDIN, release, "libtt_metal.so"))

    def test_under_another_name(self):
        folder = os.path.join(self.directory, "pjrt_plugin_tt", "lib64")
        os.makedirs(folder)
        other = os.path.join(folder, "libother.so")
        with open(os.path.join(STANDIN, "today", "libtt_metal.so"), "rb") as source, open(other, "wb") as copy:
            copy.write(source.read())
        self.check("today", os.path.join(STANDIN, "metal_by_dlopen"), other)

    def test_two_runtimes_in_one_process(self):
        paths = [os.path.join(STANDIN, release, "libtt_metal.so") for release in ("today", "v0.64", "v0.57")]
        self.check("today", os.path.join(STANDIN, "metal_by_dlopen"), *paths)

    def test_open_and_close_again_and_again(self):
        for release in RELEASES:
            running, _, seen = self.look(release, PROGRAMS, "reopen", "20")
            self.assertEqual(seen["buffers"], [])
            self.assertEqual(running.finish()[0], 0)

    def test_a_device_describes_itself(self):
        for release in RELEASES:
            with self.subTest(release=release):
                running, _, seen = self.look(release, PROGRAMS, "mesh", "1", "2")
                regions = {r["kind"]: r for r in dump_map(self.directory)[0]["regions"]}
                for kind, base, size, banks in (("dram", 1048640, 1072340928, 12), ("l1", 105664, 1360704, 56),
                                                ("l1_small", 1466368, 32768, 56), ("trace", 1073389568, 352256, 12)):
                    got = regions[kind]
                    self.assertEqual((got["source"], got["base"], got["bank_bytes"], got["banks"]),
                                     ("ledger", base, size, banks), kind)
                running.finish()


def sum_of(process, kind):
    return sum(b["bytes_per_bank"] for b in process["buffers"] if b["device"] == 0 and b["kind"] == kind)


def dump_map(directory):
    return json.loads(tidemark("dump", "--map", "--json", "--dir", directory))["dump"]["map"]


if __name__ == "__main__":
    unittest.main()
