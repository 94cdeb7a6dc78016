"""`serape pack`."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

import serape
from command import run
from serape.data.example import clinic


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for seed in range(2):
        pd.DataFrame(clinic(200, seed)).to_csv(tmp_path / f"{seed}.csv", index=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.usefixtures("files")
def test_pack_and_verify(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "pack", "0.csv", "x.srp", "--ignore", "Age") == (0, "", "200 rows of 13 columns in x.srp\n")
    expected = serape.Table("0.csv", ignore=["Age"])
    assert serape.Table("x.srp").names == expected.names
    code, out, _ = run(capsys, "pack", "--verify", "x.srp")
    assert code == 0
    assert out == f"x.srp: 200 rows, 13 columns, fingerprint {expected.provenance.fingerprint}\n"
    for name in ("blanket", "describe"):
        assert run(capsys, name, "x.srp", "--target", "HeartDisease")[0] == 0
    Path("x.srp").write_bytes(Path("x.srp").read_bytes()[:-5])
    code, _, err = run(capsys, "pack", "--verify", "x.srp")
    assert code == 1
    assert err.startswith("serape: x.srp is cut short")


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("sources", [("0.csv", "1.csv"), ("*.csv",), ("?.csv",)])
def test_several_files(sources: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "pack", *sources, "x.srp")[0] == 0
    assert serape.Table("x.srp").rows == 400


@pytest.mark.usefixtures("files")
def test_bad_use(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments, sentence in (
        (["0.csv"], "name the file to write after the data"),
        (["0.csv", "1.csv"], "'1.csv' must end in .srp, so that no other file is overwritten"),
    ):
        code, _, err = run(capsys, "pack", *arguments)
        assert code == 2
        assert sentence in err
    code, _, err = run(capsys, "pack", "no.csv", "x.srp")
    assert (code, err.startswith("serape: there is no file no.csv")) == (1, True)
    assert sorted(path.name for path in Path().iterdir()) == ["0.csv", "1.csv"]
