"""Which pairs of variables depend on each other given nothing, without a matrix of all answers.

G² of all pairs of columns of few levels is tested in one native call, which keeps the dependent pairs alone. What is
asked about the other pairs is tested again: that is rare, because a search goes on with the dependent ones. Where the
dependent pairs would be too many, targets are tested in blocks, and the pairs of one block are kept at a time.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, TypeGuard, cast

import numpy as np
from numpy.typing import NDArray

from serape import _core
from serape.data.all_columns import all_constant, all_levels
from serape.independence.answering import at_once, who_answers
from serape.independence.backends import Shape
from serape.independence.base import IndependenceTest
from serape.independence.contingency import ContingencyTest
from serape.independence.given_tests import GivenTests, VariableSets
from serape.independence.marginals import Marginals
from serape.independence.native_pairs import MAX_ROWS, NativePairs, Strongest, most_levels
from serape.independence.native_screens import NativeScreenResult
from serape.independence.outcomes import Floats, as_positions
from serape.independence.screens import ScreenResult

_MAX_LEVELS = 8  # of columns that are kept as bitsets
_MAX_PAIRS = 1 << 24  # kept at a time: 40 bytes for each while they are collected, 26 afterwards


def have_few_levels(test: IndependenceTest, variables: Sequence[int]) -> TypeGuard[ContingencyTest]:
    """Return whether all pairs can be tested at once, and whether these columns have few enough levels for that."""
    if who_answers(test, Shape("all pairs")) is None or test.rows is None or test.rows > MAX_ROWS:
        return False
    return most_levels(cast("ContingencyTest", test), variables) <= _MAX_LEVELS


def _all_pairs(
    test: ContingencyTest, columns: NDArray[np.uint32], log_alpha: float, threads: int = 1, strongest: int = 0
) -> NativePairs:
    """Return what tests all pairs of columns of few levels, in ascending order."""
    ask = at_once(test, Shape("all pairs", strongest=strongest))
    assert ask is not None
    found: NativePairs = ask(columns, log_alpha, threads=threads)  # or what answers the same on a device
    return found


def find_dependent_pairs(
    test: IndependenceTest, targets: Sequence[int], log_alpha: float, threads: int = 1, *, among_targets: bool = False
) -> DependentPairs | None:
    """Return which variables depend on the targets given nothing; None if the targets must be asked one by one.

    That is so for other tests, columns of many levels, few of the variables as targets, or very many dependent pairs.
    With `among_targets`, only pairs of targets are tested.
    """
    variables = sorted(targets) if among_targets else range(len(test.variables))
    if 2 * len(targets) < len(variables) or not have_few_levels(test, variables):
        return None
    if _by_chance(len(variables), log_alpha) > _MAX_PAIRS:
        return None
    found = _all_pairs(test, as_positions(variables), log_alpha, threads).dependent(_MAX_PAIRS)
    return DependentPairs(_Kinds(test), targets, log_alpha, found[1:]) if found[0] else None


def strongest_pairs(
    test: ContingencyTest, columns: NDArray[np.uint32], log_alpha: float, strongest: int, threads: int
) -> Strongest:
    """Return, by variable, how many depend on it; its strongest partners, their statistics and dof.

    The columns, in ascending order, have few levels.
    """
    return _all_pairs(test, columns, log_alpha, threads, strongest).strongest(strongest)


def _by_chance(variables: int, log_alpha: float) -> float:
    """Return how many pairs of independent variables are dependent by chance."""
    return math.exp(log_alpha) * variables * (variables - 1) / 2


class DependentBlocks:
    """The variables that depend on targets given nothing, for a block of targets at a time."""

    def __init__(self, test: ContingencyTest, targets: Sequence[int], log_alpha: float, threads: int = 1) -> None:
        self._kinds = _Kinds(test)
        self._targets = targets
        self._log_alpha = log_alpha
        self._threads = threads

    @property
    def tests(self) -> int:
        """The number of tests of targets with all variables; a pair of targets counts once."""
        return self._kinds.tests(self._targets)

    def __iter__(self) -> Iterator[DependentPairs]:
        test = self._kinds.test
        columns = np.arange(len(test.variables), dtype=np.uint32)
        pairs = _all_pairs(test, columns, self._log_alpha, self._threads)
        by_chance = math.exp(self._log_alpha) * len(test.variables)
        size = max(1, int(_MAX_PAIRS / (1.25 * by_chance + 64)))  # targets: each has others too
        begin = 0
        while begin < len(self._targets):
            block = self._targets[begin : begin + size]
            limit = _MAX_PAIRS if len(block) > 1 else len(test.variables)
            found = pairs.dependent_on(as_positions(block), limit)
            if not found[0]:
                size = max(1, len(block) // 2)
                continue
            yield DependentPairs(self._kinds, block, self._log_alpha, found[1:], {x: k for k, x in enumerate(block)})
            begin += len(block)


class _Kinds:
    """Which tests of two variables given nothing are reliable: levels decide, and whether the variables vary."""

    def __init__(self, test: ContingencyTest) -> None:
        self.test = test
        self.all = np.arange(len(test.variables), dtype=np.uint32)
        codes = all_levels(test.table) << 1 | all_constant(test.table)
        there = np.bincount(codes) > 0
        self.of = (np.cumsum(there) - 1)[codes]
        examples = np.zeros(int(there.sum()), np.uint32)
        examples[self.of] = self.all
        screens = [test.screen(int(example), examples) for example in examples]
        self.reliable = np.array([screen.reliable for screen in screens], bool).reshape(len(examples), len(examples))

    def tests(self, targets: Sequence[int]) -> int:
        """Return the number of tests of targets with all variables; a pair of targets counts once."""
        return self._tested(targets, self._count(self.all)) - self.among(targets)

    def among(self, targets: Sequence[int]) -> int:
        """Return the number of tests of pairs of targets."""
        return self._tested(targets, self._count(targets)) // 2

    def _count(self, variables: Sequence[int] | NDArray[np.uint32]) -> NDArray[np.intp]:
        """Return how many of the variables are of each kind."""
        return np.bincount(self.of[as_positions(variables)], minlength=len(self.reliable))

    def _tested(self, targets: Sequence[int], others: NDArray[np.intp]) -> int:
        """Return the number of tests of targets with so many variables of each kind."""
        pairs = self._count(targets)[:, None] * (others - np.eye(len(others), dtype=np.intp))  # none with itself
        return int(pairs[self.reliable].sum())


class DependentPairs(Marginals):
    """By target, the answers for all variables given nothing, of which those that show dependence are kept."""

    def __init__(
        self,
        kinds: _Kinds,
        targets: Sequence[int],
        log_alpha: float,
        found: tuple[NDArray[np.uint64], NDArray[np.uint32], Floats, NDArray[np.uint8]],
        index: Mapping[int, int] | None = None,
    ) -> None:
        self.test = kinds.test
        self.log_alpha = self.dependent_at = log_alpha
        self._kinds = kinds
        self._targets = dict.fromkeys(targets)
        self._start, self._partners, self._statistic, self._dof = found
        self._index = index  # by target, where its partners begin; None if all variables are there in their order

    def __getitem__(self, target: int) -> ScreenResult:
        if target not in self._targets:
            raise KeyError(target)
        return KnownDependents(self, target, self._kinds.all)

    def __iter__(self) -> Iterator[int]:
        return iter(self._targets)

    def __len__(self) -> int:
        return len(self._targets)

    @property
    def tests(self) -> int:
        """The number of tests of targets with all variables; a pair of targets counts once."""
        return self._kinds.tests(list(self._targets))

    @property
    def among_targets(self) -> int:
        """The number of tests of pairs of targets."""
        return self._kinds.among(list(self._targets))

    @property
    def all_reliable(self) -> bool:
        """Whether the tests of all pairs of targets are reliable."""
        kinds = np.unique(self._kinds.of[list(self._targets)])
        return bool(self._kinds.reliable[np.ix_(kinds, kinds)].all())

    def reliable(self, target: int, xs: NDArray[np.uint32]) -> NDArray[np.bool_] | None:
        """Return which tests of a target with other variables are reliable; None if all are."""
        kinds = self._kinds.reliable[self._kinds.of[target]]
        return None if kinds.all() else kinds[self._kinds.of[xs]]

    def all_known(self) -> tuple[NDArray[np.uint32], NativeScreenResult]:
        """Return, where all variables are here, the target of each answer that shows dependence, and the answers."""
        targets = np.arange(len(self._start) - 1, dtype=np.uint32).repeat(np.diff(self._start).astype(np.intp))
        dof = self._dof.astype(np.float64)
        answers = _core.ScreenAnswers(self._statistic, dof, np.ones(len(dof), bool))
        return targets, NativeScreenResult(self._partners, (), answers)

    def of_each(self, targets: NDArray[np.uint32]) -> tuple[NDArray[np.int64], NDArray[np.uint32], Floats, Floats]:
        """Return the ends of the targets' lists, and the variables that depend on them, with statistics and dof."""
        at = targets.astype(np.intp)
        if self._index is not None:
            at = np.array([self._index[x] for x in targets.tolist()], np.intp)
        start = self._start.astype(np.int64)
        if len(at) and np.array_equal(at, np.arange(at[0], at[0] + len(at))):  # they stand one after another
            begin, end = start[at[0]], start[at[-1] + 1]
            dof = self._dof[begin:end].astype(np.float64)
            return start[at + 1] - begin, self._partners[begin:end], self._statistic[begin:end], dof
        counts = start[at + 1] - start[at]
        ends = np.cumsum(counts)
        of = np.arange(int(ends[-1]) if len(ends) else 0) + (start[at] - (ends - counts)).repeat(counts)
        return ends, self._partners[of], self._statistic[of], self._dof[of].astype(np.float64)

    def ranked_dependents(self, targets: NDArray[np.uint32], log_alpha: float, threads: int) -> VariableSets:
        """Return the variables that depend on each target, the strongest first."""
        assert log_alpha == self.log_alpha
        ends, xs, statistic, dof = self.of_each(targets)
        return VariableSets(ends, _core.ranked_each(ends, xs, statistic, dof, threads))

    def tests_of(self, targets: NDArray[np.uint32], pools: VariableSets, threads: int) -> GivenTests:
        """Return the tests of each target with the members of its pool, all of which depend on it."""
        ends, xs, statistic, dof = self.of_each(targets)
        number = np.arange(len(targets), dtype=np.int64)
        keys = number.repeat(np.diff(ends, prepend=0)) << 32 | xs  # ascending
        at = keys.searchsorted(number.repeat(pools.sizes) << 32 | pools.members)
        log_p = _core.chi_square_log_sf(statistic[at], dof[at], threads)
        return GivenTests(statistic[at], dof[at], log_p, VariableSets.alike((), len(log_p)))

    def known(self, target: int) -> NativeScreenResult:
        """Return the answers that show dependence."""
        at = target if self._index is None else self._index[target]
        of = slice(int(self._start[at]), int(self._start[at + 1]))
        statistic = self._statistic[of]
        answers = _core.ScreenAnswers(statistic, self._dof[of].astype(np.float64), np.ones(len(statistic), bool))
        return NativeScreenResult(self._partners[of], (), answers)


