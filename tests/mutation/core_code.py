"""Mutants of a file of the core: changes of its text, line by line.

Comparisons, operators, numbers, truth values, min and max change; conditions become true or false, the sides of a
choice change places, statements of one line are left out. Heads of loops change in their start only: one step too far
reads beyond an array, of which nothing can be said.

What is compiled is compiled by the command of the build folder, and linked with the objects that lie there; neither the
build folder nor the installed core changes. One build holds all mutants that a number can choose; the others have one
each.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from mutation import schemata
from mutation.mutant import Mutant, distinct
from mutation.schemata import Edit

ROOT = Path(__file__).resolve().parents[2]

RULES: tuple[tuple[str, tuple[str, ...]], ...] = (
    (r" < (?![^;]*>\()", (" <= ", " >= ")),
    (r" <= ", (" < ", " > ")),
    (r" > ", (" >= ", " <= ")),
    (r" >= ", (" > ", " < ")),
    (r" == ", (" != ",)),
    (r" != ", (" == ",)),
    (r" \+ ", (" - ",)),
    (r" - ", (" + ",)),
    (r" \* ", (" / ",)),
    (r" / ", (" * ",)),
    (r" \+= ", (" -= ",)),
    (r" -= ", (" += ",)),
    (r" \*= ", (" /= ",)),
    (r" && ", (" || ",)),
    (r" \|\| ", (" && ",)),
    (r"\bstd::min\b", ("std::max",)),
    (r"\bstd::max\b", ("std::min",)),
    (r"\btrue\b", ("false",)),
    (r"\bfalse\b", ("true",)),
    (r"!(?=[\w(])", ("",)),
    (r"(?<=[(,=] )-(?=[\w(])|(?<=[({])-(?=[\w(])|(?<=return )-(?=[\w(])", ("",)),
)
_NUMBER = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?(?:e-?\d+)?)(?![\w.])")
_LEFT_OUT = re.compile(
    r"\s+(?!return\b|const\b|auto\b|using\b)(?:[\w:]+(?:\.|->))*[\w:]+(?:\[[^;]*\])*(?:\(.*\)| [-+*]?= .*);$"
)
_CONDITION = re.compile(r"(?<=\bif \()(.*)(?=\) \{$)")
_CHOICE = re.compile(r"\? ([^?:]+) : ([^?:;,)]+)")
_FUNCTION = re.compile(r"^(?:[\w:<>,&* ]+[ &*])?((?:\w+::)*[\w()]+)\(")


def mutants(path: Path, module: str) -> list[Mutant]:
    """Return the mutants of a file."""
    return distinct(_drawn(path.read_text(encoding="utf-8").splitlines(), module))


def _drawn(lines: list[str], module: str) -> Iterator[Mutant]:
    where, end, begins = "file", 0, True
    for number, line in enumerate(lines, 1):
        begin, end = end, end + len(line) + 1
        found = _FUNCTION.match(line)
        if found and not line.startswith((" ", "//", "#", "namespace", "template")):
            where = found[1]
        stripped = line.strip()
        if not stripped or stripped.startswith(("//", "#", "namespace", "template", "using ")):
            continue
        if not line.startswith(" ") and not line.startswith("constexpr"):
            continue
        code = line.split("  //")[0].rstrip()
        began, begins = begins, code.endswith((";", "{", "}", ":"))
        for edit in _changes(code, began):
            after = edit.of(code)
            if after != code:
                change = replace(edit, start=begin + edit.start, end=begin + edit.end)
                yield Mutant(module, where, code.strip(), after.strip(), range(number, number + 1), change)


def _changes(code: str, begins: bool) -> Iterator[Edit]:
    """Return what may change in a line, which begins a statement or goes on with one."""
    head = re.match(r"\s*for \(([^;]*);[^;]*;[^;]*\) \{$", code)
    start, end = (head.start(1), head.end(1)) if head else (0, len(code))
    for pattern, others in RULES:
        for found in re.finditer(pattern, code):
            if start <= found.start() and found.end() <= end:
                for other in others:
                    yield Edit(found.start(), found.end(), other)
    for found in _NUMBER.finditer(code):
        if start <= found.start() and found.end() <= end:
            text = found[0]
            whole = text.isdigit()
            others = (str(int(text) + 1),) if whole else ("1.0",) if float(text) == 0 else (f"(2 * {text})",)
            for other in others:
                yield Edit(found.start(), found.end(), other)
    if head:
        return
    condition = _CONDITION.search(code)
    if condition and ";" not in condition[1]:
        for value in ("true", "false"):
            yield Edit(condition.start(), condition.end(), value)
    for found in _CHOICE.finditer(code):
        if schemata.is_closed(found[1]) and schemata.is_closed(found[2]):
            yield Edit(found.start(), found.end(), f"? {found[2]} : {found[1]}")
    if begins and _LEFT_OUT.fullmatch(code):
        yield Edit(len(code) - len(code.lstrip()), len(code), "")


@cache
def _commands() -> list[str]:
    """Return the commands of the build of the core."""
    ninja = Path(sys.executable).with_name("ninja")
    folder = build_folder()
    return subprocess.run(
        [ninja, "-C", folder, "-t", "commands", "_core"], capture_output=True, text=True, check=True
    ).stdout.splitlines()


@cache
def build_folder() -> Path:
    """Return the folder in which the installed core was built."""
    tag = f"cp{sys.version_info.major}{sys.version_info.minor}"
    found = sorted((ROOT / "build").glob(f"{tag}-*/build.ninja"))
    if not found:
        raise FileNotFoundError("there is no build folder of the core: run `make test` first")
    return found[0].parent


def built(path: Path, mutant: Mutant, folder: Path) -> Path | None:
    """Compile the file with the change and link the core, in a folder of its own; None if it is no C++."""
    try:
        return _core_with(path, mutant.change.of(path.read_text(encoding="utf-8")), folder)
    except subprocess.CalledProcessError:
        return None


@dataclass(frozen=True)
class Together:
    """One build of the core for many mutants of a file."""

    library: Path
    numbers: dict[str, int]
    """By mutant, the value of the variable of the environment that makes it; 0 makes none."""


def built_together(path: Path, mutants: Sequence[Mutant], folder: Path) -> Together:
    """Compile the file with all mutants that can be chosen by a number; leave out those that the compiler refuses."""
    text = path.read_text(encoding="utf-8")
    edits = {number: mutant.change for number, mutant in enumerate(mutants, 1)}
    while True:
        source, lines = schemata.guarded(text, edits)
        try:
            library = _core_with(path, source, folder)
        except subprocess.CalledProcessError as error:
            shown = [rf"{path.name}:(\d+):\d+: error", rf"{path.name}:(\d+)"]  # the others lead to errors in headers
            named = next((found for pattern in shown if (found := re.findall(pattern, error.stderr))), [])
            refused = {number for number, its in lines.items() if any(int(line) in its for line in named)}
            if not refused:
                raise
            edits = {number: edit for number, edit in edits.items() if number in lines and number not in refused}
        else:
            return Together(library, {mutants[number - 1].key: number for number in lines})


def _core_with(path: Path, text: str, folder: Path) -> Path:
    """Compile another text in place of a file of the core, and link the core with it."""
    source = folder / path.name
    source.write_text(text, encoding="utf-8")
    build = build_folder()
    (compiling,) = (c for c in _commands() if c.endswith(f"-c {path}"))
    words = shlex.split(compiling)
    assert (build / words[words.index("-o") + 1]).exists()
    changed = folder / "changed.o"
    words[words.index("-o") + 1] = str(changed)
    words[-1] = str(source)
    for flag in ("-MF", "-MT"):
        at = words.index(flag)
        del words[at : at + 2]
    words.remove("-MD")
    words += ["-iquote", str(path.parent), "-w"]
    subprocess.run(words, cwd=build, capture_output=True, check=True, text=True)
    linking = next(c for c in reversed(_commands()) if " -shared " in c).removeprefix(": && ").removesuffix(" && :")
    words = shlex.split(linking)
    output = folder / words[words.index("-o") + 1]
    words[words.index("-o") + 1] = str(output)
    archive = next(i for i, word in enumerate(words) if word.endswith("libserape_core.a"))
    words.insert(archive, str(changed))  # found before the archive, which then gives the others
    subprocess.run(words, cwd=build, capture_output=True, check=True, text=True)
    return output
