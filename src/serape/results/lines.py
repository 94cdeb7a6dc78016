"""How thick the lines of a picture are: by how often they are found, by effect size, by p, or by the score."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from functools import cached_property
from typing import Generic, Literal, TypeVar

from serape.independence.effects import size_text
from serape.independence.outcomes import p_text

Key = TypeVar("Key", bound=Hashable)
Measure = Literal["share", "effect", "log_p", "gain"]
"""The share of draws, the effect size in bits, the logarithm of p, or what the score would lose without the edge."""

MEASURES: tuple[Measure, ...] = ("share", "effect", "log_p", "gain")
MIN_WIDTH = 0.6
UNKNOWN_WIDTH = 1.2
"""The width of a line whose strength is unknown, in points."""
_UNKNOWN_PART = 0.3


class Lines(Generic[Key]):
    """The strengths of lines, by the first measure that is known of any; NaN where it is unknown."""

    def __init__(self, known: Mapping[Measure, Mapping[Key, float]]) -> None:
        measures = [m for m in MEASURES if any(not math.isnan(value) for value in known.get(m, {}).values())]
        self.by: Measure = measures[0] if measures else next(iter(known))
        self.strength = dict(known[self.by])

    @cached_property
    def extremes(self) -> list[float]:
        """The smallest and the largest strength, the weaker first; one if they are equal, none if none is known."""
        known = [value for value in self.strength.values() if not math.isnan(value)]
        return sorted({min(known), max(known)}, reverse=self.by == "log_p") if known else []

    def width(self, key: Key, max_width: float) -> float:
        """Return the width of a line in points: from 0.6 to `max_width`."""
        return self.width_of(self.strength[key], max_width)

    def width_of(self, strength: float, max_width: float) -> float:
        """Return the width for a strength."""
        if math.isnan(strength):
            return UNKNOWN_WIDTH
        if self.by in ("log_p", "gain"):
            return min(max_width, MIN_WIDTH + 0.4 * math.log2(1 + self._nats(strength) / math.log(10)))
        return MIN_WIDTH + (max_width - MIN_WIDTH) * self._part(strength)

    def part(self, key: Key) -> float:
        """Return the strength of a line from 0 to 1; 0.3 where it is unknown."""
        return self.part_of(self.strength[key])

    def part_of(self, strength: float) -> float:
        """Return a strength from 0 to 1; by p or gain, relative to the smallest and the largest."""
        if math.isnan(strength):
            return _UNKNOWN_PART
        if self.by in ("share", "effect"):
            return round(self._part(strength), 3)
        low, high = (math.log1p(min(self._nats(value), 1e6)) for value in (self.extremes[0], self.extremes[-1]))
        at = math.log1p(min(self._nats(strength), 1e6))
        return round((at - low) / (high - low), 3) if high > low else _UNKNOWN_PART

    def legend(self) -> dict[str, float]:
        """Return the smallest and the largest strength, each as text and from 0 to 1."""
        return {self.text(value): self.part_of(value) for value in self.extremes}

    @property
    def meaning(self) -> str:
        """What the width of a line means, as a sentence; empty if no strength is known."""
        sentences = {
            "share": "An edge that is found more often has a thicker line.",
            "effect": "A larger effect gives a thicker line.",
            "log_p": "A smaller p gives a thicker line.",
            "gain": "An edge without which the score would lose more has a thicker line.",
        }
        return sentences[self.by] if self.extremes else ""

    def text(self, strength: float) -> str:
        """Return a strength as text."""
        match self.by:
            case "share":
                return f"in {100 * strength:.3g} % of the draws"
            case "effect":
                return f"{size_text(strength)} bits"
            case "log_p":
                return f"p = {p_text(strength)}"
            case "gain":
                return f"a gain of {strength:.3g}"

    def _part(self, strength: float) -> float:
        return strength**2 if self.by == "share" else as_correlation(strength)

    def _nats(self, strength: float) -> float:
        return max(0.0, -strength if self.by == "log_p" else strength)


def as_correlation(bits: float) -> float:
    """Return √(1 − 2^(−2 bits)), from 0 to 1: of normal variables the correlation without its sign (Linfoot 1957)."""
    return math.sqrt(-math.expm1(-2.0 * math.log(2.0) * max(bits, 0.0)))
