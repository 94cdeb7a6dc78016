"""The kinds of columns: what is recognised in every source, what a caller can set, and what the notes say."""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import serape
from serape import Table
from serape.data.kinds import KINDS

ROWS = 60
RANDOM = np.random.default_rng(0)
NAMES = [f"person {k}" for k in RANDOM.permutation(ROWS)]
SIZES = ["small", "medium", "large"]
MOMENTS = [datetime(2019, 3, 1, 6) + timedelta(hours=7 * k) for k in range(ROWS)]
COLUMNS: dict[str, list[Any]] = {
    "row": list(range(101, 101 + ROWS)),
    "name": NAMES,
    "visits": [0, 2, *RANDOM.integers(0, 40, ROWS - 2).tolist()],
    "weight": (40 + RANDOM.permutation(ROWS) * 3 // 2).tolist(),
    "share": RANDOM.random(ROWS).round(3).tolist(),
    "height": RANDOM.normal(size=ROWS).tolist(),
    "when": MOMENTS,
    "smoker": [bool(v) for v in RANDOM.integers(0, 2, ROWS)],
    "stage": RANDOM.integers(1, 5, ROWS).tolist(),
    "size": [SIZES[k] for k in RANDOM.integers(0, 3, ROWS)],
    "town": [["Bern", "Rome"][k] for k in RANDOM.integers(0, 2, ROWS)],
}
EXPECTED = {
    "row": "identifier",
    "name": "identifier",
    "visits": "count",
    "weight": "continuous",
    "share": "proportion",
    "height": "continuous",
    "when": "date",
    "smoker": "boolean",
    "stage": "categorical",
    "size": "ordinal",
    "town": "categorical",
}


def days(moment: datetime) -> float:
    return (moment - datetime(1970, 1, 1)).total_seconds() / 86_400


def pandas_frame() -> pd.DataFrame:
    frame = pd.DataFrame(COLUMNS)
    frame["size"] = pd.Categorical(frame["size"], SIZES, ordered=True)
    return frame


def arrow_table() -> pa.Table:
    table = pa.table({name: values for name, values in COLUMNS.items() if name != "size"})
    codes = pa.array([SIZES.index(v) for v in COLUMNS["size"]], pa.int8())
    return table.append_column("size", pa.DictionaryArray.from_arrays(codes, pa.array(SIZES), ordered=True))


def parquet_file(folder: Path) -> Path:
    pq.write_table(arrow_table(), folder / "data.parquet")
    return folder / "data.parquet"


def csv_file(folder: Path) -> Path:
    pandas_frame().to_csv(folder / "data.csv", index=False)
    return folder / "data.csv"


SOURCES: dict[str, Callable[[Path], Any]] = {
    "pandas": lambda _: pandas_frame(),
    "pandas nullable": lambda _: pandas_frame().convert_dtypes(),
    "polars": lambda _: pl.DataFrame(COLUMNS, schema_overrides={"size": pl.Enum(SIZES)}),
    "pyarrow": lambda _: arrow_table(),
    "parquet": parquet_file,
    "csv": csv_file,
    "dict": lambda _: COLUMNS,
}


@pytest.mark.parametrize("source", SOURCES)
def test_every_source_gives_the_same_kinds(source: str, tmp_path: Path) -> None:
    table = Table(SOURCES[source](tmp_path))
    expected = dict(EXPECTED)
    if source in ("csv", "dict"):  # text has no order
        expected["size"] = "categorical"
    assert dict(table.kinds) == {name: expected[name] for name in table.names}
    assert all(table.variables[name].kind == kind for name, kind in table.kinds.items())
    assert table.column("when").tolist() == pytest.approx([days(v) for v in MOMENTS], abs=1e-9)
    assert table.column("name").tolist() == NAMES
    assert {table.names[k] for k in table.identifiers} == {"row", "name"}
    levels = ("large", "medium", "small") if source in ("csv", "dict") else tuple(SIZES)
    assert table.variables["size"].levels == levels
    assert table.column("size").tolist() == COLUMNS["size"]  # ordered categories stay categories
    back = table.to_pandas()
    assert back["name"].tolist() == NAMES
    assert back["size"].tolist() == COLUMNS["size"]
    notes = "\n".join(table.notes)
    assert "counts: 'visits'; proportions: 'share'; dates (in days since 1970-01-01): 'when'" in notes
    assert "identifiers, so not part of any search: 'row', 'name'" in notes
    assert "kinds={'row': 'continuous'}" in notes
    assert "used as categories: 'stage'; if their order matters, pass kinds={'stage': 'ordinal'}" in notes


def test_kinds_without_surprise_are_not_noted() -> None:
    assert Table({"a": [1, 2, 3] * 10, "b": ["u", "v", "w"] * 10}).notes == ()
    assert Table({"a": RANDOM.normal(size=30), "b": ["u", "v", "w"] * 10}).notes == ()
    counts = {"a": RANDOM.permutation(np.arange(60) % 30)}
    assert Table(counts).kinds["a"] == "count"
    assert Table(counts, kinds={"a": "count"}).notes == ()  # as asked


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (np.arange(50), "identifier"),
        (np.arange(50)[::-1] * 3 + 7, "identifier"),
        (RANDOM.permutation(50), "identifier"),
        (np.arange(50) * 1000, "continuous"),  # a sorted quantity
        (np.sort(RANDOM.choice(400, 50, replace=False)) + 5, "identifier"),
        (RANDOM.permutation(50) * 2 + 5, "continuous"),  # neither consecutive nor sorted
        (np.repeat(np.arange(25), 2), "count"),
        (np.arange(20), "categorical"),  # few
        (np.repeat([0, *range(60, 90)], 2), "continuous"),  # a lone 0
        (np.repeat(np.arange(-1, 30), 2), "continuous"),
        (np.arange(50, dtype=np.uint64) + np.uint64(2**63), "identifier"),
        (np.linspace(0, 1, 50), "proportion"),
        (np.linspace(0, 1.01, 50), "continuous"),
        (np.array([0.0, 1.0] * 25), "continuous"),
        (np.array([0.5] * 50), "continuous"),
        (np.arange(50.0), "continuous"),
        ([f"k{v}" for v in range(50)], "identifier"),
        ([f"k{v}" for v in range(49)] + ["k0"], "identifier"),  # nearly all
        ([f"k{v % 45}" for v in range(50)], "categorical"),
        ([f"k{v}" for v in range(20)], "categorical"),
        (["Yes", "no"] * 25, "boolean"),
        (["True", "False"] * 25, "boolean"),
        (["True", "False", "maybe"] * 25, "categorical"),
        (["2024-02-29", "2024-03-01"] * 25, "date"),
        (["2023-02-29", "2024-03-01"] * 25, "categorical"),  # there is no such day
        (["20240301", "2024-03-01"] * 25, "categorical"),
        (["2024", "2025"] * 25, "categorical"),
        ([date(2024, 1, 1), None, datetime(2024, 1, 2, 12)], "date"),
    ],
)
def test_rule(values: Any, kind: str) -> None:
    assert Table({"x": values}, missing="pairwise").kinds["x"] == kind


