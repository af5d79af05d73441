"""Tidemark: accounts for every byte of a Tenstorrent accelerator's memory, from inside the program that uses it.

Report buffers with alloc() and free(), or let `with tidemark.buffer(...)` do both; name what runs with program() and
phase(); measure between snapshots with MemoryUsageTracker; read the figures of this process with device_memory() and the
functions that torch.cuda has, too. Tracking is off until it is turned on, by TIDEMARK=1 in the environment or by enable().
Without libtidemark every call does nothing, and `available` is False.
"""

from . import _library
from ._frames import enable_stacks, stack_depth
from ._marks import phase, program
from ._memory import (device_memory, devices, max_memory_allocated, max_memory_reserved, memory_allocated, memory_reserved,
                      memory_stats, memory_summary, reset_peak_memory_stats)
from ._report import (CoreRange, Kind, Region, Usage, adopt, alloc, buffer, core_id, describe_device, disable, enable, free,
                      free_all, is_enabled, ledger_path, lost, name, out_of_memory, report_cb, report_cb_free,
                      report_kernel, strerror, usage, version)
from ._tracker import DRAMUsage, L1UsagePerCore, MemoryUsageGuard, MemoryUsageTracker, RunMode

available: bool = _library.lib is not None
__version__ = "0.1.0"

__all__ = [
    "CoreRange", "DRAMUsage", "Kind", "L1UsagePerCore", "MemoryUsageGuard", "MemoryUsageTracker", "Region", "RunMode", "Usage",
    "adopt", "alloc", "available", "buffer", "core_id", "describe_device", "device_memory", "devices", "disable", "enable",
    "enable_stacks", "free", "free_all", "is_enabled", "ledger_path", "lost", "max_memory_allocated", "max_memory_reserved",
    "memory_allocated", "memory_reserved", "memory_stats", "memory_summary", "name", "out_of_memory", "phase", "program",
    "report_cb", "report_cb_free", "report_kernel", "reset_peak_memory_stats", "stack_depth", "strerror", "usage", "version",
]
