"""Every source of data gives the same table: frames, arrays, sparse matrices, files; kinds of columns."""

import gzip
import lzma
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

import serape
from serape import Table
from serape.data.reading import frames
from serape.data.reading.frames import read_series

COLUMNS: dict[str, list[Any]] = {
    "text": ["b", "a", "c", "a", "b", "c"],
    "truth": [True, False, True, True, False, False],
    "whole": [3, 1, 1, 7, 3, 1],
    "real": [0.5, 1.5, 2.5, 3.5, -1.0, 0.0],
}


def csv_file(folder: Path, opener: Callable[..., Any] = open, suffix: str = ".csv", separator: str = ",") -> Path:
    path = folder / f"data{suffix}"
    rows = [COLUMNS.keys(), *zip(*COLUMNS.values(), strict=True)]
    with opener(path, "wt", encoding="utf-8") as file:
        file.write("\n".join(separator.join(str(v) for v in row) for row in rows) + "\n")
    return path


class Stream:
    """Something that exports an Arrow stream and nothing else."""

    def __init__(self, table: pa.Table) -> None:
        self._table = table

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._table.__arrow_c_stream__(requested_schema)


def parquet_file(folder: Path) -> Path:
    path = folder / "data.parquet"
    pl.DataFrame(COLUMNS).write_parquet(path)
    return path


SOURCES: dict[str, Callable[[Path], Any]] = {
    "pandas": lambda _: pd.DataFrame(COLUMNS),
    "pandas nullable": lambda _: pd.DataFrame(COLUMNS).convert_dtypes(),
    "polars": lambda _: pl.DataFrame(COLUMNS),
    "polars lazy": lambda _: pl.DataFrame(COLUMNS).lazy(),
    "pyarrow": lambda _: pa.table(COLUMNS),
    "arrow stream": lambda _: Stream(pa.table(COLUMNS)),
    "duckdb": lambda _: duckdb.from_arrow(pa.table(COLUMNS)),
    "duckdb query": lambda _: duckdb.from_arrow(pa.table(COLUMNS)).query("t", "select * from t"),
    "dict": lambda _: COLUMNS,
    "dict of arrays": lambda _: {name: np.array(values) for name, values in COLUMNS.items()},
    "list of dicts": lambda _: [dict(zip(COLUMNS, row, strict=True)) for row in zip(*COLUMNS.values(), strict=True)],
    "parquet": parquet_file,
}


@pytest.mark.parametrize("source", SOURCES)
def test_sources(source: str, tmp_path: Path) -> None:
    table = Table(SOURCES[source](tmp_path))
    assert table.names == tuple(COLUMNS)
    assert len(table) == table.rows == 6
    variables = table.variables
    assert list(variables) == list(COLUMNS)
    assert [v.kind for v in variables.values()] == ["categorical", "boolean", "categorical", "continuous"]
    assert variables["text"].levels == ("a", "b", "c")
    assert variables["truth"].levels == (False, True)
    assert variables["whole"].levels == (1, 3, 7)
    assert variables["real"].levels == ()
    for name, values in COLUMNS.items():
        assert table.column(name).tolist() == values
    back = table.to_pandas()
    assert {name: back[name].tolist() for name in back} == COLUMNS
    assert "whole: categorical (whole numbers, 3 distinct)" in repr(table)


@pytest.mark.parametrize(
    ("opener", "suffix", "separator"),
    [
        (open, ".csv", ","),
        (gzip.open, ".csv.gz", ","),
        (lzma.open, ".csv.xz", ";"),
        (open, ".tsv", "\t"),
        (open, ".txt", "|"),
    ],
)
@pytest.mark.parametrize("as_text", [True, False])
def test_csv(opener: Callable[..., Any], suffix: str, separator: str, as_text: bool, tmp_path: Path) -> None:
    path = csv_file(tmp_path, opener, suffix, separator)
    table = Table(str(path) if as_text else path)
    assert table.names == tuple(COLUMNS)
    assert table.variables["truth"].levels == ("False", "True")
    assert table.variables["whole"].levels == (1, 3, 7)
    assert table.column("real").tolist() == COLUMNS["real"]


