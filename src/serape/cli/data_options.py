"""The options about data: the file, and how to read it."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from glob import glob
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

import serape
from serape.checks import MISSING_RULES
from serape.cli.base import to_close
from serape.cli.values import kind_entry
from serape.data.kinds import KINDS
from serape.data.packed_files.opened import packed_path
from serape.data.reading.text import column_names, has_text_name
from serape.errors import OptionError, SerapeError
from serape.wording import OTHERS

_DATA = "Data"
_FILE = "Text files"
_CLUSTER = "Cluster"


def complete_column(context: typer.Context, incomplete: str) -> list[str]:
    """Complete the name of a column of the data file on the command line, if it is a text file or a packed one."""
    words = [
        *(context.params.get("data") or ()),
        *context.args,
    ]  # on an incomplete line, arguments may not be parsed yet
    paths = [Path(word) for word in words if word]
    packed = next((path for path in paths if packed_path(path)), None)
    text = next((path for path in paths if has_text_name(path)), None)
    try:
        names = serape.Table(packed).names if packed else column_names(text) if text else ()
        return [name for name in names if name.startswith(incomplete)]
    except SerapeError:  # there are no names to complete
        return []


@dataclass(frozen=True)
class ReadingOptions:
    """How to read data."""

    missing: Annotated[
        list[str] | None,
        typer.Option(
            help="Missing values: refuse (error, the default), drop the rows, make them a level, or use the complete "
            "rows of each test (pairwise). NAME=RULE is for one column; repeatable.",
            metavar="[error|drop|level|pairwise|NAME=RULE]",
            rich_help_panel=_DATA,
        ),
    ] = None
    kind: Annotated[
        list[str] | None,
        typer.Option(
            help=f"Kind of a column; repeatable. Kinds: {', '.join(KINDS)}.",
            metavar="NAME=KIND",
            rich_help_panel=_DATA,
        ),
    ] = None
    ignore: Annotated[
        list[str] | None,
        typer.Option(
            help="Leave this column out; repeatable.",
            metavar="COLUMN",
            autocompletion=complete_column,
            rich_help_panel=_DATA,
        ),
    ] = None
    header: Annotated[
        bool | None,
        typer.Option(
            "--header/--no-header",
            help="Whether the first line holds the names of the columns; detected if not given.",
            rich_help_panel=_FILE,
        ),
    ] = None
    names: Annotated[
        str | None,
        typer.Option(
            help="The names of the columns, separated by commas; the first line is then data.",
            metavar="NAME,NAME,...",
            rich_help_panel=_FILE,
        ),
    ] = None
    na: Annotated[
        list[str] | None,
        typer.Option(help="A word that means a missing value; repeatable.", metavar="WORD", rich_help_panel=_FILE),
    ] = None
    delimiter: Annotated[
        str | None,
        typer.Option(
            help="What separates fields: a character, tab or whitespace; detected if not given.", rich_help_panel=_FILE
        ),
    ] = None
    decimal: Annotated[
        Literal[".", ","] | None,
        typer.Option(help="The decimal mark; detected if not given.", rich_help_panel=_FILE),
    ] = None
    encoding: Annotated[
        str | None,
        typer.Option(help="The encoding, such as cp1252; detected if not given.", rich_help_panel=_FILE),
    ] = None
    quote: Annotated[
        str | None,
        typer.Option(help="The quotation mark around fields, or '' for none.", rich_help_panel=_FILE),
    ] = None
    comment: Annotated[
        str | None,
        typer.Option(help="How lines begin that are comments, or '' for none.", rich_help_panel=_FILE),
    ] = None
    index: Annotated[
        bool | None,
        typer.Option(
            "--index/--no-index",
            help="Whether the first column only names the rows; detected if not given.",
            rich_help_panel=_FILE,
        ),
    ] = None
    table: Annotated[
        str | None,
        typer.Option(
            help="The sheet of a workbook, the table of a database or the file of an archive.", rich_help_panel=_DATA
        ),
    ] = None
    sample_weight: Annotated[
        str | None,
        typer.Option(
            help="The column that holds the weights of the rows.",
            metavar="COLUMN",
            autocompletion=complete_column,
            rich_help_panel=_DATA,
        ),
    ] = None
    weight_kind: Annotated[
        Literal["frequency", "survey"],
        typer.Option(
            help="What weights mean: how often a row occurs, or how many of a population it stands for.",
            rich_help_panel=_DATA,
        ),
    ] = "frequency"
    groups: Annotated[
        str | None,
        typer.Option(
            help="The column that names rows that depend on each other; stability draws whole groups.",
            metavar="COLUMN",
            autocompletion=complete_column,
            rich_help_panel=_DATA,
        ),
    ] = None

    def arguments(self) -> dict[str, Any]:
        """Return the options as arguments of `Table`, and of the questions in Python."""
        if self.names is not None and self.header is not None:
            raise OptionError("--names says that the first line is data; leave out --header and --no-header")
        return {
            "kinds": dict(map(kind_entry, self.kind or ())) or None,
            "missing": _missing(self.missing or ()),
            "ignore": self.ignore or (),
            "header": self.header if self.names is None else [name.strip() for name in self.names.split(",")],
            "na_values": tuple(self.na or ()),
            "delimiter": self.delimiter,
            "decimal": self.decimal,
            "encoding": self.encoding,
            "quote": self.quote,
            "comment": self.comment,
            "index": self.index,
            "table": self.table,
            "sample_weight": self.sample_weight,
            "weight_kind": self.weight_kind,
            "groups": self.groups,
        }


@dataclass(frozen=True)
class DataOptions(ReadingOptions):
    """The data files, how to read them, and where they are kept."""

    cluster: Annotated[
        str | None,
        typer.Option(
            help="Keep the data on the workers of a Dask cluster, given by the address of its scheduler.",
            metavar="ADDRESS",
            rich_help_panel=_CLUSTER,
        ),
    ] = None
    workers: Annotated[
        int | None,
        typer.Option(
            help="Keep the data on so many worker processes of this machine.", min=1, rich_help_panel=_CLUSTER
        ),
    ] = None
    split: Annotated[
        Literal["auto", "rows", "columns", "both"],
        typer.Option(help="What each worker keeps: some rows, some columns, or both.", rich_help_panel=_CLUSTER),
    ] = "auto"
    data: Annotated[
        list[str],
        typer.Argument(
            help="A file: delimited text, Parquet, Arrow, Feather, JSON lines, Excel, R (.rds), SQLite, DuckDB or "
            "packed (.srp), also compressed (.gz, .bz2, .xz, .zst, .zip); - reads standard input. Several files of "
            "the same columns are one table."
        ),
    ] = field(kw_only=True)

    @property
    def source(self) -> Any:
        """The path of the file, those of several, or standard input."""
        return data_of(self.data)

    def read(self) -> serape.Table:
        """Read the table."""
        if self.cluster is None and self.workers is None:
            if self.split != "auto":
                raise OptionError("--split is about a cluster; give --cluster ADDRESS or --workers N, or leave it out")
            return serape.Table(self.source, **self.arguments())
        if self.cluster is not None and self.workers is not None:
            raise OptionError("--workers starts a cluster of its own; leave out --cluster or --workers")
        from serape.dask import connect, table

        client = connect(self.cluster, self.workers)
        to_close.callback(client.shutdown if self.cluster is None else client.close)
        return table(client, self.source, self.split, **self.arguments())


def data_of(sources: list[str]) -> Any:
    """Return the path of a file, those of several, or standard input; patterns stand for the files they match."""
    if sources == ["-"]:
        return sys.stdin.buffer
    paths = [path for source in sources for path in _matches(source)]
    return paths if len(paths) > 1 else paths[0]


def _matches(source: str) -> list[str]:
    """Return the files that a pattern stands for, where the shell leaves it to the program; or the name itself."""
    return [source] if Path(source).exists() else sorted(glob(source)) or [source]  # noqa: PTH207 - of any folder


def _missing(entries: list[str] | tuple[()]) -> Any:
    """Return the rule for missing values, or rules by column."""
    rules: dict[str, str] = {}
    for entry in entries:
        name, _, rule = entry.rpartition("=")
        rule = rule.lower()
        if rule not in MISSING_RULES:
            known = ", ".join(MISSING_RULES)
            raise OptionError(f"--missing {entry!r} is not known; use {known}, or NAME=RULE for one column")
        rules[name or OTHERS] = rule
    return rules.get(OTHERS, "error") if set(rules) <= {OTHERS} else rules
