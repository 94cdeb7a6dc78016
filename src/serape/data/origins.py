"""Where columns of numbers are measured from, and in which unit, before they are squared or multiplied.

Squares of large numbers that differ little have lost the digits in which they differ. So every sum of squares or
products is one of numbers less their origin, a value in the middle of the column. Such a difference is exact, or exact
to its own last digit, and the unit is a power of two. So a constant that is added to a column, or a unit in which it
is given, changes nothing, as long as doubles hold the digits.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple, Protocol

import numpy as np

from serape.arrays import Floats


class Extent(NamedTuple):
    """What the origin of a column is made of, for some of its rows."""

    rows: int
    median: float
    """A value of the column: of an even number of rows, the lower one in the middle."""
    low: float
    high: float

    @classmethod
    def of(cls, values: Floats) -> Extent:
        """Return the extent of a column, or of a part of it."""
        middle = (len(values) - 1) // 2
        median = float(np.partition(values, middle)[middle])
        return cls(len(values), median, float(values.min()), float(values.max()))


class Origin(NamedTuple):
    """A value in the middle of a column, and the binary exponent of the largest distance to it."""

    at: float
    exponent: int

    @classmethod
    def of(cls, values: Floats) -> Origin:
        """Return the origin of a column."""
        return cls.of_parts([Extent.of(values)])

    @classmethod
    def of_parts(cls, parts: Iterable[Extent]) -> Origin:
        """Return one origin for all parts of a column: the median of their medians, each counted as often as rows."""
        ordered = sorted(parts, key=lambda part: part.median)
        half, below = sum(part.rows for part in ordered) / 2, 0
        at = ordered[-1].median
        for part in ordered:
            below += part.rows
            if below >= half:
                at = part.median
                break
        low, high = min(part.low for part in ordered), max(part.high for part in ordered)
        farthest = max(high - at, at - low)
        if math.isinf(farthest):  # the range is larger than any double
            return cls(at, math.frexp(max(high / 2 - at / 2, at / 2 - low / 2))[1] + 1)
        return cls(at, math.frexp(farthest)[1])

    def measured(self, values: Floats) -> Floats:
        """Return the distances to the origin, with their signs: from −1 to 1, and 0 for a constant column."""
        return np.asarray(np.ldexp(values, -self.exponent) - math.ldexp(self.at, -self.exponent))


class _Table(Protocol):
    def numbers(self, position: int) -> Floats: ...


def measured_columns(table: _Table, positions: Iterable[int]) -> Floats:
    """Return columns of numbers side by side, each measured from its origin."""
    columns = [table.numbers(int(k)) for k in positions]
    return np.column_stack([Origin.of(values).measured(values) for values in columns])


class Standard(NamedTuple):
    """The median of a column and its root mean square about it, both measured from its origin."""

    origin: Origin
    median: float
    length: float

    @classmethod
    def of(cls, values: Floats) -> Standard:
        """Return those of a column. Of an even number of rows, the median is the mean of the two in the middle."""
        origin = Origin.of(values)
        measured = origin.measured(values)
        median = float(np.median(measured))
        return cls(origin, median, math.sqrt(float(np.square(measured - median).mean())) or 1.0)

    def standardised(self, values: Floats) -> Floats:
        """Return a column less its median, in units of its root mean square; 0 for a constant column."""
        return np.asarray((self.origin.measured(values) - self.median) / self.length)
