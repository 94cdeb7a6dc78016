"""The command line: results on stdout, everything else on stderr, exit codes that mean something."""

import csv
import gzip
import io
import json
import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import serape
from serape.cli import main
from serape.cli.app import app
from serape.data.example import clinic
from serape.data.writing import write_table


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as stop:
        main(list(arguments))
    out, err = capsys.readouterr()
    return int(stop.value.code or 0), out, err


@pytest.fixture(scope="module")
def patients(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("data") / "patients.csv"
    data = clinic(5000)
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(data)
        writer.writerows(zip(*data.values(), strict=True))
    return str(path)


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
    assert "'mixed' was chosen because 1 of 3 columns" in " ".join(out.split())
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
        (["blanket", "PATIENTS", "-t", "Age", "--alpha", "2"], 2, "alpha must lie between 0 and 1"),
        (["blanket", "PATIENTS", "-t", "Age", "--kind", "Age"], 2, "NAME=categorical"),
        (["blanket", "PATIENTS", "-t", "Age", "--explain", "Agee"], 2, "no variable 'Agee'"),
        (["blanket", "PATIENTS", "-t", "Age", "-o", "/none/found.json"], 1, "cannot be written"),
        (["blanket", "PATIENTS"], 2, "--target"),
        (["blanket", "PATIENTS", "-t", "Age", "--dof", "some"], 2, "dof"),
        (["nonsense"], 2, "nonsense"),
        (["blanket", "PATIENTS", "-t", "Age", "--seed", "-1"], 2, "random_state"),
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


def test_algorithms(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "algorithms")
    assert code == 0
    assert "Margaritis" in out
    code, out, _ = run(capsys, "algorithms", "--json")
    assert {row["name"] for row in json.loads(out)} >= {"gs", "iamb"}


def test_demo(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "demo")
    assert (code, err) == (0, "")
    assert "exactly the blanket in the graph the data were drawn from" in " ".join(out.split())
    code, out, _ = run(capsys, "demo", "--rows", "60")
    assert code == 0
    assert "missed" in out


def test_version_and_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "--version") == (0, f"serape {serape.__version__}\n", "")
    for command in ((), ("blanket",), ("neighbours",), ("algorithms",), ("demo",)):
        code, out, _ = run(capsys, *command, "--help")
        assert code == 0
        assert "Usage" in out


