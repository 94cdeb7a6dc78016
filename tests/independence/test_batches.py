"""Batch questions: native against plain, every way of counting, every instruction set, one thread or two."""

import math
import threading
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import serape
from plain import PlainContingency, random_table
from serape import _core
from serape.independence import G2, X2
from serape.independence.base import IndependenceTest
from serape.independence.screens import CandidateGroups, ScreenResult
from serape.independence.subset_query import SubsetQuery
from serape.independence.subsets import Association, MinAssociationTable, SubsetResult

TESTS = {"g2": G2, "x2": X2}
WAYS = ("automatic", "panels", "planes", "scatter", "sparse", "ones")
RULES = st.fixed_dictionaries(
    {"dof": st.sampled_from(["full", "adjusted"]), "reliability": st.sampled_from(["dof", "cells", None])}
)


@pytest.fixture(params=_core.instruction_sets())
def instruction_set(request: pytest.FixtureRequest) -> Iterator[str]:
    before = _core.instruction_set()
    assert _core.use_instruction_set(request.param)
    yield request.param
    _core.use_instruction_set(before)


def bits(screen: ScreenResult) -> tuple[bytes, bytes, bytes]:
    return screen.statistic.tobytes(), screen.dof.tobytes(), screen.reliable.tobytes()


def same(native: ScreenResult, plain: ScreenResult) -> None:
    assert native.reliable.tolist() == plain.reliable.tolist()
    ok = native.reliable
    np.testing.assert_allclose(native.statistic[ok], plain.statistic[ok], rtol=1e-9, atol=1e-8)
    np.testing.assert_array_equal(native.dof[ok], plain.dof[ok])
    finite = ok & np.isfinite(plain.log_p)
    np.testing.assert_allclose(native.log_p[finite], plain.log_p[finite], rtol=1e-7, atol=1e-6)  # log p ≈ √G² near 1
    assert np.isnan(native.statistic[~ok]).all()
    assert np.isnan(native.log_p[~ok]).all()


def mixed_table(seed: int, rows: int, columns: int) -> serape.Table:
    random = np.random.default_rng(seed)
    levels = random.choice(
        [1, 2, 2, 2, 3, 4, 8, 9, 12, 300], columns, p=[0.03, 0.3, 0.2, 0.1, 0.12, 0.1, 0.05, 0.05, 0.03, 0.02]
    )
    return random_table(random, rows, levels.tolist())


@pytest.mark.parametrize("name", ["g2", "x2"])
@given(seed=st.integers(0, 10**6), rows=st.sampled_from([2, 40, 511, 513, 2000]), size=st.integers(0, 3), rules=RULES)
@settings(max_examples=40, deadline=None)
def test_screen_against_plain(name: str, seed: int, rows: int, size: int, rules: dict[str, str]) -> None:
    table = mixed_table(seed, rows, 20)
    native, plain = TESTS[name](table, **rules), PlainContingency(table, name, **rules)  # type: ignore[arg-type]
    columns = np.random.default_rng(seed).permutation(20).tolist()
    target, given_set, candidates = columns[0], columns[1 : 1 + size], columns[1 + size :]
    same(native.screen(target, candidates, given_set), plain.screen(target, candidates, given_set))


@cache
def crowded_table(rows: int) -> serape.Table:
    levels = [2] * 700 + [3] * 30 + [4, 5, 6, 7, 8, 9, 20] + [2] * 40
    return random_table(np.random.default_rng(rows), rows, levels[500:] if rows > 10_000 else levels, 0.4)


