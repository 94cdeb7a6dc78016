"""Reading data of any source into columns.

`sources` opens and decompresses; `formats` tells the formats apart and reads all but text. For text, `decoding` makes
UTF-8 of any encoding, `dialect` and `header` find how it is laid out, `arrow_text` or `plain` read the rows, and
`fields` encodes them. `arrays`, `objects` and `frames` read data in memory.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from serape.data.columns import Columns
from serape.data.joining import Part, joined
from serape.data.kinds import Kinds
from serape.data.reading.arrays import is_sparse, read_array, read_sparse
from serape.data.reading.formats import read_source
from serape.data.reading.frames import read_frame, read_series
from serape.data.reading.objects import read_mapping, read_records
from serape.data.reading.options import ReadOptions
from serape.data.reading.sources import are_paths, is_source, open_source

__all__ = ["ReadOptions", "read", "read_series"]


def read(data: Any, kinds: Kinds, options: ReadOptions | None = None) -> Columns:
    """Read data of any supported type; options for files are refused for anything else."""
    options = options or ReadOptions()
    if is_source(data):
        source, left = open_source(data, options)
        return read_source(source, kinds, left)
    if are_paths(data):
        parts = [Part(str(path), read(path, kinds, options)) for path in data]
        return parts[0].columns if len(parts) == 1 else joined(parts, options.keeping.store)
    options.refuse("these data are")
    options.refuse_table("these data are")
    if isinstance(data, Columns):
        return data
    if isinstance(data, np.ndarray):
        return read_array(data, kinds)
    if is_sparse(data):
        return read_sparse(data, kinds)
    if isinstance(data, Mapping):
        return read_mapping(data, kinds, options.ignore)
    if isinstance(data, list | tuple):
        return read_records(data, kinds, options.ignore)
    return read_frame(data, kinds, options.ignore)
