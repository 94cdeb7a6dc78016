"""Equivalence classes with knowledge, beside every member tried one by one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest

import serape
from plain_graphs import in_common, made, members, random_parents
from serape.knowledge import BoundKnowledge
from serape.structure.equivalence import agreeing_member, completed, equivalence_class, is_equivalent, member
from serape.structure.graphs import PartlyDirected, cpdag
from serape.structure.scores import make_score


@pytest.mark.parametrize("seed", range(60))
def test_class_has_the_arcs_of_all_members_that_agree_with_the_knowledge(seed: int) -> None:
    random = np.random.default_rng(seed)
    parents = random_parents(random, 5, 0.55)
    dag = PartlyDirected.of_dag(parents)
    known = [arc for arc in dag.arcs() if random.random() < 0.3]
    kept = [arc for arc in known if random.random() < 0.5]
    knowledge = BoundKnowledge(required=kept, forbidden=[(y, x) for x, y in known if (x, y) not in kept])
    agreeing = [other for other in members(dag) if all(x in other.parents[y] for x, y in known)]
    found = equivalence_class(parents, knowledge)
    assert found == in_common(agreeing)
    names = [f"n{k}" for k in random.permutation(5)]
    one = member(found, names, exact=True)
    assert one is not None
    assert PartlyDirected.of_dag(one) in agreeing


def test_a_member_that_agrees_with_any_knowledge() -> None:
    """True or not: one is returned if there is one, and it is a member that agrees."""
    random = np.random.default_rng(0)
    seen: Counter[bool] = Counter()
    for _ in range(300):
        dag = PartlyDirected.of_dag(random_parents(random, 5, 0.6))
        pairs = [(x, y) for x in range(5) for y in range(5) if x != y]
        required = [arc for arc in (dag.arcs() if random.random() < 0.5 else pairs) if random.random() < 0.08]
        forbidden = [arc for arc in pairs if random.random() < 0.12 and arc not in required]
        tiers = [[int(x) for x in random.permutation(5)[:2]]] if random.random() < 0.2 else []
        tiers += [[x for x in range(5) if x not in tiers[0]]] if tiers else []
        known = BoundKnowledge(required, forbidden, tiers)
        agreeing = [
            other
            for other in members(dag)
            if all(known.allows(x, y) for x, y in other.arcs()) and set(required) <= set(other.arcs())
        ]
        found = agreeing_member(cpdag(dag.parents), known)
        assert (found is None) == (not agreeing), (dag, required, forbidden, tiers)
        assert found is None or PartlyDirected.of_dag(found) in agreeing
        own = agreeing_member(dag, known)
        assert own == (dag.parents if dag in agreeing else None)
        seen[found is None] += 1
    assert min(seen.values()) > 60


def test_knowledge_against_the_dag_directs_nothing() -> None:
    assert equivalence_class([set(), {0}], BoundKnowledge(required=[(1, 0)])) == made(2, edges=[(0, 1)])


def test_completed_leaves_what_is_no_dag() -> None:
    for graph in (made(3, arcs=[(0, 1)], edges=[(1, 2)]), made(3, arcs=[(0, 1), (1, 2), (2, 0)])):
        assert completed(graph) == graph
    assert completed(made(3, arcs=[(0, 1), (1, 2)])) == made(3, edges=[(0, 1), (1, 2)])


def test_scores_are_tried_on_arcs_that_can_be_reversed() -> None:
    class Fond(serape.Score):
        variables = ("a", "b")

        def local(self, child: int, parents: Sequence[int]) -> float:
            return float(child == 1 and list(parents) == [0])

    table = serape.load_network("asia").sample(500, 1)
    chain = [set(), {0}, *(set() for _ in table.names[2:])]
    assert is_equivalent(make_score(table, "bic"), chain)
    assert is_equivalent(make_score(table, "bdeu"), chain)
    assert not is_equivalent(make_score(table, "k2"), chain)
    assert not is_equivalent(Fond(), [set(), {0}])
    assert is_equivalent(Fond(), [set(), set()])
