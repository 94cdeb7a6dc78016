"""What every independence test offers.

A test answers "is X ⊥ Y | Z?". Algorithms ask in batches, of which there are four kinds:

- `screen`: one conditioning set, many candidates (`screens`: several of these);
- `first_dependent`: the same, in order, until a candidate is dependent;
- `search_subsets`: many conditioning sets, drawn from a pool (`weakest` and `separate` are its two everyday forms);
- `test_each_given_rest`: each of some variables given the others.

A new test has to supply `test` alone; the batch questions are built on it here. Tests that can do better override
them, and must give the same answers. Variables are positions in `variables` throughout.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from typing import Any, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from serape import _core
from serape.errors import OptionError
from serape.independence.subset_query import SubsetQuery, n_subsets

Floats = NDArray[np.float64]
Candidates = Sequence[int] | NDArray[np.uint32]
Poll = Callable[[], object]
Group = tuple[Candidates, Sequence[int]]
"""Candidates and the conditioning set they are tested with."""
NO_VARIABLES = np.empty(0, np.uint32)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The answer to one question. A test that is not reliable shows neither dependence nor independence."""

    statistic: float
    dof: float
    log_p: float
    reliable: bool
    rows: int | None = None

    @property
    def p(self) -> float:
        """The p-value; 0.0 where it is too small for a float (`log_p` is not)."""
        return math.exp(self.log_p) if not math.isnan(self.log_p) else math.nan


NO_OUTCOME = Outcome(math.nan, math.nan, math.nan, reliable=False)


