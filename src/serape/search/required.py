"""Searches through conditioning sets that do not test required neighbours."""

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
    """Search conditioning sets for the x that are not required neighbours of the target; these survive untested."""
    xs = [int(x) for x in query.xs]
    if query.until_survivor:
        xs = xs[: next(k for k, x in enumerate(xs) if x in required) + 1]
    tested = [k for k, x in enumerate(xs) if x not in required]
    n_exhausted = query.n_exhausted
    part, tally = search(
        query._replace(
            xs=[xs[k] for k in tested],
            n_exhausted=n_exhausted if isinstance(n_exhausted, int) else [n_exhausted[k] for k in tested],
        )
    )
    if query.until_survivor and part.last_survives:
        return part, tally  # an x before the first required one survives
    numbers = np.full((3, len(xs)), math.nan)
    verdict, which = np.zeros((2, len(xs)), np.int32)
    numbers[:, tested] = part.statistic, part.dof, part.log_p
    verdict[tested] = np.where(part.separated, 2, part.reliable)
    which[tested] = part.which + 1
    statistic, dof, log_p = numbers
    return SubsetResult(as_positions(xs), statistic, dof, log_p, verdict, which, [(), *part.sets]), tally
