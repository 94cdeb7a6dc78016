"""Conditional probability tables from the numbers of a probability block of a BIF file."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from operator import mul

import numpy as np

from serape.networks.network import Probabilities, first_wrong_row, normalised


@dataclass(slots=True)
class BlockRows:
    """The content of a probability block: rows of numbers, and where in the text each begins."""

    configurations: list[int] = field(default_factory=list)
    begins: list[int] = field(default_factory=list)
    numbers: array[float] = field(default_factory=lambda: array("d"))
    default: array[float] | None = None
    table: array[float] | None = None
    noisy_max: bool = False


def row_steps(sizes: Sequence[int]) -> list[int]:
    """Return by how much the index of a row grows with each parent's level; the last parent varies fastest."""
    return [*accumulate(reversed(sizes), mul, initial=1)][-2::-1]


def from_table(numbers: Sequence[float], levels: int, configurations: int) -> Probabilities | tuple[int, str]:
    """Return the numbers after `table` as rows, or what is wrong: a column, counted from 0, and why.

    The format has the child's levels slowest. The other order is accepted where only it gives distributions.
    """
    table = np.array(numbers).reshape(levels, configurations)
    cpt = np.ascontiguousarray(table.T)
    wrong = first_wrong_row(cpt)
    if wrong is None:
        return cpt
    cpt = table.reshape(configurations, levels)
    return cpt if first_wrong_row(cpt) is None else wrong


def from_noisy_max(sizes: Sequence[int], configurations: Sequence[int], given: Probabilities) -> Probabilities | None:
    """Return all rows of a noisy MAX, or None if the given ones are not those that define it.

    `sizes` are the parents' numbers of levels, `configurations` the indices of the given rows.
    """
    at_most = dict(zip(configurations, np.cumsum(normalised(given), axis=1), strict=True)) if len(given) else {}
    steps = row_steps(sizes)
    needed = {0, *(level * step for size, step in zip(sizes, steps, strict=True) for level in range(1, size))}
    if set(at_most) != needed:
        return None
    joint = at_most[0][None, :]
    for size, step in zip(sizes, steps, strict=True):
        alone = np.array([np.ones_like(at_most[0]), *(at_most[level * step] for level in range(1, size))])
        joint = (joint[:, None, :] * alone).reshape(-1, joint.shape[1])
    return normalised(np.maximum(np.diff(joint, axis=1, prepend=0), 0))
