"""BOSS: exact with a perfect score, the same as its plain twin, moves in the core, interruption."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import serape
from plain import random_dag
from plain_correlations import correlated, table_of
from plain_graphs import members, random_parents
from plain_knowledge import obeys, random_bounds
from plain_number_scores import Population, plain_boss
from plain_searches import after, deletions
from serape import _core
from serape.knowledge import BoundKnowledge
from serape.structure.boss import boss
from serape.structure.constraints import ArcConstraints
from serape.structure.gaussian_score import GaussianBIC, GaussianEBIC
from serape.structure.ges import backward_search
from serape.structure.graphs import PartlyDirected, cpdag, extension
from serape.structure.scores import PermutedScore, Score, make_score
from serape.structure.stopping import Stopped


@pytest.mark.parametrize(("density", "most"), [(0.15, 11), (0.3, 9), (0.5, 7)])
def test_boss_is_exact_with_a_perfect_score(density: float, most: int) -> None:
    random = np.random.default_rng(int(100 * density))
    for _ in range(40):
        graph = random_dag(random, int(random.integers(2, most + 1)), density)
        order = [str(node) for node in random.permutation(list(graph))]
        found = serape.network(Population(graph, order, random), "boss")
        truth = cpdag(PartlyDirected.of_networkx(graph, order).parents).to_networkx(order)
        assert set(found.graph.edges) == set(truth.edges), list(graph.edges)


def scores(seed: int) -> Score:
    if seed % 2:
        return GaussianBIC(table_of(correlated(seed, 60, 6)))
    names = ("asia", "survey", "cancer")
    return make_score(serape.load_network(names[seed // 2 % 3]).sample(150, seed), ("bic", "bdeu")[seed % 4 // 2])


@pytest.mark.parametrize("seed", range(12))
def test_the_search_is_that_of_the_plain_twin(seed: int) -> None:
    score = scores(seed)
    n = len(score.variables)
    most = (1, 2, n)[seed % 3]
    found = plain_boss(score.family, n, most)
    expected = backward_search(score, found)
    for threads in (1, 3):
        assert boss(score, max_parents=most, starts=1, threads=threads) == expected


@pytest.mark.parametrize("seed", range(24))
def test_the_search_with_knowledge_is_that_of_the_plain_twin(seed: int) -> None:
    score = scores(seed)
    n = len(score.variables)
    random = np.random.default_rng(seed)
    constraints = ArcConstraints(n, random_bounds(random, n))
    knowledge = constraints.knowledge
    most = max((1, 2, n)[seed % 3], *map(len, constraints.required))
    first = constraints.order([int(x) for x in random.permutation(n)]) if seed % 2 else None
    required = constraints.required
    rules: dict[str, Any] = {"allowed": constraints.allowed, "required": required, "earlier": required}
    found = plain_boss(score.family, n, most, order=first or constraints.order(range(n)), **rules)
    assert obeys(knowledge, found)
    expected = plain_backward(score, found, knowledge)
    for threads in (1, 3):
        assert boss(score, knowledge=knowledge, max_parents=most, starts=1, first=first, threads=threads) == expected


def plain_backward(score: Score, found: list[set[int]], knowledge: BoundKnowledge) -> PartlyDirected:
    """The backward phase, where one graph of every class obeys; all graphs of a class are looked at."""
    graph = cpdag(found)
    while True:
        every = [(o, after(graph, o)) for y in range(graph.n) for o in deletions(graph, score, y, graph.n)]
        kept = [
            (o.gain, following)
            for o, following in every
            if o.gain > score.rounding and any(obeys(knowledge, dag.parents) for dag in members(following))
        ]
        if not kept:
            return graph
        graph = max(kept, key=lambda one: one[0])[1]


def test_the_backward_phase_keeps_a_graph_that_obeys() -> None:
    """Some deletions that raise the score leave no such graph."""
    differing = 0
    for seed in range(12):
        random = np.random.default_rng(seed)
        score = GaussianBIC(table_of(correlated(seed, 50, 5)))
        constraints = ArcConstraints(5, random_bounds(random, 5))
        start = constraints.nearest(cpdag(random_parents(random, 5, 0.9)), 5)
        found = backward_search(score, start, knowledge=constraints.knowledge)
        assert found == plain_backward(score, start, constraints.knowledge)
        differing += found != backward_search(score, start)
    assert differing


def ruled_search(score: Score, threads: int = 1, **rules: Any) -> _core.OrderSearch:
    """Return a search in which every variable may have all others as parents, unless rules say otherwise."""
    n = len(score.variables)
    everyone = [[x for x in range(n) if x != y] for y in range(n)]
    known: dict[str, Any] = {"allowed": everyone, "max_parents": n, "rounding": score.rounding, "threads": threads}
    return _core.OrderSearch(score.core(), **known | rules)


def found_by(search: _core.OrderSearch) -> list[set[int]]:
    return [set(search.parents(y)) for y in range(len(search.order))]


class Through(Score):
    """The answers of another score, as those of a score that a caller wrote."""

    def __init__(self, score: Score) -> None:
        self.name, self.variables = "through", score.variables
        self.local, self.additions, self.families = score.local, score.additions, score.families  # type: ignore[method-assign]
        self.rounding = score.rounding

    def local(self, child: int, parents: Sequence[int]) -> float:
        raise AssertionError((child, parents))


@pytest.mark.parametrize("seed", range(6))
def test_scores_of_the_core_and_of_callers_have_one_search(seed: int) -> None:
    for score in (scores(seed), GaussianEBIC(table_of(correlated(seed, 40, 14, troubled=True)))):
        n = len(score.variables)
        order = np.random.default_rng(seed).permutation(n).tolist()
        backwards = PermutedScore(score, range(n)[::-1])
        expected = boss(score, starts=2)
        assert boss(Through(score), starts=2) == expected
        assert boss(PermutedScore(backwards, range(n)[::-1]), starts=2) == expected
        searches = [ruled_search(Through(score)), ruled_search(score), ruled_search(score, 3)]
        searches.append(ruled_search(score, most_bytes=0))  # trees are thrown away all the time
        told: list[list[tuple[int, float]]] = [[] for _ in searches]
        for search, moves in zip(searches, told, strict=True):
            search.set_order(order)
            search.improve(lambda arcs, total, moves=moves: moves.append((arcs, total)))
            assert list(search.order) == list(searches[0].order)
            assert found_by(search) == found_by(searches[0])
            assert search.total == searches[0].total
            assert moves == told[0]
        assert not told[0] or told[0][-1] == (searches[0].arcs, searches[0].total)


@pytest.mark.parametrize("seed", range(12))
def test_rules_are_those_of_the_plain_twin(seed: int) -> None:
    score = scores(seed)
    n = len(score.variables)
    random = np.random.default_rng(seed)
    order = random.permutation(n).tolist()
    place = {x: k for k, x in enumerate(order)}
    allowed = [[x for x in range(n) if x != y and random.random() < 0.8] for y in range(n)]
    earlier = [[x for x in range(n) if place[x] < place[y] and random.random() < 0.25] for y in range(n)]
    required = [[x for x in earlier[y] if x in allowed[y] and random.random() < 0.3] for y in range(n)]
    for most in (n, max(map(len, required)) + 1):
        rules: dict[str, Any] = {"allowed": allowed, "earlier": earlier, "required": required}
        expected = plain_boss(score.family, n, most, order=order, **rules)
        for threads in (1, 3):
            search = ruled_search(score, threads, max_parents=most, **rules)
            search.set_order(order)
            search.improve()
            assert found_by(search) == expected
            after = {x: k for k, x in enumerate(search.order)}
            assert all(after[x] < after[y] for y in range(n) for x in {*earlier[y], *found_by(search)[y]})


def test_moves_keep_count_of_the_score() -> None:
    """What the core says of an order is what the score of its graph is, after every move."""
    score = GaussianBIC(table_of(correlated(3, 100, 15)))
    search = ruled_search(score)
    random = np.random.default_rng(1)
    search.set_order(random.permutation(15).tolist())
    moves = 0
    for variable in random.integers(15, size=200).tolist():
        before = search.total
        gained = search.best_move(variable)
        assert search.total == pytest.approx(before + gained, rel=1e-12)
        moves += gained > 0
        assert sorted(search.order) == list(range(15))
        place = {x: k for k, x in enumerate(search.order)}
        parents = [search.parents(y) for y in range(15)]
        assert search.arcs == sum(map(len, parents))
        assert all(place[x] < place[y] for y in range(15) for x in parents[y])
        assert search.total == pytest.approx(score.total(parents), rel=1e-12)
        again = ruled_search(score)
        again.set_order(search.order)
        assert again.total == search.total
        assert found_by(again) == found_by(search)
    assert moves > 10


def test_more_starts_never_lower_the_score() -> None:
    """All but the last phase: that removes edges, which raises the score further."""
    higher = 0
    for seed in range(6):
        score = GaussianBIC(table_of(correlated(seed, 150, 14)))
        totals = [score.total(extension(boss(score, starts=starts)) or []) for starts in (1, 4, 12)]
        assert totals == sorted(totals) or max(totals) - min(totals) < 1.0
        higher += totals[-1] > totals[0] + 0.1
    assert higher
    with pytest.raises(serape.OptionError, match="starts must be a whole number, 1 or more"):
        serape.network(table_of(correlated(0, 50, 4)), "boss", starts=0)


def test_forbidden_pairs_and_order_of_columns() -> None:
    data = correlated(5, 300, 10)
    table = table_of(data)
    found = serape.network(table, "boss")
    pair = found.edges[0]
    without = serape.network(table, "boss", knowledge={"forbidden_pairs": [pair]})
    assert not without.graph.has_edge(*pair)
    assert not without.graph.has_edge(*pair[::-1])
    assert (without.total or 0.0) < (found.total or 0.0)
    order = np.random.default_rng(1).permutation(10)
    turned = serape.Table({table.names[k]: data[:, k] for k in order}, kinds="continuous")
    assert set(serape.network(turned, "boss").graph.edges) == set(found.graph.edges)


def test_an_interrupted_search_returns_what_it_has() -> None:
    score = GaussianBIC(table_of(correlated(9, 200, 20)))
    whole = boss(score)
    best = score.total(extension(whole) or [])
    seen: list[float] = []

    def watch(arcs: int, total: float) -> None:
        del arcs
        seen.append(total)
        if len(seen) == 3:
            raise KeyboardInterrupt

    with pytest.raises(Stopped) as stopped:
        boss(score, watch=watch)
    parents = extension(stopped.value.graph)
    assert parents is not None
    assert cpdag(parents) == stopped.value.graph
    assert seen == sorted(seen)
    assert score.total(parents) == pytest.approx(seen[-1], rel=1e-9)
    assert seen[-1] <= best + 1e-6


@pytest.mark.parametrize("last", [1, 5, 25, 40, 100, 200, 300])
def test_a_search_interrupted_within_a_move_returns_a_class(last: int) -> None:
    class Interrupted(GaussianBIC):
        asked = 0

        def additions(self, *args: Any, **options: Any) -> Any:
            self.asked += 1
            if self.asked == last:
                raise KeyboardInterrupt
            return super().additions(*args, **options)

    score = Interrupted(table_of(correlated(9, 200, 20)))
    with pytest.raises(Stopped) as stopped:
        boss(score, starts=1)
    parents = extension(stopped.value.graph)
    assert parents is not None
    assert cpdag(parents) == stopped.value.graph
    if last > 100:
        assert score.total(parents) > score.total([[]] * 20)


def test_the_time_is_looked_at_within_moves() -> None:
    """A score that takes its time is interrupted before the first move."""
    asked = 0

    class Slow(GaussianBIC):
        def additions(self, *args: Any, **options: Any) -> Any:
            end = time.monotonic() + 0.06  # time is looked at no sooner
            while time.monotonic() < end:
                pass
            return super().additions(*args, **options)

    def watch(arcs: int, total: float) -> None:
        nonlocal asked
        del total
        asked += 1
        assert not arcs
        if asked == 2:
            raise KeyboardInterrupt

    score = Slow(table_of(correlated(9, 300, 40)))
    with pytest.raises(Stopped):
        boss(score, watch=watch)
    assert asked == 2


def test_a_cancelled_move_has_not_begun() -> None:
    class Interrupted(GaussianBIC):
        left = 10**9

        def additions(self, *args: Any, **options: Any) -> Any:
            self.left -= 1
            if self.left == 0:
                raise KeyboardInterrupt
            return super().additions(*args, **options)

    score = Interrupted(table_of(correlated(9, 200, 20)))
    search = ruled_search(score)
    search.set_order(range(20))
    stopped = 0
    for variable in range(20):
        before = list(search.order), found_by(search), search.total
        score.left = 1 + variable % 4
        try:
            search.best_move(variable)
        except KeyboardInterrupt:
            stopped += 1
            assert (list(search.order), found_by(search), search.total) == before
        score.left = 10**9
        search.best_move(variable)
        again = ruled_search(score)
        again.set_order(search.order)
        assert found_by(again) == found_by(search)
    assert stopped > 5


def test_an_error_in_a_score_passes_through() -> None:
    class Odd(Score):
        name = "odd"
        variables = ("a", "b", "c")

        def local(self, child: int, parents: Sequence[int]) -> float:
            return math.nan if len(parents) > 1 else float(len(parents)) + child

    with pytest.raises(serape.DataError, match="score 'odd' of '.' with '.', '.' is nan"):
        serape.network(Odd(), "boss")


def test_nonsense_is_refused() -> None:
    score = GaussianBIC(table_of(correlated(3, 100, 3)))
    search = ruled_search(score, earlier=[[], [0], []], required=[[], [0], []])
    with pytest.raises(ValueError, match="there is no order yet"):
        search.best_move(0)
    for order in ([0, 0, 1], [0, 1], [0, 1, 3], [0, 1, 2, 2]):
        with pytest.raises(ValueError, match="every variable once"):
            search.set_order(order)
    with pytest.raises(ValueError, match="has to be earlier"):
        search.set_order([1, 0, 2])
    search.set_order([2, 0, 1])
    search.set_order([0, 1, 2])
    assert list(search.order) == [0, 1, 2]
    with pytest.raises(IndexError, match="no such variable"):
        search.best_move(3)
    with pytest.raises(IndexError, match="no such variable"):
        search.parents(3)
    with pytest.raises(ValueError, match="a list for every variable"):
        ruled_search(score, allowed=[[1]])
    with pytest.raises(ValueError, match="in its own list"):
        ruled_search(score, earlier=[[0], [], []])
    with pytest.raises(IndexError, match="no such variable"):
        ruled_search(score, allowed=[[3], [], []])
    with pytest.raises(ValueError, match="must be allowed and come earlier"):
        ruled_search(score, required=[[1], [], []])
    with pytest.raises(ValueError, match="must be allowed and come earlier"):
        ruled_search(score, required=[[1], [], []], earlier=[[1], [], []], allowed=[[2], [0], []])


def test_answers_of_callers_are_checked() -> None:
    class Odd(GaussianBIC):
        def additions(self, *args: Any, **options: Any) -> Any:
            return super().additions(*args, **options)[:-1]

        def families(self, *args: Any, **options: Any) -> Any:
            return super().families(*args, **options)[:-1]

    class FewQueries(GaussianBIC):
        def additions_of_many(self, *args: Any, **options: Any) -> Any:
            return super().additions_of_many(*args, **options)[:-1]

    table = table_of(correlated(9, 200, 6))
    for score in (Odd(table), FewQueries(table)):
        with pytest.raises(ValueError, match="for every question"):
            boss(score)