@pytest.mark.parametrize("name", ["g2", "x2"])
@pytest.mark.parametrize("dof", ["full", "adjusted"])
@pytest.mark.parametrize("rows", [65, 1909, 66_000])
def test_every_way_gives_the_same_bits(name: str, dof: str, rows: int, instruction_set: str) -> None:
    del instruction_set
    table = crowded_table(rows)
    test = TESTS[name](table, dof=dof, reliability=None)  # type: ignore[arg-type]
    everything = np.arange(len(table.names), dtype=np.uint32)
    for given_set in ((), (3,), (3, len(everything) - 50), (1, 2, 3, 4, 5)):
        target = 7
        candidates = np.setdiff1d(everything, [target, *given_set]).astype(np.uint32)
        reference = bits(test.screen(target, candidates, given_set, way="sparse"))
        for way in WAYS:
            assert bits(test.screen(target, candidates, given_set, way=way)) == reference, way


@pytest.mark.parametrize("name", ["g2", "x2"])
def test_long_columns_are_counted_together(name: str) -> None:
    """Several blocks of rows, more planes than are counted at once, columns of several levels and a constant one."""
    table = random_table(np.random.default_rng(8), 300_007, [2, 3, 2, 2, 4, 2, 8, 3, 2, 2, 2, 1, 2, 5, 2])
    test = TESTS[name](table, dof="adjusted")
    for others in ((), (1,), (0, 4)):
        candidates = [k for k in range(15) if k not in (2, *others)]
        together = test.screen(2, candidates, others)
        for threads, way in ((3, "automatic"), (1, "planes"), (1, "scatter")):
            assert bits(test.screen(2, candidates, others, threads=threads, way=way)) == bits(together)


def test_panels_beside_columns_that_have_none() -> None:
    """Constant columns and columns of many levels before, between and after those that panels hold."""
    for levels in ([9, 1, *[2] * 600, 1, 20], [2] * 10 + [9] * 5, [2] * 512 + [1] * 3 + [2] * 5, [9, 9, 2, 2, 1]):
        table = random_table(np.random.default_rng(len(levels)), 300, levels)
        test = G2(table, reliability=None)
        target = levels.index(2)
        candidates = np.setdiff1d(np.arange(len(levels)), [target]).astype(np.uint32)
        assert bits(test.screen(target, candidates, way="panels")) == bits(
            test.screen(target, candidates, way="sparse")
        )


def test_candidates_named_twice() -> None:
    """Repeated and unordered candidates get the same answers as single ones, however many there are."""
    table = random_table(np.random.default_rng(11), 300, [2] * 700)
    test = G2(table)
    single = dict(zip(range(1, 700), test.screen(0, list(range(1, 700)), way="planes").statistic, strict=True))
    for candidates in ([1] * 5000, sorted([*range(1, 300), 7, 7]), [1, 1, 3], [5, 4, 3] * 300):
        for way in ("automatic", "panels"):
            found = test.screen(0, candidates, way=way).statistic
            assert found.tolist() == [single[x] for x in candidates]


def test_x2_is_symmetric_to_the_bit() -> None:
    table = mixed_table(12, 400, 20)
    test = X2(table, reliability=None)
    for x, y in ((0, 1), (3, 9), (4, 12), (17, 2)):
        screen = test.screen(y, [x], (5, 6))
        assert test.test(x, y, (5, 6)).statistic == test.test(y, x, (5, 6)).statistic
        if screen.reliable[0]:
            assert screen.statistic[0] == test.test(x, y, (5, 6)).statistic


def test_more_threads_than_anyone_has() -> None:
    table = random_table(np.random.default_rng(13), 100, [2] * 1000)
    assert len(G2(table).screen(0, list(range(1, 1000)), threads=10**9)) == 999


def test_few_rows_and_a_target_of_many_levels() -> None:
    """Rows so few that every way of counting looks cheap."""
    for rows in (2, 5, 31):
        table = random_table(np.random.default_rng(rows), rows, [12, *[2] * 20, 3])
        test = G2(table, reliability=None)
        candidates = np.arange(1, 22, dtype=np.uint32)
        assert bits(test.screen(0, candidates)) == bits(test.screen(0, candidates, way="sparse"))


