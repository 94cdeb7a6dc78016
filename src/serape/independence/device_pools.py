"""Growing pools of many targets on a device; targets that it leaves open are answered by the core."""

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
    """Do as `ContingencyTest.grow_pools`, without `weigh`."""
    assert not weigh
    rules = DeviceRules(test.dof, test.reliability, test.minimum)
    asked = Ranked(targets, candidates.ends, candidates.members)
    found = grow_pools(planes, rules, log_alpha, max_size, asked)
    tally = Tally()
    for size, (performed, skipped) in enumerate(zip(found.performed.tolist(), found.skipped.tolist(), strict=True)):
        tally.add(size, performed, skipped)
    sizes = np.maximum(found.sizes, 0)
    pools = VariableSets(np.cumsum(sizes), found.members[np.arange(found.members.shape[1]) < sizes[:, None]])
    left = np.flatnonzero(found.sizes < 0)
    if len(left):
        more, _, its = test.grow_pools(
            targets[left], candidates.at(left), log_alpha, max_size=max_size, threads=threads, poll=poll
        )
        tally.merge(its)
        merged = list(pools)
        for k, pool in zip(left.tolist(), more, strict=True):
            merged[k] = pool
        pools = VariableSets.of(merged)
    return pools, GivenTests.joined([]), tally
