"""Searches beside published times of bnlearn and CausalFS, and beside packages that are measured in the same run."""

from __future__ import annotations

import argparse
import contextlib
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np

import serape
from benchmarks.common.data import SEED, codes_of, gaussian_network, observed
from benchmarks.common.internals import Finds, true_members
from benchmarks.common.output import machine, markdown, report, save, short
from benchmarks.peers.cells import Data, Numbers
from benchmarks.peers.codes import Codes
from benchmarks.peers.runner import LONG, Runner, add_options, environments, installed

ALPHA = 0.01
TOOLS = ("PyBNesian", "pyAgrum", "causal-learn")
SOURCE = (
    "bnlearn 5.2.1 (R 4.2) and CausalFS v2 (C++): measured once, one thread of a Zen 4, on other rows of the same "
    "networks"
)
"""What the published figures are. Neither is on PyPI."""


@dataclass(frozen=True)
class Cell:
    """Work, the methods that do it, and what others were seen to take for it."""

    data: str
    """A network, or "gaussian"."""
    rows: int
    method: str
    """Of serape: see `benchmarks.peers.cells`."""
    targets: int | None = None
    """How many; all variables by default."""
    variables: int = 0
    """Of Gaussian data."""
    peers: Sequence[tuple[str, str]] = ()
    published: str = "–"

    @property
    def title(self) -> str:
        """The data, the algorithm and the targets."""
        size = f"{self.variables:,} × {self.rows:,}" if self.variables else f"{self.rows:,} rows"
        _, algorithm, *options = self.method.split()
        said = {
            "one-side": "no symmetry check",
            "full-dof": "full degrees of freedom",
            "adjusted-dof": "adjusted degrees of freedom",
            "one-by-one": "one call a target",
            "bdeu": "BDeu",
        }
        whole = self.method.startswith(("skeleton", "network"))
        many = [] if whole else [f"{self.targets or 'all'} targets"]
        return ", ".join([f"{self.data.capitalize()} {size}", algorithm, *(said[o] for o in options), *many])


PC = (("PyBNesian", "PC"), ("pyAgrum", "PC"), ("causal-learn", "PC"))
IAMB = (("causal-learn", "IAMB"),)
MMPC = (("PyBNesian", "MMPC"),)
CELLS = (
    Cell("hailfinder", 5000, "neighbours hiton-pc",
         published="bnlearn .347 s, .189; CausalFS .198 s, .241 (without the check)"),
    Cell("hailfinder", 5000, "neighbours hiton-pc one-side",
         published="bnlearn .347 s, .189; CausalFS .198 s, .241"),
    Cell("hailfinder", 5000, "neighbours hiton-pc one-side full-dof",
         published="bnlearn .347 s, .189 (full degrees of freedom, too)"),
    Cell("pigs", 5000, "neighbours hiton-pc", 20, published="bnlearn .687 s, .110"),
    Cell("hailfinder", 5000, "network mmhc bdeu", peers=[("PyBNesian", "MMHC")], published="bnlearn .25 s"),
    Cell("hailfinder", 5000, "network mmhc bdeu full-dof", peers=[("PyBNesian", "MMHC")], published="bnlearn .25 s"),
    Cell("hailfinder", 5000, "blanket pcmb", published="CausalFS 1.0 s"),
    Cell("hailfinder", 5000, "skeleton pc-stable", peers=PC, published="bnlearn .36 s"),
    Cell("hailfinder", 5000, "skeleton pc-stable full-dof", peers=PC, published="bnlearn .36 s"),
    Cell("gaussian", 1000, "neighbours hiton-pc", 20, 2000, published="bnlearn .973 s"),
    Cell("gaussian", 1000, "neighbours hiton-pc", 20, 200, published="bnlearn .172 s"),
    Cell("alarm", 5000, "neighbours mmpc one-by-one", peers=MMPC, published="PyBNesian 31 ms"),
    Cell("alarm", 5000, "neighbours mmpc full-dof one-by-one", peers=MMPC, published="PyBNesian 31 ms"),
    Cell("alarm", 5000, "neighbours hiton-pc one-by-one"),
    Cell("alarm", 5000, "network tabu bdeu", peers=[("pyAgrum", "tabu")], published="pyAgrum 80 ms"),
    Cell("alarm", 1_000_000, "blanket iamb", peers=IAMB, published="bnlearn 4.2 s for 5 easy targets"),
    Cell("munin1", 5000, "neighbours hiton-pc", 20),
    Cell("link", 5000, "blanket pcmb", 20),
    Cell("alarm", 5000, "neighbours hiton-pc", published="CausalFS .117 s, .079"),
    Cell("alarm", 5000, "blanket iamb", peers=IAMB, published="bnlearn .12 s, .257; CausalFS .197 s, .226"),
    Cell("insurance", 5000, "neighbours hiton-pc", published="CausalFS .214 (without the check)"),
    Cell("insurance", 5000, "neighbours hiton-pc one-side", published="CausalFS .214"),
    Cell("insurance", 5000, "blanket iamb", peers=IAMB, published="CausalFS .283"),
    Cell("insurance", 5000, "blanket iamb adjusted-dof", published="CausalFS .283"),
    Cell("alarm", 5000, "blanket iamb adjusted-dof", published="bnlearn .12 s, .257; CausalFS .197 s, .226"),
)  # fmt: skip


