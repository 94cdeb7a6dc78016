"""Random data for the corpus of answers: everything follows from a NumPy generator, by exact elementwise arithmetic."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from typing import Any, Literal

import networkx as nx
import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import NDArray

import serape

Kind = Literal["categorical", "continuous", "mixed", "oracle"]
Column = NDArray[Any]

NETWORKS = ("asia", "cancer", "earthquake", "survey", "sachs", "child", "insurance", "alarm")
ROWS = (31, 64, 65, 120, 200, 300, 512, 513, 900, 1500, 4000)
LEVELS = (2, 2, 2, 3, 3, 4, 5, 8, 12)


@dataclass(frozen=True)
class Data:
    """Data for a run: in words, how to make them, and what can be asked of them."""

    words: str
    make: Callable[[], Any]
    names: tuple[str, ...]
    kind: Kind
    digest: str = ""
    """Of the numbers, where they are drawn here: tells other data from other answers."""


def draw_columns(random: np.random.Generator, rows: int, levels: Sequence[int]) -> list[Column]:
    """Draw columns that depend on earlier ones; 0 levels stand for a continuous column."""
    columns: list[Column] = []
    for count in levels:
        signal = np.zeros(rows)
        for parent in random.permutation(len(columns))[: random.integers(1, 4)]:
            signal += columns[parent] * float(random.choice([-1.0, -0.5, 0.5, 1.0, 1.0, 2.0]))
        if count == 0:
            column = signal + random.standard_normal(rows)
            columns.append(np.rint(column * 4) / 4 if random.random() < 0.15 else column)
        else:
            follows = random.random(rows) < random.choice([0.3, 0.6, 0.7, 0.8])
            noise = random.integers(count, size=rows)
            columns.append(np.where(follows, np.floor(np.abs(signal)).astype(np.int64) % count, noise))
    return [columns[k] for k in random.permutation(len(columns))]


def add_degenerate(random: np.random.Generator, columns: list[Column]) -> None:
    """Turn some columns into constants, copies and relabelled or rescaled copies."""
    for k in random.permutation(len(columns))[: 1 + random.integers(max(1, len(columns) // 3))]:
        source = columns[random.integers(len(columns))]
        way = random.integers(4)
        columns[k] = source * 0 if way == 0 else source.copy() if way == 1 else source.max() - source
        if way == 3 and source.dtype.kind == "f":
            columns[k] = source * 2 + 1


def tabular(
    random: np.random.Generator, kind: Kind, rows: int, width: int, most_levels: int | None = None, *, gaps: bool = True
) -> Data:
    """Draw a table of a kind and choose the form in which it is handed over."""
    share = {"categorical": 0.0, "continuous": 1.0}.get(kind, 0.5)
    choices = [r for r in LEVELS if r <= (most_levels or 12)]
    levels = [0 if random.random() < share else int(random.choice(choices)) for _ in range(width)]
    if most_levels is not None and most_levels > 12:
        levels[random.integers(width)] = most_levels
    if kind == "mixed":
        levels[:2] = [0, 3]
    columns = draw_columns(random, rows, levels)
    extra = ""
    if random.random() < 0.2:
        add_degenerate(random, columns)
        extra = ", constants and copies"
    names = [f"x{k}" for k in range(width)]
    gaps = gaps and random.random() < 0.12 and rows >= 31
    form = str(random.choice(["array", "dict", "pandas", "csv", "records"]))
    kinds = {
        name: "continuous" if c.dtype.kind == "f" else "categorical" for name, c in zip(names, columns, strict=True)
    }
    found: dict[str, Any] = {"kinds": kinds}
    if gaps:
        where = [random.random(rows) < random.choice([0, 0.03, 0.15]) for _ in columns]
        columns = [np.where(w, np.nan, c) for w, c in zip(where, columns, strict=True)]
        found["missing"] = str(
            random.choice(["pairwise", "pairwise", "drop", *(["level"] if kind == "categorical" else [])])
        )
        extra += f", gaps ({found['missing']})"
        form = "array" if form in ("csv", "records", "pandas") else form
    raw = _handed_over(form, names, columns)
    as_table = gaps or form in ("csv", "records") or kind == "mixed" or most_levels is not None or random.random() < 0.3
    words = f"{kind} {rows}×{width} as {form}{extra}{', Table' if as_table else ''}"
    if as_table:
        return Data(words, lambda: serape.Table(raw(), **found), tuple(names), kind, digest(columns))
    return Data(words, raw, tuple(names), kind, digest(columns))


def digest(columns: Sequence[Column]) -> str:
    """Return a short hash of the bytes of columns."""
    return hashlib.blake2b(b"".join(c.tobytes() for c in columns), digest_size=6).hexdigest()


def _handed_over(form: str, names: Sequence[str], columns: Sequence[Column]) -> Callable[[], Any]:
    by_name = dict(zip(names, columns, strict=True))
    match form:
        case "array":
            return lambda: np.column_stack(columns)
        case "pandas":
            return lambda: pd.DataFrame({name: _declared(column) for name, column in by_name.items()})
        case "csv":
            lines = [
                ",".join(names),
                *(",".join(map(repr, row)) for row in zip(*(c.tolist() for c in columns), strict=True)),
            ]
            return lambda: io.StringIO("\n".join(lines) + "\n")
        case "records":
            rows = zip(*(c.tolist() for c in columns), strict=True)
            records = [dict(zip(names, row, strict=True)) for row in rows]
            return lambda: records
        case _:
            return lambda: by_name


def _declared(column: Column) -> Any:
    """Return whole numbers as text with one level that does not occur, ordered; other columns as they are."""
    if column.dtype.kind == "f":
        return column
    levels = pd.Index([f"level {k}" for k in range(int(column.max()) + 2)])
    return pd.Categorical.from_codes(column.astype(np.int64), levels, ordered=True)


def sparse(random: np.random.Generator, rows: int, width: int) -> Data:
    """Draw a sparse matrix of small counts or of zeros and ones."""
    columns = draw_columns(random, rows, [int(random.choice([2, 2, 3])) for _ in range(width)])
    dense = np.column_stack(columns) * (random.random((rows, width)) < 0.5)
    make = sp.csr_matrix if random.random() < 0.5 else sp.csc_matrix
    words = f"{make.__name__} {rows}×{width}"
    return Data(words, lambda: make(dense), tuple(f"x{k}" for k in range(width)), "categorical", digest([dense]))


@cache
def _network(name: str) -> serape.Network:
    return serape.load_network(name)


def sampled(name: str, rows: int, seed: int) -> Data:
    """Sample a bundled network."""
    network = _network(name)
    names = tuple(network.variables)
    return Data(f"{name} {rows} rows, seed {seed}", lambda: network.sample(rows, seed), names, "categorical")


def oracle(random: np.random.Generator, nodes: int) -> Data:
    """Draw a graph that answers questions by d-separation."""
    names = tuple(f"x{k}" for k in random.permutation(nodes).tolist())
    density = float(random.choice([0.15, 0.3, 0.4]))
    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_nodes_from(names)
    graph.add_edges_from(pair for pair in combinations(names, 2) if random.random() < density)
    order = [names[k] for k in random.permutation(nodes)]
    words = f"DSeparation of {', '.join('→'.join(edge) for edge in graph.edges) or 'no arcs'}"
    return Data(words, lambda: serape.DSeparation(graph, order), tuple(order), "oracle")


def by_function(data: Data) -> Data:
    """Answer questions about data by a function of one's own."""
    return Data(
        f"FunctionTest on {data.words}",
        lambda: serape.FunctionTest(data.make(), _association),
        data.names,
        "oracle",
        data.digest,
    )


