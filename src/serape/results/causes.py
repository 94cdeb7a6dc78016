"""The result of `causes`: which neighbours of a target are causes, which are effects, and why."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

from serape.errors import DataError, OptionError, abbreviate, suggestion
from serape.formats import dot_text
from serape.markup import plain
from serape.records import Records
from serape.results.displayed import evidence_table, rate_text
from serape.results.kind import ResultKind
from serape.results.pictures import draw_graph, save_picture
from serape.results.result import Result
from serape.results.saved import known, named_texts, texts
from serape.structure.adjustment import possible_parents
from serape.structure.graphs import PartlyDirected
from serape.wording import setting

if TYPE_CHECKING:
    import networkx as nx
    from matplotlib.figure import Figure

    from serape.results.report.page import Page

MARKS = {
    "→": "cause",
    "←": "effect",
    "–": "undecided",
    "↔": "hidden common cause",
    "o→": "cause or hidden common cause",
    "←o": "effect or hidden common cause",
    "o–o": "undecided",
    "–o": "undecided",
    "o–": "undecided",
}
"""What the edge between a neighbour and the target says about the neighbour: the mark is read from it to the target."""


@dataclass(frozen=True, repr=False, eq=False)
class Causes(ResultKind, file="serape-causes-1"):
    """The causes and effects of a target, how they were found, and why each is one.

    Examples
    --------
    >>> found = serape.causes(serape.DSeparation(clinic_graph()), "HeartDisease")
    >>> found.causes, found.effects, found.undecided
    (('Age', 'BloodPressure', 'Smoking'), ('ECG', 'ChestPain'), ())
    >>> found.adjustment_sets("ECG")
    (('Age', 'BloodPressure', 'Smoking'),)
    """

    blanket_result: Result = field(repr=False)
    """The blanket of the target, and the evidence for each variable."""
    marks: Mapping[str, str]
    """By neighbour, its edge to the target, read from the neighbour: "→" for a cause, "←" for an effect, "–" if the
    data do not decide. With `hidden`, also "↔" for a hidden common cause, and "o" at an end that may be a tail or an
    arrowhead."""
    reasons: Mapping[str, str] = field(repr=False)
    """By cause and effect, why it is one."""
    graph: nx.DiGraph[str] = field(repr=False)
    """The target, the variables whose blankets were learned, and their neighbours; an undirected edge is present in
    both directions. With `hidden`, edges have `marks`, read from the first node to the second, and only → and o→ are
    present in one direction."""
    expanded: tuple[str, ...]
    """The variables whose blankets were learned, in this order."""
    algorithm: str
    learner: str
    """The algorithm that found the blankets."""
    tests: int
    """The number of tests performed."""
    tests_by_size: Mapping[int, int]
    skipped: int
    """The number of tests skipped."""
    seconds: float
    notes: tuple[str, ...]
    """Remarks about the data and the search."""
    complete: bool
    """False if the search was interrupted, or a budget ended it."""
    hidden: bool = False
    """Whether hidden common causes were allowed for."""
    conflicts: tuple[str, ...] = field(default=(), repr=False)
    """Arrows that follow from tests or knowledge but contradict more certain ones, and so are not in the graph."""

    # --- the answer ----------------------------------------------------------------------------------------------

    @property
    def target(self) -> str:
        """The variable that the question is about."""
        return self.blanket_result.target

    @property
    def causes(self) -> tuple[str, ...]:
        """The neighbours that are causes of the target, in the table's order."""
        return self._with("cause")

    @property
    def effects(self) -> tuple[str, ...]:
        """The neighbours that are effects of the target."""
        return self._with("effect")

    @property
    def undecided(self) -> tuple[str, ...]:
        """The neighbours of which the data do not decide what they are; `marks` has what is known of them."""
        settled = {*self.causes, *self.effects, *self.confounded}
        return tuple(name for name in self.marks if name not in settled)

    @property
    def confounded(self) -> tuple[str, ...]:
        """With `hidden`: the neighbours that are no causes or effects, but share a hidden cause with the target."""
        return self._with("hidden common cause")

    @property
    def spouses(self) -> Mapping[str, tuple[str, ...]]:
        """By other member of the blanket, the effects that it has in common with the target."""
        return self.blanket_result.spouses or {}

    @property
    def blanket(self) -> tuple[str, ...]:
        """The Markov blanket of the target, in the table's order."""
        return self.blanket_result.blanket

    @property
    def evidence(self) -> Records:
        """For every variable but the target, its role, and the test that decides whether it is in the blanket."""
        found = self.blanket_result.evidence
        roles = [self.role(name) for name in found["variable"]]
        rest = {name: found[name] for name in found.columns if name not in ("variable", "included")}
        return Records({"variable": found["variable"], "included": found["included"], "role": roles, **rest})

    def role(self, variable: str) -> str:
        """Return what a variable is to the target, in words."""
        if variable in self.marks:
            return MARKS[self.marks[variable]]
        if variable in self.blanket:
            return "spouse" if self.spouses.get(variable) else "member"
        return "excluded"

    def explain(self, variable: str) -> str:
        """Return why a variable is a cause, an effect or neither: a text in sentences."""
        if variable == self.target:
            raise OptionError(f"{variable!r} is the target itself; name another variable")
        known = self.blanket_result.trace.position
        if variable not in known:
            names = [name for name in known if name != self.target]
            raise OptionError(f"there is no variable {variable!r}.{suggestion(str(variable), names)}")
        found = [] if variable not in self.marks else [self._direction(variable)]
        return plain(" ".join([*found, str(self.blanket_result.explain(variable))]))

    def adjustment_sets(self, outcome: str | None = None) -> tuple[tuple[str, ...], ...]:
        """Return sets to adjust for in order to estimate the effect of the target on any other variable.

        They are the sets of parents of the target in the DAGs that the data, and knowledge, allow: one set if all
        causes are decided. If there are several, the effect lies among the estimates, one for each set. With an
        `outcome`, the sets that contain it are left out: in their DAGs the target has no effect on it. If tests err and
        no DAG fits the graph, the sets are those that make the target no new collider.

        Causes and effects must be known without hidden common causes: a result with `hidden=True` has no such sets.
        """
        if self.hidden:
            allowed = setting("hidden", True)
            raise DataError(f"adjustment sets need that no cause is hidden; ask again without {allowed}")
        if not self.complete:
            raise DataError("the search is not complete, so the causes are not all known; allow it more time or tests")
        if outcome is not None and (outcome == self.target or outcome not in self.blanket_result.trace.position):
            raise OptionError(f"there is no variable {outcome!r} besides the target; name the outcome")
        names = list(self.graph)
        graph = PartlyDirected.of_networkx(self.graph, names)
        order = {name: k for k, name in enumerate(self.blanket_result.trace.names)}
        expanded = [names.index(name) for name in self.expanded]
        sets = [[names[k] for k in parents] for parents in possible_parents(graph, names.index(self.target), expanded)]
        found = [tuple(sorted(parents, key=order.__getitem__)) for parents in sets if outcome not in parents]
        return tuple(sorted(found, key=lambda parents: (len(parents), [order[name] for name in parents])))

    def _with(self, meaning: str) -> tuple[str, ...]:
        return tuple(name for name, mark in self.marks.items() if MARKS[mark] == meaning)

    def _direction(self, variable: str) -> str:
        """Return a sentence about the edge between a neighbour and the target."""
        mark, reason = self.marks[variable], self.reasons.get(variable, "")
        because = f", because {reason}" if reason else ""
        texts = {
            "→": f"{variable} is a cause of {self.target}{because}.",
            "←": f"{variable} is an effect of {self.target}{because}.",
            "↔": f"{variable} and {self.target} share a hidden common cause, and neither causes the other{because}.",
            "o→": f"{variable} is no effect of {self.target}: a cause, or the two share a hidden cause{because}.",
            "←o": f"{variable} is no cause of {self.target}: an effect, or the two share a hidden cause{because}.",
        }
        unknown = "networks that the data cannot tell apart disagree on it"
        if not self.complete:
            unknown = "the search ended before it could be decided"
        return texts.get(
            mark, f"Whether {variable} is a cause or an effect of {self.target} is not decided: {unknown}."
        )

    # --- pictures and files --------------------------------------------------------------------------------------

    @property
    def title(self) -> str:
        """The question, in words."""
        return f"Causes and effects of {self.target}"

    @property
    def picture_graph(self) -> nx.DiGraph[str]:
        """The part of the graph that the picture shows: the target, its neighbours, and spouses with common effects."""
        near = {self.target, *self.marks, *(name for name in self.spouses if name in self.graph)}
        part = self.graph.subgraph([name for name in self.graph if name in near]).copy()
        for spouse, children in () if self.hidden else self.spouses.items():
            part.add_edges_from(
                (spouse, c) for c in children if not (part.has_edge(spouse, c) or part.has_edge(c, spouse))
            )
        if self.blanket_result.trace.at_hand:
            for row in self.blanket_result.trace.records(self.blanket_result, list(self.marks)):
                for edge in ((self.target, row["variable"]), (row["variable"], self.target)):
                    if part.has_edge(*edge):
                        part.edges[edge].update(effect=row["effect"], log_p=row["log_p"])
        return part

    def plot(self, path: str | os.PathLike[str] | None = None) -> Figure:
        """Draw the target with its causes above and its effects below, and write it to a file if `path` is given.

        An edge without an arrowhead is undecided. The file is a .png, .svg or .pdf.
        """
        figure = draw_graph(self.picture_graph, target=self.target, title=self.title)
        if path is not None:
            save_picture(figure, Path(path))
        return figure

    def to_dot(self) -> str:
        """Return the target, its neighbours and spouses in Graphviz's DOT; undecided edges have no arrowhead."""
        return dot_text(self.picture_graph, title=self.title, target=self.target)

    def _page(self) -> Page:
        from serape.results.report import causes_page

        return causes_page(self)

    # --- saving --------------------------------------------------------------------------------------------------

    _entries = (
        "target", "causes", "effects", "undecided", "confounded", "marks", "reasons", "hidden", "nodes", "edges",
        "expanded", "algorithm", "learner", "tests", "tests_by_size", "skipped", "seconds", "notes", "complete",
        "conflicts", "blanket",
    )  # fmt: skip
    _readers: ClassVar = {"reasons": named_texts, "learner": str, "hidden": bool}

    def _entry(self, name: str) -> Any:
        match name:
            case "nodes":
                return list(self.graph)
            case "edges":
                edges = self.graph.edges
                return [{"from": a, "to": b, "marks": edges[a, b].get("marks")} for a, b in edges]
            case "blanket":
                return self.blanket_result
        return super()._entry(name)

    @classmethod
    def from_dict(cls, content: Mapping[str, Any], **made: Any) -> Self:
        """Return the result that `to_dict` wrote."""
        import networkx as nx

        result = Result.from_dict(content["blanket"])
        names = known(texts(content["nodes"]), result.trace.names)
        if result.target not in names:
            raise ValueError("the target is not among the nodes")
        graph: nx.DiGraph[str] = nx.DiGraph()
        graph.add_nodes_from(names)
        for edge in content["edges"]:
            a, b = known(texts([edge["from"], edge["to"]]), names)
            if a == b:
                raise ValueError(f"an edge joins {a!r} to itself")
            graph.add_edge(a, b)
            if edge["marks"] is not None:
                graph.edges[a, b]["marks"] = _mark(edge["marks"])
        marks = {name: _mark(mark) for name, mark in content["marks"].items()}
        return super().from_dict(
            content,
            blanket_result=result,
            marks={name: marks[name] for name in known(list(marks), result.blanket)},
            graph=graph,
            expanded=known(texts(content["expanded"]), names),
            **made,
        )

    # --- display -------------------------------------------------------------------------------------------------

    def _brief(self) -> str:
        parts = [f"{kind}: {abbreviate(names, 8)}" for kind, names in self._groups() if names]
        return f"{self.title}: {'; '.join(parts) or 'no neighbours'}"

    def _groups(self) -> list[tuple[str, Sequence[str]]]:
        kinds: list[tuple[str, Sequence[str]]] = [("causes", self.causes), ("effects", self.effects)]
        if self.hidden:
            kinds.append(("hidden common causes with", self.confounded))
        return [*kinds, ("undecided", self.undecided)]

    _most_rows = sys.maxsize

    def _grid(self, max_rows: int) -> tuple[Sequence[str], Sequence[Sequence[str]], int]:
        heads, rows = self.table(max_rows)
        return heads, rows, len(self.blanket)

    def table(self, max_rows: int | None = None) -> tuple[list[str], list[list[str]]]:
        """Return the members of the blanket as a table, heads and rows: role and deciding test of each."""
        members = [*self.marks, *(name for name in self.blanket if name not in self.marks)][:max_rows]
        rows = [[name, self.marks.get(name, ""), self.role(name)] for name in members]
        if not self.blanket_result.trace.at_hand:
            return ["variable", "", "role"], rows
        heads, cells = evidence_table(self.blanket_result, members)
        return ["variable", "", "role", *heads], [a + b for a, b in zip(rows, cells, strict=True)]

    def __str__(self) -> str:
        result = self.blanket_result
        lines = [self.title]
        for kind, names in self._groups():
            told = [f"{n} ({self.marks[n]})" for n in names] if self.hidden and kind == "undecided" else names
            lines.append(f"  {kind}: {', '.join(told) or 'none'}")
        if via := [f"{name} (through {', '.join(children)})" for name, children in self.spouses.items() if children]:
            lines.append(f"  spouses: {', '.join(via)}")
        if others := [name for name, children in self.spouses.items() if not children]:
            lines.append(f"  also in the blanket: {', '.join(others)}")
        lines.append(
            f"  by {self.algorithm} with {_count(len(self.expanded), 'blanket')} by {self.learner}, {result.test} "
            f"at alpha {result.alpha:g}{rate_text(result.fdr, result.threshold)}: {self.tests:,} tests, "
            f"{self.skipped:,} skipped, {self.seconds:.3g} s"
        )
        dropped = _count(len(self.conflicts), "arrow")
        told = f"  {dropped} dropped because of contradictions to others (see conflicts)"
        return self._whole_text(lines, [told] if self.conflicts else ())


def _mark(value: Any) -> str:
    if value not in MARKS:
        raise ValueError(f"{value!r} is no mark of an edge")
    return str(value)


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"
