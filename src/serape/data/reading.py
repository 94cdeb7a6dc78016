"""Every way data come in."""

from __future__ import annotations

import importlib.util
import io
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any, Literal

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from serape import _core
from serape.data.csv_files import TextOptions, is_csv, looks_delimited, read_csv
from serape.data.encoding import (
    FEW_LEVELS,
    Encoded,
    Kind,
    Kinds,
    as_codes,
    encode_array,
    encode_floats,
    encode_integers,
    encode_labels,
    encode_objects,
)
from serape.errors import DataError, InputTypeError, OptionError, suggestion

_BLOCK = 2048  # columns of a wide array handled at once


@dataclass
class Columns:
    """Columns as read, one Encoded each, before missing values are dealt with and everything is packed."""

    names: list[str]
    rows: int
    encoded: list[Encoded]
    notes: tuple[str, ...] = field(default=(), kw_only=True)
    """What a user should know of how they were read."""

    @property
    def kinds(self) -> list[Kind]:
        """The kind of every column."""
        return [c.kind for c in self.encoded]

    @property
    def reasons(self) -> list[str]:
        """Why every column is of its kind."""
        return [c.reason for c in self.encoded]

    @property
    def missing(self) -> dict[int, NDArray[np.bool_]]:
        """By position, where values are missing; only columns that miss any."""
        return {k: c.missing for k, c in enumerate(self.encoded) if c.missing is not None}

    @property
    def values(self) -> dict[int, NDArray[np.float64]]:
        """By position, the values of continuous columns."""
        return {k: c.values for k, c in enumerate(self.encoded) if c.values is not None}

    def with_columns(self, encoded: list[Encoded]) -> Columns:
        """Return the same names with other columns."""
        return Columns(self.names, len(encoded[0]), encoded)

    def without(self, names: Collection[str]) -> Columns:
        """Return the columns but some."""
        for name in names:
            if name not in self.names:
                raise OptionError(f"there is no column {name!r} to leave out.{suggestion(name, self.names)}")
        kept = [k for k, name in enumerate(self.names) if name not in names]
        if not kept:
            raise OptionError("no column is left")
        encoded = self.encoded or self._unpacked()
        return Columns([self.names[k] for k in kept], self.rows, [encoded[k] for k in kept])

    def _unpacked(self) -> list[Encoded]:
        packed, levels = self.pack()
        return [
            Encoded("categorical", reason, levels[k], as_codes(packed.codes(k), len(levels[k])))
            for k, reason in enumerate(self.reasons)
        ]

    def with_one_more(self, name: str, column: Encoded) -> Columns:
        """Return the columns and another at the end."""
        encoded = self.encoded or self._unpacked()
        return Columns([*self.names, name], self.rows, [*encoded, column], notes=self.notes)

    def pack(self) -> tuple[_core.PackedTable, list[tuple[Any, ...]]]:
        """Pack the categorical columns; a continuous one takes its place as a column of one level."""
        packed = _core.PackedTable(self.rows)
        packed.reserve_planes(sum(len(c.levels) - 1 for c in self.encoded if 1 < len(c.levels) <= 8))
        nothing = np.zeros(self.rows, np.uint8)
        for column in self.encoded:
            if column.codes is None:
                packed.append(nothing, 1)
            else:
                packed.append(np.ascontiguousarray(column.codes), max(len(column.levels), 1))
        return packed, [c.levels for c in self.encoded]


@dataclass
class WideColumns(Columns):
    """Many narrow columns that come packed already."""

    packed: _core.PackedTable | None = None
    all_levels: list[tuple[Any, ...]] = field(default_factory=list)
    all_reasons: list[str] = field(default_factory=list)

    @property
    def kinds(self) -> list[Kind]:
        """The kind of every column."""
        return ["categorical"] * len(self.names)

    @property
    def reasons(self) -> list[str]:
        """Why every column is of its kind."""
        return self.all_reasons

    def with_one_more(self, name: str, column: Encoded) -> Columns:
        """Return the columns and another at the end, packed with them if it can be; then these are of no more use."""
        codes, levels = column.codes, column.levels
        if codes is None or column.missing is not None or not levels or len(np.unique(codes)) < len(levels):
            return super().with_one_more(name, column)
        packed, all_levels = self.pack()
        packed.append(np.ascontiguousarray(codes), len(levels))
        reasons = [*self.all_reasons, column.reason]
        return WideColumns([*self.names, name], self.rows, [], packed, [*all_levels, levels], reasons)

    def pack(self) -> tuple[_core.PackedTable, list[tuple[Any, ...]]]:
        """Return what is packed."""
        assert self.packed is not None
        return self.packed, self.all_levels


