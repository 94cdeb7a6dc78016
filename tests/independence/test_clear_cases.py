"""Clear cases of many rows are decided on a fixed part of them; all others on all rows."""

from __future__ import annotations

import math
from itertools import chain, combinations
from typing import Any

import numpy as np
import pandas as pd
import pytest

import serape
from serape.data.memory import Memory
from serape.independence.residuals import CLEAR, PART_ROWS, Residuals
from serape.independence.subset_query import SubsetQuery
from serape.independence.subsets import Association, native_result
from serape.search import Search
from serape.search.discoveries import FalseDiscoveryRate

ROWS = 20_000
T, STRONG, WEAK, NOISE, CLASS, LEVELS = range(6)


def frame(rows: int = ROWS, seed: int = 0) -> pd.DataFrame:
    """Return t = strong + .05 weak + noise, a class that follows t, and a category of many levels."""
    random = np.random.default_rng(seed)
    strong, weak, noise, left = random.normal(size=(4, rows))
    t = strong + 0.05 * weak + left
    return pd.DataFrame(
        {
            "t": t,
            "strong": strong,
            "weak": weak,
            "noise": noise,
            "class": pd.Categorical(np.where(t + random.normal(size=rows) > 1, "high", "low")),
            "levels": pd.Categorical(random.integers(0, 60, rows).astype(str)),
        }
    )


@pytest.fixture(scope="module")
def table() -> serape.Table:
    return serape.Table(frame())


def test_the_part_is_the_same_for_any_order(table: serape.Table) -> None:
    """Neither the order of rows, columns and levels, nor the names of levels, nor the sign of a number changes it."""
    data = frame()
    order = np.random.default_rng(1).permutation(ROWS)
    other = data.iloc[order, ::-1].assign(strong=lambda d: -d["strong"])
    other["class"] = other["class"].cat.rename_categories({"high": "a", "low": "z"})
    part, turned = Residuals(table)._part, Residuals(serape.Table(other))._part
    assert part is not None
    assert turned is not None
    assert (part.rows, len(set(part.table.numbers(NOISE)))) == (PART_ROWS, PART_ROWS)
    assert sorted(part.table.numbers(NOISE)) == sorted(turned.table.numbers(list(other).index("noise")))
    one, same = part.test(T, STRONG, [LEVELS]), turned.test(5, 4, [0])
    assert one.log_p == pytest.approx(same.log_p, rel=1e-9)


def test_equal_rows_are_drawn_one_by_one() -> None:
    x = np.repeat([0.0, 1.0, 2.0], 10_000)
    part = Residuals(serape.Table({"x": x, "y": x[::-1] + 0.5}, kinds="continuous"))._part
    assert part is not None
    assert np.bincount(part.table.numbers(0).astype(int)) == pytest.approx([PART_ROWS / 3] * 3, rel=0.1)


def test_answers_of_the_part_are_those_of_its_rows(table: serape.Table) -> None:
    test = Residuals(table)
    found = test.clearly_dependent(T, [STRONG, WEAK, NOISE, CLASS], [LEVELS])
    assert found is not None
    assert test._part is not None
    assert found.xs.tolist() == [STRONG, CLASS]
    assert (found.log_p <= CLEAR).all()
    assert found.outcome(0).rows == PART_ROWS
    assert found.outcome(1).log_p == test._part.test(CLASS, T, [LEVELS]).log_p
    assert test.clearly_dependent(T, [STRONG], [], 2 * found.outcome(0).log_p) is None  # further than it reaches
    assert test.clearly_dependent(T, [WEAK, NOISE], [STRONG]) is None
    assert test.clearly_dependent(T, [], [STRONG]) is None


def test_few_weighted_or_grouped_rows_have_no_part() -> None:
    assert Residuals(serape.Table(frame(ROWS - 1)))._part is None
    for name, value in (("weights", object()), ("groups", np.arange(ROWS))):
        test = Residuals(serape.Table(frame()))
        setattr(test.table, name, value)
        assert test._part is None


def test_no_part_where_all_rows_can_follow_categories_better() -> None:
    """Joint cells of 60 × 60 levels divide 20,000 rows, but not 5,000."""
    data = frame()
    data["more"] = pd.Categorical(np.random.default_rng(2).integers(0, 60, ROWS).astype(str))
    test = Residuals(serape.Table(data))
    assert test.clearly_dependent(T, [STRONG], [LEVELS]) is not None
    assert test.clearly_dependent(T, [STRONG], [LEVELS, 6]) is None


def test_searches_take_what_is_clear(table: serape.Table) -> None:
    rate = FalseDiscoveryRate(0.05, log_alpha=math.log(0.05))
    search = Search(Residuals(table), fdr=rate, stepwise=True)
    assert search.strongest(T, [STRONG, WEAK, NOISE], ()) == STRONG
    assert search.tally.tests_by_size == {0: 1}  # the others count as not tested, and have no separating sets
    assert search.separating_set(NOISE, T) is None
    assert search.strongest(T, [WEAK, NOISE], [STRONG]) == WEAK  # which all rows show
    first, second = search.ask(STRONG, T, [WEAK]), search.ask(WEAK, T, [STRONG])
    assert first is not None
    assert second is not None
    assert (first.rows, second.rows) == (PART_ROWS, ROWS)


def test_blankets_have_what_all_rows_show(table: serape.Table) -> None:
    found = serape.markov_blanket(table, "t", n_jobs=1)
    assert set(found.blanket) == {"strong", "weak", "class"}


def test_the_part_is_made_once_where_the_memory_of_the_table_is_too_small() -> None:
    wide = serape.Table(frame())
    wide.memory = Memory(max_bytes=1)
    test = Residuals(wide)
    assert test._part is not None
    assert test._part is test._part


