"""The true edges of a target in a graph, also where nodes are hidden: what searches for counterexamples expect."""

from __future__ import annotations

from typing import TYPE_CHECKING

from serape.independence import DSeparation

if TYPE_CHECKING:
    import networkx as nx


def oracle_of(graph: nx.DiGraph[str], order: tuple[str, ...]) -> DSeparation:
    """Return the oracle of a graph in which the nodes that are not in the order are hidden."""
    return DSeparation(graph, order, hidden=[node for node in graph if node not in order])


def ancestral_edges(graph: nx.DiGraph[str], order: tuple[str, ...], target: str) -> dict[str, str]:
    """Return the edges of a target in the ancestral graph of the observed nodes, by neighbour, read from it.

    Two are adjacent if their observed ancestors do not separate them.
    """
    import networkx as nx

    oracle, at = oracle_of(graph, order), order.index(target)
    above = {node: nx.ancestors(graph, node) for node in order}
    edges = {}
    for x, name in enumerate(order):
        given = [z for z, node in enumerate(order) if node in above[name] | above[target] and z not in (x, at)]
        if name != target and oracle.test(x, at, given).p < 1:
            edges[name] = "→" if name in above[target] else "←" if target in above[name] else "↔"
    return edges


def fits(mark: str, true: str) -> bool:
    """Return whether the decided ends of an edge are those of the true one; a circle is not decided."""
    ends = {"→": "->", "←": ">-", "↔": ">>", "o→": "o>", "←o": ">o", "o–o": "oo", "–o": "-o", "o–": "o-", "–": "--"}
    return all(a in ("o", b) for a, b in zip(ends[mark], ends[true], strict=True))


def edges_at(graph: nx.DiGraph[str], target: str) -> tuple[str, ...]:
    """Return the edges of a node of a partly directed graph as text."""
    into, out = set(graph.predecessors(target)), set(graph.successors(target))
    return (
        *(f"{x}→{target}" for x in sorted(into - out)),
        *(f"{target}→{x}" for x in sorted(out - into)),
        *(f"{target}–{x}" for x in sorted(into & out)),
    )
