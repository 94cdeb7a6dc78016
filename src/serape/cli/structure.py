"""`serape region`, `serape skeleton` and `serape network`: questions about many columns."""

from __future__ import annotations

import json
import math
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

import serape
from serape.cli.base import answer, command
from serape.cli.data_options import DataOptions
from serape.cli.options import (
    AsJson,
    Checkpoint,
    Format,
    GraphOutput,
    Picture,
    Report,
    Rule,
    Score,
    SearchOptions,
    Target,
    Truth,
    check_files,
    read_network,
)
from serape.cli.show import print_json, print_line, show_edges, show_structure
from serape.errors import OptionError
from serape.files import atomic_write
from serape.formats import SUFFIXES, dagitty_text, dot_text, graphml_text
from serape.results import pictures
from serape.results.displayed import rate_text
from serape.results.saved import finite

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
    picture: Picture = None,
    output: RegionOutput = None,
    format_: RegionFormat = "table",
    as_json: AsJson = False,
) -> None:
    """Find the columns within a number of edges of a column, and the edges on the way.

    Prints the edges with their evidence.
    """
    check_files(output, picture=picture)
    settings = search.checked()
    table = data.read()

    def show(found: Any) -> None:
        printed = asked_format(format_, as_json)
        if printed == "table":
            _show_region(found)
        else:
            typer.echo(_region_text(found, printed), nl=False)
        if output is not None:
            atomic_write(output, _region_text(found, SUFFIXES.get(output.suffix.lower(), "json")))
        if picture is not None:
            pictures.save_picture(pictures.draw_graph(found, target=found.graph["target"]), picture)

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


def _region_text(found: Any, format_: str) -> str:
    """Return a region as text in a format."""
    if format_ == "dot":
        return dot_text(found, target=found.graph["target"])
    if format_ == "graphml":
        return graphml_text(found)
    if format_ == "dagitty":
        return dagitty_text(found)
    content = {
        **found.graph,
        "nodes": [{"name": name, "distance": steps} for name, steps in found.nodes(data="distance")],
        "edges": [
            {"from": a, "to": b, "p": math.exp(evidence["log_p"]) if "log_p" in evidence else None, **evidence}
            for a, b, evidence in found.edges(data=True)
        ],
    }
    return json.dumps(finite(content), indent=1, allow_nan=False, default=str) + "\n"


def _show_region(found: Any) -> None:
    about = found.graph
    edges = "1 edge" if about["depth"] == 1 else f"{about['depth']} edges"
    print_line(f"Within {edges} of {about['target']}: {len(found) - 1} variables")
    show_edges([(a, "–", b, evidence) for a, b, evidence in found.edges(data=True)])
    print_line(
        f"by {about['algorithm']} with {about['test']} at alpha {about['alpha']:g}{rate_text(about['fdr'])}: "
        f"{about['tests']:,} tests, {about['skipped']:,} skipped, {about['seconds']:.3g} s"
    )
    if not about["complete"]:
        print_line("not complete: this is the result so far")
    for note in about["notes"]:
        print_line(f"note: {note}")


@command(
    "skeleton",
    "serape skeleton patients.csv --algorithm hiton-pc --jobs -1 --checkpoint kept.jsonl",
    "serape skeleton patients.csv --rule or --report skeleton.html",
)
def skeleton(
    data: DataOptions,
    *,
    search: SearchOptions,
    rule: Rule = "and",
    checkpoint: Checkpoint = None,
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
    score: Score = "auto",
    ess: Annotated[float, typer.Option(help="Equivalent sample size of the BDeu score.")] = 1.0,
    checkpoint: Checkpoint = None,
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
