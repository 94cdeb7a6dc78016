"""Default questions beside the packages that answer them or select columns."""

from __future__ import annotations

import argparse
import statistics
import tempfile
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from benchmarks.accuracy.real_classes import path_of, read
from benchmarks.common.data import drawn_columns
from benchmarks.common.output import machine, report, save, short
from benchmarks.peers.frames import Frame
from benchmarks.peers.runner import LONG, Runner, add_options, environments

Method = tuple[str, str]
"""A tool, and its own name for what it does."""


@dataclass(frozen=True)
class Data:
    """A table that is asked: drawn from a seed, or found in a folder."""

    kinds: Literal["numbers", "categories", "mixed"]
    rows: int
    columns: int
    stored: str | None = None
    """Its name among real data."""

    @property
    def name(self) -> str:
        """What the command line calls it."""
        return self.stored or f"{self.kinds}-{self.rows}x{self.columns}"

    @property
    def title(self) -> str:
        """What the table of results calls it."""
        return f"{self.stored or self.kinds}, {self.rows:,} × {self.columns:,}"

    def is_there(self, folder: Path | None) -> bool:
        """Whether it can be drawn or found."""
        return self.stored is None or (folder is not None and path_of(folder, self.stored).exists())

    def frame(self, folder: Path | None) -> Frame:
        """Draw or find it; the target of drawn columns is in the middle."""
        if self.stored is None:
            return Frame.of(drawn_columns(self.kinds, self.rows, self.columns), f"x{self.columns // 2}")
        found = Frame.of(*read(folder, self.stored))
        if (shape := (found.rows, len(found.columns))) != (self.rows, self.columns):
            raise ValueError(f"{self.stored} has other rows and columns than {self.rows:,} × {self.columns:,}: {shape}")
        return found


FRAMES = (
    Data("mixed", 500, 20),
    Data("numbers", 500, 20),
    Data("categories", 500, 20),
    Data("mixed", 8760, 13, "bike"),
    Data("mixed", 32_561, 15, "adult"),
    Data("mixed", 5000, 50),
    Data("mixed", 10_000, 60),
    Data("mixed", 100_000, 60),
    Data("mixed", 1_000_000, 40),
    Data("mixed", 199_523, 42, "census-income"),
    Data("mixed", 20_000, 200),
    Data("mixed", 500, 2000),
    Data("numbers", 100_000, 50),
    Data("numbers", 2000, 1000),
    Data("numbers", 500, 1000, "reged0"),
    Data("categories", 8124, 21, "mushrooms"),
    Data("categories", 100_000, 50),
    Data("categories", 500, 2000),
)
QUICK = FRAMES[:3]


@dataclass(frozen=True)
class Question:
    """A default question, and the methods of others that answer it."""

    name: str
    peers: tuple[Method, ...] = ()


SELECTION = (("lightgbm", "importance"), ("scikit-learn", "L1"), ("Boruta", "Boruta"))
QUESTIONS = (
    Question("blanket", (*SELECTION, ("bnlearn", "iamb one"))),
    Question("selector", SELECTION),
    Question("five blankets", (("bnlearn", "iamb five"),)),
    Question("blankets", (("bnlearn", "iamb all"),)),
    Question("stability"),
    Question("network", (("bnlearn", "hc"), ("PyBNesian", "hc"))),
    Question("causes"),
    Question("all blankets"),
)
TITLES = {
    "lightgbm": "LightGBM",
    "scikit-learn": "L1",
    "Boruta": "Boruta",
    "bnlearn": "bnlearn",
    "PyBNesian": "PyBNesian",
}
"""The packages beside serape, as the table calls them."""


@dataclass
class Measured:
    """What a method takes on a frame, in seconds of the processor."""

    data: str
    tool: str
    method: str
    times: list[float] = field(default_factory=list)
    table: float | None = None
    """What making serape's table takes of them."""
    found: int | None = None
    mebibytes: float | None = None
    ended: float | None = None
    """The limit that ended it."""
    failure: str | None = None
    version: str | None = None

    @property
    def over(self) -> bool:
        """Whether it is not run again."""
        return self.ended is not None or self.failure is not None or max(self.times, default=0.0) > LONG

    @property
    def seconds(self) -> float | None:
        """The median; None where it was ended, or failed."""
        return statistics.median(self.times) if self.times else None

    def cell(self, own: Measured) -> str:
        """Return the seconds, how many times those of serape they are, and how much was found."""
        if self.failure is not None:
            return "fails"
        if self.ended is not None:
            bound = "" if own.seconds is None else f" (> {short(self.ended / own.seconds, 2)} ×)"
            return f"> {self.ended:g}{bound}"
        assert self.seconds is not None
        if own.seconds is not None:
            ratio = f"{short(self.seconds / own.seconds, 2)} ×, "
        else:
            ratio = f"< {short(self.seconds / own.ended, 2)} ×, " if own.ended is not None else ""
        return f"{short(self.seconds, 2)} ({ratio}{self.found})"

    @property
    def cells(self) -> list[str]:
        """The cells of serape: seconds, those of its table, how much was found."""
        if self.seconds is None:
            return ["fails" if self.ended is None else f"> {self.ended:g}", "", ""]
        return [short(self.seconds, 2), "" if self.table is None else short(self.table, 2), str(self.found)]


