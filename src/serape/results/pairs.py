"""The result of `all_pairs`: for every variable, the number of dependent variables and the strongest of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from serape.errors import OptionError, suggestion
from serape.independence.outcomes import Floats, p_text
from serape.records import Records
from serape.results.deferred import Deferred
from serape.results.displayed import Displayed


@dataclass(frozen=True, repr=False)
class Pairs(Displayed):
    """For every variable, the number of dependent variables and the strongest of them.

    Examples
    --------
    >>> pairs = serape.all_pairs(patients, alpha=0.01)
    >>> int(pairs.dependents[pairs.variables.index("HeartDisease")])
    9
    """

    variables: tuple[str, ...]
    alpha: float
    test: str
    tests: int
    """The number of pairs tested."""
    dependents: NDArray[np.int64]
    """By variable, the number of others that depend on it at the level alpha."""
    indices: NDArray[np.int64] = field(repr=False)
    """By variable, a row: the positions of its strongest partners, the strongest first, then −1."""
    log_p: Deferred[Floats] = Deferred()  # noqa: RUF009
    """The logarithms of their p-values, computed when they are first asked for."""

    notes = ()

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "log_p": self.log_p}

    @property
    def title(self) -> str:
        """The question, in words."""
        return f"{self.tests:,} pairs of {len(self.variables):,} variables, by {self.test} at alpha {self.alpha:g}"

    def _grid(self, max_rows: int) -> tuple[Sequence[str], Sequence[Sequence[str]], int]:
        found = [self.records[k] for k in range(min(max_rows, len(self.variables)))]
        rows = [[row["variable"], f"{row['dependents']:,}", row["strongest"], p_text(row["log_p"])] for row in found]
        return ("variable", "dependents", "strongest", "p"), rows, len(self.variables)

    def __str__(self) -> str:
        return self.title

    @cached_property
    def _position(self) -> dict[str, int]:
        return {name: k for k, name in enumerate(self.variables)}

    def partners(self, variable: str) -> Records:
        """Return the variables that depend most strongly on one, with the logarithms of their p-values."""
        at = self._position.get(variable)
        if at is None:
            raise OptionError(f"there is no variable {variable!r}.{suggestion(str(variable), self.variables)}")
        found = self.indices[at] >= 0
        return Records(
            {
                "variable": [self.variables[k] for k in self.indices[at][found].tolist()],
                "log_p": self.log_p[at][found].tolist(),
            }
        )

    @cached_property
    def records(self) -> Records:
        """For every variable its number of dependents and its strongest partner: a table for any dataframe library."""
        first = self.indices[:, 0] if self.indices.shape[1] else np.full(len(self.variables), -1)
        return Records(
            {
                "variable": list(self.variables),
                "dependents": self.dependents.tolist(),
                "strongest": [self.variables[k] if k >= 0 else "" for k in first.tolist()],
                "log_p": self.log_p[:, 0].tolist() if self.indices.shape[1] else [math.nan] * len(self.variables),
            }
        )
