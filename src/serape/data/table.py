"""The Table: data from any source, encoded once and packed for the core."""

from __future__ import annotations

from collections.abc import Collection, Container, Mapping, Sequence, Set
from copy import copy
from dataclasses import fields
from functools import cached_property
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
from numpy.typing import NDArray

from serape import _core
from serape._keywords import DataKeywords
from serape.data.all_columns import varying
from serape.data.columns import Columns
from serape.data.duplicates import Duplicates, find_duplicates
from serape.data.encoding import Codes, Encoded, as_codes
from serape.data.frames import to_pandas, values_before_encoding
from serape.data.kinds import Kind, Kinds
from serape.data.memory import Memory
from serape.data.missing import refusal_of_gaps
from serape.data.notes import column_notes, not_categorical
from serape.data.packed_files.layout import packed_path
from serape.data.pickling import restore, state_of
from serape.data.preparing import prepared
from serape.data.provenance import Provenance, how_made
from serape.data.reading import ReadOptions, read
from serape.data.reading.header import with_first_line_note
from serape.data.variables import Variable, VariableView, position_of, refuse_removed
from serape.data.weights import Weights, check_same_rows
from serape.errors import DataError, OptionError, embedded, n_shown
from serape.markup import plain
from serape.settings import DataSettings, refuse_encoding_again, signature_with
from serape.types import MissingRules
from serape.wording import Notes, setting

if TYPE_CHECKING:
    import pandas as pd

    from serape.data.packed_files.opened import PackedFile

_MAX_SHOWN = 20


