"""Files of saved results: how they are read, and the checks of what they hold. Such a file may come from anywhere."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from serape.errors import DataError, one_line
from serape.files import as_path, no_file, parsed_json

_DAMAGED = (KeyError, TypeError, ValueError, AttributeError, OverflowError, IndexError)
"""What reading the wrong content raises."""
LEAST = 5e-324
"""The least number above 0."""
_ROUNDING = 1e-6
_MAX_BITS = 1e6


def load_saved(
    path: str | os.PathLike[str], readers: Mapping[str, Callable[[Mapping[str, Any]], Any]], what: str
) -> Any:
    """Return what the reader of its format makes of a JSON file."""
    file = as_path(path)
    try:
        content = parsed_json(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise no_file(file) from None
    except (OSError, ValueError) as error:
        raise DataError(f"{file} cannot be read as JSON: {one_line(error)}") from None
    if not isinstance(content, dict) or content.get("format") not in tuple(readers):
        raise DataError(f"{file} is not a {what} saved by serape (format {' or '.join(map(repr, readers))})")
    try:
        return readers[content["format"]](content)
    except _DAMAGED as error:
        raise DataError(f"{path} is damaged: {type(error).__name__} {one_line(error)}") from None


def texts(values: Any) -> tuple[str, ...]:
    """Return a list of texts; refuse anything else."""
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise TypeError("a list of texts is needed")
    return tuple(values)


def number(value: Any, low: float = -math.inf, high: float = math.inf) -> float:
    """Return a number within bounds; null is NaN, which is within any."""
    found = math.nan if value is None else float(value)
    if found < low or found > high:
        raise ValueError(f"{found:g} is not between {low:g} and {high:g}")
    return found


def log_p(value: Any) -> float:
    """Return the logarithm of a p-value."""
    return number(value, high=_ROUNDING)


def bits(value: Any) -> float:
    """Return an effect size in bits; infinite where one column of numbers is a function of the other."""
    return number(value, -_ROUNDING, math.inf if value == "inf" else _MAX_BITS)


def optional_number(content: Mapping[str, Any], name: str, low: float = LEAST, high: float = 1) -> float | None:
    """Return a number that may be missing; files of older versions lack some."""
    return None if content.get(name) is None else number(content[name], low, high)


def known(values: Sequence[str], names: Sequence[str]) -> tuple[str, ...]:
    """Return names of variables; refuse any other name."""
    if not set(values) <= set(names):
        raise ValueError("a variable is not among the variables")
    return tuple(values)
