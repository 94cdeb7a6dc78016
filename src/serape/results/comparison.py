"""How near an answer is to the truth."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import networkx as nx
import numpy as np

from serape.data.table import Table
from serape.errors import InputTypeError, OptionError
from serape.independence import G2, ContingencyTest, IndependenceTest
from serape.independence.outcomes import as_positions
from serape.results.result import Result


@dataclass(frozen=True)
class Comparison:
    """Precision, recall and the Euclidean distance to having both perfect.

    Precision is 1 where nothing was found, recall is 1 where there was nothing to find.
    """

    precision: float
    recall: float
    distance: float
    missed: tuple[str, ...] = ()
    extra: tuple[str, ...] = ()


def compare(found: Any, truth: Any) -> Comparison:
    """Compare what was found with the truth.

    `found` is a result or a collection of names; `truth` is a collection of names, another result, or the graph the
    data come from. A dict of results by target (as `blankets` returns) is compared with a graph, or with a dict of
    collections by target; the measures are then means over the targets.
    """
    if isinstance(found, Mapping):
        if not found:
            raise OptionError("there is nothing to compare: no targets")
        pairs = [compare(one, truth if isinstance(truth, nx.DiGraph) else truth[name]) for name, one in found.items()]
        precision, recall, distance = (
            math.fsum(getattr(c, measure) for c in pairs) / len(pairs)
            for measure in ("precision", "recall", "distance")
        )
        return Comparison(precision, recall, distance)
    have = set(found.members) if isinstance(found, Result) else _names(found)
    if isinstance(truth, nx.DiGraph):
        if not isinstance(found, Result):
            raise InputTypeError("a graph as truth needs a result, which knows its target; pass a collection of names")
        want = true_members(truth, found.target, found.finds)
    else:
        want = set(truth.members) if isinstance(truth, Result) else _names(truth)
    right = len(have & want)
    precision = right / len(have) if have else 1.0
    recall = right / len(want) if want else 1.0
    distance = math.hypot(1 - precision, 1 - recall)
    return Comparison(precision, recall, distance, tuple(sorted(want - have)), tuple(sorted(have - want)))


def true_members(graph: nx.DiGraph[Any], target: str, finds: str = "blanket") -> set[str]:
    """Read parents and children, or the blanket with the children's other parents, off a graph."""
    nodes = {str(node): node for node in graph}
    if target not in nodes:
        raise OptionError(f"the graph has no node {target!r}")
    children = set(graph.successors(nodes[target]))
    near = children | set(graph.predecessors(nodes[target]))
    if finds == "blanket":
        near |= {parent for child in children for parent in graph.predecessors(child)}
    return {str(node) for node in near} - {target}


def _names(names: Any) -> set[str]:
    if isinstance(names, str) or not isinstance(names, Collection):
        raise InputTypeError(f"a result, a graph or a collection of names is needed, not {names!r:.60}")
    return {str(name) for name in names}


def kl_fitness(data: Any, target: str | int, blanket: Collection[str | int]) -> float:
    """Return how much the variables outside a blanket still tell about the target: less is better, 0 is perfect.

    The measure of Yaramakala and Margaritis (2005): the mean, over all X outside the blanket B, of the expected
    Kullback-Leibler divergence of P(T | B) from P(T | B, X), with probabilities as frequencies. For one X it equals
    the conditional mutual information of X and T given B, which is G² / 2N (in nats).
    """
    if isinstance(data, IndependenceTest) and not isinstance(data, ContingencyTest):
        raise InputTypeError("the fitness of a blanket needs data, not an oracle")
    table = data.table if isinstance(data, ContingencyTest) else Table(data)
    test = G2(table, dof="full", reliability=None)
    at, given = table.position(target), sorted(table.position(v) for v in blanket)
    if at in given:
        raise OptionError(f"the target {table.names[at]!r} cannot be in its own blanket")
    test.check(range(len(table.names)))
    outside = [k for k in range(len(table.names)) if k != at and k not in given]
    if not outside:
        return 0.0
    statistic = test.screen(at, as_positions(outside), given).statistic
    return float(np.nansum(statistic)) / (2 * table.rows * len(outside))  # NaN: a constant X, which tells nothing
