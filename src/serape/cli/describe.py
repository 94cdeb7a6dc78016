"""`serape describe`: what is in a file."""

from __future__ import annotations

import typer

import serape
from serape.cli.base import command, in_command_words
from serape.cli.data_options import DataOptions
from serape.cli.options import AsJson, OptionalTarget, Output, Picture, Report, check_files, write_files
from serape.cli.show import show_description


@command(
    "describe",
    "serape describe patients.csv",
    "serape describe patients.csv --target HeartDisease --json > described.json",
)
def describe(
    data: DataOptions,
    target: OptionalTarget = None,
    *,
    picture: Picture = None,
    output: Output = None,
    report: Report = None,
    as_json: AsJson = False,
) -> None:
    """Describe a file: the kind of every column and why, what is odd, and what a search would choose.

    Prints a table of the columns, then notes.
    """
    check_files(output, picture=picture, report=report)
    found = serape.describe(data.source, target, **data.arguments())
    in_command_words(found)
    if as_json:
        typer.echo(found.to_json(), nl=False)
    else:
        show_description(found)
    write_files(found, output, report, picture)