class ScreenResult:
    """Answers for many candidates given one conditioning set, in arrays as long as the candidates.

    An unreliable test was not performed: its statistic and log p are NaN.
    """

    def __init__(
        self,
        candidates: NDArray[np.uint32],
        given: tuple[int, ...],
        statistic: Floats,
        dof: Floats,
        reliable: NDArray[np.bool_],
        log_p: Floats | Callable[[Floats, Floats], Floats],
    ) -> None:
        self.xs = candidates
        self.given = given
        self.statistic = statistic
        self.dof = dof
        self.reliable = reliable
        self._log_p = log_p

    def __len__(self) -> int:
        return len(self.xs)

    @property
    def performed(self) -> int:
        """How many tests are reliable."""
        return int(np.count_nonzero(self.reliable))

    @property
    def tail(self) -> Callable[[Floats, Floats], Floats] | None:
        """What makes log p of statistics and degrees of freedom, if they are not known already."""
        return self._log_p if callable(self._log_p) else None

    @cached_property
    def log_p(self) -> Floats:
        """The logarithms of the p-values, computed when first asked for."""
        return self.log_p_of(np.arange(len(self)))

    def log_p_of(self, indices: NDArray[np.intp]) -> Floats:
        """Return the logarithms of the p-values at some places only."""
        if not callable(self._log_p):
            return self._log_p[indices]
        log_p = self._log_p(self.statistic[indices], self.dof[indices])
        log_p[~self.reliable[indices]] = math.nan
        return log_p

    def dependent(self, log_alpha: float) -> NDArray[np.bool_]:
        """Return which answers are reliable and show dependence."""
        return self.reliable & (self.log_p <= log_alpha)

    def partition(self, log_alpha: float) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return the places of the answers that show dependence, and of those that show independence."""
        dependent = self.dependent(log_alpha)
        return np.flatnonzero(dependent), np.flatnonzero(self.reliable & ~dependent)

    def dependents(self, log_alpha: float) -> list[int]:
        """Return the candidates whose answers show dependence, the strongest first; ties by position."""
        return self.ranked_split(log_alpha)[0]

    def ranked_split(self, log_alpha: float) -> tuple[list[int], NDArray[np.uint32]]:
        """Return the `dependents`, and the candidates whose answers show independence."""
        dependent, separations = self.partition(log_alpha)
        return self.xs[self.ranked(self.by_position(dependent))].tolist(), self.xs[separations]

    def by_position(self, indices: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return places in the order of the candidates' positions."""
        return indices[self.xs[indices].argsort(kind="stable")]

    def ranked(self, indices: NDArray[np.intp], ties: NDArray[np.intp] | None = None) -> NDArray[np.intp]:
        """Return the places of some reliable answers from the strongest to the weakest.

        Exact ties go by the numbers in `ties`, or in the order of the places.
        """
        ties = np.arange(len(indices)) if ties is None else ties
        return indices[np.lexsort((ties, -self.statistic[indices], self.log_p_of(indices)))]

    def at(self, indices: NDArray[np.intp]) -> ScreenResult:
        """Return the answers at some places."""
        return self._taken(self.xs[indices], indices)

    def _taken(self, xs: NDArray[np.uint32], indices: NDArray[np.intp] | NDArray[np.uint32]) -> ScreenResult:
        log_p = self._log_p if callable(self._log_p) else self._log_p[indices]
        return self.like(xs, self.statistic[indices], self.dof[indices], self.reliable[indices], log_p)

    def like(
        self,
        xs: NDArray[np.uint32],
        statistic: Floats,
        dof: Floats,
        reliable: NDArray[np.bool_],
        log_p: Floats | Callable[[Floats, Floats], Floats],
    ) -> ScreenResult:
        """Return other answers of the same test given the same set."""
        return self._of_arrays()(xs, self.given, statistic, dof, reliable, log_p)

    def _of_arrays(self) -> Callable[..., ScreenResult]:
        """Return what makes such a screen of arrays alone."""
        return type(self)

    def part(self, candidates: NDArray[np.uint32]) -> ScreenResult:
        """Return the answers for some of the candidates; those of this screen must be in ascending order."""
        if len(self.xs) == 0 or self.xs[-1] == len(self.xs) - 1:  # all variables there are, each at its own place
            return self._taken(candidates, candidates)
        return self.at(self.xs.searchsorted(candidates))

    def each(self) -> list[tuple[int, int, float, float]]:
        """Return place, x, log p and statistic of the reliable answers."""
        indices = np.flatnonzero(self.reliable)
        columns = (indices, self.xs[indices], self.log_p_of(indices), self.statistic[indices])
        return list(zip(*(column.tolist() for column in columns), strict=True))

    def strongest(self) -> tuple[list[int], float]:
        """Return the places of the strongest reliable answers (several if they tie exactly) and their log p."""
        indices = np.flatnonzero(self.reliable)
        if len(indices) == 0:
            return [], 0.0
        log_p, statistic = self.log_p[indices], self.statistic[indices]
        lowest = log_p == log_p.min()
        best = lowest & (statistic == statistic[lowest].max())
        return indices[best].tolist(), float(log_p.min())

    def given_of(self, index: int) -> tuple[int, ...]:
        """Return the conditioning set of one answer."""
        del index
        return self.given

    def outcome(self, index: int) -> Outcome:
        """Return one answer."""
        log_p = float(self.log_p_of(np.array([index]))[0])
        return Outcome(float(self.statistic[index]), float(self.dof[index]), log_p, bool(self.reliable[index]))


class MinAssociationTable(NamedTuple):
    """The weakest associations known of some x: their numbers, in which batch of answers each is, and where."""

    statistic: Floats
    dof: Floats
    log_p: Floats
    batch: NDArray[np.intp]
    entry: NDArray[np.intp]

    def at(self, kept: NDArray[np.intp]) -> MinAssociationTable:
        """Return those of some x."""
        return MinAssociationTable(
            self.statistic[kept], self.dof[kept], self.log_p[kept], self.batch[kept], self.entry[kept]
        )


