"""Options that several commands share."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, Literal

import typer

import serape
from serape.cli.base import Options, answer, parameter
from serape.cli.completion import complete_column, complete_option
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
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.", rich_help_panel=_OUTPUT)]
Hidden = Annotated[
    bool,
    typer.Option("--hidden", help="Allow for common causes that are not among the columns.", rich_help_panel=_TESTS),
]


class SearchOptions(SettingOptions):
    """All settings of a search, and options of the algorithm."""

    settings = settings_of(SearchSettings, RunSettings)
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
    """What is printed and written of a result: the same options of all kinds.

    A command that prints or writes more has a group of its own, with the options for it, and does it in `present`.
    """

    picture: Picture = None
    output: Output = None
    report: Report = None
    as_json: AsJson = False

    def check(self, own: Mapping[str, Any], *others: Path | None) -> None:
        """Before data are read, refuse files that cannot be written, and pictures that cannot be drawn.

        `own` are the arguments of the question besides data and settings, `others` more files that are written.
        """
        del own
        check_files(self.output, *others, picture=self.picture, report=self.report)

    def check_table(self, table: serape.Table) -> None:
        """Before the search, refuse what does not go with the table."""

    def present(self, found: Any, explain: Sequence[str] | None = None) -> None:
        """Print a result, and write the files that were asked for."""
        self.show(found, explain)
        self.write(found)

    def stopped(self, found: Any, own: Mapping[str, Any]) -> bool:
        """Return whether Ctrl-C ended a question with these arguments that returns its result all the same."""
        del own
        return bool(getattr(found, "interrupted", False))

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
        picture, _, report, as_json, *others = super().parameters()
        endings = ", ".join(f".{name}" for name in formats[1:])
        saved = typer.Option(
            "--output", "-o", help=f"Also save the result to this file: {endings}, or JSON.", rich_help_panel=_OUTPUT
        )
        words: Any = Literal[("table", *formats)]
        printed = typer.Option("--format", help="What to print.", rich_help_panel=_OUTPUT)
        output = parameter("output", Annotated[Path | None, saved], None)
        return [picture, output, report, parameter("format_", Annotated[words, printed], "table"), as_json, *others]

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
    question: Callable[..., Any],
    own: Mapping[str, Any],
    data: DataOptions,
    search: SettingOptions,
    files: Files,
    explain: Sequence[str] | None = None,
) -> None:
    """Ask a question about data, once all is checked that can be; print the answer, and write the files.

    `own` are the arguments of the question besides data and settings.
    """
    files.check(own)
    settings = search.checked()
    table = data.read()
    files.check_table(table)
    answer(
        lambda: question(table, **own, **settings),
        lambda found: files.present(found, explain),
        lambda found: files.stopped(found, own),
    )
