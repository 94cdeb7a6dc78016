"""How errors and notes name settings: in the words of Python and in those of the command line, which they carry."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterable, Mapping
from os import PathLike
from typing import Any

from serape.errors import either, is_integer, shown, worded

OTHERS = "*"
"""In a dict of rules, stands for the columns that are not named."""
MAX_LENGTH = 200
"""A longer value is cut."""
OPTIONS = {"equivalent_sample_size": "--ess"}
"""The options of the command line that are not called as the setting is; `settings` adds those that it declares."""
_WORDS = {None: "none", True: "true", False: "false", "\t": "tab"}
_NO_VALUE: Any = object()


class Notes:
    """An attribute that holds notes; each carries the settings that it names."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, instance: Any, owner: type) -> tuple[str, ...]:
        found: dict[str, tuple[str, ...]] = {} if instance is None else vars(instance)
        if self._name not in found:
            raise AttributeError(f"{owner.__name__} has no attribute {self._name!r}")
        return found[self._name]

    def __set__(self, instance: Any, notes: Iterable[str]) -> None:
        instance.__dict__[self._name] = tuple(map(worded, notes))


def setting(name: str, value: Any = _NO_VALUE) -> str:
    """Return how a setting is named, or given a value: missing='drop', or --missing drop."""
    if value is _NO_VALUE:
        return either(name, option_of(name))
    python, groups = f"{name}={shown(value, MAX_LENGTH)}", option_words(name, value) if _can_be_typed(value) else None
    return either(python, python if groups is None else _cut(shlex.join(word for group in groups for word in group)))


def algorithm_option(name: str, value: Any = _NO_VALUE) -> str:
    """Return how an option of an algorithm is named, or given a value: k=2, or --option k=2."""
    if value is _NO_VALUE:
        return either(name, f"--option {name}")
    return either(f"{name}={shown(value, MAX_LENGTH)}", f"--option {name}={_word(value)}")


def literal(value: Any) -> str:
    """Return a value as the caller writes it: None, or none."""
    return either(repr(value), _word(value) if value is None or isinstance(value, bool) else repr(value))


def question(name: str) -> str:
    """Return how a question is asked: serape.network, or serape network."""
    return either(f"serape.{name}", f"serape {name}")


def option_of(name: str) -> str:
    """Return the option of the command line for a setting."""
    return OPTIONS.get(name) or f"--{name.replace('_', '-')}"


def option_words(name: str, value: Any) -> list[list[str]] | None:
    """Return the options that give a setting this value, each with its words; None if the command line has none."""
    if name == "hidden":
        return [["--hidden"]] if value else []
    if isinstance(value, bool):
        return [[f"--{name}" if value else f"--no-{name}"]]
    if name == "header" and isinstance(value, Collection) and not isinstance(value, str):
        return None if any("," in column for column in value) else [["--names", ",".join(value)]]
    if (name == "kinds" and isinstance(value, str)) or (name == "table" and isinstance(value, int)):
        return None
    option = option_of(name)
    if isinstance(value, Mapping):
        if not all(isinstance(of, str) for of in value.values()):
            return None
        return [[option, of if column == OTHERS else f"{column}={of}"] for column, of in value.items()]
    if isinstance(value, Collection) and not isinstance(value, str):
        return [[option, _word(one)] for one in value]
    return [[option, _word(value)]]


def _can_be_typed(value: Any) -> bool:
    """Return whether a value, which may be wrong in any way, is one that a command line can have."""
    if getattr(value, "shape", None) == ():  # an array without dimensions, a collection by its type alone
        return False
    if isinstance(value, Collection) and not isinstance(value, str | bytes):
        parts = [*value, *value.values()] if isinstance(value, Mapping) else value
        return len(value) <= MAX_LENGTH and all(isinstance(part, str) for part in parts)
    return (
        value is None
        or isinstance(value, str | bool | float | PathLike)
        or (is_integer(value) and abs(value) < 1 << 64)
    )


def _word(value: Any) -> str:
    return _WORDS[value] if value is None or (isinstance(value, bool | str) and value in _WORDS) else str(value)


def _cut(text: str) -> str:
    return text if len(text) <= MAX_LENGTH else f"{text[: MAX_LENGTH - 1]}…"