def test_ranks_are_no_identifiers() -> None:
    """One shuffled column of row numbers is an identifier; several are ranks."""
    ranks = np.stack([RANDOM.permutation(300) for _ in range(3)], axis=1)
    assert set(Table(ranks).kinds.values()) == {"continuous"}
    assert Table(ranks[:, :1]).kinds["x0"] == "identifier"
    numbered = np.column_stack([np.arange(300), ranks])
    assert list(Table(numbered).kinds.values()) == ["identifier", *["continuous"] * 3]


class TestDates:
    EXPECTED = (18262.0, 18263.5, math.nan)

    @pytest.mark.parametrize(
        "column",
        [
            pd.Series(pd.to_datetime(["2020-01-01 00:00", "2020-01-02 12:00", "NaT"])),
            pd.Series(pd.to_datetime(["2020-01-01 00:00", "2020-01-02 12:00", "NaT"]).tz_localize("UTC")),
            pd.Series(pd.to_datetime(["2020-01-01 01:00", "2020-01-02 13:00", "NaT"]).tz_localize("Europe/Berlin")),
            pl.Series(["2020-01-01 00:00", "2020-01-02 12:00", None]).str.to_datetime(),
            pa.chunked_array([pa.array([datetime(2020, 1, 1), datetime(2020, 1, 2, 12), None], pa.timestamp("ns"))]),
            np.array(["2020-01-01", "2020-01-02T12:00", "NaT"], "datetime64[m]"),
            [date(2020, 1, 1), datetime(2020, 1, 2, 12), None],
            [datetime(2020, 1, 1, tzinfo=UTC), datetime(2020, 1, 2, 10, tzinfo=timezone(timedelta(hours=-2))), None],
            ["2020-01-01", "2020-01-02T12:00:00.000", None],
            ["2020-01-01 00:00", "2020-01-02T14:00:00+02:00", None],
            ["2020-01-01T00:00Z", "2020-01-02 12:00:00", None],
        ],
        ids=str,
    )
    def test_days(self, column: Any) -> None:
        frame: Any = {"when": column}
        if isinstance(column, pd.Series):
            frame = pd.DataFrame(frame)
        elif isinstance(column, pl.Series):
            frame = pl.DataFrame(frame)
        elif isinstance(column, pa.ChunkedArray):
            frame = pa.table(frame)
        table = Table(frame, missing="pairwise")
        assert table.kinds["when"] == "date"
        np.testing.assert_array_equal(table.column("when"), self.EXPECTED)

    def test_days_without_times(self) -> None:
        for frame in (
            pl.DataFrame({"d": [date(1969, 12, 31), date(1970, 1, 2)]}),
            pa.table({"d": pa.array([date(1969, 12, 31), date(1970, 1, 2)], pa.date32())}),
            pa.table({"d": pa.array([date(1969, 12, 31), date(1970, 1, 2)], pa.date64())}),
        ):
            assert Table(frame).column("d").tolist() == [-1.0, 1.0]

    def test_as_categories(self) -> None:
        moments = [datetime(2020, 1, 1), datetime(2020, 1, 2)]
        for data in ({"d": moments}, pd.DataFrame({"d": moments}), {"d": np.array(moments, "datetime64[ns]")}):
            table = Table(data, kinds={"d": "categorical"})
            assert [str(level) for level in table.variables["d"].levels] == [
                "2020-01-01 00:00:00",
                "2020-01-02 00:00:00",
            ]
        assert Table({"d": ["2020-01-01", "2020-01-02"]}, kinds="categorical").variables["d"].levels[0] == "2020-01-01"


