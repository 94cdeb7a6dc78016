"""The options that are settings: made of the fields of `serape.settings`, their types and their meanings.

A new setting has an option without a line here, unless its value is more than a word, a number or a list of names.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection
from functools import cache
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, ClassVar, Literal, cast, get_origin

import typer

from serape.cli.base import Options, parameter
from serape.cli.completion import COMPLETIONS
from serape.cli.values import kind_entry, read_knowledge, read_limit, read_missing, read_number
from serape.data.kinds import KINDS
from serape.errors import OptionError
from serape.independence import TESTS
from serape.settings import FIELDS, Settings, divided, hint_of
from serape.wording import option_of

Read = Callable[[Any], Any]
SHORT = {"n_jobs": "-j", "progress": "-q"}


def setting_option(name: str, declared: str = "", help_: str = "", **more: Any) -> Any:
    """Return the option of a setting, for typer, with its meaning and its heading in the help."""
    told = FIELDS[name].metadata
    text = help_ or told["brief"].replace("{tests}", ", ".join(TESTS)).replace("{kinds}", ", ".join(KINDS))
    names = [declared or option_of(name), *([SHORT[name]] if name in SHORT else [])]
    return typer.Option(
        *names,
        help=text,
        rich_help_panel=told["panel"],
        metavar=more.pop("metavar", told["metavar"]),
        autocompletion=cast("Callable[..., Any] | None", COMPLETIONS.get(told["completes"])),
        **more,
    )


def _derived(name: str) -> tuple[Any, Any, Read]:
    """Return the type of a setting's option, its default, and what makes the setting's value of the option's."""
    default = FIELDS[name].default
    words, types = divided(hint_of(FIELDS[name]))
    none = NoneType in types and default is not None
    types -= {NoneType}
    flag = option_of(name)
    if words and not types:  # one of some words
        shown: Any = Literal[(*words, *(["none"] if none else []))]
        kind = shown if default is not None else shown | None
        return Annotated[kind, setting_option(name)], default, lambda value: None if value == "none" else value
    if words and types & {int, float}:  # a number, or one of some words
        known = [*words, *(["none"] if none else [])]
        read = read_limit if int in types else read_number
        metavar = f"[{'|'.join(['NUMBER', *reversed(known)])}]"
        return Annotated[str, setting_option(name, metavar=metavar)], default, lambda text: read(flag, text, *known)
    if bool in types:
        return Annotated[bool | None, setting_option(name, f"{flag}/--no-{flag[2:]}")], default, _same
    if any(isinstance(get_origin(one), type) and issubclass(get_origin(one), Collection) for one in types):
        listed = setting_option(name, metavar=FIELDS[name].metadata["metavar"] or "COLUMN")
        return Annotated[list[str] | None, listed], None, lambda values: tuple(values or ())
    word: Any = next((one for one in (str, int, float) if one in types), str)
    kind = word if default is not None else word | None
    column = {"metavar": "COLUMN"} if FIELDS[name].metadata["completes"] == "column" else {}
    return Annotated[kind, setting_option(name, **column)], default, _same


def _same(value: Any) -> Any:
    return value


# --- values that are more than a word, a number or a list of names ----------------------------------------------------

_NAMES = Annotated[
    str | None,
    setting_option(
        "header",
        "--names",
        "The names of the columns, separated by commas; the first line is then data.",
        metavar="NAME,NAME,...",
    ),
]
_SPECIAL: dict[str, tuple[list[tuple[Any, Any]], Read]] = {
    "kinds": (
        [(Annotated[list[str] | None, setting_option("kinds")], None)],
        lambda entries: dict(map(kind_entry, entries)) if entries else None,
    ),
    "missing": ([(Annotated[list[str] | None, setting_option("missing")], None)], read_missing),
    "knowledge": ([(Annotated[Path | None, setting_option("knowledge")], None)], read_knowledge),
    "random_state": ([(Annotated[int | None, setting_option("random_state")], None)], _same),
    "progress": ([(Annotated[bool, setting_option("progress")], False)], lambda quiet: False if quiet else None),
}
"""The options of a setting, each with its default, and what reads their values."""


def _read_header(header: bool | None, names: str | None) -> Any:
    if names is not None and header is not None:
        raise OptionError("--names says that the first line is data; leave out --header and --no-header")
    return header if names is None else [name.strip() for name in names.split(",")]


@cache
def _parameters(name: str) -> tuple[list[inspect.Parameter], Callable[..., Any]]:
    """Return the options of a setting as parameters, and what makes its value of theirs."""
    if name == "header":
        flag = Annotated[bool | None, setting_option(name, "--header/--no-header")]
        return [parameter("header", flag, None), parameter("names", _NAMES, None)], _read_header
    if name in _SPECIAL:
        [(hint, default)], read = _SPECIAL[name]
    else:
        hint, default, read = _derived(name)
    return [parameter(option_of(name)[2:].replace("-", "_"), hint, default)], read


class SettingOptions(Options):
    """Options of which some are settings."""

    settings: ClassVar[tuple[str, ...]] = ()
    """The settings, in the order of the help; the other options stand after them."""

    @classmethod
    def parameters(cls) -> list[inspect.Parameter]:
        """Return the options of the settings, then the others."""
        return [*(one for name in cls.settings for one in _parameters(name)[0]), *super().parameters()]

    def arguments(self) -> dict[str, Any]:
        """Return the settings as arguments of the questions in Python."""
        found = {}
        for name in self.settings:
            parameters, read = _parameters(name)
            found[name] = read(*(getattr(self, one.name) for one in parameters))
        return found

    def checked(self) -> dict[str, Any]:
        """Return the same, once they are checked: before data are read, which may take long."""
        given = self.arguments()
        Settings.of(**given)
        return given


def settings_of(*groups: type) -> tuple[str, ...]:
    """Return the names of the settings of some groups."""
    return tuple(name for group in groups for name in group.__dataclass_fields__)  # type: ignore[attr-defined]
