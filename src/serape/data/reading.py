"""Reading data: files, arrays, sparse matrices, Python objects and frames."""

from __future__ import annotations

import importlib.util
import io
from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, Literal

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from serape import _core
from serape.data.columns import Columns, WideColumns
from serape.data.csv_files import TextOptions, is_csv, looks_delimited, read_csv
from serape.data.dates import MICROSECONDS
from serape.data.encoding import (
    Encoded,
    encode_array,
    encode_days,
    encode_floats,
    encode_integers,
    encode_labels,
    encode_objects,
)
from serape.data.kinds import AS_CODES, FEW_LEVELS, Kind, Kinds
from serape.errors import DataError, InputTypeError, OptionError

_BLOCK = 2048  # columns of a wide array encoded together


def read(data: Any, kinds: Kinds, text: TextOptions | None = None) -> Columns:
    """Read data of any supported type; options for text files are refused for anything else."""
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


def _default_names(count: int) -> list[str]:
    return [f"x{k}" for k in range(count)]


def _read_array(array: NDArray[Any], kinds: Kinds, names: list[str] | None = None) -> Columns:
    masked = np.ma.getmaskarray(array) if isinstance(array, np.ma.MaskedArray) else None
    array = np.asarray(array)
    if array.ndim != 2:
        raise InputTypeError(f"an array must have two dimensions, rows and columns, but this one has {array.ndim}")
    rows, count = array.shape
    names = _default_names(count) if names is None else names
    if masked is not None and masked.any():
        columns = [encode_array(n, array[:, k], masked[:, k], kinds.of(n)) for k, n in enumerate(names)]
        return Columns(names, rows, columns)
    if array.dtype.kind in "biu" and rows >= 2 and not kinds:
        wide = _read_narrow_integers(array, names)
        if wide is not None:
            return wide
    return Columns(names, rows, [encode_array(name, array[:, k], kind=kinds.of(name)) for k, name in enumerate(names)])


def _read_narrow_integers(array: NDArray[Any], names: list[str]) -> WideColumns | None:
    """Pack an array of whole numbers block by block; None if some column is continuous or its range exceeds 255."""
    rows, count = array.shape
    boolean = array.dtype.kind == "b"
    numbers = array.view(np.uint8) if boolean else array
    shared: dict[tuple[Any, ...], tuple[Any, ...]] = {}  # equal levels are one object
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
        block_levels: list[tuple[Any, ...]] = [(lo, hi) for lo, hi in zip(low.tolist(), high.tolist(), strict=True)]
        if spread.max() > 1 or spread.min() < 1:  # not all binary: find which values occur
            width = codes.shape[1]
            occurs = np.zeros((width, 256), bool)
            occurs[np.broadcast_to(np.arange(width), codes.shape), codes] = True
            if occurs.sum(axis=1).max() > FEW_LEVELS:
                return None
            rank = (np.cumsum(occurs, axis=1) - 1).astype(np.uint8)
            codes = rank[np.arange(width), codes]
            block_levels = [
                tuple(lo + v for v in np.flatnonzero(row).tolist())
                for row, lo in zip(occurs, low.tolist(), strict=True)
            ]
        if boolean:
            block_levels = [tuple(bool(v) for v in levels) for levels in block_levels]
        all_levels += [shared.setdefault(levels, levels) for levels in block_levels]
        packed.append_block(codes, np.array([len(levels) for levels in block_levels], np.uint32))
    reason_of = {n: f"whole numbers, {n} distinct" for n in {len(levels) for levels in shared}}
    reasons = ["truth values" if boolean else reason_of[len(levels)] for levels in all_levels]
    kinds: list[Kind] = ["boolean" if boolean else "categorical"] * count
    return WideColumns(names, rows, [], packed, all_levels, reasons, kinds)


def _is_sparse(data: Any) -> bool:
    return type(data).__module__.partition(".")[0] == "scipy" and hasattr(data, "tocsc")


def _read_sparse(matrix: Any, kinds: Kinds) -> Columns:
    """Read a SciPy sparse matrix; if all its real numbers are whole, they are read as whole numbers."""
    columns = matrix.tocsc(copy=True)
    columns.sum_duplicates()
    columns.eliminate_zeros()
    rows, count = columns.shape
    names = _default_names(count)
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
        zeros = np.zeros(rows, np.uint8)
        levels: list[tuple[Any, ...]] = []
        both, zero, one = (0, 1), (0,), (1,)
        for k in range(count):
            ones = indices[indptr[k] : indptr[k + 1]]
            if len(ones) == 0 or len(ones) == rows:
                packed.append(zeros, 1)
                levels.append(one if len(ones) else zero)
            else:
                packed.append_ones(ones)
                levels.append(both)
        reasons = [f"whole numbers, {len(v)} distinct" for v in levels]
        return WideColumns(names, rows, [], packed, levels, reasons, ["categorical"] * count)
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
    """Return a value of a dict of columns as a column; refuse what is not a list or array of values."""
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
        repeated = data.columns[data.columns.duplicated()].unique()
        if len(repeated):
            raise DataError(f"the name {str(repeated[0])!r} occurs more than once; give every column a name of its own")
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
        array = frame.to_numpy()  # a wide frame of one type is read as one array
        if array.dtype.kind in "biu":
            return _read_array(array, kinds, names)
    return Columns(names, len(frame), [read_series(name, frame[name], kinds.of(name)) for name in names])


def read_series(name: str, series: nw.Series[Any], kind: Kind | None) -> Encoded:
    """Read one column of a frame."""
    dtype = series.dtype
    if isinstance(dtype, nw.Enum) or (isinstance(dtype, nw.Categorical) and not series.implementation.is_polars()):
        declared = series.cat.get_categories().to_list()
        return encode_labels(name, series.to_list(), declared=declared, ordered=_is_ordered(series), kind=kind)
    if isinstance(dtype, nw.Categorical | nw.String | nw.Object | nw.Unknown):
        if isinstance(dtype, nw.Categorical | nw.String):
            return encode_labels(name, series.to_list(), kind=kind)
        return encode_objects(name, series.to_list(), kind)
    if isinstance(dtype, nw.Boolean) or dtype.is_numeric():
        missing = series.is_null().to_numpy().astype(bool)
        if isinstance(dtype, nw.Decimal):
            series = series.cast(nw.Float64)
        if not missing.any():
            return encode_array(name, np.asarray(series.to_numpy()), kind=kind)
        present = np.asarray(series.drop_nulls().to_numpy())
        values = np.zeros(len(missing), present.dtype)
        values[~missing] = present
        return encode_array(name, values, missing, kind)
    if isinstance(dtype, nw.Date | nw.Datetime):
        if kind in AS_CODES:
            return encode_labels(name, series.to_list(), kind=kind)
        missing = series.is_null().to_numpy().astype(bool)
        days = np.full(len(missing), np.nan)
        days[~missing] = series.drop_nulls().dt.timestamp("us").to_numpy() / MICROSECONDS
        return encode_days(name, days, missing, kind)
    raise DataError(
        f"column {name!r} is of type {dtype}, which is neither numbers, truth values, dates nor text; "
        f"convert it to one of these"
    )


def _is_ordered(series: nw.Series[Any]) -> bool:
    """Return whether a column of categories declares their order; an Enum is an ordered category."""
    return isinstance(series.dtype, nw.Enum) or bool(
        getattr(getattr(series.to_native(), "type", None), "ordered", False)
    )
