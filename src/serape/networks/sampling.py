"""Forward sampling: every variable after its parents, all rows at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from serape.data.columns import Columns
from serape.data.encoding import Codes, Encoded, as_codes
from serape.data.table import Table


def sample(
    names: Sequence[str],
    levels: Sequence[tuple[str, ...]],
    parents: Sequence[Sequence[int]],
    cpts: Sequence[NDArray[np.float64]],
    order: Sequence[int],
    rows: int,
    seed: int | None,
) -> Table:
    """Draw rows, variable by variable in an order that has parents before children."""
    random = np.random.default_rng(seed)
    thresholds: dict[int, NDArray[np.float64]] = {}  # copies of a network share their tables
    drawn: dict[int, Codes] = {}
    for k in order:
        cpt = cpts[k]
        ends = thresholds.get(id(cpt))
        if ends is None:
            ends = thresholds[id(cpt)] = _level_ends(cpt)
        configuration = _configuration([(drawn[p], len(levels[p])) for p in parents[k]])
        drawn[k] = as_codes(_draw(ends, configuration, random.random(rows)), len(levels[k]))
    reason = {n: f"{n} declared categories" for n in set(map(len, levels))}
    encoded = [
        Encoded("categorical", reason[len(values)], values, drawn[k], declared=True) for k, values in enumerate(levels)
    ]
    return Table(Columns(list(names), rows, encoded))


def _level_ends(cpt: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the cumulative probabilities of the levels; columns of ones are added up to a power of two."""
    ends = np.cumsum(cpt, axis=1)
    ends /= ends[:, -1:]
    rows, levels = ends.shape
    filled = np.ones((rows, 1 << (levels - 1).bit_length()))
    filled[:, :levels] = ends
    return filled


def _configuration(parents: Sequence[tuple[Codes, int]]) -> NDArray[np.intp] | None:
    """Return the index of the parents' configuration in every row; None without parents."""
    number: NDArray[np.intp] | None = None
    for codes, levels in parents:
        number = codes.astype(np.intp) if number is None else number * levels + codes
    return number


def _draw(
    ends: NDArray[np.float64], configuration: NDArray[np.intp] | None, draws: NDArray[np.float64]
) -> NDArray[np.intp]:
    """Return the number of levels that end at or before each draw, by binary search."""
    if configuration is None:
        found: NDArray[np.intp] = np.searchsorted(ends[0], draws, side="right")
        return found
    width = ends.shape[1]
    begin = configuration * width
    at: NDArray[np.intp] = begin.copy()
    flat = ends.ravel()
    step = width // 2
    while step:
        at += (flat.take(at + (step - 1)) <= draws) * step
        step //= 2
    at -= begin
    return at
