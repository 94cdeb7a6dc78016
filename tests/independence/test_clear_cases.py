"""Clear cases of many rows are decided on a fixed part of them; all others on all rows."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

import serape
from serape.data.memory import Memory
from serape.independence.residuals import CLEAR, PART_ROWS, Residuals
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
    both = [serape.markov_blanket(table, "t", n_jobs=1, decide_on_part=on) for on in (True, False)]
    assert set(both[0].blanket) == set(both[1].blanket)
    assert both[0].tests < both[1].tests
