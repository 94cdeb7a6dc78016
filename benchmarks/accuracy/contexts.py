"""Blankets in several contexts, and of several targets: the figures of docs/contexts.md."""

from __future__ import annotations

import argparse
import time
import warnings
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

import serape
from benchmarks.accuracy.calibration.real import Columns, data_sets, with_shuffled
from benchmarks.accuracy.real_classes import classes
from benchmarks.common.altered import CONTEXT, draw
from benchmarks.common.output import markdown, report, save, short
from serape.data.example import clinic

NETWORKS = ("child", "insurance", "alarm")
ROWS = (3000, 15000)
CONTEXTS = 3
CHANGED = 0.15
"""The share of the variables whose law differs between contexts."""
PROBES = 20
REAL = {"bike": "Season", "german": "personal_status_sex", "titanic": "embark_town", "taxis": "color"}
"""Real data, and the column that is the context."""
ADULT = (
    "age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation", "relationship", "race",
    "sex", "capital-gain", "capital-loss", "hours-per-week", "native-country", "income",
)  # fmt: skip


# --- simulated --------------------------------------------------------------------------------------------------------


@dataclass
class Counted:
    """Of a set of names: how many are right, found and true."""

    right: int = 0
    found: int = 0
    true: int = 0

    def add(self, found: Collection[str], true: Collection[str]) -> None:
        """Count one answer."""
        self.right += len(set(found) & set(true))
        self.found += len(found)
        self.true += len(true)

    @property
    def text(self) -> str:
        """Precision and recall."""
        shares = [(self.right, self.found), (self.right, self.true)]
        return " / ".join(f"{a / b:.2f}" if b else "–" for a, b in shares)


@dataclass
class Measured:
    """The figures of one kind of data."""

    sets: defaultdict[str, Counted] = field(default_factory=lambda: defaultdict(Counted))
    laws: Counter[tuple[bool, bool | None]] = field(default_factory=Counter)
    """Whether the law of the target differs, and whether it is called the same."""
    some: Counter[bool] = field(default_factory=Counter)
    """The members called in some contexts, by whether the law of the target differs."""
    tests: Counter[str] = field(default_factory=Counter)
    seconds: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    targets: int = 0

    @property
    def alarms(self) -> str:
        """The share of laws called different among those that are the same, and among those that differ."""
        shares = []
        for differs in (False, True):
            total = sum(count for (true, _), count in self.laws.items() if true is differs)
            shares.append(f"{self.laws[differs, False] / total:.2f}" if total else "–")
        return " / ".join(shares)


def measure(network: serape.Network, rows: int, seeds: Iterable[int], changed: float, how: str) -> Measured:
    """Ask about every variable of samples of a network."""
    measured = Measured()
    for seed in seeds:
        drawn = draw(network, CONTEXTS, rows, seed, changed, how)
        table = serape.Table(drawn.frame)
        ignoring = serape.Table(drawn.frame.drop(columns=CONTEXT))
        parts = [part for _, part in drawn.frame.groupby(CONTEXT)]
        fixed = {name for name in network.variables if any(part[name].nunique() < 2 for part in parts)}
        of_context: tuple[str, ...] | None = None
        for target in network.variables:
            if target in fixed:
                continue
            begun = time.process_time()
            found = serape.context_blankets(table, target, CONTEXT, progress=False)
            measured.seconds["context_blankets"] += time.process_time() - begun
            begun = time.process_time()
            plain = serape.markov_blanket(ignoring, target, progress=False)
            measured.seconds["markov_blanket"] += time.process_time() - begun
            truth = drawn.blankets(target)
            union, common = set.union(*truth), set.intersection(*truth)
            whole = set(network.markov_blanket(target))
            differs = target in drawn.changed or bool(set(network.children(target)) & drawn.changed)
            add = measured.sets
            add["blanket"].add(found.blanket, whole)
            add["ignoring"].add(plain.blanket, whole)
            add["common"].add(found.common, common)
            add["ignoring, common"].add(plain.blanket, common)
            add["in some"].add(list(found.in_some), union - common)
            lacking = [name for name in found.members if name not in found.common]
            add["not in all"].add(lacking, union - common)
            add["undecided"].add(list(found.undecided), common)
            add["causes"].add(found.causes, network.parents(target))
            measured.laws[differs, found.invariant] += 1
            measured.some[differs] += len(found.in_some)
            measured.tests["context_blankets"] += found.tests
            measured.tests["markov_blanket"] += plain.tests
            measured.targets += 1
            if of_context is None:
                of_context = tuple(x for x in found.changes if x != target)
                add["changes"].add(found.changes, drawn.changed)
    return measured


HEAD = (
    "data", "rows", "targets", "blanket", "context ignored", "in all contexts", "ignored, in all", "in some contexts",
    "law differs / not", "not found in all", "causes", "differs: false / true alarms", "what differs", "tests",
    "ignored", "seconds", "ignored",
)  # fmt: skip


