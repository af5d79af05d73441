"""Importing it gives temporary files a short path, whatever TMPDIR says: the path of a socket has at most 107 bytes, and
messages are wrapped to fit the terminal, wherever the tests run."""

import os
import tempfile

LENGTH_MAX = 12

if len(tempfile.gettempdir()) > LENGTH_MAX and os.access("/tmp", os.W_OK):
    os.environ["TMPDIR"] = tempfile.tempdir = "/tmp"
