"""Rodrigues de Morais and Aussem 2010: accuracy (Figure 3) and scaling (Figure 4) of HPC."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

import serape
from serape.networks import load_network
from serape.studies.measuring import accuracy_of_all, accuracy_of_network
from serape.studies.study import Answers, Cell, Row, Settings, Study, samples_of
from serape.studies.thrombin import FEATURES, read_thrombin

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PAPER = "Rodrigues de Morais & Aussem 2010"

# --- accuracy -----------------------------------------------------------------------------------------------------

# Of the eleven in the paper, Genes and Insulin are not available, and Carpo may not be bundled.
NETWORKS = ("asia", "alarm", "child", "insurance", "mildew", "barley", "pigs", "link")
BY_TESTS = ("hpc", "mmpc", "pcmb", "inter-iapc")
BY_SCORE = ("ges", "sca")
ALGORITHMS = (*BY_TESTS, *BY_SCORE)
SIZES = (200, 500, 1500)
# On Link, searches through all subsets do not end in reasonable time (docs/studies/hpc2010-accuracy.md).
LIMITS = {("link", "mmpc"): 3, ("link", "pcmb"): 3}


def accuracy_cells(settings: Settings) -> list[Cell]:
    """Return one cell for each network, number of rows and sample."""
    samples = 1 if settings.quick else 10
    networks = ("asia", "alarm", "child", "insurance") if settings.quick else NETWORKS
    kinds = (("", _by_tests), ("-by-score", _by_score))
    return [
        Cell(f"{name}{kind} {rows} {seed}", lambda n=name, r=rows, s=seed, w=work: w(n, r, s, settings.threads))  # type: ignore[misc]
        for kind, work in kinds
        for name in networks
        if (kind, name) != ("-by-score", "link")  # ges does not end in reasonable time
        for rows in SIZES
        for seed in range(samples)
    ]


def _by_tests(name: str, rows: int, seed: int, threads: int) -> dict[str, Any]:
    network = load_network(name)
    table = network.sample(rows, seed)
    truth = {x: network.parents_children(x) for x in network.variables}
    return {
        a: accuracy_of_all(
            table, truth, "parents-children", a, 0.05, threads=threads, max_conditioning=LIMITS.get((name, a))
        )
        for a in BY_TESTS
    }


def _by_score(name: str, rows: int, seed: int, threads: int) -> dict[str, Any]:
    """Return the accuracy of GES and SCA, with BDeu of equivalent sample size 10 and k = 10."""
    network = load_network(name)
    table = network.sample(rows, seed)
    truth = {x: network.parents_children(x) for x in network.variables}
    return {
        a: accuracy_of_network(
            serape.network(table, a, score="bdeu", equivalent_sample_size=10.0, n_jobs=threads, progress=False), truth
        )
        for a in BY_SCORE
    }


def accuracy_tables(answers: Answers, settings: Settings) -> Mapping[str, Sequence[Row]]:
    """Return distances by size of the neighbourhood, and by network. The paper has no numbers, only Figure 3."""
    del settings
    by_size: list[Row] = []
    for rows in SIZES:
        sums = _by_size(answers, rows)
        for size in sorted({size for counts in sums.values() for size in counts}):
            row: dict[str, Any] = {"rows": rows, "neighbours": size, "targets": int(sums[ALGORITHMS[0]][size][0])}
            row |= {a: round(sums[a][size][1] / sums[a][size][0], 3) if size in sums[a] else "–" for a in ALGORITHMS}
            by_size.append(row)
    by_network: list[Row] = []
    for name in NETWORKS:
        for rows in SIZES:
            samples = [*samples_of(answers, name, rows), *samples_of(answers, f"{name}-by-score", rows)]
            if samples:
                distances = {a: _mean(samples, a, "distance", 3) for a in ALGORITHMS}
                seconds = {f"{a}, s": _mean(samples, a, "seconds", 2) for a in ALGORITHMS}
                by_network.append({"network": name, "rows": rows, **distances, **seconds})
    return {"distance by network": by_network, "distance by neighbours": by_size}


def _mean(samples: Sequence[Any], algorithm: str, measure: str, digits: int) -> float | str:
    values = [sample[algorithm][measure] for sample in samples if algorithm in sample]
    return round(float(np.mean(values)), digits) if values else "–"


def _by_size(answers: Answers, rows: int) -> dict[str, dict[int, tuple[float, float]]]:
    sums: dict[str, dict[int, tuple[float, float]]] = {a: {} for a in ALGORITHMS}
    for key, answer in answers.items():
        if key.split(" ")[1] == str(rows):
            for algorithm in answer:
                for size, (count, total) in answer[algorithm]["by_size"].items():
                    before = sums[algorithm].get(int(size), (0.0, 0.0))
                    sums[algorithm][int(size)] = (before[0] + count, before[1] + total)
    return sums


def accuracy_draw(answers: Answers, settings: Settings) -> Figure:
    """Plot distance against the number of neighbours, one panel for each number of rows, as in Figure 3."""
    from matplotlib.figure import Figure

    del settings
    figure = Figure(figsize=(11, 3.4), layout="constrained")
    for k, rows in enumerate(SIZES):
        axes = figure.add_subplot(1, 3, k + 1)
        sums = _by_size(answers, rows)
        for marker, algorithm in zip("osv^DP", ALGORITHMS, strict=True):
            sizes = sorted(size for size in sums[algorithm] if size > 0)
            heights = [sums[algorithm][size][1] / sums[algorithm][size][0] for size in sizes]
            axes.plot(sizes, heights, f"{marker}-", label=algorithm, markersize=4)
        axes.set(title=f"{rows} rows", xlabel="parents and children", ylabel="distance", xscale="log", ylim=(0, 1.45))
        ticks = [n for n in (1, 2, 3, 5, 10, 20, 50) if n <= max(sums[ALGORITHMS[0]], default=1)]
        axes.set_xticks(ticks, [str(n) for n in ticks])
        axes.minorticks_off()
        axes.legend(fontsize=7)
    return figure


# --- scaling ------------------------------------------------------------------------------------------------------

TILED = ("alarm", "child", "insurance", "hailfinder", "pigs")
PAPER_EXPONENT = {"tiled": "1.09", "thrombin": "1.21"}


def scaling_cells(settings: Settings) -> list[Cell]:
    """Return one cell for each network (and Thrombin, if its data are given) and number of variables."""
    sizes = (1000, 3000, 10_000) if settings.quick else (1000, 3000, 10_000, 30_000, 100_000)
    targets = dict.fromkeys(sizes, 5) if settings.quick else {1000: 20, 3000: 20, 10_000: 20, 30_000: 10, 100_000: 4}
    cells = [
        Cell(f"{name} {size}", lambda n=name, s=size: _tiled(n, s, targets[s], settings.threads))  # type: ignore[misc]
        for name in (TILED[:2] if settings.quick else TILED)
        for size in sizes
    ]
    if settings.data is not None:
        parts = ((14, 20), (139, 20), (1394, 10), (13_935, 3))
        for size, repeats in parts[:3] if settings.quick else (*parts, (FEATURES, 1)):
            cells.append(Cell(f"thrombin {size}", lambda s=size, r=repeats: _part(settings, s, r)))  # type: ignore[misc]
    return cells


def _tiled(name: str, variables: int, targets: int, threads: int) -> dict[str, Any]:
    network = load_network(name)
    copies = max(1, round(variables / network.nodes))
    tiled = network.tile(copies, 0)
    table = tiled.sample(100, 0)
    random = np.random.default_rng(0)
    found = [
        serape.parents_children(table, int(t), algorithm="hpc", alpha=0.05, dof="full", n_jobs=threads)
        for t in random.choice(table.varying, targets, replace=False)
    ]
    return {
        "variables": tiled.nodes,
        "tests": float(np.mean([f.tests for f in found])),
        "median": float(np.median([f.tests for f in found])),
        "seconds": float(np.mean([f.seconds for f in found])),
    }


def _part(settings: Settings, size: int, repeats: int) -> dict[str, Any]:
    features, label = read_thrombin(settings.data)
    random = np.random.default_rng(size)
    tests, seconds = [], []
    for _ in range(repeats):
        columns = np.sort(random.choice(FEATURES, size, replace=False))
        rows = np.arange(len(label)) if repeats == 1 else random.integers(len(label), size=len(label))
        data = np.concatenate([features[np.ix_(rows, columns)], label[rows][:, None]], axis=1)
        found = serape.parents_children(
            serape.Table(data), size, algorithm="hpc", alpha=0.05, dof="full", n_jobs=settings.threads
        )
        tests.append(found.tests)
        seconds.append(found.seconds)
    return {
        "variables": size + 1,
        "tests": float(np.mean(tests)),
        "median": float(np.median(tests)),
        "seconds": float(np.mean(seconds)),
    }


def exponent(points: Sequence[Mapping[str, float]], tests: str = "tests") -> float:
    """Return the slope of log tests against log variables."""
    x = np.log([p["variables"] for p in points])
    return float(np.polyfit(x, np.log([p[tests] for p in points]), 1)[0])


def scaling_tables(answers: Answers, settings: Settings) -> Mapping[str, Sequence[Row]]:
    """Return numbers of tests, and the fitted exponents beside the paper's."""
    del settings
    points = [
        {"network": key.split(" ")[0], **{k: round(v, 3) for k, v in answer.items()}} for key, answer in answers.items()
    ]
    fitted: list[Row] = []
    for name in dict.fromkeys(point["network"] for point in points):
        own = [a for key, a in answers.items() if key.split(" ")[0] == name]
        if len(own) > 1:
            published = PAPER_EXPONENT["thrombin" if name == "thrombin" else "tiled"]
            fitted.append({
                "network": name,
                "exponent of the mean": round(exponent(own), 3),
                "of the median": round(exponent(own, "median"), 3),
                "paper's exponent": published,
            })  # fmt: skip
    return {"exponents": fitted, "tests": points}


