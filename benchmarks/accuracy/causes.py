"""Causes and effects of every variable: accuracy, tests and seconds beside learning the whole network."""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Collection, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from functools import partial, reduce
from itertools import product
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np

import serape
from benchmarks.accuracy.calibration.real import data_sets
from benchmarks.common.internals import ancestral_edges, cpdag, fits
from benchmarks.common.output import markdown, report, save, short
from benchmarks.common.processes import add_jobs, in_processes

NETWORKS = ("child", "insurance", "alarm", "hailfinder", "andes", "alarm x 10")
ROWS = (500, 5000)
CHOSEN_ON = ("hailfinder", "andes", "win95pts", "hepar2")
CONFIRMED_ON = ("child", "insurance", "alarm", "barley", "mildew", "water")
"""Networks for the forms of LDECC: on those of the first, its default was chosen."""
TARGETS = 40
"""At most so many targets of a network are asked for."""
WHOLE = "pc-stable"
REAL = {"bike": "RentedBikeCount", "pima": "Outcome", "titanic": "survived", "taxis": "tip"}
Roles = tuple[set[str], set[str], set[str]]
"""Causes, effects, undecided neighbours."""


@dataclass(frozen=True)
class Method:
    """An algorithm with a learner and options."""

    algorithm: str
    learner: str
    options: tuple[tuple[str, Any], ...] = ()

    def __str__(self) -> str:
        return (
            ", ".join([self.algorithm, *(f"{name}={value}" for name, value in self.options)]) + f" with {self.learner}"
        )


METHODS = (
    Method("mb-by-mb", "hpc"),
    Method("mb-by-mb", "hiton-mb"),
    Method("mb-by-mb", "fbed"),
    Method("ldecc", "hpc"),
    Method("ldecc", "hiton-mb"),
)
FORMS = {
    "mb-by-mb": Method("mb-by-mb", "hpc"),
    "ldecc": Method("ldecc", "hpc"),
    "not equal": Method("ldecc", "hpc", (("equal_separators", False),)),
    "published": Method("ldecc", "hpc", (("published", True),)),
    "published, equal": Method("ldecc", "hpc", (("published", True), ("equal_separators", True))),
}


@dataclass
class Measured:
    """Counts of edges of the targets, with tests and seconds for each target."""

    data: str
    rows: int
    method: str
    right: int = 0
    """Causes and effects that the completed graph of the truth has as such."""
    wrong: int = 0
    truth: int = 0
    """Causes and effects of the completed graph."""
    undecided: int = 0
    tests: list[int] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    blankets: list[int] = field(default_factory=list)

    def add(self, found: Roles, truth: Roles) -> None:
        """Count the edges of one target."""
        both = [(found[k], truth[k]) for k in (0, 1)]
        self.right += sum(len(a & b) for a, b in both)
        self.wrong += sum(len(a - b) for a, b in both)
        self.truth += sum(len(b) for _, b in both)
        self.undecided += len(found[2])

    def joined(self, other: Measured) -> Measured:
        """Return the counts of both."""
        counts = [getattr(self, f.name) + getattr(other, f.name) for f in fields(self)[3:]]
        return Measured(self.data, self.rows, self.method, *counts)

    def line(self) -> list[str]:
        """Return the line of the table."""
        decided = self.right + self.wrong
        precision = f"{self.right / decided:.2f}" if decided else "–"
        recall = f"{self.right / self.truth:.2f}" if self.truth else "–"
        blankets = f"{np.mean(self.blankets):.1f}" if self.blankets else "–"
        cost = [f"{np.mean(self.tests):,.0f}", short(float(np.mean(self.seconds)), 2)]
        return [self.data, f"{self.rows:,}", self.method, precision, recall, f"{self.undecided:,}", blankets, *cost]


def roles_in(graph: nx.DiGraph[str], target: str) -> Roles:
    """Return the causes, effects and undecided neighbours in a partly directed graph."""
    into, out = set(graph.predecessors(target)), set(graph.successors(target))
    return into - out, out - into, into & out


