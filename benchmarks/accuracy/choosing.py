"""Which algorithm comes nearest to the truth, and at what cost? The figures behind docs/choosing.md."""

from __future__ import annotations

import argparse
import math
import signal
import statistics
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import product
from types import FrameType

import serape
from benchmarks.common.data import true_answers
from benchmarks.common.internals import ALGORITHMS, DofRule, Finds
from benchmarks.common.output import markdown, report, save, short
from benchmarks.common.processes import add_jobs, in_processes
from serape.studies.measuring import accuracy_of_all

QUESTIONS: tuple[Finds, ...] = ("blanket", "parents-children")
DOFS: tuple[DofRule, ...] = ("full", "adjusted")
NETWORKS = ("child", "insurance", "alarm", "hailfinder", "win95pts", "hepar2")
ROWS = (200, 500, 1000, 5000, 20000)
ALPHAS = (0.01, 0.05)


@dataclass(frozen=True)
class Measured:
    """What one algorithm gives on one sample."""

    network: str
    rows: int
    seed: int
    alpha: float
    finds: Finds
    algorithm: str
    dof: DofRule
    seconds: float | None = None
    """None where it was ended at the limit, or is not tried any more."""
    precision: float | None = None
    recall: float | None = None
    distance: float | None = None
    tests: int | None = None


def candidates(finds: Finds) -> list[str]:
    """Return the algorithms that answer a question; hpc-mb is what hpc does to find a blanket."""
    return [name for name, a in ALGORITHMS.items() if a.answers(finds) and name != "hpc-mb"]


def measure(name: str, rows: Sequence[int], seeds: int, alphas: Sequence[float], limit: float) -> list[Measured]:
    """Return the accuracy of every algorithm on every sample of a network, fewest rows first."""
    signal.signal(signal.SIGALRM, interrupt)
    ways = [
        (alpha, finds, a, dof) for alpha in alphas for finds in QUESTIONS for a in candidates(finds) for dof in DOFS
    ]
    network = serape.load_network(name)
    truths = {finds: true_answers(network, finds) for finds in QUESTIONS}
    too_slow: set[tuple[object, ...]] = set()
    measured = []
    for count, seed in product(rows, range(1, seeds + 1)):
        table = network.sample(count, seed)
        layouts = {"algorithm": "iamb", "alpha": 0.01}  # makes the layouts of the table
        accuracy_of_all(table, truths["blanket"], "blanket", layouts)
        for way in ways:
            alpha, finds, algorithm, dof = way
            what = Measured(name, count, seed, alpha, finds, algorithm, dof)
            got = None if way in too_slow else accuracy(table, truths[finds], what, limit)
            if got is None:
                too_slow.add(way)
            measured.append(got or what)
        report(f"{name}, {count:,} rows, seed {seed}: {len(too_slow)} of {len(ways)} ways have been ended")
    return measured


def accuracy(table: serape.Table, truth: Mapping[str, Sequence[str]], what: Measured, limit: float) -> Measured | None:
    """Search for all variables and compare with the truth; None if that takes longer than the limit."""
    setting = {"algorithm": what.algorithm, "alpha": what.alpha, "dof": what.dof, "fdr": "auto"}
    signal.setitimer(signal.ITIMER_REAL, limit)
    try:
        got = accuracy_of_all(table, truth, what.finds, setting)
    except KeyboardInterrupt:
        return None
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    return replace(what, **{key: got[key] for key in ("seconds", "precision", "recall", "distance", "tests")})


def interrupt(signum: int, frame: FrameType | None) -> None:
    """Interrupt a search as Ctrl-C does."""
    del signum, frame
    raise KeyboardInterrupt


def all_ended(measured: Sequence[Measured], count: int) -> list[str]:
    """Return the networks on which every algorithm ended with so many rows: means are comparable over these."""
    slow = {one.network for one in measured if one.rows == count and one.distance is None}
    return [name for name in dict.fromkeys(one.network for one in measured) if name not in slow]


def table_of(measured: Sequence[Measured], rows: Sequence[int]) -> str:
    """Return a table about one question at one alpha: a line for each algorithm and rule, the nearest in bold."""
    fair = {count: all_ended(measured, count) for count in rows}
    timed = [rows[len(rows) // 2], rows[-1]]
    ways = list(dict.fromkeys((one.algorithm, one.dof) for one in measured))

    def mean(way: tuple[str, DofRule], count: int, key: str) -> float:
        these = [m for m in measured if (m.algorithm, m.dof) == way and m.rows == count and m.network in fair[count]]
        return statistics.fmean([getattr(one, key) for one in these] or [math.nan])

    best = {count: min(mean(way, count, "distance") for way in ways) for count in rows}
    lines = []
    for way in ways:
        algorithm, dof = way
        line = ["" if dof == DOFS[1] else f"`{algorithm}`", dof + " (auto)" * (ALGORITHMS[algorithm].dof == dof)]
        for count in rows:
            distance = mean(way, count, "distance")
            text = f"{distance:.3f}".lstrip("0")
            line.append(f"**{text}**" if distance < best[count] + 5e-4 else text)
        lines.append([*line, *(short(1000 * mean(way, count, "seconds"), 2) for count in timed)])
    head = ["algorithm", "dof", *(f"{count:,}" for count in rows), *(f"ms, {count:,}" for count in timed)]
    return markdown(head, lines, words=(0, 1)) + "".join(excluded(measured, count) for count in rows)


def excluded(measured: Sequence[Measured], count: int) -> str:
    """Return which networks are not in the means, and because of which algorithms."""
    slow: dict[str, list[str]] = {}
    for one in measured:
        if one.rows == count and one.distance is None:
            slow.setdefault(one.network, []).append(f"{one.algorithm} ({one.dof})")
    return "".join(
        f"\n{count:,} rows: without {name}, where these did not end: {', '.join(ways)}" for name, ways in slow.items()
    )


def options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--networks", nargs="+", default=NETWORKS)
    parser.add_argument("--rows", nargs="+", type=int, default=ROWS)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--alphas", nargs="+", type=float, default=ALPHAS)
    parser.add_argument("--limit", type=float, default=5.0, help="seconds after which a call is ended")
    add_jobs(parser)


def run(options: argparse.Namespace) -> None:
    """Compare every algorithm with the truth, by rows, under either rule for degrees of freedom.

    Samples networks that come with the package, and finds the blankets, or the parents and children, of all variables.
    Distance is that of precision and recall to (1, 1): its mean over the variables of a network, then over the
    networks; less is better. Times are for all variables, one thread. A call that takes longer than the limit is ended,
    and not tried on more rows of the network; means are over the networks on which every algorithm ended with that many
    rows, and the others are named below the table. Results go to benchmarks/out/choosing.json.
    """
    if options.quick:
        options.networks, options.rows, options.alphas = ["asia"], [500], [0.01]
    begin = time.perf_counter()
    settings = (options.rows, options.seeds, options.alphas, options.limit)
    todo = [partial(measure, name, *settings) for name in options.networks]
    by_network = {some[0].network: some for some in in_processes(todo, options.jobs)}
    measured = [one for name in options.networks for one in by_network.get(name, ())]
    taken = time.perf_counter() - begin
    for finds, alpha in product(QUESTIONS, options.alphas):
        print(f"\n{finds}, alpha {alpha:g}: mean distance, and milliseconds for all variables of a network\n")
        print(table_of([one for one in measured if one.finds == finds and one.alpha == alpha], options.rows))
    report(f"{taken:.0f} s in all")
    save("choosing", {"settings": vars(options), "seconds": taken, "measured": [asdict(one) for one in measured]})
