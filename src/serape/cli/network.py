"""`serape network`: the network behind all columns, beside the true one if it is known."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

import serape
from serape.cli.base import command
from serape.cli.data_options import DataOptions
from serape.cli.options import (
    CheckpointOption,
    GraphFiles,
    ScoreOption,
    SearchOptions,
    Truth,
    ask,
    explains,
    read_network,
)
from serape.errors import OptionError


@command(
    "network",
    "serape network patients.csv --algorithm mmhc --picture net.png --bif net.bif",
    "serape network patients.csv --algorithm ges --score bic --report net.html",
    "serape sample alarm --rows 5000 | serape network - --truth alarm",
    "serape network patients.csv --format dot > net.dot",
)
def network(
    data: DataOptions,
    *,
    search: SearchOptions,
    score: ScoreOption = "auto",
    ess: Annotated[float, typer.Option(help="Equivalent sample size of the BDeu score.")] = 1.0,
    checkpoint: CheckpointOption = None,
    explain: Annotated[
        list[str] | None, explains("whether two columns are adjacent, in which direction, and why", of_two=True)
    ] = None,
    truth: Truth = None,
    bif: Annotated[
        Path | None,
        typer.Option(help="Write the network with fitted probabilities to this file.", rich_help_panel="Output"),
    ] = None,
    files: GraphFiles,
) -> None:
    """Find the network behind a table: which columns are adjacent, and the directions of the arcs.

    Prints the edges with their evidence.
    """
    true = None if truth is None else read_network(truth)

    def question(table: serape.Table, **settings: Any) -> serape.Structure:
        if true is not None and set(true.variables) != set(table.names):
            raise OptionError(f"--truth {truth} and the table have different variables; both must have the same")
        return serape.network(table, score=score, equivalent_sample_size=ess, checkpoint=checkpoint, **settings)

    def show(found: serape.Structure) -> None:
        drawn: dict[str, Any] = {}
        more: dict[str, Any] = {}
        also: list[str] = []
        if true is not None:
            comparison = found.compare(true)
            drawn, also = {"truth": true.graph}, [str(comparison)]
            more = {"comparison": {**comparison.measures(), "half_directed": comparison.half_directed}}
        files.show(found, explain, more=more, also=also)
        files.write(found, **drawn)
        if bif is None:
            return
        if found.complete:
            for note in serape.write_bif(found.fit(), bif):
                typer.echo(f"serape: {bif}: {note}", err=True)
        else:
            typer.echo(f"serape: the network is not complete, so {bif} is not written", err=True)

    ask(question, data, search, files, show=show, others=[bif])
