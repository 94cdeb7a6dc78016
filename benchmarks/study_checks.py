"""Looks into where the studies differ from their papers (docs/studies).

python benchmarks/study_checks.py bound        Table 4's own distances against the least its precision and recall allow
python benchmarks/study_checks.py empty        targets for which nothing is found, and what leaving them out changes
python benchmarks/study_checks.py pigs         what hpc gets wrong on Pigs
python benchmarks/study_checks.py rules        pcmb on small samples of Alarm under other rules of reliability
python benchmarks/study_checks.py superset     size of HPC's PCS against the number of variables
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import numpy as np

import serape
from serape.api import Task
from serape.blankets import ask_of_many
from serape.independence import G2, X2, ContingencyTest
from serape.local.hpc import de_pcs, de_sps, hpc
from serape.local.inter_iapc import inter_iapc_among
from serape.studies.pena2005 import ALGORITHMS, TABLE_4


def bound() -> None:
    """Mean distance is at least the distance of the means (Jensen): which rows of the paper's Table 4 break that?"""
    print("network rows algorithm | paper's distance | least possible with its precision and recall")
    told = {
        (name, rows, algorithm): [float(cell.split("±")[0]) for cell in row.split()[:3]]
        for (name, rows), both in TABLE_4.items()
        for algorithm, row in zip(ALGORITHMS, both, strict=True)
    }
    for (name, rows, algorithm), (precision, recall, distance) in told.items():
        least = float(np.hypot(max(0.0, 1 - precision - 0.005), max(0.0, 1 - recall - 0.005)))  # digits as printed
        verdict = "impossible" if distance + 0.005 < least else ""
        print(f"{name} {rows} {algorithm} | {distance:.2f} | {least:.3f} {verdict}")


def empty() -> None:
    """Alarm and Pigs as in pena2005-table4, five samples: measures over all targets, and over those with an answer."""
    print("network rows algorithm dof | empty | precision recall distance | the same without empty answers")
    for name, rows in (("alarm", 100), ("alarm", 200), ("alarm", 500), ("alarm", 5000), ("pigs", 100), ("pigs", 500)):
        network = serape.load_network(name)
        for algorithm, dof in (("inter-iamb", "adjusted"), ("pcmb", "adjusted"), ("pcmb", "full")):
            measured = []
            for seed in range(5):
                table = network.sample(rows, seed)
                task = Task.make(table, "blanket", algorithm, "auto", 0.01, None, "auto", dof, None, {})  # type: ignore[arg-type]
                found = ask_of_many(task, table.varying, 1, False)
                every = [serape.compare(r, network.markov_blanket(x)) for x, r in found.items()]
                answered = [c for c, r in zip(every, found.values(), strict=True) if r.blanket]
                means = [
                    float(np.mean([getattr(c, m) for c in part]))
                    for part in (every, answered)
                    for m in ("precision", "recall", "distance")
                ]
                measured.append([1 - len(answered) / len(every), *means])
            share, *numbers = np.mean(measured, axis=0)
            shown = " ".join(f"{n:.2f}" for n in numbers[:3]) + " | " + " ".join(f"{n:.2f}" for n in numbers[3:])
            print(f"{name} {rows} {algorithm} {dof} | {share:.0%} | {shown}", flush=True)


