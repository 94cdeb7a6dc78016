"""serape contexts and serape joint."""

import json
from pathlib import Path

import pandas as pd
import pytest

import serape
from command import run
from serape.data.example import clinic

Output = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    folder = tmp_path_factory.mktemp("sites")
    paths = [folder / name for name in ("london.csv", "paris.csv")]
    for seed, path in enumerate(paths, 1):
        pd.DataFrame(clinic(1500, seed=seed)).to_csv(path, index=False)
    return [str(path) for path in paths]


def test_a_column(capsys: Output, files: list[str], tmp_path: Path) -> None:
    kept, picture, report = (tmp_path / name for name in ("found.json", "found.png", "found.html"))
    asked = ("contexts", files[0], "-t", "HeartDisease", "--context", "Parking", "--alpha", "0.01")
    more = ("-o", str(kept), "--picture", str(picture), "--report", str(report), "--explain", "Age")
    code, out, err = run(capsys, *asked, *more)
    assert (code, err) == (0, "")
    assert out.startswith("Markov blanket of HeartDisease by Parking: 2 contexts")
    assert "in all contexts" in out
    assert "\nAge is in the blanket of HeartDisease in all 2 contexts." in out
    expected = serape.context_blankets(files[0], "HeartDisease", "Parking", alpha=0.01)
    assert serape.load_result(kept) == expected
    assert picture.stat().st_size > 1000
    assert "Members by context" in report.read_text()
    told = json.loads(run(capsys, *asked, "--json")[1])
    assert told["common"] == list(expected.common)
    assert told["invariant"] is True


def test_files_as_contexts(capsys: Output, files: list[str]) -> None:
    code, out, err = run(capsys, "contexts", *files, "-t", "HeartDisease", "--json")
    assert (code, err) == (0, "")
    told = json.loads(out)
    assert told["context"] == "file"
    assert list(told["by_context"]) == ["london", "paris"]
    code, _, err = run(capsys, "contexts", *files, "-t", "HeartDisease", "--workers", "1")
    assert (code, "on a cluster, --context COLUMN must say from which context a row is" in err) == (2, True)


def test_joint(capsys: Output, files: list[str], tmp_path: Path) -> None:
    asked = ("joint", files[0], "-t", "ECG", "-t", "ChestPain", "--alpha", "0.01")
    code, out, err = run(capsys, *asked, "-o", str(tmp_path / "x.json"), "--picture", str(tmp_path / "x.png"))
    assert (code, err) == (0, "")
    assert out.startswith("Joint Markov blanket of ECG, ChestPain: 2 variables")
    assert json.loads(run(capsys, *asked, "--json")[1])["shared"] == ["HeartDisease"]
    assert serape.load_result(tmp_path / "x.json").blanket == ("Anxiety", "HeartDisease")
    assert (tmp_path / "x.png").stat().st_size > 1000


@pytest.mark.parametrize(
    ("words", "code", "complaint"),
    [
        (["contexts", "-t", "Age"], 2, "--context COLUMN says from which context a row is; or give several files"),
        (["contexts", "-t", "Age", "--context", "Age"], 2, "both the target and the context"),
        (["contexts", "-t", "Age", "--context", "Wrad"], 2, "Did you mean 'Ward'"),
        (["joint", "-t", "Age"], 2, "for one target use serape blanket"),
        (["joint", "-t", "Age", "-t", "Age"], 2, "'Age' is named twice"),
    ],
)
def test_bad_use_gets_one_sentence(
    capsys: Output, files: list[str], words: list[str], code: int, complaint: str
) -> None:
    told = run(capsys, words[0], files[0], *words[1:])
    assert told[0] == code
    assert complaint in told[2]
    assert len(told[2].strip().splitlines()) == 1
