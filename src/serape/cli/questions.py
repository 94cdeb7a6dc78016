"""The commands of questions that have none of their own: made of their signatures and docstrings.

A question with `@question(command=(…))`, its examples, has one, which `app` lists. What it takes is in its signature,
the settings among it; what its parameters mean is in its docstring; what it prints and writes is what its kind of
result declares. A question is imported when its command is looked up.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from functools import partial
from types import NoneType
from typing import Annotated, Any, Literal

import typer

import serape
from serape.cli.app import MODULES
from serape.cli.base import answer, command, command_later, parameter
from serape.cli.completion import complete_column
from serape.cli.data_options import DataOptions
from serape.cli.options import AsJson, Output, Picture, QuestionOptions, Report, Target, check_files, write_files
from serape.cli.settings_options import SettingOptions
from serape.cli.show import show_kind
from serape.settings import FIELDS, DataSettings, divided

_FILES = {"picture": Picture, "output": Output, "report": Report}


def add_command(question: Callable[..., Any], *examples: str) -> None:
    """Add the command of a question."""
    taken = inspect.signature(question).parameters
    settings = tuple(name for name in FIELDS if name in taken and name not in DataSettings.__dataclass_fields__)
    of_algorithm = "algorithm" in settings
    search = type("Search", (QuestionOptions if of_algorithm else SettingOptions,), {"settings": settings})
    own = {name: one for name, one in taken.items() if name not in (*FIELDS, "data", "algorithm_options")}

    def ask(data: DataOptions, *, search: SettingOptions, as_json: bool, explain: Any = None, **given: Any) -> None:
        files = {name: given.pop(name) for name in _FILES}
        check_files(files["output"], picture=files["picture"], report=files["report"])
        asked = search.checked()
        table = data.read()

        def show(found: Any) -> None:
            show_kind(found, explain or (), as_json)
            write_files(found, **files)

        own = {name: value for name, value in given.items() if value != []}
        answer(lambda: question(table, **own, **asked), show, lambda found: bool(getattr(found, "interrupted", False)))

    about, meanings = _described(question)
    options = {
        "data": (DataOptions, inspect.Parameter.empty),
        **{name: (_option(question, one, meanings.get(name, "")), one.default) for name, one in own.items()},
        "search": (search, inspect.Parameter.empty),
        "explain": (_explained(question), None),
        **{name: (hint, None) for name, hint in _FILES.items()},
        "as_json": (AsJson, False),
    }
    if options["explain"][0] is None:
        del options["explain"]
    parameters = [parameter(name, hint, default) for name, (hint, default) in options.items()]
    ask.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    ask.__annotations__ = {one.name: one.annotation for one in parameters}
    command(question.__name__.replace("_", "-"), *examples, about=about)(ask)


def _described(question: Callable[..., Any]) -> tuple[str, dict[str, str]]:
    """Return the first sentence of a docstring, and what it says of each parameter."""
    text = inspect.cleandoc(question.__doc__ or "")
    about = " ".join(text.partition("\n\n")[0].split())
    section = re.search(r"^Parameters\n-+\n(.*?)(?=^\w+\n--|\Z)", text, re.MULTILINE | re.DOTALL)
    meanings: dict[str, str] = {}
    for names, meaning in re.findall(r"^(\w[\w, ]*)\n((?:    .*\n?)+)", section[1] if section else "", re.MULTILINE):
        meanings |= dict.fromkeys(re.split(", ", names), " ".join(meaning.split()))
    return about, meanings


def _option(question: Callable[..., Any], one: inspect.Parameter, meaning: str) -> Any:
    """Return the option of a parameter of a question's own."""
    if one.name == "target":
        return Target
    if one.name == "targets":
        told = typer.Option(
            "--target",
            "-t",
            help=f"{meaning} Repeatable.",
            metavar="COLUMN",
            autocompletion=complete_column,
        )
        return Annotated[list[str] if one.default is one.empty else list[str] | None, told]
    hint = one.annotation
    if isinstance(hint, str):
        hint = eval(hint, inspect.unwrap(question).__globals__)
    words, types = divided(hint)
    kind: Any = Literal[words] if words else next((kind for kind in (bool, int, float, str) if kind in types), str)
    flag = [f"--{one.name.replace('_', '-')}"] if kind is bool else []
    return Annotated[kind | None if NoneType in types else kind, typer.Option(*flag, help=meaning)]


def _explained(question: Callable[..., Any]) -> Any:
    """Return the option --explain, if the kind of result explains something about a variable."""
    kind: Any = getattr(serape, str(question.__annotations__.get("return")).strip("'"), None)
    if not hasattr(kind, "explain") or len(inspect.signature(kind.explain).parameters) != 2:
        return None
    told = inspect.cleandoc(kind.explain.__doc__).partition(".")[0].removeprefix("Return ")
    return Annotated[
        list[str] | None,
        typer.Option(help=f"Explain {told}; repeatable.", metavar="COLUMN", rich_help_panel="Output"),
    ]


def _add(name: str) -> None:
    """Add a command; its question is imported only now."""
    question = getattr(serape, name.replace("-", "_"))
    add_command(question, *question.command_examples)


for _name in [name for name, module in MODULES.items() if module == __name__]:
    command_later(_name, partial(_add, _name))
