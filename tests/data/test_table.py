"""Tables: what is refused, sizes."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse

import serape
from serape import Table


class TestRefusals:
    """One clear sentence each."""

    @pytest.mark.parametrize(
        ("data", "sentence"),
        [
            ({}, "no columns"),
            ({"a": []}, "no rows"),
            ({"a": [1]}, "one row"),
            ([], "no rows"),
            (pd.DataFrame(), "no columns"),
            (np.zeros((0, 3), int), "no rows"),
            (np.zeros((3, 0), int), "no columns"),
            (np.zeros((1, 3), int), "one row"),
            (scipy.sparse.csr_matrix((5, 0)), "no columns"),
            ({"a": [1, 2], "b": [1]}, "column 'b' has 1 values but column 'a' has 2"),
            ({"a": [[1], [2]]}, "column 'a' holds a list"),
            ({"a": [(1, [2]), (1, [3])]}, "column 'a' holds a tuple"),
            ({"a": "hello", "b": "world"}, "column 'a' is 'hello'; a column is a list"),
            ({"a": 5}, "column 'a' is 5"),
            ({"a": np.zeros((2, 2))}, "array of 2 dimensions"),
            ({"a": [0.5, float("inf")]}, "column 'a' has an infinite value .inf. in row 2"),
            ({"a": [1, 2], "": [1, 2]}, "position 1 has no name"),
            (pd.DataFrame([[1, 2], [3, 4]], columns=["a", "a"]), "'a' occurs more than once"),
            (pd.DataFrame([[1, 2], [3, 4]], columns=[1, "1"]), "'1' occurs more than once"),
            (pl.DataFrame({"d": [[1], [2]]}), "column 'd' is of type List"),
            (pa.table({"d": [[1], [2]]}), "column 'd' is of type list"),
            ({"a": np.array([1j, 2j])}, "column 'a' is of type complex"),
            ({"a": [2**70, 1]}, "beyond 64 bits"),
        ],
    )
    def test_data(self, data: Any, sentence: str) -> None:
        with pytest.raises(serape.DataError, match=sentence) as refusal:
            Table(data)
        assert "\n" not in str(refusal.value)

    @pytest.mark.parametrize("data", [None, 3, object(), [1, 2], [[1, 2], [3, 4]], pd.Series([1, 2]), pl.Series([1])])
    def test_types(self, data: Any) -> None:
        with pytest.raises(serape.InputTypeError):
            Table(data)

    def test_too_many_levels(self) -> None:
        with pytest.raises(serape.DataError, match="'a' has 70,000 levels, more than the 65,536"):
            Table({"a": [str(k) for k in range(70_000)]}, kinds="categorical")
        table = Table({"a": [str(k) for k in range(65_536)]}, kinds="categorical")
        assert len(table.variables["a"].levels) == 65_536

    def test_identifiers_are_noted(self) -> None:
        table = Table({"id": [str(k) for k in range(100)], "x": [0, 1] * 50})
        assert any("'id'" in note and "identifier" in note for note in table.notes)

    def test_declared_levels_do_not_hide_a_constant(self) -> None:
        frame = pd.DataFrame({"a": pd.Categorical(["u"] * 9, categories=["u", "v"]), "b": [0, 1, 0] * 3})
        assert Table(frame).notes == ("constant, so never part of a blanket: 'a'",)
        with pytest.raises(serape.DataError, match="'a' is constant"):
            serape.markov_blanket(frame, "a")

    def test_numbers_as_names_are_not_taken_for_positions(self) -> None:
        frame = pd.DataFrame([[0, 1, 0], [1, 0, 1], [0, 0, 1]], columns=[2, 1, 0])
        with pytest.raises(serape.OptionError, match="could be the column called '0' or the one at position 0"):
            serape.markov_blanket(frame, 0)
        assert serape.markov_blanket(frame, "0").target == "0"
        assert serape.markov_blanket(frame, 1).target == "1"
        assert Table(frame, kinds={0: "categorical"}).variables["0"].reason == "as asked"  # type: ignore[dict-item]

    def test_columns_can_be_left_out(self) -> None:
        for data in (np.eye(4, dtype=int), {f"x{k}": [0, 1] for k in range(4)}):
            table = Table(data, ignore=["x1", "x3"])
            assert table.names == ("x0", "x2")
            assert table.notes[0] == "ignored, as asked: 'x1', 'x3'"
            assert table.column("x2").tolist() == Table(data).column("x2").tolist()
        with pytest.raises(serape.OptionError, match="no column 'x9' to ignore"):
            Table(np.eye(4), ignore=["x9"])

    @pytest.mark.parametrize("kinds", [["categorical"], 3])
    def test_kinds_of_another_type(self, kinds: Any) -> None:
        with pytest.raises(serape.OptionError, match="kinds must be"):
            Table({"a": [1, 2]}, kinds=kinds)

    def test_constant_columns_are_noted(self) -> None:
        table = Table({"a": [1, 1], "b": [0.5, 0.5], "c": [1, 2]})
        assert table.notes == ("constant, so never part of a blanket: 'a', 'b'",)


def test_a_table_costs_nothing_the_second_time() -> None:
    """The packed columns, and what is derived from them, are shared by all calls; so are counts, within a bound."""
    table = Table(np.random.default_rng(4).integers(2, size=(300, 2000)))
    serape.markov_blanket(table, 0)
    held = table.nbytes
    packed = table.packed
    serape.markov_blanket(table, 0)
    assert table.packed is packed
    assert table.nbytes == held
    serape.markov_blanket(table, 1)
    assert table.nbytes < held + 2**16


def test_wide_tables_are_small() -> None:
    """A bit a cell, and as much again for the second layout."""
    table = Table((np.random.default_rng(5).random((1909, 5000)) < 0.1).astype(np.uint8))
    assert table.nbytes < 5000 * 1909 / 8 * 1.2
    serape.markov_blanket(table, 0, "iamb", max_conditioning=0)
    assert table.nbytes < 5000 * 1909 / 8 * 2.3


def test_codes_are_checked() -> None:
    packed = serape._core.PackedTable(3)
    with pytest.raises(ValueError, match="code 2 in row 1 of a column of 2 levels"):
        packed.append(np.array([0, 2, 1], np.uint8), 2)
    with pytest.raises(ValueError, match="as many codes"):
        packed.append(np.array([0], np.uint8), 2)
    with pytest.raises(ValueError, match="outside the table"):
        packed.append_ones(np.array([3]))
    with pytest.raises(ValueError, match="above 1"):
        packed.append_block(np.full((3, 2), 2, np.uint8), np.array([2, 2], np.uint32))
    with pytest.raises(ValueError, match="rows"):
        serape._core.PackedTable(0)
