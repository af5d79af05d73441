"""The calls of tidemark.h. Each returns what the C function returns: 0 on success (and when tracking is off), else a negative
code; strerror() returns its text. Failures in the library never raise an exception."""

from __future__ import annotations

import ctypes
import enum
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, NamedTuple

from . import _frames, _library
from ._library import call


class Kind(enum.IntEnum):
    """The kinds of memory."""

    DRAM = 0
    L1 = 1
    L1_SMALL = 2
    TRACE = 3
    CB = 4
    DFB = 5
    SCRATCHPAD = 6
    KERNEL = 7
    FIRMWARE = 8
    SYSTEM = 9
    CONFIG = 10


KindLike = Kind | int | str
_NO_KIND = _NO_NUMBER = 0xFFFFFFFF
_TOO_LARGE = 0xFFFFFFFFFFFFFFFF


class CoreRange(NamedTuple):
    """A rectangle of cores, including both corners."""

    x0: int
    y0: int
    x1: int
    y1: int


@dataclass
class Region:
    """One memory region of a device: banks (or cores) in lockstep, each with bank_size bytes starting at base."""

    kind: KindLike
    banks: int
    bank_size: int
    base: int = 0
    align: int = 0


@dataclass
class Usage:
    """The memory of one kind that this process holds on one device."""

    bytes: int = 0
    peak_bytes: int = 0
    asked_bytes: int = 0
    bank_bytes: int = 0
    peak_bank_bytes: int = 0
    buffers: int = 0
    allocs: int = 0
    frees: int = 0
    double_frees: int = 0
    unknown_frees: int = 0
    rereports: int = 0
    out_of_memory: int = 0
    adopted: int = 0
    window_peak_bytes: int = 0
    window_peak_bank_bytes: int = 0
    window_peak_asked_bytes: int = 0
    window_peak_buffers: int = 0
    alloc_bytes: int = 0
    alloc_asked_bytes: int = 0


def _kind(kind: KindLike) -> int:
    """The number of a kind. The library refuses an unknown one with -EINVAL and counts it."""
    if isinstance(kind, str):
        return Kind.__members__.get(kind.upper(), _NO_KIND)
    return kind


# ctypes would cut a number that does not fit to another one: another device, another buffer, another size. These make the
# library refuse such a call with -EINVAL and count it.


def _size(bytes: int) -> int:
    return bytes if 0 <= bytes < _TOO_LARGE else _TOO_LARGE


def _fit32(*numbers: int) -> bool:
    return min(numbers) >= 0 and max(numbers) <= 0xFFFFFFFF


def _fit_core(cores: CoreRange | tuple[int, int, int, int]) -> bool:
    return len(cores) == 4 and min(cores) >= 0 and max(cores) <= 0xFFFF


def _kind_of(kind: KindLike, device: int, id: int = 0) -> int:
    return _kind(kind) if _fit32(device) and 0 <= id <= _TOO_LARGE else _NO_KIND


def version() -> str:
    """The version of the library; "" if there is none."""
    return _library.decode(_library.lib.tidemark_version()) if _library.lib is not None else ""


def strerror(code: int) -> str:
    """The text for a negative code."""
    return _library.error_text(code)


def is_enabled() -> bool:
    """True while tracking is on."""
    return _library.active.value != 0


def enable() -> int:
    """Turns tracking on for this process. Buffers allocated earlier stay unknown."""
    return call("tidemark_enable")


def disable() -> int:
    """Turns tracking off; the ledger stays."""
    return call("tidemark_disable")


def ledger_path() -> str:
    """The path of this process's ledger; "" when there is none yet."""
    return _library.decode(_library.lib.tidemark_ledger_path()) if _library.lib is not None else ""