def class_of(graph: nx.DiGraph[str]) -> nx.DiGraph[str]:
    """Return the completed graph of a DAG."""
    names = list(graph)
    index = {name: k for k, name in enumerate(names)}
    return cpdag([{index[p] for p in graph.predecessors(name)} for name in names]).to_networkx(names)


def network_of(name: str) -> serape.Network:
    """Return a bundled network, or copies of one: "alarm x 10"."""
    base, _, copies = name.partition(" x ")
    network = serape.load_network(base)
    return network.tile(int(copies), seed=0) if copies else network


def drawn(names: Sequence[str], seed: int) -> list[str]:
    """Return some targets."""
    if len(names) <= TARGETS:
        return list(names)
    return [str(name) for name in np.random.default_rng(seed).choice(list(names), TARGETS, replace=False)]


def sampled(name: str, rows: int, seed: int, methods: Collection[Method], *, whole: bool) -> list[Measured]:
    """Measure methods on one sample of a network, and if asked for, the whole network by pc-stable."""
    network = network_of(name)
    truth = class_of(network.graph)
    table = network.sample(rows, seed=seed)
    found = {method: Measured(name, rows, str(method)) for method in methods}
    for target in drawn([table.names[x] for x in table.varying], seed):
        true = roles_in(truth, target)
        for method, measured in found.items():
            begin = time.process_time()
            answer = serape.causes(
                table, target, method.algorithm, method.learner, progress=False, **dict(method.options)
            )
            measured.add((set(answer.causes), set(answer.effects), set(answer.undecided)), true)
            measured.tests.append(answer.tests)
            measured.seconds.append(time.process_time() - begin)
            measured.blankets.append(len(answer.expanded))
    if not whole:
        return [*found.values()]
    begin = time.process_time()
    everything = serape.network(table, WHOLE, progress=False)
    seconds = time.process_time() - begin
    of_whole = Measured(name, rows, f"{WHOLE}, whole network", tests=[everything.tests], seconds=[seconds])
    for target in drawn([table.names[x] for x in table.varying], seed):
        of_whole.add(roles_in(everything.graph, target), roles_in(truth, target))  # type: ignore[arg-type]
    return [*found.values(), of_whole]


def measure(
    cells: Sequence[tuple[str, int]], seeds: int, methods: Collection[Method], jobs: int, *, whole: bool = True
) -> list[Measured]:
    """Measure methods on samples of networks of some numbers of rows; the samples of one are added up."""
    todo = [partial(sampled, name, n, seed, methods, whole=whole) for name, n in cells for seed in range(1, seeds + 1)]
    added: dict[tuple[str, int, str], Measured] = {}
    for one in (one for some in in_processes(todo, jobs) for one in some):
        key = one.data, one.rows, one.method
        added[key] = added[key].joined(one) if key in added else one
    order = [*map(str, methods), f"{WHOLE}, whole network"]
    return sorted(added.values(), key=lambda one: (cells.index((one.data, one.rows)), order.index(one.method)))


def options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--networks", nargs="+", default=NETWORKS, help='names, or copies of one such as "alarm x 10"')
    parser.add_argument("--rows", nargs="+", type=int, default=ROWS)
    parser.add_argument("--seeds", type=int, default=3, help="the number of samples")
    parser.add_argument("--only", default="", help="methods whose names contain this")
    parser.add_argument(
        "--real", type=Path, metavar="FOLDER", help="of compressed files: real data in place of networks"
    )
    add_jobs(parser)


