"""Weights and groups of rows when a table is made: checks, levels, notes, memory."""

from __future__ import annotations

import math
import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest

import serape
from serape import Table
from serape.data import rows as applied
from serape.data.weights import Weights

FRAME = pd.DataFrame(
    {"a": ["x", "y", "z", "x"], "b": [0.5, 1.5, 2.5, 3.5], "w": [2, 0, 1, 3], "g": ["p", "p", "q", "q"]}
)


def keep_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(applied, "MAX_BYTES", 0)


class TestFrequencies:
    def test_rows_are_repeated(self) -> None:
        table = Table(FRAME, sample_weight="w", groups="g")
        assert table.names == ("a", "b")
        assert table.column("a").tolist() == ["x", "x", "z", "x", "x", "x"]
        assert table.column("b").tolist() == [0.5, 0.5, 2.5, 3.5, 3.5, 3.5]
        assert table.column_levels(0) == ("x", "z")  # y has only a row of weight 0
        assert table.weights is None
        assert table.groups is not None
        assert table.groups.tolist() == [0, 0, 1, 1, 1, 1]
        assert table.notes[:3] == (
            "the rows are in 2 groups in 'g'",
            "1 of 4 rows left out: their weight is 0",
            "rows are repeated by their frequencies in 'w': 3 rows count as 6",
        )

    def test_a_table_of_repeated_rows_is_that_of_the_rows_written_out(self) -> None:
        table = Table(FRAME.drop(columns="g"), sample_weight="w")
        written = Table(FRAME.loc[np.repeat(range(4), FRAME["w"]), ["a", "b"]])
        assert table.provenance.fingerprint == written.provenance.fingerprint

    @pytest.mark.parametrize(
        "weights", [[2, 0, 1, 3], np.array([2.0, 0, 1, 3]), pd.Series([2, 0, 1, 3], [9, 8, 7, 6]), (2, 0, 1, 3.0)]
    )
    def test_of_any_type(self, weights: Any) -> None:
        table = Table(FRAME[["a", "b"]], sample_weight=weights)
        assert table.rows == 6
        assert table.provenance.made["sample_weight"] == "<array>"

    def test_of_a_wide_array(self) -> None:
        array = np.random.default_rng(0).integers(0, 3, (6, 40))
        table = Table(array, sample_weight=[1, 2, 0, 1, 1, 1])
        at = [0, 1, 1, 3, 4, 5]
        assert table.provenance.fingerprint == Table(array[at]).provenance.fingerprint
        named = Table(array, sample_weight="x1")
        assert "x1" not in named.names
        assert named.rows == array[:, 1].sum()

    def test_missing_values_in_rows_of_weight_0_do_not_matter(self) -> None:
        frame = FRAME.assign(b=[0.5, math.nan, 2.5, 3.5], a=pd.Series(["x", None, "z", "x"], dtype=object))
        assert Table(frame, sample_weight="w").rows == 6

    def test_rows_are_dropped_with_their_weights(self) -> None:
        frame = FRAME.assign(b=[math.nan, 1.5, 2.5, 3.5])
        table = Table(frame, sample_weight="w", groups="g", missing="drop")
        assert table.column("a").tolist() == ["z", "x", "x", "x"]
        assert table.groups is not None
        assert table.groups.tolist() == [0, 0, 0, 0]

    def test_gaps_are_repeated(self) -> None:
        frame = FRAME.assign(b=[math.nan, 1.5, 2.5, 3.5])
        table = Table(frame, sample_weight="w", missing="pairwise")
        assert table.missing[1].tolist() == [True, True, False, False, False, False]

    def test_large_ones_are_kept(self, monkeypatch: pytest.MonkeyPatch) -> None:
        keep_weights(monkeypatch)
        table = Table(FRAME, sample_weight="w")
        assert table.rows == 3
        assert table.weights is not None
        assert table.weights.values.tolist() == [2, 1, 3]
        assert table.weights.rows == table.weights.effective == 6
        assert table.part([0], np.array([0, 2])).weights.values.tolist() == [2, 3]  # type: ignore[union-attr]
        again = pickle.loads(pickle.dumps(table))
        assert again.weights.values.tolist() == [2, 1, 3]
        assert again.provenance.fingerprint == table.provenance.fingerprint
        other = Table(FRAME.assign(w=[2, 0, 1, 4]), sample_weight="w")
        assert other.provenance.fingerprint != table.provenance.fingerprint

    def test_a_hundred_million_rows(self) -> None:
        table = Table({"a": [0, 0, 1, 1], "b": [0, 1, 0, 1]}, sample_weight=[10**8, 1, 1, 10**8])
        assert table.rows == 4
        found = serape.ci_test(table, "a", "b")
        assert found.rows == 2 * 10**8 + 2
        assert found.statistic == pytest.approx(4 * 10**8 * math.log(2), rel=1e-6)


