"""Steps that are prepared in other processes: the same answers, counts and evidence as on one core."""

from __future__ import annotations

import math
import os
import sys
from typing import Any

import numpy as np
import pytest

import serape
from serape.independence import G2
from serape.independence.outcomes import Outcome
from serape.independence.subset_query import SubsetQuery
from serape.local import hpc
from serape.local.inter_iapc import inter_iapc_among
from serape.parallel import workers
from serape.parallel.map import compute_each
from serape.search import Search, memoised, preparable
from serape.search.associations import Associations, DecidingTest
from serape.search.budget import Budget
from serape.search.separations import Separations
from serape.search.steps import EarlierSteps

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are forked on Linux alone")
TABLE = serape.load_network("alarm").sample(600, seed=2)
TEST = G2(TABLE)


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fork at once, however little there is to do."""
    start = workers.Start(workers._in_forked_processes, 0.0)
    monkeypatch.setattr("serape.parallel.workers.choose_workers", lambda test: start)


def comparable(found: serape.Result) -> list[Any]:
    explained = [str(found.explain(name)) for name in TABLE.names if name != found.target]
    return [
        found.blanket, found.parents_children, found.spouses, found.tests_by_size, found.skipped, found.notes,
        found.threshold, found.adjusted_p, explained,
    ]  # fmt: skip


@pytest.mark.parametrize("settings", [{}, {"alpha": 0.05}])
@pytest.mark.parametrize("algorithm", ["hpc", "hiton-mb", "mmmb", "pcmb", "ipc-mb", "dos"])
def test_as_on_one_core(algorithm: str, settings: dict[str, Any]) -> None:
    for target in ("CATECHOL", "VENTLUNG"):
        one, two = (
            serape.markov_blanket(TABLE, target, algorithm, n_jobs=n, max_conditioning=2, **settings) for n in (1, 2)
        )
        assert comparable(one) == comparable(two)


@pytest.mark.parametrize("algorithm", ["hpc", "hiton-mb", "mmmb", "pcmb", "ipc-mb", "dos"])
def test_later_calls_know_the_steps_of_other_processes(algorithm: str, monkeypatch: pytest.MonkeyPatch) -> None:
    table = serape.load_network("alarm").sample(600, seed=2)
    recalled, recall = 0, EarlierSteps.recall

    def counting(self: EarlierSteps, key: Any) -> Any:
        nonlocal recalled
        found = recall(self, key)
        recalled += found is not None
        return found

    monkeypatch.setattr(EarlierSteps, "recall", counting)
    for target in ("CATECHOL", "VENTLUNG", "HR", "VENTALV"):
        alone, later = (
            serape.markov_blanket(data, target, algorithm, n_jobs=n, max_conditioning=2)
            for data, n in ((serape.load_network("alarm").sample(600, seed=2), 1), (table, 2))
        )
        assert comparable(alone) == comparable(later)
    assert recalled > 0


@pytest.mark.parametrize("settings", [{"max_tests": 3000}, {"random_state": 1}, {"unreliable": "independent"}])
def test_where_order_counts(settings: dict[str, Any]) -> None:
    one, two = (serape.markov_blanket(TABLE, "CATECHOL", "hpc", alpha=0.05, n_jobs=n, **settings) for n in (1, 2))
    assert comparable(one) == comparable(two)


def test_steps_are_prepared_elsewhere_and_used_once(monkeypatch: pytest.MonkeyPatch) -> None:
    here: list[int] = []
    among = inter_iapc_among

    def noted(search: Search, target: int, candidates: Any) -> list[int]:
        here.append(target)
        return among(search, target, candidates)

    monkeypatch.setattr(hpc, "inter_iapc_among", noted)
    serape.markov_blanket(TABLE, "CATECHOL", "hpc", alpha=0.05)
    on_one = len(here)
    here.clear()
    serape.markov_blanket(TABLE, "CATECHOL", "hpc", alpha=0.05, n_jobs=2)
    assert 0 < len(here) < on_one / 2


def searching(**settings: Any) -> Search:
    return Search(TEST, subject=0, threads=2, compute_each=compute_each(TEST, 2), **settings)


@preparable
def process_of(search: Search, target: int) -> int:
    search.ask(target, 0)
    return os.getpid()


def test_a_step_counts_when_it_is_asked_for() -> None:
    search = searching()
    search.prepare(process_of, [1, 2, 3])
    assert search.tally.performed == 0
    assert process_of(search, 2) != os.getpid()
    assert search.tally.performed == 1
    assert process_of(search, 2) == os.getpid()  # a prepared step is used once
    assert search.tally.performed == 2


def test_a_step_that_asks_for_another_is_computed_here() -> None:
    @memoised
    def other(search: Search, target: int) -> int:
        del search, target
        return os.getpid()

    @preparable
    def step(search: Search, target: int) -> int:
        del target
        return other(search, 9)

    search = searching()
    search.prepare(step, [1, 2])
    assert step(search, 1) == os.getpid()


def test_errors_and_budgets_end_the_search() -> None:
    @preparable
    def wrong(search: Search, target: int) -> int:
        del search, target
        raise ZeroDivisionError("in a step")

    search = searching()
    with pytest.raises(ZeroDivisionError, match="in a step"):
        search.prepare(wrong, [1, 2])
    assert search.record.about is None
    assert search.step(("step", 1), 1, lambda: 7) == 7
    found = serape.markov_blanket(TABLE, "CATECHOL", "hpc", n_jobs=2, max_seconds=1e-9)
    assert not found.complete
    with pytest.raises(serape.search.BudgetSpent):
        searching(budget=Budget(max_seconds=1e-9)).prepare(process_of, [1, 2])


def test_merged_separations_are_those_of_one_store() -> None:
    random = np.random.default_rng(3)
    for _ in range(50):
        whole, parts = Separations(), [Separations(), Separations()]
        for k in range(12):
            target, size = int(random.integers(4)), int(random.choice([1, 3, 40]))
            xs = np.sort(random.choice(np.arange(10, 60), size, replace=False)).astype(np.uint32)
            for store in (whole, parts[k // 6]):
                store.add_batch(xs, target, None, ((k + 100,),))
        parts[0].merge(parts[1])
        pairs = [(x, target) for x in range(60) for target in range(4)]
        assert [whole.get(*pair) for pair in pairs] == [parts[0].get(*pair) for pair in pairs]


def test_merged_associations_are_those_of_one_store() -> None:
    random = np.random.default_rng(4)
    for _ in range(200):
        whole, parts = Associations(), [Associations(), Associations()]
        for k in range(12):
            x, log_p, separated = int(random.integers(4)), -float(random.random()), random.random() < 0.3
            test = DecidingTest.of(Outcome(k, 1.0, log_p, reliable=True), (k + 10,), separated=separated)
            for store in (whole, parts[k // 6]):
                if separated:
                    store._note_separated(x, 0, (0.0, test))
                else:
                    store.note(x, 0, test.outcome, test.given)
        parts[0].merge(parts[1])
        assert [whole.get(x, 0) for x in range(4)] == [parts[0].get(x, 0) for x in range(4)]


def test_merged_separations_include_searches_not_yet_looked_through() -> None:
    found, _ = G2(TABLE).search_subsets(SubsetQuery([1, 2, 3], 0, [4, 5], range(3), stop_above=math.log(0.05)))
    one, other = Separations(), Separations()
    other.add_found(found, 0, math.log(0.05))
    one.merge(other)
    separated = found.separations(math.log(0.05))
    assert separated
    assert [one.get(x, 0) for x, _ in separated] == [given for _, given in separated]
