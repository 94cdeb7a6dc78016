"""Pairs and subset searches by partial correlation on a device; the core computes the tests that it finds."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from serape.engines.gpu.correlations import ASK_CORE, DeviceCorrelations
from serape.engines.gpu.subsets import SetRows
from serape.independence.outcomes import Poll, Tally
from serape.independence.screens import ScreenResult
from serape.independence.subset_query import SubsetQuery, TargetLists
from serape.independence.subsets import SubsetResult

if TYPE_CHECKING:
    from serape.independence.partial_correlation import CorrelationTest

_NONE = 0xFFFFFFFF


def pairs_by_correlation(
    test: CorrelationTest, device: DeviceCorrelations, log_alpha: float, *, threads: int = 1
) -> tuple[NDArray[np.uint32], ScreenResult, int] | None:
    """Test all pairs of variables; return, by dependent pair, a variable and the answers, and the number of tests.

    None if a test is not reliable.
    """
    native = test.native
    if not device.varies.all() or native.critical_correlation(log_alpha, 0)[0] < 1.0:
        return None
    xs, ys = device.pairs(native, log_alpha)
    statistic, dof, log_p, reliable = native.outcomes(ys, xs, np.zeros(0, np.uint32), 0, threads)
    kept = np.flatnonzero(reliable & (log_p <= log_alpha))
    answers = test.known_pairs(ys[kept], statistic[kept], dof[kept], reliable[kept])
    return xs[kept], answers, math.comb(len(test.variables), 2)


def search_each_by_correlation(
    test: CorrelationTest,
    device: DeviceCorrelations,
    asked: TargetLists,
    pools: TargetLists,
    size: int,
    *,
    max_size: int | None,
    stop_above: float,
    threads: int = 1,
    poll: Poll | None = None,
) -> tuple[SubsetResult, Tally]:
    """Search the sets of one size in the pool of each target for those in `asked`.

    The targets of both are the same. What the device leaves open is asked target by target.
    """
    native = test.native
    xs, n = asked.members, len(asked.members)
    verdict = np.full(n, ASK_CORE, np.int32)
    sets = np.full((n, size), _NONE, np.uint32)
    statistic, dof, log_p = (np.full(n, np.nan) for _ in range(3))
    question = np.arange(len(asked.targets), dtype=np.uint32).repeat(np.diff(asked.ends, prepend=0))
    tally = Tally()
    if native.critical_correlation(stop_above, size)[0] >= 1.0:
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
        answers, more = test.search_subsets(query, threads=threads, poll=poll)
        tally.merge(more)
        statistic[at], dof[at], log_p[at] = answers.statistic, answers.dof, answers.log_p
        verdict[at] = np.where(answers.separated, 2, answers.reliable)
        _fill(sets, at, answers)
    return SubsetResult(xs, statistic, dof, log_p, verdict, np.arange(n, dtype=np.int32), SetRows(sets)), tally


def _fill(sets: NDArray[np.uint32], at: NDArray[np.intp], answers: SubsetResult) -> None:
    for k, row in enumerate(at.tolist()):
        given = answers.given_of(k)
        sets[row, : len(given)] = given
