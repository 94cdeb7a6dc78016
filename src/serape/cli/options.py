"""Options that several commands share, and their completion in a shell."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, Protocol

import typer

import serape
from serape.cli.data_options import complete_column
from serape.cli.values import (
    ALGORITHM_OPTIONS,
    option_entry,
    read_knowledge,
    read_limit,
    read_number,
)
from serape.errors import DataError
from serape.independence import TESTS
from serape.local.registry import ALGORITHMS, names_of
from serape.settings import Settings

_TESTS, _OUTPUT = "How to search", "Output"
_EITHER = ("stability", "path")
"""Commands with --finds, whose default is a blanket."""

# --- completion ------------------------------------------------------------------------------------------------------


def _complete_algorithm(context: typer.Context, incomplete: str) -> Iterator[tuple[str, str]]:
    from serape.structure.registry import CAUSAL_ALGORITHMS, NETWORK_ALGORITHMS

    asked = context.info_name
    finds = context.params.get("finds") or (
        "blanket" if asked in ("blanket", "all-blankets", "contexts", "joint", *_EITHER) else "parents-children"
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


def _complete_option(incomplete: str) -> list[str]:
    return [f"{name}=" for name in ALGORITHM_OPTIONS if name.startswith(incomplete)]


def _complete_test(incomplete: str) -> list[str]:
    return [name for name in ("auto", *TESTS) if name.startswith(incomplete.lower())]


def complete_network(incomplete: str) -> list[str]:
    """Complete the name of a bundled network."""
    from serape.networks import bundled_networks

    return [entry["name"] for entry in bundled_networks() if entry["name"].startswith(incomplete)]


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
Checkpoint = Annotated[
    Path | None,
    typer.Option(help="Keep neighbourhoods in this file, so that a stopped run can continue.", rich_help_panel=_TESTS),
]
Jobs = Annotated[
    int, typer.Option("--jobs", "-j", help="Processes or threads; -1 for all cores.", rich_help_panel=_TESTS)
]
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
Finds = Annotated[Literal["blanket", "parents-children"], typer.Option(help="What to find.", rich_help_panel=_TESTS)]
_RULE = typer.Option(
    help="Two columns are adjacent if both neighbourhoods (and), or one of them (or), contain the other column."
)
Rule = Annotated[Literal["and", "or"], _RULE]
OptionalRule = Annotated[Literal["and", "or"] | None, _RULE]
Score = Annotated[
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


@dataclass(frozen=True)
class QuestionOptions:
    """All settings of a search except the level of significance or of false discoveries."""

    algorithm: Annotated[
        str,
        typer.Option(
            help="The name of an algorithm (see `serape algorithms`), in any case, or auto.",
            metavar="NAME",
            autocompletion=_complete_algorithm,
            rich_help_panel=_TESTS,
        ),
    ] = "auto"
    option: Annotated[
        list[str] | None,
        typer.Option(
            help="An option of the algorithm, such as k=2 or symmetry=false; repeatable.",
            metavar="NAME=VALUE",
            autocompletion=_complete_option,
            rich_help_panel=_TESTS,
        ),
    ] = None
    test: Annotated[
        str,
        typer.Option(
            help=f"The name of an independence test, in any case: auto, {', '.join(TESTS)}.",
            metavar="NAME",
            autocompletion=_complete_test,
            rich_help_panel=_TESTS,
        ),
    ] = "auto"
    min_effect: Annotated[
        float | None,
        typer.Option(
            help="Leave out members and edges whose effect is less than this many bits.", rich_help_panel=_TESTS
        ),
    ] = None
    max_conditioning: Annotated[
        str,
        typer.Option(
            help="Largest conditioning set: a number, none, or auto.",
            metavar="[NUMBER|none|auto]",
            rich_help_panel=_TESTS,
        ),
    ] = "auto"
    dof: Annotated[
        Literal["auto", "full", "adjusted"], typer.Option(help="Degrees of freedom.", rich_help_panel=_TESTS)
    ] = "auto"
    reliability: Annotated[
        Literal["auto", "dof", "cells", "none"],
        typer.Option(
            help="Require 5 rows per degree of freedom, 5 rows per cell, or nothing.",
            rich_help_panel=_TESTS,
        ),
    ] = "auto"
    seed: Annotated[
        int | None,
        typer.Option(
            help="Seed for drawing rows, for permutation tests, and for breaking exact ties at random.",
            rich_help_panel=_TESTS,
        ),
    ] = None
    knowledge: Annotated[
        Path | None,
        typer.Option(
            help="A JSON file of what is known about the network: pairs of names under required and forbidden (arcs, "
            "from and to) and forbidden_pairs, and lists of names, earlier to later, under tiers.",
            rich_help_panel=_TESTS,
        ),
    ] = None
    known: Annotated[
        list[str] | None,
        typer.Option(
            help="A column that belongs to the answer whatever the tests show; repeatable.",
            metavar="COLUMN",
            autocompletion=complete_column,
            rich_help_panel=_TESTS,
        ),
    ] = None
    forbid: Annotated[
        list[str] | None,
        typer.Option(
            help="A column that does not belong to the answer and is not tested; repeatable.",
            metavar="COLUMN",
            autocompletion=complete_column,
            rich_help_panel=_TESTS,
        ),
    ] = None
    jobs: Jobs = 1
    max_seconds: Annotated[
        str,
        typer.Option(
            help="Stop after so many seconds, and keep what was found: a number, none, or auto (60 for a target, 600 "
            "for a structure or all blankets).",
            metavar="[NUMBER|none|auto]",
            rich_help_panel=_TESTS,
        ),
    ] = "auto"
    max_tests: Annotated[
        int | None, typer.Option(help="Stop after so many tests, and keep what was found.", rich_help_panel=_TESTS)
    ] = None
    engine: Annotated[str, typer.Option(help="Where tests are computed: auto, cpu or gpu.", rich_help_panel=_TESTS)] = (
        "auto"
    )
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.", rich_help_panel=_OUTPUT)] = False

    def arguments(self) -> dict[str, Any]:
        """Return the settings as arguments of the questions in Python."""
        return {
            "algorithm": self.algorithm,
            **dict(map(option_entry, self.option or ())),
            "test": self.test,
            "min_effect": self.min_effect,
            "max_conditioning": read_limit(self.max_conditioning),
            "dof": self.dof,
            "reliability": None if self.reliability == "none" else self.reliability,
            "random_state": self.seed,
            "knowledge": read_knowledge(self.knowledge),
            "known_members": self.known or (),
            "forbidden_members": self.forbid or (),
            "n_jobs": self.jobs,
            "progress": False if self.quiet else None,
            "max_seconds": read_number("--max-seconds", self.max_seconds, "auto", "none"),
            "max_tests": self.max_tests,
            "engine": self.engine,
        }

    def checked(self) -> dict[str, Any]:
        """Return the same, once they are checked: before data are read, which may take long."""
        given = self.arguments()
        Settings.of(**given)
        return given


@dataclass(frozen=True)
class SearchOptions(QuestionOptions):
    """All settings of a search."""

    alpha: Annotated[
        str,
        typer.Option(
            help="Significance level: a number, or auto (0.01).", metavar="[NUMBER|auto]", rich_help_panel=_TESTS
        ),
    ] = "auto"
    fdr: Annotated[
        str,
        typer.Option(
            help="Bound the share of false members among those found: a number, none, or auto (0.2; none if alpha "
            "is given).",
            metavar="[NUMBER|none|auto]",
            rich_help_panel=_TESTS,
        ),
    ] = "auto"
    fdr_method: Annotated[
        Literal["auto", "bh", "by", "adaptive"],
        typer.Option(help="How the share is bounded; by allows for any dependence.", rich_help_panel=_TESTS),
    ] = "auto"

    def arguments(self) -> dict[str, Any]:
        """Return the settings as arguments of the questions in Python."""
        return {
            **super().arguments(),
            "alpha": read_number("--alpha", self.alpha, "auto"),
            "fdr": read_number("--fdr", self.fdr, "auto", "none"),
            "fdr_method": self.fdr_method,
        }


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
