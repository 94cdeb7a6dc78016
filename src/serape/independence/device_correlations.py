"""Subset searches by partial correlation on a device; the core computes the tests that it finds."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from serape import _core
from serape.engines.gpu.correlations import ASK_CORE, MAX_SIZE, DeviceCorrelations
from serape.engines.gpu.subsets import SetRows
from serape.independence.outcomes import Poll, Tally
from serape.independence.subset_query import SubsetQuery, TargetLists
from serape.independence.subsets import SubsetResult

_NONE = 0xFFFFFFFF
SearchSubsets = Callable[..., tuple[SubsetResult, Tally]]


def search_each_by_correlation(
    native: _core.GaussianTest,
    device: DeviceCorrelations | None,
    search_subsets: SearchSubsets,
    asked: TargetLists,
    pools: TargetLists,
    size: int,
    max_size: int | None,
    stop_above: float,
    threads: int,
    poll: Poll | None,
) -> tuple[SubsetResult, Tally]:
    """Search the pool of each target for sets of one size; questions that a device cannot answer go to the core."""
    xs, n = asked.members, len(asked.members)
    verdict = np.full(n, ASK_CORE, np.int32)
    sets = np.full((n, size), _NONE, np.uint32)
    statistic, dof, log_p = (np.full(n, np.nan) for _ in range(3))
    question = np.arange(len(asked.targets), dtype=np.uint32).repeat(np.diff(asked.ends, prepend=0))
    tally = Tally()
    small = 1 <= size <= MAX_SIZE and (max_size is None or size <= max_size)
    if device is not None and small and native.critical_correlation(stop_above, size)[0] >= 1.0:
        found = device.search_each(
            native, stop_above, xs, question, asked.targets, pools.ends, pools.members, size, poll
        )
        verdict[:] = found.verdict
        known = np.flatnonzero((verdict == 1) | (verdict == 2))
        sets[known] = found.sets[known]
        tally.add(size, int(found.performed[verdict != ASK_CORE].sum()), 0)
        statistic[known], dof[known], log_p[known], _ = native.outcomes(
            xs[known], asked.each_target()[known], np.ascontiguousarray(sets[known]).ravel(), size, threads, poll
        )
    open_ = np.flatnonzero(verdict == ASK_CORE)
    for about in np.unique(question[open_]).tolist():
        at = open_[question[open_] == about]
        pool = pools.members[pools.ends[about - 1] if about else 0 : pools.ends[about]]
        query = SubsetQuery(
            xs[at], int(asked.targets[about]), pool, range(size, size + 1), max_size=max_size, stop_above=stop_above
        )
        answers, more = search_subsets(query, threads=threads, poll=poll)
        tally.merge(more)
        statistic[at], dof[at], log_p[at] = answers.statistic, answers.dof, answers.log_p
        verdict[at] = np.where(answers.separated, 2, answers.reliable)
        _fill(sets, at, answers)
    return SubsetResult(xs, statistic, dof, log_p, verdict, np.arange(n, dtype=np.int32), SetRows(sets)), tally


def _fill(sets: NDArray[np.uint32], at: NDArray[np.intp], answers: SubsetResult) -> None:
    for k, row in enumerate(at.tolist()):
        given = answers.given_of(k)
        sets[row, : len(given)] = given
