"""serape all-blankets, path and stability."""

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import serape
from command import run
from serape.cli.base import find_command
from serape.data.writing import write_table


class TestRepeated:
    def test_path(self, capsys: pytest.CaptureFixture[str], patients: str, tmp_path: Path) -> None:
        picture, kept = tmp_path / "path.svg", tmp_path / "path.json"
        asked = ("path", patients, "-t", "HeartDisease", "--alpha", "0.05", "--alpha", "1e-9")
        code, out, err = run(capsys, *asked, "--picture", str(picture), "--output", str(kept))
        assert (code, err) == (0, "")
        assert "Markov blanket of HeartDisease as alpha grows from 1e-09 to 0.05" in out
        assert re.search(r"Smoking .* 1e-09 .* 100% ", out)
        assert "by hpc with g2" in out
        assert "Smoking" in picture.read_text()
        expected = serape.alpha_path(patients, "HeartDisease", [1e-9, 0.05])
        for text in (run(capsys, *asked, "--json")[1], kept.read_text()):
            content = json.loads(text)
            assert content["alphas"] == [1e-9, 0.05]
            assert content["members"] == [list(members) for members in expected.members]
            assert content["enters"] == {row["variable"]: row["enters"] for row in expected.records}

    def test_stability(self, capsys: pytest.CaptureFixture[str], patients: str, tmp_path: Path) -> None:
        picture, kept = tmp_path / "stability.svg", tmp_path / "stability.json"
        asked = ("stability", patients, "-t", "HeartDisease", "--alpha", "0.01", "--draws", "9", "--seed", "3",
                 "--finds", "parents-children", "--algorithm", "hiton-pc", "--threshold", "0.9")  # fmt: skip
        code, out, err = run(capsys, *asked, "--picture", str(picture), "-o", str(kept))
        assert (code, err) == (0, "")
        assert "Parents and children of HeartDisease in 9 halves of 2,500 rows" in out
        assert re.search(r"Smoking +│ +9 +│ +100% +│ +yes", out)
        assert "threshold 90 %" in picture.read_text()
        again = serape.stability(
            patients,
            "HeartDisease",
            draws=9,
            random_state=3,
            alpha=0.01,
            algorithm="hiton-pc",
            finds="parents-children",
        )
        for text in (run(capsys, *asked, "--json")[1], kept.read_text()):
            content = json.loads(text)
            assert content["frequencies"] == dict(again.frequencies)
            assert content["stable"] == list(again.stable(0.9))

    def test_stability_with_a_number_of_false_selections(
        self, capsys: pytest.CaptureFixture[str], patients: str, tmp_path: Path
    ) -> None:
        picture = tmp_path / "stability.svg"
        asked = (
            "stability",
            patients,
            "-t",
            "HeartDisease",
            "--algorithm",
            "iamb",
            "--draws",
            "20",
            "--max-false",
            "0.5",
        )
        code, out, err = run(capsys, *asked, "--picture", str(picture))
        assert (code, err) == (0, "")
        again = serape.stability(patients, "HeartDisease", algorithm="iamb", draws=20)
        least = again.threshold(0.5)
        assert f"At a threshold of {least:.3g}, at most {again.false_selections(least).bound:.3g} false" in out
        assert f"threshold {100 * least:.3g} %: at most" in picture.read_text()
        content = json.loads(run(capsys, *asked, "--assume", "r-concave", "--json")[1])
        assert content["threshold"] == again.threshold(0.5, "r-concave")
        assert content["stable"] == list(again.stable(max_false=0.5, assume="r-concave"))
        assert content["expected_false"] <= 0.5
        assert "r-concave" in content["assumptions"]
        assert "no threshold keeps" in run(capsys, *asked[:-1], "1e-9")[1]

    def test_stability_of_edges(self, capsys: pytest.CaptureFixture[str], patients: str, tmp_path: Path) -> None:
        picture, kept = tmp_path / "edges.svg", tmp_path / "edges.json"
        asked = ("stability", patients, "--finds", "network", "--algorithm", "tabu", "--score", "bic", "--draws", "4")
        code, out, err = run(capsys, *asked, "--picture", str(picture), "-o", str(kept))
        assert (code, err) == (0, "")
        again = serape.stability(patients, finds="network", algorithm="tabu", score="bic", draws=4)
        assert "in 4 halves of 2,500 rows" in out
        assert re.search(r"from .* to .* draws .* share .* → .* ← .* – .* stable", out)
        assert "edges found in at least 50 %" in picture.read_text()
        content = json.loads(kept.read_text())
        assert content["edges"] == list(again.records)
        assert content["stable"] == [list(edge) for edge in again.stable()]
        skeleton = ("stability", patients, "--finds", "skeleton", "--rule", "or", "--draws", "2", "--json")
        content = json.loads(run(capsys, *skeleton)[1])
        assert content["edges"] == list(serape.stability(patients, finds="skeleton", rule="or", draws=2).records)
        code, _, err = run(capsys, *skeleton, "--ess", "3")
        assert (code, "--ess 3.0 has no effect with --finds skeleton" in err) == (2, True)

    def test_nothing_found(self, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
        path = tmp_path / "noise.csv"
        path.write_text("a,b\n" + "0,0\n0,1\n1,0\n1,1\n" * 50)
        assert (
            "no variable is found at any of these levels"
            in run(capsys, "path", str(path), "-t", "a", "--alpha", "0.01")[1]
        )
        out = run(capsys, "stability", str(path), "-t", "a", "--draws", "4", "--alpha", "0.0001")[1]
        assert "found in at least half of them: no variable" in out

    def test_many_columns_are_summed_up(self, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
        codes = np.random.default_rng(0).integers(0, 2, (60, 80))
        path = tmp_path / "wide.csv"
        write_table(serape.Table(codes), path)
        out = run(capsys, "stability", str(path), "-t", "x0", "--draws", "20", "--alpha", "0.2")[1]
        assert re.search(r"and \d+ others, each in at most \d+% of the draws", out)

    @pytest.mark.parametrize(
        "options",
        [
            ["--threshold", "0"],
            ["--draws", "0"],
            ["--threshold", "1.5"],
            ["--max-false", "0"],
            ["--max-false", "1", "--threshold", "0.9"],
            ["--max-false", "1", "--sampling", "bootstrap"],
            ["--picture", "drawn.gif"],
        ],
    )
    def test_bad_use(self, capsys: pytest.CaptureFixture[str], patients: str, options: list[str]) -> None:
        code, out, err = run(capsys, "stability", patients, "-t", "HeartDisease", *options)
        assert (code, out) == (2, "")
        assert options[0].strip("-") in err

    def test_the_target_of_a_question(self, capsys: pytest.CaptureFixture[str], patients: str) -> None:
        assert run(capsys, "stability", "none.csv")[2] == (  # before data are read
            "serape: --finds blanket is about a column; name it with --target\n"
        )
        code, _, err = run(capsys, "stability", patients, "--finds", "skeleton", "-t", "HeartDisease")
        assert (code, "has no target" in err) == (2, True)

    def test_what_was_done_when_interrupted(
        self, capsys: pytest.CaptureFixture[str], patients: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for name in ("path", "stability", "blankets"):
            find_command(name)  # it is made of its question
        whole = serape.alpha_path(patients, "HeartDisease", [0.01, 0.05])
        part = replace(whole, alphas=whole.alphas[:1], members=whole.members[:1], complete=False)
        monkeypatch.setattr(serape, "alpha_path", lambda *_, **__: part)
        code, out, _ = run(capsys, "path", patients, "-t", "HeartDisease")
        assert code == 130
        assert "Smoking" in out
        assert "not complete: this is the result so far" in out
        whole_draws = serape.stability(patients, "HeartDisease", algorithm="iamb", draws=3)
        monkeypatch.setattr(serape, "stability", lambda *_, **__: replace(whole_draws, draws=2, complete=False))
        code, out, _ = run(capsys, "stability", patients, "-t", "HeartDisease", "--draws", "3")
        assert (code, "not complete: this is the result so far" in out) == (130, True)
        first = serape.Blankets(serape.blankets(patients, ["ECG"]), targets=["ECG", "Age"])
        monkeypatch.setattr(serape, "blankets", lambda *_, **__: first)
        code, out, _ = run(capsys, "blankets", patients, "-t", "ECG", "-t", "Age")
        assert (code, "ECG" in out) == (130, True)

    def test_a_budget(self, capsys: pytest.CaptureFixture[str], patients: str) -> None:
        """What a budget ended is an answer: the exit code is 0."""
        asked = ("-t", "HeartDisease", "--algorithm", "hiton-mb", "--max-tests", "30")
        for command in (("path", patients, "--alpha", "0.01"), ("stability", patients, "--draws", "2")):
            code, out, err = run(capsys, *command, *asked)
            assert (code, err) == (0, "")
            assert "not complete: this is the result so far" in out
            assert "the budget (--max-seconds, --max-tests) ended the search" in out


class TestAllBlankets:
    def test_all_of_it(self, capsys: pytest.CaptureFixture[str], patients: str, tmp_path: Path) -> None:
        picture, kept, report = (tmp_path / name for name in ("all.svg", "all.json", "all.html"))
        asked = ("all-blankets", patients, "-t", "HeartDisease", "--alpha", "0.01")
        files = ("--picture", str(picture), "-o", str(kept), "--report", str(report))
        code, out, err = run(capsys, *asked, *files, "--explain", "ECG")
        assert (code, err) == (0, "")
        assert out.startswith("Markov blankets of HeartDisease: 1 blanket\n")
        assert re.search(r"ECG +│ indispensable +│ 1 ", out)
        assert "ECG is indispensable: without it, the search finds" in out
        assert "ECG" in picture.read_text()
        assert report.read_text().endswith("</html>\n")
        expected = serape.all_blankets(patients, "HeartDisease", alpha=0.01)
        assert serape.load_result(kept) == expected
        content = json.loads(run(capsys, *asked, "--json", "--explain", "ECG")[1])
        assert content["blankets"] == [list(blanket) for blanket in expected.blankets]
        assert content["explanations"] == {"ECG": expected.explain("ECG")}

    def test_a_bound_and_interruption(
        self, capsys: pytest.CaptureFixture[str], patients: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        asked = ("all-blankets", patients, "-t", "HeartDisease", "--alpha", "0.01")
        code, out, _ = run(capsys, *asked, "--max-blankets", "1")
        assert code == 0
        assert "the search ended at --max-blankets 1: there may be more blankets" in out
        code, _, err = run(capsys, *asked, "--max-blankets", "0")
        assert code == 2
        assert "--max-blankets must be a whole number, 1 or more, not 0" in err

        def interrupted(*_: object, **__: object) -> serape.AllBlankets:
            raise serape.Interrupted(part)

        part = replace(serape.all_blankets(patients, "HeartDisease"), complete=False)
        monkeypatch.setattr(serape, "all_blankets", interrupted)
        code, out, _ = run(capsys, *asked)
        assert code == 130
        assert "not complete: this is the result so far" in out
