"""All blankets of a target: with perfect tests, on networks with columns that tell the same, and on real data."""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import serape
from benchmarks.accuracy.calibration.real import data_sets
from benchmarks.common.data import add_thrombin, thrombin
from benchmarks.common.equivalences import every_blanket, random_case
from benchmarks.common.output import markdown, report, save, short

ALGORITHMS = (
    "iamb", "fbed", "gs", "inter-iamb", "fast-iamb", "iamb-npc", "hpc", "hiton-mb", "mmmb", "pcmb", "ipc-mb", "dos",
)  # fmt: skip
KINDS = ("refined", "near-copy, 1 %", "near-copy, 10 %", "pair in one")
MAX_SECONDS = 60.0
MAX_PREDICTED = 30
"""The largest number of blankets whose predictions are compared."""


def options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("what", nargs="*", choices=[*PARTS, []], help="all of it if not given")
    parser.add_argument("--cases", type=int, default=5000, help="how many random graphs")
    parser.add_argument("--data", type=Path, help="a folder with more real data")
    parser.add_argument("--sets", nargs="+", help="only these real data")
    add_thrombin(parser)


def run(options: argparse.Namespace) -> None:
    """Count right answers of `serape.all_blankets`, and its cost.

    `oracle`: perfect tests on random graphs with copies, functions and pairs, beside a search through all sets.
    `faithful`: data of networks, in which every target has one blanket. `simulated`: the same with a column added that
    tells the same as a member, or nearly. `real`: real data, and how well each blanket predicts in other rows.
    """
    content = {name: PARTS[name](options) for name in options.what or PARTS}
    save("blankets", content)


# --- perfect tests ---------------------------------------------------------------------------------------------------


def oracle(options: argparse.Namespace) -> Any:
    """Count blankets that are missed, and sets that are none, by algorithm."""
    cases = 40 if options.quick else options.cases
    counts = {name: [0, 0, 0] for name in ALGORITHMS}
    random = np.random.default_rng(0)
    several = total = 0
    for _ in range(cases):
        test = random_case(random).oracle()
        target = str(random.choice(test.variables))
        truth = every_blanket(test, target)
        total += len(truth)
        several += len(truth) > 1
        for name, count in counts.items():
            found = set(map(frozenset, serape.all_blankets(test, target, name, progress=False).blankets))
            count[0] += found == truth
            count[1] += len(truth - found)
            count[2] += len(found - truth)
    print(f"{cases:,} targets, {several:,} with several blankets, {total:,} blankets\n")
    lines = [[f"`{name}`", *(f"{count:,}" for count in counts[name])] for name in ALGORITHMS]
    print(markdown(("algorithm", "targets that are right", "blankets missed", "sets that are none"), lines), "\n")
    return {"cases": cases, "several": several, "blankets": total, "counts": counts}


# --- simulated data --------------------------------------------------------------------------------------------------


def samples(options: argparse.Namespace) -> Iterator[tuple[str, int, serape.Network, serape.Table]]:
    """Yield networks and samples of them."""
    names = ("asia",) if options.quick else ("child", "insurance", "alarm")
    for name in names:
        network = serape.load_network(name)
        for rows in (500,) if options.quick else (500, 2000, 10_000):
            yield name, rows, network, network.sample(rows, seed=rows)


def faithful(options: argparse.Namespace) -> Any:
    """Count the blankets found where there is one, with either rule for degrees of freedom."""
    lines = []
    for name, rows, network, table in samples(options):
        for dof in ("auto", "full", "adjusted"):
            found = [_asked(table, target, dof=dof) for target in _varying(table)]
            one = sum(len(each.blankets) == 1 for each in found)
            first = sum(set(each.blankets[0]) == set(network.markov_blanket(each.target)) for each in found)
            among = sum(set(network.markov_blanket(each.target)) in map(set, each.blankets) for each in found)
            mean = np.mean([len(each.blankets) for each in found])
            undecided = sum(bool(each.undecided) for each in found)
            lines.append(
                [name, f"{rows:,}", f'`"{dof}"`', f"{len(found)}", f"{one}", f"{mean:.2f}", f"{first}", f"{among}",
                 f"{undecided}"]
            )  # fmt: skip
    heads = (
        "network",
        "rows",
        "`dof`",
        "targets",
        "one blanket",
        "blankets, mean",
        "the first is true",
        "the truth among them",
        "undecided members",
    )
    print(markdown(heads, lines, (0, 2)), "\n")
    return lines


def simulated(options: argparse.Namespace) -> Any:
    """Count how often a column that tells the same as a member, or nearly, is said to stand for it."""
    lines = []
    for name, rows, network, table in samples(options):
        random = np.random.default_rng(rows)
        frame = pd.DataFrame({column: table.codes(table.position(column)).astype(int) for column in table.names})
        counts = {kind: [0, 0] for kind in KINDS}
        searches, tests, seconds = [], [], []
        for target in _varying(table):
            plain = serape.markov_blanket(frame.astype(str), target, "iamb", progress=False)
            true = [x for x in plain.blanket if x in network.markov_blanket(target)]
            for kind in KINDS:
                if len(true) < 1 + (kind == "pair in one"):
                    continue
                some = [str(x) for x in random.permutation(true)[: 1 + (kind == "pair in one")]]
                found = _asked(frame.assign(new=_like(frame, some, kind, random)).astype(str), target)
                counts[kind][0] += any("new" in one for one in found.replaceable.get(some[0], ()))
                counts[kind][1] += 1
                searches.append(found.searches)
                tests.append(found.tests / max(plain.tests, 1))
                seconds.append(found.seconds)
        shares = [f"{seen} of {asked}" for seen, asked in counts.values()]
        lines.append(
            [name, f"{rows:,}", *shares, f"{np.mean(searches):.1f}", f"{np.mean(tests):.1f}",
             short(1000 * float(np.mean(seconds)))]
        )  # fmt: skip
    print(markdown(("network", "rows", *KINDS, "searches", "tests, times one search", "ms"), lines), "\n")
    return lines