def test_instruction_sets_agree() -> None:
    table = random_table(np.random.default_rng(0), 3000, [2] * 1100 + [3] * 300)
    test = G2(table, dof="adjusted")
    found = set()
    before = _core.instruction_set()
    for name in _core.instruction_sets():
        assert _core.use_instruction_set(name)
        found.add(bits(test.screen(0, np.arange(1, 1400, dtype=np.uint32), (5, 6))))
    _core.use_instruction_set(before)
    assert len(found) == 1
    assert not _core.use_instruction_set("abacus")


@pytest.mark.parametrize("name", ["g2", "x2"])
def test_threads_give_the_same_bits(name: str) -> None:
    table = random_table(np.random.default_rng(1), 2500, [2] * 3000 + [3] * 200 + [9, 12, 40])
    test = TESTS[name](table)
    candidates = np.arange(1, 3203, dtype=np.uint32)
    for given_set in ((), (0, 4)):
        wanted = candidates[~np.isin(candidates, (*given_set, 3100))]
        one, two, five = (bits(test.screen(3100, wanted, given_set, threads=n)) for n in (1, 2, 5))
        assert one == two == five
    xs, pool = list(range(10, 60)), list(range(60, 67))
    one_by_one, tally = test.search_subsets(SubsetQuery(xs, 3100, pool, range(4)))
    at_once, other_tally = test.search_subsets(SubsetQuery(xs, 3100, pool, range(4)), threads=3)
    assert list(one_by_one) == list(at_once)
    assert tally == other_tally


def test_order_of_candidates_does_not_matter() -> None:
    table = random_table(np.random.default_rng(2), 800, [2] * 1500)
    test = G2(table)
    forward = test.screen(0, np.arange(1, 1500, dtype=np.uint32), (1,))
    backward = test.screen(0, np.arange(1499, 0, -1).astype(np.uint32), (1,))
    assert forward.statistic[::-1].tobytes() == backward.statistic.tobytes()


