"""Growing pools of many targets on a device."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from serape import _core
from serape.engines.gpu.pairs import Rules
from serape.engines.gpu.planes import DevicePlanes
from serape.engines.gpu.pools import Ranked, grow_pools
from serape.independence.dependent_pairs import DependentPairs
from serape.independence.outcomes import Tally

if TYPE_CHECKING:
    from serape.independence.g2 import G2


def grow_pools_on_device(
    test: G2,
    planes: DevicePlanes,
    known: DependentPairs,
    targets: NDArray[np.uint32],
    log_alpha: float,
    max_size: int | None,
    threads: int,
) -> tuple[dict[int, tuple[int, ...]], Tally]:
    """Return the pools of the targets that a device answers for, and the number of their tests."""
    ends, candidates, statistic, dof = known.of_each(targets)
    log_p = _core.chi_square_log_sf(statistic, dof, threads)
    asked = Ranked(targets, ends, candidates, log_p, statistic)
    found = grow_pools(planes, Rules(test.dof, test.reliability, test.minimum), log_alpha, max_size, asked)
    tally = Tally()
    for size, (performed, skipped) in enumerate(zip(found.performed.tolist(), found.skipped.tolist(), strict=True)):
        tally.add(size, performed, skipped)
    members, sizes = found.members.tolist(), found.sizes.tolist()
    pools = {
        target: tuple(row[:size])
        for target, row, size in zip(targets.tolist(), members, sizes, strict=True)
        if size >= 0
    }
    return pools, tally