class CandidateGroups:
    """Groups of candidates, each with the conditioning set they are tested with; asked about again and again."""

    def __init__(self, groups: Iterable[Group]) -> None:
        self.all = list(groups)
        self._native: tuple[_core.PackedTable, _core.Groups] | None = None
        self._smaller: dict[int, CandidateGroups] = {}

    def native_in(self, table: _core.PackedTable) -> _core.Groups:
        """Return what the core makes of them, for a table; kept for the next question."""
        if self._native is None or self._native[0] is not table:
            self._native = table, _core.Groups(table, self.all)
        return self._native[1]

    def up_to(self, size: int) -> CandidateGroups:
        """Return the groups whose sets have at most so many members; kept for the next question."""
        if size not in self._smaller:
            few = [group for group in self.all if len(group[1]) <= size]
            self._smaller[size] = self if len(few) == len(self.all) else CandidateGroups(few)
        return self._smaller[size]


@dataclass(frozen=True, slots=True)
class Association:
    """What a search through conditioning sets found for one x.

    The separating test if there was one (`separated`), otherwise the weakest association met. If no test was reliable,
    neither is the outcome.
    """

    outcome: Outcome
    given: tuple[int, ...]
    separated: bool


class SubsetResult(Sequence[Association]):
    """What a search through conditioning sets found for many x, in arrays as long as those that were asked about."""

    def __init__(
        self,
        xs: NDArray[np.uint32],
        statistic: Floats,
        dof: Floats,
        log_p: Floats,
        verdict: NDArray[np.int32],
        which: NDArray[np.int32],
        sets: Sequence[Sequence[int]],
        rows: int | None = None,
    ) -> None:
        self.xs = xs
        self.statistic = statistic
        self.dof = dof
        self.log_p = log_p
        self.reliable = verdict > 0
        self.separated = verdict == 2
        self.which = which
        """Places in `sets`."""
        self.sets = sets
        """Conditioning sets, each once."""
        self._rows = rows

    def __len__(self) -> int:
        return len(self.xs)

    @overload
    def __getitem__(self, k: int) -> Association: ...
    @overload
    def __getitem__(self, k: slice) -> list[Association]: ...
    def __getitem__(self, k: int | slice) -> Association | list[Association]:
        if isinstance(k, slice):
            return [self[i] for i in range(*k.indices(len(self)))]
        return Association(self.outcome(k), self.given_of(k), bool(self.separated[k]))

    def outcome(self, index: int) -> Outcome:
        """Return one answer."""
        k = index
        return Outcome(
            float(self.statistic[k]), float(self.dof[k]), float(self.log_p[k]), bool(self.reliable[k]), self._rows
        )

    def given_of(self, index: int) -> tuple[int, ...]:
        """Return the conditioning set of one answer."""
        return tuple(self.sets[self.which[index]])

    def log_p_of(self, indices: NDArray[np.intp]) -> Floats:
        """Return the logarithms of the p-values at some places."""
        return self.log_p[indices]

    @property
    def survivors(self) -> list[int]:
        """The x that nothing separates."""
        return [int(x) for x in self.xs[~self.separated]]

    @property
    def separated_variables(self) -> list[int]:
        """The x that some set separates."""
        return [int(x) for x in self.xs[self.separated]]

    @property
    def last_survives(self) -> bool:
        """Whether there is a last x and nothing separates it."""
        return len(self) > 0 and not self.separated[-1]

    def indices_of(self, x: int) -> list[int]:
        """Return the places of the reliable answers about one x."""
        return np.flatnonzero((self.xs == x) & self.reliable).tolist()

    def weaken(self, known: MinAssociationTable, number: int) -> NDArray[np.intp]:
        """Take the place of known associations where an answer is weaker; return the places of those not separated.

        The number is that of this batch of answers.
        """
        statistic, dof, log_p, batch, index = known
        kept = np.flatnonzero(~self.separated)
        by_log_p = (self.log_p > log_p) | ((self.log_p == log_p) & (self.statistic < statistic))
        weaker = np.where(self.dof == dof, self.statistic < statistic, by_log_p)
        at = kept[(self.reliable & weaker)[kept]]
        statistic[at], dof[at], log_p[at] = self.statistic[at], self.dof[at], self.log_p[at]
        batch[at], index[at] = number, at
        return kept

    def separations(self, log_alpha: float) -> list[tuple[int, tuple[int, ...]]]:
        """Return the x whose log p is above a value, each with its conditioning set."""
        indices = np.flatnonzero(self.reliable & (self.log_p > log_alpha)).tolist()
        return [(int(self.xs[k]), self.given_of(k)) for k in indices]

    def each(self) -> list[tuple[int, int, float, float]]:
        """Return place, x, log p and statistic of the reliable answers."""
        indices = self.reliable.nonzero()[0]
        columns = (indices, self.xs[indices], self.log_p[indices], self.statistic[indices])
        return list(zip(*(column.tolist() for column in columns), strict=True))


