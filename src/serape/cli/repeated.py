"""`serape path` and `serape stability`: one question, repeated at many alphas or in many draws of rows."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

import serape
from serape.cli.base import answer, command
from serape.cli.options import (
    AsJson,
    DataOptions,
    Finds,
    Output,
    Picture,
    QuestionOptions,
    SearchOptions,
    Target,
    check_files,
)
from serape.cli.show import print_json, show_path, show_stability
from serape.errors import OptionError
from serape.files import atomic_write
from serape.results.result import finite


@command(
    "path",
    "serape path patients.csv --target HeartDisease --picture path.png",
    "serape path patients.csv --target HeartDisease --algorithm hiton-mb --alpha 0.001 --alpha 0.05 --json",
)
def path(
    data: DataOptions,
    target: Target,
    *,
    finds: Finds = "blanket",
    alpha: Annotated[
        list[float] | None,
        typer.Option(
            help="A significance level; repeatable. 25 from 1e-10 to 0.2 if not given.", rich_help_panel="How to search"
        ),
    ] = None,
    search: QuestionOptions,
    picture: Picture = None,
    output: Output = None,
    as_json: AsJson = False,
) -> None:
    """Find which columns enter the blanket of a column as alpha grows."""
    check_files(output, picture=picture)
    table = data.table()

    def show(found: serape.AlphaPath) -> None:
        enters = {row["variable"]: row["enters"] for row in found.records}
        _print({**asdict(found), "enters": enters}, lambda: show_path(found), as_json, output)
        if picture is not None:
            found.plot(picture)

    answer(
        lambda: serape.alpha_path(
            table,
            target,
            alpha or None,
            finds=finds,
            **search.arguments(),
        ),
        show,
    )


@command(
    "stability",
    "serape stability patients.csv --target HeartDisease --alpha 0.01 --picture stability.png",
    "serape stability patients.csv --target HeartDisease --algorithm hiton-mb --draws 200 --jobs -1 --json",
)
def stability(
    data: DataOptions,
    target: Target,
    *,
    finds: Finds = "blanket",
    draws: Annotated[int, typer.Option(help="The number of draws.", rich_help_panel="How to search")] = 100,
    sampling: Annotated[
        Literal["half", "bootstrap"],
        typer.Option(
            help="Draw half of the rows, or as many as there are, with replacement.", rich_help_panel="How to search"
        ),
    ] = "half",
    threshold: Annotated[
        float,
        typer.Option(help="The least share of draws in which a stable column is found.", rich_help_panel="Output"),
    ] = 0.5,
    search: SearchOptions,
    picture: Picture = None,
    output: Output = None,
    as_json: AsJson = False,
) -> None:
    """Find how often each column is in the answer when the search is repeated on drawn rows."""
    check_files(output, picture=picture)
    if not 0 < threshold <= 1:
        raise OptionError(f"--threshold must be above 0 and at most 1, not {threshold:g}")
    table = data.table()

    def show(found: serape.Stability) -> None:
        stable = {"threshold": threshold, "stable": found.stable(threshold)}
        _print({**asdict(found), **stable}, lambda: show_stability(found, threshold), as_json, output)
        if picture is not None:
            found.plot(picture, threshold=threshold)

    answer(
        lambda: serape.stability(
            table,
            target,
            draws=draws,
            sampling=sampling,
            finds=finds,
            **search.arguments(),
        ),
        show,
    )


def _print(content: dict[str, Any], print_tables: Callable[[], None], as_json: bool, output: Path | None) -> None:
    if as_json:
        print_json(content)
    else:
        print_tables()
    if output is not None:
        atomic_write(output, json.dumps(finite(content), indent=1, allow_nan=False) + "\n")
