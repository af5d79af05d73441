"""Finding the library, doing without it, and the package that pip installs."""

import ctypes
import os
import re
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile

from support import ROOT, check_python, run_python

sys.path.insert(0, str(ROOT / "python"))
import build_wheel  # noqa: E402 (the build backend of the package)
from tidemark import _library  # noqa: E402

EVERYTHING = """
import tidemark
from tidemark import Kind, MemoryUsageTracker as tracker, RunMode
assert not tidemark.available and not tidemark.is_enabled() and tidemark.version() == '' and tidemark.ledger_path() == ''
assert tidemark.enable() == tidemark.disable() == tidemark.lost() == 0 and not tidemark.is_enabled()
tidemark.enable_stacks(8)
assert tidemark.describe_device(0, 'n150', regions=[tidemark.Region('dram', 12, 1 << 30)]) == 0
assert tidemark.alloc(Kind.DRAM, 1, 64, name='x', ranges=[(0, 0, 1, 1)]) == tidemark.free('dram', 1) == 0
assert tidemark.adopt(Kind.DRAM, 1, 64) == tidemark.report_cb_free(2, (0, 0, 1, 1)) == 0
assert tidemark.free_all('cb') == tidemark.name('x') == tidemark.out_of_memory('l1', 5) == 0
assert tidemark.report_kernel(1) == tidemark.report_cb(1, 2, (0, 0, 1, 1)) == tidemark.report_cb_free(2) == 0
assert tidemark.usage('dram') is None and tidemark.strerror(-1)
with tidemark.phase('p'), tidemark.program('q'), tidemark.buffer('l1', 1, 2):
    pass
guard = tracker.begin_capture(RunMode.NO_DISPATCH)
tracker.snapshot('A'); tracker.end_capture(); tracker.print_memory_usage()
assert tracker.get_trace_names() == tracker.get_dram_usage_all() == tracker.get_l1_usage_all() == []
tracker.clear(); guard.release()
"""


class Finding(unittest.TestCase):
    def setUp(self):
        self.library = pathlib.Path(os.environ["TIDEMARK_LIBRARY"]).resolve()
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="tidemark-find."))
        self.addCleanup(shutil.rmtree, self.directory)

    def copy_package(self):
        shutil.copytree(ROOT / "python" / "tidemark", self.directory / "python" / "tidemark",
                        ignore=shutil.ignore_patterns("__pycache__"))
        return self.directory / "python"

    def found(self, **env):
        code = ("import tidemark\nprint(tidemark.available)\n"
                "print([l.split(None, 5)[5].rstrip() for l in open('/proc/self/maps') if 'libtidemark' in l][-1])")
        available, path = check_python(self, code, **env).splitlines()
        self.assertEqual(available, "True")
        return pathlib.Path(path)

    def test_by_variable(self):
        self.assertEqual(self.found(), self.library)

    def test_beside_the_package(self):
        package = self.copy_package()
        shutil.copy(self.library, package / "tidemark" / _library.SONAME)
        self.assertEqual(self.found(TIDEMARK_LIBRARY=None, PYTHONPATH=str(package)), package / "tidemark" / _library.SONAME)

    def test_by_the_dynamic_linker(self):
        package, libraries = self.copy_package(), self.directory / "lib"
        libraries.mkdir()
        shutil.copy(self.library, libraries / _library.SONAME)
        self.assertEqual(self.found(TIDEMARK_LIBRARY=None, PYTHONPATH=str(package), LD_LIBRARY_PATH=str(libraries)),
                         libraries / _library.SONAME)

    def test_in_the_source_tree(self):
        if subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, check=False).stdout.find(b"libtidemark") >= 0:
            self.skipTest("the library is installed")
        package, built = self.copy_package(), self.directory / "build" / "lib"
        built.mkdir(parents=True)
        shutil.copy(self.library, built / _library.SONAME)
        self.assertEqual(self.found(TIDEMARK_LIBRARY=None, PYTHONPATH=str(package)), built / _library.SONAME)

    def test_the_loaded_one_is_taken(self):
        code = (f"import ctypes; c = ctypes.CDLL({str(self.library)!r}); import tidemark\n"
                "print(tidemark.available, len({l.split(None, 5)[5] for l in open('/proc/self/maps') if 'libtidemark' in l}))")
        shutil.copy(self.library, self.directory / "libother.so")
        self.assertEqual(check_python(self, code, TIDEMARK_LIBRARY=str(self.directory / "libother.so")), "True 1\n")

    def test_without_it_nothing_happens(self):
        self.assertEqual(self.missing("/none/such.so"), "WARNING: No traces captured\n")

    def test_a_library_that_is_none(self):
        (self.directory / "text.so").write_text("no library")
        self.missing(str(self.directory / "text.so"))
        self.missing("libc.so.6")  # one without our functions

    def missing(self, path):
        done = run_python(EVERYTHING, TIDEMARK_LIBRARY=path, TIDEMARK="1")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr.count("RuntimeWarning: libtidemark cannot be used"), 1, done.stderr)
        self.assertIn("set TIDEMARK_LIBRARY to its path", done.stderr)
        return done.stdout


