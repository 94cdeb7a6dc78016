"""Hostile names, numbers and files on the command line: one sentence, the right exit code, a terminal that is safe."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from command import run

HOSTILE = "b\x1b[31m\x1b]0;title\x07\x9b2J\r\u202e[red]"


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A file whose name, column names and levels steer terminals."""
    path = tmp_path_factory.mktemp("data") / "data\x1b[32m.csv"
    random = np.random.default_rng(0)
    t = random.integers(2, size=200)
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["t", HOSTILE, "c"])
        writer.writerows([a, f"{b}\x1b[5m", c] for a, b, c in zip(t, t, random.integers(3, size=200), strict=True))
    return str(path)


@pytest.mark.parametrize(
    "words",
    [
        ["blanket", "-t", "t", "--explain", HOSTILE],
        ["blanket", "-t", HOSTILE],
        ["describe"],
        ["skeleton"],
        ["network"],
        ["stability", "-t", "t", "--draws", "3"],
        ["path", "-t", "t", "--alpha", "0.01"],
        ["blanket", "-t", f"{HOSTILE}x"],
        ["blanket", "-t", "t", "--json"],
        ["blanket", "-t", "t", "--knowledge", "no\x1b[31m"],
    ],
)
def test_names_do_not_steer_a_terminal(hostile: str, capsys: pytest.CaptureFixture[str], words: list[str]) -> None:
    _, out, err = run(capsys, words[0], hostile, *words[1:])
    assert out + err
    assert not set("\x1b\x07\x9b\r\u202e") & set(out + err)


def test_names_that_an_encoding_lacks(hostile: str) -> None:
    command = [sys.executable, "-m", "serape", "blanket", hostile, "-t", "t"]
    done = subprocess.run(command, capture_output=True, env={"PYTHONIOENCODING": "ascii"}, timeout=60)
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"\\ufffd" in done.stdout


@pytest.mark.parametrize(
    "text",
    ["5", "[]", "null", '"x"', "[" * 100_000, "1" * 5000, "", '{"tiers": ' + "1" * 5000 + "}", '{"tiers": 5}', "\x00",
     '{"required": [["t"]]}', '{"required": [["t", 5]]}', '{"forbidden": {"t": 1}}', '{"unknown": []}'],
)  # fmt: skip
def test_knowledge_that_is_none_is_bad_use(
    patients: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str
) -> None:
    (tmp_path / "knowledge.json").write_text(text)
    code, _, err = run(capsys, "blanket", patients, "-t", "Age", "--knowledge", str(tmp_path / "knowledge.json"))
    assert code == 2
    assert err.startswith("serape: ")
    assert err.count("\n") == 1


def test_knowledge_that_is_not_utf8(patients: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "knowledge.json").write_bytes(b"\xff\xfe")
    code, _, err = run(capsys, "blanket", patients, "-t", "Age", "--knowledge", str(tmp_path / "knowledge.json"))
    assert (code, err.count("\n")) == (2, 1)


MEMORY = """
import resource, sys
from serape.cli import main
resource.setrlimit(resource.RLIMIT_AS, (int(sys.argv[1]),) * 2)
main(sys.argv[2:])
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the limit is that of Linux")
def test_too_little_memory(tmp_path: Path) -> None:
    words = [sys.executable, "-c", MEMORY, str(2**31), "sample", "alarm", "--rows", "400000000"]
    done = subprocess.run([*words, "-o", str(tmp_path / "x.csv")], capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert done.stderr.startswith("serape: there is not enough memory")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("value", ["-1", "nan", "1e308", "inf", str(2**70), "1" * 5000, "true", "text", ""])
@pytest.mark.parametrize(
    "option",
    ["--alpha", "--fdr", "--min-effect", "--max-conditioning", "--seed", "--jobs", "--max-seconds", "--max-tests",
     "--option=k", "--option=max-parents"],
)  # fmt: skip
def test_absurd_numbers(patients: str, capsys: pytest.CaptureFixture[str], option: str, value: str) -> None:
    code, _, err = run(capsys, "blanket", patients, "-t", "Age", f"{option}={value}")
    assert code in (0, 2)
    assert (err == "") == (code == 0)


def test_json_of_hostile_names_is_whole(hostile: str, capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "blanket", hostile, "-t", "t", "--json")
    assert json.loads(out)["blanket"] == [HOSTILE]


@pytest.mark.parametrize("command", ["blanket", "stability", "path", "skeleton", "network", "region"])
def test_settings_are_checked_before_data_are_read(
    command: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def read(*_: object, **__: object) -> None:
        raise AssertionError("the data were read")

    monkeypatch.setattr("serape.cli.data_options.DataOptions.read", read)
    target = [] if command in ("skeleton", "network") else ["-t", "y"]
    code, _, err = run(capsys, command, "no.csv", *target, "--max-tests", "0")
    assert (code, err) == (2, "serape: --max-tests must be a whole number, 1 or more, not 0\n")
