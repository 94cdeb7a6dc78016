"""Files as people have them: how each is made, and what it gives.

The files are small and made here, by the packages that write such files or as these programs write them: pandas,
polars, pyarrow, R 4, Excel, LibreOffice, SAS, SQLite, DuckDB, and people. `ROWS` is the table that most of them hold.
"""

from __future__ import annotations

import base64
import bz2
import gzip
import io
import json
import lzma
import sqlite3
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather as pf

N = 24
ROWS = pd.DataFrame(
    {
        "age": [40.5 + 1.25 * k + (k % 3) for k in range(N)],
        "visits": [k % 4 for k in range(N)],
        "city": ["Köln" if k % 3 else "Paris" for k in range(N)],
        "smoker": ["yes" if k % 5 < 2 else "no" for k in range(N)],
    }
)
KINDS = {"age": "continuous", "visits": "categorical", "city": "categorical", "smoker": "boolean"}
DATES = ROWS.assign(day=[date(2024, 1, 5) + timedelta(days=9 * k) for k in range(N)])
CSV = ROWS.to_csv(index=False)
INDEX = "is an index and no variable"


@dataclass(frozen=True)
class Animal:
    """A file, how it is read, and what this gives: kinds and a part of each note, or a part of the error."""

    name: str
    content: bytes | str | Callable[[Path], object]
    kinds: dict[str, str] | None = field(default_factory=lambda: KINDS)
    notes: tuple[str, ...] = ()
    error: str = ""
    rows: int = N
    options: dict[str, Any] = field(default_factory=dict)

    def write(self, folder: Path) -> Path:
        """Write the file into a folder; return its path."""
        path = folder / self.name
        path.parent.mkdir(parents=True, exist_ok=True)
        if callable(self.content):
            self.content(path)
        else:
            path.write_bytes(self.content.encode() if isinstance(self.content, str) else self.content)
        return path


def refused(name: str, content: bytes | str | Callable[[Path], object], error: str, **options: Any) -> Animal:
    """Return a file that is refused."""
    return Animal(name, content, None, error=error, options=options)


def with_word(word: str, every: int = N) -> pd.DataFrame:
    """Return the rows with a word among the numbers."""
    return ROWS.assign(age=[word if k % every == 5 % every else v for k, v in enumerate(ROWS["age"])])


def detected(**settings: str) -> str:
    """Return the note about what is detected."""
    return "detected in the text: " + ", ".join(f"{name}={value!r}" for name, value in settings.items())


