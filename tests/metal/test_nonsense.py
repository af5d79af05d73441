"""A runtime that is not what it looks like: functions that are missing, that say nonsense, objects that are gone."""

import concurrent.futures
import json
import os
import pathlib
import struct
import subprocess
import tempfile
import unittest

from standin import BIN, PRELOAD, PROGRAMS, RELEASES, SANITIZE, STANDIN, Case, Running, as_printed, as_seen, dump, environment, facts_of


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
# What a buffer is in as_seen() without a function that nothing else replaces, and what is said about it.
PAGE, PER_BANK, BANKS, CORES = 4, 5, 6, 7
NOT_KNOWN = [("today", ["6Buffer9page_sizeEv"], [PAGE], b"metal: page sizes are not known"),
             ("v0.57", ["6Buffer9page_sizeEv"], [PAGE], b"metal: page sizes are not known"),
             ("v0.57", ["get_num_banks"], [PER_BANK, BANKS], b"metal: the number of banks is not known"),
             ("today", ["get_num_banks"], [PER_BANK, BANKS], b"metal: the number of banks is not known"),
             ("today", ["6Buffer9num_coresEv"], [CORES], b"metal: over how many cores buffers are sharded is not known"),
             ("today", ["21aligned_size_per_bank", "get_statistics"], [PER_BANK, BANKS], b"metal: bytes per bank are not known")]
