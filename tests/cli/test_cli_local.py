"""serape blanket and neighbours: results on stdout, everything else on stderr, exit codes that mean something."""

import json
import math
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import serape
from command import run
from serape.cli.show import print_grid
from serape.independence.outcomes import p_value_text


def test_blanket(capsys: pytest.CaptureFixture[str], patients: str) -> None:
    code, out, err = run(
        capsys, "blanket", patients, "--target", "HeartDisease", "--alpha", "0.01", "--explain", "Weight"
    )
    assert code == 0
    assert err == ""
    assert "Markov blanket of HeartDisease: 6 variables" in out
    assert "Smoking" in out
    assert "Weight is not in the Markov blanket" in " ".join(out.split())
    assert "\x1b" not in out  # no colours into a pipe


def test_neighbours(capsys: pytest.CaptureFixture[str], patients: str) -> None:
    code, out, err = run(capsys, "neighbours", patients, "-t", "HeartDisease", "--alpha", "0.01", "--json")
    assert (code, err) == (0, "")
    expected = serape.parents_children(patients, "HeartDisease", alpha=0.01)
    assert json.loads(out)["parents_children"] == list(expected.members)
    code, out, _ = run(capsys, "neighbours", patients, "-t", "HeartDisease", "--alpha", "0.01")
    assert f"Parents and children of HeartDisease: {len(expected.members)} variables" in out
    code, again, _ = run(capsys, "neighbors", patients, "-t", "HeartDisease", "--alpha", "0.01")
    assert (code, again.splitlines()[:4]) == (0, out.splitlines()[:4])


def test_options_of_algorithms(capsys: pytest.CaptureFixture[str], patients: str) -> None:
    asked = ("blanket", patients, "-t", "HeartDisease", "--json")
    asked_for: tuple[tuple[str, tuple[str, ...], dict[str, Any]], ...] = (
        ("fbed", ("k=2",), {"k": 2}),
        ("fbed", ("k=inf",), {"k": "inf"}),
        ("fbed", ("k=none",), {"k": None}),
        ("fast-iamb", ("k=2.5",), {"k": 2.5}),
        ("iamb", ("rank=information",), {"rank": "information"}),
        ("pcmb", ("symmetry=False", "zero_dof=independent"), {"symmetry": False, "zero_dof": "independent"}),
    )
    for algorithm, entries, options in asked_for:
        code, out, err = run(capsys, *asked, "--algorithm", algorithm, *(w for e in entries for w in ("--option", e)))
        assert (code, err) == (0, "")
        found = json.loads(out)
        assert {name: found["options"][name] for name in options} == options
        expected = serape.markov_blanket(patients, "HeartDisease", algorithm, **options)
        assert found["blanket"] == list(expected.blanket)


@pytest.mark.parametrize(
    ("entry", "sentence"),
    [
        ("k", "--option k must be NAME=VALUE, such as --option k=2"),
        ("alpha=0.1", "'alpha' is no option of an algorithm; use --alpha"),
        ("depth=3", "no algorithm has an option 'depth'. They are equal_separators, k, "),
        ("rank=p", "rank must be 'significance' or 'information', not 'p'"),
        ("k=2", "algorithm 'iamb' has no option 'k' (it takes 'rank')"),
    ],
)
def test_wrong_options_of_algorithms(
    capsys: pytest.CaptureFixture[str], patients: str, entry: str, sentence: str
) -> None:
    code, out, err = run(capsys, "blanket", patients, "-t", "Age", "--algorithm", "iamb", "--option", entry)
    assert (code, out) == (2, "")
    assert sentence in err
    assert err.count("\n") == 1


def test_effects(capsys: pytest.CaptureFixture[str], patients: str) -> None:
    asked = ("neighbours", patients, "-t", "HeartDisease", "--alpha", "0.01")
    plain = serape.parents_children(patients, "HeartDisease", alpha=0.01)
    effects = {name: plain.explain(name).effect for name in plain.members}
    code, out, _ = run(capsys, *asked)
    assert code == 0
    assert all(str(effect) in out for effect in effects.values())
    assert "bits, Cramér's V" in out
    strongest = max(effects, key=lambda name: -1.0 if (effect := effects[name]) is None else effect.bits)
    most = effects[strongest]
    assert most is not None
    code, out, _ = run(capsys, *asked, "--min-effect", str(most.bits), "--json")
    assert (code, json.loads(out)["parents_children"]) == (0, [strongest])
    code, _, err = run(capsys, *asked, "--min-effect", "-1")
    assert code == 2
    assert "--min-effect must be a number of bits" in err


