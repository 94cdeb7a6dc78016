"""Time, tests and memory of searches as variables and rows grow, with fitted exponents."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import serape
from benchmarks.common.data import SEED, grouped_table, target_index
from benchmarks.common.internals import instruction_set
from benchmarks.common.output import drawing, machine, markdown, report, save, short
from benchmarks.common.timing import alternating, exponent, in_fresh_process, peak_mebibytes
from benchmarks.scaling.threads import ALPHA, print_stream, print_threads, stream, with_threads

FINDS: dict[str, Callable[..., serape.Result]] = {
    "iamb": serape.markov_blanket,
    "hiton-pc": serape.parents_children,
    "mmpc": serape.parents_children,
    "hpc": serape.parents_children,
    "pcmb": serape.markov_blanket,
}

# --- points -----------------------------------------------------------------------------------------------------------


@dataclass
class Point:
    """The cost of a search on a table of some size."""

    variables: int
    rows: int
    algorithm: str
    targets: int
    first: float | None = None
    seconds: float | None = None
    tests: int | None = None
    stopped: bool = False
    make_seconds: float = 0.0
    packed_megabytes: float = 0.0
    used_megabytes: float = 0.0
    """Packed columns after its first search, with all layouts made so far."""
    mebibytes_before: float | None = None
    mebibytes: float | None = None
    """The peak of the process, once everything was imported and in the end."""

    @property
    def each(self) -> float | None:
        """Nanoseconds per test."""
        return None if not self.seconds or not self.tests else 1e9 * self.seconds / self.tests


def points(
    variables: int, rows: int, algorithms: Sequence[str], every: bool, limit: float, processor: bool = False
) -> list[Point]:
    """Search a table for one target, or for every one; to be run in a process of its own."""
    before = peak_mebibytes()
    begin = time.perf_counter()
    table = grouped_table(variables, rows)
    made = time.perf_counter() - begin
    targets = range(variables) if every else [target_index(variables)]
    found = [Point(variables, rows, a, len(targets), make_seconds=made, mebibytes_before=before) for a in algorithms]
    for one in found:
        one.packed_megabytes = table.nbytes / 1e6

    def search(algorithm: str) -> int:
        begin = time.perf_counter()

        def watch(now: serape.Progress) -> None:
            del now
            if time.perf_counter() - begin > limit:
                raise KeyboardInterrupt

        tests = 0
        for target in targets:
            tests += FINDS[algorithm](table, target, algorithm=algorithm, alpha=ALPHA, progress=watch).tests
            if time.perf_counter() - begin > limit:
                raise TimeoutError
        return tests

    for one in found:
        begin = time.perf_counter()
        try:
            one.tests = search(one.algorithm)
            one.first = time.perf_counter() - begin
        except (serape.Interrupted, TimeoutError):
            one.stopped = True
        one.used_megabytes = table.nbytes / 1e6
    jobs = {p.algorithm: lambda p=p: search(p.algorithm) for p in found if p.first is not None}
    longest = sum(p.first for p in found if p.first is not None)
    for algorithm, seconds in alternating(jobs, 7 if longest < 1 else 3 if longest < 10 else 1, processor).items():
        next(p for p in found if p.algorithm == algorithm).seconds = seconds
    for one in found:
        one.mebibytes = peak_mebibytes()
    return found


def series(
    sizes: Iterable[tuple[int, int]], algorithms: Sequence[str], every: bool, limit: float, processor: bool
) -> list[Point]:
    """Measure tables of growing size; an algorithm that was stopped is not tried on larger ones."""
    found: list[Point] = []
    left = list(algorithms)
    for variables, rows in sizes:
        if left:
            report(f"{variables:,} variables × {rows:,} rows: {', '.join(left)}")
            found += in_fresh_process(points, variables, rows, left, every, limit, processor)
            left = [a for a in left if not any(p.stopped for p in found if p.algorithm == a)]
    return found


HEAD = (
    "algorithm", "variables", "rows", "targets", "tests", "first, s", "s", "ns per test",
    "drawn and packed, s", "packed, MB", "in use, MB", "process, MiB (before)",
)  # fmt: skip


def print_series(title: str, found: Sequence[Point], limit: float) -> None:
    """Print the points of a series, algorithm by algorithm."""
    table = [
        [
            p.algorithm, f"{p.variables:,}", f"{p.rows:,}", f"{p.targets:,}",
            "–" if p.tests is None else f"{p.tests:,}", f"> {limit:g}" if p.stopped else short(p.first),
            f"> {limit:g}" if p.stopped else short(p.seconds), short(p.each), short(p.make_seconds),
            short(p.packed_megabytes), short(p.used_megabytes), f"{short(p.mebibytes)} ({short(p.mebibytes_before)})",
        ]
        for p in sorted(found, key=lambda p: p.algorithm)
    ]  # fmt: skip
    print(f"\n{title}\n\n{markdown(HEAD, table)}", flush=True)


def exponents(found: Sequence[Point], size: str) -> list[dict[str, Any]]:
    """Fit the exponents of time and tests, all points and the last three."""
    fitted: list[dict[str, Any]] = []
    for algorithm in dict.fromkeys(p.algorithm for p in found):
        done = [p for p in found if p.algorithm == algorithm and p.seconds is not None and p.tests is not None]
        sizes = [getattr(p, size) for p in done]
        fit: dict[str, Any] = {"algorithm": algorithm, "size": size, "points": len(done)}
        for what, values in (
            ("seconds", [p.seconds or 0.0 for p in done]),
            ("tests", [p.tests or 0 for p in done]),
        ):
            fit[what] = exponent(sizes, values)
            fit[f"{what}_last"] = exponent(sizes, values, last=3)
        fitted.append(fit)
    return fitted


def power(fitted: float | None) -> str:
    """Write an exponent."""
    return "–" if fitted is None else f"{round(fitted, 2) + 0.0:.2f}"  # + 0.0 makes -0.0 a plain 0


def print_exponents(fitted: Sequence[dict[str, Any]]) -> None:
    """Print the exponents."""
    head = ("algorithm", "grows with", "points", "time", "time, last 3", "tests", "tests, last 3")
    kinds = ("seconds", "seconds_last", "tests", "tests_last")
    table = [[f["algorithm"], f["size"], str(f["points"]), *(power(f[k]) for k in kinds)] for f in fitted]
    print(f"\nExponents b of size^b\n\n{markdown(head, table, words={0, 1})}", flush=True)


# --- picture ----------------------------------------------------------------------------------------------------------

COLOURS = ("#d55e00", "#0072b2", "#009e73", "#cc79a7", "#56b4e9")
MARKS = "os^vD"


def picture(wide: Sequence[Point], long: Sequence[Point], fitted: Sequence[dict[str, Any]]) -> Any:
    """Draw time, tests and memory on logarithmic axes."""
    plt = drawing()
    if plt is None:
        return None
    figure, panels = plt.subplots(2, 3, figsize=(14, 8), layout="constrained")
    for row, (found, size, label_of_size) in enumerate(
        ((wide, "variables", "variables (1,000 rows, one target)"), (long, "rows", "rows (37 variables, all targets)"))
    ):
        for axes, what in zip(panels[row], ("seconds", "tests", "memory, MB"), strict=True):
            axes.set_xscale("log")
            axes.set_yscale("log")
            axes.set_xlabel(label_of_size)
            axes.set_ylabel(what)
            axes.grid(color="#dddddd", linewidth=0.8)
            axes.set_axisbelow(True)
        for algorithm, colour, mark in zip(dict.fromkeys(p.algorithm for p in found), COLOURS, MARKS, strict=False):
            done = [p for p in found if p.algorithm == algorithm and p.seconds is not None]
            fit = next(f for f in fitted if f["algorithm"] == algorithm and f["size"] == size)
            x = [getattr(p, size) for p in done]
            style = {"color": colour, "marker": mark, "markersize": 5}
            for axes, what in zip(panels[row], ("seconds", "tests"), strict=False):
                last = fit[f"{what}_last"]
                label = algorithm if last is None else f"{algorithm}: size^{power(last)} in the end"
                axes.plot(x, [getattr(p, what) for p in done], **style, label=label)
        tables = {getattr(p, size): p for p in found}
        for name, what, colour in (
            ("packed", "packed_megabytes", COLOURS[0]),
            ("with the layouts made", "used_megabytes", COLOURS[1]),
        ):
            panels[row][2].plot(
                list(tables), [getattr(p, what) for p in tables.values()], "o-", color=colour, label=name
            )
        if all(p.mebibytes is not None for p in tables.values()):
            process = [1.048576 * (p.mebibytes or 0.0) for p in tables.values()]
            panels[row][2].plot(list(tables), process, "s--", color="#555555", label="the whole process, at most")
        for axes in panels[row]:
            low, high = axes.get_ylim()
            if high < 10 * low:
                axes.set_ylim(low / 3, high * 3)
            if axes.get_legend_handles_labels()[1]:
                axes.legend(frameon=False)
    return figure


def options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--variables", nargs="+", type=int, default=[37, 100, 1000, 10_000, 100_000, 1_000_000])
    parser.add_argument("--rows", nargs="+", type=int, default=[100, 1000, 10_000, 100_000, 1_000_000, 10_000_000])
    parser.add_argument("--threads", nargs="*", type=int, default=[1, 2], help="without any, only growth is measured")
    parser.add_argument("--processor", action="store_true", help="time of the processor, where it has other work, too")
    parser.add_argument("--algorithms", nargs="+", choices=FINDS, default=["iamb", "hiton-pc"])
    parser.add_argument("--limit", type=float, default=60.0, help="seconds after which a search is stopped")


def run(options: argparse.Namespace) -> None:
    """Measure time, tests and memory as variables, rows and threads grow, and fit exponents.

    Data are binary, in groups of eight: a target with two parents, two children, a spouse and a grandchild, and one
    column of noise; groups are independent of each other.

    1. Variables: 1,000 rows, one target.
    2. Rows: 37 variables, all of them targets.
    3. Threads: a screen of many columns, the search for one target in them, and the blankets of many targets.
    4. Counting all columns of the longest table against a target, beside a plain read of as many bytes: the quickest of
       three (memchr, NumPy's max, a column's dot product with itself by BLAS).

    Every point has a process of its own. "First" is the first search of a table, which makes its wide layout and looks
    for duplicates; seconds are the median of later ones, in turns. Exponents are least squares on logarithms, of all
    points and of the last three, where overheads weigh less. A search is stopped at the limit, and larger tables are
    then left out. Results go to benchmarks/out: scaling.json, scaling.png.
    """
    columns, many, long_rows, repeats = 100_000, 1000, 100_000, 5
    if options.quick:
        options.variables = [n for n in options.variables if n <= 10_000]
        options.rows = [n for n in options.rows if n <= 100_000]
        columns, many, long_rows, repeats = 2000, 50, 5000, 3
    print(f"{machine()}, alpha {ALPHA:g}")
    wide = series(
        ((n, 1000) for n in sorted(options.variables)), options.algorithms, False, options.limit, options.processor
    )
    print_series("Variables: 1,000 rows, one target, one thread", wide, options.limit)
    long = series(((37, n) for n in sorted(options.rows)), options.algorithms, True, options.limit, options.processor)
    print_series("Rows: 37 variables, all of them targets, one thread", long, options.limit)
    fitted = [*exponents(wide, "variables"), *exponents(long, "rows")]
    print_exponents(fitted)
    threads = sorted(set(options.threads))
    threaded = streamed = None
    if threads:
        report("threads")
        threaded = in_fresh_process(with_threads, columns, many, long_rows, threads, repeats)
        print_threads(threaded, threads)
        report("counting beside reading")
        streamed = in_fresh_process(stream, 37, max(options.rows), 9)
        print_stream(streamed)
    content = {
        "serape": serape.__version__,
        "kernels": instruction_set(),
        "alpha": ALPHA,
        "seed": SEED,
        "limit": options.limit,
        "variables": [asdict(p) for p in wide],
        "rows": [asdict(p) for p in long],
        "exponents": fitted,
        "threads": threaded,
        "stream": streamed,
    }
    save("scaling", content, picture(wide, long, fitted))
