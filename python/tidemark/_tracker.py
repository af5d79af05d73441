"""The phase tracker, with the names, texts and errors of tt-train's MemoryUsageTracker."""

from __future__ import annotations

import ctypes
import enum
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import TracebackType
from typing import Any, TypeVar

from . import _library

T = TypeVar("T")

_MB = 1024.0 * 1024.0
_ACTIVE = -1100
_INACTIVE = -1101


class RunMode(enum.Enum):
    """NO_DISPATCH: reports are only added up and nothing is placed, so a model larger than the card can be measured."""

    NORMAL = 0
    NO_DISPATCH = 1


@dataclass(frozen=True)
class DRAMUsage:
    """DRAM of one segment, in bytes, relative to its start."""

    peak: int = 0
    total_allocations: int = 0
    total_deallocations: int = 0

    def __str__(self) -> str:
        return (f"DRAM Usage:\n"
                f"  Peak:          {self.peak / _MB:.2f} MB\n"
                f"  Allocations:   {self.total_allocations / _MB:.2f} MB\n"
                f"  Deallocations: {self.total_deallocations / _MB:.2f} MB")


@dataclass(frozen=True)
class L1UsagePerCore:
    """L1 of one segment, in bytes, in one core."""

    peak_cb: int = 0
    peak_l1: int = 0
    peak_dataflow_buffer: int = 0
    peak_scratchpad: int = 0
    peak_total: int = 0

    def __str__(self) -> str:
        return (f"Peak Memory Usage Per Core:\n"
                f"  CB:         {self.peak_cb} bytes\n"
                f"  L1:         {self.peak_l1} bytes\n"
                f"  DFB:        {self.peak_dataflow_buffer} bytes\n"
                f"  Scratchpad: {self.peak_scratchpad} bytes\n"
                f"  Total:      {self.peak_total} bytes")


@dataclass(frozen=True)
class _Segment:
    name: str
    dram: DRAMUsage
    l1: L1UsagePerCore


def _check(code: int) -> None:
    if code in (_ACTIVE, _INACTIVE):
        raise RuntimeError(_library.error_text(code))
    if code < 0:
        raise RuntimeError(f"MemoryUsageTracker: {_library.error_text(code)}")


def _segments() -> Iterator[_Segment]:
    lib = _library.lib
    if lib is None:
        return
    raw = _library.Segment(size=ctypes.sizeof(_library.Segment))
    i = 0
    while lib.tidemark_capture_get(i, ctypes.byref(raw)) == 0:
        yield _Segment(
            _library.decode(raw.name), DRAMUsage(raw.dram_peak, raw.dram_allocations, raw.dram_deallocations),
            L1UsagePerCore(raw.l1_peak_cb, raw.l1_peak_buffer, raw.l1_peak_dfb, raw.l1_peak_scratchpad, raw.l1_peak_total))
        i += 1


def _only(name: str, read: Callable[[_Segment], T]) -> T:
    found = [s for s in _segments() if s.name == name]
    if not found:
        raise RuntimeError(f"MemoryUsageTracker: Trace '{name}' not found")
    if len(found) > 1:
        raise RuntimeError(f"MemoryUsageTracker: Trace '{name}' is ambiguous ({len(found)} segments share this name); "
                           "use get_dram_usage_all()/get_l1_usage_all() instead")
    return read(found[0])


class MemoryUsageGuard:
    """Ends the capture and clears its segments when the last reference to it is gone, unless it was released.

    The end of a with statement ends the capture and releases the guard: the segments can still be printed afterwards."""

    def __init__(self, mode: Any = RunMode.NORMAL) -> None:
        self._armed = False
        if _library.lib is not None:
            # The runtime's own RunMode works, too.
            is_no_dispatch = getattr(mode, "name", mode) == RunMode.NO_DISPATCH.name
            _check(_library.lib.tidemark_capture_begin(1 if is_no_dispatch else 0))
            self._armed = True

    def release(self) -> None:
        """Leaves end_capture() and clear() to the caller."""
        self._armed = False

    def __enter__(self) -> MemoryUsageGuard:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 traceback: TracebackType | None) -> None:
        if self._armed:
            self.release()
            _library.call("tidemark_capture_end", None)  # nothing to end if the block has ended it

    def __del__(self) -> None:
        if getattr(self, "_armed", False):
            self._armed = False
            if _library is not None and _library.lib is not None:  # gone when the interpreter ends
                _library.lib.tidemark_capture_end(None)
                _library.lib.tidemark_capture_clear()


class MemoryUsageTracker:
    """Memory use between snapshots. A process has one capture at a time; it sees the reports of all threads."""

    kDefaultTraceName = "END_TRACE"

    @staticmethod
    def begin_capture(mode: Any = RunMode.NORMAL) -> MemoryUsageGuard:
        """Begins a capture and turns tracking on if it is off. Keep the result: when it is gone, the capture ends."""
        return MemoryUsageGuard(mode)

    @staticmethod
    def end_capture(name: str = kDefaultTraceName) -> None:
        """Ends the capture; the last segment gets this name. Does nothing without a capture."""
        _check(_library.call("tidemark_capture_end", _library.encode(name)))

    @staticmethod
    def snapshot(name: str) -> None:
        """Ends the current segment under this name and begins the next."""
        _check(_library.call("tidemark_capture_snapshot", _library.encode(name)))

    @staticmethod
    def get_dram_usage(name: str = kDefaultTraceName) -> DRAMUsage:
        """The figures of the only segment with this name."""
        return _only(name, lambda s: s.dram)

    @staticmethod
    def get_dram_usage_all() -> list[tuple[str, DRAMUsage]]:
        """Names and figures of all segments, in the order in which they ended."""
        return [(s.name, s.dram) for s in _segments()]

    @staticmethod
    def get_l1_usage(name: str = kDefaultTraceName) -> L1UsagePerCore:
        """The figures of the only segment with this name."""
        return _only(name, lambda s: s.l1)

    @staticmethod
    def get_l1_usage_all() -> list[tuple[str, L1UsagePerCore]]:
        """Names and figures of all segments, in the order in which they ended."""
        return [(s.name, s.l1) for s in _segments()]

    @staticmethod
    def get_trace_names() -> list[str]:
        """The names of all segments, in the order in which they ended."""
        return [s.name for s in _segments()]

    @staticmethod
    def format_memory_usage() -> str:
        """The summary of all segments."""
        if _library.lib is None:
            return "WARNING: No traces captured\n"
        text = ctypes.create_string_buffer(_library.lib.tidemark_capture_format(None, 0) + 1)
        _library.lib.tidemark_capture_format(text, len(text))
        return _library.decode(text.value)

    @staticmethod
    def print_memory_usage() -> None:
        """Prints the summary to sys.stdout."""
        sys.stdout.write(MemoryUsageTracker.format_memory_usage())
        sys.stdout.flush()

    @staticmethod
    def clear() -> None:
        """Removes all segments and ends the capture if one is active."""
        _library.call("tidemark_capture_clear")


setattr(MemoryUsageTracker, "MemoryUsageGuard", MemoryUsageGuard)  # where the original has it
