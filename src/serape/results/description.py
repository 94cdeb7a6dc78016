"""The result of `describe`: the columns of a table, what is odd about them, and what "auto" would be."""

from __future__ import annotations

import math
import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal, cast

import numpy as np

from serape.data.degenerate import NameGroups
from serape.data.kinds import KINDS, Kind
from serape.data.notes import has_sparse_levels
from serape.data.table import Table
from serape.errors import OptionError, n_shown, suggestion
from serape.markup import plain
from serape.records import Records
from serape.results.charts import draw_values
from serape.results.kind import ResultKind
from serape.results.saved import count, lists, number, one_of, optional, rate, texts

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

COLUMN_HEADS = ("variable", "kind", "levels", "missing", "about")
_NONE = "No value is missing."
_MAX_LEVELS = 3  # named among a column's values
_MAX_LETTERS = 20


@dataclass(frozen=True)
class ColumnFacts:
    """A column: its kind and why, the number of levels, missing values, and what is odd about it."""

    variable: str
    kind: Kind | Literal["empty"]
    """Its kind; "empty" if it has no values."""
    why: str
    used_as: str
    """categories, numbers, or nothing."""
    levels: int
    """The number of levels; 0 for numbers."""
    missing: int
    """The number of rows in which the value is missing."""
    values: str
    """The most frequent levels, or the range."""
    remarks: tuple[str, ...] = ()

    @property
    def cells(self) -> list[str]:
        """The column as a row of a table of `COLUMN_HEADS`."""
        return [self.variable, self.kind, f"{self.levels or ''}", f"{self.missing or ''}", self.about]

    @property
    def about(self) -> str:
        """Why it is of its kind, its values, and the remarks, in one line."""
        return "; ".join(filter(None, (f"{self.why}: {self.values}" if self.values else self.why, *self.remarks)))


@dataclass(frozen=True)
class AutomaticChoice:
    """What "auto" means for a question about the table."""

    question: str
    algorithm: str
    test: str | None
    """None if a score is used in place of tests."""
    alpha: float | None
    fdr: float | None
    fdr_method: str | None
    max_conditioning: int | None
    score: str | None = None

    def __str__(self) -> str:
        if self.test is None:
            return f"{self.question}: {self.algorithm} by the score {self.score}"
        bound = "any size" if self.max_conditioning is None else f"at most {self.max_conditioning}"
        rate = "" if self.fdr is None else f", false discovery rate {self.fdr:g} ({self.fdr_method})"
        score = "" if self.score is None else f", score {self.score}"
        return (
            f"{self.question}: {self.algorithm} with {self.test} at alpha {self.alpha:g}{rate}, "
            f"conditioning sets of {bound}{score}"
        )


@dataclass(frozen=True)
class NearlyDetermined:
    """A column that another tells nearly exactly."""

    variable: str
    by: str
    left: float
    """The share of the variable that the other leaves open: of the errors in guessing its level, or of the variance of
    its ranks."""


@dataclass(frozen=True, repr=False)
class Description(ResultKind, file="serape-description-1"):
    """The columns of a table, what is odd about them, and what the automatic choice would be.

    Examples
    --------
    >>> described = serape.describe({"id": range(1000), "one": [1] * 1000, "coin": [0, 1] * 500})
    >>> described.identifiers, described.constant
    (('id',), ('one',))
    """

    rows: int
    complete_rows: int
    """The number of rows without missing values."""
    target: str | None
    columns: tuple[ColumnFacts, ...] = field(repr=False)
    empty: tuple[str, ...]
    """Columns without any value."""
    constant: tuple[str, ...]
    """Columns of one value."""
    identifiers: tuple[str, ...]
    dates: tuple[str, ...]
    duplicates: NameGroups
    """Groups of columns that are equal, whatever their levels are called."""
    rescaled: NameGroups
    """Groups of numbers that are equal up to scale and shift."""
    determined: tuple[NearlyDetermined, ...]
    """Columns that another tells nearly exactly; duplicates are left out."""
    copies: tuple[str, ...]
    """Copies of the target in other units."""
    leaks: tuple[str, ...]
    """Columns that alone tell the target nearly exactly."""
    choices: tuple[AutomaticChoice, ...]
    """What "auto" means for questions about the table."""
    notes: tuple[str, ...]
    """What was found, and what was not looked for because there are too many columns."""

    @cached_property
    def records(self) -> Records:
        """A row for every column: a table for any dataframe library."""
        rows = [asdict(column) | {"remarks": "; ".join(column.remarks)} for column in self.columns]
        return Records({name: [row[name] for row in rows] for name in ColumnFacts.__dataclass_fields__})

    def to_pandas(self) -> pd.DataFrame:
        """Return a pandas frame with a row for every column."""
        return self.records.to_pandas()

    def plot(self, path: str | os.PathLike[str] | None = None, *, ax: Axes | None = None) -> Axes:
        """Draw the share of the rows in which the values of columns are missing, the largest first.

        At most 30 columns are drawn; the number of others is written below. `path` is a file for the picture (.png,
        .svg, .pdf), `ax` are axes to draw in.
        """
        gaps = sorted(((one.variable, one.missing / self.rows) for one in self.columns if one.missing), key=_descending)
        names = [name for name, _ in gaps]
        return self._drawn(path, lambda: draw_values(gaps, names, self.title, "share of missing values", _NONE, ax))

    _kicker = "Description"

    def explain(self, variable: str) -> str:
        """Return what a column is taken for, and what is odd about it."""
        for column in self.columns:
            if column.variable == variable:
                return plain(f"{variable} is {column.kind}, used as {column.used_as}: {column.about}.")
        raise OptionError(
            f"there is no variable {variable!r}.{suggestion(str(variable), [c.variable for c in self.columns])}"
        )

    _readers: ClassVar = {
        "complete_rows": int,
        "target": optional(str),
        "columns": lambda values: tuple(_column(one) for one in values),
        **dict.fromkeys(("empty", "constant", "identifiers", "dates", "copies", "leaks"), texts),
        **dict.fromkeys(("duplicates", "rescaled"), lists),
        "determined": lambda values: tuple(
            NearlyDetermined(str(one["variable"]), str(one["by"]), number(one["left"])) for one in values
        ),
        "choices": lambda values: tuple(_choice(one) for one in values),
    }

    @property
    def title(self) -> str:
        """The number of rows and columns."""
        about = "" if self.target is None else f", target {self.target}"
        return f"{self.rows:,} rows and {len(self.columns):,} column{'' if len(self.columns) == 1 else 's'}{about}"

    def _grid(self, max_rows: int) -> tuple[Sequence[str], Sequence[Sequence[str]], int]:
        return COLUMN_HEADS, [column.cells for column in self.columns[:max_rows]], len(self.columns)

    def _below(self) -> Sequence[str]:
        return [*self._how(), *(f"note: {note}" for note in self.notes)]

    def _how(self) -> Sequence[str]:
        return [f'"auto" for {choice}' for choice in self.choices]

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        table = [f"  {line}" for line in repr(self.records).splitlines()]
        more = [f"  {line}" for line in self._how()]
        return self._whole_text([self.title, *table, *more])


