"""A mutant: one small change of one file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

ARROW = " → "


@dataclass(frozen=True)
class Mutant:
    """One change of one file. What it changes identifies it, not where in the file it stands."""

    module: str
    where: str
    """The function or class."""
    before: str
    after: str
    lines: range
    """The lines of the file that show whether a test reaches it."""
    change: Any
    """What makes it: known to the module that drew it."""
    occurrence: int = 1
    """If the same change can be made at several places of a function: at which."""

    @property
    def key(self) -> str:
        """The text that identifies the mutant within its module."""
        again = "" if self.occurrence == 1 else f" [{self.occurrence}]"
        return f"{self.where}: {one_line(self.before)}{ARROW}{one_line(self.after) or 'nothing'}{again}"

    def __str__(self) -> str:
        lines = [f"{self.module}:{self.lines.start} in {self.where}"]
        lines += [f"  - {line}" for line in self.before.splitlines()]
        lines += [f"  + {line}" for line in self.after.splitlines()]
        return "\n".join(lines)


def one_line(text: str) -> str:
    """Return a text with single spaces."""
    return " ".join(text.split())


def distinct(mutants: Iterable[Mutant]) -> list[Mutant]:
    """Number the mutants that make the same change at several places; leave out exact copies."""
    seen: Counter[str] = Counter()
    places: set[tuple[str, int]] = set()
    found = []
    for mutant in mutants:
        key = mutant.key
        if (key, mutant.lines.start) in places:
            continue
        places.add((key, mutant.lines.start))
        seen[key] += 1
        found.append(replace(mutant, occurrence=seen[key]))
    return found
