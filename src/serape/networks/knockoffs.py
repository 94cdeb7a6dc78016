"""Knockoffs of the columns of a table, drawn from a discrete Bayesian network by exact local computations.

Candès, Fan, Janson and Lv, *Panning for gold: model-X knockoffs* (JRSS B 2018), algorithm 1 (SCIP). One variable after
the other, X̃ⱼ is drawn from the law of Xⱼ given all other variables and the knockoffs drawn so far; Xⱼ itself is not
looked at. To draw every X̃ⱼ given the blanket of Xⱼ alone would be wrong: neighbours and their knockoffs could then not
be exchanged.

**Exchangeability.** Let pⱼ be the law of (X, X̃₁ … X̃ⱼ), p₀ that of X. Claim: pⱼ does not change if xₖ and x̃ₖ are
exchanged, for any set of k ≤ j. This is empty for j = 0. Write r for all arguments of pⱼ₋₁ but xⱼ. Then

    pⱼ(xⱼ, x̃ⱼ, r) = pⱼ₋₁(xⱼ, r) · pⱼ₋₁(x̃ⱼ, r) / N(r),   N(r) = Σᵤ pⱼ₋₁(u, r),

which is symmetric in xⱼ and x̃ⱼ. An exchange at k < j changes neither pⱼ₋₁ nor its sum N, by the claim for j − 1. ∎

**Tables.** In one row, the values of variables that have been visited, and of their knockoffs, are constants. As a
function of the variables to come, pⱼ₋₁ = O · T, where T is the product of the tables that have xⱼ, and O that of all
others. X̃ⱼ is drawn from T at the row's values, and by the line above

    pⱼ = O · T(xⱼ, ·) · T(x̃ⱼ, ·) / Σᵤ T(u, ·):

one table over the neighbours of xⱼ that are still to come takes the place of those in T. The tables are those of
variable elimination, one set for every row, so their size depends on the order of the variables.

**Hidden variables** of the network, which are no columns of the table, such as a target, are summed out first: p₀ is
the law of the columns alone, as knockoffs must not depend on the target.

**Fixed variables.** If a table would be too large, variables are fixed: X̃ꜰ = Xꜰ, and all tables are those given Xꜰ.
Given Xꜰ, the claim holds for the others; for the fixed ones an exchange changes nothing. Nothing can be discovered
about fixed variables, but all discoveries about others are as valid.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from serape.arrays import Floats
from serape.errors import DataError
from serape.networks.network import Network, normalised

MAX_CELLS = 1 << 14
"""The largest number of cells of a table, of which every row has one."""
_CHUNK_CELLS = 1 << 22  # of the rows that are computed together
_MAX_AXES = 30  # NumPy arrays can have at least 32

Levels = NDArray[np.intp]
Draw = Callable[[int, Floats], Levels]
"""From a variable and the probabilities of its levels in every row to levels."""


@dataclass(frozen=True, slots=True)
class _Factor:
    """A table over variables, in ascending order, after an axis of rows, whose length is 1 if all rows share it."""

    over: tuple[int, ...]
    values: Floats


@dataclass(frozen=True, slots=True)
class KnockoffPlan:
    """In which order a network is visited, and which variables are fixed."""

    order: tuple[int, ...]
    """Positions: first the hidden variables."""
    hidden: frozenset[int]
    fixed: frozenset[int]
    cells: int
    """The size of the largest table."""


def make_plan(network: Network, hidden: Iterable[int] = (), max_cells: int = MAX_CELLS) -> KnockoffPlan:
    """Return an order with small tables, the smallest first; fix variables where they would be too large."""
    concealed, fixed = frozenset(hidden), set[int]()
    size = [len(network.levels(k)) for k in range(network.nodes)]
    neighbours = _moral_neighbours(network)
    order: list[int] = []
    largest = 1
    for first in (True, False):
        waiting = [k for k in range(network.nodes) if (k in concealed) is first and k not in fixed]
        cells = {k: _cells(k, neighbours, size) for k in waiting}
        while cells:
            k = min(cells, key=lambda x: (cells[x], x))
            if cells[k] > max_cells or len(neighbours[k]) >= _MAX_AXES:
                changed = _fix(k, neighbours, size, concealed)
                fixed.add(changed[0])
                cells.pop(changed[0], None)
            else:
                changed = _visit(k, neighbours)
                order.append(k)
                largest = max(largest, cells.pop(k))
            cells.update({x: _cells(x, neighbours, size) for x in changed if x in cells})
    return KnockoffPlan(tuple(order), concealed, frozenset(fixed), largest)


def draw_knockoffs(
    network: Network, columns: Sequence[Levels | None], plan: KnockoffPlan, random: np.random.Generator
) -> list[Levels]:
    """Return a knockoff of every column; those of hidden variables are None, and so are their knockoffs' places."""
    rows = next(len(column) for column in columns if column is not None)
    uniform = random.random((network.nodes, rows))
    found = [np.zeros(0, np.intp) if column is None else column.astype(np.intp) for column in columns]
    step = max(1, _CHUNK_CELLS // plan.cells)
    for begin in range(0, rows, step):
        some = slice(begin, begin + step)
        part = [None if column is None else column[some] for column in columns]
        made = visit(network, part, plan, lambda k, chances: _drawn(chances, uniform[k, some]))  # noqa: B023
        for k, values in made.items():
            found[k][some] = values
    return found


def visit(network: Network, columns: Sequence[Levels | None], plan: KnockoffPlan, draw: Draw) -> dict[int, Levels]:
    """Visit the variables of a network in rows, and return what `draw` chose for each of those that are not fixed."""
    actual = {k: column.astype(np.intp) for k, column in enumerate(columns) if column is not None}
    rows = np.arange(len(next(iter(actual.values()))))
    tables: dict[int, list[_Factor]] = {k: [] for k in plan.order}

    def keep(factor: _Factor) -> None:
        if factor.over:  # under the variable that comes first
            tables[min(factor.over, key=place.__getitem__)].append(factor)

    place = {k: at for at, k in enumerate(plan.order)}
    for k in range(network.nodes):
        keep(_restricted(_family(network, k), actual, plan.fixed))
    made: dict[int, Levels] = {}
    for k in plan.order:
        over, table = _product(tables.pop(k), k)
        total = table.sum(axis=-1)
        if k in plan.hidden:
            keep(_Factor(over, _scaled(total)))
            continue
        row = rows if len(table) > 1 else np.zeros_like(rows)
        chances = table[(row, *(actual[x] for x in over))]
        _check_possible(network, k, chances[rows, actual[k]])
        made[k] = draw(k, chances / chances.sum(axis=-1, keepdims=True))
        both = table[row, ..., actual[k]] * table[row, ..., made[k]]
        keep(_Factor(over, _scaled(np.divide(both, total, out=np.zeros_like(both), where=total > 0))))
    return made


# --- the order -------------------------------------------------------------------------------------------------------


def _moral_neighbours(network: Network) -> list[set[int]]:
    position = {name: k for k, name in enumerate(network.variables)}
    return [{position[name] for name in network.markov_blanket(k)} for k in range(network.nodes)]


def _cells(k: int, neighbours: Sequence[set[int]], size: Sequence[int]) -> int:
    return size[k] * math.prod(size[x] for x in neighbours[k])


def _visit(k: int, neighbours: Sequence[set[int]]) -> list[int]:
    """Remove a variable, join its neighbours, and return them."""
    changed = sorted(neighbours[k])
    for x in changed:
        neighbours[x] |= neighbours[k]
        neighbours[x] -= {k, x}
    return changed


def _fix(k: int, neighbours: Sequence[set[int]], size: Sequence[int], hidden: frozenset[int]) -> list[int]:
    """Fix the variable in the table of k that has the most neighbours; return it and its neighbours."""
    able = [x for x in (*neighbours[k], k) if x not in hidden]
    if not able:
        raise DataError("too many variables of the network are not in the table; leave them out of the network")
    fixed = max(able, key=lambda x: (len(neighbours[x]), size[x], x))
    for x in neighbours[fixed]:
        neighbours[x].discard(fixed)
    return [fixed, *sorted(neighbours[fixed])]


# --- tables ----------------------------------------------------------------------------------------------------------


def _family(network: Network, k: int) -> _Factor:
    """Return the probabilities of a variable given its parents."""
    position = {name: at for at, name in enumerate(network.variables)}
    over = [*(position[name] for name in network.parents(k)), k]
    values = normalised(network.cpt(k)).reshape([len(network.levels(x)) for x in over])
    return _Factor(tuple(sorted(over)), np.transpose(values, np.argsort(over))[None])


def _restricted(factor: _Factor, actual: dict[int, Levels], fixed: frozenset[int]) -> _Factor:
    """Return a table that all rows share at the values that fixed variables have in each row."""
    inside = [x for x in factor.over if x in fixed]
    if not inside:
        return factor
    first = [factor.over.index(x) + 1 for x in inside]
    values = np.moveaxis(factor.values[0], [x - 1 for x in first], range(len(first)))
    return _Factor(tuple(x for x in factor.over if x not in fixed), values[tuple(actual[x] for x in inside)])


def _product(factors: Sequence[_Factor], last: int) -> tuple[tuple[int, ...], Floats]:
    """Return the product of tables, with one variable on the last axis, and the other variables."""
    over = sorted({x for factor in factors for x in factor.over} - {last})
    sizes = {x: n for factor in factors for x, n in zip(factor.over, factor.values.shape[1:], strict=True)}
    values: Floats = np.ones((1,) * (len(over) + 2))
    for factor in sorted(factors, key=lambda one: one.values.size):
        at = factor.over.index(last) + 1
        shape = [len(factor.values), *(sizes[x] if x in factor.over else 1 for x in over), sizes[last]]
        values = values * np.moveaxis(factor.values, at, -1).reshape(shape)
    return tuple(over), values


def _scaled(values: Floats) -> Floats:
    """Return the tables divided by their largest value, which no ratio within a row depends on."""
    highest = values.max(axis=tuple(range(1, values.ndim)), keepdims=True) if values.ndim > 1 else values
    scaled: Floats = values / np.where(highest > 0, highest, 1.0)
    return scaled


# --- rows ------------------------------------------------------------------------------------------------------------


def _drawn(chances: Floats, uniform: Floats) -> Levels:
    """Return a level for every row."""
    ends = np.cumsum(chances, axis=1)
    ends /= ends[:, -1:]
    levels: Levels = (ends <= uniform[:, None]).sum(axis=1)
    return levels


def _check_possible(network: Network, k: int, chance: Floats) -> None:
    if not (chance > 0).all():
        raise DataError(
            f"some rows, by the value of {network.variables[k]!r}, have probability 0 in the network; use a network "
            f"fitted to these data"
        )
