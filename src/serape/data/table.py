"""The Table: data of any origin, encoded once, packed for the core."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from serape import _core
from serape.data.csv_files import TextOptions
from serape.data.encoding import Codes, Encoded, Kind, Kinds, as_codes
from serape.data.pickling import packed_again, stored
from serape.data.provenance import Provenance
from serape.data.reading import Columns, read
from serape.errors import DataError, OptionError, abbreviate, is_integer, suggestion
from serape.settings import DataSettings
from serape.types import Missing

if TYPE_CHECKING:
    import pandas as pd

FEW_ROWS_A_LEVEL = 5


@dataclass(frozen=True, slots=True)
class Variable:
    """What is known of one column."""

    name: str
    kind: Kind
    levels: tuple[Any, ...]
    """The values a categorical column can have, in the order of their codes; empty for a continuous one."""
    reason: str
    """Why it is of this kind."""


class Table:
    """Data, encoded once and packed for counting; pass it to as many calls as you like.

    `data` may be a pandas, polars or pyarrow frame (or any other that narwhals reads), anything that exports an Arrow
    stream, a two-dimensional NumPy array, a SciPy sparse matrix, a list of dicts, a dict of columns, or the path of a
    file of delimited text (.csv, .tsv, .txt, .data or any other name, also as .gz or .xz) or a Parquet file, or an open
    file of delimited text. Columns of a bare array are called x0, x1, ….

    Strings, declared categories, truth values and whole numbers with at most 20 distinct values are *categorical*; all
    other numbers are *continuous*. `kinds` overrules this, for all columns ("categorical") or by name
    ({"age": "continuous"}).

    `ignore` names columns to leave out. Missing values are an error unless `missing` is "drop" (leave out rows that
    have any), "level" (a level of its own, for categorical columns) or "pairwise" (keep all rows; every test uses those
    that are complete for the variables it names). A constant column is kept and noted; it never belongs to a blanket. A
    table of no rows, one row or no columns, a name that occurs twice, and a column of more than 65,536 levels are
    errors.

    Two options are about text files. `header` says whether the first line names the columns (True) or is data already
    (False: columns are called x0, x1, …; or a list of names for them); by default it is looked at, and a note tells
    when it is taken for data. `na_values` are words that stand for a missing value besides an empty field, ?, NA, N/A,
    NaN and null.
    """

    def __new__(cls, data: Any = None, *args: Any, **settings: Any) -> Table:
        """Return data as they are if they are a table already."""
        return data if isinstance(data, Table) else super().__new__(cls)

    @classmethod
    def of(cls, data: Any, settings: DataSettings | None = None) -> Table:
        """Return data as a table, encoded by the settings unless they are a table already."""
        if isinstance(data, Table):
            refuse_encoding_again(settings or DataSettings())
            return data
        if settings is None:
            return cls(data)
        return cls(data, settings.kinds, settings.missing, settings.ignore, settings.header, settings.na_values)

    def __init__(
        self,
        data: Any,
        kinds: str | Mapping[str, str] | None = None,
        missing: Missing = "error",
        ignore: Collection[str] = (),
        header: bool | Sequence[str] | None = None,
        na_values: Collection[str] = (),
    ) -> None:
        settings = DataSettings(kinds=kinds, missing=missing, ignore=ignore, header=header, na_values=na_values)
        if isinstance(data, Table):
            refuse_encoding_again(settings)
            return  # `data` is this very table
        columns = read(data, Kinds(kinds), TextOptions.make(header, na_values))
        _check_shape(columns)
        if isinstance(kinds, Mapping):
            known = set(columns.names)
            for name in map(str, kinds):
                if name not in known:
                    raise OptionError(
                        f"kinds names a column {name!r} that the data do not have.{suggestion(name, known)}"
                    )
        notes: list[str] = list(columns.notes)
        if ignore:
            columns = columns.without(ignore)
            notes.append(f"left out as asked: {abbreviate(ignore)}")
        made = _made(data, kinds, missing, ignore, header, na_values)
        self._fill(_treat_missing(columns, missing, notes), notes, made)
        self.notes += tuple(self._remarks())

    def _fill(self, columns: Columns, notes: Sequence[str], made: Mapping[str, Any] | None = None) -> None:
        self.names: tuple[str, ...] = tuple(columns.names)
        self.rows: int = columns.rows
        self.missing: Mapping[int, NDArray[np.bool_]] = columns.missing
        """By position, where values are missing: empty unless the table was made with missing="pairwise"."""
        self._packed, self._levels = columns.pack()
        self._kinds, self._reasons = columns.kinds, columns.reasons
        self._values = columns.values
        self._declared = {k for k, c in enumerate(columns.encoded) if c.declared}
        self._position = {name: k for k, name in enumerate(self.names)}
        self._told = tuple(notes)
        self.notes: tuple[str, ...] = self._told
        self._made = made or {}

    # --- what there is -------------------------------------------------------------------------------------------

    @property
    def variables(self) -> Mapping[str, Variable]:
        """All columns by name, in the table's order."""
        return _Variables(self)

    @property
    def packed(self) -> _core.PackedTable:
        """The packed columns; refused where values are missing, so that nobody counts what is not there."""
        if self.missing:
            raise DataError(
                f"values are missing in {_told_gaps(self._gaps())}, which only tests on complete rows can do with "
                f"(missing='pairwise'); for anything else pass missing='drop' or missing='level' to Table"
            )
        return self._packed

    @property
    def nbytes(self) -> int:
        """Bytes taken by the packed columns."""
        return self._packed.nbytes + sum(v.nbytes for v in self._values.values())

    def __len__(self) -> int:
        return self.rows

    @property
    def continuous(self) -> tuple[int, ...]:
        """The positions of continuous columns."""
        return tuple(self._values)

    def levels(self, position: int) -> int:
        """Return how many levels the column at a position has; 0 if it is continuous."""
        return len(self._levels[position])

    def column_levels(self, position: int) -> tuple[Any, ...]:
        """Return the levels of the column at a position, in the order of their codes; none if it is continuous."""
        return self._levels[position]

    def numbers(self, position: int) -> NDArray[np.float64]:
        """Return the values of the continuous column at a position; NaN where they are missing."""
        return self._values[position]

    def codes(self, position: int) -> NDArray[np.uint16]:
        """Return the codes of the categorical column at a position; where values are missing they mean nothing."""
        return self._packed.codes(position)

    def is_constant(self, position: int) -> bool:
        """Return whether the column at a position has one value only, whatever levels are declared."""
        if position not in self._values:
            if self.levels(position) < 2:
                return True
            if position not in self._declared:
                return False
        seen = self._values[position] if position in self._values else self._packed.codes(position)
        if position in self.missing:
            seen = seen[~self.missing[position]]
        return len(seen) == 0 or bool((seen == seen[0]).all())

    def part(self, positions: Sequence[int], rows: NDArray[Any] | None = None) -> Table:
        """Return a table of some columns and rows (a mask or places; all by default), as they are encoded here.

        Kinds stay, and so do levels, whether they still occur or not. Remarks are not made again.
        """
        encoded = [self.encoded(k, rows) for k in positions]
        part = object.__new__(type(self))
        part._fill(Columns([self.names[k] for k in positions], len(encoded[0]), encoded), ())
        return part

    def redrawn(self, rows: NDArray[Any], packed: _core.PackedTable, constant: Collection[int]) -> Table:
        """Return a table of all columns and some rows, whose codes are packed already; `Resampler` makes such tables.

        Kinds and levels stay. `constant` are positions of columns whose codes are all the same.
        """
        table = copy(self)
        table.__dict__.pop("copies", None)
        table.rows, table._packed = len(rows), packed
        table._values = {k: values[rows] for k, values in self._values.items()}
        gaps = {k: mask[rows] for k, mask in self.missing.items()}
        table.missing = {k: mask for k, mask in gaps.items() if mask.any()}
        table._declared = {*self._declared, *constant, *gaps}  # whose levels need not occur
        table._told = table.notes = ()
        return table

    def with_columns(self, encoded: list[Encoded], notes: Sequence[str] = ()) -> Table:
        """Return a table of the same names with other columns, and something more to note."""
        table = object.__new__(type(self))
        table._fill(Columns(list(self.names), self.rows, encoded), (*self._told, *notes))
        table.notes += tuple(table._remarks())
        return table

    def encoded(self, position: int, rows: NDArray[Any] | None = None) -> Encoded:
        """Return the column at a position, or some of its rows (a mask or places), as it was before packing."""
        k = position
        take = slice(None) if rows is None else rows
        missing = self.missing[k][take] if k in self.missing else None
        if missing is not None and not missing.any():
            missing = None
        if k in self._values:
            return Encoded("continuous", self._reasons[k], values=self._values[k][take], missing=missing)
        codes: Codes = as_codes(self._packed.codes(k)[take], len(self._levels[k]))
        return Encoded(
            "categorical",
            self._reasons[k],
            self._levels[k],
            codes,
            missing=missing,
            declared=rows is not None or k in self._declared,
        )

    @cached_property
    def provenance(self) -> Provenance:
        """What tells this table from others: rows, columns, a fingerprint, and how it was made."""
        return Provenance(self.rows, len(self.names), self._made, table=self)

    @property
    def varying(self) -> list[int]:
        """The positions of columns that have more than one value."""
        return [k for k in range(len(self.names)) if not self.is_constant(k)]

    @cached_property
    def copies(self) -> Mapping[int, tuple[int, ...]]:
        """By position, all columns that divide the rows like it (or have the same numbers); constants have none."""
        groups: dict[Any, list[int]] = {}
        if self.missing:
            firsts: Any = {k: self.codes(k).tobytes() for k in range(len(self.names)) if k not in self._values}
            looked_at: Iterable[int] = range(len(self.names))
        else:
            firsts = self.packed.first_copies()
            looked_at = np.flatnonzero(np.bincount(firsts)[firsts] > 1).tolist()
        for k in looked_at:
            if k not in self.missing and not self.is_constant(k):
                key = ("numbers", self._values[k].tobytes()) if k in self._values else ("codes", firsts[k])
                groups.setdefault(key, []).append(k)
        alike = [tuple(group) for group in groups.values() if len(group) > 1]
        return {k: group for group in alike for k in group}

    @cached_property
    def later_copies(self) -> frozenset[int]:
        """Columns that are copies of columns before them."""
        return frozenset(k for k, group in self.copies.items() if k != group[0])

    def position(self, variable: object) -> int:
        """Return where a variable, given by name or position, stands."""
        if isinstance(variable, str) and variable in self._made.get("ignore", ()) and variable not in self._position:
            raise OptionError(f"the column {variable!r} was left out, as asked; take it out of what is ignored")
        try:
            return position_of(variable, self.names, self._position)
        except OptionError as error:
            raise OptionError(_with_remarks(str(error), self._told)) from None

    def check_categorical(self, needed_by: str, variables: Container[int]) -> None:
        """Refuse continuous columns among some positions, on behalf of what needs categorical ones."""
        stuck = [self.names[k] for k in self.continuous if k in variables]
        if stuck:
            are = "is" if len(stuck) == 1 else "are"
            why = self.variables[stuck[0]].reason
            raise DataError(
                f"{needed_by} needs categorical columns, but {abbreviate(stuck)} {are} continuous ({why}); divide it into "
                f"classes, leave it out, or, if its values are categories, pass kinds={{{stuck[0]!r}: 'categorical'}} "
                f"to Table (--ignore and --kind on the command line)"
            )

    def column(self, variable: str | int) -> NDArray[Any]:
        """Return the values of a column, as they were before encoding; None or NaN where they are missing."""
        k = self.position(variable)
        if self._kinds[k] == "continuous":
            return self._values[k]
        levels = np.empty(len(self._levels[k]), object)
        levels[:] = self._levels[k]
        if k in self.missing:
            values: NDArray[Any] = levels[self._packed.codes(k)]
            values[self.missing[k]] = None
            return values
        if all(type(v) is type(levels[0]) for v in levels) and isinstance(levels[0], bool | int | float | str):
            levels = np.array(self._levels[k])
        return levels[self._packed.codes(k)]

    def to_pandas(self) -> pd.DataFrame:
        """Return the table as a pandas frame; categorical columns become pandas categories."""
        import pandas as pd  # optional

        frame = {}
        for k, name in enumerate(self.names):
            if self._kinds[k] == "continuous":
                frame[name] = pd.Series(self._values[k])
            else:
                levels = list(self._levels[k])
                codes = self._packed.codes(k).astype(np.int64)
                if k in self.missing:
                    codes[self.missing[k]] = -1
                if None in levels:  # the level of missing values comes last
                    levels.remove(None)
                    codes[codes == len(levels)] = -1
                frame[name] = pd.Series(pd.Categorical.from_codes(codes, categories=pd.Index(levels)))
        return pd.DataFrame(frame)

    def __repr__(self) -> str:
        lines = [f"Table of {self.rows:,} rows and {len(self.names):,} columns"]
        most = 20
        shown = map(self._variable, range(min(most, len(self.names))))
        lines += [f"  {variable.name}: {variable.kind} ({variable.reason})" for variable in shown]
        if len(self.names) > most:
            lines.append(f"  … and {len(self.names) - most:,} more")
        return "\n".join([*lines, *(f"  note: {note}" for note in self.notes)])

    # --- inside --------------------------------------------------------------------------------------------------

    def __getstate__(self) -> dict[str, Any]:
        """Return what a pickle holds: everything but what can be derived, the codes as plain arrays."""
        state = {name: value for name, value in self.__dict__.items() if name not in ("_position", "copies")}
        return {**state, "_packed": stored(self._packed)}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        self.__dict__.update(state, _packed=packed_again(state["_packed"]))
        self._position = {name: k for k, name in enumerate(self.names)}

    def _gaps(self) -> dict[str, NDArray[np.bool_]]:
        return {self.names[k]: mask for k, mask in self.missing.items()}

    def _variable(self, k: int) -> Variable:
        return Variable(self.names[k], self._kinds[k], self._levels[k], self._reasons[k])

    def _remarks(self) -> list[str]:
        constant = [self.names[k] for k in range(len(self.names)) if self.is_constant(k)]
        crowded = [
            self.names[k]
            for k, levels in enumerate(self._levels)
            if len(levels) > max(FEW_ROWS_A_LEVEL, self.rows // FEW_ROWS_A_LEVEL)
        ]
        remarks = []
        if constant:
            remarks.append(f"constant, so never part of a blanket: {abbreviate(constant)}")
        if crowded:
            remarks.append(
                f"fewer than {FEW_ROWS_A_LEVEL} rows for each level, so hardly any test of it is reliable "
                f"(an identifier?): {abbreviate(crowded)}"
            )
        return remarks


class _Variables(Mapping[str, Variable]):
    """A view of a table's columns that costs nothing until one is looked at."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def __getitem__(self, name: str) -> Variable:
        if name not in self._table._position:
            raise KeyError(name)
        return self._table._variable(self._table._position[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self._table.names)

    def __len__(self) -> int:
        return len(self._table.names)

    def __repr__(self) -> str:
        return repr(self._table)


def position_of(variable: object, names: Sequence[str], positions: Mapping[str, int]) -> int:
    """Return where a variable, given by name or position, stands among names."""
    if isinstance(variable, str):
        if variable not in positions:
            raise OptionError(
                f"there is no column {variable!r}.{suggestion(variable, names)} The columns are {abbreviate(names)}."
            )
        return positions[variable]
    if isinstance(variable, Integral) and is_integer(variable):
        variable = int(variable)
        called = positions.get(str(variable), variable)
        if called != variable:
            raise OptionError(
                f"{variable} could be the column called {str(variable)!r} or the one at position {variable}; "
                f"give its name as text"
            )
        if not 0 <= variable < len(names):
            raise OptionError(f"there is no column at position {variable}; positions go from 0 to {len(names) - 1}")
        return variable
    what = "None" if variable is None else f"a {type(variable).__name__}"
    raise OptionError(f"a variable is given by its name or its position, not by {what}; give one of its names")


def refuse_encoding_again(settings: DataSettings) -> None:
    """Refuse settings about the encoding of data that are encoded already."""
    for name in settings.given():
        raise OptionError(
            f"the data are a Table already, so {name}={getattr(settings, name)!r:.60} comes too late; pass it to Table "
            f"when the data are read, or pass the data themselves"
        )


def _made(
    data: Any,
    kinds: str | Mapping[str, str] | None,
    missing: Missing,
    ignore: Collection[str],
    header: bool | Sequence[str] | None,
    na_values: Collection[str],
) -> dict[str, Any]:
    """Return how a table was made: the path, and what was not left at its default."""
    given = {
        "kinds": {str(name): str(kind) for name, kind in kinds.items()} if isinstance(kinds, Mapping) else kinds,
        "missing": None if missing == "error" else missing,
        "ignore": [str(name) for name in ignore],
        "header": header if header is None or isinstance(header, bool) else [str(name) for name in header],
        "na_values": [str(word) for word in na_values],
    }
    path = {"path": str(data)} if isinstance(data, str | PathLike) else {}
    return path | {name: value for name, value in given.items() if value is False or value}


def _check_shape(columns: Columns) -> None:
    if not columns.names:
        raise DataError("the table has no columns")
    if columns.rows < 2:
        raise DataError(
            f"the table has {'no rows' if columns.rows == 0 else 'one row'}; at least two are needed to tell anything"
        )
    if columns.rows > _core.MAX_ROWS:
        raise DataError(f"the table has {columns.rows:,} rows; at most {_core.MAX_ROWS:,} can be used")
    twice = [name for name, count in Counter(columns.names).items() if count > 1]
    if twice:
        raise DataError(f"the name {abbreviate(twice)} occurs more than once; give every column a name of its own")
    if "" in columns.names:
        raise DataError(f"the column at position {columns.names.index('')} has no name; give it one")


def _told_gaps(gaps: Mapping[str, NDArray[np.bool_]]) -> str:
    told = ", ".join(
        f"{name!r} ({int(mask.sum()):,}, first in row {int(np.argmax(mask))})" for name, mask in list(gaps.items())[:5]
    )
    return told + (f" and {len(gaps) - 5:,} more columns" if len(gaps) > 5 else "")


def _with_remarks(refusal: str, notes: Iterable[str]) -> str:
    """Add to a refusal what was noted about the first line: it may be the reason."""
    about = [note for note in notes if note.startswith("the first line")]
    return f"{refusal.removesuffix('.')}. Note that {about[0]}" if about else refusal


def _treat_missing(columns: Columns, rule: Missing, notes: list[str]) -> Columns:
    gaps = {columns.names[k]: mask for k, mask in columns.missing.items()}
    if not gaps:
        return columns
    told = _told_gaps(gaps)
    empty = [name for name, mask in gaps.items() if mask.all()]
    if empty:
        raise DataError(f"column {abbreviate(empty)} has no values at all; leave it out")
    keep = ~np.logical_or.reduce(list(gaps.values()))
    dropped = int((~keep).sum())
    if rule == "error":
        refusal = (
            f"values are missing in {told}; pass missing='drop' to leave out such rows ({dropped:,} of "
            f"{columns.rows:,}), missing='pairwise' to keep them and let every test use the rows that are complete for "
            f"its variables, or missing='level' to make 'missing' a level of its own (--missing on the command line)"
        )
        raise DataError(_with_remarks(refusal, notes))
    if rule == "level":
        stuck = [columns.names[k] for k in columns.missing if columns.kinds[k] == "continuous"]
        if stuck:
            raise DataError(
                f"missing='level' needs categorical columns, but values are missing in the continuous {abbreviate(stuck)}"
            )
        notes.append(f"missing values are a level of their own in {told}")
        return columns.with_columns([c.missing_as_level() for c in columns.encoded])
    if rule == "pairwise":
        notes.append(
            f"values are missing in {told}; every test uses the rows that are complete for its variables "
            f"({columns.rows - dropped:,} of {columns.rows:,} rows are complete for all)"
        )
        return columns.with_columns([c.blank() for c in columns.encoded])
    if keep.sum() < 2:
        raise DataError(
            f"leaving out rows with missing values leaves {int(keep.sum())} of {columns.rows:,}; missing: {told}; "
            f"pass missing='pairwise' to keep them"
        )
    notes.append(f"{dropped:,} of {columns.rows:,} rows left out for missing values in {told}")
    return columns.with_columns([c.take(keep) for c in columns.encoded])
