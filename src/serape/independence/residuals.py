"""The default test for numbers and for mixtures of numbers and categories, answered by the native core.

X ⊥ Y | Z is judged by what Z leaves of X and Y:

1. **Scores.** A number becomes the normal scores of its ranks, Φ⁻¹((rank − 3/8) / (N + 1/4)) (Blom 1958); tied values
   have their mean rank. A value that more than a tenth of the rows share (zeros, say) has an indicator beside it. A
   category becomes indicators of its levels but the most frequent one; levels of fewer than 5 rows, and those after
   the 64 most frequent ones, join that one. So neither skew nor heavy tails nor outliers matter.
2. **Residuals** of the scores of X and Y in a linear regression on Z. Z is rich: the joint cells of its categories,
   polynomials of the scores of its numbers up to degree 12 (fewer, if a polynomial has next to nothing that those of
   lower degree have not), products of two numbers, slopes and curves by cell, as long as each column of the regression
   has 5 rows (`core/src/conditioning.hpp` says in which order). Polynomials of what Z explains of X and of Y (of a
   category, of the two combinations of its levels of which Z explains most), up to degree 11, are added: for classes
   and counts by a sum of members of Z (Ramsey 1969).
3. **Is their covariance zero?** Wilks' Λ of the two blocks of residuals, with Rao's F. F is divided by how much more
   the covariances vary than they would if the spread of X and Y did not change with Z, but never by less than 1. If X
   and Y are independent given Z, that variance is the sum over rows of the spread of X by the spread of Y, and each
   spread is what Z explains of products of residuals. (The products of the residuals of X and Y themselves, as in the
   generalised covariance measure, would tell the same; but two rare events that happen not to meet make them all but
   zero, and a test that divides by them rejects.) If few rows carry most of X and few most of Y, squared covariances
   vary more than a chi-square: F then has fewer degrees of freedom, by the fourth moments of both (Box & Watson 1962).
4. **Is there curved dependence?** T² that the products of residuals with squared scores, and with members of Z as
   factors, have mean zero, with variance and degrees of freedom as in the third question. This sees y = x² + noise,
   changes of spread, and effects that depend on a member of Z (of a category, on one of its 8 most frequent levels, of
   at least 20 rows). It is left out where there are fewer than 20 rows for each product.

The p-value is the smaller of 1 − (1 − p₃)^(1 / 0.8) and 1 − (1 − p₄)^(1 / 0.2) (Šidák). `monotone-residuals` asks the
third question alone. Questions about categories alone are answered by G².

The degrees of freedom are those of the question that has the smaller p-value: the number of products of residuals, in
step 3 the product of the widths of the two blocks. The statistic is F of this question on the scale of χ²: the value of
χ² that has the same p-value with these degrees of freedom. In many rows it is nearly F times its degrees of freedom,
for step 3 −N ln Λ; for two numbers given nothing, without curved dependence, N r².

It assumes that the basis can follow how X and Y depend on Z; it needs rows for that (docs/calibration.md). It is blind
to dependence that shows neither in means and spreads of scores nor in their products with one member of Z.

A test is not reliable if Z leaves fewer than 10 rows (rows less columns of the regression), or fewer than 5 for each
product of the two blocks; if there is no room for the squares of the numbers in Z (10 rows for each number, 5 for each
cell); if Z has categories with too many joint cells and more than 256 levels; if fewer than 5 rows differ from the most
frequent value of a number X or Y; or if Z determines X or Y. A perfect dependence has the smallest p-value that N rows
allow.

**Clear cases.** Of at least 20,000 rows, independent and without weights, a fixed part of 5,000 is tested first where a
search only asks which candidate is strongest, whether a member still depends on the target, or whether any of many sets
separates two variables. A p there of at most 10⁻⁶, and at most a thousandth of the level, is dependence. In the first
two cases the part's answer is the answer (it says of how many rows). In the third the search goes on to the next set,
and the weakest association is the weakest of the tests that all rows answer; if the part answers all of them, the one
that is weakest there is asked of all rows, too, and may yet separate the two. So every p that is shown or counted for a
pair is of all rows, and the probability that a test finds false dependence grows by at most a thousandth of the level.
Independence is never inferred from the part: all rows are tested then. The part consists of the rows with the smallest
of numbers that follow from scores and frequencies of levels alone, so it does not depend on the order of rows, columns
or levels. Tests of categories alone are quick, and in searches through sets all rows answer them.

Weights multiply what is summed over rows. N is the sum of frequencies, or the effective number of rows of survey
weights. With weights, questions about categories alone are answered by residuals too.

Cost, with N rows and k columns in the regression: N k² for a conditioning set, then N k for each candidate, as products
of small matrices that stay in the cache. No column of the regression is kept: memory grows with 8 bytes per value for
scores (2 of a category), 16 bytes per row for each conditioning set in use (32 with weights), and with the number of
cells times k. For a set whose categories make cells, blocks of rows are taken in an order in which the rows of a cell
are side by side.
"""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from serape import _core
from serape.data.table import Table
from serape.engines.scored import Scored
from serape.independence.backends import SCREENS
from serape.independence.base import IndependenceTest
from serape.independence.contingency import other_statistic
from serape.independence.effects import CORRELATION, Effects, in_bits, table_effects
from serape.independence.mixed import check_complete
from serape.independence.outcomes import Candidates, Floats, Outcome, Poll, Tally, as_positions
from serape.independence.screens import ScreenResult
from serape.independence.subset_query import SubsetQuery
from serape.independence.subsets import SubsetResult, native_result

