"""Numbers and tables as text, result files, pictures, messages."""

from __future__ import annotations

import io
import json
import math
import platform
import sys
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.common.internals import atomic_write, instruction_set

if TYPE_CHECKING:
    from matplotlib.figure import Figure

OUT = Path(__file__).parent.parent / "out"


def short(number: float | None, digits: int = 3) -> str:
    """Write a number with so many significant digits, without powers of ten; a dash where there is none."""
    if number is None or math.isnan(number):
        return "–"
    if number == 0:
        return "0"
    places = digits - 1 - math.floor(math.log10(abs(number)))
    rounded = round(number, places)
    return f"{rounded:,.{max(places, 0)}f}"


def markdown(head: Sequence[str], lines: Sequence[Sequence[str]], words: Collection[int] = (0,)) -> str:
    """Return a table in Markdown: columns of numbers aligned to the right, columns of words to the left."""
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


def machine() -> str:
    """Return the processor, and the instructions that the core uses on it."""
    return f"{platform.processor() or platform.machine()}, kernels {instruction_set()}"


def save(name: str, content: Mapping[str, Any], figure: Figure | None = None) -> None:
    """Write results as JSON and as a picture, and say where they are."""
    OUT.mkdir(exist_ok=True)
    atomic_write(OUT / f"{name}.json", json.dumps(content, indent=1, default=str) + "\n")
    written = [f"{name}.json"]
    if figure is not None:
        picture = io.BytesIO()
        figure.savefig(picture, format="png", dpi=130)
        atomic_write(OUT / f"{name}.png", picture.getvalue())
        written.append(f"{name}.png")
    print(f"\nResults are in {OUT}: {', '.join(written)}")


def drawing() -> Any:
    """Return matplotlib's pyplot, set to draw into files; None, and a message, where it is missing."""
    try:
        import matplotlib
    except ImportError:
        report("no picture is drawn, as matplotlib is missing: pip install 'serape[plots]'")
        return None
    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    return plt


def report(message: str) -> None:
    """Write progress to standard error, so that standard output has results alone."""
    print(message, file=sys.stderr, flush=True)
