"""`serape contexts` and `serape joint`: a blanket in several contexts, and the blanket of several columns together."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import serape
from serape.cli.base import answer, command
from serape.cli.completion import complete_column
from serape.cli.data_options import DataOptions
from serape.cli.options import AsJson, Output, Picture, Report, SearchOptions, Target, check_files, write_files
from serape.cli.show import show_kind
from serape.errors import OptionError

_FILE = "file"  # the name of the context where each file is one

Explain = Annotated[
    list[str] | None,
    typer.Option(help="Explain where this column is a member; repeatable.", metavar="COLUMN", rich_help_panel="Output"),
]


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
    explain: Explain = None,
    picture: Picture = None,
    output: Output = None,
    report: Report = None,
    as_json: AsJson = False,
) -> None:
    """Find the blanket of a column in several contexts: what is in all of them, and what differs.

    Prints the members with the contexts that have them, whether the law of the target differs, and notes.
    """
    check_files(output, picture=picture, report=report)
    settings = search.checked()
    table = data.read() if context is not None else _files(data)

    def show(found: serape.ContextBlankets) -> None:
        show_kind(found, explain or (), as_json)
        write_files(found, output, report, picture)

    answer(lambda: serape.context_blankets(table, target, context or _FILE, **settings), show)


def _files(data: DataOptions) -> serape.Table:
    """Return the rows of several files, with a column that says from which file each is."""
    source = data.source
    if not isinstance(source, list):
        raise OptionError("--context COLUMN says from which context a row is; or give several files, one for each")
    if data.cluster is not None or data.workers is not None:
        raise OptionError("on a cluster, --context COLUMN must say from which context a row is")
    stems = [Path(path).stem for path in source]
    names = stems if len(set(stems)) == len(stems) else source
    return serape.join_tables(dict(zip(names, source, strict=True)), _FILE, **data.arguments())


@command(
    "joint",
    "serape joint patients.csv --target ECG --target ChestPain",
    "serape joint patients.csv --target ECG --target ChestPain --picture joint.png --report report.html --json",
)
def joint(
    data: DataOptions,
    target: Annotated[
        list[str],
        typer.Option(
            "--target",
            "-t",
            help="A target: a column that the question is about. Repeat it for each of the targets.",
            metavar="COLUMN",
            autocompletion=complete_column,
        ),
    ],
    *,
    search: SearchOptions,
    explain: Explain = None,
    picture: Picture = None,
    output: Output = None,
    report: Report = None,
    as_json: AsJson = False,
) -> None:
    """Find the blanket of several columns together: the smallest set of others that tells all about them.

    Prints the members with the targets that they serve, what all targets share, and notes.
    """
    check_files(output, picture=picture, report=report)
    settings = search.checked()
    table = data.read()

    def show(found: serape.JointBlanket) -> None:
        show_kind(found, explain or (), as_json)
        write_files(found, output, report, picture)

    answer(lambda: serape.joint_blanket(table, target, **settings), show)
