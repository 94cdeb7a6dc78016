"""Tables: every kind of data in, kinds decided by rule, and one clear sentence for what cannot be used."""

import gzip
import lzma
import os
import threading
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
    assert [v.kind for v in variables.values()] == ["categorical", "categorical", "categorical", "continuous"]
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
            assert table.variables[f"x{k}"].kind == "categorical"

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
        with pytest.raises(serape.DataError, match=r"missing in 'x0' \(1, first in row 1\)"):
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
        assert [v.kind for v in table.variables.values()] == ["categorical", "continuous"]
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
        with pytest.raises(serape.OptionError, match="kind 'ordinal' of column 'a'"):
            Table({"a": [1, 2]}, kinds={"a": "ordinal"})
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


MISSING: dict[str, Callable[[], Any]] = {
    "pandas": lambda: pd.DataFrame({"a": ["x", None, "y", "x"], "b": [1, 2, 1, 2]}),
    "polars": lambda: pl.DataFrame({"a": ["x", None, "y", "x"], "b": [1, 2, 1, 2]}),
    "dict": lambda: {"a": ["x", None, "y", "x"], "b": [1, 2, 1, 2]},
    "list of dicts": lambda: [{"a": "x", "b": 1}, {"b": 2}, {"a": "y", "b": 1}, {"a": "x", "b": 2}],
}


class TestMissing:
    @pytest.mark.parametrize("source", MISSING)
    def test_refused_by_default(self, source: str) -> None:
        with pytest.raises(serape.DataError, match=r"missing in 'a' \(1, first in row 1\); pass missing='drop'"):
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
        with pytest.raises(serape.DataError, match=r"missing in 'a' \(1, first in row 1\)"):
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

    def test_unknown_rule(self) -> None:
        with pytest.raises(serape.OptionError, match="missing='ignore' is not known"):
            Table({"a": [1, 2]}, missing="ignore")  # type: ignore[arg-type]

    def test_markers_in_csv(self, tmp_path: Path) -> None:
        path = tmp_path / "gaps.csv"
        path.write_text("a,b,c\nx,1,0.5\n?,2,NA\ny,,1.5\nx,1,2.5\n")
        with pytest.raises(serape.DataError, match=r"'a' \(1, first in row 1\), 'b' \(1, first in row 2\), 'c'"):
            Table(path)
        table = Table(path, missing="drop")
        assert table.rows == 2
        assert table.variables["b"].levels == (1,)


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
            ({"a": [0.5, float("inf")]}, "column 'a' has an infinite value .inf. in row 1"),
            ({"a": [1, 2], "": [1, 2]}, "position 1 has no name"),
            (pd.DataFrame([[1, 2], [3, 4]], columns=["a", "a"]), "'a' occurs more than once"),
            (pd.DataFrame([[1, 2], [3, 4]], columns=[1, "1"]), "'1' occurs more than once"),
            (pd.DataFrame({"d": pd.to_datetime(["2020-01-01", "2020-01-02"])}), "column 'd' is of type Datetime"),
            (np.array([["2020-01-01"], ["2020-01-02"]], "datetime64[D]"), "column 'x0' is of type datetime64"),
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
            Table({"a": [str(k) for k in range(70_000)]})
        assert len(Table({"a": [str(k) for k in range(65_536)]}).variables["a"].levels) == 65_536

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


