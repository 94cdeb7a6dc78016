"""The options about data: the file, and how to read it."""

from __future__ import annotations

import sys
from glob import glob
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

import serape
from serape.cli.base import to_close
from serape.cli.settings_options import SettingOptions, settings_of
from serape.errors import OptionError
from serape.settings import DataSettings

_CLUSTER = "Cluster"


class ReadingOptions(SettingOptions):
    """How to read data."""

    settings = settings_of(DataSettings)


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
    ]

    @property
    def source(self) -> Any:
        """The path of the file, those of several, or standard input."""
        return data_of(self.data)

    def own(self) -> dict[str, Any]:
        """Return what a group with more options gives the question besides the table."""
        return {}

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
