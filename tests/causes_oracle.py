"""Runs the algorithms for causes and effects with a perfect test on many random DAGs, and counts wrong answers.

    python tests/causes_oracle.py [--dags 10000] [--seed 0] [--only mb-by-mb]

Each DAG has 4 to 12 nodes, one of three densities, shuffled names and a random order of columns; one random node is the
target. An answer is right if the causes, effects and undecided neighbours are the parents, children and undirected
neighbours in the completed graph of the whole DAG, with knowledge: in the graph with all arcs that follow from it. With
hidden nodes (up to a third), every mark of the target's edges must be that of the partial ancestral graph of all
observed nodes, which plain code finds by FCI's rules from the DAG. The first wrong answer of each variant is printed,
and the mean number of tests beside that of learning the whole network by pc-stable.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import networkx as nx
import numpy as np

import serape
from plain import random_dag
from plain_pag import mag_of, pag_of
from serape.structure.equivalence import equivalence_class
from serape.structure.ldecc import ldecc
from serape.structure.mmb_by_mmb import mmb_by_mmb
from serape.structure.registry import CAUSAL_ALGORITHMS

Truth = dict[str, str]
"""By neighbour of the target, its marks."""
SIGNS = {">>": "↔", "->": "→", ">-": "←", "o>": "o→", ">o": "←o", "oo": "o–o"}
"""The marks of an edge at its first and second end, as one sign."""


@dataclass(frozen=True)
class Case:
    """A DAG with hidden nodes, an order of the others, and a target."""

    graph: nx.DiGraph[str]
    hidden: tuple[str, ...]
    order: tuple[str, ...]
    target: str
    knowledge: serape.Knowledge

    @property
    def oracle(self) -> serape.DSeparation:
        """The perfect test, without the hidden nodes."""
        return serape.DSeparation(self.graph, self.order, hidden=self.hidden)

    def __str__(self) -> str:
        unseen = f" without {self.hidden}" if self.hidden else ""
        return f"{self.target} on {list(self.graph.edges)}{unseen} in the order {self.order}"


@dataclass(frozen=True)
class Variant:
    """An algorithm with a learner of blankets."""

    algorithm: str
    learner: str
    hidden: bool = False
    knowledge: bool = False
    published: Callable[..., Any] | None = None
    """The algorithm as published, if that is tried."""

    def __str__(self) -> str:
        more = [*["as published"] * (self.published is not None), *["with knowledge"] * self.knowledge]
        return f"{self.algorithm} on {self.learner}{''.join(f', {word}' for word in more)}"

    def answer(self, case: Case) -> serape.Causes:
        """Ask about the target of a case."""
        settings: dict[str, Any] = {"knowledge": case.knowledge} if self.knowledge else {}
        known = CAUSAL_ALGORITHMS[self.algorithm]
        if self.published is not None:
            CAUSAL_ALGORITHMS[self.algorithm] = replace(known, run=partial(self.published, published=True))
        try:
            return serape.causes(case.oracle, case.target, self.algorithm, self.learner, hidden=self.hidden, **settings)
        finally:
            CAUSAL_ALGORITHMS[self.algorithm] = known


VARIANTS = (
    Variant("mb-by-mb", "iamb"),
    Variant("mb-by-mb", "fbed"),
    Variant("mb-by-mb", "hiton-mb"),
    Variant("mb-by-mb", "hpc"),
    Variant("mb-by-mb", "iamb", knowledge=True),
    Variant("mb-by-mb", "hpc", knowledge=True),
    Variant("ldecc", "iamb"),
    Variant("ldecc", "hiton-mb"),
    Variant("mmb-by-mmb", "fbed", hidden=True),
    Variant("mmb-by-mmb", "iamb", hidden=True),
)
PUBLISHED = (
    Variant("ldecc", "iamb", published=ldecc),
    Variant("mmb-by-mmb", "fbed", hidden=True, published=mmb_by_mmb),
)


def drawn(seed: int, dags: int, *, hidden: bool = False, max_nodes: int = 12) -> Iterator[Case]:
    """Draw cases."""
    random = np.random.default_rng(seed)
    for _ in range(dags):
        nodes = int(random.integers(4, max_nodes + 1))
        graph = random_dag(random, nodes, float(random.choice([0.15, 0.3, 0.5])))
        order = [str(node) for node in random.permutation(list(graph))]
        count = int(random.integers(1, nodes // 3 + 1)) if hidden else 0
        required = [arc for arc in graph.edges if random.random() < 0.15]
        forbidden = [(b, a) for a, b in graph.edges if random.random() < 0.15]
        knowledge = serape.Knowledge(required, forbidden)
        yield Case(graph, tuple(order[:count]), tuple(order[count:]), str(random.choice(order[count:])), knowledge)


def truth(case: Case, *, knowledge: bool) -> Truth:
    """Return the marks of the target's edges in the completed graph."""
    index = {name: k for k, name in enumerate(case.order)}
    parents = [{index[parent] for parent in case.graph.predecessors(name)} for name in case.order]
    graph = equivalence_class(parents, case.knowledge.bind(case.order) if knowledge else None)
    t = index[case.target]
    marks = {"→": graph.parents[t], "←": graph.children[t], "–": graph.neighbours[t]}
    return {case.order[x]: mark for mark, xs in marks.items() for x in xs}


