"""The result about one target."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Self

from serape.data.provenance import Provenance
from serape.errors import OptionError, abbreviate, is_integer, suggestion, worded
from serape.records import Records
from serape.results.call import Call
from serape.results.displayed import evidence_table, rate_text
from serape.results.explanation import Evidence, Explanation
from serape.results.kind import ResultKind
from serape.results.saved import known, number, optional, text_lists, texts
from serape.types import Finds
from serape.wording import setting

if TYPE_CHECKING:
    import networkx as nx
    from matplotlib.axes import Axes

    from serape.results.report.page import Page


def _options(values: Any) -> dict[str, Any]:
    """Return the other settings of a call."""
    options = dict(values)
    bound = options.get("max_conditioning")
    if bound is not None and not is_integer(bound):
        raise TypeError("max_conditioning is not a whole number")
    return options


@dataclass(frozen=True, repr=False)
class Result(ResultKind, file="serape-result-1"):
    """A blanket or neighbourhood, how it was found, and the evidence for each variable.

    Examples
    --------
    >>> found = serape.markov_blanket(patients, "HeartDisease", "hiton-mb", alpha=0.01)
    >>> found.parents_children, found.spouses
    (('Age', 'Smoking', 'BloodPressure', 'ECG', 'ChestPain'), {'Anxiety': ('ChestPain',)})
    >>> found.evidence["variable"][:3], found.evidence["p"][0] < 0.01
    (['Age', 'Smoking', 'Exercise'], True)
    """

    target: str
    finds: Finds
    """Whether the question is about the blanket, or about parents and children."""
    blanket: tuple[str, ...]
    """The Markov blanket, in the table's order; if the question is about parents and children, these."""
    parents_children: tuple[str, ...] | None
    """Parents and children, or None if the algorithm does not distinguish them from spouses."""
    spouses: Mapping[str, tuple[str, ...]] | None
    """By spouse, the common children through which it is a member; or None."""
    algorithm: str
    test: str
    alpha: float
    tests: int
    """The number of tests performed."""
    tests_by_size: Mapping[int, int]
    """The number of tests performed, by size of the conditioning set."""
    skipped: int
    """The number of tests skipped: too few rows, nothing to test, or a conditioning set over `max_conditioning`."""
    seconds: float = field(compare=False)
    options: Mapping[str, Any]
    """The other settings of the call."""
    notes: tuple[str, ...]
    """Remarks about the data and the search."""
    complete: bool
    """False if the search was interrupted, or a budget ended it."""
    trace: Evidence = field(repr=False, compare=False)
    """The source of `evidence` and `explain`."""
    dropped: tuple[str, ...] = ()
    """Members that the wrapper removed."""
    interchangeable: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """By member, its duplicates: any of them would do as well."""
    fdr: float | None = None
    """The false discovery rate asked for, or None."""
    threshold: float | None = None
    """With a false discovery rate, the p-value up to which members were kept."""
    adjusted_p: Mapping[str, float] = field(default_factory=dict)
    """With a false discovery rate, the smallest rate at which each member, or former member, is kept."""
    data: Provenance | None = field(default=None, repr=False, compare=False)
    """The data: rows, columns, fingerprint; None for an independence test without data."""
    call: Call = field(default_factory=Call, repr=False, compare=False)
    """What a report needs to show the call again."""

    @property
    def evidence(self) -> Records:
        """For every variable but the target, its deciding test: a table for any dataframe library."""
        return self.trace.records(self)

    @property
    def members(self) -> tuple[str, ...]:
        """The blanket, or the parents and children if the question is about these."""
        return self.blanket if self.finds == "blanket" else self.parents_children or ()

    @property
    def level(self) -> float:
        """The p-value up to which a test shows dependence: alpha, or what the false discovery rate came to."""
        return self.alpha if self.threshold is None else self.threshold

    @property
    def title(self) -> str:
        """The question, in words."""
        return f"{'Markov blanket' if self.finds == 'blanket' else 'Parents and children'} of {self.target}"

    def explain(self, variable: str) -> Explanation:
        """Return why a variable is a member or not: print it, or read its attributes."""
        if variable == self.target:
            raise OptionError(f"{variable!r} is the target itself; name another variable")
        if variable not in self.trace.position:
            names = [n for n in self.trace.names if n != self.target]
            raise OptionError(f"there is no variable {variable!r}.{suggestion(str(variable), names)}")
        return self.trace.explain(variable, self)

    @property
    def graph(self) -> nx.Graph[str]:
        """The target and its members, as a graph.

        Nodes have a `role`: target, parent or child, spouse, or member if the role is unknown. Edges have a `relation`:
        "adjacent" for arcs of the network of unknown direction, "member" if it is unknown whether there is an arc.
        """
        import networkx as nx

        graph: nx.Graph[str] = nx.Graph()
        graph.add_node(self.target, role="target")
        if self.parents_children is None:
            for name in self.blanket:
                graph.add_node(name, role="member")
                graph.add_edge(self.target, name, relation="member")
            return graph
        for name in self.parents_children:
            graph.add_node(name, role="parent or child")
            graph.add_edge(self.target, name, relation="adjacent")
        for name, children in (self.spouses or {}).items():
            graph.add_node(name, role="spouse")
            for child in children:
                graph.add_edge(name, child, relation="adjacent")
            if not children:
                graph.add_edge(self.target, name, relation="member")
        return graph

    def plot(self, path: str | os.PathLike[str] | None = None, *, ax: Axes | None = None) -> Axes:
        """Draw the target in the middle, parents and children around it, and spouses outside, near the common children.

        The larger the effect of a variable's deciding test, the thicker and darker its line; by p if the test has no
        effect size. Members of unknown role are dashed. Of more than 150 members the strongest are drawn. Spouses
        without a known child are drawn among the parents and children, with dashed lines.

        Parameters
        ----------
        path
            A file for the picture; its name ends in .png, .svg or .pdf.
        ax
            Axes to draw in; the picture is scaled to fit. By default a figure of the right size is made.

        Returns
        -------
        matplotlib.axes.Axes
            The axes of the picture; their `figure` can be saved or shown.
        """
        from serape.results.blanket_picture import draw_blanket

        return self._drawn(path, lambda: draw_blanket(self, ax=ax))

    # --- saving --------------------------------------------------------------------------------------------------

    _entries = (
        "target", "finds", "blanket", "parents_children", "spouses", "algorithm", "test", "alpha", "fdr", "threshold",
        "adjusted_p", "tests", "tests_by_size", "skipped", "seconds", "options", "notes", "complete", "dropped",
        "interchangeable", "data", "call", "evidence",
    )  # fmt: skip
    _readers: ClassVar = {
        "finds": lambda value: "parents-children" if value == "parents-children" else "blanket",
        "blanket": texts,
        "parents_children": optional(texts),
        "spouses": optional(text_lists),
        "interchangeable": text_lists,
        "adjusted_p": lambda values: {str(name): number(p, 0, 1) for name, p in values.items()},
        "dropped": texts,
        "options": _options,
    }

    def _entry(self, name: str) -> Any:
        return self.trace.to_dict() if name == "evidence" else super()._entry(name)

    @classmethod
    def from_dict(cls, content: Mapping[str, Any], **made: Any) -> Self:
        """Return the result that `to_dict` wrote."""
        trace = Evidence.from_dict(content["evidence"])
        known(content["blanket"], trace.names)
        if "left_out" in content:  # as files of older versions call it
            content = {**content, "dropped": content["left_out"]}
        return super().from_dict(content, trace=trace, **made)

    def to_dot(self) -> str:
        """Return the target and its members in Graphviz's DOT."""
        from serape.formats import dot_text

        return dot_text(self.graph, title=self.title, target=self.target)

    def _page(self) -> Page:
        from serape.results.report import blanket_page

        return blanket_page(self)

    def _brief(self) -> str:
        return f"{self.title}: {abbreviate(self.members, 8) or 'no variables'}"

    def _grid(self, max_rows: int) -> tuple[Sequence[str], Sequence[Sequence[str]], int]:
        members, roles = self.members[:max_rows], self.graph.nodes
        rows = [[name, str(roles.get(name, {}).get("role", "member"))] for name in members]
        if not self.trace.at_hand:  # no search for the sake of a display
            return ("variable", "role"), rows, len(self.members)
        heads, cells = evidence_table(self, members)
        return ("variable", "role", *heads), [a + b for a, b in zip(rows, cells, strict=True)], len(self.members)

    def __str__(self) -> str:
        lines = [f"{self.title}: {', '.join(self.members) or 'no variables'}"]
        if self.finds == "blanket" and self.parents_children is not None:
            lines.append(f"  parents and children: {', '.join(self.parents_children) or 'none'}")
            via = (f"{name} (through {', '.join(children)})" for name, children in (self.spouses or {}).items())
            lines.append(f"  spouses: {', '.join(via) or 'none'}")
        bounded = self.options.get("max_conditioning") is not None
        why = f"unreliable or over {setting('max_conditioning')}" if bounded else "unreliable"
        lines.append(
            f"  by {self.algorithm} with {self.test} at alpha {self.alpha:g}{rate_text(self.fdr, self.threshold)}: "
            f"{self.tests:,} tests, {self.skipped:,} skipped as {why}, {self.seconds:.3g} s"
        )
        return worded(self._whole_text(lines))
