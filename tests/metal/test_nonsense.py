"""A runtime that is not what it looks like: functions that are missing, that say nonsense, objects that are gone."""

import concurrent.futures
import os
import struct
import subprocess
import tempfile
import unittest

from standin import PRELOAD, PROGRAMS, RELEASES, SANITIZE, STANDIN, Case, Running, as_printed, as_seen, dump, environment, facts_of


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


def is_of_interest(symbol):
    return any(word in symbol for word in (
        "allocate_buffer", "track_", "AllocatorImplD2", "6Device5close", "register_active_trace", "_mesh_trace",
        "Inspector", "11ProgramImpl", "8Program_", "register_program", "StatsProviderC1", "PinnedMemory", "6Buffer7address",
        "6Buffer9page_size", "6Buffer9num_", "6Buffer12", "6Buffer17", "6Buffer21", "6Buffer5is", "6Buffer7is", "6Buffer8is",
        "6Buffer9alloc", "6Buffer10shard", "get_num_banks", "get_bank_size", "get_statistics", "get_base_all", "_ZTV",
        "get_devices", "get_device_ids", "6Device2id", "6Device4arch", "storage_grid", "CoreRangeSet6ranges",
        "CoreRangeSet9num", "6Kernel", "CircularBuffer"))


# The hooks of buffers that others do as well as.
SEEN_ANOTHER_WAY = ("15allocate_buffer", "17deallocate_buffer", "14track_allocate", "16track_deallocate")
# Which figure of a buffer (its place in as_seen()) nobody can know without a function.
NOT_KNOWN_WITHOUT = {"9page_size": 3, "9num_pages": 3, "21aligned_size_per_bank": 5, "get_num_banks": 6, "9num_cores": 7}


class Missing(Case):
    """Functions of the runtime that cannot be seen, one by one: hidden, as a build with other options would have them."""

    def hide(self, release, hidden):
        """A folder with the runtime without these functions."""
        source = os.path.join(STANDIN, release, "libtt_metal.so")
        with open(source, "rb") as file:
            data = bytearray(file.read())
        symbols = symbols_of(data)
        for name in hidden:
            data[symbols[name] + 5] = 2 # STV_HIDDEN
        folder = tempfile.mkdtemp(dir=self.directory)
        with open(os.path.join(folder, "libtt_metal.so"), "wb") as file:
            file.write(data)
        return folder

    def check(self, release, hidden):
        folder = self.hide(release, hidden)
        ledgers = os.path.join(folder, "ledgers")
        os.mkdir(ledgers)
        env = dict(environment(release, ledgers), LD_LIBRARY_PATH=folder)
        with Running([PROGRAMS, "mesh", "1", "2"], env) as running:
            process = [p for p in dump(ledgers) if p["pid"] == running.process.pid]
            code, _, err = running.finish()
        self.assertEqual((code, err), (0, ""), hidden)
        printed = as_printed(facts_of(running.text))
        seen = as_seen(process[0]["buffers"]) if process else []
        unknown = [field for word, field in NOT_KNOWN_WITHOUT.items() for name in hidden if word in name]
        # what is seen is true as far as it can be known
        for buffer in seen:
            alike = [p for p in printed if all(a == b or b is None or i in unknown
                                               for i, (a, b) in enumerate(zip(p, buffer)))]
            self.assertTrue(alike, (hidden, buffer))
        return len(seen) == len(printed)

    def test_one_by_one(self):
        """In v0.57, only the names that are not today's."""
        names = {}
        for release in ("today", "v0.57"):
            with open(os.path.join(STANDIN, release, "libtt_metal.so"), "rb") as file:
                names[release] = [s for s in symbols_of(file.read()) if is_of_runtime(s) and is_of_interest(s)]
        self.assertGreater(len(names["today"]), 40)
        wanted = [("today", s) for s in names["today"]]
        wanted += [("v0.57", s) for s in names["v0.57"] if s not in names["today"]]
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            results = [(what, pool.submit(self.check, what[0], [what[1]])) for what in wanted]
        for (release, symbol), result in results:
            with self.subTest(release=release, symbol=symbol):
                are_all_seen = result.result()
                if any(word in symbol for word in SEEN_ANOTHER_WAY):
                    self.assertTrue(are_all_seen, "there is another way to see buffers")

    def test_released_after_the_close(self):
        """The end of an allocator that was never seen: its device closes."""
        for release in ("today", "v0.57"):
            with open(os.path.join(STANDIN, release, "libtt_metal.so"), "rb") as file:
                names = [s for s in symbols_of(file.read()) if "15allocate_buffer" in s or "17deallocate_buffer" in s]
            with self.subTest(release=release):
                folder = self.hide(release, names)
                self.run_program(PROGRAMS, "late", release=release, directory=self.directory, TIDEMARK_KEEP="1",
                                 LD_LIBRARY_PATH=folder)
                for process in dump(self.directory):
                    self.assertEqual(process["buffers"], [])
                    self.assertGreater(sum(k["allocations"] for d in process["devices"] for k in d["kinds"]), 0)

    def test_all_at_once(self):
        with open(os.path.join(STANDIN, "today", "libtt_metal.so"), "rb") as file:
            names = [s for s in symbols_of(file.read()) if is_of_runtime(s)]
        self.check("today", names)


