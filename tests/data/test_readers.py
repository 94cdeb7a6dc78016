"""The reader of large texts gives what the plain one gives, on columns of every sort; sizes are bounded."""

from __future__ import annotations

import gzip
import io
import random
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_csv_columns import MAKERS, decoded

import serape
from serape import Table
from serape.data.kinds import Kinds
from serape.data.reading import ReadOptions, arrow_text, dialect, read, sources
from serape.data.reading.options import MISSING
from serape.data.writing import write_table


def dates(rng: random.Random) -> str:
    return f"20{rng.randint(10, 20)}-0{rng.randint(1, 9)}-{rng.randint(10, 28)}"


def moments(rng: random.Random) -> str:
    return f"{dates(rng)} 0{rng.randint(0, 9)}:{rng.randint(10, 59)}{rng.choice(['', ':07', ':07.25'])}"


def times(rng: random.Random) -> str:
    return f"{rng.randint(0, 23)}:{rng.randint(10, 59)}"


def quoted(rng: random.Random) -> str:
    return rng.choice(['"a,b"', '"x ""q"""', "plain", '"1"', '"new\nline"', '""'])


def badly_quoted(rng: random.Random) -> str:
    return rng.choice(['"a"', 'b"c', "x", '"d" ', '"e"f', ' "g"'])


def signed(rng: random.Random) -> str:
    return rng.choice(["+1", "2", "-0", "3"])


def hexadecimal(rng: random.Random) -> str:
    return rng.choice(["0x10", "5", "7"])


def nearly_numbers(rng: random.Random) -> str:
    return "n.d." if rng.random() < 0.02 else f"{rng.random():.3f}"


def postcodes(rng: random.Random) -> str:
    return f"{rng.randint(1000, 99999):05d}"


def truths(rng: random.Random) -> str:
    return rng.choice(["true", "false", "True"])


def powers(rng: random.Random) -> str:
    return f"{rng.uniform(1e-9, 1e9):e}"


ALL = (*MAKERS, dates, moments, times, quoted, signed, hexadecimal, nearly_numbers, postcodes, truths, powers)


@pytest.fixture
def by(monkeypatch: pytest.MonkeyPatch) -> Callable[[bool, str], Any]:
    """Read a text by pyarrow or plainly; return everything about it, or the error."""

    def result(arrow: bool, text: str, kinds: Kinds | None = None, decimal: Any = None) -> Any:
        monkeypatch.setattr(arrow_text, "MIN_BYTES", 0 if arrow else 1 << 60)
        try:
            options = ReadOptions(index=False, decimal=decimal)
            columns = read(io.BytesIO(text.encode()), kinds or Kinds(), options)
        except serape.SerapeError as error:
            return str(error)
        return columns.names, columns.notes, [
            (c.kind, c.reason, c.levels, list(map(type, c.levels)), decoded(c)) for c in columns.encoded
        ]  # fmt: skip

    return result


@pytest.mark.parametrize("seed", range(60))
def test_both_readers_give_the_same(seed: int, by: Any) -> None:
    rng = random.Random(seed)
    rows, gaps = rng.choice([2, 5, 30, 300]), rng.choice([0, 0, 0.02, 0.3])
    makers = [rng.choice(ALL) for _ in range(rng.randint(2, 7))] + [badly_quoted] * (rng.random() < 0.1)
    cells = [
        [rng.choice(sorted(MISSING)) if rng.random() < gaps else make(rng) for make in makers] for _ in range(rows)
    ]
    text = "".join(",".join(row) + "\n" for row in [[f"n{k}" for k in range(len(makers))], *cells])
    text += rng.choice(["", "", "", "1,2,3,4,5,6,7,8,9\n", "\n   \n"])
    if rng.random() < 0.1:
        text = text.replace("\n", "\r\n")
    kinds = Kinds({"n0": rng.choice(["categorical", "continuous"])} if rng.random() < 0.2 else None)
    assert by(True, text, kinds) == by(False, text, kinds)


@pytest.mark.parametrize(
    "text",
    [
        "a,b\r1,2\r3,4\r5\r",  # lines end as on an old Macintosh
        "a,b\nx,1\nx,2\nx\n",  # the bad line is a part of others
        "a,b\n\ufeff1,2\n3,4\n",  # the mark of another file, appended
        "a,b,c\nx,y,z\nx,y,z\nu,v,w\n",
    ],
)
def test_both_readers_name_the_same(text: str, by: Any) -> None:
    for kinds in (None, Kinds("continuous")):
        assert by(True, text, kinds) == by(False, text, kinds)


@pytest.mark.parametrize("decimal", [",", "."])
def test_both_readers_know_the_decimal_mark(decimal: Any, by: Any) -> None:
    text = "a;b;c\n1,5;1.5;7\n2,25;2.5;x\n-3,0;9;8\n"
    assert by(True, text, decimal=decimal) == by(False, text, decimal=decimal)
    kinds = [column[0] for column in by(True, text, decimal=decimal)[2]]
    assert kinds == (["continuous", "categorical"] if decimal == "," else ["categorical", "continuous"]) + [
        "categorical"
    ]


