"""Runs the algorithms for causes and effects with a perfect test on many random DAGs, and counts wrong answers.

    python tests/causes_oracle.py [--dags 10000] [--seed 0] [--only mb-by-mb] [--learner gs] [--jobs 2]
    python tests/causes_oracle.py --check 200 [--learner gs]

Every algorithm is run on every learner of blankets that goes with it, and on a function of one's own. Each DAG has 4 to
12 nodes, one of three densities, shuffled names and a random order of columns; one random node is the target. Every
variant is asked without knowledge and with random knowledge that is true of the DAG. An answer is right if the causes,
effects and undecided neighbours are the parents, children and undirected neighbours in the completed graph of the whole
DAG, with knowledge: in the graph with all arcs that follow from it. If the DAG has few arcs, all DAGs of its class
that agree with the knowledge are listed: the marks must be what they have in common, and the adjustment sets of the
answer their sets of parents. With hidden nodes (up to a third), every mark of the target's edges must be that of the
partial ancestral graph of all observed nodes, which plain code finds by FCI's rules from the DAG; the blanket must be
that of the ancestral graph. Knowledge says there what arcs the network of all variables, hidden ones among them, has
and has not. With knowledge, some variables that are in no blanket of others are forbidden members of theirs in some
cases: they are not tested, and marks may then stay undecided. The first wrong answer of each variant is printed, and
the mean number of tests beside that of learning the whole network by pc-stable.

With `--check N`, `serape.check_algorithm` searches for counterexamples of every variant on all DAGs of two to four
nodes, and N larger ones.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import combinations
from multiprocessing import get_context
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

import serape
from plain import random_dag
from plain_graphs import in_common, members
from plain_pag import mag_of, pag_of
from serape.local.registry import ALGORITHMS, names_of
from serape.search import Search
from serape.structure.equivalence import equivalence_class
from serape.structure.graphs import PartlyDirected, cpdag
from serape.structure.ldecc import ldecc
from serape.structure.mmb_by_mmb import mmb_by_mmb
from serape.structure.registry import CAUSAL_ALGORITHMS
from true_knowledge import random_forbidden_members, random_knowledge

Truth = dict[str, str]
"""By neighbour of the target, its marks."""
SIGNS = {">>": "↔", "->": "→", ">-": "←", "o>": "o→", ">o": "←o", "oo": "o–o"}
"""The marks of an edge at its first and second end, as one sign."""
_LISTED = 10  # edges of a DAG up to which all DAGs of its class are listed


@dataclass(frozen=True)
class Case:
    """A DAG with hidden nodes, an order of the others, and a target."""

    graph: nx.DiGraph[str]
    hidden: tuple[str, ...]
    order: tuple[str, ...]
    target: str
    knowledge: serape.Knowledge
    """Knowledge that is true of the DAG, about the observed nodes."""
    forbidden_members: Mapping[str, list[str]] = field(default_factory=dict)
    """By variable, some that are not in its blanket, and not tested against it."""

    @property
    def oracle(self) -> serape.DSeparation:
        """The perfect test, without the hidden nodes."""
        return serape.DSeparation(self.graph, self.order, hidden=self.hidden)

    @property
    def pairs_alone(self) -> serape.Knowledge:
        """What knowledge says of pairs, for algorithms that use no more."""
        pairs = self.knowledge.bind(self.order).forbidden_pairs(range(len(self.order)))
        return serape.Knowledge(forbidden_pairs=[(self.order[x], self.order[y]) for x, y in pairs])

    def __str__(self) -> str:
        unseen = f" without {self.hidden}" if self.hidden else ""
        known = f"{self.knowledge}, forbidden members {dict(self.forbidden_members)}"
        return f"{self.target} on {list(self.graph.edges)}{unseen} in the order {self.order}, {known}"


Learner = str | Callable[[Search, int], Iterable[int]]


def in_their_order(search: Search, target: int) -> list[int]:
    """Learn a blanket as a user might: add the first dependent candidate, as long as there is one, then shrink."""
    blanket: list[int] = []
    while True:
        rest = search.candidates(target, *blanket)
        if (index := search.first_dependent(target, rest, blanket)) is None:
            break
        blanket.append(int(rest[index]))
    while separated := search.test_each_given_rest(target, blanket):
        blanket = [x for x in blanket if x not in separated]
    return blanket


@dataclass(frozen=True)
class Variant:
    """An algorithm with a learner of blankets."""

    algorithm: str
    learner: Learner
    hidden: bool = False
    knowledge: bool = False
    published: Callable[..., Any] | None = None
    """The algorithm as published, if that is tried."""
    options: tuple[tuple[str, Any], ...] = ()
    """Options of the algorithm, with their values."""

    @property
    def learner_name(self) -> str:
        """The learner, in words."""
        return self.learner if isinstance(self.learner, str) else "a function"

    def __str__(self) -> str:
        more = [*["as published"] * (self.published is not None), *["with knowledge"] * self.knowledge]
        more += [f"{name}={value}" for name, value in self.options]
        return f"{self.algorithm} on {self.learner_name}{''.join(f', {word}' for word in more)}"

    def known(self, case: Case) -> serape.Knowledge | None:
        """Return what the algorithm is told."""
        if not self.knowledge:
            return None
        return case.knowledge if CAUSAL_ALGORITHMS[self.algorithm].uses_directions else case.pairs_alone

    def told(self, case: Case) -> dict[str, Any]:
        """Return the settings that say what is known."""
        return {"knowledge": self.known(case), "forbidden_members": case.forbidden_members if self.knowledge else ()}

    def answer(self, case: Case) -> serape.Causes:
        """Ask about the target of a case."""
        settings: dict[str, Any] = {**self.told(case), "hidden": self.hidden, **dict(self.options)}
        known = CAUSAL_ALGORITHMS[self.algorithm]
        if self.published is not None:
            CAUSAL_ALGORITHMS[self.algorithm] = replace(known, run=partial(self.published, published=True))
        try:
            return serape.causes(case.oracle, case.target, self.algorithm, self.learner, **settings)
        finally:
            CAUSAL_ALGORITHMS[self.algorithm] = known

    def complaint(self, case: Case, answer: serape.Causes) -> str:
        """Return what is wrong with an answer, if anything is."""
        right = hidden_truth(case) if self.hidden else truth(case, self.known(case))
        found = dict(answer.marks)
        untested = self.knowledge and case.forbidden_members
        if not (leaves_open(found, right) if untested else found == right) or answer.conflicts:
            return f"{found}, not {right} {answer.conflicts}"
        if self.hidden:
            asked: Any = self.learner if callable(self.learner) else f"{self.learner}"
            blanket = set(
                serape.markov_blanket(case.oracle, case.target, asked, hidden=True, **self.told(case)).blanket
            )
            true = hidden_blanket(case)
            return "" if blanket == true else f"the blanket {blanket}, not {true}"
        dags = listed(case, self.known(case))
        if dags is None or untested:
            return ""
        t = case.order.index(case.target)
        if marks_at(in_common(dags), t, case.order) != right:
            return f"{right} is not what all DAGs have in common"
        sets, possible = (
            map(frozenset, answer.adjustment_sets()),
            [frozenset(case.order[x] for x in dag.parents[t]) for dag in dags],
        )
        return "" if Counter(sets) == Counter(set(possible)) else f"adjustment sets {answer.adjustment_sets()}"


LEARNERS: list[Learner] = [*names_of("blanket"), in_their_order]
WITH_HIDDEN = [learner for learner in LEARNERS if callable(learner) or ALGORITHMS[learner].hidden is not None]
PAIRS = [
    (name, learner, algorithm.hidden)
    for name, algorithm in CAUSAL_ALGORITHMS.items()
    for learner in (WITH_HIDDEN if algorithm.hidden else LEARNERS)
]
"""Every algorithm with every learner."""
VARIANTS = [Variant(*pair, knowledge=knowledge) for knowledge in (False, True) for pair in PAIRS]
VARIANTS += [Variant("ldecc", learner, options=(("equal_separators", False),)) for learner in ("iamb", "hiton-mb")]
PUBLISHED = [
    Variant("ldecc", "iamb", published=ldecc),
    Variant("mmb-by-mmb", "fbed", hidden=True, published=mmb_by_mmb),
]


def drawn(seed: int, numbers: Iterable[int], *, hidden: bool = False, max_nodes: int = 12) -> Iterator[Case]:
    """Draw the cases of these numbers."""
    for number in numbers:
        random = np.random.default_rng([seed, number])
        nodes = int(random.integers(4, max_nodes + 1))
        graph = random_dag(random, nodes, float(random.choice([0.15, 0.3, 0.5])))
        order = [str(node) for node in random.permutation(list(graph))]
        count = int(random.integers(1, nodes // 3 + 1)) if hidden else 0
        target = str(random.choice(order[count:]))
        knowledge = serape.Knowledge(**random_knowledge(random, nx.DiGraph(graph.subgraph(order[count:]))))
        case = Case(graph, tuple(order[:count]), tuple(order[count:]), target, knowledge)
        yield replace(case, forbidden_members=random_forbidden_members(random, dependent_pairs(case)))


def _parents(case: Case) -> list[set[int]]:
    index = {name: k for k, name in enumerate(case.order)}
    return [{index[parent] for parent in case.graph.predecessors(name)} for name in case.order]


def marks_at(graph: PartlyDirected, t: int, names: Sequence[str]) -> Truth:
    """Return the marks of a node's edges."""
    marks = {"→": graph.parents[t], "←": graph.children[t], "–": graph.neighbours[t]}
    return {names[x]: mark for mark, xs in marks.items() for x in xs}


