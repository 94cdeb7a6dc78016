"""`serape all-blankets`, `path` and `stability`: one question, repeated without members, at alphas, in drawn rows."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal, get_args

import typer

import serape
from serape.cli.base import answer, command
from serape.cli.data_options import DataOptions
from serape.cli.options import (
    AsJson,
    FindsOption,
    OptionalRule,
    OptionalTarget,
    Output,
    Picture,
    QuestionOptions,
    Report,
    ScoreOption,
    SearchOptions,
    Target,
    check_files,
    write_files,
)
from serape.cli.show import print_json, show_kind, show_path, show_stability
from serape.errors import OptionError
from serape.files import atomic_write
from serape.questions.all_blankets import MAX_BLANKETS
from serape.questions.alpha_path import ALPHAS
from serape.results.saved import finite
from serape.types import FindsEdges


@command(
    "all-blankets",
    "serape all-blankets patients.csv --target HeartDisease --alpha 0.01 --picture blankets.png",
    "serape all-blankets patients.csv --target HeartDisease --min-effect 0.002 --report report.html --json",
)
def all_blankets(
    data: DataOptions,
    target: Target,
    *,
    max_blankets: Annotated[
        int, typer.Option(help="Stop when so many blankets are found.", rich_help_panel="How to search")
    ] = MAX_BLANKETS,
    search: SearchOptions,
    explain: Annotated[
        list[str] | None,
        typer.Option(
            help="Explain why this member is indispensable, replaceable or undecided; repeatable.",
            metavar="COLUMN",
            rich_help_panel="Output",
        ),
    ] = None,
    picture: Picture = None,
    output: Output = None,
    report: Report = None,
    as_json: AsJson = False,
) -> None:
    """Find every Markov blanket of a column that the data cannot tell apart.

    Prints the members with what may stand for each, then the blankets, how they were found, and notes.
    """
    check_files(output, picture=picture, report=report)
    settings = search.checked()
    table = data.read()

    def show(found: serape.AllBlankets) -> None:
        show_kind(found, explain or (), as_json)
        write_files(found, output, report, picture)

    answer(lambda: serape.all_blankets(table, target, max_blankets=max_blankets, **settings), show)


@command(
    "path",
    "serape path patients.csv --target HeartDisease --picture path.png",
    "serape path patients.csv --target HeartDisease --algorithm hiton-mb --alpha 0.001 --alpha 0.05 --json",
)
def path(
    data: DataOptions,
    target: Target,
    *,
    finds: FindsOption = "blanket",
    alpha: Annotated[
        list[float] | None,
        typer.Option(
            help="A significance level; repeatable. 25 from 1e-10 to 0.2 if not given.", rich_help_panel="How to search"
        ),
    ] = None,
    search: QuestionOptions,
    picture: Picture = None,
    output: Output = None,
    report: Report = None,
    as_json: AsJson = False,
) -> None:
    """Find which columns enter the blanket of a column as alpha grows.

    Prints the smallest alpha at which each column enters.
    """
    check_files(output, picture=picture, report=report)
    settings = search.checked()
    table = data.read()

    def show(found: serape.AlphaPath) -> None:
        if as_json:
            print_json(found.to_dict())
        else:
            show_path(found)
        write_files(found, output, report, picture)

    answer(
        lambda: serape.alpha_path(
            table,
            target,
            alpha or None,
            finds=finds,
            **settings,
        ),
        show,
        lambda found: len(found.alphas) < len(set(alpha or ALPHAS)),
    )


@command(
    "stability",
    "serape stability patients.csv --target HeartDisease --alpha 0.01 --picture stability.png",
    "serape stability patients.csv --target HeartDisease --algorithm hiton-mb --max-false 0.5 --jobs -1 --json",
    "serape stability patients.csv --finds network --algorithm mmhc --draws 50 --picture edges.png",
)
def stability(
    data: DataOptions,
    target: OptionalTarget = None,
    *,
    finds: Annotated[
        Literal["blanket", "parents-children", "skeleton", "network"],
        typer.Option(
            help="What to find: about the target, or, without a target, about all columns.",
            rich_help_panel="How to search",
        ),
    ] = "blanket",
    draws: Annotated[int, typer.Option(help="The number of draws.", rich_help_panel="How to search")] = 100,
    sampling: Annotated[
        Literal["half", "bootstrap"],
        typer.Option(
            help="Draw half of the rows, or as many as there are, with replacement.", rich_help_panel="How to search"
        ),
    ] = "half",
    rule: OptionalRule = None,
    score: ScoreOption = "auto",
    threshold: Annotated[
        float | None,
        typer.Option(
            help="The least share of draws in which a stable column, or edge, is found; 0.5 if not given.",
            rich_help_panel="Output",
        ),
    ] = None,
    max_false: Annotated[
        float | None,
        typer.Option(
            help="Choose the threshold so that at most this number of false selections is expected.",
            rich_help_panel="Output",
        ),
    ] = None,
    assume: Annotated[
        Literal["none", "unimodal", "r-concave"],
        typer.Option(help="What the bound on false selections assumes.", rich_help_panel="Output"),
    ] = "unimodal",
    search: SearchOptions,
    picture: Picture = None,
    output: Output = None,
    report: Report = None,
    as_json: AsJson = False,
) -> None:
    """Find how often each column, or each edge, is in the answer when the search is repeated on drawn rows.

    Prints the share of the draws in which each is found, and a bound on the expected number of false selections.
    """
    check_files(output, picture=picture, report=report)
    if threshold is not None and not 0 < threshold <= 1:
        raise OptionError(f"--threshold must be above 0 and at most 1, not {threshold:g}")
    if max_false is not None and not (max_false > 0 and threshold is None and sampling == "half"):
        raise OptionError("--max-false takes a number above 0, without --threshold, and with --sampling half")
    if target is None and finds not in get_args(FindsEdges):
        raise OptionError(f"--finds {finds} is about a column; name it with --target")
    settings = search.checked()
    table = data.read()

    def show(found: serape.Stability | serape.EdgeStability) -> None:
        least = found.resolved(threshold, max_false, assume)
        bound = found.false_selections(least, assume) if found.pairs and 0.5 < least <= 1 else None
        content = _selected(found, least, bound)
        if as_json:
            print_json(content)
        else:
            show_stability(found, least, bound)
        if output is not None:
            atomic_write(output, json.dumps(finite(content), indent=1, allow_nan=False) + "\n")
        if report is not None:
            found.report(report)
        if picture is not None:
            found.plot(picture, threshold=threshold, max_false=max_false, assume=assume)

    own = {"target": target, "draws": draws, "sampling": sampling, "finds": finds, "rule": rule, "score": score}
    answer(
        lambda: serape.stability(table, **own, **settings),  # type: ignore[call-overload]
        show,
        lambda found: found.draws < draws,
    )


def _selected(
    found: serape.Stability | serape.EdgeStability, threshold: float, bound: serape.FalseSelections | None
) -> dict[str, Any]:
    """Return a result with what is stable at a threshold, as JSON has it."""
    stable: list[Any] = [item for item, share in found.frequencies.items() if share >= threshold]
    content = {**found.to_dict(), "threshold": threshold, "stable": stable}
    if bound is not None:
        content |= {"assume": bound.assume, "expected_false": bound.bound, "assumptions": bound.assumptions}
    return content
