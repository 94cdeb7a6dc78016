"""What an engine offers.

An engine holds rows: in this process, in pieces on other machines, on a GPU. It answers with counts, which are
integers, and with sums of numbers. Statistics, p-values and scores are computed from the counts by the core, so every
engine gives the same bits. `docs/engines.md` says what an engine may assume.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from serape._core import Counts
from serape.arrays import Candidates


class Gram(NamedTuple):
    """Sums of numeric columns, and of their products: of each column less its origin, in the unit of its origin."""

    rows: int
    sums: NDArray[np.float64]
    """By column, its sum."""
    other_sums: NDArray[np.float64]
    """By other column, its sum."""
    other_squares: NDArray[np.float64]
    """By other column, the sum of its squares."""
    products: NDArray[np.float64]
    """By column and other column, the sum of the products."""


@runtime_checkable
class Engine(Protocol):
    """A holder of rows. Columns are positions in `names` throughout."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""

    @property
    def rows(self) -> int:
        """The number of rows."""

    def levels(self, column: int) -> int:
        """Return how many levels a categorical column has, declared ones included; 0 if it is numeric."""

    def counts(self, target: int, candidates: Candidates, given: Sequence[int] = ()) -> Counts:
        """Count each candidate with the target in the strata of the conditioning set.

        Without candidates, count the target alone, as with one candidate of one level.
        """

    def counts_of_sets(self, target: int, candidates: Candidates, sets: Sequence[Sequence[int]]) -> list[Counts]:
        """Do as `counts` does for each of several conditioning sets; what a GPU or a cluster does in one go."""

    def gram(self, columns: Candidates, others: Candidates) -> Gram:
        """Return the sums of numeric columns, of others, and of the products of each with each.

        Every column is measured from an origin near its middle, in a unit near its spread, the same for all rows and
        in every answer (`serape.data.origins.Origin`). So no digits are lost, and nothing overflows.
        """
