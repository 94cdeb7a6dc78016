"""The region around a target."""

from __future__ import annotations

from itertools import permutations
from typing import TYPE_CHECKING, Any, Unpack

from serape._keywords import Keywords
from serape.errors import OptionError, is_integer, shown, worded
from serape.independence import table_of
from serape.questions.constraints import left_out_notes
from serape.questions.deciding import Discoveries
from serape.questions.edge_evidence import edge_evidence
from serape.questions.min_effect import remove_weak_edges
from serape.questions.query import Query
from serape.questions.run import Run
from serape.questions.structures import edges_of, resolve_learner, source_notes
from serape.results.call import Call
from serape.search import Search
from serape.search.associations import DecidingTest
from serape.settings import Settings, question
from serape.skeletons.edges import weigh_edges
from serape.skeletons.skeleton import Skeleton
from serape.types import LocalAlgorithm
from serape.wording import setting

if TYPE_CHECKING:
    import networkx as nx

    from serape.results.region import Region


@question(
    command=(
        "serape region patients.csv --target HeartDisease --depth 2 --picture region.png",
        "serape region patients.csv --target HeartDisease --depth 1 --json",
    ),
    about="Find the columns within a number of edges of a column, and the edges on the way.\n\n"
    "Prints the edges with their evidence.",
    words={"depth": "The largest number of edges between the target and a column."},
)
def region(
    data: Any,
    target: str | int,
    depth: int = 2,
    algorithm: str | LocalAlgorithm = "auto",
    **settings: Unpack[Keywords],
) -> Region:
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
    Region
        A `networkx.Graph`. Nodes have a `distance` from the target; edges the `statistic`, `dof`, `log_p`, `effect`
        and `given` of the weakest association of the two: with a false discovery rate, which adds the `adjusted_p` of
        the weaker side, of the tests of the search, otherwise given nothing or one neighbour. The attributes of the
        graph (`graph.graph`) record how it was found: `target`, `depth`, `algorithm`, `tests`, `skipped`, `seconds`,
        `notes`, `complete`.

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

    from serape.results.region import Region

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
    run = Run(asked.run, query.source)
    with run.part(), run.searching(query, steps=query.shared_steps(2)) as search:
        grown = _Region(query, at, search)
        found = Skeleton(grown.neighbours)
        grown.grow(int(depth))
        weigh_edges(search, found)
        found.weakest = found.weakest.replaced_by({edge: test for edge, (_, test) in grown.judged().items()})
        if weak := remove_weak_edges(query, found):
            search.notes.extend(weak)
            grown.forget_unreached(at)
    if not run.complete and not run.interrupted:
        run.notes.append(f"{run.ended}: the region is as far as it was found")
    graph = Region()
    evidence = edge_evidence(query.source, found).by_name(names)
    graph.add_nodes_from(names[x] for x in grown.distance)
    for a, b in edges_of(grown.neighbours, names):
        graph.add_edge(a, b, **evidence.get(frozenset((a, b)), {}))
    for (x, y), (adjusted, _) in ((sorted(edge), judged) for edge, judged in grown.judged().items()):
        if graph.has_edge(names[x], names[y]):
            graph.edges[names[x], names[y]]["adjusted_p"] = adjusted
    nx.set_node_attributes(graph, {names[x]: steps for x, steps in grown.distance.items()}, "distance")
    graph.graph.update(
        target=names[at],
        depth=int(depth),
        algorithm=query.algorithm.name,
        test=query.source.name,
        alpha=query.alpha,
        fdr=None if query.fdr is None else query.fdr.rate,
        tests=run.tally.performed,
        skipped=run.tally.skipped,
        seconds=run.seconds,
        notes=tuple(map(worded, (*source_notes(query.source), *left_out_notes(query.knowledge, names), *run.notes))),
        complete=run.complete,
    )
    table = table_of(query.source)
    graph.tests_by_size = dict(sorted(run.tally.tests_by_size.items()))
    graph.options, graph.call = dict(query.reported), Call(query.own)
    graph.data = None if table is None else table.provenance
    return run.hand_over(graph)


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
        self._discoveries: dict[int, Discoveries] = {}

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
            answer, self._discoveries[x] = self._query.discovered(self._search, x)
            self._neighbourhoods[x] = {int(y) for y in answer.parents_children or ()}
        return self._neighbourhoods[x]

    def _side(self, x: int, y: int) -> tuple[float, DecidingTest] | None:
        """Return what the search about x says of its neighbour y: the adjusted p, and the test it belongs to."""
        found = self._discoveries.get(x)
        return None if found is None or y not in found.adjusted else (found.adjusted[y], found.tests[y])

    def judged(self) -> dict[frozenset[int], tuple[float, DecidingTest]]:
        """Return the edges that a false discovery rate judged: the larger adjusted p of the two sides, and its test."""
        edges = {frozenset((x, y)) for x, others in self.neighbours.items() for y in others}
        sides = {edge: [side for x, y in permutations(edge) if (side := self._side(x, y))] for edge in edges}
        return {edge: max(both, key=lambda side: side[0]) for edge, both in sides.items() if both}
