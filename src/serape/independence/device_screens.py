"""Screens of groups of candidates on a device."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from serape import _core
from serape.engines.gpu.pairs import Rules
from serape.engines.gpu.planes import DevicePlanes
from serape.independence.outcomes import Poll, Tally
from serape.independence.screens import CandidateGroups
from serape.independence.subset_query import SubsetQuery
from serape.independence.subsets import SubsetResult, as_subset_result

if TYPE_CHECKING:
    from serape.independence.contingency import ContingencyTest

Spouses = list[tuple[list[int], Tally, SubsetResult, Tally]]


def find_spouses_on_device(
    test: ContingencyTest,
    planes: DevicePlanes,
    target: int,
    groups: CandidateGroups,
    children: Sequence[int],
    log_alpha: float,
    *,
    as_written: bool,
    max_size: int | None,
    threads: int,
    poll: Poll | None,
) -> Spouses | None:
    """Do as `ContingencyTest.find_spouses`; None if the core must be asked."""
    on_device = groups.on_device(planes)
    if not children or not on_device.can_screen(target, children):
        return None
    rules = Rules(test.dof, test.reliability, test.minimum)
    found = on_device.dependents(target, children, rules, log_alpha)
    if found is None:
        return None
    spouses: Spouses = []
    for child, own in zip(children, found, strict=True):
        answers = _core.ScreenAnswers(own.statistic, own.dof, np.ones(len(own.dof), bool))
        dependents = answers.dependents(own.candidates, log_alpha)
        screened = Tally()
        for given, size, performed in zip(on_device.sets, on_device.sizes, own.performed, strict=True):
            if child not in given:
                screened.add(len(given) + 1, int(performed), int(size - performed))
        separated: tuple[SubsetResult, Tally] = as_subset_result([], [], test.rows), Tally()
        if len(dependents) > 1:
            xs, pool = (sorted(dependents),) * 2 if as_written else (dependents[::-1], dependents)
            query = SubsetQuery(xs, target, pool, range(1, 2), (child,), max_size, stop_above=log_alpha, shrinking=True)
            separated = test.search_subsets(query, threads=threads, poll=poll)
        spouses.append((dependents, screened, *separated))
    return spouses
