"""What the README shows works as shown."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import serape
from serape.cli import main

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


def test_python(tmp_path: Path) -> None:
    for block in blocks("python"):
        run = subprocess.run([sys.executable, "-c", block], cwd=tmp_path, capture_output=True, text=True, check=False)
        assert run.returncode == 0, run.stderr
        for shown in re.findall(r"# (\(.*\))", block):
            assert shown in run.stdout


def test_commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Every `serape …` line runs, on a file of the name it uses."""
    frame = serape.Table(serape.data.example.clinic(500)).to_pandas()
    frame.to_csv(tmp_path / "patients.csv", index=False)
    monkeypatch.chdir(tmp_path)
    lines = [line for block in blocks("sh") for line in block.splitlines() if line.startswith("serape ")]
    assert len(lines) >= 4
    for line in lines:
        arguments = shlex.split(line.partition(" > ")[0])[1:]
        with pytest.raises(SystemExit) as stop:
            main(arguments)
        assert not stop.value.code, line
        assert capsys.readouterr().out


def test_make_commands_exist() -> None:
    makefile = (ROOT / "Makefile").read_text()
    text = README + (ROOT / "CONTRIBUTING.md").read_text()
    for target in set(re.findall(r"(?:`|^)make (\w+)", text, re.MULTILINE)):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


def test_links_lead_somewhere() -> None:
    for path in [ROOT / "README.md", *ROOT.glob("docs/*.md")]:
        for link in re.findall(r"\]\(([^)#:]+)\)", path.read_text()):
            assert (path.parent / link).exists(), f"{path.name}: {link}"


def test_every_algorithm_is_in_the_table() -> None:
    for row in serape.algorithms():
        promise = f"{row['finds']} \\| {'yes' if row['sound'] else 'no'}"
        assert re.search(rf"^\| `{row['name']}`.*\| {promise} \|", README, re.MULTILINE), row["name"]


def test_changelog_and_version_agree() -> None:
    assert f"version: {serape.__version__}" in (ROOT / "CITATION.cff").read_text()