def read(data: Any, kinds: Kinds, text: TextOptions | None = None) -> Columns:
    """Read data of any supported kind; the options for text are refused where they do not apply."""
    if isinstance(data, str | PathLike):
        return _read_path(Path(data), kinds, text)
    if isinstance(data, io.TextIOBase):
        return _read_text(data, kinds, text)
    if text is not None:
        raise OptionError("header and na_values are about files of delimited text; these data are not one")
    if isinstance(data, Columns):
        return data
    if isinstance(data, np.ndarray):
        return _read_array(data, kinds)
    if _is_sparse(data):
        return _read_sparse(data, kinds)
    if isinstance(data, Mapping):
        return _read_mapping(data, kinds)
    if isinstance(data, list | tuple):
        return _read_records(data, kinds)
    return _read_frame(data, kinds)


# --- files ---------------------------------------------------------------------------------------------------------


def _read_path(path: Path, kinds: Kinds, text: TextOptions | None) -> Columns:
    if not path.exists():
        raise DataError(f"there is no file {path}")
    if path.is_dir():
        raise DataError(f"{path} is a folder; name a file")
    if path.suffix.lower() in {".parquet", ".pq"}:
        if text is not None:
            raise OptionError(f"header and na_values are about files of delimited text; {path} is not one")
        backend = _arrow_backend(f"reading {path}")
        try:
            frame = nw.read_parquet(str(path), backend=backend)
        except Exception as error:  # the backends' own errors have no common class
            raise DataError(f"{path} cannot be read as Parquet: {error}") from None
        return _read_narwhals(frame, kinds)
    if is_csv(path) or looks_delimited(path):
        names, encoded, notes = read_csv(path, kinds, text or TextOptions())
        return Columns(names, len(encoded[0]), encoded, notes=notes)
    raise DataError(
        f"{path} is of a kind that cannot be read; use delimited text (.csv, .tsv, .txt, .data, also .gz or .xz) or "
        f".parquet"
    )


def _read_text(file: Any, kinds: Kinds, text: TextOptions | None) -> Columns:
    """Read an open file of delimited text, such as standard input."""
    called = str(getattr(file, "name", "the text"))
    path = Path("standard input" if called == "<stdin>" else called)
    names, encoded, notes = read_csv(path, kinds, text or TextOptions(), file)
    return Columns(names, len(encoded[0]), encoded, notes=notes)


def _arrow_backend(what: str) -> Literal["pyarrow", "polars"]:
    if importlib.util.find_spec("pyarrow") is not None:
        return "pyarrow"
    if importlib.util.find_spec("polars") is not None:
        return "polars"
    raise InputTypeError(f"{what} needs pyarrow (or polars): pip install 'serape[arrow]'")


# --- arrays --------------------------------------------------------------------------------------------------------


def _bare_names(count: int) -> list[str]:
    return [f"x{k}" for k in range(count)]


def _read_array(array: NDArray[Any], kinds: Kinds, names: list[str] | None = None) -> Columns:
    masked = np.ma.getmaskarray(array) if isinstance(array, np.ma.MaskedArray) else None
    array = np.asarray(array)
    if array.ndim != 2:
        raise InputTypeError(f"an array must have two dimensions, rows and columns, but this one has {array.ndim}")
    rows, count = array.shape
    names = _bare_names(count) if names is None else names
    if masked is not None and masked.any():
        columns = [encode_array(n, array[:, k], masked[:, k], kinds.of(n)) for k, n in enumerate(names)]
        return Columns(names, rows, columns)
    if array.dtype.kind in "biu" and rows >= 2 and not kinds:
        wide = _read_narrow_integers(array, names)
        if wide is not None:
            return wide
    return Columns(names, rows, [encode_array(name, array[:, k], kind=kinds.of(name)) for k, name in enumerate(names)])


