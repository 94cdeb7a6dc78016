"""What a release consists of agrees with pyproject.toml, and the package says what it is made of."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

import oldest
import serape
from serape.versions import versions

ROOT = Path(__file__).parents[1]
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_the_oldest_versions_are_those_of_the_project() -> None:
    written = oldest.PLACE.read_text(encoding="utf-8")
    assert written == oldest.content(), "run: python tools/oldest.py"


def test_oldest_versions() -> None:
    extras: dict[str, list[str]] = {extra: [] for extra in oldest.EXTRAS}
    extras["plots"] = ["b[c,d]>=2", "a>=1.5", "a>=9; sys_platform == 'win32'", "free"]
    assert list(oldest.oldest({"dependencies": ["a>=1.5"], "optional-dependencies": extras})) == ["a==1.5", "b==2"]


@pytest.mark.parametrize("wrong", ["a>=2", "b>=1,<2"])
def test_oldest_versions_that_cannot_be_told(wrong: str) -> None:
    extras: dict[str, list[str]] = {extra: [] for extra in oldest.EXTRAS}
    with pytest.raises(SystemExit, match=r"pyproject\.toml"):
        list(oldest.oldest({"dependencies": ["a>=1.5", wrong], "optional-dependencies": extras}))


def test_one_version_everywhere() -> None:
    for file, pattern in (("CITATION.cff", r"^version: (\S+)"), ("packaging/conda/recipe.yaml", r'^  version: "(.*)"')):
        found = re.search(pattern, (ROOT / file).read_text(encoding="utf-8"), re.MULTILINE)
        assert found is not None
        assert found[1] == PROJECT["version"], file


def test_the_recipe_has_the_requirements() -> None:
    text = (ROOT / "packaging" / "conda" / "recipe.yaml").read_text(encoding="utf-8")
    extras = PROJECT["optional-dependencies"]
    wanted = [*PROJECT["dependencies"], *(line for name in ("arrow", "dask", "excel", "plots", "r", "sklearn")
                                          for line in extras[name])]  # fmt: skip
    for requirement in (line for line in wanted if ";" not in line):
        name, _, least = requirement.partition(">=")
        assert re.search(rf"- {name}(-base)? >={re.escape(least)}$", text, re.MULTILINE), requirement


def test_every_notice_is_named() -> None:
    listed = {file.name for file in (ROOT / "licenses").iterdir()}
    assert listed == {"nanobind.txt", "networks.txt", "robin-map.txt"}
    recipe = (ROOT / "packaging" / "conda" / "recipe.yaml").read_text(encoding="utf-8")
    assert all(f"licenses/{name}" in recipe for name in listed)
    notice = (ROOT / "src" / "serape" / "networks" / "bundled" / "README.md").read_text(encoding="utf-8")
    quoted = " ".join(line[2:] for line in notice.splitlines() if line.startswith("> "))
    assert quoted in " ".join((ROOT / "licenses" / "networks.txt").read_text(encoding="utf-8").split())


def test_versions(capsys: pytest.CaptureFixture[str]) -> None:
    serape.show_versions()
    text = capsys.readouterr().out
    assert text == versions() + "\n"
    found = dict(line.split(maxsplit=1) for line in text.splitlines())
    assert found["serape"] == serape.__version__
    assert found["numpy"] == version("numpy")
    assert found["Python"].startswith(sys.version.split()[0])
    assert found["compiler"].split()[0] in ("GCC", "Clang", "Debian", "Ubuntu", "Apple", "MSVC")
    assert not {"pytest", "ruff", "sphinx"} & found.keys()


IN_A_SUBINTERPRETER = """
try:
    import _interpreters as interpreters
    print(interpreters.exec(interpreters.create({kind!r}), "import serape").msg)
except ImportError:  # before Python 3.13
    import _xxsubinterpreters as interpreters
    try:
        interpreters.run_string(interpreters.create(isolated={kind!r} == "isolated"), "import serape")
    except Exception as error:
        print(error)
"""


@pytest.mark.parametrize("kind", ["isolated", "legacy"])
def test_subinterpreters_are_refused(kind: str) -> None:
    """In one sentence, of ours or of Python's, before NumPy refuses them in many."""
    command = [sys.executable, "-c", IN_A_SUBINTERPRETER.format(kind=kind)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    ours = "serape cannot be used in a subinterpreter of Python; use a process instead"
    pythons = "module serape._core does not support loading in subinterpreters"
    assert ours in done.stdout or pythons in done.stdout, done.stderr
