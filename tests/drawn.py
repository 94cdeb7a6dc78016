"""What is drawn in a figure, as tests read it."""

from __future__ import annotations

from itertools import combinations, pairwise
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch, Rectangle
from matplotlib.path import Path as MatplotlibPath
from matplotlib.transforms import Bbox


def boxes(figure: Figure) -> dict[str, FancyBboxPatch]:
    found = {}
    for ax in figure.axes:
        for patch in ax.patches:
            if isinstance(patch, FancyBboxPatch):
                found[str(patch.get_gid()).removeprefix("node ")] = patch
    return found


def arrows(figure: Figure) -> dict[tuple[str, str], FancyArrowPatch]:
    found = {}
    for ax in figure.axes:
        for patch in ax.patches:
            if isinstance(patch, FancyArrowPatch):
                _, tail, head = str(patch.get_gid()).split(" ")
                found[tail, head] = patch
    return found


def drawn_parts(arrow: FancyArrowPatch) -> list[Any]:
    """Return the outlines an arrow is drawn as, in the data's coordinates: its line, then its head if there is one."""
    path = arrow.get_path()
    codes, vertices = np.asarray(path.codes), np.asarray(path.vertices)
    begins = [*np.flatnonzero(codes == MatplotlibPath.MOVETO), len(codes)]
    return [vertices[a:b] for a, b in pairwise(begins)]


def has_head(arrow: FancyArrowPatch) -> bool:
    """Return whether a head is drawn that is large enough to be seen."""
    parts = drawn_parts(arrow)
    return len(parts) > 1 and all(np.ptp(part[:3], axis=0).min() > 0.03 for part in parts[1:])


def extents(figure: Figure) -> dict[str, Bbox]:
    return {name: box.get_window_extent() for name, box in boxes(figure).items()}


def overlapping(figure: Figure) -> list[tuple[str, str]]:
    placed = extents(figure)
    return [(a, b) for a, b in combinations(placed, 2) if placed[a].overlaps(placed[b])]


def points_along(arrow: FancyArrowPatch) -> Any:
    """Return points of an arrow's line."""
    v = drawn_parts(arrow)[0]
    t = np.linspace(0, 1, 40)[:, None]
    curves = [
        (1 - t) ** 3 * v[k] + 3 * t * (1 - t) ** 2 * v[k + 1] + 3 * t**2 * (1 - t) * v[k + 2] + t**3 * v[k + 3]
        for k in range(0, len(v) - 1, 3)
    ]
    return np.concatenate(curves)


def in_data(box: FancyBboxPatch) -> Bbox:
    return Bbox.from_bounds(box.get_x(), box.get_y(), box.get_width(), box.get_height())


def names_of(ax: Axes) -> list[str]:
    return [label.get_text() for label in ax.get_yticklabels()]


def rows_of(ax: Axes) -> dict[str, list[tuple[float, float]]]:
    """Return by name where its bars begin and end."""
    names = names_of(ax)
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in names}
    for bar in bars_of(ax):
        found[names[round(bar.get_y() + bar.get_height() / 2)]].append((bar.get_x(), bar.get_x() + bar.get_width()))
    return found


def bars_of(ax: Axes) -> list[Rectangle]:
    return [bar for container in ax.containers for bar in container.patches]  # type: ignore[attr-defined]