def truth(case: Case, knowledge: serape.Knowledge | None = None) -> Truth:
    """Return the marks of the target's edges in the completed graph."""
    graph = equivalence_class(_parents(case), None if knowledge is None else knowledge.bind(case.order))
    return marks_at(graph, case.order.index(case.target), case.order)


def listed(case: Case, knowledge: serape.Knowledge | None) -> list[PartlyDirected] | None:
    """Return the DAGs of the class that agree with the knowledge, by trying all; None if they may be many."""
    if case.graph.number_of_edges() > _LISTED:
        return None
    known = (knowledge or serape.Knowledge()).bind(case.order)
    return [
        dag
        for dag in members(cpdag(_parents(case)))
        if all(known.allows(x, y) for x, y in dag.arcs()) and all(x in dag.parents[y] for x, y in known.required)
    ]


def dependent_pairs(case: Case) -> nx.Graph[str]:
    """Return a graph that joins each observed variable to those of its blanket."""
    oracle, count = case.oracle, len(case.order)
    found: nx.Graph[str] = nx.Graph()
    found.add_nodes_from(case.order)
    for x, y in combinations(range(count), 2):
        if oracle.test(x, y, [z for z in range(count) if z not in (x, y)]).log_p < 0:
            found.add_edge(case.order[x], case.order[y])
    return found


