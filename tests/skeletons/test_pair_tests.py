"""Tests of pairs in arrays, against a dict of the weakest."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from serape.independence.screens import ScreenResult
from serape.independence.subset_query import TargetLists
from serape.skeletons.edges import _by_strength
from serape.skeletons.pair_tests import PairTests, keys_of, numbered, pair_of, stable_order, strength_ranks


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
        nothing = np.empty(0)
        answers.append(ScreenResult(np.empty(0, np.uint32), (), nothing, nothing, nothing > 0, nothing))
        found.add(at, (index, np.zeros(count, np.uint32), log_p, statistic), answers[-1])
        for pair, *test in zip(at.tolist(), log_p.tolist(), (-statistic).tolist(), index.tolist(), strict=True):
            if pair not in plain or (test[0], test[1]) > plain[pair][:2]:
                plain[pair] = (test[0], test[1], batch, test[2])
    order = found.in_order()
    assert order.tolist() == list(plain)
    assert np.flatnonzero(found.known).tolist() == sorted(plain)
    assert list(found.tests(order)) == [(a, b, answers[batch], k) for a, b, batch, k in plain.values()]


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


def test_ranks_are_by_log_p_then_statistic_then_place(random: np.random.Generator) -> None:
    for case in range(200):
        count = int(random.integers(0, 60))
        log_p = -random.integers(0, 5, count).astype(float)
        statistic = random.integers(0, 3, count).astype(float) if case % 2 else -log_p
        order = np.lexsort((np.arange(count), -statistic, log_p))
        assert strength_ranks(log_p, statistic)[order].tolist() == list(range(count))


def test_a_stable_order_of_many_keys(random: np.random.Generator) -> None:
    for count in (0, 50, 150_000):
        keys = random.integers(0, 1000, count)
        assert stable_order(keys).tolist() == keys.argsort(kind="stable").tolist()