class TestArrays:
    @pytest.mark.parametrize("kind", [np.uint8, np.int8, np.int16, np.int64, np.uint64, bool])
    @pytest.mark.parametrize("order", ["C", "F"])
    def test_whole_numbers(self, kind: Any, order: Any) -> None:
        values = np.array(np.random.default_rng(0).integers(2, size=(130, 150)), dtype=kind, order=order)
        table = Table(values)
        assert table.names[:3] == ("x0", "x1", "x2")
        for k in (0, 63, 64, 149):
            assert (table.column(k) == values[:, k]).all()
            assert table.variables[f"x{k}"].kind == ("boolean" if kind is bool else "categorical")

    @given(
        st.lists(
            st.tuples(st.integers(-300, 300), st.integers(1, 25), st.sampled_from([1, 2, 100])), min_size=1, max_size=70
        ),
        st.integers(2, 90),
    )
    @settings(max_examples=60, deadline=None)
    def test_wide_path_is_the_narrow_path(self, specification: list[tuple[int, int, int]], rows: int) -> None:
        """Packing a whole array gives what encoding column by column gives."""
        random = np.random.default_rng(rows)
        columns = [low + step * random.integers(count, size=rows) for low, count, step in specification]
        wide, narrow = Table(np.stack(columns, axis=1)), Table({f"x{k}": c for k, c in enumerate(columns)})
        for a, b in zip(wide.variables.values(), narrow.variables.values(), strict=True):
            assert a == b
            assert (wide.column(a.name) == narrow.column(a.name)).all()

    @pytest.mark.parametrize("ending", ["parquet", "feather"])
    @pytest.mark.parametrize("width", [900, 1100])
    def test_the_index_of_a_wide_file_is_left_out(self, tmp_path: Path, ending: str, width: int) -> None:
        numbers = np.random.default_rng(2).integers(3, size=(30, width + 1))
        path = tmp_path / f"wide.{ending}"
        names = [*(f"x{k}" for k in range(width)), "__index_level_0__"]
        frame = pd.DataFrame(numbers, columns=names)
        if ending == "parquet":
            frame.set_index(names[-1]).rename_axis(None).to_parquet(path)
        else:
            frame.to_feather(path)
        table = Table(path)
        assert table.names == tuple(names[:-1])
        assert table.notes[0].startswith("left out, because it is the index of a pandas frame: '__index_level_0__'")
        assert Table(path, index=False).names == tuple(names)

    @pytest.mark.parametrize("type_", ["float16", "float32", "float64", "Float64", "several"])
    @pytest.mark.parametrize("missing", ["drop", "pairwise"])
    def test_numbers_of_pandas_are_read_as_arrays(
        self, monkeypatch: pytest.MonkeyPatch, type_: str, missing: Any
    ) -> None:
        """They give what reading them by narwhals gives."""
        numbers = np.random.default_rng(3).normal(size=(40, 12)).round(2)
        numbers[:, 3], numbers[:, 4], numbers[:, 5] = 1.5, numbers[:, 4].round(), np.arange(40)
        names = [*(f"x{k}" for k in range(11)), 11]
        frame = pd.DataFrame(numbers, columns=names, index=np.arange(40)[::-1])
        several = dict(zip(names, ["float32", "float64", "Float32", "Float64", "int64", "bool"] * 2, strict=True))
        types: Any = several if type_ == "several" else type_
        frame = frame.astype(types)
        frame.iloc[[3, 5], 7] = pd.NA if frame.dtypes.iloc[7] == "Float64" else np.nan
        kinds: Any = {"x0": "categorical", "x1": "ordinal"}
        asked: list[str] = []

        def read(name: str, *given: Any) -> Any:
            asked.append(name)
            return read_series(name, *given)

        monkeypatch.setattr(frames, "read_series", read)
        as_arrays = Table(frame, kinds=kinds, missing=missing)
        assert asked == [str(name) for name in names if str(frame[name].dtype).startswith("Float")]
        monkeypatch.setattr(frames, "_array_of", lambda _: None)
        by_narwhals = Table(frame, kinds=kinds, missing=missing)
        assert asked[-len(names) :] == [str(name) for name in names]
        assert as_arrays.variables == by_narwhals.variables
        assert as_arrays.notes == by_narwhals.notes
        assert [as_arrays.column(name).tobytes() for name in as_arrays.names] == [
            by_narwhals.column(name).tobytes() for name in by_narwhals.names
        ]

    def test_a_view_of_a_larger_array(self) -> None:
        base = np.random.default_rng(1).integers(3, size=(40, 60)).astype(np.uint8)
        view = base[::2, 3:50:2]
        assert (Table(view).column(5) == view[:, 5]).all()

    def test_real_numbers_are_continuous(self) -> None:
        table = Table(np.eye(3))
        assert {v.kind for v in table.variables.values()} == {"continuous"}

    def test_text(self) -> None:
        assert Table(np.array([["a", "u"], ["b", "u"]])).variables["x0"].levels == ("a", "b")

    @pytest.mark.parametrize("dimensions", [0, 1, 3])
    def test_must_have_two_dimensions(self, dimensions: int) -> None:
        with pytest.raises(serape.InputTypeError, match=f"two dimensions.*has {dimensions}"):
            Table(np.zeros((2,) * dimensions, int))

    def test_masks_are_missing_values(self) -> None:
        values = np.ma.array([[0, 1], [1, 2], [2, 0]], mask=[[False, False], [True, False], [False, False]])
        with pytest.raises(serape.DataError, match=r"missing in 'x0' \(1, first in row 2\)"):
            Table(values)
        assert Table(values, missing="drop").column("x1").tolist() == [1, 0]
        assert Table(np.ma.array([[0, 1], [1, 2]])).rows == 2

    def test_matrices_and_large_numbers(self) -> None:
        assert Table(scipy.sparse.csr_matrix([[0, 1], [1, 0], [0, 0]]).todense()).rows == 3
        large = np.array([[2**63], [2**63 + 1]], np.uint64)
        assert Table(large).variables["x0"].levels == (2**63, 2**63 + 1)