# Functions whose answers follow from others.
REPLACED = [["6Buffer9num_pagesEv"], ["21aligned_size_per_bank"], ["13AllocatorImpl13get_num_banks"], ["13get_alignment"],
            ["21aligned_size_per_bank", "17aligned_page_size"]]


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

    def symbols(self, release, words):
        with open(os.path.join(STANDIN, release, "libtt_metal.so"), "rb") as file:
            return [s for s in symbols_of(file.read()) if is_of_runtime(s) and any(word in s for word in words)]

    def see(self, release, hidden, look=lambda env, pid: None):
        """What the program prints, its process in the dump, and its ledger. `look` is called while it runs."""
        folder = self.hide(release, hidden)
        ledgers = os.path.join(folder, "ledgers")
        os.mkdir(ledgers)
        env = dict(environment(release, ledgers), LD_LIBRARY_PATH=folder)
        with Running([PROGRAMS, "mesh", "1", "2"], env) as running:
            process = [p for p in dump(ledgers) if p["pid"] == running.process.pid]
            content = pathlib.Path(process[0]["ledger"]).read_bytes() if process else b""
            look(dict(os.environ, TIDEMARK_DIR=ledgers), str(running.process.pid))
            code, _, err = running.finish()
        self.assertEqual((code, err), (0, ""), hidden)
        return as_printed(facts_of(running.text)), process[0] if process else {"buffers": []}, content

    def check(self, release, hidden):
        """What is seen is true; what is not known is null. Without the number of cores, none are shown."""
        printed, process, _ = self.see(release, hidden)
        seen = as_seen(process["buffers"])
        without_cores = any("9num_cores" in name for name in hidden)
        for buffer in seen:
            alike = [p for p in printed if all(a == b or b is None or (i == CORES and without_cores)
                                               for i, (a, b) in enumerate(zip(p, buffer)))]
            self.assertTrue(alike, (hidden, buffer))
        return len(seen) == len(printed)

    def test_what_is_not_known_is_null_and_said(self):
        for release, words, places, remark in NOT_KNOWN:
            with self.subTest(release=release, words=words):
                printed, process, content = self.see(release, self.symbols(release, words))
                seen = as_seen(process["buffers"])
                self.assertEqual(len(seen), len(printed))
                self.assertIn(remark, content)
                for place in places:
                    self.assertEqual({b[place] for b in seen}, {0 if place == CORES else None}, place)
                if BANKS in places:
                    self.assertEqual({b["reserved_bytes"] for b in process["buffers"]}, {None})
                    for kind in (k for d in process["devices"] for k in d["kinds"] if k["buffers"]):
                        self.assertFalse(kind["exact"], kind["kind"])
                known = [i for i in range(CORES + 1) if i not in places]
                self.assertEqual(sorted([b[i] for i in known] for b in seen),
                                 sorted([b[i] for i in known] for b in printed))

    def test_kinds_that_cannot_be_told_apart(self):
        """By what the buffer says, or by where its address is. Without both that is said."""
        for words, is_known in ((["6Buffer5is_l1Ev"], True), (["6Buffer5is_l1Ev", "get_base_allocator_addr"], False)):
            with self.subTest(words=words):
                printed, process, content = self.see("today", self.symbols("today", words))
                kinds = [[b[1] for b in buffers] for buffers in (as_seen(process["buffers"]), printed)]
                self.assertEqual(kinds[0].count("l1_small"), kinds[1].count("l1_small") if is_known else 0)
                self.assertEqual(b"metal: buffers of L1_SMALL are shown as L1" in content, not is_known)

    def test_where_memories_begin(self):
        """As the runtime says it; without its answer they begin at 0."""
        def look(env, pid):
            done = subprocess.run([os.path.join(BIN, "tidemark"), "status", "--json", "--pid", pid], env=env, stdout=subprocess.PIPE,
                                  text=True, check=True, timeout=120)
            for info in json.loads(done.stdout)["device_info"]:
                bases.append({k["kind"]: k["base"] for k in info["memory"]["kinds"] if k["kind"] in ("dram", "l1")})

        for hidden, dram, l1 in ((["get_base_allocator_addr"], 0, 0), ([], 1048640, 105664)):
            with self.subTest(hidden=hidden):
                bases = []
                self.see("today", self.symbols("today", hidden) if hidden else [], look)
                self.assertEqual(bases, [{"dram": dram, "l1": l1}] * 2)

    def test_figures_that_are_estimates_say_so(self):
        def shown(env, *arguments):
            return subprocess.run([os.path.join(BIN, "tidemark"), *arguments], env=env, stdout=subprocess.PIPE, text=True,
                                  check=True, timeout=120).stdout

        def look(env, pid):
            device = next(d["memory"] for d in json.loads(shown(env, "status", "--json", "--pid", pid))["device_info"]
                          if d["memory"]["number"] == 0)
            dram = device["kinds"][0]
            self.assertEqual((dram["kind"], dram["estimated"], dram["largest_free"]), ("dram", is_hidden, None if is_hidden else dram["largest_free"]))
            dumped = json.loads(shown(env, "dump", "--json", "--pid", pid))["dump"]["processes"][0]["devices"][0]["kinds"]
            self.assertEqual({(k["exact"], k["estimated"]) for k in dumped if k["kind"] == "dram"}, {(not is_hidden, is_hidden)})
            for text in (shown(env, "status", "--long", "--pid", pid), shown(env, "top", "--once", "--pid", pid)):
                self.assertEqual("with '~'" in text, is_hidden, text)

        for is_hidden in (False, True):
            with self.subTest(is_hidden=is_hidden):
                self.see("today", self.symbols("today", ["get_num_banks"]) if is_hidden else [], look)

    def test_what_follows_from_other_answers(self):
        for release in ("today", "v0.64"):
            for words in REPLACED:
                with self.subTest(release=release, words=words):
                    printed, process, _ = self.see(release, self.symbols(release, words))
                    self.assertEqual(as_seen(process["buffers"]), printed)

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

    def test_allocators_that_end_unseen(self):
        """Their destructor has several names. One that is there may never be called: nobody asks who may have ended."""
        for release in RELEASES:
            with open(os.path.join(STANDIN, release, "libtt_metal.so"), "rb") as file:
                names = [s for s in symbols_of(file.read()) if s.endswith(("13AllocatorImplD2Ev", "9AllocatorD2Ev"))]
            self.assertEqual(len(names), 1)
            with self.subTest(release=release):
                # What was freed is overwritten.
                self.assert_same_behaviour(PROGRAMS, "part_ends", release=release, LD_LIBRARY_PATH=self.hide(release, names),
                                           MALLOC_PERTURB_="165", GLIBC_TUNABLES="glibc.malloc.tcache_count=0")

    def test_functions_of_another_class(self):
        """Two classes have functions of the same names. If those of one are missing, the others are not asked in their place."""
        for release in ("v0.66", "today"):
            for asked in ("14get_statistics", "13get_num_banks", "13get_bank_size"):
                with self.subTest(release=release, asked=asked):
                    hidden = self.symbols(release, ["13AllocatorImpl15allocate_buffer", "12GraphTracker14track_allocateE",
                                                    "13AllocatorImpl" + asked])
                    self.assertEqual(len(hidden), 3)
                    self.assert_same_behaviour(PROGRAMS, "asked_again", release=release,
                                               LD_LIBRARY_PATH=self.hide(release, hidden))

    def test_releases_that_only_the_tracker_tells(self):
        """What an allocator said before one of them is not compared any more."""
        for release in RELEASES:
            with self.subTest(release=release):
                folder = self.hide(release, self.symbols(release, ["17deallocate_bufferE"]))
                running, _, seen = self.look(release, PROGRAMS, "asked_again", LD_LIBRARY_PATH=folder)
                self.assertEqual([f["what"] for f in seen["findings"] if "differ" in f["what"]], [])
                self.assertEqual([b["asked_bytes"] for b in seen["buffers"]], [4096])
                self.assertEqual(running.finish()[0], 0)

    def test_circular_buffers_that_nothing_validates(self):
        """Nothing says whether a layout is accepted: it is shown as soon as it is made."""
        for release in ("today", "v0.57"):
            with open(os.path.join(STANDIN, release, "libtt_metal.so"), "rb") as file:
                names = [s for s in symbols_of(file.read()) if "31validate_" in s]
            with self.subTest(release=release):
                running, _, seen = self.look(release, PROGRAMS, "recb", LD_LIBRARY_PATH=self.hide(release, names))
                self.assertEqual([b["bytes_per_bank"] for b in seen["buffers"] if b["kind"] == "cb"], [8192])
                self.assertEqual(running.finish()[0], 0)

    def test_kernels_that_are_gone(self):
        """Nothing says when a program begins or ends: another one is at its place, with other kernels. A name of the destructor
        may be there and never be called."""
        with open(os.path.join(STANDIN, "today", "libtt_metal.so"), "rb") as file:
            names = [s for s in symbols_of(file.read())
                     if any(word in s for word in ("15program_created", "17program_destroyed", "11ProgramImplD"))]
        self.assertGreaterEqual(len(names), 3)
        for hidden in (names, [s for s in names if not s.endswith("11ProgramImplD2Ev")]):
            with self.subTest(hidden=hidden): # what was freed is overwritten
                self.assert_same_behaviour(PROGRAMS, "fewer_kernels", LD_LIBRARY_PATH=self.hide("today", hidden),
                                           MALLOC_PERTURB_="165", GLIBC_TUNABLES="glibc.malloc.tcache_count=0")

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
    """A program that is built with a sanitizer, which the preload and the runtime are not. Nobody sets an option."""

    def check(self, name):
        program = f"{PROGRAMS}_{name}"
        if not os.path.exists(program):
            self.skipTest("everything has sanitizers here, or the compiler has none")
        if self.run_program(program, "order", status=None, **self.plain).returncode != 0:
            self.skipTest("it does not run here")
        for stacks in ("0", "8"):
            for words in (["many", "100"], ["exceptions"], ["oom"], ["threads", "3", "50"], ["programs", "60", "9"], ["fork"]):
                with self.subTest(words=words, stacks=stacks):
                    alone = self.run_program(program, *words, status=None, **self.plain)
                    traced = self.run_program(program, *words, status=None, directory=self.directory,
                                              TIDEMARK_STACKS=stacks, **self.plain)
                    self.assertEqual((traced.returncode, traced.stderr), (alone.returncode, alone.stderr))
                    if words[0] != "threads": # which take turns as they like
                        self.assertEqual(traced.stdout, alone.stdout)
            running, text, seen = self.look("today", program, "threads", "3", "50", TIDEMARK_STACKS=stacks, **self.plain)
            self.assertEqual(as_seen(seen["buffers"]), as_printed(facts_of(text)))
            self.assertEqual(running.finish()[::2], (0, ""))

    plain = {"ASAN_OPTIONS": "", "TSAN_OPTIONS": "", "UBSAN_OPTIONS": ""}

    def test_address(self):
        self.check("address")

    def test_address_first(self):
        """A user may have put the sanitizer in front, as it asks for."""
        library = subprocess.run(["g++", "-print-file-name=libasan.so"], stdout=subprocess.PIPE, text=True).stdout.strip()
        if not os.path.isabs(library) or not os.path.exists(f"{PROGRAMS}_address"):
            self.skipTest("there is none")
        done = self.run_program(f"{PROGRAMS}_address", "many", "100", preload=f"{library} {PRELOAD}",
                                directory=self.directory, **self.plain)
        self.assertEqual(done.stderr, "")

    def test_thread(self):
        self.check("thread")

    def test_thread_of_clang(self):
        """It is in the program itself, so no function of a library can tell it what to leave alone."""
        self.check("thread_clang")

    def test_undefined(self):
        self.check("undefined")


if __name__ == "__main__":
    unittest.main()
