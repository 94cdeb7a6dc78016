"""Tests in contingency tables of rows that have weights.

Frequencies give whole counts, so a test of counts answers. Of survey weights:

The count of a cell is the sum of its rows' weights, scaled so that all counts add up to the effective number of rows
(Σw)² / Σw². With these counts G² and X² are computed as for rows, and compared to the chi-square distribution with the
same degrees of freedom. This corrects for unequal weights only: where weights are related to the variables, or rows
were sampled in clusters, p-values are approximate (Rao & Scott, "On chi-squared tests for multiway contingency tables
with cell proportions estimated from survey data", Annals of Statistics 12, 1984, give exact corrections).

Cell sums are made over rows in their order, and the terms of a statistic are added without rounding in between, so that
answers depend neither on the order of the variables nor on threads.
"""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from serape import _core
from serape.data.table import Table
from serape.engines import WeightedEngine
from serape.engines.weighted import Division, Labels, WeightedRows
from serape.errors import DataError
from serape.independence.backends import SCREENS
from serape.independence.base import IndependenceTest
from serape.independence.contingency import check_rules
from serape.independence.counted import CountedTest
from serape.independence.effects import Effects, table_effects
from serape.independence.outcomes import NO_OUTCOME, Candidates, Floats, Outcome, Poll, as_positions
from serape.independence.screens import ScreenResult
from serape.types import DofRule, ReliabilityRule


class _Divided(NamedTuple):
    """The rows divided into strata and, within these, by the levels of a target; with the sums of the weights."""

    strata: Division
    own: Division
    strata_sums: tuple[Labels, Floats]
    own_sums: tuple[Labels, Floats]


