"""GES, greedy equivalence search.

Chickering, *Optimal structure identification with greedy search*, JMLR 2002. The search visits equivalence classes of
graphs, each represented by its completed graph. Forward phase: as long as the score rises, apply the best Insert(X, Y,
T), which adds X → Y to a graph of the class in which T are parents of Y. Backward phase: likewise, the best Delete(X,
Y, H). The score must be the same for equivalent graphs (BDeu, BIC). As the number of rows tends to infinity, the search
finds the class of the true graph.

Deviation: a dependence so weak that its arc costs more than it gains leaves the first two phases in a local optimum,
in any number of rows. So a third phase turns arcs as long as that raises the score, and the search begins again if it
turned any, as Hauser and Bühlmann propose (*Characterization and greedy learning of interventional Markov equivalence
classes of directed acyclic graphs*, JMLR 2012). With a perfect score there is nothing to turn.

NA(Y, X) are the undirected neighbours of Y that are adjacent to X.

See docs/papers.md: Rodrigues de Morais and Aussem 2010, Section 5.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush

import numpy as np

from serape.knowledge import BoundKnowledge
from serape.structure.dag_class import DagClass
from serape.structure.equivalence import agreeing_member
from serape.structure.graphs import PartlyDirected
from serape.structure.scores import Score
from serape.structure.stopping import ScoreCallback, keeping
from serape.structure.tabu import TOGETHER, Family

Entry = tuple[int, int, int]
"""An operator: its target, its place among those of the target, and their version."""


@dataclass(frozen=True)
class Operator:
    """Insert(x, y, T) or Delete(x, y, H), where `others` is T or H, and its gain in score.

    An insertion is valid if every semi-directed path from y to x passes through `blocking`, which is None for a
    deletion.
    """

    gain: float
    x: int
    y: int
    others: frozenset[int]
    blocking: frozenset[int] | None = None

    @property
    def edge(self) -> frozenset[int]:
        """The two nodes."""
        return frozenset((self.x, self.y))


def ges(
    score: Score,
    *,
    knowledge: BoundKnowledge | None = None,
    max_parents: int | None = None,
    threads: int = 1,
    watch: ScoreCallback | None = None,
) -> PartlyDirected:
    """Return the completed graph at which the greedy search ends. Of knowledge, it uses the forbidden pairs."""
    search = ClassSearch(score, knowledge or BoundKnowledge(), max_parents, threads)
    with keeping(lambda: search.found.settled()):
        search.climb([search.insertion_phase()], watch)
        search.climb([search.deletion_phase()], watch)
        search = turning = TurningSearch(score, search.knowledge, max_parents, threads, search.found.member.parents)
        while turning.climb([turning.reversal_phase()], watch):
            turning.climb([turning.insertion_phase()], watch)
            turning.climb([turning.deletion_phase()], watch)
    return search.graph


def backward_search(
    score: Score,
    parents: Sequence[Collection[int]],
    *,
    knowledge: BoundKnowledge | None = None,
    threads: int = 1,
    watch: ScoreCallback | None = None,
) -> PartlyDirected:
    """Return the completed graph at which the backward phase ends that begins with the class of a DAG.

    If the DAG obeys the knowledge, so does one of each class on the way.
    """
    kind = _ObeyingSearch if knowledge is not None and knowledge.has_orientations else ClassSearch
    search = kind(score, knowledge or BoundKnowledge(), None, threads, parents)
    with keeping(lambda: search.found.settled()):
        search.climb([search.deletion_phase()], watch)
    return search.graph


class Ranking:
    """Operators by gain. One that a path makes invalid waits until a node of the path changes."""

    def __init__(self, n: int) -> None:
        self._by_target: list[list[Operator]] = [[] for _ in range(n)]
        self._version = [0] * n
        self._reached = [0] * n  # by target: the operators up to this one are queued or wait; others gain no more
        self._queue: list[tuple[float, int, int, int]] = []  # minus the gain, target, place, version
        self._paths: dict[Entry, list[int]] = {}  # of operators that wait
        self._on_path: defaultdict[int, set[Entry]] = defaultdict(set)  # by node: the operators that wait for it

    def put(self, y: int, operators: list[Operator]) -> None:
        """Take the operators of a target, the best first, in place of those it had."""
        self._by_target[y] = operators
        self._version[y] += 1
        self._reached[y] = 0
        if operators:
            self._push((y, 0, self._version[y]))

    def best(self, path: Callable[[Operator], list[int] | None]) -> Operator | None:
        """Take the valid operator with the largest gain, of several the first one of the first target; None if none is.

        `path` returns the nodes of the path that makes an operator invalid, None if it is valid.
        """
        while self._queue:
            _, *entry = heappop(self._queue)
            y, k, version = entry
            if version != self._version[y]:
                continue
            operators = self._by_target[y]
            found = path(operators[k])
            if found is None:
                return operators[k]
            self._paths[y, k, version] = found
            for node in found:
                self._on_path[node].add((y, k, version))
            if k == self._reached[y] and k + 1 < len(operators):
                self._reached[y] += 1
                self._push((y, k + 1, version))
        return None

    def recheck(self, changed: Iterable[int]) -> None:
        """Queue the operators that wait for one of the changed nodes."""
        for entry in {entry for node in changed for entry in self._on_path.get(node, ())}:
            for node in self._paths.pop(entry):
                self._on_path[node].remove(entry)
            if entry[2] == self._version[entry[0]]:
                self._push(entry)

    def copy(self) -> Ranking:
        """Return a ranking that changes on its own."""
        made = Ranking(0)
        made._by_target = self._by_target.copy()
        made._version = self._version.copy()
        made._reached = self._reached.copy()
        made._queue = self._queue.copy()
        made._paths = self._paths.copy()
        made._on_path = defaultdict(set, {node: entries.copy() for node, entries in self._on_path.items()})
        return made

    def _push(self, entry: Entry) -> None:
        heappush(self._queue, (-self._by_target[entry[0]][entry[1]].gain, *entry))


@dataclass(frozen=True)
class Phase:
    """The operators of one kind: how those of targets are found, what makes one invalid, how it is applied."""

    operators: Callable[[Collection[int]], Iterable[list[Operator]]]
    path: Callable[[Operator], list[int] | None]
    apply: Callable[[Operator], set[int]]
    ranking: Ranking


class ClassSearch:
    """A search that applies operators to a class of graphs."""

    def __init__(
        self,
        score: Score,
        knowledge: BoundKnowledge,
        max_parents: int | None,
        threads: int,
        start: Sequence[Collection[int]] = (),
    ) -> None:
        self.score = score
        self.knowledge = knowledge
        n = len(score.variables)
        self.max_parents = n if max_parents is None else max_parents
        self.threads = threads
        self.found = DagClass(n, start)
        self.nodes = np.arange(n, dtype=np.uint32)
        self.total = score.total(self.found.member.parents)
        self.barred: frozenset[int] = frozenset()
        """Two nodes between which no arc may be inserted for now."""
        self._known: dict[Family, list[tuple[int, float]]] = {}  # by family: further parents and their gains

    @property
    def graph(self) -> PartlyDirected:
        """The completed graph of the class."""
        return self.found.graph

    def insertion_phase(self, ranking: Ranking | None = None) -> Phase:
        """Return the phase of insertions."""
        return Phase(self.insertions, self.path, self.insert, ranking or Ranking(self.graph.n))

    def deletion_phase(self, ranking: Ranking | None = None) -> Phase:
        """Return the phase of deletions."""
        return Phase(self.deletions, self.path, self.delete, ranking or Ranking(self.graph.n))

    def climb(
        self, phases: Sequence[Phase], watch: ScoreCallback | None, affected: Collection[int] | None = None
    ) -> int:
        """Apply the best operator of the first phase that has one, as long as one raises the score; return how many.

        Only operators that may have changed are updated: those of targets whose own or whose neighbours' adjacencies
        have changed. At first, these are `affected`, or all.
        """
        affected = range(self.graph.n) if affected is None else affected
        applied = 0
        while True:
            for phase in phases:
                for y, found in zip(affected, phase.operators(affected), strict=True):
                    phase.ranking.put(y, found)
            for phase in phases:
                if (best := phase.ranking.best(phase.path)) is not None:
                    affected = self.apply(best, phases, phase.apply)
                    applied += 1
                    break
            else:
                return applied
            if watch is not None:
                watch(self.found.arcs, self.total)

    def apply(self, operator: Operator, phases: Sequence[Phase], how: Callable[[Operator], set[int]]) -> set[int]:
        """Apply an operator; return the targets whose operators may have changed."""
        changed = how(operator)
        self.total += operator.gain
        for phase in phases:
            phase.ranking.recheck(changed)
        return self.affected({operator.x, operator.y}, changed)

    def affected(self, pair: set[int], changed: set[int]) -> set[int]:
        """Return the targets whose operators may have changed, as two nodes are adjacent or no longer so."""
        return pair.union(changed, *(self.graph.neighbours[node] for node in pair))

    def path(self, operator: Operator) -> list[int] | None:
        """Return a semi-directed path from y to x that avoids the blocking set, or None; None for a deletion."""
        if operator.blocking is None:
            return None
        graph = self.graph
        before = {operator.y: -1}
        pending = deque([operator.y])
        while pending:
            node = pending.popleft()
            for following in (graph.children[node], graph.neighbours[node]):
                for z in following:
                    if z not in before and z not in operator.blocking and (z != operator.x or node != operator.y):
                        before[z] = node
                        pending.append(z)
            if operator.x in before:
                path = [operator.x]
                while before[path[-1]] >= 0:
                    path.append(before[path[-1]])
                return path
        return None

    # --- forward -------------------------------------------------------------------------------------------------

    def insertions(self, targets: Collection[int]) -> Iterator[list[Operator]]:
        """Yield, for each target y, the insertions of arcs into y that raise the score, the best first.

        T are the sets for which NA(Y, X) ∪ T is a clique. So for every clique C among the neighbours of y, all X whose
        NA(Y, X) is a subset of C are scored together.
        """
        graph = self.graph
        bases = [
            [
                (clique, clique | graph.parents[y])
                for clique in cliques(graph, graph.neighbours[y])
                if len(clique) + len(graph.parents[y]) < self.max_parents
            ]
            for y in targets
        ]
        self._compute((y, base) for y, of_y in zip(targets, bases, strict=True) for _, base in of_y)
        for y, of_y in zip(targets, bases, strict=True):
            yield self._insertions(y, of_y)

    def _insertions(self, y: int, bases: list[tuple[frozenset[int], frozenset[int]]]) -> list[Operator]:
        """Return the insertions into y, given cliques among its neighbours, each alone and with the parents of y."""
        graph = self.graph
        excluded = graph.adjacent(y) | self.knowledge.forbidden_neighbours(y) | {y}
        if y in self.barred:
            excluded |= self.barred
        common: dict[int, set[int]] = {}  # NA(y, x), if not empty
        for z in graph.neighbours[y]:
            for x in graph.adjacent(z):
                common.setdefault(x, set()).add(z)
        nobody: set[int] = set()
        found = []
        for clique, base in bases:
            for x, gain in self._known[y, base]:
                if x not in excluded and common.get(x, nobody) <= clique:
                    found.append(Operator(gain, x, y, clique - common.get(x, nobody), clique))
        return sorted(found, key=lambda o: -o.gain)

    def _compute(self, families: Iterable[Family]) -> None:
        """Compute what each x adds to the score of a child as a further parent; those that raise it are kept."""
        new = [family for family in dict.fromkeys(families) if family not in self._known]
        for k in range(0, len(new), TOGETHER):
            asked = new[k : k + TOGETHER]
            queries = []
            for y, base in asked:
                others = np.ones(self.graph.n, bool)
                others[[y, *base]] = False
                queries.append((y, self.nodes[others], sorted(base)))
            found = self.score.additions_of_many(queries, threads=self.threads)
            for family, (y, xs, parents), after in zip(asked, queries, found, strict=True):
                gains = after - self.score.family(y, parents)
                raising = np.flatnonzero(gains > self.score.rounding)
                self._known[family] = list(zip(xs[raising].tolist(), gains[raising].tolist(), strict=True))

    def insert(self, operator: Operator) -> set[int]:
        """Add x → y to a graph of the class in which T are parents of y; return the nodes that have changed."""
        assert operator.blocking is not None
        return self.found.insert(operator.x, operator.y, operator.blocking)

    # --- backward ------------------------------------------------------------------------------------------------

    def deletions(self, targets: Collection[int]) -> Iterator[list[Operator]]:
        """Yield, for each target y, the deletions of arcs into y, and of edges at y, that raise the score."""
        return map(self._deletions, targets)

    def _deletions(self, y: int) -> list[Operator]:
        """Return the deletions at y that raise the score, the best first."""
        return sorted((o for o in self.every_deletion(y) if o.gain > self.score.rounding), key=lambda o: -o.gain)

    def every_deletion(self, y: int) -> Iterator[Operator]:
        """Yield the deletions of arcs into y and of edges at y, whatever they gain."""
        graph = self.graph
        neighbours, parents = graph.neighbours[y], graph.parents[y]
        for x in sorted(neighbours | parents):
            common = neighbours & graph.adjacent(x)
            for clique in cliques(graph, common):  # NA(Y, X) \ H
                rest = (clique | parents) - {x}
                gain = self.score.family(y, sorted(rest)) - self.score.family(y, sorted(rest | {x}))
                yield Operator(gain, x, y, frozenset(common - clique))

    def delete(self, operator: Operator) -> set[int]:
        """Remove the edge between x and y from a graph in which H are children of y; return the changed nodes."""
        x, y = operator.x, operator.y
        common = self.graph.neighbours[y] & self.graph.adjacent(x)
        return self.found.delete(x, y, common - operator.others)


class _ObeyingSearch(ClassSearch):
    """A search whose deletions leave a graph in the class that obeys the knowledge."""

    def path(self, operator: Operator) -> list[int] | None:
        """Return what makes an operator invalid: for a deletion, that no graph of the class obeys, wherever that is."""
        if operator.blocking is not None:
            return super().path(operator)
        whole = self.found
        self.found = whole.copy()
        self.delete(operator)
        obeys = agreeing_member(self.graph, self.knowledge) is not None
        self.found = whole
        return None if obeys else list(range(self.graph.n))


class TurningSearch(ClassSearch):
    """A search that also turns arcs.

    Reverse(X, Y, T) turns an arc Y → X that all graphs of the class have, in one of them in which T and NA(Y, X) are
    parents of Y and no neighbour of X is its parent (Hauser and Bühlmann turn arcs of more general classes).
    """

    def __init__(
        self,
        score: Score,
        knowledge: BoundKnowledge,
        max_parents: int | None,
        threads: int,
        start: Sequence[Collection[int]] = (),
    ) -> None:
        super().__init__(score, knowledge, max_parents, threads, start)
        self._turned: set[object] = set()  # classes, each with a reversal that was applied to it

    def affected(self, pair: set[int], changed: set[int]) -> set[int]:
        """Return the targets whose operators may have changed; reversals depend on the parents of children, too."""
        found = super().affected(pair, changed)
        return found.union(*(self.graph.parents[node] for node in pair | changed))

    def reversal_phase(self, ranking: Ranking | None = None) -> Phase:
        """Return the phase of reversals."""
        ranking = ranking or Ranking(self.graph.n)
        return Phase(lambda targets: map(self._reversals, targets), self._reversal_path, self._reverse, ranking)

    def _reversals(self, y: int) -> list[Operator]:
        """Return the reversals of arcs y → x that raise the score, the best first."""
        graph, family = self.graph, self.score.family
        found = []
        above = graph.parents[y]
        bases = [
            clique for clique in cliques(graph, graph.neighbours[y]) if len(clique) + len(above) < self.max_parents
        ]
        for x in sorted(graph.children[y]):
            common = graph.neighbours[y] & graph.adjacent(x)
            of_x = family(x, graph.parents[x] - {y}) - family(x, graph.parents[x])
            for clique in bases:
                if common <= clique:
                    gain = of_x + family(y, above | clique | {x}) - family(y, above | clique)
                    if gain > self.score.rounding:
                        found.append(Operator(gain, x, y, clique, clique | graph.neighbours[x]))
        return sorted(found, key=lambda o: -o.gain)

    def _reversal_path(self, operator: Operator) -> list[int] | None:
        """Return what makes a reversal invalid, or None; it is applied to a class once, so that the search ends."""
        if (path := self.path(operator)) is not None:
            return path
        step = operator, frozenset(self.graph.arcs()), frozenset(self.graph.edges())
        if step in self._turned:
            return [operator.x, operator.y]
        self._turned.add(step)
        return None

    def _reverse(self, operator: Operator) -> set[int]:
        return self.found.reverse(operator.x, operator.y, operator.others)


def cliques(graph: PartlyDirected, nodes: Collection[int]) -> Iterator[frozenset[int]]:
    """Yield all sets of nodes that are adjacent to each other, by size, the empty set first."""
    level: list[tuple[frozenset[int], tuple[int, ...]]] = [(frozenset(), tuple(sorted(nodes)))]
    while level:
        larger = []
        for clique, candidates in level:
            yield clique
            for k, z in enumerate(candidates):
                larger.append((clique | {z}, tuple(w for w in candidates[k + 1 :] if graph.are_adjacent(z, w))))
        level = larger
