"""Candidates that join a pool in one question, against the same questions candidate by candidate."""

from __future__ import annotations

import math
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import serape
from plain_batches import mixed_table
from serape import _core
from serape.independence import G2, X2, IndependenceTest
from serape.independence.dependent_pairs import find_dependent_pairs
from serape.independence.given_tests import VariableSets
from serape.independence.partial_correlation import FisherZ, NormalScores, PartialCorrelation, Spearman
from serape.local.gll import GLL, after_every_inclusion, at_the_end, by_association, gll_pc_nonsym
from serape.local.hiton import INTERLEAVED
from serape.search import FalseDiscoveryRate, Search, grow_pools
from serape.search import growing_pool as module
from serape.search.separations import Separations

SIZE = 24
TESTS = {"g2": G2, "x2": X2, "fisher-z": FisherZ, "t": PartialCorrelation, "spearman": Spearman, "scores": NormalScores}
INTERLEAVINGS = {"after": after_every_inclusion, "end": at_the_end}


def in_turn(tpc: Any) -> Any:
    """Include as HITON does, but candidate by candidate."""
    yield from by_association(tpc)


def numbers(seed: int, rows: int, *, among_others: bool) -> serape.Table:
    random = np.random.default_rng(seed)
    values = random.standard_normal((rows, SIZE))
    for k in range(1, SIZE):
        for parent in random.choice(k, min(k, 2), replace=False):
            values[:, k] += random.uniform(0.3, 0.9) * values[:, parent]
    values[:, 7] = values[:, 3]  # a copy: collinear sets
    columns: dict[str, Any] = {f"v{k}": column for k, column in enumerate(values.T)}
    if among_others:  # then the core's indices are not those of the table
        columns = {"label": np.where(np.arange(rows) % 2, "a", "b").tolist(), **columns}
    return serape.Table(columns)


def made(name: str, seed: int, rows: int) -> IndependenceTest:
    if name in ("g2", "x2"):
        found: IndependenceTest = TESTS[name](mixed_table(seed, rows, SIZE), "adjusted" if seed % 2 else "full")
    else:
        found = TESTS[name](numbers(seed, rows, among_others=bool(seed % 2)))
    return found


def facts(search: Search, target: int) -> tuple[Any, ...]:
    """Return what a search has counted and recorded about a target."""
    log = search.log(target)
    variables = [x for x in search.variables if x != target]
    latest = [log.latest(x) for x in variables]
    decided = [None if d is None else (repr(d.outcome), d.given) for d in latest]
    *columns, which, sets = log.columns()
    given_each = [None if k < 0 else sets[k] for k in which]
    return (
        (search.tally.tests_by_size, search.tally.skipped_by_size),
        log.events,
        [search.separating_set(x, target) for x in variables],
        decided,
        [repr(column.tolist()) for column in columns],
        given_each,
        search.members_so_far(target),
    )


@given(
    name=st.sampled_from(sorted(TESTS)),
    seed=st.integers(0, 10**6),
    rows=st.sampled_from([40, 300]),
    interleaving=st.sampled_from(sorted(INTERLEAVINGS)),
    max_conditioning=st.sampled_from([None, 0, 1, 3]),
    enough=st.sampled_from([1, 30, 10**6]),
)
@settings(max_examples=80, deadline=None)
def test_one_question_is_many(
    name: str, seed: int, rows: int, interleaving: str, max_conditioning: int | None, enough: int
) -> None:
    test = made(name, seed, rows)
    target = len(test.variables) - 1 - seed % SIZE
    found = []
    for inclusion in (by_association, in_turn):
        rules = GLL(inclusion, interleaving=INTERLEAVINGS[interleaving])
        search = Search(test, subject=target, alpha=0.05, max_conditioning=max_conditioning, excluded=leave(test))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(module, "_ROWS", enough * rows)
            patch.setattr(module, "_MIN_TESTS", 1)
            members = gll_pc_nonsym(search, target, rules)
        found.append((members, facts(search, target)))
    assert found[0] == found[1]


def leave(test: IndependenceTest) -> set[int]:
    """Return the columns that the test cannot test."""
    return {0} if test.variables[0] == "label" else set()


def test_the_other_side_is_explained_in_the_same_way() -> None:
    table = serape.load_network("alarm").sample(2000, 3)
    for target in range(0, 37, 4):
        results = [
            serape.parents_children(table, target, GLL(inclusion).parents_children, alpha=0.01)
            for inclusion in (by_association, in_turn)
        ]
        one, other = results
        assert one.members == other.members
        assert one.tests_by_size == other.tests_by_size
        for x in table.names:
            if x != one.target:
                assert one.explain(x) == other.explain(x)


@pytest.mark.parametrize("setting", [{"max_tests": 100_000}, {"knowledge": {"required": [("v1", "v2")]}}])
def test_a_search_that_must_ask_one_by_one_does(setting: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FisherZ, "grow_pool", None)
    table = numbers(4, 200, among_others=False)
    assert serape.parents_children(
        table, "v2", "hiton-pc", test="fisher-z", alpha=0.01, symmetry=False, **setting
    ).complete