def take(one: Measured, answer: Mapping[str, Any], limit: float) -> None:
    """Record the outcome of a run."""
    if "error" in answer:
        one.failure, one.times = answer["error"], []
    elif "ended" in answer:
        one.ended, one.times = limit, []
    else:
        one.times.append(statistics.median(answer["processor"]))
        one.table, one.found = answer["found"].get("table"), answer["found"]["found"]
        one.mebibytes, one.version = answer.get("mebibytes"), f"{one.tool} {answer['version']}"


def measure(
    runner: Runner, data: Data, frame: Frame, questions: Sequence[Question], repeats: int
) -> dict[Method, Measured]:
    """Ask every question of a frame; the tools take turns, and what answers two questions is run for one."""
    path = frame.write(runner.folder / "frame")
    methods = [
        method for question in questions for method in (("serape", question.name), *question.peers)
        if method[0] in runner.tools
    ]  # fmt: skip
    found = {method: Measured(data.name, *method) for method in methods}
    for _ in range(repeats):
        for one in found.values():
            if not one.over:
                report(f"{data.title}: {one.tool} {one.method}")
                take(one, runner.call(one.tool, one.method, path), runner.limit)
    return found


def lines(
    data: Data, found: Mapping[Method, Measured], questions: Sequence[Question], tools: Collection[str]
) -> list[str]:
    """Return the lines of the table about a frame."""
    made: list[str] = []
    for question in questions:
        own = found["serape", question.name]
        theirs = {tool: found[tool, method].cell(own) for tool, method in question.peers if tool in tools}
        cells = [question.name, *own.cells, *(theirs.get(tool, "") for tool in TITLES if tool in tools)]
        made.append(row([data.title if not made else "", *cells]))
    return made


def row(cells: Sequence[str]) -> str:
    """Return a line of a table in Markdown."""
    return f"| {' | '.join(cells)} |"


def options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add_options(parser, limit=60.0, peers=tuple(TITLES))
    parser.add_argument("--real", type=Path, metavar="FOLDER", help="with the real data sets")
    parser.add_argument(
        "--frames", nargs="+", choices=[data.name for data in FRAMES], metavar="NAME", help="only these"
    )
    parser.add_argument(
        "--questions", nargs="+", choices=[q.name for q in QUESTIONS], metavar="NAME", help="only these"
    )
    parser.add_argument("--repeats", type=int, default=3, help="processes for each tool, question and frame")


def run(options: argparse.Namespace) -> None:
    """Ask default questions of frames of numbers, categories and both, beside packages for the same or for selection.

    Everything is a default of its tool, but that all have one thread, and none a limit of its own. Seconds are those of
    the processor from a frame to the answer: the median over processes, in each of which short questions are repeated.
    Imports, reading and a first small question are not counted. serape makes a table of the frame first; how long this
    takes is told, too. "finds" counts members of blankets, stable members, edges, causes or blankets. In brackets is
    how many times the seconds of serape a package takes, and how many members, columns or edges it finds. The target is
    in the middle of drawn columns, "five blankets" are of it and four others, spread evenly, "blankets" of all columns.

    LightGBM selects columns whose importance is above the mean; L1 those with a coefficient in scikit-learn's
    LassoCV or LogisticRegressionCV, on indicators of levels; Boruta has the forest of its page. bnlearn has iamb
    (learn.mb) and hc, PyBNesian hc by BIC. bnlearn is used where an Rscript on the path has it. An empty cell: the
    package has nothing that answers the question.

    A run is ended at the limit, which is of the processor, too; one over 10 seconds is not repeated. Results go to
    benchmarks/out/questions.json.
    """
    asked = QUICK if options.quick else [data for data in FRAMES if data.name in (options.frames or [data.name])]
    questions = [q for q in QUESTIONS if q.name in (options.questions or [q.name])]
    if options.quick:
        options.repeats = 1
    interpreters = environments(options)
    there = [data for data in asked if data.is_there(options.real)]
    absent = [data.name for data in asked if data not in there]
    measured: list[Measured] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        warm = Frame.of(drawn_columns("mixed", 100, 6), "x3").write(folder / "warm")
        runner = Runner("questions", folder, warm, interpreters, 0.0, options.limit, of_processor=True)
        beside = [title for tool, title in TITLES.items() if tool in runner.tools]
        head = ["frame", "question", "serape, s", "table, s", "finds", *(f"{title}, s" for title in beside)]
        print(row(head), row(["---", "---", *["---:"] * (len(head) - 2)]), sep="\n", flush=True)
        try:
            for data in there:
                found = measure(runner, data, data.frame(options.real), questions, options.repeats)
                measured += found.values()
                print("\n".join(lines(data, found, questions, runner.tools)), flush=True)
        except KeyboardInterrupt:
            report("stopped; what was measured is kept")
    versions = sorted({one.version for one in measured if one.version is not None})
    ran = f"medians of {options.repeats}, runs ended after {options.limit:g} s"
    print(f"\nSeconds of the processor, one thread, {ran}; {', '.join(versions)}; {machine()}")
    for one in measured:
        if one.failure is not None:
            print(f"{one.data}: {one.tool} {one.method} fails: {one.failure:.120}")
    if absent:
        print(f"Not there, so left out: {', '.join(absent)} (--real FOLDER names a folder that has them)")
    content = {"versions": versions, "limit": options.limit, "repeats": options.repeats, "absent": absent}
    save("questions", {**content, "measured": [{**asdict(one), "seconds": one.seconds} for one in measured]})