def _association(x: Column, y: Column, z: tuple[Column, ...]) -> tuple[float, float, float]:
    """Measure association by X² within strata, in whole numbers as far as possible; log p = −statistic / (2 dof)."""
    codes = [np.unique(v, return_inverse=True)[1].reshape(-1) for v in (x, y, *z)]
    stratum = np.zeros(len(x), np.int64)
    for code in codes[2:]:
        stratum = np.unique(stratum * (int(code.max()) + 1) + code, return_inverse=True)[1].reshape(-1)
    statistic = dof = 0.0
    for s in range(int(stratum.max()) + 1):
        a, b = (code[stratum == s] for code in codes[:2])
        counts = np.zeros((int(a.max()) + 1, int(b.max()) + 1))
        np.add.at(counts, (a, b), 1)
        counts = counts[counts.sum(axis=1) > 0][:, counts.sum(axis=0) > 0]
        expected = np.multiply.outer(counts.sum(axis=1), counts.sum(axis=0)) / counts.sum()
        statistic += sum(((counts - expected) ** 2 / expected).reshape(-1).tolist())
        dof += (counts.shape[0] - 1) * (counts.shape[1] - 1)
    return (statistic, dof, -statistic / (2 * dof)) if dof else (0.0, 0.0, 0.0)


def content(table: serape.Table) -> Mapping[str, Any]:
    """Return what a table holds, by column: whether it holds categories or numbers, levels, values."""
    numbers = {table.names[k] for k in table.continuous}
    return {
        name: [
            "continuous" if name in numbers else "categorical",
            [str(level) for level in v.levels],
            [str(value) for value in table.column(name).tolist()],
        ]
        for name, v in table.variables.items()
    }
