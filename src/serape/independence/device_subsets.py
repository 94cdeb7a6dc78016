"""Subset searches on a device; questions that it leaves open are answered by the core."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from serape import _core
from serape.engines.gpu.pairs import DeviceRules
from serape.engines.gpu.planes import DevicePlanes
from serape.engines.gpu.subsets import ASK_CORE, NO_MEMBER, DeviceSubsets, SetRows
from serape.independence.given_tests import GivenTests, VariableSets
from serape.independence.outcomes import Poll, Tally
from serape.independence.subset_query import TargetLists
from serape.independence.subsets import SubsetResult, native_result

if TYPE_CHECKING:
    from serape.independence.contingency import ContingencyTest


class DeviceSubsetResult(SubsetResult):
    """A result whose conditioning sets are the rows of an array."""

    def tests_at(self, indices: NDArray[np.intp]) -> GivenTests:
        """Return some reliable answers, with their conditioning sets."""
        assert isinstance(self.sets, SetRows)
        rows = self.sets.rows[indices]
        there = rows != NO_MEMBER
        given = VariableSets(np.cumsum(there.sum(axis=1)), rows[there])
        return GivenTests(self.statistic[indices], self.dof[indices], self.log_p[indices], given)


def search_each_on_device(
    test: ContingencyTest,
    planes: DevicePlanes,
    asked: TargetLists,
    pools: TargetLists,
    size: int,
    *,
    max_size: int | None,
    stop_above: float,
    threads: int = 1,
    poll: Poll | None = None,
) -> tuple[SubsetResult, Tally] | None:
    """Do as `ContingencyTest.search_each` for sets of up to three members; None if some columns are not there."""
    del max_size
    if not all(bool(planes.has_planes[lists].all()) for lists in (asked.targets, asked.members, pools.members)):
        return None
    search = DeviceSubsets(planes, DeviceRules(test.dof, test.reliability, test.minimum), stop_above)
    question = np.arange(len(asked.targets), dtype=np.uint32).repeat(np.diff(asked.ends, prepend=0))
    found = search.search_each(asked.members, question, asked.targets, pools.ends, pools.members, size, poll)
    open_ = np.flatnonzero(found.verdict == ASK_CORE)
    known = found.verdict != ASK_CORE
    tally = Tally()
    tally.add(size, int(found.performed[known].sum()), int(found.skipped[known].sum()))
    statistic, dof = planes.statistic(found.sums), found.dof
    reliable = (found.verdict == 1) | (found.verdict == 2)
    log_p = np.full(len(statistic), np.nan)
    log_p[reliable] = _core.chi_square_log_sf(statistic[reliable], dof[reliable], threads)
    statistic[~reliable] = dof[~reliable] = np.nan
    sets = found.sets
    sets[~reliable] = NO_MEMBER
    if len(open_):
        answers, more = _ask_core(test, asked, pools, question, open_, size, stop_above, threads, poll)
        tally.merge(more)
        statistic[open_], dof[open_], log_p[open_] = answers.statistic, answers.dof, answers.log_p
        found.verdict[open_] = np.where(answers.separated, 2, answers.reliable)
        for k, row in enumerate(open_.tolist()):
            given = answers.given_of(k)
            sets[row, : len(given)] = given
    xs = asked.members
    which = np.arange(len(xs), dtype=np.int32)
    return DeviceSubsetResult(xs, statistic, dof, log_p, found.verdict, which, SetRows(sets), test.rows), tally


def _ask_core(
    test: ContingencyTest,
    asked: TargetLists,
    pools: TargetLists,
    question: NDArray[np.uint32],
    open_: NDArray[np.intp],
    size: int,
    stop_above: float,
    threads: int,
    poll: Poll | None,
) -> tuple[SubsetResult, Tally]:
    """Return the core's answers to some questions, one after another."""
    about, counts = np.unique(question[open_], return_counts=True)
    begins, ends = np.concatenate(([0], pools.ends[:-1])), pools.ends
    members = np.concatenate([pools.members[begins[k] : ends[k]] for k in about.tolist()])
    found = test.native.search_each(
        asked.targets[about], np.cumsum(counts), asked.members[open_], np.cumsum(ends[about] - begins[about]), members,
        size, None, stop_above, threads, poll,
    )  # fmt: skip
    return native_result(found, test.rows)
