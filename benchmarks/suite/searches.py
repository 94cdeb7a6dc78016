"""Blankets and neighbourhoods beside the packages that find them."""

from __future__ import annotations

import argparse
import platform
import statistics
import tempfile
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

import serape
from benchmarks.common.data import SEED, codes_of, observed, wide
from benchmarks.common.internals import Finds, instruction_set, true_members
from benchmarks.common.output import drawing, machine, markdown, report, save, short
from benchmarks.peers.codes import Codes
from benchmarks.peers.runner import LONG, Runner, add_options, environments, installed

ALPHA = 0.01
Methods = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Question:
    """An algorithm of serape, what it finds, and the packages that have it."""

    algorithm: str
    finds: Finds
    peers: Methods = ()
    whole: bool = False
    """Whether it can only search for all variables."""


def _fs(method: str) -> Methods:
    return (("pyCausalFS", method),)


QUESTIONS = (
    Question("gs", "blanket", _fs("GSMB")),
    Question("iamb", "blanket", (("causal-learn", "IAMB"), *_fs("IAMB"))),
    Question("inter-iamb", "blanket", _fs("inter_IAMB")),
    Question("iamb-npc", "blanket", _fs("IAMBnPC")),
    Question("inter-iamb-npc", "blanket", _fs("interIAMBnPC")),
    Question("fast-iamb", "blanket", _fs("fast_IAMB")),
    Question("fbed", "blanket"),
    Question("mmmb", "blanket", _fs("MMMB")),
    Question("hiton-mb", "blanket", _fs("HITON_MB")),
    Question("pcmb", "blanket", _fs("PCMB")),
    Question("ipc-mb", "blanket", _fs("IPC_MB")),
    Question("dos", "blanket"),
    Question("hpc-mb", "blanket"),
    Question("boss-mb", "blanket"),
    Question("inter-iapc", "parents-children"),
    Question("mmpc", "parents-children", (("PyBNesian", "MMPC"), ("pgmpy", "MMPC"), *_fs("MMPC"))),
    Question("hiton-pc", "parents-children", _fs("HITON_PC")),
    Question("pcmb", "parents-children", _fs("getPC")),
    Question("pcd", "parents-children"),
    Question("ipc-mb", "parents-children", _fs("RecognizePC")),
    Question("dos", "parents-children"),
    Question("hpc", "parents-children"),
    Question(
        "pc-stable",
        "parents-children",
        (("PyBNesian", "PC"), ("pyAgrum", "PC"), ("pyAgrum", "MIIC"), ("pgmpy", "PC"), ("causal-learn", "PC")),
        whole=True,
    ),
)
WHOLE = {("PyBNesian", "MMPC"), ("pgmpy", "MMPC")}
"""Peers' methods that find the neighbours of all variables at once, and of no fewer."""
ON_WIDE = ("iamb", "hiton-pc", "mmpc", "hpc")


@dataclass(frozen=True)
class Case:
    """Data, targets, and the graph behind them, whose nodes are indices."""

    name: str
    codes: NDArray[np.uint8]
    targets: list[int]
    truth: nx.DiGraph[Any]
    questions: Sequence[Question]

    @property
    def title(self) -> str:
        """The name and the size of the data."""
        rows, columns = self.codes.shape
        return f"{self.name}: {columns:,} variables × {rows:,} rows, {len(self.targets)} targets"

    def members(self, target: int, finds: Finds) -> set[str]:
        """Return the true members."""
        return true_members(self.truth, str(target), finds)


