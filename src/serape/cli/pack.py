"""`serape pack`: data as a file that opens in milliseconds."""

from __future__ import annotations

import sys
from glob import glob
from pathlib import Path
from typing import Annotated, Any

import typer

import serape
from serape.cli.base import command
from serape.cli.data_options import ReadingOptions
from serape.cli.show import console, print_line
from serape.errors import OptionError


@command(
    "pack",
    "serape pack patients.csv patients.srp",
    "serape pack patients.csv more.srp --ignore Weight",
    "serape pack --verify patients.srp",
)
def pack(
    options: ReadingOptions,
    files: Annotated[
        list[str],
        typer.Argument(
            help="The data, one or several files of the same columns, and last the file to write: NAME.srp. Data may "
            "be any file that other commands read; - reads standard input.",
            metavar="DATA... NAME.srp",
        ),
    ],
    verify: Annotated[
        bool, typer.Option("--verify", help="Read packed files, and compare them with their checksums.")
    ] = False,
) -> None:
    """Write data as a packed file, which every command opens in milliseconds."""
    if verify:
        for file in files:
            found = serape.verify_packed(file)
            print_line(f"{file}: {found.rows:,} rows, {found.columns:,} columns, fingerprint {found.fingerprint}")
        return
    if len(files) < 2:
        raise OptionError(f"name the file to write after the data, as in: serape pack {files[0]} data.srp")
    *sources, target = files
    path = serape.pack(_data(sources), target, **options.arguments())
    table = serape.Table(path)
    console(stderr=True).print(f"{table.rows:,} rows of {len(table.names):,} columns in {path}", markup=False)


def _data(sources: list[str]) -> Any:
    if sources == ["-"]:
        return sys.stdin.buffer
    paths = [path for source in sources for path in _matches(source)]
    return paths if len(paths) > 1 else paths[0]


def _matches(source: str) -> list[str]:
    """Return the files that a pattern names, where the shell did not."""
    return [source] if Path(source).exists() else sorted(glob(source)) or [source]  # noqa: PTH207 - of any folder