def _read_narrow_integers(array: NDArray[Any], names: list[str]) -> WideColumns | None:
    """Pack an array of small whole numbers block by block; None if some column is not a small categorical one."""
    rows, count = array.shape
    truth = array.dtype.kind == "b"
    numbers = array.view(np.uint8) if truth else array
    known: dict[tuple[Any, ...], tuple[Any, ...]] = {}
    all_levels: list[tuple[Any, ...]] = []
    packed = _core.PackedTable(rows)
    packed.reserve_planes(count)
    for begin in range(0, count, _BLOCK):
        block = numbers[:, begin : begin + _BLOCK]
        low, high = block.min(axis=0), block.max(axis=0)
        spread = high.astype(np.int64) - low.astype(np.int64)
        if spread.max() > 255 or spread.min() < 0:
            return None
        codes = np.ascontiguousarray(block - low if low.any() else block).astype(np.uint8, copy=False)
        seen: list[tuple[Any, ...]] = [(lo, hi) for lo, hi in zip(low.tolist(), high.tolist(), strict=True)]
        if spread.max() > 1 or spread.min() < 1:  # not all binary: look which values occur
            width = codes.shape[1]
            here = np.zeros((width, 256), bool)
            here[np.broadcast_to(np.arange(width), codes.shape), codes] = True
            if here.sum(axis=1).max() > FEW_LEVELS:
                return None
            rank = (np.cumsum(here, axis=1) - 1).astype(np.uint8)
            codes = rank[np.arange(width), codes]
            seen = [tuple(lo + v for v in np.flatnonzero(h).tolist()) for h, lo in zip(here, low.tolist(), strict=True)]
        if truth:
            seen = [tuple(bool(v) for v in levels) for levels in seen]
        all_levels += [known.setdefault(levels, levels) for levels in seen]
        packed.append_block(codes, np.array([len(levels) for levels in seen], np.uint32))
    told = {n: f"whole numbers, {n} distinct" for n in {len(levels) for levels in known}}
    reasons = ["truth values" if truth else told[len(levels)] for levels in all_levels]
    return WideColumns(names, rows, [], packed, all_levels, reasons)


def _is_sparse(data: Any) -> bool:
    return type(data).__module__.partition(".")[0] == "scipy" and hasattr(data, "tocsc")


def _read_sparse(matrix: Any, kinds: Kinds) -> Columns:
    """Read a SciPy sparse matrix; real numbers that are all whole count as whole numbers here."""
    columns = matrix.tocsc(copy=True)
    columns.sum_duplicates()
    columns.eliminate_zeros()
    rows, count = columns.shape
    names = _bare_names(count)
    data = columns.data
    if data.dtype.kind == "f":
        if (np.abs(data) <= 2**53).all() and (np.floor(data) == data).all():
            data = data.astype(np.int64)
        else:
            dense = ((name, columns[:, [k]].toarray()[:, 0]) for k, name in enumerate(names))
            return Columns(names, rows, [encode_floats(name, values, kind=kinds.of(name)) for name, values in dense])
    indptr, indices = columns.indptr, columns.indices.astype(np.int64)
    if rows >= 2 and not kinds and (data == 1).all():
        packed = _core.PackedTable(rows)
        packed.reserve_planes(count)
        nothing = np.zeros(rows, np.uint8)
        levels: list[tuple[Any, ...]] = []
        both, zero, one = (0, 1), (0,), (1,)
        for k in range(count):
            ones = indices[indptr[k] : indptr[k + 1]]
            if len(ones) == 0 or len(ones) == rows:
                packed.append(nothing, 1)
                levels.append(one if len(ones) else zero)
            else:
                packed.append_ones(ones)
                levels.append(both)
        reasons = [f"whole numbers, {len(v)} distinct" for v in levels]
        return WideColumns(names, rows, [], packed, levels, reasons)
    encoded = []
    for k, name in enumerate(names):
        values = np.zeros(rows, np.int64)
        values[indices[indptr[k] : indptr[k + 1]]] = data[indptr[k] : indptr[k + 1]]
        encoded.append(encode_integers(name, values, kind=kinds.of(name)))
    return Columns(names, rows, encoded)


# --- Python objects ------------------------------------------------------------------------------------------------


def _read_mapping(data: Mapping[Any, Any], kinds: Kinds) -> Columns:
    columns = {str(name): _as_column(str(name), values) for name, values in data.items()}
    lengths = {name: len(values) for name, values in columns.items()}
    if len(set(lengths.values())) > 1:
        (one, a), (other, b) = min(lengths.items(), key=lambda c: c[1]), max(lengths.items(), key=lambda c: c[1])
        raise DataError(f"column {one!r} has {a:,} values but column {other!r} has {b:,}; all must be of one length")
    if len(columns) != len(data):
        raise DataError("two columns have the same name once written as text; give every column a name of its own")
    encoded = [
        encode_array(name, values, kind=kinds.of(name))
        if isinstance(values, np.ndarray)
        else encode_objects(name, values, kinds.of(name))
        for name, values in columns.items()
    ]
    return Columns(list(columns), next(iter(lengths.values()), 0), encoded)


