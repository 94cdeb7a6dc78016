"""The figures by which the defaults of `serape.network` were chosen (docs/networks.md)."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator

import numpy as np

import serape
from benchmarks.common.internals import G2, orient, pc_skeleton

OTHERS = ("alarm", "child", "insurance", "win95pts", "hepar2", "water", "mildew", "asia", "sachs")


Samples = Callable[[tuple[str, ...], range], Iterable[tuple[serape.Network, serape.Table]]]


def samples(names: tuple[str, ...], seeds: range) -> Iterator[tuple[serape.Network, serape.Table]]:
    """Yield networks with samples of 500 and 5,000 rows."""
    for name in names:
        network = serape.load_network(name)
        for rows in (500, 5000):
            for seed in seeds:
                yield network, network.sample(rows, seed)


def quick_samples(names: tuple[str, ...], seeds: range) -> Iterator[tuple[serape.Network, serape.Table]]:
    """Yield one sample of the smallest network."""
    del names
    network = serape.load_network("asia")
    yield network, network.sample(500, seeds[0])


def print_means(name: str, found: list[serape.GraphComparison]) -> None:
    """Print the means of a rule."""
    measures = ("shd", "skeleton_precision", "skeleton_recall", "arrow_precision", "arrow_recall")
    means = [np.mean([getattr(c, measure) for c in found]) for measure in measures]
    print(f"{name}: {means[0]:.1f} | edges {means[1]:.3f} {means[2]:.3f} | arrows {means[3]:.3f} {means[4]:.3f}")


def colliders(samples: Samples) -> None:
    """PC-stable's skeleton: colliders by the separating test alone, ranked by the second test, or by both tests."""
    found: dict[str, list[serape.GraphComparison]] = {
        "once, surest separation first": [],
        "ranked by the second": [],
        "twice": [],
    }
    for network, table in samples((*OTHERS, "hailfinder"), range(21, 25)):
        search = serape.Search(G2(table, "adjusted"), max_conditioning=3)
        skeleton = pc_skeleton(search, table.varying)
        neighbours = [skeleton.neighbours.get(x, set()) for x in range(len(table.names))]

        def second(x: int, z: int, y: int) -> float | None:
            outcome = search.ask(x, y, (*(skeleton.separating_set(x, y) or ()), z))  # noqa: B023
            return None if outcome is None else -outcome.log_p

        def ranked(x: int, z: int, y: int) -> float | None:
            sure = second(x, z, y)
            return -1e300 if sure is None else sure

        def twice(x: int, z: int, y: int) -> float | None:
            sure = second(x, z, y)
            return None if sure is None or sure < -search.log_alpha else sure  # noqa: B023

        def once(x: int, z: int, y: int) -> float | None:
            del z
            return search.repeat(x, y, skeleton.separating_set(x, y) or ()).log_p  # noqa: B023

        for name, rule in zip(found, (once, ranked, twice), strict=True):
            graph = orient(len(neighbours), neighbours, skeleton.separating_set, rule, table.names).graph
            found[name].append(serape.compare_graphs(graph.to_networkx(table.names), network))
    for name, comparisons in found.items():
        print_means(name, comparisons)


def limit(samples: Samples) -> None:
    """Conditioning sets of at most 2, 3, 4 members, or any number."""
    for algorithm in ("pc-stable", "hiton-pc", "mmhc"):
        for largest in (2, 3, 4, None):
            found = [
                serape.network(table, algorithm, max_conditioning=largest).compare(network)
                for network, table in samples(OTHERS, range(21, 23))
            ]
            print_means(f"{algorithm}, {'no bound' if largest is None else f'at most {largest}'}", found)


def scores(samples: Samples) -> None:
    """BDeu with several equivalent sample sizes, and BIC."""
    networks = ("child", "win95pts", "hepar2", "water", "mildew")
    for algorithm in ("mmhc", "h2pc", "ges", "tabu"):
        for score, size in (("bdeu", 1.0), ("bdeu", 5.0), ("bdeu", 10.0), ("bic", 1.0)):
            found = [
                serape.network(table, algorithm, score=score, equivalent_sample_size=size).compare(network)
                for network, table in samples(networks, range(11, 13))
            ]
            print_means(f"{algorithm}, {score}{f' {size:g}' if score == 'bdeu' else ''}", found)


CHOICES = {"colliders": colliders, "limit": limit, "scores": scores}


def options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("choice", choices=CHOICES)


def run(options: argparse.Namespace) -> None:
    """Compare settings of `serape.network`: mean distances from the truth.

    colliders: one or two tests for a collider. limit: the largest conditioning set. scores: BDeu with several
    equivalent sample sizes, and BIC.
    """
    CHOICES[options.choice](quick_samples if options.quick else samples)
