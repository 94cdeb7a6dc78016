"""Tests of pairs in arrays, against a dict of the weakest."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from serape import _core
from serape.independence.given_tests import VariableSets
from serape.independence.screens import ScreenResult
from serape.independence.subset_query import TargetLists
from serape.skeletons import skeleton
from serape.skeletons.edges import _by_strength
from serape.skeletons.pair_tests import PairTests, SeparatedPairs, keys_of, numbered, pair_of
from serape.skeletons.skeleton import Skeleton


@given(seed=st.integers(0, 10**6), pairs=st.sampled_from([1, 5, 40]), batches=st.integers(0, 4))
@settings(max_examples=60, deadline=None)
def test_the_weakest_test_stays(seed: int, pairs: int, batches: int) -> None:
    random = np.random.default_rng(seed)
    found = PairTests(pairs)
    plain: dict[int, tuple[float, float, int, int]] = {}
    answers = []
    for batch in range(batches):
        count = int(random.integers(0, 2 * pairs))
        at, numbers = random.integers(0, pairs, count), -random.integers(0, 3, (2, count)).astype(float)
        index = random.permutation(count)
        log_p, statistic = numbers[0], -numbers[1]
        xs, number = np.zeros(count, np.uint32), np.empty(count)
        number[index] = 100.0 * batch + index  # dof tells batch and index
        answers.append(ScreenResult(xs, tuple(range(batch)), number, number, number > -1, number))
        found.add(at, (index, xs, log_p, statistic), answers[-1])
        for pair, *test in zip(at.tolist(), log_p.tolist(), (-statistic).tolist(), index.tolist(), strict=True):
            if pair not in plain or (test[0], test[1]) > plain[pair][:2]:
                plain[pair] = (test[0], test[1], batch, test[2])
    order = found.in_order()
    assert order.tolist() == list(plain)
    assert np.flatnonzero(found.known).tolist() == sorted(plain)
    tests = found.tests(order)
    assert tests.dof.tolist() == [100.0 * batch + k for _, _, batch, k in plain.values()]
    assert list(tests.given) == [tuple(range(batch)) for _, _, batch, _ in plain.values()]
    assert found.log_p[order].tolist() == [log_p for log_p, _, _, _ in plain.values()]


@given(seed=st.integers(0, 10**6), untested=st.booleans())
@settings(max_examples=60, deadline=None)
def test_neighbours_by_strength(seed: int, untested: bool) -> None:
    random = np.random.default_rng(seed)
    lists = {int(x): sorted(random.choice(50, random.integers(0, 6), replace=False).tolist()) for x in range(9)}
    asked = TargetLists.of(lists)
    log_p, statistic = -random.integers(0, 3, (2, len(asked.members))).astype(float)
    if untested and len(log_p):
        log_p[random.integers(len(log_p))] = statistic[random.integers(len(log_p))] = math.nan
    tests = iter(list(zip(log_p.tolist(), (-statistic).tolist(), strict=True)))
    of = {x: [next(tests) for _ in ys] for x, ys in lists.items()}
    plain = {x: [y for _, y in sorted(zip(of[x], ys, strict=True), key=lambda one: one[0])] for x, ys in lists.items()}
    assert _by_strength(asked, log_p, statistic) == plain


def test_numbers_of_pairs() -> None:
    lists = TargetLists.of({3: [1, 2**20], 1: [3], 2**20: [3]})
    keys, numbers = numbered(lists)
    assert [set(pair_of(key)) for key in keys.tolist()] == [{1, 3}, {3, 2**20}]
    assert numbers.tolist() == [0, 1, 0, 1]
    assert keys_of(lists.each_target(), lists.members).tolist() == keys[numbers].tolist()


def test_edges_by_strength_are_by_log_p_then_statistic_then_place(random: np.random.Generator) -> None:
    for case in range(100):
        variables = int(random.integers(2, 12))
        keys = np.unique(keys_of(*random.integers(0, variables, (2, 40)).astype(np.uint32)))
        x, y = (keys >> 32).astype(np.uint32), (keys & 0xFFFFFFFF).astype(np.uint32)
        x, y = x[x != y], y[x != y]
        log_p = -random.integers(0, 5, len(x)).astype(float)
        statistic = random.integers(0, 3, len(x)).astype(float) if case % 2 else -log_p
        plain = []
        for v in range(variables):
            own = [k for k in range(len(x)) if v in (x[k], y[k])]
            own.sort(key=lambda k: (log_p[k], -statistic[k], k))
            plain += [(v, int(x[k] if y[k] == v else y[k]), k) for k in own]
        found = _core.by_strength(x, y, log_p, statistic, 1 + case % 3)
        assert list(zip(*(column.tolist() for column in found), strict=True)) == plain


@pytest.mark.parametrize("together", [1, 20, 10**6])
def test_pairs_at_distance_two(random: np.random.Generator, monkeypatch: pytest.MonkeyPatch, together: int) -> None:
    monkeypatch.setattr(skeleton, "_PATHS", together)
    for edges in (0, 1, 8, 30):
        found = Skeleton({x: set() for x in range(12)})
        for a, b in random.integers(0, 12, (edges, 2)).tolist():
            if a != b:
                found.neighbours[a].add(b)
                found.neighbours[b].add(a)
        plain = [(x, y) for x in range(12) for y in sorted(found.at_distance_two(x)) if x < y]
        assert [(key >> 32, key & 0xFFFFFFFF) for key in found.pairs_at_distance_two().tolist()] == plain
        adjacent = [(x, y) for x in range(12) for y in sorted(found.neighbours[x]) if x < y]
        assert [(key >> 32, key & 0xFFFFFFFF) for key in found.pairs().tolist()] == adjacent


def test_sets_of_separated_pairs() -> None:
    one = SeparatedPairs(np.array([2 << 32 | 5, 1 << 32 | 4]), VariableSets.of([(7, 9), ()]))
    both = SeparatedPairs.joined([one, SeparatedPairs(np.array([3 << 32 | 4]), VariableSets.of([(1,)]))])
    assert [both.set_of(x, y) for x, y in ((5, 2), (1, 4), (4, 3), (2, 4))] == [(7, 9), (), (1,), None]
    left = both.without(np.array([1 << 32 | 4]))
    assert (left.set_of(1, 4), left.set_of(2, 5), left.set_of(3, 4)) == (None, (7, 9), (1,))
    assert list(both.sets.at(np.array([2, 0, 2]))) == [(1,), (7, 9), (1,)]
