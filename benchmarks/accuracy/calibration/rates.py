"""Rejection rates, and which of them are too high."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

LEVELS = (0.05, 0.01, 0.001)
TOLERANCE = 1.3
SURE = 0.001
"""A rate counts as too high if a true rate of `TOLERANCE` times the level gives such a one more rarely than this."""


@dataclass
class Rates:
    """Counts of tests under independence."""

    asked: int = 0
    reliable: int = 0
    rejected: list[int] = field(default_factory=lambda: [0] * len(LEVELS))

    def add(self, log_p: NDArray[np.float64], reliable: NDArray[np.bool_]) -> None:
        """Add the answers of a screen."""
        self.asked += len(log_p)
        found = log_p[reliable]
        self.reliable += len(found)
        for k, level in enumerate(LEVELS):
            self.rejected[k] += int(np.count_nonzero(found <= math.log(level) + 1e-12))

    def join(self, other: Rates) -> None:
        """Add the counts of others."""
        self.asked += other.asked
        self.reliable += other.reliable
        self.rejected = [a + b for a, b in zip(self.rejected, other.rejected, strict=True)]

    @property
    def too_high(self) -> list[bool]:
        """By level, whether the rate is beyond 1.3 times the level, and not by chance."""
        return [
            exceeds(count, self.reliable * level * TOLERANCE)
            for count, level in zip(self.rejected, LEVELS, strict=True)
        ]

    @property
    def worst_ratio(self) -> float:
        """The largest ratio of a rate that is too high to its level; 0 where none is."""
        ratios = [
            count / self.reliable / level
            for count, level, high in zip(self.rejected, LEVELS, self.too_high, strict=True)
            if high
        ]
        return max(ratios, default=0.0)

    def shown(self) -> list[str]:
        """Return the rates as text, in bold type where they are too high, and the share of unreliable tests."""
        cells = [
            "–" if not self.reliable else bold(f"{count / self.reliable:.{digits}f}".removeprefix("0"), high)
            for count, digits, high in zip(self.rejected, (3, 3, 4), self.too_high, strict=True)
        ]
        return [*cells, f"{1 - self.reliable / self.asked:.0%}" if self.asked else "–"]


def bold(text: str, marked: bool) -> str:
    """Mark a text."""
    return f"**{text}**" if marked else text


def exceeds(count: int, mean: float) -> bool:
    """Return whether a Poisson variable of this mean reaches a count more rarely than `SURE`."""
    if count <= mean:
        return False
    below = sum(math.exp(k * math.log(mean) - mean - math.lgamma(k + 1)) for k in range(count))
    return 1 - below < SURE


HEAD = ("at .05", "at .01", "at .001", "unreliable")
