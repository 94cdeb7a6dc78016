"""The answer about many variables at once: a skeleton, or a network."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import networkx as nx

from serape.data.provenance import Provenance
from serape.data.table import Table
from serape.errors import DataError
from serape.files import atomic_write
from serape.networks import Network
from serape.networks.fitting import fit
from serape.records import Records
from serape.results.call import Call
from serape.results.graph_comparison import GraphComparison, compare_graphs
from serape.results.pictures import draw_graph, save_picture
from serape.results.result import finite, read_saved
from serape.structure.graphs import PartlyDirected, some_dag

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORMAT = "serape-structure-1"
EVIDENCE = ("statistic", "dof", "log_p", "reliable", "given", "gain")


@dataclass(frozen=True)
class Structure:
    """A skeleton or network, how it was found, and what speaks for each edge."""

    finds: Literal["skeleton", "network"]
    graph: nx.Graph[str]
    """A `networkx.Graph` if a skeleton, else a `networkx.DiGraph`, in which an open edge is present both ways.

    Edges have `statistic`, `dof`, `log_p`, `reliable` and `given` of the test behind them. In a skeleton, or a network
    made from one, that is the weakest association of the two that was met; in a network found by its score it is the
    one given the other parents of the child, and `gain` is what the score would lose without the arc (in `dag`, where
    an edge is open).
    """
    algorithm: str
    test: str | None
    alpha: float | None
    score: str | None
    total: float | None
    """The score of the network, where it was found by one."""
    tests: int
    """Tests performed."""
    tests_by_size: Mapping[int, int]
    skipped: int
    """Questions without a verdict."""
    seconds: float
    options: Mapping[str, Any]
    notes: tuple[str, ...]
    """What was treated specially or decided along the way."""
    complete: bool
    """False if the search was interrupted."""
    separating_sets: Mapping[frozenset[str], tuple[str, ...]] = field(repr=False)
    """What separates pairs that are not joined but have a neighbour in common."""
    conflicts: tuple[str, ...] = field(default=(), repr=False)
    """Arrows that tests or knowledge ask for and that contradict surer ones."""
    table: Table | None = field(default=None, repr=False, compare=False)
    data: Provenance | None = field(default=None, repr=False, compare=False)
    """Which data it is about: rows, columns, fingerprint."""
    call: Call = field(default_factory=Call, repr=False, compare=False)
    """What has to be known of the call to write it down again."""

    @property
    def directed(self) -> bool:
        """Whether every edge has a direction."""
        return isinstance(self.graph, nx.DiGraph) and not self._undirected()

    @property
    def edges(self) -> tuple[tuple[str, str], ...]:
        """Every edge once: arcs from parent to child, others in the variables' order."""
        if not isinstance(self.graph, nx.DiGraph):
            return tuple(self.graph.edges)
        index = {name: k for k, name in enumerate(self.graph)}
        return tuple((a, b) for a, b in self.graph.edges if not self.graph.has_edge(b, a) or index[a] < index[b])

    @property
    def evidence(self) -> Records:
        """For every edge, what speaks for it: a table for any dataframe library."""
        columns: dict[str, list[Any]] = {"from": [], "to": [], "directed": []}
        columns.update({name: [] for name in EVIDENCE})
        for a, b in self.edges:
            columns["from"].append(a)
            columns["to"].append(b)
            columns["directed"].append(isinstance(self.graph, nx.DiGraph) and not self.graph.has_edge(b, a))
            seen = self.graph.edges[a, b]
            for name in EVIDENCE:
                value = seen.get(name)
                columns[name].append(", ".join(value) if name == "given" and value is not None else value)
        if all(gain is None for gain in columns["gain"]):
            del columns["gain"]
        return Records(columns)

    def compare(self, truth: nx.DiGraph[Any] | Network) -> GraphComparison:
        """Measure the graph against the true one: structural Hamming distance, precision and recall."""
        return compare_graphs(self.graph, truth)

    @property
    def dag(self) -> nx.DiGraph[str]:
        """A directed acyclic graph that agrees with the network: itself, or a member of its equivalence class.

        Tests can contradict each other so that no such graph exists; then open edges are directed along an order that
        the arcs follow, which may make new v-structures.
        """
        names = list(self.graph)
        return PartlyDirected.of_dag(self._parents()).to_networkx(names)

    def fit(self, equivalent_sample_size: float = 1.0) -> Network:
        """Return the network with probabilities estimated from the data; see `serape.networks.fitting.fit`."""
        if self.table is None:
            raise DataError("there are no data to estimate probabilities from; the structure was found without a table")
        names = list(self.graph)
        parents = {names[y]: [names[x] for x in sorted(above)] for y, above in enumerate(self._parents())}
        return fit(self.table, parents, equivalent_sample_size)

    def plot(
        self, path: str | os.PathLike[str] | None = None, truth: nx.DiGraph[Any] | Network | None = None
    ) -> Figure:
        """Draw the graph; write it to a file (.png, .svg, .pdf) if one is named."""
        true = truth.graph if isinstance(truth, Network) else truth
        figure = draw_graph(self.graph, truth=true, title=self.title)
        if path is not None:
            save_picture(figure, Path(path))
        return figure

    def _undirected(self) -> list[tuple[str, str]]:
        return [(a, b) for a, b in self.graph.edges if self.graph.has_edge(b, a)]

    def _parents(self) -> list[set[int]]:
        if not isinstance(self.graph, nx.DiGraph):
            raise DataError("a skeleton has no directions; serape.network finds them")
        return some_dag(PartlyDirected.of_networkx(self.graph, list(self.graph)))

    # --- saving --------------------------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the data as plain dicts, lists, text and numbers."""
        return {
            "format": FORMAT,
            "finds": self.finds,
            "variables": list(self.graph),
            "directed": self.directed,
            "edges": [
                {**row, "given": None if seen.get("given") is None else list(seen["given"])}
                for row, seen in ((row, self.graph.edges[row["from"], row["to"]]) for row in self.evidence)
            ],
            "separating_sets": [
                {"pair": sorted(pair), "given": list(given)} for pair, given in self.separating_sets.items()
            ],
            "conflicts": list(self.conflicts),
            "algorithm": self.algorithm,
            "test": self.test,
            "alpha": self.alpha,
            "score": self.score,
            "total": self.total,
            "tests": self.tests,
            "tests_by_size": {str(size): count for size, count in self.tests_by_size.items()},
            "skipped": self.skipped,
            "seconds": self.seconds,
            "options": dict(self.options),
            "notes": list(self.notes),
            "complete": self.complete,
            "data": None if self.data is None else self.data.to_dict(),
            "call": self.call.to_dict(),
        }

    def json(self) -> str:
        """Return the structure as JSON."""
        return json.dumps(finite(self.to_dict()), indent=1, allow_nan=False, default=str) + "\n"

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the structure as JSON; the file appears whole or not at all."""
        atomic_write(Path(path), self.json())

    def report(self, path: str | os.PathLike[str]) -> None:
        """Write a report to an HTML file: graph, edges, test budget, and how to get the structure again.

        The file stands alone: it opens from disk, in any browser, without a network. Of very many variables only those
        with the most edges are in it.
        """
        from serape.results.report import check_name, network_page, page_text

        check_name(Path(path))
        atomic_write(Path(path), page_text(network_page(self)))

    @property
    def title(self) -> str:
        """What was found, in words."""
        arcs = len(self.edges) - len(self._undirected()) // 2 if isinstance(self.graph, nx.DiGraph) else 0
        open_ = len(self.edges) - arcs
        parts = [_count(arcs, "arc")] * (arcs > 0) + [_count(open_, "undirected edge")] * (open_ > 0)
        what = "Skeleton" if self.finds == "skeleton" else "Network"
        return f"{what} of {_count(len(self.graph), 'variable')}: {' and '.join(parts) or 'no edges'}"

    def __str__(self) -> str:
        how = [f"  by {self.algorithm}"]
        if self.test is not None and self.alpha is not None:
            how.append(
                f" with {self.test} at alpha {self.alpha:g}: {_count(self.tests, 'test')}, {self.skipped:,} skipped"
            )
        if self.score is not None and self.total is not None:
            how.append(f"{'' if self.test is None else ','} {self.score} score {self.total:,.2f}")
        lines = [self.title, f"{''.join(how)}, {self.seconds:.3g} s"]
        if not self.complete:
            lines.append("  interrupted: this is what had been found by then")
        if self.conflicts:
            lines.append(f"  {_count(len(self.conflicts), 'arrow')} left out for contradicting others (see conflicts)")
        return "\n".join([*lines, *(f"  note: {note}" for note in self.notes)])


def load_structure(path: str | os.PathLike[str]) -> Structure:
    """Read a structure written by `Structure.save`. It has no data, so it cannot be fitted."""
    content = read_saved(Path(path), FORMAT, "structure")
    try:
        return _from_dict(content)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise DataError(f"{path} is damaged: {type(error).__name__} {error}") from None


def _from_dict(content: Mapping[str, Any]) -> Structure:
    directed = content["finds"] == "network"
    data = content.get("data")  # files of older versions have none
    names = [str(name) for name in content["variables"]]
    graph: nx.Graph[str] = nx.DiGraph(directed=bool(content["directed"])) if directed else nx.Graph()
    graph.add_nodes_from(names)
    for edge in content["edges"]:
        a, b = str(edge["from"]), str(edge["to"])
        if a not in graph or b not in graph:
            raise ValueError(f"an edge joins {a!r} and {b!r}, which are not both variables")
        seen: dict[str, Any] = {}
        if edge.get("given") is not None:
            seen = {name: float("nan" if edge[name] is None else edge[name]) for name in ("statistic", "dof", "log_p")}
            seen |= {"reliable": bool(edge["reliable"]), "given": tuple(str(z) for z in edge["given"])}
        if edge.get("gain") is not None:
            seen["gain"] = float(edge["gain"])
        graph.add_edge(a, b, **seen)
        if directed and not edge["directed"]:
            graph.add_edge(b, a, **seen)
    return Structure(
        finds="network" if directed else "skeleton",
        graph=graph,
        algorithm=str(content["algorithm"]),
        test=content["test"],
        alpha=content["alpha"],
        score=content["score"],
        total=content["total"],
        tests=int(content["tests"]),
        tests_by_size={int(size): int(count) for size, count in content["tests_by_size"].items()},
        skipped=int(content["skipped"]),
        seconds=float(content["seconds"]),
        options=dict(content["options"]),
        notes=tuple(content["notes"]),
        complete=bool(content["complete"]),
        separating_sets={frozenset(e["pair"]): tuple(e["given"]) for e in content["separating_sets"]},
        conflicts=tuple(content["conflicts"]),
        data=None if data is None else Provenance.from_dict(data),
        call=Call.from_dict(content.get("call")),
    )


def undirected(
    names: Iterable[str], edges: Iterable[tuple[str, str]], evidence: Mapping[frozenset[str], Mapping[str, Any]]
) -> nx.Graph[str]:
    """Return an undirected graph whose edges carry their evidence."""
    graph: nx.Graph[str] = nx.Graph()
    graph.add_nodes_from(names)
    for a, b in edges:
        graph.add_edge(a, b, **evidence.get(frozenset((a, b)), {}))
    return graph


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"
