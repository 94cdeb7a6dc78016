"""Any independence test on a table of a cluster whose rows are all in one place, or on columns that are fetched."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Container, Iterable, Sequence
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from serape import _core
from serape.data.columns import Columns
from serape.data.table import Table
from serape.distributed import shards
from serape.distributed.cluster import Asked
from serape.distributed.table import ClusterTable
from serape.independence.backends import SCREENS
from serape.independence.base import IndependenceTest
from serape.independence.effects import Effects
from serape.independence.native_screens import NativeScreenResult
from serape.independence.near import Fetcher, Near
from serape.independence.outcomes import Candidates, Floats, Outcome, Poll, Rows, as_positions
from serape.independence.registry import Recipe
from serape.independence.screens import ScreenResult

_FEW = 32  # candidates that are fetched, where more are tested by the shards
_AHEAD = 1024  # columns that are fetched with those that are needed, because they are likely to be needed next
_MOST_KEPT = 1 << 28  # bytes of fetched columns that are kept


class FetchedColumns(Fetcher):
    """The columns of a question: the test is made of these."""

    def __init__(self, table: ClusterTable, recipe: Recipe) -> None:
        self._table, self._recipe = table, recipe
        self._lock = Lock()
        self._near: Near | None = None
        self._columns: dict[int, tuple[Table, int]] = {}  # by position, the table here that has the column, and where
        self._likely: list[int] = []

    def has_all(self, variables: NDArray[np.uint32]) -> bool:
        """Return whether all of some different variables are here."""
        place = {} if self._near is None else self._near.place
        return len(variables) <= len(place) and all(x in place for x in variables.tolist())

    def near(self, variables: Iterable[int]) -> Near:
        """Return the test on columns in this process, which are fetched if they are not here yet."""
        needed = list(dict.fromkeys(map(int, variables)))
        near = self._near
        if near is not None and all(x in near.place for x in needed):
            return near
        with self._lock:
            known = self._columns
            missing = [x for x in needed if x not in known]
            if not missing and self._near is not None:
                return self._near
            likely = [x for x in self._likely if x not in known][:_AHEAD]
            self._likely = self._likely[_AHEAD:]
            if self._table.bytes_of([*known, *missing, *likely]) > _MOST_KEPT:
                known, missing, likely = {}, needed, []
            fresh = sorted({*missing, *likely})
            fetched = self._table.fetch(fresh)
            columns = known | {x: (fetched, k) for k, x in enumerate(fresh)}
            order = sorted(columns)  # as in the whole table, so that sums are rounded alike
            encoded = [columns[x][0].encoded(columns[x][1]) for x in order]
            names = [self._table.names[x] for x in order]
            here = Table.of_columns(Columns(names, len(encoded[0]), encoded))
            self._columns = {x: (here, k) for k, x in enumerate(order)}
            self._near = Near(self._recipe.make(here), order)
            return self._near

    def likely_next(self, variables: Sequence[int]) -> None:
        """Note variables that the next questions are likely to be about."""
        with self._lock:
            self._likely = list(dict.fromkeys(map(int, variables)))


class FetchedTest(IndependenceTest):
    """Any test on the columns of a cluster that a question needs, fetched once."""

    core_answers = SCREENS
    made_of = ("recipe",)
    fetcher: FetchedColumns

    def __init__(self, table: ClusterTable, recipe: Recipe) -> None:
        self.table = table
        self.recipe = recipe
        self.fetcher = FetchedColumns(table, recipe)
        self.name = recipe.name
        self.variables = table.names
        self.rows: int = table.rows
        numbers = set(table.continuous)
        searched = table.searched
        firsts = [next((k for k in searched if k not in numbers), None)]
        if numbers:
            firsts.append(next((k for k in searched if k in numbers), None))
        self._examples = [k for k in firsts if k is not None]
        self._typical = self.fetcher.near([*table.searched[:2], *self._examples]).test
        self.likelihood_ratio = self._typical.likelihood_ratio
        self.has_effect = self._typical.has_effect
        for rule in ("dof", "reliability", "minimum"):
            if hasattr(self._typical, rule):
                setattr(self, rule, getattr(self._typical, rule))

    def check(self, variables: Container[int]) -> None:
        """Refuse columns that the test cannot take."""
        here = self.fetcher.near(self._examples)  # it depends on the kind of a column alone
        here.test.check(set(here.places(x for x in self._examples if x in variables)))

    def test(self, x: int, y: int, given: Sequence[int] = ()) -> Outcome:
        """Test X ⊥ Y | given."""
        here = self.fetcher.near([x, y, *given])
        return here.test.test(here.place[x], here.place[y], here.places(given))

    def answer(self, x: int, y: int, given: Sequence[int] = ()) -> Outcome:
        """Test X ⊥ Y | given if that is reliable."""
        here = self.fetcher.near([x, y, *given])
        return here.test.answer(here.place[x], here.place[y], here.places(given))

    def effects(
        self, target: int, candidates: Candidates, given: Sequence[int], statistic: Floats, dof: Floats
    ) -> Effects:
        """Return the effect sizes of tests whose outcomes are known."""
        here = self.fetcher.near([target, *candidates, *given])
        return here.test.effects(here.place[target], here.places(candidates), here.places(given), statistic, dof)

    def effect_dof(self, x: int, y: int, given: Sequence[int], outcome: Outcome) -> float:
        """Return the degrees of freedom of the effect."""
        here = self.fetcher.near([x, y, *given])
        return here.test.effect_dof(here.place[x], here.place[y], here.places(given), outcome)

    def rows_per_cell(self, variables: Iterable[int]) -> float:
        """Return the mean number of rows per cell of the table of the variables."""
        if math.isinf(self._typical.rows_per_cell([0])):
            return math.inf
        return self.table.rows / math.prod(max(self.table.levels(v), 1) for v in variables)

    def information(self, statistic: Floats, dof: Floats, rows: Rows) -> Floats:
        """Return the conditional mutual information that tests with these statistics estimate."""
        return self._typical.information(statistic, dof, rows)

    def screen(
        self,
        target: int,
        candidates: Candidates,
        given: Sequence[int] = (),
        *,
        threads: int = 1,
        poll: Poll | None = None,
    ) -> ScreenResult:
        """Test every candidate against the target given one set."""
        xs = as_positions(candidates)
        here = self.fetcher.near([target, *xs.tolist(), *given])
        found = here.test.screen(
            here.place[target], as_positions(here.places(xs)), here.places(given), threads=threads, poll=poll
        )
        return _renamed(found, xs, given)

    def first_dependent(
        self, target: int, candidates: Candidates, given: Sequence[int], log_alpha: float, *, poll: Poll | None = None
    ) -> ScreenResult:
        """Test the candidates in order until one is dependent; its answer, if there is one, is the last."""
        xs = as_positions(candidates)
        here = self.fetcher.near([target, *xs.tolist(), *given])
        found = here.test.first_dependent(
            here.place[target], as_positions(here.places(xs)), here.places(given), log_alpha, poll=poll
        )
        return _renamed(found, xs[: len(found)], given)


def _renamed(found: ScreenResult, xs: NDArray[np.uint32], given: Sequence[int]) -> ScreenResult:
    if isinstance(found, NativeScreenResult):
        return NativeScreenResult(xs, tuple(given), found._answers)
    return ScreenResult(xs, tuple(given), found.statistic, found.dof, found.reliable, found.tail or found.log_p)


class ColumnTest(FetchedTest):
    """Any test without random numbers where columns are split: each shard tests its own candidates."""

    core_answers = SCREENS | {"pairs"}

    def screen(
        self,
        target: int,
        candidates: Candidates,
        given: Sequence[int] = (),
        *,
        threads: int = 1,
        poll: Poll | None = None,
    ) -> ScreenResult:
        """Test every candidate against the target given one set; many candidates where they are, in one round."""
        xs = as_positions(candidates)
        if len(xs) <= _FEW or self.fetcher.has_all(xs):
            return super().screen(target, xs, given, threads=threads, poll=poll)
        return self._screens([(target, xs, tuple(map(int, given)))], poll)[0]

    def marginals(
        self, targets: Sequence[int], forbidden: Callable[[int], Collection[int]] | None = None, *, threads: int = 1
    ) -> dict[int, ScreenResult]:
        """Test each target against all variables given nothing, in one round."""
        del threads
        every = np.arange(len(self.variables), dtype=np.uint32)
        asked = []
        for target in targets:
            left_out = {target, *(() if forbidden is None else forbidden(target))}
            asked.append((target, every[~np.isin(every, list(left_out))], ()))
        found = {}
        for (target, xs, _), fresh in zip(asked, self._screens(asked), strict=True):
            statistic, dof, log_p = (np.full(len(every), np.nan) for _ in range(3))
            reliable = np.zeros(len(every), bool)
            statistic[xs], dof[xs], reliable[xs] = fresh.statistic, fresh.dof, fresh.reliable
            if fresh.tail is None:
                log_p[xs] = fresh.log_p
            found[target] = fresh.like(every, statistic, dof, reliable, log_p if fresh.tail is None else fresh.tail)
        return found

    def _screens(
        self, asked: Sequence[tuple[int, NDArray[np.uint32], tuple[int, ...]]], poll: Poll | None = None
    ) -> list[ScreenResult]:
        questions = [Asked(shards.screen, target, xs, given, (self.recipe,)) for target, xs, given in asked]
        found: list[ScreenResult] = []
        for (_, xs, given), parts in zip(asked, self.table.cluster.ask(questions, poll), strict=True):
            statistic, dof, log_p = np.empty(len(xs)), np.empty(len(xs)), np.empty(len(xs))
            reliable = np.empty(len(xs), bool)
            is_chi_square = True
            for places, answer in parts[0]:
                statistic[places], dof[places], reliable[places] = answer.statistic, answer.dof, answer.reliable
                if answer.log_p is not None:
                    log_p[places], is_chi_square = answer.log_p, False
            if is_chi_square:
                answers = _core.ScreenAnswers(statistic, dof, reliable)
                found.append(NativeScreenResult(xs, given, answers))
            else:
                found.append(ScreenResult(xs, given, statistic, dof, reliable, log_p))
        strongest = found[0]
        reliable_at = np.flatnonzero(strongest.reliable)
        if len(reliable_at) > _AHEAD:
            at = np.argpartition(-strongest.statistic[reliable_at], _AHEAD)[:_AHEAD]
            reliable_at = reliable_at[at]
        self.fetcher.likely_next(strongest.xs[reliable_at].tolist())
        return found
