"""`serape region`, `serape skeleton` and `serape network`: questions about many columns."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Literal

import typer

import serape
from serape.cli.base import answer, command
from serape.cli.data_options import DataOptions
from serape.cli.options import (
    AsJson,
    CheckpointOption,
    Format,
    GraphOutput,
    Picture,
    Report,
    RuleOption,
    ScoreOption,
    SearchOptions,
    Target,
    Truth,
    check_files,
    read_network,
    write_files,
)
from serape.cli.show import print_json, print_line, show_edges, show_structure
from serape.errors import OptionError

RegionFormat = Annotated[
    Literal["table", "json", "dot", "graphml", "dagitty"],
    typer.Option("--format", help="What to print.", rich_help_panel="Output"),
]
RegionOutput = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        help="Also save the result to this file: .dot, .graphml, .dagitty, or JSON.",
        rich_help_panel="Output",
    ),
]


@command(
    "region",
    "serape region patients.csv --target HeartDisease --depth 2 --picture region.png",
    "serape region patients.csv --target HeartDisease --depth 1 --json",
)
def region(
    data: DataOptions,
    target: Target,
    *,
    depth: Annotated[int, typer.Option(help="The largest number of edges between the target and a column.")] = 2,
    search: SearchOptions,
    explain: Annotated[
        list[str] | None,
        typer.Option(help="Explain how this column is near; repeatable.", metavar="COLUMN", rich_help_panel="Output"),
    ] = None,
    picture: Picture = None,
    output: RegionOutput = None,
    report: Report = None,
    format_: RegionFormat = "table",
    as_json: AsJson = False,
) -> None:
    """Find the columns within a number of edges of a column, and the edges on the way.

    Prints the edges with their evidence.
    """
    check_files(output, picture=picture, report=report)
    settings = search.checked()
    table = data.read()

    def show(found: serape.Region) -> None:
        printed = asked_format(format_, as_json)
        explanations = [found.explain(name) for name in explain or ()]
        if printed == "table":
            title, *rest = str(found).splitlines()
            print_line(title)
            show_edges(found.edges_with_evidence())
            for line in rest:
                print_line(line.strip())
            for text in explanations:
                print_line(f"\n{text}")
        else:
            typer.echo(found.text(printed), nl=False)
        write_files(found, output, report, picture)

    answer(
        lambda: serape.region(
            table,
            target,
            depth,
            **settings,
        ),
        show,
    )


def asked_format(format_: str, as_json: bool) -> str:
    """Return the format to print; --json is short for --format json."""
    if as_json and format_ not in ("table", "json"):
        raise OptionError(f"--json and --format {format_} exclude each other; give one of them")
    return "json" if as_json else format_


@command(
    "skeleton",
    "serape skeleton patients.csv --algorithm hiton-pc --jobs -1 --checkpoint kept.jsonl",
    "serape skeleton patients.csv --rule or --report skeleton.html",
)
def skeleton(
    data: DataOptions,
    *,
    search: SearchOptions,
    rule: RuleOption = "and",
    checkpoint: CheckpointOption = None,
    picture: Picture = None,
    output: GraphOutput = None,
    report: Report = None,
    format_: Format = "table",
    as_json: AsJson = False,
) -> None:
    """Find which columns are adjacent, without the directions of the arcs.

    Prints the edges with their evidence.
    """
    check_files(output, picture=picture, report=report)
    settings = search.checked()
    table = data.read()
    answer(
        lambda: serape.skeleton(
            table,
            rule=rule,
            checkpoint=checkpoint,
            **settings,
        ),
        lambda found: _print(found, asked_format(format_, as_json), output, report, picture),
    )


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
    truth: Truth = None,
    picture: Picture = None,
    bif: Annotated[
        Path | None,
        typer.Option(help="Write the network with fitted probabilities to this file.", rich_help_panel="Output"),
    ] = None,
    output: GraphOutput = None,
    report: Report = None,
    format_: Format = "table",
    as_json: AsJson = False,
) -> None:
    """Find the network behind a table: which columns are adjacent, and the directions of the arcs.

    Prints the edges with their evidence.
    """
    check_files(output, bif, picture=picture, report=report)
    settings = search.checked()
    table = data.read()
    true = None if truth is None else read_network(truth)
    if true is not None and set(true.variables) != set(table.names):
        raise OptionError(f"--truth {truth} and the table have different variables; both must have the same")

    def show(found: serape.Structure) -> None:
        _print(found, asked_format(format_, as_json), output, report, picture, true)
        if bif is None:
            return
        if found.complete:
            for note in serape.write_bif(found.fit(), bif):
                typer.echo(f"serape: {bif}: {note}", err=True)
        else:
            typer.echo(f"serape: the network is not complete, so {bif} is not written", err=True)

    answer(
        lambda: serape.network(
            table,
            score=score,
            equivalent_sample_size=ess,
            checkpoint=checkpoint,
            **settings,
        ),
        show,
    )


def _print(
    found: serape.Structure,
    format_: str,
    output: Path | None,
    report: Path | None,
    picture: Path | None,
    truth: serape.Network | None = None,
) -> None:
    comparison = None if truth is None else found.compare(truth)
    if output is not None:
        found.save(output)
    if format_ == "table":
        show_structure(found, comparison)
    elif format_ == "json" and comparison is not None:
        more = {**asdict(comparison), "half_directed": comparison.half_directed}
        print_json({**found.to_dict(), "comparison": more})
    else:
        typer.echo(found.text(format_), nl=False)
    if report is not None:
        found.report(report)
    if picture is not None:
        found.plot(picture, None if truth is None else truth.graph)
