"""What the other screens show, what keys do there, and how all of it looks."""

import os
import re
import unittest

from tui import start


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
            s.send("f4", "matmul_PROGRAM", "enter")
            s.wait_for("10 buffers, filtered")

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
        with start("buffers=40", rows=100) as s:
            s.wait_for("1000 anna")
            s.send("2")
            s.wait_all("DRAM: 12 banks of", "from 0x20 to 0x40000000", "fragmentation", "largest hole", "L1 of one core",
                       "between circular buffers and L1 buffers", "circular buffers grow up", "L1 core by core",
                       "of 1464 KiB", "not offered", "unattributed", "left by ended processes",
                       "metal_shm counts 33 MiB, 1 MiB of it in 2 processes that ledger does not know")

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
            self.assertNotIn("L1 core by core", s.text())
            s.send("end")
            s.wait_for("L1 core by core")
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
            self.assertEqual(len(re.findall(r"fragmentation \d+\.\d ?%", s.wait_for("L1 buffers grow down"))), 2)  # of DRAM and of L1
            s.send("end")
            s.wait_all("circular buffers grow up", "L1 core by core")

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
            s.wait_for("op step")
            s.send("o")
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
            for key in ("f1", "h", "?"):
                s.send(key)
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
            for key, part in (("2", "DRAM: 12 banks of"), ("3", "buffers"), ("4", "RESERVED"), ("1", "MEMORY▽")):
                s.send(key)
                s.wait_for(part)


class Looks(unittest.TestCase):
    def test_ascii_only(self):
        for key in "1234":
            with start("ascii=1", "devices=2") as s:
                s.wait_for("1000 anna")
                s.send(key)
                s.wait_for({"1": "MEMORYv", "2": "DRAM: 12 banks of", "3": "buffers", "4": "events"}[key])
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
