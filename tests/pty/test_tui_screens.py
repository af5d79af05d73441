"""What the screens show, and what keys do."""

import os
import re
import unittest

from screen import Screen

FIXTURE = os.environ["TUI_FIXTURE"]


def start(*options, rows=40, cols=130, **how):
    return Screen([FIXTURE, *options], rows, cols, **how)


def first_pids(text):
    """The pids of the process table, from above."""
    return [int(m.group(1)) for m in re.finditer(r"^[ *]\s*(\d{4,7}) \w", text, re.MULTILINE)]


class Overview(unittest.TestCase):
    def test_a_device_with_all_its_figures(self):
        with start() as s:
            s.wait_all("n150", "/dev/tenstorrent/0", "0000:01:00.0", "48.5 °C", "36 W", "1000 MHz", "3 processes",
                       "DRAM", "L1_SMALL", "TRACE", "CB", "62.0%", "7.44 GiB of 12 GiB", "free", "largest", "peak", "92.0%")

    def colour_of(self, s, line, part):
        """The colour of a part of the first line that matches."""
        for y, text in enumerate(s.screen.display):
            if re.match(line, text):
                return s.screen.buffer[y][text.index(part)].fg
        raise AssertionError(f"no line matches {line}:\n{s.text()}")

    def test_levels_have_their_colours(self):
        with start("gap=100000") as s:
            s.wait_for("1000 anna")
            colours = {kind: self.colour_of(s, rf"  {kind} +■", "■") for kind in ("DRAM", "L1", "CB")}
            self.assertEqual(len(set(colours.values())), 3, colours)  # 62 %, 78 %, and a gap of 7 %

    def test_circular_buffers_are_coloured_by_their_gap(self):
        with start("gap=100000") as s:
            s.wait_all("1000 anna", " 97.66 KiB free between buffers and CBs, fullest core ")
            red = self.colour_of(s, r"  CB +■", "92.0%")
            self.assertEqual(self.colour_of(s, r"  CB +■", "97.66"), red)
        with start("gap=500000") as s:  # 92 % used on average, and room in every core
            s.wait_for("1000 anna")
            green = self.colour_of(s, r"  DRAM +■", "■")
            self.assertNotEqual(red, green)
            self.assertEqual(self.colour_of(s, r"  CB +■", "■"), green)

    def test_lines_of_absent_kinds_go_to_others(self):
        with start("few=1", "devices=2", rows=19, cols=80) as s:
            s.wait_for("1000 anna")
            self.assertEqual(re.findall(r"(?m)^  ([A-Z]\w+) ", s.text()), ["DRAM", "L1", "CB"] * 2)
        with start("devices=2", "processes=5", rows=19, cols=80) as s:
            s.wait_for("1000 anna")
            self.assertEqual(re.findall(r"(?m)^  ([A-Z]\w+) ", s.text()), ["DRAM", "L1", "TRACE", "CB"] * 2)
        with start("devices=4", "gap=-1", rows=22, cols=80) as s:
            s.wait_for("1000 anna")
            self.assertEqual(re.findall(r"(?m)^  ([A-Z]\w+) ", s.text()), ["DRAM", "CB"] * 4)

    def test_nothing_is_hidden_while_rows_are_empty(self):
        def one_process(s):
            s.wait_for("1000 ")
            s.send("f4", "layers", "enter")
            s.wait(lambda text: first_pids(text) == [1000] and "(unattr" not in text, "one process")
        with start("few=1", "devices=4", rows=24, cols=80) as s:
            one_process(s)
            self.assertEqual(re.findall(r"(?m)^  ([A-Z]\w+) ", s.text()), ["DRAM", "L1", "CB"] * 4)
        with start("devices=32", rows=40, cols=120) as s:
            one_process(s)
            self.assertRegex(s.text(), r"\n 31 +p150 ")
        with start("devices=12", "boards=4", "problems=1", rows=14, cols=80) as s:
            one_process(s)
            s.wait_all("\n 6   ~n150", "\n cards:  /8", "\n ! ")
            self.assertNotIn("\n\n", s.text())

    def test_a_clash_is_never_left_out(self):
        with start("gap=-1", "devices=20", rows=24, cols=40) as s:
            s.wait_for("1000 ")
            red = self.colour_of(s, r" 0 +n150 +DRAM .* CB +92.0% *$", "92.0%")
            self.assertNotEqual(red, self.colour_of(s, r" 0 +n150 ", "62.0%"))
        with start("devices=20", rows=24, cols=40) as s:
            s.wait_for("1000 ")
            self.assertRegex(s.text(), r"\n 0 +n150 +DRAM +62.0%  L1 +78.0%\n")

    def test_a_clash_is_red(self):
        with start("gap=-50000") as s:
            s.wait_all("1000 anna", "over  48.83 KiB  clash in a core")
            red = self.colour_of(s, r"  CB +■", "■")
            self.assertEqual(self.colour_of(s, r"  CB +■", "48.83"), red)
            self.assertEqual(self.colour_of(s, r"  CB +■", "clash"), red)
        with start("gap=-50000", "devices=20") as s:  # one line each
            s.wait_for("1000 anna")
            self.assertEqual(self.colour_of(s, r" 0 +n150 ", "92.0%"), red)
        with start("gap=-50000", rows=70) as s:
            s.wait_for("1000 anna")
            s.send("2")
            s.wait_all("clash: circular buffers end at 0x16b4c0, L1 buffers begin at 0x168000", "! clash: in both 13.19 KiB")
            self.assertEqual(self.colour_of(s, r"  ▓+█+!+", "!"), red)

    def test_the_trend_grows(self):
        with start("interval=50") as s:
            s.wait(lambda text: len(re.findall("[\u2801-\u28ff]", text)) > 0 and "⣿⣿⣿⣿" in text, "a graph")

    def test_many_devices_are_one_line_each_and_scroll(self):
        with start("devices=32", "processes=200", rows=30) as s:
            s.wait_for("devices 1-")
            self.assertIsNone(s.line_of(" 31  p150"))
            s.send("tab", "end")
            s.wait_for(" 31  p150")
            s.send("home")
            s.wait_for(" 0   n150")

    def test_the_only_device_can_be_opened(self):
        with start() as s:
            s.wait_for("1000 anna")
            s.send("tab", "enter")
            s.wait_for("L1 of one core")

    def test_two_columns_when_it_is_wide(self):
        with start("devices=4", cols=180, rows=50) as s:
            s.wait_for("1000 anna")
            self.assertRegex(s.text(), r"/dev/tenstorrent/0.*/dev/tenstorrent/1")

    def test_unknown_is_said_with_its_reason_and_is_not_zero(self):
        with start("unknown=1") as s:
            text = s.wait_for("card unknown")
            self.assertIn("not reported by any readable program", text)
            self.assertRegex(text, r"1000 anna\s+0\s+unknown")
            self.assertNotIn("0.0%", text)

    def test_rest_and_stale_bytes_have_their_lines(self):
        with start() as s:
            s.wait_for("(unattributed)")
            self.assertRegex(s.text(), r"0\.50GiB.*\(left by ended processes\)")

    def test_the_sizes_of_a_column_have_one_unit(self):
        for cols in (40, 80, 170):
            with start("processes=4", cols=cols) as s:
                s.wait_all("1000 anna" if cols > 40 else "1000 ", "COMMAND")
                text = s.text()
                head = next(line for line in text.splitlines() if " PID " in line and "COMMAND" in line)
                rows = text.split(head)[1].splitlines()
                self.assertRegex("".join(rows), r"[0-9][KMG]iB ")
                for title in re.finditer(r" (DRAM|L1|CB|MEMORY|DRAM PEAK|HOST MEM)[▽△]?(?= )", head):
                    units = {row[title.end() - 3:title.end()] for row in rows} & {"KiB", "MiB", "GiB"}
                    self.assertLessEqual(len(units), 1, (cols, title, text))

    def test_only_one_device_and_only_one_process(self):
        with start("devices=3", "device=0000:02:00.0") as s:
            s.wait_for("/dev/tenstorrent/1")
            self.assertNotIn("/dev/tenstorrent/0", s.text())
        with start("pid=1001") as s:
            s.wait_for("1001 bert")
            self.assertEqual(first_pids(s.text()), [1001])
        with start("devices=2", "device=7") as s:
            s.wait_for('None of the 2 devices matches "7"')

    def test_none_of_what_was_asked_for(self):
        with start("device=7") as s:
            s.wait_all('None of the 1 devices matches "7".', "No process uses this device.")
        with start("device=0", "pid=77") as s:
            s.wait_for('Process 77 does not use device "0".')

    def test_no_device_and_no_process(self):
        with start("devices=0", "processes=0") as s:
            s.wait_for("No device")
            s.wait_for("No process uses a device")
            s.wait_all("'tidemark doctor'", "'tidemark demo' needs no card.")

    def test_problems_are_shown_and_listed(self):
        with start("problems=3") as s:
            s.wait_for("/dev/shm/tt_device_0_memory: permission denied")
            s.send("!")
            s.wait_for("/dev/shm/tt_device_2_memory")
            s.send("esc")
            s.wait_without("/dev/shm/tt_device_2_memory")

    def test_problems_are_not_cut_on_a_narrow_terminal(self):
        with start("problems=3", rows=24, cols=80) as s:
            s.wait_for("! lists all 3 problems, the first is /dev/shm/tt_device_0_memory")
            s.send("!")
            s.wait_for("  permission denied: it belongs to another user  ")

    def test_who_could_not_be_read_may_use_a_device(self):
        with start("devices=0", "processes=0", "problems=1") as s:
            s.wait_all("no program that could be read reports one", "No process that could be read uses a device")

    def test_a_figure_that_does_not_fit_keeps_its_reason(self):
        with start("unknown=1", rows=24, cols=80) as s:
            s.wait(lambda text: re.search(r"^  DRAM .*  not reported$", text, re.M), "the reason")

    def test_a_peak_that_nobody_keeps_is_only_seen(self):
        with start("seen=1") as s:
            s.wait(lambda text: re.search(r"^  DRAM .*  highest seen +\d", text, re.M), "what was seen")
            self.assertNotRegex(s.text(), r"(?m)^  DRAM .*  peak +\d")

    def test_boards_are_no_devices(self):
        with start("devices=6", "boards=2") as s:
            s.wait_for("1000 anna")
            self.assertRegex(s.text(), r"(?m)^ *cards: +/4 +48\.9 °C +36 W +/5 +49\.0 °C +36 W +\(not known which device is on which\)")
            self.assertRegex(s.text(), r"~n150")
            self.assertRegex(s.text(), r"of ~12 GiB")
            self.assertNotIn("/dev/tenstorrent/4", s.text())

    def test_time_that_nothing_is_known_of_is_empty_in_a_graph(self):
        with start("interval=3600000", cols=100) as s:
            s.wait_for("1000 anna")
            counts = [len(re.findall("[\u2801-\u28ff]", line)) for line in s.screen.display]
            self.assertEqual(max(counts), 2, s.text())  # one picture in each of two graphs

    def test_a_virtual_device_has_its_own_name(self):
        with start("devices=2", "virtual=1", cols=150) as s:
            s.wait_all(" 1v  p150  virtual: a sum, not a real card", " 0,1v ")
            self.assertRegex(s.line_of(" 1000 anna"), r" 1\.86GiB .* 3\.72GiB ")  # of device 0, and its peak

    def test_how_to_quit_is_always_said(self):
        with start(rows=24, cols=80) as s:
            s.wait(lambda text: text.endswith("  q Quit"), "the key")
            s.resize(10, 40)
            s.wait(lambda text: text.endswith(" Focus  q Quit"), "the key on a small screen")

    def test_a_picture_that_fails_does_not_end_it(self):
        with start("failing=1", "interval=300") as s:
            s.wait_for("No figures")
            s.wait_for("1000 anna")
            s.wait_for("No figures")
            s.send("q")
            self.assertEqual(s.wait_end(), 0)

    def test_a_reading_has_its_limit(self):
        with start("limits=1") as s:
            s.wait_for("  48.5 / 75 °C  36 / 85 W  1000 MHz")
            plain = self.colour_of(s, r" 0   n150", "36 / 85")
            self.assertEqual(self.colour_of(s, r" 0   n150", "48.5"), plain)
            s.send("2")
            s.wait_all("temperature 48.5 / 75 °C", "power       36 / 85 W", "clock       1000 MHz", "voltage     not offered")
        with start("limits=92") as s:
            s.wait_for("1000 anna")
            near = self.colour_of(s, r" 0   n150", "48.5")
        with start("limits=101") as s:
            s.wait_for("1000 anna")
            self.assertEqual(len({plain, near, self.colour_of(s, r" 0   n150", "48.5")}), 3)
        with start() as s:  # no limit is made up
            s.wait_for("  48.5 °C  36 W  1000 MHz")

    def test_all_devices_together(self):
        with start("devices=2", cols=200) as s:
            s.wait_all(" all 2 devices  3 processes  DRAM 65.5% 15.72 GiB of 24 GiB  L1 83.5% 141.95 MiB of 170 MiB  CB 92.0%")
        with start("devices=2", rows=12, cols=40) as s:
            s.wait_for(" all 2 devices  DRAM 65.5%  L1 83.5%")
        with start("devices=3", "virtual=1") as s:  # it is no card
            s.wait_for(" all 2 devices ")
        with start() as s:
            s.wait_for("1000 anna")
            self.assertNotIn(" all 1 device", s.text())
        with start("devices=2", "unknown=1") as s:
            s.wait_for(" all 2 devices ")
            self.assertNotIn("0.0%", s.text())

    def test_graphs_have_a_scale_and_a_name(self):
        with start(cols=160) as s:
            text = s.wait_all("100%│", " 50%│", "  0%│", " DRAM used, % of 12 GiB ", " L1 used by buffers and CBs, % of 85 MiB ")
            self.assertRegex(text, r"└[\d.m ]+s ago ─+ DRAM used, % of 12 GiB ─+ now +└[\d.m ]+s ago ─+ L1 used")

    def test_graphs_use_the_room_and_nothing_overlaps(self):
        def heights(text):
            lines = text.split("\n")
            return [len([line for line in lines if re.match(r" +\d*%?│", line)])]
        for cols in (60, 80, 120, 200):
            with start("interval=3600000", rows=30, cols=cols) as s:
                low = heights(s.wait_for("1000"))[0]
                s.resize(70, cols)
                s.wait(lambda text: heights(text)[0] > low + 20, "higher graphs")
                for line in s.text().split("\n"):
                    if "└" in line:
                        self.assertRegex(line, r"^ +└([^─]* )?─+ (DRAM|L1)[^─]* ─+( now)? +└([^─]* )?─+ L1[^─]* ─+( now)?$")

    def test_graphs_of_a_device_use_the_room(self):
        def height(text):
            return len(re.findall(r"(?m)^ +(?:\d+%)?│", text))
        with start("buffers=4", rows=50) as s:
            s.wait_for("1000 anna")
            s.send("2")
            s.wait(lambda text: height(text) == 3, "the page is long")
            s.resize(90, 130)
            s.wait(lambda text: height(text) > 15, "higher graphs")

    def test_a_program_that_grows_is_marked(self):
        with start("growing=1", "processes=2", cols=170) as s:
            s.wait_for("[leak?] python train.py")
            self.assertRegex(s.line_of("[leak?]"), r" \+1\d\.\d\dMiB ")
            s.wait(lambda text: re.search(r" 1001 bert .* 0 +\d+m ", text), "no growth of the other")
            self.assertEqual(s.text().count("[leak?]"), 1)

    def test_freeze_stops_the_pictures(self):
        with start("interval=1000") as s:
            s.wait_for("1000 anna")
            s.send("z")
            s.wait_for(" frozen ")
            s.send("z")
            s.wait_without(" frozen ")

    def test_a_frozen_picture_has_every_screen(self):
        def clock(text):
            return re.search(r"\d\d:\d\d:\d\d", text).group(0)
        with start("interval=1000") as s:
            s.wait_for("1000 anna")
            s.send("z")
            s.wait_for(" frozen ")
            s.send("enter")
            taken = clock(s.wait_for("12 buffers"))  # buffers were not in the one before
            for key, part in (("1", "MEMORY▽"), ("3", "12 buffers"), ("4", "No event yet"), ("3", "12 buffers")):
                s.send(key)
                self.assertEqual(clock(s.wait_for(part)), taken)

    def test_buffers_go_with_their_picture(self):
        with start() as s:
            s.wait_for("1000 anna")
            s.send("enter", "/", "kv_cache", "enter", "1")
            s.wait_for("MEMORY▽")
            s.send("r", "z")
            s.wait_for(" frozen ")
            s.send("end", "3")
            s.wait_for("No process is chosen")
            s.send("n")
            s.wait_for('no line contains "kv_cache"')

    def test_compact(self):
        with start("devices=1") as s:
            s.wait_for("L1_SMALL ")
            s.send("c", "c", "c")
            s.wait(lambda text: "/dev/tenstorrent/0" not in text, "one line for a device")
            s.send("c")
            s.wait_for("/dev/tenstorrent/0")


    def test_compact_always_shows_less(self):
        with start("devices=2", "few=1", rows=20, cols=80) as s:  # no room for graphs, nor for every kind in its own block
            s.wait_for("1000 anna")
            self.assertEqual(s.text().count("\n  CB "), 2)
            s.send("c")
            s.wait(lambda text: "\n  CB " not in text, "less")
            s.send("c")
            s.wait(lambda text: "\n  CB " in text or "\n  DRAM " not in text, "less again, or all")
        with start("devices=20", rows=20, cols=80) as s:
            s.wait_for("1000 anna")
            s.send("c")
            s.wait_for("there is no room for more of each device")


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
            s.send(",", ",")
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
            self.chosen_is(s, 1001)
            s.send("n")
            self.chosen_is(s, 1006)
            s.send("N")
            self.chosen_is(s, 1001)
            s.send("/", "nothing like it")
            s.wait_for("no line contains")
            s.send("esc")
            s.wait_without("Search")

    def chosen_is(self, s, pid):
        def is_chosen(_):
            for y, line in enumerate(s.screen.display):
                if re.match(rf"\s+{pid} ", line):
                    return s.screen.buffer[y][0].bg != "default"
            return False
        s.wait(is_chosen, f"{pid} to be chosen")

    def test_moving(self):
        with start("processes=100") as s:
            s.wait_for("1000 anna")
            s.send("down", "down")
            self.chosen_is(s, 1002)
            s.send("j")
            self.chosen_is(s, 1003)
            s.send("up")
            self.chosen_is(s, 1002)
            s.send("pgdn")
            s.wait(lambda text: "1000 anna" not in text or 1015 in first_pids(text), "a page")
            s.send("home")
            self.chosen_is(s, 1000)

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
            self.chosen_is(s, 1001)


