"""Searches give the same answers with every kind of worker."""

from __future__ import annotations

import os
import pickle
import sys
from typing import Any

import numpy as np
import pytest
from joblib import parallel_config

import serape
from serape.independence import G2
from serape.parallel import workers
from serape.parallel.workers import choose_workers
from serape.search.steps import Steps, memoised

pytestmark = pytest.mark.filterwarnings(  # loky's thread, when its work is ended
    "ignore:Exception in thread ExecutorManagerThread:pytest.PytestUnhandledThreadExceptionWarning"
)

forked = pytest.mark.skipif(sys.platform != "linux", reason="processes are forked on Linux alone")


@pytest.fixture(params=["loky", pytest.param("fork", marks=forked)])
def kind(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Start workers at once."""
    ways = {"loky": workers._through_joblib, "fork": workers._in_forked_processes}
    start = workers.Start(ways[request.param], 0.0)
    monkeypatch.setattr("serape.parallel.workers.choose_workers", lambda test: start)
    return str(request.param)


@pytest.mark.usefixtures("kind")
class TestSearches:
    table = serape.load_network("child").sample(1000, seed=3)

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

    def test_notes(self) -> None:
        """A step has its notes wherever it is computed."""
        notes: list[tuple[str, ...]] = []
        for n in (1, 2):
            found = serape.skeleton(self.table, "hpc", unreliable="independent", alpha=0.05, n_jobs=n)
            notes.append(found.notes)
        assert notes[0] == notes[1]
        assert any("read as independence" in note for note in notes[0])
        blankets = serape.blankets(self.table, algorithm="hpc", unreliable="independent", alpha=0.05, n_jobs=2)
        assert any("read as independence" in note for found in blankets.values() for note in found.notes)

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
        few, many = (serape.all_blankets(self.table, 0, n_jobs=n) for n in (1, 2))
        assert few == many

    def test_own_tests_stay_here(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Nobody knows whether what others have written can be sent."""
        monkeypatch.setattr("serape.parallel.workers.choose_workers", choose_workers)
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


def test_a_chosen_backend_is_used() -> None:
    table = serape.load_network("asia").sample(500, seed=3)
    one = serape.blankets(table, algorithm="iamb")
    for backend in ("loky", "threading", "multiprocessing"):
        with parallel_config(backend):
            two = serape.blankets(table, algorithm="iamb", n_jobs=2)
        assert {name: found.blanket for name, found in two.items()} == {n: found.blanket for n, found in one.items()}


def mixed() -> dict[str, Any]:
    random = np.random.default_rng(0)
    number, other = random.normal(size=(2, 300))
    return {"a": number, "b": number + other, "c": np.where(other > 0, "x", "y"), "d": random.normal(size=300)}


@pytest.mark.usefixtures("kind")
@pytest.mark.parametrize("test", ["residuals", "partial-correlation", "mixed", "gcm"])
def test_tests_of_numbers(test: str) -> None:
    data = mixed() if test in ("mixed", "residuals") else {k: v for k, v in mixed().items() if k != "c"}
    one, two = (serape.blankets(data, algorithm="hiton-mb", test=test, n_jobs=n) for n in (1, 2))
    assert {name: found.blanket for name, found in one.items()} == {name: f.blanket for name, f in two.items()}


@memoised
def doubled(search: serape.Search, target: int) -> int:
    """A step whose computations are counted."""
    del search
    computed.append(target)
    return 2 * target


computed: list[int] = []


def test_steps_of_other_processes_are_passed_on() -> None:
    """Also those that were used in between."""
    test = G2(serape.load_network("asia").sample(100, seed=1))
    first = Steps()
    assert [doubled(serape.Search(test, alpha=0.01, steps=first), k) for k in (1, 2)] == [2, 4]
    second = Steps()
    for k in (1, 2):
        second.add_pickled(k, first.pickled(k))
    assert doubled(serape.Search(test, alpha=0.01, steps=second), 1) == 2
    third = pickle.loads(pickle.dumps(second))
    assert [doubled(serape.Search(test, alpha=0.01, steps=third), k) for k in (1, 2)] == [2, 4]
    assert computed == [1, 2]
