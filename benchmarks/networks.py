"""Whole networks: structural Hamming distance and time, beside other packages, on the same rows in one run.

    python benchmarks/networks.py [--peers PYTHON] [--quick] [--json FILE]
    python benchmarks/networks.py --large [PIECE …] [--json FILE]

`PYTHON` is the interpreter of an environment with `pip install pgmpy pyAgrum causal-learn`; without it serape runs
alone. Every call has a fresh process and one thread; calls alternate, and times are medians. Reading data, imports and
a first small call are not timed. A call over 10 seconds is made once, one over the limit is ended; a method that was
ended is not tried on more rows of the same network.

Tests are G² at the same alpha (chi² in pgmpy's MMHC, which has no other), scores BIC, or BDeu with an equivalent sample
size of 1, as pyAgrum and causal-learn have no other; causal-learn's BDeu has a prior on structures, too. Everything
else is each tool's default. Every graph is measured by `serape.compare_graphs`, as a completed graph (CPDAG).
"× serape" is the time divided by that of serape's method of the same kind: pc-stable for those that go by tests (MIIC
among them), mmhc for hybrids, ges, and tabu for all climbing, with the same score.

--large learns skeletons by serape alone, on two threads: seconds, tests, memory, precision and recall.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np

import serape

SEED = 1
LONG = 10.0
"""Seconds from which a call is not repeated."""
PREPARING = 300.0
"""Seconds for imports and reading."""


@dataclass(frozen=True)
class Method:
    """What a tool calls a way of learning, and what kind it is."""

    tool: str
    name: str
    kind: str


METHODS = tuple(
    Method(tool, name, kind)
    for tool, name, kind in (
        ("serape", "pc-stable", "tests"),  # the first of a kind is what others are compared with
        ("serape", "hiton-pc", "tests"),
        ("serape", "mmhc, bdeu", "hybrid"),
        ("serape", "h2pc, bdeu", "hybrid"),
        ("serape", "ges, bdeu", "ges, bdeu"),
        ("serape", "ges, bic", "ges, bic"),
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
    """What came of a method on some rows of a network."""

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


class Runner:
    """Makes calls, each in a process of its own."""

    def __init__(self, folder: Path, peers: str | None, alpha: float, limit: float) -> None:
        self.folder, self.peers, self.alpha, self.limit = folder, peers, alpha, limit
        self.warm = self.write("cancer", 200)

    def write(self, network: str, rows: int) -> Path:
        """Write a sample for the tools to read."""
        path = self.folder / f"{network}-{rows}.npz"
        table = serape.load_network(network).sample(rows, SEED)
        columns = range(len(table.names))
        np.savez(
            path,
            codes=np.stack([table.packed.codes(k) for k in columns], axis=1),
            levels=np.array([table.levels(k) for k in columns]),
            names=np.array(table.names),
            network=np.array(network),
            seed=np.array(SEED),
        )
        return path

    def call(self, method: Method, data: Path) -> dict[str, Any]:
        """Learn from the data; return what was found, or `error` or `ended`."""
        python = sys.executable if method.tool == "serape" else self.peers
        result = self.folder / "result.json"
        result.unlink(missing_ok=True)
        script = Path(__file__).with_name("peer_networks.py")
        command = [str(python), *map(str, (script, self.warm, data, result, method.tool, method.name, self.alpha))]
        settings = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
        settings["PYTHONHASHSEED"] = "0"  # some answers depend on the order of sets
        with (
            (self.folder / "stderr.txt").open("w") as errors,
            subprocess.Popen(
                command, env={**os.environ, **settings}, stdout=subprocess.PIPE, stderr=errors, text=True
            ) as process,
        ):
            try:
                self._await_ready(process)
                process.wait(self.limit)
            except subprocess.TimeoutExpired:
                return {"ended": True}
            finally:
                process.kill()
        if not result.exists():
            said = (self.folder / "stderr.txt").read_text().splitlines() or [f"exit code {process.returncode}"]
            return {"error": said[-1]}
        found: dict[str, Any] = json.loads(result.read_text())
        return found

    @staticmethod
    def _await_ready(process: subprocess.Popen[str]) -> None:
        """Read until the tool says that it is ready, or ends."""
        patience = threading.Timer(PREPARING, process.kill)
        patience.start()
        for line in process.stdout or ():
            if line.strip() == "ready":
                break
        patience.cancel()


def compare(
    runner: Runner, network: str, sizes: Iterable[int], methods: Sequence[Method], repeats: int
) -> list[Measured]:
    """Run all methods on samples of a network."""
    truth = serape.load_network(network)
    too_long: dict[Method, int] = {}
    measured: list[Measured] = []
    for rows in sizes:
        data = runner.write(network, rows)
        these = {m: Measured(network, rows, m.tool, m.name) for m in methods}
        for method, at in too_long.items():
            these[method].failure = f"not run (> {runner.limit:g} s at {at:,} rows)"
        for _ in range(repeats):
            for method, one in these.items():
                if one.failure is not None or (one.times and max(one.times) > LONG):
                    continue
                _tell(f"{network}, {rows:,} rows: {method.tool} {method.name}")
                answer = runner.call(method, data)
                if "ended" in answer:
                    one.failure = f"> {runner.limit:g} s"
                    too_long[method] = rows
                elif "error" in answer:
                    one.failure = f"failed: {answer['error']:.80}"
                else:
                    one.times.append(answer["seconds"])
                    one.version = answer["version"]
                    graph: nx.DiGraph[str] = nx.DiGraph(answer["arcs"])
                    graph.add_nodes_from(truth.variables)
                    near = serape.compare_graphs(graph, truth)
                    one.shd, one.precision, one.recall = near.shd, near.skeleton_precision, near.skeleton_recall
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


# --- large skeletons --------------------------------------------------------------------------------------------------

Case = tuple[serape.Table, "nx.DiGraph[str] | serape.Network"]


def wide() -> Case:
    """Make 2,000 binary variables with one to three parents each, 1,000 rows."""
    random = np.random.default_rng(SEED)
    rows, variables = 1000, 2000
    codes = np.zeros((rows, variables), np.int64)
    graph: nx.DiGraph[str] = nx.DiGraph()
    for k in range(variables):
        graph.add_node(f"x{k}")
        parents = random.choice(k, min(k, int(random.integers(1, 4))), replace=False)
        graph.add_edges_from((f"x{p}", f"x{k}") for p in parents)
        stratum = codes[:, parents] @ (1 << np.arange(len(parents)))
        codes[:, k] = random.random(rows) < random.beta(0.5, 0.5, 1 << len(parents))[stratum]
    return serape.Table(codes), graph


def link() -> Case:
    """Sample Link: 724 variables, 5,000 rows."""
    network = serape.load_network("link")
    return network.sample(5000, SEED), network


def tiled() -> Case:
    """Sample 540 joined copies of Alarm: 19,980 variables, 1,000 rows."""
    network = serape.load_network("alarm").tile(540, 0)
    return network.sample(1000, 0), network


PIECES: dict[str, Callable[[], Case]] = {"wide": wide, "link": link, "tiled": tiled}


def learn_large(piece: str) -> dict[str, Any]:
    """Learn one large skeleton, in a fresh process so that the memory is its own."""
    table, truth = PIECES[piece]()
    before = _peak_mebibytes()
    found = serape.skeleton(table, algorithm="hiton-pc", n_jobs=2)
    peak = _peak_mebibytes()
    near = serape.compare_graphs(found.graph, truth)
    return {
        "piece": piece,
        "variables": len(table.names),
        "rows": table.rows,
        "seconds": found.seconds,
        "tests": found.tests,
        "skipped": found.skipped,
        "peak_mebibytes_before": before,
        "peak_mebibytes": peak,
        "precision": near.skeleton_precision,
        "recall": near.skeleton_recall,
    }


def large(pieces: Iterable[str]) -> list[dict[str, Any]]:
    """Learn large skeletons and print a line each."""
    print("| data | variables | rows | seconds | tests | peak memory, MiB (before) | precision / recall |")
    print("|---|---:|---:|---:|---:|---:|---|", flush=True)
    measured = []
    for piece in pieces:
        _tell(f"{piece}: skeleton by hiton-pc")
        with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as fresh:
            one = fresh.submit(learn_large, piece).result()
        print(
            f"| {piece} | {one['variables']:,} | {one['rows']:,} | {one['seconds']:.3g} | {one['tests']:,} | "
            f"{one['peak_mebibytes']:,.0f} ({one['peak_mebibytes_before']:,.0f}) | "
            f"{one['precision']:.3f} / {one['recall']:.3f} |",
            flush=True,
        )
        measured.append(one)
    return measured


def _peak_mebibytes() -> float:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (2**20 if sys.platform == "darwin" else 2**10)


def _tell(what: str) -> None:
    print(what, file=sys.stderr, flush=True)


def main() -> None:
    """Measure, print and save."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--peers", metavar="PYTHON", help="the interpreter of an environment with the other packages")
    parser.add_argument("--tools", nargs="+", choices=sorted({m.tool for m in METHODS}), help="only these, and serape")
    parser.add_argument("--networks", nargs="+", default=["alarm", "insurance", "hailfinder", "pigs"])
    parser.add_argument("--rows", nargs="+", type=int, default=[500, 5000, 20_000])
    parser.add_argument("--alpha", type=float, default=0.05)
    parser.add_argument("--limit", type=float, default=120.0, help="seconds for a call")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--quick", action="store_true", help="asia and alarm, 500 and 5,000 rows, once, 2 s for a call")
    parser.add_argument("--large", nargs="*", choices=PIECES, metavar="PIECE", help="large skeletons, instead")
    parser.add_argument("--json", type=Path, help="where to save the same")
    options = parser.parse_args()
    if options.quick:
        options.networks, options.rows, options.limit, options.repeats = ["asia", "alarm"], [500, 5000], 2.0, 1
    saved: dict[str, Any] = {"serape": serape.__version__, "python": platform.python_version()}
    if options.large is not None:
        saved["large"] = large(options.large or PIECES)
    else:
        wanted = {"serape", *(options.tools or (m.tool for m in METHODS))} if options.peers else {"serape"}
        methods = [m for m in METHODS if m.tool in wanted]
        measured: list[Measured] = []
        print(HEAD, flush=True)
        with tempfile.TemporaryDirectory() as folder:
            runner = Runner(Path(folder), options.peers, options.alpha, options.limit)
            for network in options.networks:
                measured += compare(runner, network, sorted(options.rows), methods, options.repeats)
        versions = sorted({f"{one.tool} {one.version}" for one in measured if one.version is not None})
        print(f"\n{', '.join(versions)}; alpha {options.alpha:g}, seed {SEED}")
        saved |= {"alpha": options.alpha, "limit": options.limit, "seed": SEED, "versions": versions}
        saved["networks"] = [asdict(one) for one in measured]
    if options.json is not None:
        options.json.write_text(json.dumps(saved, indent=1) + "\n")


if __name__ == "__main__":
    main()
