"""How time, tests and memory grow with variables, rows and threads, with fitted exponents.

    python benchmarks/scaling.py [--quick] [--variables N …] [--rows N …] [--threads N …] [--limit 60]

Data are binary, in groups of eight: a target with two parents, two children, a spouse and a grandchild, and one column
of noise; one group has nothing to do with another. They are drawn and packed a block of columns at a time, so that the
codes of a million columns never lie in memory unpacked.

1. Variables: 1,000 rows, one target.
2. Rows: 37 variables, all of them targets.
3. Threads: a screen of many columns, the search for one target in them, and the blankets of many targets.
4. Counting all columns of the longest table against a target, beside a plain read of as many bytes: the quickest of
   three (memchr, NumPy's max, a column's dot product with itself by BLAS).

Every point has a process of its own. "First" is the first search of a table, which makes its wide layout and looks for
copies; seconds are the median of later ones, in turns. Exponents are least squares on logarithms, of all points and of
the last three, where overheads weigh less. A search is stopped at the limit, and larger tables are then left out.

Results go to the screen and to benchmarks/out: scaling.json, scaling.png.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import platform
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

import serape
from measure import ONE_THREAD, alternating, drawing, exponent, markdown, peak_mebibytes, save, short, tell
from serape import _core
from serape.data.reading import WideColumns
from serape.independence import G2

ALPHA = 0.01
LONG = 100_000  # rows
SEED = 1
BLOCK = 2048
"""Columns drawn at once."""
GROUP = 8
FINDS: dict[str, Callable[..., serape.Result]] = {
    "iamb": serape.markov_blanket,
    "hiton-pc": serape.parents_children,
    "mmpc": serape.parents_children,
    "hpc": serape.parents_children,
    "pcmb": serape.markov_blanket,
}

# --- data -------------------------------------------------------------------------------------------------------------


def draw(random: np.random.Generator, rows: int, width: int) -> NDArray[np.uint8]:
    """Draw groups of eight binary columns, all first members first, then all second ones, and so on."""
    count = -(-width // GROUP)

    def coins(of_256: int) -> NDArray[np.uint8]:
        drawn = np.frombuffer(random.bytes(rows * count), np.uint8).reshape(rows, count)
        heads: NDArray[np.uint8] = (drawn < of_256).view(np.uint8)
        return heads

    fair, rare = 128, 51  # a fifth of the copies of anything are wrong
    mother, father, spouse, noise = (coins(fair) for _ in range(4))
    target = (mother | father) ^ coins(rare)
    child = target ^ coins(rare)
    joint = (target & spouse) ^ coins(rare)
    grandchild = child ^ coins(rare)
    block = np.concatenate([mother, father, target, child, spouse, joint, grandchild, noise], axis=1)
    return np.ascontiguousarray(block[:, :width])


def place_of_target(variables: int) -> int:
    """Return where the target of the first group stands."""
    return 2 * -(-min(variables, BLOCK) // GROUP)


def make(variables: int, rows: int) -> serape.Table:
    """Draw and pack a table, block by block; what `Table` does with an array, without the array."""
    random = np.random.default_rng(SEED)
    packed = _core.PackedTable(rows)
    packed.reserve_planes(variables)
    for begin in range(0, variables, BLOCK):
        width = min(BLOCK, variables - begin)
        packed.append_block(draw(random, rows, width), np.full(width, 2, np.uint32))
    names = [f"x{k}" for k in range(variables)]
    levels, reasons = [(0, 1)] * variables, ["whole numbers, 2 distinct"] * variables
    return serape.Table(WideColumns(names, rows, [], packed, levels, reasons))


# --- points -----------------------------------------------------------------------------------------------------------


@dataclass
class Point:
    """What a search cost on a table of some size."""

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
    """The most the process had, once everything was imported and in the end."""

    @property
    def each(self) -> float | None:
        """Nanoseconds a test."""
        return None if not self.seconds or not self.tests else 1e9 * self.seconds / self.tests


def points(variables: int, rows: int, algorithms: Sequence[str], every: bool, limit: float) -> list[Point]:
    """Search a table for one target, or for every one; to be run in a process of its own."""
    before = peak_mebibytes()
    begin = time.perf_counter()
    table = make(variables, rows)
    made = time.perf_counter() - begin
    targets = range(variables) if every else [place_of_target(variables)]
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
    ways = {p.algorithm: lambda p=p: search(p.algorithm) for p in found if p.first is not None}
    longest = sum(p.first for p in found if p.first is not None)
    for algorithm, seconds in alternating(ways, 7 if longest < 1 else 3 if longest < 10 else 1).items():
        next(p for p in found if p.algorithm == algorithm).seconds = seconds
    for one in found:
        one.mebibytes = peak_mebibytes()
    return found


def apart(work: Callable[..., Any], *arguments: Any) -> Any:
    """Do a piece of work in a fresh process, so that its memory is its own."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as fresh:
        return fresh.submit(work, *arguments).result()