class SurveyTest(IndependenceTest):
    """G² or X² of weighted counts."""

    core_answers = SCREENS
    has_effect = True
    made_of = ("statistic", "dof", "reliability", "minimum")

    def __init__(
        self,
        table: Table,
        statistic: Literal["g2", "x2"] = "g2",
        dof: DofRule = "auto",
        reliability: ReliabilityRule = "dof",
        minimum: float = 5.0,
    ) -> None:
        check_rules(dof, reliability)
        assert table.weights is not None
        self.table = table
        self.variables = table.names
        self.name = self.statistic = statistic
        self.likelihood_ratio = statistic == "g2"
        self.rows: int = table.weights.rows
        self.dof = "full" if dof == "auto" else dof
        self.reliability = reliability
        self.minimum = minimum
        self._effective = table.weights.effective * (1 + 1e-12)  # as many rows, if all weights are equal
        self._weighted = WeightedRows(table, table.weights.scaled)

    def __reduce__(self) -> tuple[Any, ...]:
        made_of = (self.table, self.statistic, self.dof, self.reliability, self.minimum)
        return type(self), made_of, {"_noted": self._noted}

    def check(self, variables: Container[int]) -> None:
        """Refuse continuous columns."""
        self.table.check_categorical(f"test {self.name!r}", variables)

    def rows_per_cell(self, variables: Iterable[int]) -> float:
        """Return the mean number of effective rows per cell of the table of the variables."""
        return self._effective / math.prod(map(self.table.levels, variables))

    def test(self, x: int, y: int, given: Sequence[int] = ()) -> Outcome:
        """Test X ⊥ Y | given; the statistic is computed even if the test is not reliable."""
        return self._outcome(x, y, given, self._divided(y, given))

    def answer(self, x: int, y: int, given: Sequence[int] = ()) -> Outcome:
        """Test X ⊥ Y | given if that is reliable."""
        return self.test(x, y, given) if self._is_reliable(x, y, given) else NO_OUTCOME

    def screen(
        self,
        target: int,
        candidates: Candidates,
        given: Sequence[int] = (),
        *,
        threads: int = 1,
        poll: Poll | None = None,
    ) -> ScreenResult:
        """Test every candidate against the target given one set; the rows are divided by these only once."""
        del threads
        positions = as_positions(candidates)
        statistic = np.full(len(positions), math.nan)
        dof, reliable = np.zeros(len(positions)), np.zeros(len(positions), bool)
        divided = self._divided(target, given)
        for k, x in enumerate(positions.tolist()):
            if self._is_reliable(x, target, given):
                found = self._outcome(x, target, given, divided)
                dof[k], reliable[k] = found.dof, found.reliable
                statistic[k] = found.statistic if found.reliable else math.nan
            else:
                dof[k] = self._full_dof(x, target, given)
            if poll is not None:
                poll()
        return ScreenResult(positions, tuple(map(int, given)), statistic, dof, reliable, _core.chi_square_log_sf)

    def effects(
        self, target: int, candidates: Candidates, given: Sequence[int], statistic: Floats, dof: Floats
    ) -> Effects:
        """Return G² in bits and Cramér's V; the statistic that the test does not use is computed."""
        del dof
        assert self.table.weights is not None
        by_g2 = self.likelihood_ratio
        twin = SurveyTest(self.table, "x2" if by_g2 else "g2", "adjusted", None)
        divided = self._divided(target, given)
        other = np.array([twin._outcome(int(x), target, given, divided).statistic for x in candidates])
        least = np.minimum([self.table.levels(int(x)) for x in candidates], self.table.levels(target))
        g2, x2 = (statistic, other) if by_g2 else (other, statistic)
        return table_effects(g2, x2, self.table.weights.effective, least)

    # --- inside --------------------------------------------------------------------------------------------------

    def _levels(self, x: int, y: int, given: Sequence[int]) -> tuple[int, int, float]:
        strata = math.prod((self.table.levels(z) for z in given), start=1.0)
        return self.table.levels(x), self.table.levels(y), strata

    def _full_dof(self, x: int, y: int, given: Sequence[int]) -> float:
        levels_x, levels_y, strata = self._levels(x, y, given)
        return (levels_x - 1) * (levels_y - 1) * strata

    def _is_reliable(self, x: int, y: int, given: Sequence[int]) -> bool:
        dof = self._full_dof(x, y, given)
        needed = {"dof": dof, "cells": math.prod(self._levels(x, y, given)), None: 0.0}[self.reliability]
        return dof > 0 and self._effective >= self.minimum * needed

    def _divided(self, y: int, given: Sequence[int]) -> _Divided:
        strata = self._weighted.strata(given)
        own = self._weighted.divided(strata, y)
        return _Divided(strata, own, self._weighted.sums(strata), self._weighted.sums(own))

    def _outcome(self, x: int, y: int, given: Sequence[int], divided: _Divided) -> Outcome:
        """Test x and y in rows that are divided already."""
        levels_x, levels_y = self.table.levels(x), self.table.levels(y)
        (in_stratum, of_stratum), (in_y, of_y) = divided.strata_sums, divided.own_sums
        in_x, of_x = self._weighted.sums(self._weighted.divided(divided.strata, x))
        cells, of_cell = self._weighted.sums(self._weighted.divided(divided.own, x))
        cell_y, level_x = np.divmod(cells, levels_x)
        stratum = cell_y // levels_y
        at = np.searchsorted(in_stratum, stratum)
        margins = of_x[np.searchsorted(in_x, stratum * levels_x + level_x)] * of_y[np.searchsorted(in_y, cell_y)]
        ratio = of_cell * of_stratum[at] / margins  # observed by expected
        terms = 2 * of_cell * np.log(ratio) if self.likelihood_ratio else of_cell * (ratio - 1)
        statistic = max(math.fsum(terms.tolist()), 0.0)
        dof = self._full_dof(x, y, given)
        if self.dof == "adjusted":
            size = len(in_stratum)
            met_x = np.bincount(np.searchsorted(in_stratum, in_x // levels_x), minlength=size)
            met_y = np.bincount(np.searchsorted(in_stratum, in_y // levels_y), minlength=size)
            dof = float(((met_x - 1) * (met_y - 1)).sum())
        if not dof > 0:
            return Outcome(statistic, dof, math.nan, reliable=False, rows=self.rows)
        log_p = _core.chi_square_log_sf(statistic, dof)
        return Outcome(statistic, dof, log_p, self._is_reliable(x, y, given), self.rows)


def weighted_contingency(
    table: Table, statistic: Literal["g2", "x2"], dof: DofRule, reliability: ReliabilityRule, minimum: float
) -> IndependenceTest:
    """Return the test of weighted counts: frequencies give whole ones, survey weights real ones."""
    if table.weights is not None and table.weights.kind == "frequency":
        return CountedTest(WeightedEngine(table), statistic, dof, reliability, minimum)
    return SurveyTest(table, statistic, dof, reliability, minimum)


def weights_refused(table: Table, name: str, others: list[str]) -> DataError:
    """Return the error that a test cannot take the weights; `others` can."""
    assert table.weights is not None
    if table.weights.kind == "survey":
        what = "cannot take survey weights"
    else:
        what = f"needs rows repeated by their frequencies, and {table.weights.rows:,} rows are too many for that"
    return DataError(f"test {name!r} {what}; use one of {', '.join(map(repr, others))}")
