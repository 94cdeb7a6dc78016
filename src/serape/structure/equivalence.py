"""The equivalence class of a DAG, with background knowledge, and one member of a class.

Knowledge directs edges of a completed graph (CPDAG), and Meek's rules direct those that follow. The result has the arcs
that all equivalent DAGs that agree with the knowledge have in common.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from serape.knowledge import BoundKnowledge
from serape.structure.graphs import PartlyDirected, TopologicalOrder, cpdag, extension, meek, some_dag
from serape.structure.scores import Score

_SAME = 1e-6
"""Scores of equivalent families that differ by no more are equal, however a score of the user's is computed."""


def equivalence_class(
    dag_parents: Sequence[Collection[int]], knowledge: BoundKnowledge | None = None
) -> PartlyDirected:
    """Return the graph with the arcs in which all equivalent DAGs agree that agree with the knowledge.

    Knowledge that contradicts an arc of the DAG does not direct that arc.
    """
    graph = cpdag(dag_parents)
    if knowledge is not None and knowledge.has_orientations:
        for x, y in graph.edges():
            arc = knowledge.direction(x, y)
            if arc is not None and arc[0] in dag_parents[arc[1]]:
                graph.orient(*arc)
        meek(graph)
    return graph


def agreeing_member(found: PartlyDirected, knowledge: BoundKnowledge) -> list[set[int]] | None:
    """Return the parents in a member of a class, or in one DAG, that agrees with the knowledge; None if none does."""
    graph = found.copy()
    order = TopologicalOrder(graph)
    for x, y in graph.edges():
        arc = knowledge.direction(x, y)
        if arc is None:
            continue
        if not order.admits(*arc):  # it would close a cycle
            return None
        graph.orient(*arc)
    meek(graph)
    parents = extension(graph)
    if parents is None or any(x not in parents[y] for x, y in knowledge.required):
        return None
    if found.edges() and cpdag(parents) != found:  # the directions that are known make another class
        return None
    allowed = all(knowledge.allows(x, y) for y, above in enumerate(parents) for x in above)
    return parents if allowed else None


def completed(graph: PartlyDirected, knowledge: BoundKnowledge | None = None) -> PartlyDirected:
    """Return the equivalence class of a DAG, and any other graph unchanged."""
    is_dag = not graph.edges() and extension(graph) is not None
    return equivalence_class(graph.parents, knowledge) if is_dag else graph


def member(graph: PartlyDirected, names: Sequence[str], *, exact: bool = False) -> list[set[int]] | None:
    """Return the parents in a DAG of the class, the same for any order of the columns.

    If there is none, because arcs contradict each other, return None if `exact`, otherwise a DAG with the same skeleton
    and arcs.
    """
    order = sorted(range(graph.n), key=names.__getitem__)
    index = {x: k for k, x in enumerate(order)}
    by_name = graph.renumbered(order)
    found = extension(by_name) if exact else some_dag(by_name)
    return None if found is None else [{order[x] for x in found[index[y]]} for y in range(graph.n)]


def is_equivalent(score: Score, dag_parents: Sequence[Collection[int]]) -> bool:
    """Return whether a score does not change if an arc of the DAG that can be reversed within the class is reversed.

    These are the arcs x → y where the other parents of y are the parents of x (Chickering 1995).
    """
    if not score.equivalent:
        return False
    for y, parents in enumerate(dag_parents):
        for x in parents:
            rest = set(parents) - {x}
            if rest != set(dag_parents[x]):
                continue
            forward = score.family(x, rest) + score.family(y, {*rest, x})
            backward = score.family(y, rest) + score.family(x, {*rest, y})
            if abs(forward - backward) > max(4 * score.rounding, _SAME):
                return False
    return True