def describe_device(number: int, card: str | None = None, *, chip_id: int | None = None, grid: tuple[int, int] = (0, 0),
                    regions: Iterable[Region] = ()) -> int:
    """Describes a device; a later call replaces the description. Devices need not be described to be tracked."""
    regions = list(regions)
    fits = _fit32(number, *grid, *(n for r in regions for n in (r.banks, r.align))) and all(
        0 <= n <= _TOO_LARGE for n in (chip_id or 0, *(n for r in regions for n in (r.base, r.bank_size))))
    raw_regions = [_library.Region(_kind(r.kind), r.banks, r.base, r.bank_size, r.align, 0) for r in regions]
    array = (_library.Region * len(raw_regions))(*raw_regions)
    device = _library.Device(
        size=ctypes.sizeof(_library.Device) if fits else 0, number=number, card=None if card is None else _library.encode(card),
        chip_id=chip_id or 0, has_chip_id=chip_id is not None, grid_x=grid[0], grid_y=grid[1],
        region_count=len(raw_regions), regions=array, region_size=ctypes.sizeof(_library.Region))
    return call("tidemark_describe_device", ctypes.byref(device))


def _report(function: str, kind: KindLike, id: int, bytes: int, *, device: int, address: int | None, bytes_per_bank: int,
            banks: int, holding: int, page_size: int, cores: int, name: str | None,
            ranges: Sequence[CoreRange | tuple[int, int, int, int]], view: bool, skip: int) -> int:
    if not _library.active.value:
        return 0
    fits = _fit32(banks, holding, page_size, cores) and 0 <= (address or 0) <= _TOO_LARGE and all(map(_fit_core, ranges))
    buffer = _library.Buffer(
        size=ctypes.sizeof(_library.Buffer) if fits else 0, device=device, kind=_kind_of(kind, device, id), id=id,
        bytes=_size(bytes), bytes_per_bank=_size(bytes_per_bank), banks=banks, holding=holding, page_size=page_size, cores=cores,
        flags=(_library.VIEW if view else 0) | (_library.NO_ADDRESS if address is None else 0), address=address or 0)
    if name:
        buffer.name = call("tidemark_name", _library.encode(name))
    if ranges:
        buffer.ranges = (_library.CoreRange * len(ranges))(*(_library.CoreRange(*r[:4]) for r in ranges))
        buffer.range_count = len(ranges)
    frames = _frames.collect(skip + 1)
    if frames is not None:
        buffer.frames = frames
        buffer.frame_count = len(frames)
    return call(function, ctypes.byref(buffer))


def alloc(kind: KindLike, id: int, bytes: int, *, device: int = 0, address: int | None = None, bytes_per_bank: int = 0,
          banks: int = 0, holding: int = 0, page_size: int = 0, cores: int = 0, name: str | None = None,
          ranges: Sequence[CoreRange | tuple[int, int, int, int]] = (), view: bool = False) -> int:
    """Reports that a buffer has been allocated. Device, kind and id identify it; leave out what is unknown."""
    return _report("tidemark_alloc_", kind, id, bytes, device=device, address=address, bytes_per_bank=bytes_per_bank,
                   banks=banks, holding=holding, page_size=page_size, cores=cores, name=name, ranges=ranges, view=view, skip=2)


def adopt(kind: KindLike, id: int, bytes: int, *, device: int = 0, address: int | None = None, bytes_per_bank: int = 0,
          banks: int = 0, holding: int = 0, page_size: int = 0, cores: int = 0, name: str | None = None,
          ranges: Sequence[CoreRange | tuple[int, int, int, int]] = (), view: bool = False) -> int:
    """Reports a buffer that was allocated before tracking was turned on; takes the arguments of alloc().

    It is live and counts in current figures and peaks, but it is not an allocation of now. -EEXIST if it is known already."""
    return _report("tidemark_adopt_", kind, id, bytes, device=device, address=address, bytes_per_bank=bytes_per_bank,
                   banks=banks, holding=holding, page_size=page_size, cores=cores, name=name, ranges=ranges, view=view, skip=2)


def free(kind: KindLike, id: int, *, device: int = 0) -> int:
    """Reports that a buffer has been released."""
    return call("tidemark_free_", device, _kind_of(kind, device, id), id) if _library.active.value else 0


