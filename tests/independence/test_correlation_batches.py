"""Batches of correlations: one test after another, to the bit."""

import math
import pickle
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import serape
from plain_batches import bits
from plain_correlations import TESTS, Floats, correlated, reference, table_of
from serape import _core
from serape.independence.base import IndependenceTest
from serape.independence.partial_correlation import (
    FisherZ,
    PartialCorrelation,
)
from serape.independence.subset_query import SubsetQuery


@pytest.mark.parametrize("name", TESTS)
@given(seed=st.integers(0, 10**6), rows=st.sampled_from([3, 6, 40, 700]), size=st.integers(0, 4))
@settings(max_examples=30, deadline=None)
def test_screen_is_one_test_after_another(name: str, seed: int, rows: int, size: int) -> None:
    test = TESTS[name](table_of(correlated(seed, rows, 14, troubled=True)))
    order = np.random.default_rng(seed).permutation(14).tolist()
    target, given_set, candidates = order[0], order[1 : 1 + size], order[1 + size :]
    found = test.screen(target, candidates, given_set)
    expected = IndependenceTest.screen(test, target, candidates, given_set)
    assert bits(found) == bits(expected)
    np.testing.assert_array_equal(found.log_p, expected.log_p)
    for alpha in (0.05, 0.5, 1.0):
        assert found.dependent(math.log(alpha)).tolist() == expected.dependent(math.log(alpha)).tolist()
    assert found.strongest() == expected.strongest()
    found, expected = (
        ask(target, candidates, given_set, math.log(0.05))
        for ask in (test.first_dependent, lambda *a: IndependenceTest.first_dependent(test, *a))
    )
    assert bits(found) == bits(expected)
    assert found.xs.tolist() == expected.xs.tolist()


@cache
def wide() -> Floats:
    return correlated(16, 5000, 300)


@cache
def wide_bits() -> tuple[Any, ...]:
    test = FisherZ(table_of(wide()))
    return tuple(bits(test.screen(0, list(range(10, 300)), z)) for z in ((), (1,), (1, 2), tuple(range(1, 8))))


def test_instruction_sets_agree(instruction_set: str) -> None:
    del instruction_set
    wide_bits.cache_clear()
    found = wide_bits()
    _core.use_instruction_set("plain")
    wide_bits.cache_clear()
    assert found == wide_bits()


def test_instruction_sets_make_the_same_rows(instruction_set: str) -> None:
    del instruction_set
    data = correlated(17, 5000, 23)

    def all_rows() -> list[Any]:
        test = FisherZ(table_of(data))
        return [bits(test.screen(k, [x for x in range(23) if x != k])) for k in range(23)]

    found = all_rows()
    _core.use_instruction_set("plain")
    assert found == all_rows()


def test_threads_and_order_do_not_matter() -> None:
    test = PartialCorrelation(table_of(wide()))
    candidates = np.arange(10, 300, dtype=np.uint32)
    for z in ((), (1, 2, 3)):
        one, two, many = (test.screen(0, candidates, z, threads=n) for n in (1, 2, 10**9))
        assert bits(one) == bits(two) == bits(many)
        backward = test.screen(0, candidates[::-1], z)
        assert backward.statistic[::-1].tobytes() == one.statistic.tobytes()
        twice = test.screen(0, [11, 11, 10], z)
        assert twice.statistic.tolist() == one.statistic[[1, 1, 0]].tolist()
    xs, pool = list(range(10, 60)), list(range(60, 69))
    alone, tally = test.search_subsets(SubsetQuery(xs, 0, pool, range(5)))
    together, other = test.search_subsets(SubsetQuery(xs, 0, pool, range(5)), threads=3)
    assert list(alone) == list(together)
    assert tally == other


