"""Screens of contingency tables: against plain twins, and the same bits for every way to count."""

import math
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import serape
from plain import PlainContingency, random_table
from plain_batches import RULES, TESTS, bits, mixed_table, same
from serape import _core
from serape.independence import G2, X2
from serape.independence.screens import ScreenResult
from serape.independence.subset_query import SubsetQuery

STRATEGIES = ("automatic", "panels", "planes", "scatter", "sparse", "ones")


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
        reference = bits(test.screen(target, candidates, given_set, strategy="sparse"))
        for strategy in STRATEGIES:
            assert bits(test.screen(target, candidates, given_set, strategy=strategy)) == reference, strategy


@pytest.mark.parametrize("name", ["g2", "x2"])
def test_long_columns_are_counted_together(name: str) -> None:
    """Several blocks of rows, more planes than are counted at once, columns of several levels and a constant one."""
    table = random_table(np.random.default_rng(8), 300_007, [2, 3, 2, 2, 4, 2, 8, 3, 2, 2, 2, 1, 2, 5, 2])
    test = TESTS[name](table, dof="adjusted")
    for others in ((), (1,), (0, 4)):
        candidates = [k for k in range(15) if k not in (2, *others)]
        together = test.screen(2, candidates, others)
        for threads, strategy in ((3, "automatic"), (1, "planes"), (1, "scatter")):
            assert bits(test.screen(2, candidates, others, threads=threads, strategy=strategy)) == bits(together)


def test_panels_beside_columns_that_have_none() -> None:
    """Constant columns and columns of many levels before, between and after those that panels hold."""
    for levels in ([9, 1, *[2] * 600, 1, 20], [2] * 10 + [9] * 5, [2] * 512 + [1] * 3 + [2] * 5, [9, 9, 2, 2, 1]):
        table = random_table(np.random.default_rng(len(levels)), 300, levels)
        test = G2(table, reliability=None)
        target = levels.index(2)
        candidates = np.setdiff1d(np.arange(len(levels)), [target]).astype(np.uint32)
        assert bits(test.screen(target, candidates, strategy="panels")) == bits(
            test.screen(target, candidates, strategy="sparse")
        )


def test_candidates_named_twice() -> None:
    """Repeated and unordered candidates get the same answers as single ones, however many there are."""
    table = random_table(np.random.default_rng(11), 300, [2] * 700)
    test = G2(table)
    single = dict(zip(range(1, 700), test.screen(0, list(range(1, 700)), strategy="planes").statistic, strict=True))
    for candidates in ([1] * 5000, sorted([*range(1, 300), 7, 7]), [1, 1, 3], [5, 4, 3] * 300):
        for strategy in ("automatic", "panels"):
            found = test.screen(0, candidates, strategy=strategy).statistic
            assert found.tolist() == [single[x] for x in candidates]


def test_x2_is_symmetric_to_the_bit() -> None:
    table = mixed_table(12, 400, 20)
    test = X2(table, reliability=None)
    for x, y in ((0, 1), (3, 9), (4, 12), (17, 2)):
        screen = test.screen(y, [x], (5, 6))
        assert test.test(x, y, (5, 6)).statistic == test.test(y, x, (5, 6)).statistic
        if screen.reliable[0]:
            assert screen.statistic[0] == test.test(x, y, (5, 6)).statistic


def test_more_threads_than_cores() -> None:
    table = random_table(np.random.default_rng(13), 100, [2] * 1000)
    assert len(G2(table).screen(0, list(range(1, 1000)), threads=10**9)) == 999


def test_few_rows_and_a_target_of_many_levels() -> None:
    """Rows so few that every way of counting looks cheap."""
    for rows in (2, 5, 31):
        table = random_table(np.random.default_rng(rows), rows, [12, *[2] * 20, 3])
        test = G2(table, reliability=None)
        candidates = np.arange(1, 22, dtype=np.uint32)
        assert bits(test.screen(0, candidates)) == bits(test.screen(0, candidates, strategy="sparse"))


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


@pytest.mark.parametrize("given", [(), (1,), (1, 700)])
@pytest.mark.parametrize("threads", [1, 3])
def test_candidates_that_are_gathered(given: tuple[int, ...], threads: int) -> None:
    """They have a table of their own; who is not among them is counted as ever."""
    random = np.random.default_rng(5)
    codes = (random.random((300, 5000)) < random.uniform(0.02, 0.5, 5000)) * random.integers(1, 4, 5000)
    test = G2(serape.Table(codes, kinds="categorical"))
    among = np.flatnonzero(random.random(5000) < 0.5).astype(np.uint32)
    assert len(among) > _core.CandidateGroups.many
    screen = test.working_set(among)
    for candidates in (among[::2], among[among > 2000], among[:0], np.arange(2, 5000, 3, dtype=np.uint32), among[::-1]):
        found = screen(0, candidates, given, threads=threads, poll=None)
        expected = test.screen(0, candidates, given)
        assert found.statistic.tobytes() == expected.statistic.tobytes()
        assert found.dof.tobytes() == expected.dof.tobytes()
        assert found.reliable.tobytes() == expected.reliable.tobytes()
        assert found.given == expected.given


def test_strongest_ranks_as_log_p_does() -> None:
    table = mixed_table(5, 600, 40)
    for name, test in (("g2", G2(table, dof="adjusted")), ("x2", X2(table, reliability="cells"))):
        screen = test.screen(0, list(range(2, 40)), (1,))
        plain = ScreenResult(screen.xs, screen.given, screen.statistic, screen.dof, screen.reliable, screen.log_p)
        assert screen.strongest() == plain.strongest(), name


def test_exact_ties_are_all_reported() -> None:
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
