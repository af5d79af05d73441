"""Where the daemon's socket is: names that are taken, daemons after each other, systemd, the background."""

import contextlib
import os
import re
import signal
import socket
import stat
import unittest

from server import *


class Names(DaemonTest):
    def refused(self, *options, **keys):
        process = self.start(*options, **keys)
        self.assertEqual(process.wait(), 2)
        return self.text()

    def test_a_second_daemon_is_refused_and_the_first_goes_on(self):
        self.start()
        client = self.client()
        client.send(ALLOC, 0, 10, DRAM, id=1)
        self.assertEqual(self.refused(),
                         f"tidemarkd: another server listens on {self.path}; --replace takes over from it\n")
        self.assertEqual(client.query()[0], 10)
        self.assertEqual(self.client().query()[0], 10)

    def test_a_socket_that_nobody_listens_on_is_replaced(self):
        with socket.socket(socket.AF_UNIX) as old:
            old.bind(self.path)
        self.start()
        self.assertEqual(self.client().query(), (0, 0, 0, 0))
        self.assertEqual(os.listdir(self.folder).count("sock"), 1)
        self.assertEqual([name for name in os.listdir(self.folder) if name.startswith("sock.")], [])

    def test_what_is_not_a_socket_stays(self):
        target = os.path.join(self.folder, "target")
        for make in (lambda: open(self.path, "w").close(), lambda: os.mkdir(self.path),
                     lambda: os.symlink(target, self.path), lambda: os.symlink(self.folder, self.path)):
            make()
            before = os.lstat(self.path)
            self.assertEqual(self.refused("--replace"),
                             f"tidemarkd: {self.path} is there, but it is not a socket; remove it, or use --socket\n")
            self.assertEqual(os.lstat(self.path).st_ino, before.st_ino)
            self.assertFalse(os.path.lexists(target))
            os.rmdir(self.path) if stat.S_ISDIR(before.st_mode) else os.unlink(self.path)

    def test_a_link_to_a_socket_is_not_a_socket(self):
        other = os.path.join(self.folder, "other")
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(other)
            listener.listen()
            os.symlink(other, self.path)
            self.assertIn("it is not a socket", self.refused())

    def test_a_path_that_is_too_long_is_refused(self):
        self.path += "x" * 200
        self.assertIn("cannot listen on", self.refused())

    @unittest.skipUnless(os.geteuid() == 0, "only root can be another user")
    def test_the_socket_of_another_user_is_refused(self):
        self.start()
        os.chmod(self.folder, 0o1777)
        self.assertEqual(self.refused("--replace", user=65534, group=65534, extra_groups=[]),
                         f"tidemarkd: {self.path} belongs to another user\n")
        self.assertEqual(self.client().query(), (0, 0, 0, 0))

    @unittest.skipUnless(os.geteuid() == 0, "only root can be another user")
    def test_a_folder_of_another_user_is_named_as_the_reason(self):
        os.chmod(self.folder, 0o755)
        self.assertEqual(self.refused(user=65534, group=65534, extra_groups=[]),
                         f"tidemarkd: cannot listen on {self.path}: Permission denied\n")

    def test_one_file_for_two_sockets_is_refused(self):
        for options in (("--short-socket", self.path), ("--http-port", "1", "--http-socket", self.path, "--replace")):
            self.assertEqual(self.refused(*options).splitlines()[0], f"tidemarkd: two sockets have the name '{self.path}'")
        self.assertFalse(os.path.lexists(self.path))

    def test_a_log_that_cannot_be_written_is_named(self):
        self.assertEqual(self.refused("--daemonize", "--log=/missing/log"),
                         "tidemarkd: cannot write '/missing/log': No such file or directory\n")

    def test_a_missing_folder_for_ledgers_is_named(self):
        self.start("--dir=/missing")
        self.assertIn("tidemarkd: warning: cannot write ledgers in '/missing': No such file or directory; until that is "
                      "mended, allocations are refused\n", self.text())

    def test_a_clean_end_removes_the_socket_but_not_somebody_elses(self):
        for is_replaced in (False, True):
            daemon = self.start()
            if is_replaced:
                os.unlink(self.path)
                open(self.path, "w").close()
            daemon.terminate()
            self.assertEqual(daemon.wait(), 0)
            self.assertEqual(os.path.lexists(self.path), is_replaced)


    def test_the_same_is_true_of_the_http_socket(self):
        daemon = self.start_http()
        os.rename(self.http, self.http + ".away")
        open(self.http, "w", encoding="ascii").close()
        daemon.terminate()
        self.assertEqual(daemon.wait(), 0)
        self.assertTrue(os.path.exists(self.http))
        os.unlink(self.http)
        os.rename(self.http + ".away", self.http)  # nobody listens on it
        daemon = self.start_http()
        self.assertEqual(self.get("/healthz"), "ok\n")
        daemon.terminate()
        daemon.wait()
        self.assertFalse(os.path.lexists(self.http))
        os.symlink(self.folder + "/target", self.http)
        self.assertIn("cannot listen on", self.refused("--http-port", str(free_port()), "--http-socket", self.http))
        self.assertFalse(os.path.lexists(self.folder + "/target"))

    @unittest.skipUnless(os.geteuid() == 0, "only root can be another user")
    def test_names_that_another_user_has_planted_in_a_sticky_folder(self):
        folder = os.path.join(self.folder, "sticky")
        os.mkdir(folder)
        os.chmod(folder, 0o1777)
        self.path, target = os.path.join(folder, "sock"), os.path.join(self.folder, "target")
        planter = ("import os, socket, sys\nwhat, path, target = sys.argv[1:]\n"
                   "if what == 'link': os.symlink(target, path)\n"
                   "elif what == 'file': open(path, 'w').close()\n"
                   "else:\n"
                   "    s = socket.socket(socket.AF_UNIX); s.bind(path)\n"
                   "    if what == 'listen': s.listen()\n"
                   "print(flush=True); sys.stdin.read()\n")
        for what, is_refused in (("link", True), ("file", True), ("listen", True), ("stale", False)):
            planted = self.spawn([sys.executable, "-c", planter, what, self.path, target], stdin=subprocess.PIPE,
                                 stdout=subprocess.PIPE, user=65534, group=65534, extra_groups=[])
            planted.stdout.readline()
            before = os.lstat(self.path)
            daemon = self.start("--socket-mode=0600")
            if is_refused:
                self.assertEqual((what, daemon.wait()), (what, 2))
                self.assertEqual(os.lstat(self.path).st_ino, before.st_ino)
            else:
                self.assertEqual(self.client().query(), (0, 0, 0, 0))
                self.assertEqual((os.lstat(self.path).st_uid, os.lstat(self.path).st_mode & 0o777), (0, 0o600))
                daemon.terminate()
                daemon.wait()
            self.assertFalse(os.path.lexists(target))
            planted.stdin.close()
            planted.wait()
            if os.path.lexists(self.path):
                os.unlink(self.path)

    @unittest.skipUnless(os.geteuid() == 0, "only root can be another user")
    def test_root_takes_nothing_over_from_another_user(self):
        """A server of another user would hand over whatever it likes. It is not asked, but its name is taken if asked to."""
        os.chmod(self.folder, 0o1777)
        planter = ("import socket, sys\ns = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1]); s.listen()\n"
                   "print(flush=True)\nprint(s.accept()[0].recv(100), flush=True)\n")
        planted = self.spawn([sys.executable, "-c", planter, self.path], stdout=subprocess.PIPE, user=65534, group=65534,
                             extra_groups=[])
        planted.stdout.readline()
        self.start("--replace")
        self.assertEqual(planted.stdout.readline(), b"b''\n")  # no question came
        self.assertIn("does not hand over its connections", self.text())
        self.assertEqual(self.client().query(), (0, 0, 0, 0))


