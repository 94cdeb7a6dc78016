"""Networks by score: perfect scores, which penalty, how cost grows."""

from __future__ import annotations

import argparse
import math
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

import serape
from benchmarks.common.data import SEED, numbers_on_graph, random_graph
from benchmarks.common.output import report
from benchmarks.suite.structures import graph_of

BY_SCORE = ("boss", "xges", "ges", "tabu")
PARTS = ("oracle", "penalty", "growth", "real", "numbers", "categories", "bootstrap")


class PopulationScore(serape.Score):
    """The score of endless rows: conditional entropies less those given the true parents, and BIC's penalty."""

    name = "population"
    rows = 1e13
    """That the penalty is for."""

    def _fit(self, child: int, parents: Sequence[int]) -> float:
        """Return the entropy of a child given its parents, in nats."""
        raise NotImplementedError

    def _parameters(self, child: int, parents: Sequence[int]) -> float:
        raise NotImplementedError

    def _prepare(self, graph: nx.DiGraph[str], order: Sequence[str]) -> None:
        self.variables = tuple(order)
        index = {name: k for k, name in enumerate(order)}
        self.true_parents = [sorted(index[x] for x in graph.predecessors(name)) for name in order]
        self._least = [self._fit(k, self.true_parents[k]) for k in range(len(order))]

    def local(self, child: int, parents: Sequence[int]) -> float:
        """Return the score of a child with its parents."""
        fit = self._least[child] - self._fit(child, parents)
        return self.rows * fit - 0.5 * math.log(self.rows) * self._parameters(child, parents)


class GaussianPopulation(PopulationScore):
    """Of a linear Gaussian network with random weights."""

    def __init__(self, graph: nx.DiGraph[str], order: Sequence[str], random: np.random.Generator) -> None:
        at = {name: k for k, name in enumerate(order)}
        weights = np.zeros((len(order), len(order)))
        for a, b in graph.edges:
            weights[at[b], at[a]] = random.uniform(0.4, 1.2) * random.choice([-1, 1])
        inverse = np.linalg.inv(np.eye(len(order)) - weights)
        self._covariance: NDArray[np.float64] = inverse @ inverse.T
        self._prepare(graph, order)

    def _fit(self, child: int, parents: Sequence[int]) -> float:
        chosen = [*parents, child]
        both = np.linalg.slogdet(self._covariance[np.ix_(chosen, chosen)])[1]
        alone = np.linalg.slogdet(self._covariance[np.ix_(list(parents), list(parents))])[1] if parents else 0.0
        return float(0.5 * (both - alone))

    def _parameters(self, child: int, parents: Sequence[int]) -> float:
        del child
        return float(len(parents))


class BinaryPopulation(PopulationScore):
    """Of a network of binary variables with random probabilities: its exact joint distribution."""

    def __init__(self, graph: nx.DiGraph[str], order: Sequence[str], random: np.random.Generator) -> None:
        n = len(order)
        at = {name: k for k, name in enumerate(order)}
        joint = np.ones((2,) * n)
        for name in order:
            parents = sorted(at[x] for x in graph.predecessors(name))
            table = random.uniform(0.05, 0.95, (2,) * len(parents))
            shape = [2 if k in parents else 1 for k in range(n)]
            p = table.reshape(shape)
            joint = joint * np.concatenate([1 - p, p], axis=at[name])
        self._joint = joint
        self._prepare(graph, order)

    def _entropy(self, chosen: Sequence[int]) -> float:
        rest = tuple(k for k in range(self._joint.ndim) if k not in chosen)
        p = self._joint.sum(axis=rest)
        return float(-(p * np.log(p)).sum())

    def _fit(self, child: int, parents: Sequence[int]) -> float:
        return self._entropy([*parents, child]) - self._entropy(list(parents))

    def _parameters(self, child: int, parents: Sequence[int]) -> float:
        del child
        return 2.0 ** len(parents)