class NativeSubsetResult(SubsetResult):
    """What the core found. It stays there until somebody looks at it."""

    def __init__(self, found: _core.FoundSubsets, rows: int | None, names: NDArray[np.uint32] | None = None) -> None:
        self._found = found
        self._rows = rows
        self._names = names  # what the core's numbers stand for, if not for themselves

    def __getattr__(self, name: str) -> Any:
        if name not in ("xs", "statistic", "dof", "log_p", "reliable", "separated", "which", "sets"):
            raise AttributeError(name)
        n = len(self)
        numbers, indices, sets = self._found.arrays()
        xs = self._found.xs()
        if self._names is not None:
            xs, sets = self._names[xs], [self._names[given].tolist() for given in sets]
        super().__init__(
            xs, numbers[:n], numbers[n : 2 * n], numbers[2 * n :], indices[:n], indices[n:], sets, self._rows
        )
        return self.__dict__[name]

    def __len__(self) -> int:
        return len(self._found)

    @property
    def survivors(self) -> list[int]:
        """The x that nothing separates."""
        return self._named(self._found.those(separated=False))

    @property
    def separated_variables(self) -> list[int]:
        """The x that some set separates."""
        return self._named(self._found.those(separated=True))

    @property
    def last_survives(self) -> bool:
        """Whether there is a last x and nothing separates it."""
        return self._found.last_survives()

    def indices_of(self, x: int) -> list[int]:
        """Return the places of the reliable answers about one x."""
        return self._found.places_of(x) if self._names is None else super().indices_of(x)

    def given_of(self, index: int) -> tuple[int, ...]:
        """Return the conditioning set of one answer."""
        return self._found.given_of(index) if self._names is None else super().given_of(index)

    def each(self) -> list[tuple[int, int, float, float]]:
        """Return place, x, log p and statistic of the reliable answers."""
        return self._found.each() if self._names is None else super().each()

    def outcome(self, index: int) -> Outcome:
        """Return one answer."""
        return Outcome(*self._found.outcome(index), self._rows)

    def weaken(self, known: MinAssociationTable, number: int) -> NDArray[np.intp]:
        """Take the place of known associations where an answer is weaker; return the places of those not separated."""
        return self._found.weaken(*known, number)

    def separations(self, log_alpha: float) -> list[tuple[int, tuple[int, ...]]]:
        """Return the x whose log p is above a value, each with its conditioning set."""
        return self._found.apart(log_alpha) if self._names is None else super().separations(log_alpha)

    def _named(self, numbers: list[int]) -> list[int]:
        return numbers if self._names is None else [int(x) for x in self._names[numbers]]


@dataclass(slots=True)
class Tally:
    """The number of tests performed, and of tests skipped as unreliable, by size of the conditioning set."""

    tests_by_size: dict[int, int] = field(default_factory=dict)
    skipped_by_size: dict[int, int] = field(default_factory=dict)

    @property
    def performed(self) -> int:
        """The number of tests that gave a verdict."""
        return sum(self.tests_by_size.values())

    @property
    def skipped(self) -> int:
        """The number of tests that were skipped."""
        return sum(self.skipped_by_size.values())

    def add(self, size: int, tests: int, skipped: int) -> None:
        """Count questions with a conditioning set of one size."""
        if tests:
            self.tests_by_size[size] = self.tests_by_size.get(size, 0) + tests
        if skipped:
            self.skipped_by_size[size] = self.skipped_by_size.get(size, 0) + skipped

    def merge(self, other: Tally) -> None:
        """Add another tally to this one."""
        for size, count in other.tests_by_size.items():
            self.tests_by_size[size] = self.tests_by_size.get(size, 0) + count
        for size, count in other.skipped_by_size.items():
            self.skipped_by_size[size] = self.skipped_by_size.get(size, 0) + count


