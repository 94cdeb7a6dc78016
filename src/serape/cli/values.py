"""Values of options that are more than words: how they are read, and the errors for what cannot be read."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from math import isfinite
from pathlib import Path
from typing import Any, Literal

from serape._keywords import Keywords
from serape.checks import MISSING_RULES
from serape.data.kinds import KINDS
from serape.errors import OptionError, one_line, shown, suggestion
from serape.files import parsed_json
from serape.settings import FIELDS
from serape.wording import OTHERS, option_of

ALGORITHM_OPTIONS = tuple(name for name in Keywords.__annotations__ if name not in FIELDS)
"""The options of all algorithms."""
_MAX_DIGITS = 20


def kind_entry(entry: str) -> tuple[str, str]:
    """Return the name and the kind of a column."""
    name, equals, value = entry.rpartition("=")
    if not equals:
        raise OptionError(f"--kind {entry!r} must be NAME=KIND, such as NAME=categorical; kinds are {', '.join(KINDS)}")
    return name, value


def option_entry(entry: str) -> tuple[str, Any]:
    """Return the name and the value of an option of an algorithm: true, false, none, a number, or a word."""
    name, equals, text = entry.partition("=")
    if not equals:
        raise OptionError(f"--option {entry} must be NAME=VALUE, such as --option k=2")
    if name in FIELDS:
        raise OptionError(f"--option {entry}: {name!r} is no option of an algorithm; use {option_of(name)}")
    if name not in ALGORITHM_OPTIONS:
        raise OptionError(
            f"--option {entry}: no algorithm has an option {name!r}.{suggestion(name, ALGORITHM_OPTIONS)} They are "
            f"{', '.join(ALGORITHM_OPTIONS)}."
        )
    words = {"true": True, "false": False, "none": None}
    if text.lower() in words:
        return name, words[text.lower()]
    for read in (int, float):
        with suppress(ValueError):
            number = read(text)
            return name, number if isfinite(number) else text
    return name, text


def read_knowledge(path: Path | None) -> Mapping[str, Any] | None:
    """Return the content of the file of --knowledge."""
    if path is None:
        return None
    try:
        content: Any = parsed_json(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise OptionError(f"--knowledge {path} cannot be read as JSON: {one_line(error)}") from None
    if not isinstance(content, Mapping):
        raise OptionError(f"--knowledge must be a JSON object, not {shown(content)}")
    return content


def read_limit(option: str, text: str, *words: str) -> int | Literal["auto"] | None:
    """Return the value of an option that is a whole number or one of some words."""
    if text.lower() in words:
        return "auto" if text.lower() == "auto" else None
    if not text.isdecimal() or len(text) > _MAX_DIGITS:
        raise OptionError(
            f"{option} must be a whole number, {' or '.join(map(repr, reversed(words)))}, not {shown(text)}"
        )
    return int(text)


def read_number(option: str, text: str, *words: str) -> float | Literal["auto"] | None:
    """Return the value of an option that is a number or one of some words."""
    if text.lower() in words:
        return "auto" if text.lower() == "auto" else None
    try:
        return float(text)
    except ValueError:
        raise OptionError(f"{option} must be a number or {' or '.join(map(repr, words))}, not {shown(text)}") from None


def read_missing(entries: list[str] | None) -> Any:
    """Return the rule for missing values, or rules by column."""
    rules: dict[str, str] = {}
    for entry in entries or ():
        name, _, rule = entry.rpartition("=")
        rule = rule.lower()
        if rule not in MISSING_RULES:
            known = ", ".join(MISSING_RULES)
            raise OptionError(f"--missing {entry!r} is not known; use {known}, or NAME=RULE for one column")
        rules[name or OTHERS] = rule
    return rules.get(OTHERS, "error") if set(rules) <= {OTHERS} else rules
