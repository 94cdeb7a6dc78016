"""Charts: at which alphas variables are members, how often resampled rows show them, and in which sets they are."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

from serape.errors import n_shown
from serape.markup import shown
from serape.palette import LIGHT
from serape.results.lettering import Lettering, text_size
from serape.results.pictures import check_matplotlib

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from serape.results.all_blankets import AllBlankets
    from serape.results.alpha_path import AlphaPath
    from serape.results.stability import Stability

MAX_BARS = 30
MAX_ROWS = 40
MAX_BLANKETS = 60
_DASHES = (0, (4, 3))
_POINTS = 9.0
_MAX_NAME = 80  # characters: about three lines
_MAX_COLUMN = 24  # characters of the name of a column
_NO_MEMBERS = "The blanket is empty: no variable depends on the target."
_CHART = 4.4  # the width in inches, without the names


def draw_stability(found: Stability, threshold: float, bound: float | None = None, ax: Axes | None = None) -> Axes:
    """Draw how often variables are found, and the bound on false selections, if any; see `Stability.plot`."""
    check_matplotlib()
    frequent = [(name, share) for name, share in found.frequencies.items() if share > 0]
    n = n_shown(len(frequent), MAX_BARS)
    first, others = frequent[:n], frequent[n:]
    ax = _rows([name for name, _ in first], found.title, _others_found(others), "share of the draws", ax)
    ax.set_xlim(0, 1.1)
    ax.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0 %", "25 %", "50 %", "75 %", "100 %"])
    if not first:
        return _empty(ax, "No variable is found in any draw.")
    indices = range(len(first))
    shares = [share for _, share in first]
    colours = [LIGHT.accent if share >= threshold else LIGHT.pale for share in shares]
    ax.barh(indices, shares, height=0.66, color=colours, zorder=2)
    for index, share in zip(indices, shares, strict=True):
        ax.text(
            share + 0.012, index, f"{100 * share:.0f} %", va="center", ha="left", fontsize=_POINTS - 1, color=LIGHT.ink,
            zorder=4, bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.6, "alpha": 0.85},
        )  # fmt: skip
    if threshold <= 1:
        expected = "" if bound is None else f": at most {bound:.2g} false"
        _mark(
            ax, threshold, f"threshold {100 * threshold:.3g} %{expected}", len(first), "right" if expected else "center"
        )
    return ax


def draw_values(
    values: Sequence[tuple[str, float]],
    coloured: Collection[str],
    title: str,
    axis: str,
    none: str,
    ax: Axes | None = None,
    *,
    mark: tuple[float, str] | None = None,
) -> Axes:
    """Draw a bar for each variable, the first ones, some of them coloured, and a line with a text at a value."""
    check_matplotlib()
    n = n_shown(len(values), MAX_BARS)
    first = values[:n]
    others = f"{_count(len(values) - n, 'other variable')} not drawn." if n < len(values) else ""
    ax = _rows([name for name, _ in first], title, others, axis, ax)
    if not first:
        return _empty(ax, none)
    colours = [LIGHT.accent if name in coloured else LIGHT.pale for name, _ in first]
    ax.barh(range(len(first)), [value for _, value in first], height=0.66, color=colours, zorder=2)
    ax.set_xlim(0, 1.1 * max([first[0][1], *([] if mark is None else mark[:1])]))
    if mark is not None:
        _mark(ax, *mark, len(first), "right")
    return ax


def draw_alpha_path(found: AlphaPath, ax: Axes | None = None) -> Axes:
    """Draw the alphas at which variables are members; see `AlphaPath.plot`."""
    check_matplotlib()
    from matplotlib.ticker import FuncFormatter, NullLocator

    order = list(found.records["variable"])
    n = n_shown(len(order), MAX_ROWS)
    first, others = order[:n], order[n:]
    more = f"{_count(len(others), 'other variable')} found at larger alphas." if others else ""
    ax = _rows(first, f"{found.title} as alpha grows", more, "alpha", ax)
    edges = _edges(found.alphas)
    ax.set_xscale("log")
    ax.set_xlim(edges[0], edges[-1])
    powers = edges[0] < 1e-4  # one notation for all ticks, which are powers of ten
    form = (lambda alpha, _: f"1e{round(math.log10(alpha))}") if powers else (lambda alpha, _: f"{alpha:g}")
    ax.xaxis.set_major_formatter(FuncFormatter(form))
    ax.xaxis.set_minor_locator(NullLocator())
    if not first:
        return _empty(ax, f"No variable is found at any alpha up to {found.alphas[-1]:g}.")
    for index, name in enumerate(first):
        inside = [name in members for members in found.members]
        for begin, end in _runs(inside):
            ax.barh(index, edges[end] - edges[begin], left=edges[begin], height=0.66, color=LIGHT.accent, zorder=2)
    if edges[0] < 0.05 < edges[-1]:
        _mark(ax, 0.05, "0.05", len(first))
    return ax


def draw_blankets(found: AllBlankets, ax: Axes | None = None) -> Axes:
    """Draw which variables are in which blankets; see `AllBlankets.plot`."""
    check_matplotlib()
    n, width = n_shown(len(found.members), MAX_ROWS), n_shown(len(found.blankets), MAX_BLANKETS)
    first, blankets = found.members[:n], found.blankets[:width]
    others = [
        _count(len(found.members) - n, "other variable") if n < len(found.members) else "",
        _count(len(found.blankets) - width, "other blanket") if width < len(found.blankets) else "",
    ]
    more = " and ".join(filter(None, others))
    sentence = f"{found.counted[0].upper()}{found.counted[1:]}{f' ({more} not drawn)' if more else ''}."
    copies = {name: len(found.interchangeable.get(name, ())) for name in first}
    labels = [f"{name} (or {_count(copies[name], 'duplicate')})" if copies[name] else name for name in first]
    ax = _rows(labels, found.title, sentence, "blanket", ax)
    ax.set_xlim(0.4, max(len(blankets), 4) + 0.6)
    step = -(-max(len(blankets), 1) // 20)
    ax.set_xticks(range(1, len(blankets) + 1, step))
    return _draw_cells(ax, first, blankets, found.status, ("indispensable", "replaceable", "undecided"))


def draw_membership(
    members: Sequence[str],
    columns: Mapping[str, Collection[str]],
    status: Mapping[str, str],
    statuses: Sequence[str],
    title: str,
    sentence: str,
    axis: str,
    ax: Axes | None = None,
    none: str = _NO_MEMBERS,
) -> Axes:
    """Draw which members are in which sets, each of which has a name; a member is coloured by its status."""
    check_matplotlib()
    n, width = n_shown(len(members), MAX_ROWS), n_shown(len(columns), MAX_BLANKETS)
    first, names = members[:n], list(columns)[:width]
    others = [
        _count(len(members) - n, "other variable") if n < len(members) else "",
        _count(len(columns) - width, "other column") if width < len(columns) else "",
    ]
    more = " and ".join(filter(None, others))
    ax = _rows(first, title, f"{sentence} ({more} not drawn)" if more else sentence, axis if len(names) > 8 else "", ax)
    ax.set_xlim(0.4, max(len(names), 4) + 0.6)
    lettering = Lettering(names)
    if len(names) <= 8:
        labels = [lettering.name(shown(name, _MAX_COLUMN)) for name in names]
        ax.set_xticks(range(1, len(names) + 1), labels, fontproperties=lettering.font(_POINTS - 1), parse_math=False)
    else:
        ax.set_xticks(range(1, len(names) + 1, -(-len(names) // 20)))
    return _draw_cells(ax, first, [columns[name] for name in names], status, statuses, none)


def _draw_cells(
    ax: Axes,
    members: Sequence[str],
    sets: Sequence[Collection[str]],
    status: Mapping[str, str],
    statuses: Sequence[str],
    none: str = _NO_MEMBERS,
) -> Axes:
    """Draw a box for each member in each set that has it, and a legend of the statuses."""
    from matplotlib.lines import Line2D

    if not members:
        return _empty(ax, none)
    colours = dict(zip(statuses, (LIGHT.accent, LIGHT.pale, LIGHT.faint), strict=False))
    for row, name in enumerate(members):
        inside = [k for k, one in enumerate(sets, 1) if name in one]
        ax.barh([row] * len(inside), 0.8, left=[k - 0.4 for k in inside], height=0.66, zorder=2,
                color=colours[status[name]], edgecolor=LIGHT.ink, linewidth=0.4)  # fmt: skip
    present = {status[name] for name in members}
    keys = [Line2D([], [], marker="s", linestyle="", markersize=7, markeredgecolor=LIGHT.ink, markeredgewidth=0.4,
                   color=colours[one], label=one) for one in colours if one in present]  # fmt: skip
    ax.legend(handles=keys, loc="upper left", ncols=3, fontsize=_POINTS - 1, frameon=False, borderpad=0,
              borderaxespad=0.1, handletextpad=0.2)  # fmt: skip
    return ax


def _rows(names: Sequence[str], title: str, sentence: str, axis: str, ax: Axes | None) -> Axes:
    """Return axes with a row for each name, the first on top, a title, and a sentence below."""
    from serape.results.picture_axes import axes_of_size

    lettering = Lettering([*names, title])
    labels = [lettering.name(shown(name, _MAX_NAME)) for name in names]
    font, large = lettering.font(_POINTS), lettering.font(_POINTS + 3)
    title = lettering.title(title, 64)
    middle = 0.5  # of the picture, as a fraction of the axes' width
    if ax is None:
        lines = max((label.count("\n") + 1 for label in labels), default=1)
        body = (0.07 + 0.16 * lines) * max(len(labels), 4) + 0.3
        left = max((text_size(label, font)[0] for label in labels), default=0.0) + 0.35
        top, bottom = 0.25 + text_size(title, large)[1], 0.62 + 0.25 * bool(sentence)
        words = max(text_size(title, large)[0], text_size(sentence or " ", font)[0])
        across = max(_CHART, words + 0.3 - left - 0.2)
        middle = ((left + across + 0.2) / 2 - left) / across
        ax = axes_of_size(left + across + 0.2, body + top + bottom, (left, bottom, 0.2, top))
    for index in range(0, len(labels), 2):
        ax.axhspan(index - 0.5, index + 0.5, color=LIGHT.faint, linewidth=0, zorder=0)
    ax.set_yticks(range(len(labels)), labels, fontproperties=font, parse_math=False)
    ax.set_ylim(max(len(labels), 4) - 0.4, -1.2)
    ax.tick_params(axis="y", length=0)
    ax.tick_params(axis="x", labelsize=_POINTS, color=LIGHT.ink)
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.spines["bottom"].set_color(LIGHT.ink)
    ax.set_xlabel(axis, fontsize=_POINTS)
    ax.annotate(sentence, (middle, 0), (0, -38), "axes fraction", "offset points", ha="center", va="top",
                fontsize=_POINTS, parse_math=False)  # fmt: skip
    ax.set_title(title, x=middle, fontproperties=large, color=LIGHT.ink, parse_math=False)
    return ax


def _mark(ax: Axes, at: float, text: str, rows: int, side: Literal["center", "right"] = "center") -> None:
    """Draw a vertical line through the rows, with a text above it."""
    ax.vlines(at, -0.6, max(rows, 4) - 0.4, color=LIGHT.ink, linewidth=1, linestyle=[_DASHES], zorder=3)
    ax.text(at, -0.66, text, fontsize=_POINTS - 1, color=LIGHT.ink, ha=side, va="bottom", zorder=4)


def _empty(ax: Axes, sentence: str) -> Axes:
    ax.text(0.5, 0.5, sentence, transform=ax.transAxes, ha="center", va="center", fontsize=_POINTS)
    return ax


def _others_found(others: Sequence[tuple[str, float]]) -> str:
    if not others:
        return ""
    largest = max(share for _, share in others)
    return (
        f"{_count(len(others), 'other variable')} found at least once, in at most {100 * largest:.2g} % of the draws."
    )


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _edges(alphas: Sequence[float]) -> list[float]:
    """Return the borders between the alphas, halfway on a log scale, with one before the first and after the last."""
    logs = [math.log(alpha) for alpha in alphas]
    steps = [b - a for a, b in pairwise(logs)] or [math.log(4)]
    middles = [(a + b) / 2 for a, b in pairwise(logs)]
    return [math.exp(at) for at in (logs[0] - steps[0] / 2, *middles, logs[-1] + steps[-1] / 2)]


def _runs(inside: Sequence[bool]) -> list[tuple[int, int]]:
    """Return the begin and end of each run of true values."""
    runs: list[tuple[int, int]] = []
    for index, value in enumerate(inside):
        if value and runs and runs[-1][1] == index:
            runs[-1] = (runs[-1][0], index + 1)
        elif value:
            runs.append((index, index + 1))
    return runs
