"""What traces may have overwritten, and figures that differ from the runtime's."""

import unittest

from tui import start


class Findings(unittest.TestCase):
    def test_the_overview_marks_the_process(self):
        with start("hazards=1", "processes=2") as s:
            s.wait_for("1001 bert")
            self.assertIn("[trace] python train.py", s.line_of("1000 anna"))
            self.assertNotIn("[trace]", s.line_of("1001 bert"))

    def test_the_box_has_both_stacks_and_advice(self):
        with start("hazards=1", "devices=2", rows=40, cols=120) as s:
            s.wait_for("1000 anna")
            s.send("w")
            s.wait_all("Findings", "1000 prog0", "kv_cache: 6 dram buffers of 4 MiB on 2 devices",
                       "allocated in model.py:10 forward", "replayed in model.py:90 generate",
                       "Allocate such buffers before the first capture", "activations: 6 dram buffers",
                       "device 0, dram: the runtime's allocator has 4,096 B in each bank, Tidemark counted 1,024 B")
            s.resize(20, 60)
            s.wait_all("Findings", "allocated in model.py:10 forward", "PgDn: more")
            s.send("pgdn")
            s.wait_for("Tidemark counted")
            s.send("w")
            s.wait_without("Findings")

    def test_the_process_screen_counts_them(self):
        with start("hazards=1") as s:
            s.wait_for("1000 anna")
            s.send("home", "enter")
            s.wait_for("trace hazards 3 (w)")
            s.send("w")
            s.wait_for("kv_cache: 3 dram buffers")
            s.send("esc", "1")
            s.wait_for("1001 bert")
            s.send("down", "enter")
            s.wait_for("1001  ./resnet50")
            self.assertNotIn("trace hazards", s.text())
            s.send("w")
            s.wait_for("There is nothing to say")

    def test_the_device_screen_has_the_runtimes_figure(self):
        with start("hazards=1") as s:
            s.wait_for("1000 anna")
            s.send("2")
            s.wait_for("DRAM of process 1000: its runtime has 4,096 B in each bank, 1,024 B were counted")

    def test_names_cannot_harm_the_terminal(self):
        with start("hazards=1", "hostile=1") as s:
            s.wait_for("1000 anna")
            s.send("w")
            s.wait_for("Findings")
            self.assertNotIn(b"\033[31mred", s.bytes)
            for size in ((5, 20), (2, 300), (100, 300), (24, 80)):
                s.resize(*size)
                s.read(0.1)
                self.assertIsNone(s.ended())


if __name__ == "__main__":
    unittest.main()
