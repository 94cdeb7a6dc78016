"""The kinds of columns: how they are recognised, and the kinds that a caller sets.

The rule that decides a column's kind, unless the caller sets it:

==================================================================  ===========  =======
values                                                              kind         used as
==================================================================  ===========  =======
truth values; text of two levels, yes and no or true and false      boolean      categories
ordered categories                                                  ordinal      categories
dates, and text in which every value is an ISO date                 date         numbers
text with a different value in (nearly) every row                   identifier   nothing
other text, other categories                                        categorical  categories
whole numbers with at most 20 distinct values                       categorical  categories
whole numbers with more, which number the rows                      identifier   nothing
whole numbers with more, of which the two smallest are from 0 to 3  count        numbers
other whole numbers                                                 continuous   numbers
real numbers from 0 to 1, not all of them whole                     proportion   numbers
other real numbers                                                  continuous   numbers
==================================================================  ===========  =======

A caller can set each of these kinds. An ordinal column that a caller sets is used as numbers: the numbers themselves,
or the positions of the categories in their declared order. An identifier takes part in no search.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from serape.errors import DataError, OptionError, row_text, shown, suggestion
from serape.wording import setting

Kind = Literal["categorical", "boolean", "ordinal", "continuous", "count", "proportion", "date", "identifier"]
KINDS: tuple[Kind, ...] = get_args(Kind)
AS_CODES: frozenset[Kind] = frozenset({"categorical", "boolean"})
"""Kinds that are used as categories if a caller sets them; columns of all others become numbers."""
AS_ASKED = "as asked"
"""The reason for a kind that the caller sets."""

FEW_LEVELS = 20
"""Integers with at most this many distinct values are categories."""
DISTINCT_SHARE = 0.95
"""Text with at least this many distinct values per row is an identifier."""
MAX_STEP = 10
"""Ascending or descending whole numbers are an identifier if their mean step is smaller."""
MAX_SMALL = 3
"""Whole numbers of which the two smallest are from 0 to this are counts; a lone 0 often means a missing value."""

_TRUTH = ({"true", "false"}, {"yes", "no"})
_Fits = Callable[[NDArray[Any]], NDArray[np.bool_]]
_NEEDED: dict[Kind, tuple[str, str, _Fits]] = {
    "count": ("a count", "a whole number, 0 or more", lambda v: (v >= 0) & (v == np.floor(v))),
    "proportion": ("a proportion", "a number from 0 to 1", lambda v: (v >= 0) & (v <= 1)),
    "date": ("a date", "a date such as 2024-05-17", lambda v: np.zeros(len(v), bool)),
}


class Kinds:
    """The kinds that a caller sets: one for all columns, or some by name."""

    def __init__(self, given: str | Mapping[str, str] | None = None) -> None:
        self.by_name: dict[str, Kind] = {}
        self.for_all: Kind | None = None
        if isinstance(given, str):
            self.for_all = checked_kind(given, "all columns")
        elif isinstance(given, Mapping):
            self.by_name = {str(name): checked_kind(kind, f"column {name!r}") for name, kind in given.items()}
        elif given is not None:
            raise OptionError(f"kinds must be one word for all columns or a dict by column name, not {shown(given)}")

    def __bool__(self) -> bool:
        return self.for_all is not None or bool(self.by_name)

    def of(self, name: str) -> Kind | None:
        """Return the kind that the caller sets for a column, or None."""
        return self.by_name.get(name, self.for_all)


def checked_kind(kind: object, columns: str) -> Kind:
    """Return the kind that a word names; refuse any other word."""
    for known in KINDS:
        if kind == known:
            return known
    known_kinds = ", ".join(map(repr, KINDS))
    raise OptionError(
        f"kind {shown(kind)} of {columns} is not known; use one of {known_kinds}.{suggestion(str(kind), KINDS)}"
    )


def check_numbers(name: str, values: NDArray[Any], missing: NDArray[np.bool_] | None, kind: Kind | None) -> None:
    """Refuse numbers that cannot be of the kind that the caller sets."""
    if kind is None or kind not in _NEEDED:
        return
    word, needed, fits = _NEEDED[kind]
    wrong = ~fits(values)
    if missing is not None:
        wrong &= ~missing
    if wrong.any():
        row = int(np.argmax(wrong))
        raise DataError(
            f"column {name!r} cannot be {word}: it holds {values[row]} in {row_text(row)}, which is not {needed}; "
            f"correct the value or pass {setting('kinds', {name: 'continuous'})}"
        )


def check_boolean(name: str, levels: int, kind: Kind | None) -> None:
    """Refuse more than two levels of a column that the caller sets to boolean."""
    if kind == "boolean" and levels > 2:
        raise DataError(
            f"column {name!r} cannot be boolean: it has {levels:,} levels; pass "
            f"{setting('kinds', {name: 'categorical'})}"
        )


def kind_of_labels(labels: list[Any]) -> Kind:
    """Return the kind of text: boolean if its two levels mean yes and no, or true and false."""
    if len(labels) == 2 and {str(label).casefold() for label in labels} in _TRUTH:
        return "boolean"
    return "categorical"


def names_rows(labels: int, rows: int) -> bool:
    """Return whether text of this number of distinct values identifies the rows."""
    return rows > FEW_LEVELS and labels >= DISTINCT_SHARE * rows


def kind_of_integers(values: NDArray[np.integer[Any]], distinct: NDArray[np.integer[Any]]) -> Kind:
    """Return the kind of many whole numbers, given for each row in which none is missing.

    They number the rows if all are different, and either they are consecutive, in any order, or they ascend or descend
    from row to row by less than `MAX_STEP` on average.
    """
    rows, low, high = len(values), int(distinct[0]), int(distinct[-1])
    if len(distinct) == rows and (high - low == rows - 1 or (high - low < MAX_STEP * rows and is_monotone(values))):
        return "identifier"
    return "count" if low >= 0 and distinct[1] <= MAX_SMALL else "continuous"


def is_monotone(values: NDArray[Any]) -> bool:
    """Return whether each value is greater than the one before it, or each is smaller."""
    return bool((values[1:] > values[:-1]).all() or (values[1:] < values[:-1]).all())


def kind_of_floats(values: NDArray[np.floating[Any]]) -> Kind:
    """Return the kind of real numbers, none of which is missing."""
    if len(values) == 0 or (low := values.min()) < 0 or not low < values.max() <= 1:
        return "continuous"
    return "proportion" if bool(((values > 0) & (values < 1)).any()) else "continuous"
