"""Networks beside the packages that learn them."""

from __future__ import annotations

import argparse
import platform
import statistics
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

import networkx as nx
import numpy as np

import serape
from benchmarks.common.data import SEED, codes_of
from benchmarks.common.output import report, save
from benchmarks.peers.codes import Codes
from benchmarks.peers.runner import LONG, Runner, add_options, environments


@dataclass(frozen=True)
class Method:
    """A tool's name for a method, and the kind of method."""

    tool: str
    name: str
    kind: str


METHODS = tuple(
    Method(tool, name, kind)
    for tool, name, kind in (
        ("serape", "pc-stable", "tests"),  # others are compared with the first of their kind
        ("serape", "hiton-pc", "tests"),
        ("serape", "hpc", "tests"),
        ("serape", "mmhc, bdeu", "hybrid"),
        ("serape", "h2pc, bdeu", "hybrid"),
        ("serape", "ges, bdeu", "ges, bdeu"),
        ("serape", "ges, bic", "ges, bic"),
        ("serape", "boss, bic", "ges, bic"),
        ("serape", "tabu, bdeu", "climbing, bdeu"),
        ("serape", "tabu, bic", "climbing, bic"),
        ("pgmpy", "PC", "tests"),
        ("pgmpy", "MMHC, bdeu", "hybrid"),
        ("pgmpy", "GES, bdeu", "ges, bdeu"),
        ("pgmpy", "GES, bic", "ges, bic"),
        ("pgmpy", "HillClimbSearch, bdeu", "climbing, bdeu"),
        ("pgmpy", "HillClimbSearch, bic", "climbing, bic"),
        ("pyAgrum", "PC", "tests"),
        ("pyAgrum", "MIIC", "tests"),
        ("pyAgrum", "tabu, bdeu", "climbing, bdeu"),
        ("pyAgrum", "tabu, bic", "climbing, bic"),
        ("pyAgrum", "greedy, bdeu", "climbing, bdeu"),
        ("pyAgrum", "greedy, bic", "climbing, bic"),
        ("causal-learn", "PC", "tests"),
        ("causal-learn", "GES, bdeu", "ges, bdeu"),
    )
)


@dataclass
class Measured:
    """What a method gives on some rows of a network."""

    network: str
    rows: int
    tool: str
    method: str
    times: list[float] = field(default_factory=list)
    seconds: float | None = None
    ratio: float | None = None
    shd: int | None = None
    precision: float | None = None
    recall: float | None = None
    failure: str | None = None
    version: str | None = None

    def line(self) -> str:
        """Return the line of the table."""
        cells = [self.network, f"{self.rows:,}", self.tool, self.method]
        if self.failure is not None:
            cells += ["", "", self.failure.replace("|", "/"), ""]
        else:
            cells += [str(self.shd), f"{self.precision:.3f} / {self.recall:.3f}", f"{self.seconds:.3g}"]
            cells.append("" if self.ratio is None else f"{self.ratio:.3g}")
        return f"| {' | '.join(cells)} |"


HEAD = """\
| network | rows | tool | method | SHD | skeleton precision / recall | seconds | × serape |
|---|---:|---|---|---:|---|---:|---:|"""


def compare(
    runner: Runner, network: str, sizes: Iterable[int], methods: Sequence[Method], repeats: int
) -> list[Measured]:
    """Run all methods on samples of a network."""
    truth = serape.load_network(network)
    too_long: dict[Method, int] = {}
    measured: list[Measured] = []
    for rows in sizes:
        data = write(runner.folder, network, rows)
        these = {m: Measured(network, rows, m.tool, m.name) for m in methods}
        for method, at in too_long.items():
            these[method].failure = f"not run (> {runner.limit:g} s at {at:,} rows)"
        for _ in range(repeats):
            for method, one in these.items():
                if one.failure is not None or (one.times and max(one.times) > LONG):
                    continue
                report(f"{network}, {rows:,} rows: {method.tool} {method.name}")
                answer = runner.call(method.tool, method.name, data)
                if "ended" in answer:
                    one.failure = f"> {runner.limit:g} s"
                    too_long[method] = rows
                elif "error" in answer:
                    one.failure = f"failed: {answer['error']:.80}"
                else:
                    one.times.append(statistics.median(answer["seconds"]))
                    one.version = answer["version"]
                    graph: nx.DiGraph[str] = nx.DiGraph(answer["found"])
                    graph.add_nodes_from(truth.variables)
                    accuracy = serape.compare_graphs(graph, truth)
                    one.shd = accuracy.shd
                    one.precision, one.recall = accuracy.skeleton_precision, accuracy.skeleton_recall
        own: dict[str, float | None] = {}
        for method, one in these.items():
            if one.failure is None:
                one.seconds = statistics.median(one.times)
            reference = own.setdefault(method.kind, one.seconds)
            if one.seconds is not None and reference is not None:
                one.ratio = one.seconds / reference
            print(one.line(), flush=True)
        measured += these.values()
    return measured


def write(folder: Path, network: str, rows: int) -> Path:
    """Write a sample of a network for the tools to read."""
    table = serape.load_network(network).sample(rows, SEED)
    levels = [table.levels(k) for k in range(len(table.names))]
    data = Codes(np.stack(codes_of(table), axis=1), list(table.names), levels, [], network, SEED)
    return data.write(folder / f"{network}-{rows}.npz")


def options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add_options(parser, limit=120.0, peers=("pgmpy", "pyAgrum", "causal-learn"))
    parser.add_argument("--networks", nargs="+", default=["alarm", "insurance", "hailfinder", "pigs"])
    parser.add_argument("--rows", nargs="+", type=int, default=[500, 5000, 20_000])
    parser.add_argument("--alpha", type=float, default=0.05)
    parser.add_argument("--repeats", type=int, default=3)


def run(options: argparse.Namespace) -> None:
    """Learn networks, beside other packages: structural Hamming distance and time.

    Every call has a fresh process and one thread; calls alternate, and times are medians. Reading data, imports and a
    first small call are not timed. A call over 10 seconds is made once, one over the limit is ended; a method that was
    ended is not tried on more rows of the same network.

    Tests are G² at the same alpha (chi² in pgmpy's MMHC, which has no other), scores BIC, or BDeu with an equivalent
    sample size of 1, as pyAgrum and causal-learn have no other; causal-learn's BDeu has a prior on structures, too. All
    else is each tool's default. Every graph is measured by `serape.compare_graphs`, as a completed graph (CPDAG).
    "× serape" is the time divided by that of serape's method of the same kind: pc-stable for methods by tests (and
    MIIC), mmhc for hybrids, ges, and tabu for all climbing, with the same score. Results go to
    benchmarks/out/networks.json.
    """
    if options.quick:
        options.networks, options.rows, options.limit, options.repeats = ["asia"], [500], 2.0, 1
    interpreters = environments(options)
    methods = [m for m in METHODS if m.tool in {"serape", *interpreters}]
    measured: list[Measured] = []
    print(HEAD, flush=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        runner = Runner("networks", folder, write(folder, "cancer", 200), interpreters, options.alpha, options.limit)
        for network in options.networks:
            measured += compare(runner, network, sorted(options.rows), methods, options.repeats)
    versions = sorted({f"{one.tool} {one.version}" for one in measured if one.version is not None})
    print(f"\n{', '.join(versions)}; alpha {options.alpha:g}, seed {SEED}")
    content = {
        "versions": versions,
        "python": platform.python_version(),
        "alpha": options.alpha,
        "limit": options.limit,
        "seed": SEED,
        "networks": [asdict(one) for one in measured],
    }
    save("networks", content)