def _descending(item: tuple[str, float]) -> float:
    return -item[1]


def _column(content: Mapping[str, Any]) -> ColumnFacts:
    words = {name: str(content[name]) for name in ("variable", "why", "used_as", "values")}
    kind = one_of((*KINDS, "empty"))(content["kind"])
    return ColumnFacts(
        **words,
        kind=cast("Kind", kind),
        levels=count(content["levels"]),
        missing=count(content["missing"]),
        remarks=texts(content["remarks"]),
    )


def _choice(content: Mapping[str, Any]) -> AutomaticChoice:
    def word(name: str) -> str | None:
        return None if content[name] is None else str(content[name])

    bound = content["max_conditioning"]
    return AutomaticChoice(
        question=str(content["question"]),
        algorithm=str(content["algorithm"]),
        test=word("test"),
        alpha=optional(rate)(content["alpha"]),
        fdr=optional(rate)(content["fdr"]),
        fdr_method=word("fdr_method"),
        max_conditioning=None if bound is None else count(bound),
        score=word("score"),
    )


def column_facts(table: Table, position: int, remarks: Collection[str] = ()) -> ColumnFacts:
    """Return what a table knows about a column; `remarks` are added to those about the column alone."""
    variable = table.variables[table.names[position]]
    missing = int(table.missing[position].sum()) if position in table.missing else 0
    levels = table.levels(position)
    own = []
    if table.is_constant(position):
        own.append("constant")
    if variable.kind != "identifier" and has_sparse_levels(table, position):
        own.append("few rows per level")
    used_as = "nothing" if variable.kind == "identifier" else "categories" if levels else "numbers"
    values = _values(table, position, variable.kind)
    return ColumnFacts(
        variable.name, variable.kind, variable.reason, used_as, levels, missing, values, (*own, *remarks)
    )


def empty_column(name: str, rows: int) -> ColumnFacts:
    """Return a column without any value."""
    return ColumnFacts(name, "empty", "no values", "nothing", 0, rows, "")


# --- internal --------------------------------------------------------------------------------------------------------


def _values(table: Table, position: int, kind: Kind) -> str:
    """Return the most frequent levels with their shares, or the range of numbers or dates."""
    gaps = table.missing.get(position)
    if kind == "identifier":
        present = np.arange(min(_MAX_LEVELS, table.rows)) if gaps is None else np.flatnonzero(~gaps)[:_MAX_LEVELS]
        return f"{', '.join(map(_level, table.part([position], present).column(0).tolist()))}, …"
    levels = table.column_levels(position)
    numbers = table.codes(position) if table.levels(position) else table.numbers(position)
    if gaps is not None:
        numbers = numbers[~gaps]
    if not levels:
        show = _date if kind == "date" else _number
        low, high = float(numbers.min()), float(numbers.max())
        if low == high:
            return show(low)
        return f"{show(low)} to {show(high)}, median {show(float(np.median(numbers)))}"
    counts = np.bincount(numbers.astype(np.int64), minlength=len(levels)).tolist()
    n = n_shown(len(levels), _MAX_LEVELS)
    order = sorted(range(len(levels)), key=lambda k: -counts[k])[:n]
    shares = [f"{_level(levels[k])} ({_share(counts[k] / len(numbers))})" for k in order]
    return ", ".join([*shares, *["…"] * (n < len(levels))])


def _level(level: Any) -> str:
    text = "missing" if level is None else _number(level) if isinstance(level, float) else str(level)
    return text if len(text) <= _MAX_LETTERS else f"{text[: _MAX_LETTERS - 1]}…"


def _share(share: float) -> str:
    return "< 1 %" if 0 < share < 0.01 else f"{100 * share:.0f} %"


def _number(value: float) -> str:
    return f"{value:,.0f}" if value.is_integer() and abs(value) < 1e15 else f"{value:.4g}"


def _date(days: float) -> str:
    return str(np.datetime64(0, "D") + np.timedelta64(math.floor(days), "D"))
