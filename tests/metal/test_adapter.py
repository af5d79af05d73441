"""A program that is built with the C++ adapter, alone and together with the preload: each buffer is there once."""

import json
import os
import subprocess
import unittest

from standin import PRELOAD, STANDIN, Case, Running, as_printed, as_seen, dump, environment, facts_of, tidemark

BUILDS = [("v0.57", "metal_adapter_57"), ("today", "metal_adapter_100")]


class Adapter(Case):
    def with_each(self, check):
        """Both builds, without the preload and with it."""
        for release, program in BUILDS:
            for preload in ("", PRELOAD):
                with self.subTest(release=release, preload=bool(preload)):
                    check(release, os.path.join(STANDIN, program), preload)

    def kinds(self, pid):
        """The kinds of all devices, of a program that has ended or not."""
        process = next(p for p in dump(self.directory) if p["pid"] == pid)
        return [kind for device in process["devices"] for kind in device["kinds"]]

    def assert_once(self, release, preload, *command):
        """Everything is seen as printed; nothing was reported again, and nothing remains at the end."""
        running, text, seen = self.look(release, *command, preload=preload, TIDEMARK_KEEP="1")
        self.assertEqual(as_seen(seen["buffers"]), as_printed(facts_of(text)))
        self.assertEqual([k["rereports"] for k in self.kinds(running.process.pid) if k["rereports"]], [])
        self.assertEqual(running.finish()[::2], (0, ""))
        for kind in self.kinds(running.process.pid):
            self.assertEqual((kind["buffers"], kind["unknown_frees"], kind["double_frees"]), (0, 0, 0), kind)
        return text, seen

    def test_registered_once_or_several_times(self):
        def check(release, program, preload):
            for how in ("once", "twice"):
                text, seen = self.assert_once(release, preload, program, how)
                self.assertEqual(len(facts_of(text)), 2 * 6 + 1)
                cbs = [b for b in seen["buffers"] if b["kind"] == "cb"]
                self.assertEqual([(b["device"], b["asked_bytes"]) for b in cbs], [(0, 4 * 4096), (1, 4 * 4096)])
        self.with_each(check)

    def test_a_runtime_that_cannot_be_hooked(self):
        """It is a part of the program: the preload is there and sees nothing, so the adapter reports."""
        text, _ = self.assert_once("today", PRELOAD, os.path.join(STANDIN, "metal_adapter_whole"), "once")
        self.assertEqual(len(facts_of(text)), 2 * 6 + 1)

    def test_under_run(self):
        """The preload that `tidemark run` finds by itself."""
        report = os.path.join(self.directory, "report.json")
        for release, program in BUILDS:
            with self.subTest(release=release):
                tidemark("run", "--json", report, "--dir", self.directory, "--", os.path.join(STANDIN, program), "once",
                         env=environment(release), stdin=subprocess.DEVNULL)
                with open(report, encoding="utf-8") as file:
                    process = json.load(file)["run"]["processes"][0]
                for device in process["devices"]:
                    peaks = {kind["kind"]: kind["peak_buffers"] for kind in device["kinds"] if kind["peak_buffers"]}
                    self.assertEqual(peaks, {"dram": 3, "l1": 2, "l1_small": 1, "trace": 1, "cb": 1})

    def test_each_thread_registers(self):
        def check(release, program, preload):
            text, _ = self.assert_once(release, preload, program, "threads", "all")
            self.assertEqual(len(facts_of(text)), 2 * 100)
        self.with_each(check)

    def test_only_the_first_thread_registers(self):
        def check(release, program, preload):
            if release == "today" and not preload: # its list of processors is of one thread
                running = Running([program, "threads"], environment(release, self.directory, preload=""))
                self.addCleanup(running.__exit__)
                mine = [p for p in dump(self.directory) if p["pid"] == running.process.pid]
                self.assertEqual([b for p in mine for b in p["buffers"]], [])
            else:
                self.assert_once(release, preload, program, "threads")
        self.with_each(check)

    def test_the_name_of_the_user_comes_back(self):
        def check(release, program, preload):
            _, _, seen = self.look(release, program, "names", preload=preload)
            by_pages = {b["asked_bytes"] // 2048: b["program"] for b in seen["buffers"]}
            names = ["alone", None, "inner", "outer", "mine"] if not preload else [None, None, "mine", "mine", "mine"]
            self.assertEqual(by_pages, dict(enumerate(names, 1)))
        self.with_each(check)


if __name__ == "__main__":
    unittest.main()
