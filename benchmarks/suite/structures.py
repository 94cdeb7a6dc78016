"""Networks of numbers beside the packages that learn them."""

from __future__ import annotations

import argparse
import statistics
import tempfile
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np

import serape
from benchmarks.common.data import FORMS, SEED, numbers_on_graph, random_graph
from benchmarks.common.output import markdown, report, save
from benchmarks.peers.runner import Runner, add_options, environments

ALPHA = 0.01
METHODS = (
    ("serape", "boss, gaussian-ebic"),
    ("serape", "boss, gaussian-bic"),
    ("serape", "boss, bge"),
    ("serape", "xges, gaussian-ebic"),
    ("serape", "ges, gaussian-ebic"),
    ("serape", "ges, gaussian-bic"),
    ("serape", "tabu, gaussian-ebic"),
    ("serape", "mmhc, gaussian-ebic"),
    ("serape", "pc-stable, fisher-z"),
    ("serape", "hiton-pc"),
    ("PyBNesian", "hc, bic"),
    ("PyBNesian", "hc, bge"),
    ("PyBNesian", "MMHC"),
    ("causal-learn", "PC"),
    ("causal-learn", "GES"),
    ("causal-learn", "BOSS"),
)
GRAPHS = ("insurance", "barley", "win95pts", "random-50", "random-100")
"""Graphs of bundled networks, and random ones of so many variables with three edges a variable on average."""


def options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add_options(parser, limit=30.0, peers=("PyBNesian", "causal-learn"))
    parser.add_argument("--graphs", nargs="+", default=GRAPHS)
    parser.add_argument("--forms", nargs="+", choices=FORMS, default=FORMS)
    parser.add_argument("--rows", nargs="+", type=int, default=[500, 5000, 50_000])
    parser.add_argument("--methods", nargs="+", help="only these of serape")


def graph_of(name: str) -> nx.DiGraph[int]:
    """Return the graph of a bundled network, or a random one, with its nodes numbered in random order."""
    random = np.random.default_rng(SEED)
    if name.startswith("random-"):
        graph: nx.DiGraph[Any] = random_graph(random, int(name.removeprefix("random-")), 3.0)
    else:
        graph = serape.load_network(name).graph
    order = random.permutation(len(graph)).tolist()
    turned: nx.DiGraph[int] = nx.relabel_nodes(graph, dict(zip(graph, order, strict=True)))
    return turned


def measure(runner: Runner, name: str, form: str, rows: int, methods: list[tuple[str, str]]) -> list[dict[str, Any]]:
    """Run all methods on rows of a graph."""
    graph = graph_of(name)
    path = runner.folder / "data.npy"
    np.save(path, numbers_on_graph(graph, rows, form, np.random.default_rng(SEED + rows)))
    truth = nx.relabel_nodes(graph, str)
    found = []
    for tool, method in methods:
        report(f"{name}, {form}, {rows:,} rows: {tool} {method}")
        answer = runner.call(tool, method, path)
        one: dict[str, Any] = {"graph": name, "form": form, "rows": rows, "tool": tool, "method": method}
        if "found" in answer:
            learnt: nx.DiGraph[str] = nx.DiGraph([(str(a), str(b)) for a, b in answer["found"]])
            learnt.add_nodes_from(truth)
            accuracy = serape.compare_graphs(learnt, truth)
            one |= {"shd": accuracy.shd, "seconds": statistics.median(answer["seconds"]), "version": answer["version"]}
            one["share"] = accuracy.shd / truth.number_of_edges()
        else:
            one["failure"] = answer.get("error", f"> {runner.limit:g} s")
        found.append(one)
    return found


def cell(one: dict[str, Any] | None) -> str:
    """Return a cell of the table: distance and seconds, or why there is none."""
    if one is None:
        return "–"
    return f"{one['shd']} ({one['seconds']:.2g} s)" if "shd" in one else str(one["failure"])[:20]


def run(options: argparse.Namespace) -> None:
    """Learn networks of numbers, beside other packages: structural Hamming distance of CPDAGs, and time.

    The graphs are those of bundled networks and random ones. "linear": linear relations with weights from 0.3 to 1 and
    normal noise; columns are scaled. "monotone": the same, then a monotone function of each column. "curved": of each
    parent its tanh, its square or itself. Every call has a process and one thread; imports and a first small call are
    not timed. A call over the limit is ended, and that method is not run on more rows of the graph. Alpha is 0.01 where
    tests are used; hiton-pc has serape's own defaults. Results go to benchmarks/out/structures.json.
    """
    if options.quick:
        options.graphs, options.rows, options.forms = ["random-10"], [200], ["linear"]
    interpreters = environments(options)
    methods = [
        (tool, method)
        for tool, method in METHODS
        if tool in {"serape", *interpreters} and (tool != "serape" or method in (options.methods or [method]))
    ]
    measured: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        warm = folder / "warm.npy"
        np.save(warm, np.random.default_rng(0).normal(size=(50, 4)))
        runner = Runner("structures", folder, warm, interpreters, ALPHA, options.limit)
        for form in options.forms:
            for graph in options.graphs:
                left = list(methods)
                for rows in sorted(options.rows):
                    found = measure(runner, graph, form, rows, left)
                    measured += found
                    left = [(one["tool"], one["method"]) for one in found if "failure" not in one]
    heads = ("data", *(f"{tool} {method}" for tool, method in methods))
    by_key = {(one["form"], one["graph"], one["rows"], one["tool"], one["method"]): one for one in measured}
    lines = []
    for form in options.forms:
        for graph in options.graphs:
            for rows in sorted(options.rows):
                cells = [cell(by_key.get((form, graph, rows, *method))) for method in methods]
                lines.append([f"{graph}, {form}, {rows:,}", *cells])
    print(markdown(heads, lines))
    for form in options.forms:
        for tool, method in methods:
            shares = [
                one["share"]
                for one in measured
                if one["form"] == form and one["tool"] == tool and one["method"] == method and "share" in one
            ]
            if shares:
                print(f"{form}: {tool} {method}: {np.mean(shares):.2f} of the edges in {len(shares)} runs")
    versions = sorted({f"{one['tool']} {one['version']}" for one in measured if "version" in one})
    print(f"{', '.join(versions)}; alpha {ALPHA:g}, seed {SEED}")
    save("structures", {"versions": versions, "structures": measured})
