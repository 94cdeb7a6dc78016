"""Searches by score with knowledge: what knowledge that is true adds, and how good a graph is found under any."""

from __future__ import annotations

import argparse
import time
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import combinations, pairwise
from typing import Any

import networkx as nx
import numpy as np

import serape
from benchmarks.common.data import numbers_on_graph, random_graph
from serape.structure.scores import Score, make_score

ALGORITHMS = ("boss", "xges", "ges", "tabu", "sca")
FORMS = ("nothing", "tiers", "required", "forbidden")


def true_knowledge(random: np.random.Generator, graph: nx.DiGraph[str], form: str) -> dict[str, Any]:
    """Draw knowledge of one form that is true: four tiers, 30 % of the arcs, 30 % of the arcs that are not there."""
    order = list(nx.topological_sort(graph))
    if form == "tiers":
        cuts = [0, *sorted(random.choice(np.arange(1, len(order)), 3, replace=False).tolist()), len(order)]
        return {"tiers": [order[a:b] for a, b in pairwise(cuts)]}
    pool: Iterable[tuple[str, str]] = () if form == "nothing" else graph.edges
    if form == "forbidden":
        pool = [(a, b) for a in order for b in order if a != b and not graph.has_edge(a, b)]
    return {form: [arc for arc in pool if random.random() < 0.3]} if form != "nothing" else {}


def any_knowledge(random: np.random.Generator, names: Sequence[str]) -> serape.Knowledge:
    """Draw knowledge that has nothing to do with data, but does not contradict itself."""
    order = [str(name) for name in random.permutation(names)]
    pairs = [(a, b) for a in names for b in names if a != b]
    required = [(a, b) for a, b in combinations(order, 2) if random.random() < 0.1]
    cuts = sorted(random.integers(0, len(order) + 1, 2).tolist()) if random.random() < 0.5 else [0, 0]
    return serape.Knowledge(
        required=required,
        forbidden=[arc for arc in pairs if arc not in required and random.random() < 0.15],
        tiers=[order[: cuts[0]], order[cuts[0] : cuts[1]], order[cuts[1] :]],
    )


def best_that_agrees(score: Score, knowledge: serape.Knowledge) -> float:
    """Return the highest score of a graph that agrees, by the last variables of sets (Silander & Myllymäki 2006)."""
    n = len(score.variables)
    known = knowledge.bind(score.variables)
    own: dict[tuple[int, frozenset[int]], float] = {}  # of a child with the best parents among a set
    total = {frozenset[int](): 0.0}
    for size in range(n):
        for before in map(frozenset, combinations(range(n), size)):
            for y in set(range(n)) - before:
                legal = all(known.allows(x, y) for x in before) and all(
                    x in before for x in range(n) if known.requires(x, y)
                )
                smaller = max((own[y, before - {x}] for x in before), default=-np.inf)
                own[y, before] = max(smaller, score.family(y, before) if legal else -np.inf)
        for chosen in map(frozenset, combinations(range(n), size + 1)):
            total[chosen] = max(total[chosen - {y}] + own[y, chosen - {y}] for y in chosen)
    return total[frozenset(range(n))]


def told(repeats: int, algorithms: Sequence[str]) -> None:
    """Print mean distances to the true class, restricted by what is told, and seconds of the processor."""
    for rows in (200, 1000):
        found: defaultdict[tuple[str, str], list[tuple[int, float]]] = defaultdict(list)
        for seed in range(repeats):
            random = np.random.default_rng(seed)
            graph = random_graph(random, 25, 3.0)
            graph = nx.relabel_nodes(graph, dict(zip(graph, random.permutation(25).tolist(), strict=True)))
            data = numbers_on_graph(graph, rows, "linear", random)
            table = serape.Table({f"v{k:02}": data[:, k] for k in range(25)}, kinds="continuous")
            truth = nx.relabel_nodes(graph, lambda k: f"v{k:02}")
            for form in FORMS:
                known = true_knowledge(random, truth, form)
                for algorithm in algorithms:
                    begin = time.process_time()
                    shd = serape.network(table, algorithm, knowledge=known).compare(truth).shd
                    found[algorithm, form].append((shd or 0, time.process_time() - begin))
        for (algorithm, form), all_of in found.items():
            shd, seconds = np.mean(all_of, axis=0)
            print(f"{rows:,} rows, {algorithm}, {form}: distance {shd:.2f}, {seconds:.3f} s", flush=True)


def best(repeats: int, algorithms: Sequence[str]) -> None:
    """Print how often the best graph of six variables is found that agrees with any knowledge, and without any."""
    for informed in (False, True):
        lost: defaultdict[str, list[float]] = defaultdict(list)
        for seed in range(10 * repeats):
            random = np.random.default_rng([seed, 6])
            weights = np.triu(random.normal(size=(6, 6)) * (random.random((6, 6)) < 0.4), 1)
            data = random.normal(size=(int(random.choice([100, 1000])), 6)) @ np.linalg.inv(np.eye(6) - weights)
            table = serape.Table({f"v{k}": data[:, k] for k in random.permutation(6)}, kinds="continuous")
            known = any_knowledge(random, table.names) if informed else serape.Knowledge()
            highest = best_that_agrees(make_score(table, "gaussian-bic"), known)
            for algorithm in algorithms:
                found = serape.network(table, algorithm, score="gaussian-bic", knowledge=known)
                lost[algorithm].append(highest - (found.total or 0.0))
        for algorithm, losses in lost.items():
            share = np.mean(np.array(losses) < 1e-6)
            what = "any knowledge" if informed else "none"
            print(f"{what}, {algorithm}: the best in {share:.1%}, {np.mean(losses):.2f} lost on average", flush=True)


def options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--algorithms", nargs="+", default=list(ALGORITHMS), help="only these")
    parser.add_argument("--repeats", type=int, default=20, help="networks; ten times as many of six variables")


def run(options: argparse.Namespace) -> None:
    """Measure searches by score with knowledge, on random linear Gaussian networks.

    First with knowledge that is true, of three forms and none: mean distances to the true class, restricted by it. Then
    with knowledge drawn at random, and without: how often the best graph that agrees is found, by looking at all.
    """
    repeats = 1 if options.quick else options.repeats
    told(repeats, options.algorithms)
    best(repeats, options.algorithms)
