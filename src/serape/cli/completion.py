"""The completion of options in a shell: names of algorithms, tests, networks, and of the columns of a file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import typer

import serape
from serape.cli.values import ALGORITHM_OPTIONS
from serape.data.packed_files.layout import packed_path
from serape.data.reading.text import column_names, has_text_name
from serape.errors import SerapeError
from serape.independence import TESTS
from serape.local.registry import ALGORITHMS, names_of

_EITHER = ("stability", "path")
"""Commands with --finds, whose default is a blanket."""


def complete_algorithm(context: typer.Context, incomplete: str) -> Iterator[tuple[str, str]]:
    """Complete the name of an algorithm for what a command finds."""
    from serape.structure.registry import CAUSAL_ALGORITHMS, NETWORK_ALGORITHMS

    asked = context.info_name
    finds = context.params.get("finds") or (
        "blanket"
        if asked in ("blanket", "blankets", "all-blankets", "contexts", "joint", *_EITHER)
        else "parents-children"
    )
    if finds in ("skeleton", "network"):
        asked, finds = finds, "parents-children"
    known = [(a.name, a.paper) for a in ALGORITHMS.values() if a.finds in (finds, "both")]
    if asked == "causes":
        known = [(a.name, a.paper) for a in CAUSAL_ALGORITHMS.values()]
    if asked == "network":
        known += [(a.name, a.paper) for a in NETWORK_ALGORITHMS.values()]
    if asked == "skeleton":
        known.append(("pc-stable", NETWORK_ALGORITHMS["pc-stable"].paper))
    known.insert(0, ("auto", "the default"))
    yield from ((name, about) for name, about in known if name.startswith(incomplete.lower()))


def complete_learner(incomplete: str) -> list[str]:
    """Complete the name of an algorithm that finds blankets."""
    return [name for name in ("auto", *names_of("blanket")) if name.startswith(incomplete.lower())]


def complete_option(incomplete: str) -> list[str]:
    """Complete the name of an option of an algorithm."""
    return [f"{name}=" for name in ALGORITHM_OPTIONS if name.startswith(incomplete)]


def complete_test(incomplete: str) -> list[str]:
    """Complete the name of an independence test."""
    return [name for name in ("auto", *TESTS) if name.startswith(incomplete.lower())]


def complete_network(incomplete: str) -> list[str]:
    """Complete the name of a bundled network."""
    from serape.networks import bundled_networks

    return [entry["name"] for entry in bundled_networks() if entry["name"].startswith(incomplete)]


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


COMPLETIONS = {"algorithm": complete_algorithm, "test": complete_test, "column": complete_column}
"""By what a setting names, what completes it."""