def drawn_dag(random: np.random.Generator, most: int) -> nx.DiGraph[str]:
    """Draw a directed acyclic graph of any density."""
    n, density = int(random.integers(2, most + 1)), random.uniform(0.15, 0.7)
    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_nodes_from(f"v{k}" for k in range(n))
    graph.add_edges_from((f"v{a}", f"v{b}") for b in range(n) for a in range(b) if random.random() < density)
    return graph


def oracle(cases: int, rows: float, algorithms: Sequence[str]) -> None:
    """Count wrong classes with exact laws, and the penalty of so many rows."""
    PopulationScore.rows = rows
    kinds = {"Gaussian": (GaussianPopulation, 8), "binary": (BinaryPopulation, 6)}
    for kind, (population, most) in kinds.items():
        random = np.random.default_rng(1)
        wrong: Counter[str] = Counter()
        seconds: defaultdict[str, float] = defaultdict(float)
        smallest: dict[str, nx.DiGraph[str]] = {}
        for case in range(cases):
            graph = drawn_dag(random, most)
            score = population(graph, [str(name) for name in random.permutation(list(graph))], random)
            if case % 500 == 0:
                report(f"{kind}: {case:,} of {cases:,}")
            for algorithm in algorithms:
                begin = time.perf_counter()
                found = serape.network(score, algorithm)
                seconds[algorithm] += time.perf_counter() - begin
                if serape.compare_graphs(found.graph, graph).shd:
                    wrong[algorithm] += 1
                    if algorithm not in smallest or len(graph) < len(smallest[algorithm]):
                        smallest[algorithm] = graph
        for algorithm in algorithms:
            line = f"{kind}, {algorithm}: {wrong[algorithm]:,} of {cases:,} wrong, {seconds[algorithm]:.1f} s"
            if algorithm in smallest:
                line += f"; the smallest is {', '.join(f'{a}→{b}' for a, b in smallest[algorithm].edges)}"
            print(line, flush=True)


def penalty(repeats: int, largest: int, algorithms: Sequence[str]) -> None:
    """Print mean distances, as shares of the true edges, by score and algorithm."""
    found: defaultdict[tuple[str, str, int], list[float]] = defaultdict(list)
    random = np.random.default_rng(2)
    sizes = [(n, degree) for n, degree in ((20, 2.0), (20, 4.0), (50, 3.0), (100, 3.0)) if n <= largest]
    for variables, degree in sizes:
        for rows in (200, 500, 5000):
            for _ in range(repeats):
                graph = random_graph(random, variables, degree)
                order = random.permutation(variables).tolist()
                graph = nx.relabel_nodes(graph, dict(zip(graph, order, strict=True)))
                data = numbers_on_graph(graph, rows, "linear", random)
                table = serape.Table({f"v{k:03}": data[:, k] for k in range(variables)}, kinds="continuous")
                truth = nx.relabel_nodes(graph, lambda k: f"v{k:03}")
                for score in ("gaussian-bic", "gaussian-ebic", "bge"):
                    for algorithm in algorithms:
                        shd = serape.network(table, algorithm, score=score).compare(truth).shd
                        found[algorithm, score, rows].append(shd / graph.number_of_edges())
    for (algorithm, score, rows), shares in sorted(found.items()):
        print(f"{algorithm}, {score}, {rows:,} rows: {np.mean(shares):.2f} of the edges")


def growth(sizes: Sequence[int], degrees: Sequence[float], algorithms: Sequence[str], score: str) -> None:
    """Print seconds of the processor by number of variables and mean number of neighbours: 1,000 rows."""
    for variables in sizes:
        for degree in degrees:
            random = np.random.default_rng(variables)
            graph = random_graph(random, variables, degree)
            graph = nx.relabel_nodes(graph, dict(zip(graph, random.permutation(variables).tolist(), strict=True)))
            data = numbers_on_graph(graph, 1000, "linear", random)
            table = serape.Table({f"v{k:05}": data[:, k] for k in range(variables)}, kinds="continuous")
            truth = nx.relabel_nodes(graph, lambda k: f"v{k:05}")
            for algorithm in algorithms:
                begin = time.process_time()
                found = serape.network(table, algorithm, score=score)
                seconds = time.process_time() - begin
                comparison = found.compare(truth)
                print(
                    f"{variables:,} variables, degree {degree:g}, {algorithm}: {seconds:.2f} s, distance "
                    f"{comparison.shd:,} of {graph.number_of_edges():,} edges, {len(found.edges):,} found, "
                    f"precision and recall of edges {comparison.skeleton_precision:.3f} "
                    f"{comparison.skeleton_recall:.3f}",
                    flush=True,
                )


