"""What `doctor --metal` and `run` say about releases, and about programs and processes that the preload does not get into."""

import os
import re
import shutil
import struct
import subprocess
import unittest

from standin import BIN, PRELOAD, RELEASES, SANITIZE, STANDIN, Case, environment

TIDEMARK = os.path.join(BIN, "tidemark")
PLAIN = os.path.join(STANDIN, "metal_plain")
NOBODY = 65534
# Waits for the end of its input, with a library in its memory as if it had loaded it.
MAPS = """import mmap, sys
f = open(sys.argv[1], "rb")
m = mmap.mmap(f.fileno(), 0, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ | mmap.PROT_EXEC)
print("ready", flush=True)
sys.stdin.read()
"""


def as_nobody():
    os.setgroups([])
    os.setgid(NOBODY)
    os.setuid(NOBODY)


@unittest.skipIf(os.geteuid() != 0, "needs root")
class Root(Case):
    """As root: what belongs to others, or may do what its user may not."""

    def setUp(self):
        super().setUp()
        os.chmod(self.directory, 0o755)
        try:
            reached = subprocess.run(["test", "-r", PRELOAD, "-a", "-x", TIDEMARK], preexec_fn=as_nobody).returncode == 0
        except subprocess.SubprocessError:
            reached = False
        if not reached:
            self.skipTest("there is no other user here, or nothing of this tree for it")
        self.environment = environment(TIDEMARK_DIR=self.directory, TIDEMARK_PRELOAD=PRELOAD, COLUMNS="1000")
        self.environment.pop("LD_LIBRARY_PATH")

    def command(self, *arguments, **how):
        return subprocess.run([TIDEMARK, *arguments], env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, timeout=120, **how)

    def doctor(self, *arguments, **how):
        done = self.command("doctor", "--metal", *arguments, **how)
        return done.returncode, done.stdout

    def start(self, *command, **how):
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                   env=self.environment, **how)
        self.addCleanup(lambda: (process.communicate(), None))
        self.assertEqual(process.stdout.readline(), "ready\n")
        return process

    def copy(self, source, mode, owner=0):
        """A copy of a program, in a folder where that may have rights of its own."""
        if os.statvfs(self.directory).f_flag & os.ST_NOSUID:
            self.skipTest("the file system gives no rights to programs")
        path = os.path.join(self.directory, os.path.basename(source))
        shutil.copyfile(source, path)
        os.chown(path, owner, owner)
        os.chmod(path, mode)
        return path

    def add_capability(self, path):
        """cap_net_raw, permitted and effective."""
        try:
            os.setxattr(path, "security.capability", struct.pack("<IIIII", 0x02000001, 1 << 13, 0, 0, 0))
        except OSError as error:
            self.skipTest(f"no capabilities of files here: {error}")

    def test_the_process_of_another_user(self):
        process = self.start("/usr/bin/python3", "-c", MAPS, os.path.join(STANDIN, "today", "libtt_metal.so"))
        code, text = self.doctor(str(process.pid), preexec_fn=as_nobody)
        self.assertEqual(code, 2)
        self.assertIn(f"process {process.pid} cannot be looked at: it belongs to another user, or has rights that you have "
                      "not: look as root", text)

    def test_another_mount_namespace(self):
        """The path of the library means nothing outside of it."""
        inside = os.path.join(self.directory, "inside")
        os.mkdir(inside)
        script = f"mount -t tmpfs none {inside} && cp $1 {inside}/libtt_metal.so && exec /usr/bin/python3 -c \"$2\" {inside}/libtt_metal.so"
        if subprocess.run(["unshare", "-m", "true"], stderr=subprocess.DEVNULL).returncode != 0:
            self.skipTest("no namespaces here")
        process = self.start("unshare", "-m", "sh", "-c", script, "sh", os.path.join(STANDIN, "v0.66", "libtt_metal.so"), MAPS)
        self.assertEqual(os.listdir(inside), [])
        code, text = self.doctor(str(process.pid))
        self.assertIn(f"{inside}/libtt_metal.so is tt-metal: its names are those of v0.66", text)
        self.assertNotIn("replaced or deleted", text)
        self.assertEqual(code, 1)  # the preload is not in it

    @unittest.skipIf(SANITIZE, "the tool of the sanitizer is not allowed there, either")
    def test_programs_with_rights_of_their_own(self):
        ignored = "runs with rights that its user has not (set-user-id, set-group-id or capabilities): the loader ignores"
        for mode, owner, has_capability, user in ((0o4755, NOBODY, False, None), (0o2755, NOBODY, False, None),
                                                  (0o755, 0, True, as_nobody)):
            path = self.copy(PLAIN, mode, owner)
            if has_capability:
                self.add_capability(path)
            os.chown(self.directory, NOBODY if user else 0, 0)
            code, text = self.doctor(path, preexec_fn=user)
            self.assertEqual(code, 2)
            self.assertIn(f"{path} {ignored}", text)
            done = self.command("run", "--", path, preexec_fn=user)
            self.assertIn("plain\n", done.stdout)
            self.assertIn(f"{path} {ignored}", re.sub(r"\n\s*(tidemark: )?", " ", done.stdout))
        # No more than root has: it is preloaded.
        path = self.copy(PLAIN, 0o755, 0)
        self.add_capability(path)
        self.assertIn(f"{path} can be preloaded", self.doctor(path)[1])
        path = self.copy(PLAIN, 0o4755, 0)
        self.assertIn(f"{path} can be preloaded", self.doctor(path)[1])

    def test_rights_that_mean_nothing(self):
        """On a file system that gives none, and for a group that may not execute it."""
        inside = os.path.join(self.directory, "inside")
        os.mkdir(inside)
        script = f"mount -t tmpfs -o nosuid none {inside} && cp $1 {inside}/program && chown 65534 {inside}/program && " \
                 f"chmod 4755 {inside}/program && exec $0 doctor --metal {inside}/program"
        done = subprocess.run(["unshare", "-m", "sh", "-c", script, TIDEMARK, PLAIN], env=self.environment,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60)
        if "unshare" in done.stderr:
            self.skipTest("no namespaces here")
        self.assertIn(f"{inside}/program can be preloaded", done.stdout)
        path = self.copy(PLAIN, 0o2745, NOBODY)
        self.assertIn(f"{path} can be preloaded", self.doctor(path)[1])

    @unittest.skipIf(SANITIZE, "the tool of the sanitizer is not allowed there, either")
    def test_a_process_with_rights_of_its_own(self):
        cat = self.copy("/bin/cat", 0o4755, NOBODY)
        self.environment.update(LD_PRELOAD=PRELOAD, TIDEMARK="1")
        process = self.start("/bin/sh", "-c", f"echo ready; exec {cat}")
        process.stdin.write("x\n")
        process.stdin.flush()
        self.assertEqual(process.stdout.readline(), "x\n")  # it has been executed
        del self.environment["LD_PRELOAD"]
        text = self.doctor(str(process.pid))[1]
        self.assertIn("the preload is not in the process: it runs with rights that its user has not", text)


