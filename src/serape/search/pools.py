"""Steps about many targets that are found in one call: each is a set of variables, the pool of its target."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from serape.independence.given_tests import GivenTests, VariableSets
from serape.search.associations import Associations, DecidingTest
from serape.search.record import Record, Step

_POOL_ARRAYS = ("_targets", "_pools", "_tests", "_rows")


class PoolAssociations:
    """The weakest association of each member of the pools of many targets, in arrays."""

    def __init__(
        self, targets: NDArray[np.uint32], pools: VariableSets, tests: GivenTests, rows: int | None = None
    ) -> None:
        self._targets, self._pools, self._tests, self._rows = targets, pools, tests, rows

    def __getstate__(self) -> dict[str, Any]:
        """Return the content of a pickle: the arrays."""
        return {name: value for name, value in self.__dict__.items() if name in _POOL_ARRAYS}

    def get(self, x: int, target: int) -> DecidingTest | None:
        """Return the weakest association of a member of the pool of a target, or None if it is not a member."""
        at = self._place.get(target << 32 | x)
        return None if at is None else self._test(at)

    def of(self, target: int) -> Associations:
        """Return those of one target."""
        return Associations.of(target, {x: self._test(self._place[target << 32 | x]) for x in self._members[target]})

    def _test(self, at: int) -> DecidingTest:
        log_p, statistic, dof, given = self._columns
        rows = self._rows if given[at] else None  # as screens and searches have it
        return DecidingTest(log_p[at], statistic[at], dof[at], True, rows, given[at])

    @cached_property
    def _members(self) -> dict[int, tuple[int, ...]]:
        return dict(zip(self._targets.tolist(), self._pools, strict=True))

    @cached_property
    def _place(self) -> dict[int, int]:
        """Where the test of a target and a member stands, by their number together."""
        keys = self._targets.astype(np.int64).repeat(self._pools.sizes) << 32 | self._pools.members
        return {key: k for k, key in enumerate(keys.tolist())}

    @cached_property
    def _columns(self) -> tuple[list[float], list[float], list[float], list[tuple[int, ...]]]:
        tests = self._tests
        return tests.log_p.tolist(), tests.statistic.tolist(), tests.dof.tolist(), list(tests.given)


@dataclass
class Pools:
    """The pools of many targets, one set of variables each, in place of a step about each."""

    of: dict[int, tuple[int, ...]] = field(default_factory=dict)
    weakest: dict[int, PoolAssociations | Associations] = field(default_factory=dict)
    """By target, where the weakest associations of its pool are, if a false discovery rate asks for them."""

    def put(self, step: Step[tuple[int, ...]]) -> None:
        """Add the pool of one target, which was found by itself."""
        self.of[step.target] = step.value
        if step.record.associations is not None:
            self.weakest[step.target] = step.record.associations

    def add(self, other: Pools) -> None:
        """Add the pools of other targets."""
        self.of.update(other.of)
        self.weakest.update(other.weakest)

    def weakest_of(self, x: int, target: int) -> DecidingTest | None:
        """Return the weakest association of a member of the pool of a target, if it is known."""
        found = self.weakest.get(target)
        return None if found is None else found.get(x, target)

    def step(self, target: int) -> Step[Any]:
        """Return the step about a target."""
        found = self.weakest.get(target)
        associations = found.of(target) if isinstance(found, PoolAssociations) else found
        return Step(target, self.of[target], Record(target, associations=associations))
