"""Errors that say what is wrong, where, and what to do about it."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from numbers import Integral
from typing import Any


class SerapeError(Exception):
    """Anything serape refuses to do; the message names the column, the value and the remedy."""


class DataError(SerapeError, ValueError):
    """The data cannot be used as it is."""


class OptionError(SerapeError, ValueError):
    """A call asks for something that does not exist or does not go together."""


class InputTypeError(SerapeError, TypeError):
    """An argument is of a type that serape does not take."""


class MissingLibraryError(SerapeError, ImportError):
    """Something needs a library that is not installed, or is too old; the message says how to install it."""


class EmptyBlanketWarning(UserWarning):
    """A selector found that no column tells anything about the target, so it selects none."""


class Interrupted(KeyboardInterrupt):
    """Ctrl-C during a search. `found` is what had been found by then."""

    def __init__(self, found: Any) -> None:
        super().__init__("interrupted; what was found so far is in the exception's `found`")
        self.found = found


def suggestion(word: str, known: Iterable[str]) -> str:
    """Return ' Did you mean …?' if something known is close to the word, else nothing."""
    close = difflib.get_close_matches(word, list(known), n=3, cutoff=0.6)
    return f" Did you mean {' or '.join(repr(c) for c in close)}?" if close else ""


def abbreviate(names: Iterable[str], most: int = 5) -> str:
    """Return the first few names, quoted, and how many more there are."""
    names = list(names)
    shown = ", ".join(repr(n) for n in names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most:,} more"


def is_integer(number: object) -> bool:
    """Return whether something is a whole number, of Python or NumPy, and not a truth value."""
    return type(number) is int or (isinstance(number, Integral) and not isinstance(number, bool))