class OtherScreens(unittest.TestCase):
    def test_a_process_and_its_buffers(self):
        with start("buffers=50") as s:
            s.wait_for("1000 anna")
            s.send("enter")
            s.wait_all("user anna", "devices 0", "started 2023-11-14", "phase forward", "lost events 0", "faults 0",
                       "out of memory 0", "RESERVED", "kv_cache", "matmul_program", "0x")
            s.send("esc")
            s.wait_for("MEMORY▽")

    def test_buffers_are_sorted_grouped_and_searched(self):
        with start("buffers=50") as s:
            s.wait_for("1000 anna")
            s.send("enter")
            s.wait_for("50 buffers")
            s.send("s")
            s.wait_for("sorted by age")
            s.send("g")
            s.wait_for("sites")
            self.assertIn("OLDEST", s.text())
            s.send("g")
            s.wait_for("50 buffers")
            s.send("f4", "kv_cache", "enter")
            s.wait_all("buffers, filtered", 'only "kv_cache": Esc shows all')
            body = s.text().split("RESERVED")[1]
            self.assertIn("kv_cache", body)
            self.assertNotIn("activations", body)
            s.send("esc")
            s.wait_for("activations")

    def test_the_number_of_buffers_is_that_of_the_list(self):
        with start("buffers=50", rows=70) as s:
            s.wait_for("1000 anna")
            s.send("enter")
            text = s.wait_for("50 buffers")
            counts = re.findall(r"(?m)^  0 +([A-Z]\w+) +\S+ \w?i?B +\S+ \w?i?B +(\d+) ", text)
            listed = re.findall(r"(?m)^ ([A-Z]\w+) +0 +0x", text)
            self.assertEqual(len(listed), 50)
            self.assertEqual({kind: int(count) for kind, count in counts if count != "0"},
                             {kind: listed.count(kind) for kind in set(listed)}, text)

    def test_keys_that_come_with_the_one_that_opens_it(self):
        with start() as s:
            s.wait_for("1000 anna")
            for _ in range(2):
                os.write(s.master, b"\r/model.py\r")
                s.wait_for("model.py:120")
                lines = [y for y, line in enumerate(s.screen.display) if "model.py:120" in line]
                self.assertNotEqual(s.screen.buffer[lines[0]][0].bg, "default", s.text())
                os.write(s.master, b"1")
                s.wait_for("MEMORY▽")

    def test_a_hundred_thousand_buffers(self):
        with start("buffers=100000") as s:
            s.wait_for("1000 anna")
            s.send("enter")
            s.wait_for("100,000 buffers")
            s.send("end")
            s.send("g")
            s.wait_for("sites")
            s.send("q")
            self.assertEqual(s.wait_end(), 0)

    def test_a_process_without_a_ledger(self):
        with start("failing=1", "interval=400") as s:
            s.wait_for("1000 anna")
            s.send("enter")
            s.wait_for("has no readable ledger")

    def test_a_device_and_its_map(self):
        with start("buffers=40", rows=70) as s:
            s.wait_for("1000 anna")
            s.send("2")
            s.wait_all("DRAM by address: 12 banks of", "fragmentation", "largest hole", "L1 of one core",
                       "between circular buffers and L1 buffers", "circular buffers, growing up", "L1 core by core",
                       "of 1464 KiB", "not offered", "unattributed", "left by ended processes",
                       "metal_shm says 33 MiB; 2 processes known only to it have 1 MiB")

    def test_devices_one_after_the_other(self):
        with start("devices=3") as s:
            s.wait_for("1000 anna")
            s.send("2")
            s.wait_for("(1 of 3)")
            s.send("right")
            s.wait_for("(2 of 3)")
            s.send("left", "left")
            s.wait_for("(1 of 3)")

    def test_a_long_page_scrolls(self):
        with start(rows=20) as s:
            s.wait_for("1000 anna")
            s.send("2")
            s.wait_for("lines 1-18 of")
            self.assertNotIn("Largest holes", s.text())
            s.send("end")
            s.wait_for("Largest holes")
            self.assertRegex(s.text().split("\n")[-1], r" q Quit +lines (\d+)-(\d+) of \2$")

    def test_positions_hide_nothing(self):
        with start("buffers=50", rows=24, cols=80) as s:
            s.wait_for("1000 anna")
            s.send("2")
            s.wait_all("Wormhole  chip 0x1a2b3c4d5e00", "lines 1-22 of")
            s.send("3")
            s.wait_all("SITE  PROGRAM", " 50 buffers")
        with start("devices=20", rows=24, cols=80) as s:
            s.wait_all("COMMAND by MEMORY▽", "devices 1-")
            s.send("3")
            s.wait_for("\n  and 94 more lines\n")
            self.assertEqual(s.text().count("  ledger\n"), 5)

    def test_a_device_on_a_narrow_terminal(self):
        with start(rows=60, cols=80) as s:
            s.wait_for("1000 anna")
            s.send("2")
            s.wait_all("circular buffers, growing up", "L1 buffers, growing down", "free between them")
            self.assertEqual(len(re.findall(r"fragmentation \d+\.\d%", s.text())), 2)  # of DRAM and of L1

    def test_a_device_without_a_card_says_so_once(self):
        with start("nocard=1") as s:
            s.wait_for("1000 anna")
            s.send("2")
            s.wait_for("telemetry unknown: no card of the driver is known to be this device")
            self.assertNotIn("not offered", s.text())

    def test_sites_and_names_have_room_on_a_narrow_terminal(self):
        with start(rows=24, cols=80) as s:
            s.wait_for("1000 anna")
            s.send("3")
            s.wait_all("weights.q_proj", "optimizer.state", "matmul_program", "SITE  PROGRAM")
            s.send("4")
            s.wait_all("BYTES  NAME", "weights.q_proj-")

    def test_columns_stay_apart_on_a_narrow_terminal(self):
        for cols in (40, 52, 60):
            with start(rows=24, cols=cols) as s:
                s.wait_for("1000")
                s.send("3")
                text = s.wait_for("USED")
                lines = re.findall(r"(?m)^  0 +\w+ +\d.*$", text)
                self.assertEqual(len(lines), 5)
                for line in lines:
                    self.assertRegex(line, r"^  0 +\w+ +[\d.]+ .iB +[\d.]+ .iB( +\d+( +[\d.]+%( .*)?)?)?$")

    def test_what_matters_has_room_on_a_tiny_terminal(self):
        with start(rows=10, cols=40) as s:
            s.wait_for("1000")
            s.send("3")
            s.wait_all("RESERVED  SITE", "activations", "MiB")
            s.send("g")
            s.wait(lambda text: re.search(r"^ KIND +RESERVED  SITE", text, re.M), "sites")
            s.send("4")
            s.wait(lambda text: re.search(r"^ +1\d{3}  alloc +DRAM +\S+ KiB", text, re.M), "bytes")

    def test_events_come_between_two_pictures(self):
        with start("interval=3600000") as s:
            s.wait_for("1000 anna")
            s.send("4")
            s.wait(lambda text: re.search(r"^ \d\d+ events", text, re.M), "more than one look")

    def test_events_come_and_can_be_chosen(self):
        with start() as s:
            s.wait_for("1000 anna")
            s.send("4")
            s.wait_for("events are missing here")
            s.wait_for("released twice")
            s.send("o")
            s.wait_for("op alloc")
            s.wait(lambda text: "phase" not in text.split("NAME")[1], "allocations only")
            s.send("o", "o", "o", "o", "o")
            s.wait_for("op all ")
            s.send("m", "m")
            s.wait_for("memory L1 ")
            s.send("f")
            s.wait_for("process 1000")
            s.send("f4", "kv_cache", "enter")
            s.wait_for('only "kv_cache"')

    def test_events_scroll_back_and_follow_again(self):
        with start("interval=50", rows=12) as s:
            s.wait_for("1000 anna")
            s.send("4")
            s.wait(lambda text: re.search(r"^ \d\d events|^ \d{3} events", text, re.M), "many events")
            s.send("up")
            s.wait_for("scrolled back")
            s.send("end")
            s.wait_without("scrolled back")

    def test_help_has_every_key(self):
        with start(rows=60) as s:
            s.wait_for("1000 anna")
            s.send("?")
            s.wait_all("F1 h ?", "F9 k", "Ctrl-L", "q F10", "Tab", "Space", "+ - I", "Colours", "90 % or more")
            s.send("esc")
            s.wait_without("Keys (and")

    def test_nothing_of_the_help_is_cut_off(self):
        with start(rows=24, cols=80) as s:
            s.wait_for("1000 anna")
            s.send("?")
            s.wait_all("F1 h ?", "PgDn: more")
            self.assertNotIn("…", s.text())
            s.send("pgdn")
            s.wait_for("q F10")
            self.assertNotIn("…", s.text())
            s.send("end")
            s.wait(lambda text: "model of the card" in text and "PgDn: more" not in text, "the end")
            self.assertNotIn("…", s.text())

    def test_tabs(self):
        with start() as s:
            s.wait_for("1000 anna")
            for key, part in (("2", "L1 of one core"), ("3", "buffers"), ("4", "RESERVED"), ("1", "MEMORY▽")):
                s.send(key)
                s.wait_for(part)


