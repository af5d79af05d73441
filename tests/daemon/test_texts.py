"""What the daemon prints, word for word."""

import fcntl
import os
import signal
import unittest

from server import *


class Texts(DaemonTest):
    def new_text(self):
        """What came since the last call; all that a client has caused, once it got an answer."""
        text = self.text()
        new, self.seen = text[self.seen:], len(text)
        return new

    def start(self, *options, **keys):
        process = super().start(*options, **keys)
        self.seen = len(self.text())
        return process

    def expect(self, text):
        self.wait_for(lambda: len(self.text()) >= self.seen + len(text), repr(text))
        self.assertEqual(self.new_text(), text)

    def test_the_start(self):
        self.start()
        self.assertEqual(self.text(), "🔍 Device detection (from the driver):\n   No devices detected\n"
                         "   Server will track allocations anyway\n🚀 Allocation Server started\n"
                         f"   Listening on: {self.path}\n   Press Ctrl+C to stop\n")

    def test_a_line_for_each_event(self):
        self.start()
        pid = os.getpid()
        client = self.client(144)
        client.send(ALLOC, 0, 16777216, L1, id=0x1a0000)
        client.send(ALLOC, 0, 24576, L1, id=0x50003000a0000)
        client.send(ALLOC, 0, 1, SYSTEM, id=2**64 - 1)
        client.send(ALLOC, 7, 12, L1_SMALL, id=0)
        client.send(ALLOC, 7, 12, TRACE, id=0)
        client.send(ALLOC, 7, 12, DRAM, id=9)
        client.send(ALLOC, 7, 13, DRAM, id=9)
        client.send(FREE, 0, id=0x1a0000)
        client.send(FREE, 0, id=0x1a0000)
        client.send(CB_ALLOC, 0, 1572864, id=1)
        client.send(CB_FREE, 0, 0, id=1)
        client.send(CB_FREE, 0, 0, id=1)
        client.send(LOAD, 1, 51200, 0, id=1)
        client.send(LOAD, 1, 51200, 1, id=2)
        client.send(LOAD, 1, 51200, 2, id=3)
        client.send(LOAD, 1, 51200, 77, id=4)
        client.send(UNLOAD, 1, 1, 0, id=2)
        client.query()
        self.expect(f"""\
✓ [PID {pid}] Allocated 16777216 bytes of L1 on device 0 (buffer_id=0x1a0000)
✓ [PID {pid}] Allocated 24576 bytes of L1 on device 0 (buffer_id=0x50003000a0000)
✓ [PID {pid}] Allocated 1 bytes of SYSTEM_MEMORY on device 0 (buffer_id=0xffffffffffffffff)
✓ [PID {pid}] Allocated 12 bytes of L1_SMALL on device 7 (buffer_id=0x0)
✓ [PID {pid}] Allocated 12 bytes of TRACE on device 7 (buffer_id=0x0)
✓ [PID {pid}] Allocated 12 bytes of DRAM on device 7 (buffer_id=0x9)
⚠ [PID {pid}] Buffer reused with DIFFERENT size: old=12 new=13 (buffer_id=0x9, device=7)
✓ [PID {pid}] Allocated 13 bytes of DRAM on device 7 (buffer_id=0x9)
✗ [PID {pid}] Freed buffer 0x1a0000 on device 0 (16777216 bytes, FINAL)
⚠ [PID {pid}] Deallocation for unknown buffer 0x1a0000 on device 0 (allocated before tracking started)
✓ [CB_ALLOC] Device 0: +1.5 MB (Total: 1.5 MB)
✗ [CB_FREE] Device 0: -1.5 MB (Total: 0 MB)
⚠ [PID {pid}] Deallocation for unknown buffer 0x1 on device 0 (allocated before tracking started)
✓ [KERNEL_LOAD] Application kernel on Device 1: +0.0488281 MB (Total: 0.0488281 MB)
✓ [KERNEL_LOAD] Fabric kernel on Device 1: +0.0488281 MB (Total: 0.0976562 MB)
✓ [KERNEL_LOAD] Dispatch kernel on Device 1: +0.0488281 MB (Total: 0.146484 MB)
✓ [KERNEL_LOAD] Unknown kernel on Device 1: +0.0488281 MB (Total: 0.195312 MB)
✗ [KERNEL_UNLOAD] Fabric kernel on Device 1: -0.0488281 MB (Total: 0.146484 MB)
""")

    def test_warnings(self):
        self.start()
        client = self.client(72)
        client.send(ALLOC, -3, 10, DRAM, id=1)
        client.send(ALLOC, 0, 0, DRAM, id=2)
        client.send(ALLOC, 0, 107374182401, DRAM, id=3)
        client.send(ALLOC, 5, 10, 9, id=44)
        for _ in range(10):
            client.send(RESPONSE)
        self.assertEqual(client.socket.recv(1), b"")
        self.expect("⚠️  Invalid device_id -3 - ignoring message\n"
                    "⚠️  Invalid size 0 - ignoring message\n"
                    "⚠️  Invalid size 107374182401 - ignoring message\n"
                    "⚠️  Invalid buffer_type 9 for buffer 44 on device 5\n" + "Unknown message type: 4\n" * 10 +
                    "⚠️  Too many consecutive errors (10) - closing connection (likely protocol mismatch)\n")

    def test_an_allocation_without_room_for_the_ledger(self):
        os.rmdir(self.shm)
        self.start()
        client = self.client()
        client.send(ALLOC, 0, 10, DRAM, id=0x30)
        client.send(ALLOC, 0, 10, DRAM, id=0x40)
        client.send(FREE, 0, id=0x30)
        pid = os.getpid()
        self.expect(f"⚠ [PID {pid}] No room to record buffer 0x30 on device 0: No such file or directory\n"
                    f"⚠ [PID {pid}] No room to record buffer 0x40 on device 0: No such file or directory\n"
                    f"⚠ [PID {pid}] Deallocation for unknown buffer 0x30 on device 0 (allocated before tracking started)\n")

    def test_the_process_id_in_the_messages_is_told_once(self):
        self.start()
        client = self.client()
        for i in (1, 2):
            client.send(ALLOC, 0, 10, DRAM, id=i, pid=7)
        pid = os.getpid()
        self.expect(f"⚠ [PID {pid}] Its messages name process 7\n"
                    f"✓ [PID {pid}] Allocated 10 bytes of DRAM on device 0 (buffer_id=0x1)\n"
                    f"✓ [PID {pid}] Allocated 10 bytes of DRAM on device 0 (buffer_id=0x2)\n")

    def test_the_list_of_what_remains(self):
        daemon = self.start("--quiet")
        pid = os.getpid()
        client = self.client()
        client.send(DUMP)
        self.expect("📋 Received DUMP_REMAINING request...\n" + PERFECT + "📋 DUMP_REMAINING complete.\n")
        for i in range(143):
            client.send(ALLOC, 0, 934600, L1, id=0x100000 + i)
        client.send(ALLOC, 10, 24576, DRAM, id=0x40003000)
        client.send(ALLOC, 0, 24576, DRAM, id=0x40003000)
        client.send(ALLOC, 0, 12288, DRAM, id=0x40000000)
        client.send(ALLOC, 2, 1000, TRACE, id=5)
        client.send(CB_ALLOC, 3, 1000, id=5)
        client.query()
        text = REMAINING + f"""Total tracked allocations: 147

Device 0:
  DRAM: 2 buffers, 0.0351562 MB total
    - Buffer 0x40000000: 12 KB (PID {pid}, ref_count=1)
    - Buffer 0x40003000: 24 KB (PID {pid}, ref_count=1)
  L1: 143 buffers, 127.456 MB total
Device 2:
  TRACE: 1 buffers, 0.000953674 MB total
    - Buffer 0x5: 0.976562 KB (PID {pid}, ref_count=1)
Device 10:
  DRAM: 1 buffers, 0.0234375 MB total
    - Buffer 0x40003000: 24 KB (PID {pid}, ref_count=1)

Total remaining buffers: 147

"""
        daemon.send_signal(signal.SIGUSR1)
        self.expect(text)
        client.send(DUMP)
        self.expect("📋 Received DUMP_REMAINING request...\n" + text + "📋 DUMP_REMAINING complete.\n")
        done = self.tidemark("dump", "--server", "--socket", self.path)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, text, ""))
        self.assertEqual(self.new_text(), "")

    def test_the_end_is_a_last_report(self):
        daemon = self.start("--quiet")
        client = self.client()
        client.send(ALLOC, 0, 4096, L1, id=0xab)
        client.query()
        daemon.terminate()
        self.assertEqual(daemon.wait(), 0)
        text = self.new_text()
        self.assertTrue(text.startswith("📊 Current Statistics:\n  Device 0:\n    Buffers: 1\n    DRAM: 0 bytes (0 KB)\n"
                                        "    L1: 4096 bytes (4 KB)\n    Total: 4096 bytes\n  Active allocations: 1\n"), text)
        self.assertTrue(text.endswith(
            REMAINING + f"Total tracked allocations: 1\n\nDevice 0:\n  L1: 1 buffers, 0.00390625 MB total\n"
            f"    - Buffer 0xab: 4 KB (PID {os.getpid()}, ref_count=1)\n\nTotal remaining buffers: 1\n\n"
            "🛑 Allocation Server stopped\n"), text)

    def test_the_last_report_tells_what_ended_processes_left(self):
        daemon = self.start("--quiet")
        for _ in range(2):
            other = self.other_process("c.send(ALLOC, 0, 524288, L1, id=0x20); c.send(CB_ALLOC, 1, 0, id=0x20); c.query()")
            other.wait()
        daemon.terminate()
        self.assertEqual(daemon.wait(), 0)
        self.assertTrue(self.new_text().endswith(
            PERFECT + f"⚠ Ended processes have left 4 buffers (1 MB); their ledgers are in {self.shm}, older ones in "
            f"{self.folder}/state/tidemark\n🛑 Allocation Server stopped\n"), self.text())

    def test_kernels(self):
        self.start("--quiet")
        client = self.client(128)
        client.send(LOAD, 3, 51200, 1, id=0xfab)
        client.send(DUMP_KERNELS)
        self.expect("📋 Received DUMP_KERNELS request...\n" + KERNELS + f"""Total kernel allocations: 1

📊 Device 3 - Total: 0.0488281 MB (1 kernels)
  ├─ Kernel ID: 0xfab
  │  Type: Fabric
  │  Size: 50 KB
  │  Owner PID: {os.getpid()}
  │  Age: 0 seconds

📋 DUMP_KERNELS complete.
""")

    def test_the_next_daemon_knows_the_types_of_kernels(self):
        daemon = self.start("--quiet")
        client = self.client(144)
        client.send(LOAD, 3, 51200, 1, id=0xfab)
        client.send(LOAD, 3, 51200, 2, id=0xfac)
        client.query()
        daemon.kill()
        daemon.wait()
        self.start()
        client = self.client(144)
        self.assertIn("Kernel ID: 0xfab\n  │  Type: Fabric\n", self.ask("kernels"))
        client.send(UNLOAD, 3, 51200, id=0xfac)
        client.query(3)
        self.wait_text("✗ [KERNEL_UNLOAD] Dispatch kernel on Device 3: -0.0488281 MB (Total: 0.0488281 MB)\n")

    def test_statistics_come_by_signal_by_question_and_by_time(self):
        daemon = self.start("--quiet")
        daemon.send_signal(signal.SIGUSR2)
        self.wait_text("  Lines lost: 0\n")
        self.assertEqual(self.new_text().replace("Connections open: 0", "Connections open: 1")
                         .replace("start: 0", "start: 1"), self.ask("statistics"))
        os.unlink(self.path)
        self.start("--quiet", "--statistics=10ms")
        self.wait_for(lambda: self.text().count("📊 Current Statistics:\n") >= 3, "statistics")

    def test_log_reads_these_lines(self):
        self.start()
        client = self.client()
        client.send(ALLOC, 0, 4096, L1, id=0xab)
        client.send(FREE, 0, id=0xab)
        client.query()
        self.wait_text("FINAL")
        done = self.tidemark("log", "--json", self.out)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_quiet_prints_no_line_for_an_event(self):
        self.start("--quiet")
        client = self.client()
        client.send(ALLOC, 0, 4096, L1, id=0xab)
        client.send(FREE, 0, id=0xab)
        client.send(FREE, 0, id=0xab)
        client.send(ALLOC, -1, 4096, L1, id=0xab)
        client.query()
        client.send(DUMP)
        self.wait_text("📋 DUMP_REMAINING complete.\n")
        self.assertTrue(self.new_text().startswith("📋 Received"), self.text())

    def test_a_full_pipe_costs_lines_and_nothing_else(self):
        read_end, write_end = os.pipe()
        fcntl.fcntl(write_end, fcntl.F_SETPIPE_SZ, 4096)
        daemon = self.spawn(self.command(), stdout=write_end)
        os.close(write_end)
        self.out = os.devnull
        self.wait_for(lambda: os.path.exists(self.path), "the socket")
        client = self.client()
        for i in range(40000):
            client.send(ALLOC, 0, 10, DRAM, id=i)
        self.assertEqual(client.query()[0], 400000)
        lost = self.statistic("Lines lost")
        self.assertGreater(lost, 1000)
        with os.fdopen(read_end, encoding="utf-8") as pipe:
            text = ""
            while "were lost" not in text:
                line = pipe.readline()
                text += line
            self.assertIn(f"⚠ {lost} lines were lost, because the output was not read fast enough\n", text)
            self.assertGreater(text.count("Allocated"), 1000)
            self.assertEqual(text.count("Allocated") + lost, 40000)
        daemon.terminate()
        daemon.wait()

    def test_asking_without_a_server(self):
        for arrange, text in ((lambda: None, f"no server listens on {self.path}; 'tidemarkd' is one"),):
            arrange()
            done = self.tidemark("dump", "--server", "--socket", self.path)
            self.assertEqual((done.returncode, done.stderr), (2, f"tidemark dump: {text}\n"))

    def test_asking_another_server(self):
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(self.path)
            listener.listen()
            process = self.spawn([os.path.join(BIN, "tidemark"), "dump", "--server", "--socket", self.path],
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            connection, _ = listener.accept()
            connection.recv(100)
            connection.close()
            self.assertEqual(process.communicate(),
                             ("", f"tidemark dump: the server on {self.path} does not answer: it is not tidemarkd\n"))
            process.stderr.close()
            process = self.spawn([os.path.join(BIN, "tidemark"), "dump", "--server", "--socket", self.path],
                                 stdout=subprocess.PIPE, text=True)
            connection, _ = listener.accept()
            connection.recv(100)
            connection.sendall("good\x1b[2Jline ✓\n\xff".encode("latin-1", "ignore") + b"\xe2\x9c")
            connection.close()
            self.assertEqual(process.communicate()[0][:14], "good?[2Jline \n")


if __name__ == "__main__":
    unittest.main()
