"""Which pairs of variables depend on each other given nothing, without a matrix of all answers.

G² of all pairs of columns of few levels is tested in one native call, which keeps the dependent pairs alone. What is
asked about the other pairs is tested again: that is rare, because a search goes on with the dependent ones.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

from serape import _core
from serape.independence.base import IndependenceTest
from serape.independence.contingency import ContingencyTest, NativeScreenResult
from serape.independence.g2 import G2
from serape.independence.outcomes import Floats, as_positions
from serape.independence.screens import ScreenResult

MIN_ROWS = 5  # per degree of freedom, for binary columns
_MAX_ROWS = 65_528  # counts have 16 bits
_MAX_LEVELS = 8  # of columns that are kept as bitsets
_MAX_PAIRS = 1 << 24  # kept: 40 bytes for each while they are collected, 24 afterwards


def are_binary(test: IndependenceTest) -> TypeGuard[G2]:
    """Return whether all columns of a G² test with the usual rules are binary: then all pairs are fastest."""
    rules = ("full", "dof", MIN_ROWS)
    if type(test) is not G2 or test.table.rows > _MAX_ROWS or (test.dof, test.reliability, test.minimum) != rules:
        return False
    return all(test.table.levels(k) <= 2 for k in range(len(test.variables)))


def have_few_levels(test: IndependenceTest, variables: Sequence[int]) -> TypeGuard[G2]:
    """Return whether a test is G², and whether these columns have few enough levels for fast tests of all pairs."""
    if type(test) is not G2 or test.table.rows > _MAX_ROWS:
        return False
    return all(test.table.levels(k) <= _MAX_LEVELS for k in variables)


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
    found = _core.dependent_pairs(test.native, as_positions(variables), log_alpha, _MAX_PAIRS, threads)
    return DependentPairs(test, targets, log_alpha, *found[1:]) if found[0] else None


class DependentPairs(Mapping[int, ScreenResult]):
    """By target, the answers for all variables given nothing, of which those that show dependence are kept."""

    def __init__(
        self,
        test: ContingencyTest,
        targets: Sequence[int],
        log_alpha: float,
        start: NDArray[np.uint64],
        partners: NDArray[np.uint32],
        statistic: Floats,
        dof: NDArray[np.uint8],
    ) -> None:
        self.test = test
        self.log_alpha = log_alpha
        self._targets = dict.fromkeys(targets)
        self._all = np.arange(len(test.variables), dtype=np.uint32)
        self._start, self._partners, self._statistic, self._dof = start, partners, statistic, dof
        kinds: dict[tuple[int, bool], int] = {}
        table = test.table
        self._kind = np.array(
            [kinds.setdefault((table.levels(k), table.is_constant(k)), len(kinds)) for k in range(len(self._all))],
            np.intp,
        )
        self._reliable_kinds = self._compare_kinds(len(kinds))

    def _compare_kinds(self, kinds: int) -> NDArray[np.bool_]:
        """Return which kinds of columns have reliable tests with each other: levels decide, and whether they vary."""
        examples = np.array([np.flatnonzero(self._kind == kind)[0] for kind in range(kinds)], np.uint32)
        screens = [self.test.screen(int(example), examples) for example in examples]
        return np.array([screen.reliable for screen in screens], bool).reshape(kinds, kinds)

    def __getitem__(self, target: int) -> ScreenResult:
        if target not in self._targets:
            raise KeyError(target)
        return KnownDependents(self, target, self._all)

    def __iter__(self) -> Iterator[int]:
        return iter(self._targets)

    def __len__(self) -> int:
        return len(self._targets)

    @property
    def tests(self) -> int:
        """The number of tests of targets with all variables; a pair of targets counts once."""
        return self._tested(np.bincount(self._kind, minlength=len(self._reliable_kinds))) - self.among_targets

    @property
    def among_targets(self) -> int:
        """The number of tests of pairs of targets."""
        return self._tested(self._targets_by_kind) // 2

    @property
    def all_reliable(self) -> bool:
        """Whether the tests of all pairs of targets are reliable."""
        kinds = np.unique(self._kind[list(self._targets)])
        return bool(self._reliable_kinds[np.ix_(kinds, kinds)].all())

    @property
    def _targets_by_kind(self) -> NDArray[np.intp]:
        return np.bincount(self._kind[list(self._targets)], minlength=len(self._reliable_kinds))

    def _tested(self, others: NDArray[np.intp]) -> int:
        """Return the number of tests of targets with so many variables of each kind."""
        pairs = self._targets_by_kind[:, None] * (others - np.eye(len(others), dtype=np.intp))  # none with itself
        return int(pairs[self._reliable_kinds].sum())

    def reliable(self, target: int, xs: NDArray[np.uint32]) -> NDArray[np.bool_] | None:
        """Return which tests of a target with other variables are reliable; None if all are."""
        kinds = self._reliable_kinds[self._kind[target]]
        return None if kinds.all() else kinds[self._kind[xs]]

    def known(self, target: int) -> NativeScreenResult:
        """Return the answers that show dependence."""
        of = slice(int(self._start[target]), int(self._start[target + 1]))
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
        self._at_dependent: tuple[NDArray[np.intp], ScreenResult] | None = None

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

    def at(self, indices: NDArray[np.intp]) -> ScreenResult:
        """Return the answers at some indices."""
        if self._at_dependent is not None and indices is self._at_dependent[0]:
            return self._at_dependent[1]
        return super().at(indices)

    def _known(self, log_alpha: float) -> tuple[NDArray[np.intp], ScreenResult] | None:
        """Return the indices of the answers that show dependence, and these; None if all must be looked at."""
        if log_alpha != self._pairs.log_alpha or not _core.ascending(self.xs):
            return None
        if self._at_dependent is None:
            known = self._pairs.known(self._target)
            indices = self.xs.searchsorted(known.xs)
            here = np.flatnonzero(self.xs.take(indices, mode="clip") == known.xs) if len(self.xs) else indices[:0]
            self._at_dependent = indices[here], known.at(here)
        return self._at_dependent

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