class TestSparse:
    @pytest.mark.parametrize("kind", ["csr_matrix", "csc_array", "coo_matrix"])
    @pytest.mark.parametrize("dtype", [np.int8, np.float64, bool])
    def test_ones(self, kind: str, dtype: Any) -> None:
        dense = np.random.default_rng(2).random((50, 40)) < 0.1
        dense[:, 3], dense[:, 4] = True, False
        table = Table(getattr(scipy.sparse, kind)(dense.astype(dtype)))
        for k in range(40):
            assert (table.column(k) == dense[:, k]).all()
        assert table.variables["x3"].levels == (1,)

    def test_counts(self) -> None:
        dense = np.random.default_rng(3).integers(4, size=(30, 5))
        table = Table(scipy.sparse.csr_matrix(dense))
        assert all((table.column(k) == dense[:, k]).all() for k in range(5))

    def test_explicit_zeros_and_duplicates(self) -> None:
        matrix = scipy.sparse.coo_matrix(
            (np.array([1, 0, 1, 1]), (np.array([0, 1, 2, 2]), np.array([0, 0, 1, 1]))), shape=(4, 2)
        )
        table = Table(matrix)
        assert table.column(0).tolist() == [1, 0, 0, 0]
        assert table.column(1).tolist() == [0, 0, 2, 0]

    def test_huge_values_stay_apart(self) -> None:
        table = Table(scipy.sparse.csr_array(np.array([[0.0], [1e300], [2e300]])))
        assert table.column(0).tolist() == [0.0, 1e300, 2e300]

    def test_real_values(self) -> None:
        table = Table(scipy.sparse.csr_matrix([[0.5, 0], [0, 1.5]]))
        assert table.column(0).tolist() == [0.5, 0.0]


