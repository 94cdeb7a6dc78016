"""Runs algorithms, and options of algorithms, with a perfect test on many random DAGs, and counts wrong answers.

    python tests/oracle.py [--dags 20000] [--seed 0] [--only pcmb] [--jobs 16] [--knowledge]     (or: make oracle)

Each DAG has 4 to 9 nodes, one of three densities and a random order of columns; one random node is the target. The
first wrong answer of each variant is printed (with several jobs: of each part). With `--knowledge`, every sound
algorithm is asked every question with random knowledge that is true of the DAG (`informed.py`), and searches by score
with a perfect score.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from multiprocessing import get_context
from typing import Any

import networkx as nx
import numpy as np

import informed
import serape
from plain import random_dag
from serape.local.gll import GLL, Neighbourhood, at_the_end, by_association, max_min
from serape.local.registry import ALGORITHMS
from serape.results.comparison import true_members
from serape.types import Finds

BOTH: tuple[Finds, ...] = ("blanket", "parents-children")


@dataclass(frozen=True)
class Variant:
    """An algorithm with options, and the questions that it answers."""

    algorithm: Any
    options: dict[str, Any] = field(default_factory=dict)
    finds: tuple[Finds, ...] = BOTH
    name: str = ""
    superset: bool = False
    """Whether it finds parents and children, and possibly other descendants of the target."""

    def __str__(self) -> str:
        options = ", ".join(f"{name}={value}" for name, value in self.options.items())
        return (self.name or self.algorithm) + (f" ({options})" if options else "")

    def is_right(self, graph: nx.DiGraph[str], oracle: serape.DSeparation, target: str, finds: Finds) -> bool:
        """Return whether the answer about a target is exact, or, for a superset, within its bounds."""
        question = serape.markov_blanket if finds == "blanket" else serape.parents_children
        algorithm = self.algorithm
        if isinstance(algorithm, GLL):
            algorithm = algorithm.markov_blanket if finds == "blanket" else algorithm.parents_children
        found = set(question(oracle, target, algorithm=algorithm, **self.options).members)
        truth = true_members(graph, target, finds)
        if self.superset:
            return truth <= found <= truth | nx.descendants(graph, target)
        return found == truth


def with_everything(tpc: Neighbourhood) -> Iterable[int]:
    """Begin with all variables."""
    return map(int, tpc.search.candidates(tpc.target))


def with_every_other(tpc: Neighbourhood) -> Iterable[int]:
    """Begin with every other variable, the last first, also the target."""
    return range(len(tpc.search.variables) - 1, -1, -2)


VARIANTS = (
    *(
        Variant(name, {}, tuple(finds for finds in BOTH if algorithm.answers(finds)))
        for name, algorithm in ALGORITHMS.items()
        if algorithm.sound
    ),
    Variant("pcd", {}, ("parents-children",), superset=True),
    Variant("pcd", {"zero_dof": "independent"}, ("parents-children",), superset=True),
    Variant("pcmb", {"zero_dof": "independent"}),
    Variant("hpc", {"order": "as-written"}),
    Variant("hpc", {"unreliable": "independent"}),
    Variant("hpc", {"order": "as-written", "unreliable": "independent"}),
    Variant(GLL(by_association, start=with_everything), name="GLL by association, from all variables"),
    Variant(GLL(by_association, start=with_every_other), name="GLL by association, from every other variable"),
    Variant(
        GLL(max_min, interleaving=at_the_end, start=with_every_other), name="GLL max-min, from every other variable"
    ),
    Variant("iamb-npc", {}, ("blanket",)),
    Variant("inter-iamb-npc", {}, ("blanket",)),
)


def drawn(seed: int, numbers: Iterable[int]) -> Iterator[tuple[nx.DiGraph[str], serape.DSeparation, str]]:
    """Draw the DAGs of these numbers, each with an oracle in a random order of columns and a target."""
    for number in numbers:
        random = np.random.default_rng([seed, number])
        graph = random_dag(random, int(random.integers(4, 10)), float(random.choice([0.15, 0.3, 0.5])))
        order = [str(node) for node in random.permutation(list(graph))]
        yield graph, serape.DSeparation(graph, order), str(random.choice(order))


def hunt(variants: Iterable[Variant], seed: int, numbers: Iterable[int]) -> dict[str, int]:
    """Return how many answers of each variant are wrong, by question, on the DAGs of these numbers."""
    asked = {f"{variant}, {finds}": (variant, finds) for variant in variants for finds in variant.finds}
    wrong = dict.fromkeys(asked, 0)
    for graph, oracle, target in drawn(seed, numbers):
        for name, (variant, finds) in asked.items():
            if not variant.is_right(graph, oracle, target, finds):
                if wrong[name] == 0:
                    print(f"{name}: wrong for {target} on {list(graph.edges)} in the order {oracle.variables}")
                wrong[name] += 1
    return wrong


def hunt_part(options: argparse.Namespace, numbers: Sequence[int]) -> dict[str, int]:
    """Hunt on the DAGs of these numbers, as the command line asks."""
    if options.knowledge:
        return informed.hunt(numbers, options.seed, options.only)
    return hunt([v for v in VARIANTS if options.only in str(v)], options.seed, numbers)


def main() -> None:
    """Run all variants, or those of one name, and print how many answers are wrong."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--dags", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--knowledge", action="store_true")
    options = parser.parse_args()
    parts = [range(k, options.dags, 8 * options.jobs) for k in range(8 * options.jobs)]
    wrong: Counter[str] = Counter()
    if options.jobs == 1:
        wrong.update(hunt_part(options, range(options.dags)))
    else:
        with ProcessPoolExecutor(options.jobs, get_context("spawn")) as pool:
            for found in pool.map(hunt_part, [options] * len(parts), parts):
                wrong.update(found)
    for name, count in wrong.items():
        print(f"{count:6,} wrong of {options.dags:,}: {name}")
    raise SystemExit(any(wrong.values()))


if __name__ == "__main__":
    main()