def free_all(kind: KindLike, *, device: int = 0) -> int:
    """Releases every live buffer of a kind on a device. Returns their number."""
    return call("tidemark_free_all", device, _kind_of(kind, device))


def core_id(x: int, y: int, address: int) -> int:
    """An id for an item in the L1 of one core."""
    return (x & 0xFFFF) << 48 | (y & 0xFFFF) << 32 | (address & 0xFFFFFFFF)


def name(text: str) -> int:
    """The number of a text in the ledger; 0 when tracking is off or there is no room."""
    return call("tidemark_name", _library.encode(text))


def out_of_memory(kind: KindLike, bytes: int, *, device: int = 0, bytes_per_bank: int = 0) -> int:
    """Reports that an allocation failed for lack of memory."""
    return call("tidemark_out_of_memory", device, _kind_of(kind, device), _size(bytes), _size(bytes_per_bank))


def usage(kind: KindLike, *, device: int = 0) -> Usage | None:
    """The memory that this process holds; None when nothing was ever reported for that device."""
    raw = _library.Usage(size=ctypes.sizeof(_library.Usage))
    if _library.lib is None or call("tidemark_get_usage", device, _kind_of(kind, device), ctypes.byref(raw)) != 0:
        return None
    return Usage(**{field: getattr(raw, field) for field in _library.Usage.FIGURES})


def lost() -> int:
    """The number of events that could not be recorded."""
    return call("tidemark_lost")


def report_kernel(bytes: int, *, device: int = 0, core_type: int = 0) -> int:
    """Reports that a kernel's code was loaded on cores of this type (0 worker, 1 Ethernet)."""
    return call("tidemark_report_kernel", device, _size(bytes) if _fit32(device, core_type) else _TOO_LARGE, core_type)


def _number(number: int, cores: CoreRange | tuple[int, int, int, int] | None, device: int) -> int:
    return number if _fit32(device, number) and (cores is None or _fit_core(cores)) else _NO_NUMBER


def _cores(cores: CoreRange | tuple[int, int, int, int] | None) -> Any:
    return None if cores is None else ctypes.byref(_library.CoreRange(*cores[:4]))


def report_cb(bytes: int, buffer_index: int, cores: CoreRange | tuple[int, int, int, int] | None = None, *,
              device: int = 0) -> int:
    """Reports a new circular buffer of `bytes` on each core of a range. Number and range identify it."""
    return call("tidemark_report_cb", device, _size(bytes), _number(buffer_index, cores, device), _cores(cores))


def report_cb_free(buffer_index: int, cores: CoreRange | tuple[int, int, int, int] | None = None, *, device: int = 0,
                   bytes: int = 0) -> int:
    """Reports that a circular buffer was released; without cores, all that have this number."""
    return call("tidemark_report_cb_free", device, bytes, _number(buffer_index, cores, device), _cores(cores))


class buffer:
    """A buffer that stays allocated inside a with statement; takes the arguments of alloc()."""

    def __init__(self, kind: KindLike, id: int, bytes: int, *, device: int = 0, address: int | None = None,
                 bytes_per_bank: int = 0, banks: int = 0, holding: int = 0, page_size: int = 0, cores: int = 0,
                 name: str | None = None, ranges: Sequence[CoreRange | tuple[int, int, int, int]] = (),
                 view: bool = False) -> None:
        self.kind, self.id, self.bytes, self.device = _kind(kind), id, bytes, device
        self._details: dict[str, Any] = {
            "address": address, "bytes_per_bank": bytes_per_bank, "banks": banks, "holding": holding, "page_size": page_size,
            "cores": cores, "name": name, "ranges": ranges, "view": view}
        self._live = False

    def __enter__(self) -> buffer:
        self._live = is_enabled() and _report(
            "tidemark_alloc_", self.kind, self.id, self.bytes, device=self.device, skip=2, **self._details) == 0
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 traceback: TracebackType | None) -> None:
        if self._live:
            self._live = False
            free(self.kind, self.id, device=self.device)
