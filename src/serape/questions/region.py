"""The region around a target."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Unpack

from serape._keywords import Keywords
from serape.errors import Interrupted, OptionError, is_integer, shown
from serape.independence import table_of
from serape.progress import StatusLine, progress_callback
from serape.questions.constraints import left_out_notes
from serape.questions.edge_evidence import edge_evidence
from serape.questions.min_effect import remove_weak_edges
from serape.questions.query import Query
from serape.questions.run import STRUCTURE_SECONDS, edges_of, resolve_learner, source_notes
from serape.results.structure import undirected
from serape.search import Budget, BudgetSpent, Search
from serape.settings import Settings, question
from serape.skeletons.edges import weigh_edges
from serape.skeletons.skeleton import Skeleton
from serape.types import LocalAlgorithm
from serape.wording import setting

if TYPE_CHECKING:
    import networkx as nx


@question()
def region(
    data: Any,
    target: str | int,
    depth: int = 2,
    algorithm: str | LocalAlgorithm = "auto",
    **settings: Unpack[Keywords],
) -> nx.Graph[str]:
    """Find the variables within `depth` edges of a target, and the edges on the way, growing outward from it.

    Two variables are adjacent if each is among the parents and children of the other. Edges between two variables at
    the full depth are not part of the region.

    Parameters
    ----------
    data, target
        As for `markov_blanket`.
    depth
        The largest number of edges between the target and a variable.
    algorithm
        What finds the parents and children of the variables nearer than `depth`; "auto" as for `skeleton`.

    Returns
    -------
    networkx.Graph
        Nodes have a `distance` from the target; edges the `statistic`, `dof`, `log_p`, `effect` and `given` of the
        weakest association of the two given nothing or one neighbour. The attributes of the graph (`graph.graph`)
        record how it was found: `target`, `depth`, `algorithm`, `tests`, `skipped`, `seconds`, `notes`, `complete`.

    Raises
    ------
    Interrupted
        On Ctrl-C; its `found` is the region found so far.

    Examples
    --------
    >>> found = serape.region(patients, "HeartDisease", depth=1, alpha=0.01)
    >>> sorted(found["HeartDisease"])
    ['Age', 'BloodPressure', 'ChestPain', 'ECG', 'Smoking']
    """
    import networkx as nx

    if not is_integer(depth) or depth < 1:
        raise OptionError(f"{setting('depth')} must be a whole number, 1 or more, not {shown(depth)}")
    asked = Settings.of(algorithm=algorithm, **settings)
    query = resolve_learner(data, asked)
    if query.algorithm.by_pairs:
        raise OptionError(
            f"algorithm {query.algorithm.name!r} tests pairs; for a region use one that finds neighbourhoods, "
            f"such as 'hiton-pc'"
        )
    at = query.position(target)
    query = query.constrained(asked.search, [at], symmetric=True)
    names = query.source.variables
    watch = progress_callback(asked.run.progress)
    budget = Budget.of(asked.run, None if table_of(query.source) is None else STRUCTURE_SECONDS)
    search = query.search(None, asked.run.threads, watch, cache=query.cache(2), budget=budget)
    started = time.perf_counter()
    grown = _Region(query, at, search)
    found = Skeleton(grown.neighbours)
    complete = interrupted = False
    try:
        grown.grow(int(depth))
        weigh_edges(search, found)
        if weak := remove_weak_edges(query, found):
            search.notes += weak
            grown.forget_unreached(at)
        complete = True
    except KeyboardInterrupt:
        interrupted = True
    except BudgetSpent as spent:
        search.notes.append(f"the search stopped at {spent}: the region is as far as it was found")
    finally:
        if isinstance(watch, StatusLine):
            watch.close()
    graph = undirected(
        (names[x] for x in grown.distance),
        edges_of(grown.neighbours, names),
        edge_evidence(query.source, found).by_name(names),
    )
    nx.set_node_attributes(graph, {names[x]: steps for x, steps in grown.distance.items()}, "distance")
    graph.graph.update(
        target=names[at],
        depth=int(depth),
        algorithm=query.algorithm.name,
        test=query.source.name,
        alpha=query.alpha,
        fdr=None if query.fdr is None else query.fdr.rate,
        tests=search.tally.performed,
        skipped=search.tally.skipped,
        seconds=time.perf_counter() - started,
        notes=(*source_notes(query.source), *left_out_notes(query.knowledge, names), *search.notes),
        complete=complete,
    )
    if interrupted:
        raise Interrupted(graph)
    return graph


class _Region:
    """The region around a target, growing outward.

    Two variables are adjacent if each is among the parents and children of the other. The neighbours of a variable at
    the full depth are found only to confirm an edge to it, and edges between two such variables are not part of the
    region.
    """

    def __init__(self, query: Query, target: int, search: Search) -> None:
        self.neighbours: dict[int, set[int]] = {target: set()}
        self.distance = {target: 0}
        self._query = query
        self._search = search
        self._symmetric = query.algorithm.symmetric(query.options)
        self._neighbourhoods: dict[int, set[int]] = {}

    def grow(self, depth: int) -> None:
        """Find the variables within `depth` edges of the target."""
        frontier = list(self.distance)
        for step in range(1, min(depth, len(self._query.source.variables)) + 1):
            next_frontier: list[int] = []
            for x in frontier:
                required = self._query.required(x)
                for y in sorted(self._neighbourhood(x) | required):
                    if self._symmetric or y in required or x in self._neighbourhood(y):
                        self.neighbours[x].add(y)
                        self.neighbours.setdefault(y, set()).add(x)
                        if y not in self.distance:
                            self.distance[y] = step
                            next_frontier.append(y)
            frontier = next_frontier

    def forget_unreached(self, target: int) -> None:
        """Leave out the variables that no path of edges joins to the target, and find the distances again."""
        import networkx as nx

        graph: nx.Graph[int] = nx.Graph([(x, y) for x, others in self.neighbours.items() for y in others])
        graph.add_node(target)
        reached = nx.single_source_shortest_path_length(graph, target)
        self.distance = {x: reached[x] for x in self.distance if x in reached}
        for x in self.neighbours.keys() - self.distance.keys():
            del self.neighbours[x]

    def _neighbourhood(self, x: int) -> set[int]:
        if x not in self._neighbourhoods:
            self._neighbourhoods[x] = {
                int(y) for y in self._query.discovered(self._search, x)[0].parents_children or ()
            }
        return self._neighbourhoods[x]