def line(name: str, rows: int, measured: Measured) -> list[str]:
    """Return the line of the table."""
    kinds = ("blanket", "ignoring", "common", "ignoring, common", "in some", "not in all", "causes")
    tests = [f"{measured.tests[method] / measured.targets:,.0f}" for method in ("context_blankets", "markov_blanket")]
    seconds = [
        short(measured.seconds[method] / measured.targets, 2) for method in ("context_blankets", "markov_blanket")
    ]
    figures = [measured.sets[kind].text for kind in kinds]
    figures.insert(5, f"{measured.some[True]:,} / {measured.some[False]:,}")
    return [
        name, f"{rows:,}", f"{measured.targets:,}", *figures, measured.alarms, measured.sets["changes"].text,
        *tests, *seconds,
    ]  # fmt: skip


# --- real -------------------------------------------------------------------------------------------------------------


def adult(path: Path) -> tuple[Columns, str]:
    """Return the census data, numbers cut at their terciles; rows with missing values are left out."""
    pandas = import_module("pandas")
    frame = pandas.read_csv(path, header=None, names=list(ADULT), skipinitialspace=True, na_values="?").dropna()
    frame = frame.drop(columns=["fnlwgt", "education-num"])
    columns = {str(name): frame[name].to_numpy() for name in frame.columns}
    return {name: classes(values, 0.0) for name, values in columns.items()}, "income"


def real_tables(folder: Path, census: Path | None) -> Iterable[tuple[str, Columns, str, str]]:
    """Yield the name, columns, target and context of real data."""
    if census is not None:
        yield "adult", *adult(census), "sex"
    for name, columns, target in data_sets(folder, list(REAL)):
        context = REAL[name]
        if name == "titanic":
            columns = {x: c for x, c in columns.items() if x not in ("embarked", "class", "alone", "adult_male")}
        if name == "taxis":
            columns = {x: c for x, c in columns.items() if "zone" not in x}
        columns[context] = columns[context].astype(str)
        yield name, columns, target, context


def real_lines(folder: Path, census: Path | None, shuffles: int, only: Sequence[str] | None) -> list[list[str]]:
    """Return a line for each real table: the answer with shuffled columns added, and those for shuffled contexts."""
    lines = []
    for name, columns, target, context in real_tables(folder, census):
        if only and name not in only:
            continue
        report(f"{name}: {target} by {context}")
        own = {x: c for x, c in columns.items() if x != context}
        wide, probes = with_shuffled(own, target, PROBES, 0, True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            begun = time.process_time()
            found = serape.context_blankets({**wide, context: columns[context]}, target, context, progress=False)
            seconds = time.process_time() - begun
            random = np.random.default_rng(0)
            null = [
                serape.context_blankets({**own, context: random.permutation(columns[context])}, target, context,
                                        progress=False)
                for _ in range(shuffles)
            ]  # fmt: skip
        claimed = {*found.common, *found.in_some, *found.changes, *found.causes} & set(probes)
        maybe = set(found.undecided) & set(probes)
        some = [f"{x} ({', '.join(where)})" for x, where in found.in_some.items()]
        alarms = [sum(one.invariant is False for one in null), sum(bool(one.in_some) for one in null)]
        alarms.append(sum(bool(one.changes) for one in null))
        lines.append(
            [
                name, f"{len(columns[target]):,}", target, f"{context}: {', '.join(found.contexts)}",
                ", ".join(found.common) or "–", ", ".join(some) or "–",
                ", ".join(x for x in found.undecided if x not in probes) or "–",
                {True: "same", False: "differs", None: "not tested"}[found.invariant],
                ", ".join(found.changes) or "–", ", ".join(found.causes) or "–",
                f"{len(claimed)} / {len(maybe)}", " / ".join(map(str, alarms)), f"{found.tests:,}", short(seconds, 2),
            ]
        )  # fmt: skip
    return lines


REAL_HEAD = (
    "data", "rows", "target", "context", "in all contexts", "in some", "undecided", "law", "what differs", "causes",
    "probes claimed / undecided", "of shuffled contexts: law, members, what differs", "tests", "seconds",
)  # fmt: skip


# --- several targets --------------------------------------------------------------------------------------------------


def joint_line(name: str, rows: int, seeds: Iterable[int]) -> list[str]:
    """Return precision, recall and cost of the joint blanket of three targets, beside three searches by themselves."""
    network = serape.load_network(name)
    counted, shared = Counted(), Counted()
    tests = [0, 0]
    seconds = [0.0, 0.0]
    asked = 0
    for seed in seeds:
        table = network.sample(rows, seed)
        random = np.random.default_rng(seed)
        varying = [table.names[k] for k in table.varying]
        for _ in range(20):
            targets = [str(x) for x in random.choice(varying, 3, replace=False)]
            truth = [set(network.markov_blanket(target)) for target in targets]
            fresh = [table.part(range(len(table.names))) for _ in range(2)]  # which remember nothing
            begun = time.process_time()
            found = serape.joint_blanket(fresh[0], targets, progress=False)
            seconds[0] += time.process_time() - begun
            begun = time.process_time()
            single = [serape.markov_blanket(fresh[1], target, progress=False) for target in targets]
            seconds[1] += time.process_time() - begun
            counted.add(found.blanket, set.union(*truth) - set(targets))
            shared.add(found.shared, set.intersection(*truth) - set(targets))
            tests[0] += found.tests
            tests[1] += sum(one.tests for one in single)
            asked += 1
    cost = [*(f"{count / asked:,.0f}" for count in tests), *(short(one / asked, 2) for one in seconds)]
    return [name, f"{rows:,}", f"{asked:,}", counted.text, shared.text, *cost]


JOINT_HEAD = ("network", "rows", "asked", "blanket", "shared", "tests", "alone", "seconds", "alone")


# --- tests of invariance ----------------------------------------------------------------------------------------------

INVARIANCE: dict[str, dict[str, Any]] = {
    "g2, full dof": {"test": "g2", "dof": "full"},
    "g2, adjusted dof": {"test": "g2", "dof": "adjusted"},
    "x2, adjusted dof": {"test": "x2", "dof": "adjusted"},
    "x2-moments": {"test": "x2-moments"},
}
MEMBERS = ("Age", "Smoking", "BloodPressure", "Anxiety", "ECG", "ChestPain")


def invariance_lines(samples: int) -> list[list[str]]:
    """Return how often tests reject, at 0.01, that an irrelevant column tells nothing given the blanket."""
    lines = []
    for context in ("Parking", "Ward"):
        for rows in (1000, 3000, 10000):
            tables = [serape.Table(clinic(rows, seed)) for seed in range(samples)]
            shares = []
            for settings in INVARIANCE.values():
                outcomes = [serape.ci_test(table, context, "HeartDisease", MEMBERS, **settings) for table in tables]
                reliable = [outcome.p <= 0.01 for outcome in outcomes if outcome.reliable]
                shares.append(f"{np.mean(reliable):.3f}" if reliable else "not reliable")
            lines.append([f"{context}, {len(set(clinic(100)[context])):,} levels", f"{rows:,}", *shares])
    return lines


# --- the command ------------------------------------------------------------------------------------------------------


PARTS = ("simulated", "joint", "invariance", "real")


def options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--networks", nargs="+", default=NETWORKS)
    parser.add_argument("--rows", nargs="+", type=int, default=ROWS, help="of all contexts together")
    parser.add_argument("--seeds", type=int, default=3, help="the number of samples")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS[:3])
    parser.add_argument("--real", type=Path, metavar="FOLDER", help="of compressed files")
    parser.add_argument("--adult", type=Path, metavar="FILE", help="adult.data.xz of UCI")
    parser.add_argument("--only", nargs="+", help="names of real data")
    parser.add_argument("--shuffles", type=int, default=20, help="answers with a shuffled context, for real data")