def test_a_search_that_is_interrupted_has_the_members_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    table = serape.load_network("alarm").sample(2000, 3)
    whole = serape.parents_children(table, "CATECHOL", "hiton-pc", alpha=0.01, symmetry=False)
    monkeypatch.setattr(module, "_ROWS", 0)
    monkeypatch.setattr(module, "_MIN_TESTS", 1)
    asked = 0

    def stop_later(_: Search) -> None:
        nonlocal asked
        asked += 1
        if asked == 12:
            raise KeyboardInterrupt

    monkeypatch.setattr(Search, "_tick", stop_later)
    with pytest.raises(serape.Interrupted) as stopped:
        serape.parents_children(table, "CATECHOL", "hiton-pc", alpha=0.01, symmetry=False)
    assert len(whole.members) > 0
    assert len(stopped.value.found.members) > 0


def test_separations_are_pickled_with_those_not_looked_at() -> None:
    test = G2(mixed_table(5, 300, SIZE))
    search = Search(test, alpha=0.05)
    gll_pc_nonsym(search, 3, GLL(by_association))
    (step,) = search._used[3].values()
    kept = pickle.loads(pickle.dumps(step.record.separations))
    assert isinstance(kept, Separations)
    pairs = [(x, kept.get(x, 3), step.record.separations.get(x, 3)) for x in range(SIZE)]
    assert all(one == other for _, one, other in pairs)
    assert any(one for _, one, _ in pairs)


@pytest.mark.parametrize("kind", [G2, X2])
@given(
    seed=st.integers(0, 10**6),
    rows=st.sampled_from([60, 300, 2000]),
    alpha=st.sampled_from([0.01, 0.2]),
    max_conditioning=st.sampled_from([None, 1, 3]),
    threads=st.sampled_from([1, 3]),
    pairs_alone=st.booleans(),
)
@settings(max_examples=25, deadline=None)
def test_pools_of_many_targets_are_those_of_each(
    kind: type[G2 | X2],
    seed: int,
    rows: int,
    alpha: float,
    max_conditioning: int | None,
    threads: int,
    pairs_alone: bool,
) -> None:
    """Of large tables the dependent pairs alone are known."""
    test = kind(mixed_table(seed, rows, 24))
    targets = np.random.default_rng(seed).permutation(24)[:20].tolist()
    known: Any = test.marginals(targets)
    if pairs_alone:
        known = find_dependent_pairs(test, targets, math.log(alpha)) or known  # few levels only
    options: dict[str, Any] = {"alpha": alpha, "max_conditioning": max_conditioning, "evidence": False}

    def search(threads: int = 1, **more: Any) -> Search:
        made = Search(test, threads=threads, keep_separations=False, **options, **more)
        made.use_marginals(known)
        return made

    at_once, plain = search(threads), search()
    assert grow_pools(at_once, targets, known).of == {
        target: gll_pc_nonsym(plain, target, INTERLEAVED) for target in targets
    }
    assert at_once.tally == plain.tally
    rate = FalseDiscoveryRate(0.05, "by")
    weighing, plain = search(threads, fdr=rate), search(fdr=rate)
    pools = grow_pools(weighing, targets, known)
    for target in targets:
        step = pools.step(target)
        assert step.value == gll_pc_nonsym(plain, target, INTERLEAVED)
        assert step.record.associations is not None
        for x in step.value:
            weakest = plain.weakest_association(x, target)
            assert step.record.associations.get(x, target) == pools.weakest_of(x, target) == weakest
    assert weighing.tally == plain.tally


def test_pools_of_many_targets_are_left_where_more_is_kept() -> None:
    test = G2(mixed_table(1, 300, 8))
    known = test.marginals(list(range(8)))
    assert len(grow_pools(Search(test, evidence=False, keep_separations=False), range(8), known).of) == 8
    assert grow_pools(Search(test, evidence=False), range(8), known).of == {}
    assert grow_pools(Search(test, evidence=False, keep_separations=False, excluded={3}), range(8), known).of == {}
    assert grow_pools(Search(test, evidence=False, keep_separations=False, random_state=1), range(8), known).of == {}
    assert grow_pools(Search(test, evidence=False, keep_separations=False), range(8), {}).of == {}


def test_lists_of_many_targets_are_checked() -> None:
    test = G2(mixed_table(1, 300, 8))
    targets, ends = np.array([0, 1], np.uint32), np.array([2, 4])
    for candidates, wrong, message in (
        ([2, 3, 4, 4], ends, "twice"),
        ([2, 3, 4, 9], ends, "column 9"),
        ([2, 3, 4, 5], np.array([3, 1]), "ascend"),
        ([2, 3, 4, 5], np.array([3, 5]), "ascend"),
        ([2, 3, 4, 5], np.array([4]), "one length"),
    ):
        lists = VariableSets(wrong.astype(np.int64), np.array(candidates, np.uint32))
        with pytest.raises((ValueError, IndexError), match=message):
            test.grow_pools(targets, lists, math.log(0.05), max_size=None)
    numbers = np.array([1.0, 5.0, 5.0, 2.0])
    ranked = _core.ranked_each(np.array([3, 4]), np.array([7, 9, 4, 1], np.uint32), numbers, np.ones(4))
    assert ranked.tolist() == [4, 9, 7, 1]
    some = np.where(np.arange(300) % 3 == 0, np.nan, np.arange(300.0))  # what is no number comes last
    ranked = _core.ranked_each(np.array([300]), np.arange(300, dtype=np.uint32), some, np.ones(300))
    assert ranked.tolist() == [*(k for k in range(299, -1, -1) if k % 3), *range(0, 300, 3)]
