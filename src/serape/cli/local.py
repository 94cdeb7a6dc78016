"""`serape blanket` and `serape neighbours`: questions about one column."""

from __future__ import annotations

from typing import Annotated

import typer

import serape
from serape.cli.base import answer, command
from serape.cli.data_options import DataOptions
from serape.cli.options import (
    AsJson,
    Hidden,
    Output,
    Picture,
    Report,
    SearchOptions,
    Target,
    check_files,
    write_files,
)
from serape.cli.show import show_result
from serape.errors import OptionError
from serape.results.result import Result

_PRINTS = "Prints the members with the test that decided on each, then how they were found and notes."


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
def ask(
    context: typer.Context,
    data: DataOptions,
    target: Target,
    *,
    search: SearchOptions,
    hidden: Hidden = False,
    explain: Annotated[
        list[str] | None,
        typer.Option(
            help="Explain why this column is in the answer or not; repeatable.",
            metavar="COLUMN",
            rich_help_panel="Output",
        ),
    ] = None,
    picture: Picture = None,
    output: Output = None,
    report: Report = None,
    as_json: AsJson = False,
) -> None:
    """Find the parents and children, or the blanket, by the name of the command."""
    check_files(output, picture=picture, report=report)
    question = serape.markov_blanket if context.info_name == "blanket" else serape.parents_children
    settings = search.checked()
    if hidden and context.info_name != "blanket":
        raise OptionError("--hidden is an option of `serape blanket` and `serape causes`; leave it out")
    if hidden:
        settings["hidden"] = True
    table = data.read()

    def show(found: Result) -> None:
        show_result(found, explain or (), as_json)
        write_files(found, output, report, picture)

    answer(
        lambda: question(table, target, **settings),
        show,
    )
