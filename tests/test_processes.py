"""Work in several processes: what comes back, what goes wrong, and that nobody is left behind."""

from __future__ import annotations

import os
import time

import numpy as np
import pytest

import serape
from serape import many
from serape.processes import in_processes, possible

pytestmark = pytest.mark.skipif(not possible(), reason="processes are made by fork, on Linux")


def alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.parametrize(("items", "workers"), [(1, 2), (2, 3), (500, 2), (1000, 5)])
def test_everything_comes_back_once(items: int, workers: int) -> None:
    found = list(in_processes(lambda k: (k * k, os.getpid()), range(items), workers))
    assert sorted(item for item, _ in found) == list(range(items))
    assert all(value[0] == item**2 for item, value in found)
    assert os.getpid() not in {value[1] for _, value in found}


def test_long_values() -> None:
    found = dict(in_processes(lambda k: np.full(300_000, k), range(7), 2))
    assert all((found[k] == k).all() for k in range(7))


def test_what_one_raises_is_raised_here() -> None:
    def work(item: int) -> int:
        if item == 30:
            raise serape.DataError("number 30 is bad")
        return item

    with pytest.raises(serape.DataError, match="number 30"):
        list(in_processes(work, range(100), 2))


def test_nobody_is_left_behind() -> None:
    def work(item: int) -> int:
        if item > 5:
            time.sleep(60)
        return os.getpid()

    started = time.perf_counter()
    found = in_processes(work, range(640), 2)
    seen = {next(found)[1] for _ in range(4)}
    found.close()
    assert time.perf_counter() - started < 30
    assert not any(alive(process) for process in seen)


def test_one_that_dies_is_noticed() -> None:
    def work(item: int) -> int:
        if item == 3:
            os._exit(9)
        return item

    with pytest.raises(RuntimeError, match="ended before its work was done"):
        list(in_processes(work, range(200), 2))


class TestSearches:
    table = serape.load_network("child").sample(1000, seed=3)

    @pytest.fixture(autouse=True)
    def soon(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Take to processes at once."""
        monkeypatch.setattr(many, "_TRIAL", -1.0)
        monkeypatch.setattr(many, "_WORTH_A_FORK", -1.0)

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
