"""Results of many targets keep their evidence: that of a single question, without another search.

Only of a variable that a test with another target separated, this one test is repeated, as after a single question.
"""

from __future__ import annotations

import pickle
import sys
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest

import serape
from plain import PENA_2005_A
from serape.independence import G2, answering
from serape.independence.outcomes import Outcome
from serape.local.registry import ALGORITHMS
from serape.parallel import workers
from serape.questions import kept_evidence
from serape.questions.query import Query
from serape.search import Search, Steps, memoised
from serape.search.evidence import EvidenceLog

BLANKET = [name for name, algorithm in ALGORITHMS.items() if algorithm.answers("blanket")]
SETTINGS: list[dict[str, Any]] = [{}, {"alpha": 0.05}, {"alpha": 0.1, "max_conditioning": 1, "test": "x2"}]
ASKING = ("answer", "screen", "screens", "test_each_given_rest", "first_dependent", "marginals")


@cache
def frame() -> pd.DataFrame:
    """Return data with few rows, so that tests are skipped, and with a copy of a column."""
    sample = serape.load_network("insurance").sample(400, 7)
    made = pd.DataFrame({name: sample.codes(k).astype(str) for k, name in enumerate(sample.names)})
    made["copy"] = made["Age"]
    return made[["copy", *made.columns[:15]]]


def facts(result: serape.Result) -> dict[str, Any]:
    """Return all that the evidence of a result says."""
    others = [name for name in result.trace.names if name != result.target]
    return {
        "saved": result.trace.to_dict(),
        "table": result.evidence.to_pandas().to_dict("list"),
        "words": [str(result.explain(name)) for name in others],
    }


@cache
def alone(algorithm: str, target: str, settings: int) -> str:
    found = serape.markov_blanket(serape.Table(frame()), target, algorithm, **SETTINGS[settings])
    return repr(facts(found))


def refuse_tests(monkeypatch: pytest.MonkeyPatch, repeated: list[tuple[int, int]]) -> None:
    """Let every search and every test fail from now on, but tests that are repeated, which are noted."""

    def refused(*asked: Any, **how: Any) -> Any:
        raise AssertionError(f"asked again: {asked} {how}")

    monkeypatch.setattr(Query, "run", refused)
    monkeypatch.setattr(answering, "search_subsets", refused)
    for name in ASKING:
        monkeypatch.setattr(G2, name, refused)
    test = G2.test

    def noted(self: G2, x: int, target: int, given: Any = ()) -> Any:
        assert sys._getframe(1).f_code.co_name == "repeat"
        repeated.append((x, target))
        return test(self, x, target, given)

    monkeypatch.setattr(G2, "test", noted)


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fork at once, however little there is to do."""
    start = workers.Start(workers._in_forked_processes, 0.0)
    monkeypatch.setattr("serape.parallel.workers.choose_workers", lambda test: start)


@pytest.mark.skipif(sys.platform != "linux", reason="processes are forked on Linux alone")
@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("settings", range(len(SETTINGS)))
@pytest.mark.parametrize("algorithm", BLANKET)
@pytest.mark.usefixtures("at_once")
def test_it_is_that_of_a_single_question(
    algorithm: str, settings: int, n_jobs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = serape.Table(frame())
    found = serape.blankets(table, algorithm=algorithm, n_jobs=n_jobs, **SETTINGS[settings])
    assert all(result.trace.at_hand for result in found.values())
    repeated: list[tuple[int, int]] = []
    with monkeypatch.context() as patched:
        if SETTINGS[settings].get("test") != "x2":
            refuse_tests(patched, repeated)
        told = {name: repr(facts(result)) for name, result in found.items()}
    few = ALGORITHMS[algorithm].shares or ALGORITHMS[algorithm].family == "score"  # one test separates, not a screen
    assert len(repeated) <= 8 * (n_jobs == 1 and few)
    for name in table.names:
        assert told[name] == alone(algorithm, name, settings), name


@pytest.mark.parametrize("algorithm", ["hiton-mb", "iamb"])
def test_a_part_of_the_targets(algorithm: str) -> None:
    names = frame().columns[::-2]
    for name, result in serape.blankets(frame(), names, algorithm).items():
        assert repr(facts(result)) == alone(algorithm, name, 0)


def test_threads_keep_it() -> None:
    """Work with a test of one's own is shared by threads."""
    many = {n: serape.blankets(serape.DSeparation(PENA_2005_A), algorithm="hiton-mb", n_jobs=n) for n in (1, 3)}
    for name, result in many[3].items():
        assert result.trace.at_hand
        assert repr(facts(result)) == repr(facts(many[1][name]))
        assert repr(facts(result)) == repr(
            facts(serape.markov_blanket(serape.DSeparation(PENA_2005_A), name, "hiton-mb"))
        )