class Table:
    """Data, encoded once and packed for counting; pass it to as many calls as you like.

    Text, declared categories, truth values and whole numbers with at most 20 distinct values are used as categories;
    all other numbers, and dates, as numbers (docs/data.md). Identifiers, such as row numbers, take part in no search.
    All parameters but `data` are settings that say how to read the data (docs/settings.md).

    Parameters
    ----------
    data
        A pandas, polars or pyarrow frame (or any other that narwhals reads), anything that exports an Arrow stream, a
        two-dimensional NumPy array, a SciPy sparse matrix, a list of dicts, a dict of columns, an open file, the
        path of a file (docs/files.md), or a list of paths, whose rows are joined. Columns without names are called x0,
        x1, …. A `Table` is returned unchanged.

    Raises
    ------
    DataError
        If there are no columns or fewer than two rows, if a name occurs twice, if a column has more than 65,536
        levels, or if values are missing and `missing` is "error".

    Examples
    --------
    >>> table = serape.Table({"age": [34.5, 51.2, 47.9], "sex": ["f", "m", "f"]}, kinds={"age": "continuous"})
    >>> table.rows, table.kinds
    (3, {'age': 'continuous', 'sex': 'categorical'})
    """

    rows: int
    """The number of rows."""
    notes = Notes()
    """Remarks about the columns, and how they were read."""
    weights: Weights | None = None
    """The weights of the rows; None if all count once, also where rows were repeated by their frequencies."""
    groups: NDArray[np.int64] | None = None
    """By row, the number of its group."""
    empty: tuple[str, ...] = ()  # columns without any value, which `describe` leaves out
    _reading_notes = Notes()
    _leave_out_empty = False
    remote: Any = None  # makes tests and scores where the columns are elsewhere
    _file: PackedFile | None = None  # the mapped file that holds the columns, if there is one

    def __new__(cls, data: Any = None, *_args: Any, **_settings: Any) -> Table:
        """Return data unchanged if they are a table."""
        return data if isinstance(data, Table) else super().__new__(cls)

    @classmethod
    def of(cls, data: Any, settings: DataSettings | None = None) -> Table:
        """Return data as a table, encoded by the settings; a table is returned unchanged."""
        if isinstance(data, Table):
            refuse_encoding_again(settings)
            return data
        if settings is None:
            return cls(data)
        return cls(data, **{f.name: getattr(settings, f.name) for f in fields(settings)})

    def __init__(
        self,
        data: Any,
        kinds: str | Mapping[str, str] | None = None,
        missing: MissingRules = "error",
        ignore: Collection[str] = (),
        **more: Unpack[DataKeywords],
    ) -> None:
        settings = DataSettings(kinds=kinds, missing=missing, ignore=ignore, **more)
        if isinstance(data, Table):
            refuse_encoding_again(settings)
            return  # `data` is this table
        path = packed_path(data)
        if path is not None:
            from serape.data.packed_files.opened import PackedFile

            if (file := PackedFile.open(path)).fits(settings):
                self._map(file, {"path": str(data)})
                return
        check_same_rows(data, sample_weight=settings.sample_weight, groups=settings.groups)
        columns = read(data, Kinds(kinds), ReadOptions.of(settings))
        ready = prepared(columns, settings, leave_out_empty=self._leave_out_empty)
        self.empty = ready.empty
        self._fill(ready.columns, ready.notes, how_made(data, settings))
        self.notes += tuple(column_notes(self))

    __init__.__signature__ = signature_with(__init__, DataSettings.__dataclass_fields__)  # type: ignore[attr-defined]

    def _fill(self, columns: Columns, notes: Sequence[str], made: Mapping[str, Any] | None = None) -> None:
        self.names = tuple(columns.names)
        self.rows = columns.rows
        self.weights, self.groups = columns.weights, columns.groups
        self.missing: Mapping[int, NDArray[np.bool_]] = dict(columns.missing)
        """By position, a mask of the missing values: empty unless the table was made with missing="pairwise"."""
        self._packed: _core.PackedTable
        self._levels: Sequence[tuple[Any, ...]]
        self._packed, self._levels = columns.pack()
        self._kinds: Sequence[Kind] = columns.kinds
        self._reasons: Sequence[str] = columns.reasons
        self._values: Mapping[int, NDArray[np.float64]] = dict(columns.values)
        self._declared: Set[int] = {k for k, c in enumerate(columns.encoded) if c.declared}
        self._constant: dict[int, bool] = {}  # columns that were looked at
        self._reading_notes = tuple(notes)
        self.notes = self._reading_notes
        self._made = made or {}

    @staticmethod
    def of_columns(columns: Columns, notes: Sequence[str] = ()) -> Table:
        """Return a table of columns that are encoded."""
        table = object.__new__(Table)
        table._fill(columns, notes)
        return table

    @classmethod
    def of_file(cls, file: PackedFile) -> Table:
        """Return the table of a packed file."""
        table = object.__new__(cls)
        table._map(file, {"path": file.name})
        return table

    def _map(self, file: PackedFile, made: Mapping[str, Any]) -> None:
        """Use the columns of a packed file in place; what is known about them is read when it is needed."""
        self._file, self.rows, self._packed = file, file.rows, file.packed
        self.weights, self.groups = file.weights, file.groups
        self.missing, self._values, self._declared = file.missing, file.numbers, file.declared
        self._kinds, self._reasons, self._levels = map(file.described, ("kind", "reason", "levels"))
        self._constant, self._made = {}, made
        self._reading_notes, self.notes = file.reading_notes, file.notes

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of all columns."""
        return () if self._file is None else self._file.names

    @cached_property
    def _position(self) -> Mapping[str, int]:
        return dict(zip(self.names, range(len(self.names)), strict=True)) if self._file is None else self._file.position

    @property
    def variables(self) -> Mapping[str, Variable]:
        """All columns by name, in the table's order."""
        return VariableView(self)

    @cached_property
    def memory(self) -> Memory:
        """What is kept with the table, so that it is made once for all questions about it."""
        return Memory()

    @property
    def packed(self) -> _core.PackedTable:
        """The packed columns; an error if values are missing, or if rows have weights, which they do not hold."""
        if self.weights is not None:
            raise DataError(f"{self.weights.kind} weights cannot be used here; leave out {setting('sample_weight')}")
        return self.codes_alone

    @property
    def codes_alone(self) -> _core.PackedTable:
        """The packed columns, for those who take account of weights; an error if values are missing."""
        self.check_complete()
        return self._packed

    def check_complete(self) -> None:
        """Refuse missing values, because their codes have no meaning."""
        if self.missing:
            raise refusal_of_gaps({self.names[k]: mask for k, mask in self.missing.items()})

    @property
    def nbytes(self) -> int:
        """Bytes taken by the packed columns."""
        return self._packed.nbytes + sum(v.nbytes for v in self._values.values())

    @property
    def whole(self) -> Table:
        """The table with all its columns in this process."""
        return self

    def __len__(self) -> int:
        return self.rows

    @property
    def continuous(self) -> tuple[int, ...]:
        """The positions of columns of numbers: continuous ones, counts, proportions, dates, and some identifiers."""
        return tuple(self._values)

    @cached_property
    def identifiers(self) -> frozenset[int]:
        """The positions of identifiers, which take part in no search."""
        if self._file is not None:
            return frozenset(self._file.described("kind").where("identifier").tolist())
        if "identifier" not in self._kinds:
            return frozenset()
        return frozenset(k for k, kind in enumerate(self._kinds) if kind == "identifier")

    @property
    def searched(self) -> Sequence[int]:
        """The positions of all columns but identifiers."""
        every = range(len(self.names))
        return [k for k in every if k not in self.identifiers] if self.identifiers else every

    @property
    def kinds(self) -> Mapping[str, Kind]:
        """The kinds of all columns by name, in the table's order."""
        return dict(zip(self.names, self._kinds, strict=True))

    def levels(self, position: int) -> int:
        """Return how many levels the column at a position has; 0 if it holds numbers."""
        return 0 if position in self._values else len(self._levels[position])

    def column_levels(self, position: int) -> tuple[Any, ...]:
        """Return the levels of the column at a position, in the order of their codes; none for numbers as such."""
        return self._levels[position]

    def numbers(self, position: int) -> NDArray[np.float64]:
        """Return the values of the column of numbers at a position; NaN where they are missing."""
        return self._values[position]

    def codes(self, position: int) -> NDArray[np.uint16]:
        """Return the codes of the column of categories at a position; they have no meaning where values are missing."""
        return self._packed.codes(position)

    def is_constant(self, position: int) -> bool:
        """Return whether the column at a position has only one value, whatever levels are declared."""
        if position not in self._values and (self.levels(position) < 2 or position not in self._declared):
            return self.levels(position) < 2
        if position not in self._constant:
            values = self._values[position] if position in self._values else self._packed.codes(position)
            if position in self.missing:
                values = values[~self.missing[position]]
            self._constant[position] = len(values) == 0 or bool((values == values[0]).all())
        return self._constant[position]

    def part(self, positions: Sequence[int], rows: NDArray[Any] | None = None) -> Table:
        """Return a table of some columns and rows (a mask or indices; all by default), encoded as here.

        Kinds and levels stay the same, also levels that do not occur any more. The notes are not copied.
        """
        encoded = [self.encoded(k, rows) for k in positions]
        of_rows = self._of_rows(slice(None) if rows is None else rows)
        return Table.of_columns(Columns([self.names[k] for k in positions], len(encoded[0]), encoded, **of_rows))

    def _of_rows(self, rows: Any) -> dict[str, Any]:
        """Return the weights and groups of some rows."""
        groups = None if self.groups is None else self.groups[rows]
        return {"weights": self.weights and self.weights.at(rows), "groups": groups}

    def redrawn(self, rows: NDArray[Any], packed: _core.PackedTable, constant: Collection[int]) -> Table:
        """Return some rows, with codes that `Resampler` has packed; the codes of `constant` columns are all equal."""
        table = copy(self)
        for derived in ("duplicates", "memory"):
            table.__dict__.pop(derived, None)
        table.names, table._position, table._file = self.names, self._position, None
        table.rows, table._packed = len(rows), packed
        table.__dict__.update(self._of_rows(rows))
        table._values = {k: values[rows] for k, values in self._values.items()}
        gaps = {k: mask[rows] for k, mask in self.missing.items()}
        table.missing = {k: mask for k, mask in gaps.items() if mask.any()}
        table._constant = {}
        table._declared = {*self._declared, *constant, *gaps}  # columns with levels that may not occur
        table._reading_notes = table.notes = ()
        return table

    def with_columns(self, encoded: list[Encoded], notes: Sequence[str] = ()) -> Table:
        """Return a table of the same names with other columns and additional notes."""
        columns = Columns(list(self.names), self.rows, encoded, weights=self.weights, groups=self.groups)
        table = Table.of_columns(columns, (*self._reading_notes, *notes))
        table.notes += tuple(column_notes(table))
        return table

    def encoded(self, position: int, rows: NDArray[Any] | None = None) -> Encoded:
        """Return the column at a position, or some of its rows (a mask or indices), as it was before packing."""
        k = position
        take = slice(None) if rows is None else rows
        missing = self.missing[k][take] if k in self.missing else None
        if missing is not None and not missing.any():
            missing = None
        if k in self._values:
            return Encoded(self._kinds[k], self._reasons[k], self._levels[k], None, self._values[k][take], missing)
        codes: Codes = as_codes(self._packed.codes(k)[take], len(self._levels[k]))
        return Encoded(
            self._kinds[k],
            self._reasons[k],
            self._levels[k],
            codes,
            missing=missing,
            declared=rows is not None or k in self._declared,
        )

    @cached_property
    def provenance(self) -> Provenance:
        """What identifies this table: rows, columns, a fingerprint, and how it was made."""
        known = None if self._file is None else self._file.fingerprint
        return Provenance(self.rows, self._packed.columns, self._made, known, table=self)

    @property
    def varying(self) -> list[int]:
        """The positions of columns that can be a target: they have more than one value and are no identifiers."""
        return varying(self)

    @cached_property
    def duplicates(self) -> Duplicates:
        """By position, the group of columns, itself included, that have the same rows in each level, or equal numbers.

        Columns without duplicates, constant columns and columns with missing values are not in it.
        """
        return find_duplicates(self)

    @cached_property
    def later_duplicates(self) -> frozenset[int]:
        """The positions of columns that are duplicates of columns before them."""
        return self.duplicates.later()

    def position(self, variable: object) -> int:
        """Return the position of a variable, given by name or position."""
        if isinstance(variable, str):
            if variable in self._position:
                return self._position[variable]
            refuse_removed(variable, self._made)
        try:
            return position_of(variable, self.names, self._position, self.identifiers)
        except OptionError as error:
            raise OptionError(with_first_line_note(embedded(error), self._reading_notes)) from None

    def check_categorical(self, needed_by: str, variables: Container[int]) -> None:
        """Raise an error that names `needed_by` if some of the variables are continuous."""
        continuous = [self.names[k] for k in self.continuous if k in variables]
        if continuous:
            raise DataError(not_categorical(self, needed_by, continuous))

    def column(self, variable: str | int) -> NDArray[Any]:
        """Return the values of a column as before encoding, dates in days; None or NaN where they are missing."""
        return values_before_encoding(self, self.position(variable))

    def to_pandas(self) -> pd.DataFrame:
        """Return the table as a pandas frame; columns of categories become pandas categories."""
        return to_pandas(self)

    def __repr__(self) -> str:
        lines = [f"Table of {self.rows:,} rows and {len(self.names):,} columns"]
        n = n_shown(len(self.names), _MAX_SHOWN)
        shown = map(self._variable, range(n))
        lines += [f"  {variable.name}: {variable.kind} ({variable.reason})" for variable in shown]
        if n < len(self.names):
            lines.append(f"  … and {len(self.names) - n:,} more")
        return plain("\n".join([*lines, *(f"  note: {note}" for note in self.notes)]))

    def __getstate__(self) -> dict[str, Any]:
        """Return the content of a pickle: all attributes that cannot be derived, or where the packed file is."""
        if self._file is not None:
            return {"file": (self._file.path, self._file.fingerprint, self._made)}
        return state_of(self)

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        if "file" in state:
            from serape.data.packed_files.opened import PackedFile

            path, fingerprint, made = state["file"]
            self._map(PackedFile.open(path).same_as(fingerprint), made)
        else:
            restore(self, state)

    def _variable(self, k: int) -> Variable:
        return Variable(self.names[k], self._kinds[k], self._levels[k], self._reasons[k])
