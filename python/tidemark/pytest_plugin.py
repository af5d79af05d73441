"""The pytest plugin: limits on the device memory of a test, and a report of the heaviest tests.

    @pytest.mark.limit_device_memory("dram=8GiB", "l1=1MiB")
    @pytest.mark.limit_device_leaks("1MiB")

A peak is that of the process while the test was set up and ran: what fixtures and earlier tests still hold is in it, because the
device has to hold that, too. Figures travel with the reports of tests, so workers of pytest-xdist need nothing else.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import shutil
import subprocess
from collections.abc import Generator, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

import tidemark
from tidemark import Kind, _library
from tidemark._memory import NAMES, PeakWindow, _device, devices, known_usage
from tidemark._sizes import format_size, parse_size

PROPERTY = "device_memory"
MEMORY, LEAKS = "limit_device_memory", "limit_device_leaks"
OFF = "tracking is off (pytest --tidemark turns it on)"
NOTHING = "the process reported no device memory (is it run with `tidemark run`?)"
SHOWN = 5
OUTSIDE_L1 = (Kind.DRAM, Kind.TRACE, Kind.SYSTEM)
SCOPES = {"_device": "bytes", "_bank": "bank_bytes"}


def _count(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of tests")
    return int(text)


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("tidemark", "device memory (Tidemark)")
    group.addoption("--tidemark", action="store_true", default=False,
                    help="track device memory, check the limits of tests, and report the heaviest tests at the end")
    group.addoption("--most-device-memory", type=_count, metavar="N", default=None,
                    help=f"the number of tests in that report, for each kind of memory (default: {SHOWN}; 0: all); "
                    "implies --tidemark")
    group.addoption("--device-memory-json", metavar="FILE", default=None,
                    help="write the figures of all tests to FILE; implies --tidemark")
    group.addoption("--tidemark-strict", action="store_true", default=False,
                    help="fail a test whose limits cannot be checked, instead of naming it at the end")
    parser.addini("tidemark", "as --tidemark", type="bool", default=False)
    parser.addini("most_device_memory", "as --most-device-memory", default="")
    parser.addini("device_memory_json", "as --device-memory-json", default="")
    parser.addini("tidemark_strict", "as --tidemark-strict", type="bool", default=False)


def pytest_configure(config: pytest.Config) -> None:
    for marker in (f'{MEMORY}("dram=8GiB", "l1=1MiB", device=0): fail if the process held more device memory during the test; '
                   "L1 is per core; a size without a kind is for each kind",
                   f'{LEAKS}("1MiB"): fail if the test left more device memory behind; arguments as above'):
        config.addinivalue_line("markers", marker)
    config.pluginmanager.register(_Plugin(config), "tidemark-device-memory")


@dataclass(frozen=True)
class _Limit:
    """The most bytes of a kind (None: of each) on a device (None: on each)."""

    device: int | None
    kind: Kind | None
    figure: str  # "bytes": on the whole device; "bank_bytes": in one bank or core
    size: int


def _default_figure(kind: Kind) -> str:
    return "bytes" if kind in OUTSIDE_L1 else "bank_bytes"


def _where(kind: Kind, figure: str) -> str:
    return f"on device {{}}{'' if figure == 'bytes' else ', in one bank' if kind in OUTSIDE_L1 else ', in one core'}"


def _one_limit(name: str | None, size: Any, device: int | None) -> _Limit:
    figure = next((SCOPES[suffix] for suffix in SCOPES if name and name.endswith(suffix)), None)
    base = name if name is None or figure is None else name[:name.rindex("_")]
    kind = None if base is None else Kind.__members__.get(base.upper())
    if base is not None and kind is None:
        raise ValueError(f"{name!r} is not a kind of memory; the kinds are {', '.join(NAMES.values())}, "
                         "and each may end in _device or _bank")
    if size == "" or (name is None and isinstance(size, str) and size.strip().upper() in Kind.__members__):
        raise ValueError(f"{(name or size).strip()!r} has no size; write for example {(name or size).strip().lower()}=1GiB")
    return _Limit(device, kind, figure or (_default_figure(kind) if kind is not None else ""), parse_size(size))


def _limits_of(item: pytest.Item, marker: str) -> list[_Limit]:
    """The limits of a test. Of two for the same memory, that of its parameters wins over that of the test, and that over the
    one of its class or module."""
    found: dict[tuple[Any, ...], _Limit] = {}
    of_parameters = [mark for mark in getattr(getattr(item, "callspec", None), "marks", ()) if mark.name == marker]
    for mark in [*of_parameters, *item.iter_markers(marker)]:
        options = dict(mark.kwargs)
        try:
            device = _device(options.pop("device")) if options.get("device") is not None else options.pop("device", None)
            texts = [text.partition("=") if isinstance(text, str) else ("", "", text) for text in mark.args]
            given = [(name.strip(), size) if equals else (None, name or size) for name, equals, size in texts]
            if not given and not options:
                raise ValueError("there is no size")
            own = [_one_limit(name, size, device) for name, size in [*given, *options.items()]]
            for i, limit in enumerate(own):
                key = (limit.device, limit.kind, limit.figure)
                if key in [(other.device, other.kind, other.figure) for other in own[:i]]:
                    raise ValueError(f"there are two limits for {NAMES[limit.kind] if limit.kind is not None else 'each kind'}")
                found.setdefault(key, limit)
        except ValueError as error:
            raise pytest.fail.Exception(f"@pytest.mark.{marker}: {error}", pytrace=False) from None
    return list(found.values())


Held = dict[tuple[int, Kind], tuple[int, int]]  # bytes on the device, bytes in one bank


def _held() -> Held:
    figures = ((device, kind, known_usage(device, kind)) for device in devices() for kind in Kind)
    return {(device, kind): (usage.bytes, usage.bank_bytes) for device, kind, usage in figures if usage is not None}


def _plus(a: Held, b: Held, sign: int = 1) -> Held:
    return {key: (a.get(key, (0, 0))[0] + sign * b.get(key, (0, 0))[0], a.get(key, (0, 0))[1] + sign * b.get(key, (0, 0))[1])
            for key in {**a, **b}}


def _minus(a: Held, b: Held) -> Held:
    return _plus(a, b, -1)


@dataclass
class _Test:
    """One run of one test. `lasting` is what fixtures of a class, a module or the session added to it and will release later."""

    memory: list[_Limit]
    leaks: list[_Limit]
    window: PeakWindow = field(default_factory=PeakWindow)
    before: Held = field(default_factory=dict)
    in_call: Held = field(default_factory=dict)
    lasting: Held = field(default_factory=dict)
    peaks: dict[tuple[int, Kind], tidemark.Usage] = field(default_factory=dict)
    unchecked: str | None = None

    def own(self) -> Held:
        """What is held now, without that."""
        if self.leaks:
            gc.collect()  # buffers of objects that only refer to each other are not held
        return _minus(_held(), self.lasting)

    def left_behind(self) -> Held:
        """What the call added and teardown did not release."""
        whole = _minus(self.own(), self.before)
        return {key: (max(0, min(whole[key][0], added[0])), max(0, min(whole[key][1], added[1])))
                for key, added in self.in_call.items() if key in whole}


def _applying(limits: list[_Limit], seen: list[tuple[int, Kind]]) -> Iterator[tuple[_Limit, int, Kind, str]]:
    """Each limit with each memory it is about. A size for each kind is not for kinds that have limits of their own."""
    own = {limit.kind for limit in limits}
    for limit in limits:
        for device, kind in seen:
            if limit.device in (None, device) and (limit.kind == kind or (limit.kind is None and kind not in own)):
                yield limit, device, kind, limit.figure or _default_figure(kind)


def _unseen(limits: list[_Limit], seen: list[tuple[int, Kind]]) -> str | None:
    """Why a limit cannot be checked, if one cannot."""
    if not tidemark.available:
        return _library.problem
    if not tidemark.is_enabled():
        return OFF
    if not seen:
        return NOTHING
    for limit in limits:
        if not any(limit.device in (None, device) and limit.kind in (None, kind) for device, kind in seen):
            what = NAMES[limit.kind] if limit.kind is not None else "memory"
            return f"nothing was reported about {what}" + (f" of device {limit.device}" if limit.device is not None else "")
    return None


def _largest_buffers(device: int, kind: Kind) -> str:
    """The largest buffers that are live now, if the command is there; it is asked only when a limit is exceeded."""
    command = shutil.which("tidemark")
    if command is None:
        return ""
    words = [command, "dump", f"--pid={os.getpid()}", f"--device={device}", f"--kind={NAMES[kind]}", "--sort=size",
             f"--limit={SHOWN}", "--ascii"]
    environment = {name: value for name, value in os.environ.items() if name not in ("LD_PRELOAD", "TIDEMARK")}
    try:
        done = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout if done.returncode == 0 else ""


def _fail(report: Any, text: str) -> None:
    """Makes a test fail that has passed; one that fails already, or is expected to, only gets the text."""
    if report.outcome == "failed":
        report.sections.append(("device memory", text))
    elif hasattr(report, "wasxfail"):
        report.outcome = "skipped"
        report.longrepr = text
    else:
        report.outcome = "failed"
        report.longrepr = text


class _Plugin:
    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        most = config.getoption("most_device_memory")
        try:
            if most is None and config.getini("most_device_memory"):
                most = _count(config.getini("most_device_memory"))
        except argparse.ArgumentTypeError as error:
            raise pytest.UsageError(f"most_device_memory: {error}") from None
        self.is_worker = hasattr(config, "workerinput")
        self.json = config.getoption("device_memory_json") or config.getini("device_memory_json")
        if self.json and not self.is_worker:
            try:
                open(self.json, "a", encoding="utf-8").close()  # said now, not after all tests
            except OSError as error:
                raise pytest.UsageError(f"--device-memory-json: {error}") from None
        self.reports = bool(config.getoption("tidemark") or config.getini("tidemark") or most is not None or self.json)
        self.most = SHOWN if most is None else most
        self.strict = config.getoption("tidemark_strict") or config.getini("tidemark_strict")
        self.tests: dict[str, dict[str, Any]] = {}
        self.running: dict[str, _Test] = {}
        self.lasting: dict[Any, Held] = {}  # what each fixture that lasts longer than a test added when it was set up
        self.nested: list[Held] = []
        if self.reports:
            tidemark.enable()

    # Inside of other plugins, which have begun the test when a marker is refused.
    @pytest.hookimpl(hookwrapper=True, trylast=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> Generator[None, Any, None]:
        test = _Test(_limits_of(item, MEMORY), _limits_of(item, LEAKS))
        if self.reports or test.memory or test.leaks:
            self.running[item.nodeid] = test
            test.before = test.own()
            test.window.start()
        yield

    @pytest.hookimpl(hookwrapper=True)
    def pytest_fixture_setup(self, fixturedef: Any, request: Any) -> Generator[None, Any, None]:
        if fixturedef.scope == "function" or not self.running:
            yield
            return
        before = _held()
        self.nested.append({})
        yield
        added = _minus(_held(), before)
        own = _minus(added, self.nested.pop())  # it may have asked for another fixture meanwhile
        if self.nested:
            self.nested[-1] = _plus(self.nested[-1], added)
        self.lasting[fixturedef] = own
        for test in self.running.values():
            test.lasting = _plus(test.lasting, own)

    def pytest_fixture_post_finalizer(self, fixturedef: Any) -> None:
        added = self.lasting.pop(fixturedef, None)
        for test in self.running.values() if added is not None else ():
            test.lasting = _minus(test.lasting, added)

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, Any, None]:
        test = self.running.get(item.nodeid)
        before = test.own() if test is not None else {}
        yield
        if test is not None:
            test.in_call = _minus(test.own(), before)

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[Any]) -> Generator[None, Any, None]:
        report = (yield).get_result()
        test = self.running.get(item.nodeid)
        if test is None:
            return
        if call.when == "call":
            self.check_memory(test, report)
        elif call.when == "teardown":
            del self.running[item.nodeid]
            test.window.stop()
            left = test.left_behind()
            self.check_leaks(test, report, left)
            report.user_properties.append((PROPERTY, self.figures(test, left)))

    def check_memory(self, test: _Test, report: Any) -> None:
        test.peaks = {key: usage for key in _held() if (usage := test.window.usage(*key)) is not None}
        limits = test.memory + test.leaks
        test.unchecked = _unseen(limits, list(test.peaks)) if limits else None
        if report.outcome == "skipped" and not hasattr(report, "wasxfail"):
            test.unchecked = None
        elif test.unchecked is not None and self.strict:
            _fail(report, f"the limit of device memory was not checked: {test.unchecked}")
        lines = []
        for limit, device, kind, figure in _applying(test.memory, list(test.peaks)):
            peak = getattr(test.peaks[device, kind], f"window_peak_{figure}")
            if peak > limit.size:
                before = test.before.get((device, kind), (0, 0))[figure != "bytes"]
                buffers = test.peaks[device, kind].window_peak_buffers
                lines.append(f"{NAMES[kind]}: the peak of {format_size(peak)} is above the limit of {format_size(limit.size)} "
                             f"({_where(kind, figure).format(device)}; {format_size(before)} was held before the test, "
                             f"at most {buffers} {'buffer' if buffers == 1 else 'buffers'})")
                if largest := _largest_buffers(device, kind):
                    lines.append(f"held after the test:\n{largest}")
        if lines:
            _fail(report, "\n".join(lines))

    def check_leaks(self, test: _Test, report: Any, left: Held) -> None:
        lines = [f"{NAMES[kind]}: the test left {format_size(left[device, kind][figure != 'bytes'])} behind, above the limit of "
                 f"{format_size(limit.size)} ({_where(kind, figure).format(device)})"
                 for limit, device, kind, figure in _applying(test.leaks, list(left))
                 if left[device, kind][figure != "bytes"] > limit.size]
        if lines:
            _fail(report, "\n".join(lines))

    def figures(self, test: _Test, left: Held) -> dict[str, Any]:
        found: dict[str, dict[str, dict[str, int]]] = {}
        for (device, kind), usage in test.peaks.items():
            growth = left.get((device, kind), (0, 0))
            if usage.window_peak_buffers > 0:
                found.setdefault(str(device), {})[NAMES[kind]] = {
                    "peak": usage.window_peak_bytes, "peak_per_bank": usage.window_peak_bank_bytes,
                    "buffers": usage.window_peak_buffers, "growth": growth[0], "growth_per_bank": growth[1]}
        return {"devices": found, "unchecked": test.unchecked}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        for name, figures in report.user_properties if report.when == "teardown" and not self.is_worker else ():
            if name == PROPERTY:
                self.tests[report.nodeid] = {"worker": getattr(report, "worker_id", None), **figures}

    def pytest_sessionfinish(self) -> None:
        if self.json and not self.is_worker:
            document = {"schema": "tidemark.pytest", "version": 1,
                        "tests": [{"test": name, **figures} for name, figures in self.tests.items()]}
            with open(self.json, "w", encoding="utf-8") as file:
                json.dump(document, file, indent=2)
                file.write("\n")

    def heaviest(self) -> Iterator[str]:
        for kind in Kind:
            figure = "" if kind in OUTSIDE_L1 else "_per_bank"
            rows = [(memory[NAMES[kind]], test, device) for test, figures in self.tests.items()
                    for device, memory in figures["devices"].items() if NAMES[kind] in memory]
            if not rows:
                continue
            rows.sort(key=lambda row: (-row[0]["peak" + figure], row[1], int(row[2])))
            yield f"{NAMES[kind]}, {'on a whole device' if not figure else 'in one core'}"
            yield f"  {'peak':>10}  {'left':>10}  test"
            for memory, test, device in rows[:self.most or None]:
                yield (f"  {format_size(memory['peak' + figure]):>10}  {format_size(memory['growth' + figure]):>10}  {test} "
                       f"(device {device})")

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        lines = list(self.heaviest()) if self.reports else []
        if self.reports and not lines:
            lines.append(_library.problem or "no device memory was reported in any test")
        reasons: dict[str, list[str]] = {}
        for test, figures in self.tests.items():
            if figures["unchecked"]:
                reasons.setdefault(figures["unchecked"], []).append(test)
        for reason, tests in reasons.items():
            lines.append(f"{len(tests)} {'test has' if len(tests) == 1 else 'tests have'} limits that were not checked: {reason}")
            lines += [f"  {test}" for test in tests[:SHOWN]]
            if len(tests) > SHOWN:
                lines.append(f"  and {len(tests) - SHOWN} more")
        if lines:
            terminalreporter.section("device memory")
            for line in lines:
                terminalreporter.line(line)