def _like(frame: pd.DataFrame, members: Sequence[str], kind: str, random: np.random.Generator) -> Any:
    """Return a column that tells the same as members, or nearly."""
    values = frame[members[0]].to_numpy()
    if kind == "refined":
        return 2 * values + random.integers(0, 2, len(values))
    if kind == "pair in one":
        return values * 100 + frame[members[1]].to_numpy()
    wrong = random.random(len(values)) < (0.01 if "1 %" in kind else 0.1)
    return np.where(wrong, random.permutation(values), values)


def _varying(table: serape.Table) -> list[str]:
    return [name for name in table.names if not table.is_constant(table.position(name))]


def _asked(data: Any, target: str, **settings: Any) -> serape.AllBlankets:
    return serape.all_blankets(data, target, progress=False, max_seconds=MAX_SECONDS, **settings)


# --- real data -------------------------------------------------------------------------------------------------------


def real(options: argparse.Namespace) -> Any:
    """Print the blankets of real data, their cost, and how well each predicts the target in the other half of rows."""
    lines: list[list[str]] = []
    seconds = 10.0 if options.quick else MAX_SECONDS
    if find_spec("sklearn") is None:
        report("real data need scikit-learn")
        return lines
    sets = options.sets or (["wine", "iris"] if options.quick else None)
    for name, columns, target in data_sets(options.data, sets):
        frame = pd.DataFrame(columns)
        begin = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = serape.all_blankets(frame, target, progress=False, max_seconds=seconds, n_jobs=-1)
            lines.append(_line(name, frame.shape, found, _predicted(frame, target, seconds)))
        report(f"{name}: {time.perf_counter() - begin:.1f} s")
    if options.thrombin is not None:
        data = thrombin(options.thrombin)
        frame_of = pd.DataFrame(data, columns=[*(f"f{k + 1}" for k in range(data.shape[1] - 1)), "class"])
        found = serape.all_blankets(serape.Table(frame_of), "class", progress=False, max_seconds=seconds)
        print(found, "\n")
        lines.append(_line("thrombin", data.shape, found, _predicted(frame_of, "class", seconds)))
    heads = (
        "data",
        "rows",
        "columns",
        "blankets",
        "with duplicates",
        "size of the first",
        "indispensable",
        "replaceable",
        "undecided",
        "searches",
        "tests",
        "seconds",
        "complete",
        "score of the first, lowest, highest",
    )
    print(markdown(heads, lines), "\n")
    return lines


def _line(name: str, shape: tuple[int, ...], found: serape.AllBlankets, scores: str) -> list[str]:
    rows, columns = shape
    return [
        name, f"{rows:,}", f"{columns:,}", f"{len(found.blankets):,}", f"{found.count:,}", f"{len(found.blankets[0])}",
        f"{len(found.indispensable)}", f"{len(found.replaceable)}", f"{len(found.undecided)}",
        f"{found.searches:,}", f"{found.tests:,}", short(found.seconds), "yes" if found.complete else "no",
        scores,
    ]  # fmt: skip


def _predicted(frame: pd.DataFrame, target: str, seconds: float) -> str:
    """Return how well the blankets found in one half of the rows predict the target in the other half.

    The score is the accuracy, balanced over classes, of a forest, or its R² if the target is a number of many values.
    """
    ensemble, metrics = import_module("sklearn.ensemble"), import_module("sklearn.metrics")
    half = np.random.default_rng(0).permutation(len(frame)) < len(frame) // 2
    found = serape.all_blankets(frame[half], target, progress=False, max_seconds=seconds, max_blankets=MAX_PREDICTED)
    numbers = frame[target].dtype.kind in "if" and frame[target].nunique() > 20
    score = metrics.r2_score if numbers else metrics.balanced_accuracy_score
    make = ensemble.RandomForestRegressor if numbers else ensemble.RandomForestClassifier
    scores = []
    for blanket in found.blankets:
        if not blanket:
            continue
        features = pd.get_dummies(frame[list(blanket)]).to_numpy(float)
        model = make(n_estimators=200, min_samples_leaf=3, random_state=0)
        model.fit(features[half], frame[target][half])
        scores.append(float(score(frame[target][~half], model.predict(features[~half]))))
    if not scores:
        return "–"
    return f"{scores[0]:.3f}, {min(scores):.3f}, {max(scores):.3f} ({len(found.blankets)})"


PARTS: dict[str, Callable[[argparse.Namespace], Any]] = {
    "oracle": oracle,
    "faithful": faithful,
    "simulated": simulated,
    "real": real,
}
