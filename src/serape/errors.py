"""Errors. Each message says what is wrong, where, and what to do about it.

A message, like a note, carries the settings that it names. Whoever shows it chooses the words: Python's are those of
the text itself (`missing='drop'`), `command_words` gives those of the command line (`--missing drop`).
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from numbers import Integral
from typing import Any, TypeVar

Item = TypeVar("Item")


_BEGIN, _OR, _END = "\U0001fffe", "\U0001ffff", "\U0002fffe"  # Unicode says that no text has them
_CARRIED = re.compile(f"{_BEGIN}(.*?){_OR}(.*?){_END}", re.DOTALL)


class Worded(str):
    """A sentence in the words of Python that can also be told in those of the command line."""

    carried: str
    """Both, as `either` joins them."""

    def __new__(cls, carried: str) -> Worded:
        """Make the sentence of a text with words of both."""
        found = super().__new__(cls, _CARRIED.sub(r"\1", carried))
        found.carried = carried
        return found

    def __reduce__(self) -> tuple[type[Worded], tuple[str]]:
        return Worded, (self.carried,)


def either(python: str, command: str) -> str:
    """Return words for a caller in Python and for a user of the command line, to stand in an error or a note."""
    return python if python == command else f"{_BEGIN}{python}{_OR}{command}{_END}"


def worded(text: str) -> str:
    """Return the text of a note in the words of Python; it carries those of the command line."""
    return Worded(text) if _BEGIN in text else text


def embedded(what: Exception | str) -> str:
    """Return the text of an error or a note, to stand in another one with the settings that it carries."""
    text = what.args[0] if isinstance(what, Exception) and what.args else what
    return text.carried if isinstance(text, Worded) else str(text)


def command_words(what: SerapeError | str) -> str:
    """Return the text of an error or a note in the words of the command line."""
    return _CARRIED.sub(r"\2", embedded(what))


class SerapeError(Exception):
    """The base of all errors of serape; the message names the column, the value and the remedy.

    Examples
    --------
    >>> try:
    ...     serape.markov_blanket(patients, "Heart")
    ... except serape.SerapeError as error:
    ...     print(error)
    there is no column 'Heart'. The columns are 'Age', 'Smoking', 'Exercise', 'Weight', 'Diabetes' and 9 more.
    """

    def __init__(self, *message: Any) -> None:
        super().__init__(*(worded(part) if isinstance(part, str) else part for part in message))


class DataError(SerapeError, ValueError):
    """The data cannot be used as they are.

    Examples
    --------
    >>> serape.Table({"age": [41]})
    Traceback (most recent call last):
        ...
    serape.errors.DataError: the table has one row; at least two are needed
    """


class OptionError(SerapeError, ValueError):
    """An option of a call does not exist, or does not agree with another.

    Examples
    --------
    >>> serape.markov_blanket(patients, "HeartDisease", alpha=5)
    Traceback (most recent call last):
        ...
    serape.errors.OptionError: alpha must be between 0 and 1, not 5
    """


class InputTypeError(SerapeError, TypeError):
    """An argument is of a type that serape does not accept.

    Examples
    --------
    >>> serape.compare("Age", ["Age"])
    Traceback (most recent call last):
        ...
    serape.errors.InputTypeError: a result, a graph or a collection of names is needed, not 'Age'
    """


class MissingLibraryError(SerapeError, ImportError):
    """A library that is needed is not installed or is too old; the message says how to install it.

    Examples
    --------
    >>> issubclass(serape.MissingLibraryError, ImportError)
    True
    """


class ClusterError(SerapeError):
    """A cluster, or a worker of it, failed or does not answer; a checkpoint makes another attempt short.

    Examples
    --------
    >>> issubclass(serape.ClusterError, serape.SerapeError)
    True
    """


class EmptyBlanketWarning(UserWarning):
    """A selector finds an empty blanket, so it selects no column.

    Examples
    --------
    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     _ = serape.MarkovBlanketSelector().fit([[0], [1], [0], [1]] * 9, [0, 0, 1, 1] * 9)
    >>> caught[0].category.__name__
    'EmptyBlanketWarning'
    """


class IncompleteSearchWarning(UserWarning):
    """A limit of time or tests ended the search of a selector; the selected columns are those found so far.

    Examples
    --------
    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     _ = serape.MarkovBlanketSelector(max_tests=1).fit([[0, 0], [1, 1], [0, 1]] * 9, [0, 1, 0] * 9)
    >>> caught[0].category.__name__
    'IncompleteSearchWarning'
    """


class Interrupted(KeyboardInterrupt):
    """Ctrl-C during a search. `found` is the result so far.

    Examples
    --------
    >>> try:
    ...     found = serape.markov_blanket(patients, "HeartDisease")
    ... except serape.Interrupted as stop:
    ...     found = stop.found
    >>> found.complete
    True
    """

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


def n_shown(total: int, max_shown: int) -> int:
    """Return how many items of a long list to show; one alone is never hidden behind "and 1 more"."""
    return total if total <= max_shown + 1 else max_shown


def first_few(
    items: Sequence[Item], text: Callable[[Item], str] = str, max_items: int = 5, *, what: str = "", between: str = ", "
) -> str:
    """Return the first few items as text, and the number of the others, of which `what` says what they are."""
    n = n_shown(len(items), max_items)
    more = "" if n == len(items) else f" and {len(items) - n:,} more{what and ' '}{what}"
    return between.join(map(text, items[:n])) + more


def abbreviate(names: Iterable[str], max_names: int = 5) -> str:
    """Return the first few names, quoted, and the number of the others."""
    return first_few(list(names), repr, max_names)


def shown(value: object, max_length: int = 60) -> str:
    """Return a value that cannot be used, on one line that is not too long; of one that fills lines, the type."""
    try:
        text = repr(value)
    except Exception:  # such as ValueError, for an integer of thousands of digits
        return f"a {type(value).__name__} that cannot be shown"
    if "\n" in text:
        return f"a {type(value).__name__}"
    return text if len(text) <= max_length else f"{text[: max_length - 1]}…"


def row_text(position: int) -> str:
    """Return how a row is named, given its position from 0: the first is row 1."""
    return f"row {position + 1:,}"


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
