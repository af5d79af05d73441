"""Programs that do what few programs do: nothing changes for them, and what can be seen is seen."""

import unittest

from standin import PROGRAMS, RELEASES, SANITIZE, Case, as_printed, as_seen, facts_of


class Strange(Case):
    def test_the_error_of_the_loader_is_the_programs_own(self):
        for release in RELEASES:
            with self.subTest(release=release):
                _, out, _ = self.assert_same_behaviour(PROGRAMS, "loader_error", release=release)
                self.assertEqual(out, "after a buffer: none\nafter the close: none\n")

    @unittest.skipIf(SANITIZE, "sanitizers need larger stacks")
    def test_threads_with_the_smallest_stacks(self):
        for release in RELEASES:
            with self.subTest(release=release):
                _, out, _ = self.assert_same_behaviour(PROGRAMS, "small_stack", "16384", release=release)
                self.assertEqual(out, "enough\n")

    def test_where_a_process_may_not_read_itself(self):
        running, text, seen = self.look("today", PROGRAMS, "forbidden")
        if "not possible" in text:
            self.skipTest("no filters of system calls here")
        self.assertEqual(as_seen(seen["buffers"]), as_printed(facts_of(text)))
        self.assertEqual(seen["buffers"][0]["cores"], 4)
        self.assertEqual(running.finish()[0], 0)

    def test_nor_open_files(self):
        """Then nothing can be seen, and that is said."""
        done, summary = self.run_and_summarise(PROGRAMS, "forbidden", "nofile")
        if "not possible" in done.stdout:
            self.skipTest("no filters of system calls here")
        remarks = [remark for process in summary["processes"] for remark in process["remarks"]]
        self.assertTrue(any("may not read" in remark for remark in remarks), remarks)

    def test_a_thread_is_not_cancelled_in_a_hook(self):
        code, out, _ = self.assert_same_behaviour(PROGRAMS, "cancelled")
        self.assertEqual(code, 0)
        self.assertIn(": allocated, cancelled\n", out)

    def test_threads_open_and_close_the_same_chips(self):
        for release in RELEASES:
            with self.subTest(release=release):
                code, out, _ = self.assert_same_behaviour(PROGRAMS, "open_and_close", release=release)
                self.assertEqual((code, out), (0, "done\n"))

    def test_threads_learn_together_what_an_allocator_takes(self):
        """Of pages that are no whole step of it. A sanitizer of threads sees whoever reads what another one writes."""
        for page in ("48", "100", "33") * 3:
            done = self.run_program(PROGRAMS, "threads", "8", "60", page, directory=self.directory)
            self.assertEqual(done.stderr, "")

    def test_the_environment_is_cleared(self):
        """The ledger is where the program was told when it began, and goes with it."""
        running, text, seen = self.look("today", PROGRAMS, "no_environment")
        self.assertEqual(as_seen(seen["buffers"]), as_printed(facts_of(text)))
        self.assertEqual(running.finish()[0], 0)
        self.assertEqual(self.pids(), [])

    def test_traces_go_with_their_device(self):
        """However many were never released, the release of a later one is seen."""
        for release in ("v0.57", "today"):
            with self.subTest(release=release):
                running, text, seen = self.look(release, PROGRAMS, "many_traces", "5000")
                number = int(text.split("trace ")[1])
                trace = next(t for d in seen["devices"] for t in d["traces"] if t["trace"] == number)
                self.assertIsNotNone(trace["released_age_ns"])
                self.assertEqual(running.finish()[0], 0)


if __name__ == "__main__":
    unittest.main()
