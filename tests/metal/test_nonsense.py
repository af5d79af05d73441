"""A runtime that is not what it looks like: functions that are missing, that say nonsense, objects that are gone."""

import concurrent.futures
import os
import struct
import subprocess
import unittest

from standin import PROGRAMS, RELEASES, SANITIZE, STANDIN, Case, Running, as_printed, as_seen, dump, environment, facts_of


def table_of(data, name):
    """Offset and size of a section of an ELF file."""
    offset = struct.unpack_from("<Q", data, 0x28)[0]
    size, count, names = struct.unpack_from("<HHH", data, 0x3a)
    at = [struct.unpack_from("<IIQQQQ", data, offset + i * size) for i in range(count)]
    texts = at[names][4]
    for section in at:
        end = data.index(b"\0", texts + section[0])
        if data[texts + section[0]:end] == name:
            return section[4], section[5]
    raise KeyError(name)


def symbols_of(data):
    """Each defined symbol that others can see, with the offset of its entry."""
    start, size = table_of(data, b".dynsym")
    texts, _ = table_of(data, b".dynstr")
    found = {}
    for at in range(start, start + size, 24):
        name, _, other, section = struct.unpack_from("<IBBH", data, at)
        if section != 0 and other == 0:
            found[data[texts + name:data.index(b"\0", texts + name)].decode()] = at
    return found


# What the programs themselves need is ours; templates of the C++ library are nobody's business.
def is_of_runtime(symbol):
    return symbol.startswith(("_ZN2tt", "_ZNK2tt", "_ZTVN2tt", "_ZNK12CoreRange", "_ZN12CoreRange"))


class Missing(Case):
    """Functions of the runtime that cannot be seen, one by one: hidden, as a build with other options would have them."""

    def check(self, release, hidden):
        source = os.path.join(STANDIN, release, "libtt_metal.so")
        with open(source, "rb") as file:
            data = bytearray(file.read())
        symbols = symbols_of(data)
        for name in hidden:
            data[symbols[name] + 5] = 2 # STV_HIDDEN
        folder = os.path.join(self.directory, str(len(os.listdir(self.directory))) + "." + release + "." + hidden[0][-60:])
        os.makedirs(os.path.join(folder, "ledgers"))
        with open(os.path.join(folder, "libtt_metal.so"), "wb") as file:
            file.write(data)
        ledgers = os.path.join(folder, "ledgers")
        env = dict(environment(release, ledgers), LD_LIBRARY_PATH=folder)
        with Running([PROGRAMS, "mesh", "1", "2"], env) as running:
            process = [p for p in dump(ledgers) if p["pid"] == running.process.pid]
            code, _, err = running.finish()
        self.assertEqual((code, err), (0, ""), hidden)
        printed = as_printed(facts_of(running.text))
        seen = as_seen(process[0]["buffers"]) if process else []
        # what is seen is true as far as it is known
        for buffer in seen:
            alike = [p for p in printed if all(b is None or a == b for a, b in zip(p[:-1], buffer[:-1]))]
            self.assertTrue(alike, (hidden, buffer))
        return len(seen) == len(printed)

    def test_one_by_one(self):
        hooks = ("15allocate_buffer", "17deallocate_buffer", "14track_allocate", "16track_deallocate")
        for release in ("today", "v0.57"):
            with open(os.path.join(STANDIN, release, "libtt_metal.so"), "rb") as file:
                names = [s for s in symbols_of(file.read()) if is_of_runtime(s)]
            wanted = [s for s in names if HOOKED(s)]
            self.assertGreater(len(wanted), 25)
            with concurrent.futures.ThreadPoolExecutor(2) as pool:
                results = dict(zip(wanted, pool.map(lambda s: self.check(release, [s]), wanted)))
            for symbol, are_all_seen in results.items():
                if any(hook in symbol for hook in hooks):
                    self.assertTrue(are_all_seen, symbol + ": there is another way to see buffers")

    def test_all_at_once(self):
        with open(os.path.join(STANDIN, "today", "libtt_metal.so"), "rb") as file:
            names = [s for s in symbols_of(file.read()) if is_of_runtime(s)]
        self.check("today", names)


