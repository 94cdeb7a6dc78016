"""The answers of a search through conditioning sets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from serape import _core
from serape.independence.given_tests import GivenTests, VariableSets
from serape.independence.outcomes import Candidates, Floats, Outcome, Tally, TestColumns, TestsSpent, as_positions


class MinAssociationTable(NamedTuple):
    """The weakest association found for each x: its values, the number of its batch of answers, and its index there."""

    statistic: Floats
    dof: Floats
    log_p: Floats
    batch: NDArray[np.intp]
    entry: NDArray[np.intp]

    def at(self, kept: NDArray[np.intp]) -> MinAssociationTable:
        """Return the associations of some x."""
        return MinAssociationTable(
            self.statistic[kept], self.dof[kept], self.log_p[kept], self.batch[kept], self.entry[kept]
        )


@dataclass(frozen=True, slots=True)
class Association:
    """The result of a search through conditioning sets for one x.

    `outcome` is the separating test if there is one (`separated`), otherwise the weakest association. If no test is
    reliable, neither is the outcome.
    """

    outcome: Outcome
    given: tuple[int, ...]
    separated: bool


class SubsetResult(Sequence[Association]):
    """The result of a search through conditioning sets for many x, in arrays as long as the searched x."""

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
        self.separated: NDArray[np.bool_] = verdict == 2
        self.which = which
        """Indices into `sets`."""
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
        """Return the logarithms of the p-values at some indices."""
        return self.log_p[indices]

    @property
    def survivors(self) -> list[int]:
        """The x that no set separates."""
        return [int(x) for x in self.xs[~self.separated]]

    @property
    def separated_variables(self) -> list[int]:
        """The x that some set separates."""
        return [int(x) for x in self.xs[self.separated]]

    def separated_each(self) -> NDArray[np.bool_]:
        """Return, for each x, whether some set separates it."""
        return self.separated

    @property
    def last_survives(self) -> bool:
        """Whether there is a last x and no set separates it."""
        return len(self) > 0 and not self.separated[-1]

    def indices_of(self, x: int) -> list[int]:
        """Return the indices of the reliable answers about one x."""
        return np.flatnonzero((self.xs == x) & self.reliable).tolist()

    def shown(self, x: int, log_alpha: float) -> list[tuple[float, int]]:
        """Return log p and index of the answers that show x to be dependent, then 0 and index of one that separates it.

        Those that show dependence are reliable and have a log p up to a value; of several that separate x, the last
        counts.
        """
        found = [(log_p, k) for k in self.indices_of(x) if (log_p := float(self.log_p[k])) <= log_alpha]
        separating = np.flatnonzero(self.separated_each() & (self.xs == x))
        return [*found, *((0.0, k) for k in separating[-1:].tolist())]

    def weaken(self, known: MinAssociationTable, number: int) -> NDArray[np.intp]:
        """Update the known associations where an answer is weaker; return the indices of the x that are not separated.

        `number` is the number of this batch of answers.
        """
        statistic, dof, log_p, batch, index = known
        kept = np.flatnonzero(~self.separated)
        by_log_p = (self.log_p > log_p) | ((self.log_p == log_p) & (self.statistic < statistic))
        weaker = np.where(self.dof == dof, self.statistic < statistic, by_log_p)
        at = kept[(self.reliable & weaker)[kept]]
        statistic[at], dof[at], log_p[at] = self.statistic[at], self.dof[at], self.log_p[at]
        batch[at], index[at] = number, at
        return kept

    def above(self, log_alpha: float) -> NDArray[np.intp]:
        """Return the indices of the answers whose reliable log p is above a value."""
        return np.flatnonzero(self.reliable & (self.log_p > log_alpha))

    def separations(self, log_alpha: float) -> list[tuple[int, tuple[int, ...]]]:
        """Return the x whose reliable log p is above a value, each with its conditioning set."""
        return [(int(self.xs[k]), self.given_of(k)) for k in self.above(log_alpha).tolist()]

    def separated_by_set(self, log_alpha: float) -> dict[tuple[int, ...], NDArray[np.uint32]]:
        """Return the x of `separations` by their conditioning sets, sorted; the sets in the order of answers."""
        indices = self.above(log_alpha)
        which, xs = self.which[indices], self.xs[indices]
        numbers, first, counts = np.unique(which, return_index=True, return_counts=True)
        groups = np.split(xs[np.lexsort((xs, which))], np.cumsum(counts)[:-1])
        order = np.argsort(first)
        return dict(zip(self.sets_at(numbers[order]), [groups[k] for k in order.tolist()], strict=True))

    def sets_at(self, numbers: NDArray[np.integer]) -> list[tuple[int, ...]]:
        """Return some of the conditioning sets."""
        return [tuple(self.sets[k]) for k in numbers.tolist()]

    def columns(self) -> TestColumns:
        """Return index, x, log p and statistic of the reliable answers, in arrays."""
        indices = self.reliable.nonzero()[0]
        return indices, self.xs[indices], self.log_p[indices], self.statistic[indices]

    def verdicts(self) -> tuple[NDArray[np.int32], Floats, Floats]:
        """Return, by answer, the verdict (0 unreliable, 1 dependent, 2 separated), log p and statistic."""
        return self.reliable.astype(np.int32) + self.separated, self.log_p, self.statistic

    def tests_at(self, indices: NDArray[np.intp]) -> GivenTests:
        """Return some reliable answers, with their conditioning sets."""
        given = VariableSets.of([self.given_of(k) for k in indices.tolist()])
        return GivenTests(self.statistic[indices], self.dof[indices], self.log_p[indices], given)

    def each(self) -> list[tuple[int, int, float, float]]:
        """Return index, x, log p and statistic of the reliable answers."""
        return list(zip(*(column.tolist() for column in self.columns()), strict=True))


class NativeSubsetResult(SubsetResult):
    """The core's result. The answers stay in the core until they are needed."""

    def __init__(self, found: _core.FoundSubsets, rows: int | None, names: NDArray[np.uint32] | None = None) -> None:
        self._found = found
        self._rows = rows
        self._names = names  # positions by the core's indices, if they differ

    def __getattr__(self, name: str) -> Any:
        if name not in ("xs", "statistic", "dof", "log_p", "reliable", "separated", "which", "sets"):
            raise AttributeError(name)
        n = len(self)
        numbers, indices, ends, members = self._found.arrays()
        xs = self._found.xs()
        if self._names is not None:
            xs, members = self._names[xs], self._names[members]
        sets = VariableSets(ends, members)
        super().__init__(
            xs, numbers[:n], numbers[n : 2 * n], numbers[2 * n :], indices[:n], indices[n:], sets, self._rows
        )
        return self.__dict__[name]

    def __reduce__(self) -> tuple[Any, ...]:
        reliable, separated = self.reliable.astype(np.int32), self.separated
        arrays = self.xs, self.statistic, self.dof, self.log_p, reliable + separated, self.which, self.sets
        return SubsetResult, (*arrays, self._rows)

    def __len__(self) -> int:
        return len(self._found)

    @property
    def survivors(self) -> list[int]:
        """The x that no set separates."""
        return self._named(self._found.those(separated=False))

    @property
    def separated_variables(self) -> list[int]:
        """The x that some set separates."""
        return self._named(self._found.those(separated=True))

    @property
    def last_survives(self) -> bool:
        """Whether there is a last x and no set separates it."""
        return self._found.last_survives()

    def separated_each(self) -> NDArray[np.bool_]:
        """Return, for each x, whether some set separates it."""
        return self._found.separated()

    def indices_of(self, x: int) -> list[int]:
        """Return the indices of the reliable answers about one x."""
        return self._found.indices_of(x) if self._names is None else super().indices_of(x)

    def shown(self, x: int, log_alpha: float) -> list[tuple[float, int]]:
        """Return log p and index of what shows x to be dependent, then 0 and index of one that separates it."""
        return self._found.shown(x, log_alpha) if self._names is None else super().shown(x, log_alpha)

    def given_of(self, index: int) -> tuple[int, ...]:
        """Return the conditioning set of one answer."""
        return self._found.given_of(index) if self._names is None else super().given_of(index)

    def columns(self) -> TestColumns:
        """Return index, x, log p and statistic of the reliable answers, in arrays."""
        return self._found.columns() if self._names is None else super().columns()

    def verdicts(self) -> tuple[NDArray[np.int32], Floats, Floats]:
        """Return, by answer, the verdict (0 unreliable, 1 dependent, 2 separated), log p and statistic."""
        return self._found.tests()

    def tests_at(self, indices: NDArray[np.intp]) -> GivenTests:
        """Return some reliable answers, with their conditioning sets."""
        statistic, dof, log_p, ends, members = self._found.tests_at(indices)
        given = VariableSets(ends, members if self._names is None else self._names[members])
        return GivenTests(statistic, dof, log_p, given)

    def each(self) -> list[tuple[int, int, float, float]]:
        """Return index, x, log p and statistic of the reliable answers."""
        return self._found.each() if self._names is None else super().each()

    def outcome(self, index: int) -> Outcome:
        """Return one answer."""
        return Outcome(*self._found.outcome(index), self._rows)

    def weaken(self, known: MinAssociationTable, number: int) -> NDArray[np.intp]:
        """Update the known associations where an answer is weaker; return the indices of the x not separated."""
        return self._found.weaken(*known, number)

    def sets_at(self, numbers: NDArray[np.integer]) -> list[tuple[int, ...]]:
        """Return some of the conditioning sets."""
        assert isinstance(self.sets, VariableSets)
        return list(self.sets.at(numbers))

    def separations(self, log_alpha: float) -> list[tuple[int, tuple[int, ...]]]:
        """Return the x whose reliable log p is above a value, each with its conditioning set."""
        return self._found.separations(log_alpha) if self._names is None else super().separations(log_alpha)

    def _named(self, numbers: list[int]) -> list[int]:
        return numbers if self._names is None else [int(x) for x in self._names[numbers]]


def native_result(
    found: _core.FoundSubsets, rows: int | None, names: NDArray[np.uint32] | None = None
) -> tuple[NativeSubsetResult, Tally]:
    """Return the core's answers, and the number of tests; raise TestsSpent if there are too many."""
    tally = Tally(*found.tally())
    if found.cut:
        raise TestsSpent(tally)
    return NativeSubsetResult(found, rows, names), tally


def weaker(outcome: Outcome, than: Outcome) -> bool:
    """Return whether an association is weaker than another: by log p, then by statistic."""
    if not than.reliable:
        return True
    if outcome.dof == than.dof:
        return outcome.statistic < than.statistic
    return outcome.log_p > than.log_p or (outcome.log_p == than.log_p and outcome.statistic < than.statistic)


def as_subset_result(xs: Candidates, found: list[Association], rows: int | None) -> SubsetResult:
    """Return single answers as one result."""
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
