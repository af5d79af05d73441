"""The live figures of this process: device_memory(), and functions with the names that users of torch.cuda know.

Peaks are exact: the library keeps one since the start and one since the last reset, and no peak between two readings is missed.
The library has one window for everybody. Here it is shared out: whoever begins a new one tells the others what theirs had."""

from __future__ import annotations

import ctypes
import math
import os
import threading
import weakref
from typing import Any

from . import _library
from ._report import Kind, KindLike, Usage, _kind, usage
from ._sizes import format_size

# A runtime reports buffers of these kinds as soon as it reports any. The others may go unseen, so nothing reported is unknown.
ALWAYS_KNOWN = (Kind.DRAM, Kind.L1, Kind.L1_SMALL, Kind.TRACE)
# Programs share memory of these kinds, so its total is not a sum of buffers that come and go.
SHARED = (Kind.CB, Kind.DFB, Kind.SCRATCHPAD)
NAMES = {kind: kind.name.lower() for kind in Kind}
PEAKS = ("window_peak_bytes", "window_peak_bank_bytes", "window_peak_asked_bytes", "window_peak_buffers")


def devices() -> list[int]:
    """The numbers of the devices that something was reported for in this process, in ascending order."""
    if _library.lib is None:
        return []
    count = _library.call("tidemark_devices", None, 0)
    numbers = (ctypes.c_uint32 * count)()
    return sorted(numbers[:min(_library.call("tidemark_devices", numbers, count), count)])


def known_usage(device: int, kind: Kind) -> Usage | None:
    """The figures of a kind, or None when they are not known."""
    figures = usage(kind, device=device)
    if figures is None or (kind not in ALWAYS_KNOWN and figures.bytes == figures.allocs == figures.adopted == 0):
        return None
    return figures


class PeakWindow:
    """The highest figures since start(), or since the start of the process. Windows may overlap."""

    def __init__(self) -> None:
        self._most: dict[tuple[int, Kind], dict[str, int]] = {}

    def start(self, numbers: list[int] | None = None) -> None:
        """Begins anew with what is held now, on all devices or on the given ones."""
        with _lock:
            _windows.add(self)
            for device in devices() if numbers is None else numbers:
                for kind in Kind:
                    before = _library.Usage(size=ctypes.sizeof(_library.Usage))
                    if _library.call("tidemark_reset_peak", device, kind, ctypes.byref(before)) != 0:
                        continue
                    for window in _windows:
                        window._raise(device, kind, before)
                    self._most.pop((device, kind), None)

    def _raise(self, device: int, kind: Kind, figures: Any) -> None:
        most = self._most.setdefault((device, kind), dict.fromkeys(PEAKS, 0))
        for name in PEAKS:
            most[name] = max(most[name], getattr(figures, name))

    def usage(self, device: int, kind: Kind) -> Usage | None:
        """The figures of a kind; the peaks are those of this window. None: not known."""
        with _lock:
            figures = known_usage(device, kind)
            if figures is not None:
                for name, most in self._most.get((device, kind), {}).items():
                    setattr(figures, name, max(most, getattr(figures, name)))
            return figures

    def stop(self) -> None:
        _windows.discard(self)


_lock = threading.Lock()
_windows: weakref.WeakSet[PeakWindow] = weakref.WeakSet()
_user = PeakWindow()  # of reset_peak_memory_stats()
_windows.add(_user)


def _in_child() -> None:
    """A forked child has a ledger of its own, in which nothing was reported yet."""
    global _lock
    _lock = threading.Lock()
    for window in _windows:
        window._most.clear()


os.register_at_fork(after_in_child=_in_child)


def device_memory() -> dict[int, dict[str, dict[str, int | None]]]:
    """What this process holds: for each device and kind bytes, peak, asked, buffers, per_bank and peak_per_bank.

    `bytes` are reserved on the device, `asked` is what the program asked for; peaks are since the start. None: not known."""
    def figures(device: int, kind: Kind) -> dict[str, int | None]:
        held = known_usage(device, kind)
        if held is None:
            return dict.fromkeys(("bytes", "peak", "asked", "buffers", "per_bank", "peak_per_bank"))
        return {"bytes": held.bytes, "peak": held.peak_bytes, "asked": held.asked_bytes, "buffers": held.buffers,
                "per_bank": held.bank_bytes, "peak_per_bank": held.peak_bank_bytes}

    return {device: {NAMES[kind]: figures(device, kind) for kind in Kind} for device in devices()}


