"""Naive Bayes for two classes and binary features, and tree-augmented naive Bayes."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import networkx as nx

Bits = NDArray[np.uint8]


def split(label: Bits, k: int, folds: int, seed: int = 0) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the training rows and the test rows of fold k; every fold has its share of both classes."""
    random = np.random.default_rng(seed)
    fold = np.empty(len(label), np.int64)
    for value in (0, 1):
        rows = random.permutation(np.flatnonzero(label == value))
        fold[rows] = np.arange(len(rows)) % folds
    return np.flatnonzero(fold != k), np.flatnonzero(fold == k)


def predict(learn: Bits, label: Bits, test: Bits, parents: Mapping[int, int]) -> NDArray[np.intp]:
    """Return the more probable class of each row; counts of values are increased by one.

    `parents` has, for some columns, by index, the index of a column that they depend on besides the class.
    """
    score = np.zeros((2, len(test)))
    for value in (0, 1):
        rows = learn[label == value]
        score[value] = np.log((len(rows) + 1) / (len(label) + 2))
        for k in range(learn.shape[1]):
            given = rows[:, parents[k]] if k in parents else np.zeros(len(rows), np.uint8)
            test_given = test[:, parents[k]] if k in parents else np.zeros(len(test), np.uint8)
            for level in (0, 1):
                stratum = rows[given == level, k]
                one = (stratum.sum() + 1) / (len(stratum) + 2)
                selected = test_given == level
                score[value, selected] += np.log(np.where(test[selected, k] == 1, one, 1 - one))
    predicted: NDArray[np.intp] = score.argmax(axis=0)
    return predicted


def tree(learn: Bits, label: Bits) -> dict[int, int]:
    """Return a parent for each column but the first: the tree of largest mutual information given the class."""
    import networkx as nx

    graph: nx.Graph[int] = nx.Graph()
    graph.add_nodes_from(range(learn.shape[1]))
    for i, j in combinations(range(learn.shape[1]), 2):
        graph.add_edge(i, j, information=_information(learn[:, i], learn[:, j], label))
    spanning = nx.maximum_spanning_tree(graph, weight="information")
    return {child: parent for parent, child in nx.bfs_edges(spanning, 0)} if len(spanning) else {}


def _information(x: Bits, y: Bits, label: Bits) -> float:
    """Return the mutual information of two columns given the class, in nats."""
    counts = np.bincount(4 * label.astype(np.int64) + 2 * x + y, minlength=8).reshape(2, 2, 2)
    expected = counts.sum(axis=2, keepdims=True) * counts.sum(axis=1, keepdims=True)
    expected = expected / np.maximum(counts.sum((1, 2), keepdims=True), 1)
    there = counts > 0
    return float((counts[there] * np.log(counts[there] / expected[there])).sum() / len(label))
