"""What some commands have besides their question: options of their own, and what these add."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import typer

import serape
from serape.cli.completion import complete_column, complete_network
from serape.cli.data_options import DataOptions
from serape.cli.options import Files, GraphFiles, read_network
from serape.errors import OptionError
from serape.types import FindsEdges

_OUTPUT = "Output"


class ContextData(DataOptions):
    """The data, and from which context a row is: a column says it, or each of several files is a context."""

    context: Annotated[
        str | None,
        typer.Option(
            help="The column that says from which context a row is, such as a site, a year or an intervention. "
            "Without it, each of several files is a context.",
            metavar="COLUMN",
            autocompletion=complete_column,
        ),
    ] = None

    def own(self) -> dict[str, Any]:
        """Return the argument of the question that names the column of the contexts."""
        return {"context": self.context or "file"}

    def read(self) -> serape.Table:
        """Read the table; of several files, with a column that says from which file each row is."""
        if self.context is not None:
            return super().read()
        source = self.source
        if not isinstance(source, list):
            raise OptionError("--context COLUMN says from which context a row is; or give several files, one for each")
        if self.cluster is not None or self.workers is not None:
            raise OptionError("on a cluster, --context COLUMN must say from which context a row is")
        stems = [Path(path).stem for path in source]
        names = stems if len(set(stems)) == len(stems) else source
        return serape.join_tables(dict(zip(names, source, strict=True)), self.own()["context"], **self.arguments())


class CausesFiles(Files):
    """What is printed and written of causes and effects, and of what to adjust for."""

    outcome: Annotated[
        list[str] | None,
        typer.Option(
            help="Print the columns to adjust for to estimate the effect of the target on this column; repeatable.",
            metavar="COLUMN",
            rich_help_panel=_OUTPUT,
        ),
    ] = None

    def present(self, found: serape.Causes, explain: Sequence[str] | None = None) -> None:
        """Print the result and what to adjust for, and write the files."""
        sets = {name: found.adjustment_sets(name) for name in self.outcome or ()}
        told = [f"\n{_adjustment(found.target, *one)}" for one in sets.items()]
        self.show(found, explain, more={"adjustment_sets": sets} if sets else {}, last=told)
        self.write(found)


def _adjustment(target: str, outcome: str, sets: Sequence[Sequence[str]]) -> str:
    """Return what to adjust for, in words."""
    if not sets:
        return f"{target} has no effect on {outcome}, which is one of its causes."
    words = [", ".join(names) or "nothing" for names in sets]
    effect = f"To estimate the effect of {target} on {outcome}, adjust for"
    if len(words) == 1:
        return f"{effect}: {words[0]}."
    return f"{effect} one of these sets; the data do not decide which is right: {'; '.join(words)}."


class PathFiles(Files):
    """What is printed and written of a path of alphas, some of which may be left undone."""

    def stopped(self, found: serape.AlphaPath, own: Mapping[str, Any]) -> bool:
        """Return whether some alphas were not searched."""
        from serape.questions.alpha_path import ALPHAS

        return len(found.alphas) < len(set(own.get("alphas") or ALPHAS))


class StabilityFiles(Files):
    """What is printed and written of a stability, of what is stable at a threshold, and of how much of it is false."""

    threshold: Annotated[
        float | None,
        typer.Option(
            help="The least share of draws in which a stable column, or edge, is found; 0.5 if not given.",
            rich_help_panel=_OUTPUT,
        ),
    ] = None
    max_false: Annotated[
        float | None,
        typer.Option(
            help="Choose the threshold so that at most this number of false selections is expected.",
            rich_help_panel=_OUTPUT,
        ),
    ] = None
    assume: Annotated[
        Literal["none", "unimodal", "r-concave"],
        typer.Option(help="What the bound on false selections assumes.", rich_help_panel=_OUTPUT),
    ] = "unimodal"

    def check(self, own: Mapping[str, Any], *others: Path | None) -> None:
        """Refuse thresholds that mean nothing, and questions that need a column and name none, besides bad files."""
        threshold, max_false = self.threshold, self.max_false
        if threshold is not None and not 0 < threshold <= 1:
            raise OptionError(f"--threshold must be above 0 and at most 1, not {threshold:g}")
        if max_false is not None and not (max_false > 0 and threshold is None and own["sampling"] == "half"):
            raise OptionError("--max-false takes a number above 0, without --threshold, and with --sampling half")
        if own["target"] is None and own["finds"] not in get_args(FindsEdges):
            raise OptionError(f"--finds {own['finds']} is about a column; name it with --target")
        super().check(own, *others)

    def present(self, found: serape.Stability | serape.EdgeStability, explain: Sequence[str] | None = None) -> None:
        """Print the result with what is stable and the bound, and write the files."""
        least = found.resolved(self.threshold, self.max_false, self.assume)
        bound = found.false_selections(least, self.assume) if found.pairs and 0.5 < least <= 1 else None
        more = _selected(found, least, bound)
        never = "no threshold keeps the expected number of false selections so low; use more draws or a smaller alpha"
        also = [str(bound)] if bound is not None else [never] if least > 1 else []
        self.show(found, explain, more=more, also=also, threshold=least)
        self.write(found, more, threshold=self.threshold, max_false=self.max_false, assume=self.assume)

    def stopped(self, found: serape.Stability | serape.EdgeStability, own: Mapping[str, Any]) -> bool:
        """Return whether some draws were not searched."""
        return found.draws < int(own["draws"])


def _selected(
    found: serape.Stability | serape.EdgeStability, threshold: float, bound: serape.FalseSelections | None
) -> dict[str, Any]:
    """Return what is stable at a threshold, which JSON has besides the result."""
    stable: list[Any] = [item for item, share in found.frequencies.items() if share >= threshold]
    if bound is None:
        return {"threshold": threshold, "stable": stable}
    told = {"assume": bound.assume, "expected_false": bound.bound, "assumptions": bound.assumptions}
    return {"threshold": threshold, "stable": stable, **told}


class NetworkFiles(GraphFiles):
    """What is printed and written of a network, its comparison with the truth, and fitted probabilities."""

    truth: Annotated[
        str | None,
        typer.Option(
            help="Compare with this network: a bundled one, or a .bif file.",
            metavar="NETWORK",
            autocompletion=complete_network,
            rich_help_panel=_OUTPUT,
        ),
    ] = None
    bif: Annotated[
        Path | None,
        typer.Option(help="Write the network with fitted probabilities to this file.", rich_help_panel=_OUTPUT),
    ] = None

    def check(self, own: Mapping[str, Any], *others: Path | None) -> None:
        """Read the truth; refuse one that cannot be read, besides bad files."""
        self.true = None if self.truth is None else read_network(self.truth)
        super().check(own, *others, self.bif)

    def check_table(self, table: serape.Table) -> None:
        """Refuse a truth about other variables."""
        if self.true is not None and set(self.true.variables) != set(table.names):
            raise OptionError(f"--truth {self.truth} and the table have different variables; both must have the same")

    def present(self, found: serape.Structure, explain: Sequence[str] | None = None) -> None:
        """Print the result and the comparison, and write the files."""
        drawn: dict[str, Any] = {}
        more: dict[str, Any] = {}
        also: list[str] = []
        if self.true is not None:
            comparison = found.compare(self.true)
            drawn, also = {"truth": self.true.graph}, [str(comparison)]
            more = {"comparison": {**comparison.measures(), "half_directed": comparison.half_directed}}
        self.show(found, explain, more=more, also=also)
        self.write(found, **drawn)
        if self.bif is None:
            return
        if found.complete:
            for note in serape.write_bif(found.fit(), self.bif):
                typer.echo(f"serape: {self.bif}: {note}", err=True)
        else:
            typer.echo(f"serape: the network is not complete, so {self.bif} is not written", err=True)


DATA: dict[str, type[DataOptions]] = {"contexts": ContextData}
"""By command, the options about data, where it has more than others."""
FILES: dict[str, type[Files]] = {
    "causes": CausesFiles, "network": NetworkFiles, "path": PathFiles, "stability": StabilityFiles
}  # fmt: skip
"""By command, the options about the answer, where it has more than others."""
