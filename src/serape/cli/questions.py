"""The commands of questions that have none of their own: made of their signatures and docstrings.

A question with `@question(command=(…))`, its examples, has one, which `app` lists. What it takes is in its signature,
the settings among it; what its parameters mean is in its docstring; what it prints and writes is what its kind of
result declares. What some commands have besides stands in `additions`. A question is imported when its command is
looked up.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, Literal, get_args

import typer

import serape
from serape.cli.additions import DATA, FILES
from serape.cli.app import MODULES
from serape.cli.base import command, command_later, parameter
from serape.cli.completion import complete_column, complete_learner
from serape.cli.data_options import DataOptions
from serape.cli.options import Files, GraphFiles, Hidden, SearchOptions, Target, ask, explains
from serape.cli.settings_options import SettingOptions
from serape.settings import FIELDS, DataSettings, divided
from serape.wording import option_of

NAMES = {"contexts": "context_blankets", "joint": "joint_blanket", "path": "alpha_path"}
"""The questions whose commands are called otherwise."""
_HOW = "How to search"
_SHARED: dict[str, Any] = {
    "target": Target,
    "hidden": Hidden,
    "alphas": Annotated[
        list[float],
        typer.Option(
            "--alpha", help="A significance level; repeatable. 25 from 1e-10 to 0.2 if not given.", rich_help_panel=_HOW
        ),
    ],
    "learner": Annotated[
        str,
        typer.Option(
            help="The algorithm that finds the blankets: any for `serape blanket`, or auto.",
            metavar="NAME",
            autocompletion=complete_learner,
            rich_help_panel=_HOW,
        ),
    ],
    "rule": Annotated[
        Literal["and", "or"],
        typer.Option(
            help="Two columns are adjacent if both neighbourhoods (and), or one of them (or), contain the other column."
        ),
    ],
    "score": Annotated[
        Literal[
            "auto",
            "bdeu",
            "bic",
            "aic",
            "k2",
            "gaussian-bic",
            "gaussian-ebic",
            "bge",
            "cg-bic",
            "cg-ebic",
            "block-ebic",
        ],
        typer.Option(
            help="The score, for algorithms that use one: the first four for categories, the next three for "
            "numbers, the last three for any columns."
        ),
    ],
    "checkpoint": Annotated[
        Path,
        typer.Option(
            help="Keep neighbourhoods in this file, so that a stopped run can continue.", rich_help_panel=_HOW
        ),
    ],
}
"""The options of parameters that several questions have, or whose options say more than their type and their words."""


_THIS = {"a variable": "this column", "a member": "this member", "two variables": "two columns"}
"""What the help of --explain says of what is explained, in place of the docstring's words."""


def add_command(name: str, question: Callable[..., Any]) -> None:
    """Add the command of a question."""
    taken = inspect.signature(question).parameters
    settings = tuple(name for name in FIELDS if name in taken and name not in DataSettings.__dataclass_fields__)
    search = type("Search", (SearchOptions if "algorithm" in settings else SettingOptions,), {"settings": settings})
    data = DATA.get(name, DataOptions)
    kind: Any = getattr(serape, str(question.__annotations__.get("return")).strip("'").partition(" | ")[0])
    formats = getattr(kind, "formats", None)
    files = FILES.get(name) or (Files if formats is None else type("GraphFiles", (GraphFiles,), {"formats": formats}))

    def run(data: DataOptions, *, search: SettingOptions, files: Files, explain: Any = None, **given: Any) -> None:
        own = {name: value for name, value in given.items() if value != []} | data.own()
        ask(getattr(serape, question.__name__), own, data, search, files, explain)

    about, meanings = _described(question)
    grouped = {*FIELDS, "algorithm_options", *(one.name for one in data.parameters())}
    own = {name: one for name, one in taken.items() if name not in grouped}
    first = [parameter(name, _option(question, one, meanings.get(name, "")), one.default) for name, one in own.items()]
    explained = _explained(kind, meanings.get("explain")) if hasattr(kind, "explain") else None
    parameters = [
        parameter("data", data, inspect.Parameter.empty),
        *(one for one in first if _panel(one) is None),
        parameter("search", search, inspect.Parameter.empty),
        *(one for one in first if _panel(one) is not None),
        *([parameter("explain", explained, None)] if explained else []),
        parameter("files", files, inspect.Parameter.empty),
    ]
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {one.name: one.annotation for one in parameters}
    command(name, *question.command_examples, about=about)(run)  # type: ignore[attr-defined]


def _described(question: Callable[..., Any]) -> tuple[str, dict[str, str]]:
    """Return what a command does, and what each parameter means: the first sentences of the docstring, or `words`."""
    text = inspect.cleandoc(question.__doc__ or "")
    about = " ".join(text.partition("\n\n")[0].split())
    section = re.search(r"^Parameters\n-+\n(.*?)(?=^\w+\n--|\Z)", text, re.MULTILINE | re.DOTALL)
    meanings: dict[str, str] = {}
    for names, meaning in re.findall(r"^(\w[\w, ]*)\n((?:    .*\n?)+)", section[1] if section else "", re.MULTILINE):
        meanings |= dict.fromkeys(re.split(", ", names), re.sub(r"(?<=\.) .*", "", " ".join(meaning.split())))
    words: dict[str, str] = question.command_words  # type: ignore[attr-defined]
    return words[""] or about, meanings | words


def _option(question: Callable[..., Any], one: inspect.Parameter, meaning: str) -> Any:
    """Return the option of a parameter of a question's own."""
    if one.name in _SHARED:
        shared, told = get_args(_SHARED[one.name])
        return Annotated[shared | None if one.default is None else shared, told]
    if one.name == "targets":
        told = typer.Option(
            "--target",
            "-t",
            help=meaning if "epeat" in meaning else f"{meaning} Repeatable.",
            metavar="COLUMN",
            autocompletion=complete_column,
        )
        return Annotated[list[str] if one.default is one.empty else list[str] | None, told]
    hint = one.annotation
    if isinstance(hint, str):
        hint = eval(hint, inspect.unwrap(question).__globals__)
    words, types = divided(hint)
    kind: Any = Literal[words] if words else next((kind for kind in (bool, int, float, str) if kind in types), str)
    return Annotated[kind | None if NoneType in types else kind, typer.Option(option_of(one.name), help=meaning)]


def _panel(one: inspect.Parameter) -> str | None:
    """Return the heading in the help under which an option stands."""
    found: str | None = get_args(one.annotation)[1].rich_help_panel
    return found


def _explained(kind: Any, words: str | None) -> Any:
    """Return the option --explain of a kind of result: its docstring says what is explained about a variable."""
    told = re.split(r"[.:;]", inspect.cleandoc(kind.explain.__doc__))[0].removeprefix("Return ")
    found = next((word for word in _THIS if word in told), "")
    told = told.replace(found, _THIS[found], 1) if found else told
    of_two = len(inspect.signature(kind.explain).parameters) == 3
    return Annotated[list[str] | None, explains(words or " ".join(told.split()), of_two)]


def _add(name: str) -> None:
    """Add a command; its question is imported only now."""
    add_command(name, getattr(serape, NAMES.get(name, name.replace("-", "_"))))


for _name in [name for name, module in MODULES.items() if module == __name__]:
    command_later(_name, partial(_add, _name))
