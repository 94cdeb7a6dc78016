"""Random knowledge about positions, whatever the graph, and whether a DAG obeys it."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from serape.knowledge import BoundKnowledge


def random_bounds(random: np.random.Generator, n: int) -> BoundKnowledge:
    """Draw knowledge that does not contradict itself, of every form or of some."""
    order = [int(x) for x in random.permutation(n)]
    place = {x: k for k, x in enumerate(order)}
    pairs = [(x, y) for x in range(n) for y in range(n) if x != y]
    required = [(x, y) for x, y in pairs if place[x] < place[y] and random.random() < random.choice([0.0, 0.2])]
    tiers: list[list[int]] = []
    if random.random() < 0.6:
        cut = sorted(int(k) for k in random.integers(n + 1, size=2))
        tiers = [order[: cut[0]], order[cut[0] : cut[1]], order[cut[1] :]]
        if random.random() < 0.5:
            tiers = [[x for x in tier if random.random() < 0.6] for tier in tiers]
    joined = {frozenset(arc) for arc in required}
    return BoundKnowledge(
        required,
        [(x, y) for x, y in pairs if (x, y) not in required and random.random() < 0.15],
        tiers,
        [(x, y) for x, y in pairs if frozenset((x, y)) not in joined and random.random() < 0.05],
    )


def obeys(knowledge: BoundKnowledge, parents: Sequence[Collection[int]]) -> bool:
    """Whether a DAG has all required arcs and no forbidden one."""
    return all(knowledge.allows(x, y) for y, above in enumerate(parents) for x in above) and all(
        x in parents[y] for x, y in knowledge.required
    )
