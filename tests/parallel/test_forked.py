"""Forked processes that are killed: what they had is asked again, nothing hangs, and nothing is left behind."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import resource
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from joblib.externals.loky import get_reusable_executor

import serape
from serape.parallel.forked import ForkedProcesses

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are forked on Linux alone")


def answers(work: Callable[[int], Any], items: int = 20, jobs: int = 2) -> dict[int, Any]:
    """Do some work in chunks of two items."""
    chunks = ([k, k + 1] for k in range(0, items, 2))
    found = ForkedProcesses(lambda chunk: [(k, work(k)) for k in chunk], chunks, jobs).answers()
    return {k: value for each in found for k, value in each}


@pytest.fixture
def first(tmp_path: Path) -> Callable[[int], bool]:
    """Whether it is the first time that an item is worked on."""

    def is_first(item: int) -> bool:
        try:
            (tmp_path / str(item)).touch(exist_ok=False)
        except FileExistsError:
            return False
        return True

    return is_first


def children() -> set[str]:
    """Return the processes of this one, with those that ended and that nobody has waited for."""
    found: set[str] = set()
    for thread in Path("/proc/self/task").iterdir():
        with suppress(FileNotFoundError):  # a thread that ended meanwhile
            found.update((thread / "children").read_text().split())
    return found


def open_files() -> set[str]:
    return {file.name for file in Path("/proc/self/fd").iterdir()}


@pytest.fixture(autouse=True, scope="module")
def _no_workers_of_other_tests() -> None:
    get_reusable_executor().shutdown(wait=True)  # joblib keeps them, and what watches them


@pytest.fixture(autouse=True)
def _nobody_is_left() -> Iterator[None]:
    files, others = open_files(), children()
    yield
    assert multiprocessing.active_children() == []
    assert children() <= others
    assert open_files() <= files


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.parametrize("jobs", [1, 2, 3])
@pytest.mark.parametrize("deaths", [{4}, {0, 2}, set(range(20))], ids=["one", "some", "all"])
def test_what_a_killed_process_had_is_asked_again(deaths: set[int], jobs: int, first: Callable[[int], bool]) -> None:
    def work(item: int) -> int:
        if item in deaths and item % 2 == 0 and first(item):
            die()
        return item * item

    assert answers(work, jobs=jobs) == {k: k * k for k in range(20)}


def test_who_dies_of_the_same_work_again_ends_it() -> None:
    with pytest.raises(serape.SerapeError, match="a process ended before its work was done"):
        answers(lambda item: die() if item == 7 else item)


def test_half_an_answer_is_none(first: Callable[[int], bool], tmp_path: Path) -> None:
    """A process is killed while it sends more than its connection holds at once."""
    begin = tmp_path / "begin"

    def work(chunk: list[int]) -> Any:
        if chunk == [1] and first(1):
            while not begin.exists():
                time.sleep(0.001)
            threading.Timer(0.1, die).start()
        return chunk, np.zeros(1_000_000)

    found = ForkedProcesses(work, iter([[1], [2], [3]]), 2).answers()
    seen = [next(found)[0], next(found)[0]]
    begin.touch()
    while len(multiprocessing.active_children()) == 2:
        time.sleep(0.001)
    assert [*seen, *(chunk for chunk, _ in found)] == [[2], [3], [1]]


@pytest.mark.usefixtures("listening")
@pytest.mark.parametrize("wait", [0.0, 0.001, 0.003, 0.01, 0.03])
def test_interrupts_at_any_moment(wait: float) -> None:
    timer = threading.Timer(wait, os.kill, (os.getpid(), signal.SIGINT))

    def ask_on() -> None:
        timer.start()
        while True:
            answers(lambda item: item)

    with pytest.raises(KeyboardInterrupt):
        ask_on()
    timer.join()


@pytest.mark.usefixtures("listening")
def test_interrupts_wait_while_processes_end(monkeypatch: pytest.MonkeyPatch) -> None:
    end = ForkedProcesses._end

    def interrupted(pool: ForkedProcesses) -> None:
        process = pool._started[0][0]
        kill = process.kill

        def interrupted_kill() -> None:
            os.kill(os.getpid(), signal.SIGINT)
            kill()

        monkeypatch.setattr(process, "kill", interrupted_kill)
        end(pool)

    monkeypatch.setattr(ForkedProcesses, "_end", interrupted)
    with pytest.raises(KeyboardInterrupt):
        answers(lambda item: item)


def test_without_room_for_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    start = ForkedProcesses._start
    started: list[ForkedProcesses] = []

    def refuse(pool: ForkedProcesses) -> Any:
        if len(started) == room:
            raise OSError(11, "Resource temporarily unavailable")
        started.append(pool)
        return start(pool)

    monkeypatch.setattr(ForkedProcesses, "_start", refuse)
    room = 1
    assert answers(lambda item: item, jobs=3) == {k: k for k in range(20)}
    assert len(started) == 1
    room = 0
    started.clear()
    with pytest.raises(serape.SerapeError, match=r"no process can be started .*n_jobs=1"):
        answers(lambda item: item)


def test_without_room_for_files() -> None:
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(map(int, open_files())), limits[1]))
    fillers = []
    try:
        with contextlib.suppress(OSError):
            while True:
                fillers.append(os.dup(0))
        with pytest.raises(serape.SerapeError, match=r"no process can be started \(Too many open files\)"):
            answers(lambda item: item)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
        for filler in fillers:
            os.close(filler)


class Odd(Exception):  # noqa: N818
    """An error that can be pickled, but not read again."""

    def __init__(self, one: int, two: int) -> None:
        super().__init__(f"{one} and {two}")


def raising(error: BaseException) -> Callable[[int], Any]:
    def work(item: int) -> int:
        if item == 3:
            raise error
        return item

    return work


def test_errors_say_where_they_were_raised() -> None:
    with pytest.raises(ZeroDivisionError) as caught:
        answers(raising(ZeroDivisionError("of one")))
    assert "in work" in caught.value.__notes__[0]
    with pytest.raises(RuntimeError, match=r"(?s)in work.*Odd: 1 and 2"):
        answers(raising(Odd(1, 2)))
    with pytest.raises(serape.DataError) as refused:
        answers(raising(serape.DataError("a sentence")))
    assert not hasattr(refused.value, "__notes__")


TABLE = serape.load_network("child").sample(1000, seed=3)


def ask(question: str) -> Any:
    """Ask with two jobs."""
    found = getattr(serape, question)(TABLE, n_jobs=2)
    return {name: one.blanket for name, one in found.items()} if question == "blankets" else sorted(found.graph.edges)


def test_threads_work_in_daemonic_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("serape.parallel.map.LARGE", 0)  # so that others work at once
    with multiprocessing.get_context("fork").Pool(1) as pool:
        for question in ("blankets", "skeleton", "network"):
            assert pool.apply(ask, (question,)) == ask(question)
    pool.join()