def real(folder: Path, algorithms: Sequence[str]) -> None:
    """Print, for real tables, the edges found in halves of the rows, how many both halves have, and seconds."""
    for name in ("pima.txt.xz", "bike.txt.xz", "german.txt.xz"):
        table = serape.Table(folder / name)
        order = np.random.default_rng(1).permutation(table.rows)
        halves = [table.to_pandas().iloc[rows] for rows in np.array_split(order, 2)]
        tables = [serape.Table(half, kinds=dict(table.kinds)) for half in halves]
        for algorithm in algorithms:
            begin = time.process_time()
            found = [serape.network(half, algorithm) for half in tables]
            seconds = time.process_time() - begin
            one, other = ({frozenset(edge) for edge in structure.edges} for structure in found)
            score, both = found[0].score or found[0].test, len(one & other) / max(len(one | other), 1)
            print(
                f"{name.partition('.')[0]}, {len(tables[0]):,} rows of {len(table.names)} columns, {algorithm} with "
                f"{score}: {len(one)} and {len(other)} edges, {both:.2f} of them in "
                f"both halves, {seconds / 2:.3g} s",
                flush=True,
            )


def _measured(
    name: str, table: serape.Table, truth: nx.DiGraph[str], algorithms: Sequence[str], limit: float, **settings: Any
) -> None:
    """Print the distances that algorithms reach within some seconds, the edges they find, and processor seconds."""
    cells = []
    for algorithm in algorithms:
        begin = time.process_time()
        found = serape.network(table, algorithm, max_seconds=limit, **settings)
        seconds = time.process_time() - begin
        shd = f"{found.compare(truth).shd:,}" if found.complete else f"> {limit:g} s"
        cells.append(f"{algorithm} {shd} ({seconds:.2g} s, {len(found.edges)} edges)")
    print(f"{name}, {table.rows:,} rows: {', '.join(cells)}", flush=True)


def numbers(
    graphs: Sequence[str], rows: Sequence[int], limit: float, algorithms: Sequence[str], **settings: Any
) -> None:
    """Measure searches by score on linear rows of graphs, the same rows as in `suite structures`."""
    for name in graphs:
        graph = graph_of(name)
        truth = nx.relabel_nodes(graph, lambda k: f"v{k}")
        for count in rows:
            data = numbers_on_graph(graph, count, "linear", np.random.default_rng(SEED + count))
            table = serape.Table({f"v{k}": data[:, k] for k in range(len(graph))}, kinds="continuous")
            _measured(name, table, truth, algorithms, limit, **settings)


def categories(
    names: Sequence[str], rows: Sequence[int], limit: float, algorithms: Sequence[str], samples: int
) -> None:
    """Measure the candidates for the default on samples of networks."""
    for name in names:
        network = serape.load_network(name)
        for count in rows:
            for k in range(samples):
                _measured(name, network.sample(count, SEED + k), network.graph, algorithms, limit)


