"""The hybrid allocator mode: what pages take in L1, and per-core buffers."""

import os
import unittest
from unittest import mock

from standin import PROGRAMS, Case, as_printed, as_seen, facts_of


class Hybrid(Case):
    def look_at(self, *program, mode="1"):
        running, text, seen = self.look("today", PROGRAMS, *program, TIDEMARK_KEEP="1", TT_METAL_ALLOCATOR_MODE_HYBRID=mode)
        self.assertEqual(seen["lost_events"], 0)
        lockstep = [b for b in seen["buffers"] if not b["per_core"]]
        self.assertEqual(as_seen(lockstep), as_printed(facts_of(text)))
        return running, text, seen

    def check_per_core(self, text, seen):
        """Every per-core buffer is on its own cores only, at the address that each of them has."""
        printed = {}
        for core in facts_of(text, "core"):
            of = printed.setdefault(core["buffer"], (core["device"], core["taken"], core["cores"], {}))
            of[3][core["x"], core["y"]] = core["address"]
        found = []
        for buffer in (b for b in seen["buffers"] if b["per_core"]):
            cores = [(x, y) for x0, y0, x1, y1 in buffer["core_ranges"] for y in range(y0, y1 + 1) for x in range(x0, x1 + 1)]
            self.assertEqual(buffer["address"], buffer["core_addresses"][0])
            self.assertEqual(buffer["reserved_bytes"], buffer["bytes_per_bank"] * len(cores))
            found.append((buffer["device"], buffer["bytes_per_bank"], buffer["banks"],
                          sorted(zip(cores, buffer["core_addresses"]))))
        self.assertEqual(sorted(found), sorted((*of[:3], sorted(of[3].items())) for of in printed.values()))

    def check_end(self, running):
        code, _, err = running.finish()
        self.assertEqual((code, err), (0, ""))
        end = self.at_the_end(running)
        self.assertEqual(end["buffers"], [])
        for device in end["devices"]:
            for said in device["statistics"]:
                self.assertEqual(said["differing"], 0, (device["device"], said))
            for kind in device["kinds"]:
                for fault in ("double_frees", "unknown_frees", "rereports"):
                    self.assertEqual(kind[fault], 0, (device["device"], kind["kind"], fault))
        return end

    def test_buffers(self):
        running, text, seen = self.look_at("hybrid")
        self.assertEqual(len([b for b in seen["buffers"] if b["per_core"]]), 3)
        self.check_per_core(text, seen)
        self.check_end(running)

    def test_the_mode_alone(self):
        """Lockstep buffers take more; the allocator itself says so."""
        running, text, seen = self.look_at("small", "p150")
        for said in facts_of(text, "statistics"):
            kind = ["dram", "l1", None, "l1_small", "trace"][said["kind"]]
            self.assertEqual(sum(b["bytes_per_bank"] for b in seen["buffers"] if b["kind"] == kind), said["allocated"])
        self.check_end(running)

    def remarks_of(self, word):
        with mock.patch.dict(os.environ, TT_METAL_ALLOCATOR_MODE_HYBRID="1"):
            done, run = self.run_and_summarise(PROGRAMS, "hybrid", word)
        return done.stdout, run["processes"][0]["remarks"]

    def test_a_failure_half_way(self):
        text, remarks = self.remarks_of("fail")
        self.assertIn("refused", text)
        self.assertTrue(any("what it had taken on other cores" in remark for remark in remarks), remarks)

    def test_an_address_outside_l1(self):
        """The buffer counts, without an address, and everything else goes on."""
        running, _, seen = self.look_at("hybrid", "wrap")
        buffers = [b for b in seen["buffers"] if b["per_core"]]
        self.assertEqual(len(buffers), 4)
        self.assertEqual([(b["reserved_bytes"], b["core_addresses"]) for b in buffers if b["address"] is None], [(4096, None)])
        self.check_end(running)
        _, remarks = self.remarks_of("wrap")
        self.assertEqual([remark for remark in remarks if "fault of the runtime" not in remark], [])
        self.assertEqual(len(remarks), 1)


if __name__ == "__main__":
    unittest.main()
