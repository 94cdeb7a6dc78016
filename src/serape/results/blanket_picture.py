"""The picture of a blanket or neighbourhood: the target in the middle, its members around it, spouses outermost.

The members form two stacks, left and right of the target, bent like the halves of a ring. Spouses are outside, next to
the common children. Names are wide and low, so stacks need less space than a circle, and no box is in the way of a line
from the target to a member. Children that share spouses are next to each other; if they are too many for one side,
lines to the other side run below all boxes. All sizes are in inches; y grows downwards and the target is at (0, 0).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal

from serape.errors import n_shown
from serape.palette import LIGHT
from serape.results.displayed import rate_text
from serape.results.layers import uncrossed
from serape.results.layout import Point, spaced
from serape.results.legends import Legend, line_entry
from serape.results.lettering import Lettering, box_size, text_size
from serape.results.lines import MIN_WIDTH, Lines
from serape.results.pictures import MARGIN, MAX_NAMES, TARGET, BoxStyle, check_matplotlib, draw_box, sheet

if TYPE_CHECKING:
    import networkx as nx
    from matplotlib.axes import Axes
    from matplotlib.font_manager import FontProperties

    from serape.results.result import Result

MemberRole = Literal["parent or child", "spouse", "member"]

# Roles also differ without colour: by position, by square corners, by dashes.
STYLES: dict[MemberRole, BoxStyle] = {
    "parent or child": BoxStyle.of("neighbour"),
    "spouse": BoxStyle.of("spouse", roundness=0.25),
    "member": BoxStyle.of("member", dashes=(0, (3.5, 2))),
}
_MEANING: dict[MemberRole, str] = {
    "parent or child": "parent or child",
    "spouse": "spouse (arrows: common children)",
    "member": "parent, child or spouse (role unknown)",
}
_MAX_WIDTH = 5.0
_RADIUS = 0.12  # of corners
_LANE = 0.09  # between parallel lines
_MAX_SHARE = 0.6  # of all members in one group; a larger group is divided between the sides
Children = Mapping[str, Sequence[str]]


def draw_blanket(found: Result, *, ax: Axes | None = None) -> Axes:
    """Draw a blanket or neighbourhood; see `Result.plot`."""
    check_matplotlib()
    roles, children, n_omitted = members_to_draw(found)
    points = 9 + 2 * min(1.0, len(roles) / 60)
    title, caption = _title(found, n_omitted), _caption(found)
    lettering = Lettering([*roles, found.target, title])
    font, bold, large = lettering.font(points), lettering.font(points + 1, "bold"), lettering.font(points + 3)
    labels = {name: lettering.name(name) for name in (*roles, found.target)}
    boxes = {name: box_size(labels[name], font) for name in roles}
    target = box_size(labels[found.target], bold)
    lines = _lines(found, roles)
    ring = lay_around(target, [name for name in roles if name not in children], children, boxes)

    title, caption = lettering.title(title), lettering.sentence(caption, 60)
    fine = max(0.55, 1 - 0.01 * max(0, sum(map(len, children.values())) - 10))  # many lines are drawn thinner
    legend = Legend(_entries(roles, children, lines, fine), font)
    caption_width, caption_height = text_size(caption, font)
    width = max(ring.width, text_size(title, large)[0], caption_width, legend.width)
    middle = ring.left + ring.width / 2
    above = 0.34 + text_size(title, large)[1]
    beneath = legend.fit(width)
    across, down = width + 2 * MARGIN, above + ring.height + 0.2 + caption_height + beneath + 2 * MARGIN
    ax, scale = sheet(middle - across / 2, ring.top - above - MARGIN, across, down, ax)

    _draw_lines(ax, found, ring, target, children, lines, roles, fine, scale)
    draw_box(ax, (0.0, 0.0), target, found.target, labels[found.target], bold, TARGET, scale)
    for name, role in roles.items():
        draw_box(ax, ring.centres[name], boxes[name], name, labels[name], font, STYLES[role], scale)
    _write(ax, (middle, ring.top + ring.height + 0.2), caption, font, scale, va="top")
    _write(ax, (middle, ring.top - above), title, large, scale, va="top")
    legend.draw(ax, scale)
    return ax


def members_to_draw(found: Result) -> tuple[dict[str, MemberRole], dict[str, tuple[str, ...]], int]:
    """Return the members to draw with their roles, the common children of spouses, and the number of other members."""
    neighbours = set(found.parents_children or ())
    spouses = found.spouses or {}

    def role(name: str) -> MemberRole:
        return "parent or child" if name in neighbours else "spouse" if name in spouses else "member"

    def strength(name: str) -> tuple[bool, float]:
        log_p = found.trace.log_p(name)
        return math.isnan(log_p), log_p

    members = list(found.members)
    if (n := n_shown(len(members), MAX_NAMES)) < len(members):
        strongest = set(sorted(members, key=strength)[:n])
        members = [name for name in members if name in strongest]
    roles = {name: role(name) for name in members}
    children = {
        name: tuple(child for child in spouses[name] if roles.get(child) == "parent or child")
        for name in members
        if roles[name] == "spouse"
    }
    return roles, {name: common for name, common in children.items() if common}, len(found.members) - len(members)


def _lines(found: Result, names: Iterable[str]) -> Lines[str]:
    """Return the strengths of the deciding tests; the verdicts of an oracle have none."""
    log_p = {name: found.trace.log_p(name) for name in names}
    if set(log_p.values()) <= {-math.inf}:
        log_p = dict.fromkeys(log_p, math.nan)
    effects = {name: found.trace.effect(name) for name in log_p}
    bits = {name: math.nan if effect is None else effect.bits for name, effect in effects.items()}
    return Lines({"effect": bits, "log_p": log_p})


def _title(found: Result, n_omitted: int) -> str:
    count = len(found.members)
    counts = f": {count:,} of {len(found.trace.names) - 1:,} variables" if count else ""
    drawn = f", the {count - n_omitted} strongest drawn" if n_omitted else ""
    return f"{found.title}{counts}{drawn}{'' if found.complete else ' (not complete)'}"


def _caption(found: Result) -> str:
    how = f"{found.algorithm} with {found.test} at alpha {found.alpha:g}{rate_text(found.fdr, found.threshold)}."
    if found.members:
        return f"By {how}"
    what = "belong to the blanket" if found.finds == "blanket" else "be a parent or child"
    return f"No variable was shown to {what} of {found.target}, by {how}"


def _dashes(role: MemberRole, width: float) -> Any:
    """Return the style of a line from the target to a member; dashes have one length, however thick the line is."""
    return "-" if role == "parent or child" else (0, (5 / width, 3 / width))


def _colour(lines: Lines[str], strength: float) -> Any:
    """Return a colour that is darker for a stronger association."""
    from matplotlib.colors import to_rgb

    part = 1.0 if math.isnan(strength) else min(1.0, (lines.width_of(strength, _MAX_WIDTH) - MIN_WIDTH) / 2.5)
    return tuple((1 - part) * a + part * b for a, b in zip(to_rgb(LIGHT.edge), to_rgb(LIGHT.ink), strict=True))


def _entries(
    roles: Mapping[str, MemberRole], children: Mapping[str, Sequence[str]], lines: Lines[str], fine: float
) -> list[Any]:
    from matplotlib.patches import Patch

    handles: list[Any] = [
        Patch(facecolor=s.face, edgecolor=s.line, linestyle=s.dashes, linewidth=s.width, label=_MEANING[role])
        for role, s in STYLES.items()
        if role in roles.values()
    ]
    for value in lines.extremes:
        width = max(MIN_WIDTH, lines.width_of(value, _MAX_WIDTH) * fine)
        name = next(name for name in roles if lines.strength[name] == value)  # whose line the entry shows
        dashes = "-" if name in children else _dashes(roles[name], width)
        handles.append(line_entry(lines.text(value), _colour(lines, value), width, dashes))
    return handles


def _draw_lines(
    ax: Axes,
    found: Result,
    ring: Ring,
    target: Point,
    children: Mapping[str, Sequence[str]],
    lines: Lines[str],
    roles: Mapping[str, MemberRole],
    fine: float,
    scale: float,
) -> None:
    from matplotlib.patches import FancyArrowPatch
    from matplotlib.path import Path

    def line(a: str, b: str, route: Sequence[Point], variable: str, directed: bool, role: MemberRole) -> None:
        codes = [Path.MOVETO] + [Path.CURVE4] * (len(route) - 1)
        width = max(MIN_WIDTH, lines.width(variable, _MAX_WIDTH) * fine)
        arrow = FancyArrowPatch(
            path=Path(list(route), codes),
            arrowstyle="-|>" if directed else "-",
            mutation_scale=(8 + 1.8 * width) * scale,
            linewidth=width * scale,
            linestyle=_dashes(role, width),
            color=_colour(lines, lines.strength[variable]),
            shrinkA=0,
            shrinkB=0,
            joinstyle="miter",
            capstyle="butt",
            zorder=1 + width / 10,
        )
        arrow.set_gid(f"{'arc' if directed else 'edge'} {a} {b}")
        ax.add_patch(arrow)

    common = {child for names in children.values() for child in names}
    for name, end in ring.ends.items():
        start = _border(target, end)
        line(found.target, name, [start, *straight(start, end)], name, name in common, roles[name])
    for (spouse, child), route in ring.routes.items():
        line(spouse, child, route, spouse, True, "parent or child")  # a spouse is a parent of the child


def _border(box: Point, towards: Point) -> Point:
    """Return the point where a line from the middle of a box at (0, 0) crosses its border."""
    part = min(box[k] / 2 / abs(towards[k]) if towards[k] else math.inf for k in (0, 1))
    return part * towards[0], part * towards[1]


def _write(ax: Axes, at: Point, text: str, font: FontProperties, scale: float, va: str) -> None:
    font = font.copy()
    font.set_size(font.get_size_in_points() * scale)
    ax.text(*at, text, fontproperties=font, color=LIGHT.ink, ha="center", va=va, parse_math=False)


# --- where the boxes are ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Ring:
    """The positions of boxes and lines; a route is a start, then two handles and an end for each cubic curve."""

    left: float
    top: float
    width: float
    height: float
    centres: Mapping[str, Point]
    """The centres of the members' and spouses' boxes."""
    ends: Mapping[str, Point]
    """The ends of the lines from the target to the members."""
    routes: Mapping[tuple[str, str], Sequence[Point]]
    """The lines from spouses to common children."""


def lay_around(target: Point, members: Sequence[str], children: Children, boxes: Mapping[str, Point]) -> Ring:
    """Place members around a target with a box of the given size, and spouses outside, near their common children."""
    sides = two_sides(members, children)
    side_of = {name: side for side, names in enumerate(sides) for name in names}
    rows = max(map(len, sides), default=0)
    gap = 0.12 + 0.03 * max(0, 8 - rows)
    height_of = {name: y for names in sides for name, y in _stacked(names, boxes, gap).items()}
    half = max((abs(y) + boxes[name][1] / 2 for name, y in height_of.items()), default=0.0)
    radius = target[0] / 2 + 0.6 + 0.09 * rows  # of the ring

    def inner_edge(name: str) -> float:
        y = height_of[name]
        x = radius * math.sqrt(1 - (y / (half + 0.35)) ** 2)
        beside = abs(y) < (target[1] + boxes[name][1]) / 2 + 0.08
        return max(x, target[0] / 2 + 0.4 if beside else 0.16)

    inner = {name: inner_edge(name) for name in members}
    sign = {name: -1 if side_of[name] == 0 else 1 for name in members}
    centres = {name: (sign[name] * (inner[name] + boxes[name][0] / 2), height_of[name]) for name in members}

    # Spouses are on the side of most of their children.
    for spouse, common in children.items():
        n_right = sum(side_of[child] for child in common)
        side_of[spouse] = 0 if 2 * n_right < len(common) else 1
    crossing = [s for s, common in children.items() if any(side_of[c] != side_of[s] for c in common)]
    lane = {spouse: k for k, spouse in enumerate(crossing)}
    limits, columns = [], []
    for side, names in enumerate(sides):
        limit = max((inner[name] + boxes[name][0] for name in names), default=target[0] / 2 + 0.3)
        outside = [spouse for spouse in children if side_of[spouse] == side]
        lines = sum(len(children[spouse]) for spouse in outside)
        limits.append(limit)
        columns.append(limit + min(1.4, 0.5 + 0.03 * lines) + _LANE * len(crossing))
        for spouse, y in _beside_children(outside, children, height_of, side_of, boxes).items():
            centres[spouse] = (-1 if side == 0 else 1) * (columns[side] + boxes[spouse][0] / 2), y
    bottom = max([target[1] / 2, *(y + boxes[name][1] / 2 for name, (_, y) in centres.items())])

    def route(spouse: str, child: str) -> list[Point]:
        side, other = side_of[spouse], side_of[child]
        here, there = (-1 if side == 0 else 1), (-1 if other == 0 else 1)
        start = here * columns[side], centres[spouse][1]
        end = centres[child][0] + there * boxes[child][0] / 2, centres[child][1]
        if side == other:  # a curve as far as the widest box, then a straight line
            limit = there * limits[other], end[1]
            middle = (start[0] + limit[0]) / 2
            curve = [start, (middle, start[1]), (middle, end[1]), limit]
            return curve if math.dist(limit, end) < 1e-6 else [*curve, *straight(limit, end)]
        step = 0.16 + _LANE * lane[spouse]
        down, up, low = here * (limits[side] + step), there * (limits[other] + step), bottom + step
        return _rounded([start, (down, start[1]), (down, low), (up, low), (up, end[1]), end])

    routes = {(spouse, child): route(spouse, child) for spouse, common in children.items() for child in common}
    corners = [(-target[0] / 2, -target[1] / 2), (target[0] / 2, target[1] / 2)]
    for name, (x, y) in centres.items():
        w, h = boxes[name]
        corners += [(x - w / 2, y - h / 2), (x + w / 2, y + h / 2)]
    corners += [point for line in routes.values() for point in line]
    left, right = min(x for x, _ in corners), max(x for x, _ in corners)
    top, low = min(y for _, y in corners), max(y for _, y in corners)
    ends = {name: (sign[name] * inner[name], height_of[name]) for name in members}
    return Ring(left, top, right - left, low - top, centres, ends, routes)


def two_sides(members: Sequence[str], children: Children) -> tuple[list[str], list[str]]:
    """Divide members into a left and a right stack of about the same height, from top to bottom.

    Members that share spouses form a group and are next to each other. A group of most members is divided between the
    sides, at the bottom.
    """
    import networkx as nx

    index = {name: k for k, name in enumerate(members)}
    graph: nx.Graph[str] = nx.Graph()
    graph.add_nodes_from(members)
    graph.add_edges_from((spouse, child) for spouse, common in children.items() for child in common)
    groups = []
    for part in nx.connected_components(graph):
        spouses = [spouse for spouse in children if spouse in part]
        group_members = sorted((name for name in part if name in index), key=index.__getitem__)
        groups.append((_ordered(group_members, spouses, children), max(len(group_members), len(spouses))))
    groups.sort(key=lambda group: (-group[1], index[group[0][0]]))
    total = sum(weight for _, weight in groups)
    sides: tuple[list[list[str]], list[list[str]]] = ([], [])
    weights = [0.0, 0.0]
    bottom: tuple[list[str], list[str]] = ([], [])
    if groups and len(groups[0][0]) > 2 and groups[0][1] > _MAX_SHARE * total:
        largest, weight = groups.pop(0)
        cut = _best_cut(largest, children)
        bottom = (largest[:cut], largest[cut:][::-1])
        weights = [weight * cut / len(largest), weight * (1 - cut / len(largest))]
    single = [group for group in groups if group[1] == 1]
    for group, weight in groups[: len(groups) - len(single)]:
        side = 0 if weights[0] <= weights[1] else 1
        sides[side].append(group)
        weights[side] += weight
    n_left = max(0, min(len(single), round((len(single) + weights[1] - weights[0]) / 2 + 0.1)))
    sides[0].extend(group for group, _ in single[:n_left])
    sides[1].extend(group for group, _ in single[n_left:])
    stacks = [
        [*sorted(side, key=lambda group: min(index[x] for x in group)), end]
        for side, end in zip(sides, bottom, strict=True)
    ]
    return tuple([name for group in stack for name in group] for stack in stacks)  # type: ignore[return-value]


def _ordered(members: list[str], spouses: list[str], children: Children) -> list[str]:
    """Return the members of a group in an order with few crossings of the lines to their spouses."""
    items = [*members, *spouses]
    number = {name: k for k, name in enumerate(items)}
    up: list[list[int]] = [[] for _ in items]
    down: list[list[int]] = [[] for _ in items]
    for spouse in spouses:
        for child in children[spouse]:
            down[number[child]].append(number[spouse])
            up[number[spouse]].append(number[child])
    first, *_ = uncrossed([list(range(len(members))), list(range(len(members), len(items)))], up, down)
    return [items[k] for k in first]


def _best_cut(group: Sequence[str], children: Children) -> int:
    """Return where, near the middle, to divide a group so that few spouses have children on both sides."""
    index = {name: k for k, name in enumerate(group)}
    spans = [[index[child] for child in common if child in index] for common in children.values()]

    def cost(cut: int) -> tuple[int, float]:
        return sum(min(span) < cut <= max(span) for span in spans if span), abs(cut - len(group) / 2)

    low = max(1, math.floor(0.4 * len(group)))
    return min(range(low, max(low + 1, math.ceil(0.6 * len(group)) + 1)), key=cost)


def _stacked(names: Sequence[str], boxes: Mapping[str, Point], gap: float) -> dict[str, float]:
    """Return the heights of boxes in a stack with its middle at 0."""
    heights = [boxes[name][1] for name in names]
    top = -(sum(heights) + gap * (len(names) - 1)) / 2
    found = {}
    for name, height in zip(names, heights, strict=True):
        found[name] = top + height / 2
        top += height + gap
    return found


def _beside_children(
    spouses: Sequence[str],
    children: Children,
    height_of: Mapping[str, float],
    side_of: Mapping[str, int],
    boxes: Mapping[str, Point],
) -> dict[str, float]:
    """Return the heights of spouses on a side: near the mean height of their children there, without overlap."""

    def wanted(spouse: str) -> float:
        heights = [height_of[child] for child in children[spouse] if side_of[child] == side_of[spouse]]
        return sum(heights) / len(heights)

    if not spouses:
        return {}
    order = sorted(spouses, key=wanted)
    gaps = [(boxes[a][1] + boxes[b][1]) / 2 + 0.12 for a, b in pairwise(order)]
    return dict(zip(order, spaced([wanted(s) for s in order], [1.0] * len(order), gaps), strict=True))


def straight(start: Point, end: Point) -> list[Point]:
    """Return the handles and the end of a straight line as a cubic curve."""
    (a, b), (c, d) = start, end
    return [((2 * a + c) / 3, (2 * b + d) / 3), ((a + 2 * c) / 3, (b + 2 * d) / 3), end]


def _rounded(points: Sequence[Point]) -> list[Point]:
    """Return cubic curves along straight lines with rounded corners."""
    curve = [points[0]]
    for before, corner, after in zip(points, points[1:], points[2:], strict=False):
        begin, end = (_towards(corner, other, min(_RADIUS, math.dist(corner, other) / 2)) for other in (before, after))
        curve += [*straight(curve[-1], begin), corner, corner, end]
    return [*curve, *straight(curve[-1], points[-1])]


def _towards(start: Point, end: Point, distance: float) -> Point:
    length = math.dist(start, end)
    part = distance / length if length else 0.0
    return start[0] + part * (end[0] - start[0]), start[1] + part * (end[1] - start[1])
