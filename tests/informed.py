"""Questions asked with true knowledge and a perfect test or score: is the answer right?

`CHECKS` has a check for every algorithm and question. A check draws nothing: it says of a `Case` whether the answer is
exactly that of the graph, refined by the knowledge where it directs edges. A search by score that is not sound, and
wrong without knowledge, is not asked to be right with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import networkx as nx
import numpy as np

import serape
from plain import random_dag, true_blanket
from serape.local.registry import ALGORITHMS
from serape.questions.by_score import scored_result
from serape.questions.structures import StructureRun
from serape.results.comparison import true_members
from serape.results.structure import Structure
from serape.settings import RunSettings
from serape.structure.equivalence import equivalence_class
from serape.structure.perfect_score import PerfectScore
from serape.structure.registry import NETWORK_ALGORITHMS
from serape.types import Finds
from true_knowledge import random_forbidden_members, random_knowledge, random_known_members


@dataclass(frozen=True)
class Case:
    """A DAG with shuffled names, a random order of columns, a target, and knowledge that is true."""

    graph: nx.DiGraph[str]
    order: tuple[str, ...]
    target: str
    knowledge: Mapping[str, Any]
    known_members: Mapping[str, list[str]]
    """By question, some true members of the answer."""
    forbidden_members: Mapping[str, list[str]]
    """By variable, some that are not in its blanket, and not tested against it."""

    @classmethod
    def draw(cls, rng: np.random.Generator, max_nodes: int = 9) -> Case:
        """Draw a case."""
        graph = random_dag(rng, int(rng.integers(3, max_nodes + 1)), float(rng.choice([0.15, 0.3, 0.5])))
        order = tuple(str(node) for node in rng.permutation(list(graph)))
        target = str(rng.choice(order))
        some = rng.random() < 0.2
        known: dict[str, list[str]] = {
            finds: random_known_members(rng, set(true_members(graph, target, finds))) if some else []
            for finds in ("blanket", "parents-children")
        }
        knowledge = random_knowledge(rng, graph)
        return cls(graph, order, target, knowledge, known, random_forbidden_members(rng, nx.moral_graph(graph)))

    @cached_property
    def oracle(self) -> serape.DSeparation:
        """The perfect test."""
        return serape.DSeparation(self.graph, self.order)

    @property
    def told(self) -> dict[str, Any]:
        """The settings that say what is known about pairs of variables."""
        return {"knowledge": self.knowledge, "forbidden_members": self.forbidden_members}

    def told_to(self, algorithm: Any) -> dict[str, Any]:
        """Return these settings, for an algorithm that is proven to be sound; knowledge alone for others.

        Those that run PC over a few variables need tests of all pairs of these (`iamb-npc`, `inter-iamb-npc`).
        """
        proven = algorithm not in ALGORITHMS or ALGORITHMS[algorithm].sound
        return self.told if proven else {"knowledge": self.knowledge}

    def true_class(self, knowledge: Mapping[str, Any]) -> set[tuple[str, str]]:
        """Return the arcs of all DAGs that are equivalent and agree with the knowledge; edges have both directions."""
        index = {name: k for k, name in enumerate(self.order)}
        parents = [{index[parent] for parent in self.graph.predecessors(name)} for name in self.order]
        found = equivalence_class(parents, serape.Knowledge(**knowledge).bind(self.order))
        return set(found.to_networkx(self.order).edges)

    def __str__(self) -> str:
        members = f"members {dict(self.known_members)}, forbidden members {dict(self.forbidden_members)}"
        known = f"{dict(self.knowledge)}, {members}"
        return f"{self.target} on {list(self.graph.edges)} in the order {self.order} with {known}"


IsRight = Callable[[Case], bool]


def other_notes(found: Any) -> list[str]:
    """Return the notes of an answer, without the one that names forbidden members."""
    return [note for note in found.notes if not note.startswith("forbidden members are not tested")]


def local(algorithm: Any, finds: Finds, case: Case, **options: Any) -> bool:
    """Ask about one target: the members must be the true ones, and so must their roles."""
    question = serape.markov_blanket if finds == "blanket" else serape.parents_children
    known = case.known_members[finds]
    found = question(case.oracle, case.target, algorithm, **case.told_to(algorithm), known_members=known, **options)
    if other_notes(found) or set(found.members) != set(true_members(case.graph, case.target, finds)):
        return False
    if found.spouses is None or known:  # nothing is found out about the role of a known member
        return True
    near = set(true_members(case.graph, case.target, "parents-children"))
    children = set(case.graph.successors(case.target))
    through = {s: children.intersection(case.graph.successors(s)) for s in set(found.blanket) - near}
    return set(found.parents_children or ()) == near and {s: set(c) for s, c in found.spouses.items()} == through


def many(algorithm: str, case: Case) -> bool:
    """Ask about all targets at once."""
    found = serape.blankets(case.oracle, algorithm=algorithm, **case.told_to(algorithm))
    return all(set(one.blanket) == true_blanket(case.graph, target) for target, one in found.items())


def around(algorithm: str, case: Case) -> bool:
    """Ask for the region around a target."""
    found = serape.region(case.oracle, case.target, 2, algorithm, **case.told)
    pairs = {frozenset(arc) for arc in case.graph.edges}
    steps = nx.single_source_shortest_path_length(case.graph.to_undirected(), case.target, cutoff=2)
    inside = {pair for pair in pairs if pair <= steps.keys() and min(steps[x] for x in pair) < 2}
    return set(found) == steps.keys() and {frozenset(edge) for edge in found.edges} == inside


def skeleton(algorithm: str, case: Case) -> bool:
    """Ask which variables are adjacent; separating sets must separate."""
    found = serape.skeleton(case.oracle, algorithm, **case.told)
    index = {name: k for k, name in enumerate(case.order)}
    for pair, given in found.separating_sets.items():
        x, y = (index[name] for name in pair)
        if case.oracle.test(x, y, [index[z] for z in given]).p < 1.0:
            return False
    return not other_notes(found) and {frozenset(e) for e in found.graph.edges} == {
        frozenset(a) for a in case.graph.edges
    }


def network(algorithm: str, case: Case) -> bool:
    """Ask for the network: the class refined by the knowledge, and a member of it.

    Where pairs are not tested, arcs may stay undirected.
    """
    found = serape.network(case.oracle, algorithm, **case.told)
    known, index = serape.Knowledge(**case.knowledge).bind(case.order), case.order.index
    if found.dag is None or serape.compare_graphs(found.dag, case.graph).shd:
        return False
    obeys = all(known.allows(index(a), index(b)) for a, b in found.dag.edges)
    arcs, truth = set(found.graph.edges), case.true_class(case.knowledge)
    same_pairs = {frozenset(arc) for arc in arcs} == {frozenset(arc) for arc in truth}
    is_right = arcs >= truth and same_pairs if case.forbidden_members else arcs == truth
    return obeys and not found.conflicts and is_right


def by_score(name: str, case: Case) -> bool:
    """Ask for the network by a perfect score; a hybrid gets the skeleton that its learner finds with a perfect test."""
    algorithm = NETWORK_ALGORITHMS[name]
    score = PerfectScore(case.graph, case.order)

    def ask(knowledge: Mapping[str, Any]) -> Structure:
        neighbours = None
        options = dict(algorithm.defaults)
        if algorithm.learner:
            rule = options.pop("rule")
            found = serape.skeleton(
                case.oracle, algorithm.learner, rule, knowledge=knowledge, **algorithm.learner_options
            )
            neighbours = {x: {case.order.index(y) for y in found.graph[name]} for x, name in enumerate(case.order)}
        run = StructureRun(case.order, score, serape.Knowledge(**knowledge), RunSettings())
        return scored_result(run, None, algorithm, score, neighbours, options)

    free, found = ask({}), ask(case.knowledge)
    if any("differ in score" in note for note in (*free.notes, *found.notes)):  # by rounding
        return True
    right, with_knowledge = (
        set(one.graph.edges) == case.true_class(known) for one, known in ((free, {}), (found, case.knowledge))
    )
    return (right and with_knowledge) if algorithm.sound else (with_knowledge or not right)


def _checks() -> Iterable[tuple[str, IsRight]]:
    sound = [algorithm for algorithm in ALGORITHMS.values() if algorithm.sound]
    questions: tuple[Finds, ...] = ("blanket", "parents-children")
    for algorithm in [*sound, ALGORITHMS["iamb-npc"], ALGORITHMS["inter-iamb-npc"]]:
        for finds in questions:
            if algorithm.answers(finds):
                yield f"{algorithm.name}, {finds}", partial(local, algorithm.name, finds)
        if algorithm.answers("blanket"):
            yield f"{algorithm.name}, blankets", partial(many, algorithm.name)
    learners = [algorithm.name for algorithm in sound if algorithm.answers("parents-children")]
    for name in learners:
        yield f"{name}, region", partial(around, name)
    for name in [*learners, "pc-stable"]:
        yield f"{name}, skeleton", partial(skeleton, name)
        yield f"{name}, network", partial(network, name)
    for name, chosen in NETWORK_ALGORITHMS.items():
        if chosen.search is not None:
            yield f"{name}, network", partial(by_score, name)


CHECKS: dict[str, IsRight] = dict(_checks())


def hunt(numbers: Iterable[int], seed: int, only: str = "", max_nodes: int = 9) -> dict[str, int]:
    """Return, by check, how many answers are wrong on the cases of these numbers; the first is printed."""
    wrong = dict.fromkeys((name for name in CHECKS if only in name), 0)
    for number in numbers:
        case = Case.draw(np.random.default_rng([seed, number]), max_nodes)
        for name in wrong:
            if not CHECKS[name](case):
                if wrong[name] == 0:
                    print(f"{name}: wrong for {case}", flush=True)
                wrong[name] += 1
    return wrong
