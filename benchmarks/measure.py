"""What several benchmarks share: things done in turns, fitted exponents, tables, memory, and where results go.

Peers' environments load this too, so nothing but Python itself is needed at first.
"""

from __future__ import annotations

import gc
import json
import math
import statistics
import sys
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

OUT = Path(__file__).parent / "out"
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
"""What keeps the libraries underneath to one thread; to be set before they are imported."""


def alternating(ways: Mapping[str, Callable[[], object]], repeats: int) -> dict[str, float]:
    """Return the median seconds of several things done in turns, so that a slow moment of the machine hits all."""
    times: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(repeats):
        for name, way in ways.items():
            gc.collect()  # what others have left behind
            begin = time.perf_counter()
            way()
            times[name].append(time.perf_counter() - begin)
    return {name: statistics.median(found) for name, found in times.items()}


def exponent(sizes: Sequence[float], values: Sequence[float], last: int | None = None) -> float | None:
    """Return b of the power law value = a · size^b, by least squares on logarithms of the last points (or all).

    None where fewer than two sizes are left, as a line needs two.
    """
    points = [(x, y) for x, y in zip(sizes, values, strict=True) if x > 0 and y > 0]
    if last is not None:
        points = sorted(points)[-last:]
    if len({x for x, _ in points}) < 2:
        return None
    return statistics.linear_regression([math.log(x) for x, _ in points], [math.log(y) for _, y in points]).slope


def short(number: float | None, digits: int = 3) -> str:
    """Write a number with so many digits that count, without powers of ten; a dash where there is none."""
    if number is None or math.isnan(number):
        return "–"
    if number == 0:
        return "0"
    places = digits - 1 - math.floor(math.log10(abs(number)))
    rounded = round(number, places)
    return f"{rounded:,.{max(places, 0)}f}"


def markdown(head: Sequence[str], lines: Sequence[Sequence[str]], words: Collection[int] = (0,)) -> str:
    """Return a table in Markdown, columns lined up: numbers to the right, the columns that are words to the left."""
    clean = [[cell.replace("|", "/") for cell in line] for line in (head, *lines)]
    if any(len(line) != len(head) for line in clean):
        raise ValueError("every line of a table needs as many cells as its head")
    widths = [max(3, *(len(line[k]) for line in clean)) for k in range(len(head))]

    def put(line: Sequence[str]) -> str:
        cells = (
            cell.ljust(width) if k in words else cell.rjust(width)
            for k, (cell, width) in enumerate(zip(line, widths, strict=True))
        )
        return f"| {' | '.join(cells)} |"

    rule = (("-" * width) if k in words else ("-" * (width - 1) + ":") for k, width in enumerate(widths))
    return "\n".join([put(clean[0]), f"| {' | '.join(rule)} |", *map(put, clean[1:])])


def peak_mebibytes(process: int | str = "self") -> float | None:
    """Return the most memory a process has had so far; None where the system does not tell.

    Linux says it of the program alone. What `getrusage` says there can be that of the parent which started it.
    """
    status = Path(f"/proc/{process}/status")
    try:
        told = [line.split()[1] for line in status.read_text().splitlines() if line.startswith("VmHWM:")]
    except OSError:
        told = []
    if told:
        return int(told[0]) / 2**10
    if process != "self" or sys.platform == "win32":
        return None
    import resource  # not on Windows

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (2**20 if sys.platform == "darwin" else 2**10)


def save(name: str, content: Mapping[str, Any], figure: Figure | None) -> None:
    """Write results as JSON and as a picture, whole or not at all, and say where they are."""
    import io

    from serape.files import write_whole

    OUT.mkdir(exist_ok=True)
    write_whole(OUT / f"{name}.json", json.dumps(content, indent=1) + "\n")
    written = [f"{name}.json"]
    if figure is not None:
        picture = io.BytesIO()
        figure.savefig(picture, format="png", dpi=130)
        write_whole(OUT / f"{name}.png", picture.getvalue())
        written.append(f"{name}.png")
    print(f"\nResults are in {OUT}: {', '.join(written)}")


def drawing() -> Any:
    """Return matplotlib's pyplot, set to draw into files; None, and a sentence, where it is missing."""
    try:
        import matplotlib
    except ImportError:
        print("no picture is drawn, as matplotlib is missing: pip install 'serape[plots]'", file=sys.stderr)
        return None
    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    return plt


def tell(what: str) -> None:
    """Say on standard error what is being done, so that standard output has results alone."""
    print(what, file=sys.stderr, flush=True)
