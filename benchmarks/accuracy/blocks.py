"""Networks and blankets of numbers and mixtures: the block score beside other scores, and beside tests."""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import networkx as nx
import numpy as np
from numpy.typing import NDArray

import serape
from benchmarks.common.output import markdown, report, save

Graph = nx.DiGraph
Values = NDArray[Any]
Draw = Callable[[int, int], "tuple[dict[str, Values], Graph[str]]"]
"""Draws so many rows by a seed."""

KINDS = ("linear", "monotone", "curved", "mixed", "shown")
CURVES: tuple[Callable[[Values], Values], ...] = (
    lambda z: z * z - 1,
    lambda z: 1.4 * np.sin(2 * z),
    np.abs,
    lambda z: z,
    np.tanh,
)
NETWORKS, BLANKETS = ("block-ebic", "gaussian-ebic, cg-ebic", "hiton-pc"), ("boss-mb", "iamb")
ARMS = (*NETWORKS, *BLANKETS)


class Measured(NamedTuple):
    """How far an answer is from the truth. Distance, share and recall are means over the blankets of all variables."""

    shd: float
    distance: float
    false: float
    recall: float
    seconds: float


# --- generated networks -----------------------------------------------------------------------------------------------


def shown(values: Values, form: int) -> Values:
    """Return a column as the table has it: numbers, a level for each of three intervals, or of two."""
    if form == 0:
        return values
    cuts = ([-0.7, 0.7], [0.0])[form - 1]
    return np.array(["low", "middle", "high"] if form == 1 else ["no", "yes"])[np.digitize(values, cuts)]


def drawn(kind: str, variables: int, rows: int, seed: int) -> tuple[dict[str, Values], Graph[str]]:
    """Draw a network in which a variable has up to three parents among the earlier ones, and rows.

    A variable is a weighted sum of its parents, each of mean 0 and deviation 1, and of noise of deviation 1. "curved"
    bends some parents before. "monotone" stretches the tails of every second variable, on which children then depend.
    Of "mixed" and "shown", two in three columns are cut into categories; the children of "shown" depend on the
    categories, those of "mixed" on the hidden numbers.
    """
    random = np.random.default_rng([KINDS.index(kind), seed])
    graph: Graph[str] = nx.DiGraph()
    hidden: list[Values] = []
    for k in range(variables):
        graph.add_node(f"v{k}")
        total = np.zeros(rows)
        for parent in random.choice(k, min(k, int(random.integers(4))), replace=False).tolist() if k else ():
            graph.add_edge(f"v{parent}", f"v{k}")
            cause = hidden[parent]
            if kind == "shown" and parent % 3:
                cause = np.digitize(cause, [-0.7, 0.7] if parent % 3 == 1 else [0.0]).astype(float)
            cause = (cause - cause.mean()) / (cause.std() or 1.0)
            if kind == "curved":
                cause = CURVES[int(random.integers(len(CURVES)))](cause)
            total += random.choice([-1, 1]) * random.uniform(0.6, 1.2) * cause
        total += random.normal(size=rows)
        total /= total.std()
        hidden.append(np.sinh(1.2 * total) if kind == "monotone" and k % 2 else total)
    with_categories = kind in ("mixed", "shown")
    order = random.permutation(variables).tolist()
    return {f"v{k}": shown(hidden[k], k % 3 if with_categories else 0) for k in order}, graph


# --- networks from files ----------------------------------------------------------------------------------------------


def read_network(file: Path) -> Mapping[str, Any]:
    """Read the nodes of a fitted network that bnlearn has saved: a list in a file of R."""
    rdata = import_module("rdata")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about classes that it does not know
        found: Mapping[str, Any] = rdata.read_rds(file)
    return found


def parents_in(node: Mapping[str, Any]) -> list[str]:
    """Return the names of a node's parents."""
    return [str(name) for name in node["parents"]] if len(node["parents"]) else []


