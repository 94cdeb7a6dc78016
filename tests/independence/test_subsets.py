"""Searches through subsets of contingency tables: against twins that go through all."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import serape
from plain import PlainContingency, random_table
from plain_batches import RULES, TESTS, mixed_table
from serape.independence import G2
from serape.independence.base import IndependenceTest
from serape.independence.subset_query import SubsetQuery
from serape.independence.subsets import Association, MinAssociationTable, SubsetResult


def agree(native: Association, plain: Association) -> None:
    assert native.outcome.reliable == plain.outcome.reliable
    assert native.separated == plain.separated
    if not plain.outcome.reliable:
        return
    assert native.outcome.log_p == pytest.approx(plain.outcome.log_p, rel=1e-7, abs=1e-6)
    if native.given != plain.given:  # two sets whose p-values differ by less than rounding
        if native.outcome.dof != plain.outcome.dof:
            return
        assert native.outcome.statistic == pytest.approx(plain.outcome.statistic, rel=1e-6, abs=1e-6)


SIZES = st.sampled_from([range(4), range(1, 3), range(2, 3), range(5), range(0)])
STOPS = st.sampled_from([None, math.log(0.05), math.log(0.3)])


@pytest.mark.parametrize("name", ["g2", "x2"])
@given(seed=st.integers(0, 10**6), rules=RULES, stop=STOPS, sizes=SIZES)
@settings(max_examples=40, deadline=None)
def test_subsets_against_plain(name: str, seed: int, rules: dict[str, str], stop: float | None, sizes: range) -> None:
    table = mixed_table(seed, 250, 10)
    native, plain = TESTS[name](table, **rules), PlainContingency(table, name, **rules)  # type: ignore[arg-type]
    order = np.random.default_rng(seed).permutation(10).tolist()
    target, xs, pool = order[0], order[1:5], order[3:9]  # some x are in the pool themselves
    found, tally = native.search_subsets(SubsetQuery(xs, target, pool, sizes, stop_above=stop))
    expected, plain_tally = plain.search_subsets(SubsetQuery(xs, target, pool, sizes, stop_above=stop))
    assert tally == plain_tally
    for a, b in zip(found, expected, strict=True):
        agree(a, b)
    by_set: dict[tuple[int, ...], list[int]] = {}
    for x, given_set in found.separations(math.log(0.05)):
        by_set.setdefault(given_set, []).append(x)
    grouped = found.separated_by_set(math.log(0.05))
    assert [(one, own.tolist()) for one, own in grouped.items()] == [(one, sorted(own)) for one, own in by_set.items()]


@pytest.mark.parametrize("name", ["g2", "x2"])
@given(
    seed=st.integers(0, 10**6),
    rows=st.sampled_from([60, 250, 700, 3000]),
    rules=RULES,
    stop=STOPS,
    sizes=SIZES,
    fixed=st.integers(0, 2),
    max_size=st.sampled_from([None, 1, 2, 3]),
    shrinking=st.booleans(),
    until_survivor=st.booleans(),
)
@settings(max_examples=60, deadline=None)
def test_subsets_against_a_twin_that_enumerates_all(
    name: str, seed: int, rows: int, rules: dict[str, str], fixed: int, sizes: range, **options: Any
) -> None:
    """The same sets, verdicts, bits and numbers of tests as asking for every subset by itself."""
    test = TESTS[name](mixed_table(seed, rows, 12), **rules)  # type: ignore[arg-type]
    random = np.random.default_rng(seed)
    order = random.permutation(12).tolist()
    target, xs, pool = order[0], order[3:9], order[4 : int(random.integers(5, 12))]
    options["n_exhausted"] = (
        random.integers(-1, len(pool) + 1, len(xs)).tolist() if seed % 2 else int(random.integers(-1, 3))
    )
    options["fixed"] = order[1 : 1 + fixed]
    options["stop_above"] = options.pop("stop")
    if seed % 3 == 0:  # examined in the reverse of the pool's order: done side by side as far as that is the same
        xs, pool, sizes = order[10:2:-1], order[3:11], range(seed % 2, 2)
        options |= {"shrinking": True, "n_exhausted": int(random.integers(-1, 3))}
    found, tally = test.search_subsets(SubsetQuery(xs, target, pool, sizes, **options))
    expected, plain_tally = IndependenceTest.search_subsets(test, SubsetQuery(xs, target, pool, sizes, **options))
    assert repr(list(found)) == repr(list(expected))
    assert tally == plain_tally


@pytest.mark.parametrize("name", ["g2", "x2"])
@given(
    seed=st.integers(0, 10**6),
    rows=st.sampled_from([65, 700, 1909]),
    levels=st.sampled_from([2, 4]),
    rare=st.sampled_from([0.02, 0.4]),
    rules=RULES,
    stop=STOPS,
    fixed=st.integers(0, 2),
    max_size=st.sampled_from([None, None, 1]),
    shrinking=st.booleans(),
    until_survivor=st.booleans(),
)
@settings(max_examples=25, deadline=None)
def test_many_sets_that_differ_in_one_variable(
    name: str, seed: int, rows: int, levels: int, rare: float, rules: dict[str, str], fixed: int, **options: Any
) -> None:
    """Of many x and a large pool pairs are counted: the same again."""
    random = np.random.default_rng(seed)
    codes = random.integers(1, levels, (rows, 90)) * (random.random((rows, 90)) < rare)
    copied = random.random((rows, 90)) < random.uniform(0.0, 0.6, 90)
    codes = np.where(copied, codes[:, :1], codes)  # so that there is something to find, strong and weak
    test = TESTS[name](serape.Table(codes), **rules)  # type: ignore[arg-type]
    order = random.permutation(90).tolist()
    options["fixed"] = order[1 : 1 + fixed]
    options["stop_above"] = options.pop("stop")
    pool = order[3:80] if seed % 4 < 2 else order[:80]  # with the target and fixed members, which are passed over
    xs = pool[::-1] if seed % 2 else order[4:90]
    options["n_exhausted"] = -1 if seed % 2 else random.integers(-1, len(pool) + 1, len(xs)).tolist()
    expected, plain_tally = IndependenceTest.search_subsets(test, SubsetQuery(xs, order[0], pool, range(2), **options))
    for threads in (1, 3):
        found, tally = test.search_subsets(SubsetQuery(xs, order[0], pool, range(2), **options), threads=threads)
        assert repr(list(found)) == repr(list(expected))
        assert tally == plain_tally


@pytest.mark.parametrize("shrinking", [False, True])
@pytest.mark.parametrize("levels", [[2] * 1500, [2, 3] * 750])
def test_threads_share_a_pool_of_several_panels(shrinking: bool, levels: list[int]) -> None:
    random = np.random.default_rng(len(set(levels)))
    codes = np.column_stack([random.integers(0, n, 400) * (random.random(400) < 0.3) for n in levels])
    copied = random.random(codes.shape) < random.uniform(0.0, 0.4, len(levels))
    test = G2(serape.Table(np.where(copied, codes[:, :1], codes)))
    pool = random.permutation(np.arange(1, len(levels))).tolist()
    query = SubsetQuery(pool[::-1], 0, pool, range(1, 2), stop_above=math.log(0.01), shrinking=shrinking)
    one, tally = test.search_subsets(query)
    assert 0 < len(one.survivors) < len(pool)
    for threads in (2, 5):
        found, other = test.search_subsets(query, threads=threads)
        assert repr(list(found)) == repr(list(one))
        assert other == tally
    few = SubsetQuery(pool[:3], 0, pool, range(1, 2), stop_above=math.log(0.01))
    expected, plain_tally = IndependenceTest.search_subsets(test, few)
    found, tally = test.search_subsets(few, threads=3)
    assert (repr(list(found)), tally) == (repr(list(expected)), plain_tally)


def test_a_pool_names_each_variable_once() -> None:
    test = G2(mixed_table(0, 100, 5))
    with pytest.raises(ValueError, match="twice"):
        test.search_subsets(SubsetQuery([0], 1, [2, 3, 2], range(3)))
    with pytest.raises(ValueError, match="twice"):
        IndependenceTest.search_subsets(test, SubsetQuery([0], 1, [2, 3, 2], range(3)))


def test_unreliable_sizes_are_not_enumerated() -> None:
    """2^60 subsets, of which all but the small ones are unreliable: counted, not visited."""
    table = serape.Table(np.random.default_rng(3).integers(2, size=(100, 62)))
    found, tally = G2(table).search_subsets(SubsetQuery([0], 1, range(2, 62), range(61)))
    assert tally.performed + tally.skipped == 2**60
    assert tally.tests_by_size == {0: 1, 1: 60, 2: 1770, 3: 34220, 4: 487635}
    assert len(found[0].given) <= 4


def test_everyday_forms() -> None:
    table = random_table(np.random.default_rng(4), 500, [2, 2, 2, 3, 2])
    test, plain = G2(table), PlainContingency(table)
    agree(test.weakest(0, 1, [2, 3, 4], 2), plain.weakest(0, 1, [2, 3, 4], 2))
    agree(test.separate(0, 1, [2, 3, 4], range(3)), plain.separate(0, 1, [2, 3, 4], range(3)))
    several = test.weakest([0, 2], 1, [3, 4], 1, must_include=3)
    assert [a.given[-1] for a in several] == [3, 3]


def test_cancellation_stops_a_native_call() -> None:
    class StopError(Exception):
        pass

    calls = 0

    def poll() -> None:
        nonlocal calls
        calls += 1
        if calls == 2:
            raise StopError

    table = serape.Table(np.random.default_rng(9).integers(2, size=(5000, 60)))
    for threads in (1, 2):
        calls = 0
        with pytest.raises(StopError):  # would take hours
            G2(table, reliability=None).search_subsets(
                SubsetQuery([0, 1, 2], 3, range(4, 60), range(50)), threads=threads, poll=poll
            )
        assert calls == 2


def test_sizes_reliable_for_x_alone_are_not_enumerated() -> None:
    """A binary x in a pool of columns with three levels: no set of four others can be reliable."""
    columns = np.random.default_rng(12).integers(3, size=(400, 202))
    columns[:, :2] %= 2
    test = G2(serape.Table(columns, kinds="categorical"))
    _, tally = test.search_subsets(SubsetQuery([0], 1, [0, *range(2, 202)], range(4, 40)))
    assert tally.performed == 0
    assert tally.skipped_by_size[4] == math.comb(200, 4)
    assert tally.skipped_by_size[39] == 2**63


def test_huge_numbers_of_skipped_tests_are_counted() -> None:
    test = G2(serape.Table(np.random.default_rng(13).integers(2, size=(50, 90))))
    _, tally = test.search_subsets(SubsetQuery([0], 1, range(2, 82), range(40, 41), n_exhausted=79, max_size=1))
    assert tally.skipped_by_size[40] == 2**63


@pytest.mark.parametrize("n_exhausted", [-1, 0, 7])
def test_sets_beyond_the_bound_are_counted_by_formula_without_the_core_too(n_exhausted: int) -> None:
    test = G2(serape.Table(np.random.default_rng(14).integers(2, size=(50, 40))))
    query = SubsetQuery([0, 5], 1, range(2, 36), range(35), max_size=1, n_exhausted=n_exhausted)
    _, plain = IndependenceTest.search_subsets(test, query)
    _, native = test.search_subsets(query)
    assert plain == native
    assert plain.skipped_by_size[20] >= math.comb(33, 20) - math.comb(7, 20)


@given(seed=st.integers(0, 10**6), rows=st.sampled_from([60, 700]), rules=RULES, stop=STOPS)
@settings(max_examples=40, deadline=None)
def test_subset_results_equal_their_arrays(seed: int, rows: int, rules: dict[str, str], stop: float | None) -> None:
    test = G2(mixed_table(seed, rows, 12), **rules)  # type: ignore[arg-type]
    random = np.random.default_rng(seed)
    order = random.permutation(12).tolist()
    native, _ = test.search_subsets(SubsetQuery(order[1:8], order[0], order[5:11], range(3), stop_above=stop))
    plain = SubsetResult(
        native.xs, native.statistic, native.dof, native.log_p,
        np.where(native.separated, 2, native.reliable).astype(np.int32), native.which, native.sets, test.rows,
    )  # fmt: skip
    assert native.survivors == plain.survivors
    assert native.separated_variables == plain.separated_variables
    assert native.last_survives == plain.last_survives
    assert native.separations(math.log(0.1)) == plain.separations(math.log(0.1))
    assert native.each() == plain.each()
    assert [native.indices_of(x) for x in order] == [plain.indices_of(x) for x in order]
    assert [native.given_of(k) for k in range(7)] == [plain.given_of(k) for k in range(7)]
    assert repr(list(native)) == repr(list(plain))

    def weakened(answers: SubsetResult) -> list[Any]:
        random = np.random.default_rng(seed + 1)
        numbers = random.chisquare(3, 7), random.integers(1, 4, 7).astype(float), np.log(random.random(7))
        known = MinAssociationTable(*numbers, np.zeros(7, np.intp), np.zeros(7, np.intp))
        kept = answers.weaken(known, 5)
        return [array.tolist() for array in (kept, *known)]

    assert weakened(native) == weakened(plain)
