"""Data from standard input."""

import bz2
import gzip
import io
import json
import lzma
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import serape
from command import run


class Input(io.BytesIO):
    """Bytes that call themselves standard input."""

    name = "<stdin>"


class TestStandardInput:
    @pytest.fixture
    def give(self, monkeypatch: pytest.MonkeyPatch) -> Callable[[bytes], None]:
        return lambda content: monkeypatch.setattr("sys.stdin", io.TextIOWrapper(Input(content)))

    def test_it_is_read_like_a_file(
        self, capsys: pytest.CaptureFixture[str], patients: str, give: Callable[[bytes], None]
    ) -> None:
        expected = json.loads(run(capsys, "blanket", patients, "-t", "HeartDisease", "--json")[1])
        give(b"\xef\xbb\xbf" + Path(patients).read_bytes())  # with the mark that some programs begin with
        code, out, err = run(capsys, "blanket", "-", "-t", "HeartDisease", "--json")
        assert (code, err) == (0, "")
        found = json.loads(out)
        assert found["blanket"] == expected["blanket"]
        assert found["data"]["fingerprint"] == expected["data"]["fingerprint"]

    def test_options_for_text(self, capsys: pytest.CaptureFixture[str], give: Callable[[bytes], None]) -> None:
        give(b"0;0;y\n" + b"".join(b"%d;%d;%s\n" % (k % 2, k % 2, b"-" if k < 3 else b"y") for k in range(100)))
        code, out, _ = run(
            capsys, "blanket", "-", "-t", "x0", "--no-header", "--na", "-", "--missing", "drop", "--json"
        )
        assert code == 0
        assert json.loads(out)["blanket"] == ["x1"]

    @pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress, lambda b: pa.compress(b, "zstd")])
    def test_compressed_input(
        self, capsys: pytest.CaptureFixture[str], patients: str, give: Callable[[bytes], None], pack: Any
    ) -> None:
        give(bytes(pack(Path(patients).read_bytes())))
        code, out, err = run(capsys, "blanket", "-", "-t", "HeartDisease", "--json")
        assert (code, err) == (0, "")
        assert json.loads(out)["data"]["fingerprint"] == serape.Table(patients).provenance.fingerprint

    def test_marks_and_names(self, capsys: pytest.CaptureFixture[str], give: Callable[[bytes], None]) -> None:
        rows = "".join(f"r{k}!{k % 2}!{k % 2},5!{'é' if k % 7 else ''}\n" for k in range(100))
        give(rows.encode("cp850"))
        code, out, err = run(
            capsys, "blanket", "-", "-t", "a", "--names", "id,a,b,c", "--delimiter", "!", "--decimal", ",",
            "--encoding", "cp850", "--quote", "", "--comment", "", "--index", "--missing", "drop", "--missing",
            "c=level", "--json",
        )  # fmt: skip
        assert (code, err) == (0, "")
        found = json.loads(out)
        assert found["blanket"] == ["b"]
        assert found["data"]["made"] == {
            "missing": {"*": "drop", "c": "level"}, "header": ["id", "a", "b", "c"], "delimiter": "!", "decimal": ",",
            "encoding": "cp850", "quote": "", "comment": "", "index": True,
        }  # fmt: skip

    @pytest.mark.parametrize(
        ("arguments", "sentence"),
        [
            (["--missing", "never"], "--missing 'never' is not known; use error, drop, level, pairwise, or NAME=RULE"),
            (["--missing", "z=drop"], "--missing names a column 'z' that the data do not have"),
            (["--names", "a,b", "--header"], "--names says that the first line is data"),
            (["--delimiter", "ab"], "--delimiter must be one character"),
            (["--table", "t"], "--table t names a sheet"),
        ],
    )
    def test_bad_use(
        self, capsys: pytest.CaptureFixture[str], give: Callable[[bytes], None], arguments: list[str], sentence: str
    ) -> None:
        give(b"a,b\n1,2\n2,1\n")
        code, _, err = run(capsys, "blanket", "-", "-t", "a", *arguments)
        assert code == 2
        assert err.startswith(f"serape: {sentence}")

    @pytest.mark.parametrize(
        ("content", "sentence"),
        [
            (b"", "standard input is empty"),
            (b"a,b\n1,2\n1\n", "standard input, line 3: 1 fields where the first line has 2"),
            (b"a,b\n\x81\xfe,1\n", "standard input is neither UTF-8 nor Windows-1252 text"),
            (gzip.compress(b"a,b\n1,2\n" * 50, mtime=0)[:-20], "standard input cannot be decompressed"),
        ],
        ids=["empty", "ragged", "bytes", "cut"],
    )
    def test_bad_text(
        self, capsys: pytest.CaptureFixture[str], give: Callable[[bytes], None], content: bytes, sentence: str
    ) -> None:
        give(content)
        code, out, err = run(capsys, "blanket", "-", "-t", "a")
        assert (code, out) == (1, "")
        assert err.startswith(f"serape: {sentence}")
        assert err.count("\n") == 1

    def test_a_real_pipe(self, patients: str) -> None:
        done = subprocess.run(
            [sys.executable, "-m", "serape", "blanket", "-", "-t", "HeartDisease", "--json"],
            input=Path(patients).read_bytes(),
            capture_output=True,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, b"")
        assert json.loads(done.stdout)["target"] == "HeartDisease"

    def test_an_open_file_in_python(self, patients: str) -> None:
        with open(patients) as file:  # noqa: PTH123
            table = serape.Table(file)
        assert table.provenance.fingerprint == serape.Table(patients).provenance.fingerprint
        assert serape.Table(io.StringIO("a,b\n1,2\n2,1\n")).names == ("a", "b")
