"""The result about all variables together: a skeleton or a network."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

from serape.bridges import as_networkx
from serape.data.provenance import Provenance
from serape.data.table import Table
from serape.errors import DataError, OptionError, first_few, suggestion
from serape.formats import bnlearn_text, dot_text
from serape.independence.outcomes import p_text
from serape.knowledge import Knowledge
from serape.markup import plain
from serape.networks import Network
from serape.networks.fitting import fit
from serape.records import Records
from serape.results.call import Call
from serape.results.deferred import Deferred
from serape.results.displayed import rate_text
from serape.results.graph_comparison import GraphComparison, compare_graphs, compared_classes
from serape.results.graph_result import GraphResult
from serape.results.pictures import draw_graph, save_picture
from serape.results.saved import bits, known, log_p, number, optional, rate, texts
from serape.structure.equivalence import completed, member
from serape.structure.graphs import PartlyDirected
from serape.structure.mixed_edges import arcs_of, undirected_edges, with_evidence
from serape.wording import question

if TYPE_CHECKING:
    import networkx as nx
    from matplotlib.figure import Figure

    from serape.results.report.page import Page

EVIDENCE = (
    "statistic", "dof", "p", "log_p", "adjusted_p", "effect", "effect_name", "effect_value", "reliable", "given",
    "gain",
)  # fmt: skip


@dataclass(frozen=True, repr=False, eq=False, kw_only=True)
class Structure(GraphResult, file="serape-structure-1"):
    """A skeleton or network, how it was found, and the evidence for each edge.

    Examples
    --------
    >>> found = serape.network(patients, "pc-stable", alpha=0.01)
    >>> sorted(found.dag.predecessors("ChestPain"))
    ['Anxiety', 'HeartDisease']
    >>> print(found.compare(clinic_graph()))
    structural Hamming distance 5; 0 missing, 0 extra, 0 reversed, 5 directed in one graph only; edges:
    precision 1.000, recall 1.000; arrows: precision 0.750, recall 0.667
    """

    finds: Literal["skeleton", "network"]
    graph: Deferred[nx.Graph[str]] = Deferred()  # noqa: RUF009
    """A `networkx.Graph` for a skeleton, otherwise a `networkx.DiGraph` that has an undirected edge in both directions.

    A network is a class: an edge is directed where the data, or knowledge, decide its direction.

    Edges have the `statistic`, `dof`, `log_p`, `reliable` and `given` of a test, and its `effect` in bits with a
    familiar measure (`effect_name`, `effect_value`) where it has one. In a skeleton, or a network made from
    one, it is the test with the weakest association of the pair. In a network found by a score, it is the test given
    the other parents of the child, and `gain` is what the score would lose without the arc (of `dag`, for an undirected
    edge). With a false discovery rate, `adjusted_p` is the smallest rate at which the edge is kept.
    """
    algorithm: str
    test: str | None
    alpha: float | None
    score: str | None
    total: float | None
    """The score of the network, if it was found by a score."""
    tests: int
    """The number of tests performed."""
    tests_by_size: Mapping[int, int]
    skipped: int
    """The number of tests skipped."""
    seconds: float
    options: Mapping[str, Any]
    notes: tuple[str, ...]
    """Remarks about the data and the search."""
    complete: bool
    """False if the search was interrupted, or a budget ended it."""
    separating_sets: Mapping[frozenset[str], tuple[str, ...]] = field(repr=False)
    """The separating sets of pairs that are not adjacent but have a common neighbour."""
    conflicts: tuple[str, ...] = field(default=(), repr=False)
    """Arrows that follow from tests or knowledge but contradict more certain ones, and so are not in the graph."""
    fdr: float | None = None
    """The false discovery rate asked for, or None."""
    threshold: float | None = None
    """With a false discovery rate, the p-value up to which edges were kept."""
    table: Table | None = field(default=None, repr=False)
    data: Provenance | None = field(default=None, repr=False)
    """The data: rows, columns, fingerprint."""
    call: Call = field(default_factory=Call, repr=False)
    """What a report needs to show the call again."""

    formats = (*GraphResult.formats, "bnlearn")

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "graph": self.graph}

    @property
    def _edges(self) -> nx.Graph[str]:
        return self.graph

    @property
    def directed(self) -> bool:
        """Whether every edge has a direction."""
        import networkx as nx

        return isinstance(self.graph, nx.DiGraph) and not undirected_edges(self.graph)

    @property
    def edges(self) -> tuple[tuple[str, str], ...]:
        """Every edge once: arcs from parent to child, undirected edges in the order of the variables."""
        found = {*arcs_of(self.graph), *undirected_edges(self.graph)}
        return tuple(edge for edge in self.graph.edges if edge in found)

    @property
    def evidence(self) -> Records:
        """The evidence for every edge: a table for any dataframe library."""
        import networkx as nx

        columns: dict[str, list[Any]] = {"from": [], "to": [], "directed": []}
        columns.update({name: [] for name in EVIDENCE})
        for a, b in self.edges:
            columns["from"].append(a)
            columns["to"].append(b)
            columns["directed"].append(isinstance(self.graph, nx.DiGraph) and not self.graph.has_edge(b, a))
            attributes = self.graph.edges[a, b]
            for name in EVIDENCE:
                value = attributes.get(name)
                if name == "p" and "log_p" in attributes:
                    value = math.exp(attributes["log_p"])
                columns[name].append(", ".join(value) if name == "given" and value is not None else value)
        for name in ("adjusted_p", "gain"):
            if all(value is None for value in columns[name]):
                del columns[name]
        return Records(columns)

    def explain(self, a: str, b: str) -> str:
        """Return whether two variables are adjacent, in which direction, and why: a text in sentences."""
        for name in (a, b):
            if name not in self.graph:
                raise OptionError(f"there is no variable {name!r}.{suggestion(str(name), list(self.graph))}")
        if a == b:
            raise OptionError(f"{a!r} is named twice; name two variables")
        forth, back = self.graph.has_edge(a, b), self.graph.has_edge(b, a)
        if not (forth or back):
            given = self.separating_sets.get(frozenset((a, b)))
            why = "" if given is None else f": they are independent given {first_few(given) or 'nothing'}"
            return plain(f"{a} and {b} are not adjacent{why}.")
        x, y = (a, b) if forth else (b, a)
        adjacent = f"There is an arc from {x} to {y}" if forth != back else f"{a} and {b} are adjacent"
        told = told_by(self.test, self.graph.edges[x, y])
        why = f" ({told})" if told else ""
        undecided = "" if self.finds == "skeleton" or forth != back else " Its direction is not decided."
        return plain(f"{adjacent}{why}.{undecided}")

    def compare(self, truth: Any) -> GraphComparison:
        """Compare the class with that of the true graph: structural Hamming distance, precision and recall.

        The truth is a `networkx.DiGraph`, a `Network`, or a graph of causal-learn, pgmpy or pyAgrum. Knowledge that was
        used is also applied to its class.
        """
        return compare_graphs(self.graph, as_networkx(truth), self._knowledge)

    @property
    def cpdag(self) -> nx.DiGraph[str]:
        """The equivalence class, as a graph that has an undirected edge in both directions.

        It is `graph`, unless a score that differs between equivalent graphs has directed more edges.
        """
        names = list(self.graph)
        graph = self._partly_directed()
        if self.score is not None:
            knowledge = self._knowledge
            graph = completed(graph, None if knowledge is None else knowledge.bind(names))
        return graph.to_networkx(names)

    @property
    def reversible(self) -> tuple[tuple[str, str], ...]:
        """The edges whose direction neither data nor knowledge decide, in the order of the variables."""
        return tuple(undirected_edges(self.cpdag))

    @property
    def decided(self) -> int:
        """The number of edges whose direction data or knowledge decide."""
        return 0 if self.finds == "skeleton" else len(self.edges) - len(self.reversible)

    @property
    def dag(self) -> nx.DiGraph[str] | None:
        """A member of the class: a directed acyclic graph with the same edges, arcs and v-structures.

        None if there is none, because tests contradict each other.
        """
        parents = member(self._partly_directed(), list(self.graph), exact=True)
        return None if parents is None else PartlyDirected.of_dag(parents).to_networkx(list(self.graph))

    def fit(self, equivalent_sample_size: float = 1.0) -> Network:
        """Return a member of the class with probabilities estimated from the data; see `serape.networks.fitting.fit`.

        The member is `dag`. If there is none, undirected edges are directed along an order that the arcs follow, which
        may create v-structures.
        """
        if self.table is None:
            raise DataError("probabilities are estimated from data, but the structure was found without a table")
        names = list(self.graph)
        above = member(self._partly_directed(), names) or []
        parents = {names[y]: [names[x] for x in sorted(xs)] for y, xs in enumerate(above)}
        return fit(self.table, parents, equivalent_sample_size)

    def plot(self, path: str | os.PathLike[str] | None = None, truth: Any = None) -> Figure:
        """Draw the graph, and write it to a file (.png, .svg, .pdf) if `path` is given.

        With the true graph, the picture shows how the classes differ, as `compare` counts it.
        """
        import networkx as nx

        graph: nx.Graph[Any] = self.graph
        true = truth.graph if isinstance(truth, Network) else as_networkx(truth)
        if true is not None and isinstance(graph, nx.DiGraph):
            own, true = compared_classes(graph, true, self._knowledge)
            graph = with_evidence(own, graph)
        figure = draw_graph(graph, truth=true, title=self.title)
        if path is not None:
            save_picture(figure, Path(path))
        return figure

    @property
    def _knowledge(self) -> Knowledge | None:
        stored = self.options.get("knowledge")
        return None if stored is None else Knowledge.of(stored)

    def _partly_directed(self) -> PartlyDirected:
        import networkx as nx

        if not isinstance(self.graph, nx.DiGraph):
            raise DataError(f"a skeleton has no directions; use {question('network')} to find them")
        return PartlyDirected.of_networkx(self.graph, list(self.graph))

    # --- saving --------------------------------------------------------------------------------------------------

    _entries = (
        "finds", "variables", "directed", "directions", "edges", "separating_sets", "conflicts", "algorithm", "test",
        "alpha", "fdr", "threshold", "score", "total", "tests", "tests_by_size", "skipped", "seconds", "options",
        "notes", "complete", "data", "call",
    )  # fmt: skip
    _readers: ClassVar = {
        "finds": lambda value: "network" if value == "network" else "skeleton",
        "test": optional(str),
        "alpha": optional(rate),
        "score": optional(str),
        "total": optional(number),
    }

    def _entry(self, name: str) -> Any:
        match name:
            case "variables":
                return list(self.graph)
            case "directions":
                return None if self.finds == "skeleton" else {"decided": self.decided, "edges": len(self.edges)}
            case "edges":
                return [
                    {**row, "given": self.graph.edges[row["from"], row["to"]].get("given")} for row in self.evidence
                ]
            case "separating_sets":
                return [{"pair": sorted(pair), "given": given} for pair, given in self.separating_sets.items()]
        return super()._entry(name)

    @classmethod
    def from_dict(cls, content: Mapping[str, Any], **made: Any) -> Self:
        """Return the structure that `to_dict` wrote; it has no data, so it cannot be fitted."""
        names = texts(content["variables"])
        separating = {
            _pair(one["pair"], names): known(texts(one["given"]), names) for one in content["separating_sets"]
        }
        return super().from_dict(content, graph=_graph(content, names), separating_sets=separating, **made)

    def json(self) -> str:
        """Return the structure as JSON."""
        return self.to_json()

    def to_dot(self) -> str:
        """Return the graph in Graphviz's DOT; undirected edges have no arrowhead."""
        return dot_text(self.graph, title=self.title)

    def to_bnlearn(self) -> str:
        """Return a member of the class as bnlearn's model string, for `model2network`."""
        dag = self.dag
        if dag is None:
            raise DataError("the arcs contradict each other, so the class has no member; bnlearn's string needs one")
        return bnlearn_text(dag)

    def to_pgmpy(self) -> Any:
        """Return the class as a `pgmpy.base.PDAG`; for a fitted model see `serape.bridges.pgmpy`."""
        from serape.bridges.pgmpy import export_graph

        return export_graph(self.graph)

    def to_pyagrum(self) -> Any:
        """Return the class as a `pyagrum.PDAG`, whose nodes are the positions of the variables."""
        from serape.bridges.pyagrum import export_graph

        return export_graph(self.graph)

    def to_causal_learn(self) -> Any:
        """Return the class as a `causallearn.graph.GeneralGraph.GeneralGraph`."""
        from serape.bridges.causal_learn import export_graph

        return export_graph(self.graph)

    def _page(self) -> Page:
        from serape.results.report import network_page

        return network_page(self)

    @property
    def title(self) -> str:
        """A summary of the graph, in words."""
        what = "Skeleton" if self.finds == "skeleton" else "Network"
        return f"{what} of {_count(len(self.graph), 'variable')}: {self.summary}"

    @property
    def summary(self) -> str:
        """How many edges there are, and how many directions are decided, in words."""
        edges = _count(len(self.edges), "edge") if self.edges else "no edges"
        return f"{edges}, {self.directions}" if self.directions else edges

    @property
    def directions(self) -> str:
        """How many directions are decided, in words; an empty text if there are no edges, or for a skeleton."""
        edges = len(self.edges)
        if self.finds == "skeleton" or not edges:
            return ""
        return f"{self.decided:,} of {_count(edges, 'direction')} {'is' if edges == 1 else 'are'} decided"

    def edges_with_evidence(self) -> list[tuple[str, str, str, Mapping[str, Any]]]:
        """Return every edge once: from, → or –, to, and its evidence."""
        import networkx as nx

        directed, back = isinstance(self.graph, nx.DiGraph), self.graph.has_edge
        return [(a, "→" if directed and not back(b, a) else "–", b, self.graph.edges[a, b]) for a, b in self.edges]

    def __str__(self) -> str:
        how = [f"  by {self.algorithm}"]
        if self.test is not None and self.alpha is not None:
            how.append(
                f" with {self.test} at alpha {self.alpha:g}{rate_text(self.fdr, self.threshold)}: "
                f"{_count(self.tests, 'test')}, {self.skipped:,} skipped"
            )
        if self.score is not None and self.total is not None:
            how.append(f"{'' if self.test is None else ','} {self.score} score {self.total:,.2f}")
        lines = [self.title, f"{''.join(how)}, {self.seconds:.3g} s"]
        dropped = _count(len(self.conflicts), "arrow")
        told = f"  {dropped} dropped because of contradictions to others (see conflicts)"
        return self._whole_text(lines, [told] if self.conflicts else ())