def run(options: argparse.Namespace) -> None:
    """Compare causes and effects by MB-by-MB and LDECC with those in the whole network by pc-stable.

    For each network, samples of rows; up to 40 targets of each. A cause or effect is right if it is one in the
    completed graph of the true network; recall is the share of these that are found. Tests and seconds (of
    the processor) are means for a target; those of pc-stable are for the whole network. All settings are the defaults.
    With --real, the answers for real data, whose truth is not known. Results go to benchmarks/out/causes.json.
    """
    if options.real is not None:
        print(real_table(options.real))
        return
    names, rows, seeds = (("asia",), (500,), 1) if options.quick else (options.networks, options.rows, options.seeds)
    methods = [method for method in METHODS if options.only in str(method)]
    measured = measure([(name, n) for name in names for n in rows], seeds, methods, options.jobs)
    head = ["network", "rows", "method", "precision", "recall", "undecided", "blankets", "tests", "seconds"]
    print(markdown(head, [one.line() for one in measured], words=(0, 2)))
    save("causes", {"measured": [asdict(one) for one in measured]})


def run_ldecc(options: argparse.Namespace) -> None:
    """Compare the forms of LDECC with each other and with MB-by-MB.

    The default was chosen on the first networks, and is confirmed on the others. Shown are precision and recall of
    causes and effects, as in `causes`, and the number of undecided neighbours. Results go to benchmarks/out/ldecc.json.
    """
    groups: list[tuple[str, ...]] = [("asia",), ("cancer",)] if options.quick else [CHOSEN_ON, CONFIRMED_ON]
    rows, seeds = ((500,), 1) if options.quick else (options.rows, options.seeds)
    cells = [(name, n) for group in groups for name in group for n in rows]
    measured = measure(cells, seeds, list(FORMS.values()), options.jobs, whole=False)
    for group in groups:
        lines = [_forms([one for one in measured if (one.data, one.rows) == cell]) for cell in product(group, rows)]
        sums = [_forms([replace(m, data="all") for m in measured if m.data in group and m.rows == n]) for n in rows]
        print(markdown(["network", "rows", *FORMS], [*lines, *sums]), end="\n\n")
    save("ldecc", {"measured": [asdict(one) for one in measured]})


def _forms(measured: Sequence[Measured]) -> list[str]:
    """Return the line of the table of forms."""
    found = [reduce(Measured.joined, [one for one in measured if one.method == str(form)]) for form in FORMS.values()]
    return [*measured[0].line()[:2], *(" / ".join(one.line()[3:6]) for one in found)]


def real_table(folder: Path) -> str:
    """Return the causes and effects of the targets of real data, with and without hidden common causes, as a table."""
    lines = []
    for name, columns, target in data_sets(folder, list(REAL)):
        table = serape.Table(columns)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            whole = serape.network(table, WHOLE, progress=False)
            answers = [serape.causes(table, target, hidden=hidden, progress=False) for hidden in (False, True)]
        cause, effect, open_ = roles_in(whole.graph, target)  # type: ignore[arg-type]
        for found in answers:
            rest = [f"{n} {found.marks[n]}" if found.hidden else n for n in (*found.confounded, *found.undecided)]
            both = [", ".join(group) or "–" for group in (found.causes, found.effects, rest)]
            cost = [f"{found.tests:,}", short(found.seconds, 2)]
            lines.append([name, target, f"{found.algorithm} with {found.learner}", *both, *cost])
        groups = [", ".join(sorted(group)) or "–" for group in (cause, effect, open_)]
        lines.append([name, target, f"{WHOLE}, whole network", *groups, f"{whole.tests:,}", short(whole.seconds, 2)])
    head = ["data", "target", "method", "causes", "effects", "undecided", "tests", "seconds"]
    return markdown(head, lines, words=(0, 1, 2, 3, 4, 5))


# --- hidden common causes ---------------------------------------------------------------------------------------------