def test_a_false_discovery_rate(capsys: pytest.CaptureFixture[str], patients: str) -> None:
    asked = ("blanket", patients, "-t", "HeartDisease", "--algorithm", "hiton-mb", "--alpha", "0.05")
    expected = serape.markov_blanket(patients, "HeartDisease", "hiton-mb", alpha=0.05, fdr=0.01, fdr_method="by")
    code, out, err = run(capsys, *asked, "--fdr", "0.01", "--fdr-method", "by", "--json")
    assert (code, err) == (0, "")
    content = json.loads(out)
    assert content["blanket"] == list(expected.blanket)
    assert (content["fdr"], content["threshold"], content["adjusted_p"]) == (
        0.01,
        expected.threshold,
        expected.adjusted_p,
    )
    code, out, _ = run(capsys, *asked, "--fdr", "0.01", "--fdr-method", "by")
    assert f"false discovery rate 0.01 (p up to {p_value_text(expected.threshold or 0)})" in " ".join(out.split())
    assert "adjusted p" in out
    assert all(p_value_text(expected.adjusted_p[name]) in out for name in expected.blanket)
    code, out, _ = run(capsys, *asked)
    assert "adjusted p" not in out
    assert run(capsys, *asked, "--fdr", "1.5")[0] == 2
    assert run(capsys, *asked, "--fdr", "0.1", "--fdr-method", "none")[0] == 2


@pytest.mark.parametrize("budget", [("--max-tests", "20"), ("--max-seconds", "1e-9")])
def test_a_budget(capsys: pytest.CaptureFixture[str], patients: str, budget: tuple[str, str]) -> None:
    """What a budget ended is an answer, and the exit code tells it."""
    code, out, err = run(capsys, "blanket", patients, "-t", "HeartDisease", "--algorithm", "hiton-mb", *budget)
    assert (code, err) == (3, "")
    limit = f"{budget[0]} {budget[1].replace('1e-9', '1e-09')}"
    assert out.splitlines()[1].startswith(f"not complete: the search stopped at {limit}: ")
    assert out.count("the search stopped at") == 1
    code, out, _ = run(capsys, "blanket", patients, "-t", "HeartDisease", "--algorithm", "hiton-mb", *budget, "--json")
    assert (code, json.loads(out)["complete"]) == (3, False)


def test_names_in_any_case(capsys: pytest.CaptureFixture[str], patients: str) -> None:
    found = [
        json.loads(
            run(capsys, "blanket", patients, "-t", "HeartDisease", "--algorithm", name, "--test", test, "--json")[1]
        )
        for name, test in (("hiton-mb", "g2"), ("HITON_MB", "G2"))
    ]
    assert found[0]["algorithm"] == found[1]["algorithm"] == "hiton-mb"
    assert found[0]["blanket"] == found[1]["blanket"]


def test_json(capsys: pytest.CaptureFixture[str], patients: str, tmp_path: Path) -> None:
    saved = tmp_path / "found.json"
    code, out, err = run(
        capsys, "blanket", patients, "-t", "HeartDisease", "--alpha", "0.01", "--algorithm", "gs", "--test", "x2",
        "--dof", "adjusted", "--reliability", "cells", "--jobs", "2", "--seed", "1", "--json", "-o", str(saved),
    )  # fmt: skip
    assert (code, err) == (0, "")
    printed = json.loads(out)
    expected = serape.markov_blanket(
        patients,
        "HeartDisease",
        algorithm="gs",
        test="x2",
        alpha=0.01,
        dof="adjusted",
        reliability="cells",
        random_state=1,
    )
    assert printed["blanket"] == list(expected.blanket)
    assert printed["tests"] == expected.tests
    assert serape.load_result(saved).blanket == expected.blanket


