"""Errors. Each message says what is wrong, where, and what to do about it."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from importlib import import_module
from numbers import Integral
from typing import Any


class SerapeError(Exception):
    """The base of all errors of serape; the message names the column, the value and the remedy."""


class DataError(SerapeError, ValueError):
    """The data cannot be used as they are."""


class OptionError(SerapeError, ValueError):
    """An option of a call does not exist, or does not agree with another."""


class InputTypeError(SerapeError, TypeError):
    """An argument is of a type that serape does not accept."""


class MissingLibraryError(SerapeError, ImportError):
    """A library that is needed is not installed or is too old; the message says how to install it."""


class EmptyBlanketWarning(UserWarning):
    """A selector finds an empty blanket, so it selects no column."""


class Interrupted(KeyboardInterrupt):
    """Ctrl-C during a search. `found` is the result so far."""

    def __init__(self, found: Any) -> None:
        super().__init__("interrupted; the exception's `found` is the result so far")
        self.found = found


def suggestion(word: str, known: Iterable[str]) -> str:
    """Return ' Did you mean …?' if known words are close to this one in any case, otherwise an empty text."""
    by_plain: dict[str, list[str]] = {}
    for one in known:
        by_plain.setdefault(one.casefold(), []).append(one)
    wanted = word.casefold()
    found = [wanted] if wanted in by_plain else difflib.get_close_matches(wanted, list(by_plain), n=3, cutoff=0.6)
    close = [one for plain in found for one in by_plain[plain]][:3]
    return f" Did you mean {' or '.join(map(repr, close))}?" if close else ""


def abbreviate(names: Iterable[str], max_names: int = 5) -> str:
    """Return the first few names, quoted, and the number of the others."""
    names = list(names)
    shown = ", ".join(repr(n) for n in names[:max_names])
    return shown if len(names) <= max_names else f"{shown} and {len(names) - max_names:,} more"


def shown(value: object, max_length: int = 60) -> str:
    """Return a value that cannot be used, on one line that is not too long; of one that fills lines, the type."""
    text = repr(value)
    if "\n" in text:
        return f"a {type(value).__name__}"
    return text if len(text) <= max_length else f"{text[: max_length - 1]}…"


def one_line(error: BaseException) -> str:
    """Return what another package says in an error, on one line that is not too long."""
    said = " ".join(str(error).split())
    return said if len(said) <= 200 else f"{said[:199]}…"


def is_integer(number: object) -> bool:
    """Return whether an object is a whole number, of Python or NumPy, and not a truth value."""
    return type(number) is int or (isinstance(number, Integral) and not isinstance(number, bool))


def library_or(module: str, sentence: str) -> Any:
    """Return a module of an optional package; if it is missing, refuse with a sentence that says how to install it."""
    try:
        return import_module(module)
    except ImportError:
        raise MissingLibraryError(sentence) from None
