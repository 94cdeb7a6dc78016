"""`serape knockoffs`: the columns that stand out from their knockoffs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

import serape
from serape.cli.base import answer, command
from serape.cli.data_options import DataOptions
from serape.cli.options import Files, Jobs, Target, explains, read_network
from serape.data.writing import write_table
from serape.errors import OptionError
from serape.questions.knockoffs import NETWORK

_HOW, _OUTPUT = "How to search", "Output"


@command(
    "knockoffs",
    "serape knockoffs patients.csv --target HeartDisease --fdr 0.2",
    "serape knockoffs patients.csv --target HeartDisease --network hpc --seed 1 --json",
)
def knockoffs(
    data: DataOptions,
    target: Target,
    *,
    network: Annotated[
        str,
        typer.Option(
            help="The law of the columns: an algorithm of `serape network`, or a .bif file.",
            metavar="NAME",
            rich_help_panel=_HOW,
        ),
    ] = NETWORK,
    fdr: Annotated[
        float, typer.Option(help="Bound the share of false columns among those selected.", rich_help_panel=_HOW)
    ] = 0.2,
    offset: Annotated[
        int,
        typer.Option(
            help="1: knockoff+, which bounds the share and selects at least 1 / fdr columns, or none. 0: a weaker "
            "bound, and any number.",
            rich_help_panel=_HOW,
        ),
    ] = 1,
    seed: Annotated[int | None, typer.Option(help="Seed for drawing knockoffs.", rich_help_panel=_HOW)] = None,
    jobs: Jobs = 1,
    copies: Annotated[
        Path | None, typer.Option(help="Write the knockoffs to this .csv file.", rich_help_panel=_OUTPUT)
    ] = None,
    explain: Annotated[list[str] | None, explains("whether this column stands out from its knockoff")] = None,
    files: Files,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.", rich_help_panel=_OUTPUT)] = False,
) -> None:
    """Select the columns that tell more about a column than their knockoffs do.

    Prints W of every column, which columns are selected, how the knockoffs were drawn, and notes.
    """
    if offset not in (0, 1):
        raise OptionError(f"--offset is 0 or 1, not {offset}")
    files.check({}, copies)
    table = data.read()
    law = read_network(network) if Path(network).suffix in (".bif", ".gz") else network
    settings: dict[str, Any] = {"random_state": seed, "n_jobs": jobs, "progress": False if quiet else None}

    def show(found: serape.KnockoffSelection) -> None:
        files.present(found, explain)
        if copies is not None:
            write_table(serape.knockoffs(table, target, law, **settings), copies)

    answer(
        lambda: serape.knockoff_filter(table, target, law, fdr=fdr, offset=1 if offset else 0, **settings),
        show,
    )
