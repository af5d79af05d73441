"""The table of processes: what it shows, and what keys do to it."""

import os
import re
import unittest

from tui import first_pids, start, wait_chosen


class Processes(unittest.TestCase):
    def test_sorting_by_letters_and_its_inverse(self):
        with start("processes=9") as s:
            s.wait_for("MEMORY▽")
            s.send("T")
            s.wait_for("AGE▽")
            s.wait(lambda text: first_pids(text)[:2] == [1008, 1007], "the oldest first")
            s.send("I")
            s.wait(lambda text: first_pids(text)[:2] == [1000, 1001], "the youngest first")
            s.send("P")
            s.wait(lambda text: "PID▽" in text and first_pids(text) == sorted(first_pids(text)), "by pid")
            s.send("-")
            s.wait(lambda text: first_pids(text) == sorted(first_pids(text), reverse=True), "by pid, reversed")

    def test_sorting_by_steps_and_by_the_box(self):
        with start() as s:
            s.wait_for("MEMORY▽")
            s.send(".")
            s.wait_for("DRAM PEAK▽")
            s.send(",", ",", ",")
            s.wait_for("CB▽")
            s.send("f6")
            s.wait_for("Sort by")
            s.send("home", "down", "enter")
            s.wait_for("USER▽")

    def test_a_letter_sorts_in_the_box_too(self):
        with start() as s:
            s.wait_for("MEMORY▽")
            s.send("f6")
            s.wait_for("Sort by")
            s.send("P")
            s.wait(lambda text: "PID▽" in text and "Sort by" not in text, "the order")

    def test_the_order_is_said_where_its_column_has_no_room(self):
        with start(rows=24, cols=80) as s:
            s.wait_for("COMMAND by MEMORY▽")
            s.send("T")
            s.wait(lambda text: "AGE▽" in text and "COMMAND by" not in text, "the column")

    def test_search_goes_where_the_text_is(self):
        with start("processes=9") as s:
            s.wait_for("1000 anna")
            s.send("/", "resnet")
            s.wait_for(" Search  resnet_")
            s.send("enter")
            wait_chosen(s, 1001)
            s.send("n")
            wait_chosen(s, 1006)
            s.send("N")
            wait_chosen(s, 1001)
            s.send("/", "nothing like it")
            s.wait_for("no line contains")
            s.send("esc")
            s.wait_without("Search")

    def test_moving(self):
        with start("processes=100") as s:
            s.wait_for("1000 anna")
            s.send("down", "down")
            wait_chosen(s, 1002)
            s.send("j")
            wait_chosen(s, 1003)
            s.send("up")
            wait_chosen(s, 1002)
            s.send("pgdn")
            s.wait(lambda text: "1000 anna" not in text or 1015 in first_pids(text), "a page")
            s.send("home")
            wait_chosen(s, 1000)

    def test_filter_and_its_end(self):
        with start("processes=9") as s:
            s.wait_for("1000 anna")
            s.send("\\", "vllm")
            s.wait(lambda text: first_pids(text) == [1002, 1007], "two processes")
            s.send("enter")
            s.wait_without("Filter  vllm")
            s.wait(lambda text: text.split("\n")[-1].startswith(' only "vllm": Esc shows all  F1 Help'), "the filter")
            s.resize(24, 40)
            s.wait(lambda text: re.search(r'\n only "vllm".*q Quit$', text), "the filter on a small screen")
            s.resize(40, 130)
            s.send("2")
            s.wait_without('only "vllm"')
            s.send("1")
            s.wait_for('only "vllm"')
            s.send("esc")
            s.wait(lambda text: len(first_pids(text)) == 9, "all of them")

    def test_a_filter_that_is_cut_keeps_its_distance(self):
        with start("devices=20", rows=12, cols=40) as s:
            s.wait_for("1000 ")
            s.send("f4", "vllm", "enter")
            s.wait(lambda text: re.search(r'\n only "vllm.*… q Quit +devices 1-\d+ of 20$', text), "the filter")

    def test_filter_that_nothing_has(self):
        with start() as s:
            s.wait_for("1000 anna")
            s.send("f4", "zzz")
            s.wait_for('No process matches "zzz"')
            s.send("backspace", "backspace", "backspace", "enter")
            s.wait_for("1000 anna")

    def test_what_a_process_takes_of_the_host(self):
        with start("processes=4", cols=170) as s:
            s.wait_all("GROWTH/MIN", " S ", "CPU%", "HOST MEM")
            s.wait(lambda text: re.search(r" 1000 anna .* R +(9\.\d|10\.\d) +100\.00MiB ", text), "the first one")
            self.assertRegex(s.line_of("1002 carla"), r" - +- +- L")  # it cannot be read
            s.send("X")
            s.wait(lambda text: "CPU%▽" in text and first_pids(text) == [1003, 1001, 1000, 1002], "the busiest first")
            s.send("I")
            s.wait(lambda text: "CPU%△" in text and first_pids(text)[-2:] == [1001, 1003], "the busiest last")
            s.send("E")
            s.wait(lambda text: "HOST MEM▽" in text and first_pids(text) == [1003, 1001, 1000, 1002], "the largest first")
            s.send("A")
            s.wait(lambda text: " S▽ " in text and first_pids(text) == [1000, 1001, 1003, 1002], "by state")

    def test_columns_go_in_their_order_when_there_is_no_room(self):
        for cols, shown in ((40, 0), (60, 1), (80, 1), (120, 2), (170, 4)):
            with start(rows=24, cols=cols) as s:
                s.wait_for("1000")
                head = next(line for line in s.screen.display if " PID " in line)
                self.assertEqual([part for part in (" S ", " GROWTH/MIN ", " CPU% ", " HOST MEM ") if part in head],
                                 [" S ", " GROWTH/MIN ", " CPU% ", " HOST MEM "][:shown], head)
                self.assertNotIn("…", head)

    def test_the_processes_of_a_device(self):
        with start("devices=3", "processes=9", cols=150, rows=50) as s:
            s.wait(lambda text: len(first_pids(text)) == 9, "all")
            s.send("tab", "down", "f")
            s.wait(lambda text: sorted(first_pids(text)) == [1000, 1001, 1004, 1007], "those of device 1")
            s.wait_for("only device 1: Esc shows all")
            self.assertRegex(s.line_of("1000 anna"), r" 1 +\d")
            s.send("f")
            s.wait(lambda text: len(first_pids(text)) == 9 and "only device" not in text, "all again")
            s.send("2")
            s.wait_for("(2 of 3)")
            s.send("f")
            s.wait_all("only device 1: Esc shows all", "MEMORY▽")
            s.send("\\", "vllm", "enter")
            s.wait_for('"vllm": Esc shows all')
            s.send("esc")
            s.wait(lambda text: "vllm\":" not in text and "only device" in text, "one filter less")
            s.send("esc")
            s.wait(lambda text: len(first_pids(text)) == 9, "all again")

    def test_tree_by_device(self):
        with start("devices=2", "processes=4", cols=150, rows=60) as s:
            s.wait_for("1000 anna")
            self.assertEqual(len(first_pids(s.text())), 4)
            s.send("t")
            text = s.wait_for("├─ ")
            self.assertEqual(first_pids(text).count(1000), 2)  # it uses both
            self.assertRegex(text, r"n150  /dev/tenstorrent/0")
        with start("devices=6", "boards=2", cols=150, rows=60) as s:  # cards that are only known by their type
            s.wait_for("1000 anna")
            s.send("t")
            text = s.wait_for("├─ ")
            self.assertRegex(text, r"\n {10,}0 .* ~n150")

    def test_tags(self):
        with start() as s:
            s.wait_for("1000 anna")
            s.send(" ", " ")
            s.wait(lambda text: re.search(r"^\*\s+1000", text, re.M) and re.search(r"^\*\s+1001", text, re.M), "two tags")
            s.send("f9")
            s.wait_for("Signal to 2 processes?")
            s.send("esc")
            s.wait_without("Signal to")
            s.send("u")
            s.wait(lambda text: "*  " not in text, "no tag")

    def test_a_column_can_be_hidden(self):
        with start() as s:
            s.wait_for(" USER ")
            s.send("f2")
            s.wait_for("[x] column USER")
            s.send("down", "down", "down", "down", "down", "down", " ", "esc")
            s.wait(lambda text: "Setup:" not in text and " USER " not in text, "the column to go")

    def test_interval_and_characters_can_be_changed(self):
        with start() as s:
            s.wait_for("every 0.1 s")
            s.send("f2")
            s.wait_for("Setup:")
            s.send("right")
            s.wait_for("every 0.2 s")
            s.send("down", "down", " ", "esc")
            s.wait(lambda text: text.isascii(), "ASCII only")

    def test_the_interval_is_not_rounded(self):
        with start("interval=250") as s:
            s.wait_for("every 250 ms")
            s.send("f2")
            s.wait_for("< 250 ms >")

    def test_colours_can_be_switched_off_and_on(self):
        def colours(s):
            return {s.screen.buffer[y][x].fg for y in range(s.rows) for x in range(s.cols)}
        with start("no_colour=1") as s:
            s.wait_for("1000 anna")
            self.assertEqual(colours(s), {"default"})
            s.send("f2", "down", " ")
            s.wait(lambda _: len(colours(s)) > 4, "colours")
            s.send(" ")
            s.wait(lambda _: colours(s) == {"default"}, "no colour")

    def test_keys_that_come_all_at_once(self):
        with start() as s:
            s.wait_for("MEMORY▽")
            os.write(s.master, b"\x1b[17~\x1bOH\x1bOB\r")  # F6, Home, Down, Enter
            s.wait_for("USER▽")

    def test_vi_keys(self):
        with start() as s:
            s.wait_for("1000 anna")
            s.send("f2")
            s.wait_for("Setup:")
            s.send("down", "down", "down", " ", "esc")
            s.wait_without("Setup:")
            s.send("j", "j", "k")
            wait_chosen(s, 1001)


if __name__ == "__main__":
    unittest.main()