class Looks(unittest.TestCase):
    def test_ascii_only(self):
        for key in "1234":
            with start("ascii=1", "devices=2") as s:
                s.wait_for("1000 anna")
                s.send(key)
                s.wait_for({"1": "MEMORYv", "2": "L1 of one core", "3": "buffers", "4": "events"}[key])
                self.assertTrue(s.bytes.isascii())

    def test_a_locale_without_utf8(self):
        with start(env={"LC_ALL": "C"}) as s:
            s.wait_for("MEMORYv")
            self.assertTrue(s.bytes.isascii())

    def test_no_colour_at_all(self):
        with start("no_colour=1", "devices=2", "moving=1") as s:
            s.wait_for("1000 anna")
            for key in "2341":
                s.send(key)
                s.read(0.3)
            s.send("f9")
            s.wait_for("Signal to")
            s.send("esc")
            s.wait_without("Signal to")
            s.send("q")
            s.wait_end()
            for sequence in re.findall(rb"\x1b\[([0-9;]*)m", s.bytes):
                for number in sequence.split(b";"):
                    self.assertNotIn(int(number or 0), (*range(30, 50), *range(90, 108)), sequence)
            self.assertNotIn(b"\x1b]", s.bytes)

    def test_eight_colours(self):
        with start(term="screen") as s:
            s.wait_for("1000 anna")
            self.assertNotIn(b"38;5", s.bytes)

    def test_hostile_names(self):
        with start("hostile=1", "processes=6") as s:
            text = s.wait_for("漢字の名前")
            self.assertIn("[31mred", text)  # the escape itself is gone
            self.assertNotIn(b"\x1b[31mred", s.bytes)
            self.assertNotIn(b"\a", s.bytes)
            self.assertNotIn("\u202e".encode(), s.bytes)
            s.send("enter")
            s.wait_for("buffers")
            s.send("q")
            self.assertEqual(s.wait_end(), 0)

    def test_it_fits_every_size(self):
        with start("devices=5", "processes=40") as s:
            s.wait_for("1000 anna")
            for key in "1234":
                s.send(key)
                for rows, cols in ((5, 20), (4, 19), (1, 1), (2, 300), (100, 2), (24, 80), (100, 300), (10, 40), (6, 24)):
                    s.resize(rows, cols)
                    s.wait(lambda text: ("too small" in text or "too sma" in text or cols < 10)
                           if rows < 5 or cols < 20 else f"{key} " in text.split("\n")[0], f"{rows} x {cols}")
                    self.assertIsNone(s.ended())
            s.send("?")
            s.resize(5, 20)
            s.read(0.2)
            s.resize(30, 100)
            s.wait_for("Keys (and")

    def test_a_hundred_rows_of_three_hundred_columns(self):
        with start("devices=32", "processes=300", rows=100, cols=300) as s:
            s.wait_for("1000 anna")
            self.assertIn(" 31  p150", s.text())


if __name__ == "__main__":
    unittest.main()
