"""Many tests in arrays, each with a conditioning set of its own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import overload

import numpy as np
from numpy.typing import NDArray

from serape.independence.outcomes import Floats


@dataclass(frozen=True, slots=True)
class VariableSets(Sequence[tuple[int, ...]]):
    """Sets of variables, one after another."""

    ends: NDArray[np.int64]
    """By set, where it ends."""
    members: NDArray[np.uint32]

    @classmethod
    def alike(cls, given: Sequence[int], count: int) -> VariableSets:
        """Return one set many times."""
        return cls(np.arange(1, count + 1, dtype=np.int64) * len(given), np.tile(np.array(given, np.uint32), count))

    @classmethod
    def of(cls, sets: Sequence[Sequence[int]]) -> VariableSets:
        """Return sets that are given one by one."""
        ends = np.cumsum(np.fromiter(map(len, sets), np.int64, len(sets)))
        return cls(ends, np.array([int(z) for given in sets for z in given], np.uint32))

    @classmethod
    def joined(cls, parts: Sequence[VariableSets]) -> VariableSets:
        """Return the sets of several, one after another."""
        sizes = np.concatenate([np.empty(0, np.int64), *(part.sizes for part in parts)])
        return cls(np.cumsum(sizes), np.concatenate([np.empty(0, np.uint32), *(part.members for part in parts)]))

    def __len__(self) -> int:
        return len(self.ends)

    def __iter__(self) -> Iterator[tuple[int, ...]]:
        begin, members = 0, self.members.tolist()
        for end in self.ends.tolist():
            yield tuple(members[begin:end])
            begin = end

    @property
    def sizes(self) -> NDArray[np.int64]:
        """By set, the number of its members."""
        return np.diff(self.ends, prepend=0)

    @overload
    def __getitem__(self, k: int) -> tuple[int, ...]: ...
    @overload
    def __getitem__(self, k: slice) -> VariableSets: ...
    def __getitem__(self, k: int | slice) -> tuple[int, ...] | VariableSets:
        if isinstance(k, slice):
            return self.at(np.arange(len(self))[k])
        return tuple(self.members[self.ends[k - 1] if k else 0 : self.ends[k]].tolist())

    def at(self, indices: NDArray[np.integer]) -> VariableSets:
        """Return some of the sets."""
        sizes = self.sizes[indices]
        ends = np.cumsum(sizes)
        shift = (self.ends[indices] - ends).repeat(sizes)
        return VariableSets(ends, self.members[shift + np.arange(len(shift))])


@dataclass(frozen=True, slots=True)
class GivenTests:
    """Reliable tests: their values and conditioning sets."""

    statistic: Floats
    dof: Floats
    log_p: Floats
    given: VariableSets

    @classmethod
    def joined(cls, parts: Sequence[GivenTests]) -> GivenTests:
        """Return the tests of several, one after another."""
        nothing = np.empty(0)
        return cls(
            np.concatenate([nothing, *(part.statistic for part in parts)]),
            np.concatenate([nothing, *(part.dof for part in parts)]),
            np.concatenate([nothing, *(part.log_p for part in parts)]),
            VariableSets.joined([part.given for part in parts]),
        )

    def __len__(self) -> int:
        return len(self.statistic)

    def at(self, indices: NDArray[np.intp]) -> GivenTests:
        """Return some of the tests."""
        return GivenTests(self.statistic[indices], self.dof[indices], self.log_p[indices], self.given.at(indices))
