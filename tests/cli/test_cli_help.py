"""Help and completion."""

import contextlib
import io
import re
import shlex
import subprocess
import sys
from collections.abc import Callable

import pytest

import commands
from command import run
from serape.cli import main
from serape.cli.app import MODULES, app
from serape.cli.base import find_command
from serape.data.example import clinic


@pytest.fixture(scope="module")
def helps() -> dict[str, str]:
    """The help of each command, hidden ones too."""
    shown = {}
    for name in MODULES:
        with contextlib.redirect_stdout(io.StringIO()) as out, pytest.raises(SystemExit) as stop:
            main([name, "--help"])
        assert not stop.value.code
        shown[name] = out.getvalue()
    return shown


class TestHelp:
    @staticmethod
    def commands() -> list[str]:
        return [name for name in MODULES if not find_command(name).hidden]

    def test_every_command_has_help_and_examples_that_parse(self, helps: dict[str, str]) -> None:
        assert len(self.commands()) == 22
        for info in map(find_command, MODULES):
            assert "Example" in helps[info.name or ""]
            examples = [line for line in (info.epilog or "").split("\n\n") if "serape " in line]
            assert examples
            for example in examples:
                for part in example.partition("Example: ")[2:] if "Example: " in example else [example]:
                    words = shlex.split(re.sub(r" > \S+", "", part.split(" | ")[-1]))
                    assert words[:1] == ["serape"]
                    assert words[1] in self.commands()
                    known = set(re.findall(r"(?<![\w-])--?[a-z][a-z-]*", helps[words[1]]))
                    assert {word for word in words[2:] if word.startswith("-") and len(word) > 1} <= {*known, "-1"}

    def test_every_option_is_explained(self) -> None:
        import typer

        group = typer.main.get_command(app)
        for name, command in group.commands.items():  # type: ignore[attr-defined]
            for parameter in command.params:
                assert getattr(parameter, "help", None), (name, parameter.name)

    def test_the_same_options_everywhere(self, helps: dict[str, str]) -> None:
        shared = ["--missing", "--kind", "--ignore", "--header", "--na", "--test", "--alpha", "--reliability", "--dof",
                  "--knowledge", "--seed", "--jobs", "--algorithm", "--output", "--json", "--quiet"]  # fmt: skip
        for command in ("blanket", "neighbours", "path", "stability", "region", "skeleton", "network"):
            assert [option for option in shared if option not in helps[command]] == []

    def test_the_reference_page_is_up_to_date(self) -> None:
        assert not commands.outdated(), "run python tools/commands.py"

    def test_the_reference_page_has_every_option_of_the_help(self, helps: dict[str, str]) -> None:
        """Each is in the section of its command, or among the shared options that the section names."""
        page = commands.PATH.read_text(encoding="utf-8")
        shared = page.partition("## Options that commands share")[2]
        for name in self.commands():
            section = page.partition(f"## serape {name}\n")[2].partition("\n## ")[0]
            shown = re.findall(r"^│[ *]*(--[a-z-]+)", helps[name], re.MULTILINE)
            assert shown
            for option in {*shown} - {"--help"}:
                own = f"- `{option}" in section
                assert own or (f"- `{option}" in shared and "Shared: " in section), (name, option)

    def test_without_arguments(self, capsys: pytest.CaptureFixture[str]) -> None:
        code, out, err = run(capsys)
        assert code == 2
        assert "Usage: serape" in out + err


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
        assert complete("serape bl") == ["blanket", "blankets"]
        assert complete("serape blanket --algorithm hiton") == ["hiton-mb"]
        assert complete("serape blankets --algorithm hiton") == ["hiton-mb"]
        assert complete("serape stability --algorithm hiton") == ["hiton-mb"]
        assert complete("serape stability --finds network --algorithm mmh") == ["mmhc"]
        assert complete("serape stability --finds skeleton --algorithm hiton") == ["hiton-pc"]
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


def test_commands_import_no_large_package() -> None:
    """Each takes longer to import than the command line itself; so do questions that are asked for other commands."""
    look = """
import sys
from importlib import import_module
import serape.cli.questions
early = [name for name in sys.modules if name.startswith("serape.questions.")]
from serape.cli.app import MODULES
for module in MODULES.values():
    import_module(module)
print(*early, *{"sklearn", "networkx", "matplotlib", "pandas"} & sys.modules.keys())
"""
    done = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
