"""Blankets and neighbourhoods: every algorithm beside the packages on PyPI that have it, on the same rows in one run.

    python benchmarks/suite.py --peers [--limit 60] [--repeats 3]      (or: make bench)
    python benchmarks/suite.py --python PYTHON                         (an environment that has some of them)
    python benchmarks/suite.py --quick                                 (serape alone, small data)
    python benchmarks/suite.py --data alarm --sample FILE              (rows of Alarm drawn elsewhere)

`--peers` makes an environment for each of pgmpy, causal-learn, PyBNesian, pyAgrum and pyCausalFS under `.venv-peers/`,
with the versions in `benchmarks/peers/`; one that cannot be installed is told and left out.

Data: 5,000 rows of Alarm, all 37 variables as targets; and 2,000 binary variables × 1,000 rows, 100 of them targets.
The tests are G² at alpha 0.01 (chi² in pgmpy's MMPC, which has no other; MIIC has a score), all else each tool's
default, but that conditioning sets are not bounded where that can be said. Every run has a process and one thread, and
runs alternate between the tools; seconds are the median over the processes. Imports, reading and making a tool's own
table are not timed, and quick searches are repeated within a process, each on a fresh table. A run is ended at the
limit, and one over 10 seconds is not repeated. Distance is that of precision and recall to perfection, averaged over
targets; memory is the most the process had, with imports, and before the search in brackets.

Results go to the screen and to benchmarks/out: suite.json, suite.png.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import threading
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

import networkx as nx
import numpy as np
from numpy.typing import NDArray

import serape
from measure import ONE_THREAD, drawing, markdown, peak_mebibytes, save, short, tell
from networks import wide
from serape import _core
from serape.results.comparison import true_members

SEED = 1
ALPHA = 0.01
LONG = 10.0
"""Seconds from which a run is not repeated."""
PREPARING = 300.0
"""Seconds for imports and reading."""

ROOT = Path(__file__).parent.parent
PINS = Path(__file__).parent / "peers"
PEERS = ("pgmpy", "causal-learn", "PyBNesian", "pyAgrum", "pyCausalFS")

Finds = Literal["blanket", "parents-children"]
Methods = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Question:
    """An algorithm of serape, what it is asked for, and who else has it."""

    algorithm: str
    finds: Finds
    peers: Methods = ()
    whole: bool = False
    """Whether it can only be asked of all variables."""


def _fs(method: str) -> Methods:
    return (("pyCausalFS", method),)


QUESTIONS = (
    Question("gs", "blanket", _fs("GSMB")),
    Question("iamb", "blanket", (("causal-learn", "IAMB"), *_fs("IAMB"))),
    Question("inter-iamb", "blanket", _fs("inter_IAMB")),
    Question("iamb-npc", "blanket", _fs("IAMBnPC")),
    Question("inter-iamb-npc", "blanket", _fs("interIAMBnPC")),
    Question("fast-iamb", "blanket", _fs("fast_IAMB")),
    Question("mmmb", "blanket", _fs("MMMB")),
    Question("hiton-mb", "blanket", _fs("HITON_MB")),
    Question("pcmb", "blanket", _fs("PCMB")),
    Question("ipc-mb", "blanket", _fs("IPC_MB")),
    Question("dos", "blanket"),
    Question("hpc-mb", "blanket"),
    Question("inter-iapc", "parents-children"),
    Question("mmpc", "parents-children", (("PyBNesian", "MMPC"), ("pgmpy", "MMPC"), *_fs("MMPC"))),
    Question("hiton-pc", "parents-children", _fs("HITON_PC")),
    Question("pcmb", "parents-children", _fs("getPC")),
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
    """Data, whom to ask about, and the graph behind them, whose nodes are positions."""

    name: str
    codes: NDArray[np.uint8]
    targets: list[int]
    truth: nx.DiGraph[Any]
    questions: Sequence[Question]

    @property
    def told(self) -> str:
        """What it is, in words."""
        rows, columns = self.codes.shape
        return f"{self.name}: {columns:,} variables × {rows:,} rows, {len(self.targets)} targets"

    def members(self, target: int, finds: Finds) -> set[str]:
        """Return who belongs to the true answer."""
        return true_members(self.truth, str(target), finds)


def observed(codes: Iterable[NDArray[Any]]) -> NDArray[np.uint8]:
    """Number the levels of every column that occur from 0, so that every tool sees the same levels."""
    return np.stack([np.unique(column, return_inverse=True)[1] for column in codes], axis=1).astype(np.uint8)


def make_case(name: str, rows: int, targets: int, sample: Path | None = None) -> Case:
    """Draw the data of a name; those of Alarm may be in a file."""
    questions: Sequence[Question] = QUESTIONS
    if name == "alarm":
        network = serape.load_network("alarm")
        table, graph = network.sample(rows, SEED), network.graph
    else:
        table, graph = wide()[:2]  # type: ignore[assignment]
        questions = [q for q in QUESTIONS if q.algorithm in ON_WIDE]
    codes, names = observed(table.packed.codes(k)[:rows] for k in range(len(table.names))), list(table.names)
    if name == "alarm" and sample is not None:
        with np.load(sample) as file:
            codes, names = observed(file["X"].T), [str(column) for column in file["names"]]
    varying = np.flatnonzero(codes.max(axis=0) > 0)
    step = max(1, len(varying) // targets)
    place = {name: k for k, name in enumerate(names)}
    return Case(name, codes, varying[::step][:targets].tolist(), nx.relabel_nodes(nx.DiGraph(graph), place), questions)


# --- runs -------------------------------------------------------------------------------------------------------------


@dataclass
class Measured:
    """What came of one tool's method for one question."""

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
        """Whether there is no more to be had of it."""
        return self.failure is not None or self.ended_after is not None or max(self.times, default=0.0) > LONG

    def cells(self, targets: int) -> list[str]:
        """Return seconds, distance and memory as text."""
        if self.failure is not None:
            return [f"fails: {self.failure:.60}", "–", "–"]
        memory = short(self.mebibytes)
        if self.mebibytes_before is not None:
            memory += f" ({short(self.mebibytes_before)})"
        if self.ended_after is not None:
            told = f"> {self.ended_after:g}"
            return [f"{told} ({self.targets_done} of {targets})" if self.targets_done else told, "–", memory]
        return [short(self.seconds), "–" if self.distance is None else f"{self.distance:.3f}", memory]

    @property
    def ratio_cell(self) -> str:
        """The ratio as text."""
        return f"> {short(self.ratio, 2)}" if self.ended_after is not None else short(self.ratio, 2)


