"""The oracle: independence read from a directed acyclic graph.

X and Y are *d-separated* by Z if no path between them is open. A path is open if each of its colliders (→ W ←) is in Z
or has a descendant there, and none of its other inner nodes is in Z. Under the Markov and faithfulness assumptions,
d-separation in the graph is the same as conditional independence in the distribution. So an algorithm that is right
with this oracle is sound.

Some variables may be functions of others. A conditioning set then also fixes what it determines, so X and Y are
separated by Z if they are d-separated by Z and all that Z determines (Geiger, Verma and Pearl, *Identifying
independence in Bayesian networks*, Networks 20, 1990). Such a distribution is not faithful: a variable can have several
blankets.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from serape.errors import DataError, InputTypeError
from serape.independence.backends import SCREENS
from serape.independence.base import IndependenceTest
from serape.independence.outcomes import Candidates, Floats, Outcome, Poll, Rows, as_positions
from serape.independence.screens import ScreenResult

if TYPE_CHECKING:
    import networkx as nx

_SEPARATED = Outcome(0.0, 1.0, 0.0, reliable=True)
_CONNECTED = Outcome(1.0, 1.0, -math.inf, reliable=True)
_MAX_ANSWERS = 1 << 17


class DSeparation(IndependenceTest):
    """An independence test that knows the graph. It can be passed as `data` in place of a table.

    Parameters
    ----------
    graph
        The true graph, a DAG.
    order
        The variables in another order than that of the graph's nodes.
    determined
        Nodes that are functions of others: pairs of a node and the nodes that determine it. A copy, or a column with
        the same information in other words, is a child of the original, and each determines the other.
    hidden
        Nodes that are not observed: they are no variables, but the paths through them count.

    Examples
    --------
    >>> oracle = serape.DSeparation(clinic_graph())
    >>> serape.markov_blanket(oracle, "HeartDisease").blanket
    ('Age', 'BloodPressure', 'Smoking', 'ECG', 'ChestPain', 'Anxiety')
    >>> import networkx
    >>> graph = networkx.DiGraph([("Cause", "Target"), ("Cause", "Copy")])
    >>> oracle = serape.DSeparation(graph, determined=[("Copy", ["Cause"]), ("Cause", ["Copy"])])
    >>> serape.ci_test(oracle, "Cause", "Target", ["Copy"]).p
    1.0
    """

    core_answers = SCREENS
    name = "d-separation"
    made_of: ClassVar[tuple[str, ...] | None] = ("_parents", "_children", "_functions")

    def __init__(
        self,
        graph: nx.DiGraph[Any],
        order: Sequence[Any] | None = None,
        determined: Iterable[tuple[Any, Collection[Any]]] = (),
        hidden: Collection[Any] = (),
    ) -> None:
        import networkx as nx

        if not isinstance(graph, nx.DiGraph):
            raise InputTypeError(f"d-separation needs a networkx.DiGraph, not a {type(graph).__name__}")
        try:
            cycle = nx.find_cycle(graph)
        except nx.NetworkXNoCycle:
            pass
        else:
            raise DataError(
                f"the graph has a cycle, {' → '.join(str(a) for a, _ in cycle)} → {cycle[0][0]}; a DAG has none"
            )
        unseen = set(hidden)
        if isinstance(hidden, str) or not unseen <= set(graph.nodes):
            raise DataError("hidden must be a list of nodes of the graph")
        observed = [node for node in graph.nodes if node not in unseen]
        nodes = list(observed if order is None else order)
        if len(nodes) != len(observed) or set(nodes) != set(observed):
            raise DataError(f"the order must name every {'observed ' if unseen else ''}node of the graph exactly once")
        self.variables = tuple(str(node) for node in nodes)
        nodes += [node for node in graph.nodes if node in unseen]
        if len({str(node) for node in nodes}) < len(nodes):
            raise DataError("two nodes have the same name once written as text; give every node a name of its own")
        self.graph = graph
        index = {node: k for k, node in enumerate(nodes)}
        # Sets of nodes are bits of an integer.
        self._parents = [sum(1 << index[p] for p in graph.predecessors(node)) for node in nodes]
        self._children = [sum(1 << index[c] for c in graph.successors(node)) for node in nodes]
        self._answers: dict[tuple[int, int], int] = {}
        pairs = [(node, set(others)) for node, others in determined]
        for unknown in {name for node, others in pairs for name in (node, *others)} - set(index):
            raise DataError(f"`determined` names {unknown!r}, but the graph has no such node; correct the name")
        self._functions = [(index[node], sum(1 << index[x] for x in others)) for node, others in pairs]

    def test(self, x: int, y: int, given: Sequence[int] = ()) -> Outcome:
        """Test whether X and Y are d-separated by the given set."""
        return _CONNECTED if self._connected(y, given) >> x & 1 else _SEPARATED

    def information(self, statistic: Floats, dof: Floats, rows: Rows) -> Floats:
        """Return 1 where a path connects the two variables, otherwise 0: all associations are equally strong."""
        del dof, rows
        return statistic

    def screen(
        self,
        target: int,
        candidates: Candidates,
        given: Sequence[int] = (),
        *,
        threads: int = 1,
        poll: Poll | None = None,
    ) -> ScreenResult:
        """Test every candidate against the target given one set, by one walk through the graph."""
        del threads, poll
        reached = self._connected(target, given)
        connected = np.array([reached >> int(x) & 1 for x in candidates], bool)
        return ScreenResult(
            as_positions(candidates),
            tuple(given),
            connected.astype(np.float64),
            np.ones(len(connected)),
            np.ones(len(connected), bool),
            np.where(connected, -math.inf, 0.0),
        )

    def _connected(self, source: int, given: Sequence[int]) -> int:
        """Return the nodes that an open path given the set connects to the source."""
        inside = 0
        for z in given:
            inside |= 1 << int(z)
        source = int(source)
        key = (source, inside)
        known = self._answers.get(key)
        if known is None:
            if len(self._answers) >= _MAX_ANSWERS:
                self._answers.clear()
            fixed = self._determined(inside)
            known = self._answers[key] = 0 if fixed >> source & 1 else self._reached(source, fixed)
        return known

    def _determined(self, inside: int) -> int:
        """Return the nodes that are fixed where these are: themselves, and all that they determine."""
        before = -1
        while inside != before:
            before = inside
            for node, determining in self._functions:
                if not determining & ~inside:
                    inside |= 1 << node
        return inside

    def _reached(self, source: int, inside: int) -> int:
        ancestors = self._closure(inside, self._parents)  # an open collider is one of these
        up, down = 1 << source, 0  # nodes reached against, and along, an arc; the source counts as reached from a child
        up_seen = down_seen = 0
        while up or down:
            up_seen |= up
            down_seen |= down
            next_up = next_down = 0
            for node in _members(up & ~inside):  # reached from a child: the path continues to parents and children
                next_up |= self._parents[node]
                next_down |= self._children[node]
            for node in _members(down & ~inside):  # reached from a parent: a chain continues to the children
                next_down |= self._children[node]
            for node in _members(down & ancestors):  # and an open collider to the other parents
                next_up |= self._parents[node]
            up, down = next_up & ~up_seen, next_down & ~down_seen
        return (up_seen | down_seen) & ~inside & ~(1 << source)

    @staticmethod
    def _closure(nodes: int, step: list[int]) -> int:
        """Return the nodes and all nodes that steps from them reach."""
        reached = fresh = nodes
        while fresh:
            onward = 0
            for node in _members(fresh):
                onward |= step[node]
            fresh = onward & ~reached
            reached |= fresh
        return reached


def _members(bits: int) -> list[int]:
    members = []
    while bits:
        lowest = bits & -bits
        members.append(lowest.bit_length() - 1)
        bits ^= lowest
    return members
