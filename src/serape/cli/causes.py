"""`serape causes`: the causes and effects of one column."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

import serape
from serape.cli.base import command
from serape.cli.completion import complete_learner
from serape.cli.data_options import DataOptions
from serape.cli.options import Files, Hidden, SearchOptions, Target, ask, explains


@command(
    "causes",
    "serape causes patients.csv --target HeartDisease --alpha 0.01 --explain Smoking",
    "serape causes patients.csv --target HeartDisease --learner hiton-mb --picture causes.png --report report.html",
    "serape causes patients.csv --target HeartDisease --outcome ECG",
    "serape causes patients.csv --target HeartDisease --hidden",
    "serape sample alarm --rows 5000 | serape causes - --target HR --json > found.json",
)
def causes(
    data: DataOptions,
    target: Target,
    *,
    search: SearchOptions,
    learner: Annotated[
        str,
        typer.Option(
            help="The algorithm that finds the blankets: any for `serape blanket`, or auto.",
            metavar="NAME",
            autocompletion=complete_learner,
            rich_help_panel="How to search",
        ),
    ] = "auto",
    hidden: Hidden = False,
    explain: Annotated[list[str] | None, explains("what this column is to the target")] = None,
    outcome: Annotated[
        list[str] | None,
        typer.Option(
            help="Print the columns to adjust for to estimate the effect of the target on this column; repeatable.",
            metavar="COLUMN",
            rich_help_panel="Output",
        ),
    ] = None,
    files: Files,
) -> None:
    """Find which columns are causes of a column, which are its effects, and which the data cannot tell.

    Prints the neighbours with their roles and the test that decided on each, then how they were found and notes.
    """

    def show(found: serape.Causes) -> None:
        sets = {name: found.adjustment_sets(name) for name in outcome or ()}
        told = [f"\n{_adjustment(found.target, *one)}" for one in sets.items()]
        files.show(found, explain, more={"adjustment_sets": sets} if sets else {}, last=told)
        files.write(found)

    ask(
        lambda table, **settings: serape.causes(table, target, learner=learner, hidden=hidden, **settings),
        data,
        search,
        files,
        show=show,
    )


def _adjustment(target: str, outcome: str, sets: Sequence[Sequence[str]]) -> str:
    """Return what to adjust for, in words."""
    if not sets:
        return f"{target} has no effect on {outcome}, which is one of its causes."
    words = [", ".join(names) or "nothing" for names in sets]
    effect = f"To estimate the effect of {target} on {outcome}, adjust for"
    if len(words) == 1:
        return f"{effect}: {words[0]}."
    return f"{effect} one of these sets; the data do not decide which is right: {'; '.join(words)}."