def HOOKED(symbol):
    return any(word in symbol for word in (
        "allocate_buffer", "track_", "D2Ev", "D1Ev", "6Device5close", "register_active_trace", "_mesh_trace",
        "Inspector", "ProgramImpl", "Program_", "register_program", "StatsProviderC1", "PinnedMemory", "6Buffer7address",
        "6Buffer9page_size", "6Buffer9num_", "6Buffer12", "6Buffer17", "6Buffer21", "6Buffer5is", "6Buffer7is", "6Buffer8is",
        "6Buffer9alloc", "6Buffer10shard", "get_num_banks", "get_bank_size", "get_statistics", "get_base_all", "_ZTV",
        "get_devices", "get_device_ids", "6Device2id", "6Device4arch", "storage_grid", "CoreRangeSet6ranges",
        "CoreRangeSet9num", "6Kernel", "CircularBuffer"))


class Nonsense(Case):
    def test_answers_that_cannot_be(self):
        for mode in "nzcp":
            for program in (["prog"], ["oom"], ["submesh"], ["trace", "replay"], ["programs", "20", "5"], ["pin"],
                            ["many", "50"], ["late"]):
                with self.subTest(mode=mode, program=program):
                    plain = self.run_program(PROGRAMS, *program, release="nonsense", status=None, STANDIN_NONSENSE=mode)
                    hooked = self.run_program(PROGRAMS, *program, release="nonsense", status=None, STANDIN_NONSENSE=mode,
                                              directory=self.directory)
                    self.assertEqual((hooked.returncode, hooked.stderr), (plain.returncode, plain.stderr))

    def test_objects_that_are_gone(self):
        for release in RELEASES:
            with self.subTest(release=release):
                running, text, seen = self.look(release, PROGRAMS, "vanish")
                buffers = as_seen(seen["buffers"])
                self.assertEqual([b for b in as_printed(facts_of(text)) if b not in buffers], [])
                self.assertEqual(running.finish(), (0, "", ""))


class Sanitized(Case):
    """A traced program that is built with a sanitizer: nothing of ours disturbs it."""

    def build(self, option):
        source = os.path.dirname(os.path.abspath(__file__))
        program = os.path.join(self.directory, "program")
        parts = [os.path.join(source, "programs", name + ".cpp") for name in ("main", "golden", "life", "faults")]
        done = subprocess.run(["g++", "-std=c++20", "-g", "-O1", option, "-o", program, *parts,
                               "-L" + os.path.join(STANDIN, "today"), "-ltt_metal", "-lpthread"],
                              stderr=subprocess.PIPE, text=True)
        if done.returncode != 0:
            self.skipTest("no " + option + " here: " + done.stderr[-200:])
        return program

    @unittest.skipIf(SANITIZE, "everything is, in this build")
    def test_address_sanitizer(self):
        program = self.build("-fsanitize=address")
        library = subprocess.run(["g++", "-print-file-name=libasan.so"], stdout=subprocess.PIPE, text=True).stdout.strip()
        from standin import PRELOAD
        for words in (["many", "100"], ["exceptions"], ["oom"], ["threads", "2", "50"]):
            code = 7 if words[0] == "exceptions" else 0
            done = self.run_program(program, *words, status=code, directory=self.directory, preload=f"{library} {PRELOAD}",
                                    ASAN_OPTIONS="detect_leaks=0")
            self.assertEqual(done.stderr, "")
        # also without asking for the order that the sanitizer wants
        done = self.run_program(program, "order", directory=self.directory,
                                ASAN_OPTIONS="detect_leaks=0:verify_asan_link_order=0")
        self.assertEqual(done.stderr, "")

    @unittest.skipIf(SANITIZE, "everything is, in this build")
    def test_thread_sanitizer(self):
        program = self.build("-fsanitize=thread")
        plain = self.run_program(program, "threads", "3", "50", status=None)
        if plain.returncode != 0:
            self.skipTest("the thread sanitizer does not run here: " + plain.stderr[:200])
        done = self.run_program(program, "threads", "3", "50", directory=self.directory)
        self.assertEqual(done.stderr, "")


if __name__ == "__main__":
    unittest.main()