def test_beside_categorical_columns() -> None:
    """Positions are those of the table."""
    data = correlated(17, 50, 5)
    columns: dict[str, Any] = {"k": ["a", "b"] * 25}
    for k in range(5):
        columns |= {f"x{k}": data[:, k], f"k{k}": [0, 1] * 25}
    mixed, plain = FisherZ(serape.Table(columns)), FisherZ(table_of(data))
    where = [1, 3, 5, 7, 9]
    assert mixed.test(1, 3, (5, 7)) == plain.test(0, 1, (2, 3))
    assert bits(mixed.screen(1, where[2:], (3,))) == bits(plain.screen(0, [2, 3, 4], (1,)))
    found, _ = mixed.search_subsets(SubsetQuery([1, 3], 9, [5, 7], range(3), fixed=()))
    expected, _ = plain.search_subsets(SubsetQuery([0, 1], 4, [2, 3], range(3), fixed=()))
    assert [a.outcome for a in found] == [a.outcome for a in expected]
    assert [a.given for a in found] == [tuple(where[z] for z in a.given) for a in expected]


@pytest.mark.parametrize("name", TESTS)
@given(
    seed=st.integers(0, 10**6),
    rows=st.sampled_from([4, 6, 9, 15, 60, 300]),
    troubled=st.booleans(),
    fixed=st.integers(0, 3),
    sizes=st.sampled_from([range(4), range(1, 3), range(2, 3), range(7), range(0)]),
    max_size=st.sampled_from([None, None, 1, 2, 3]),
    stop_above=st.sampled_from([None, math.log(0.05), math.log(0.3), -30.0, 0.0, -math.inf]),
    shrinking=st.booleans(),
    until_survivor=st.booleans(),
)
@settings(max_examples=120, deadline=None)
def test_subsets_against_a_twin_that_enumerates_all(
    name: str, seed: int, rows: int, troubled: bool, fixed: int, sizes: range, **options: Any
) -> None:
    """The same sets, verdicts, bits and numbers of tests as asking for every subset by itself."""
    test = TESTS[name](table_of(correlated(seed, rows, 13, troubled)))
    random = np.random.default_rng(seed)
    order = random.permutation(13).tolist()
    target, xs, pool = order[0], order[3:10], order[4 : int(random.integers(5, 13))]
    options["n_exhausted"] = (
        random.integers(-1, len(pool) + 1, len(xs)).tolist() if seed % 2 else int(random.integers(-1, 3))
    )
    options["fixed"] = order[1 : 1 + fixed]
    found, tally = test.search_subsets(SubsetQuery(xs, target, pool, sizes, **options))
    expected, plain_tally = IndependenceTest.search_subsets(test, SubsetQuery(xs, target, pool, sizes, **options))
    assert repr(list(found)) == repr(list(expected))
    assert tally == plain_tally


def test_larger_sets_of_correlated_columns() -> None:
    """Pivots shrink as sets grow; what can no longer be swept is computed."""
    random = np.random.default_rng(18)
    common = random.normal(size=(200, 1))
    for noise in (1.0, 0.1, 0.003):
        test = PartialCorrelation(table_of(common + noise * random.normal(size=(200, 11))))
        for stop in (None, math.log(0.05)):
            found, tally = test.search_subsets(SubsetQuery([0, 3], 1, range(2, 11), range(10), stop_above=stop))
            expected, other = IndependenceTest.search_subsets(
                test, SubsetQuery([0, 3], 1, range(2, 11), range(10), stop_above=stop)
            )
            assert repr(list(found)) == repr(list(expected))
            assert tally == other


def test_unreliable_sizes_are_not_enumerated() -> None:
    """2^60 subsets, of which those that leave no degree of freedom are counted, not visited."""
    test = FisherZ(table_of(correlated(19, 7, 62)))
    _, tally = test.search_subsets(SubsetQuery([0], 1, range(2, 62), range(61)))
    assert tally.performed + tally.skipped == 2**60
    assert tally.tests_by_size == {0: 1, 1: 60, 2: 1770, 3: 34220}


