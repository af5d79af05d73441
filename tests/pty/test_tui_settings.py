"""What the user sets is there the next time."""

import os
import pathlib
import stat
import subprocess
import tempfile
import unittest

import tui
from screen import Screen

COMMAND = os.environ["TIDEMARK_COMMAND"]


class Settings(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory(prefix="tidemark-pty.")
        self.addCleanup(holder.cleanup)
        self.root = pathlib.Path(holder.name)
        self.file = self.root / "tidemark" / "top.conf"

    def start(self, *options, **how):
        return tui.start(f"settings={self.file}", "interval=0", *options, **how)

    def end(self, s):
        s.send("q")
        self.assertEqual(s.wait_end(), 0)

    def write(self, text):
        self.file.parent.mkdir(exist_ok=True)
        self.file.write_text(text)

    def test_order_and_tree_and_columns_and_the_rest(self):
        with self.start() as s:
            s.wait_for("MEMORY▽")
            s.send("T", "I", "t", "f2")
            s.wait_for("[x] column USER")
            s.send("left", "down", "down", " ", "down", " ", "down", " ", "down", "down", " ", "esc")
            s.wait_for("every 0.5 s")
            self.end(s)
        self.assertEqual(stat.S_IMODE(self.file.stat().st_mode), 0o600)
        self.assertEqual(stat.S_IMODE(self.file.parent.stat().st_mode), 0o700)
        self.assertEqual([path.name for path in self.file.parent.iterdir()], ["top.conf"])
        text = self.file.read_text()
        for line in ("sort = age", "reversed = yes", "tree = yes", "hidden_columns = user", "refresh_ms = 500", "ascii = yes",
                     "mouse = no", "vi_keys = yes"):
            self.assertIn(f"\n{line}\n", text)
        with self.start() as s:
            s.wait_all("AGE^", "`- ", "every 0.5 s")
            self.assertNotIn(" USER ", s.text())
            self.assertNotIn(b"\x1b[?1000h", s.bytes)
            s.send("j")  # vi keys: it moves
            self.end(s)
        self.assertEqual(self.file.read_text(), text)

    def test_nothing_changed_and_nothing_is_written(self):
        with self.start() as s:
            s.wait_for("MEMORY▽")
            s.send("2", "1", "down")
            self.end(s)
        self.assertFalse(self.file.parent.exists())

    def test_options_win_and_are_not_kept(self):
        self.write("ascii = no\nrefresh_ms = 5000\ncolour = no\n")
        with self.start("interval=200", "ascii=1") as s:
            s.wait_all("every 0.2 s", "MEMORYv")
            s.send("P")
            s.wait_for("PIDv")
            self.end(s)
        text = self.file.read_text()
        for line in ("sort = pid", "refresh_ms = 5000", "ascii = no", "colour = no"):
            self.assertIn(f"{line}\n", text)

    def test_a_bad_line_is_named_and_the_others_count(self):
        self.write("sort = banana\n\n# a remark\nreversed = yes\nwhat\nspeed = 3\nrefresh_ms = 1\n")
        with self.start() as s:
            s.wait_for(f'{self.file}:1: sort "banana" is not the name of a column: the line is ignored')
            s.wait_for("MEMORY△")
            self.end(s)
            self.assertIn(b'sort "banana"', s.bytes[s.bytes.rfind(b"\x1b[?1049l"):])

    def test_files_that_are_none_are_refused_and_left_alone(self):
        def fifo():
            os.mkfifo(self.file)
        for make, why in ((fifo, "not a regular file"), (self.file.mkdir, "not a regular file"),
                          (lambda: self.file.write_bytes(b"sort = pid\n" * 100000), "too large for settings"),
                          (lambda: self.file.write_bytes(b"sort = pid\n\0\1\2"), "not a text file")):
            self.file.parent.mkdir(exist_ok=True)
            make()
            before = self.file.read_bytes() if self.file.is_file() else None
            with self.start() as s:
                s.wait_all(f"top.conf: {why}", "MEMORY▽")
                s.send("T")
                s.wait_for("AGE▽")
                self.end(s)
            if before is None:
                self.assertFalse(self.file.is_file())
            else:
                self.assertEqual(self.file.read_bytes(), before)
            (self.file.rmdir if self.file.is_dir() else self.file.unlink)()

    def test_a_link_stays_a_link(self):
        kept = self.root / "mine"
        kept.write_text("tree = yes\n")
        self.file.parent.mkdir()
        self.file.symlink_to(kept)
        with self.start() as s:
            s.wait_for("└─ ")
            s.send("T")
            s.wait_for("AGE▽")
            self.end(s)
        self.assertTrue(self.file.is_symlink())
        self.assertIn("sort = age\n", kept.read_text())
        self.assertIn("tree = yes\n", kept.read_text())

    def test_what_another_monitor_has_set_stays(self):
        with self.start() as s:
            s.wait_for("MEMORY▽")
            s.send("T")
            s.wait_for("AGE▽")
            self.write("tree = yes\n")
            self.end(s)
        self.assertIn("sort = age\n", self.file.read_text())
        self.assertIn("tree = yes\n", self.file.read_text())

    def test_where_nothing_can_be_written(self):
        (self.root / "tidemark").write_text("")
        with self.start() as s:
            s.wait_for("MEMORY▽")
            s.send("T")
            s.wait_for("AGE▽")
            self.end(s)
            self.assertIn(b"settings are not kept", s.bytes)


class Command(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory(prefix="tidemark-pty.")
        self.addCleanup(holder.cleanup)
        self.root = pathlib.Path(holder.name)
        for name in ("ledgers", "sys", "shm", "home/.config", "xdg"):
            (self.root / name).mkdir(parents=True)
        self.env = {"TIDEMARK_DIR": str(self.root / "ledgers"), "TIDEMARK_SHM_DIR": str(self.root / "shm"),
                    "TIDEMARK_SYSFS_ROOT": str(self.root / "sys"), "HOME": str(self.root / "home")}

    def sort(self, *options, **env):
        with Screen([COMMAND, "top", *options], 40, 130, env={**self.env, **env}) as s:
            s.wait_for("COMMAND")
            s.send("T")
            s.wait_for("AGE▽")
            s.send("q")
            self.assertEqual(s.wait_end(), 0)

    def files(self):
        return sorted(str(path.relative_to(self.root)) for path in self.root.rglob("*") if path.is_file())

    def test_its_place(self):
        self.sort()
        self.assertEqual(self.files(), ["home/.config/tidemark/top.conf"])
        self.sort(XDG_CONFIG_HOME="relative")  # the specification says to ignore it
        self.assertEqual(self.files(), ["home/.config/tidemark/top.conf"])
        self.sort(XDG_CONFIG_HOME=str(self.root / "xdg"))
        self.assertEqual(self.files(), ["home/.config/tidemark/top.conf", "xdg/tidemark/top.conf"])

    def test_none_at_all(self):
        (self.root / "xdg/tidemark").mkdir()
        (self.root / "xdg/tidemark/top.conf").write_text("tree = yes\nsort = pid\n")
        with Screen([COMMAND, "top", "--no-config"], 40, 130, env={**self.env, "XDG_CONFIG_HOME": str(self.root / "xdg")}) as s:
            s.wait_for("MEMORY▽")
            s.send("T")
            s.wait_for("AGE▽")
            s.send("q")
            self.assertEqual(s.wait_end(), 0)
        self.assertEqual((self.root / "xdg/tidemark/top.conf").read_text(), "tree = yes\nsort = pid\n")

    def test_plain_frames_do_not_read_it(self):
        (self.root / "xdg/tidemark").mkdir()
        (self.root / "xdg/tidemark/top.conf").write_text("refresh_ms = 5000\nnonsense\n")
        done = subprocess.run([COMMAND, "top", "--frames", "1"], env={**os.environ, **self.env, "XDG_CONFIG_HOME": str(self.root / "xdg")},
                              capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.stderr, "")
        self.assertRegex(done.stdout, r"Refresh: 1000ms")


if __name__ == "__main__":
    unittest.main()
