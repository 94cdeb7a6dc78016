"""serape knockoffs."""

import json
import re
from pathlib import Path

import pytest

import serape
from command import run


def test_all_of_it(capsys: pytest.CaptureFixture[str], patients: str, tmp_path: Path) -> None:
    kept, copies = tmp_path / "found.json", tmp_path / "copies.csv"
    asked = ("knockoffs", patients, "-t", "HeartDisease", "--seed", "3", "--fdr", "0.3")
    code, out, err = run(capsys, *asked, "-o", str(kept), "--copies", str(copies))
    assert (code, err) == (0, "")
    assert out.startswith("Variables that stand out from their knockoffs, target HeartDisease: ")
    assert re.search(r"ECG +│ +0\.\d+ +│ +yes", out)
    expected = serape.knockoff_filter(patients, "HeartDisease", fdr=0.3, random_state=3)
    assert serape.load_result(kept) == expected
    assert json.loads(run(capsys, *asked, "--json")[1])["members"] == list(expected.members)
    drawn = serape.knockoffs(patients, "HeartDisease", random_state=3)
    assert copies.read_text().splitlines()[0] == ",".join(drawn.names)
    assert [line.split(",")[0] for line in copies.read_text().splitlines()[1:]] == list(drawn.column(drawn.names[0]))


def test_a_network_in_a_file(capsys: pytest.CaptureFixture[str], patients: str, tmp_path: Path) -> None:
    serape.write_bif(serape.network(patients, "ges").fit(), tmp_path / "law.bif")
    asked = ("knockoffs", patients, "-t", "HeartDisease", "--network", str(tmp_path / "law.bif"), "--offset", "0")
    code, out, err = run(capsys, *asked)
    assert (code, err) == (0, "")
    assert "knockoffs from the given network of 14 variables" in out
    assert "offset 0" in out


def test_refusals(capsys: pytest.CaptureFixture[str], patients: str) -> None:
    code, _, err = run(capsys, "knockoffs", patients, "-t", "HeartDisease", "--offset", "2")
    assert (code, "--offset is 0 or 1, not 2" in err) == (2, True)
    code, _, err = run(capsys, "knockoffs", patients, "-t", "HeartDisease", "--fdr", "3")
    assert (code, "--fdr" in err) == (2, True)