# --- reading files ---------------------------------------------------------------------------------------------------


def _graph(content: Mapping[str, Any], names: Sequence[str]) -> nx.Graph[str]:
    import networkx as nx

    directed = content["finds"] == "network"
    graph: nx.Graph[str] = nx.DiGraph(directed=bool(content["directed"])) if directed else nx.Graph()
    graph.add_nodes_from(names)
    for edge in content["edges"]:
        a, b = str(edge["from"]), str(edge["to"])
        if a not in graph or b not in graph:
            raise ValueError(f"an edge joins {a!r} and {b!r}, which are not both variables")
        attributes = read_evidence(edge)
        graph.add_edge(a, b, **attributes)
        if directed and not edge["directed"]:
            graph.add_edge(b, a, **attributes)
    return graph


def read_evidence(edge: Mapping[str, Any]) -> dict[str, Any]:
    """Return the attributes of an edge in a file."""
    attributes: dict[str, Any] = {}
    if edge.get("given") is not None:
        attributes |= {name: number(edge[name]) for name in ("statistic", "dof")}
        attributes |= {
            "log_p": log_p(edge["log_p"]),
            "reliable": bool(edge["reliable"]),
            "given": texts(edge["given"]),
        }
        for name, read in (("effect", bits), ("effect_value", number)):  # files of older versions have none
            if edge.get(name) is not None:
                attributes[name] = read(edge[name])
        if edge.get("effect_name") is not None:
            attributes["effect_name"] = str(edge["effect_name"])
    if edge.get("adjusted_p") is not None:
        attributes["adjusted_p"] = number(edge["adjusted_p"], 0, 1)
    if edge.get("gain") is not None:
        attributes["gain"] = number(edge["gain"])
    return attributes