def bootstrap(draws: int, repeats: int) -> None:
    """Print how many of the edges and arcs that a share of the bootstraps has are true."""
    width, bins = 0.2, 5
    counts: dict[str, NDArray[np.int64]] = {kind: np.zeros((bins, 2), np.int64) for kind in ("edges", "arcs")}
    for seed in range(repeats):
        random = np.random.default_rng(seed)
        graph = random_graph(random, 20, 3.0)
        data = numbers_on_graph(graph, 200, "linear", random)
        table = serape.Table({f"v{k:02}": data[:, k] for k in range(20)}, kinds="continuous")
        truth = nx.relabel_nodes(graph, lambda k: f"v{k:02}")
        found = serape.stability(
            table, finds="network", algorithm="boss", draws=draws, sampling="bootstrap", random_state=seed
        )
        true_class = serape.network(serape.DSeparation(truth), "pc-stable").graph
        edges = {(a, b) for a, b in found.frequencies if true_class.has_edge(a, b) or true_class.has_edge(b, a)}
        arcs = {(a, b) for a, b in true_class.edges if not true_class.has_edge(b, a)}
        for kind, shares, right in (("edges", found.frequencies, edges), ("arcs", found.directions, arcs)):
            for edge, share in shares.items():
                counts[kind][min(int(share / width), bins - 1)] += (1, edge in right)
    for kind, table_of in counts.items():
        for k, (count, true) in enumerate(table_of):
            print(f"{kind} in {width * k:.0%} to {width * (k + 1):.0%} of the bootstraps: {true} of {count} are true")


def options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], default=[], help="all, if none is named")
    parser.add_argument("--algorithms", nargs="+", help="only these")
    parser.add_argument("--score", default="auto", help="for growth and numbers")
    parser.add_argument("--starts", type=int, help="of boss, for numbers")
    parser.add_argument("--samples", type=int, default=1, help="of each number of rows, for categories")
    parser.add_argument("--nominal", type=float, default=1e13, help="rows that perfect scores are for")
    parser.add_argument("--cases", type=int, default=5000, help="random graphs for perfect scores")
    parser.add_argument("--repeats", type=int, default=4, help="graphs of each kind, for the penalty")
    parser.add_argument("--real", type=Path, help="a folder with pima.txt.xz, bike.txt.xz and german.txt.xz")
    parser.add_argument("--graphs", nargs="+", default=["barley", "hepar2", "random-100"], help="for numbers")
    parser.add_argument("--networks", nargs="+", default=["survey", "pathfinder", "munin1"], help="for categories")
    parser.add_argument("--rows", nargs="+", type=int, default=[500, 5000, 50_000], help="for both")
    parser.add_argument("--limit", type=float, default=120.0, help="seconds after which a search ends, for both")
    parser.add_argument("--draws", type=int, default=50, help="bootstraps")
    parser.add_argument("--variables", nargs="+", type=int, default=[250, 500, 1000, 2000])
    parser.add_argument("--degrees", nargs="+", type=float, default=[2.0, 4.0], help="mean neighbours, for growth")


def run(options: argparse.Namespace) -> None:
    """Measure networks by score.

    oracle: wrong classes with the scores of endless rows (exact covariances, exact joint distributions). penalty: mean
    structural Hamming distances on random linear Gaussian networks, by which the default score was chosen. growth:
    seconds as the number of variables grows. real: whether halves of real tables have the same edges. numbers,
    categories: distances and seconds of the processor on samples of networks. bootstrap: how many of the edges that a
    share of the bootstraps has are true.
    """
    if options.quick:
        options.cases, options.repeats, options.variables, options.draws = 5, 1, [20], 5
        options.graphs, options.networks, options.rows = ["random-10"], ["survey"], [200]
    chosen = options.algorithms
    settings = {"score": options.score} | ({} if options.starts is None else {"starts": options.starts})
    for part in options.parts or PARTS:
        if part == "oracle":
            oracle(options.cases, options.nominal, chosen or BY_SCORE)
        elif part == "penalty":
            penalty(options.repeats, 20 if options.quick else 100, chosen or BY_SCORE)
        elif part == "growth":
            growth(options.variables, options.degrees, chosen or BY_SCORE, options.score)
        elif part == "numbers":
            numbers(options.graphs, options.rows, options.limit, chosen or ("boss", "xges", "ges"), **settings)
        elif part == "categories":
            algorithms = chosen or ("hpc", "xges", "ges", "boss")
            categories(options.networks, options.rows, options.limit, algorithms, options.samples)
        elif part == "bootstrap":
            bootstrap(options.draws, 10 * options.repeats)
        elif options.real is not None:
            real(options.real, chosen or (*BY_SCORE, "mmhc", "hiton-pc"))
