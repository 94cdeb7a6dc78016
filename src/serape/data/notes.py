"""What a user should know about the columns of a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from serape.data.dates import UNIT
from serape.data.kinds import AS_ASKED
from serape.errors import abbreviate
from serape.wording import setting

if TYPE_CHECKING:
    from serape.data.table import Table
    from serape.data.variables import Variable

MIN_ROWS_PER_LEVEL = 5
"""A column with fewer rows per level, on average, is noted."""
MIN_STEPS = 1 << 12
"""Numbers between the smallest and the largest of which a double holds fewer are noted."""
_RECOGNISED = {"count": "counts", "proportion": "proportions", "date": f"dates (in {UNIT})"}


def column_notes(table: Table) -> list[str]:
    """Return notes about the kinds of columns, constant and rounded columns, and columns of too many levels."""
    names = table.names
    constant = [name for k, name in enumerate(names) if table.is_constant(k)]
    rounded = [] if table.remote is not None else [names[k] for k in table.continuous if is_rounded(table, k)]
    sparse = [name for k, name in enumerate(names) if has_sparse_levels(table, k)]
    notes = _kind_notes(table)
    if constant:
        notes.append(f"constant, so never part of a blanket: {abbreviate(constant)}")
    if rounded:
        notes.append(
            f"differing in the last digits of a double only, so that further digits are lost: {abbreviate(rounded)}; "
            f"subtract a constant before such numbers are written or stored"
        )
    if sparse:
        notes.append(
            f"fewer than {MIN_ROWS_PER_LEVEL} rows per level, so hardly any test is reliable "
            f"(an identifier?): {abbreviate(sparse)}"
        )
    return notes


def is_rounded(table: Table, position: int) -> bool:
    """Return whether a column's numbers are so large and near each other that doubles hold few of their digits."""
    if table.is_constant(position):
        return False
    values = table.numbers(position)
    if position in table.missing:
        values = values[~table.missing[position]]
    low, high = float(values.min()), float(values.max())
    return high / 2 - low / 2 < MIN_STEPS / 2 * float(np.spacing(max(abs(low), abs(high))))


def has_sparse_levels(table: Table, position: int) -> bool:
    """Return whether a column has too few rows per level for most tests."""
    return table.levels(position) > max(MIN_ROWS_PER_LEVEL, table.rows // MIN_ROWS_PER_LEVEL)


def _kind_notes(table: Table) -> list[str]:
    """Return what was recognised, where it is not obvious."""
    if not table.continuous:
        return []
    recognised: dict[str, list[str]] = {}
    few: list[str] = []
    for variable in table.variables.values():
        if variable.reason == AS_ASKED:
            continue
        recognised.setdefault(variable.kind, []).append(variable.name)
        if len(variable.levels) > 2 and all(type(level) is int for level in variable.levels):
            few.append(variable.name)
    notes = []
    named = [f"{word}: {abbreviate(recognised[kind])}" for kind, word in _RECOGNISED.items() if kind in recognised]
    if named:
        notes.append(f"recognised, and used as numbers, are {'; '.join(named)}")
    if few and not table.identifiers.issuperset(table.continuous):
        notes.append(
            f"whole numbers of few distinct values, used as categories: {abbreviate(few)}; if their order matters, "
            f"pass {setting('kinds', {few[0]: 'ordinal'})}"
        )
    if table.identifiers:
        identifiers = [table.names[k] for k in sorted(table.identifiers)]
        first = table.variables[identifiers[0]]
        notes.append(
            f"identifiers, so not part of any search: {abbreviate(identifiers)} ({first.reason}); to use such a "
            f"column, pass {kind_in_use(first)}"
        )
    return notes


def not_categorical(table: Table, needed_by: str, continuous: list[str]) -> str:
    """Return why columns of numbers cannot be used where categories are needed, and what to do."""
    first = table.variables[continuous[0]]
    if first.kind == "identifier":
        return (
            f"{needed_by} cannot use {first.name!r}, an identifier ({first.reason}); to use it, pass "
            f"{kind_in_use(first)}"
        )
    are, them = ("is", "it") if len(continuous) == 1 else ("are", "them")
    reason = first.reason if first.kind == "continuous" else f"{first.kind}, {first.reason}"
    return (
        f"{needed_by} needs categorical columns, but {abbreviate(continuous)} {are} continuous ({reason}); discretise "
        f"{them}, leave {them} out with {setting('ignore', continuous[:5])}, or, if the values are categories, pass "
        f"{setting('kinds', {first.name: 'categorical'})}"
    )


def kind_in_use(identifier: Variable) -> str:
    """Return the setting with which an identifier takes part in searches."""
    return setting("kinds", {identifier.name: "categorical" if identifier.levels else "continuous"})
