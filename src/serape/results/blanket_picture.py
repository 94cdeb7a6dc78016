"""The picture of a blanket or neighbourhood: the target in the middle, its members around it, spouses outermost."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from serape.errors import n_shown
from serape.palette import LIGHT
from serape.results.displayed import rate_text
from serape.results.layout import Point
from serape.results.legends import Legend, line_entry
from serape.results.lettering import Lettering, box_size, text_size
from serape.results.lines import MIN_WIDTH, Lines
from serape.results.pictures import MARGIN, MAX_NAMES, TARGET, BoxStyle, check_matplotlib, draw_box, sheet
from serape.results.radial_layout import Ring, lay_around, straight

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.font_manager import FontProperties

    from serape.results.result import Result

Role = Literal["parent or child", "spouse", "member"]

# Roles also differ without colour: by position, by square corners, by dashes.
STYLES: dict[Role, BoxStyle] = {
    "parent or child": BoxStyle.of("neighbour"),
    "spouse": BoxStyle.of("spouse", roundness=0.25),
    "member": BoxStyle.of("member", dashes=(0, (3.5, 2))),
}
_MEANING: dict[Role, str] = {
    "parent or child": "parent or child",
    "spouse": "spouse (arrows: common children)",
    "member": "parent, child or spouse (role unknown)",
}
_MAX_WIDTH = 5.0


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


def members_to_draw(found: Result) -> tuple[dict[str, Role], dict[str, tuple[str, ...]], int]:
    """Return the members to draw with their roles, the common children of spouses, and the number of other members."""
    neighbours = set(found.parents_children or ())
    spouses = found.spouses or {}

    def role(name: str) -> Role:
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


def _dashes(role: Role, width: float) -> Any:
    """Return the style of a line from the target to a member; dashes have one length, however thick the line is."""
    return "-" if role == "parent or child" else (0, (5 / width, 3 / width))


def _colour(lines: Lines[str], strength: float) -> Any:
    """Return a colour that is darker for a stronger association."""
    from matplotlib.colors import to_rgb

    part = 1.0 if math.isnan(strength) else min(1.0, (lines.width_of(strength, _MAX_WIDTH) - MIN_WIDTH) / 2.5)
    return tuple((1 - part) * a + part * b for a, b in zip(to_rgb(LIGHT.edge), to_rgb(LIGHT.ink), strict=True))


def _entries(
    roles: Mapping[str, Role], children: Mapping[str, Sequence[str]], lines: Lines[str], fine: float
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
    roles: Mapping[str, Role],
    fine: float,
    scale: float,
) -> None:
    from matplotlib.patches import FancyArrowPatch
    from matplotlib.path import Path

    def line(a: str, b: str, route: Sequence[Point], variable: str, directed: bool, role: Role) -> None:
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
