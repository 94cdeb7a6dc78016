"""Shuffled columns of real data: they have nothing to do with the target, whatever the distribution of the data."""

from __future__ import annotations

import argparse
import io
import lzma
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import serape
from benchmarks.accuracy.calibration.page import put
from benchmarks.accuracy.calibration.rates import Rates
from benchmarks.common.internals import make_test
from benchmarks.common.output import markdown, report, save, short

Columns = dict[str, NDArray[Any]]
Load = Callable[[], tuple[Columns, str]]

PROBES = 200
ALPHA = 0.01
CANDIDATES = 100
"""At most so many columns are looked at for the strongest ones, and shuffled."""
TESTS = ("auto", "monotone-residuals", "mixed")
GIVEN = (0, 1, 3)
"""Numbers of columns in Z."""


def bundled(name: str, classes: bool) -> tuple[Columns, str]:
    """Return a data set of scikit-learn, and its target."""
    data = getattr(import_module("sklearn.datasets"), f"load_{name}")()
    names = [str(column) for column in data.feature_names]
    columns: Columns = dict(zip(names, data.data.T, strict=True))
    target = data.target if data.target.ndim == 1 else data.target[:, 0]
    columns["target"] = target.astype(str) if classes else target
    return columns, "target"


def stored(path: Path, target: str, drop: Sequence[str] = ()) -> tuple[Columns, str]:
    """Read a compressed file; rows with missing values are left out. The target is the last column if not named."""
    pandas = import_module("pandas")
    text = io.BytesIO(lzma.decompress(path.read_bytes()))
    frame = pandas.read_csv(text, sep="\t" if ".txt" in path.name else ",")
    frame = frame.drop(columns=list(drop)).dropna()
    columns = {str(name): frame[name].to_numpy() for name in frame.columns}
    return {n: c.astype(str) if c.dtype == object else c for n, c in columns.items()}, target or list(columns)[-1]


BUNDLED: dict[str, Load] = {
    name: partial(bundled, name, classes)
    for name, classes in (
        ("breast_cancer", True),
        ("wine", True),
        ("iris", True),
        ("digits", True),
        ("diabetes", False),
        ("linnerud", False),
    )
}
STORED: dict[str, tuple[str, tuple[str, ...]]] = {
    "pima.txt": ("Outcome", ()),
    "german.txt": ("", ()),
    "bike.txt": ("RentedBikeCount", ()),
    "mushrooms.csv": ("edible", ()),
    "levels.csv": ("totalyearlycompensation", ()),
    "titanic.csv": ("survived", ("deck", "alive")),
    "taxis.csv": ("tip", ("pickup", "dropoff", "total")),
    "reged0.csv": ("", ()),
    "colon.csv": ("", ()),
    "madelon.csv": ("", ()),
}
"""Files that a folder may have: the target, and columns that are left out."""


SHOWN = ("breast_cancer", "pima", "bike", "levels", "titanic", "taxis")
ALSO = {"taxis": ("payment",)}
"""Data whose blankets are shown, and further targets."""


def data_sets(folder: Path | None, only: Sequence[str] | None) -> Iterator[tuple[str, Columns, str]]:
    """Yield the data sets that are there, with their targets."""
    found: dict[str, Load] = dict(BUNDLED)
    if folder is not None:
        for name, (target, drop) in STORED.items():
            path = folder / f"{name}.xz"
            if path.exists():
                found[name.partition(".")[0]] = partial(stored, path, target, drop)
            else:
                report(f"{path} is not there")
    for name, load in found.items():
        if not only or name in only:
            yield name, *load()


