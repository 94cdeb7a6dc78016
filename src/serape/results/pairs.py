"""The result of `all_pairs`: for every variable, the number of dependent variables and the strongest of them."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from serape.errors import OptionError, suggestion
from serape.independence.outcomes import Floats
from serape.records import Records


@dataclass(frozen=True)
class Pairs:
    """For every variable, the number of dependent variables and the strongest of them."""

    variables: tuple[str, ...]
    alpha: float
    test: str
    tests: int
    """The number of pairs tested."""
    dependents: NDArray[np.int64]
    """By variable, the number of others that depend on it at the level alpha."""
    indices: NDArray[np.int64] = field(repr=False)
    """By variable, a row: the positions of its strongest partners, the strongest first, then −1."""
    log_p: Floats = field(repr=False)
    """The logarithms of their p-values."""

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

    @property
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
