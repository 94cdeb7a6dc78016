"""Measures that several studies share."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Literal

import numpy as np

import serape
from serape.data.table import Table
from serape.networks import Network, load_network
from serape.questions.blankets import ask_of_many
from serape.questions.query import Query
from serape.results.comparison import compare
from serape.results.result import Result
from serape.settings import Settings
from serape.types import Finds

NamedMembers = Mapping[str, Sequence[str]]
AS_IN_PAPERS: dict[str, Any] = {"test": "g2", "fdr": None, "max_seconds": None, "n_jobs": 1, "progress": False}
"""What searches have in common unless their setting says otherwise: no bound on false discoveries, nor on time."""


@lru_cache(maxsize=2)
def sampled(network: str, rows: int, seed: int) -> tuple[Network, Table]:
    """Return a network and a sample of it."""
    source = load_network(network)
    return source, source.sample(rows, seed)


def accuracy(
    network: str,
    rows: int,
    seed: int,
    finds: Finds | Literal["network"],
    setting: Mapping[str, Any],
    shared: bool = True,
) -> dict[str, Any]:
    """Return the accuracy of an algorithm, named with its options by `setting`, on a sample of a network.

    Every variable that varies is a target. The precision of an empty answer is 1, and so is the recall of an empty
    truth. With `shared=False` targets share no tests, so that numbers of tests compare with those of the papers.
    """
    import networkx as nx

    source, table = sampled(network, rows, seed)
    if finds != "network":
        truths = source.markov_blanket if finds == "blanket" else source.parents_children
        return accuracy_of_all(table, {x: truths(x) for x in table.names}, finds, setting, shared=shared)
    begin = time.perf_counter()
    graph = serape.network(table, **setting, max_seconds=None, progress=False).graph
    seconds = time.perf_counter() - begin
    found = {table.names[k]: tuple(nx.all_neighbors(graph, table.names[k])) for k in table.varying}
    return {**_measures(found, {x: source.parents_children(x) for x in found}), "seconds": round(seconds, 4)}


def accuracy_of_all(
    table: Table, truth: NamedMembers, finds: Finds, setting: Mapping[str, Any], *, shared: bool = True
) -> dict[str, Any]:
    """Search for every variable that varies as the target; return the accuracy of the answers, tests and seconds."""
    settings = Settings.of(**{**AS_IN_PAPERS, **setting})
    query = Query.resolve(table, finds, settings)
    begin = time.perf_counter()
    if shared:
        results: dict[str, Result] = ask_of_many(query, table.varying, settings.run)
        if len(results) < len(table.varying):
            raise KeyboardInterrupt
    else:
        results = {table.names[k]: query.run(k) for k in table.varying}
    seconds = time.perf_counter() - begin
    measures = _measures({name: found.members for name, found in results.items()}, truth)
    return {**measures, "seconds": round(seconds, 4), "tests": sum(found.tests for found in results.values())}


def _measures(found: NamedMembers, truth: NamedMembers) -> dict[str, Any]:
    """Return means of the measures and, by number of true members, the number of targets and the sum of distances."""
    measures = {name: compare(set(members), truth[name]) for name, members in found.items()}
    sizes: dict[str, list[float]] = {}
    for name, measure in measures.items():
        entry = sizes.setdefault(str(len(truth[name])), [0, 0.0])
        entry[0] += 1
        entry[1] += measure.distance
    means = {
        m: round(float(np.mean([getattr(c, m) for c in measures.values()])), 6)
        for m in ("precision", "recall", "distance")
    }
    return {**means, "by_size": {size: [count, round(total, 5)] for size, (count, total) in sizes.items()}}


def asked(table: Table, target: int, finds: Finds, setting: Mapping[str, Any]) -> Result:
    """Return the answer about a target; `setting` names the algorithm and its options.

    Unlike the public functions it adds no notes, whose making would count in the seconds.
    """
    return Query.resolve(table, finds, Settings.of(**{**AS_IN_PAPERS, **setting})).run(target)


def mean(answers: Sequence[Mapping[str, Any]], measure: str) -> float:
    """Return the mean of a measure over answers."""
    return float(np.mean([answer[measure] for answer in answers]))


def mean_and_spread(values: Sequence[float]) -> str:
    """Format a mean and a standard deviation as the papers do."""
    return f"{np.mean(values):.2f}±{np.std(values):.2f}"


def deviation(ours: float, published: float, digits: int = 2) -> str:
    """Format the difference from a published number."""
    return f"{ours - published:+.{digits}f}".replace("-", "−")