def candidates(columns: Mapping[str, NDArray[Any]], target: str) -> list[str]:
    """Return columns other than the target that vary, at most `CANDIDATES` of them."""
    varying = [name for name, values in columns.items() if name != target and (values != values[0]).any()]
    step = max(1, -(-len(varying) // CANDIDATES))
    return varying[::step]


def with_shuffled(columns: Columns, target: str, count: int, seed: int, whole: bool) -> tuple[Columns, list[str]]:
    """Add shuffled copies of columns as probes; return all columns, or the candidates alone, and the probes."""
    random = np.random.default_rng(seed)
    names = candidates(columns, target)
    probes = {f"probe{k}": random.permutation(columns[names[k % len(names)]]) for k in range(count)}
    kept = columns if whole else {name: columns[name] for name in (*names, target)}
    return {**kept, **probes}, list(probes)


def sizes(columns: Columns, target: str, tests: Sequence[str], shuffles: int) -> dict[tuple[str, int], Rates]:
    """Return the rates of tests of the target with probes given nothing, the strongest, and three."""
    found: dict[tuple[str, int], Rates] = {}
    for seed in range(shuffles):
        wide, probes = with_shuffled(columns, target, PROBES, seed, False)
        table = serape.Table(wide)
        y, xs = table.position(target), [table.position(name) for name in probes]
        others = [k for k in range(len(table.names)) if k != y and k not in set(xs)]
        for name in tests:
            try:
                test = make_test(table, name)
                test.check(range(len(table.names)))
                marginal = test.screen(y, others)
            except serape.SerapeError:
                continue  # not for these kinds of columns
            log_p = np.where(np.asarray(marginal.reliable), np.asarray(marginal.log_p), 0.0)
            strongest = [others[k] for k in np.argsort(log_p, kind="stable")]
            for count in GIVEN:
                if count <= len(others):
                    answers = test.screen(y, xs, strongest[:count])
                    rates = found.setdefault((name, count), Rates())
                    rates.add(np.asarray(answers.log_p), np.asarray(answers.reliable))
    return found


def run_sizes(options: argparse.Namespace) -> None:
    """Measure the size of single tests, print tables, and write them into the page."""
    lines, content = [], []
    tests = options.tests or TESTS
    for name, columns, target in data_sets(options.data, ["iris"] if options.quick else options.sets):
        report(f"size: {name}")
        table = serape.Table(columns)
        found = sizes(columns, target, tests, 1 if options.quick else options.shuffles)
        auto = make_test(table).name
        for test in tests:
            cells = []
            for count in GIVEN:
                rates = found.get((test, count))
                if rates is None or not rates.reliable:
                    cells.append("–")
                    continue
                *shown, unreliable = rates.shown()
                cells.append(" ".join(shown) + ("" if unreliable == "0%" else f" ({unreliable})"))
                content.append({"data": name, "test": auto if test == "auto" else test, "given": count, **vars(rates)})
            if any(cell != "–" for cell in cells) and not (test != "auto" and test == auto):
                label = f"`{auto}` (default)" if test == "auto" else f"`{test}`"
                lines.append([name, f"{table.rows:,}", str(len(table.names) - 1), label, *cells])
    head = ("data", "rows", "columns", "test", "given nothing", "given the strongest", "given the strongest three")
    put({"shuffled columns": markdown(head, lines, words=(0, 3, 4, 5, 6))}, options.page)
    save("calibration-real", {"sizes": content})


def run_probes(options: argparse.Namespace) -> None:
    """Count probes in the blankets of all-default calls, print a table, and write it into the page."""
    lines = []
    for name, columns, target in data_sets(options.data, ["iris"] if options.quick else options.sets):
        report(f"probes: {name}")
        wide, probes = with_shuffled(columns, target, 10 if options.quick else PROBES, 0, True)
        begin = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = serape.markov_blanket(wide, target, alpha=ALPHA)
        seconds = time.perf_counter() - begin
        false = len(set(probes) & set(found.blanket))
        lines.append(
            [
                name,
                f"{len(columns[target]):,}",
                str(len(columns) - 1),
                str(len(found.blanket) - false),
                str(false),
                f"{found.algorithm}, {found.test}",
                short(seconds),
            ]
        )
        report(" ".join(lines[-1]))
    head = ("data", "rows", "columns", "columns found", f"of {PROBES} probes found", "by", "s")
    put({"probes": markdown(head, lines, words=(0, 5))}, options.page)


def run_blankets(options: argparse.Namespace) -> None:
    """Print the blankets of all-default calls, with their notes, and write them into the page."""
    lines = []
    for name, columns, target in data_sets(options.data, ["iris"] if options.quick else options.sets or SHOWN):
        for asked in (target, *ALSO.get(name, ())):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found = serape.markov_blanket(columns, asked, alpha=ALPHA)
            lines += ["", f"- `{name}`, target `{asked}`: {', '.join(f'`{member}`' for member in found.blanket)}."]
            lines += [f"  - {note}" for note in found.notes]
    put({"blankets": "\n".join(lines[1:])}, options.page)