def test_kinds_and_missing(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "d.csv"
    path.write_text("t,x,y\n" + "".join(f"{k % 2},{k % 2 + 0.5},{'' if k == 3 else k % 3}\n" for k in range(200)))
    code, _, err = run(capsys, "blanket", str(path), "-t", "t")
    assert code == 1
    assert "missing in 'y'" in err
    code, out, _ = run(capsys, "blanket", str(path), "-t", "t", "--missing", "drop", "--test", "mixed")
    assert code == 0
    code, _, err = run(capsys, "blanket", str(path), "-t", "t", "--missing", "drop", "--test", "g2")
    assert code == 1
    assert "'x' is continuous" in err
    code, out, _ = run(capsys, "blanket", str(path), "-t", "t", "--missing", "pairwise")
    assert code == 0
    assert "'residuals' was chosen because 1 of 3 columns" in " ".join(out.split())
    code, out, _ = run(capsys, "blanket", str(path), "-t", "t", "--missing", "drop", "--kind", "x=categorical")
    assert code == 0
    assert "1 variable\n" in out
    assert "1 of 200 rows dropped" in out


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (["blanket", "none.csv", "-t", "x"], 1, "there is no file none.csv"),
        (["blanket", "PATIENTS", "-t", "Heart"], 2, "no column 'Heart'"),
        (["blanket", "PATIENTS", "-t", "Age", "--algorithm", "magic"], 2, "'magic' is not known"),
        (["blanket", "PATIENTS", "-t", "Age", "--alpha", "2"], 2, "alpha must be between 0 and 1"),
        (["blanket", "PATIENTS", "-t", "Age", "--kind", "Age"], 2, "NAME=categorical"),
        (["blanket", "PATIENTS", "-t", "Age", "--explain", "Agee"], 2, "no variable 'Agee'"),
        (["blanket", "PATIENTS", "-t", "Age", "-o", "/none/found.json"], 1, "cannot be written"),
        (["blanket", "PATIENTS"], 2, "--target"),
        (["blanket", "PATIENTS", "-t", "Age", "--dof", "some"], 2, "dof"),
        (["nonsense"], 2, "nonsense"),
        (["blanket", "PATIENTS", "-t", "Age", "--seed", "-1"], 2, "--seed"),
        (["blanket", "PATIENTS", "-t", "Age", "-o", "/"], 1, "cannot be written"),
        (["blanket", "PATIENTS", "-t", "Age", "--ignore", "Agee"], 2, "no column 'Agee' to ignore"),
    ],
)
def test_errors(
    capsys: pytest.CaptureFixture[str], patients: str, arguments: list[str], code: int, sentence: str
) -> None:
    found, _, err = run(capsys, *(patients if a == "PATIENTS" else a for a in arguments))
    assert found == code
    assert sentence in err
    assert "Traceback" not in err


def test_names_are_shown_as_they_are(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """A column called [red] is a name, not a colour."""
    path = tmp_path / "d.csv"
    path.write_text("t,[red]x[/red]\n" + "".join(f"{k % 2},{k % 2}\n" for k in range(100)))
    _, out, _ = run(capsys, "blanket", str(path), "-t", "t", "--explain", "[red]x[/red]")
    assert out.count("[red]x[/red]") >= 2


def test_heads_of_tables_are_shown_as_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    """A context called :cat: is no picture of a cat."""
    print_grid(["variable", ":cat:"], [["Age", "in"]])
    assert ":cat:" in capsys.readouterr().out


def test_control_c_prints_what_was_found(tmp_path: Path) -> None:
    """A real process, a real signal: exit code 130 and a result on stdout."""
    script = tmp_path / "slow.py"
    script.write_text(
        "import signal, sys, serape\n"
        "from serape.local import registry\n"
        "def slow(search, target):\n"
        "    search.members(target).add(1)\n"
        "    print('ready', file=sys.stderr, flush=True)\n"
        "    search.weakest([1], target, list(range(2, 60)))\n"
        "registry.ALGORITHMS['iamb'] = registry.Algorithm('iamb', slow, 'blanket', '', True, '')\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)  # the background ignores it\n"
        "from serape.cli import main\n"
        "main(['blanket', sys.argv[1], '-t', 'x0', '--algorithm', 'iamb', '--reliability', 'none'])\n"
    )
    data = tmp_path / "d.csv"
    values = np.random.default_rng(0).integers(2, size=(2000, 60))
    np.savetxt(data, values, fmt="%d", delimiter=",", header=",".join(f"x{k}" for k in range(60)), comments="")
    process = subprocess.Popen(
        [sys.executable, str(script), str(data)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stderr is not None
    assert process.stderr.readline() == "ready\n"
    os.kill(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Markov blanket of x0: 1 variable" in out
    assert "not complete: this is the result so far" in out
    assert "Traceback" not in err


def test_json_has_records_with_names_and_p(capsys: pytest.CaptureFixture[str], patients: str) -> None:
    code, out, _ = run(capsys, "blanket", patients, "-t", "HeartDisease", "--json")
    assert code == 0
    found = serape.markov_blanket(patients, "HeartDisease")
    records = {row["variable"]: row for row in json.loads(out)["records"]}
    assert [name for name, row in records.items() if row["included"]] == list(found.blanket)
    for name, row in records.items():
        why = found.explain(name)
        assert row["given"] == (None if why.given is None else list(why.given))
        assert row["separating_set"] == (None if why.separating_set is None else list(why.separating_set))
        assert row["p"] == pytest.approx(math.exp(why.log_p))
        assert row["reliable"] is why.reliable


def test_explanations_in_json(capsys: pytest.CaptureFixture[str], patients: str) -> None:
    code, out, _ = run(capsys, "blanket", patients, "--target", "HeartDisease", "--json", "--explain", "Weight")
    content = json.loads(out)
    assert code == 0
    assert content["explanations"]["Weight"].startswith("Weight is not in the Markov blanket of HeartDisease")
