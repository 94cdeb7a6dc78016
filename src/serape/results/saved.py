"""Files of results: how they are written and read, and the checks of what they hold: a file may come from anywhere."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, is_dataclass
from typing import Any, Protocol

import numpy as np

LEAST = 5e-324
"""The least number above 0."""
_ROUNDING = 1e-6
_MAX_BITS = 1e6


# --- writing ---------------------------------------------------------------------------------------------------------
# JSON has no NaN and no infinities: NaN becomes null, infinities become text.


class _HasDict(Protocol):
    def to_dict(self) -> dict[str, Any]: ...


def json_text(result: _HasDict) -> str:
    """Return a result as JSON."""
    return json.dumps(finite(result.to_dict()), indent=1, allow_nan=False, default=str) + "\n"


def plain_value(value: Any) -> Any:
    """Return a value as plain dicts, lists, text and finite numbers."""
    if isinstance(value, Mapping):
        return {str(key): plain_value(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [plain_value(one) for one in value]
    if isinstance(value, np.ndarray):
        return finite(value.tolist())
    if hasattr(value, "to_dict"):
        return finite(value.to_dict())
    if is_dataclass(value) and not isinstance(value, type):
        return plain_value(asdict(value))
    return finite(value)


def said(content: Mapping[str, Any]) -> Any:
    """Return what an answer says that can be compared: all but seconds, data and call, of answers in it, too."""
    return finite({name: _nested(value) for name, value in content.items() if name not in ("seconds", "data", "call")})


def _nested(value: Any) -> Any:
    """Return what the answers in a value say; they are known by their format."""
    if not isinstance(value, dict):
        return value
    if str(value.get("format", "")).startswith("serape-"):
        return said(value)
    return {name: _nested(one) for name, one in value.items()}


def finite(value: Any) -> Any:
    """Return the same value with NaN and infinities replaced."""
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else ("inf" if value > 0 else "-inf")
    if isinstance(value, dict):
        return {key: finite(v) for key, v in value.items()}
    if isinstance(value, list | tuple):
        return [finite(v) for v in value]
    return value


# --- reading ---------------------------------------------------------------------------------------------------------


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


def rate(value: Any) -> float:
    """Return a number above 0 and up to 1; null is NaN."""
    return number(value, LEAST, 1)


def optional(read: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a reader of a value that may be missing."""
    return lambda value: None if value is None else read(value)


def counts(values: Any) -> dict[int, int]:
    """Return numbers by size."""
    return {int(size): int(count) for size, count in values.items()}


def lists(values: Any) -> tuple[tuple[str, ...], ...]:
    """Return lists of texts."""
    return tuple(texts(one) for one in values)


def text_lists(values: Any) -> dict[str, tuple[str, ...]]:
    """Return lists of texts by name."""
    return {str(name): texts(one) for name, one in values.items()}


def named_texts(values: Any) -> dict[str, str]:
    """Return texts by name."""
    return {str(name): str(one) for name, one in values.items()}


def finds(value: Any) -> str:
    """Return what a search about a target finds."""
    return one_of(("blanket", "parents-children"))(value)


def one_of(words: Sequence[str]) -> Callable[[Any], str]:
    """Return a reader of one of some words."""

    def read(value: Any) -> str:
        if value not in words:
            raise ValueError(f"{value!r} is none of {', '.join(words)}")
        return str(value)

    return read


def share(value: Any) -> float:
    """Return a number from 0 to 1."""
    if value is None:
        raise TypeError("a number is missing")
    return number(value, 0, 1)


def count(value: Any) -> int:
    """Return a whole number, 0 or more."""
    return int(number(int(value), 0))


def log_p(value: Any) -> float:
    """Return the logarithm of a p-value."""
    return number(value, high=_ROUNDING)


def bits(value: Any) -> float:
    """Return an effect size in bits; infinite where one column of numbers is a function of the other."""
    return number(value, -_ROUNDING, math.inf if value == "inf" else _MAX_BITS)


def known(values: Sequence[str], names: Sequence[str]) -> tuple[str, ...]:
    """Return names of variables; refuse any other name."""
    if not set(values) <= set(names):
        raise ValueError("a variable is not among the variables")
    return tuple(values)
