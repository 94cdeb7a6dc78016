"""How names are written in pictures: lines, sizes, and fonts that have the characters.

matplotlib draws a box and warns where the font lacks a character. So installed fonts that have the missing characters
are added to the font of the caller. A character that no font has is drawn as �, and the picture says so. Since version
3.11 matplotlib writes right-to-left names in their order and joins Arabic letters. For older versions the letters are
put in order here, but not joined.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from itertools import groupby
from typing import TYPE_CHECKING, Any, Literal

from serape.markup import RIGHT_TO_LEFT, shown
from serape.results.layout import Point

if TYPE_CHECKING:
    from matplotlib.font_manager import FontProperties

POINT = 1 / 72
"""In inches."""
_UNKNOWN = "\ufffd"
_TO_RIGHT = "\u200e"  # an invisible letter that runs from left to right
_MAX_LINE = 32
_LAST_RESORT = "Last Resort"  # a font of matplotlib that draws a box for every character


class Lettering:
    """The font for some texts, and the texts as they can be drawn."""

    def __init__(self, texts: Iterable[str]) -> None:
        import matplotlib as mpl

        own = [str(family) for family in mpl.rcParams["font.family"]]
        used = {_TO_RIGHT, *(c for text in texts for c in shown(text, len(text)))} - {"\n"}
        missing = frozenset(c for c in used if not c.isascii() or not c.isprintable()) - _covered(own, used)
        fallbacks, self._absent = _fallbacks(missing)
        self._families = [*own, *fallbacks]
        self.note = "� stands for characters that no installed font has." if self._absent - _invisible(used) else ""
        """What to say in the picture; empty if fonts have all characters."""

    def font(self, points: float, weight: Literal["normal", "bold"] = "normal") -> FontProperties:
        """Return the font in a size."""
        from matplotlib.font_manager import FontProperties

        return FontProperties(family=self._families, size=points, weight=weight)

    def line(self, text: str) -> str:
        """Return a text as it can be drawn."""
        fit = "".join(_replaced(c) if c in self._absent else c for c in text)
        return fit if _shapes() else "\n".join(map(in_visual_order, fit.split("\n")))

    def name(self, name: str) -> str:
        """Return a name in lines, as it can be drawn."""
        return self.line(wrapped(shown(name, len(name))))

    def sentence(self, text: str, max_length: int = 80) -> str:
        """Return a sentence in lines, as it can be drawn; a right-to-left name in it does not turn what follows."""
        return self.line(RIGHT_TO_LEFT.sub(rf"\g<0>{_TO_RIGHT}", wrapped(shown(text, len(text)), max_length)))

    def title(self, title: str, max_length: int = 80) -> str:
        """Return a title in lines, with the note below it."""
        return "\n".join(filter(None, [self.sentence(title, max_length), self.note]))


# --- sizes -----------------------------------------------------------------------------------------------------------


def letters(text: str) -> int:
    """Return the length of a text in letters; a Chinese, Japanese or Korean character counts as two."""
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def wrapped(name: str, max_length: int = _MAX_LINE) -> str:
    """Break a long name into lines, after a space or punctuation mark where possible, and not within a number."""
    lines = []
    while letters(name) > max_length:
        longest = next(k for k in range(min(len(name) - 1, max_length), 0, -1) if letters(name[:k]) <= max_length)
        while longest > 1 and unicodedata.combining(name[longest]):  # an accent stays with its letter
            longest -= 1
        marks = [k for k in range(longest // 2, longest) if not name[k].isalnum() and not _in_number(name, k)]
        at = max((k for k in marks if name[k].isspace()), default=max(marks, default=longest - 1)) + 1
        lines.append(name[:at])
        name = name[at:]
    return "\n".join([*lines, name])


def _in_number(text: str, k: int) -> bool:
    """Return whether a mark stands within a number, as the point and the sign in 4.4e-6 do."""
    return text[k] in ".,-" and text[k + 1 : k + 2].isdigit() and text[max(0, k - 1)].isalnum()


def text_size(text: str, font: FontProperties) -> Point:
    """Return the width and height of a text in inches."""
    from matplotlib.textpath import TextToPath

    width = max(TextToPath().get_text_width_height_descent(line, font, False)[0] for line in text.split("\n"))
    return width * POINT, (text.count("\n") + 1) * font.get_size_in_points() * 1.2 * POINT


def box_size(label: str, font: FontProperties) -> Point:
    """Return the width and height of the box around a label in inches."""
    width, height = text_size(label, font)
    return max(width + 0.16, 0.34), height + 0.1


# --- fonts -----------------------------------------------------------------------------------------------------------


def _covered(families: Iterable[str], characters: Iterable[str]) -> set[str]:
    """Return the characters that the fonts of families have."""
    from matplotlib.font_manager import FontProperties, findfont

    paths = [findfont(FontProperties(family=[family])) for family in families]
    return {c for c in characters if any(c in _has(str(path), frozenset(c)) for path in paths)}


@lru_cache(maxsize=64)
def _fallbacks(missing: frozenset[str]) -> tuple[tuple[str, ...], frozenset[str]]:
    """Return the fewest fonts, found greedily, that have the missing characters, and the characters that none has."""
    if not missing:
        return (), missing
    families: list[str] = []
    entries = _entries()
    while missing:
        best = max(entries, key=lambda entry: len(_has(entry.fname, missing)), default=None)
        found = frozenset() if best is None else _has(best.fname, missing)
        if best is None or not found:
            break
        families.append(best.name)
        missing -= found
    return tuple(families), missing


def _entries() -> list[Any]:
    """Return the installed fonts, the plainest first; matplotlib may not know yet those installed lately."""
    from matplotlib.font_manager import findSystemFonts, fontManager

    for path in sorted(set(findSystemFonts()) - {entry.fname for entry in fontManager.ttflist}):
        try:
            fontManager.addfont(path)
        except (OSError, RuntimeError, ValueError):  # no font that matplotlib can read
            continue

    def plainness(entry: Any) -> tuple[Any, ...]:
        return (entry.style != "normal", entry.weight not in (400, "normal", "regular"), "Sans" not in entry.name,
                "Mono" in entry.name, entry.name, entry.fname)  # fmt: skip

    return sorted((entry for entry in fontManager.ttflist if not entry.name.startswith(_LAST_RESORT)), key=plainness)


@lru_cache(maxsize=4096)
def _has(path: str, characters: frozenset[str]) -> frozenset[str]:
    """Return which characters a font has that can be drawn in any size."""
    from matplotlib.font_manager import get_font

    try:
        font = get_font(path)
    except (OSError, RuntimeError, ValueError):
        return frozenset()
    return frozenset(c for c in characters if font.scalable and font.get_char_index(ord(c)))


def _invisible(characters: Iterable[str]) -> set[str]:
    """Return the characters that only join or vary others."""
    return {c for c in characters if unicodedata.category(c) == "Cf" or "\ufe00" <= c <= "\ufe0f"}


def _replaced(character: str) -> str:
    return "" if _invisible(character) else _UNKNOWN


# --- right-to-left text ----------------------------------------------------------------------------------------------


def _shapes() -> bool:
    """Return whether matplotlib orders and joins letters itself."""
    from matplotlib import ft2font

    return hasattr(ft2font, "__libraqm_version__")


def in_visual_order(line: str) -> str:
    """Return a line with right-to-left words as it is drawn from left to right.

    It is the bidirectional algorithm of Unicode without embeddings: letters have a direction, numbers run to the right,
    and what stands between takes the direction of both sides, or else that of the line: its first letter's.
    """
    strong = [_direction(c) for c in line]
    base = next((d for d in strong if d in "LR"), "L")
    if "R" not in strong:
        return line
    runs: list[tuple[str, str]] = [(d, "".join(c for _, c in run)) for d, run in groupby(
        zip(_resolved(strong, base), line, strict=True), key=lambda pair: pair[0])]  # fmt: skip
    turned = [_reversed(text) if direction == "R" else text for direction, text in runs]
    return "".join(turned if base == "L" else turned[::-1])


def _direction(character: str) -> str:
    """Return L or R for a letter, 0 for a digit, M for a mark, and a blank for all others."""
    kind = unicodedata.bidirectional(character)
    return {"L": "L", "R": "R", "AL": "R", "EN": "0", "AN": "0", "NSM": "M"}.get(kind, " ")


def _resolved(strong: list[str], base: str) -> list[str]:
    """Return L or R for every character."""
    found: list[str] = []
    for k, kind in enumerate(strong):
        before = found[-1] if found else base
        if kind == "M":
            found.append(before)
        elif kind == " ":
            after = next((d for d in strong[k + 1 :] if d in "LR0"), base).replace("0", "L")
            found.append(before if before == after else base)
        else:
            found.append(kind.replace("0", "L"))
    return found


def _reversed(text: str) -> str:
    """Return a text in reverse; accents stay with their letters, and brackets are mirrored."""
    groups: list[str] = []
    for c in text:
        if groups and unicodedata.combining(c):
            groups[-1] += c
        else:
            groups.append(c.translate(_MIRRORED))
    return "".join(reversed(groups))


_MIRRORED = str.maketrans("()[]{}<>«»", ")(][}{><»«")
