"""Rows drawn again: the same table as those rows make."""

from __future__ import annotations

import numpy as np
import pytest

from serape import Table
from serape.data import resampling
from serape.data.resampling import Resampler
from serape.questions.draws import rows_of_draw
from tables import assorted


def check_same(drawn: Table, part: Table) -> None:
    """The two tables hold the same."""
    assert (drawn.names, drawn.rows) == (part.names, part.rows)
    assert dict(drawn.variables) == dict(part.variables)
    for k, name in enumerate(part.names):
        np.testing.assert_array_equal(drawn.column(name), part.column(name))
        assert drawn.is_constant(k) == part.is_constant(k), name
    assert drawn.missing.keys() == part.missing.keys()
    for k, mask in part.missing.items():
        np.testing.assert_array_equal(drawn.missing[k], mask)
    assert drawn.duplicates == part.duplicates
    assert drawn.varying == part.varying


@pytest.mark.parametrize("missing", ["drop", "level", "pairwise"])
@pytest.mark.parametrize("large", [False, True])
def test_drawn_rows_are_those_rows(missing: str, large: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if large:
        monkeypatch.setattr(resampling, "MAX_VALUES", 0)
    table = assorted(missing)
    everything = range(len(table.names))
    resampler = Resampler(table)
    for rows in (
        np.sort(np.random.default_rng(1).integers(0, table.rows, table.rows)),
        np.arange(7),
        np.flatnonzero(table.codes(0) == 1),  # in which a column is constant
        np.array([3, 3, 3]),
    ):
        check_same(resampler.draw(rows.astype(np.int64)), table.part(everything, rows))
    assert table.rows == assorted(missing).rows  # the table itself is as before
    assert not table.is_constant(0)


def test_a_wide_array_is_drawn_block_by_block() -> None:
    array = np.random.default_rng(0).integers(0, 3, (50, 5000)).astype(np.uint8)
    array[:, 17] = array[:, 4000]
    table = Table(array)
    rows = np.arange(0, 50, 2)
    drawn = Resampler(table).draw(rows)
    assert drawn.duplicates == {17: (17, 4000), 4000: (17, 4000)}
    for k in (0, 2047, 2048, 4999):
        np.testing.assert_array_equal(drawn.column(k), array[rows, k])


@pytest.mark.parametrize("rows", [10, 11])
def test_halves_come_in_pairs_without_a_common_row(rows: int) -> None:
    seen = set()
    for draw in range(0, 20, 2):
        first, second = (rows_of_draw(rows, k, "half", 5) for k in (draw, draw + 1))
        assert len(first) == len(second) == len({*first.tolist(), *second.tolist()}) / 2 == rows // 2
        seen.add(tuple(first.tolist()))
    assert len(seen) > 5
    again = rows_of_draw(rows, 0, "bootstrap", 5)
    assert len(again) == rows > len(set(again.tolist()))