class AfterEachOther(DaemonTest):
    def test_a_daemon_takes_over_and_clients_notice_nothing(self):
        first = self.start()
        clients = [self.client(size) for size in SIZES]
        for i, client in enumerate(clients):
            client.send(ALLOC, 0, 10, DRAM, id=i)
            client.query()
        half = message(112, ALLOC, 0, 100, L1, id=9)
        clients[1].socket.sendall(half[:50])
        self.ask("statistics")
        second = self.start("--replace")
        self.assertIsNone(second.poll(), self.text())
        self.assertEqual(first.wait(), 0)
        clients[1].socket.sendall(half[50:])
        self.assertEqual(clients[1].query(), (40, 100, 0, 0))
        for i, client in enumerate(clients):
            client.send(FREE, 0, id=i)
            self.assertEqual(client.query()[0], 30 - 10 * i)
        self.assertEqual(self.client().query(), (0, 100, 0, 0))
        second.terminate()
        second.wait()
        self.assertFalse(os.path.exists(self.path))

    def test_replies_that_a_client_has_not_read_are_not_lost(self):
        self.start("--quiet")
        lazy = self.client()
        sent = self.fill(lazy)
        self.start("--replace", "--quiet")
        self.assertEqual([struct.unpack_from("<i", lazy.receive(), 4)[0] for _ in range(sent)], list(range(sent)))

    def test_who_has_not_read_a_long_list_yet_gets_all_of_it(self):
        self.start("--quiet")
        client, asker = self.client(), self.client()
        for device in range(20):
            client.socket.sendall(b"".join(message(72, LOAD, device, 10, 0, id=i) for i in range(600)))
        client.query()
        asker.socket.sendall(b"TIDEMARK kernels\n")
        self.wait_for(lambda: self.statistic("Waits for a client that does not read") == 1, "the list")
        self.start("--replace", "--quiet")
        self.assertNotIn("does not hand over", self.text())
        self.assertEqual(client.query()[0], 0)
        with asker.socket.makefile(encoding="utf-8") as answer:
            self.assertEqual(answer.read().count("Kernel ID"), 20 * 600)

    def test_a_daemon_that_is_told_to_end_hands_over_what_it_has_not_read(self):
        daemon = self.start("--quiet")
        clients = [self.client() for _ in range(3)]
        for i, client in enumerate(clients):
            client.send(ALLOC, 0, 10, DRAM, id=i)
            client.query()
        self.ask("statistics")  # then the daemon waits for the clients, and finds them ready in the order of what follows
        self.halt(daemon)
        taker = self.client()
        taker.socket.sendall(b"TIDEMARK takeover\n")
        for number in (signal.SIGINT, signal.SIGUSR1, signal.SIGUSR2, signal.SIGTERM):
            daemon.send_signal(number)
        for i, client in enumerate(clients):
            client.send(FREE, 0, id=i)
        daemon.send_signal(signal.SIGCONT)
        taken = []
        while (got := socket.recv_fds(taker.socket, 1 << 16, 16))[0]:
            taken += [socket.socket(fileno=fd) for fd in got[1]]
        self.assertEqual(daemon.wait(), 0, self.text())
        self.assertEqual(len(taken), 4)  # where it listened, and the clients
        unread = b""
        for one in taken:
            with one, contextlib.suppress(OSError):
                unread += one.recv(1000)
        process, = self.dump()["processes"]
        self.assertEqual({buffer["id"] for buffer in process["buffers"]},
                         {struct.unpack_from("<Q", unread, at + 24)[0] for at in range(0, len(unread), 72)})

    def test_what_a_process_sent_before_it_ended_in_a_takeover_counts(self):
        first = self.start("--quiet")
        other = self.other_process("for i in range(5): c.send(ALLOC, 0, 10, DRAM, id=i)\n"
                                   "c.query(); print(flush=True); sys.stdin.readline()\n"
                                   "for i in range(4): c.send(FREE, 0, id=i)\n"
                                   "os._exit(0)")
        other.stdout.readline()
        taker = self.client()
        taker.socket.sendall(b"TIDEMARK takeover\n")
        structures, fds = b"", []
        while (got := socket.recv_fds(taker.socket, 1 << 16, 16))[0]:
            structures, fds = structures + got[0], fds + got[1]
        self.assertEqual(first.wait(), 0)
        print(file=other.stdin, flush=True)
        other.wait()
        size = len(structures) // (len(fds) + 1)  # the last one has no descriptor
        with socket.socket(fileno=fds[0]) as listener, open(self.out, "wb") as out:
            self.spawn(self.command("--replace", "--quiet"), stdout=out, stderr=out)
            listener.settimeout(WAIT_S)
            with listener.accept()[0] as to:
                self.assertEqual(to.recv(100), b"TIDEMARK takeover\n")
                for i, fd in enumerate(fds):
                    socket.send_fds(to, [structures[i * size:(i + 1) * size]], [fd])
                to.sendall(structures[-size:])
        os.close(fds[1])
        self.wait_text("Press Ctrl+C")
        self.wait_for(lambda: self.statistic("Processes ended") == 1, "the end of the process")
        self.assertEqual([self.statistic(name) for name in ("Releases", "Releases of unknown buffers", "Buffers they left")],
                         [4, 0, 1])

    def test_replace_without_another_daemon_just_starts(self):
        self.start("--replace")
        self.assertEqual(self.client().query(), (0, 0, 0, 0))

    def test_a_server_that_does_not_hand_over_is_replaced(self):
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(self.path)
            listener.listen()
            process = self.spawn(self.command("--replace"), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            connection, _ = listener.accept()
            self.assertEqual(connection.recv(100), b"TIDEMARK takeover\n")
            connection.close()
            self.assertIn("does not hand over its connections", process.stdout.readline())
            while "Press Ctrl+C" not in process.stdout.readline():
                pass
        self.out = os.devnull
        self.assertEqual(self.client().query(), (0, 0, 0, 0))

    @unittest.skipUnless(os.geteuid() == 0, "only root can be another user")
    def test_a_stranger_cannot_take_over(self):
        self.start("--socket-mode=0666")
        asker = self.spawn([sys.executable, "-c",
                            "import socket; s = socket.socket(socket.AF_UNIX)\n"
                            f"s.connect({self.path!r}); s.sendall(b'TIDEMARK takeover\\n'); print(s.makefile().read())"],
                           stdout=subprocess.PIPE, text=True, user=65534, group=65534, extra_groups=[])
        self.assertEqual(asker.communicate()[0].strip(), "only the daemon's own user and root may take over")
        self.assertEqual(self.client().query(), (0, 0, 0, 0))

    def test_a_killed_daemon_loses_nothing(self):
        for size in SIZES:
            daemon = self.start("--quiet")
            client = self.client(size)
            for i in range(100):
                client.send(ALLOC, 0, 10, DRAM, id=size << 20 | i)
            client.send(FREE, 0, id=size << 20)
            held = client.query()[0]
            daemon.kill()
            daemon.wait()
            client.close()
        self.assertEqual(held, 4 * 990)
        self.start()
        client = self.client()
        self.assertEqual(client.query()[0], held)
        self.assertIn("   Went on with 1 process(es) of an earlier server\n", self.text())
        client.send(FREE, 0, id=72 << 20 | 5)
        self.assertEqual(client.query()[0], held - 10)

    def test_kernels_keep_their_type_when_another_daemon_goes_on(self):
        client, daemon = None, None
        for options in ((), ("--replace",)):  # killed, then taken over
            if daemon is None:
                daemon = self.start()
                client = self.client(128)
            for type in range(4):
                client.send(LOAD, 0, 1024, type, id=type)
            client.query()
            if not options:
                daemon.kill()
                daemon.wait()
            daemon = self.start(*options)
            client = client if options else self.client(128)
            names = ("Application", "Fabric", "Dispatch", "Unknown")
            self.assertEqual(sorted(re.findall(r"ID: (\w+)\n.*Type: (\w+)", self.ask("kernels"))),
                             [(f"0x{type:x}", name) for type, name in enumerate(names)])
            for type in range(4):
                client.send(UNLOAD, 0, id=type)
            client.query()
            self.wait_for(lambda: self.text().count("KERNEL_UNLOAD") == 4, "all lines")
            self.assertEqual(re.findall(r"KERNEL_UNLOAD\] (\w+) kernel", self.text()), list(names))

    def test_a_process_that_ended_without_a_daemon_is_a_leak_of_the_next(self):
        first = self.start("--quiet")
        other = self.other_process("c.send(ALLOC, 0, 1048576, DRAM, id=1); c.query(); print('sent', flush=True); sys.stdin.read(1)")
        other.stdout.readline()
        first.kill()
        first.wait()
        other.kill()
        other.wait()
        for times in (1, 0):  # only once
            daemon = self.start("--quiet")
            self.assertEqual(self.text().count(f"   ✓ Removed 1 buffers (1 MB) from PID {other.pid}\n"), times)
            self.assertEqual(self.client().query(), (0, 0, 0, 0))
            daemon.terminate()
            daemon.wait()
        self.assertEqual(len(self.dump()["processes"]), 1)


class Started(DaemonTest):
    def activate(self, sockets, names=None):
        """Starts the daemon as systemd does: its sockets are descriptors 3 and up."""
        def set_up():
            for i, given in enumerate(sockets):
                os.dup2(given.fileno(), 100 + i)
            for i in range(len(sockets)):
                os.dup2(100 + i, 3 + i)
                os.set_inheritable(3 + i, True)
        program = f"import os; os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS='{len(sockets)}'"
        program += f", LISTEN_FDNAMES={names!r})\n" if names else ")\n"
        program += f"os.execv({os.path.join(BIN, 'tidemarkd')!r}, ['tidemarkd', '--no-http', '--dir', {self.shm!r}])"
        self.out = os.path.join(self.folder, "out")
        with open(self.out, "w", encoding="utf-8") as file:
            process = self.spawn([sys.executable, "-c", program], stdout=file, stderr=subprocess.STDOUT, preexec_fn=set_up,
                                 close_fds=False)
        self.wait_text("Press Ctrl+C")
        return process

    def listener(self, path):
        listener = socket.socket(socket.AF_UNIX)
        self.addCleanup(listener.close)
        listener.bind(path)
        listener.listen()
        return listener

    def test_systemd_can_open_the_socket(self):
        listener = self.listener(self.path)
        early = self.client()  # before the daemon runs
        early.send(ALLOC, 0, 10, DRAM, id=1)
        daemon = self.activate([listener])
        self.assertEqual(early.query()[0], 10)
        self.assertIn(f"   Listening on: {self.path}\n", self.text())
        daemon.terminate()
        daemon.wait()
        self.assertTrue(os.path.exists(self.path))  # it is systemd's

    @unittest.skipUnless(shutil.which("systemd-socket-activate"), "systemd-socket-activate is not installed")
    def test_the_first_client_starts_it(self):
        self.out = os.path.join(self.folder, "out")
        command = ["systemd-socket-activate", "-l", self.path, "--fdname=socket", *self.command("--quiet")]
        with open(self.out, "w", encoding="utf-8") as file:
            daemon = self.spawn(command, stdout=file, stderr=subprocess.STDOUT)
        self.wait_text("Listening on ")
        for size in SIZES:
            client = self.client(size)
            client.send(ALLOC, 0, 10, DRAM, id=size)
            client.query()
        self.assertEqual(client.query()[0], 40)
        daemon.terminate()
        self.assertEqual(daemon.wait(), 0)
        self.wait_text("🛑 Allocation Server stopped\n")

    def test_systemd_can_open_all_sockets_by_name(self):
        short = self.path + ".short"
        self.activate([self.listener(short), self.listener(self.path)], "short:socket")
        client = self.client(path=short)
        client.socket.sendall(struct.pack("<BiQII", 9, 1, 700, 3, 64))
        watcher = self.client(128)
        self.wait_for(lambda: watcher.query(1)[4] == 700, "the circular buffer")

    def test_in_the_background_it_is_ready_when_the_command_returns(self):
        log = os.path.join(self.folder, "log")
        done = subprocess.run(self.command("--daemonize", "--log", log), env=self.environment(), timeout=WAIT_S, check=False,
                              capture_output=True)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, b"", b""))
        client = self.client()
        pid = struct.unpack("3i", client.socket.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[0]
        self.addCleanup(lambda: os.path.exists(f"/proc/{pid}") and os.kill(pid, signal.SIGKILL))
        client.send(ALLOC, 0, 10, DRAM, id=1)
        self.assertEqual(client.query()[0], 10)
        again = subprocess.run(self.command("--daemonize"), env=self.environment(), timeout=WAIT_S, check=False,
                               capture_output=True, text=True)
        self.assertEqual((again.returncode, again.stdout), (2, ""))
        self.assertIn("another server listens", again.stderr)
        os.kill(pid, signal.SIGTERM)
        self.out = log
        self.wait_text("🛑 Allocation Server stopped\n")
        self.assertIn("Allocated 10 bytes of DRAM", self.text())

    def test_in_the_background_paths_are_those_of_where_it_was_started(self):
        command = [os.path.join(BIN, "tidemarkd"), "--no-http", "--daemonize", "--socket", "sock", "--dir", "shm", "--log", "log"]
        subprocess.run(command, env=self.environment(), cwd=self.folder, timeout=WAIT_S, check=True)
        client = self.client()
        pid = struct.unpack("3i", client.socket.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[0]
        self.addCleanup(lambda: os.path.exists(f"/proc/{pid}") and os.kill(pid, signal.SIGKILL))
        client.send(ALLOC, 0, 10, DRAM, id=1)
        self.assertEqual(client.query()[0], 10)
        self.assertEqual(len(self.dump()["processes"]), 1)
        os.kill(pid, signal.SIGTERM)
        self.out = os.path.join(self.folder, "log")
        self.wait_text("🛑 Allocation Server stopped\n")
        self.wait_for(lambda: not os.path.exists(self.path), "the end of the socket")


class Demo(DaemonTest):
    def start_demo(self):
        self.places = {"TIDEMARK_DIR": self.shm, "TMPDIR": os.path.join(self.folder, "tmp"), "HOME": os.path.join(self.folder, "home")}
        for place in list(self.places.values())[1:]:
            os.mkdir(place)
        self.out = os.path.join(self.folder, "out")
        with open(self.out, "wb") as file:
            demo = self.spawn([os.path.join(BIN, "tidemark"), "demo", "--server", "--view", "none"], stdout=file, stderr=file,
                              env=dict(self.environment(), **self.places), start_new_session=True)
        self.wait_text("Where to look")
        self.wait_for(lambda: sum(len(process["buffers"]) > 5 for process in self.dump()["processes"]) == 4, "the clients")
        return demo

    def test_the_demo_is_ended_from_its_terminal_and_leaves_nothing(self):
        demo = self.start_demo()
        os.killpg(demo.pid, signal.SIGINT)  # as Ctrl+C does: everybody in the foreground gets it
        self.assertEqual(demo.wait(), 0, self.text())
        text, places = self.text(), self.places
        self.assertNotIn("lost, because", text)
        self.assertIn("  Processes ended: 4\n  Buffers they left: 0\n", text)
        self.assertTrue(text.endswith(PERFECT + "🛑 Allocation Server stopped\n"), text)
        self.assertEqual([files for place in places.values() for _, _, files in os.walk(place) if files], [])
        self.assertEqual(os.listdir(places["TMPDIR"]), [])

    def test_what_a_killed_program_of_the_demo_held_is_kept(self):
        demo = self.start_demo()
        pid = int(self.text().split("  leak       process ")[1].split(",")[0])
        os.kill(pid, signal.SIGKILL)
        self.wait_for(lambda: [p["pid"] for p in self.dump()["processes"] if p["state"] == "ended"] == [pid], "the leak")
        demo.send_signal(signal.SIGINT)
        demo.wait()
        self.assertIn(f"; their ledgers are in {self.shm}, older ones in {self.folder}/state/tidemark\n", self.text())
        self.assertEqual([p["pid"] for p in self.dump()["processes"]], [pid])
        self.assertEqual(os.listdir(self.places["TMPDIR"]), [])


if __name__ == "__main__":
    unittest.main()