class Nonsense(Case):
    def test_answers_that_cannot_be(self):
        for mode in "nzcp":
            for program in (["prog"], ["oom"], ["submesh"], ["trace", "replay"], ["programs", "20", "5"], ["pin"],
                            ["many", "50"], ["late"]):
                with self.subTest(mode=mode, program=program):
                    plain = self.run_program(PROGRAMS, *program, release="nonsense", status=None, STANDIN_NONSENSE=mode)
                    hooked = self.run_program(PROGRAMS, *program, release="nonsense", status=None, STANDIN_NONSENSE=mode,
                                              directory=self.directory)
                    self.assertEqual(hooked.returncode, plain.returncode)
                    if not SANITIZE:  # else its report has addresses
                        self.assertEqual(hooked.stderr, plain.stderr)

    def test_objects_that_are_gone(self):
        for release in RELEASES:
            with self.subTest(release=release):
                running, text, seen = self.look(release, PROGRAMS, "vanish")
                buffers = as_seen(seen["buffers"])
                self.assertEqual([b for b in as_printed(facts_of(text)) if b not in buffers], [])
                self.assertEqual(running.finish(), (0, "", ""))


class Sanitized(Case):
    """A program that is built with a sanitizer, which the preload and the runtime are not."""

    def program(self, sanitizer):
        path = f"{PROGRAMS}_{sanitizer}"
        if not os.path.exists(path):
            self.skipTest("everything has sanitizers here, or the compiler has none")
        return path

    def test_address(self):
        program = self.program("address")
        library = subprocess.run(["g++", "-print-file-name=libasan.so"], stdout=subprocess.PIPE, text=True).stdout.strip()
        orders = [(PRELOAD, "detect_leaks=0:verify_asan_link_order=0")]
        if os.path.isabs(library): # it wants to be the first
            orders.append((f"{library} {PRELOAD}", "detect_leaks=0"))
        for preload, options in orders:
            for words in (["many", "100"], ["exceptions"], ["oom"], ["threads", "2", "50"], ["prog"]):
                with self.subTest(preload=preload, words=words):
                    done = self.run_program(program, *words, status=7 if words[0] == "exceptions" else 0, preload=preload,
                                            directory=self.directory, ASAN_OPTIONS=options)
                    self.assertEqual(done.stderr, "")

    def test_thread(self):
        """It knows nothing of locks in libraries that are not built with it, unless it is told to leave them alone."""
        program = self.program("thread")
        options = "ignore_noninstrumented_modules=1"
        plain = self.run_program(program, "threads", "3", "50", status=None, TSAN_OPTIONS=options)
        if plain.returncode != 0:
            self.skipTest("it does not run here: " + plain.stderr[:200])
        done = self.run_program(program, "threads", "3", "50", directory=self.directory, TSAN_OPTIONS=options)
        self.assertEqual(done.stderr, "")


if __name__ == "__main__":
    unittest.main()