@dataclass
class Marks:
    """Counts of the target's edges and their ends, where nodes are hidden."""

    data: str
    rows: int
    method: str
    found: int = 0
    """Neighbours that were found."""
    right: int = 0
    """Those that are neighbours in the ancestral graph."""
    truth: int = 0
    ends: int = 0
    """Ends of right edges."""
    decided: int = 0
    true: int = 0
    """Decided ends that are true of the ancestral graph."""
    tests: list[int] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)

    def add(self, marks: dict[str, str], truth: dict[str, str]) -> None:
        """Count the edges of one target."""
        self.found += len(marks)
        self.truth += len(truth)
        for name in marks.keys() & truth.keys():
            self.right += 1
            self.ends += 2
            for one in ends_of(marks[name]):
                self.decided += 1
                self.true += fits(one, truth[name])

    def line(self) -> list[str]:
        """Return the line of the table."""
        shares = [
            (self.right, self.found),
            (self.right, self.truth),
            (self.decided, self.ends),
            (self.true, self.decided),
        ]
        cost = [f"{np.mean(self.tests):,.0f}", short(float(np.mean(self.seconds)), 2)]
        return [self.data, f"{self.rows:,}", self.method, *(f"{a / b:.2f}" if b else "–" for a, b in shares), *cost]


def ends_of(mark: str) -> list[str]:
    """Return the decided ends of an edge, each as an edge with a circle at the other end."""
    first = {"→": "–o", "←": "←o", "↔": "←o", "←o": "←o", "–o": "–o"}
    last = {"→": "o→", "←": "o–", "↔": "o→", "o→": "o→", "o–": "o–"}
    return [known[mark] for known in (first, last) if mark in known]


def hidden_nodes(graph: nx.DiGraph[str], seed: int) -> list[str]:
    """Return nodes to hide: one in six, with at least two children each."""
    common = [name for name in graph if graph.out_degree(name) >= 2]
    count = min(len(common), max(1, len(graph) // 6))
    return [str(name) for name in np.random.default_rng(seed).choice(common, count, replace=False)]


def run_hidden(options: argparse.Namespace) -> None:
    """Hide one node in six, with at least two children each, and compare marks with and without `hidden=True`.

    For each network, samples of rows, each with other hidden nodes; up to 40 targets of each. The truth is the
    ancestral graph of the observed nodes: precision and recall of the neighbours, the share of the ends of their edges
    that are decided, and the share of these that are true. Seconds are those of the processor. Results go to
    benchmarks/out/hidden.json.
    """
    names, rows, seeds = (("asia",), (500,), 1) if options.quick else (options.networks, options.rows, options.seeds)
    methods: dict[str, Callable[[serape.Table, str], serape.Causes]] = {
        "hidden=True": lambda table, target: serape.causes(table, target, hidden=True, progress=False),
        "hidden=True, dof='adjusted'": lambda table, target: serape.causes(
            table, target, hidden=True, dof="adjusted", progress=False
        ),
        "default": lambda table, target: serape.causes(table, target, progress=False),
    }
    measured: list[Marks] = []
    for name in names:
        network = network_of(name)
        for n in rows:
            counts = {method: Marks(name, n, method) for method in methods}
            for seed in range(1, seeds + 1):
                report(f"{name}, {n:,} rows, sample {seed}")
                unseen = hidden_nodes(network.graph, seed)
                whole = network.sample(n, seed=seed)
                seen = [whole.names[x] for x in whole.varying if whole.names[x] not in unseen]
                table = serape.Table(whole.to_pandas()[seen])
                for target in drawn(seen, seed):
                    truth = ancestral_edges(network.graph, tuple(seen), target)
                    for method, ask in methods.items():
                        begin = time.process_time()
                        found = ask(table, target)
                        counts[method].seconds.append(time.process_time() - begin)
                        counts[method].add({x: _as_mark(mark) for x, mark in found.marks.items()}, truth)
                        counts[method].tests.append(found.tests)
            measured += counts.values()
    head = ["network", "rows", "method", "precision", "recall", "ends decided", "of these true", "tests", "CPU s"]
    print(markdown(head, [one.line() for one in measured], words=(0, 2)))
    save("hidden", {"measured": [asdict(one) for one in measured]})


def _as_mark(mark: str) -> str:
    return "o–o" if mark == "–" else mark