def test_pyarrow_reads_regular_texts(by: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise the tests above compare the plain reader with itself."""
    taken: list[bool] = []
    one = arrow_text.read_rows
    monkeypatch.setattr(arrow_text, "read_rows", lambda *given: taken.append(True) if (r := one(*given)) is None else r)
    for text in ("a,b\n1,x\n2,y\n", 'a,b\n"1","x, y"\n2,"z"\n', "a;b\n1,5;x\n2,5;y\n", "a,b\n007,x\n+2,y\n"):
        assert not isinstance(by(True, text), str)
    assert taken == []
    by(True, 'a,b\n1, "x, y"\n2,"z"\n')
    assert taken == [True]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_line_that_is_too_short_is_found_by_number(end: str, by: Any) -> None:
    text = end.join(["a,b", *["1,2"] * 500, "3", *["1,2"] * 500, "4,5,6", ""])
    for arrow in (True, False):
        assert by(arrow, text).endswith("line 502: 1 fields where the first line has 2")


def test_columns_to_ignore_are_not_read(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = tmp_path / "f.csv"
    path.write_text("a,b,c\n1,inf,x\n2,-inf,y\n")
    for least in (0, 1 << 60):
        monkeypatch.setattr(arrow_text, "MIN_BYTES", least)
        with pytest.raises(serape.DataError, match="infinite"):
            Table(path)
        assert Table(path, ignore=["b"]).names == ("a", "c")
        with pytest.raises(serape.OptionError, match="no column 'd' to ignore"):
            Table(path, ignore=["b", "d"])


def test_without_pyarrow(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = tmp_path / "f.csv"
    path.write_text("a,b\n" + "1,x\n2,y\n" * 40_000)
    expected = Table(path)
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    assert Table(path).provenance.fingerprint == expected.provenance.fingerprint
    (tmp_path / "f.parquet").write_bytes(b"PAR1")
    with pytest.raises(serape.MissingLibraryError, match=r"f.parquet needs pyarrow \(or polars\): pip install"):
        Table(tmp_path / "f.parquet")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(serape.MissingLibraryError, match="Parquet files need pyarrow"):
        write_table(expected, tmp_path / "g.parquet")


@pytest.mark.parametrize(
    ("name", "content", "package"),
    [("f.xlsx", b"x", "python_calamine"), ("f.rds", b"x", "rdata"), ("f.duckdb", b"x" * 20, "duckdb")],
)
def test_missing_packages_are_named(
    name: str, content: bytes, package: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / name).write_bytes(content)
    monkeypatch.setitem(__import__("sys").modules, package, None)
    with pytest.raises(serape.errors.MissingLibraryError, match=f"reading .*{name} needs .*: pip install"):
        Table(tmp_path / name)


def test_sizes_are_bounded(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = tmp_path / "f.csv.gz"
    path.write_bytes(gzip.compress(b"a,b\n" + b"1,2\n" * 1_000_000))
    monkeypatch.setattr(sources, "MAX_BYTES", 1 << 20)
    with pytest.raises(serape.DataError, match="holds more than 0 GiB; write it as Parquet"):
        Table(path)
    path.write_bytes(gzip.compress(b"9" * (5 << 20)))
    monkeypatch.setattr(sources, "MAX_LINE", 1 << 19)
    with pytest.raises(serape.DataError, match="a line of more than 0 MiB; is it delimited text"):
        Table(path)
    plain = tmp_path / "f.csv"
    plain.write_bytes(b"9" * (5 << 20))
    monkeypatch.setattr(dialect, "MAX_LINE", 1 << 19)
    with pytest.raises(serape.DataError, match="a line of more than 0 MiB; is it delimited text"):
        Table(plain)


def test_wide_texts(by: Any) -> None:
    cells = np.random.default_rng(0).integers(0, 3, (30, 3_000)).astype(str)
    text = "\n".join([",".join(f"column{k}" for k in range(3_000)), *map(",".join, cells)])
    assert by(True, text) == by(False, text)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"delimiter": "::"}, "delimiter must be one character"),
        ({"delimiter": ",", "decimal": ","}, "the marks must differ"),
        ({"decimal": "'"}, "decimal must be '.' or ','"),
        ({"encoding": "no-such"}, "encoding='no-such' is not known"),
        ({"encoding": "zlib"}, "encoding='zlib' is not known"),
        ({"quote": "''"}, "quote must be one character"),
        ({"comment": 3}, "comment must be a mark"),
        ({"index": "id"}, "index must be True or False"),
        ({"table": 1.5}, "table must be the name or position"),
        ({"table": "a"}, "table='a' names a sheet of a workbook"),
    ],
)
def test_bad_options(options: Any, sentence: str, tmp_path: Path) -> None:
    (tmp_path / "f.csv").write_text("a,b\n1,2\n3,4\n")
    with pytest.raises(serape.OptionError, match=sentence):
        Table(tmp_path / "f.csv", **options)


def test_options_overrule_what_is_detected(tmp_path: Path) -> None:
    path = tmp_path / "f.csv"
    path.write_bytes("a;b\n1;2,5\n3;4,5\n".encode("utf-16"))
    assert Table(path).kinds == {"a": "categorical", "b": "continuous"}
    assert Table(path, delimiter="tab", encoding="utf-16").names == ("a;b",)
    assert Table(path, delimiter=";", decimal=".").kinds["b"] == "categorical"
    path.write_text("#a,b\n#1,2\n3,4\n")
    assert Table(path, comment="", header=True).names == ("#a", "b")
    path.write_text(",b\nx,1\ny,2\n")
    assert Table(path).names == ("b",)
    assert Table(path, index=False).names == ("x0", "b")
    path.write_text("id,b\nx,1\ny,2\n")
    assert Table(path, index=True).names == ("b",)
    path.write_text("a,b\n'x,1\n'y',2\n")
    assert Table(path, quote="").column("a").tolist() == ["'x", "'y'"]
