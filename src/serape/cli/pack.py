"""`serape pack`: data as a file that opens in milliseconds."""

from __future__ import annotations

from typing import Annotated

import typer

import serape
from serape.cli.base import command
from serape.cli.data_options import ReadingOptions, data_of
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
    path = serape.pack(data_of(sources), target, **options.arguments())
    table = serape.Table(path)
    console(stderr=True).print(f"{table.rows:,} rows of {len(table.names):,} columns in {path}", markup=False)