@pytest.mark.parametrize("algorithm", ["hpc", "iamb"])
@pytest.mark.parametrize(("room", "kept"), [(0, "none"), (12_000, "some"), (100_000, "all")])
def test_it_has_a_bound(room: int, kept: str, algorithm: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_evidence, "MAX_BYTES", room)
    found = serape.blankets(frame(), algorithm=algorithm)
    at_hand = [result for result in found.values() if result.trace.at_hand]
    assert {"none": len(at_hand) == 0, "some": 0 < len(at_hand) < len(found), "all": len(at_hand) == len(found)}[kept]
    assert sum(result.trace.nbytes for result in at_hand) <= room
    assert any(result.trace.is_gathered for result in at_hand) == (kept != "none")
    for name, result in found.items():
        assert repr(facts(result)) == alone(algorithm, name, 0)


def test_evidence_is_as_large_as_it_says() -> None:
    for algorithm in ("hpc", "iamb"):
        for result in serape.blankets(frame(), algorithm=algorithm).values():
            size = len(pickle.dumps(result.trace.alone))
            assert size / 3 < result.trace.nbytes < 3 * size


@memoised
def inner(search: Search, target: int) -> int:
    return len(search.screen(target, search.candidates(target)))


@memoised
def outer(search: Search, target: int) -> int:
    search.screen(target, search.candidates(target))
    return inner(search, (target + 1) % len(search.variables))


def searching(subject: int, cache: Steps) -> Search:
    return Search(G2(serape.Table(frame())), subject=subject, steps=cache)


def latest(search: Search) -> list[Any]:
    return [search.log(search.subject or 0).latest(x) for x in search.variables]


def test_a_step_tells_a_search_that_did_not_compute_it() -> None:
    shared = Steps(evidence_of=frozenset({0, 1}))
    first, second, single = searching(1, shared), searching(0, shared), searching(0, Steps())
    for search in (first, second, single):
        inner(search, 0)
        assert search.evidence_is_whole
    assert latest(second) == latest(single)
    assert second.tally.performed == 0


@memoised
def both_sides(search: Search, target: int) -> int:
    search.ask(5 - target, target, [7])
    search.ask(target, 5 - target, [6])
    return 0


@pytest.mark.parametrize("about", [0, 5])
def test_a_step_tells_both_sides(about: int) -> None:
    """The test with the subject as candidate decides where the answer is against its own."""
    told = []
    for shared in (Steps(evidence_of=frozenset({0, 1, 5})), None):
        both_sides(searching(1, shared or Steps()), about)
        search = searching(0, shared or Steps())
        both_sides(search, about)
        outcome = search.repeat(5, 0, [6] if about == 0 else [7])
        search.reconcile_sides([5] if outcome.log_p <= search.log_alpha else [])
        told.append((search.record.other_side, latest(search)))
    assert told[0] == told[1]
    assert told[0][0] != {}


@pytest.mark.parametrize("about", [0, 3])
def test_a_step_that_asks_for_others_does_not_tell_all(about: int) -> None:
    shared = Steps(evidence_of=frozenset({0, 1}))
    first = searching(1, shared)
    outer(first, about)
    assert first.evidence_is_whole
    second = searching(0, shared)
    outer(second, about)
    assert not second.evidence_is_whole


def test_not_even_to_the_search_that_computes_it() -> None:
    search = searching(0, Steps(evidence_of=frozenset({0})))
    outer(search, 0)
    assert not search.evidence_is_whole


def test_what_is_left_to_be_computed_can_be_sent() -> None:
    log, outcome = EvidenceLog(3), Outcome(1.0, 1.0, -2.0, reliable=True)
    log.note_later(1, lambda: outcome, (2,))
    assert not log.is_settled
    found = pickle.loads(pickle.dumps(log)).latest(1)
    assert (found.outcome, found.given) == (outcome, (2,))


def test_what_is_left_to_be_computed_is_computed_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    found = serape.blankets(serape.load_network("alarm").sample(2000, seed=1), algorithm="iamb-npc", alpha=0.05)
    assert any(result.trace.is_partly_kept for result in found.values())
    repeated: list[tuple[int, int]] = []
    refuse_tests(monkeypatch, repeated)
    for result in found.values():
        facts(result)
    assert repeated == []


def test_a_search_that_knows_something_does_not_take_over_what_a_step_knows() -> None:
    shared = Steps(evidence_of=frozenset({0}))
    inner(searching(1, shared), 0)
    second = searching(0, shared)
    second.ask(4, 0)
    inner(second, 0)
    assert not second.evidence_is_whole


def test_answers_of_the_core_can_be_sent() -> None:
    test = G2(serape.Table(frame()))
    found = Search(test).separate(np.arange(1, 9, dtype=np.uint32), 0, [9, 10, 11])
    sent = pickle.loads(pickle.dumps(found))
    assert list(sent) == list(found)
    assert [sent.indices_of(x) for x in range(9)] == [found.indices_of(x) for x in range(9)]
    assert sent.each() == found.each()
