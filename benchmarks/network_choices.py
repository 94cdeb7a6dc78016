"""What the defaults of `serape.network` were chosen by (docs/networks.md): mean distances from the truth.

python benchmarks/network_choices.py colliders    asking once or twice whether a triple is a collider
python benchmarks/network_choices.py limit        largest conditioning set
python benchmarks/network_choices.py scores       BDeu with several equivalent sample sizes, BIC
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

import numpy as np

import serape
from serape.independence import G2
from serape.results.graph_comparison import GraphComparison
from serape.structure.orientation import orient
from serape.structure.pc import pc_skeleton

OTHERS = ("alarm", "child", "insurance", "win95pts", "hepar2", "water", "mildew", "asia", "sachs")


def samples(names: tuple[str, ...], seeds: range) -> Iterator[tuple[serape.Network, serape.Table]]:
    """Yield networks with samples of 500 and 5,000 rows."""
    for name in names:
        network = serape.load_network(name)
        for rows in (500, 5000):
            for seed in seeds:
                yield network, network.sample(rows, seed)


def told(name: str, found: list[GraphComparison]) -> None:
    """Print the means of a rule."""
    measures = ("shd", "skeleton_precision", "skeleton_recall", "arrow_precision", "arrow_recall")
    means = [np.mean([getattr(c, measure) for c in found]) for measure in measures]
    print(f"{name}: {means[0]:.1f} | edges {means[1]:.3f} {means[2]:.3f} | arrows {means[3]:.3f} {means[4]:.3f}")


def colliders() -> None:
    """PC-stable's skeleton: colliders by the separating test alone, ranked by the second test, or asking for both."""
    found: dict[str, list[GraphComparison]] = {
        "once, surest separation first": [],
        "ranked by the second": [],
        "twice": [],
    }
    for network, table in samples((*OTHERS, "hailfinder"), range(21, 25)):
        search = serape.Search(G2(table, "adjusted"), max_conditioning=3)
        bones = pc_skeleton(search, table.varying)
        near = [bones.neighbours.get(x, set()) for x in range(len(table.names))]

        def second(x: int, z: int, y: int) -> float | None:
            outcome = search.ask(x, y, (*(bones.separating_set(x, y) or ()), z))  # noqa: B023
            return None if outcome is None else -outcome.log_p

        def ranked(x: int, z: int, y: int) -> float | None:
            sure = second(x, z, y)
            return -1e300 if sure is None else sure

        def twice(x: int, z: int, y: int) -> float | None:
            sure = second(x, z, y)
            return None if sure is None or sure < -search.log_alpha else sure  # noqa: B023

        def once(x: int, z: int, y: int) -> float | None:
            del z
            return bones.separations[frozenset((x, y))][0]  # noqa: B023

        for name, rule in zip(found, (once, ranked, twice), strict=True):
            graph = orient(len(near), near, bones.separating_set, rule, table.names).graph
            found[name].append(serape.compare_graphs(graph.to_networkx(table.names), network))
    for name, comparisons in found.items():
        told(name, comparisons)


def limit() -> None:
    """Conditioning sets of at most 2, 3, 4 members, or any number."""
    for algorithm in ("pc-stable", "hiton-pc", "mmhc"):
        for most in (2, 3, 4, None):
            found = [
                serape.network(table, algorithm, max_conditioning=most).compare(network)
                for network, table in samples(OTHERS, range(21, 23))
            ]
            told(f"{algorithm}, {'no bound' if most is None else f'at most {most}'}", found)


def scores() -> None:
    """Scores, and what BDeu takes its prior to be worth."""
    networks = ("child", "win95pts", "hepar2", "water", "mildew")
    for algorithm in ("mmhc", "h2pc", "ges", "tabu"):
        for score, size in (("bdeu", 1.0), ("bdeu", 5.0), ("bdeu", 10.0), ("bic", 1.0)):
            found = [
                serape.network(table, algorithm, score=score, equivalent_sample_size=size).compare(network)
                for network, table in samples(networks, range(11, 13))
            ]
            told(f"{algorithm}, {score}{f' {size:g}' if score == 'bdeu' else ''}", found)


if __name__ == "__main__":
    choices = {"colliders": colliders, "limit": limit, "scores": scores}
    if sys.argv[1:2] and sys.argv[1] in choices:
        choices[sys.argv[1]]()
    else:
        print(__doc__)