class TestAsked:
    @pytest.mark.parametrize("kind", KINDS)
    def test_every_kind_can_be_set(self, kind: str) -> None:
        values = ["2020-01-01", "2020-01-02"] * 15 if kind == "date" else [0, 1] * 15
        table = Table({"x": values, "y": ["u", "v"] * 15}, kinds={"x": kind})
        assert table.kinds["x"] == kind
        assert table.variables["x"].reason == "as asked" or kind == "date"
        assert (0 in table.continuous) == (kind not in ("categorical", "boolean"))

    @pytest.mark.parametrize(
        ("values", "kind", "message"),
        [
            (
                [1, -2, 3],
                "count",
                "'x' cannot be a count: it holds -2 in row 2, which is not a whole number, 0 or more",
            ),
            ([1.0, 2.5], "count", "cannot be a count: it holds 2.5 in row 2"),
            (
                [0.5, 1.5],
                "proportion",
                "cannot be a proportion: it holds 1.5 in row 2, which is not a number from 0 to 1",
            ),
            (["a", "b"], "count", "cannot be a count: it holds 'a' in row 1, which is not a number"),
            (
                ["a", "b"],
                "ordinal",
                "cannot be ordinal: it holds 'a' in row 1, which is not a number, and its order is not",
            ),
            (["a", "b", "c"], "boolean", "cannot be boolean: it has 3 levels; pass kinds={'x': 'categorical'}"),
            ([1, 2, 3], "boolean", "cannot be boolean: it has 3 levels"),
            ([20240301, 20240302], "date", "cannot be a date: it holds 20240301 in row 1, which is not a date such as"),
            (
                ["2024-03-01", "soon"],
                "date",
                "cannot be a date: it holds 'soon' in row 2, which is not a date such as 2024-05-17",
            ),
        ],
    )
    def test_wrong_uses(self, values: Any, kind: str, message: str, tmp_path: Path) -> None:
        path = tmp_path / "x.csv"
        path.write_text("\n".join(["x", *map(str, values)]) + "\n")
        with pytest.raises(serape.DataError) as refused:
            Table({"x": values}, kinds={"x": kind})
        assert message in str(refused.value)
        with pytest.raises(serape.DataError, match="column 'x' cannot be"):
            Table(path, kinds={"x": kind})

    def test_ordered_categories_become_numbers(self) -> None:
        frame = pandas_frame()
        table = Table(frame[["size", "height"]], kinds={"size": "ordinal"})
        assert table.numbers(0).tolist() == [SIZES.index(v) for v in COLUMNS["size"]]
        assert table.variables["size"].levels == tuple(SIZES)
        assert table.column("size").tolist() == COLUMNS["size"]
        back = table.to_pandas()["size"]
        assert back.cat.ordered
        assert back.cat.categories.tolist() == SIZES
        assert back.tolist() == COLUMNS["size"]
        frame.loc[3, "size"] = None
        gaps = Table(frame[["size", "height"]], kinds={"size": "ordinal"}, missing="pairwise")
        assert gaps.column("size").tolist() == [*COLUMNS["size"][:3], None, *COLUMNS["size"][4:]]
        assert gaps.part([0], np.array([0, 3])).column("size").tolist() == [COLUMNS["size"][0], None]

    def test_numbers_keep_their_values(self) -> None:
        for kind in ("ordinal", "count", "continuous"):
            assert Table({"x": [1, 3, 9] * 5}, kinds=kind).numbers(0).tolist() == [1.0, 3.0, 9.0] * 5

    @pytest.mark.parametrize("dtype", [np.int64, np.uint64, object])
    def test_numbers_that_rounding_makes_equal_are_refused(self, dtype: Any) -> None:
        """64 bits with a point have 53 for the digits."""
        rows = np.random.default_rng(0).permutation(np.repeat(np.arange(30), 3))
        frame = pd.DataFrame({"x": rows + 2**60, "y": rows}).astype(dtype)
        expected = f"column 'x' has different numbers such as {2**60} and {2**60 + 1}, which are the same once they are"
        for kinds in (None, {"x": "continuous"}):
            with pytest.raises(serape.DataError, match=expected):
                Table(frame, kinds=kinds)
        assert len(Table(frame, kinds="categorical").variables["x"].levels) == 30
        assert Table(frame, ignore=["x"], kinds={"x": "categorical"}).names == ("y",)
        assert Table(frame.assign(x=rows * 256 + 2**60)).kinds["x"] == "continuous"
        assert Table(frame.assign(x=-rows - 2**53 + 29)).kinds["x"] == "continuous"
        with pytest.raises(serape.DataError, match="column 'x' has different numbers"):
            Table(frame.assign(x=-rows - 2**53))
        assert Table({"x": np.arange(90) + 2**60, "y": rows}).kinds["x"] == "identifier"

    def test_identifiers_that_are_forced(self) -> None:
        data = {"id": range(40), "name": [f"n{k}" for k in range(40)], "x": [0, 1] * 20}
        assert Table(data, kinds={"id": "continuous", "name": "categorical"}).identifiers == frozenset()
        assert Table(data, kinds={"x": "identifier"}).kinds["x"] == "identifier"

    def test_an_ordinal_column_where_categories_are_needed(self) -> None:
        table = Table({"x": [1, 2, 3] * 9, "y": ["u", "v", "w"] * 9}, kinds={"x": "ordinal"})
        with pytest.raises(
            serape.DataError, match=r"'x' is continuous \(ordinal, as asked\).*kinds={'x': 'categorical'}"
        ):
            serape.ci_test(table, "x", "y", test="trend")
