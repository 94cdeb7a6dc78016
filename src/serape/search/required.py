"""Searches through conditioning sets that leave required neighbours untested."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from serape.independence.outcomes import Tally, as_positions
from serape.independence.subset_query import SubsetQuery
from serape.independence.subsets import SubsetResult


def search_all_but(
    required: frozenset[int],
    query: SubsetQuery,
    search: Callable[[SubsetQuery], tuple[SubsetResult, Tally]],
) -> tuple[SubsetResult, Tally]:
    """Search conditioning sets for those x that need not be joined to the target; the others survive, untested."""
    every = [int(x) for x in query.xs]
    if query.until_survivor:
        every = every[: next(k for k, x in enumerate(every) if x in required) + 1]
    asked = [k for k, x in enumerate(every) if x not in required]
    known = query.n_exhausted
    part, tally = search(
        query._replace(
            xs=[every[k] for k in asked],
            n_exhausted=known if isinstance(known, int) else [known[k] for k in asked],
        )
    )
    if query.until_survivor and part.last_survives:
        return part, tally  # an x before it survives
    numbers = np.full((3, len(every)), math.nan)
    verdict, which = np.zeros((2, len(every)), np.int32)
    numbers[:, asked] = part.statistic, part.dof, part.log_p
    verdict[asked] = np.where(part.separated, 2, part.reliable)
    which[asked] = part.which + 1
    statistic, dof, log_p = numbers
    return SubsetResult(as_positions(every), statistic, dof, log_p, verdict, which, [(), *part.sets]), tally
