"""`serape describe`: what is in a file."""

from __future__ import annotations

import serape
from serape.cli.base import command, in_command_words
from serape.cli.data_options import DataOptions
from serape.cli.options import Files, OptionalTarget


@command(
    "describe",
    "serape describe patients.csv",
    "serape describe patients.csv --target HeartDisease --json > described.json",
)
def describe(
    data: DataOptions,
    target: OptionalTarget = None,
    *,
    files: Files,
) -> None:
    """Describe a file: the kind of every column and why, what is odd, and what a search would choose.

    Prints a table of the columns, then notes.
    """
    files.check({})
    found = serape.describe(data.source, target, **data.arguments())
    in_command_words(found)
    files.present(found)
