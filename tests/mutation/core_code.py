"""Mutants of a file of the core: changes of its text, line by line.

Comparisons, operators, numbers, truth values, min and max change; conditions become true or false, the sides of a
choice change places, statements of one line are left out. Heads of loops change in their start only: one step too far
reads beyond an array, of which nothing can be said.

A mutant is compiled by the command of the build folder, and linked with the objects that lie there; neither the build
folder nor the installed core changes.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from mutation.mutant import Mutant, distinct

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
    where = "file"
    for number, line in enumerate(lines, 1):
        found = _FUNCTION.match(line)
        if found and not line.startswith((" ", "//", "#", "namespace", "template")):
            where = found[1]
        stripped = line.strip()
        if not stripped or stripped.startswith(("//", "#", "namespace", "template", "using ")):
            continue
        if not line.startswith(" ") and not line.startswith("constexpr"):
            continue
        code = line.split("  //")[0].rstrip()
        for after in dict.fromkeys(_changes(code)):
            if after != code:
                shown = after.strip()
                yield Mutant(module, where, code.strip(), shown, range(number, number + 1), (number, after))


def _changes(code: str) -> Iterator[str]:
    """Return what a line may be replaced by."""
    head = re.match(r"\s*for \(([^;]*);[^;]*;[^;]*\) \{$", code)
    start, end = (head.start(1), head.end(1)) if head else (0, len(code))
    for pattern, others in RULES:
        for found in re.finditer(pattern, code):
            if start <= found.start() and found.end() <= end:
                for other in others:
                    yield code[: found.start()] + other + code[found.end() :]
    for found in _NUMBER.finditer(code):
        if start <= found.start() and found.end() <= end:
            text = found[0]
            whole = text.isdigit()
            others = (str(int(text) + 1),) if whole else ("1.0",) if float(text) == 0 else (f"(2 * {text})",)
            for other in others:
                yield code[: found.start()] + other + code[found.end() :]
    if head:
        return
    condition = _CONDITION.search(code)
    if condition and ";" not in condition[1]:
        for value in ("true", "false"):
            yield code[: condition.start()] + value + code[condition.end() :]
    for found in _CHOICE.finditer(code):
        yield f"{code[: found.start()]}? {found[2]} : {found[1]}{code[found.end() :]}"
    if _LEFT_OUT.fullmatch(code):
        yield ""


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
    number, after = mutant.change
    lines = path.read_text(encoding="utf-8").splitlines()
    lines[number - 1] = after
    source = folder / path.name
    source.write_text("\n".join(lines) + "\n", encoding="utf-8")
    build = build_folder()
    (compiling,) = (c for c in _commands() if c.endswith(f"-c {path}"))
    words = shlex.split(compiling)
    object_name = words[words.index("-o") + 1]
    changed = folder / "changed.o"
    words[words.index("-o") + 1] = str(changed)
    words[-1] = str(source)
    for flag in ("-MF", "-MT"):
        at = words.index(flag)
        del words[at : at + 2]
    words.remove("-MD")
    words += ["-iquote", str(path.parent), "-w"]
    if subprocess.run(words, cwd=build, capture_output=True, check=False).returncode:
        return None
    linking = next(c for c in reversed(_commands()) if " -shared " in c).removeprefix(": && ").removesuffix(" && :")
    words = shlex.split(linking)
    output = folder / words[words.index("-o") + 1]
    words[words.index("-o") + 1] = str(output)
    archive = next(i for i, word in enumerate(words) if word.endswith("libserape_core.a"))
    words.insert(archive, str(changed))  # found before the archive, which then gives the others
    if (
        not (build / object_name).exists()
        or subprocess.run(words, cwd=build, capture_output=True, check=False).returncode
    ):
        return None
    return output
