"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal, Protocol

import typer

import serape
from serape.cli.completion import complete_column, complete_network, complete_option
from serape.cli.settings_options import SettingOptions, setting_option, settings_of
from serape.cli.values import option_entry
from serape.errors import DataError
from serape.settings import RunSettings, SearchSettings

_TESTS, _OUTPUT = "How to search", "Output"

# --- options ---------------------------------------------------------------------------------------------------------

_TARGET = typer.Option(
    "--target",
    "-t",
    help="The target: the column that the question is about.",
    metavar="COLUMN",
    autocompletion=complete_column,
)
Target = Annotated[str, _TARGET]
OptionalTarget = Annotated[str | None, _TARGET]
CheckpointOption = Annotated[
    Path | None,
    typer.Option(help="Keep neighbourhoods in this file, so that a stopped run can continue.", rich_help_panel=_TESTS),
]
Jobs = Annotated[int, setting_option("n_jobs")]
Output = Annotated[
    Path | None,
    typer.Option("--output", "-o", help="Also save the result as JSON to this file.", rich_help_panel=_OUTPUT),
]
GraphOutput = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        help="Also save the result to this file: .dot, .graphml, .dagitty, .bnlearn, or JSON.",
        rich_help_panel=_OUTPUT,
    ),
]
Format = Annotated[
    Literal["table", "json", "dot", "graphml", "dagitty", "bnlearn"],
    typer.Option("--format", help="What to print.", rich_help_panel=_OUTPUT),
]
Report = Annotated[
    Path | None,
    typer.Option(
        help="Write a report to this .html file: graph, evidence, how to reproduce it.",
        rich_help_panel=_OUTPUT,
    ),
]
Picture = Annotated[
    Path | None, typer.Option(help="Draw the result into this .png, .svg or .pdf file.", rich_help_panel=_OUTPUT)
]
FindsOption = Annotated[
    Literal["blanket", "parents-children"], typer.Option(help="What to find.", rich_help_panel=_TESTS)
]
_RULE = typer.Option(
    help="Two columns are adjacent if both neighbourhoods (and), or one of them (or), contain the other column."
)
RuleOption = Annotated[Literal["and", "or"], _RULE]
OptionalRule = Annotated[Literal["and", "or"] | None, _RULE]
ScoreOption = Annotated[
    Literal["auto", "bdeu", "bic", "aic", "k2", "gaussian-bic", "gaussian-ebic", "bge", "cg-bic", "cg-ebic"],
    typer.Option(
        help="The score, for algorithms that use one: the first four for categories, the next three for "
        "numbers, the last two for any columns."
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.", rich_help_panel=_OUTPUT)]
Hidden = Annotated[
    bool,
    typer.Option("--hidden", help="Allow for common causes that are not among the columns.", rich_help_panel=_TESTS),
]
Truth = Annotated[
    str | None,
    typer.Option(
        help="Compare with this network: a bundled one, or a .bif file.",
        metavar="NETWORK",
        autocompletion=complete_network,
        rich_help_panel=_OUTPUT,
    ),
]


class QuestionOptions(SettingOptions):
    """All settings of a search except the level of significance or of false discoveries."""

    settings = settings_of(SearchSettings, RunSettings, without=("alpha", "fdr", "fdr_method"))
    option: Annotated[
        list[str] | None,
        typer.Option(
            help="An option of the algorithm, such as k=2 or symmetry=false; repeatable.",
            metavar="NAME=VALUE",
            autocompletion=complete_option,
            rich_help_panel=_TESTS,
        ),
    ] = None

    def arguments(self) -> dict[str, Any]:
        """Return the settings, and options of the algorithm, as arguments of the questions in Python."""
        return {**super().arguments(), **dict(map(option_entry, self.option or ()))}


class SearchOptions(QuestionOptions):
    """All settings of a search."""

    settings = settings_of(SearchSettings, RunSettings)


def read_network(name: str) -> serape.Network:
    """Return a bundled network, or the network in a BIF file."""
    return serape.read_bif(name) if Path(name).suffix in (".bif", ".gz") else serape.load_network(name)


def check_files(*paths: Path | None, picture: Path | None = None, report: Path | None = None) -> None:
    """Before the search, refuse files that cannot be written and pictures that cannot be drawn."""
    if report is not None:
        from serape.results.report import check_name

        check_name(report)
    if picture is not None:
        from serape.results.pictures import check_matplotlib, picture_format

        picture_format(picture)
        check_matplotlib()
    for path in (*paths, picture, report):
        if path is not None and not path.parent.is_dir():
            raise DataError(f"{path} cannot be written: there is no folder {path.parent}; create it first")


class Kept(Protocol):
    """A result that can be saved, reported and drawn."""

    def save(self, path: Path, /) -> object:
        """Write it as JSON."""

    def report(self, path: Path, /) -> object:
        """Write it as a page."""

    def plot(self, path: Path, /) -> object:
        """Write it as a picture."""


def write_files(found: Kept, output: Path | None, report: Path | None, picture: Path | None) -> None:
    """Write the files that were asked for."""
    if output is not None:
        found.save(output)
    if report is not None:
        found.report(report)
    if picture is not None:
        found.plot(picture)
