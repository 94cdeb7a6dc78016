"""The candidates that no reliable test could judge: they are neither in the answer nor shown to be outside."""

from __future__ import annotations

from collections.abc import Collection

from serape.errors import abbreviate
from serape.independence import table_of
from serape.search import Positions, Search
from serape.wording import setting

_MAX_CHECKED = 1000  # candidates, of which those that the members determine are found


def untested_note(
    search: Search,
    target: int,
    members: Collection[int],
    candidates: Positions,
    *,
    by_subsets: bool,
    stepwise: bool,
) -> list[str]:
    """Return a note about candidates that cannot be tested reliably given the members; none if there are none.

    A candidate that a reliable test separated from the target is not named if the algorithm separates `by_subsets` of
    the members: to one that judges candidates given all members, independence given fewer says nothing about a spouse.
    Nor is a candidate named that the members determine; nothing is named if they determine the target. This takes one
    screen, which is not counted. Beyond `max_conditioning` nothing is tested. If most candidates cannot be tested and
    the algorithm is `stepwise`, which conditions on all members, the note says that the search stopped for want of
    rows.
    """
    given = tuple(sorted(members))
    if search.max_conditioning is not None and len(given) > search.max_conditioning:
        return []
    table, names = table_of(search.test), search.test.variables
    screen = search.test.screen(target, candidates, given)
    found = [
        x
        for x in screen.xs[~screen.reliable & (screen.dof != 0)].tolist()
        if (table is None or not table.is_constant(x)) and (not by_subsets or search.separating_set(x, target) is None)
    ]
    if table is not None and found:
        from serape.data.degenerate import functions_of

        checked = [target, *found] if len(found) <= _MAX_CHECKED else [target]
        functions = set(functions_of(table, checked, [z for z in given if table.levels(z)]))
        if target in functions:
            return []
        found = [x for x in found if x not in functions]
    if not found:
        return []
    untested = [names[x] for x in found]
    note = (
        f"too few rows to test given the members, so perhaps members too: {abbreviate(untested)} "
        f"({len(untested):,} of {len(candidates):,} candidates)"
    )
    if stepwise and 2 * len(untested) > len(candidates):
        many = "1 member" if len(given) == 1 else f"{len(given):,} members"
        note = (
            f"the search stopped for want of rows, at {many}: {note}; more rows would help, or "
            f"{setting('algorithm', 'hiton-mb')}, which conditions on fewer members at a time"
        )
    levels = {} if table is None else {names[z]: table.levels(z) for z in given}
    largest = max(levels, key=lambda name: levels[name], default="")
    if levels.get(largest, 0) > 2:
        note += (
            f"; fewer levels of {largest!r} would help, which has the most of all members ({levels[largest]:,}): merge "
            f"some, or ignore the column"
        )
    return [note]