class Layout(unittest.TestCase):
    """The structures are those of tidemark.h."""

    def test_sizes_and_offsets(self):
        structures = {"core_range": _library.CoreRange, "region": _library.Region, "device": _library.Device,
                      "buffer": _library.Buffer, "usage": _library.Usage, "segment": _library.Segment}
        lines, expected = [], []
        for name, structure in structures.items():
            lines.append(f'printf("{name} %zu\\n", sizeof(struct tidemark_{name}));')
            expected.append(f"{name} {ctypes.sizeof(structure)}")
            for field, _ in structure._fields_:
                lines.append(f'printf("{name}.{field} %zu\\n", offsetof(struct tidemark_{name}, {field}));')
                expected.append(f"{name}.{field} {getattr(structure, field).offset}")
        source = "#include <stdio.h>\n#include <tidemark.h>\nint main(void)\n{\n" + "\n".join(lines) + "\nreturn 0;\n}\n"
        with tempfile.TemporaryDirectory(prefix="tidemark-layout.") as directory:
            program = os.path.join(directory, "layout")
            subprocess.run(["gcc", f"-I{ROOT / 'include'}", "-x", "c", "-", "-o", program,  # tidemark_active_ is not needed
                            "-Wl,--unresolved-symbols=ignore-all"], input=source, text=True, check=True)
            printed = subprocess.run([program], capture_output=True, text=True, check=True).stdout
        self.assertEqual(printed.splitlines(), expected)


class Package(unittest.TestCase):
    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="tidemark-wheel."))
        self.addCleanup(shutil.rmtree, self.directory)

    def test_the_wheel(self):
        name = build_wheel.build_wheel(str(self.directory))
        self.assertEqual(name, "tidemark-0.1.0-py3-none-any.whl")
        target = self.directory / "site"
        with zipfile.ZipFile(self.directory / name) as wheel:
            self.assertLessEqual({"tidemark/py.typed", "tidemark/pytest_plugin.py", "tidemark-0.1.0.dist-info/entry_points.txt"},
                                 set(wheel.namelist()))
            wheel.extractall(target)
        self.assertEqual(check_python(self, "import tidemark; print(tidemark.available, tidemark.__file__)",
                                      PYTHONPATH=str(target)), f"True {target}/tidemark/__init__.py\n")

    def test_pip_installs_it_without_a_network(self):
        if subprocess.run([sys.executable, "-m", "pip", "--version"], capture_output=True, check=False).returncode != 0:
            self.skipTest("there is no pip")
        source = self.directory / "python"
        shutil.copytree(ROOT / "python", source, ignore=shutil.ignore_patterns("__pycache__"))
        pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--no-index", "--quiet",
               "--root-user-action=ignore", "--target", str(self.directory / "site"), str(source)]
        done = subprocess.run(pip, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(check_python(self, "import tidemark; print(tidemark.available, tidemark.__file__)",
                                      PYTHONPATH=str(self.directory / "site")),
                         f"True {self.directory}/site/tidemark/__init__.py\n")

    def test_the_versions_agree(self):
        header = (ROOT / "include" / "tidemark.h").read_text(encoding="utf-8")
        version = re.escape(build_wheel._project()["version"])
        self.assertRegex(header, rf'#define TIDEMARK_VERSION\s+"{version}"')
        import tidemark
        self.assertEqual(tidemark.__version__, build_wheel._project()["version"])


if __name__ == "__main__":
    unittest.main()