def hidden_truth(case: Case) -> Truth:
    """Return the marks of the target's edges in the partial ancestral graph of the observed nodes."""
    pag, t = pag_of(mag_of(case.graph, case.hidden)), case.target
    return {x: SIGNS[pag[t, x] + pag[x, t]] for x in case.order if (x, t) in pag}


def hunt(variants: Iterable[Variant], seed: int, dags: int, max_nodes: int = 12) -> dict[str, tuple[int, float, float]]:
    """Return, for each variant, how many answers are wrong, and the mean numbers of tests and of blankets."""
    found: dict[str, tuple[int, float, float]] = {}
    for variant in variants:
        wrong, tests, blankets = 0, 0, 0
        for case in drawn(seed, dags, hidden=variant.hidden, max_nodes=max_nodes):
            answer = variant.answer(case)
            true = hidden_truth(case) if variant.hidden else truth(case, knowledge=variant.knowledge)
            tests += answer.tests
            blankets += len(answer.expanded)
            if dict(answer.marks) != true or answer.conflicts:
                if wrong == 0:
                    print(f"{variant}: wrong for {case}: {dict(answer.marks)}, not {true}")
                wrong += 1
        found[str(variant)] = wrong, tests / dags, blankets / dags
    return found


def whole(seed: int, dags: int, max_nodes: int = 12) -> float:
    """Return the mean number of tests of pc-stable for the whole network."""
    return float(
        np.mean([serape.network(case.oracle, "pc-stable").tests for case in drawn(seed, dags, max_nodes=max_nodes)])
    )


def main() -> None:
    """Run all variants, or those of one name, and print how many answers are wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dags", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--max-nodes", type=int, default=12)
    parser.add_argument("--only", default="")
    parser.add_argument("--published", action="store_true", help="the algorithms as published")
    options = parser.parse_args()
    variants = [v for v in (PUBLISHED if options.published else VARIANTS) if options.only in str(v)]
    found = hunt(variants, options.seed, options.dags, options.max_nodes)
    for name, (wrong, tests, blankets) in found.items():
        print(f"{wrong:6,} wrong of {options.dags:,}: {name}; {tests:,.0f} tests, {blankets:.1f} blankets")
    print(f"the whole network by pc-stable: {whole(options.seed, options.dags, options.max_nodes):,.0f} tests")
    raise SystemExit(any(wrong for wrong, *_ in found.values()))


if __name__ == "__main__":
    main()