def zipped(**files: str) -> bytes:
    """Return an archive; two underscores stand for a point."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in files.items():
            archive.writestr(name.replace("__", "."), content)
    return file.getvalue()


def sqlite(path: Path, **tables: pd.DataFrame) -> None:
    """Write a SQLite database."""
    connection = sqlite3.connect(path)
    for name, frame in tables.items():
        frame.to_sql(name, connection, index=False)
    connection.close()


def duck(path: Path, *names: str) -> None:
    """Write a DuckDB database of equal tables."""
    frame = pa.Table.from_pandas(DATES)
    with duckdb.connect(str(path)) as connection:
        for name in names:
            connection.register("frame", frame)
            connection.execute(f"create table {name} as select * from frame")


def workbook(path: Path, **sheets: pd.DataFrame) -> None:
    """Write an Excel workbook."""
    with pd.ExcelWriter(path, engine="openpyxl") as writer:
        for name, frame in sheets.items():
            frame.to_excel(writer, sheet_name=name, index=False)


def titled_workbook(path: Path) -> None:
    """Write a sheet with a title above the table, as people do."""
    with pd.ExcelWriter(path, engine="openpyxl") as writer:
        ROWS.to_excel(writer, index=False, startrow=2)
        writer.sheets["Sheet1"]["A1"] = "Patients of 2024"


R_KINDS = {"age": "continuous", "sex": "categorical", "when": "date", "n": "categorical", "ok": "boolean"}
R_NOTES = ("values are missing in 'age' (1, first in row 2), 'ok' (1, first in row 3)", "dates")
R_RDS = base64.b64decode(  # saveRDS(data.frame(age, sex=factor(…), when=as.Date(…), n, ok)) of R 4.2
    "H4sIAAAAAAAAA3VQS07DMBCd2A6okVJV4hx0zQ4LKjYs2IDEDpngACIfiCPKDq4BS07CHXoP1AMg0pl6XMASlsbveWb05o3PMwCQoIQAmSKF"
    "9Oz0aHcPczv0wBhjKD37oCI8L+neftcnr3Te9PEL+CNz6sNIMMQPKs8VjBC3KvtoK4dssq76bFIGUkf9aVEZF9o3IqUp+rZD9o1jvb3FwdqfXhwC"
    "o2ZkfyQrhkhJzUxvvQ58bmz72rho63scdHHb9M4+RFV1aZzlXM7L5qxEjqSe+Ln7y7/IPdmvzwK2mMTLN6a2YfmUk9Jc20CdfQp25je2CZ8YiGjv"
    "/tk7uzK9mZYd6kczR107n4a5tJAgc8MwfJHxFRetXjMtAgAA"
)
R_TEXT = "age sex when n ok\n1 41.5 f 2024-01-01 1 TRUE\n2 NA m 2024-01-02 2 FALSE\n3 63.2 f 2024-01-03 3 NA\n"
R_TEXT += "4 55 m 2024-01-04 4 TRUE\n"


def r_table(separator: str, decimal: str = ".", quote: bool = True) -> str:
    """Return what write.table of R writes: row names, and a header without a name for them."""
    marks = {"f", "m"} | {"age", "sex", "when", "n", "ok"}
    rows = [line.split() for line in R_TEXT.splitlines()]
    for row in rows:
        for k, word in enumerate(row):
            if quote and (word in marks or (k == 0 and word.isdigit())):
                row[k] = f'"{word}"'
            elif "." in word:
                row[k] = word.replace(".", decimal)
    return "\n".join(separator.join(row) for row in rows) + "\n"


PAIRWISE = {"missing": "pairwise"}
BY_PANDAS = (
    Animal("pandas_index.csv", ROWS.to_csv(), notes=(INDEX,)),
    Animal("pandas.csv", CSV),
    Animal("pandas_index_kept.csv", ROWS.to_csv(), {"x0": "identifier"} | KINDS, ("called 'x0'", "identifiers"),
           options={"index": False}),
    Animal("pandas_unnamed.csv", ROWS.rename_axis("Unnamed: 0").to_csv(), notes=("'Unnamed: 0', only names the rows",)),
    Animal("pandas_named_index.csv", ROWS.rename_axis("id").to_csv(), {"id": "identifier"} | KINDS, ("identifiers",)),
    Animal("pandas_dates.csv", DATES.to_csv(index=False), KINDS | {"day": "date"}, ("dates",)),
    Animal("pandas_gaps.csv", with_word("").to_csv(index=False),
           notes=("values are missing in 'age' (1, first in row 6)",), options=PAIRWISE),
    Animal("pandas.tsv", ROWS.to_csv(sep="\t", index=False)),
    Animal("pandas.parquet", lambda p: ROWS.to_parquet(p)),
    Animal("pandas_dates.parquet", lambda p: DATES.to_parquet(p), KINDS | {"day": "date"}, ("dates",)),
    Animal("pandas_index.parquet", lambda p: ROWS.set_index(pd.Index([f"r{k}" for k in range(N)])).to_parquet(p),
           notes=("index of a pandas frame",)),
    Animal("pandas_times.parquet", lambda p: ROWS.assign(at=pd.to_timedelta(range(N), unit="h")).to_parquet(p),
           KINDS | {"at": "continuous"}),
    Animal("pandas.feather", lambda p: ROWS.to_feather(p)),
    Animal("pandas.jsonl", lambda p: ROWS.to_json(p, orient="records", lines=True)),
    Animal("pandas_records.json", lambda p: ROWS.to_json(p, orient="records")),
    Animal("pandas_columns.json", lambda p: ROWS.to_json(p)),
    Animal("pandas.csv.zip", lambda p: ROWS.to_csv(p, index=False)),
    Animal("pandas_cat.parquet", lambda p: ROWS.astype({"city": "category"}).to_parquet(p)),
)  # fmt: skip
BY_POLARS = (
    Animal("polars.csv", pl.from_pandas(ROWS).write_csv()),
    Animal("polars.parquet", lambda p: pl.from_pandas(DATES).write_parquet(p), KINDS | {"day": "date"}, ("dates",)),
    Animal("polars.arrow", lambda p: pl.from_pandas(ROWS).write_ipc(p)),
    Animal("polars_stream.arrow", lambda p: pl.from_pandas(ROWS).write_ipc_stream(p)),
    Animal("polars.ndjson", lambda p: pl.from_pandas(ROWS).write_ndjson(p)),
    Animal("polars_lists.parquet", lambda p: pl.from_pandas(ROWS).with_columns(l=pl.lit([1, 2])).write_parquet(p),
           notes=("ignored, as asked: 'l'",), options={"ignore": ["l"]}),
    refused("polars_lists_used.parquet", lambda p: pl.DataFrame({"l": [[1], [2]]}).write_parquet(p),
            "column 'l' is of type .*; convert it to one of these, or ignore it"),
    Animal("lz4.feather", lambda p: pf.write_feather(pa.Table.from_pandas(ROWS), str(p), compression="lz4")),
)  # fmt: skip
BY_R = (
    Animal("write_table.txt", r_table(" "), R_KINDS, (detected(delimiter=" "), INDEX, *R_NOTES), rows=4,
           options=PAIRWISE),
    Animal("write_csv.csv", '"",' + r_table(","), R_KINDS, (INDEX, *R_NOTES), rows=4, options=PAIRWISE),
    Animal("write_csv2.csv", '"";' + r_table(";", ","), R_KINDS,
           (detected(delimiter=";", decimal=","), INDEX, *R_NOTES), rows=4, options=PAIRWISE),
    Animal("write_tsv.tsv", r_table("\t", quote=False), R_KINDS, (INDEX, *R_NOTES), rows=4, options=PAIRWISE),
    Animal("escaped.csv", '"a","b"\n1,"say \\"x\\" twice"\n2,"y"\n', {"a": "categorical", "b": "categorical"},
           ("after a backslash",), rows=2),
    Animal("frame.rds", R_RDS, R_KINDS, R_NOTES, rows=4, options=PAIRWISE),
    refused("broken.rds", R_RDS[:100], "cannot be decompressed"),
    refused("text.rds", "a,b\n1,2\n", "cannot be read as data of R"),
)  # fmt: skip
SEMICOLONS = ROWS.to_csv(index=False, sep=";", decimal=",")
MARKS = detected(delimiter=";", decimal=",")
BY_SPREADSHEETS = (
    Animal("european.csv", SEMICOLONS, notes=(MARKS,)),
    Animal("european_windows.csv", SEMICOLONS.encode("cp1252"),
           notes=(detected(encoding="cp1252", delimiter=";", decimal=","),)),
    Animal("excel_sep.csv", "sep=;\r\n" + SEMICOLONS.replace("\n", "\r\n"), notes=(detected(decimal=","),)),
    Animal("excel_utf8.csv", b"\xef\xbb\xbf" + CSV.replace("\n", "\r\n").encode()),
    Animal("excel_unicode.txt", ROWS.to_csv(index=False, sep="\t").encode("utf-16"),
           notes=(detected(encoding="utf-16", delimiter="\t"),)),
    Animal("excel_errors.csv", with_word("#DIV/0!", 5).to_csv(index=False),
           notes=("'#DIV/0!' (5 rows", "missing in 'age'"), options=PAIRWISE),
    Animal("european_dates.csv", DATES.assign(day=[f"{d:%d.%m.%Y}" for d in DATES["day"]]).to_csv(index=False, sep=";"),
           KINDS | {"day": "date"}, (detected(delimiter=";"), "dates")),
    Animal("american_dates.csv", DATES.assign(day=[f"{d:%m/%d/%Y}" for d in DATES["day"]]).to_csv(index=False),
           KINDS | {"day": "date"}, ("dates",)),
    Animal("titles.csv", "Patients of 2024\n\n" + SEMICOLONS, notes=(MARKS, "before the table left out: 'Patients")),
    Animal("trailing.csv", "".join(f"{line},\n" for line in CSV.splitlines()), notes=("without a name and",)),
    Animal("book.xlsx", lambda p: workbook(p, Sheet1=DATES), KINDS | {"day": "date"}, ("dates",)),
    Animal("book_index.xlsx", lambda p: ROWS.to_excel(p), notes=(INDEX,)),
    Animal("book_word.xlsx", lambda p: workbook(p, Sheet1=with_word("n.d.")),
           notes=("holds numbers except 'n.d.' (row 6)", "missing in 'age'"), options=PAIRWISE),
    Animal("book_title.xlsx", titled_workbook, notes=("'Patients of 2024'",)),
    Animal("sheets.xlsx", lambda p: workbook(p, one=ROWS, two=ROWS[["age"]]), {"age": "continuous"},
           options={"table": "two"}),
    refused("sheets_unnamed.xlsx", lambda p: workbook(p, one=ROWS, two=ROWS), "holds the sheets 'one', 'two'; choose"),
    refused("no_such_sheet.xlsx", lambda p: workbook(p, one=ROWS), "no sheet 'on'; .* Did you mean 'one'", table="on"),
    refused("text.xlsx", CSV, "cannot be read as a workbook"),
)  # fmt: skip
BY_OTHERS = (
    Animal("sas_points.csv", with_word(".", 3).to_csv(index=False), notes=("'.' (8 rows", "missing in 'age'"),
           options=PAIRWISE),
    Animal("sas_dates.csv", DATES.assign(day=[f"{d:%d%b%Y}".upper() for d in DATES["day"]]).to_csv(index=False),
           KINDS | {"day": "date"}, ("dates",)),
    Animal("spss.dat", ROWS.to_csv(sep="\t", index=False, decimal=","), notes=(detected(delimiter="\t", decimal=","),)),
    Animal("arff_like.data", "% a comment\n% another\n" + CSV, notes=(detected(comment="%"),)),
    Animal("one.sqlite", lambda p: sqlite(p, people=ROWS)),
    Animal("two.db", lambda p: sqlite(p, people=ROWS, other=ROWS[["age"]]), options={"table": "people"}),
    refused("two_unnamed.db", lambda p: sqlite(p, people=ROWS, other=ROWS), "holds the tables 'people', 'other'"),
    Animal("texts.sqlite", lambda p: sqlite(p, people=ROWS.astype(str))),
    refused("cut.sqlite", b"SQLite format 3\0" + b"x" * 700, "cannot be read as a SQLite database"),
    Animal("one.duckdb", lambda p: duck(p, "people"), KINDS | {"day": "date"}, ("dates",)),
    Animal("bed.txt", "#chrom\tstart\tend\nchr1\t10\t20\nchr2\t15\t30\nchr1\t40\t55\n",
           {"chrom": "categorical", "start": "categorical", "end": "categorical"},
           (detected(comment="#", delimiter="\t"),), rows=3),
    Animal("aligned.txt", "a    b      c\n1    2.5    x\n10   3.5    y\n7    -1     x\n",
           {"a": "categorical", "b": "continuous", "c": "categorical"}, (detected(delimiter=" "),), rows=3),
    Animal("bars.psv", ROWS.to_csv(sep="|", index=False), notes=(detected(delimiter="|"),)),
    Animal("single_quotes.csv", "'a','b'\n'x,1','y'\n'z','w'\n", {"a": "categorical", "b": "categorical"},
           ('quote="\'"',), rows=2),
    Animal("quoted.csv", ROWS.to_csv(index=False, quoting=1)),
    Animal("line_breaks.csv", 'a,b\n"x\ny",1\n"z ""q""",2\n', {"a": "categorical", "b": "categorical"}, rows=2),
    Animal("old_mac.csv", CSV.replace("\n", "\r")),
    Animal("comments.csv", "# made by hand\n" + CSV.replace("\n", "\n# between\n", 3), notes=(detected(comment="#"),)),
    Animal("uci.data", "\n".join(CSV.splitlines()[1:]).replace("\n", "\n ") + "\n\n",
           {f"x{k}": kind for k, kind in enumerate(KINDS.values())}, ("the first line is taken for data",)),
    Animal("named.data", "\n".join(CSV.splitlines()[1:]), options={"header": list(KINDS)}),
    Animal("utf16le.csv", CSV.encode("utf-16-le"), notes=(detected(encoding="utf-16-le"),)),
    Animal("utf32.csv", CSV.encode("utf-32"), notes=(detected(encoding="utf-32"),)),
    Animal("cyrillic.csv", CSV.replace("Köln", "Москва").encode("cp1251"), options={"encoding": "cp1251"}),
    Animal("japanese.csv", CSV.replace("Köln", "京都").encode("shift-jis"), options={"encoding": "shift-jis"}),
    Animal("no_ending", CSV),
    Animal("codes.csv", "".join(f"{line},{'zip' if k == 0 else f'{k % 3 * 700:05d}'}\n"
                                for k, line in enumerate(CSV.splitlines())), KINDS | {"zip": "categorical"}),
    Animal("word.csv", with_word("n.d.").to_csv(index=False),
           notes=("'n.d.' (row 6), which is read as missing", "missing in 'age'"), options=PAIRWISE),
    Animal("word_as_text.csv", with_word("n.d.").to_csv(index=False), KINDS | {"age": "categorical"},
           ("fewer than 5 rows per level",), options={"kinds": {"age": "categorical"}}),
    Animal("few_numbers.csv", "a,b\n1,x\n2,y\n-,x\n1,y\n", {"a": "categorical", "b": "categorical"},
           ("is text because of '-' (row 3) among numbers; pass na_values=['-']",), rows=4),
    Animal("two_ways.csv", "d,x\n05/06/2024,1\n07/08/2024,2\n", {"d": "categorical", "x": "categorical"},
           ("'05/06/2024' can be read in two ways",), rows=2),
    Animal("times.csv", "at,x\n" + "".join(f"{k % 24}:{k + 10},{k % 2}\n" for k in range(N)),
           {"at": "date", "x": "categorical"}, ("dates",)),
    Animal("rules.csv", with_word("").to_csv(index=False).replace("Paris", ""),
           notes=("a level of their own in 'city' (8", "1 of 24 rows dropped"), rows=N - 1,
           options={"missing": {"*": "drop", "city": "level"}}),
    Animal("objects.json", json.dumps({"a": [1, 2, 3], "b": ["x", "y", "x"]}), {"a": "categorical", "b": "categorical"},
           rows=3),
)  # fmt: skip
COMPRESSED = (
    Animal("rows.csv.gz", gzip.compress(CSV.encode(), mtime=0)),
    Animal("rows.csv.bz2", bz2.compress(CSV.encode())),
    Animal("rows.csv.xz", lzma.compress(CSV.encode())),
    Animal("rows.csv.zst", pa.compress(CSV.encode(), "zstd", asbytes=True)),
    Animal("rows.zip", zipped(rows__csv=CSV)),
    Animal("several.zip", zipped(rows__csv=CSV, other__csv="a,b\n"), options={"table": "rows.csv"}),
    refused("several_unnamed.zip", zipped(rows__csv=CSV, other__csv=CSV), "holds the files 'rows.csv', 'other.csv'"),
    refused("cut.csv.bz2", bz2.compress(CSV.encode())[:60], "cannot be decompressed"),
    refused("cut.csv.zst", pa.compress(CSV.encode(), "zstd", asbytes=True)[:60], "cannot be decompressed|is empty"),
    refused("not.zip.csv", b"PK\x03\x04" + b"x" * 50, "cannot be decompressed"),
)
BROKEN = (
    refused("empty.csv", "", "is empty"),
    refused("header_only.csv", "a,b\n", "no rows"),
    refused("ragged.csv", CSV + "1,2\n", f"line {N + 2}: 2 fields where the first line has 4"),
    refused("open_quote.csv", 'a,b\n1,"2\n3,4\n', "not a CSV file that can be read"),
    refused("twice.csv", "a,a\n1,2\n3,4\n", "'a' occurs more than once"),
    refused("not_text.csv", b"a,b\n\x81\x00\x02,3\n", "no text|neither UTF-8"),
    refused("not_utf8.csv", CSV.encode("cp1252"), "is not UTF-8 text", encoding="utf-8"),
    refused("gaps.csv", with_word("n.d.").to_csv(index=False), "missing in 'age' .*Note that .*except 'n.d.'"),
    refused("wrong_kind.csv", with_word("n.d.").to_csv(index=False), "cannot be continuous: it holds 'n.d.' in row 6",
            kinds={"age": "continuous"}),
    refused("broken.parquet", b"PAR1" + b"x" * 100, "cannot be read as Parquet"),
    refused("broken.feather", b"ARROW1" + b"x" * 100, "cannot be read as an Arrow file"),
    refused("broken.jsonl", '{"a": 1}\n{"a": 2\n', "line 2 is no JSON"),
    refused("scalar.json", "3", "holds no table"),
    refused("stata.dta", b"<stata_dta>" + bytes(range(32)), "of a kind that cannot be read"),
    refused("one_date.csv", "d,x\n05/06/2024,1\n07/08/2024,2\n", "can be read in two ways", kinds={"d": "date"}),
)  # fmt: skip
ZOO = (*BY_PANDAS, *BY_POLARS, *BY_R, *BY_SPREADSHEETS, *BY_OTHERS, *COMPRESSED, *BROKEN)
