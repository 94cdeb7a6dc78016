"""What commands show: pictures, reports, widths, colours, progress."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import serape
from command import run
from serape.data.writing import write_table


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
        assert err == "serape: /none/report.html cannot be written: there is no folder /none; create it first\n"


class TestExplanations:
    """Of one variable, or of two, by what the kind of result is about."""

    @pytest.mark.parametrize(
        ("arguments", "asked", "told"),
        [
            (["path", "-t", "HeartDisease", "--alpha", "0.01"], "Smoking", "Smoking enters at alpha 0.01 and is"),
            (["stability", "-t", "HeartDisease", "--draws", "2"], "ECG", "ECG is found in 2 of 2 draws (100%)."),
            (["stability", "--finds", "skeleton", "--draws", "2"], "ECG,Ward", "ECG and Ward are adjacent in 0 of 2"),
            (["skeleton"], "ECG, HeartDisease", "ECG and HeartDisease are adjacent ("),
            (["network"], "HeartDisease,ECG", "There is an arc from HeartDisease to ECG ("),
            (["knockoffs", "-t", "HeartDisease", "--seed", "1"], "ECG", "ECG stands out from its knockoff: W ="),
        ],
    )
    def test_in_text_and_json(
        self, capsys: pytest.CaptureFixture[str], patients: str, arguments: list[str], asked: str, told: str
    ) -> None:
        name, *options = arguments
        code, out, err = run(capsys, name, patients, *options, "--explain", asked)
        assert (code, err) == (0, "")
        assert f"\n\n{told}" in out
        _, out, _ = run(capsys, name, patients, *options, "--explain", asked, "--json")
        assert json.loads(out)["explanations"][asked].startswith(told)

    def test_of_names_with_commas(self, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
        path = tmp_path / "d.csv"
        path.write_text('"a,b",c\n' + "".join(f"{k % 2},{k % 2}\n" for k in range(100)))
        assert "a,b and c are adjacent" in run(capsys, "skeleton", str(path), "--explain", "a,b,c")[1]
        assert "a,b and c are adjacent" in run(capsys, "skeleton", str(path), "--explain", "c,a,b")[1].replace(
            "c and a,b", "a,b and c"
        )

    @pytest.mark.parametrize(
        ("asked", "complaint"),
        [("ECG", "--explain 'ECG' must be two columns, as in --explain ECG,OTHER"), ("ECG,Wrad", "no variable 'Wrad'")],
    )
    def test_bad_pairs(self, capsys: pytest.CaptureFixture[str], patients: str, asked: str, complaint: str) -> None:
        code, out, err = run(capsys, "skeleton", patients, "--explain", asked)
        assert (code, out) == (2, "")
        assert complaint in err


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

    def test_a_narrow_table_has_a_few_lines_for_each_row(
        self, capsys: pytest.CaptureFixture[str], patients: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("COLUMNS", "80")
        _, out, _ = run(capsys, "blanket", patients, "-t", "HeartDisease")
        assert re.search(r"\nSmoking\n  statistic \S+, dof \d+, p \S+, .*\n  .*given .*\n", out)
        _, out, _ = run(capsys, "network", patients)
        assert re.search(r"\nHeartDisease → ECG\n  statistic ", out)
        _, out, _ = run(capsys, "causes", patients, "-t", "HeartDisease")
        assert re.search(r"\nECG ←\n  role effect, statistic ", out)
        assert not re.search(r" $", out, re.MULTILINE)

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
            "import serape.parallel.progress_bar\n"
            "serape.parallel.progress_bar.PATIENCE = 0.0  # no waiting\n"
            "from serape.cli import main\n"
            "main(['skeleton', sys.argv[1]])\n"
        )
        path = tmp_path / "asia.csv"
        write_table(serape.load_network("asia").sample(200, 1), path)
        shown = self.on_a_terminal(sys.executable, str(script), str(path))
        assert "8/8" in shown
        assert re.search(r"\d:\d\d:\d\d", shown)


class TestClosedOutput:
    """Somebody reads the first lines only, or the disk is full."""

    @staticmethod
    def ended(command: str) -> tuple[int, str]:
        """Return the exit code of the command before the pipe, and what was printed on standard error."""
        script = f"{command.replace('serape', f'{sys.executable} -m serape', 1)}; exit ${{PIPESTATUS[0]}}"
        done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=60)
        return done.returncode, done.stderr

    @pytest.mark.parametrize(
        "command",
        [
            "serape sample asia --rows 50000 | head -1",
            "serape algorithms | true",
            "serape --help | true",
            "serape blanket --help | true",
        ],
    )
    def test_a_closed_pipe_ends_a_command_silently(self, command: str) -> None:
        assert self.ended(command) == (141, "")  # as that of `yes | head -1`

    def test_a_closed_pipe_after_all_was_written(self, patients: str) -> None:
        code, err = self.ended(f"serape blanket {patients} -t HeartDisease --json | head -c 10")
        assert code in (0, 141)
        assert err == ""

    @pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
    @pytest.mark.parametrize("words", ["algorithms", "--help", "--version", "algorithms --json"])
    def test_a_full_disk(self, words: str) -> None:
        code, err = self.ended(f"serape {words} > /dev/full")
        assert code == 1
        assert err == "serape: the output cannot be written: No space left on device\n"
