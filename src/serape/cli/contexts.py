"""`serape contexts`: a blanket in several contexts, told apart by a column or by files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import serape
from serape.cli.base import command
from serape.cli.completion import complete_column
from serape.cli.data_options import DataOptions
from serape.cli.options import Files, SearchOptions, Target, ask, explains
from serape.errors import OptionError

_FILE = "file"  # the name of the context where each file is one


@command(
    "contexts",
    "serape contexts patients.csv --target HeartDisease --context Ward --explain Age",
    "serape contexts patients.csv --target HeartDisease --context Ward --picture contexts.png --report report.html",
    "serape contexts patients.csv --target HeartDisease --context Ward --json > found.json",
)
def contexts(
    data: DataOptions,
    target: Target,
    *,
    context: Annotated[
        str | None,
        typer.Option(
            help="The column that says from which context a row is, such as a site, a year or an intervention. "
            "Without it, each of several files is a context.",
            metavar="COLUMN",
            autocompletion=complete_column,
        ),
    ] = None,
    search: SearchOptions,
    explain: Annotated[list[str] | None, explains("where this column is a member")] = None,
    files: Files,
) -> None:
    """Find the blanket of a column in several contexts: what is in all of them, and what differs.

    Prints the members with the contexts that have them, whether the law of the target differs, and notes.
    """
    ask(
        lambda table, **settings: serape.context_blankets(table, target, context or _FILE, **settings),
        data,
        search,
        files,
        explain,
        read=data.read if context is not None else lambda: _of_files(data),
    )


def _of_files(data: DataOptions) -> serape.Table:
    """Return the rows of several files, with a column that says from which file each is."""
    source = data.source
    if not isinstance(source, list):
        raise OptionError("--context COLUMN says from which context a row is; or give several files, one for each")
    if data.cluster is not None or data.workers is not None:
        raise OptionError("on a cluster, --context COLUMN must say from which context a row is")
    stems = [Path(path).stem for path in source]
    names = stems if len(set(stems)) == len(stems) else source
    return serape.join_tables(dict(zip(names, source, strict=True)), _FILE, **data.arguments())
