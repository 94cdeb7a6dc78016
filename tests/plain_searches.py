"""Plain twins of the searches by score: every change of the graph is looked at in every step."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from plain_graphs import made, members
from serape.structure.ges import Operator, cliques
from serape.structure.graphs import Arc, PartlyDirected, cpdag, extension
from serape.structure.scores import Score

Parents = list[set[int]]
Trace = list[tuple[int, float]]
"""After every change, the number of arcs and the score."""


# --- tabu search ----------------------------------------------------------------------------------------------------


def is_acyclic(parents: Parents) -> bool:
    graph: nx.DiGraph[int] = nx.DiGraph([(x, y) for y, before in enumerate(parents) for x in before])
    return nx.is_directed_acyclic_graph(graph)


def changed_at(parents: Parents, changes: dict[int, set[int]]) -> Parents:
    return [changes.get(y, before) for y, before in enumerate(parents)]


def plain_tabu(
    score: Score, candidates: Sequence[NDArray[np.uint32]], tabu: int, patience: int, max_parents: int
) -> tuple[Parents, Trace]:
    """Tabu search. Of changes with the same gain, those come first that the documented order puts first."""
    found = now = [set[int]() for _ in candidates]
    total = best = score.total(now)
    recent = deque([now], maxlen=tabu)
    trace: Trace = []
    stale = 0
    while stale <= patience:
        toggles: dict[tuple[int, int], float] = {}
        for y, xs in enumerate(candidates):
            for x in xs.tolist():
                if x in now[y] or len(now[y]) < max_parents:
                    toggles[x, y] = score.family(y, now[y] ^ {x}) - score.family(y, now[y])
        top = {y: max((gain for (_, z), gain in toggles.items() if z == y), default=0.0) for y in range(len(now))}
        order = sorted(toggles, key=lambda arc: (-toggles[arc], -top[arc[1]], arc[1], arc[0]))
        moves = [(toggles[x, y], changed_at(now, {y: now[y] ^ {x}})) for x, y in order]
        for y, before in enumerate(now):
            for x in sorted(before):
                if (y, x) in toggles:
                    after = changed_at(now, {y: before - {x}, x: now[x] | {y}})
                    moves.append((toggles[x, y] + toggles[y, x], after))
        moves.sort(key=lambda move: -move[0])
        move = next((m for m in moves if m[1] not in recent and is_acyclic(m[1])), None)
        if move is None:
            break
        total += move[0]
        now = move[1]
        recent.append(now)
        trace.append((sum(map(len, now)), total))
        stale += 1
        if total > best + score.rounding:
            found, best, stale = now, total, 0
    return found, trace


# --- greedy equivalence search ----------------------------------------------------------------------------------------


def is_blocked(graph: PartlyDirected, x: int, y: int, clique: frozenset[int]) -> bool:
    """Whether every semi-directed path from y to x passes through the clique."""
    steps: nx.DiGraph[int] = nx.DiGraph()
    steps.add_nodes_from(range(graph.n))
    steps.add_edges_from(graph.arcs())
    for a, b in graph.edges():
        steps.add_edges_from([(a, b), (b, a)])
    steps.remove_nodes_from(clique)
    return not nx.has_path(steps, y, x)


def insertions(graph: PartlyDirected, score: Score, y: int, max_parents: int) -> Iterator[Operator]:
    """All valid insertions of arcs into y."""
    for clique in cliques(graph, graph.neighbours[y]):
        base = clique | graph.parents[y]
        for x in range(graph.n):
            common = graph.neighbours[y] & graph.adjacent(x)
            if x == y or graph.are_adjacent(x, y) or not common <= clique or len(base) >= max_parents:
                continue
            if is_blocked(graph, x, y, clique):
                gain = score.family(y, base | {x}) - score.family(y, base)
                yield Operator(gain, x, y, clique - common, clique)


def deletions(graph: PartlyDirected, score: Score, y: int, max_parents: int) -> Iterator[Operator]:
    """All deletions of arcs into y and of edges at y."""
    del max_parents
    for x in sorted(graph.neighbours[y] | graph.parents[y]):
        common = graph.neighbours[y] & graph.adjacent(x)
        for clique in cliques(graph, common):
            rest = (clique | graph.parents[y]) - {x}
            gain = score.family(y, rest) - score.family(y, rest | {x})
            yield Operator(gain, x, y, frozenset(common - clique))


def after(graph: PartlyDirected, operator: Operator) -> PartlyDirected:
    """The completed graph after an operator, made of the whole graph."""
    x, y = operator.x, operator.y
    changed = graph.copy()
    if operator.blocking is not None:
        changed.add_arc(x, y)
        for t in operator.others:
            changed.orient(t, y)
    else:
        changed.remove(x, y)
        for h in operator.others:
            changed.orient(y, h)
            if h in changed.neighbours[x]:
                changed.orient(x, h)
    parents = extension(changed)
    assert parents is not None
    return cpdag(parents)


@cache
def class_of(arcs: frozenset[Arc], edges: frozenset[Arc], n: int) -> tuple[PartlyDirected, ...]:
    """All graphs of a class."""
    return tuple(members(made(n, arcs, edges)))


def reversed_members(graph: PartlyDirected, x: int, y: int) -> Iterator[tuple[frozenset[int], PartlyDirected]]:
    """The graphs of a class, with y → x turned, in which no neighbour of x is its parent; and the new parents of y."""
    for dag in class_of(frozenset(graph.arcs()), frozenset(graph.edges()), graph.n):
        if dag.parents[x] & graph.neighbours[x]:
            continue
        turned = dag.copy()
        turned.remove(x, y)
        turned.add_arc(x, y)
        if nx.is_directed_acyclic_graph(nx.DiGraph(turned.arcs())):
            yield frozenset(dag.parents[y] & graph.neighbours[y]), turned


def reversals(graph: PartlyDirected, score: Score, y: int, max_parents: int) -> Iterator[tuple[float, PartlyDirected]]:
    """The gains of all reversals of arcs y → x, and the classes they lead to."""
    for x in sorted(graph.children[y]):
        possible: dict[frozenset[int], PartlyDirected] = {}
        for clique, dag in reversed_members(graph, x, y):
            if graph.neighbours[y] & graph.adjacent(x) <= clique:
                assert possible.setdefault(clique, cpdag(dag.parents)) == cpdag(dag.parents)
        for clique in cliques(graph, graph.neighbours[y]):
            base = clique | graph.parents[y]
            if clique in possible and len(base) < max_parents:
                above = graph.parents[x]
                gain = score.family(x, above - {y}) - score.family(x, above)
                yield gain + score.family(y, base | {x}) - score.family(y, base), possible[clique]


def plain_ges(score: Score, max_parents: int, turning: bool = False) -> tuple[PartlyDirected, Trace]:
    """GES: of operators with the same gain, that of the first target comes first. Turning is slow in large classes."""
    n = len(score.variables)
    graph = PartlyDirected(n)
    total = score.total(graph.parents)
    trace: Trace = []
    again = True
    while again:
        again = False
        for operators in (insertions, deletions, reversals) if turning else (insertions, deletions):
            while True:
                every = [move for y in range(n) for move in moves(graph, score, y, max_parents, operators)]
                gain, following = max(every, key=lambda move: move[0], default=(0.0, graph))
                if gain <= score.rounding:
                    break
                again = again or operators is reversals
                graph = following if isinstance(following, PartlyDirected) else after(graph, following)
                total += gain
                trace.append((len(graph.arcs()) + len(graph.edges()), total))
    return graph, trace


def moves(
    graph: PartlyDirected, score: Score, y: int, max_parents: int, operators: Callable[..., Iterator[Any]]
) -> Iterator[tuple[float, Operator | PartlyDirected]]:
    """The gains of operators at y, and the operators or the classes that they lead to."""
    for one in operators(graph, score, y, max_parents):
        yield (one.gain, one) if isinstance(one, Operator) else one