def _device(device: Any) -> int:
    """A number, "tt:1", "1", or an object with an index as torch.device has; None, "tt", an index of None: the lowest device that
    is used."""
    number = getattr(device, "index", device) if not isinstance(device, (int, str)) else device
    if number is None or number == "tt":
        return min(devices(), default=0)
    if isinstance(number, str):
        _, _, digits = number.rpartition(":")
        number = int(digits) if digits.isdecimal() and number in (digits, f"tt:{digits}") else None
    if not isinstance(number, int) or not 0 <= number <= 0xFFFFFFFF:
        raise ValueError(f"{device!r} is not a device; write a number or for example \"tt:0\"")
    return number


def _known_kind(kind: KindLike) -> Kind:
    try:
        return Kind(_kind(kind))
    except ValueError:
        raise ValueError(f"{kind!r} is not a kind of memory; the kinds are {', '.join(NAMES.values())}") from None


def _figure(device: Any, kind: KindLike, name: str) -> float:
    held = _user.usage(_device(device), _known_kind(kind))
    return math.nan if held is None else getattr(held, name)


def memory_allocated(device: Any = None, kind: KindLike = Kind.DRAM) -> float:
    """The bytes that this process holds on a device; nan: not known, because nothing was reported."""
    return _figure(device, kind, "bytes")


def max_memory_allocated(device: Any = None, kind: KindLike = Kind.DRAM) -> float:
    """The most that it held at once, since the start or since reset_peak_memory_stats(); nan: not known."""
    return _figure(device, kind, "window_peak_bytes")


# There is no cache between the program and the allocator of the device, so nothing is reserved but what is allocated.
memory_reserved = memory_allocated
max_memory_reserved = max_memory_allocated


def reset_peak_memory_stats(device: Any = None) -> None:
    """Begins the peaks of max_memory_allocated() and memory_stats() anew, for all kinds. The ledger's own peaks stay."""
    _user.start([_device(device)])


def memory_stats(device: Any = None, kind: KindLike = Kind.DRAM) -> dict[str, int]:
    """Figures under the keys of torch.cuda.memory_stats(); {} when nothing is known.

    "all" is the chosen kind. The same figures are there for each known kind, with its name in place of "all"."""
    number, chosen, stats = _device(device), _known_kind(kind), {}
    for each in Kind:
        held = _user.usage(number, each)
        if held is None:
            continue
        frees = held.frees
        figures = {
            "allocation": (held.buffers, held.window_peak_buffers, held.buffers + frees, frees),
            "allocated_bytes": (held.bytes, held.window_peak_bytes, held.alloc_bytes, held.alloc_bytes - held.bytes),
            "requested_bytes": (held.asked_bytes, held.window_peak_asked_bytes, held.alloc_asked_bytes,
                                held.alloc_asked_bytes - held.asked_bytes),
        }
        figures |= {"active": figures["allocation"], "active_bytes": figures["allocated_bytes"],
                    "reserved_bytes": figures["allocated_bytes"]}
        for pool in ("all", NAMES[each]) if each == chosen else (NAMES[each],):
            stats |= {f"{name}.{pool}.{what}": figure for name, values in figures.items()
                      for what, figure in zip(("current", "peak", "allocated", "freed"), values)
                      if each not in SHARED or what in ("current", "peak")}
        if each == chosen:
            stats |= {"num_ooms": held.out_of_memory, "num_alloc_retries": 0}
    return dict(sorted(stats.items())) if f"allocation.{NAMES[chosen]}.current" in stats else {}


def memory_summary(device: Any = None) -> str:
    """A table of what this process holds on a device, kind by kind."""
    number = _device(device)
    rows = [("kind", "held", "peak", "asked for", "in one bank", "buffers")]
    for kind in Kind:
        held = _user.usage(number, kind)
        if held is not None and held.allocs + held.adopted + held.out_of_memory > 0:
            rows.append((NAMES[kind], *map(format_size, (held.bytes, held.window_peak_bytes, held.asked_bytes, held.bank_bytes)),
                         f"{held.buffers:,}"))
    if len(rows) == 1:
        return f"device {number}: nothing was reported\n"
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = ["  ".join([row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:]))])
             for row in rows]
    return "\n".join([f"device {number}", *lines, ""])
