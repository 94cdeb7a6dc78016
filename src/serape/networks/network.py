"""A discrete Bayesian network: a directed acyclic graph with a conditional probability table for every variable."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from serape import _core
from serape.data.table import Table
from serape.errors import DataError, OptionError, abbreviate, is_integer, shown, suggestion
from serape.networks.sampling import sample
from serape.wording import setting

if TYPE_CHECKING:
    import networkx as nx

TOLERANCE = 1e-4
"""How far the sum of a row's probabilities may be from 1."""
MAX_TILED = 1_000_000
"""The largest number of variables that copies of a network have together."""

Probabilities = NDArray[np.float64]


class Network:
    """Variables with their levels, parents and conditional probabilities. It is immutable.

    Parameters
    ----------
    levels
        The variables, in order, and the levels of each.
    parents
        The parents of each variable; one that is not in it has none.
    cpts
        The probabilities of each variable: a row for every configuration of its parents, a column for every level. The
        last parent varies fastest. Rows must add up to 1 within 0.0001; they are kept as given and normalised where
        they are used.

    Examples
    --------
    >>> rain = serape.Network(
    ...     {"rain": ["no", "yes"], "wet": ["no", "yes"]},
    ...     parents={"wet": ["rain"]},
    ...     cpts={"rain": [[0.8, 0.2]], "wet": [[0.9, 0.1], [0.2, 0.8]]},
    ... )
    >>> rain.sample(1000, seed=1).names, rain.markov_blanket("rain")
    (('rain', 'wet'), ('wet',))
    """

    def __init__(
        self,
        levels: Mapping[str, Sequence[str]],
        parents: Mapping[str, Sequence[str]],
        cpts: Mapping[str, ArrayLike],
    ) -> None:
        if not levels:
            raise DataError("the network has no variables; give it at least one")
        for what, given in (("parents", parents), ("probabilities", cpts)):
            unknown = [name for name in given if name not in levels]
            if unknown:
                raise DataError(
                    f"{what} are given for {abbreviate(unknown)}, which the network does not have; add the variable's "
                    f"levels"
                )
        self.variables: tuple[str, ...] = tuple(levels)
        """The names, in the order of declaration."""
        self._position = {name: k for k, name in enumerate(self.variables)}
        self._levels = _checked_levels(levels)
        self._parents = [self._checked_parents(name, parents.get(name, ())) for name in self.variables]
        self._cpts = self._checked_cpts(cpts)
        self._order = parents_first(self._parents)
        if len(self._order) < self.nodes:
            cycle = [self.variables[k] for k in find_cycle(self._parents, self._order)]
            raise DataError(f"the arcs form a cycle, {describe_cycle(cycle)}; remove one of them")

    # --- contents ------------------------------------------------------------------------------------------------

    @property
    def nodes(self) -> int:
        """The number of variables."""
        return len(self.variables)

    @property
    def arcs(self) -> int:
        """The number of arcs."""
        return sum(map(len, self._parents))

    @property
    def parameters(self) -> int:
        """The number of free probabilities: the sum of (levels − 1) × (configurations of the parents)."""
        return sum(cpt.shape[0] * (cpt.shape[1] - 1) for cpt in self._cpts)

    def levels(self, variable: str | int) -> tuple[str, ...]:
        """Return the levels of a variable."""
        return self._levels[self._index(variable)]

    def parents(self, variable: str | int) -> tuple[str, ...]:
        """Return the parents of a variable, in the order of its probability table."""
        return self._named(self._parents[self._index(variable)])

    def children(self, variable: str | int) -> tuple[str, ...]:
        """Return the children of a variable, in the order of declaration."""
        return self._named(self._children[self._index(variable)])

    def cpt(self, variable: str | int) -> Probabilities:
        """Return a variable's probabilities: a row for every configuration of its parents; the last varies fastest."""
        return self._cpts[self._index(variable)]

    @cached_property
    def graph(self) -> nx.DiGraph[str]:
        """The arcs, as an immutable graph (`networkx.DiGraph(net.graph)` makes a mutable one)."""
        import networkx as nx

        graph: nx.DiGraph[str] = nx.DiGraph()
        graph.add_nodes_from(self.variables)
        graph.add_edges_from(
            (self.variables[parent], name)
            for name, parents in zip(self.variables, self._parents, strict=True)
            for parent in parents
        )
        frozen: nx.DiGraph[str] = nx.freeze(graph)
        return frozen

    def parents_children(self, variable: str | int) -> tuple[str, ...]:
        """Return the parents and children of a variable, in the order of declaration."""
        at = self._index(variable)
        return self._named(sorted({*self._parents[at], *self._children[at]}))

    def markov_blanket(self, variable: str | int) -> tuple[str, ...]:
        """Return the parents, children and children's other parents of a variable, in the order of declaration."""
        at = self._index(variable)
        blanket = {*self._parents[at], *self._children[at]}
        blanket.update(parent for child in self._children[at] for parent in self._parents[child])
        return self._named(sorted(blanket - {at}))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Network):
            return NotImplemented
        return (
            self.variables == other.variables
            and self._levels == other._levels
            and self._parents == other._parents
            and all(a is b or np.array_equal(a, b) for a, b in zip(self._cpts, other._cpts, strict=True))
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Network of {self.nodes:,} variables, {self.arcs:,} arcs and {self.parameters:,} parameters"

    # --- sampling and tiling -------------------------------------------------------------------------------------

    def sample(self, n: int, seed: int | None = None) -> Table:
        """Draw n rows. All levels are levels of the column, also those that are not drawn."""
        if not is_integer(n) or not 2 <= n <= _core.MAX_ROWS:
            raise OptionError(f"a sample has from 2 to {_core.MAX_ROWS:,} rows, not {shown(n)}")
        return sample(self.variables, self._levels, self._parents, self._cpts, self._order, int(n), _checked_seed(seed))

    def tile(self, copies: int, seed: int | None = None, *, links: int = 3) -> Network:
        """Join copies of the network, one after another, by a few arcs; every copy has the original's distribution.

        Copy k of variable X is called `X_k`, from 1 on. Up to `links` variables without parents in every copy but the
        first get one parent each, from the copy before; `serape.networks.tiling` describes how they are chosen.
        """
        from serape.networks.tiling import tile  # which imports this module

        for what, number, minimum in (("copies", copies, 1), ("links", links, 0)):
            if not is_integer(number) or number < minimum:
                raise OptionError(f"{what}={shown(number)} is not a whole number, {minimum} or more")
        if int(copies) * self.nodes > MAX_TILED:
            raise OptionError(
                f"copies={shown(copies)} of {self.nodes:,} variables are more than {MAX_TILED:,} variables; make fewer"
            )
        return tile(self, int(copies), int(links), _checked_seed(seed))

    # --- internal ------------------------------------------------------------------------------------------------

    @cached_property
    def _children(self) -> list[list[int]]:
        children: list[list[int]] = [[] for _ in self.variables]
        for k, parents in enumerate(self._parents):
            for parent in parents:
                children[parent].append(k)
        return children

    def _index(self, variable: str | int) -> int:
        if isinstance(variable, str):
            at = self._position.get(variable)
            if at is None:
                raise OptionError(
                    f"there is no variable {variable!r}.{suggestion(variable, self.variables)} "
                    f"The variables are {abbreviate(self.variables)}."
                )
            return at
        if is_integer(variable) and 0 <= variable < self.nodes:
            return int(variable)
        raise OptionError(
            f"there is no variable {shown(variable)}; give a name, or a position from 0 to {self.nodes - 1}"
        )

    def _named(self, indices: Iterable[int]) -> tuple[str, ...]:
        return tuple(self.variables[k] for k in indices)

    def _checked_parents(self, name: str, parents: Sequence[str]) -> tuple[int, ...]:
        if isinstance(parents, str):
            raise DataError(f"the parents of {name!r} are the text {parents!r}; give a list of names")
        for parent in parents:
            if parent not in self._position:
                close = suggestion(str(parent), self.variables)
                raise DataError(f"{name!r} has the parent {parent!r}, which is not a variable; declare it.{close}")
        if name in parents:
            raise DataError(f"{name!r} is its own parent; remove that arc")
        if len(set(parents)) < len(parents):
            raise DataError(f"{name!r} has the same parent twice among {abbreviate(parents)}; name each once")
        return tuple(self._position[parent] for parent in parents)

    def _checked_cpts(self, cpts: Mapping[str, ArrayLike]) -> list[Probabilities]:
        # Copies of a network share their tables: each is checked once.
        known: dict[tuple[int, int, int], Probabilities] = {}
        checked = []
        for name, levels, parents in zip(self.variables, self._levels, self._parents, strict=True):
            if name not in cpts:
                raise DataError(f"{name!r} has no probabilities; give it a row for every configuration of its parents")
            given = cpts[name]
            rows, columns = math.prod(len(self._levels[p]) for p in parents), len(levels)
            cpt = known.get((id(given), rows, columns))
            if cpt is None:
                cpt = known[id(given), rows, columns] = _checked_cpt(name, given, rows, columns)
            checked.append(cpt)
        return checked


def _checked_levels(levels: Mapping[str, Sequence[str]]) -> list[tuple[str, ...]]:
    known: dict[tuple[str, ...], tuple[str, ...]] = {}
    checked = []
    for name, given in levels.items():
        if not is_name(name):
            raise DataError(f"a variable is called {name!r}; its name must be text of one line, and not empty")
        if isinstance(given, str):
            raise DataError(f"the levels of {name!r} are the text {given!r}; give a list of levels")
        values = tuple(given)
        values = known.get(values, values)
        if values not in known:
            for value in values:
                if not is_name(value):
                    raise DataError(
                        f"{name!r} has the level {value!r}; a level must be text of one line, and not empty"
                    )
            if not values:
                raise DataError(f"{name!r} has no levels; give it at least one")
            if len(values) > _core.MAX_LEVELS:
                raise DataError(f"{name!r} has {len(values):,} levels; at most {_core.MAX_LEVELS:,} can be used")
            if len(set(values)) < len(values):
                raise DataError(f"{name!r} has the same level twice among {abbreviate(values)}; name each once")
            known[values] = values
        checked.append(values)
    return checked


def is_name(name: object) -> bool:
    """Return whether an object can be the name of a variable or level: text of one line, not empty."""
    return isinstance(name, str) and name.splitlines() == [name]


def _checked_cpt(name: str, given: ArrayLike, rows: int, columns: int) -> Probabilities:
    try:
        cpt = np.asarray(given, np.float64)
    except (TypeError, ValueError):
        raise DataError(f"the probabilities of {name!r} are not all numbers; give an array of numbers") from None
    if rows == 1 and cpt.shape == (columns,):
        cpt = cpt.reshape(1, columns)
    if cpt.shape != (rows, columns):
        raise DataError(
            f"the probabilities of {name!r} are of shape {cpt.shape}, but its parents have {rows:,} configurations "
            f"and it has {columns:,} levels; give an array of shape {(rows, columns)}"
        )
    wrong = first_wrong_row(cpt)
    if wrong is not None:
        row, why = wrong
        raise DataError(f"the probabilities of {name!r} in row {row} {why}")
    if cpt.flags.writeable or cpt.base is not None:
        cpt = cpt.copy()
        cpt.flags.writeable = False
    return cpt


def first_wrong_row(cpt: Probabilities) -> tuple[int, str] | None:
    """Return the first row that is not a distribution, and what is wrong with it, or None."""
    with np.errstate(all="ignore"):
        low, sums = cpt.min(axis=1), cpt.sum(axis=1)
    right = (low >= 0) & (np.abs(sums - 1) <= TOLERANCE)  # NaN is never right
    if right.all():
        return None
    row = int(np.argmin(right))
    if low[row] < 0:
        return row, f"include {low[row]:g}; none may be negative"
    return row, f"add up to {sums[row]:.6g}; they must add up to 1"


def normalised(cpt: Probabilities) -> Probabilities:
    """Return the rows divided by their sums."""
    exact: Probabilities = cpt / cpt.sum(axis=1, keepdims=True)
    return exact


def parents_first(parents: Sequence[Sequence[int]]) -> list[int]:
    """Return the positions in an order that has parents first, without those on a cycle or below one."""
    waiting = [len(p) for p in parents]
    children: list[list[int]] = [[] for _ in parents]
    for k, above in enumerate(parents):
        for parent in above:
            children[parent].append(k)
    order = [k for k, count in enumerate(waiting) if count == 0]
    for k in order:  # the list grows during the loop
        for child in children[k]:
            waiting[child] -= 1
            if waiting[child] == 0:
                order.append(child)
    return order


def find_cycle(parents: Sequence[Sequence[int]], order: Sequence[int]) -> list[int]:
    """Return the positions along a cycle, given the order of `parents_first`, which does not have all positions."""
    ordered = set(order)
    at = next(k for k in range(len(parents)) if k not in ordered)
    step_of: dict[int, int] = {}
    walk: list[int] = []
    while at not in step_of:  # a position that is not in the order has a parent that is not
        step_of[at] = len(walk)
        walk.append(at)
        at = next(p for p in parents[at] if p not in ordered)
    return walk[step_of[at] :][::-1]


def describe_cycle(names: Sequence[str], max_names: int = 5) -> str:
    """Return a cycle as text, such as 'A' → 'B' → 'A'."""
    shown = [repr(name) for name in names[:max_names]]
    return " → ".join([*shown, *(["…"] if len(names) > max_names else []), shown[0]])


def _checked_seed(seed: Any) -> int | None:
    if seed is not None and (not is_integer(seed) or seed < 0):
        raise OptionError(f"{setting('seed', seed)} is not a whole number, 0 or more")
    return None if seed is None else int(seed)
