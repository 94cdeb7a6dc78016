"""What README and docs show works as shown: every block of code, every command, example, picture and link."""

from __future__ import annotations

import inspect
import re
import runpy
import shlex
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import file_map
import pages
import serape
from benchmarks.__main__ import COMMANDS, parse
from serape.names import ALIASES
from serape.networks import bundled_networks
from serape.settings import FIELDS

RUN = [page for page in pages.pages() if any(map(pages.is_run, pages.blocks(page)))]
EXAMPLES = sorted((pages.ROOT / "examples").glob("*.py"))
GALLERY = (pages.DOCS / "gallery.md").read_text()
PICTURES = pages.DOCS / "pictures"
ELSEWHERE = {"sklearn_pipeline.py": "tests/selector runs it; its figures depend on the version of scikit-learn"}


def name(path: Path) -> str:
    return path.relative_to(pages.ROOT).as_posix()


@pytest.mark.parametrize("page", RUN, ids=name)
def test_page(page: Path, tmp_path: Path) -> None:
    """Its code and commands run, print what it says they print, and make the pictures it shows."""
    pages.run_page(page, tmp_path)
    assert pages.shown_pictures(page) <= {path.name for path in tmp_path.iterdir()}


def test_pages_that_show_pictures_make_them() -> None:
    shown = {page: pages.shown_pictures(page) for page in pages.pages()}
    assert {page for page, these in shown.items() if these} <= set(RUN)
    assert set().union(*shown.values()) == {picture.name for picture in PICTURES.iterdir()}
    assert all(picture.stat().st_size < 100_000 for picture in PICTURES.iterdir())


@pytest.mark.parametrize("page", pages.pages(), ids=name)
def test_blocks_say_what_they_are(page: Path) -> None:
    """No code hides in a block that is not run."""
    for block in pages.blocks(page):
        assert block.language in ("python", "sh", "text") or block.language.startswith("{"), block
        if block.language == "text":
            assert not re.search(r"^(import |from \w+ import |\$ |serape )", block.text, re.MULTILINE), block
        if block.language == "sh":
            for line in block.text.splitlines():
                assert re.match(
                    r"#|$|serape |make |pip install |uvx |pipx run |python (-m benchmarks |(examples|docs|tests)/)",
                    line,
                ), line


@pytest.mark.parametrize("page", pages.pages(), ids=name)
def test_scripts_and_make_targets_are_there(page: Path) -> None:
    """A script that a page names is there and has the options; what it says to make can be made."""
    text = page.read_text()
    for script, options in re.findall(r"python ((?:examples|docs|tests)/\w+\.py)([^`\n]*)", text):
        code = (pages.ROOT / script).read_text()
        for option in re.findall(r"(?<!\w)--[a-z-]+", options):
            assert f'"{option}"' in code, f"{script} has no {option}"
    for arguments in re.findall(r"python -m benchmarks ([a-z][^`\n]*)", text):
        words = shlex.split(arguments, comments=True)
        assert words in ([command] for command in COMMANDS) or parse(words)
    makefile = (pages.ROOT / "Makefile").read_text()
    for target in re.findall(r"(?:`|^)make ([\w-]+)", text, re.MULTILINE):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


@pytest.mark.parametrize("page", pages.pages(), ids=name)
def test_links_lead_somewhere(page: Path) -> None:
    for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text()):
        assert (page.parent / link).exists(), link


