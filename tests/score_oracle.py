"""Runs searches by score on the exact counts of random networks in many rows, and counts wrong answers.

    python tests/score_oracle.py [--dags 200] [--rows 1e6 1e8 2e9] [--nodes 4 7] [--seed 0] [--jobs 1]
                                 [--knowledge]

Each DAG has 4 to 7 binary nodes, and each node a logistic law. The table holds every combination of values with its
expected frequency. With so many rows, GES, XGES and BOSS must find the class of the DAG, as far as the score is
*consistent*: adding x to the parents of y raises it where x and y are dependent given these, and lowers it otherwise
(Chickering 2002). A law with a dependence too weak for that in so many rows is drawn anew; how often this happens is
printed, with the wrong answers there, which are no errors. Tabu search and the sparse candidate algorithm promise
nothing (docs/soundness.md); what they find is printed, too. With `--knowledge`, each DAG comes with random knowledge
that is true of it, and the right answer is the class restricted by it.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence
from itertools import combinations, product
from multiprocessing import get_context

import networkx as nx
import numpy as np

import serape
from plain import random_dag
from serape.structure.equivalence import equivalence_class
from serape.structure.graphs import PartlyDirected
from serape.structure.scores import Score, make_score
from true_knowledge import random_knowledge

EXACT = ("ges", "xges", "boss")
OTHERS = ("tabu", "sca")
SCORES = ("bic", "bdeu")
Case = tuple[int, float, tuple[int, int], tuple[str, ...], bool]
"""A seed, the number of rows, the numbers of nodes, the algorithms, and whether there is knowledge."""


def expected_table(graph: nx.DiGraph[str], rows: float, random: np.random.Generator) -> serape.Table:
    """Return all combinations of binary values, with their expected frequencies under random logistic laws."""
    names = list(graph)
    values = np.array(list(product((0, 1), repeat=len(names))))
    share = np.ones(len(values))
    for name in nx.topological_sort(graph):
        above = [names.index(parent) for parent in graph.predecessors(name)]
        weights = random.uniform(1.5, 3.0, len(above)) * random.choice([-1, 1], len(above))
        chance = 1 / (1 + np.exp(-(random.uniform(-0.5, 0.5) + (values[:, above] - 0.5) @ weights)))
        share *= np.where(values[:, names.index(name)] == 1, chance, 1 - chance)
    columns = {name: np.array(["a", "b"])[values[:, k]] for k, name in enumerate(names)}
    return serape.Table(columns, sample_weight=np.round(share * rows).astype(np.int64))


def is_consistent(score: Score, oracle: serape.DSeparation) -> bool:
    """Return whether a further parent raises the score of a family if, and only if, it is dependent."""
    nodes = range(len(score.variables))
    for y in nodes:
        for size in nodes:
            for given in combinations([z for z in nodes if z != y], size):
                xs = [x for x in nodes if x != y and x not in given]
                gains = score.additions(y, xs, given) - score.family(y, given)
                if any((gain > 0) != (oracle.test(x, y, given).p == 0.0) for x, gain in zip(xs, gains, strict=True)):
                    return False
    return True


def wrong(case: Case) -> tuple[bool, list[str]]:
    """Return whether the score of a law is consistent, and the algorithms that do not find the class of its graph."""
    seed, rows, (least, most), algorithms, informed = case
    random = np.random.default_rng([seed, int(rows)])
    graph = random_dag(random, int(random.integers(least, most + 1)), float(random.choice([0.2, 0.4, 0.6])))
    table = expected_table(graph, rows, random)
    score = make_score(table, str(random.choice(SCORES)))
    known = serape.Knowledge(**random_knowledge(random, graph)) if informed else serape.Knowledge()
    parents = PartlyDirected.of_networkx(graph, table.names).parents
    truth = equivalence_class(parents, known.bind(table.names)).to_networkx(table.names)
    found = {name: serape.network(score, name, knowledge=known).graph for name in algorithms}
    missed = [name for name, network in found.items() if set(network.edges) != set(truth.edges)]
    return is_consistent(score, serape.DSeparation(graph, list(table.names))), missed


def hunt(
    rows: float, dags: int, nodes: tuple[int, int] = (4, 7), seed: int = 0, jobs: int = 1,
    algorithms: Sequence[str] = EXACT, informed: bool = False,
) -> tuple[Counter[str], Counter[str], int]:  # fmt: skip
    """Return the wrong answers by algorithm in so many DAGs, those where the score is not consistent, and how many."""
    errors: Counter[str] = Counter()
    weak: Counter[str] = Counter()
    done = passed = 0
    with get_context("spawn").Pool(jobs) if jobs > 1 else _Here() as pool:
        for consistent, missed in pool.imap(
            wrong, ((seed + k, rows, nodes, tuple(algorithms), informed) for k in range(50 * dags))
        ):
            (errors if consistent else weak).update(missed)
            done, passed = done + consistent, passed + (not consistent)
            if done == dags:
                break
    assert done == dags
    return errors, weak, passed


class _Here:
    """A pool of no further processes."""

    imap = staticmethod(map)

    def __enter__(self) -> _Here:
        return self

    def __exit__(self, *_: object) -> None:
        pass


def main() -> None:
    """Run all algorithms with each number of rows, and print how many answers are wrong."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--dags", type=int, default=200)
    parser.add_argument("--rows", type=float, nargs="+", default=[1e6, 1e8, 2e9])
    parser.add_argument("--nodes", type=int, nargs=2, default=[4, 7])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--knowledge", action="store_true")
    options = parser.parse_args()
    failed = False
    for rows in options.rows:
        least, most = options.nodes
        found, weak, passed = hunt(
            rows, options.dags, (least, most), options.seed, options.jobs, (*EXACT, *OTHERS), options.knowledge
        )
        for name in (*EXACT, *OTHERS):
            print(
                f"{rows:.0e} rows, {name}: {found[name]:,} wrong of {options.dags:,} DAGs"
                f"{'' if name in EXACT else ' (promises nothing)'}; with a dependence too weak to be seen, "
                f"{weak[name]:,} of {passed:,}",
                flush=True,
            )
        failed = failed or any(found[name] for name in EXACT)
    raise SystemExit(failed)


if __name__ == "__main__":
    main()