def sampled(nodes: Mapping[str, Any], rows: int, seed: int) -> tuple[dict[str, Values], Graph[str]]:
    """Draw rows of a conditional Gaussian network of bnlearn, columns in random order.

    A number is a linear function of its parents among the numbers and normal noise, with coefficients and deviation by
    combination of the levels of its other parents, of which the first changes fastest. Categories have no parents.
    """
    random = np.random.default_rng(seed)
    graph: Graph[str] = nx.DiGraph()
    graph.add_nodes_from(map(str, nodes))
    graph.add_edges_from((parent, str(name)) for name, node in nodes.items() for parent in parents_in(node))
    data: dict[str, Values] = {}
    codes: dict[str, Values] = {}
    for name in nx.topological_sort(graph):
        node, parents = nodes[name], parents_in(nodes[name])
        if "prob" in node:
            if parents:
                raise ValueError(f"{name} is a category with parents")
            shares = np.asarray(node["prob"], float)
            codes[name] = random.choice(len(shares), rows, p=shares / shares.sum())
            data[name] = np.array([f"l{k}" for k in range(len(shares))])[codes[name]]
            continue
        cell, cells = np.zeros(rows, np.int64), 1
        for parent in parents:
            if parent in codes:
                cell, cells = cell + cells * codes[parent], cells * len(nodes[parent]["prob"])
        numbers = [data[parent] for parent in parents if parent not in codes]
        factors = np.asarray(node["coefficients"], float).reshape(1 + len(numbers), cells)[:, cell]
        mean = factors[0] + sum(a * x for a, x in zip(factors[1:], numbers, strict=True))
        deviation = np.asarray(node["sd"], float).reshape(cells)[cell]
        data[name] = mean + deviation * random.normal(size=rows)
    names = list(data)
    return {names[k]: data[names[k]] for k in random.permutation(len(names)).tolist()}, graph


# --- measurements -----------------------------------------------------------------------------------------------------


def blanket_in(graph: Graph[str], target: str) -> set[str]:
    """Return the blanket in a DAG, or in a class of them: an edge without a direction is an arc both ways."""
    both = {x for x in graph.predecessors(target) if graph.has_edge(target, x)}
    children = set(graph.successors(target)) - both
    near = {*graph.predecessors(target), *children}
    spouses = {x for child in children for x in graph.predecessors(child) if not graph.has_edge(child, x)}
    return (near | spouses) - {target}


def compared(found: Mapping[str, Iterable[str]], truth: Mapping[str, set[str]]) -> tuple[float, float, float]:
    """Return means over the variables: distance from precision and recall 1, share of false members, recall."""
    each = []
    for name, true in truth.items():
        own = set(found[name])
        precision = len(own & true) / len(own) if own else 1.0
        recall = len(own & true) / len(true) if true else 1.0
        each.append((np.hypot(1 - precision, 1 - recall), 1 - precision, recall))
    distance, false, recalled = np.mean(each, axis=0).tolist()
    return distance, false, recalled


def measured(arm: str, columns: Mapping[str, Values], graph: Graph[str]) -> Measured:
    """Ask an arm about a table of its own, so that none finds what another one has made."""
    table = serape.Table(columns, kinds={name: "continuous" for name, v in columns.items() if v.dtype.kind == "f"})
    shd = float("nan")
    begin = time.process_time()
    if arm in BLANKETS:
        blankets = serape.blankets(table, algorithm=arm, max_seconds=None, n_jobs=1)
        seconds = time.process_time() - begin
        answer = {name: set(found.blanket) for name, found in blankets.items()}
    else:
        if arm == "hiton-pc":
            network = serape.network(table, arm, max_seconds=None, n_jobs=1)
        else:
            other = "gaussian-ebic" if len(table.continuous) == len(columns) else "cg-ebic"
            score = arm if arm == "block-ebic" else other
            network = serape.network(table, "boss", score=score, max_seconds=None, n_jobs=1)
        seconds = time.process_time() - begin
        shd = float(network.compare(graph).shd or 0)
        answer = {name: blanket_in(network.cpdag, name) for name in graph}
    return Measured(shd, *compared(answer, {name: blanket_in(graph, name) for name in graph}), seconds)


