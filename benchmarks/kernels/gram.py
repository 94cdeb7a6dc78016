"""Speed of Gram matrices of scores, on one thread, beside NumPy's product of scores that are written down."""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import serape
from benchmarks.common.data import SEED
from benchmarks.common.internals import gram_phases
from benchmarks.common.output import machine, markdown, save, short
from benchmarks.common.timing import alternating

LIMIT = 2000
"""Rows and columns of the product of two matrices that tells the machine's limit."""


class Shape(NamedTuple):
    """A table, and the degree of its scores."""

    rows: int
    numbers: int
    categories: int
    degree: int


SHAPES = (
    Shape(100_000, 60, 0, 5),
    Shape(100_000, 30, 30, 5),
    Shape(10_000, 60, 0, 3),
    Shape(1_000, 1_000, 0, 3),
    Shape(1_000_000, 20, 0, 3),
)
QUICK = (Shape(1_000, 6, 4, 3),)


def drawn(shape: Shape) -> dict[str, NDArray[Any]]:
    """Return columns that depend on the one before; a category has four levels."""
    random = np.random.default_rng([SEED, *shape])
    columns: dict[str, NDArray[Any]] = {}
    before = np.zeros(shape.rows)
    for k in range(shape.numbers + shape.categories):
        before = 0.5 * before + random.normal(size=shape.rows)
        if k % 2 and k // 2 < shape.categories:
            columns[f"c{k}"] = np.digitize(before, [-1.0, 0.0, 1.0])
        else:
            columns[f"n{k}"] = before
    return columns


def multiplied(scores: NDArray[np.float64]) -> Callable[[], object]:
    """Return what multiplies scores with themselves, of which NumPy computes a half."""
    return lambda: scores.T @ scores


def run(options: argparse.Namespace) -> None:
    """Measure Gram matrices of scores: ranks, polynomials and products, beside NumPy and the machine's limit.

    Seconds of the processor, medians. NumPy multiplies scores that are written down already; the limit is its product
    of two square matrices. A product and a sum count as two operations; half of the matrix is counted.
    """
    repeats = 2 if options.quick else 5
    random = np.random.default_rng(SEED)
    square = random.normal(size=(LIMIT // (10 if options.quick else 1),) * 2)
    results = []
    for shape in QUICK if options.quick else SHAPES:
        columns = drawn(shape)
        phases = [gram_phases(serape.Table(columns), shape.degree, time.process_time) for _ in range(repeats)]
        scores = phases[0].scores
        written = random.normal(size=(shape.rows, scores))
        found = alternating(
            {"NumPy": multiplied(written), "limit": partial(np.matmul, square, square.T.copy())},
            repeats,
            processor=True,
        )
        ranks, polynomials, products = (
            statistics.median(getattr(one, phase) for one in phases) for phase in ("ranks", "polynomials", "products")
        )
        work = 1e-9 * shape.rows * scores * (scores + 1)
        limit = 2e-9 * len(square) ** 3 / found["limit"]
        results.append(
            {
                **shape._asdict(),
                "scores": scores,
                "ranks_seconds": ranks,
                "polynomials_seconds": polynomials,
                "products_seconds": products,
                "numpy_seconds": found["NumPy"],
                "gflops": work / products,
                "numpy_gflops": work / found["NumPy"],
                "limit_gflops": limit,
            }
        )
    print(f"{machine()}, one thread, seconds of the processor")
    head = [
        "rows",
        "numbers",
        "categories",
        "degree",
        "scores",
        "ranks, s",
        "polynomials, s",
        "products, s",
        "NumPy, s",
    ]
    head += ["GFLOP/s", "NumPy", "share of the limit"]
    lines = [
        [
            *(f"{one[key]:,}" for key in ("rows", "numbers", "categories", "degree", "scores")),
            *(short(one[f"{key}_seconds"]) for key in ("ranks", "polynomials", "products", "numpy")),
            *(f"{one[key]:.0f}" for key in ("gflops", "numpy_gflops")),
            f"{one['gflops'] / one['limit_gflops']:.0%}",
        ]
        for one in results
    ]
    print(markdown(head, lines))
    save("gram", {"machine": machine(), "shapes": results})
