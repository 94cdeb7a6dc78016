"""Ancestral graphs, plainly: the MAG of a DAG with hidden nodes, its PAG by FCI's rules, and the PAG of all MAGs.

Slow and simple. Marks are a dict: `marks[x, y]` is the mark at y of the edge between x and y: ">", "-" or "o".
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import combinations, permutations, product
from typing import Any

import networkx as nx

Marks = dict[tuple[Any, Any], str]


def separated(dag: nx.DiGraph[Any], x: Any, y: Any, given: Collection[Any]) -> bool:
    """Return whether a set d-separates two nodes: by the moral graph of the ancestors."""
    kept = {x, y, *given}
    kept |= {a for node in list(kept) for a in nx.ancestors(dag, node)}
    moral: nx.Graph[Any] = nx.Graph()
    moral.add_nodes_from(kept)
    for node in kept:
        parents = list(dag.predecessors(node))
        moral.add_edges_from((parent, node) for parent in parents)
        moral.add_edges_from(combinations(parents, 2))
    moral.remove_nodes_from(given)
    return not nx.has_path(moral, x, y)


def mag_of(dag: nx.DiGraph[Any], hidden: Collection[Any]) -> Marks:
    """Return the maximal ancestral graph of the observed nodes.

    Two are adjacent if their observed ancestors do not separate them; an end has a tail if it is an ancestor of the
    other.
    """
    above = {node: nx.ancestors(dag, node) for node in dag}
    marks: Marks = {}
    for x, y in combinations([node for node in dag if node not in hidden], 2):
        if not separated(dag, x, y, (above[x] | above[y]) - {x, y} - set(hidden)):
            for a, b in ((x, y), (y, x)):
                marks[a, b] = "-" if b in above[a] else ">"
    return marks


def nodes_of(marks: Marks) -> set[Any]:
    """Return the nodes that have an edge."""
    return {x for pair in marks for x in pair}


def ancestors_in(marks: Marks) -> dict[Any, set[Any]]:
    """Return the ancestors of every node of a MAG."""
    arcs: nx.DiGraph[Any] = nx.DiGraph([(x, y) for (x, y), m in marks.items() if m == ">" and marks[y, x] == "-"])
    arcs.add_nodes_from(nodes_of(marks))
    return {node: nx.ancestors(arcs, node) for node in arcs}


def pag_of(mag: Marks) -> Marks:
    """Return the PAG of a MAG: circles, unshielded colliders, then Zhang's rules 1 to 4 and 8 to 10 until none applies.

    The observed ancestors of two nodes that are not adjacent separate them in the MAG.
    """
    above = ancestors_in(mag)
    marks: Marks = dict.fromkeys(mag, "o")
    nodes = sorted(nodes_of(mag))

    def inside(x: Any, z: Any, y: Any) -> bool:
        return z in above[x] | above[y]

    for x, z, y in permutations(nodes, 3):
        if (x, z) in marks and (y, z) in marks and (x, y) not in marks and not inside(x, z, y):
            marks[x, z] = marks[y, z] = ">"
    while True:
        before = dict(marks)
        _apply(marks, nodes, inside)
        if marks == before:
            return marks


def _arc(marks: Marks, x: Any, y: Any) -> bool:
    return marks.get((x, y)) == ">" and marks[y, x] == "-"


def _apply(marks: Marks, nodes: Sequence[Any], inside: Any) -> None:
    for a, b, c in permutations(nodes, 3):
        if {(a, b), (b, c)} <= marks.keys():
            if marks[a, b] == ">" and marks[c, b] == "o" and (a, c) not in marks:  # rule 1
                marks[c, b], marks[b, c] = "-", ">"
            tail = "-" in (marks[b, a], marks[c, b])
            if marks.get((a, c)) == "o" and marks[a, b] == marks[b, c] == ">" and tail:  # rule 2
                marks[a, c] = ">"
            through = _arc(marks, a, b) and _arc(marks, b, c)
            if marks.get((a, c)) == ">" and marks[c, a] == "o" and through:  # rule 8
                marks[c, a] = "-"
    for a, b, c, d in permutations(nodes, 4):
        collider = marks.get((a, b)) == marks.get((c, b)) == ">" and (a, c) not in marks
        if collider and marks.get((a, d)) == marks.get((c, d)) == marks.get((d, b)) == "o":  # rule 3
            marks[d, b] = ">"
    for b, c in permutations(nodes, 2):
        if marks.get((c, b)) == "o":
            for path in discriminating_paths(marks, nodes, b, c):  # rule 4
                d, a = path[0], path[-1]
                if inside(d, b, c):
                    marks[c, b], marks[b, c] = "-", ">"
                else:
                    marks[a, b] = marks[b, a] = marks[b, c] = marks[c, b] = ">"
                break
    for a, c in permutations(nodes, 2):
        if marks.get((a, c)) == ">" and marks[c, a] == "o":
            if any((path[1], c) not in marks for path in open_paths(marks, a, c) if len(path) > 2):  # rule 9
                marks[c, a] = "-"
                continue
            parents = [b for b in nodes if b != a and _arc(marks, b, c)]
            firsts = {b: {path[1] for path in open_paths(marks, a, b) if path[1] != c} for b in parents}
            for b, d in permutations(parents, 2):  # rule 10
                if any(m != w and (m, w) not in marks for m in firsts[b] for w in firsts[d]):
                    marks[c, a] = "-"


def discriminating_paths(marks: Marks, nodes: Sequence[Any], b: Any, c: Any) -> Iterator[list[Any]]:
    """Return the parts d … a of discriminating paths d, …, a, b, c."""

    def extend(path: list[Any]) -> Iterator[list[Any]]:  # from a backwards
        first = path[0]
        for d in nodes:
            if d in path or d in (b, c) or marks.get((d, first)) != ">":
                continue
            if (d, c) not in marks:
                yield [d, *path]
            elif _arc(marks, d, c) and marks[first, d] == ">":
                yield from extend([d, *path])

    for a in nodes:
        if a not in (b, c) and marks.get((b, a)) == ">" and _arc(marks, a, c):
            yield from extend([a])


def open_paths(marks: Marks, start: Any, end: Any) -> Iterator[list[Any]]:
    """Return the uncovered, possibly directed paths between two nodes."""

    def extend(path: list[Any]) -> Iterator[list[Any]]:
        last = path[-1]
        if last == end:
            yield path
            return
        for x, y in list(marks):
            possible = x == last and y not in path and marks[y, x] != ">" and marks[x, y] != "-"
            if possible and (len(path) < 2 or (path[-2], y) not in marks):
                yield from extend([*path, y])

    yield from extend([start])


# --- all ancestral graphs of a few nodes ------------------------------------------------------------------------------


def m_separated(marks: Marks, nodes: Sequence[Any], x: Any, y: Any, given: Collection[Any]) -> bool:
    """Return whether a set m-separates two nodes of an ancestral graph: by the DAG with a hidden cause for every ↔."""
    return separated(canonical_dag(marks, nodes), x, y, given)


def canonical_dag(marks: Marks, nodes: Sequence[Any]) -> nx.DiGraph[Any]:
    """Return a DAG with hidden nodes (pairs) that has the independences of an ancestral graph."""
    dag: nx.DiGraph[Any] = nx.DiGraph()
    dag.add_nodes_from(nodes)
    for x, y in combinations(nodes, 2):
        if (x, y) in marks:
            if marks[x, y] == marks[y, x] == ">":
                dag.add_edges_from([((x, y), x), ((x, y), y)])
            else:
                dag.add_edge(*((x, y) if marks[x, y] == ">" else (y, x)))
    return dag


def all_mags(nodes: Sequence[Any]) -> Iterator[Marks]:
    """Return all maximal ancestral graphs without undirected edges over some nodes."""
    pairs = list(combinations(nodes, 2))
    for kinds in product(("", "->", "<-", "<>"), repeat=len(pairs)):
        marks: Marks = {}
        for (x, y), kind in zip(pairs, kinds, strict=True):
            if kind:
                marks[x, y] = ">" if kind[1] == ">" else "-"
                marks[y, x] = ">" if kind[0] == "<" else "-"
        dag = canonical_dag(marks, nodes)
        if nx.is_directed_acyclic_graph(dag) and mag_of(dag, [node for node in dag if node not in nodes]) == marks:
            yield marks
