"""The programs in the C guide and in the README compile, run and print what the pages say."""

import os
import pathlib
import subprocess
import tempfile
import unittest

from support import ROOT, run_python
from test_docs import programs

FLAGS = ["-std=gnu17", "-O1", "-Wall", "-Wextra", "-Werror"]


def build(program, directory):
    library = pathlib.Path(os.environ["TIDEMARK_LIBRARY"])
    subprocess.run(["gcc", *FLAGS, f"-I{ROOT / 'include'}", "-x", "c", "-", "-x", "none", str(library),
                    f"-Wl,-rpath,{library.parent}", "-o", f"{directory}/program"], input=program, text=True, check=True)
    return f"{directory}/program"


class Programs(unittest.TestCase):
    def check(self, done, expected):
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        if expected is not None:
            self.assertEqual(done.stdout, expected)

    def run_all(self, page, at_least):
        found = list(programs(page, "c"))
        self.assertGreaterEqual(len(found), at_least)
        for program, expected in found:
            with self.subTest(program=program), tempfile.TemporaryDirectory(prefix="tidemark-docs.") as directory:
                self.check(subprocess.run([build(program, directory)], capture_output=True, text=True, timeout=120, check=False),
                           expected)

    def test_library(self):
        self.run_all("library.md", 5)

    def test_readme(self):
        self.run_all("../README.md", 1)
        for program, expected in programs("../README.md", "python"):
            self.check(run_python(program), expected)


if __name__ == "__main__":
    unittest.main()
