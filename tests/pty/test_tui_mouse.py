"""What the mouse does, and that the terminal has it back afterwards."""

import os
import re
import signal
import unittest

from tui import go_on, start, start_in_shell, stop, wait_chosen

ON, OFF = b"\x1b[?1000h", b"\x1b[?1000l"


class Mouse(unittest.TestCase):
    def place(self, s, part, line=None):
        """Where a part is, in the first line that has it (and begins with `line`)."""
        for y, text in enumerate(s.screen.display):
            if part in text and (line is None or re.match(line, text)):
                return y, text.index(part)
        raise AssertionError(f"no {part!r}:\n{s.text()}")

    def report(self, s, button, at):
        os.write(s.master, b"\x1b[<%d;%d;%dM" % (button, at[1] + 1, at[0] + 1))
        if button == 0:
            os.write(s.master, b"\x1b[<0;%d;%dm" % (at[1] + 1, at[0] + 1))

    def click(self, s, part, line=None):
        self.report(s, 0, self.place(s, part, line))

    def test_a_click_chooses_a_line(self):
        with start("processes=9") as s:
            s.wait_for("1000 anna")
            self.click(s, "1004 ")
            wait_chosen(s, 1004)
            self.assertIn("MEMORY▽", s.text())  # it opened nothing

    def test_two_clicks_open_it(self):
        with start("processes=9", "interval=3600000") as s:
            s.wait_for("1000 anna")
            at = self.place(s, "1004 ")
            self.report(s, 0, at)
            self.report(s, 0, at)
            s.wait_all(" 1004  pytest", "RESERVED")
        with start("devices=3") as s:
            s.wait_for("1000 anna")
            at = self.place(s, "/dev/tenstorrent/1")
            self.report(s, 0, at)
            self.report(s, 0, at)
            s.wait_for("(2 of 3)")

    def test_a_title_sorts_and_then_reverses(self):
        with start("processes=9") as s:
            s.wait_for("MEMORY▽")
            self.click(s, "USER", r" +PID")
            s.wait_for("USER▽")
            self.click(s, "USER", r" +PID")
            s.wait_for("USER△")
            s.send("enter")
            s.wait_for("RESERVED")
            self.click(s, "ADDRESS")
            s.wait(lambda text: re.search(r"ADDRESS.*\n DRAM +0 +0x20 ", text), "the lowest address first")
            self.click(s, "ADDRESS")
            s.wait(lambda text: re.search(r"ADDRESS.*\n CB +0 +0x4bcc0 ", text), "the highest address first")

    def test_the_wheel_moves_the_list_below_it(self):
        with start("processes=100") as s:
            s.wait_for("1000 anna")
            at = self.place(s, "1002 ")
            self.report(s, 65, at)
            self.report(s, 65, at)
            wait_chosen(s, 1006)
            self.report(s, 64, at)
            wait_chosen(s, 1003)

    def test_tabs_and_keys_can_be_clicked(self):
        with start() as s:
            s.wait_for("1000 anna")
            self.click(s, "4 events")
            s.wait_for("RESERVED")
            self.click(s, "1 overview")
            s.wait_for("MEMORY▽")
            self.click(s, "F2 Setup")
            s.wait_for("Setup: change")
            self.report(s, 0, (1, 1))  # beside the box
            s.wait_without("Setup: change")
            self.click(s, "q Quit")
            self.assertEqual(s.wait_end(), 0)

    def test_lines_of_boxes(self):
        with start() as s:
            s.wait_for("MEMORY▽")
            s.send("f6")
            s.wait_for("Sort by")
            self.click(s, "USER", r".*│ +USER +")
            s.wait(lambda text: "USER▽" in text and "Sort by" not in text, "the order")
            s.send("f2")
            s.wait_for("[x] column USER")
            self.click(s, "[x] column USER")
            s.wait_for("[ ] column USER")

    def test_a_signal_is_not_sent_by_a_click(self):
        with start() as s:
            s.wait_for("1000 anna")
            s.send("k")
            s.wait_for("Signal to 1000")
            at = self.place(s, "SIGKILL")
            self.report(s, 0, at)
            self.report(s, 0, at)
            s.wait(lambda _: s.screen.buffer[at[0]][at[1]].bg != "default", "it to be chosen")
            self.assertIn("Signal to 1000", s.text())

    def test_far_to_the_right(self):
        with start(cols=300, rows=50) as s:
            s.wait_for("MEMORY▽")
            self.click(s, "COMMAND", r" +PID")
            s.wait_for("COMMAND▽")

    def test_it_can_be_left_to_the_terminal(self):
        with start("no_mouse=1") as s:
            s.wait_for("1000 anna")
            self.assertNotIn(ON, s.bytes)
            s.send("f2")
            s.wait_for("[ ] mouse")
            s.send("down", "down", "down", "down", " ")
            s.wait_for("[x] mouse")
            s.wait(lambda _: ON in s.bytes, "the mouse")
            s.send(" ")
            s.wait(lambda _: s.bytes.rfind(OFF) > s.bytes.rfind(ON), "no mouse")

    def test_a_terminal_without_one(self):
        with start(term="vt100") as s:
            s.wait_for("1000 anna")
            self.assertNotIn(ON, s.bytes)

    def test_the_terminal_has_it_back(self):
        for number in (None, signal.SIGTERM, signal.SIGSEGV, signal.SIGUSR1):
            with start() as s:
                s.wait_for("1000 anna")
                self.assertIn(ON, s.bytes)
                if number is None:
                    s.send("q")
                else:
                    os.kill(s.pid, number)
                s.wait_end()
                self.assertGreater(s.bytes.rfind(OFF), s.bytes.rfind(ON), number)
                self.assertGreater(s.bytes.rfind(b"\x1b[?1006l"), s.bytes.rfind(b"\x1b[?1006h"), number)

    def test_not_while_it_is_stopped(self):
        with start_in_shell() as s:
            stop(s)
            self.assertGreater(s.bytes.rfind(OFF), s.bytes.rfind(ON))
            go_on(s)
            self.assertGreater(s.bytes.rfind(ON), s.bytes.rfind(OFF))
            s.send("q")
            s.wait_for("ended well")

    def test_reports_that_make_no_sense(self):
        with start() as s:
            s.wait_for("MEMORY▽")
            for report in (b"\x1b[<0;0;0M", b"\x1b[<0;9999999999;9999999999M", b"\x1b[<0;1M", b"\x1b[<3;4;5;6;7M",
                           b"\x1b[<2;10;10M", b"\x1b[<M", b"\x1b[<0;400;400M", b"\x1b[<64;1;1M",
                           b"\x1b[<0;-3;4M", b"\x1b[<0;5;-2M", b"\x1b[M #q", b"\x1b[M 3k"):  # no digit is a key
                os.write(s.master, report)
            s.send("P")
            s.wait_for("PID▽")
            self.assertNotIn("Signal to", s.text())
            self.assertNotRegex(s.text(), r"(?m)^\*")  # nothing is tagged
            self.assertIsNone(s.ended())


if __name__ == "__main__":
    unittest.main()