def leaves_open(found: Truth, right: Truth) -> bool:
    """Return whether the marks are at the right edges, and each is the right one or undecided."""
    ends = {sign: marks for marks, sign in SIGNS.items()} | {"–": "oo"}
    return found.keys() == right.keys() and all(
        mark in ("o", true) for x in found for mark, true in zip(ends[found[x]], ends[right[x]], strict=True)
    )


def hidden_blanket(case: Case) -> set[str]:
    """Return the variables that depend on the target given all others."""
    oracle, t = case.oracle, case.order.index(case.target)
    others = [x for x in range(len(case.order)) if x != t]
    return {case.order[x] for x in others if oracle.test(x, t, [z for z in others if z != x]).log_p < 0}


def hidden_truth(case: Case) -> Truth:
    """Return the marks of the target's edges in the partial ancestral graph of the observed nodes."""
    pag, t = pag_of(mag_of(case.graph, case.hidden)), case.target
    return {x: SIGNS[pag[t, x] + pag[x, t]] for x in case.order if (x, t) in pag}


def hunt(
    variants: Iterable[Variant], seed: int, numbers: Sequence[int], max_nodes: int = 12
) -> dict[str, tuple[int, int, int]]:
    """Return, for each variant, how many answers are wrong, and the numbers of tests and of blankets."""
    found: dict[str, tuple[int, int, int]] = {}
    for variant in variants:
        wrong, tests, blankets = 0, 0, 0
        for case in drawn(seed, numbers, hidden=variant.hidden, max_nodes=max_nodes):
            answer = variant.answer(case)
            tests += answer.tests
            blankets += len(answer.expanded)
            if complaint := variant.complaint(case, answer):
                if wrong == 0:
                    print(f"{variant}: wrong for {case}: {complaint}", flush=True)
                wrong += 1
        found[str(variant)] = wrong, tests, blankets
    return found


