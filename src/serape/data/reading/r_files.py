"""Data frames of R: .rds and .rda files, read by the package rdata."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from serape.data.columns import Columns
from serape.data.kinds import Kinds
from serape.data.reading.frames import read_frame
from serape.data.reading.options import ReadOptions
from serape.data.reading.sources import Source, choose
from serape.errors import DataError, library_or, one_line


def read_r(source: Source, kinds: Kinds, options: ReadOptions) -> Columns:
    """Read a data frame of R."""
    options.refuse(f"{source.name} is")
    rdata = library_or("rdata", f"reading {source.name} needs rdata: pip install 'serape[r]'")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about classes that it does not know
            classes = {**rdata.conversion.DEFAULT_CLASS_MAP, "Date": _dates, "POSIXct": _moments}
            found: Any = rdata.conversion.convert(rdata.parser.parse_data(bytes(source.content)), classes)
    except Exception as error:  # the errors of the package have no common class
        raise DataError(f"{source.name} cannot be read as data of R: {one_line(error)}") from None
    if isinstance(found, dict) and source.starts_with(b"RDX"):
        frames = {str(name): value for name, value in found.items() if hasattr(value, "columns")}
        found = frames[choose("data frame", list(frames), source.name, options.table)]
    else:
        options.refuse_table(f"{source.name} is")
    if not hasattr(found, "columns"):
        raise DataError(f"{source.name} holds a {type(found).__name__} and no data frame; save a data frame")
    return read_frame(found, kinds, options.ignore)


def _dates(days: Any, _attributes: Any) -> NDArray[np.datetime64]:
    return _moments(np.asarray(days, np.float64) * 86_400, None)


def _moments(seconds: Any, _attributes: Any) -> NDArray[np.datetime64]:
    numbers = np.asarray(seconds, np.float64)
    missing = np.isnan(numbers)
    moments = np.where(missing, 0, numbers * 1e6).round().astype(np.int64).astype("datetime64[us]")
    return np.where(missing, np.datetime64("NaT", "us"), moments)
