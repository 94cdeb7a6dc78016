"""Missing values: refused, dropped, a level, or kept for tests that use complete rows."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import serape
from serape import Table
from serape.independence import G2
from tables import gappy

MISSING: dict[str, Callable[[], Any]] = {
    "pandas": lambda: pd.DataFrame({"a": ["x", None, "y", "x"], "b": [1, 2, 1, 2]}),
    "polars": lambda: pl.DataFrame({"a": ["x", None, "y", "x"], "b": [1, 2, 1, 2]}),
    "dict": lambda: {"a": ["x", None, "y", "x"], "b": [1, 2, 1, 2]},
    "list of dicts": lambda: [{"a": "x", "b": 1}, {"b": 2}, {"a": "y", "b": 1}, {"a": "x", "b": 2}],
}


class TestMissing:
    @pytest.mark.parametrize("source", MISSING)
    def test_refused_by_default(self, source: str) -> None:
        with pytest.raises(serape.DataError, match=r"missing in 'a' \(1, first in row 2\); pass missing='drop'"):
            Table(MISSING[source]())

    @pytest.mark.parametrize("source", MISSING)
    def test_dropped(self, source: str) -> None:
        table = Table(MISSING[source](), missing="drop")
        assert table.column("a").tolist() == ["x", "y", "x"]
        assert table.column("b").tolist() == [1, 1, 2]
        assert "1 of 4 rows dropped" in table.notes[0]

    @pytest.mark.parametrize("source", MISSING)
    def test_a_level(self, source: str) -> None:
        table = Table(MISSING[source](), missing="level")
        assert table.variables["a"].levels == ("x", "y", None)
        assert table.column("a").tolist() == ["x", None, "y", "x"]
        assert table.to_pandas()["a"].isna().tolist() == [False, True, False, False]
        assert "level of their own" in table.notes[0]

    @pytest.mark.parametrize(
        "column",
        [
            pd.array([1, None, 2, 2], dtype="Int64"),
            pd.array([True, None, False, True], dtype="boolean"),
            pd.array([1.5, None, 2.0, 2.0], dtype="Float64"),
            np.array([1.0, np.nan, 2.0, 2.0]),
            pd.to_datetime(["2020-01-01"] * 4).astype(object).where([True, False, True, True]),
        ],
    )
    def test_every_type(self, column: Any) -> None:
        frame = pd.DataFrame({"a": column, "b": [1, 2, 1, 2]})
        with pytest.raises(serape.DataError, match=r"missing in 'a' \(1, first in row 2\)"):
            Table(frame)
        assert Table(frame, missing="drop").rows == 3

    def test_level_of_a_continuous_column(self) -> None:
        with pytest.raises(
            serape.DataError, match="needs categorical columns, but values are missing in the continuous 'a'"
        ):
            Table({"a": [0.5, None], "b": [1, 2]}, missing="level")

    def test_nothing_left(self) -> None:
        with pytest.raises(serape.DataError, match="leaves 1 of 3"):
            Table({"a": [1, None, 1], "b": [None, 1, 1]}, missing="drop")

    @pytest.mark.parametrize("rule", ["error", "drop", "level"])
    def test_a_column_without_values(self, rule: Any) -> None:
        with pytest.raises(serape.DataError, match="'a' has no values at all"):
            Table({"a": [None, None], "b": [1, 2]}, missing=rule)

    def test_rules_by_column(self) -> None:
        data = {"a": [0.5, None, 1.5, 2.0], "b": ["x", "y", None, "x"], "c": [1, 2, 1, 2]}
        table = Table(data, missing={"a": "drop", "b": "level"})
        assert table.rows == 3
        assert table.variables["b"].levels == ("x", None)
        table = Table(data, missing={"*": "level", "a": "pairwise"})
        assert (table.rows, table.variables["b"].levels, list(table.missing)) == (4, ("x", "y", None), [0])
        with pytest.raises(serape.DataError, match=r"missing in 'b' \(1, first in row 3\); pass"):
            Table(data, missing={"a": "drop"})
        with pytest.raises(serape.DataError, match=r"missing=\{'\*': 'level', 'a': 'drop'\}"):
            Table(data, missing="level")
        with pytest.raises(serape.OptionError, match="missing names a column 'A' that the data do not have"):
            Table(data, missing={"A": "drop"})
        with pytest.raises(serape.OptionError, match="missing='never' is not known"):
            Table(data, missing={"a": "never"})  # type: ignore[dict-item]
        assert serape.markov_blanket(data, "c", missing={"*": "drop"}).notes

    def test_unknown_rule(self) -> None:
        with pytest.raises(serape.OptionError, match="missing='ignore' is not known"):
            Table({"a": [1, 2]}, missing="ignore")  # type: ignore[arg-type]

    def test_markers_in_csv(self, tmp_path: Path) -> None:
        path = tmp_path / "gaps.csv"
        path.write_text("a,b,c\nx,1,0.5\n?,2,NA\ny,,1.5\nx,1,2.5\n")
        with pytest.raises(serape.DataError, match=r"'a' \(1, first in row 2\), 'b' \(1, first in row 3\), 'c'"):
            Table(path)
        table = Table(path, missing="drop")
        assert table.rows == 2
        assert table.variables["b"].levels == (1,)


class TestTable:
    def test_gaps_are_kept_and_counted(self) -> None:
        table = Table(
            {"a": ["x", None, "y", None], "b": [0.5, 1.5, math.nan, 2.5], "c": [1, 2, 1, 2]}, missing="pairwise"
        )
        assert table.rows == 4
        assert {k: mask.tolist() for k, mask in table.missing.items()} == {
            0: [False, True, False, True],
            1: [False, False, True, False],
        }
        assert table.variables["a"].levels == ("x", "y")
        assert table.column("a").tolist() == ["x", None, "y", None]
        assert np.array_equal(table.column("b"), [0.5, 1.5, math.nan, 2.5], equal_nan=True)
        assert table.column("c").tolist() == [1, 2, 1, 2]
        assert "'a' (2, first in row 2), 'b' (1, first in row 3)" in table.notes[0]
        assert "1 of 4 rows are complete for all" in table.notes[0]
        back = table.to_pandas()
        assert back["a"].isna().tolist() == [False, True, False, True]
        assert back["b"].isna().tolist() == [False, False, True, False]

    @pytest.mark.parametrize(
        "data",
        [
            pd.DataFrame({"a": pd.array([1, None, 2, 2], dtype="Int64"), "b": [1, 2, 1, 2]}),
            pl.DataFrame({"a": [True, None, False, True], "b": [1, 2, 1, 2]}),
            np.ma.array(
                [[0, 1], [9, 2], [2, 0], [2, 0]], mask=[[False, False], [True, False], [False, False], [False, False]]
            ),
            np.array([[0.5, 1], [math.nan, 2], [2, 0], [2, 0]]),
            [{"a": "x", "b": 1}, {"b": 2}, {"a": "y", "b": 1}, {"a": "x", "b": 2}],
        ],
    )
    def test_every_source(self, data: Any) -> None:
        table = Table(data, missing="pairwise")
        assert list(table.missing) == [0]
        assert table.missing[0].tolist() == [False, True, False, False]

    def test_without_gaps_nothing_changes(self) -> None:
        for rule in ("error", "drop", "level", "pairwise"):
            table = Table({"a": [1, 2, 1], "b": [0.5, 1.5, 2.5]}, missing=rule)
            assert table.missing == {}
            assert table.notes == ()
        assert Table({"a": ["x", None, "y"], "b": [1, 2, 1]}, missing="level").missing == {}
        assert Table({"a": ["x", None, "y"], "b": [1, 2, 1]}, missing="drop").missing == {}

    def test_what_is_not_there_is_never_counted(self) -> None:
        table = Table({"a": ["x", None, "y", "x"], "b": [1, 2, 1, 2]}, missing="pairwise")
        with pytest.raises(serape.DataError, match=r"'a' \(1, first in row 2\); with missing='pairwise' only tests"):
            G2(table)

    def test_constant_but_for_gaps(self) -> None:
        table = Table(
            {"a": ["x", None, "x"], "b": [0.5, math.nan, 0.5], "c": [0.5, math.nan, 1.5], "d": [1, 2, 1]},
            missing="pairwise",
        )
        assert [table.is_constant(k) for k in range(4)] == [True, True, False, False]
        assert table.varying == [2, 3]

    def test_the_refusal_offers_it(self) -> None:
        with pytest.raises(serape.DataError, match=r"\(1 of 3\), missing='pairwise' to keep them"):
            Table({"a": ["x", None, "x"], "b": [1, 2, 3]})
        with pytest.raises(serape.DataError, match="no values at all"):
            Table({"a": [None, None], "b": [1, 2]}, missing="pairwise")

    def test_parts(self) -> None:
        random = np.random.default_rng(1)
        frame = gappy(random, 60, [2, 3, 9, 2], [0, 0.3, 0.2, 0.5])
        frame["r"] = random.normal(size=60)
        frame.loc[::7, "r"] = math.nan
        frame["wide"] = [f"w{k:03}" for k in range(60)]
        table = Table(frame, missing="pairwise")
        mask = random.random(60) < 0.5
        for rows in (mask, np.flatnonzero(mask), None):
            part = table.part([5, 2, 4, 1], rows)
            expected = frame.iloc[:, [5, 2, 4, 1]]
            expected = expected if rows is None else expected[mask]
            assert part.names == ("wide", "c2", "r", "c1")
            assert part.rows == len(expected)
            for k, name in enumerate(part.names):
                assert part.variables[name] == table.variables[name]
                gone = expected[name].isna().to_numpy()
                assert (k in part.missing) == bool(gone.any())
                assert (part.column(k)[~gone] == expected[name].to_numpy()[~gone]).all()
        part = table.part([1], np.flatnonzero(frame["c1"] == "l1"))
        assert part.levels(0) == 3
        assert part.is_constant(0)


def test_the_error_offers_only_rules_that_can_be_used() -> None:
    numbers = {f"x{k}": [1.5 + r if r != k else None for r in range(6)] for k in range(6)}
    with pytest.raises(serape.DataError) as error:  # every row has a gap, and all columns are continuous
        serape.Table(numbers)
    assert str(error.value).endswith(
        "; pass missing='pairwise' to keep them and let every test use the rows that are complete for its variables"
    )
    with pytest.raises(
        serape.DataError, match=r"pass missing='drop' .*\(1 of 6\) or missing='pairwise' to keep"
    ) as error:
        serape.Table({"x": numbers["x0"], "y": [1.5, 2.5, 3.5, 4.5, 5.5, 6.5]})
    assert "level" not in str(error.value)
    with pytest.raises(serape.DataError, match="needs categorical columns, .*; pass missing='pairwise', or give such"):
        serape.Table(numbers, missing="level")