def test_names_are_shown_as_they_are(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """A column called [red] is a name, not a colour."""
    path = tmp_path / "d.csv"
    path.write_text("t,[red]x[/red]\n" + "".join(f"{k % 2},{k % 2}\n" for k in range(100)))
    _, out, _ = run(capsys, "blanket", str(path), "-t", "t", "--explain", "[red]x[/red]")
    assert out.count("[red]x[/red]") >= 2


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
    assert "interrupted" in out
    assert "Traceback" not in err


class TestStructure:
    @pytest.fixture
    def asia(self, tmp_path: Path) -> str:
        path = tmp_path / "asia.csv"
        write_table(serape.load_network("asia").sample(2000, 1), path)
        return str(path)

    def test_network(self, capsys: pytest.CaptureFixture[str], asia: str, tmp_path: Path) -> None:
        picture, bif, kept = (str(tmp_path / name) for name in ("net.svg", "net.bif", "net.json"))
        code, out, _ = run(capsys, "network", asia, "--truth", "asia", "--picture", picture, "--bif", bif, "-o", kept)
        assert code == 0
        assert "Network of 8 variables" in out
        assert "structural Hamming distance" in out
        assert "bdeu score" in out
        assert "<svg" in Path(picture).read_text()
        assert set(serape.read_bif(bif).variables) == set(serape.load_network("asia").variables)
        assert json.loads(Path(kept).read_text())["algorithm"] == "mmhc"

    def test_skeleton_and_region(self, capsys: pytest.CaptureFixture[str], asia: str, tmp_path: Path) -> None:
        kept = str(tmp_path / "kept.jsonl")
        code, out, _ = run(capsys, "skeleton", asia, "--checkpoint", kept, "--json")
        assert code == 0
        assert json.loads(out)["finds"] == "skeleton"
        code, out, _ = run(capsys, "skeleton", asia, "--checkpoint", kept)
        assert "8 neighbourhoods were taken from the checkpoint" in out
        code, out, _ = run(capsys, "region", asia, "-t", "either", "--depth", "1", "--json")
        assert {node["distance"] for node in json.loads(out)["nodes"]} == {0, 1}
        code, out, _ = run(capsys, "region", asia, "-t", "either", "--depth", "1")
        assert "Within 1 edge of either" in out

    def test_knowledge(self, capsys: pytest.CaptureFixture[str], asia: str, tmp_path: Path) -> None:
        path = tmp_path / "known.json"
        path.write_text('{"required": [["xray", "asia"]]}')
        code, out, _ = run(capsys, "network", asia, "--algorithm", "pc-stable", "--knowledge", str(path), "--json")
        assert code == 0
        assert ("xray", "asia", True) in {(e["from"], e["to"], e["directed"]) for e in json.loads(out)["edges"]}
        path.write_text('{"required": [["xray", "asia"], ["asia", "xray"]]}')
        code, _, err = run(capsys, "network", asia, "--knowledge", str(path))
        assert (code, "both required" in err) == (2, True)

    def test_refuses_before_it_searches(self, capsys: pytest.CaptureFixture[str], asia: str, tmp_path: Path) -> None:
        code, out, err = run(capsys, "network", asia, "--picture", str(tmp_path / "net.gif"))
        assert (code, out) == (2, "")
        assert ".png, .svg or .pdf" in err
        code, out, err = run(capsys, "network", asia, "--knowledge", str(tmp_path / "none.json"))
        assert (code, out) == (2, "")


class TestPictures:
    @pytest.mark.parametrize("command", ["blanket", "neighbours"])
    def test_of_one_column(
        self, capsys: pytest.CaptureFixture[str], patients: str, tmp_path: Path, command: str
    ) -> None:
        path = tmp_path / "found.svg"
        code, out, err = run(capsys, command, patients, "-t", "HeartDisease", "--picture", str(path))
        assert (code, err) == (0, "")
        assert "Smoking" in out
        assert "Smoking" in path.read_text()  # names are text, not outlines

    @pytest.mark.parametrize("command", ["blanket", "neighbours", "path", "stability"])
    def test_refused_before_the_search(self, capsys: pytest.CaptureFixture[str], patients: str, command: str) -> None:
        code, out, err = run(capsys, command, patients, "-t", "HeartDisease", "--picture", "found.gif")
        assert (code, out) == (2, "")
        assert ".png, .svg or .pdf" in err


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

    def test_nothing_found(self, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
        path = tmp_path / "noise.csv"
        path.write_text("a,b\n" + "0,0\n0,1\n1,0\n1,1\n" * 50)
        assert "nothing was found at any of them" in run(capsys, "path", str(path), "-t", "a", "--alpha", "0.01")[1]
        out = run(capsys, "stability", str(path), "-t", "a", "--draws", "4", "--alpha", "0.0001")[1]
        assert "in half of them or more: nothing" in out

    def test_many_columns_are_summed_up(self, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
        codes = np.random.default_rng(0).integers(0, 2, (60, 80))
        path = tmp_path / "wide.csv"
        write_table(serape.Table(codes), path)
        out = run(capsys, "stability", str(path), "-t", "x0", "--draws", "20", "--alpha", "0.2")[1]
        assert re.search(r"and \d+ others, each in \d+% of the draws at most", out)

    @pytest.mark.parametrize("options", [["--threshold", "0"], ["--draws", "0"], ["--threshold", "1.5"]])
    def test_bad_use(self, capsys: pytest.CaptureFixture[str], patients: str, options: list[str]) -> None:
        code, out, err = run(capsys, "stability", patients, "-t", "HeartDisease", *options)
        assert (code, out) == (2, "")
        assert options[0].strip("-") in err

    def test_what_was_done_when_interrupted(
        self, capsys: pytest.CaptureFixture[str], patients: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        whole = serape.alpha_path(patients, "HeartDisease", [0.01, 0.05])
        part = replace(whole, alphas=whole.alphas[:1], members=whole.members[:1], complete=False)
        monkeypatch.setattr(serape, "alpha_path", lambda *_, **__: part)
        code, out, _ = run(capsys, "path", patients, "-t", "HeartDisease")
        assert code == 130
        assert "Smoking" in out
        assert "interrupted: this is what had been found by then" in out


class TestReport:
    def test_blanket_and_neighbours(self, capsys: pytest.CaptureFixture[str], patients: str, tmp_path: Path) -> None:
        for command in ("blanket", "neighbours"):
            path = tmp_path / f"{command}.html"
            code, out, err = run(capsys, command, patients, "-t", "HeartDisease", "--report", str(path))
            assert (code, err) == (0, "")
            assert "HeartDisease" in out
            text = path.read_text()
            assert text.startswith("<!doctype html>")
            assert f"serape {command} " in text  # how to reproduce it

    def test_structures(self, capsys: pytest.CaptureFixture[str], patients: str, tmp_path: Path) -> None:
        for command in ("skeleton", "network"):
            path = tmp_path / f"{command}.html"
            code, _, _ = run(capsys, command, patients, "--report", str(path), "--json")
            assert code == 0
            assert "14 variables" in path.read_text()

    def test_demo(self, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
        code, out, _ = run(capsys, "demo", "--report", str(tmp_path / "demo.html"))
        assert code == 0
        assert "open it in a browser" in out
        assert (tmp_path / "demo.html").exists()

    @pytest.mark.parametrize("command", ["blanket", "network", "skeleton", "neighbours"])
    def test_a_folder_that_is_not_there(self, capsys: pytest.CaptureFixture[str], patients: str, command: str) -> None:
        target = [] if command in ("network", "skeleton") else ["-t", "Age"]
        code, out, err = run(capsys, command, patients, *target, "--report", "/none/report.html")
        assert (code, out) == (1, "")  # before the search
        assert err == "serape: /none/report.html cannot be written: there is no folder /none\n"


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

    @pytest.mark.parametrize(
        ("content", "sentence"),
        [
            (b"", "standard input is empty"),
            (b"a,b\n1,2\n1\n", "standard input, line 3: 1 fields where the first line has 2"),
            (b"a,b\n\xff\xfe,1\n", "standard input is not UTF-8 text"),
            (gzip.compress(b"a,b\n1,2\n", mtime=0), "standard input is not UTF-8 text"),
        ],
        ids=["empty", "ragged", "bytes", "zipped"],
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


class TestHelp:
    @staticmethod
    def commands() -> list[str]:
        return [info.name or "" for info in app.registered_commands]

    def test_every_command_has_help_and_examples_that_parse(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert len(self.commands()) == 11
        for info in app.registered_commands:
            code, out, _ = run(capsys, info.name or "", "--help")
            assert code == 0
            assert "Example" in out
            examples = [line for line in (info.epilog or "").split("\n\n") if "serape " in line]
            assert examples
            for example in examples:
                for part in example.partition("Example: ")[2:] if "Example: " in example else [example]:
                    words = shlex.split(re.sub(r" > \S+", "", part.split(" | ")[-1]))
                    assert words[:1] == ["serape"]
                    assert words[1] in self.commands()
                    known = set(re.findall(r"(?<![\w-])--?[a-z][a-z-]*", run(capsys, words[1], "--help")[1]))
                    assert {word for word in words[2:] if word.startswith("-") and len(word) > 1} <= {*known, "-1"}

    def test_every_option_is_explained(self) -> None:
        import typer

        group = typer.main.get_command(app)
        for name, command in group.commands.items():  # type: ignore[attr-defined]
            for parameter in command.params:
                assert getattr(parameter, "help", None), (name, parameter.name)

    def test_the_same_options_everywhere(self, capsys: pytest.CaptureFixture[str]) -> None:
        shared = ["--missing", "--kind", "--ignore", "--header", "--na", "--test", "--alpha", "--reliability", "--dof",
                  "--knowledge", "--seed", "--jobs", "--algorithm", "--output", "--json", "--quiet"]  # fmt: skip
        for command in ("blanket", "neighbours", "path", "stability", "region", "skeleton", "network"):
            out = run(capsys, command, "--help")[1]
            assert [option for option in shared if option not in out] == []

    def test_without_arguments(self, capsys: pytest.CaptureFixture[str]) -> None:
        code, out, err = run(capsys)
        assert code == 2
        assert "Usage: serape" in out + err


class TestJson:
    def test_lists(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert {entry["name"] for entry in json.loads(run(capsys, "sample", "--list", "--json")[1])} >= {
            "alarm",
            "asia",
        }
        assert {entry["study"] for entry in json.loads(run(capsys, "study", "--json")[1])} >= {"pena2005-table4"}
        code, _, err = run(capsys, "sample", "asia", "--json")
        assert code == 2
        assert "--json is about the list" in err

    def test_region(self, capsys: pytest.CaptureFixture[str], patients: str, tmp_path: Path) -> None:
        kept = tmp_path / "region.json"
        code, out, _ = run(capsys, "region", patients, "-t", "ECG", "--depth", "1", "--json", "-o", str(kept))
        assert code == 0
        assert json.loads(out) == json.loads(kept.read_text())


class TestCompletion:
    @pytest.fixture
    def complete(
        self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> Callable[[str], list[str]]:
        def completed(line: str) -> list[str]:
            monkeypatch.setenv("_SERAPE_COMPLETE", "complete_bash")
            monkeypatch.setenv("COMP_WORDS", line)
            monkeypatch.setenv("COMP_CWORD", str(line.count(" ")))
            return run(capsys)[1].split()

        return completed

    def test_names(self, complete: Callable[[str], list[str]], patients: str) -> None:
        assert complete("serape bl") == ["blanket"]
        assert complete("serape blanket --algorithm hiton") == ["hiton-mb"]
        assert complete("serape stability --algorithm hiton") == ["hiton-mb"]
        assert complete("serape path --finds parents-children --algorithm hiton") == ["hiton-pc"]
        assert complete("serape network --algorithm hiton") == ["hiton-pc"]
        assert complete("serape network --algorithm mm") == ["mmpc", "mmhc"]
        assert complete("serape network --test part") == ["partial-correlation"]
        assert complete(f"serape blanket {patients} --target Bl") == ["BloodPressure"]
        assert complete(f"serape blanket {patients} --ignore ") == list(clinic(2))
        assert complete("serape blanket none.csv --target Bl") == []
        assert complete("serape sample as") == ["asia"]
        assert complete("serape study pena2005-table4") == ["pena2005-table4"]

    def test_it_can_be_installed(self, capsys: pytest.CaptureFixture[str]) -> None:
        _, out, _ = run(capsys, "--help")
        assert "--install-completion" in out
        assert "--show-completion" in out


class TestWidth:
    NAME = "a_column_with_a_name_that_is_longer_than_a_narrow_terminal"

    def test_names_are_not_cut(
        self, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = tmp_path / "d.csv"
        path.write_text(f"t,{self.NAME}\n" + "".join(f"{k % 2},{k % 2}\n" for k in range(100)))
        for columns in ("30", "80", "200"):
            monkeypatch.setenv("COLUMNS", columns)
            for command in (["blanket", str(path), "-t", "t"], ["skeleton", str(path)]):
                _, out, _ = run(capsys, *command)
                assert self.NAME in out.replace("\n", "")
                assert "…" not in out

    def test_pipes_get_whole_lines(self, capsys: pytest.CaptureFixture[str], patients: str) -> None:
        _, out, _ = run(capsys, "blanket", patients, "-t", "HeartDisease", "--explain", "Weight")
        assert str(serape.markov_blanket(patients, "HeartDisease").explain("Weight")) in out.splitlines()


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
class TestTerminal:
    @staticmethod
    def on_a_terminal(*arguments: str, **environment: str) -> str:
        """Run a command with standard output and error on a pseudo-terminal, and return what it wrote there."""
        import pty

        outer, inner = pty.openpty()
        plain = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "FORCE_COLOR", "TERM", "COLUMNS")}
        with subprocess.Popen(
            arguments, stdout=inner, stderr=inner, stdin=inner, env={**plain, "TERM": "xterm-256color", **environment}
        ) as process:
            os.close(inner)
            seen = b""
            try:
                while block := os.read(outer, 65536):
                    seen += block
            except OSError:  # the other end is closed
                pass
            assert process.wait() == 0
        os.close(outer)
        return seen.decode()

    def test_colours_can_be_turned_off(self) -> None:
        colour = re.compile(r"\x1b\[[0-9;]*3[0-9]")
        command = (sys.executable, "-m", "serape", "--help")
        assert colour.search(self.on_a_terminal(*command))
        assert not colour.search(self.on_a_terminal(*command, NO_COLOR="1"))

    def test_the_time_left_is_shown(self, tmp_path: Path) -> None:
        script = tmp_path / "slow.py"
        script.write_text(
            "import sys\n"
            "import serape.parallel.map\n"
            "serape.parallel.map.PATIENCE = 0.0  # no waiting\n"
            "from serape.cli import main\n"
            "main(['skeleton', sys.argv[1]])\n"
        )
        path = tmp_path / "asia.csv"
        write_table(serape.load_network("asia").sample(200, 1), path)
        shown = self.on_a_terminal(sys.executable, str(script), str(path))
        assert "8/8" in shown
        assert re.search(r"\d:\d\d:\d\d", shown)