def scaling_draw(answers: Answers, settings: Settings) -> Figure:
    """Plot the number of tests against the number of variables, on logarithmic axes, as in Figure 4."""
    from matplotlib.figure import Figure

    del settings
    figure = Figure(figsize=(6, 4), layout="constrained")
    axes = figure.add_subplot()
    for name in dict.fromkeys(key.split(" ")[0] for key in answers):
        own = [a for key, a in answers.items() if key.split(" ")[0] == name]
        label = f"{name}: n^{exponent(own, 'median'):.2f}" if len(own) > 1 else name
        style = "k:" if name == "thrombin" else "-"
        axes.plot([a["variables"] for a in own], [a["median"] for a in own], f"o{style}", markersize=4, label=label)
    axes.set(xscale="log", yscale="log", xlabel="variables", ylabel="tests, median of the targets")
    axes.legend()
    return figure


STUDIES = (
    Study(
        "hpc2010-accuracy", PAPER, "distance against the number of neighbours: hpc, mmpc, GetPC (pcmb), inter-iapc",
        accuracy_cells, accuracy_tables, accuracy_draw,
    ),
    Study(
        "hpc2010-scaling", PAPER, "number of tests of hpc against the number of variables; Thrombin too, with --data",
        scaling_cells, scaling_tables, scaling_draw,
    ),
)  # fmt: skip
