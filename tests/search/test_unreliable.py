"""Unreliable tests read as independence: against plain versions that ask one question after another."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest

import serape
from plain import random_table
from serape.independence import G2
from serape.search import Search
from serape.search.unreliable import Unreliable

WHICH: tuple[Unreliable, ...] = ("zero-dof", "all")


def table(seed: int, rows: int = 60) -> serape.Table:
    """Few rows, many levels, and a copy of a column: all kinds of unreliable tests."""
    random = np.random.default_rng(seed)
    drawn = random_table(random, rows, random.choice([2, 2, 3, 4], 10).tolist(), 0.8).to_pandas()
    return serape.Table(drawn.assign(copy=drawn.iloc[:, 1]), kinds="categorical")


def plain(test: G2, which: Unreliable, x: int, target: int, pool: list[int], alpha: float) -> Any:
    """The first set that separates x from the target, or None."""
    rest = [z for z in pool if z not in (x, target)]
    for size in range(len(rest) + 1):
        for given in combinations(rest, size):
            outcome = test.answer(x, target, given)
            read = not outcome.reliable and (which == "all" or outcome.dof == 0)
            if read or (outcome.reliable and outcome.p > alpha):
                return given
    return None


@pytest.mark.parametrize("which", WHICH)
def test_a_search_through_subsets(which: Unreliable) -> None:
    read = 0
    for seed in range(6):
        test = G2(table(seed), "adjusted")
        search = Search(test, alpha=0.05)
        pool = [1, 2, 3, 10]
        with search.read_as_independence(which):
            together = search.separate([1, 4, 5, 6, 7, 8, 9, 10], 0, pool)
            alone = [search.separate([x], 0, pool)[0] for x in (1, 4, 5, 6, 7, 8, 9, 10)]
        assert [repr(a) for a in together] == [repr(a) for a in alone]
        for x, answer in zip(together.xs.tolist(), together, strict=True):
            assert (answer.given if answer.separated else None) == plain(test, which, x, 0, pool, 0.05)
        skipping = search.separate([1, 4, 5, 6, 7, 8, 9, 10], 0, pool)
        read += sum(a.separated for a in together) - sum(a.separated for a in skipping)
        assert search.notes == ([] if search.tally.skipped == 0 else search.notes[:1])
    assert read > 0


def test_a_weakest_association_is_kept_as_without_reading() -> None:
    """Where every test is reliable, nothing changes: answers, weakest associations, counts."""
    alarm = G2(serape.load_network("alarm").sample(5000, 0), "full", None)
    for which in WHICH:
        one, other = Search(alarm, alpha=0.01), Search(alarm, alpha=0.01)
        xs, pool = list(range(5, 30)), [1, 2, 3, 4]
        with other.read_as_independence(which):
            answers = other.separate(xs, 0, pool, n_exhausted=[k % 3 - 1 for k in range(len(xs))])
        expected = one.separate(xs, 0, pool, n_exhausted=[k % 3 - 1 for k in range(len(xs))])
        assert [repr(a) for a in answers] == [repr(a) for a in expected]
        assert other.tally == one.tally
        assert not other.notes


def test_members_are_removed_when_they_cannot_be_tested() -> None:
    search = Search(G2(table(0, rows=20)), alpha=0.05)
    members = [1, 2, 3, 4]
    assert search.test_each_given_rest(0, members) == []  # every test is skipped
    skipped = search.tally.skipped
    with search.read_as_independence("all"):
        assert search.test_each_given_rest(0, members)[:1] == [1]
    assert search.tally.skipped > skipped
    assert search.notes == ["unreliable tests were read as independence; they are among the skipped ones"]


def test_candidates_that_cannot_be_tested_are_independent() -> None:
    search = Search(G2(table(1, rows=9)), alpha=0.05)
    candidates = search.candidates(0)
    dependent, independent = search.ranked_split(0, candidates)
    assert len(dependent) + len(independent) < len(candidates)
    with search.read_as_independence("all"):
        again, all_others = search.ranked_split(0, candidates)
        assert search.independent(2, 0, (1, 3, 4))
    assert again == dependent
    assert sorted([*again, *all_others.tolist()]) == candidates.tolist()
    assert not search.independent(2, 0, (1, 3, 4))
    untested = next(x for x in all_others.tolist() if x not in independent.tolist())
    assert search.separating_set(untested, 0) == ()


def test_sets_that_are_too_large_are_skipped_all_the_same() -> None:
    search = Search(G2(table(2, rows=20)), alpha=0.05, max_conditioning=0)
    with search.read_as_independence("all"):
        assert search.separate([4, 5], 0, [1, 2], range(1, 3)).survivors == [4, 5]
        assert search.separate([4, 5, 6, 7, 8], 0, [1, 2], range(1, 3)).survivors == [4, 5, 6, 7, 8]
        assert search.test_each_given_rest(0, [1, 2]) == []
