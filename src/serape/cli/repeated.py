"""`serape path` and `serape stability`: one question, repeated at alphas, and in drawn rows."""

from __future__ import annotations

from typing import Annotated, Any, Literal, get_args

import typer

import serape
from serape.cli.base import command
from serape.cli.data_options import DataOptions
from serape.cli.options import (
    Files,
    FindsOption,
    OptionalRule,
    OptionalTarget,
    QuestionOptions,
    ScoreOption,
    SearchOptions,
    Target,
    ask,
    explains,
)
from serape.errors import OptionError
from serape.questions.alpha_path import ALPHAS
from serape.types import FindsEdges


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
    explain: Annotated[list[str] | None, explains("from which alpha on this column is found")] = None,
    files: Files,
) -> None:
    """Find which columns enter the blanket of a column as alpha grows.

    Prints the smallest alpha at which each column enters.
    """
    ask(
        lambda table, **settings: serape.alpha_path(table, target, alpha or None, finds=finds, **settings),
        data,
        search,
        files,
        explain,
        stopped=lambda found: len(found.alphas) < len(set(alpha or ALPHAS)),
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
    explain: Annotated[
        list[str] | None,
        explains("in how many draws this column is found or, as COLUMN,COLUMN, whether two are adjacent"),
    ] = None,
    files: Files,
) -> None:
    """Find how often each column, or each edge, is in the answer when the search is repeated on drawn rows.

    Prints the share of the draws in which each is found, and a bound on the expected number of false selections.
    """
    if threshold is not None and not 0 < threshold <= 1:
        raise OptionError(f"--threshold must be above 0 and at most 1, not {threshold:g}")
    if max_false is not None and not (max_false > 0 and threshold is None and sampling == "half"):
        raise OptionError("--max-false takes a number above 0, without --threshold, and with --sampling half")
    if target is None and finds not in get_args(FindsEdges):
        raise OptionError(f"--finds {finds} is about a column; name it with --target")
    own = {"target": target, "draws": draws, "sampling": sampling, "finds": finds, "rule": rule, "score": score}

    def show(found: serape.Stability | serape.EdgeStability) -> None:
        least = found.resolved(threshold, max_false, assume)
        bound = found.false_selections(least, assume) if found.pairs and 0.5 < least <= 1 else None
        more = _selected(found, least, bound)
        never = "no threshold keeps the expected number of false selections so low; use more draws or a smaller alpha"
        also = [str(bound)] if bound is not None else [never] if least > 1 else []
        files.show(found, explain, more=more, also=also, threshold=least)
        files.write(found, more, threshold=threshold, max_false=max_false, assume=assume)

    ask(
        lambda table, **settings: serape.stability(table, **own, **settings),  # type: ignore[call-overload]
        data,
        search,
        files,
        show=show,
        stopped=lambda found: found.draws < draws,
    )


def _selected(
    found: serape.Stability | serape.EdgeStability, threshold: float, bound: serape.FalseSelections | None
) -> dict[str, Any]:
    """Return what is stable at a threshold, which JSON has besides the result."""
    stable: list[Any] = [item for item, share in found.frequencies.items() if share >= threshold]
    if bound is None:
        return {"threshold": threshold, "stable": stable}
    told = {"assume": bound.assume, "expected_false": bound.bound, "assumptions": bound.assumptions}
    return {"threshold": threshold, "stable": stable, **told}
