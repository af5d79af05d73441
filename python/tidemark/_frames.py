"""Python call stacks for allocations: each frame is a text in the ledger, "file:line function"."""

from __future__ import annotations

import ctypes
import os
import sys
from types import CodeType, FrameType

from . import _library

MAX_DEPTH = 64
_CACHE_MAX = 65536

_depth = 0
_cache: dict[tuple[CodeType, int], int] = {}
_cache_epoch = -1


def enable_stacks(depth: int = 16) -> None:
    """Makes each alloc() record up to `depth` Python frames, innermost first; 0 turns this off."""
    global _depth
    if not 0 <= depth <= MAX_DEPTH:
        raise ValueError(f"the depth of stacks must be between 0 and {MAX_DEPTH}, not {depth}")
    _depth = depth


def stack_depth() -> int:
    """The number of frames that each alloc() records."""
    return _depth


def from_environment() -> None:
    """Reads TIDEMARK_STACKS as the library does; anything but a number counts as 0."""
    global _depth
    try:
        wanted = int(os.environ.get("TIDEMARK_STACKS", "0"))
    except ValueError:
        wanted = 0
    _depth = min(max(wanted, 0), MAX_DEPTH)


def _number_of(code: CodeType, line: int) -> int:
    """The number of a frame's text; it stays the same until the process forks."""
    global _cache_epoch
    if _cache_epoch != _library.epoch.value or len(_cache) >= _CACHE_MAX:
        _cache.clear()
        _cache_epoch = _library.epoch.value
    number = _cache.get((code, line))
    if number is None:
        text = f"{code.co_filename}:{line} {code.co_qualname}"
        number = _library.call("tidemark_name", _library.encode(text))
        if number != 0:
            _cache[code, line] = number
    return number


def collect(skip: int) -> ctypes.Array[ctypes.c_uint64] | None:
    """The frames of the caller, `skip` levels above this function; None when stacks are off."""
    if _depth == 0:
        return None
    numbers: list[int] = []
    frame: FrameType | None = sys._getframe(skip)
    while frame is not None and len(numbers) < _depth:
        number = _number_of(frame.f_code, frame.f_lineno)
        if number != 0:
            numbers.append(_library.FRAME_TEXT | number)
        frame = frame.f_back
    return (ctypes.c_uint64 * len(numbers))(*numbers) if numbers else None


from_environment()
