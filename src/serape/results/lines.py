"""How thick the lines of a picture are: by how often they are found, by effect size, or else by p."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from typing import Generic, Literal, TypeVar

from serape.independence.effects import size_text
from serape.results.explanation import p_text

Key = TypeVar("Key", bound=Hashable)

MIN_WIDTH = 0.6
UNKNOWN_WIDTH = 1.2
"""The width of a line whose strength is unknown, in points."""


class Lines(Generic[Key]):
    """The strengths of lines: the first of shares of draws, effect sizes in bits and logarithms of p that is known.

    The strength of a single line is NaN if it is unknown.
    """

    def __init__(
        self, effect: Mapping[Key, float], log_p: Mapping[Key, float], share: Mapping[Key, float] | None = None
    ) -> None:
        self.by: Literal["share", "effect", "p"] = "share" if _any(share) else "effect" if _any(effect) else "p"
        self.strength = dict({"share": share or {}, "effect": effect, "p": log_p}[self.by])

    @property
    def extremes(self) -> list[float]:
        """The smallest and the largest strength, the weaker first; one if they are equal, none if none is known."""
        known = [value for value in self.strength.values() if not math.isnan(value)]
        return sorted({min(known), max(known)}, reverse=self.by == "p") if known else []

    def width(self, key: Key, max_width: float) -> float:
        """Return the width of a line in points: from 0.6 to `max_width`."""
        return self.width_of(self.strength[key], max_width)

    def width_of(self, strength: float, max_width: float) -> float:
        """Return the width for a strength."""
        if math.isnan(strength):
            return UNKNOWN_WIDTH
        if self.by != "p":
            part = strength**2 if self.by == "share" else as_correlation(strength)
            return MIN_WIDTH + (max_width - MIN_WIDTH) * part
        return min(max_width, MIN_WIDTH + 0.4 * math.log2(1 + max(0.0, -strength / math.log(10))))

    def shares(self) -> dict[Key, float]:
        """Return strengths from 0 to 1; by p, relative to the smallest and the largest; 0.3 where unknown."""
        if self.by == "effect":
            return {key: 0.3 if math.isnan(b) else round(as_correlation(b), 3) for key, b in self.strength.items()}
        digits = {key: math.log1p(min(max(0.0, -p), 1e6)) for key, p in self.strength.items() if not math.isnan(p)}
        smallest, largest = min(digits.values(), default=0.0), max(digits.values(), default=0.0)
        span = largest - smallest
        return {
            key: round((digits[key] - smallest) / span, 3) if span and key in digits else 0.3 for key in self.strength
        }

    @property
    def meaning(self) -> str:
        """What the width of a line means, as a sentence."""
        return "A larger effect gives a thicker line." if self.by == "effect" else "A smaller p gives a thicker line."

    def text(self, strength: float) -> str:
        """Return a strength as text."""
        if self.by == "share":
            return f"in {100 * strength:.3g} % of the draws"
        return f"{size_text(strength)} bits" if self.by == "effect" else f"p = {p_text(strength)}"


def _any(values: Mapping[Key, float] | None) -> bool:
    return any(not math.isnan(value) for value in (values or {}).values())


def as_correlation(bits: float) -> float:
    """Return √(1 − 2^(−2 bits)), from 0 to 1: of normal variables the correlation without its sign (Linfoot 1957)."""
    return math.sqrt(-math.expm1(-2.0 * math.log(2.0) * bits))
