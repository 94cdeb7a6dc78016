"""Work in several processes: what comes back, what goes wrong, and that nobody is left behind."""

from __future__ import annotations

import os
import pickle
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import serape
from serape.parallel import map as parallel_map_module
from serape.parallel import precompute
from serape.parallel.processes import in_processes, possible

pytestmark = pytest.mark.skipif(not possible(), reason="processes are made by fork, on Linux")


def alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def collected(work: Callable[[int], Any], items: range, workers: int) -> list[tuple[int, Any]]:
    found: list[tuple[int, Any]] = []
    in_processes(lambda item, look: work(item), items, workers, lambda item, value: found.append((item, value)))
    return found


@pytest.mark.parametrize(("items", "workers"), [(1, 2), (2, 3), (500, 2), (1000, 5)])
def test_everything_comes_back_once(items: int, workers: int) -> None:
    def work(item: int) -> tuple[int, int]:
        time.sleep(0.001)  # so that others get a share
        return item * item, os.getpid()

    found = collected(work, range(items), workers)
    assert sorted(item for item, _ in found) == list(range(items))
    assert all(value[0] == item**2 for item, value in found)
    assert items < 500 or len({value[1] for _, value in found}) > 1


def test_long_values() -> None:
    found = dict(collected(lambda k: np.full(300_000, k), range(7), 2))
    assert all((found[k] == k).all() for k in range(7))


@pytest.mark.parametrize("here", [True, False])
def test_what_one_raises_is_raised_here(here: bool) -> None:
    this = os.getpid()

    def work(item: int) -> int:
        time.sleep(0.001)
        if (os.getpid() == this) == here and item > 30:
            raise serape.DataError("a number above 30 is bad")
        return item

    with pytest.raises(serape.DataError, match="above 30"):
        collected(work, range(200), 2)


def test_an_error_that_cannot_be_sent_is_told() -> None:
    class OwnError(Exception):
        def __init__(self, item: int, why: str) -> None:
            super().__init__(f"{item} is {why}")

    this = os.getpid()

    def work(item: int) -> int:
        time.sleep(0.001)
        if os.getpid() != this:
            raise OwnError(item, "bad")
        return item

    with pytest.raises(RuntimeError, match="OwnError: .* is bad"):
        collected(work, range(200), 2)


def test_what_cannot_be_sent_is_told() -> None:
    this = os.getpid()

    def work(item: int) -> object:
        time.sleep(0.001)
        return item if os.getpid() == this else lambda: item

    with pytest.raises((AttributeError, pickle.PicklingError), match="pickle"):
        collected(work, range(200), 2)


def test_nobody_is_left_behind() -> None:
    this, seen = os.getpid(), set()

    def work(item: int) -> int:
        if os.getpid() != this and item > 20:
            time.sleep(60)
        time.sleep(0.002)
        return os.getpid()

    def done(_: int, process: int) -> None:
        seen.add(process)
        if len(seen) == 2:
            raise KeyboardInterrupt

    started = time.perf_counter()
    with pytest.raises(KeyboardInterrupt):
        in_processes(lambda item, look: work(item), range(640), 2, done)
    while any(alive(process) for process in seen - {this}):
        assert time.perf_counter() - started < 30
        time.sleep(0.05)


def test_what_comes_is_seen_while_this_process_works() -> None:
    this = os.getpid()
    came: list[int] = []

    def work(item: int, look: Callable[[], None]) -> int:
        while os.getpid() == this and len(came) < 30:  # others do the work meanwhile
            time.sleep(0.002)
            look()
        return item

    in_processes(work, range(64), 2, lambda item, value: came.append(value))
    assert sorted(came) == list(range(64))


def test_one_that_dies_is_noticed() -> None:
    this = os.getpid()

    def work(item: int) -> int:
        time.sleep(0.001)
        if os.getpid() != this:
            os._exit(9)
        return item

    with pytest.raises(RuntimeError, match="ended before its work was done"):
        collected(work, range(200), 2)


class TestSearches:
    table = serape.load_network("child").sample(1000, seed=3)

    @pytest.fixture(autouse=True)
    def soon(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Take to processes at once."""
        monkeypatch.setattr(parallel_map_module, "_TRIAL", -1.0)
        monkeypatch.setattr(parallel_map_module, "_WORTH_A_FORK", -1.0)

    @pytest.mark.parametrize("algorithm", ["iamb", "hiton-mb", "pcmb"])
    def test_blankets(self, algorithm: str) -> None:
        one, two = (serape.blankets(self.table, algorithm=algorithm, n_jobs=n) for n in (1, 2))
        assert list(one) == list(two)
        for name, found in two.items():
            assert found.members == one[name].members
            assert found.spouses == one[name].spouses
            assert found.data == one[name].data
        some = self.table.names[3]
        assert list(two[some].evidence) == list(one[some].evidence)

    @pytest.mark.parametrize("algorithm", ["hiton-pc", "mmpc", "pcmb", "ipc-mb", "dos", "hpc", "inter-iapc"])
    def test_skeleton(self, algorithm: str) -> None:
        one, two = (serape.skeleton(self.table, algorithm, n_jobs=n) for n in (1, 2))
        assert set(one.graph.edges) == set(two.graph.edges)
        assert one.tests == two.tests  # nothing is asked twice

    def test_copies(self) -> None:
        frame = self.table.to_pandas()
        frame["again"] = frame[self.table.names[4]]
        bones = [serape.skeleton(frame, "mmpc", n_jobs=n) for n in (1, 2)]
        assert set(bones[0].graph.edges) == set(bones[1].graph.edges)
        one, two = (serape.blankets(frame, algorithm="mmmb", n_jobs=n) for n in (1, 2))
        assert {name: found.blanket for name, found in one.items()} == {name: f.blanket for name, f in two.items()}

    def test_stability_and_path(self) -> None:
        one, two = (serape.stability(self.table, 0, draws=12, n_jobs=n) for n in (1, 2))
        assert one.frequencies == two.frequencies
        first, second = (serape.alpha_path(self.table, 0, n_jobs=n) for n in (1, 2))
        assert first.members == second.members

    def test_own_tests_stay_here(self) -> None:
        """What others have written may not bear a fork."""
        seen = set()

        def test(x: np.ndarray, y: np.ndarray, z: tuple[np.ndarray, ...]) -> float:
            del z
            seen.add(os.getpid())
            return float(abs(np.corrcoef(x, y)[0, 1]) < 0.2)

        data = np.random.default_rng(0).normal(size=(40, 4))
        serape.blankets(serape.FunctionTest(data, test), n_jobs=2)
        assert seen == {os.getpid()}

    def test_interrupted(self) -> None:
        told: list[str] = []

        def watch(now: serape.Progress) -> None:
            told.append(now.target)
            if len(told) == 3:
                raise KeyboardInterrupt

        assert len(serape.blankets(self.table, progress=watch, n_jobs=2)) == 3


@pytest.mark.parametrize("count", [0, 1, 63, 64, 200, 1000])
def test_targets_from_all_over_the_table_are_tried_first(count: int) -> None:
    spread = precompute._spread(range(count))
    assert sorted(spread) == list(range(count))
    assert count < 128 or max(spread[:64]) > 0.9 * count
