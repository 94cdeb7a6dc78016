"""Delimited text: headers, words for missing values, bad files, any bytes at all."""

import gzip
import io
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import serape
from serape import Table


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
            (b"a,b\n\x81\xfe,1\n2,3\n", "neither UTF-8 nor Windows-1252 text"),
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
            Table(self.write(tmp_path, "x", "f.dta"))

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


class TestText:
    def write(self, folder: Path, text: str, name: str = "f.csv", opener: Callable[..., Any] = open) -> Path:
        path = folder / name
        with opener(path, "wt", encoding="utf-8") as file:
            file.write(text)
        return path

    ADULT = (
        "39, State-gov, 77516, Bachelors, 0, 0, <=50K\n50, Self-emp, 83311, Bachelors, 5, 0, <=50K\n"
        "38, ?, 215646, HS-grad, 0, 0, >50K\n53, State-gov, 234721, 11th, 0, 0, <=50K\n\n"
    )

    @pytest.mark.parametrize("name", ["adult.data", "adult.test", "adult", "adult.csv", "adult.data.gz", "ADULT.DAT"])
    def test_as_uci_ships_it(self, name: str, tmp_path: Path) -> None:
        opener: Callable[..., Any] = gzip.open if name.endswith("gz") else open
        path = self.write(tmp_path, self.ADULT, name, opener)
        with pytest.raises(
            serape.DataError, match=r"'x1' \(1, first in row 3\).*Note that the first line is taken for data"
        ):
            Table(path)
        table = Table(path, missing="pairwise")
        assert table.names == tuple(f"x{k}" for k in range(7))
        assert table.rows == 4
        assert table.column("x1").tolist() == ["State-gov", "Self-emp", None, "State-gov"]
        assert table.column("x0").tolist() == [39, 50, 38, 53]
        assert "columns are called x0 to x6; pass header=True" in table.notes[0]
        with pytest.raises(serape.OptionError, match="no column 'income'.*Note that the first line is taken for data"):
            table.position("income")

    def test_header_can_be_said(self, tmp_path: Path) -> None:
        path = self.write(tmp_path, "1,2\n3,2\n1,4\n")
        table = Table(path)
        assert table.names == ("1", "2")
        assert "the first line is taken for names, though '1', '2' could be data; pass header=False" in table.notes[0]
        assert Table(path, header=True).notes == ()
        table = Table(path, header=False)
        assert (table.names, table.notes, table.column(0).tolist()) == (("x0", "x1"), (), [1, 3, 1])
        table = Table(path, header=["a", "b"], kinds={"b": "continuous"})
        assert (table.names, table.column(1).tolist()) == (("a", "b"), [2.0, 2.0, 4.0])
        with pytest.raises(serape.DataError, match="has 2 columns, but header names 3"):
            Table(path, header=["a", "b", "c"])
        with pytest.raises(serape.DataError, match="'a' occurs more than once"):
            Table(path, header=["a", "a"])

    @pytest.mark.parametrize(
        ("text", "is_data"),
        [
            ("a,b\n1,2\n3,4\n", False),
            ("5.1,3.5,1.4,setosa\n4.9,3.0,1.4,setosa\n", True),
            ("14.23,1.71,2.43\n13.2,1.78,2.14\n", True),
            ("400.5,401.0,401.5\n0.2,0.1,0.3\n0.1,0.1,0.2\n", False),  # wavelengths
            ("0,1,2,3\n5,5,6,7\n6,5,8,7\n", False),  # as pandas numbers columns
            ("id,2019,2020\n1,5,5\n2,6,7\n", False),
            ("id,2019,2019\n1,5,5\n2,6,7\n", None),  # a name twice
            ("p,x,s,p\ne,x,s,p\np,b,y,e\n", True),  # letters, as in Mushroom
            ("usual,proper,one\nusual,less,one\npret,proper,one\n", True),
            ("a,b\nx,y\na,b\nx,z\n", False),  # a header repeated
            ("city,country\nLyon,France\nParis,France\n", False),
            ("1,0,0,1\n0,1,1,0\n", True),
            ("1,b\nx,y\nz,b\n", False),  # no number below
            ("a\nb\na\n", False),
            ("?,1,1\n2,3,4\n3,3,3\n", True),
        ],
    )
    def test_names_or_data(self, text: str, is_data: bool | None, tmp_path: Path) -> None:
        path = self.write(tmp_path, text)
        if is_data is None:
            with pytest.raises(serape.DataError, match="occurs more than once"):
                Table(path)
            return
        table = Table(path, missing="pairwise")
        lines = [line.split(",") for line in text.splitlines()]
        assert table.rows == len(lines) - (0 if is_data else 1)
        assert table.names == (tuple(f"x{k}" for k in range(len(lines[0]))) if is_data else tuple(lines[0]))
        assert any("the first line is taken for data" in note for note in table.notes) == is_data
        forced = Table(path, header=not is_data, missing="pairwise")
        assert [forced.column(name).tolist() for name in forced.names] == [
            table.column(name).tolist() for name in table.names
        ]

    def test_words_for_missing(self, tmp_path: Path) -> None:
        path = self.write(tmp_path, "a,b,c\n1,x,-999\n2, unknown ,3\n-,y,4\nn/a,?,5\n")
        table = Table(path, na_values=("-", "unknown", -999), missing="pairwise")  # type: ignore[arg-type]
        assert {table.names[k]: mask.tolist() for k, mask in table.missing.items()} == {
            "a": [False, False, True, True],
            "b": [False, True, False, True],
            "c": [True, False, False, False],
        }
        assert table.variables["a"].levels == (1, 2)
        assert Table(path, missing="pairwise").variables["a"].levels == ("-", "1", "2")

    @pytest.mark.parametrize(
        ("options", "sentence"),
        [
            ({"na_values": "?"}, "na_values must be a list of words, not '?'"),
            ({"na_values": 3}, "na_values must be a list of words"),
            ({"header": "names"}, "header must be True, False or a list of names"),
            ({"header": 1}, "header must be True, False or a list of names"),
        ],
    )
    def test_bad_options(self, options: Any, sentence: str, tmp_path: Path) -> None:
        with pytest.raises(serape.OptionError, match=sentence):
            Table(self.write(tmp_path, "a,b\n1,2\n3,4\n"), **options)

    def test_options_for_other_data(self, tmp_path: Path) -> None:
        pl.DataFrame({"a": [1, 2]}).write_parquet(tmp_path / "f.parquet")
        for data in ({"a": [1, 2]}, tmp_path / "f.parquet"):
            with pytest.raises(serape.OptionError, match="about files of delimited text"):
                Table(data, header=False)
            with pytest.raises(serape.OptionError, match="about files of delimited text"):
                Table(data, na_values=["-"])

    def test_a_remark_in_the_first_line(self, tmp_path: Path) -> None:
        for name in ("adult.test", "adult.csv"):
            path = self.write(tmp_path, "|1x3 Cross validator\n" + self.ADULT, name)
            assert Table(path, missing="drop").rows == 3
        path = self.write(tmp_path, "|a|b\n|1|2\n|3|4\n", "bars.csv")
        assert Table(path).names == ("a", "b")
        path = self.write(tmp_path, "|remark\n\na,b\n1,2\n3,4\n5\n")
        with pytest.raises(serape.DataError):
            Table(path)

    def test_lines_are_counted_from_the_first(self, tmp_path: Path) -> None:
        path = self.write(tmp_path, "\n\na,b\n1,2\n\n3\n")
        with pytest.raises(serape.DataError, match="line 6: 1 fields"):
            Table(path)

    def test_tabs_in_tsv(self, tmp_path: Path) -> None:
        path = self.write(tmp_path, "a, of x, y\tb\n1\t2\n3\t4\n", "f.tsv")
        assert Table(path).names == ("a, of x, y", "b")

    @pytest.mark.parametrize(
        "content",
        [
            b"x",
            b"",
            b"PK\x03\x04\x00\x00,\n,\x00\n",
            b"one\ntwo\nthree\n",
            b"a,b\n1\n2,3,4\n",
            b"\xff\xfe,\n1,2\n",
        ],
    )
    def test_what_is_no_delimited_text(self, content: bytes, tmp_path: Path) -> None:
        for name in ("f.dta", "f", "f.gz"):
            path = tmp_path / name
            path.write_bytes(content)
            with pytest.raises(serape.DataError, match="of a kind that cannot be read|cannot be decompressed"):
                Table(path)

    @given(st.binary(max_size=300))
    @settings(max_examples=150, deadline=None)
    def test_any_bytes_under_any_name(self, tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
        for name in ("f", "f.data"):
            path = tmp_path_factory.mktemp("fuzz") / name
            path.write_bytes(content)
            try:
                Table(path, missing="pairwise", na_values=["0"])
            except serape.SerapeError as error:
                assert str(error)

    @given(
        st.lists(st.lists(st.sampled_from(["0", "1", "2.5", "a", "b", "?", ""]), min_size=3, max_size=3), min_size=2)
    )
    @settings(max_examples=100, deadline=None)
    def test_no_row_is_lost(self, tmp_path_factory: pytest.TempPathFactory, cells: list[list[str]]) -> None:
        path = tmp_path_factory.mktemp("rows") / "f.csv"
        path.write_text("\n".join(",".join(row) for row in cells) + "\n")
        try:
            table = Table(path, header=False, missing="pairwise")
        except serape.DataError as error:
            assert "no values at all" in str(error)
            return
        assert table.rows == len(cells)
        for k in range(3):
            gone = table.missing.get(k, np.zeros(len(cells), bool))
            assert gone.tolist() == [row[k] in ("?", "") for row in cells]


@pytest.mark.parametrize("text", ["sep= \n\n", "sep=;\n", "sep=;\n \n\n", "\n\n", " \n"])
def test_nothing_after_the_first_lines(text: str) -> None:
    with pytest.raises(serape.DataError, match="is empty|no rows|one row"):
        serape.Table(io.StringIO(text))
