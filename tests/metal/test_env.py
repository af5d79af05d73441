"""The lines of `tidemark env`, read by each shell that it offers, by Tcl and by systemd."""

import json
import os
import shutil
import subprocess
import unittest

from standin import BIN, Case, tidemark

# What a name may have in it and a shell may make something else of. LD_PRELOAD cannot have blanks and colons.
ODD = "it's \"$(echo x)\" ${HOME} `a` \\ \\\\ %s %% !b !! * ? [a] {a,b} # ; & | < > ~  =z"
ODD_LIBRARY = ODD.replace(" ", "_")
OLD = "/no/a.so /no/b.so"
SHELLS = {shell: 'eval "$(tidemark env --shell %s ARGUMENTS)"' % shell for shell in ("sh", "bash", "dash", "zsh", "ksh")}
SHELLS["fish"] = "tidemark env --shell fish ARGUMENTS | source"
# csh has no quotes within these quotes.
SHELLS["csh"] = SHELLS["tcsh"] = 'setenv SCRIPT \'tidemark env --shell csh ARGUMENTS\'; eval "`printenv SCRIPT | sh`"'


class Shells(Case):
    def setUp(self):
        super().setUp()
        self.dir = os.path.join(self.directory, ODD)
        self.library = os.path.join(self.directory, ODD_LIBRARY, "libtidemark-metal.so")
        os.mkdir(self.dir)
        os.mkdir(os.path.dirname(self.library))
        for mount in json.loads(tidemark("env", "--json"))["env"]["mounts"]:
            if mount.endswith(":ro"):  # the preload, and the library that it needs
                path = mount.split(":")[0]
                shutil.copyfile(path, os.path.join(os.path.dirname(self.library), os.path.basename(path)))

        self.wanted = {"TIDEMARK": "1", "TIDEMARK_DIR": self.dir, "TIDEMARK_STACKS": "3", "LD_PRELOAD": self.library}
        self.nothing = dict.fromkeys(self.wanted)

    def command(self, *arguments):
        return subprocess.run([os.path.join(BIN, "tidemark"), *arguments], env={**os.environ, "TIDEMARK_PRELOAD": self.library},
                              stdout=subprocess.PIPE, check=True, text=True, timeout=60).stdout

    def variables(self, shell, *lines, **env):
        """What a program gets that the shell starts after these lines."""
        if not shutil.which(shell):
            self.skipTest(f"no {shell} here")
        # The old ones are not there: the loader says so.
        script = "\n".join([*lines, "env -0"])
        done = subprocess.run([shell, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60,
                              env={"PATH": BIN + ":" + os.environ["PATH"], "HOME": self.directory, "WANTED": self.dir,
                                   "TIDEMARK_PRELOAD": self.library, **env})
        errors = [line for line in done.stderr.decode().splitlines() if not line.startswith("ERROR: ld.so: ")]
        self.assertEqual((done.returncode, errors), (0, []), (shell, script))
        found = dict(row.split("=", 1) for row in done.stdout.decode().split("\0") if row)
        return {name: found.get(name) for name in self.wanted}

    def check(self, shell):
        strict = [] if shell in ("fish", "csh", "tcsh") else ["set -eu"]
        on = SHELLS[shell].replace("ARGUMENTS", '--dir "$WANTED" --stacks 3')
        off = SHELLS[shell].replace("ARGUMENTS", "--off --dir x --stacks 3")
        self.assertEqual(self.variables(shell, on), self.wanted)
        self.assertEqual(self.variables(shell, *strict, on, on), self.wanted)
        self.assertEqual(self.variables(shell, *strict, on, off), self.nothing)
        self.assertEqual(self.variables(shell, *strict, off, off), self.nothing)
        both = {**self.wanted, "LD_PRELOAD": self.library + ":" + OLD}
        self.assertEqual(self.variables(shell, *strict, on, on, LD_PRELOAD=OLD), both)
        self.assertEqual(self.variables(shell, *strict, on, off, off, LD_PRELOAD=OLD), {**self.nothing, "LD_PRELOAD": OLD})
        if strict:  # the lines of a job script are for these shells, too
            job = ['tidemark env --format job --dir "$WANTED" --stacks 3 >"$HOME/job"', '. "$HOME/job"', '. "$HOME/job"']
            self.assertEqual(self.variables(shell, *strict, *job, LD_PRELOAD=OLD), both)

    def test_module_file(self):
        """A module file is Tcl."""
        if not shutil.which("tclsh"):
            self.skipTest("no tclsh here")
        lines = self.command("env", "--format", "module", "--dir", self.dir, "--stacks", "3")
        script = "proc setenv {n v} { puts -nonewline $n=$v\\0 }; proc prepend-path {n v} { setenv $n $v }\n" + lines
        done = subprocess.run(["tclsh"], input=script, stdout=subprocess.PIPE, text=True, check=True, timeout=60)
        self.assertEqual(dict(row.split("=", 1) for row in done.stdout.split("\0") if row), self.wanted)

    def test_systemd_unit(self):
        if not shutil.which("systemd-analyze"):
            self.skipTest("no systemd-analyze here")
        unit = os.path.join(self.directory, "model.service")
        with open(unit, "w", encoding="utf-8") as f:
            f.write("[Service]\nExecStart=/bin/true\n" + self.command("env", "--format", "systemd", "--dir", self.dir))
        done = subprocess.run(["systemd-analyze", "verify", "--man=no", unit], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, timeout=60)
        # It may say something about other units of the machine.
        self.assertEqual([line for line in done.stdout.splitlines() if "model.service" in line], [])


for name in SHELLS:
    setattr(Shells, "test_" + name, lambda self, shell=name: self.check(shell))


if __name__ == "__main__":
    unittest.main()
