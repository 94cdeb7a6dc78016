"""Frames of any library that narwhals reads, and Arrow streams."""

from __future__ import annotations

import importlib.util
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from serape.data.columns import Columns, ignored_column
from serape.data.dates import MICROSECONDS
from serape.data.encoding import Encoded, encode_days
from serape.data.kinds import AS_CODES, Kind, Kinds
from serape.data.labels import encode_array, encode_distinct, encode_labels, encode_objects
from serape.data.reading.arrays import read_array
from serape.data.reading.options import ReadOptions
from serape.errors import DataError, InputTypeError, MissingLibraryError, abbreviate, one_line
from serape.wording import setting

if TYPE_CHECKING:
    import narwhals.stable.v2 as nw
    import pandas as pd


def arrow_backend(what: str) -> Literal["pyarrow", "polars"]:
    """Return the package that reads Arrow data; an error that says what needs it if there is none."""
    if importlib.util.find_spec("pyarrow") is not None:
        return "pyarrow"
    if importlib.util.find_spec("polars") is not None:
        return "polars"
    raise MissingLibraryError(f"{what} needs pyarrow (or polars): pip install 'serape[arrow]'")


def read_frame(data: Any, kinds: Kinds, ignore: frozenset[str] = frozenset()) -> Columns:
    """Read a frame, or anything that exports an Arrow stream; the values of columns to ignore are not read."""
    import narwhals.stable.v2 as nw
    from narwhals.exceptions import DuplicateError

    if type(data).__module__.startswith("pandas") and hasattr(data, "columns"):
        data = data.set_axis([str(c) for c in data.columns], axis=1)
        repeated = data.columns[data.columns.duplicated()].unique()
        if len(repeated):
            raise DataError(f"the name {str(repeated[0])!r} occurs more than once; give every column a name of its own")
    try:
        frame = nw.from_native(data, allow_series=True)
    except TypeError:
        frame = _read_stream(data)
    except DuplicateError as error:
        raise DataError(f"a name occurs more than once ({one_line(error)}); rename such columns") from None
    if isinstance(frame, nw.LazyFrame):
        frame = frame.collect(backend=arrow_backend("collecting a lazy frame"))
    if not isinstance(frame, nw.DataFrame):
        raise InputTypeError(f"a {type(data).__name__} is one column; pass a frame of several")
    return read_narwhals(frame, kinds, ReadOptions(ignore=ignore, index=False))


def _read_stream(data: Any) -> nw.DataFrame[Any]:
    import narwhals.stable.v2 as nw

    if not hasattr(data, "__arrow_c_stream__"):
        raise InputTypeError(
            f"data of type {type(data).__name__} cannot be read; pass a frame (pandas, polars, pyarrow, …), a "
            f"two-dimensional NumPy array, a sparse matrix, a list of dicts, a dict of columns or a path"
        )
    backend = arrow_backend("reading an Arrow stream")
    try:
        return nw.from_arrow(data, backend=backend)
    except Exception as error:  # the backends' own errors have no common class
        raise DataError(f"the Arrow stream of a {type(data).__name__} cannot be read: {error}") from None


def read_narwhals(frame: nw.DataFrame[Any], kinds: Kinds, options: ReadOptions) -> Columns:
    """Read a frame of narwhals."""

    index, notes = skipped_index(
        frame.columns, options, frozenset(n for n in frame.columns if n.startswith("__index_level_"))
    )
    frame = frame.drop(sorted(index))
    names = list(frame.columns)
    if _is_read_at_once(frame, options):
        array = frame.to_numpy()
        if array.dtype.kind in "biu":  # missing values make another type of it
            return replace(read_array(array, kinds, names), notes=tuple(notes))
    pandas = frame.to_native() if frame.implementation.is_pandas() else None
    arrow = frame.to_native() if frame.implementation.is_pyarrow() else None

    def encode(name: str) -> Encoded:
        if name in options.ignore:
            return ignored_column(len(frame))
        if arrow is not None:
            from serape.data.reading.arrow_columns import Chunks, encode_column

            return encode_column(name, Chunks.of(arrow[name]), kinds.of(name))
        if pandas is not None and (array := _array_of(pandas[name])) is not None:
            return encode_array(name, array, kind=kinds.of(name))
        return read_series(name, frame[name], kinds.of(name))

    encoded = options.keeping.store(map(encode, names))
    return Columns(names, len(frame), encoded, notes=tuple(notes), store=options.keeping.store)


def _is_read_at_once(frame: nw.DataFrame[Any], options: ReadOptions) -> bool:
    """Return whether a wide frame of whole numbers, or of truth values, is read as one array."""
    import narwhals.stable.v2 as nw

    types = set(frame.schema.values())
    one_type = len(types) == 1 and (types <= {nw.Boolean} or all(t.is_integer() for t in types))
    return options.keeping.max_bytes is None and len(frame.columns) > 1000 and one_type


def _array_of(series: pd.Series[Any]) -> NDArray[Any] | None:
    """Return the array of a column of pandas that is one of numbers or truth values; missing values are NaN."""
    dtype = series.dtype
    return series.to_numpy() if isinstance(dtype, np.dtype) and dtype.kind in "biuf" else None


def skipped_index(names: list[str], options: ReadOptions, found: frozenset[str]) -> tuple[frozenset[str], list[str]]:
    """Return the columns of a file that are an index and no variables, and a note about those that were found."""
    if options.index is not None:
        return (frozenset(names[:1]) if options.index else frozenset()), []
    note = (
        f"left out, because it is the index of a pandas frame: {abbreviate(sorted(found))}; pass "
        f"{setting('index', False)} to use it"
    )
    return found, [note] if found else []


def read_series(name: str, series: nw.Series[Any], kind: Kind | None) -> Encoded:
    """Read one column of a frame."""
    import narwhals.stable.v2 as nw

    dtype = series.dtype
    if isinstance(dtype, nw.Enum) or (isinstance(dtype, nw.Categorical) and not series.implementation.is_polars()):
        declared = series.cat.get_categories().to_list()
        if series.implementation.is_pandas() and len(set(declared)) == len(declared):
            codes = np.asarray(series.to_native().array.codes)
            return _encode_codes(name, declared, codes, ordered=_is_ordered(series), kind=kind)
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
    if isinstance(dtype, nw.Duration | nw.Time):
        return encode_objects(name, series.to_list(), kind)
    raise DataError(
        f"column {name!r} is of type {dtype}, which is neither numbers, truth values, dates nor text; "
        f"convert it to one of these, or ignore it"
    )


def _encode_codes(
    name: str, declared: list[Any], codes: NDArray[np.integer[Any]], *, ordered: bool, kind: Kind | None
) -> Encoded:
    """Encode a column given as declared categories and, for every row, the index of its category; −1 is missing."""
    labels = declared
    if len(codes) and codes.min() < 0:
        labels = [*declared, None]
        codes = np.where(codes < 0, len(declared), codes.astype(np.int64))
    return encode_distinct(name, labels, codes, declared=len(declared), ordered=ordered, kind=kind)


def _is_ordered(series: nw.Series[Any]) -> bool:
    """Return whether a column of categories declares their order; an Enum is an ordered category."""
    import narwhals.stable.v2 as nw

    return isinstance(series.dtype, nw.Enum) or bool(
        getattr(getattr(series.to_native(), "type", None), "ordered", False)
    )