class TestSurveyWeights:
    def test_effective_rows(self) -> None:
        table = Table(FRAME, sample_weight="w", weight_kind="survey")
        assert table.rows == 3
        assert table.weights is not None
        assert table.weights.effective == pytest.approx(36 / 14)
        assert table.weights.scaled.sum() == pytest.approx(36 / 14)
        assert "rows have survey weights in 'w': 3 rows count as 2.6 (the effective number of rows)" in table.notes

    @pytest.mark.parametrize("factor", [1e-300, 0.1, 1 / 3, 1e300])
    def test_equal_ones_count_as_rows(self, factor: float) -> None:
        weights = Weights(np.full(1000, factor), "survey")
        assert weights.rows == 1000
        assert weights.effective == pytest.approx(1000)

    def test_the_packed_columns_do_not_hold_them(self) -> None:
        table = Table(FRAME, sample_weight="w", weight_kind="survey")
        with pytest.raises(serape.DataError, match="survey weights cannot be used here"):
            _ = table.packed

    def test_classes_of_equal_weight(self) -> None:
        values, weights = np.arange(10.0), np.array([5, *np.ones(9)])
        cut = serape.discretise(Table({"v": values}, sample_weight=weights, weight_kind="survey"), bins=2)
        assert cut.cuts["v"].tolist() == [2.0]
        assert cut.table.weights is not None
        with pytest.raises(serape.DataError, match="method='mdl' takes no weights"):
            serape.discretise(
                Table({"v": values, "t": ["a", "b"] * 5}, sample_weight=weights, weight_kind="survey"),
                "mdl",
                target="t",
            )


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ({"sample_weight": "v"}, "there is no column 'v' for sample_weight"),
        ({"sample_weight": "a"}, "the weight of row 1 is 'x', which is not a number"),
        ({"sample_weight": 2.0}, "must be the name of a column or one weight per row, not 2.0"),
        ({"sample_weight": [1, 2, 3]}, "sample_weight has 3 values, but the data have 4 rows"),
        ({"sample_weight": [[1], [2], [3], [4]]}, "sample_weight is an array of 2 dimensions"),
        ({"sample_weight": [1, 2, -3, 1]}, "the weight of row 3 is -3; weights are finite numbers, 0 or more"),
        ({"sample_weight": [1, math.nan, 1, 1]}, "the weight of row 2 is nan; weights are finite"),
        ({"sample_weight": [1, 1, math.inf, 1]}, "the weight of row 3 is inf; weights are finite"),
        ({"sample_weight": [True, False, True, True]}, "sample_weight holds truth values"),
        ({"sample_weight": [0, 0, 0, 0]}, "all weights are zero"),
        ({"sample_weight": [0, 0, 0, 1]}, "add up to one row"),
        ({"sample_weight": [0, 0, 0, 1], "weight_kind": "survey"}, "only one row has a positive weight"),
        ({"sample_weight": [1, 0.5, 1, 1]}, "the weight of row 2 is 0.5; a frequency is a whole number; .*'survey'"),
        ({"sample_weight": [1e10, 1, 1, 1]}, "add up to 10,000,000,003 rows, more than"),
        ({"sample_weight": [None, "b", 1, 1]}, "the weight of row 1 is None, which is not a number"),
        ({"sample_weight": "w", "weight_kind": "often"}, "weight_kind='often' is not known"),
        ({"weight_kind": "survey"}, "weight_kind='survey' needs weights"),
        ({"groups": "h"}, "there is no column 'h' for groups"),
        ({"groups": [1, 2]}, "groups has 2 values, but the data have 4 rows"),
        ({"groups": ["a", None, "b", "b"]}, "row 2 has no group"),
        ({"groups": ["a"] * 4}, "all rows are in one group"),
        ({"groups": "a", "sample_weight": "b", "ignore": ["w", "g"]}, "all columns are ignored"),
    ],
)
def test_what_is_no_weight_or_group_gets_one_sentence(settings: dict[str, Any], complaint: str) -> None:
    with pytest.raises(serape.SerapeError, match=complaint) as told:
        Table(FRAME, **settings)
    assert "\n" not in str(told.value)


