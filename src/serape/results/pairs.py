"""The result of `all_pairs`: for every variable, the number of dependent variables and the strongest of them."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from serape.errors import OptionError, first_few, suggestion
from serape.independence.outcomes import Floats, p_text
from serape.markup import plain
from serape.records import Records
from serape.results.charts import draw_values
from serape.results.deferred import Deferred
from serape.results.kind import ResultKind
from serape.results.saved import log_p, texts

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_NONE = "No two variables depend on each other."


@dataclass(frozen=True, repr=False, eq=False)
class Pairs(ResultKind, file="serape-pairs-1"):
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

    _readers: ClassVar = {"variables": texts}

    @classmethod
    def from_dict(cls, content: Mapping[str, Any], **made: Any) -> Self:
        """Return the pairs that `to_dict` wrote."""
        n = len(content["variables"])
        dependents = np.array(content["dependents"], np.int64).reshape(n)
        indices = np.array(content["indices"], np.int64).reshape(n, -1)
        logs = [[-math.inf if value == "-inf" else log_p(value) for value in row] for row in content["log_p"]]
        values = np.array(logs, np.float64).reshape(indices.shape)
        if ((indices < -1) | (indices >= n)).any() or ((dependents < 0) | (dependents >= n)).any():
            raise ValueError("a position is that of no variable")
        return super().from_dict(content, dependents=dependents, indices=indices, log_p=values, **made)

    def plot(self, path: str | os.PathLike[str] | None = None, *, ax: Axes | None = None) -> Axes:
        """Draw the number of dependents of the variables that have most of them.

        At most 30 are drawn; the number of others is written below. `path` is a file for the picture (.png, .svg,
        .pdf), `ax` are axes to draw in.
        """
        counts = zip(self.variables, self.dependents.tolist(), strict=True)
        most = sorted(((name, float(count)) for name, count in counts if count), key=lambda item: -item[1])
        title = f"Dependent variables at alpha {self.alpha:g}"
        return self._drawn(path, lambda: draw_values(most, self.variables, title, "dependents", _NONE, ax))

    _kicker = "All pairs"

    def explain(self, variable: str) -> str:
        """Return how many variables depend on one, and the strongest."""
        partners, count = self.partners(variable), int(self.dependents[self._position[variable]])
        strongest = [f"{row['variable']} (p = {p_text(row['log_p'])})" for row in partners]
        many = f"{count:,} of {len(self.variables) - 1:,} variables depend on {variable} at alpha {self.alpha:g}"
        return plain(f"{many}; the strongest associations: {first_few(strongest)}." if strongest else f"{many}.")

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
