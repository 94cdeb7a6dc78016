"""Weights of rows: what they mean, and their checks.

A *frequency* says how often a row occurs. A *survey weight* says how many members of the population a row stands for:
sums of weights estimate shares without bias, but carry less information than as many rows. Kish (*Survey Sampling*,
1965, section 11.7) gives the effective number of rows, (Σw)² / Σw²: the number of rows of equal weight whose mean has
the same variance, where weights and values are not related.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from serape import _core
from serape.errors import DataError, InputTypeError, OptionError, row_text, shown
from serape.types import WeightKind
from serape.wording import setting


@dataclass(frozen=True)
class Weights:
    """The weights of a table's rows, all of them positive."""

    values: NDArray[np.float64]
    kind: WeightKind

    @cached_property
    def total(self) -> float:
        """The sum of the weights."""
        return math.fsum(self.values)

    @cached_property
    def effective(self) -> float:
        """The effective number of rows: the sum of frequencies, or (Σw)² / Σw² of survey weights."""
        if self.kind == "frequency":
            return self.total
        relative = self.values / self.values.max()  # squares of large weights could overflow
        return math.fsum(relative) ** 2 / math.fsum(relative * relative)

    @property
    def rows(self) -> int:
        """The effective number of rows as a whole number."""
        return int(self.effective * (1 + 1e-12))  # equal weights count as rows, whatever the rounding

    @cached_property
    def scaled(self) -> NDArray[np.float64]:
        """The weights, scaled so that they add up to the effective number of rows."""
        return self.values if self.kind == "frequency" else self.values * (self.effective / self.total)

    def at(self, rows: NDArray[Any]) -> Weights:
        """Return the weights of some rows (a mask or indices)."""
        return replace(self, values=self.values[rows])


def checked_weights(given: Any, rows: int, kind: WeightKind) -> Weights:
    """Return the weights that a caller gives, one for every row, zeros included; refuse what is not a weight."""
    values = one_per_row(given, rows, "sample_weight", "weight")
    if values.dtype.kind == "b":
        raise DataError(f"{setting('sample_weight')} holds truth values; weights are numbers, 0 for a row to leave out")
    if values.dtype.kind not in "iuf":
        for row, value in enumerate(values.tolist()):
            if isinstance(value, bool) or not isinstance(value, int | float | np.number):
                raise DataError(
                    f"the weight of {row_text(row)} is {shown(value)}, which is not a number; weights are finite "
                    f"numbers, 0 or more"
                )
    numbers = values.astype(np.float64)
    _refuse(~(numbers >= 0) | np.isinf(numbers), numbers, "weights are finite numbers, 0 or more; correct it")
    if not numbers.any():
        raise DataError("all weights are zero, which leaves no row; give at least two rows a positive weight")
    if kind == "frequency":
        _refuse(
            numbers != np.floor(numbers),
            numbers,
            f"a frequency is a whole number; for other weights pass {setting('weight_kind', 'survey')}",
        )
        if numbers.sum() > _core.MAX_ROWS:
            raise DataError(
                f"the frequencies add up to {numbers.sum():,.0f} rows, more than the {_core.MAX_ROWS:,} that can be "
                f"used; divide them by a number, or pass {setting('weight_kind', 'survey')}"
            )
    return Weights(numbers, kind)


def _refuse(wrong: NDArray[np.bool_], numbers: NDArray[np.float64], why: str) -> None:
    if wrong.any():
        row = int(np.argmax(wrong))
        raise DataError(f"the weight of {row_text(row)} is {numbers[row]:g}; {why}")


def check_same_rows(data: Any, **given: Any) -> None:
    """Refuse what is given for every row of a frame if it has the rows of the frame, by its index, in another order.

    Rows are taken by position, so that an index has no meaning otherwise.
    """
    index: Any = getattr(data, "index", None)
    for name, values in given.items():
        own: Any = getattr(values, "index", None)
        if not (hasattr(index, "equals") and hasattr(own, "equals")) or index.equals(own):
            continue
        if len(index) == len(own) and index.is_unique and own.is_unique and index.isin(own).all():
            raise DataError(
                f"the index of {name} has the rows of the data in another order; pass {name}.reindex(data.index), or "
                f"{name}.to_numpy() if the order is right"
            )


def one_per_row(given: Any, rows: int, name: str, what: str) -> NDArray[Any]:
    """Return what a caller gives for every row as an array of one dimension."""
    values: NDArray[Any] = np.asarray(given)
    if values.ndim == 0:
        raise InputTypeError(f"{name} must be the name of a column or one {what} per row, not {shown(given)}")
    if values.ndim > 1:
        raise DataError(f"{name} is an array of {values.ndim} dimensions; give one {what} per row, in one dimension")
    if len(values) != rows:
        raise OptionError(f"{name} has {len(values):,} values, but the data have {rows:,} rows; give one for each")
    return values
