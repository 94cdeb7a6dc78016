"""Questions about many targets in one call, against the same questions target by target."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import serape
from plain_batches import mixed_table
from serape.engines import PlainEngine
from serape.independence import G2, X2
from serape.independence.counted import CountedTest
from serape.independence.subset_query import TargetLists
from serape.local.hpc import de_pcs
from serape.local.inter_iapc import inter_iapc_each
from serape.search import CandidateGroups, Search
from serape.search import many_targets as module
from serape.search.discoveries import FalseDiscoveryRate
from serape.search.many_targets import dependent_pairs, dependents_given_each, separate_each
from serape.search.state import SearchState

SIZE = 60


def searches(seed: int, rows: int, max_conditioning: int | None, threads: int, **more: Any) -> list[Search]:
    test = G2(mixed_table(seed, rows, SIZE))
    options: dict[str, Any] = {"alpha": 0.05, "max_conditioning": max_conditioning, **more}
    return [Search(test, threads=threads, **options), Search(test, **options)]


def one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SearchState, "keeps_answers_alone", False)
    monkeypatch.setattr(SearchState, "asks_plainly", lambda self, target: False)


@given(
    seed=st.integers(0, 10**6),
    rows=st.sampled_from([60, 700]),
    size=st.integers(0, 3),
    max_conditioning=st.sampled_from([None, 1]),
    threads=st.sampled_from([1, 3]),
)
@settings(max_examples=40, deadline=None)
def test_separations_of_many_targets(
    seed: int, rows: int, size: int, max_conditioning: int | None, threads: int
) -> None:
    random = np.random.default_rng(seed)
    order = random.permutation(SIZE).tolist()
    asked = {x: random.permutation([y for y in order[20:40] if y != x])[: k % 9].tolist() for k, x in enumerate(order)}
    pools = {x: [z for z in order[15 : 15 + 1 + x % 8] if z != x] for x in order}
    found = []
    many, single = searches(seed, rows, max_conditioning, threads, evidence=False, keep_separations=False)
    for search, batched in ((many, True), (single, False)):
        with pytest.MonkeyPatch.context() as patch:
            if not batched:
                one_by_one(patch)
            parts = list(separate_each(search, TargetLists.of(asked), TargetLists.of(pools), size))
        assert len(parts) == (1 if batched else len(asked))
        found.append(
            [
                (
                    int(targets[k]),
                    x,
                    log_p,
                    statistic,
                    bool(separated[k]),
                    answers.given_of(k),
                    repr(answers.outcome(k)),
                )
                for targets, answers, separated in parts
                for k, x, log_p, statistic in answers.each()
            ]
        )
    assert found[0] == found[1]
    assert many.tally == single.tally


def test_one_target_with_most_of_the_work() -> None:
    table = serape.load_network("insurance").sample(600, seed=2)
    pools = {x: [z for z in range(27) if z != x] if x == 3 else [0, 1] for x in range(2, 27)}
    asked = {x: [y for y in range(27) if y != x] if x == 3 else [27 - x] for x in pools if 27 - x not in (x, 27)}
    expected = None
    for threads in (1, 2, 5):
        search = Search(G2(table), threads=threads, evidence=False, keep_separations=False)
        lists = TargetLists.of(asked), TargetLists.of({x: pools[x] for x in asked})
        ((targets, answers, separated),) = separate_each(search, *lists, 2)
        each = [(*one, answers.given_of(one[0])) for one in answers.each()]
        found = targets.tolist(), each, separated.tolist(), search.tally
        expected = expected or found
        assert found == expected


@given(
    seed=st.integers(0, 10**6),
    max_conditioning=st.sampled_from([None, 0, 1, 2]),
    as_written=st.booleans(),
    threads=st.sampled_from([1, 3]),
    together=st.sampled_from([1, 64]),
)
@settings(max_examples=40, deadline=None)
def test_dependents_given_each(
    seed: int, max_conditioning: int | None, as_written: bool, threads: int, together: int
) -> None:
    answers = []
    many, single = searches(seed, 700, max_conditioning, threads, evidence=True)
    for search, batched in ((many, True), (single, False)):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(module, "_TOGETHER", together)
            if not batched:
                one_by_one(patch)
            target = seed % SIZE
            pcs, d_sep = de_pcs(search, target)
            groups = CandidateGroups((ys, given) for given, ys in d_sep.items())
            children = [*pcs, *(x for x in range(0, SIZE, 7) if x != target and x not in pcs)]
            found = list(dependents_given_each(search, target, groups, children, as_written=as_written))
        sets = [search.separating_set(x, target) for x in range(SIZE) if x != target]
        answers.append((children, found, sets))
    assert answers[0] == answers[1]
    assert many.tally == single.tally


def test_pairs_of_few_variables_are_asked_one_by_one() -> None:
    table = serape.load_network("alarm").sample(500, seed=1)
    alone: dict[str, Any] = {"evidence": False, "keep_separations": False}
    assert dependent_pairs(Search(G2(table), **alone), range(37)) is None
    wide = serape.load_network("alarm").tile(3, seed=0).sample(500, seed=1)
    assert dependent_pairs(Search(G2(wide), keep_separations=False), wide.varying) is None
    assert dependent_pairs(Search(G2(wide), evidence=False), wide.varying) is None
    unreliable = Search(G2(wide, minimum=300.0), **alone)
    assert dependent_pairs(unreliable, wide.varying) is None
    search = Search(G2(wide), alpha=0.01, **alone)
    pairs = dependent_pairs(search, wide.varying)
    assert pairs is not None
    assert search.tally.performed == math.comb(len(wide.varying), 2)
    assert search.tally.skipped == 0


@pytest.mark.parametrize("jobs", [1, 3])
def test_the_pc_algorithm_is_the_same(jobs: int) -> None:
    table = serape.load_network("alarm").tile(3, seed=0).sample(500, seed=1)
    found = serape.skeleton(table, "pc-stable", alpha=0.01, n_jobs=jobs)
    with pytest.MonkeyPatch.context() as patch:
        one_by_one(patch)
        expected = serape.skeleton(table, "pc-stable", alpha=0.01)
    assert list(found.graph.edges(data=True)) == list(expected.graph.edges(data=True))
    assert list(found.separating_sets.items()) == list(expected.separating_sets.items())
    assert (found.tests_by_size, found.skipped) == (expected.tests_by_size, expected.skipped)


@pytest.mark.parametrize("algorithm", ["hpc", "pc-stable", "hiton-pc"])
def test_any_engine_is_asked_target_by_target(algorithm: str) -> None:
    table = serape.load_network("asia").sample(500, seed=1)
    expected = serape.skeleton(G2(table), algorithm, alpha=0.01)
    found = serape.skeleton(CountedTest(PlainEngine(table)), algorithm, alpha=0.01)
    assert found.edges == expected.edges
    assert found.tests == expected.tests


@given(
    seed=st.integers(0, 10**6),
    rows=st.sampled_from([60, 700]),
    subject=st.sampled_from([None, 0, 7]),
    threads=st.sampled_from([1, 3]),
)
@example(seed=357, rows=700, subject=None, threads=3)  # a target that loses its last member
@settings(max_examples=25, deadline=None)
def test_inter_iapc_of_many_targets(seed: int, rows: int, subject: int | None, threads: int) -> None:
    test = (G2, X2)[seed % 2](mixed_table(seed, rows, SIZE))
    among = np.arange(0, SIZE, 2, dtype=np.uint32)
    targets = [x for x in range(1, SIZE, 3) if x != subject]
    found = []
    for batched in (True, False):
        search = Search(test, subject=subject, threads=threads, evidence=subject is not None)
        with pytest.MonkeyPatch.context() as patch:
            if not batched:
                one_by_one(patch)
            members = list(inter_iapc_each(search, targets, among))
        sets = {(x, int(y)): search.separating_set(int(y), x) for x in targets for y in among if y != x}
        found.append((members, search.tally, search.notes, sets, search.record.other_side))
    assert found[0] == found[1]
    assert any(found[0][0]) or rows == 60


@given(
    seed=st.integers(0, 10**6),
    rows=st.sampled_from([60, 700]),
    about=st.sampled_from([None, 0, 1]),  # of the candidates, and of the targets
    threads=st.sampled_from([1, 3]),
)
@example(seed=10, rows=700, about=None, threads=1)
@settings(max_examples=25, deadline=None)
def test_inter_iapc_keeps_the_weakest_associations(seed: int, rows: int, about: int | None, threads: int) -> None:
    test = (G2, X2)[seed % 2](mixed_table(seed, rows, SIZE))
    among = np.arange(0, SIZE, 2, dtype=np.uint32)
    targets = list(range(1, SIZE, 3))
    found, runs = [], 0
    ask = G2.inter_iapc

    def counted(*asked: Any, **options: Any) -> Any:
        nonlocal runs
        runs += 1
        return ask(*asked, **options)

    for batched in (True, False):
        search = Search(test, threads=threads, evidence=False, fdr=FalseDiscoveryRate(0.2))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(type(test), "inter_iapc", counted)
            if not batched:
                one_by_one(patch)

            def each(search: Search = search) -> list[list[int]]:
                return list(inter_iapc_each(search, targets, among))

            members = each() if about is None else search.step(("a step", about), about, each)
        pairs = [(int(x), y) for y in targets for x in among if x != y]
        weakest = {pair: its for pair in pairs if (its := search.weakest_association(*pair)) is not None}
        found.append((members, search.tally, weakest, [search.separating_set(*pair) for pair in pairs]))
    assert found[0] == found[1]
    assert runs == 1
    assert len(found[0][2]) > 0 or rows == 60 or about is not None


def test_hpc_asks_for_many_targets_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    runs, found = 0, []
    ask = G2.inter_iapc

    def counted(*asked: Any, **options: Any) -> Any:
        nonlocal runs
        runs += 1
        return ask(*asked, **options)

    monkeypatch.setattr(G2, "inter_iapc", counted)
    for batched in (True, False):
        runs = 0
        with pytest.MonkeyPatch.context() as patch:
            if not batched:
                one_by_one(patch)
            result = serape.markov_blanket(serape.load_network("alarm").sample(2000, seed=1), "CATECHOL", "hpc")
            found.append({**result.to_dict(), "seconds": 0, "evidence": list(result.evidence)})
        assert (runs > 0) == batched
    assert found[0] == found[1]
    assert found[0]["fdr"] == 0.2
