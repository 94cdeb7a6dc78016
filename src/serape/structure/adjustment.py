"""Adjustment sets from the local structure around a variable.

The parents of X are a valid adjustment set for the effect of X on any Y that is not one of them (Pearl's back-door
criterion). Where the data do not decide which neighbours are parents, there is one set for every DAG of the class. They
are found without listing the DAGs: Maathuis, Kalisch and Bühlmann, *Estimating high-dimensional intervention effects
from observational data*, Annals of Statistics 37, 2009 (IDA). Some undirected neighbours are made parents of X and the
others children; this is possible if it makes X no new collider, that is, if the new parents are adjacent to each other
and to the known ones. With knowledge that is not enough, so the edges around must also have directions that agree with
it (Perković, Kalisch and Maathuis, UAI 2017): here, if the undirected part around X has a consistent extension.

The second condition is not used where edges around are not known, as by LDECC, which takes no directions from
knowledge. Nor is it used where no set satisfies it: on data, errors of tests can leave a graph that no DAG fits, such
as a cycle of four undirected edges.

See docs/papers.md: Maathuis et al. 2009; Perković et al. 2017.
"""

from __future__ import annotations

from collections.abc import Collection

from serape.structure.graphs import PartlyDirected, extension


def possible_parents(graph: PartlyDirected, x: int, expanded: Collection[int]) -> list[set[int]]:
    """Return the sets of parents that a variable has in the DAGs of a class, the smallest first; never none.

    The graph must have all edges between the neighbours of x. The expanded nodes are those all of whose edges it has.
    """
    around = _undirected_part(graph, x)
    known = graph.parents[x]
    no_new_collider = [
        new
        for new in _cliques(graph, sorted(graph.neighbours[x]))
        if all(graph.are_adjacent(a, b) for a in new for b in known)
    ]
    extensible = [new for new in no_new_collider if _extends(graph, x, new, around)] if {*around} <= {*expanded} else []
    found = [known | set(new) for new in extensible or no_new_collider]
    return sorted(found, key=lambda parents: (len(parents), sorted(parents)))


def _cliques(graph: PartlyDirected, nodes: list[int]) -> list[tuple[int, ...]]:
    """Return all sets of nodes that are adjacent to each other, also the empty set."""
    found: list[tuple[int, ...]] = [()]
    for clique in found:  # the list grows during the loop
        last = clique[-1] if clique else -1
        found += [(*clique, y) for y in nodes if y > last and all(graph.are_adjacent(y, z) for z in clique)]
    return found


def _undirected_part(graph: PartlyDirected, x: int) -> list[int]:
    reached = [x]
    for node in reached:  # the list grows during the loop
        reached += sorted(graph.neighbours[node].difference(reached))
    return sorted(reached)


def _extends(graph: PartlyDirected, x: int, parents: tuple[int, ...], around: list[int]) -> bool:
    """Return whether a DAG of the class has these of the undirected neighbours of x as parents, and no others."""
    index = {node: k for k, node in enumerate(around)}
    part = PartlyDirected(len(around))
    for node, k in index.items():
        part.parents[k] = {index[y] for y in graph.parents[node] if y in index}
        part.children[k] = {index[y] for y in graph.children[node] if y in index}
        part.neighbours[k] = {index[y] for y in graph.neighbours[node]}
    for y in graph.neighbours[x]:
        part.orient(*((index[y], index[x]) if y in parents else (index[x], index[y])))
    return extension(part) is not None
