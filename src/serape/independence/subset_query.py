"""The parameters of a search through conditioning sets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from math import comb
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from serape import _core
from serape.errors import OptionError

if TYPE_CHECKING:
    from serape.independence.outcomes import Candidates


class SubsetQuery(NamedTuple):
    """A search that tests each x against the target given subsets of a pool, smallest first, in the pool's order.

    Parameters
    ----------
    sizes
        Sizes of the subsets: a range of step 1.
    fixed
        Members of every conditioning set, besides the subset.
    max_size
        Larger conditioning sets are counted as skipped.
    n_exhausted
        The number of exhausted members of the pool, for all x or for each; they are the first members. Subsets of these
        alone are left out and not counted. −1 for none, 0 for the empty set alone.
    stop_above
        The search for an x ends at the first reliable test whose log p is above this value: it separates. If None, all
        subsets are tested.
    shrinking
        A separated x leaves the pool before the next x is searched.
    until_survivor
        The search ends with the first x that no set separates.
    max_tests
        The search ends after so many tests, or a few more, and raises `TestsSpent`.
    clear
        The log p up to which a part of the rows may show that a set does not separate an x, by a test that `has_part`.
        The weakest association is then one of those that all rows answer. If None, all rows answer all.
    """

    xs: Candidates
    target: int
    pool: Candidates
    sizes: range
    fixed: Sequence[int] = ()
    max_size: int | None = None
    n_exhausted: int | Sequence[int] = -1
    stop_above: float | None = None
    shrinking: bool = False
    until_survivor: bool = False
    max_tests: int | None = None
    clear: float | None = None

    def n_exhausted_of(self, k: int) -> int:
        """Return the number of exhausted members of the pool for the k-th x."""
        return self.n_exhausted if isinstance(self.n_exhausted, int) else int(self.n_exhausted[k])

    def is_too_large(self, size: int) -> bool:
        """Whether conditioning sets with a subset of this size are larger than `max_size`."""
        return self.max_size is not None and len(self.fixed) + size > self.max_size

    def native(self) -> _core.SubsetQuery:
        """Return the query as the core takes it."""
        xs, target, pool, sizes, fixed, max_size, known, stop_above, shrinking, until_survivor, max_tests, _ = self
        if sizes.step != 1:
            raise OptionError(f"sizes must be a range of step 1, not {sizes}")
        if isinstance(known, int):
            known = (known,)
        return _core.SubsetQuery(
            for_core(xs), target, for_core(pool), fixed, sizes.start, sizes.stop, max_size, known, stop_above,
            shrinking, until_survivor, max_tests,
        )  # fmt: skip


def for_core(variables: Candidates) -> list[int] | tuple[int, ...] | NDArray[np.uint32]:
    """Return variables as the core takes them; a list or tuple as it is."""
    return variables if isinstance(variables, (list, tuple)) else np.ascontiguousarray(variables, np.uint32)


def joined(lists: Sequence[Sequence[int]]) -> tuple[NDArray[np.int64], NDArray[np.uint32]]:
    """Return lists of variables one after another, with the end of each."""
    ends = np.cumsum(np.fromiter(map(len, lists), np.int64, len(lists)))
    return ends, np.fromiter(chain.from_iterable(lists), np.uint32, int(ends[-1]) if len(lists) else 0)


class TargetLists(NamedTuple):
    """Lists of variables, one for each of several targets, one after another."""

    targets: NDArray[np.uint32]
    ends: NDArray[np.int64]
    members: NDArray[np.uint32]

    @classmethod
    def of(cls, lists: Mapping[int, Sequence[int]]) -> TargetLists:
        """Return the lists of a mapping."""
        return cls(np.fromiter(lists, np.uint32, len(lists)), *joined(list(lists.values())))

    def each_target(self) -> NDArray[np.uint32]:
        """Return, by member of the lists, its target."""
        return self.targets.repeat(np.diff(self.ends, prepend=0))

    def items(self) -> Iterator[tuple[int, list[int]]]:
        """Yield each target with its list."""
        begin, members = 0, self.members.tolist()
        for target, end in zip(self.targets.tolist(), self.ends.tolist(), strict=True):
            yield target, members[begin:end]
            begin = end


def n_subsets(members: int, exhausted: int | None, size: int) -> int:
    """Return the number of subsets of a size, without those of exhausted members alone (None: none are exhausted)."""
    return comb(members, size) - (0 if exhausted is None else comb(exhausted, size))