class IndependenceTest(ABC):
    """A source of answers about conditional independence."""

    name: str = "custom"
    variables: tuple[str, ...]
    rows: int | None = None
    _noted: tuple[str, ...] = ()

    @property
    def notes(self) -> tuple[str, ...]:
        """What a result should tell about it."""
        return self._noted

    def note(self, text: str) -> None:
        """Let results tell something about the test."""
        self._noted = (*self._noted, text)

    def check(self, variables: Container[int]) -> None:
        """Refuse variables that the test is not made for."""
        del variables

    @abstractmethod
    def test(self, x: int, y: int, given: Sequence[int] = ()) -> Outcome:
        """Test X ⊥ Y | given."""

    def answer(self, x: int, y: int, given: Sequence[int] = ()) -> Outcome:
        """Test X ⊥ Y | given if that is reliable; a test may leave out the work if it is not."""
        return self.test(x, y, given)

    def rows_per_cell(self, variables: Iterable[int]) -> float:
        """Return the mean number of rows in a cell of the table of variables; infinite where there are no data."""
        del variables
        return math.inf

    # --- batch questions -----------------------------------------------------------------------------------------

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
        del threads
        outcomes = []
        for x in candidates:
            outcomes.append(self.test(int(x), target, given))
            if poll is not None:
                poll()
        return _as_screen_result(candidates, given, outcomes)

    def working_set(self, among: NDArray[np.uint32]) -> Callable[..., ScreenResult]:
        """Return what screens some of these candidates, as `screen` does; they are in the table's order.

        For many screens of most of them: a test may keep together meanwhile what it needs.
        """
        del among
        return self.screen

    def screens(
        self, target: int, groups: CandidateGroups, also: int, *, threads: int = 1, poll: Poll | None = None
    ) -> tuple[ScreenResult, Tally]:
        """Test the candidates of each group against the target given its set and one more; one after another.

        Groups with that one in their set are left out.
        """
        parts = [
            self.screen(target, xs, (*given, also), threads=threads, poll=poll)
            for xs, given in groups.all
            if also not in given
        ]
        tally = Tally()
        for part in parts:
            tally.add(len(part.given), part.performed, len(part) - part.performed)
        if not parts:
            return ScreenResult(NO_VARIABLES, (), np.empty(0), np.empty(0), np.empty(0, bool), np.empty(0)), tally
        xs, statistic, dof, reliable, log_p = (
            np.concatenate([getattr(part, name) for part in parts])
            for name in ("xs", "statistic", "dof", "reliable", "log_p")
        )
        return ScreenResult(xs, (), statistic, dof, reliable, log_p), tally

    def marginals(
        self, targets: Sequence[int], separations: Callable[[int], Collection[int]] | None = None, *, threads: int = 1
    ) -> dict[int, ScreenResult]:
        """Test each target against all variables given nothing, each pair once; not those that are kept `apart`.

        A screen is over all variables; what was not tested is not reliable.
        """
        count = len(self.variables)
        all_variables = np.arange(count, dtype=np.uint32)
        statistic, dof, log_p = (np.full((len(targets), count), np.nan) for _ in range(3))
        reliable = np.zeros((len(targets), count), bool)
        asked = np.ones(count, bool)
        done: list[int] = []
        found: dict[int, ScreenResult] = {}
        for row, target in enumerate(targets):
            asked[target] = False
            candidates = all_variables[asked]
            if separations is not None:
                candidates = candidates[~np.isin(candidates, list(separations(target)))]
            fresh = self.screen(target, candidates, (), threads=threads)
            answers = [(statistic, fresh.statistic), (dof, fresh.dof), (reliable, fresh.reliable)]
            if fresh.tail is None:
                answers.append((log_p, fresh.log_p))
            for matrix, values in answers:
                matrix[row, candidates] = values
                matrix[row, done] = matrix[:row, target]  # the same tests, seen from the other side
            done.append(target)
            found[target] = fresh.like(
                all_variables, statistic[row], dof[row], reliable[row], log_p[row] if fresh.tail is None else fresh.tail
            )
        return found

    def first_dependent(
        self, target: int, candidates: Candidates, given: Sequence[int], log_alpha: float, *, poll: Poll | None = None
    ) -> ScreenResult:
        """Test the candidates in order until one is dependent; that one, if any, is the last of the answers."""
        outcomes: list[Outcome] = []
        for x in candidates:
            outcomes.append(self.test(int(x), target, given))
            if poll is not None:
                poll()
            if outcomes[-1].reliable and outcomes[-1].log_p <= log_alpha:
                break
        return _as_screen_result(candidates[: len(outcomes)], given, outcomes)

    def search_subsets(
        self, query: SubsetQuery, *, threads: int = 1, poll: Poll | None = None
    ) -> tuple[SubsetResult, Tally]:
        """Return, for each x of the query, the first separation, or else the weakest association met."""
        del threads
        tally = Tally()
        check_distinct(query.pool)
        live = {int(z): index for index, z in enumerate(query.pool)}
        found: list[Association] = []
        for k, x in enumerate(int(x) for x in query.xs):
            found.append(self._search_one(x, query, live, query.sizes, query.n_exhausted_of(k), tally, poll))
            if found[-1].separated and query.shrinking:
                live.pop(x, None)
            if not found[-1].separated and query.until_survivor:
                break
        return _as_subset_result(query.xs, found, self.rows), tally

    def test_each_given_rest(
        self,
        xs: Candidates,
        target: int,
        pool: Candidates,
        stop_above: float,
        *,
        max_size: int | None = None,
        poll: Poll | None = None,
    ) -> tuple[SubsetResult, Tally]:
        """Test each x in turn given the rest of the pool; a separated x leaves the pool for those after it.

        A reliable test whose log p is above `stop_above` separates. Sets of more than `max_size` members are skipped.
        """
        tally = Tally()
        check_distinct(pool)
        query = SubsetQuery(xs, target, pool, range(len(pool) + 1), max_size=max_size, stop_above=stop_above)
        live = {int(z): index for index, z in enumerate(pool)}
        found: list[Association] = []
        for x in map(int, xs):
            rest = len(live.keys() - {x, target})
            found.append(self._search_one(x, query, live, range(rest, rest + 1), -1, tally, poll))
            if found[-1].separated:
                live.pop(x, None)
        return _as_subset_result(xs, found, self.rows), tally

    def _search_one(
        self,
        x: int,
        query: SubsetQuery,
        live: Mapping[int, int],
        sizes: range,
        n_exhausted: int,
        tally: Tally,
        poll: Poll | None,
    ) -> Association:
        """Search for one x. `live` has the members that are still in the pool, with their indices."""
        target, fixed, stop_above = query.target, query.fixed, query.stop_above
        weakest = Association(NO_OUTCOME, (), separated=False)
        if x == target or x in fixed:
            return weakest
        others = [z for z in live if z not in (x, target, *fixed)]
        for size in range(sizes.start, min(sizes.stop, len(others) + 1)):
            if query.is_too_large(size):
                exhausted = sum(live[z] < n_exhausted for z in others) if n_exhausted >= 0 else None
                tally.add(len(fixed) + size, 0, n_subsets(len(others), exhausted, size))
                continue
            for subset in combinations(others, size):
                if n_exhausted >= 0 and all(live[z] < n_exhausted for z in subset):
                    continue
                given = (*fixed, *subset)
                outcome = self.answer(x, target, given)
                if poll is not None:
                    poll()
                if not outcome.reliable:
                    tally.add(len(given), 0, 1)
                    continue
                tally.add(len(given), 1, 0)
                if stop_above is not None and outcome.log_p > stop_above:
                    return Association(outcome, given, separated=True)
                if _weaker(outcome, weakest.outcome):
                    weakest = Association(outcome, given, separated=False)
        return weakest

    # --- the two everyday forms ----------------------------------------------------------------------------------

    @overload
    def weakest(
        self, x: int, target: int, pool: Sequence[int], max_size: int, must_include: int | None = None
    ) -> Association: ...
    @overload
    def weakest(
        self, x: Sequence[int], target: int, pool: Sequence[int], max_size: int, must_include: int | None = None
    ) -> list[Association]: ...
    def weakest(
        self, x: int | Sequence[int], target: int, pool: Sequence[int], max_size: int, must_include: int | None = None
    ) -> Association | list[Association]:
        """Return the least association of x (one or many) with the target over subsets of the pool."""
        xs = [x] if isinstance(x, int) else x
        n_exhausted = -1
        if must_include is not None:
            pool = [*(z for z in pool if z != must_include), must_include]
            n_exhausted = len(pool) - 1
        found, _ = self.search_subsets(SubsetQuery(xs, target, pool, range(max_size + 1), n_exhausted=n_exhausted))
        return found[0] if isinstance(x, int) else list(found)

    @overload
    def separate(self, x: int, target: int, pool: Sequence[int], sizes: range, alpha: float = 0.05) -> Association: ...
    @overload
    def separate(
        self, x: Sequence[int], target: int, pool: Sequence[int], sizes: range, alpha: float = 0.05
    ) -> list[Association]: ...
    def separate(
        self, x: int | Sequence[int], target: int, pool: Sequence[int], sizes: range, alpha: float = 0.05
    ) -> Association | list[Association]:
        """Return the first subset of the pool that separates x (one or many) from the target."""
        xs = [x] if isinstance(x, int) else x
        found, _ = self.search_subsets(SubsetQuery(xs, target, pool, sizes, stop_above=math.log(alpha)))
        return found[0] if isinstance(x, int) else list(found)


