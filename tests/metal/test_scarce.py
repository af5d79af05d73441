"""`tidemark run` where something is lacking: files, room, stack, a folder. The program runs as without it."""

import os
import resource
import subprocess
import unittest

from standin import BIN, PRELOAD, PROGRAMS, SANITIZE, Case, environment


class Scarce(Case):
    def run_it(self, *command, limit=None, **more):
        """What the program prints, and the summary, if both are started with a limit."""
        env = dict(environment(TIDEMARK_PRELOAD=PRELOAD, TIDEMARK_DIR=self.directory), **more)
        done = subprocess.run(command, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True, timeout=120, preexec_fn=limit and (lambda: resource.setrlimit(limit[0], (limit[1],) * 2)))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(os.listdir(self.directory), [])
        return done.stdout, done.stderr

    def assert_runs(self, *command, limit=None, **more):
        plain, _ = self.run_it(*command, limit=limit)
        text, summary = self.run_it(os.path.join(BIN, "tidemark"), "run", "--", *command, limit=limit, **more)
        self.assertEqual(text, plain)
        return summary

    @unittest.skipIf(SANITIZE, "they need files of their own")
    def test_without_files(self):
        self.assertIn("nothing was seen: a process could not make its ledger in " + self.directory,
                      self.assert_runs(PROGRAMS, "oom", limit=(resource.RLIMIT_NOFILE, 4)))

    @unittest.skipIf(SANITIZE, "frames are larger")
    def test_with_a_small_stack(self):
        for kibibytes in (96, 64):
            self.assertIn("out-of-memory note",
                          self.assert_runs(PROGRAMS, "oom", limit=(resource.RLIMIT_STACK, kibibytes * 1024)))

    def test_without_room(self):
        summary = self.assert_runs(PROGRAMS, "oom", limit=(resource.RLIMIT_FSIZE, 0))
        self.assertIn("nothing was seen: a process could not make its ledger in " + self.directory, summary)
        self.assertIn("File too large", summary)
        self.assertNotIn("reported no device memory", summary)

    def test_without_a_folder(self):
        nowhere = os.path.join(self.directory, "nowhere")
        summary = self.assert_runs(PROGRAMS, "oom", TIDEMARK_DIR=nowhere)
        self.assertIn("nothing was seen: cannot use %s for ledgers: No such file or directory" % nowhere, summary)

    @unittest.skipIf(SANITIZE, "the shell is not built with it")
    def test_with_room_for_one_process_only(self):
        summary = self.assert_runs("sh", "-c", "%s prog; ulimit -f 0; exec %s oom" % (PROGRAMS, PROGRAMS))
        self.assertIn("Process ", summary)
        self.assertIn("not all was seen: a process could not make its ledger in " + self.directory, summary)


if __name__ == "__main__":
    unittest.main()