def series(sizes: Iterable[tuple[int, int]], algorithms: Sequence[str], every: bool, limit: float) -> list[Point]:
    """Measure tables of growing size; an algorithm that was stopped is not tried on larger ones."""
    found: list[Point] = []
    left = list(algorithms)
    for variables, rows in sizes:
        if left:
            tell(f"{variables:,} variables × {rows:,} rows: {', '.join(left)}")
            found += apart(points, variables, rows, left, every, limit)
            left = [a for a in left if not any(p.stopped for p in found if p.algorithm == a)]
    return found


HEAD = (
    "algorithm", "variables", "rows", "targets", "tests", "first, s", "s", "ns a test",
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


# --- threads ----------------------------------------------------------------------------------------------------------


def in_row(job: Callable[[int], object], threads: int, times: int) -> None:
    """Do the same several times."""
    for _ in range(times):
        job(threads)


def nothing_shared(processes: int) -> None:
    """Count to four million in processes that have nothing to do with each other: what the machine gives at best."""
    children = []
    for _ in range(processes - 1):
        if (child := os.fork()) == 0:
            _count(4_000_000 // processes)
            os._exit(0)
        children.append(child)
    _count(4_000_000 // processes)
    for child in children:
        os.waitpid(child, 0)


def _count(up_to: int) -> int:
    reached = 0
    while reached < up_to:
        reached += 1
    return reached


def with_threads(variables: int, many: int, threads: Sequence[int], repeats: int) -> list[dict[str, Any]]:
    """Time the same work on different numbers of threads, in turns; what is soon done, several times in a row."""
    table, narrow, long = make(variables, 1000), make(many, 1000), make(many, LONG)
    test = G2(table)
    target = place_of_target(variables)
    rest = np.setdiff1d(np.arange(variables, dtype=np.uint32), [target]).astype(np.uint32)
    given = [int(x) for x in (0, rest[-1])]
    free = np.setdiff1d(rest, given).astype(np.uint32)
    jobs: dict[str, Callable[[int], object]] = {
        f"screen of {len(rest):,} columns given nothing": lambda n: test.screen(target, rest, (), threads=n),
        f"screen of {len(free):,} columns given two": lambda n: test.screen(target, free, given, threads=n),
        f"iamb, one target, {variables:,} columns": lambda n: serape.markov_blanket(
            table, target, algorithm="iamb", alpha=ALPHA, n_jobs=n
        ),
        f"hiton-pc, one target, {variables:,} columns": lambda n: serape.parents_children(
            table, target, algorithm="hiton-pc", alpha=ALPHA, n_jobs=n
        ),
        f"iamb, {many:,} targets": lambda n: serape.blankets(narrow, algorithm="iamb", alpha=ALPHA, n_jobs=n),
        f"hiton-mb, {many:,} targets": lambda n: serape.blankets(narrow, algorithm="hiton-mb", alpha=ALPHA, n_jobs=n),
        f"hpc, {many:,} targets": lambda n: serape.blankets(narrow, algorithm="hpc", alpha=ALPHA, n_jobs=n),
        f"hiton-mb, {many:,} targets, {LONG:,} rows": lambda n: serape.blankets(
            long, algorithm="hiton-mb", alpha=ALPHA, n_jobs=n
        ),
        "nothing shared: processes that count": nothing_shared,
    }
    found = []
    for name, job in jobs.items():
        job(1)  # makes what is made once
        begin = time.perf_counter()
        job(1)
        in_a_row = max(1, round(0.05 / (time.perf_counter() - begin)))
        ways = {str(n): partial(in_row, job, n, in_a_row) for n in threads}
        seconds = {int(n): s / in_a_row for n, s in alternating(ways, repeats).items()}
        found.append({"job": name, "seconds": seconds})
    return found


def print_threads(found: Sequence[dict[str, Any]], threads: Sequence[int]) -> None:
    """Print the times, and how many times quicker more threads are."""
    head = ["work", *(f"{n} thread{'s' if n > 1 else ''}, ms" for n in threads), *(f"× with {n}" for n in threads[1:])]
    table = []
    for one in found:
        times = [one["seconds"][n] for n in threads]
        table.append([one["job"], *(short(1e3 * t) for t in times), *(f"{times[0] / t:.2f}" for t in times[1:])])
    print(f"\nThreads ({os.cpu_count()} processors)\n\n{markdown(head, table)}", flush=True)


# --- counting beside reading ------------------------------------------------------------------------------------------


def plain_reads(size: int) -> dict[str, Callable[[], object]]:
    """Return ways to read so many bytes once and do next to nothing with them."""
    text = b"\2" * size
    numbers = np.frombuffer(text, np.int64, size // 8)
    reals = np.ones(size // 8)
    return {"memchr": lambda: text.find(b"\1"), "max": numbers.max, "dot product": lambda: reals.dot(reals)}


def stream(variables: int, rows: int, repeats: int) -> dict[str, Any]:
    """Time counting beside a plain read of the bytes that are counted."""
    table = make(variables, rows)
    test = G2(table)
    candidates = np.arange(3, variables, dtype=np.uint32)
    size = rows // 8 * (len(candidates) + 1)  # the candidates and the target, a bit a row
    reads = plain_reads(size)
    ways = dict(reads)
    for given in range(3):
        ways[f"counting given {given}"] = lambda given=given: test.screen(2, candidates, range(given))  # type: ignore[misc]
    for way in ways.values():
        way()
    seconds = alternating(ways, repeats)
    read = min(seconds[name] for name in reads)
    return {
        "variables": variables,
        "rows": rows,
        "bytes": size,
        "seconds": seconds,
        "read_gigabytes_a_second": size / read / 1e9,
        "ratio": {name: s / read for name, s in seconds.items()},
    }


def print_stream(found: dict[str, Any]) -> None:
    """Print it."""
    table = [
        [name, short(1e3 * s), short(found["bytes"] / s / 1e9), f"{found['ratio'][name]:.2f}"]
        for name, s in found["seconds"].items()
    ]
    title = (
        f"{found['variables']} variables × {found['rows']:,} rows: counting beside a plain read of "
        f"{short(found['bytes'] / 1e6)} MB, one thread"
    )
    print(f"\n{title}\n\n{markdown(('what', 'ms', 'GB/s', '× quickest read'), table)}", flush=True)


# --- picture ----------------------------------------------------------------------------------------------------------

COLOURS = ("#d55e00", "#0072b2", "#009e73", "#cc79a7", "#56b4e9")
MARKS = "os^vD"


def picture(wide: Sequence[Point], long: Sequence[Point], fitted: Sequence[dict[str, Any]]) -> Any:
    """Draw time, tests and memory on logarithmic axes."""
    plt = drawing()
    if plt is None:
        return None
    figure, panels = plt.subplots(2, 3, figsize=(14, 8), layout="constrained")
    for row, (found, size, told) in enumerate(
        ((wide, "variables", "variables (1,000 rows, one target)"), (long, "rows", "rows (37 variables, all targets)"))
    ):
        for axes, what in zip(panels[row], ("seconds", "tests", "memory, MB"), strict=True):
            axes.set_xscale("log")
            axes.set_yscale("log")
            axes.set_xlabel(told)
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


def main() -> None:
    """Measure, print and save."""
    parser = argparse.ArgumentParser(description="time, tests and memory against variables, rows and threads")
    parser.add_argument("--variables", nargs="+", type=int, default=[37, 100, 1000, 10_000, 100_000, 1_000_000])
    parser.add_argument("--rows", nargs="+", type=int, default=[100, 1000, 10_000, 100_000, 1_000_000, 10_000_000])
    parser.add_argument("--threads", nargs="+", type=int, default=[1, 2])
    parser.add_argument("--algorithms", nargs="+", choices=FINDS, default=["iamb", "hiton-pc"])
    parser.add_argument("--limit", type=float, default=60.0, help="seconds after which a search is stopped")
    parser.add_argument("--quick", action="store_true", help="up to 10,000 variables and 100,000 rows")
    options = parser.parse_args()
    os.environ |= ONE_THREAD  # for the processes to come
    columns, many, repeats = 100_000, 1000, 5
    if options.quick:
        options.variables = [n for n in options.variables if n <= 10_000]
        options.rows = [n for n in options.rows if n <= 100_000]
        columns, many, repeats = 10_000, 100, 3
    print(f"{platform.processor() or platform.machine()}, kernels {_core.instruction_set()}, alpha {ALPHA:g}")
    wide = series(((n, 1000) for n in sorted(options.variables)), options.algorithms, False, options.limit)
    print_series("Variables: 1,000 rows, one target, one thread", wide, options.limit)
    long = series(((37, n) for n in sorted(options.rows)), options.algorithms, True, options.limit)
    print_series("Rows: 37 variables, all of them targets, one thread", long, options.limit)
    fitted = [*exponents(wide, "variables"), *exponents(long, "rows")]
    print_exponents(fitted)
    tell("threads")
    threads = sorted(set(options.threads))
    threaded = apart(with_threads, columns, many, threads, repeats)
    print_threads(threaded, threads)
    tell("counting beside reading")
    streamed = apart(stream, 37, max(options.rows), 9)
    print_stream(streamed)
    content = {
        "serape": serape.__version__,
        "kernels": _core.instruction_set(),
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


if __name__ == "__main__":
    main()
