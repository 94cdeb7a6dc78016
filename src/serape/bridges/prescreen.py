"""A region as a first screen for other tools: its columns, and the pairs that are known not to be adjacent."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

from serape.errors import InputTypeError
from serape.knowledge import Knowledge

if TYPE_CHECKING:
    import networkx as nx


def prescreened(region: nx.Graph[str], knowledge: Knowledge | None = None) -> tuple[list[str], Knowledge]:
    """Return the columns of a region and the knowledge about them, for a search with another tool.

    Two columns that the search has found not to be adjacent are a forbidden pair. About two columns at the full depth
    nothing is known, nor about any pair if the search was not complete.

    Parameters
    ----------
    region
        What `serape.region` returns.
    knowledge
        What else is known; it is added as far as it is about these columns.

    Returns
    -------
    tuple
        The columns, the nearest first, and a `Knowledge`.

    Examples
    --------
    >>> found = serape.region(patients, "HeartDisease", depth=2, alpha=0.01)
    >>> columns, known = serape.bridges.prescreened(found)
    >>> columns[0], ("Smoking", "ECG") in known.forbidden_pairs
    ('HeartDisease', True)
    """
    import networkx as nx

    if not isinstance(region, nx.Graph) or "depth" not in region.graph:
        raise InputTypeError("the columns are handed over from a region; pass what serape.region returns")
    distance: dict[str, int] = nx.get_node_attributes(region, "distance")
    columns = sorted(distance, key=distance.__getitem__)
    depth = region.graph["depth"]
    own = Knowledge() if knowledge is None else Knowledge.of(knowledge)

    def inside(pairs: tuple[tuple[str, str], ...]) -> list[tuple[str, str]]:
        return [(a, b) for a, b in pairs if a in distance and b in distance]

    required = inside(tuple(own.required))
    needed = {frozenset(arc) for arc in required}
    apart = [
        (a, b)
        for a, b in combinations(columns, 2)
        if region.graph["complete"]
        and distance[a] < depth
        and not region.has_edge(a, b)
        and frozenset((a, b)) not in needed
    ]
    tiers = [[name for name in tier if name in distance] for tier in own.tiers]
    forbidden_pairs = [*dict.fromkeys([*inside(tuple(own.forbidden_pairs)), *apart])]
    return columns, Knowledge(required, inside(tuple(own.forbidden)), [t for t in tiers if t], forbidden_pairs)
