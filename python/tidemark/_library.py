"""Finds libtidemark and describes its functions to ctypes.

It looks, in this order, for a copy that the process has already loaded (a second one would keep a second ledger); at
$TIDEMARK_LIBRARY; beside this package; where the dynamic linker looks; and in build/lib of the source tree that contains this
package. If there is none, `lib` is None and the package does nothing.
"""

from __future__ import annotations

import ctypes
import os
import pathlib
import warnings
from collections.abc import Iterator
from typing import Any

SONAME = "libtidemark.so.0"


class CoreRange(ctypes.Structure):
    """struct tidemark_core_range"""

    _fields_ = [("x0", ctypes.c_uint16), ("y0", ctypes.c_uint16), ("x1", ctypes.c_uint16), ("y1", ctypes.c_uint16)]


class Region(ctypes.Structure):
    """struct tidemark_region"""

    _fields_ = [("kind", ctypes.c_uint32), ("banks", ctypes.c_uint32), ("base", ctypes.c_uint64),
                ("bank_size", ctypes.c_uint64), ("align", ctypes.c_uint32), ("reserved", ctypes.c_uint32)]


class Device(ctypes.Structure):
    """struct tidemark_device"""

    _fields_ = [("size", ctypes.c_uint32), ("number", ctypes.c_uint32), ("card", ctypes.c_char_p),
                ("chip_id", ctypes.c_uint64), ("has_chip_id", ctypes.c_uint32), ("grid_x", ctypes.c_uint32),
                ("grid_y", ctypes.c_uint32), ("region_count", ctypes.c_uint32), ("regions", ctypes.POINTER(Region)),
                ("region_size", ctypes.c_uint32), ("reserved", ctypes.c_uint32)]


class Buffer(ctypes.Structure):
    """struct tidemark_buffer"""

    _fields_ = [("size", ctypes.c_uint32), ("device", ctypes.c_uint32), ("kind", ctypes.c_uint32),
                ("flags", ctypes.c_uint32), ("id", ctypes.c_uint64), ("address", ctypes.c_uint64),
                ("bytes", ctypes.c_uint64), ("bytes_per_bank", ctypes.c_uint64), ("banks", ctypes.c_uint32),
                ("holding", ctypes.c_uint32), ("page_size", ctypes.c_uint32), ("cores", ctypes.c_uint32),
                ("name", ctypes.c_uint32), ("range_count", ctypes.c_uint32), ("ranges", ctypes.POINTER(CoreRange)),
                ("frames", ctypes.POINTER(ctypes.c_uint64)), ("frame_count", ctypes.c_uint32),
                ("reserved", ctypes.c_uint32)]


class Usage(ctypes.Structure):
    """struct tidemark_usage"""

    FIGURES = ("bytes", "peak_bytes", "asked_bytes", "bank_bytes", "peak_bank_bytes", "buffers", "allocs", "frees",
               "double_frees", "unknown_frees", "rereports", "out_of_memory", "adopted", "window_peak_bytes",
               "window_peak_bank_bytes", "window_peak_asked_bytes", "window_peak_buffers", "alloc_bytes", "alloc_asked_bytes")
    _fields_ = [("size", ctypes.c_uint32), ("reserved", ctypes.c_uint32)] + [(name, ctypes.c_uint64) for name in FIGURES]


class Segment(ctypes.Structure):
    """struct tidemark_segment"""

    _fields_ = [("size", ctypes.c_uint32), ("reserved", ctypes.c_uint32), ("name", ctypes.c_char_p)] + [
        (name, ctypes.c_int64) for name in (
            "dram_peak", "dram_allocations", "dram_deallocations", "l1_peak_cb", "l1_peak_buffer", "l1_peak_total",
            "dram_cumulative_peak", "dram_cumulative_current", "l1_peak_dfb", "l1_peak_scratchpad")]


VIEW = 1
NO_ADDRESS = 2
FRAME_TEXT = 1 << 63  # marks a frame that is the number of a text

_int, _u32, _u64, _size, _text = ctypes.c_int, ctypes.c_uint32, ctypes.c_uint64, ctypes.c_size_t, ctypes.c_char_p

