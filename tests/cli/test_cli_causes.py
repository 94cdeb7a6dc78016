"""`serape causes`, and `--hidden`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import serape
from command import run
from serape.data.example import clinic
from serape.data.writing import write_table


@pytest.fixture
def patients(tmp_path: Path) -> Path:
    path = tmp_path / "patients.csv"
    write_table(serape.Table(clinic(1000)), path)
    return path


Output = pytest.CaptureFixture[str]


def test_causes(patients: Path, tmp_path: Path, capsys: Output) -> None:
    found = serape.causes(patients, "HeartDisease", alpha=0.01)
    files = {name: tmp_path / name for name in ("found.json", "report.html", "picture.png")}
    code, out, _ = run(
        capsys, "causes", str(patients), "--target", "HeartDisease", "--alpha", "0.01", "--explain", "Smoking",
        "--output", str(files["found.json"]), "--report", str(files["report.html"]),
        "--picture", str(files["picture.png"]),
    )  # fmt: skip
    assert code == 0
    assert out.startswith("Causes and effects of HeartDisease")
    assert f"causes: {', '.join(found.causes)}" in out
    assert found.explain("Smoking") in out.replace("\n", " ")
    assert serape.load_result(files["found.json"]) == found
    assert all(path.stat().st_size > 1000 for path in files.values())


def test_json(patients: Path, capsys: Output) -> None:
    _, out, _ = run(
        capsys,
        "causes",
        str(patients),
        "--target",
        "HeartDisease",
        "--json",
        "--explain",
        "Age",
        "--learner",
        "hiton-mb",
    )
    content = json.loads(out)
    assert content["format"] == "serape-causes-1"
    assert content["learner"] == "hiton-mb"
    assert set(content["explanations"]) == {"Age"}


def test_adjustment_sets(patients: Path, capsys: Output) -> None:
    asked = ["causes", str(patients), "--target", "Exercise", "--alpha", "0.01", "--outcome", "Weight"]
    _, out, _ = run(capsys, *asked)
    assert "To estimate the effect of Exercise on Weight, adjust for one of these sets; the data do" in out
    assert " right: nothing; Age." in out.replace("\n", " ")
    _, out, _ = run(capsys, *asked, "--json")
    assert json.loads(out)["adjustment_sets"] == {"Weight": [[], ["Age"]]}
    heart = ["causes", str(patients), "--target", "HeartDisease", "--alpha", "0.01"]
    found = serape.causes(patients, "HeartDisease", alpha=0.01)
    (names,) = found.adjustment_sets("ECG")
    _, out, _ = run(capsys, *heart, "--outcome", "ECG", "--outcome", found.causes[0])
    assert f"effect of HeartDisease on ECG, adjust for: {', '.join(names)}." in out
    assert f"HeartDisease has no effect on {found.causes[0]}, which is one of its causes." in out
    code, _, err = run(capsys, *heart, "--hidden", "--outcome", "ECG")
    assert code == 1
    assert "no cause is hidden; ask again without --hidden" in err


def test_hidden(patients: Path, capsys: Output) -> None:
    _, out, _ = run(capsys, "causes", str(patients), "--target", "HeartDisease", "--hidden", "--json")
    assert json.loads(out)["hidden"] is True
    _, out, _ = run(capsys, "blanket", str(patients), "--target", "HeartDisease", "--hidden")
    assert "by fbed" in out
    assert "common causes may be hidden" in out


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["causes", "--algorithm", "mb-by-m"], "Did you mean 'mb-by-mb'"),
        (["causes", "--algorithm", "mmb-by-mmb"], "pass --hidden with it"),
        (["causes", "--learner", "hpc", "--hidden"], "does not find the blanket where common causes are hidden"),
        (["neighbours", "--hidden"], "--hidden is an option of `serape blanket` and `serape causes`"),
        (["blanket", "--hidden", "--algorithm", "hpc"], "'hpc' does not find the blanket"),
    ],
)
def test_bad_use_gets_one_sentence(patients: Path, words: list[str], complaint: str, capsys: Output) -> None:
    code, _, err = run(capsys, words[0], str(patients), "--target", "HeartDisease", *words[1:])
    assert code == 2
    assert complaint in err
    assert len(err.strip().splitlines()) == 1
