"""What the Python tests share."""

import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
DATA = ROOT / "tests" / "data"


def run_python(code, cwd=None, **env):
    """Runs a program of its own; a variable set to None is taken away."""
    environment = {**os.environ, **{k: v for k, v in env.items() if v is not None}}
    for key, value in env.items():
        if value is None:
            environment.pop(key, None)
    return subprocess.run([sys.executable, "-c", code], env=environment, cwd=cwd, capture_output=True, text=True, timeout=120,
                          check=False)


def check_python(test, code, **env):
    """The output of a program that must end well and say nothing on standard error."""
    done = run_python(code, **env)
    test.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
    return done.stdout