def rules() -> None:
    """Alarm at 100 to 1,000 rows, ten samples, pcmb: does another rule give the paper's recall?"""
    network = serape.load_network("alarm")
    print("precision, recall, distance at 100, 200, 500 and 1,000 rows")
    print("paper: .79 .49 .51 | .94 .56 .38 | .94 .72 .25 | .99 .79 .17")
    tests: dict[str, Callable[[serape.Table], ContingencyTest]] = {
        "as in the study": lambda t: G2(t, "adjusted"),
        "5 rows a cell": lambda t: G2(t, "adjusted", "cells"),
        "2.5 rows a degree of freedom": lambda t: G2(t, "adjusted", minimum=2.5),
        "1 row a degree of freedom": lambda t: G2(t, "adjusted", minimum=1.0),
        "all tests trusted": lambda t: G2(t, "adjusted", None),
        "X2 for G2": lambda t: X2(t, "adjusted"),
        "levels that occur only": lambda t: G2(
            serape.Table({n: t.column(n) for n in t.names}, kinds="categorical"), "adjusted"
        ),
    }
    for name, make in tests.items():
        cells = []
        for rows in (100, 200, 500, 1000):
            measured = []
            for seed in range(10):
                test = make(network.sample(rows, seed))
                task = Task.make(test, "blanket", "pcmb", "auto", 0.01, None, "auto", "auto", None, {})
                found = ask_of_many(task, test.table.varying, 1, False)
                mean = serape.compare(found, {x: network.markov_blanket(x) for x in found})
                measured.append((mean.precision, mean.recall, mean.distance))
            cells.append(" ".join(f"{v:.2f}" for v in np.mean(measured, axis=0)))
        print(f"{name}: {' | '.join(cells)}", flush=True)


def pigs() -> None:
    """One sample of Pigs, 500 rows, 120 targets: what hpc misses, what it adds, and through which of its two sides."""
    network = serape.load_network("pigs")
    table = network.sample(500, 0)
    names = table.names
    targets = np.random.default_rng(0).choice(len(names), 120, replace=False).tolist()
    for alpha, dof in ((0.05, "adjusted"), (0.05, "full"), (0.01, "adjusted")):
        right = missed = by_target = by_or = unrelated = 0
        for target in targets:
            search = serape.Search(G2(table, dof), alpha=alpha)  # type: ignore[arg-type]
            pcs, d_sep = de_pcs(search, target)
            among = {*pcs, *de_sps(search, target, pcs, d_sep)}
            own = set(inter_iapc_among(search, target, sorted(among)).parents_children or ())
            found = set(hpc(search, target))
            truth = {names.index(x) for x in network.parents_children(names[target])}
            close = {names.index(x) for x in network.markov_blanket(names[target])}
            for near in truth:
                close |= {names.index(x) for x in network.parents_children(names[near])}
            right, missed = right + len(found & truth), missed + len(truth - found)
            by_target, by_or = by_target + len((found - truth) & own), by_or + len(found - truth - own)
            unrelated += len(found - truth - close)
        print(
            f"alpha {alpha}, dof {dof}: {right} right, {missed} missed, {by_target + by_or} extra, "
            f"of which {by_or} by the OR alone and {unrelated} more than two arcs away",
            flush=True,
        )


def superset() -> None:
    """Networks tiled as in hpc2010-scaling, ten targets: PCS, and those in it that no reliable test could put out."""
    print("network: variables, dependents, PCS, untestable members of PCS (means of ten targets); growth of PCS")
    for name in ("alarm", "child", "insurance", "hailfinder", "pigs"):
        network = serape.load_network(name)
        points = []
        for size in (1000, 3000, 10_000, 30_000):
            tiled = network.tile(max(1, round(size / network.nodes)), 0)
            table = tiled.sample(100, 0)
            random = np.random.default_rng(0)
            counts = []
            for target in random.choice(table.varying, 10, replace=False).tolist():
                search = serape.Search(G2(table, "full"), alpha=0.05)
                near = search.dependents(target, search.others(target))
                found = search.separate(near[::-1], target, near, range(1, 2), shrinking=True)
                counts.append((len(near), len(found.survivors), int(np.count_nonzero(~found.reliable))))
            points.append((tiled.nodes, *np.mean(counts, axis=0)))
        n, _, pcs, untestable = np.array(points).T
        growth = [np.polyfit(np.log(n), np.log(np.maximum(v, 1e-9)), 1)[0] for v in (pcs, pcs - untestable)]
        shown = "; ".join(", ".join(f"{v:,.1f}" for v in point) for point in points)
        print(f"{name}: {shown}; n^{growth[0]:.2f}, without the untestable n^{growth[1]:.2f}", flush=True)


if __name__ == "__main__":
    checks = {"bound": bound, "empty": empty, "pigs": pigs, "rules": rules, "superset": superset}
    if sys.argv[1:2] and sys.argv[1] in checks:
        checks[sys.argv[1]]()
    else:
        print(__doc__)
