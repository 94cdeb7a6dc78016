"""The types of arrays that all rooms share."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Positions = NDArray[np.uint32]
"""Variables, by their places in `variables`."""
Candidates = Sequence[int] | Positions
"""The variables that a question is about, by position."""