@pytest.mark.parametrize("noise", [1.0, 1e-7])
def test_cancellation_stops_a_native_call(noise: float) -> None:
    class StopError(Exception):
        pass

    calls = 0

    def poll() -> None:
        nonlocal calls
        calls += 1
        if calls == 2:
            raise StopError

    random = np.random.default_rng(20)
    test = FisherZ(table_of(random.normal(size=(2000, 1)) + noise * random.normal(size=(2000, 60))))
    for threads in (1, 2):
        calls = 0
        with pytest.raises(StopError):  # would take hours
            test.search_subsets(SubsetQuery([0, 1, 2], 3, range(4, 60), range(50)), threads=threads, poll=poll)
        assert calls == 2


def test_nothing_to_ask() -> None:
    test = FisherZ(table_of(correlated(21, 20, 3)))
    assert len(test.screen(0, [])) == 0
    assert test.screen(0, []).strongest() == ([], 0.0)
    assert not len(test.screen(0, []).dependent(-3.0))
    assert len(test.first_dependent(0, [], (), -3.0)) == 0
    assert test.search_subsets(SubsetQuery([], 0, [1], range(2)))[0].survivors == []


def test_memory_is_one_copy() -> None:
    assert FisherZ(table_of(wide())).nbytes == 300 * 5008 * 8


def test_kept_correlations_are_those_of_single_tests() -> None:
    # Pairs first, then rows one after another, then all that are left: the bits are those of a test that begins anew.
    data = correlated(21, 5000, 40)
    test, everything = PartialCorrelation(table_of(data)), np.arange(40, dtype=np.uint32)
    test.test(3, 7, (1, 2))
    for target in range(40):
        others = np.delete(everything, [target, (target + 1) % 40])
        found = test.screen(target, others, ((target + 1) % 40,))
        anew = IndependenceTest.screen(PartialCorrelation(table_of(data)), target, others, ((target + 1) % 40,))
        assert bits(found) == bits(anew)


def test_tables_too_wide_to_keep_correlations() -> None:
    data = np.random.default_rng(5).normal(size=(30, 4100))
    data[:, 1] += data[:, 0]
    data[:, 2] += data[:, 1]
    some = list(range(0, 4100, 50))
    where = [*some, 1, 2]
    wide, narrow = PartialCorrelation(table_of(data)), PartialCorrelation(table_of(data[:, where]))
    for given_set in ((), (1,), (1, 2)):
        candidates = [x for x in some if x]
        found = wide.screen(0, candidates, given_set)
        expected = narrow.screen(0, [where.index(x) for x in candidates], [where.index(z) for z in given_set])
        assert bits(found)[1:] == bits(expected)[1:]


def test_nearly_collinear_sets_lose_no_digits() -> None:
    # The more collinear the set, the fewer digits correlations keep; columns are used before too many are lost.
    random = np.random.default_rng(8)
    x, y, z, noise = random.normal(size=(4, 500))
    for power in range(5):  # one more, and the fourth column is left out
        data = np.column_stack([x + z, y + z, z, z + 10.0**-power * noise])
        found = PartialCorrelation(table_of(data)).test(0, 1, (2, 3))
        statistic, _, log_p = reference(data, 0, 1, [2, 3], "partial-correlation")
        assert found.statistic == pytest.approx(statistic, rel=1e-9)
        assert found.log_p == pytest.approx(log_p, rel=1e-9)


@pytest.mark.parametrize("name", TESTS)
def test_a_table_keeps_what_was_prepared(name: str) -> None:
    table = table_of(correlated(3, 50, 6))
    one, two, other = TESTS[name](table), TESTS[name](table), TESTS[name](table_of(correlated(4, 50, 6)))
    assert one._native is two._native
    assert one._native is not other._native
    assert one.test(0, 1, (2,)) == two.test(0, 1, (2,)) != other.test(0, 1, (2,))
    assert pickle.loads(pickle.dumps(one)).test(0, 1, (2,)) == one.test(0, 1, (2,))
