"""All pairs of columns by G² on a device."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from serape.engines.gpu.pairs import DevicePairs, DeviceRules
from serape.engines.gpu.planes import DevicePlanes
from serape.engines.gpu.tiled import TiledPairs, TiledPlanes

if TYPE_CHECKING:
    from serape.independence.contingency import ContingencyTest


def pairs_on_device(
    test: ContingencyTest, planes: DevicePlanes, columns: NDArray[np.uint32], log_alpha: float, *, threads: int = 1
) -> DevicePairs:
    """Do as `ContingencyTest.all_pairs`."""
    del threads
    return DevicePairs(planes, DeviceRules(test.dof, test.reliability, test.minimum), columns, log_alpha)


def pairs_in_blocks(
    test: ContingencyTest, planes: TiledPlanes, columns: NDArray[np.uint32], log_alpha: float, *, threads: int = 1
) -> TiledPairs:
    """Do as `ContingencyTest.all_pairs`, where two blocks of columns are on the device at a time."""
    del threads
    return TiledPairs(planes, DeviceRules(test.dof, test.reliability, test.minimum), columns, log_alpha)
