"""Options that several commands share."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, Literal

import typer

import serape
from serape.cli.base import Found, Options, answer, parameter
from serape.cli.completion import complete_column, complete_network, complete_option
from serape.cli.data_options import DataOptions
from serape.cli.settings_options import SettingOptions, setting_option, settings_of
from serape.cli.show import json_of, show_kind
from serape.cli.values import option_entry
from serape.errors import DataError, OptionError
from serape.files import atomic_write
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


class Files(Options):
    """What is written of a result, and whether it is printed as JSON: the same options of all kinds."""

    picture: Picture = None
    output: Output = None
    report: Report = None
    as_json: AsJson = False

    def check(self, *others: Path | None) -> None:
        """Before the search, refuse files that cannot be written, and pictures that cannot be drawn."""
        check_files(self.output, *others, picture=self.picture, report=self.report)

    def show(self, found: Any, explain: Sequence[str] | None = None, **more: Any) -> None:
        """Print a result, with more as `show_kind` takes it."""
        show_kind(found, explain or (), self.as_json, **more)

    def write(self, found: Any, more: Mapping[str, Any] = MappingProxyType({}), **drawn: Any) -> None:
        """Write the files that were asked for; `more` is for the JSON, `drawn` for the picture."""
        if self.output is not None and more:
            atomic_write(self.output, f"{json_of({**found.to_dict(), **more})}\n")
        elif self.output is not None:
            found.save(self.output)
        if self.report is not None:
            found.report(self.report)
        if self.picture is not None:
            found.plot(self.picture, **drawn)


class GraphFiles(Files):
    """The same of a graph, which can also be printed and saved in the formats of other programs."""

    formats: ClassVar[tuple[str, ...]] = ()
    """The formats; all if none is named."""

    @classmethod
    def parameters(cls) -> list[inspect.Parameter]:
        """Return the options, with one for the format that is printed."""
        from serape.formats import SUFFIXES

        formats = cls.formats or ("json", *dict.fromkeys(SUFFIXES.values()))
        picture, _, report, as_json = super().parameters()
        endings = ", ".join(f".{name}" for name in formats[1:])
        saved = typer.Option(
            "--output", "-o", help=f"Also save the result to this file: {endings}, or JSON.", rich_help_panel=_OUTPUT
        )
        words: Any = Literal[("table", *formats)]
        printed = typer.Option("--format", help="What to print.", rich_help_panel=_OUTPUT)
        output = parameter("output", Annotated[Path | None, saved], None)
        return [picture, output, report, parameter("format_", Annotated[words, printed], "table"), as_json]

    def show(self, found: Any, explain: Sequence[str] | None = None, **more: Any) -> None:
        """Print a graph in the format that was asked for."""
        format_: str = vars(self)["format_"]
        if self.as_json and format_ not in ("table", "json"):
            raise OptionError(f"--json and --format {format_} exclude each other; give one of them")
        if format_ in ("table", "json"):
            show_kind(found, explain or (), self.as_json or format_ == "json", **more)
        else:
            typer.echo(found.text(format_), nl=False)


def explains(what: str, of_two: bool = False) -> Any:
    """Return the option --explain: what it explains about this column, or these two."""
    return typer.Option(
        help=f"Explain {what}; repeatable.",
        metavar="COLUMN,COLUMN" if of_two else "COLUMN",
        rich_help_panel=_OUTPUT,
    )


def ask(
    question: Callable[..., Found],
    data: DataOptions,
    search: SettingOptions,
    files: Files,
    explain: Sequence[str] | None = None,
    *,
    read: Callable[[], Any] | None = None,
    show: Callable[[Found], None] | None = None,
    stopped: Callable[[Found], bool] | None = None,
    others: Sequence[Path | None] = (),
) -> None:
    """Ask a question about data, once all is checked that can be; print the answer, and write the files.

    `read` reads the data. `show` prints the answer and writes the files where there is more to them than its kind
    declares; `others` are more files that are written. `stopped` is as for `answer`.
    """

    def shown(found: Found) -> None:
        files.show(found, explain)
        files.write(found)

    files.check(*others)
    settings = search.checked()
    table = (read or data.read)()
    answer(
        lambda: question(table, **settings),
        show or shown,
        stopped or (lambda found: bool(getattr(found, "interrupted", False))),
    )