def test_runner_notices_what_is_not_true(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    for wrong in (
        "```python\n1 / 0\n```\n",
        "```python\nprint((1, 2))  # (1, 3)\n```\n",
        "```python\nprint('one')\n```\n\n```text\ntwo\n```\n",
        "```sh\nserape blanket patients.csv --target Nobody\n```\n",
        "```sh\nserape sample asia --rows 9 --seed 1 | serape blanket - --target nobody\n```\n",
        "```python\nimport warnings\nwarnings.warn('no', stacklevel=1)\n```\n",
    ):
        page.write_text(wrong)
        with pytest.raises((AssertionError, ZeroDivisionError, UserWarning)):
            pages.run_page(page, tmp_path)
    page.write_text(
        "```python\nfor time in ('0.25', '30'):\n    print(f'in {time} s')\n```\n\n"
        "```text\nin 0.27 s\nin 2,000 s\n```\n"
        "```sh\nserape sample asia --rows 99 --seed 1 | serape skeleton - --json > a.json  # a comment\n```\n"
    )
    pages.run_page(page, tmp_path)
    assert (tmp_path / "a.json").read_text().startswith("{")


# --- examples --------------------------------------------------------------------------------------------------------


def test_every_example_is_in_the_gallery() -> None:
    assert set(re.findall(r"\{literalinclude\} \.\./examples/(\w+\.py)", GALLERY)) == {path.name for path in EXAMPLES}


@pytest.mark.parametrize("example", EXAMPLES, ids=name)
def test_example(
    example: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It runs, and prints what the gallery says."""
    if example.name in ELSEWHERE:
        pytest.skip(ELSEWHERE[example.name])
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(example), run_name="__main__")
    shown = re.search(rf"examples/{example.name}\n.*?^```$\s*```text\n(.*?)^```$", GALLERY, re.DOTALL | re.MULTILINE)
    assert shown is not None
    assert pages.without_seconds(capsys.readouterr().out) == pages.without_seconds(shown[1])
    assert f"python examples/{example.name}" in example.read_text()


# --- completeness ----------------------------------------------------------------------------------------------------


def test_every_algorithm_is_in_the_table() -> None:
    text = (pages.DOCS / "algorithms.md").read_text()
    for row in serape.algorithms():
        promise = f"{row['finds']} \\| {'yes' if row['sound'] else 'no'}"
        assert re.search(rf"^\| `{row['name']}`.*\| {promise} \|", text, re.MULTILINE), row["name"]


def test_the_settings_page_has_every_setting_and_its_default() -> None:
    text = (pages.DOCS / "settings.md").read_text()
    rows = re.findall(r"^\| `(\w+)` \| `([^`]*)` \| `--", text, re.MULTILINE)
    assert rows == [(name, repr(f.default).replace("'", '"')) for name, f in FIELDS.items()]


def test_the_settings_page_says_which_question_takes_which_setting() -> None:
    text = (pages.DOCS / "settings.md").read_text().partition("| question | settings |")[2].partition("\n\n")[0]
    rows = dict(re.findall(r"^\| `(\w+)` \| (all.*|`[^|]*`) \|$", text, re.MULTILINE))
    questions = [name for name in dir(serape) if hasattr(getattr(serape, name), "refused_settings")]
    assert set(rows) == {*questions, "MarkovBlanketSelector"}
    for name, told in rows.items():
        named = re.findall(r"`(\w+)`", told)
        shown = [setting for setting in FIELDS if setting not in named] if told.startswith("all") else named
        parameters = inspect.signature(getattr(serape, name)).parameters
        assert shown == [setting for setting in FIELDS if setting in parameters]


def test_the_settings_page_has_every_alias() -> None:
    text = (pages.DOCS / "settings.md").read_text().partition("| alias | name |")[2].partition("```")[0]
    rows = re.findall(r"^\| (.*) \| `([\w-]+)` \|$", text, re.MULTILINE)
    assert {alias: name for group, name in rows for alias in re.findall(r"`(\w+)`", group)} == ALIASES


def test_every_page_is_in_the_index() -> None:
    listed = re.findall(r"^([\w/-]+)$", (pages.DOCS / "index.md").read_text(), re.MULTILINE)
    listed += re.findall(r"^([\w/-]+)$", (pages.DOCS / "studies.md").read_text(), re.MULTILINE)
    there = {
        page.relative_to(pages.DOCS).with_suffix("").as_posix() for page in pages.pages() if page.parent != pages.ROOT
    }
    assert there - {"index"} == set(listed) - {"hidden"}


def test_every_room_is_on_the_map_and_the_map_fits_on_a_screen() -> None:
    """The architecture page names every folder and module of the package, and no cell of it is longer than a line."""
    text = (pages.DOCS / "architecture.md").read_text()
    for path in (pages.ROOT / "src" / "serape").iterdir():
        if path.suffix == ".py" or (path / "__init__.py").exists():
            assert path.name.startswith("__") or re.search(rf"\b{path.stem}\b", text), path
    assert len(text.splitlines()) <= 80
    assert max(map(len, text.splitlines())) <= 120


def test_every_file_says_in_its_first_line_what_it_is() -> None:
    found = file_map.lines()
    assert len(found) > 300
    assert [line for line in found if not line.endswith((".", "?"))] == []


def test_changelog_and_version_agree() -> None:
    assert f"version: {serape.__version__}" in (pages.ROOT / "CITATION.cff").read_text()


def test_counts_that_pages_tell() -> None:
    text = (pages.ROOT / "README.md").read_text()
    told: Any = re.search(r"(\d+)\s+benchmark\s+networks", text)
    assert int(told[1]) == len(bundled_networks())


@pytest.mark.skipif(
    not all(find_spec(module) for module in ("sphinx", "myst_parser", "furo")),
    reason="needs pip install 'serape[docs]'",
)
def test_the_documentation_is_built_without_warnings(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "sphinx", "-W", "-q", "-b", "dummy", str(pages.DOCS), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
