"""Duplicate columns: which of them are candidates, and what a result says about them."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from serape.data.table import Table
from serape.errors import abbreviate
from serape.questions.leaks import ignore_remedy


def not_candidates(table: Table, target: int, kept: Collection[int]) -> frozenset[int]:
    """Return the duplicates that are no candidates for a target: all but one of a group, those in `kept` first."""
    if not table.duplicates:
        return frozenset()
    found = table.later_duplicates
    for group in {tuple(table.duplicates[x]) for x in (target, *kept) if x in table.duplicates}:
        others = [x for x in group if x != target]
        candidates = [x for x in others if x in kept] or others[:1]
        found = found.difference(group).union(x for x in others if x not in candidates)
    return found


def describe_duplicates(
    table: Table | None, names: Sequence[str], target: int, members: Collection[int]
) -> tuple[dict[str, tuple[str, ...]], list[str]]:
    """Return the duplicates of the members by name, and the notes about them."""
    duplicates = {} if table is None else table.duplicates
    interchangeable: dict[str, tuple[str, ...]] = {}
    notes: list[str] = []
    if not duplicates:
        return interchangeable, notes
    for k in sorted({k for k in members if k in duplicates}):
        if others := tuple(names[x] for x in sorted(duplicates[k]) if x not in (k, target)):
            interchangeable[names[k]] = others
            notes.append(f"duplicates of {names[k]!r} (any of them would do as well): {abbreviate(others)}")
    if target in duplicates:
        others = tuple(names[x] for x in sorted(duplicates[target]) if x != target)
        notes.insert(0, target_duplicates_note(others))
    return interchangeable, notes


def target_duplicates_note(names: Sequence[str]) -> str:
    """Return the note about columns that are exact duplicates of the target."""
    return (
        f"duplicates of the target: {abbreviate(names)} (little else can be found beside a duplicate): "
        f"{ignore_remedy(names)}"
    )
