"""Naive Bayes for two classes and binary features."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

Bits = NDArray[np.uint8]
Model = tuple[Sequence[int], Mapping[int, int]]
"""Columns, and for some of them, by index, the index of a column they depend on besides the class."""


def split(label: Bits, k: int, folds: int, seed: int = 0) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the training rows and the test rows of fold k; every fold has its share of both classes."""
    random = np.random.default_rng(seed)
    fold = np.empty(len(label), np.int64)
    for value in (0, 1):
        rows = random.permutation(np.flatnonzero(label == value))
        fold[rows] = np.arange(len(rows)) % folds
    return np.flatnonzero(fold != k), np.flatnonzero(fold == k)


def predict(learn: Bits, label: Bits, test: Bits, parents: Mapping[int, int]) -> NDArray[np.intp]:
    """Return the more probable class of each row; counts of values are increased by one."""
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
