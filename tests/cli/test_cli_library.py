"""serape algorithms, demo and other lists; versions."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import serape
from command import run


def test_algorithms(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "algorithms")
    assert code == 0
    assert "Margaritis" in out
    code, out, _ = run(capsys, "algorithms", "--json")
    assert {row["name"] for row in json.loads(out)} >= {"gs", "iamb"}


class TestDemo:
    @pytest.fixture(autouse=True)
    def elsewhere(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)

    def test_finds_the_known_answer(self, capsys: pytest.CaptureFixture[str]) -> None:
        code, out, err = run(capsys, "demo")
        assert (code, err) == (0, "")
        assert "exactly the blanket in the graph behind the data" in " ".join(out.split())
        code, out, _ = run(capsys, "demo", "--rows", "60")
        assert code == 0
        assert "missed" in out

    def test_leaves_data_a_picture_and_a_report(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert run(capsys, "demo", "--rows", "200", "--out", "a folder/demo", "--report", "r.html")[0] == 0
        left = Path("a folder/demo")
        assert len(serape.Table(left / "patients.csv")) == 200
        assert (left / "heart.png").read_bytes().startswith(b"\x89PNG")
        assert "HeartDisease" in Path("r.html").read_text()

    def test_a_folder_that_cannot_be_made(self, capsys: pytest.CaptureFixture[str]) -> None:
        Path("file").write_text("")
        code, _, err = run(capsys, "demo", "--out", "file/demo")
        assert code == 1
        assert "the folder file/demo cannot be created: Not a directory; name another with --out" in err

    @pytest.mark.parametrize(("program", "on_path"), [("script", True), ("script", False), ("module", True)])
    def test_the_printed_command_works_as_printed(self, program: str, on_path: bool) -> None:
        script = Path(sys.executable).parent / "serape"
        words = [str(script)] if program == "script" else [sys.executable, "-m", "serape"]
        there = f"{script.parent}{os.pathsep}{os.environ['PATH']}"
        environment = os.environ | {"PATH": there if on_path else "/usr/bin:/bin"}
        shown = subprocess.run(
            [*words, "demo", "--rows", "100", "--out", "de mo"],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        (line,) = (line for line in shown.stdout.splitlines() if line.startswith("  ") and " blanket " in line)
        assert (line.split()[0] == "serape") == (program == "script" and on_path)
        again = subprocess.run(line, shell=True, env=environment, capture_output=True, text=True, check=True)
        assert "Markov blanket of ChestPain" in again.stdout


def test_version_and_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "--version") == (0, f"serape {serape.__version__}\n", "")
    for command in ((), ("blanket",), ("neighbours",), ("algorithms",), ("demo",)):
        code, out, _ = run(capsys, *command, "--help")
        assert code == 0
        assert "Usage" in out


def test_lists(capsys: pytest.CaptureFixture[str]) -> None:
    assert {entry["name"] for entry in json.loads(run(capsys, "sample", "--list", "--json")[1])} >= {
        "alarm",
        "asia",
    }
    assert {entry["study"] for entry in json.loads(run(capsys, "study", "--json")[1])} >= {"pena2005-table4"}
    code, _, err = run(capsys, "sample", "asia", "--json")
    assert code == 2
    assert "--json is for --list only" in err