@pytest.mark.parametrize("name", ["sample_weight", "groups"])
def test_rows_in_another_order_are_refused(name: str) -> None:
    """A series of pandas has an index; its rows are taken by position."""
    given = pd.Series([1, 2, 3, 4])

    def made(frame: pd.DataFrame, values: Any) -> tuple[Any, ...]:
        settings: dict[str, Any] = {name: values}
        table = Table(frame, **settings)
        return table.to_pandas().to_dict(), None if table.groups is None else table.groups.tolist()

    with pytest.raises(
        serape.DataError, match=rf"the index of {name} has the rows of the data in another order; pass {name}.reindex"
    ):
        made(FRAME, given[::-1])
    same = made(FRAME, given)
    assert made(FRAME, given[::-1].reindex(FRAME.index)) == same
    assert made(FRAME, given.set_axis(list("wxyz"))) == same
    assert made(FRAME.set_axis([0, 0, 1, 1]), given) == same


def test_a_missing_weight_gets_one_sentence() -> None:
    with pytest.raises(serape.DataError, match="column 'w', named by sample_weight, has no value in row 2"):
        Table(FRAME.assign(w=[1, math.nan, 1, 1]), sample_weight="w")


def test_a_column_of_weights_is_no_variable() -> None:
    table = Table(FRAME, sample_weight="w", ignore=["w", "g"])  # ignored and used is no contradiction
    with pytest.raises(serape.OptionError, match="'w' holds the weights, so it is no variable"):
        table.position("w")


def test_settings_about_rows_are_refused_for_a_table_and_for_a_test() -> None:
    table = Table(FRAME[["a", "b"]])
    weights = np.ones(4)
    with pytest.raises(serape.OptionError, match="a Table already, so sample_weight="):
        serape.markov_blanket(table, "a", sample_weight=weights)
    oracle = serape.DSeparation(serape.load_network("asia").graph)
    with pytest.raises(serape.OptionError, match="an independence test already .*, so groups="):
        serape.markov_blanket(oracle, "lung", groups=weights)


def test_rows_are_named_as_in_the_data() -> None:
    """A row keeps its number, counted from 1, where rows of weight 0 are left out before it."""
    data = {"a": [0, 1, 1, 0, 1], "b": ["x", "y", "x", None, "y"], "w": [0, 0, 1, 1, 2]}
    with pytest.raises(serape.DataError, match=r"values are missing in 'b' \(1, first in row 4\)"):
        serape.Table(data, sample_weight="w")
    table = serape.Table({**data, "a": [0, 1, 1, 0, 0]}, sample_weight="w", missing="pairwise")
    assert any("'b' (1, first in row 4)" in note for note in table.notes)
