"""Whether a set tells the same about a target as a blanket, and sets that differ from a blanket in one variable.

A set is a blanket of the whole data if, given it, the target is independent of the members of any blanket: of all other
variables it is independent given that blanket, and so, by contraction, given the set (the criterion of independence of
Statnikov, Lytkin, Lemeire and Aliferis, JMLR 14, 2013). This is about all members together. Here each is tested on its
own, which is the same if composition holds; a test of all together would need many more rows. Variables that others
determine tell nothing more given these, though no test can be performed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from serape.data.degenerate import functions_of
from serape.data.origins import Origin
from serape.data.table import Table
from serape.independence import IndependenceTest, table_of
from serape.independence.screens import ScreenResult
from serape.local.tie_star import VariableSet
from serape.questions.query import Query
from serape.results.exchanges import Names, Trial, Verdict
from serape.search import Search
from serape.settings import Settings

MAX_SWAPS = 30
"""The largest number of variables that are tried in place of one."""
_ROUNDING = 1e-9  # of the largest distance to the mean


@dataclass(frozen=True)
class Criterion:
    """The tests that judge sets in place of the first blanket."""

    query: Query
    target: int

    @classmethod
    def of(cls, query: Query, target: int, asked: Settings) -> Criterion:
        """Return the criterion of a question.

        "auto" has its own meaning for it. It conditions on a whole set, so there is no limit on conditioning sets. And
        its degrees of freedom are those of the tables that occur: with all that could occur, p is too large in sparse
        tables, and sets that differ would seem the same (docs/all-blankets.md has figures).
        """
        query = replace(query, fdr=None)
        if asked.search.max_conditioning == "auto":
            query = replace(query, max_conditioning=None)
        table = table_of(query.source)
        if asked.search.dof == "auto" and table is not None and getattr(query.source, "dof", None) == "full":
            make: Callable[..., IndependenceTest] = query.make_source
            query = replace(query, source=make(table, dof="adjusted"))
        return cls(query, target)

    def trial(self, search: Search, members: VariableSet, first: VariableSet, removed: VariableSet) -> Trial:
        """Test the removed variables and the members of the first blanket given a set.

        The first blanket would do; where tests err, the removed variables tell apart more. A variable that the set
        determines is independent of the target, though its test has no degrees of freedom. The trial reports the
        strongest of the tests, or one that is not reliable.
        """
        others, given = sorted((first | removed) - members), tuple(sorted(members))
        screen = search.screen(self.target, others, given)
        usable, dof = screen.reliable, screen.dof
        apart = self._told_apart(screen, search.log_alpha)
        untested = np.flatnonzero(~usable & ~(dof == 0))
        if len(untested) and not len(apart):
            fixed = determined(table_of(search.test), screen.xs[untested].tolist(), given)
            untested = np.array([k for k in untested.tolist() if others[k] not in fixed], np.intp)
        verdict: Verdict = "told apart" if len(apart) else "undecided" if len(untested) else "blanket"
        among = apart if len(apart) else untested if len(untested) else np.arange(len(others))
        log_p = np.where(usable, screen.log_p, 0.0)
        k = int(among[int(np.argmin(log_p[among]))])
        numbers: tuple[float | None, ...] = (None,) * 4
        if usable[k]:
            bits = float(self._bits(screen, np.array([k]))[0])
            numbers = float(screen.statistic[k]), float(dof[k]), float(log_p[k]), None if math.isnan(bits) else bits
        elif verdict == "blanket":
            numbers = 0.0, 0.0, 0.0, 0.0
        return Trial(
            self.named(removed), self.named(members), verdict, self.query.source.variables[others[k]], *numbers
        )

    def swapped(
        self, search: Search, blanket: VariableSet, x: int, first: VariableSet, removed: VariableSet
    ) -> VariableSet | None:
        """Return a blanket that has another variable in place of x, or None; the strongest given the rest come first.

        SES looks for such variables, too (Lagani, Athineou, Farcomeni, Tsagris and Tsamardinos, Journal of Statistical
        Software 80, 2017). A member that the others make superfluous is left out.
        """
        rest = blanket - {x}
        screen = search.screen(self.target, search.candidates(self.target, *blanket, *removed), tuple(sorted(rest)))
        apart = self._told_apart(screen, search.log_alpha)
        order = apart[np.argsort(screen.log_p[apart], kind="stable")][:MAX_SWAPS]
        for y in screen.xs[order].tolist():
            members = rest | {int(y)}
            if self.trial(search, members, first, removed).verdict == "blanket":
                return self._needed(search, members)
        return None

    def _needed(self, search: Search, members: VariableSet) -> VariableSet:
        """Return the members that the others neither separate from the target nor determine."""
        with search.read_as_independence("zero-dof"):
            members = members.difference(search.test_each_given_rest(self.target, sorted(members)))
        for x in sorted(members):
            if determined(table_of(search.test), [x], sorted(members - {x})) - self.query.kept(self.target):
                members = members - {x}
        return members

    def named(self, variables: VariableSet) -> Names:
        """Return the names of variables, in the table's order."""
        return tuple(self.query.source.variables[x] for x in sorted(variables))

    def _told_apart(self, screen: ScreenResult, log_alpha: float) -> NDArray[np.intp]:
        """Return the indices of the variables that depend on the target, by alpha and `min_effect`."""
        found = np.flatnonzero(screen.reliable & (np.where(screen.reliable, screen.log_p, 0.0) <= log_alpha))
        if self.query.min_effect is None or not len(found):
            return found
        return found[~(self._bits(screen, found) < self.query.min_effect)]

    def _bits(self, screen: ScreenResult, index: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return the effects of some tests of a screen, in bits; NaN if the test has no effect size."""
        own = screen.statistic[index], screen.dof[index]
        return self.query.source.effects(self.target, screen.xs[index], screen.given, *own).bits


# --- what others determine -------------------------------------------------------------------------------------------


def determined(table: Table | None, variables: Sequence[int], given: Sequence[int]) -> set[int]:
    """Return the variables that are exact functions of the given ones, as far as the table at hand shows it.

    Categorical variables are functions of one of the given ones or of all; continuous ones are linear functions.
    """
    if table is None or table.remote is not None or not variables:
        return set()
    levels = [z for z in given if table.levels(z)]
    return set(functions_of(table, list(variables), levels)) | _linear(table, variables, given)


def _linear(table: Table, variables: Sequence[int], given: Sequence[int]) -> set[int]:
    """Return the continuous variables that are linear functions of the continuous ones among the given."""
    continuous = set(table.continuous)
    columns = [z for z in given if z in continuous and z not in table.missing]
    found: set[int] = set()
    if not columns or len(columns) + 1 >= table.rows:
        return found
    design = np.column_stack([np.ones(table.rows), *(_standardised(table, z) for z in columns)])
    for x in variables:
        if x in continuous and x not in table.missing:
            values = _standardised(table, x)
            rest = values - design @ np.linalg.lstsq(design, values, rcond=None)[0]
            if np.abs(rest).max() <= _ROUNDING:
                found.add(x)
    return found


def _standardised(table: Table, k: int) -> NDArray[np.float64]:
    column: NDArray[np.float64] = np.asarray(table.numbers(k), np.float64)
    values = Origin.of(column).measured(column)
    values = values - values.mean()
    return np.asarray(values / (float(np.abs(values).max()) or 1.0))
