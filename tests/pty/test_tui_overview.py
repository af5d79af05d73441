"""What the first screen shows of devices and of the machine."""

import re
import unittest

from tui import first_pids, start


class Overview(unittest.TestCase):
    def test_a_device_with_all_its_figures(self):
        with start() as s:
            s.wait_all("n150", "/dev/tenstorrent/0", "0000:01:00.0", "48.5 °C", "36.0 W", "1000 MHz", "3 processes",
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
            s.wait_for("clash: circular buffers end at 0x16b4c0, L1 buffers begin at 0x168000; both claim 13.19 KiB")
            self.assertEqual(self.colour_of(s, r" +clash: circular buffers end", "clash"), red)

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
            s.wait_for("DRAM: 12 banks of")

    def test_two_columns_when_it_is_wide(self):
        with start("devices=4", cols=180, rows=50) as s:
            s.wait_for("1000 anna")
            self.assertRegex(s.text(), r"/dev/tenstorrent/0.*/dev/tenstorrent/1")

    def test_unknown_is_said_with_its_reason_and_is_not_zero(self):
        with start("unknown=1") as s:
            text = s.wait_for("card unknown")
            self.assertIn("not reported by any readable program", text)
            self.assertRegex(text, r"1000 anna\s+0\s+-")
            self.assertNotIn("0.0%", text)

    def test_rest_and_stale_bytes_have_their_lines(self):
        with start() as s:
            s.wait_for("(unattributed)")
            self.assertRegex(s.text(), r"0\.50GiB.*\(stale\)")

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
            s.wait_for('none of the 2 devices matches "7"')

    def test_none_of_what_was_asked_for(self):
        with start("device=7") as s:
            s.wait_all('none of the 1 devices matches "7".', "No process uses this device.")
        with start("device=0", "pid=77") as s:
            s.wait_for('no process 77 is known to use device "0".')

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
            s.wait_all("no card and no tracked process is visible", "No process that could be read uses a device")

    def test_a_figure_that_does_not_fit_keeps_its_reason(self):
        with start("unknown=1", rows=24, cols=80) as s:
            s.wait(lambda text: re.search(r"^  DRAM .*  not reported$", text, re.M), "the reason")

    def test_a_peak_that_nobody_keeps_is_only_seen(self):
        with start("seen=1") as s:
            s.wait(lambda text: re.search(r"^  DRAM .*  highest seen +\d", text, re.M), "what was seen")
            self.assertNotRegex(s.text(), r"(?m)^  DRAM .*  peak +\d")

    def test_an_estimate_is_marked(self):
        with start("estimated=1") as s:
            s.wait(lambda text: re.search(r"^  DRAM .* ~7\.44 GiB of 12 GiB  free +~4\.56 GiB .*  peak +~8\.58 GiB", text, re.M),
                   "its mark")
            self.assertRegex(s.text(), r"(?m)^ +\d+ anna .* ~\d+\.\d+GiB +~\d+\.\d+MiB")

    def test_boards_are_no_devices(self):
        with start("devices=6", "boards=2") as s:
            s.wait_for("1000 anna")
            self.assertRegex(s.text(), r"(?m)^ *cards: +/4 +48\.9 °C +36\.0 W +/5 +49\.0 °C +36\.0 W +\(not known which device is on which\)")
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

    def test_a_reading_has_its_limit(self):
        with start("limits=1") as s:
            s.wait_for("  48.5 / 75 °C  36.0 / 85 W  1000 MHz")
            plain = self.colour_of(s, r" 0   n150", "36.0 / 85")
            self.assertEqual(self.colour_of(s, r" 0   n150", "48.5"), plain)
            s.send("2")
            s.wait_all("temperature 48.5 / 75 °C", "power       36.0 / 85 W", "clock       1000 MHz", "voltage     not offered")
        with start("limits=92") as s:
            s.wait_for("1000 anna")
            near = self.colour_of(s, r" 0   n150", "48.5")
        with start("limits=101") as s:
            s.wait_for("1000 anna")
            self.assertEqual(len({plain, near, self.colour_of(s, r" 0   n150", "48.5")}), 3)
        with start() as s:  # no limit is made up
            s.wait_for("  48.5 °C  36.0 W  1000 MHz")

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
        with start("buffers=4", rows=40) as s:
            s.wait_for("1000 anna")
            s.send("2")
            s.wait(lambda text: height(text) == 3, "the page is long")
            s.resize(90, 130)
            s.wait(lambda text: height(text) > 15, "higher graphs")

    def test_a_program_that_grows_is_marked(self):
        with start("growing=1", "processes=2", cols=170) as s:
            s.wait_for("[leak?] python train.py")
            self.assertRegex(s.line_of("[leak?]"), r" \+1\d\.\d\dMiB ")
            s.wait(lambda text: re.search(r" 1001 bert .*\+0 B +\d+m ", text), "no growth of the other")
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


if __name__ == "__main__":
    unittest.main()