class KnownDependents(NativeScreenResult):
    """The answers for some candidates given nothing; those that show dependence are known, the others tested again."""

    def __init__(self, pairs: DependentPairs, target: int, xs: NDArray[np.uint32]) -> None:
        self.xs = xs
        self.given = ()
        self._pairs = pairs
        self._target = target
        self._log_p = _core.chi_square_log_sf
        self._at_dependent: tuple[NDArray[np.intp], NativeScreenResult] | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return KnownDependents, (self._pairs, self._target, self.xs)

    @cached_property
    def _answers(self) -> _core.ScreenAnswers:  # type: ignore[override]
        statistic, dof, reliable = _arrays(self._pairs.test.screen(self._target, self.xs))
        own = self.xs == self._target
        statistic[own], reliable[own] = math.nan, False
        return _core.ScreenAnswers(statistic, dof, reliable)

    @property
    def performed(self) -> int:
        """How many tests are reliable."""
        reliable = self._pairs.reliable(self._target, self.xs)
        count = len(self.xs) if reliable is None else int(np.count_nonzero(reliable))
        own = self.xs == self._target
        return count - int(np.count_nonzero(own if reliable is None else own & reliable))

    def part(self, candidates: NDArray[np.uint32]) -> ScreenResult:
        """Return the answers for some of the candidates."""
        return KnownDependents(self._pairs, self._target, candidates)

    def at(self, indices: NDArray[np.intp]) -> NativeScreenResult:
        """Return the answers at some indices."""
        if self._at_dependent is not None and indices is self._at_dependent[0]:
            return self._at_dependent[1]
        return super().at(indices)

    def _known(self, log_alpha: float) -> tuple[NDArray[np.intp], NativeScreenResult] | None:
        """Return the indices of the answers that show dependence, and these; None if all must be looked at."""
        if log_alpha != self._pairs.log_alpha or not _core.ascending(self.xs):
            return None
        if self._at_dependent is None:
            known = self._pairs.known(self._target)
            indices = self.xs.searchsorted(known.xs)
            here = np.flatnonzero(self.xs.take(indices, mode="clip") == known.xs) if len(self.xs) else indices[:0]
            self._at_dependent = indices[here], known.at(here)
        return self._at_dependent

    def that_depend(self, log_alpha: float) -> ScreenResult:
        """Return the answers that show dependence."""
        known = self._known(log_alpha)
        return super().that_depend(log_alpha) if known is None else known[1].alone()

    def partition(self, log_alpha: float) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return the indices of the answers that show dependence, and of those that show independence."""
        known = self._known(log_alpha)
        if known is None:
            return super().partition(log_alpha)
        reliable = self._pairs.reliable(self._target, self.xs)
        independent = np.ones(len(self.xs), bool) if reliable is None else reliable.copy()
        independent[known[0]] = False
        independent[self.xs == self._target] = False
        return known[0], np.flatnonzero(independent)

    def dependents(self, log_alpha: float) -> list[int]:
        """Return the candidates whose answers show dependence, the strongest first; ties by position."""
        known = self._known(log_alpha)
        return super().dependents(log_alpha) if known is None else known[1].dependents(log_alpha)

    def known_dependents(self, log_alpha: float) -> NativeScreenResult | None:
        """Return the answers of all variables that show dependence, without a look at the others; None if not known."""
        return None if log_alpha != self._pairs.log_alpha else self._pairs.known(self._target)

    def ranked_split(self, log_alpha: float) -> tuple[list[int], NDArray[np.uint32]]:
        """Return the `dependents`, and the candidates whose answers show independence."""
        known = self._known(log_alpha)
        if known is None:
            return super().ranked_split(log_alpha)
        independent = _core.without(self.xs, (self._target, *known[1].xs.tolist()), ascending=True)
        reliable = self._pairs.reliable(self._target, independent)
        return known[1].dependents(log_alpha), independent if reliable is None else independent[reliable]

    def strongest(self) -> tuple[list[int], float]:
        """Return the indices of the strongest reliable answers (several if they tie exactly) and their log p."""
        known = self._known(self._pairs.log_alpha)
        if known is None or len(known[0]) == 0:
            return super().strongest()
        indices, log_p = known[1].strongest()
        return known[0][indices].tolist(), log_p


def _arrays(screen: ScreenResult) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    return screen.statistic.copy(), screen.dof.copy(), screen.reliable.copy()
