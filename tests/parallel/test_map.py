"""Work on many items by every kind of worker: what comes back, what goes wrong, and that nobody is left behind."""

from __future__ import annotations

import os
import pickle
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from joblib import Parallel, delayed, parallel_config

import serape
from serape.independence import G2
from serape.parallel import workers
from serape.parallel.map import _chunks, parallel_map
from serape.parallel.shared_file import SharedFile, read_shared
from serape.progress import Progress, ProgressCallback

pytestmark = pytest.mark.filterwarnings(  # loky's thread, when its work is ended
    "ignore:Exception in thread ExecutorManagerThread:pytest.PytestUnhandledThreadExceptionWarning"
)

LOKY, FORK, THREADS = "loky", "fork", "threads"
TABLE = serape.load_network("child").sample(1000, seed=3)
TEST = G2(TABLE)  # a test of ours, so that processes are used
forked = pytest.mark.skipif(sys.platform != "linux", reason="processes are forked on Linux alone")


@pytest.fixture(params=[LOKY, pytest.param(FORK, marks=forked), THREADS])
def kind(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Start workers of one kind at once."""
    ways = {LOKY: workers._through_joblib, FORK: workers._in_forked_processes, THREADS: workers._in_threads}
    start = workers.Start(ways[request.param], 0.0)
    monkeypatch.setattr("serape.parallel.workers.choose_workers", lambda test: start)
    return str(request.param)


def collected(work: Callable[[int], Any], items: range, jobs: int = 2) -> list[tuple[int, Any]]:
    found: list[tuple[int, Any]] = []
    parallel_map(
        lambda item, watch: work(item), items, jobs, lambda item, value: found.append((item, value)), test=TEST
    )
    return found


def alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.parametrize(("items", "jobs"), [(0, 2), (1, 2), (2, 3), (500, 2), (1000, 3)])
def test_everything_comes_back_once(kind: str, items: int, jobs: int) -> None:
    def work(item: int) -> tuple[int, int]:
        time.sleep(0.0005)  # so that all get a share
        return item * item, os.getpid()

    found = collected(work, range(items), jobs)
    assert sorted(item for item, _ in found) == list(range(items))
    assert all(value[0] == item**2 for item, value in found)
    processes = {value[1] for _, value in found}
    assert items < 500 or (len(processes) > 1) == (kind != THREADS)


@pytest.mark.usefixtures("kind")
def test_long_values() -> None:
    found = dict(collected(lambda k: np.full(300_000, k), range(7)))
    assert all((found[k] == k).all() for k in range(7))


def test_values_are_detached_where_they_are_sent(kind: str) -> None:
    found: dict[int, Any] = {}
    parallel_map(lambda k, _: [k], range(8), 2, found.__setitem__, test=TEST, detach=lambda value: tuple(value))
    assert set(map(type, found.values())) == {list if kind == THREADS else tuple}


@pytest.mark.usefixtures("kind")
def test_what_one_raises_is_raised_here() -> None:
    def work(item: int) -> int:
        if item > 30:
            raise serape.DataError("a number above 30 is bad")
        return item

    with pytest.raises(serape.DataError, match="above 30"):
        collected(work, range(200))
    assert len(collected(lambda k: k, range(20))) == 20  # and others work again


def test_what_cannot_be_sent_is_told(kind: str) -> None:
    if kind == THREADS:
        return
    with pytest.raises((AttributeError, TypeError, pickle.PicklingError), match="pickle"):
        collected(lambda item: (k for k in range(item)), range(200))


@pytest.mark.parametrize("at", [1, 25])
def test_an_interruption_ends_all_searches(kind: str, at: int) -> None:
    """Workers notice at the next report of progress."""
    seen: list[int] = []

    def work(item: int, watch: ProgressCallback) -> int:
        if item > 40:
            for _ in range(6000):
                time.sleep(0.01)
                watch(Progress("", (), 0, 0, 0.0))
        return os.getpid()

    def done(_: int, process: int) -> None:
        seen.append(process)
        if len(seen) == at:
            raise KeyboardInterrupt

    started = time.perf_counter()
    with pytest.raises(KeyboardInterrupt):
        parallel_map(work, range(200), 2, done, test=TEST)
    assert time.perf_counter() - started < 20
    if kind == FORK:
        assert not any(alive(process) for process in seen if process != os.getpid())
    assert len(collected(lambda k: k, range(20))) == 20  # loky's workers are free again
    assert time.perf_counter() - started < 30


def test_one_that_dies_is_noticed(kind: str) -> None:
    if kind == THREADS:
        return
    here = os.getpid()

    def work(item: int) -> int:
        if os.getpid() != here and item == 20:
            os.kill(os.getpid(), signal.SIGKILL)
        return item

    with pytest.raises(serape.SerapeError, match="a process ended before its work was done"):
        collected(work, range(200))
    assert len(collected(lambda k: k, range(20))) == 20


def test_what_one_that_dies_had_is_asked_again(kind: str, tmp_path: Path) -> None:
    if kind == THREADS:
        return
    here, died = os.getpid(), tmp_path / "died"

    def work(item: int) -> int:
        if os.getpid() != here and item == 20 and not died.exists():
            died.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return item

    assert sorted(collected(work, range(200))) == [(k, k) for k in range(200)]
    assert died.exists()


def test_short_work_starts_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> Generator[Any, None, None]:
        raise AssertionError("workers were started")

    monkeypatch.setattr("serape.parallel.workers.choose_workers", lambda test: workers.Start(refuse, 60.0))
    assert collected(lambda k: -k, range(50)) == [(k, -k) for k in range(50)]
    monkeypatch.setattr("serape.parallel.map.LARGE", 10)
    with pytest.raises(AssertionError):  # much to count starts them at once
        collected(lambda k: -k, range(50))


def test_chunks() -> None:
    from collections import deque

    chunks = list(_chunks(deque(range(10_000)), 4))
    assert [k for chunk in chunks for k in chunk] == list(range(10_000))
    sizes = [len(chunk) for chunk in chunks]
    assert max(sizes) == 100
    assert sizes[-8:] == [1] * 8
    assert sorted(sizes, reverse=True) == sizes


# --- which workers ----------------------------------------------------------------------------------------------------


def test_choice() -> None:
    own = serape.FunctionTest(np.zeros((4, 2)), lambda x, y, z: 1.0)
    assert workers.choose_workers(own).run is workers._in_threads
    ours = workers.choose_workers(TEST).run
    assert ours is (workers._in_forked_processes if sys.platform == "linux" else workers._through_joblib)
    with parallel_config("loky"):
        assert workers.choose_workers(TEST).run is workers._through_joblib
    with parallel_config("threading"):
        assert workers.choose_workers(TEST).run is workers._through_joblib
        assert len(collected(lambda k: k, range(20))) == 20


def test_processes_elsewhere_than_in_the_main_thread_are_not_forked() -> None:
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(workers.choose_workers, TEST).result().run is workers._through_joblib


def nested(table: serape.Table) -> tuple[int, tuple[str, ...]]:
    """Ask with two jobs inside a worker of joblib."""
    seen: set[int] = set()
    parallel_map(lambda k, _: os.getpid(), range(50), 2, lambda _, process: seen.add(process), test=G2(table))
    assert seen == {os.getpid()}
    return os.getpid(), serape.blankets(table, [0], n_jobs=2)[table.names[0]].blanket


def test_nested_work_starts_nobody() -> None:
    found = Parallel(2)(delayed(nested)(TABLE) for _ in range(2))
    assert {blanket for _, blanket in found} == {serape.markov_blanket(TABLE, 0).blanket}


# --- the shared file --------------------------------------------------------------------------------------------------


def test_shared_file() -> None:
    numbers = np.arange(100_000.0)
    value = {"numbers": numbers, "table": TABLE, "few": np.arange(3), "function": lambda k: k + 1}
    file = SharedFile(value)
    size = Path(file.path).stat().st_size
    found = read_shared(file.path)
    file.delete()
    assert not Path(file.path).parent.exists()
    assert size < numbers.nbytes + 200_000
    assert (found["numbers"] == numbers).all()
    assert not found["numbers"].flags.writeable  # mapped, not copied
    assert found["function"](1) == 2
    assert serape.markov_blanket(found["table"], 0).blanket == serape.markov_blanket(TABLE, 0).blanket


@pytest.mark.skipif(os.name != "posix", reason="there are no such modes")
def test_only_its_owner_may_look_into_the_folder_of_pickles(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("JOBLIB_TEMP_FOLDER", str(tmp_path))
    before = os.umask(0)
    try:
        file = SharedFile([1])
    finally:
        os.umask(before)
    folder = Path(file.path).parent
    assert folder.parent == tmp_path
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    file.delete()
    assert list(tmp_path.iterdir()) == []


def test_no_room_for_the_shared_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("JOBLIB_TEMP_FOLDER", str(tmp_path / "missing"))
    with pytest.raises(serape.DataError, match="JOBLIB_TEMP_FOLDER"):
        SharedFile([1])


# --- the end ----------------------------------------------------------------------------------------------------------

ENDLESS = """
import os
from serape.independence import G2
from serape.parallel.map import parallel_map
import serape, time
test = G2(serape.load_network("asia").sample(100, seed=1))
def work(item, watch):
    os.write(1, f"{os.getpid()}\\n".encode())  # in one piece
    time.sleep(600)
parallel_map(work, range(10), 2, print, test=test)
"""


@forked
@pytest.mark.parametrize("backend", ["loky", None])
def test_workers_end_with_their_parent(backend: str | None, tmp_path: Path) -> None:
    begin = "import serape.parallel.map\nserape.parallel.map.LARGE = 0\n"
    if backend is not None:
        begin += f"import joblib\njoblib.parallel_config({backend!r})\n"
    command = [sys.executable, "-c", ENDLESS.replace("parallel_map(work", f"{begin}parallel_map(work")]
    environment = os.environ | {"JOBLIB_TEMP_FOLDER": str(tmp_path)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout is not None
        children = [int(process.stdout.readline()) for _ in range(2)]
        assert process.pid not in children
        assert all(map(alive, children))
        process.kill()
    until = time.monotonic() + 30
    while (any(map(alive, children)) or list(tmp_path.iterdir())) and time.monotonic() < until:
        time.sleep(0.02)
    assert not any(map(alive, children))
    assert list(tmp_path.iterdir()) == []
