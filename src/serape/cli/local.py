"""`serape blanket` and `serape neighbours`: questions about one column."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import typer

import serape
from serape.cli.base import command
from serape.cli.data_options import DataOptions
from serape.cli.options import Files, Hidden, SearchOptions, Target, ask, explains
from serape.cli.show import show_result
from serape.errors import OptionError
from serape.results.result import Result

_PRINTS = "Prints the members with the test that decided on each, then how they were found and notes."


class ResultFiles(Files):
    """What is printed and written of a blanket or a neighbourhood."""

    def show(self, found: Result, explain: Sequence[str] | None = None, **more: Any) -> None:
        """Print the members with their tests."""
        del more
        show_result(found, explain or (), self.as_json)


@command(
    "neighbours",
    "serape neighbours patients.csv --target HeartDisease --alpha 0.01 --explain Anxiety",
    "serape neighbours patients.csv --target HeartDisease --algorithm hiton-pc --picture neighbours.png",
    about=f"Find the parents and children of a column.\n\n{_PRINTS}",
    alias="neighbors",
)
@command(
    "blanket",
    "serape blanket patients.csv --target HeartDisease --alpha 0.01 --explain Weight",
    "serape blanket patients.csv --target HeartDisease --algorithm hiton-mb --picture blanket.png --report report.html",
    "serape blanket patients.csv --target HeartDisease --hidden",
    "serape sample alarm --rows 5000 | serape blanket - --target HR --json > found.json",
    about=f"Find the Markov blanket of a column.\n\n{_PRINTS}",
)
def local(
    context: typer.Context,
    data: DataOptions,
    target: Target,
    *,
    search: SearchOptions,
    hidden: Hidden = False,
    explain: Annotated[list[str] | None, explains("why this column is in the answer or not")] = None,
    files: ResultFiles,
) -> None:
    """Find the parents and children, or the blanket, by the name of the command."""
    question = serape.markov_blanket if context.info_name == "blanket" else serape.parents_children
    if hidden and context.info_name != "blanket":
        raise OptionError("--hidden is an option of `serape blanket` and `serape causes`; leave it out")
    own: dict[str, Any] = {"target": target, **({"hidden": True} if hidden else {})}
    ask(question, own, data, search, files, explain)