def _pair(values: Any, names: Sequence[str]) -> frozenset[str]:
    pair = frozenset(known(texts(values), names))
    if len(pair) != 2:
        raise ValueError("a pair has two variables")
    return pair


# --- graphs and words ------------------------------------------------------------------------------------------------


def told_by(test: str | None, evidence: Mapping[str, Any]) -> str:
    """Return what speaks for an edge: its test, and what a score would lose without it."""
    told = []
    if evidence.get("given") is not None:
        known = f" given {first_few(evidence['given'])}" if evidence["given"] else ""
        told.append(f"{test} = {evidence['statistic']:.4g}, p = {p_text(evidence['log_p'])}{known}")
    if evidence.get("gain") is not None:
        told.append(f"the score would lose {evidence['gain']:.2f} without it")
    return "; ".join(told)


def undirected(
    names: Iterable[str], edges: Iterable[tuple[str, str]], evidence: Mapping[frozenset[str], Mapping[str, Any]]
) -> nx.Graph[str]:
    """Return an undirected graph whose edges have their evidence as attributes."""
    import networkx as nx

    graph: nx.Graph[str] = nx.Graph()
    graph.add_nodes_from(names)
    for a, b in edges:
        graph.add_edge(a, b, **evidence.get(frozenset((a, b)), {}))
    return graph


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"
