"""The programs in the guides run and print what the guides say."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

from support import ROOT, run_python

BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def programs(page, language):
    """(program, what it prints) of each block of that language; None where the page does not say."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    blocks = list(BLOCK.finditer(text))
    for block, following in zip(blocks, [*blocks[1:], None]):
        if block.group(1) == language:
            printed = following and following.group(1) == "text" and text[block.end():following.start()].strip() == "prints"
            yield block.group(2), following.group(2) if printed else None


def run_tests(program):
    """Runs a program that has tests for pytest, with the plugin."""
    with tempfile.TemporaryDirectory(prefix="tidemark-docs.") as directory:
        file = pathlib.Path(directory) / "test_of_the_guide.py"
        file.write_text(program, encoding="utf-8")
        return subprocess.run([sys.executable, "-m", "pytest", "-p", "tidemark.pytest_plugin", "-p", "no:cacheprovider", "--tidemark-strict",
                               str(file)], cwd=directory, capture_output=True, text=True, timeout=120, check=False)


class Guides(unittest.TestCase):
    def check(self, done, expected):
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        if expected is not None:
            self.assertEqual(done.stdout, expected)

    def test_python(self):
        found = list(programs("python.md", "python"))
        self.assertGreaterEqual(len(found), 2)
        for program, expected in found:
            with self.subTest(program=program.splitlines()[-1]):
                self.check(run_tests(program) if "import pytest" in program else run_python(program), expected)

    def test_cpp(self):
        library = pathlib.Path(os.environ["TIDEMARK_LIBRARY"])
        found = list(programs("cpp.md", "cpp"))
        self.assertGreaterEqual(len(found), 2)
        for program, expected in found:
            with self.subTest(program=program), tempfile.TemporaryDirectory(prefix="tidemark-docs.") as directory:
                subprocess.run(["g++", "-std=c++17", "-Wall", "-Wextra", "-Werror", f"-I{ROOT / 'include'}", f"-I{ROOT / 'tests' / 'cpp' / 'metalium'}", "-x", "c++", "-",
                                "-x", "none", str(library), f"-Wl,-rpath,{library.parent}", "-o", f"{directory}/program"],
                               input=program, text=True, check=True)
                self.check(subprocess.run([f"{directory}/program"], capture_output=True, text=True, check=False), expected)

    def test_no_program_is_left_out(self):
        tested = {"c": {"library.md", "README.md"}, "cpp": {"cpp.md"}, "python": {"python.md", "README.md"}}
        for page in [ROOT / "README.md", ROOT / "ARCHITECTURE.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]:
            for block in BLOCK.finditer(page.read_text(encoding="utf-8")):
                self.assertIn(page.name, tested.get(block.group(1), {page.name}), block.group(0))

    def test_every_call_of_the_package_is_in_the_guide(self):
        text = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
        for call in ("alloc", "adopt", "free", "free_all", "buffer", "describe_device", "out_of_memory", "program", "phase", "report_kernel",
                     "report_cb", "report_cb_free", "usage", "lost", "ledger_path", "enable", "enable_stacks", "strerror", "device_memory",
                     "devices", "memory_allocated", "max_memory_allocated", "memory_reserved", "max_memory_reserved", "memory_stats",
                     "memory_summary", "reset_peak_memory_stats"):
            self.assertRegex(text, rf"\b{call}\(")


if __name__ == "__main__":
    unittest.main()