# name: result, arguments
_FUNCTIONS = {
    "tidemark_version": (_text,),
    "tidemark_version_number": (_u32,),
    "tidemark_strerror": (_text, _int),
    "tidemark_enable": (_int,),
    "tidemark_disable": (_int,),
    "tidemark_ledger_path": (_text,),
    "tidemark_describe_device": (_int, ctypes.POINTER(Device)),
    "tidemark_alloc_": (_int, ctypes.POINTER(Buffer)),
    "tidemark_adopt_": (_int, ctypes.POINTER(Buffer)),
    "tidemark_free_": (_int, _u32, _u32, _u64),
    "tidemark_free_all": (ctypes.c_int64, _u32, _u32),
    "tidemark_name": (_u32, _text),
    "tidemark_out_of_memory": (_int, _u32, _u32, _u64, _u64),
    "tidemark_program": (_int, _text),
    "tidemark_phase": (_int, _text),
    "tidemark_get_usage": (_int, _u32, _u32, ctypes.POINTER(Usage)),
    "tidemark_reset_peak": (_int, _u32, _u32, ctypes.POINTER(Usage)),
    "tidemark_devices": (_size, ctypes.POINTER(_u32), _size),
    "tidemark_lost": (_u64,),
    "tidemark_report_kernel": (_int, _u32, _u64, _u32),
    "tidemark_report_cb": (_int, _u32, _u64, _u32, ctypes.POINTER(CoreRange)),
    "tidemark_report_cb_free": (_int, _u32, _u64, _u32, ctypes.POINTER(CoreRange)),
    "tidemark_capture_begin": (_int, _int),
    "tidemark_capture_snapshot": (_int, _text),
    "tidemark_capture_end": (_int, _text),
    "tidemark_capture_is_active": (_int,),
    "tidemark_capture_clear": (_int,),
    "tidemark_capture_count": (_size,),
    "tidemark_capture_get": (_int, _size, ctypes.POINTER(Segment)),
    "tidemark_capture_format": (_size, ctypes.c_void_p, _size),
}


def _already_loaded() -> ctypes.CDLL | None:
    try:
        return ctypes.CDLL(SONAME, mode=os.RTLD_NOLOAD | os.RTLD_NOW)
    except OSError:
        return None


def _candidates() -> Iterator[str]:
    if chosen := os.environ.get("TIDEMARK_LIBRARY"):
        yield chosen
        return # using another one would be a surprise
    package = pathlib.Path(__file__).resolve().parent
    if (package / SONAME).exists():
        yield str(package / SONAME)
    yield SONAME
    built = package.parent.parent / "build" / "lib" / SONAME
    if built.exists():
        yield str(built)


def _declare(library: ctypes.CDLL) -> ctypes.CDLL:
    for name, (result, *arguments) in _FUNCTIONS.items():
        function = getattr(library, name)
        function.restype = result
        function.argtypes = arguments
    return library


problem = ""  # why there is no library


def _load() -> ctypes.CDLL | None:
    global problem
    reasons = []
    try:
        if (loaded := _already_loaded()) is not None:
            return _declare(loaded)
        for path in _candidates():
            try:
                return _declare(ctypes.CDLL(path))
            except OSError as error:
                reasons.append(str(error))
    except AttributeError as error: # another version of the library
        reasons.append(str(error))
    problem = (f"libtidemark cannot be used, so nothing is tracked: {'; '.join(reasons)} (install it where the dynamic linker "
               "looks, or set TIDEMARK_LIBRARY to its path)")
    if "PYTEST_XDIST_WORKER" not in os.environ:  # the process that started the worker has said it
        warnings.warn(problem, RuntimeWarning, stacklevel=4)
    return None


lib = _load()
# Not 0 while tracking is on. A plain variable, because every call reads it.
_off = ctypes.c_ubyte(0)
active = ctypes.c_ubyte.in_dll(lib, "tidemark_active_") if lib is not None else _off
# Changes when names must be looked up again.
epoch = ctypes.c_uint32.in_dll(lib, "tidemark_epoch_") if lib is not None else ctypes.c_uint32(0)


def call(name: str, *arguments: Any) -> int:
    """Calls a function that returns a number; without the library it does nothing and returns 0."""
    return 0 if lib is None else int(getattr(lib, name)(*arguments))


def encode(text: str) -> bytes:
    """Encodes a text for C: up to the first NUL, with any bytes that a file name may contain."""
    return text.encode("utf-8", "surrogateescape").partition(b"\0")[0]


def decode(text: bytes | None) -> str:
    return "" if text is None else text.decode("utf-8", "surrogateescape")


def error_text(code: int) -> str:
    return decode(lib.tidemark_strerror(code)) if lib is not None else f"error {code}"
