"""`serape compare`: a saved result beside the truth."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

import serape
from serape.cli.base import command
from serape.cli.completion import complete_network
from serape.cli.options import Files, explains, read_network
from serape.errors import OptionError


@command(
    "compare",
    "serape sample alarm --rows 2000 | serape network - --algorithm hiton-pc --output found.json",
    "serape compare found.json alarm --picture compared.png --report compared.html",
)
def compare(
    found: Annotated[str, typer.Argument(help="A saved result: a blanket, blankets, or a network.", metavar="FOUND")],
    truth: Annotated[
        str,
        typer.Argument(
            help="The truth: a bundled network, a .bif file, or another saved result.",
            metavar="TRUTH",
            autocompletion=complete_network,
        ),
    ],
    *,
    explain: Annotated[
        list[str] | None, explains("what differs about this column or, for networks, this edge as COLUMN,COLUMN")
    ] = None,
    files: Files,
) -> None:
    """Compare a saved result with the truth: precision, recall, and what differs.

    Prints the measures, one a row, and the edges that differ.
    """
    files.check({})
    one = serape.load_result(found)
    true = serape.load_result(truth) if Path(truth).suffix == ".json" else read_network(truth).graph
    compared = _compared(found, one, true)
    files.present(compared, explain)


def _compared(name: str, found: Any, truth: Any) -> serape.Comparison | serape.GraphComparison:
    if isinstance(found, serape.Structure):
        return found.compare(truth.graph if isinstance(truth, serape.Structure) else truth)
    if isinstance(found, serape.Result | serape.Blankets):
        return serape.compare(found, truth)
    raise OptionError(f"{name} is a {type(found).__name__}; a blanket, blankets, or a network can be compared")