def test_all_rows_decide_on_request(table: serape.Table) -> None:
    search = Search(Residuals(table), decide_on_part=False)
    assert search.strongest(T, [STRONG, WEAK, NOISE], ()) == STRONG
    assert search.tally.tests_by_size == {0: 3}
    both = [serape.markov_blanket(table, "t", "iamb", n_jobs=1, decide_on_part=on) for on in (True, False)]
    assert set(both[0].blanket) == set(both[1].blanket)
    assert both[0].tests < both[1].tests


def searched_on_part(test: Residuals, query: SubsetQuery, clear: float) -> list[Association]:
    """Search test by test: a p up to `clear` in the part is no separation; the weakest test is one of all rows."""
    assert test._part is not None
    assert query.stop_above is not None
    found = []
    for x in map(int, query.xs):
        all_rows, shown = [], []
        for given in chain.from_iterable(combinations([z for z in query.pool if z != x], k) for k in query.sizes):
            one = test._part.test(x, query.target, sorted(given))
            counted = not {x, query.target, *given} & {T, STRONG, WEAK, NOISE}
            if (
                one.reliable
                and one.log_p <= clear
                and not counted
                and test._divides(given) == test._part._divides(given)
            ):
                shown.append((one, given))
                continue
            one = test.test(x, query.target, sorted(given))
            all_rows.append((one, given))
            if one.log_p > query.stop_above:
                break
        if not all_rows:
            given = max(shown, key=lambda each: each[0].log_p)[1]
            all_rows.append((test.test(x, query.target, sorted(given)), given))
        separated = all_rows[-1][0].log_p > query.stop_above
        weakest = all_rows[-1] if separated else max(all_rows, key=lambda each: each[0].log_p)
        found.append(Association(weakest[0], weakest[1], separated))
    return found


@pytest.mark.parametrize("target", [T, STRONG, CLASS])
def test_searches_through_sets_are_those_of_plain_loops(table: serape.Table, target: int) -> None:
    test = Residuals(table)
    pool = [x for x in range(6) if x != target]
    query = SubsetQuery(pool, target, pool, range(3), stop_above=math.log(0.01), clear=CLEAR)
    expected = searched_on_part(test, query, CLEAR)
    for threads in (1, 3):
        found, tally = test.search_subsets(query, threads=threads)
        for one, other in zip(found, expected, strict=True):
            assert (one.given, one.separated, one.outcome.rows) == (other.given, other.separated, ROWS)
            assert one.outcome.log_p == pytest.approx(other.outcome.log_p, rel=1e-9, abs=1e-12)
        every, its = test.search_subsets(query._replace(clear=None), threads=threads)
        assert every.separated.tolist() == found.separated.tolist()
        assert [a.given for a in every if a.separated] == [a.given for a in found if a.separated]
        assert tally == its  # a test that is asked twice counts once


def test_p_of_a_search_is_of_all_rows_and_may_separate_after_all(table: serape.Table) -> None:
    """Where the part answers all tests, the weakest of them is asked of all rows."""
    test = Residuals(table)
    assert test._part is not None
    test._hand_over(range(6))
    test._part._hand_over(range(6))
    query = SubsetQuery([NOISE, STRONG, WEAK], T, [CLASS, LEVELS], range(2), stop_above=math.log(0.01))
    clear = 0.0  # in the part all is dependence
    found, _ = native_result(test._native.search_subsets(query.native(), 1, None, test._part._native, clear), ROWS)
    assert found.separated.tolist() == [True, False, False]
    for one in found:
        x = int(found.xs[list(found).index(one)])
        shown = {given: test._part.test(x, T, given).log_p for given in [(), (CLASS,), (LEVELS,)]}
        assert one.given == max(shown, key=lambda given: shown[given])
        assert one.outcome.log_p == pytest.approx(test.test(x, T, one.given).log_p, rel=1e-9)


def test_searches_through_sets_ask_all_rows_on_request(table: serape.Table, monkeypatch: pytest.MonkeyPatch) -> None:
    """The level is a thousandth of alpha, or of what a rate asks of the only dependent pair; None: all rows answer."""
    asked = []
    plain = Residuals.search_subsets

    def noted(self: Residuals, query: SubsetQuery, **options: Any) -> Any:
        asked.append(query.clear)
        return plain(self, query, **options)

    monkeypatch.setattr(Residuals, "search_subsets", noted)
    rate = FalseDiscoveryRate(0.1, "adaptive", math.log(0.01))
    for search in (
        Search(Residuals(table), alpha=0.01),
        Search(Residuals(table), alpha=0.01, fdr=rate),
        Search(Residuals(table), decide_on_part=False),
        Search(Residuals(serape.Table(frame(500)))),
    ):
        search.separate([STRONG], T, [CLASS])
        search.weakest([STRONG], T, [CLASS])
        search.separate([STRONG], T, [CLASS], by_weakest=True)
    assert asked[:6] == [
        pytest.approx(math.log(1e-5)),
        None,
        None,
        pytest.approx(math.log(0.1 / 15 / 1000)),
        None,
        None,
    ]
    assert asked[6:] == [None] * 6


def test_causes_and_networks_are_those_of_all_rows(table: serape.Table) -> None:
    both = [serape.causes(table, "t", n_jobs=1, decide_on_part=on) for on in (True, False)]
    assert both[0].marks == both[1].marks
    assert set(both[0].graph.edges) == set(both[1].graph.edges)
    networks = [serape.network(table, "hiton-pc", n_jobs=1, decide_on_part=on) for on in (True, False)]
    assert set(networks[0].edges) == set(networks[1].edges)
    assert networks[0].tests == networks[1].tests
