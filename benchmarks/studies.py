"""Checks of where the studies differ from their papers (docs/studies)."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable

import numpy as np

import serape
from benchmarks.common.command import Command, Part
from benchmarks.common.data import add_thrombin, thrombin
from benchmarks.common.internals import (
    G2,
    X2,
    ContingencyTest,
    DofRule,
    find_many,
    hpc,
    hpc_superset,
    inter_iapc_among,
)
from serape.studies.pena2005_table4 import ALGORITHMS, TABLE_4


def bound(options: argparse.Namespace) -> None:
    """Compare the distances in Table 4 of pena2005 with the least that its precision and recall allow.

    A mean distance is at least the distance of the means (Jensen).
    """
    del options
    print("network rows algorithm | paper's distance | least possible with its precision and recall")
    printed = {
        (name, rows, algorithm): [float(cell.split("±")[0]) for cell in row.split()[:3]]
        for (name, rows), both in TABLE_4.items()
        for algorithm, row in zip(ALGORITHMS, both, strict=True)
    }
    for (name, rows, algorithm), (precision, recall, distance) in printed.items():
        least = float(np.hypot(max(0.0, 1 - precision - 0.005), max(0.0, 1 - recall - 0.005)))  # digits as printed
        verdict = "impossible" if distance + 0.005 < least else ""
        print(f"{name} {rows} {algorithm} | {distance:.2f} | {least:.3f} {verdict}")


def empty(options: argparse.Namespace) -> None:
    """Count the targets with empty answers, and measure accuracy with and without them.

    Alarm and Pigs as in pena2005-table4, five samples.
    """
    cases = (("alarm", 100), ("alarm", 200), ("alarm", 500), ("alarm", 5000), ("pigs", 100), ("pigs", 500))
    methods: tuple[tuple[str, DofRule], ...] = (("inter-iamb", "adjusted"), ("pcmb", "adjusted"), ("pcmb", "full"))
    print("network rows algorithm dof | empty | precision recall distance | the same without empty answers")
    for name, rows in cases[:1] if options.quick else cases:
        network = serape.load_network(name)
        for algorithm, dof in methods:
            measured = []
            for seed in range(1 if options.quick else 5):
                table = network.sample(rows, seed)
                found = find_many(table, "blanket", algorithm, 0.01, table.varying, dof)
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


def rules(options: argparse.Namespace) -> None:
    """Compare pcmb under other rules of reliability with the paper: Alarm at 100 to 1,000 rows, ten samples."""
    network = serape.load_network("alarm")
    print("precision, recall, distance at 100, 200, 500 and 1,000 rows")
    print("paper: .79 .49 .51 | .94 .56 .38 | .94 .72 .25 | .99 .79 .17")
    tests: dict[str, Callable[[serape.Table], ContingencyTest]] = {
        "as in the study": lambda t: G2(t, "adjusted"),
        "5 rows per cell": lambda t: G2(t, "adjusted", "cells"),
        "2.5 rows per degree of freedom": lambda t: G2(t, "adjusted", minimum=2.5),
        "1 row per degree of freedom": lambda t: G2(t, "adjusted", minimum=1.0),
        "all tests performed": lambda t: G2(t, "adjusted", None),
        "X2 for G2": lambda t: X2(t, "adjusted"),
        "levels that occur only": lambda t: G2(
            serape.Table({n: t.column(n) for n in t.names}, kinds="categorical"), "adjusted"
        ),
    }
    for name, make in tests.items():
        cells = []
        for rows in (100, 200, 500, 1000):
            measured = []
            for seed in range(1 if options.quick else 10):
                test = make(network.sample(rows, seed))
                found = find_many(test, "blanket", "pcmb", 0.01, test.table.varying)
                mean = serape.compare(found, {x: network.markov_blanket(x) for x in found})
                measured.append((mean.precision, mean.recall, mean.distance))
            cells.append(" ".join(f"{v:.2f}" for v in np.mean(measured, axis=0)))
        print(f"{name}: {' | '.join(cells)}", flush=True)


def pigs(options: argparse.Namespace) -> None:
    """Count what hpc misses and adds on Pigs, and by which of its two sides: one sample of 500 rows, 120 targets."""
    network = serape.load_network("pigs")
    table = network.sample(500, 0)
    names = table.names
    targets = np.random.default_rng(0).choice(len(names), 3 if options.quick else 120, replace=False).tolist()
    settings: tuple[tuple[float, DofRule], ...] = ((0.05, "adjusted"), (0.05, "full"), (0.01, "adjusted"))
    for alpha, dof in settings:
        right = missed = by_target = by_or = unrelated = 0
        for target in targets:
            search = serape.Search(G2(table, dof), alpha=alpha)
            own = set(inter_iapc_among(search, target, hpc_superset(search, target)))
            found = set(hpc(search, target))
            truth = {names.index(x) for x in network.parents_children(names[target])}
            close = {names.index(x) for x in network.markov_blanket(names[target])}
            for neighbour in truth:
                close |= {names.index(x) for x in network.parents_children(names[neighbour])}
            right, missed = right + len(found & truth), missed + len(truth - found)
            by_target, by_or = by_target + len((found - truth) & own), by_or + len(found - truth - own)
            unrelated += len(found - truth - close)
        print(
            f"alpha {alpha}, dof {dof}: {right} right, {missed} missed, {by_target + by_or} extra, "
            f"of which {by_or} by the OR alone and {unrelated} more than two arcs away",
            flush=True,
        )


def superset(options: argparse.Namespace) -> None:
    """Measure the size of HPC's PCS against the number of variables.

    Networks tiled as in hpc2010-scaling, ten targets: PCS, and its members that no reliable test could remove.
    """
    sizes, targets = ((100, 300), 2) if options.quick else ((1000, 3000, 10_000, 30_000), 10)
    names = ("alarm", "child", "insurance", "hailfinder", "pigs")
    print("network: variables, dependents, PCS, untestable members of PCS (means of ten targets); growth of PCS")
    for name in names[:1] if options.quick else names:
        network = serape.load_network(name)
        points = []
        for size in sizes:
            tiled = network.tile(max(1, round(size / network.nodes)), 0)
            table = tiled.sample(100, 0)
            random = np.random.default_rng(0)
            counts = []
            for target in random.choice(table.varying, targets, replace=False).tolist():
                search = serape.Search(G2(table, "full"), alpha=0.05)
                dependents = search.dependents(target, search.candidates(target))
                found = search.separate(dependents[::-1], target, dependents, range(1, 2), shrinking=True)
                counts.append((len(dependents), len(found.survivors), int(np.count_nonzero(~found.reliable))))
            points.append((tiled.nodes, *np.mean(counts, axis=0)))
        n, _, pcs, untestable = np.array(points).T
        growth = [np.polyfit(np.log(n), np.log(np.maximum(v, 1e-9)), 1)[0] for v in (pcs, pcs - untestable)]
        shown = "; ".join(", ".join(f"{v:,.1f}" for v in point) for point in points)
        print(f"{name}: {shown}; n^{growth[0]:.2f}, without the untestable n^{growth[1]:.2f}", flush=True)


def ties(options: argparse.Namespace) -> None:
    """Count the answers of pcd about the class of Thrombin when ties are broken at random.

    As in pena2005-table5; columns are counted from 1. Without --thrombin, a small table with copies is used.
    """
    if options.thrombin is None:
        few = np.random.default_rng(0).integers(2, size=(500, 3))
        data = np.column_stack([few, few[:, :2], few[:, 0] | few[:, 1]])
    else:
        data = thrombin(options.thrombin)
    table = serape.Table(data, kinds="categorical")
    answers: Counter[tuple[str, ...]] = Counter()
    for seed in range(20 if options.quick else 200):
        found = serape.parents_children(
            table, data.shape[1] - 1, "pcd", alpha=0.01, zero_dof="independent", max_conditioning=None,
            max_seconds=None, random_state=seed,
        )  # fmt: skip
        groups = sorted(table.duplicates.get(x, (x,)) for x in map(table.position, found.members))
        answers[tuple(str(x + 1) if not more else f"{x + 1} or a copy" for x, *more in groups)] += 1
    print("how often | members")
    for answer, count in answers.most_common():
        print(count, "|", ", ".join(answer))


COMMAND = Command(
    {check.__name__: Part(check) for check in (bound, empty, pigs, rules, superset)}
    | {"ties": Part(ties, add_thrombin)}
)
