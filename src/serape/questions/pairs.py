"""All pairs of variables at once: who depends on whom, given nothing, without a matrix of all answers."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from serape import _core
from serape.errors import OptionError, suggestion
from serape.independence import G2, IndependenceTest, make_test
from serape.independence.base import Floats
from serape.parallel.map import ProgressBar, parallel_map
from serape.progress import ProgressCallback
from serape.records import Records

_MOST_ROWS = 65_528  # of the fast way
_FEWEST_ROWS = 5  # for each degree of freedom
_NONE = 2**32 - 1


@dataclass(frozen=True)
class Pairs:
    """How many variables depend on each, and which do most."""

    variables: tuple[str, ...]
    alpha: float
    test: str
    tests: int
    """Pairs tested."""
    dependents: NDArray[np.int64]
    """By variable: how many others depend on it at the level alpha."""
    indices: NDArray[np.int64] = field(repr=False)
    """By variable, a row: positions of its strongest partners, the strongest first, then −1."""
    log_p: Floats = field(repr=False)
    """Of these, logarithms of p-values."""

    @cached_property
    def _position(self) -> dict[str, int]:
        return {name: k for k, name in enumerate(self.variables)}

    def partners(self, variable: str) -> Records:
        """Return the variables that depend most on one, with the logarithms of their p-values."""
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


def all_pairs(
    data: Any,
    *,
    alpha: float = 0.05,
    strongest: int = 10,
    test: str = "auto",
    n_jobs: int = 1,
    progress: bool | None = None,
) -> Pairs:
    """Test every pair of variables given nothing.

    Memory grows with the variables times `strongest`, not with the pairs: of 139,352 variables there are ten billion.
    Binary columns (up to 65,528 rows, test "g2") take a fast way; anything else is a screen for each variable. Of
    partners that tie exactly the earlier columns are kept. Ctrl-C raises KeyboardInterrupt: half a ranking is none.
    """
    if not 0 < alpha < 1:
        raise OptionError(f"alpha must be between 0 and 1, not {alpha!r}")
    if strongest < 0:
        raise OptionError(f"strongest must not be negative, not {strongest!r}")
    if n_jobs < 1:
        raise OptionError(f"n_jobs must be at least 1, not {n_jobs!r}")
    source = make_test(data, test)
    source.check(range(len(source.variables)))
    if type(source) is G2 and source.table.rows <= _MOST_ROWS and _all_binary(source):
        return _binary(source, alpha, strongest, n_jobs)
    show = ProgressBar("all pairs", len(source.variables), progress)
    try:
        return _by_screens(source, alpha, strongest, n_jobs, show)
    finally:
        show.close()


def _all_binary(test: G2) -> bool:
    table = test.table
    return all(table.levels(k) <= 2 for k in range(len(table.names)))


def _binary(test: G2, alpha: float, strongest: int, threads: int) -> Pairs:
    dependents, partners, statistic = _core.all_pairs(
        test.table.packed, math.log(alpha), strongest, _FEWEST_ROWS, threads
    )
    shape = (len(test.variables), strongest)
    indices = np.where(partners == _NONE, -1, partners.astype(np.int64)).reshape(shape)
    log_p = np.full(len(statistic), math.nan)
    there = ~np.isnan(statistic)
    log_p[there] = _core.chi_square_log_sf(statistic[there], np.ones(int(there.sum())))
    varying = len(test.table.varying) if test.table.rows >= _FEWEST_ROWS else 0
    return Pairs(
        test.variables,
        alpha,
        test.name,
        varying * (varying - 1) // 2,
        dependents.astype(np.int64),
        indices,
        log_p.reshape(shape),
    )


def _by_screens(test: IndependenceTest, alpha: float, strongest: int, jobs: int, show: ProgressBar) -> Pairs:
    size = len(test.variables)
    dependents = np.zeros(size, np.int64)
    indices, log_p = np.full((size, strongest), -1), np.full((size, strongest), math.nan)
    tests = np.zeros(size, np.int64)
    all_variables = np.arange(size, dtype=np.uint32)

    def one(target: int, watch: ProgressCallback) -> tuple[int, int, NDArray[np.uint32], Floats]:
        del watch
        screen = test.screen(target, np.delete(all_variables, target))
        told, _ = screen.partition(math.log(alpha))
        best = screen.ranked(told)[:strongest]
        return len(told), screen.performed, screen.xs[best], screen.log_p_of(best)

    def keep(target: int, answer: tuple[int, int, NDArray[np.uint32], Floats]) -> None:
        dependents[target], tests[target], partners, values = answer
        indices[target, : len(partners)] = partners
        log_p[target, : len(partners)] = values
        show.advance(test.variables[target], (), int(tests[target]), 0)

    parallel_map(one, range(size), jobs, keep, test=test)
    return Pairs(test.variables, alpha, test.name, int(tests.sum()) // 2, dependents, indices, log_p)