def make_case(name: str, rows: int, targets: int, sample: Path | None = None) -> Case:
    """Draw the data of a name; those of Alarm may be in a file."""
    questions: Sequence[Question] = QUESTIONS
    if name == "alarm":
        network = serape.load_network("alarm")
        table, graph = network.sample(rows, SEED), network.graph
    else:
        table, graph = wide()
        questions = [q for q in QUESTIONS if q.algorithm in ON_WIDE]
    codes, names = observed(codes_of(table)), list(table.names)
    if name == "alarm" and sample is not None:
        with np.load(sample) as file:
            codes, names = observed(file["X"].T), [str(column) for column in file["names"]]
    varying = np.flatnonzero(codes.max(axis=0) > 0)
    step = max(1, len(varying) // targets)
    index = {name: k for k, name in enumerate(names)}
    return Case(name, codes, varying[::step][:targets].tolist(), nx.relabel_nodes(nx.DiGraph(graph), index), questions)


# --- runs -------------------------------------------------------------------------------------------------------------


@dataclass
class Measured:
    """What one tool's method gives for one question."""

    data: str
    finds: Finds
    algorithm: str
    tool: str
    method: str
    times: list[float] = field(default_factory=list)
    seconds: float | None = None
    ended_after: float | None = None
    """Seconds after which it was ended."""
    targets_done: int | None = None
    ratio: float | None = None
    """Its seconds, or those after which it was ended, by those of serape."""
    precision: float | None = None
    recall: float | None = None
    distance: float | None = None
    mebibytes: float | None = None
    mebibytes_before: float | None = None
    failure: str | None = None

    @property
    def over(self) -> bool:
        """Whether it is not run again."""
        return self.failure is not None or self.ended_after is not None or max(self.times, default=0.0) > LONG

    def cells(self, targets: int) -> list[str]:
        """Return seconds, distance and memory as text."""
        if self.failure is not None:
            return [f"fails: {self.failure:.60}", "–", "–"]
        memory = short(self.mebibytes)
        if self.mebibytes_before is not None:
            memory += f" ({short(self.mebibytes_before)})"
        if self.ended_after is not None:
            limit = f"> {self.ended_after:g}"
            return [f"{limit} ({self.targets_done} of {targets})" if self.targets_done else limit, "–", memory]
        return [short(self.seconds), "–" if self.distance is None else f"{self.distance:.3f}", memory]

    @property
    def ratio_cell(self) -> str:
        """The ratio as text."""
        return f"> {short(self.ratio, 2)}" if self.ended_after is not None else short(self.ratio, 2)


def take(one: Measured, answer: Mapping[str, Any], case: Case, limit: float) -> None:
    """Record the outcome of a run."""
    if "error" in answer:
        one.failure = answer["error"]
        return
    one.mebibytes = max(filter(None, (one.mebibytes, answer["mebibytes"])), default=None)
    if "ended" in answer:
        one.ended_after, one.targets_done = limit, answer["ended"]
        return
    one.times.append(statistics.median(answer["seconds"]))
    one.mebibytes_before = answer["mebibytes_before"]
    found = {name: {str(x) for x in members} for name, members in answer["found"].items()}
    accuracy = serape.compare(found, {name: case.members(int(name), one.finds) for name in found})
    one.precision, one.recall, one.distance = accuracy.precision, accuracy.recall, accuracy.distance


def rivals(question: Question, case: Case, tools: Collection[str]) -> list[tuple[str, str]]:
    """Return the other methods for a question that are there; those that search all variables cannot search some."""
    some = len(case.targets) < np.count_nonzero(case.codes.max(axis=0))
    return [(t, m) for t, m in question.peers if t in tools and not (some and (t, m) in WHOLE)]


def measure(runner: Runner, question: Question, case: Case, data: Path, repeats: int) -> list[Measured]:
    """Answer a question by every tool that can, in turns; serape is the first."""
    methods = [("serape", f"{question.finds} {question.algorithm}"), *rivals(question, case, runner.tools)]
    measured = [Measured(case.name, question.finds, question.algorithm, tool, method) for tool, method in methods]
    for _ in range(repeats):
        for one in measured:
            if not one.over:
                take(one, runner.call(one.tool, one.method, data), case, runner.limit)
                outcome = f"{one.times[-1]:.3g} s" if one.times else one.failure or f"ended after {runner.limit:g} s"
                report(f"{case.name}, {question.finds}, {question.algorithm}: {one.tool} {outcome}")
    for one in measured:
        if one.times and one.failure is None and one.ended_after is None:
            one.seconds = statistics.median(one.times)
    own = measured[0].seconds
    for one in measured[1:]:
        taken = one.ended_after if one.seconds is None else one.seconds
        one.ratio = None if own is None or taken is None else taken / own
    return measured


HEAD = ("finds", "algorithm", "s", "distance", "MiB", "beside", "s", "× serape", "distance", "MiB")


def lines(measured: Sequence[Measured], targets: int) -> list[list[str]]:
    """Return the lines of the table about one question: serape beside each of the others, or alone."""
    own, *others = measured
    start = [own.finds, own.algorithm, *own.cells(targets)]
    if not others:
        return [[*start, "–", "–", "–", "–", "–"]]
    table = []
    for one in others:
        seconds, distance, memory = one.cells(targets)
        table.append([*start, f"{one.tool} {one.method}", seconds, one.ratio_cell, distance, memory])
    return table


# --- picture ----------------------------------------------------------------------------------------------------------

COLOURS = {
    "serape": "#d55e00",
    "pgmpy": "#0072b2",
    "causal-learn": "#009e73",
    "PyBNesian": "#56b4e9",
    "pyAgrum": "#cc79a7",
    "pyCausalFS": "#555555",
}
MARKS = {"serape": "o", "pgmpy": "s", "causal-learn": "^", "PyBNesian": "D", "pyAgrum": "v", "pyCausalFS": "X"}


def picture(measured: Sequence[Measured], titles: Mapping[str, str]) -> Any:
    """Draw seconds and memory of every tool on logarithmic axes; an arrow marks a run that was ended."""
    plt = drawing()
    if plt is None:
        return None
    positions: dict[str, dict[tuple[str, str], int]] = {}
    for one in measured:
        those = positions.setdefault(one.data, {})
        those.setdefault((one.finds, one.algorithm), len(those))
    figure, panels = plt.subplots(
        len(positions),
        2,
        figsize=(12, 1.6 * len(positions) + 0.27 * sum(map(len, positions.values())) + 0.8),
        height_ratios=[len(those) + 3 for those in positions.values()],
        layout="constrained",
        squeeze=False,
    )
    for (data, those), (seconds, memory) in zip(positions.items(), panels, strict=True):
        for axes, label in ((seconds, "seconds, all targets"), (memory, "peak memory of the process, MiB")):
            axes.set_xscale("log")
            axes.set_xlabel(label)
            axes.xaxis.set_major_formatter("{x:g}")
            axes.grid(axis="x", which="major", color="#cccccc", linewidth=0.8)
            axes.grid(axis="y", color="#eeeeee", linewidth=0.8)
            axes.set_axisbelow(True)
            axes.set_ylim(len(those) - 0.5, -0.5)
        names = [f"{algorithm} ({'MB' if finds == 'blanket' else 'PC'})" for finds, algorithm in those]
        seconds.set_yticks(range(len(those)), names)
        memory.set_yticks(range(len(those)), [""] * len(those))
        memory.xaxis.set_minor_formatter("{x:g}")
        seconds.set_title(titles[data], loc="left", fontsize=11)
        for one in measured:
            if one.data != data or one.failure is not None:
                continue
            y = those[one.finds, one.algorithm]
            style = {"color": COLOURS[one.tool], "marker": MARKS[one.tool], "linestyle": "none", "markersize": 7}
            if one.ended_after is not None:
                seconds.plot(one.ended_after, y, **style, fillstyle="none", zorder=3)
                seconds.annotate(
                    "", (one.ended_after * 2.2, y), (one.ended_after * 1.1, y),
                    arrowprops={"arrowstyle": "->", "color": COLOURS[one.tool]}, annotation_clip=False,
                )  # fmt: skip
            elif one.seconds is not None:
                seconds.plot(one.seconds, y, **style, zorder=3)
                if one.method == "MIIC":
                    seconds.annotate("MIIC", (one.seconds, y), (6, 0), textcoords="offset points", va="center")
            if one.mebibytes is not None:
                memory.plot(one.mebibytes, y, **style, zorder=3)
        if any(one.ended_after is not None for one in measured if one.data == data):
            seconds.set_xlim(right=seconds.get_xlim()[1] * 1.8)
    tools = [tool for tool in COLOURS if any(one.tool == tool for one in measured)]
    handles = [plt.Line2D([], [], color=COLOURS[t], marker=MARKS[t], linestyle="none", label=t) for t in tools]
    figure.legend(handles=handles, loc="outside upper center", ncols=len(tools), frameon=False)
    return figure


def options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add_options(parser, limit=60.0)
    parser.add_argument("--data", nargs="+", choices=("alarm", "wide"), default=["alarm", "wide"])
    parser.add_argument("--algorithms", nargs="+", choices=sorted({q.algorithm for q in QUESTIONS}), metavar="NAME")
    parser.add_argument("--rows", type=int, default=5000, help="of Alarm")
    parser.add_argument("--sample", type=Path, help="rows of Alarm to take instead: an .npz of codes X and names")
    parser.add_argument("--targets", type=int, default=100, help="among the wide data")
    parser.add_argument("--repeats", type=int, default=3, help="processes for each tool and question")


def run(options: argparse.Namespace) -> None:
    """Search for blankets and neighbourhoods by every algorithm, beside the packages on PyPI that have it.

    Data: 5,000 rows of Alarm, all 37 variables as targets; and 2,000 binary variables × 1,000 rows, 100 of them
    targets. The tests are G² at alpha 0.01 (chi² in pgmpy's MMPC, which has no other; MIIC has a score). All else is
    each tool's default, but conditioning sets are not bounded where a tool allows that. Every run has a process and
    one thread, and runs alternate between the tools; seconds are the median over the processes. Imports, reading and
    making a tool's own table are not timed. Quick searches are repeated within a process, each on a fresh table. A run
    is ended at the limit, and one over 10 seconds is not repeated. Distance is that of precision and recall to
    perfection, averaged over targets. Memory is the peak of the process, with imports, and before the search in
    brackets. Results go to benchmarks/out: suite.json, suite.png.
    """
    if options.quick:
        options.rows, options.targets, options.repeats = 500, 10, 1
    interpreters = environments(options)
    measured: list[Measured] = []
    titles: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        small = observed(codes_of(serape.load_network("asia").sample(200, SEED)))
        warm = Codes.of_levels_that_occur(small, range(small.shape[1])).write(folder / "warm.npz")
        runner = Runner("searches", folder, warm, interpreters, ALPHA, options.limit)
        for name in options.data:
            case = make_case(
                name,
                options.rows if name == "alarm" else 1000,
                37 if name == "alarm" else options.targets,
                options.sample,
            )
            titles[name] = case.title
            data = Codes.of_levels_that_occur(case.codes, case.targets).write(folder / f"{name}.npz")
            table: list[list[str]] = []
            for question in case.questions:
                if options.algorithms is None or question.algorithm in options.algorithms:
                    these = measure(runner, question, case, data, options.repeats)
                    table += lines(these, len(case.targets))
                    measured += these
            title = f"{case.title}, alpha {ALPHA:g}, one thread"
            print(f"{title}\n\n{markdown(HEAD, table, words={0, 1, 5})}\n", flush=True)
    versions = [
        f"serape {serape.__version__}",
        *(f"{peer} {installed(py, [peer])[peer]}" for peer, py in interpreters.items()),
    ]
    print(f"{', '.join(versions)}; Python {platform.python_version()}, {machine()}")
    ended = sum(one.ended_after is not None for one in measured)
    if ended:
        print(f"{ended} ended after {options.limit:g} s; in brackets, how many targets they had done by then.")
    content = {
        "versions": versions,
        "python": platform.python_version(),
        "kernels": instruction_set(),
        "alpha": ALPHA,
        "seed": SEED,
        "limit": options.limit,
        "repeats": options.repeats,
        "data": titles,
        "measured": [asdict(one) for one in measured],
    }
    save("suite", content, picture(measured, titles))
