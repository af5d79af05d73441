"""Nothing in the traced program changes: what it prints, how it ends, which exceptions it sees."""

import os
import signal
import subprocess
import unittest

from standin import PRELOAD, PROGRAMS, RELEASES, SANITIZE, STANDIN, Case, dump, environment


class Same(Case):
    def test_output_and_exit_code(self):
        for release in RELEASES:
            for program in (["prog"], ["recb"], ["oom"], ["trace"], ["trace", "replay"], ["trace", "replay", "free"],
                            ["submesh"], ["pin"], ["late"], ["exit"], ["quick_exit"], ["order"], ["many", "100"],
                            ["mesh", "2", "4"], ["exceptions"], ["programs", "50", "10"], ["reopen", "4"], ["fork"]):
                with self.subTest(release=release, program=program):
                    self.assert_same_behaviour(PROGRAMS, *program, release=release)

    def test_exceptions(self):
        code, out, err = self.assert_same_behaviour(PROGRAMS, "exceptions")
        self.assertEqual((code, err), (7, ""))
        self.assertEqual(out.count("unwound"), 2)
        self.assertIn("caught: Out of Memory: Not enough space to allocate 1099511627776 B DRAM buffer across 12 banks", out)
        for how in ("uncaught", "noexcept"):
            code, out, err = self.assert_same_behaviour(PROGRAMS, "exceptions", how)
            self.assertEqual(code, -signal.SIGABRT)
            self.assertIn("what():  Out of Memory", err)

    def test_errno(self):
        for release in RELEASES:
            _, out, _ = self.assert_same_behaviour(PROGRAMS, "errno", release=release)
            self.assertEqual(out, "errno changed 0 times\n")

    def test_tracking_off(self):
        """With the preload and without TIDEMARK: no ledger, same output."""
        plain = self.run_program(PROGRAMS, "prog")
        off = self.run_program(PROGRAMS, "prog", LD_PRELOAD=PRELOAD, TIDEMARK_DIR=self.directory)
        self.assertEqual((off.stdout, off.stderr), (plain.stdout, plain.stderr))
        self.assertEqual(os.listdir(self.directory), [])

    def test_without_the_runtime_nothing_happens(self):
        done = self.run_program(os.path.join(STANDIN, "metal_plain"), directory=self.directory)
        self.assertEqual((done.stdout, done.stderr), ("plain\n", ""))
        self.assertEqual(os.listdir(self.directory), [])

    def test_another_preload_hooks_the_same(self):
        interposer = os.path.join(STANDIN, "metal_interposer.so")
        alone = self.run_program(PROGRAMS, "many", "100", LD_PRELOAD=interposer)
        self.assertIn("interposed", alone.stdout)
        for order in (f"{PRELOAD} {interposer}", f"{interposer} {PRELOAD}"):
            with self.subTest(order=order):
                both = self.run_program(PROGRAMS, "many", "100", directory=self.directory, preload=order)
                self.assertEqual((both.stdout, both.stderr), (alone.stdout, ""))
                running, text, seen = self.look("today", PROGRAMS, "order", preload=order)
                self.assertEqual(len(seen["buffers"]), text.count("buffer "))
                running.finish()

    @unittest.skipIf(SANITIZE, "two allocators in the way")
    def test_jemalloc(self):
        found = next((os.path.join(folder, "libjemalloc.so.2") for folder in
                      ("/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/lib")
                      if os.path.exists(os.path.join(folder, "libjemalloc.so.2"))), None)
        if not found:
            self.skipTest("no jemalloc here")
        for order in (f"{PRELOAD} {found}", f"{found} {PRELOAD}"):
            running, text, seen = self.look("today", PROGRAMS, "many", "200", preload=order)
            self.assertEqual(len(seen["buffers"]), text.count("buffer "))
            self.assertEqual(running.finish()[0], 0)

    def test_nothing_is_left_behind(self):
        self.run_program(PROGRAMS, "prog", directory=self.directory)
        self.assertEqual(dump(self.directory), [])

    @unittest.skipIf(SANITIZE, "the tool of the sanitizer is not allowed there, either")
    def test_setuid(self):
        """Not preloaded there by the loader, for a path with slashes; and it runs."""
        if os.geteuid() != 0:
            self.skipTest("needs root to make a program set-user-id")
        copy = os.path.join(self.directory, "program")
        subprocess.run(["cp", os.path.join(STANDIN, "metal_plain"), copy], check=True)
        os.chown(copy, 65534, 65534)
        os.chmod(copy, 0o4755)
        os.chmod(self.directory, 0o755)
        if os.statvfs(self.directory).f_flag & os.ST_NOSUID:
            self.skipTest("the file system allows no set-user-id")
        ledgers = os.path.join(self.directory, "ledgers")
        os.mkdir(ledgers)
        done = subprocess.run([copy], env=environment(directory=ledgers), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True, timeout=60)
        self.assertEqual((done.returncode, done.stdout), (0, "plain\n"))
        self.assertEqual(os.listdir(ledgers), [])


if __name__ == "__main__":
    unittest.main()