PART_ROWS = 5_000
"""Rows of the part on which clear cases are decided."""
MANY_PARTS = 4
"""There is a part if the rows are so many times as many."""
CLEAR = math.log(1e-6)
"""The log p up to which the part shows dependence."""


class Residuals(IndependenceTest):
    """Residuals of normal scores and indicators, given a rich basis of Z: for any mixture of columns."""

    core_answers = SCREENS | {"subsets"}
    name = "residuals"
    curved = True
    has_effect = True
    made_of = ()

    def __init__(self, table: Table) -> None:
        self.table = table
        self.variables = table.names
        self._numbers = frozenset(table.continuous)
        self.rows: int = table.rows if table.weights is None else table.weights.rows
        self._scored = Scored.of(table, curved=self.curved)
        self._native = self._scored.native

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.table,), {"_noted": self._noted}

    @property
    def nbytes(self) -> int:
        """Size of the scores, in bytes."""
        return self._native.nbytes

    def check(self, variables: Container[int]) -> None:
        """Refuse columns with missing values."""
        check_complete(self.table, f"test {self.name!r}", variables)

    def clearly_dependent(
        self,
        target: int,
        candidates: Candidates,
        given: Sequence[int] = (),
        log_p: float = CLEAR,
        *,
        threads: int = 1,
        poll: Poll | None = None,
    ) -> ScreenResult | None:
        """Return the answers of candidates that the fixed part of the rows shows to be dependent.

        None where the part cannot follow Z as all rows can: if the joint cells of the categories in Z can divide all
        rows, but not the part.
        """
        part = self._part
        if part is None or not len(candidates) or (self._divides(given) and not part._divides(given)):
            return None
        screen = part.screen(target, candidates, given, threads=threads, poll=poll)
        clear = np.flatnonzero(screen.dependent(min(log_p, CLEAR)))
        if not len(clear):
            return None
        found = screen.at(clear)
        found.rows = np.full(len(clear), part.rows, np.int64)
        return found

    @property
    def has_part(self) -> bool:  # type: ignore[override]
        """Whether the rows are many, independent and without weights."""
        table = self.table
        return table.rows >= MANY_PARTS * PART_ROWS and table.weights is None and table.groups is None

    @cached_property  # the memory of the table refuses what is larger than itself
    def _part(self) -> Residuals | None:
        """The test on a fixed part of the rows, if there is one."""
        table = self.table
        if not self.has_part:
            return None

        def of_part() -> Residuals:
            self._hand_over(range(len(self.variables)))
            rows = np.sort(np.argpartition(self._native.row_keys(), PART_ROWS)[:PART_ROWS])
            return type(self)(table.part(range(len(table.names)), rows))

        return table.memory.keep((type(self), "part"), of_part, 3 * 8 * PART_ROWS * len(self.variables))

    def _divides(self, given: Sequence[int]) -> bool:
        """Return whether the joint cells of the categories in a conditioning set divide the rows."""
        categories = [int(z) for z in given if int(z) not in self._numbers]
        self._hand_over(categories)
        return self._native.divides(categories)

    def test(self, x: int, y: int, given: Sequence[int] = ()) -> Outcome:
        """Test X ⊥ Y | given. The statistic is on the scale of χ², or G² for categories alone."""
        self._hand_over((x, y, *given))
        return Outcome(*self._native.test(x, y, list(given)), self.rows)

    def screen(
        self,
        target: int,
        candidates: Candidates,
        given: Sequence[int] = (),
        *,
        threads: int = 1,
        poll: Poll | None = None,
    ) -> ScreenResult:
        """Test every candidate against the target given one set, in one native call."""
        positions = as_positions(candidates)
        named = [int(z) for z in given]
        self._hand_over((target, *named, *positions.tolist()))
        statistic, dof, reliable = self._native.screen(target, positions, named, threads, poll)
        return ScreenResult(positions, tuple(named), statistic, dof, reliable, _core.chi_square_log_sf)

    def search_subsets(
        self, query: SubsetQuery, *, threads: int = 1, poll: Poll | None = None
    ) -> tuple[SubsetResult, Tally]:
        """Search conditioning sets natively."""
        asked = query.target, *query.fixed, *query.pool, *query.xs
        self._hand_over(asked)
        part = None if query.clear is None else self._part
        if part is None or query.clear is None:
            found = self._native.search_subsets(query.native(), threads, poll)
        else:
            part._hand_over(asked)
            clear = min(query.clear, CLEAR)
            found = self._native.search_subsets(query.native(), threads, poll, part._native, clear)
        return native_result(found, self.rows)

    def effects(
        self, target: int, candidates: Candidates, given: Sequence[int], statistic: Floats, dof: Floats
    ) -> Effects:
        """Return Wilks' Λ of the third step in bits, and the correlation of the residual scores of two numbers.

        Curved dependence is no part of it. Categories alone have G² in bits, and Cramér's V.
        """
        del dof
        xs, named = as_positions(candidates), list(map(int, given))
        self._hand_over((target, *named, *xs.tolist()))
        found = Effects.unknown(len(xs))
        numbers = np.array([int(x) in self._numbers for x in xs], bool)
        counted = ~numbers & (self.table.weights is None and self._numbers.isdisjoint((target, *named)))
        if counted.any():
            packed = self.table.codes_alone
            x2 = other_statistic(packed, "g2", target, xs[counted], named)
            levels = np.minimum([self.table.levels(int(x)) for x in xs[counted]], self.table.levels(target))
            found.put(counted, table_effects(statistic[counted], x2, self.rows, levels))
        if not counted.all():
            log_lambda, r, _ = self._native.effects(target, xs[~counted], named)
            found.put(~counted, Effects.of(in_bits(-0.5 * log_lambda), CORRELATION, r))
        return found

    def effect_dof(self, x: int, y: int, given: Sequence[int], outcome: Outcome) -> float:
        """Return the number of products of the third step, or the dof of G² for categories alone."""
        self._hand_over((x, y, *given))
        products = float(self._native.effects(y, as_positions([x]), list(map(int, given)))[2][0])
        return outcome.dof if math.isnan(products) else products

    def _hand_over(self, variables: Iterable[int]) -> None:
        """Let the core score some variables, each once."""
        self._scored.make(self.table, variables)


class MonotoneResiduals(Residuals):
    """As `Residuals`, but blind to curved dependence, and a little stronger where dependence is monotone."""

    core_answers = SCREENS | {"subsets"}
    name = "monotone-residuals"
    curved = False
