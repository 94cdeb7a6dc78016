"""Why the edges of a local graph have their directions, in words.

The arcs that the tests and knowledge show are the first ones; Meek's rules explain the others, one after another. Only
arcs of the finished graph are explained, so contradictions that were dropped play no part.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from serape.structure.graphs import Arc
from serape.structure.local_graph import LocalGraph


def reasons(local: LocalGraph) -> dict[Arc, str]:
    """Return, for every arc of a local graph, why it has this direction."""
    arcs = local.arcs()
    known = {arc: text for arc in arcs if (text := _shown(local, *arc))}
    rest = [arc for arc in arcs if arc not in known]
    while rest:
        follow = {arc: text for arc in rest if (text := next(_by_rules(local, known, *arc), ""))}
        if not follow:
            break
        known.update(follow)
        rest = [arc for arc in rest if arc not in known]
    return known


def _shown(local: LocalGraph, x: int, y: int) -> str:
    """Return how knowledge or a test shows x → y, or an empty text."""
    if local.knowledge is not None and local.knowledge.direction(x, y) == (x, y):
        return f"knowledge allows no arc from {local.names[y]} to {local.names[x]}"
    if (x, y) in local.shown:
        return local.shown[x, y][1]
    for z in sorted(local.neighbours(y)):
        separating = None if z == x or local.are_adjacent(x, z) else local.separating_set(x, z)
        if separating is not None and y not in separating and y in local.children(z) and local.depends(x, y, z):
            return local.collider_text(x, y, z)
    return ""


def _by_rules(local: LocalGraph, known: dict[Arc, str], x: int, y: int) -> Iterator[str]:
    """Return how x → y follows from arcs that are explained, by Meek's rules."""
    names = local.names
    near_x, near_y = local.neighbours(x), local.neighbours(y)
    for w in sorted(near_x - near_y - {y}):
        if (w, x) in known and x in (local.separating_set(w, y) or ()):
            yield f"{_arc(names, w, x)}, and {names[x]} is not a common effect of {names[w]} and {names[y]}"
    for w in sorted(near_x & near_y):
        if (x, w) in known and (w, y) in known:
            yield f"{_arc(names, x, w)} and {_arc(names, w, y)}, and there is no directed cycle"
    into = [w for w in sorted(near_x & near_y) if (w, y) in known]
    for v, w in combinations(into, 2):
        if not local.are_adjacent(v, w) and x in (local.separating_set(v, w) or ()):
            yield (
                f"{_arc(names, v, y)} and {_arc(names, w, y)}, and {names[x]} is adjacent to both but not their common "
                f"effect"
            )
    for w in into:
        for u in sorted((near_x & local.neighbours(w)) - near_y - {y}):
            if (u, w) in known and x in (local.separating_set(u, y) or ()):
                yield (
                    f"{_arc(names, u, w)} and {_arc(names, w, y)}, and {names[x]} is not a common effect of "
                    f"{names[u]} and {names[y]}"
                )


def _arc(names: Sequence[str], x: int, y: int) -> str:
    return f"{names[x]} → {names[y]}"