class Runner:
    """Makes runs, each in a process of its own."""

    def __init__(self, folder: Path, interpreters: Mapping[str, str], limit: float) -> None:
        self.folder, self.limit = folder, limit
        self.interpreters = {"serape": sys.executable, **interpreters}
        table = serape.load_network("asia").sample(200, SEED)
        codes = observed(table.packed.codes(k) for k in range(len(table.names)))
        self.warm = self.write("warm", codes, range(codes.shape[1]))

    def write(self, name: str, codes: NDArray[np.uint8], targets: Iterable[int]) -> Path:
        """Write data for the tools to read."""
        path = self.folder / f"{name}.npz"
        np.savez(path, codes=codes, targets=np.array(list(targets)))
        return path

    def call(self, tool: str, method: str, data: Path) -> dict[str, Any]:
        """Search the data; return what was found, or `error`, or `ended` with the number of targets done by then."""
        result, said = self.folder / "result.json", self.folder / "stderr.txt"
        result.unlink(missing_ok=True)
        script = Path(__file__).with_name("peer_local.py")
        command = [self.interpreters[tool], *map(str, (script, self.warm, data, result, tool, method, ALPHA))]
        settings = {**os.environ, **ONE_THREAD, "PYTHONHASHSEED": "0"}  # some answers depend on the order of sets
        with (
            said.open("w") as errors,
            subprocess.Popen(command, env=settings, stdout=subprocess.PIPE, stderr=errors, text=True) as process,
        ):
            ready = threading.Event()
            done: list[str] = []

            def listen() -> None:
                for line in process.stdout or ():
                    if line.strip() == "ready":
                        ready.set()
                    else:
                        done.append(line)
                ready.set()

            threading.Thread(target=listen, daemon=True).start()
            try:
                ready.wait(PREPARING)
                process.wait(self.limit)
            except subprocess.TimeoutExpired:
                return {"ended": len(done), "mebibytes": peak_mebibytes(process.pid)}
            finally:
                process.kill()
        if not result.exists():
            lines = said.read_text().splitlines() or [f"exit code {process.returncode}"]
            return {"error": lines[-1]}
        found: dict[str, Any] = json.loads(result.read_text())
        return found