class TestKinds:
    def test_rule_for_whole_numbers(self) -> None:
        table = Table({"twenty": list(range(20)) * 2, "more": list(range(21)) + list(range(19))})
        assert [v.kind for v in table.variables.values()] == ["categorical", "count"]
        assert "21 distinct (more than 20)" in table.variables["more"].reason

    def test_overruled_by_name(self) -> None:
        table = Table(COLUMNS, kinds={"whole": "continuous", "real": "categorical"})
        assert table.variables["whole"].kind == "continuous"
        assert table.variables["real"].levels == (-1.0, 0.0, 0.5, 1.5, 2.5, 3.5)
        assert table.variables["real"].reason == "as asked"

    def test_overruled_for_all(self) -> None:
        assert {v.kind for v in Table(COLUMNS, kinds="categorical").variables.values()} == {"categorical"}
        assert {v.kind for v in Table(np.eye(4, dtype=int), kinds="continuous").variables.values()} == {"continuous"}

    def test_text_that_is_numbers(self) -> None:
        assert Table({"a": ["1", "2.5"]}, kinds={"a": "continuous"}).column("a").tolist() == [1.0, 2.5]
        with pytest.raises(serape.DataError, match="'a' cannot be continuous: it holds 'x'"):
            Table({"a": ["1", "x"]}, kinds={"a": "continuous"})

    def test_unknown_kind(self) -> None:
        with pytest.raises(serape.OptionError, match="kind 'ordinals' of column 'a'.*Did you mean 'ordinal'"):
            Table({"a": [1, 2]}, kinds={"a": "ordinals"})
        with pytest.raises(serape.OptionError, match="kind 'discrete' of all columns"):
            Table({"a": [1, 2]}, kinds="discrete")

    def test_kind_of_an_unknown_column(self) -> None:
        with pytest.raises(serape.OptionError, match="'wholes' that the data do not have. Did you mean 'whole'"):
            Table(COLUMNS, kinds={"wholes": "categorical"})

    def test_declared_categories(self) -> None:
        frames = [
            pd.DataFrame({"a": pd.Categorical(["y", "x"], categories=["z", "y", "x"])}),
            pd.DataFrame({"a": pd.Categorical(["y", "x"], categories=["z", "y", "x"], ordered=True)}),
            pl.DataFrame({"a": pl.Series(["y", "x"], dtype=pl.Enum(["z", "y", "x"]))}),
            pa.table({"a": pa.DictionaryArray.from_arrays(pa.array([1, 2]), pa.array(["z", "y", "x"]))}),
        ]
        for frame in frames:
            table = Table(frame)
            assert table.variables["a"].levels == ("z", "y", "x")
            assert table.column("a").tolist() == ["y", "x"]

    def test_polars_categorical_has_only_what_is_seen(self) -> None:
        other = pl.Series(["q", "r"], dtype=pl.Categorical)
        table = Table(pl.DataFrame({"a": pl.Series(["y", "x"], dtype=pl.Categorical)}))
        assert table.variables["a"].levels == ("x", "y")
        assert len(other) == 2

    def test_mixed_objects(self) -> None:
        table = Table(pd.DataFrame({"a": pd.Series([1, "x", 2.5, 1], dtype=object)}))
        assert len(table.variables["a"].levels) == 3

    def test_decimals(self) -> None:
        assert Table(pa.table({"a": pa.array([1, 2], pa.decimal128(5, 2))})).variables["a"].kind == "continuous"


def test_names_that_occur_twice_in_arrow() -> None:
    pa = pytest.importorskip("pyarrow")
    twice = pa.table([pa.array([1, 2, 3]), pa.array([1, 2, 1])], names=["a", "a"])
    with pytest.raises(serape.DataError, match="a name occurs more than once .*'a' 2 times.*; rename such columns"):
        serape.Table(twice)


LONG = 40_000
ODD = ["9" * LONG + "x", "1." + "9" * LONG + "x", " " * LONG + "x", "-" * LONG, "12:" * LONG,
       "2020-" * 20_000, "1'" * LONG, "." * LONG]  # fmt: skip


@pytest.mark.parametrize("odd", ODD, ids=lambda odd: odd[:4])
def test_long_fields_are_read_at_once(tmp_path: Path, odd: str) -> None:
    """A pattern that backtracks would take minutes."""
    (tmp_path / "data.csv").write_text(f"a;b\n{odd};1\n2;3\n4;5\n2;1\n")
    assert serape.Table(tmp_path / "data.csv").names == ("a", "b")


def test_a_row_that_is_asked_for_as_a_column_gets_a_hint() -> None:
    genes = serape.Table({"gene": [f"g{k}" for k in range(30)], "a": np.arange(30.0), "b": np.arange(30.0) ** 2})
    with pytest.raises(serape.OptionError, match="no column 'g17'.*If 'gene' names it as a row, transpose the table"):
        serape.markov_blanket(genes, "g17")


def test_names_that_a_parquet_file_repeats(tmp_path: Path) -> None:
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    column = pa.array([1, 2, 3])
    pq.write_table(pa.Table.from_arrays([column] * 3, names=["x", "x", "y"]), tmp_path / "x.parquet")
    with pytest.raises(serape.DataError, match="the name 'x' occurs more than once"):
        serape.Table(tmp_path / "x.parquet")