@dataclass
class Measured:
    """What a method gives on the data of a cell."""

    cell: str
    tool: str
    method: str
    times: list[float] = field(default_factory=list)
    accuracy: str = "–"
    failure: str | None = None

    @property
    def text(self) -> str:
        """The seconds and the accuracy, or why there are none."""
        return self.failure or f"{short(min(self.times))} s, {self.accuracy}"


# --- data -------------------------------------------------------------------------------------------------------------


def load(name: str, folder: Path | None) -> serape.Network:
    """Return a network: a BIF file in a folder, or the bundled one."""
    files = [] if folder is None else sorted(folder.glob(f"{name}.bif*"))
    return serape.read_bif(files[0]) if files else serape.load_network(name)


def draw(cell: Cell, folder: Path | None) -> tuple[Data, nx.DiGraph[str]]:
    """Draw the data of a cell; the nodes of the true graph are indices."""
    if cell.variables:
        values, edges = gaussian_network(np.random.default_rng(SEED), cell.rows, cell.variables)
        undirected: nx.Graph[str] = nx.Graph([(str(a), str(b)) for a, b in map(sorted, edges)])
        targets = range(0, cell.variables, cell.variables // (cell.targets or cell.variables))
        return Numbers(values, list(targets)), nx.DiGraph(undirected)
    network = load(cell.data, folder)
    table = network.sample(cell.rows, SEED)
    codes = observed(codes_of(table))
    varying = np.flatnonzero(codes.max(axis=0) > 0)
    wanted = cell.targets or len(varying)
    chosen = varying[:: max(1, len(varying) // wanted)][:wanted].tolist()
    index = {name: str(k) for k, name in enumerate(table.names)}
    return Codes.of_levels_that_occur(codes, chosen), nx.relabel_nodes(nx.DiGraph(network.graph), index)


def accuracy(cell: Cell, found: Any, truth: nx.DiGraph[str]) -> str:
    """Return the structural Hamming distance of a network, or the distance of neighbourhoods or blankets."""
    if cell.method.startswith("network"):
        graph: nx.DiGraph[str] = nx.DiGraph([(str(a), str(b)) for a, b in found])
        graph.add_nodes_from(truth)
        return f"SHD {serape.compare_graphs(graph, truth).shd}"
    finds: Finds = "blanket" if cell.method.startswith("blanket") else "parents-children"
    if cell.variables:
        right = {target: set(truth.successors(target)) for target in found}
    else:
        right = {target: true_members(truth, target, finds) for target in found}
    members = {target: {str(x) for x in of_target} for target, of_target in found.items()}
    return f"{serape.compare(members, right).distance:.3f}"


# --- runs -------------------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def locked(path: Path | None) -> Iterator[None]:
    """Hold a lock, if one is named, so that other work can wait."""
    if path is None:
        yield
        return
    import fcntl  # not on Windows

    with path.open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def measure(runner: Runner, cell: Cell, options: argparse.Namespace) -> list[Measured]:
    """Do the work of a cell by every tool, in turns; serape is the first."""
    data, truth = draw(cell, options.networks)
    path = data.write(runner.folder / "cell.npz")
    methods = [("serape", cell.method), *((t, m) for t, m in cell.peers if t in runner.tools)]
    measured = [Measured(cell.title, tool, method) for tool, method in methods]
    for _ in range(options.repeats):
        for one in measured:
            if one.failure is None and max(one.times, default=0.0) < LONG:
                with locked(options.lock):
                    take(one, runner.call(one.tool, one.method, path), cell, truth, runner.limit)
                report(f"{cell.title}: {one.tool} {one.text}")
    return measured


def take(one: Measured, answer: Mapping[str, Any], cell: Cell, truth: nx.DiGraph[str], limit: float) -> None:
    """Record the outcome of a run."""
    if "error" in answer:
        one.failure = f"fails: {answer['error']:.60}"
    elif "ended" in answer:
        one.failure = f"> {limit:g} s"
    else:
        one.times += answer["seconds"]
        one.accuracy = accuracy(cell, answer["found"], truth)


def line(cell: Cell, measured: Sequence[Measured]) -> list[str]:
    """Return the line of the table about a cell."""
    own, *others = measured
    beside = "; ".join(f"{one.tool} {one.method} {one.text}" for one in others)
    seconds = own.failure or short(min(own.times))
    return [cell.title, seconds, own.accuracy, cell.published, beside or "–"]


def options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add_options(parser, limit=30.0, peers=TOOLS)
    parser.add_argument("--networks", type=Path, help="a folder with networks as BIF files, in place of those bundled")
    parser.add_argument("--cells", nargs="+", type=int, help="only these lines of the table, from 1")
    parser.add_argument("--repeats", type=int, default=3, help="processes for each tool and cell")
    parser.add_argument("--lock", type=Path, help="a file to lock during each run, so that other work can wait")


def run(options: argparse.Namespace) -> None:
    """Do the work of which bnlearn's and CausalFS's times are known, beside packages that are on PyPI.

    Every run has a process and one thread; the work is repeated, each time on a table made anew, and the quickest time
    counts. Tests are G², or Fisher's z of Gaussian data, at alpha 0.01, each tool with its own rule of reliability and
    degrees of freedom; scores are BDeu with an equivalent sample size of 1. Accuracy is the distance of precision and
    recall to perfection, averaged over the targets; of whole networks, the structural Hamming distance. Imports,
    reading and making a tool's own table are not timed. PyBNesian, pyAgrum and causal-learn run where they have the
    algorithm; their PC orients, too, but for causal-learn's. Results go to benchmarks/out/published.json.
    """
    cells = list(CELLS)
    if options.quick:
        options.repeats = 1
        cells = [replace(c, rows=300) for c in cells if c.data == "insurance" or "tabu" in c.method]
    elif options.cells:
        cells = [CELLS[k - 1] for k in options.cells]
    interpreters = environments(options)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        small = observed(codes_of(serape.load_network("asia").sample(200, SEED)))
        warm = Codes.of_levels_that_occur(small, range(small.shape[1])).write(folder / "warm.npz")
        runner = Runner("cells", folder, warm, interpreters, ALPHA, options.limit)
        found = [measure(runner, cell, options) for cell in cells]
    head = ("work", "serape, s", "accuracy", "published: s, accuracy", "in the same run: s, accuracy")
    print(markdown(head, [line(c, m) for c, m in zip(cells, found, strict=True)], words={0, 3, 4}))
    versions = [f"serape {serape.__version__}", *(f"{p} {installed(py, [p])[p]}" for p, py in interpreters.items())]
    print(f"\nPublished: {SOURCE}.\n{', '.join(versions)}; alpha {ALPHA:g}; {machine()}")
    save("published", {"versions": versions, "source": SOURCE, "measured": [asdict(m) for ms in found for m in ms]})