class Releases(Case):
    def look_at(self, form):
        library = os.path.join(STANDIN, form, "libtt_metal.so")
        done = subprocess.run([TIDEMARK, "doctor", "--metal", library], env=environment(TIDEMARK_DIR=self.directory, COLUMNS="1000"),
                              stdout=subprocess.PIPE, text=True, timeout=120)
        return done.stdout

    def test_the_names_tell_the_release(self):
        texts = {}
        for release in RELEASES:
            texts[release] = re.search(r"its names are those of (.*)", self.look_at(release)).group(1)
        self.assertEqual(texts, {"v0.57": "v0.57", "v0.64": "v0.64", "v0.66": "v0.66 to v0.67", "today": "v0.78 or later"})

    def test_a_library_that_is_bound_to_itself(self):
        """It has all functions, but calls them without a table that a preload could change."""
        told = {form: "its own calls never leave it" in self.look_at(form) for form in (*RELEASES, "bound")}
        self.assertEqual(told, {**{release: False for release in RELEASES}, "bound": True})
        self.assertIn(" seen: buffers", self.look_at("today"))
        self.assertNotIn(" seen: buffers", self.look_at("bound"))
        self.assertIn("seen in part or not at all: buffers", self.look_at("bound"))


if __name__ == "__main__":
    unittest.main()