def run(options: argparse.Namespace) -> None:
    """Measure blankets in three contexts, on samples of networks whose laws differ and on real data, and joint ones.

    In some contexts, 15 % of the variables have another law, or one of their parents has no influence ("changes"); or
    each context but the first sets one variable ("interventions"); or nothing differs ("the same law"). Figures are
    precision / recall. A set in all contexts is right if it is in the true blanket of each. Seconds are of the
    processor, for one target. Real data get 20 shuffled columns, and the context is shuffled, too, so that nothing
    differs. Results go to benchmarks/out/contexts.json.
    """
    names, rows, seeds = (options.networks, options.rows, range(1, options.seeds + 1))
    parts: Sequence[str] = options.parts
    if options.quick:
        names, rows, seeds, parts = ("asia",), (600,), range(1, 2), ("simulated", "joint")
    kinds = {"changes": ("mixed", CHANGED), "interventions": ("interventions", 0.0), "the same law": ("mixed", 0.0)}
    content: dict[str, Any] = {}
    if "simulated" in parts:
        lines = []
        for name in names:
            for kind, (how, changed) in kinds.items():
                for n in rows:
                    report(f"{name}, {kind}, {n:,} rows")
                    measured = measure(serape.load_network(name), n, seeds, changed, how)
                    lines.append(line(f"{name}, {kind}", n, measured))
        print(markdown(HEAD, lines))
        content["simulated"] = [HEAD, *lines]
    if "joint" in parts:
        lines = [joint_line(name, n, seeds) for name in names for n in rows]
        print(markdown(JOINT_HEAD, lines))
        content["joint"] = [JOINT_HEAD, *lines]
    if "invariance" in parts:
        lines = invariance_lines(200)
        print(markdown(["context", "rows", *INVARIANCE], lines))
        content["invariance"] = lines
    if "real" in parts and options.real is not None:
        lines = real_lines(options.real, options.adult, options.shuffles, options.only)
        print(markdown(REAL_HEAD, lines, words=(0, 2, 3, 4, 5, 6, 7, 8, 9)))
        content["real"] = [REAL_HEAD, *lines]
    save("contexts", content)
