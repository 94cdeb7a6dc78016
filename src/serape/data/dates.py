"""Dates as numbers: days since 1970-01-01, with fractions for the time of the day; times with a zone are in UTC."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray

UNIT = "days since 1970-01-01"
MICROSECONDS = 86_400e6
"""Microseconds of a day."""

_ISO = re.compile(
    r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2})?)?", flags=re.ASCII
)
_EPOCH = datetime(1970, 1, 1)  # for times without a zone
_EPOCH_UTC = datetime(1970, 1, 1, tzinfo=UTC)


def days_of(moment: date) -> float:
    """Return a date, with or without a time, in days."""
    if isinstance(moment, datetime):
        return float((moment - (_EPOCH if moment.tzinfo is None else _EPOCH_UTC)) / timedelta(days=1))
    return float(moment.toordinal() - _EPOCH.toordinal())


def parse_date(text: object) -> float:
    """Return a text in ISO format in days; NaN if it is no such text."""
    if not isinstance(text, str) or not _ISO.fullmatch(text):
        return math.nan
    try:
        return days_of(datetime.fromisoformat(text))
    except ValueError:  # such as the 30th of February
        return math.nan


def parse_dates(labels: Sequence[Any], is_gap: NDArray[np.bool_]) -> NDArray[np.float64] | None:
    """Return the labels in days, NaN for gaps, or None if there are no labels or some label is not a date."""
    days = np.full(len(labels), math.nan)
    for k in np.flatnonzero(~is_gap).tolist():
        days[k] = parse_date(labels[k])
        if math.isnan(days[k]):
            return None
    return None if is_gap.all() else days


def days_of_array(values: NDArray[np.datetime64]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return dates of NumPy in days, and where they are missing."""
    missing = np.isnat(values)
    days = values.astype("datetime64[us]").astype(np.int64) / MICROSECONDS
    return np.where(missing, math.nan, days), missing
