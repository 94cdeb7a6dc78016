"""What a search keeps of its answers: this decides which questions can be asked for many targets in one call."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from serape.independence.screens import ScreenResult
from serape.knowledge import BoundKnowledge
from serape.search.budget import Budget
from serape.search.discoveries import FalseDiscoveryRate
from serape.search.record import Record
from serape.search.recorder import Recorder
from serape.search.unreliable import Unreliable


class WhatIsKept:
    """Questions about the state of a search."""

    subject: int | None
    max_conditioning: int | None
    _rate_by_step: FalseDiscoveryRate | None
    _knowledge: BoundKnowledge | None
    _known_members: tuple[int, ...]
    _read: Unreliable | None
    _record: Record
    _random: np.random.Generator | None
    _budget: Budget | None
    _recorder: Recorder
    _marginals: Mapping[int, ScreenResult]

    @property
    def stepwise(self) -> bool:
        """Whether a false discovery rate is bounded at each step of the search."""
        return self._rate_by_step is not None

    @property
    def keeps_answers_alone(self) -> bool:
        """Whether answers need not be recorded or read in another way, target by target."""
        return self._record.associations is None and self.keeps_no_more_than_associations

    @property
    def keeps_associations(self) -> bool:
        """Whether the search keeps the weakest association of each pair, for a false discovery rate."""
        return self._record.associations is not None

    @property
    def keeps_no_more_than_associations(self) -> bool:
        """Whether answers need not be recorded or read in another way, but for the weakest association of each pair."""
        return (
            self._leaves_tests_alone
            and self._read is None
            and not self.stepwise
            and not self._recorder.enabled
            and not self._known_members
            and (self._budget is None or self._budget.max_tests is None)
        )

    def asks_plainly(self, target: int) -> bool:
        """Whether answers about a target are read as they come, and the search does not end within a question."""
        bounded = self._budget is not None and self._budget.max_tests is not None
        return self._read is None and not self._required(int(target)) and not bounded

    @property
    def keeps_separations(self) -> bool:
        """Whether the search keeps separating sets."""
        return self._record.keeps_separations

    @property
    def is_random(self) -> bool:
        """Whether exact ties are broken at random."""
        return self._random is not None

    def keeps_no_tests(self, target: int) -> bool:
        """Whether of the tests of a target their numbers, separating sets and weakest associations alone are kept."""
        target = int(target)
        return (
            self.asks_plainly(target)
            and self._leaves_tests_alone
            and self._random is None
            and self.max_conditioning is None
            and not self.stepwise
            and not self._recorder.keeps(target, self._record)
            and not self._kept(target)
            and target not in self._marginals
        )

    @property
    def _leaves_tests_alone(self) -> bool:
        """Whether knowledge has no effect before the tests are done."""
        return self._knowledge is None or self._knowledge.leaves_tests_alone

    def _required(self, target: int) -> frozenset[int]:
        """Return the neighbours of the target that knowledge requires."""
        return frozenset() if self._knowledge is None else self._knowledge.required_neighbours(target)

    def _kept(self, target: int) -> frozenset[int]:
        """Return the members of a target that no test removes: those that knowledge requires, and known ones."""
        required = self._required(target)
        return required.union(self._known_members) if target == self.subject else required
