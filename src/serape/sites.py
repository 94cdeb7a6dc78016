"""Data of several sites that may not share rows: each keeps its own and sends tables of counts.

A `Site` answers questions about its table with counts, and refuses a table in which a combination of values occurs, but
less often than a least count. A `SitesTest` adds up the counts of all sites; it is passed to a question in place of
data. How questions and answers travel is the caller's affair: anything with the methods `about` and `counts` of a
`Site` can stand for one. docs/cluster.md says what this does not protect.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from serape import _core
from serape.arrays import Candidates
from serape.data.table import Table
from serape.distributed.adding import added
from serape.distributed.shards import PartCounts
from serape.engines.base import Gram
from serape.errors import DataError, OptionError, is_integer, shown
from serape.independence.backends import SCREENS
from serape.independence.base import IndependenceTest
from serape.independence.counted import CountedTest
from serape.independence.native_screens import NativeScreenResult
from serape.independence.outcomes import Outcome, Poll, as_positions
from serape.independence.screens import ScreenResult
from serape.types import DofRule, ReliabilityRule

__all__ = ["About", "Answers", "Site", "SitesTest"]


class About(NamedTuple):
    """What a site tells about its table: the names and levels of its columns, and how many rows there are."""

    names: tuple[str, ...]
    levels: tuple[tuple[Any, ...], ...]
    rows: int


class Answers(NamedTuple):
    """The candidates whose tables are sent, by their places in the question, and their counts; the rest is refused."""

    places: tuple[int, ...]
    counts: PartCounts | None


class AnySite(Protocol):
    """What stands for a site: the site itself, or what passes questions on to it."""

    def about(self) -> About:
        """Tell about the table."""

    def counts(self, target: int, candidates: tuple[int, ...], given: tuple[int, ...]) -> Answers:
        """Count candidates with the target in the strata of a conditioning set."""


class Site:
    """A site: a table that stays where it is, and answers with tables of counts.

    Parameters
    ----------
    data
        The rows of this site: a Table, or anything that makes one. All columns must be categorical, with the same
        levels at all sites; declare the categories if a level may be absent somewhere.
    min_count
        The least number of rows in a combination of values that occurs: a table with a smaller count is refused.

    Examples
    --------
    >>> table = serape.load_network("asia").sample(2000, 1)
    >>> sites = [serape.sites.Site(table.part(range(8), range(0, 1200))),
    ...          serape.sites.Site(table.part(range(8), range(1200, 2000)))]
    >>> found = serape.markov_blanket(serape.sites.SitesTest(sites), "bronc", "iamb")
    >>> found.blanket
    ('dysp', 'smoke')
    """

    def __init__(self, data: Any, min_count: int = 5) -> None:
        if not is_integer(min_count) or min_count < 1:
            raise OptionError(f"min_count must be a whole number, 1 or more, not {shown(min_count)}")
        self._table = Table.of(data)
        self._table.check_categorical("a site", range(len(self._table.names)))
        self._min_count = int(min_count)
        self.sent = 0
        """How many tables of counts were sent."""
        self.refused = 0
        """How many were refused."""

    def about(self) -> About:
        """Tell the names and levels of the columns, and the number of rows."""
        table = self._table
        return About(table.names, tuple(map(table.column_levels, range(len(table.names)))), table.rows)

    def counts(self, target: int, candidates: tuple[int, ...], given: tuple[int, ...]) -> Answers:
        """Count candidates with the target in the strata of a conditioning set; refuse tables of small counts."""
        counts = PartCounts.of(_core.counts(self._table.packed, target, as_positions(candidates), given))
        least = np.minimum.reduceat(counts.cells[:, 3], counts.begin[:-1].astype(np.int64))
        kept = np.flatnonzero(least >= self._min_count).tolist()
        self.sent += len(kept)
        self.refused += len(least) - len(kept)
        if len(kept) == 0:
            return Answers((), None)
        return Answers(tuple(kept), counts.only(kept))


@dataclass
class _Sites:
    """The engine of all sites."""

    sites: Sequence[AnySite]

    def __post_init__(self) -> None:
        if not self.sites:
            raise OptionError("there are no sites; name at least one")
        self.abouts = [site.about() for site in self.sites]
        first = self.abouts[0]
        for k, about in enumerate(self.abouts[1:], start=1):
            if about.names != first.names:
                raise DataError(f"site {k} has other columns than site 0; all sites need the same, in the same order")
            for name, own, others in zip(first.names, about.levels, first.levels, strict=True):
                if own != others:
                    raise DataError(
                        f"column {name!r} has the levels {list(own)} at site {k} but {list(others)} at site 0; "
                        f"declare the same categories at all sites"
                    )
        self.names = first.names
        self.rows = sum(about.rows for about in self.abouts)

    def levels(self, column: int) -> int:
        """Return how many levels a column has."""
        return len(self.abouts[0].levels[column])

    def some_counts(
        self, target: int, xs: NDArray[np.uint32], given: Sequence[int]
    ) -> tuple[list[int], _core.Counts | None]:
        """Return the places of the candidates that no site refuses, and their counts."""
        asked, fixed = tuple(xs.tolist()), tuple(map(int, given))
        answers = [site.counts(target, asked, fixed) for site in self.sites]
        kept = sorted(set(answers[0].places).intersection(*(answer.places for answer in answers[1:])))
        if not kept:
            return [], None
        pieces = []
        for places, part in answers:
            assert part is not None  # it has the candidates that are kept
            pieces.append((np.arange(len(kept)), part.only([places.index(k) for k in kept])))
        counts = added(
            pieces,
            rows=self.rows,
            target_levels=self.levels(target),
            given_levels=[self.levels(z) for z in given],
            candidate_levels=[self.levels(int(xs[k])) for k in kept],
        )
        return kept, counts

    def counts(self, target: int, candidates: Candidates, given: Sequence[int] = ()) -> _core.Counts:
        """Count each candidate with the target in the strata of the conditioning set; all sites must send them."""
        xs = as_positions(candidates)
        kept, counts = self.some_counts(target, xs, given)
        if counts is None or len(kept) < max(len(xs), 1):
            raise DataError("a site refuses a table of counts that this needs, because a count in it is too small")
        return counts

    def counts_of_sets(self, target: int, candidates: Candidates, sets: Sequence[Sequence[int]]) -> list[_core.Counts]:
        """Do as `counts` does for each of several conditioning sets."""
        return [self.counts(target, candidates, given) for given in sets]

    def gram(self, columns: Candidates, others: Candidates) -> Gram:
        """Refuse: sites have no numbers."""
        del columns, others
        raise DataError("sites send counts of categories only; divide numbers into classes with serape.discretise")


class SitesTest(CountedTest):
    """G² or X² on the counts of several sites. A test for which a site refuses its table is not reliable.

    Parameters
    ----------
    sites
        Sites, or anything with their methods `about` and `counts`.
    statistic, dof, reliability, minimum
        As in the settings of a question.
    """

    core_answers = SCREENS

    def __init__(
        self,
        sites: Sequence[AnySite],
        statistic: Literal["g2", "x2"] = "g2",
        dof: DofRule = "auto",
        reliability: ReliabilityRule = "dof",
        minimum: float = 5.0,
    ) -> None:
        self._sites = _Sites(list(sites))
        super().__init__(self._sites, statistic, dof, reliability, minimum)

    on_rows = True
    has_effect = False  # it would take more tables

    def test(self, x: int, y: int, given: Sequence[int] = ()) -> Outcome:
        """Test X ⊥ Y | given, unless a site refuses its table."""
        _, counts = self._sites.some_counts(y, as_positions([x]), given)
        if counts is None:
            return Outcome(math.nan, math.nan, math.nan, reliable=False, rows=self.rows)
        return Outcome(*self._counted.test(counts), self.rows)

    def screen(
        self,
        target: int,
        candidates: Candidates,
        given: Sequence[int] = (),
        *,
        threads: int = 1,
        poll: Poll | None = None,
        strategy: str = "automatic",
    ) -> ScreenResult:
        """Test every candidate against the target given one set; those that a site refuses are not reliable."""
        del threads, poll, strategy
        xs = as_positions(candidates)
        statistic, dof = np.full(len(xs), np.nan), np.full(len(xs), np.nan)
        reliable = np.zeros(len(xs), bool)
        if len(xs):
            kept, counts = self._sites.some_counts(target, xs, given)
            if counts is not None:
                statistic[kept], dof[kept], reliable[kept] = self._counted.screen(counts).arrays()
        return NativeScreenResult(xs, tuple(given), _core.ScreenAnswers(statistic, dof, reliable))

    def answers(
        self, x: int, target: int, sets: Iterator[tuple[int, ...]]
    ) -> Iterator[tuple[tuple[int, ...], Outcome]]:
        """Test X ⊥ T given each of several sets."""
        return IndependenceTest.answers(self, x, target, sets)

    def answer(self, x: int, y: int, given: Sequence[int] = ()) -> Outcome:
        """Test X ⊥ Y | given if that is reliable."""
        return self.screen(y, [x], given).outcome(0)
