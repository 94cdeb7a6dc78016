"""Dates as numbers: days since 1970-01-01, with fractions for the time of the day; times with a zone are in UTC.

Times of the day and durations are numbers of days, too.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime, time, timedelta
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

UNIT = "days since 1970-01-01"
TIMES, DURATIONS = "times of the day, in days", "durations, in days"
MICROSECONDS = 86_400e6
"""Microseconds of a day."""

_ISO = re.compile(
    r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2})?)?", flags=re.ASCII
)
_EPOCH = datetime(1970, 1, 1)  # for times without a zone
_EPOCH_UTC = datetime(1970, 1, 1, tzinfo=UTC)
_MONTHS = {
    name: k + 1
    for k, name in enumerate(["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"])
}
_TIME = r"(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2}(?:\.\d{1,6})?))?"


def _form(text: str) -> re.Pattern[str]:
    return re.compile(rf"{text}(?:[T ]{_TIME})?", flags=re.ASCII)


_SLASHES = _form(r"(?P<first>\d{1,2})[/-](?P<other>\d{1,2})[/-](?P<year>\d{4})")  # day or month first
_FORMS = (
    _form(r"(?P<day>\d{1,2})\.(?P<month>\d{1,2})\.(?P<year>\d{4})"),
    _form(r"(?P<year>\d{4})[/.](?P<month>\d{1,2})[/.](?P<day>\d{1,2})"),
    _form(r"(?P<day>\d{1,2})[ -]?(?P<name>[A-Za-z]{3})[ -]?(?P<year>\d{4})"),
)
_CLOCK = re.compile(_TIME, flags=re.ASCII)


def days_of(moment: date | time | timedelta) -> float:
    """Return a date, with or without a time, a time of the day, or a duration in days."""
    if isinstance(moment, datetime):
        return float((moment - (_EPOCH if moment.tzinfo is None else _EPOCH_UTC)) / timedelta(days=1))
    if isinstance(moment, timedelta):
        return moment / timedelta(days=1)
    if isinstance(moment, time):
        return days_of(datetime.combine(_EPOCH, moment.replace(tzinfo=None)))
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
    """Return the labels in days, NaN for gaps, or None if there are no labels or some label is not a date.

    All labels are of one form: ISO, 17.05.2024, 2024/05/17, 17MAY2024, or 5/17/2024 if a value tells whether the day or
    the month comes first.
    """
    present = np.flatnonzero(~is_gap).tolist()
    if not present or not isinstance(labels[present[0]], str):
        return None
    first = labels[present[0]]
    if _ISO.fullmatch(first):
        return _all_of(labels, present, parse_date)
    for form in _FORMS:
        if form.fullmatch(first):
            return _all_of(labels, present, partial(_parse, form, day="day", month="month"))
    if _SLASHES.fullmatch(first):
        orders = _orders([labels[k] for k in present])
        if len(orders) == 1:
            return _all_of(labels, present, lambda text: _parse(_SLASHES, text, *orders[0]))
    return None


def has_form(label: object) -> bool:
    """Return whether a label looks like a date of any form."""
    return isinstance(label, str) and any(form.fullmatch(label) for form in (_ISO, *_FORMS, _SLASHES, _CLOCK))


def is_ambiguous(labels: Sequence[str]) -> bool:
    """Return whether labels are dates of which nothing tells whether the day or the month comes first."""
    return len(labels) > 0 and len(_orders(labels)) == 2


def parse_times(labels: Sequence[Any], is_gap: NDArray[np.bool_]) -> NDArray[np.float64] | None:
    """Return times of the day, such as 14:30, in days; None if some label is not one."""
    return _all_of(labels, np.flatnonzero(~is_gap).tolist(), lambda text: _parse(_CLOCK, text, "day", "month"))


def _all_of(labels: Sequence[Any], present: Sequence[int], parse: Callable[[Any], float]) -> NDArray[np.float64] | None:
    days = np.full(len(labels), math.nan)
    for k in present:
        days[k] = parse(labels[k])
        if math.isnan(days[k]):
            return None
    return days if len(present) else None


def _orders(labels: Sequence[Any]) -> list[tuple[str, str]]:
    """Return in which orders day and month can stand in all labels."""
    orders = [("first", "other"), ("other", "first")]
    return [o for o in orders if all(not math.isnan(_parse(_SLASHES, text, *o)) for text in labels)]


def _parse(form: re.Pattern[str], text: object, day: str, month: str) -> float:
    """Return a text of a form in days; NaN if it is not of this form."""
    found = form.fullmatch(text) if isinstance(text, str) else None
    if found is None:
        return math.nan
    parts = found.groupdict()
    try:
        if "year" in parts:
            number = _MONTHS[parts["name"].lower()] if "name" in parts else int(parts[month])
            days = days_of(date(int(parts["year"]), number, int(parts[day])))
        else:
            days = 0.0
        if parts["hour"] is None:
            return days
        hour, minute, second = int(parts["hour"]), int(parts["minute"]), float(parts["second"] or 0)
        if hour > 23 or minute > 59 or second >= 60:
            return math.nan
        return days + (hour * 3600 + minute * 60 + second) / 86_400
    except (ValueError, KeyError):  # such as the 30th of February
        return math.nan


def days_of_array(values: NDArray[np.datetime64 | np.timedelta64]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return dates or durations of NumPy in days, and where they are missing."""
    missing = np.isnat(values)
    days = values.astype(f"{values.dtype.kind}8[us]").astype(np.int64) / MICROSECONDS
    return np.where(missing, math.nan, days), missing
