"""Searches through conditioning sets that leave required neighbours untested."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from serape.independence.base import SubsetResult, Tally, as_positions

Candidates = Sequence[int] | NDArray[np.uint32]


def search_all_but(
    required: frozenset[int],
    xs: Candidates,
    n_exhausted: int | Sequence[int],
    until_survivor: bool,
    ask: Callable[[Candidates, int | Sequence[int]], tuple[SubsetResult, Tally]],
) -> tuple[SubsetResult, Tally]:
    """Search conditioning sets for those x that need not be joined to the target; the others survive, untested."""
    every = [int(x) for x in xs]
    if until_survivor:
        every = every[: next(k for k, x in enumerate(every) if x in required) + 1]
    asked = [k for k, x in enumerate(every) if x not in required]
    part, tally = ask(
        [every[k] for k in asked], n_exhausted if isinstance(n_exhausted, int) else [n_exhausted[k] for k in asked]
    )
    if until_survivor and part.last_survives:
        return part, tally  # somebody before survives
    numbers = np.full((3, len(every)), math.nan)
    verdict, which = np.zeros((2, len(every)), np.int32)
    numbers[:, asked] = part.statistic, part.dof, part.log_p
    verdict[asked] = np.where(part.separated, 2, part.reliable)
    which[asked] = part.which + 1
    statistic, dof, log_p = numbers
    return SubsetResult(as_positions(every), statistic, dof, log_p, verdict, which, [(), *part.sets]), tally
