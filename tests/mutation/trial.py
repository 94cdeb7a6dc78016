"""Runs of tests in a process of their own: which tests reach which lines, and whether tests notice a mutant."""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import resource
import signal
import sys
import threading
import time
import traceback
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ExtensionFileLoader, ModuleSpec, SourceFileLoader
from importlib.util import spec_from_file_location
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import pytest

PREPARED = (
    "numpy", "scipy.stats", "pandas", "pyarrow", "pyarrow.parquet", "polars", "networkx", "hypothesis", "mpmath",
    "joblib", "narwhals", "typer", "rich.console", "rich.progress", "matplotlib.pyplot", "sklearn.base",
    "sklearn.pipeline",
)  # fmt: skip
"""What tests import that is not serape's: imported once, before processes are started."""
FAILED = 70
"""The exit status of a process that failed by itself."""
MEMORY = 16 << 30  # bytes of address space of a process
REACHED_WHILE_LOADING = "while loading"


def prepare() -> None:
    """Import what all tests share."""
    for name in PREPARED:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    assert "serape" not in sys.modules
    gc.freeze()  # these objects are never looked at again


def started(work: Callable[[], int], log: Path) -> int:
    """Start a process with its own group and output, and return its number; its exit status is what `work` returns."""
    sys.stdout.flush()
    number = os.fork()
    if number:
        return number
    status = FAILED
    try:
        os.setsid()
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        with log.open("w") as file:
            os.dup2(file.fileno(), 1)
            os.dup2(file.fileno(), 2)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        status = work()
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def run_tests(files: Sequence[str], plugin: object, folder: Path) -> int:
    """Run tests of these files, without what runs would leave behind."""
    os.environ["HYPOTHESIS_STORAGE_DIRECTORY"] = str(folder / "hypothesis")
    quiet = ["-q", "--no-header", "--tb=line", "-p", "no:cacheprovider", "-p", "no:xdist"]
    quiet += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]  # hypothesis is imported already
    try:
        return int(pytest.main([*quiet, f"--basetemp={folder / 'tmp'}", *files], plugins=[plugin]))
    except (pytest.PytestUnraisableExceptionWarning, ExceptionGroup):  # of files that a failed test has left open
        return int(pytest.ExitCode.TESTS_FAILED)


# --- which tests reach which lines ---------------------------------------------------------------------------------


class Reaching:
    """Notes for each test the lines of some files that it reaches, and how long it takes."""

    def __init__(self, files: Sequence[str]) -> None:
        self.files = frozenset(files)
        self.reached: defaultdict[str, set[tuple[str, int]]] = defaultdict(set)
        self.seconds: dict[str, float] = {}
        self.failed: list[str] = []
        self.now = self.reached[REACHED_WHILE_LOADING]

    def start(self) -> None:
        """Note lines from now on: by `sys.monitoring`, which costs nothing in other files, or by `sys.settrace`."""
        if sys.version_info >= (3, 12):
            events = sys.monitoring.events
            sys.monitoring.use_tool_id(sys.monitoring.COVERAGE_ID, "mutants")
            sys.monitoring.register_callback(sys.monitoring.COVERAGE_ID, events.PY_START, self.monitor)
            sys.monitoring.register_callback(sys.monitoring.COVERAGE_ID, events.LINE, self.line)
            sys.monitoring.set_events(sys.monitoring.COVERAGE_ID, events.PY_START)
        else:
            sys.settrace(self.trace)
            threading.settrace(self.trace)

    def monitor(self, code: CodeType, offset: int) -> Any:
        """Look at the lines of a function if its file is one of those; see `sys.monitoring`."""
        del offset
        if sys.version_info >= (3, 12):
            if code.co_filename in self.files:
                sys.monitoring.set_local_events(sys.monitoring.COVERAGE_ID, code, sys.monitoring.events.LINE)
            return sys.monitoring.DISABLE
        return None

    def line(self, code: CodeType, number: int) -> None:
        """Note a line; see `sys.monitoring`."""
        self.now.add((code.co_filename, number))

    def trace(self, frame: FrameType, event: str, arg: Any) -> Any:
        """Note a line; see `sys.settrace`."""
        del arg
        name = frame.f_code.co_filename
        if event == "call" and name not in self.files:
            return None
        self.now.add((name, frame.f_lineno))
        return self.trace

    @contextlib.contextmanager
    def noting(self, name: str) -> Iterator[None]:
        """Note lines for a test."""
        outside, self.now = self.now, self.reached[name]
        if sys.version_info < (3, 12):
            sys.settrace(self.trace)  # a test may have set another
            threading.settrace(self.trace)
        try:
            yield
        finally:
            self.now = outside

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> Iterator[None]:
        with self.noting(item.nodeid.split("::")[0]):  # a fixture may serve all tests of a file
            return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Iterator[None]:
        with self.noting(item.nodeid):
            started = time.perf_counter()
            try:
                return (yield)
            finally:
                self.seconds[item.nodeid] = time.perf_counter() - started

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.failed.append(report.nodeid)


def note_reached(tests: str, files: Sequence[str], folder: Path) -> int:
    """Run the tests of a file, and write which lines they reach to `reached.json` in the folder."""
    plugin = Reaching(files)
    plugin.start()
    run_tests([tests], plugin, folder)
    sys.settrace(None)
    found = {test: sorted(lines) for test, lines in plugin.reached.items() if lines}
    content = {"reached": found, "seconds": plugin.seconds, "failed": plugin.failed}
    (folder / "reached.json").write_text(json.dumps(content))
    return 0


# --- whether tests notice a mutant ---------------------------------------------------------------------------------


class Chosen:
    """Runs these tests in this order, up to the first that fails; then those that are not known, whose names vary."""

    def __init__(self, names: Sequence[str], known: Collection[str]) -> None:
        self.order = {name: k for k, name in enumerate(names)}
        self.known = frozenset(known)

    def pytest_collection_modifyitems(self, session: pytest.Session, items: list[pytest.Item]) -> None:
        session.config.option.maxfail = 1
        chosen = [item for item in items if item.nodeid in self.order or item.nodeid not in self.known]
        items[:] = sorted(chosen, key=lambda item: self.order.get(item.nodeid, len(self.order)))


class _Loader(SourceFileLoader):
    def __init__(self, name: str, path: str, code: CodeType) -> None:
        super().__init__(name, path)
        self.code = code

    def get_code(self, fullname: str) -> CodeType:
        del fullname
        return self.code


class Replaced(MetaPathFinder):
    """Gives other code, or another file, for one module."""

    def __init__(self, name: str, path: Path, code: CodeType | None) -> None:
        self.name, self.path, self.code = name, str(path), code

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """Return where the module comes from."""
        del path, target
        if fullname != self.name:
            return None
        loader = (
            ExtensionFileLoader(fullname, self.path) if self.code is None else _Loader(fullname, self.path, self.code)
        )
        return spec_from_file_location(fullname, self.path, loader=loader)


FIRST_FILES = 5
"""So many files of tests are loaded before the others, which nearly always notice a mutant."""


def notice(replaced: Replaced, names: Sequence[str], known: Collection[str], folder: Path) -> int:
    """Return 0 if all of these tests pass though the module is replaced; 1 if one fails, or nothing can be loaded."""
    sys.meta_path.insert(0, replaced)
    files = list(dict.fromkeys(name.split("::")[0] for name in names))
    for some in (files[:FIRST_FILES], files[FIRST_FILES:]):
        if some and run_tests(some, Chosen(names, known), folder) not in (0, 5):
            return 1
    return 0