def take(one: Measured, answer: Mapping[str, Any], case: Case, limit: float) -> None:
    """Note what came of a run."""
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
    near = serape.compare(found, {name: case.members(int(name), one.finds) for name in found})
    one.precision, one.recall, one.distance = near.precision, near.recall, near.distance


def rivals(question: Question, case: Case, tools: Collection[str]) -> list[tuple[str, str]]:
    """Return the peers' methods that answer a question, of those that are there; who must ask all cannot ask some."""
    some = len(case.targets) < np.count_nonzero(case.codes.max(axis=0))
    return [(t, m) for t, m in question.peers if t in tools and not (some and (t, m) in WHOLE)]


def measure(runner: Runner, question: Question, case: Case, data: Path, repeats: int) -> list[Measured]:
    """Answer a question by all who can, in turns; serape is the first."""
    ways = [("serape", f"{question.finds} {question.algorithm}"), *rivals(question, case, runner.interpreters)]
    measured = [Measured(case.name, question.finds, question.algorithm, tool, method) for tool, method in ways]
    for _ in range(repeats):
        for one in measured:
            if not one.over:
                take(one, runner.call(one.tool, one.method, data), case, runner.limit)
                told = f"{one.times[-1]:.3g} s" if one.times else one.failure or f"ended after {runner.limit:g} s"
                tell(f"{case.name}, {question.finds}, {question.algorithm}: {one.tool} {told}")
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


# --- environments -----------------------------------------------------------------------------------------------------


def installed(python: str) -> dict[str, str]:
    """Return which peers an interpreter has, and their versions."""
    script = (
        "import json, sys\nfrom importlib.metadata import PackageNotFoundError, version\nfound = {}\n"
        "for name in sys.argv[1:]:\n try: found[name] = version(name)\n except PackageNotFoundError: pass\n"
        "print(json.dumps(found))"
    )
    found: dict[str, str] = json.loads(subprocess.check_output([python, "-c", script, *PEERS], text=True))
    return found


def install(peer: str) -> str | None:
    """Make a peer's environment, if it is not there as pinned; return its interpreter, or None after saying why not."""
    home = ROOT / ".venv-peers" / peer
    python = home / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    pins = PINS / f"{peer}.txt"
    mark = home / "pins.txt"
    if mark.exists() and mark.read_text() == pins.read_text():
        return str(python)
    tell(f"installing {peer} into {home.relative_to(ROOT)} …")
    steps = (
        [sys.executable, "-m", "venv", "--clear", str(home)],
        [str(python), "-m", "pip", "install", "-q", "--only-binary", ":all:", "-r", str(pins)],
    )
    for step in steps:
        done = subprocess.run(step, capture_output=True, text=True, check=False)
        if done.returncode:
            said = [line for line in (done.stderr or done.stdout).splitlines() if "ERROR" in line] or [
                "no reason given"
            ]
            tell(f"{peer} could not be installed and is left out: {said[-1].strip()}")
            return None
    mark.write_text(pins.read_text())
    return str(python)


def environments(pythons: Sequence[str], make: bool, wanted: Collection[str]) -> dict[str, str]:
    """Return an interpreter for each peer that can be had."""
    found: dict[str, str] = {}
    for python in pythons:
        found |= {peer: python for peer in installed(python) if peer in wanted and peer not in found}
    for peer in wanted if make else ():
        made = found.get(peer) or install(peer)
        if made is not None:
            found[peer] = made
    return found


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


