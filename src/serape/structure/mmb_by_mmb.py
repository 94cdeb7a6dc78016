"""MMB-by-MMB: causes, effects and hidden common causes of a target, from one blanket after another.

Xie, Li, Wu, Zeng, Liu and Geng, *Local causal structure learning in the presence of latent variables*, ICML 2024.

Finds the marks of the target's edges in the partial ancestral graph (PAG) of the observed variables. Sound: with
perfect tests and blankets of the ancestral graph, these are the marks of the PAG of all variables. Blankets are learned
as by MB-by-MB, along edges with a circle; the rules of FCI (`pag`) take the place of Meek's.

- Members of the blanket of X that a subset of the blanket separates from X are not adjacent to it.
- If Z separates X and S, and they depend on each other given Z and a neighbour C of X, then C is no cause of X: X *→ C.
- If X *–* Z *–* Y, X and Y are not adjacent, and Z is not in the set that separates them: X *→ Z ←* Y.

The paper ends when no path of edges with circles leads on. A rule may then still need edges of other variables: those
of a discriminating path (rule 4), and of the paths of rules 9 and 10. Here their blankets are learned too, as long as
a mark of the target is a circle; with `published`, they are not.

See docs/papers.md: Xie et al. 2024.
"""

from __future__ import annotations

from serape.structure.local_graph import LocalGraph
from serape.structure.pag import PartialAncestralGraph


def mmb_by_mmb(local: LocalGraph, target: int, published: bool = False) -> PartialAncestralGraph:
    """Learn blankets around the target until its edges have no circle, or no blanket would tell more."""
    local.expand(target)
    while True:
        graph = local_pag(local)
        if not has_circles(graph, target):
            return graph
        waiting = [x for x in joined_by_circles(local, graph, target) if x not in local.expanded]
        if not waiting and not published:
            waiting = local.by_name(graph.wanted)
        if not waiting:
            return graph
        local.expand(waiting[0])


def local_pag(local: LocalGraph) -> PartialAncestralGraph:
    """Return the graph of what is known, with all marks that follow."""
    names = local.names
    graph = PartialAncestralGraph(local.expanded, names.__getitem__)
    for x in local.variables:
        graph.near[x] = set()
    for x in local.variables:
        for y in local.neighbours(x):
            if x < y:
                graph.add_edge(x, y)
    for (x, c), (_, why) in local.shown.items():
        if (x, c) in graph.mark:
            graph.set(x, c, ">", why)
    for z in graph.near:
        for x in sorted(graph.near[z]):
            for y in sorted(graph.near[z]):
                if x < y and graph.apart(x, y) and local.is_collider(x, z, y):
                    why = local.collider_text(x, z, y)
                    graph.set(x, z, ">", why)
                    graph.set(y, z, ">", why)

    def separates(x: int, z: int, y: int) -> bool | None:
        given = local.separating_set(x, y)
        return None if given is None else z in given

    graph.orient(separates)
    return graph


def has_circles(graph: PartialAncestralGraph, x: int) -> bool:
    """Return whether an edge of a node has a circle."""
    return any("o" in (graph.mark[x, y], graph.mark[y, x]) for y in graph.near[x])


def joined_by_circles(local: LocalGraph, graph: PartialAncestralGraph, target: int) -> list[int]:
    """Return the target and the nodes that edges with circles join to it, the nearest first."""
    reached = [target]
    for x in reached:  # the list grows during the loop
        reached += [
            y for y in local.by_name(graph.near[x]) if y not in reached and "o" in (graph.mark[x, y], graph.mark[y, x])
        ]
    return reached