def whole(seed: int, numbers: Sequence[int], max_nodes: int = 12) -> float:
    """Return the mean number of tests of pc-stable for the whole network."""
    cases = drawn(seed, numbers, max_nodes=max_nodes)
    return float(np.mean([serape.network(case.oracle, "pc-stable").tests for case in cases]))


def check(variants: Iterable[Variant], cases: int) -> int:
    """Search for counterexamples of every algorithm with every learner; return how many have one."""
    wrong = 0
    for variant in variants:
        if not variant.knowledge and variant.published is None:
            settings: dict[str, Any] = dict(variant.options)
            settings |= {"learner": variant.learner, "hidden": variant.hidden}
            found = serape.check_algorithm(variant.algorithm, "causes", cases=cases, **settings)
            print(f"{variant}: {found or 'no counterexample'}", flush=True)
            wrong += found is not None
    return wrong


def asked(options: argparse.Namespace) -> list[Variant]:
    """Return the variants that the command line names."""
    return [
        v
        for v in (PUBLISHED if options.published else VARIANTS)
        if options.only in str(v) and options.learner in ("", v.learner_name)
    ]


def hunt_part(options: argparse.Namespace, numbers: Sequence[int]) -> dict[str, tuple[int, int, int]]:
    """Hunt on the DAGs of these numbers."""
    return hunt(asked(options), options.seed, numbers, options.max_nodes)


def main() -> None:
    """Run all variants, or those of one name, and print how many answers are wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dags", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--max-nodes", type=int, default=12)
    parser.add_argument("--only", default="", help="a part of what a variant is called")
    parser.add_argument("--learner", default="", help="the name of one learner")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--published", action="store_true", help="the algorithms as published")
    parser.add_argument("--check", type=int, metavar="N", help="check_algorithm, with N larger DAGs")
    options = parser.parse_args()
    if options.check is not None:
        raise SystemExit(check(asked(options), options.check) > 0)
    parts = [range(k, options.dags, 8 * options.jobs) for k in range(8 * options.jobs)]
    total: dict[str, NDArray[np.int64]] = {}
    with ProcessPoolExecutor(options.jobs, get_context("spawn")) as pool:
        for found in pool.map(hunt_part, [options] * len(parts), parts):
            for name, counts in found.items():
                total[name] = total.get(name, np.zeros(3, np.int64)) + counts
    for name, (wrong, tests, blankets) in total.items():
        means = f"{tests / options.dags:,.0f} tests, {blankets / options.dags:.1f} blankets"
        print(f"{wrong:6,} wrong of {options.dags:,}: {name}; {means}")
    if not options.only and not options.learner:
        few = range(min(options.dags, 1000))
        print(f"the whole network by pc-stable: {whole(options.seed, few, options.max_nodes):,.0f} tests")
    raise SystemExit(any(wrong for wrong, *_ in total.values()))


if __name__ == "__main__":
    main()
