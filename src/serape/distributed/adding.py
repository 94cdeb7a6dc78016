"""Adding up the counts of parts of the rows, wherever these are."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from serape._core import Counts
from serape.distributed.shards import DistinctRows, PartCounts

_LARGEST = 2**62


def added(
    pieces: Sequence[tuple[NDArray[np.intp], PartCounts]],
    *,
    rows: int,
    target_levels: int,
    given_levels: Sequence[int],
    candidate_levels: Sequence[int],
) -> Counts:
    """Return the counts of all rows. A piece has the places of its candidates in the question, and their counts."""
    strata = np.concatenate([piece.strata for _, piece in pieces]).astype(np.int64)
    number = np.split(numbered_rows(strata, given_levels), np.cumsum([len(piece.strata) for _, piece in pieces])[:-1])
    cells, candidates = [], []
    for (places, piece), own in zip(pieces, number, strict=True):
        at = places if len(places) else np.zeros(1, np.intp)  # the target alone
        candidates.append(np.repeat(at, piece.sizes))
        listed = piece.cells.astype(np.int64)
        listed[:, 0] = own[listed[:, 0]]
        cells.append(listed)
    candidate = np.concatenate(candidates)
    order = np.argsort(candidate, kind="stable")
    counted = np.bincount(candidate, minlength=len(candidate_levels))
    return Counts(
        rows=rows,
        target_levels=target_levels,
        given_levels=list(given_levels),
        candidate_levels=list(candidate_levels),
        begin=[0, *np.cumsum(counted).tolist()],
        cells=np.ascontiguousarray(np.concatenate(cells)[order]),
    )


def numbered_rows(rows: NDArray[np.int64], levels: Sequence[int]) -> NDArray[np.int64]:
    """Return a number for each row, the same for equal rows, in ascending order of the rows."""
    label = np.zeros(len(rows), np.int64)
    bound = 1
    for k, own in enumerate(levels):
        if bound * own >= _LARGEST:
            met, label = np.unique(label, return_inverse=True)
            bound = len(met)
        label = label * own + rows[:, k]
        bound *= own
    return np.unique(label, return_inverse=True)[1].astype(np.int64)


def added_rows(parts: Sequence[DistinctRows], levels: Sequence[int]) -> DistinctRows:
    """Return the distinct rows of all parts, each once, and how often they occur."""
    rows = np.concatenate([part.rows for part in parts])
    number = numbered_rows(rows.astype(np.int64), levels)
    first = np.unique(number, return_index=True)[1]
    times = np.bincount(number, np.concatenate([part.times for part in parts])).astype(np.int64)
    return DistinctRows(rows[first], times)
