"""All changes of a C++ file in one text: each is made where a number, read once from the environment, is its own.

A change of `a < b` becomes `(mutant_number == 17 ? (a <= b) : (a < b))`, and a statement that is left out becomes
`if (mutant_number != 18) { … }`. What is guarded is the smallest expression around the change that stands between
brackets, commas, semicolons or assignments. Lines keep their numbers, so that errors of the compiler lead to changes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

VARIABLE = "SERAPE_MUTANT"
_HEAD = f"""#include <cstdlib>
static const int mutant_number = std::getenv("{VARIABLE}") ? std::atoi(std::getenv("{VARIABLE}")) : 0;
#line 1
"""
_ASSIGNS = re.compile(r"\s(=|return)\s$")


@dataclass(frozen=True)
class Edit:
    """A change of a text: what stands from one place to another is replaced."""

    start: int
    end: int
    text: str

    def of(self, text: str) -> str:
        """Return a text with the change."""
        return text[: self.start] + self.text + text[self.end :]


@dataclass
class _Place:
    """What is guarded: an expression or a statement, the changes of it by number, and the places within it."""

    start: int
    end: int
    statement: bool
    edits: dict[int, Edit] = field(default_factory=dict)
    inner: list[_Place] = field(default_factory=list)


def guarded(text: str, edits: Mapping[int, Edit]) -> tuple[str, dict[int, range]]:
    """Return the text with those changes that can be guarded, and by their numbers the lines of the guards."""
    code = re.sub(r"//[^\n]*|^#[^\n]*", lambda found: " " * len(found[0]), text, flags=re.MULTILINE)
    places: dict[tuple[int, int], _Place] = {}
    for number, edit in edits.items():
        found = _place(code, edit)
        if found is not None:
            places.setdefault((found.start, found.end), found).edits[number] = edit
    whole = _Place(0, len(text), statement=False)
    around = [whole]
    for place in sorted(places.values(), key=lambda place: (place.start, -place.end)):
        while place.start >= around[-1].end:
            around.pop()
        if place.end <= around[-1].end:  # otherwise they cross
            around[-1].inner.append(place)
            around.append(place)
    lines: dict[int, range] = {}
    return _HEAD + _rendered(text, code, whole, lines), lines


def _rendered(text: str, code: str, place: _Place, lines: dict[int, range]) -> str:
    """Return what replaces a place; `code` is the text without comments."""
    parts, at = [], place.start
    for inner in place.inner:
        parts += [text[at : inner.start], _rendered(text, code, inner, lines)]
        at = inner.end
    made = "".join([*parts, text[at : place.end]])
    first = text.count("\n", 0, place.start) + 1
    for number in place.edits:
        lines[number] = range(first, first + text.count("\n", place.start, place.end) + 1)
    if place.statement:
        (number,) = place.edits
        return f"if (mutant_number != {number}) {{ {made} }}"
    if not place.edits:
        return made
    others = {number: edit.of(code[: place.end])[place.start :] for number, edit in place.edits.items()}
    kind = "bool" if {"true", "false"} & set(others.values()) else ""  # what converts to bool in conditions alone
    chosen = "".join(f"mutant_number == {n} ? {kind}({' '.join(other.split())}) : " for n, other in others.items())
    return f"({chosen}{kind}({made}))"


def _place(code: str, edit: Edit) -> _Place | None:
    """Return what must be guarded for a change; None if there is no guard for it."""
    begin = _begin(code, edit.start)
    statement = max(code.rfind(mark, 0, edit.start) for mark in ";{}") + 1
    if re.search(r"\b(constexpr|static_assert|template|using|enum)\b", code[statement : edit.start]):
        return None
    if not edit.text and code[edit.end - 1] == ";":  # a statement is left out
        return _Place(edit.start, edit.end, statement=True) if not code[statement : edit.start].strip() else None
    end = _end(code, edit.end)
    begin += len(code[begin:end]) - len(code[begin:end].lstrip())
    end = begin + len(code[begin:end].rstrip())
    whole = _is_whole(code[begin:end]) and is_closed(code[edit.start : edit.end])
    return _Place(begin, end, statement=False) if whole else None


def _begin(code: str, at: int) -> int:
    """Return where the expression around a place begins."""
    depth = 0
    while at > 0:
        before = code[at - 1]
        if before in ")]}" and (depth or before != "}" or code[at : at + 1] != "\n"):  # else a block ends there
            depth += 1
        elif before in "([{" and depth:
            depth -= 1
        elif before in "([{}" or (not depth and (before in ",;" or _ASSIGNS.search(code, max(at - 8, 0), at))):
            return at
        at -= 1
    return 0


def _end(code: str, at: int) -> int:
    """Return where the expression around a place ends."""
    depth = 0
    while at < len(code):
        if code[at] in "([{":
            depth += 1
        elif code[at] in ")]}" and depth:
            depth -= 1
        elif code[at] in ")]}" or (depth == 0 and code[at] in ",;"):
            return at
        at += 1
    return at


def _is_whole(expression: str) -> bool:
    """Return whether this is an expression, with no declaration, nor a part of the arguments of a template."""
    brackets = re.sub(r" (<|>|<<|>>|<=|>=|<=>) |->", "", expression)
    return brackets.count("<") == brackets.count(">") and " = " not in re.sub(r"\([^()]*\)|\{[^{}]*\}", "", expression)


def is_closed(text: str) -> bool:
    """Return whether every bracket of a text is closed in it."""
    return _begin(text, len(text)) == 0 == len(text) - _end(text, 0)
