"""Growing pools of many targets on a device; targets that it leaves open are answered by the core.

The weakest associations of members need p-values, which the core computes. A variable that never joined a pool changed
nothing in it, so the core searches those alone that the device has let join: few of the candidates.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from serape.engines.gpu.pairs import DeviceRules
from serape.engines.gpu.planes import DevicePlanes
from serape.engines.gpu.pools import Ranked, grow_pools
from serape.independence.given_tests import GivenTests, VariableSets
from serape.independence.outcomes import Poll, Tally

if TYPE_CHECKING:
    from serape.independence.contingency import ContingencyTest


def grow_pools_on_device(
    test: ContingencyTest,
    planes: DevicePlanes,
    targets: NDArray[np.uint32],
    candidates: VariableSets,
    log_alpha: float,
    *,
    max_size: int | None,
    weigh: bool = False,
    threads: int = 1,
    poll: Poll | None = None,
) -> tuple[VariableSets, GivenTests, Tally]:
    """Do as `ContingencyTest.grow_pools`."""
    rules = DeviceRules(test.dof, test.reliability, test.minimum)
    asked = Ranked(targets, candidates.ends, candidates.members)
    found = grow_pools(planes, rules, log_alpha, max_size, asked, all_joined=weigh)
    tally = Tally()
    for size, (performed, skipped) in enumerate(zip(found.performed.tolist(), found.skipped.tolist(), strict=True)):
        tally.add(size, performed, skipped)

    def ask_core(some: NDArray[np.intp], of_each: VariableSets) -> tuple[VariableSets, GivenTests, Tally]:
        return test.grow_pools(
            targets[some], of_each, log_alpha, max_size=max_size, weigh=weigh, threads=threads, poll=poll
        )

    known, left = np.flatnonzero(found.sizes >= 0), np.flatnonzero(found.sizes < 0)
    if weigh:
        pools, weakest, _ = ask_core(known, _first_of(found.joined[known], found.n_joined[known]))
    else:
        pools, weakest = _first_of(found.members[known], found.sizes[known]), GivenTests.joined([])
    if len(left):
        more, their_weakest, its = ask_core(left, candidates.at(left))
        tally.merge(its)
        of = np.concatenate([known, left])
        pools = VariableSets.joined([pools, more])
        if weigh:
            by_target = np.argsort(of.repeat(pools.sizes), kind="stable")
            weakest = GivenTests.joined([weakest, their_weakest]).at(by_target)
        pools = pools.at(np.argsort(of))
    return pools, weakest, tally


def _first_of(rows: NDArray[np.uint32], sizes: NDArray[np.int64]) -> VariableSets:
    """Return the first so many of each row."""
    return VariableSets(np.cumsum(sizes), rows[np.arange(rows.shape[1]) < sizes[:, None]])
