"""serape algorithms, demo and other lists; versions."""

import json

import pytest

import serape
from command import run


def test_algorithms(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "algorithms")
    assert code == 0
    assert "Margaritis" in out
    code, out, _ = run(capsys, "algorithms", "--json")
    assert {row["name"] for row in json.loads(out)} >= {"gs", "iamb"}


def test_demo(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "demo")
    assert (code, err) == (0, "")
    assert "exactly the blanket in the graph behind the data" in " ".join(out.split())
    code, out, _ = run(capsys, "demo", "--rows", "60")
    assert code == 0
    assert "missed" in out


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