class TestFiles:
    def write(self, folder: Path, text: str | bytes, name: str = "f.csv") -> Path:
        path = folder / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    @pytest.mark.parametrize(
        ("text", "sentence"),
        [
            ("", "is empty"),
            ("\n\n", "is empty"),
            ("a,b\n", "no rows"),
            ('a,b\n1,"2\n3,4\n5,6\n', "not a CSV file that can be read"),
            ("a,b\n1,2\n1,2,3\n", "line 3: 3 fields where the first line has 2"),
            ("a,b\n1,2\n1\n", "line 3: 1 fields where the first line has 2"),
            ("a,a\n1,2\n3,4\n", "'a' occurs more than once"),
            ("a,\n1,2\n3,4\n", "position 1 has no name"),
            (b"a,b\n\xff\xfe,1\n2,3\n", "not UTF-8"),
            ("a\n" + "x" * 200_000 + "\ny\n", "not a CSV file that can be read"),
        ],
    )
    def test_bad_csv(self, text: str | bytes, sentence: str, tmp_path: Path) -> None:
        with pytest.raises(serape.DataError, match=sentence):
            Table(self.write(tmp_path, text))

    def test_bad_compression(self, tmp_path: Path) -> None:
        for name in ("f.csv.gz", "f.csv.xz"):
            with pytest.raises(serape.DataError, match="cannot be decompressed"):
                Table(self.write(tmp_path, "not compressed", name))
        whole = gzip.compress(b"a,b\n1,2\n3,4\n" * 50)
        with pytest.raises(serape.DataError, match="cannot be decompressed"):
            Table(self.write(tmp_path, whole[:-20], "cut.csv.gz"))

    def test_bad_parquet(self, tmp_path: Path) -> None:
        with pytest.raises(serape.DataError, match="cannot be read as Parquet"):
            Table(self.write(tmp_path, "nonsense", "f.parquet"))

    def test_no_such_file(self, tmp_path: Path) -> None:
        with pytest.raises(serape.DataError, match="there is no file"):
            Table(tmp_path / "none.csv")
        with pytest.raises(serape.DataError, match="is a folder"):
            Table(tmp_path)
        with pytest.raises(serape.DataError, match="a kind that cannot be read"):
            Table(self.write(tmp_path, "x", "f.xlsx"))

    def test_quotes_blank_lines_and_a_byte_order_mark(self, tmp_path: Path) -> None:
        path = self.write(tmp_path, b'\xef\xbb\xbf"a, b",c\r\n"x,y", 1\r\n\r\n"x ""q""",2\r\n')
        table = Table(path)
        assert table.names == ("a, b", "c")
        assert table.column(0).tolist() == ["x,y", 'x "q"']
        assert table.column(1).tolist() == [1, 2]

    def test_blank_lines_first_and_separators_in_quotes(self, tmp_path: Path) -> None:
        assert Table(self.write(tmp_path, "\n\na,b\n1,2\n3,4\n")).names == ("a", "b")
        assert Table(self.write(tmp_path, '"a;b;c;d",b,c\n1,2,3\n4,5,6\n')).names == ("a;b;c;d", "b", "c")

    def test_a_pipe(self, tmp_path: Path) -> None:
        pipe = tmp_path / "pipe.csv"
        os.mkfifo(pipe)
        writer = threading.Thread(target=lambda: pipe.write_text("a,b\n1,2\n3,4\n"))
        writer.start()
        assert Table(pipe).rows == 2
        writer.join()

    def test_codes_with_leading_zeros_stay_text(self, tmp_path: Path) -> None:
        table = Table(self.write(tmp_path, "a,b\n007,1e3\n012,2\n"))
        assert table.variables["a"].levels == ("007", "012")
        assert table.column("b").tolist() == [1000.0, 2.0]

    @given(st.binary(max_size=300))
    @settings(max_examples=150, deadline=None)
    def test_any_bytes_give_a_table_or_a_sentence(
        self, tmp_path_factory: pytest.TempPathFactory, content: bytes
    ) -> None:
        path = tmp_path_factory.mktemp("fuzz") / "f.csv"
        path.write_bytes(content)
        try:
            Table(path)
        except serape.SerapeError as error:
            assert str(error)


def test_a_table_costs_nothing_the_second_time() -> None:
    """The packed columns, and what is derived from them, are shared by all calls."""
    table = Table(np.random.default_rng(4).integers(2, size=(300, 2000)))
    serape.markov_blanket(table, 0)
    held = table.nbytes
    packed = table.packed
    serape.markov_blanket(table, 1)
    assert table.packed is packed
    assert table.nbytes == held


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
