"""Parquet and Arrow files."""

from __future__ import annotations

import importlib.util
import io
from typing import Any

from serape.data.columns import Columns, check_names, ignored_column
from serape.data.encoding import Encoded
from serape.data.kinds import Kinds
from serape.data.reading.frames import arrow_backend, read_narwhals, skipped_index
from serape.data.reading.options import ReadOptions
from serape.data.reading.sources import Source
from serape.errors import DataError, one_line
from serape.files import parsed_json

_ROWS = 1 << 18  # read at a time, so that memory is used again
_MANY = 1000
"""Files of more columns are read at once, as an array if they hold whole numbers."""


def read_parquet(source: Source, kinds: Kinds, options: ReadOptions) -> Columns:
    """Read a Parquet file, a column at a time."""
    import narwhals.stable.v2 as nw

    options.refuse(f"{source.name} is", "index")
    options.refuse_table(f"{source.name} is")
    backend = arrow_backend(f"reading {source.name}")
    try:
        if backend == "pyarrow":
            columns = _read_by_column(source, kinds, options)
            if columns is not None:
                return columns
        frame = nw.read_parquet(io.BytesIO(source.content), backend=backend)
    except DataError:
        raise
    except Exception as error:  # the backends' own errors have no common class
        raise DataError(f"{source.name} cannot be read as Parquet: {one_line(error)}") from None
    return read_narwhals(frame, kinds, options)


def _read_by_column(source: Source, kinds: Kinds, options: ReadOptions) -> Columns | None:
    """Read a Parquet file of not too many columns; texts are encoded while they are read."""
    from concurrent.futures import ThreadPoolExecutor

    import pyarrow as pa
    import pyarrow.parquet as pq

    from serape.data.reading.arrow_columns import Chunks, encode_column

    def opened(**settings: Any) -> Any:
        return pq.ParquetFile(_arrow_source(source), **settings)

    file = opened()
    schema = file.schema_arrow
    names = [str(name) for name in schema.names]
    check_names(names)
    if len(names) > _MANY and options.keeping.max_bytes is None:
        return None
    index, notes = skipped_index(names, options, _pandas_index(schema.metadata))
    texts = [name for name in names if pa.types.is_string(schema.field(name).type)]
    metadata = file.metadata
    skip = options.ignore | index
    rows = metadata.num_rows

    def read_column(name: str) -> Encoded:
        if name in skip:
            return ignored_column(rows)
        as_text = name in texts
        one = opened(metadata=metadata, read_dictionary=[name] if as_text else [])
        batches = one.iter_batches(_ROWS, columns=[name], use_threads=False)
        kind = pa.dictionary(pa.int32(), pa.string()) if as_text else schema.field(name).type
        parts = Chunks(kind, rows, (batch.column(0) for batch in batches))
        return encode_column(name, parts, kinds.of(name), declared=not as_text)

    pool = pa.default_memory_pool()
    pa.set_memory_pool(pa.system_memory_pool())  # the default takes up to three times as long where pages are scarce
    kept = [name for name in names if name not in index]
    keeping = options.keeping
    try:
        with ThreadPoolExecutor(2) as threads:
            groups = keeping.groups(kept, rows)
            encoded = keeping.store(column for group in groups for column in threads.map(read_column, group))
    finally:
        pa.set_memory_pool(pool)
    return Columns(kept, rows, encoded, notes=tuple(notes), store=keeping.store)


def _pandas_index(metadata: dict[bytes, bytes] | None) -> frozenset[str]:
    """Return the columns that are the index of a pandas frame without a name."""
    try:
        columns = parsed_json((metadata or {})[b"pandas"])["index_columns"]
        return frozenset(c for c in columns if isinstance(c, str) and c.startswith("__index_level_"))
    except (KeyError, ValueError, TypeError):
        return frozenset()


def read_arrow(source: Source, kinds: Kinds, options: ReadOptions) -> Columns:
    """Read a file or stream of Arrow's format, such as Feather."""
    import narwhals.stable.v2 as nw

    options.refuse(f"{source.name} is", "index")
    options.refuse_table(f"{source.name} is")
    arrow_backend(f"reading {source.name}")
    try:
        if importlib.util.find_spec("pyarrow") is not None:
            frame: Any = _arrow_table(source)
        else:
            import polars as pl

            stream = source.starts_with(b"\xff\xff\xff\xff")
            frame = (pl.read_ipc_stream if stream else pl.read_ipc)(source.content)
    except Exception as error:  # the backends' own errors have no common class
        raise DataError(f"{source.name} cannot be read as an Arrow file: {one_line(error)}") from None
    return read_narwhals(nw.from_native(frame), kinds, options)


def _arrow_table(source: Source) -> Any:
    import pyarrow as pa
    from pyarrow import feather

    file = _arrow_source(source)
    if source.starts_with(b"FEA1"):
        table = feather.read_table(file, memory_map=False)
    else:
        table = (pa.ipc.open_file if source.starts_with(b"ARROW1") else pa.ipc.open_stream)(file).read_all()
    table.validate(full=True)  # the format is that of memory, so a broken file could otherwise crash the interpreter
    return table


def _arrow_source(source: Source) -> Any:
    """Return what pyarrow reads: the file, which it does not map into memory, or the bytes at hand."""
    import pyarrow as pa

    return pa.BufferReader(source.content) if source.path is None else pa.OSFile(str(source.path))
