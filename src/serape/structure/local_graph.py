"""What is known of a network around a target: neighbourhoods that were learned one after another, and the arcs.

A variable is *expanded* once its blanket is learned. Its edges are then known, and these rules direct edges:

1. If S is in the blanket of an expanded X but not adjacent to it, Z separates the two, C is adjacent to X, and X and S
   depend on each other given Z and C, then X → C. (C is a common child of X and S, or a descendant of one. If it were
   a parent of X, the path from S that C opens would reach X through C without C being given.)
2. If X – Z – Y, X is expanded and not adjacent to Y, and Z is not in the set that separates them: X → Z ← Y.
3. Knowledge directs edges, and Meek's rules direct those that follow.

Whether two variables are adjacent is known if one of them is expanded, or if an algorithm joins them; triples for which
it is not known are not used.
So every arc found with perfect tests is an arc of the completed graph of the whole DAG (with the knowledge).

See docs/papers.md: Wang et al. 2014.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from serape.knowledge import BoundKnowledge
from serape.search import Search
from serape.structure.graphs import Arc, PartlyDirected
from serape.structure.orientation import Oriented, orient


@dataclass(frozen=True)
class LocalBlanket:
    """The neighbours of a variable, and the other members of its blanket."""

    neighbours: frozenset[int]
    spouses: frozenset[int]


@dataclass
class LocalGraph:
    """The neighbourhoods learned so far, and the arcs that follow from them."""

    search: Search
    learn: Callable[[int], LocalBlanket]
    """Learns the blanket of a variable, and which of its members are neighbours."""
    names: Sequence[str]
    knowledge: BoundKnowledge | None = None
    expanded: dict[int, LocalBlanket] = field(default_factory=dict)
    shown: dict[Arc, tuple[float, str]] = field(default_factory=dict)
    """Arcs that a test shows, as by the first rule: each with its certainty (−log p of the test) and why, in words."""
    joined: dict[int, set[int]] = field(default_factory=dict)
    """Edges between variables that are not expanded, by both ends."""
    _certainties: dict[tuple[int, int, int], float | None] = field(default_factory=dict)
    _separating: dict[tuple[int, int], tuple[int, ...] | None] = field(default_factory=dict)
    _oriented: Oriented | None = None
    _variables: list[int] = field(default_factory=list)

    def expand(self, x: int) -> None:
        """Learn the blanket of a variable."""
        around = self.expanded[x] = self.learn(x)
        self._oriented = None
        for s in sorted(around.spouses):
            separating = self.separating_set(s, x)
            if separating is None:
                continue
            for c in sorted(around.neighbours.difference(separating)):
                if self._may_join(x, c):
                    self.show(x, c, self._dependence(x, c, s), self.collider_text(x, c, s))

    def show(self, x: int, y: int, certain: float | None, why: str) -> None:
        """Note that a test shows the arc x → y, unless a more certain one does; None if it does not show it."""
        if certain is not None and certain > self.shown.get((x, y), (-1.0, ""))[0]:
            self.shown[x, y] = certain, why
            self._oriented = None

    def collider_text(self, x: int, y: int, other: int) -> str:
        """Return why X → Y follows from the dependence of X and another variable given Y, in words."""
        names, given = self.names, [self.names[z] for z in self.separating_set(x, other) or ()]
        alone = f"given {', '.join(given)}" if given else "given nothing"
        return f"{names[x]} and {names[other]} are independent {alone}, but not given {', '.join([*given, names[y]])}"

    def _may_join(self, x: int, y: int) -> bool:
        return self.knowledge is None or self.knowledge.allows(x, y)

    # --- the graph -----------------------------------------------------------------------------------------------

    @property
    def variables(self) -> list[int]:
        """The expanded variables and their neighbours, in the table's order."""
        return sorted({*self.expanded, *(y for around in self.expanded.values() for y in around.neighbours)})

    def are_adjacent(self, x: int, y: int) -> bool:
        """Return whether two variables are adjacent: the neighbourhoods that are known must agree."""
        known = [b in self.expanded[a].neighbours for a, b in ((x, y), (y, x)) if a in self.expanded]
        return all(known) if known else y in self.joined.get(x, ())

    def neighbours(self, x: int) -> set[int]:
        """Return the known neighbours of a variable."""
        near = self.expanded[x].neighbours if x in self.expanded else {*self.expanded, *self.joined.get(x, ())}
        return {y for y in near if y != x and self.are_adjacent(x, y)}

    def join(self, x: int, y: int) -> None:
        """Add an edge between two variables that are not expanded."""
        self.joined.setdefault(x, set()).add(y)
        self.joined.setdefault(y, set()).add(x)
        self._oriented = None

    def separating_set(self, x: int, y: int) -> tuple[int, ...] | None:
        """Return the set that separates two variables, None if it is unknown whether they are adjacent."""
        pair = (min(x, y), max(x, y))
        known = self._separating.get(pair)
        if known is None and (x in self.expanded or y in self.expanded):
            known = self._separating[pair] = self.search.separating_set(*self.by_name(pair))
        return known

    def note_separation(self, x: int, y: int, given: tuple[int, ...]) -> None:
        """Note that a set separates two variables, of which none need be expanded; a set found before stays."""
        self._separating.setdefault((min(x, y), max(x, y)), given)
        self._oriented = None

    def oriented(self) -> Oriented:
        """Return the graph over `variables`, whose node k is the k-th of them, directed as far as it can be."""
        if self._oriented is None:
            self._variables = ordered = self.variables
            index = {x: k for k, x in enumerate(ordered)}
            shown = [(certain, arc) for arc, (certain, _) in self.shown.items() if self.are_adjacent(*arc)]
            self._oriented = orient(
                len(ordered),
                [{index[y] for y in self.neighbours(x)} for x in ordered],
                lambda a, b: _renumbered(self.separating_set(ordered[a], ordered[b]), index),
                lambda a, z, b: self._dependence(ordered[a], ordered[z], ordered[b]),
                [self.names[x] for x in ordered],
                None if self.knowledge is None else self.knowledge.among(ordered),
                [(certain, (index[x], index[c])) for certain, (x, c) in shown],
            )
        return self._oriented

    def arcs(self) -> list[Arc]:
        """Return the arcs of the graph, in positions."""
        return [(self._variables[a], self._variables[b]) for a, b in self.oriented().graph.arcs()]

    def undirected(self, x: int) -> list[int]:
        """Return the neighbours of a variable to which the edge has no direction."""
        return self._positions("neighbours", x)

    def parents(self, x: int) -> list[int]:
        """Return the known parents of a variable."""
        return self._positions("parents", x)

    def children(self, x: int) -> list[int]:
        """Return the known children of a variable."""
        return self._positions("children", x)

    def _positions(self, kind: str, x: int) -> list[int]:
        graph: PartlyDirected = self.oriented().graph
        found: set[int] = getattr(graph, kind)[self._variables.index(x)]
        return [self._variables[k] for k in sorted(found)]

    def undirected_paths(self, target: int) -> list[int]:
        """Return the target and the variables that undirected edges join to it, the nearest first."""
        reached = [target]
        for x in reached:  # the list grows during the loop
            reached += [y for y in self.by_name(self.undirected(x)) if y not in reached]
        return reached

    def by_name(self, variables: Iterable[int]) -> list[int]:
        """Return variables in the order of their names, so that the order of columns has no effect."""
        return sorted(variables, key=self.names.__getitem__)

    # --- tests ---------------------------------------------------------------------------------------------------

    def is_collider(self, x: int, z: int, y: int) -> bool:
        """Return whether z is not in the set that separates x and y, and they depend on each other given z too."""
        separating = self.separating_set(x, y)
        return separating is not None and z not in separating and self._dependence(x, z, y) is not None

    def depends(self, x: int, z: int, y: int) -> bool:
        """Return whether a test showed that x and y depend on each other given their separating set and z."""
        return self._certainties.get((min(x, y), z, max(x, y))) is not None

    def _dependence(self, x: int, z: int, y: int) -> float | None:
        """Return −log p of the dependence of x and y given their separating set and z; None if there is none."""
        key = (min(x, y), z, max(x, y))
        if key not in self._certainties:
            given = (*(self.separating_set(x, y) or ()), z)
            self._certainties[key] = ask_one_more(self.search, x, y, given)
        return self._certainties[key]


def ask_one_more(search: Search, x: int, y: int, given: tuple[int, ...]) -> float | None:
    """Return −log p if a test shows dependence, given one variable more than the largest conditioning set."""
    bound = search.max_conditioning
    search.max_conditioning = None if bound is None else bound + 1
    try:
        outcome = search.ask(x, y, given)
    finally:
        search.max_conditioning = bound
    return None if outcome is None or outcome.log_p > search.log_alpha else -outcome.log_p


def _renumbered(given: Iterable[int] | None, index: dict[int, int]) -> tuple[int, ...] | None:
    """Return the members of a separating set that are in the graph, by their numbers there."""
    return None if given is None else tuple(index[z] for z in given if z in index)