def _as_column(name: str, values: Any) -> Any:
    """Return the values of a column of a dict, if they are one."""
    if isinstance(values, np.ndarray):
        if values.ndim != 1:
            raise DataError(f"column {name!r} is an array of {values.ndim} dimensions; a column has one")
        return np.asarray(values) if not np.ma.is_masked(values) else values.tolist()
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise DataError(f"column {name!r} is {values!r:.60}; a column is a list or array of values")
    return list(values)


def _read_records(data: Sequence[Any], kinds: Kinds) -> Columns:
    if not data:
        raise DataError("the table has no rows")
    if not all(isinstance(row, Mapping) for row in data):
        odd = next(row for row in data if not isinstance(row, Mapping))
        raise InputTypeError(
            f"a list of rows must hold dicts (column name to value), but it holds a {type(odd).__name__}; "
            f"for numbers without names pass a NumPy array"
        )
    names = list(dict.fromkeys(name for row in data for name in row))
    return _read_mapping({name: [row.get(name) for row in data] for name in names}, kinds)


# --- frames --------------------------------------------------------------------------------------------------------


def _read_frame(data: Any, kinds: Kinds) -> Columns:
    if type(data).__module__.startswith("pandas") and hasattr(data, "columns"):
        data = data.set_axis([str(c) for c in data.columns], axis=1)
        twice = data.columns[data.columns.duplicated()].unique()
        if len(twice):
            raise DataError(f"the name {str(twice[0])!r} occurs more than once; give every column a name of its own")
    try:
        frame = nw.from_native(data, allow_series=True)
    except TypeError:
        frame = _read_stream(data)
    if isinstance(frame, nw.LazyFrame):
        frame = frame.collect(backend=_arrow_backend("collecting a lazy frame"))
    if not isinstance(frame, nw.DataFrame):
        raise InputTypeError(f"a {type(data).__name__} is one column; pass a frame of several")
    return _read_narwhals(frame, kinds)


def _read_stream(data: Any) -> nw.DataFrame[Any]:
    if not hasattr(data, "__arrow_c_stream__"):
        raise InputTypeError(
            f"data of type {type(data).__name__} cannot be read; pass a frame (pandas, polars, pyarrow, …), a "
            f"two-dimensional NumPy array, a sparse matrix, a list of dicts, a dict of columns or a path"
        )
    backend = _arrow_backend("reading an Arrow stream")
    try:
        return nw.from_arrow(data, backend=backend)
    except Exception as error:  # the backends' own errors have no common class
        raise DataError(f"the Arrow stream of a {type(data).__name__} cannot be read: {error}") from None


def _read_narwhals(frame: nw.DataFrame[Any], kinds: Kinds) -> Columns:
    names = list(frame.columns)
    types = set(frame.schema.values())
    if len(names) > 1000 and len(types) == 1 and (types <= {nw.Boolean} or all(t.is_integer() for t in types)):
        array = frame.to_numpy()  # wide and all alike: as one array
        if array.dtype.kind in "biu":
            return _read_array(array, kinds, names)
    return Columns(names, len(frame), [read_series(name, frame[name], kinds.of(name)) for name in names])


def read_series(name: str, series: nw.Series[Any], kind: Kind | None) -> Encoded:
    """Read one column of a frame."""
    dtype = series.dtype
    if isinstance(dtype, nw.Enum) or (isinstance(dtype, nw.Categorical) and not series.implementation.is_polars()):
        declared = series.cat.get_categories().to_list()
        return encode_labels(
            name, series.to_list(), declared=declared, kind=kind, reason=f"{len(declared)} declared categories"
        )
    if isinstance(dtype, nw.Categorical | nw.String | nw.Object | nw.Unknown):
        if isinstance(dtype, nw.Categorical | nw.String):
            return encode_labels(name, series.to_list(), kind=kind)
        return encode_objects(name, series.to_list(), kind)
    if isinstance(dtype, nw.Boolean) or dtype.is_numeric():
        gone = series.is_null().to_numpy().astype(bool)
        if isinstance(dtype, nw.Decimal):
            series = series.cast(nw.Float64)
        if not gone.any():
            return encode_array(name, np.asarray(series.to_numpy()), kind=kind)
        present = np.asarray(series.drop_nulls().to_numpy())
        values = np.zeros(len(gone), present.dtype)
        values[~gone] = present
        return encode_array(name, values, gone, kind)
    raise DataError(
        f"column {name!r} is of type {dtype}, which is neither numbers, truth values nor text; "
        f"turn it into one of these first"
    )
