"""Which algorithm comes nearest to the truth, and at what cost? The figures behind docs/choosing.md.

    python benchmarks/choosing.py [--seeds 1] [--limit 5] [--rows 200 500 …] [--networks child …] [--alphas 0.01 0.05]

Samples networks that come with the package, and finds the blankets, or the parents and children, of all variables with
every algorithm, under either rule for degrees of freedom. Distance is that of precision and recall to (1, 1): its mean
over the variables of a network, then over the networks; less is better. Times are for all variables, one thread. A call
that takes longer than the limit is ended, and not tried on more rows of the network; means are over the networks on
which everybody ended with that many rows, and the others are named below the table.

Results go to the screen and to benchmarks/out/choosing.json.
"""

from __future__ import annotations

import argparse
import math
import signal
import statistics
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import product
from types import FrameType
from typing import Literal

import serape
from measure import markdown, save, short, tell
from serape.local.registry import ALGORITHMS
from serape.studies.measuring import accuracy_of_all

Finds = Literal["blanket", "parents-children"]
Dof = Literal["full", "adjusted"]
QUESTIONS: tuple[Finds, ...] = ("blanket", "parents-children")
DOFS: tuple[Dof, ...] = ("full", "adjusted")
NETWORKS = ("child", "insurance", "alarm", "hailfinder", "win95pts", "hepar2")
ROWS = (200, 500, 1000, 5000, 20000)
ALPHAS = (0.01, 0.05)


@dataclass(frozen=True)
class Measured:
    """What came of one algorithm on one sample."""

    network: str
    rows: int
    seed: int
    alpha: float
    finds: Finds
    algorithm: str
    dof: Dof
    seconds: float | None = None
    """None where it was ended at the limit, or not tried any more."""
    precision: float | None = None
    recall: float | None = None
    distance: float | None = None
    tests: int | None = None


def candidates(finds: Finds) -> list[str]:
    """Return the algorithms that answer a question; hpc-mb is what hpc does when asked for a blanket."""
    return [name for name, a in ALGORITHMS.items() if a.answers(finds) and name != "hpc-mb"]


def measure(
    networks: Sequence[str], rows: Sequence[int], seeds: int, alphas: Sequence[float], limit: float
) -> Iterator[Measured]:
    """Ask all of all, fewest rows first."""
    ways = [
        (alpha, finds, a, dof) for alpha in alphas for finds in QUESTIONS for a in candidates(finds) for dof in DOFS
    ]
    for name in networks:
        network = serape.load_network(name)
        truths = {
            "blanket": {v: network.markov_blanket(v) for v in network.variables},
            "parents-children": {v: network.parents_children(v) for v in network.variables},
        }
        too_slow: set[tuple[object, ...]] = set()
        for count, seed in product(rows, range(1, seeds + 1)):
            table = network.sample(count, seed)
            accuracy_of_all(table, truths["blanket"], "blanket", "iamb", 0.01)  # what is made once for a table
            for way in ways:
                alpha, finds, algorithm, dof = way
                what = Measured(name, count, seed, alpha, finds, algorithm, dof)
                got = None if way in too_slow else ask(table, truths[finds], what, limit)
                if got is None:
                    too_slow.add(way)
                yield got or what
            tell(f"{name}, {count:,} rows, seed {seed}: {len(too_slow)} of {len(ways)} ways were or had been ended")


def ask(table: serape.Table, truth: Mapping[str, Sequence[str]], what: Measured, limit: float) -> Measured | None:
    """Find the answers for all variables, and compare them with the truth; None if that takes longer than the limit."""
    signal.setitimer(signal.ITIMER_REAL, limit)
    try:
        got = accuracy_of_all(table, truth, what.finds, what.algorithm, what.alpha, dof=what.dof)
    except KeyboardInterrupt:
        return None
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    return replace(what, **{key: got[key] for key in ("seconds", "precision", "recall", "distance", "tests")})


def ring(signum: int, frame: FrameType | None) -> None:
    """End a search as Ctrl-C would."""
    del signum, frame
    raise KeyboardInterrupt


def all_ended(measured: Sequence[Measured], count: int) -> list[str]:
    """Return the networks on which everybody ended with so many rows: means are comparable over these."""
    slow = {one.network for one in measured if one.rows == count and one.distance is None}
    return [name for name in dict.fromkeys(one.network for one in measured) if name not in slow]


def table_of(measured: Sequence[Measured], rows: Sequence[int]) -> str:
    """Return a table about one question at one alpha: a line for each algorithm and rule, the nearest in bold."""
    fair = {count: all_ended(measured, count) for count in rows}
    timed = [rows[len(rows) // 2], rows[-1]]
    ways = list(dict.fromkeys((one.algorithm, one.dof) for one in measured))

    def mean(way: tuple[str, Dof], count: int, key: str) -> float:
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
    return markdown(head, lines, words=(0, 1)) + "".join(left_out(measured, count) for count in rows)


def left_out(measured: Sequence[Measured], count: int) -> str:
    """Say which networks are not in the means, and because of whom."""
    slow: dict[str, list[str]] = {}
    for one in measured:
        if one.rows == count and one.distance is None:
            slow.setdefault(one.network, []).append(f"{one.algorithm} ({one.dof})")
    return "".join(
        f"\n{count:,} rows: without {name}, where these did not end: {', '.join(ways)}" for name, ways in slow.items()
    )


def main() -> None:
    """Measure, print and save."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--networks", nargs="+", default=NETWORKS)
    parser.add_argument("--rows", nargs="+", type=int, default=ROWS)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--alphas", nargs="+", type=float, default=ALPHAS)
    parser.add_argument("--limit", type=float, default=5.0, help="seconds after which a call is ended")
    given = parser.parse_args()
    signal.signal(signal.SIGALRM, ring)
    begin = time.perf_counter()
    measured = list(measure(given.networks, given.rows, given.seeds, given.alphas, given.limit))
    taken = time.perf_counter() - begin
    for finds, alpha in product(QUESTIONS, given.alphas):
        print(f"\n{finds}, alpha {alpha:g}: mean distance, and milliseconds for all variables of a network\n")
        print(table_of([one for one in measured if one.finds == finds and one.alpha == alpha], given.rows))
    tell(f"{taken:.0f} s in all")
    save("choosing", {"settings": vars(given), "seconds": taken, "measured": [asdict(one) for one in measured]}, None)


if __name__ == "__main__":
    main()