def line_of(name: str, rows: int, of_arm: Mapping[str, Sequence[Measured]]) -> tuple[list[str], list[str]]:
    """Return a line of the table of networks, and one of that of blankets."""
    means = {arm: Measured(*np.mean(each, axis=0).tolist()) for arm, each in of_arm.items()}
    networks = [f"{means[arm].shd:.1f}, {means[arm].seconds:.2g} s" for arm in NETWORKS]
    blankets = [f"{m.distance:.3f}: {m.false:.3f}, {m.recall:.3f}" for m in means.values()]
    blankets += [f"{means[arm].seconds:.2g} s" for arm in BLANKETS]
    return [name, f"{rows:,}", *networks], [name, f"{rows:,}", *blankets]


def measure(draws: Mapping[str, Draw], rows: Sequence[int], repeats: int) -> None:
    """Print both tables, and write what was measured on every sample."""
    lines: list[tuple[list[str], list[str]]] = []
    kept = []
    for name, draw in draws.items():
        for count in rows:
            of_arm: dict[str, list[Measured]] = {arm: [] for arm in ARMS}
            for seed in range(repeats):
                columns, graph = draw(count, seed)
                for arm, each in of_arm.items():
                    each.append(measured(arm, columns, graph))
            lines.append(line_of(name, count, of_arm))
            report(" | ".join(lines[-1][0] + lines[-1][1][2:]))
            for arm, each in of_arm.items():
                kept.append({"data": name, "rows": count, "arm": arm, "samples": [one._asdict() for one in each]})
    print("Networks: structural Hamming distance to the class of the truth, seconds of the processor\n")
    print(markdown(("data", "rows", *NETWORKS), [line for line, _ in lines]))
    print("\nBlankets: distance: share of false members, recall; seconds of those that are asked for blankets\n")
    heads = ("data", "rows", *ARMS, *(f"{arm}, seconds" for arm in BLANKETS))
    print(markdown(heads, [line for _, line in lines]))
    save("blocks", {"rows": list(rows), "measured": kept})


def options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS), help="only these")
    parser.add_argument("--rows", nargs="+", type=int, help="200 to 5,000")
    parser.add_argument("--variables", type=int, default=15, help="of a generated network")
    parser.add_argument("--repeats", type=int, help="networks of each kind: 20; samples of each network of a folder: 5")
    parser.add_argument("--networks", type=Path, metavar="FOLDER", help="networks of bnlearn instead: .rds files")


def run(options: argparse.Namespace) -> None:
    """Measure networks and blankets of numbers and mixtures.

    Five answers about each sample: networks by `boss` with the block score (the default), by `boss` with the Gaussian
    or the conditional Gaussian score, and by `hiton-pc`; blankets of all variables by `boss-mb` (the default) and by
    `iamb`. Blankets are also read from the networks. Kinds of data: linear relations; the same, but every second column
    has heavy tails, on which its children depend ("monotone"); curves; mixtures with two columns in three cut into
    categories, whose children depend on the hidden numbers ("mixed") or on the categories ("shown"). With --networks:
    samples of fitted networks.
    """
    draws: dict[str, Draw]
    if options.networks is not None:
        files = sorted(options.networks.glob("*.rds"))
        draws = {file.stem: partial(sampled, read_network(file)) for file in files[: 1 if options.quick else None]}
        rows, repeats = options.rows or [200, 1000, 5000], options.repeats or 5
    else:
        variables = 6 if options.quick else options.variables
        draws = {kind: partial(drawn, kind, variables) for kind in options.kinds}
        rows, repeats = options.rows or [200, 500, 2000, 5000], options.repeats or 20
    if options.quick:
        rows, repeats = [200], 1
    measure(draws, rows, repeats)