def _weaker(outcome: Outcome, than: Outcome) -> bool:
    if not than.reliable:
        return True
    if outcome.dof == than.dof:
        return outcome.statistic < than.statistic
    return outcome.log_p > than.log_p or (outcome.log_p == than.log_p and outcome.statistic < than.statistic)


def _as_subset_result(xs: Candidates, found: list[Association], rows: int | None) -> SubsetResult:
    index: dict[tuple[int, ...], int] = {}
    outcomes = [association.outcome for association in found]
    return SubsetResult(
        as_positions(xs[: len(found)]),
        np.array([o.statistic for o in outcomes], np.float64),
        np.array([o.dof for o in outcomes], np.float64),
        np.array([o.log_p for o in outcomes], np.float64),
        np.array([2 if a.separated else int(a.outcome.reliable) for a in found], np.int32),
        np.array([index.setdefault(a.given, len(index)) for a in found], np.int32),
        list(index),
        rows,
    )


def check_distinct(variables: Candidates) -> None:
    """Refuse a variable named twice."""
    seen: set[int] = set()
    for v in map(int, variables):
        if v in seen:
            raise OptionError(f"variable {v} is named twice in one question")
        seen.add(v)


def _as_screen_result(candidates: Candidates, given: Sequence[int], outcomes: list[Outcome]) -> ScreenResult:
    reliable = np.array([o.reliable for o in outcomes], bool)

    def column(values: list[float]) -> Floats:
        return np.where(reliable, np.array(values, np.float64), math.nan)

    return ScreenResult(
        as_positions(candidates),
        tuple(given),
        column([o.statistic for o in outcomes]),
        np.array([o.dof for o in outcomes], np.float64),
        reliable,
        column([o.log_p for o in outcomes]),
    )


def as_positions(variables: Candidates) -> NDArray[np.uint32]:
    """Return variables as the array of positions that the core takes."""
    return np.ascontiguousarray(variables, np.uint32)