@pytest.mark.parametrize("name", ["g2", "x2"])
@given(seed=st.integers(0, 10**6), rules=RULES, alpha=st.sampled_from([0.01, 0.2]))
@settings(max_examples=25, deadline=None)
def test_first_dependent_against_plain(name: str, seed: int, rules: dict[str, str], alpha: float) -> None:
    table = mixed_table(seed, 300, 15)
    native, plain = TESTS[name](table, **rules), PlainContingency(table, name, **rules)  # type: ignore[arg-type]
    order = np.random.default_rng(seed).permutation(15).tolist()
    found, expected = (t.first_dependent(order[0], order[3:], order[1:3], math.log(alpha)) for t in (native, plain))
    assert found.xs.tolist() == expected.xs.tolist()
    same(found, expected)


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
def test_subsets_against_a_twin_that_goes_through_all(
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


@pytest.mark.parametrize("given", [(), (1,), (1, 700)])
@pytest.mark.parametrize("threads", [1, 3])
def test_candidates_that_are_gathered(given: tuple[int, ...], threads: int) -> None:
    """They have a table of their own; who is not among them is counted as ever."""
    random = np.random.default_rng(5)
    codes = (random.random((300, 5000)) < random.uniform(0.02, 0.5, 5000)) * random.integers(1, 4, 5000)
    test = G2(serape.Table(codes, kinds="categorical"))
    among = np.flatnonzero(random.random(5000) < 0.5).astype(np.uint32)
    assert len(among) > _core.Groups.many
    screen = test.working_set(among)
    for candidates in (among[::2], among[among > 2000], among[:0], np.arange(2, 5000, 3, dtype=np.uint32), among[::-1]):
        found = screen(0, candidates, given, threads=threads, poll=None)
        expected = test.screen(0, candidates, given)
        assert found.statistic.tobytes() == expected.statistic.tobytes()
        assert found.dof.tobytes() == expected.dof.tobytes()
        assert found.reliable.tobytes() == expected.reliable.tobytes()
        assert found.given == expected.given


def test_a_pool_names_everyone_once() -> None:
    test = G2(mixed_table(0, 100, 5))
    with pytest.raises(ValueError, match="twice"):
        test.search_subsets(SubsetQuery([0], 1, [2, 3, 2], range(3)))
    with pytest.raises(ValueError, match="twice"):
        IndependenceTest.search_subsets(test, SubsetQuery([0], 1, [2, 3, 2], range(3)))


def test_hopeless_sizes_are_not_gone_through() -> None:
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


def test_strongest_ranks_as_log_p_does() -> None:
    table = mixed_table(5, 600, 40)
    for name, test in (("g2", G2(table, dof="adjusted")), ("x2", X2(table, reliability="cells"))):
        screen = test.screen(0, list(range(2, 40)), (1,))
        plain = ScreenResult(screen.xs, screen.given, screen.statistic, screen.dof, screen.reliable, screen.log_p)
        assert screen.strongest() == plain.strongest(), name


def test_exact_ties_are_all_told() -> None:
    column = np.random.default_rng(6).integers(2, size=200)
    other = np.where(np.random.default_rng(7).random(200) < 0.2, 1 - column, column)
    data = np.stack([column, other, 1 - other, other], axis=1)
    indices, _ = G2(serape.Table(data)).screen(0, [1, 2, 3]).strongest()
    assert indices == [0, 1, 2]


def test_nothing_to_ask() -> None:
    table = random_table(np.random.default_rng(8), 50, [2, 2, 2])
    assert len(G2(table).screen(0, [])) == 0
    assert G2(table).screen(0, []).strongest()[0] == []
    assert len(G2(table).first_dependent(0, [], (), -3.0)) == 0
    assert G2(table).search_subsets(SubsetQuery([], 0, [1], range(2)))[0].survivors == []


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


def test_sizes_in_which_only_x_itself_is_small_enough_are_not_gone_through() -> None:
    """A binary x in a pool of columns with three levels: no set of four others can be reliable."""
    columns = np.random.default_rng(12).integers(3, size=(400, 202))
    columns[:, :2] %= 2
    test = G2(serape.Table(columns, kinds="categorical"))
    _, tally = test.search_subsets(SubsetQuery([0], 1, [0, *range(2, 202)], range(4, 40)))
    assert tally.performed == 0
    assert tally.skipped_by_size[4] == math.comb(200, 4)
    assert tally.skipped_by_size[39] == 2**63


def test_skips_beyond_counting_are_not_lost() -> None:
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


# --- larger questions -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["g2", "x2"])
@given(
    seed=st.integers(0, 10**6),
    rows=st.sampled_from([60, 700, 3000]),
    rules=RULES,
    stop=st.sampled_from([math.log(0.05), math.log(0.3)]),
    max_size=st.sampled_from([None, 1, 3]),
)
@settings(max_examples=40, deadline=None)
def test_sweep_against_its_twin(
    name: str, seed: int, rows: int, rules: dict[str, str], stop: float, max_size: int | None
) -> None:
    test = TESTS[name](mixed_table(seed, rows, 9), **rules)  # type: ignore[arg-type]
    order = np.random.default_rng(seed).permutation(9).tolist()
    target, pool = order[0], order[1 : 2 + seed % 6]
    xs = [x for x in pool if x % 3] + order[7:8]  # some of the pool, and one that is not in it
    found, tally = test.test_each_given_rest(xs, target, pool, stop, max_size=max_size)
    expected, plain_tally = IndependenceTest.test_each_given_rest(test, xs, target, pool, stop, max_size=max_size)
    assert repr(list(found)) == repr(list(expected))
    assert tally == plain_tally


def test_a_sweep_leaves_out_who_was_put_apart() -> None:
    """A copy of a copy: given one, the other tells nothing; the first goes, so the second has to stay."""
    random = np.random.default_rng(5)
    x = random.integers(2, size=2000)
    table = serape.Table({"t": x ^ (random.random(2000) < 0.1), "a": x, "b": x ^ (random.random(2000) < 0.01)})
    for ask in (G2(table).test_each_given_rest, PlainContingency(table).test_each_given_rest):
        found, tally = ask([2, 1], 0, [1, 2], math.log(0.05))
        assert found.separated_variables == [2]
        assert found.survivors == [1]
        assert found[1].given == ()
        assert tally.tests_by_size == {0: 1, 1: 1}


@pytest.mark.parametrize("name", ["g2", "x2"])
@given(seed=st.integers(0, 10**6), rows=st.sampled_from([60, 700, 2000]), rules=RULES)
@settings(max_examples=30, deadline=None)
def test_screens_of_groups_against_their_twin(name: str, seed: int, rows: int, rules: dict[str, str]) -> None:
    test = TESTS[name](mixed_table(seed, rows, 320), **rules)  # type: ignore[arg-type]
    order = np.random.default_rng(seed).permutation(320).tolist()
    target, also = order[0], order[1]
    groups = CandidateGroups(
        [
            (np.sort(order[10:160]).astype(np.uint32), ()),  # worth a screen of its own
            (order[160:163], (order[2],)),
            (order[163:170], (order[2], order[3])),
            (order[170:180], (also, order[4])),  # left out
            ([], (order[5],)),
            (order[180:200], ()),
        ]
    )
    expected, plain_tally = IndependenceTest.screens(test, target, groups, also)
    for threads in (1, 3):
        found, tally = test.screens(target, groups, also, threads=threads)
        assert found.xs.tolist() == expected.xs.tolist()
        assert bits(found) == bits(expected)
        assert tally == plain_tally
    nobody, tally = test.screens(target, CandidateGroups([]), also)
    assert len(nobody) == 0
    assert tally.tests_by_size == tally.skipped_by_size == {}


@pytest.mark.parametrize("name", ["g2", "x2"])
@pytest.mark.parametrize("dof", ["full", "adjusted"])
def test_many_candidates_in_groups_are_kept_together(name: str, dof: str) -> None:
    test = TESTS[name](mixed_table(5, 400, 2500), dof=dof)  # type: ignore[arg-type]
    order = np.random.default_rng(5).permutation(2500).tolist()
    parts = [
        (order[10:1500], ()),
        (order[1500:1530], (order[2],)),
        (np.sort(order[1530:]).astype(np.uint32), order[3:4]),
    ]
    groups = CandidateGroups(parts)
    for also in order[4:8]:  # again and again
        expected, plain_tally = IndependenceTest.screens(test, order[0], groups, also)
        for threads in (1, 3):
            found, tally = test.screens(order[0], groups, also, threads=threads)
            assert found.xs.tolist() == expected.xs.tolist()
            assert bits(found) == bits(expected)
            assert tally == plain_tally


@given(seed=st.integers(0, 10**6), rows=st.sampled_from([60, 700]), rules=RULES)
@settings(max_examples=20, deadline=None)
def test_marginals_against_their_twin(seed: int, rows: int, rules: dict[str, str]) -> None:
    test = G2(mixed_table(seed, rows, 150), **rules)  # type: ignore[arg-type]
    targets = np.random.default_rng(seed).permutation(150)[: 2 + seed % 40].tolist()
    expected = IndependenceTest.marginals(test, targets)
    for threads in (1, 3):
        found = test.marginals(targets, threads=threads)
        assert list(found) == targets
        for target in targets:
            assert found[target].reliable.tolist() == expected[target].reliable.tolist()
            tested = found[target].reliable
            assert found[target].statistic[tested].tobytes() == expected[target].statistic[tested].tobytes()
            assert found[target].dof[tested].tobytes() == expected[target].dof[tested].tobytes()


@given(seed=st.integers(0, 10**6), rows=st.sampled_from([60, 700]), rules=RULES, stop=STOPS)
@settings(max_examples=40, deadline=None)
def test_what_stays_in_the_core_is_what_its_arrays_say(
    seed: int, rows: int, rules: dict[str, str], stop: float | None
) -> None:
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


@given(seed=st.integers(0, 10**6), rows=st.sampled_from([60, 700]), rules=RULES)
@settings(max_examples=40, deadline=None)
def test_a_fresh_screen_is_what_its_arrays_say(seed: int, rows: int, rules: dict[str, str]) -> None:
    test = G2(mixed_table(seed, rows, 40), **rules)  # type: ignore[arg-type]
    native = test.screen(0, range(2, 40), [1])
    plain = ScreenResult(native.xs, native.given, native.statistic, native.dof, native.reliable, native.log_p.copy())
    assert native.performed == plain.performed
    for a, b in zip(native.partition(math.log(0.1)), plain.partition(math.log(0.1)), strict=True):
        assert a.tolist() == b.tolist()
    assert native.strongest() == plain.strongest()
    assert [repr(test.screen(0, range(2, 40), [1]).outcome(k)) for k in range(38)] == [
        repr(plain.outcome(k)) for k in range(38)
    ]
    indices = np.flatnonzero(native.reliable)
    assert native.ranked(indices).tolist() == plain.ranked(indices).tolist()
    mixed = (np.random.default_rng(seed).permutation(38) + 2).astype(np.uint32)
    fresh = test.screen(0, mixed, [1])
    again = ScreenResult(fresh.xs, fresh.given, fresh.statistic, fresh.dof, fresh.reliable, fresh.log_p.copy())
    assert fresh.dependents(math.log(0.1)) == again.dependents(math.log(0.1))
    assert native.dependents(math.log(0.1)) == again.dependents(math.log(0.1))
    for one, other in ((fresh, again), (fresh.at(indices[::2]), again.at(indices[::2]))):
        found, apart = one.ranked_split(math.log(0.1))
        expected, parted = other.ranked_split(math.log(0.1))
        assert (found, apart.tolist()) == (expected, parted.tolist())
        assert one.performed == other.performed
        assert one.each() == other.each()


@given(numbers=st.lists(st.integers(0, 40), max_size=30), excluded=st.lists(st.integers(0, 45), max_size=6))
def test_lists_of_candidates(numbers: list[int], excluded: list[int]) -> None:
    columns = np.array(numbers, np.uint32)
    assert _core.without(columns, excluded).tolist() == [x for x in numbers if x not in excluded]
    ascending = np.unique(columns)
    assert _core.without(ascending, excluded, ascending=True).tolist() == np.setdiff1d(ascending, excluded).tolist()
    bits = _core.bits_of(columns)
    assert {k for k in range(8 * len(bits)) if bits[k >> 3] >> (k & 7) & 1} == set(numbers)


@given(pairs=st.lists(st.tuples(st.sampled_from([-3.0, -2.0, -1.0]), st.sampled_from([1.0, 2.0])), min_size=1))
def test_lowest(pairs: list[tuple[float, float]]) -> None:
    log_p, statistic = (np.array(column) for column in zip(*pairs, strict=True))
    best = min((p, -s) for p, s in pairs)
    assert _core.lowest(log_p, statistic) == [k for k, (p, s) in enumerate(pairs) if (p, -s) == best]


def test_several_threads_may_ask_for_threads() -> None:
    """The helping threads serve one call at a time; who finds them busy does without."""
    test = G2(mixed_table(7, 400, 3000))
    expected = bits(test.screen(0, range(2, 3000), [1]))
    found: list[tuple[bytes, bytes, bytes]] = []

    def ask() -> None:
        found.extend(bits(test.screen(0, range(2, 3000), [1], threads=3)) for _ in range(20))

    askers = [threading.Thread(target=ask) for _ in range(4)]
    for asker in askers:
        asker.start()
    for asker in askers:
        asker.join()
    assert found == [expected] * 80
