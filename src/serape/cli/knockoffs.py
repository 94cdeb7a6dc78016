"""`serape knockoffs`: the columns that stand out from their knockoffs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import serape
from serape.cli.base import answer, command
from serape.cli.data_options import DataOptions
from serape.cli.options import AsJson, Jobs, Output, Picture, Report, Target, check_files, read_network, write_files
from serape.cli.show import MAX_COLUMNS, print_grid, print_json, print_line
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
    picture: Picture = None,
    output: Output = None,
    report: Report = None,
    as_json: AsJson = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.", rich_help_panel=_OUTPUT)] = False,
) -> None:
    """Select the columns that tell more about a column than their knockoffs do.

    Prints W of every column, which columns are selected, how the knockoffs were drawn, and notes.
    """
    check_files(output, copies, picture=picture, report=report)
    if offset not in (0, 1):
        raise OptionError(f"--offset is 0 or 1, not {offset}")
    table = data.read()
    law = read_network(network) if Path(network).suffix in (".bif", ".gz") else network
    progress = False if quiet else None

    def show(found: serape.KnockoffSelection) -> None:
        if as_json:
            print_json(found.to_dict())
        else:
            _show(found)
        write_files(found, output, report, picture)
        if copies is not None:
            write_table(serape.knockoffs(table, target, law, random_state=seed, n_jobs=jobs, progress=progress), copies)

    answer(
        lambda: serape.knockoff_filter(
            table, target, law, fdr=fdr, offset=1 if offset else 0, random_state=seed, n_jobs=jobs, progress=progress
        ),
        show,
    )


def _show(found: serape.KnockoffSelection) -> None:
    lines = str(found).splitlines()
    print_line(lines[0])
    heads, rows, total = found._grid(MAX_COLUMNS)
    print_grid(heads, rows)
    if total > len(rows):
        print_line(f"and {total - len(rows):,} more variables (--json lists all)")
    for line in lines[1:]:
        print_line(line.strip())