def picture(measured: Sequence[Measured], told: Mapping[str, str]) -> Any:
    """Draw seconds and memory of everybody, on logarithmic axes; who was ended has an arrow."""
    plt = drawing()
    if plt is None:
        return None
    places: dict[str, dict[tuple[str, str], int]] = {}
    for one in measured:
        those = places.setdefault(one.data, {})
        those.setdefault((one.finds, one.algorithm), len(those))
    figure, panels = plt.subplots(
        len(places),
        2,
        figsize=(12, 1.6 * len(places) + 0.27 * sum(map(len, places.values())) + 0.8),
        height_ratios=[len(those) + 3 for those in places.values()],
        layout="constrained",
        squeeze=False,
    )
    for (data, those), (seconds, memory) in zip(places.items(), panels, strict=True):
        for axes, label in ((seconds, "seconds, all targets"), (memory, "most memory of the process, MiB")):
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
        seconds.set_title(told[data], loc="left", fontsize=11)
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


def main() -> None:
    """Measure, print and save."""
    parser = argparse.ArgumentParser(description="serape beside other packages: seconds, distance to the truth, memory")
    parser.add_argument("--peers", action="store_true", help="make an environment for each peer in .venv-peers")
    parser.add_argument("--python", action="append", default=[], help="the interpreter of an environment with peers")
    parser.add_argument("--tools", nargs="+", choices=PEERS, default=PEERS, help="only these, and serape")
    parser.add_argument("--data", nargs="+", choices=("alarm", "wide"), default=["alarm", "wide"])
    parser.add_argument("--algorithms", nargs="+", choices=sorted({q.algorithm for q in QUESTIONS}), metavar="NAME")
    parser.add_argument("--rows", type=int, default=5000, help="of Alarm")
    parser.add_argument("--sample", type=Path, help="rows of Alarm to take instead: an .npz of codes X and names")
    parser.add_argument("--targets", type=int, default=100, help="among the wide data")
    parser.add_argument("--limit", type=float, default=60.0, help="seconds after which a run is ended")
    parser.add_argument("--repeats", type=int, default=3, help="processes for each tool and question")
    parser.add_argument("--quick", action="store_true", help="serape alone, 500 rows of Alarm, 10 wide targets, once")
    options = parser.parse_args()
    if options.quick:
        options.peers, options.python = False, []
        options.rows, options.targets, options.repeats = 500, 10, 1
    interpreters = environments(options.python, options.peers, options.tools)
    if not interpreters:
        tell("serape runs alone: no other package is there (--peers installs them, --python names an environment)")
    measured: list[Measured] = []
    told: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as folder:
        runner = Runner(Path(folder), interpreters, options.limit)
        for name in options.data:
            case = make_case(
                name,
                options.rows if name == "alarm" else 1000,
                37 if name == "alarm" else options.targets,
                options.sample,
            )
            told[name] = case.told
            data = runner.write(name, case.codes, case.targets)
            table: list[list[str]] = []
            for question in case.questions:
                if options.algorithms is None or question.algorithm in options.algorithms:
                    these = measure(runner, question, case, data, options.repeats)
                    table += lines(these, len(case.targets))
                    measured += these
            print(f"{case.told}, alpha {ALPHA:g}, one thread\n\n{markdown(HEAD, table, words={0, 1, 5})}\n", flush=True)
    versions = [f"serape {serape.__version__}", *(f"{peer} {installed(py)[peer]}" for peer, py in interpreters.items())]
    processor = platform.processor() or platform.machine()
    print(f"{', '.join(versions)}; Python {platform.python_version()}, {processor}, {_core.instruction_set()}")
    ended = sum(one.ended_after is not None for one in measured)
    if ended:
        print(f"{ended} were ended after {options.limit:g} s; in brackets, how many targets they had done by then.")
    content = {
        "versions": versions,
        "python": platform.python_version(),
        "kernels": _core.instruction_set(),
        "alpha": ALPHA,
        "seed": SEED,
        "limit": options.limit,
        "repeats": options.repeats,
        "data": told,
        "measured": [asdict(one) for one in measured],
    }
    save("suite", content, picture(measured, told))


if __name__ == "__main__":
    main()
