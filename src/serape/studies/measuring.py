"""Measures that several studies share."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

import networkx as nx
import numpy as np

from serape.data.table import Table
from serape.questions.blankets import ask_of_many
from serape.questions.query import Query
from serape.results.comparison import compare
from serape.results.structure import Structure
from serape.settings import Settings
from serape.types import Finds


def accuracy_of_all(
    table: Table,
    truth: Mapping[str, Sequence[str]],
    finds: Finds,
    algorithm: str,
    alpha: float,
    *,
    threads: int = 1,
    dof: Any = "auto",
    shared: bool = True,
    max_conditioning: int | None = None,
    **options: Any,
) -> dict[str, Any]:
    """Search for every variable that varies as the target; return the accuracy of the answers.

    The precision of an empty answer is 1, and so is the recall of an empty truth. With `shared=False` targets share no
    tests, so that numbers of tests compare with those of the papers.
    """
    settings = Settings.of(
        algorithm=algorithm, alpha=alpha, max_conditioning=max_conditioning, dof=dof, n_jobs=threads, progress=False,
        **options,
    )  # fmt: skip
    query = Query.resolve(table, finds, settings)
    positions = table.varying
    begin = time.perf_counter()
    if shared:
        results = ask_of_many(query, positions, settings.run)
        if len(results) < len(positions):
            raise KeyboardInterrupt
    else:
        results = {table.names[k]: query.run(k, threads) for k in positions}
    seconds = time.perf_counter() - begin
    members = {name: found.members for name, found in results.items()}
    return {
        **_measures(members, truth),
        "seconds": seconds,
        "tests": sum(found.tests for found in results.values()),
    }


def accuracy_of_network(found: Structure, truth: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """Return the accuracy of the neighbours in a network as parents and children of every variable that varies."""
    varying = None if found.table is None else {found.table.names[k] for k in found.table.varying}
    members = {
        name: tuple(nx.all_neighbors(found.graph, name)) for name in found.graph if varying is None or name in varying
    }
    return {**_measures(members, truth), "seconds": found.seconds}


def _measures(members: Mapping[str, Sequence[str]], truth: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    measures = {name: compare(set(found), truth[name]) for name, found in members.items()}
    return {
        "precision": float(np.mean([m.precision for m in measures.values()])),
        "recall": float(np.mean([m.recall for m in measures.values()])),
        "distance": float(np.mean([m.distance for m in measures.values()])),
        "by_size": _by_size(truth, {name: m.distance for name, m in measures.items()}),
    }


def _by_size(truth: Mapping[str, Sequence[str]], distances: Mapping[str, float]) -> dict[str, list[float]]:
    """Return, by number of true members, the number of targets and the sum of their distances."""
    sums: dict[str, list[float]] = {}
    for name, distance in distances.items():
        entry = sums.setdefault(str(len(truth[name])), [0, 0.0])
        entry[0] += 1
        entry[1] += distance
    return sums


def mean_and_spread(values: Sequence[float]) -> str:
    """Format a mean and a standard deviation as the papers do."""
    return f"{np.mean(values):.2f}±{np.std(values):.2f}"
