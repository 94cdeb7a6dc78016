"""Asks about contexts, several targets and all blankets, with a perfect test on many random DAGs; counts wrong answers.

    python tests/contexts_oracle.py [--dags 5000] [--seed 0] [--only iamb] [--knowledge] [--jobs 2] [--unsound]

Each question is asked of every sound algorithm; *absent arcs, exact* and *all blankets* of those that condition on the
whole blanket, which need no faithfulness. With `--knowledge`, every question is asked with
random knowledge that is true of the DAG, and of that of each context; in some cases, variables that are in no blanket
of others are forbidden members of theirs.

Each DAG has 3 to 9 nodes besides the context, one of three densities, shuffled names and a random order of columns; one
random node is the target. The context is a node without parents and with random children.

- *one law for all arcs*: every arc is there in every context, and the test reads the graph. Right are the blanket
  without the context, whether the law of the target given it is the same in all contexts, the variables whose law
  differs (the children of the context), and the members of all invariant sets: those that plain code finds by trying
  all subsets, and all of them parents of the target.
- *absent arcs*: an arc into a child of the context may be absent in some contexts. Also right are the blanket of each
  context, and the members in all contexts and in some.
- *absent arcs, exact*: as before, but the test in all rows knows that a path through arcs that are never there together
  connects nothing. The blanket is then the union of those of the contexts.
- *several targets*: the joint blanket of two to four targets is the union of their blankets without the targets, it
  separates the targets from the rest, and, of all subsets of the other variables, no smaller one does.
- *all blankets*: some variables are copies or functions of others. Right are the smallest sets that separate the target
  from the rest, of all subsets of the other variables; each has the known members and the neighbours that knowledge
  requires.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from itertools import combinations
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))  # for the benchmarks, where this file is run as a program

import serape
from benchmarks.common.equivalences import every_blanket, random_case
from plain import random_dag, true_blanket
from serape import IndependenceTest, Outcome
from serape.independence.outcomes import NO_OUTCOME
from serape.local.registry import ALGORITHMS
from true_knowledge import random_forbidden_members, random_knowledge

CONTEXT = "context"
Graph = nx.DiGraph  # of names


@dataclass(frozen=True)
class Case:
    """A DAG with the context, the DAG of each context, an order and a target."""

    graph: Graph[str]
    parts: Mapping[str, Graph[str]]
    order: tuple[str, ...]
    target: str
    known: Mapping[str, Any] = field(default_factory=dict)
    """Settings with knowledge that is true of all graphs."""

    @property
    def system(self) -> Graph[str]:
        """The DAG without the context."""
        return nx.DiGraph(self.graph.subgraph([name for name in self.graph if name != CONTEXT]))

    def __str__(self) -> str:
        arcs = {name: sorted(set(self.system.edges) - set(part.edges)) for name, part in self.parts.items()}
        return f"{self.target} on {list(self.graph.edges)} without {arcs} in the order {self.order}, {self.known}"


class Contexts(serape.DSeparation):
    """An oracle that has another graph in each context."""

    def __init__(self, case: Case) -> None:
        super().__init__(case.graph, case.order)
        self.case = case

    def in_contexts(self, context: int) -> dict[str, IndependenceTest]:
        """Return the oracle of each context."""
        del context
        return {name: serape.DSeparation(with_context(part), self.case.order) for name, part in self.case.parts.items()}


class Mixture(IndependenceTest):
    """What holds in all rows if arcs are absent in some contexts.

    X ⊥ Y | Z, C if it holds in each context, and X ⊥ Y | Z if also X or Y is independent of C given Z.
    """

    name = "mixture"

    def __init__(self, case: Case) -> None:
        self.variables = case.order
        self.case, self.c = case, case.order.index(CONTEXT)
        self.whole = serape.DSeparation(case.graph, case.order)
        self.parts = Contexts(case).in_contexts(self.c)

    def in_contexts(self, context: int) -> dict[str, IndependenceTest]:
        """Return the oracle of each context."""
        del context
        return dict(self.parts)

    def test(self, x: int, y: int, given: Sequence[int] = ()) -> Outcome:
        """Test X ⊥ Y | Z."""
        if x == y:
            return NO_OUTCOME
        if self.c in (x, y):
            return self.whole.test(x, y, given)
        rest = [z for z in given if z != self.c]
        inside = [test.test(x, y, rest) for test in self.parts.values()]
        if any(outcome.log_p < 0 for outcome in inside) or self.c in given:
            return min(inside, key=lambda outcome: outcome.log_p)
        through = [self.whole.test(v, self.c, given) for v in (x, y)]
        return max(through, key=lambda outcome: outcome.log_p)


def with_context(graph: Graph[str]) -> Graph[str]:
    """Return a graph with the context, which has no arcs there."""
    larger: Graph[str] = nx.DiGraph(graph)
    larger.add_node(CONTEXT)
    return larger


def drawn(seed: int, numbers: Iterable[int], *, absent: bool, max_nodes: int = 9) -> Iterator[Case]:
    """Draw the cases of these numbers; with `absent`, arcs into children of the context may be absent in some."""
    for number in numbers:
        random = np.random.default_rng([seed, number])
        system = random_dag(random, int(random.integers(3, max_nodes + 1)), float(random.choice([0.2, 0.35, 0.5])))
        changed = [name for name in system if random.random() < random.choice([0.1, 0.3])]
        graph = with_context(system)
        graph.add_edges_from((CONTEXT, name) for name in changed)
        parts = {f"c{k}": nx.DiGraph(system) for k in range(int(random.integers(2, 4)))}
        for arc in [arc for arc in system.edges if arc[1] in changed] if absent else ():
            lacking = [part for part in parts.values() if random.random() < 0.4]
            for part in lacking if len(lacking) < len(parts) else ():
                part.remove_edge(*arc)
        order = tuple(str(name) for name in random.permutation(list(graph)))
        target = str(random.choice(list(system)))
        knowledge = random_knowledge(random, graph)
        everywhere = [arc for arc in knowledge.pop("required", ()) if arc[0] == CONTEXT or is_in_all(arc, parts)]
        known: dict[str, Any] = {"knowledge": {**knowledge, "required": everywhere}}
        moral = nx.moral_graph(graph)
        moral.add_edges_from((CONTEXT, name) for name in system)  # the context is no forbidden member
        if forbidden := random_forbidden_members(random, moral):
            known["forbidden_members"] = forbidden
        yield Case(graph, parts, order, target, known)


def is_in_all(arc: tuple[str, str], parts: Mapping[str, Graph[str]]) -> bool:
    """Return whether an arc is there in every context."""
    return all(part.has_edge(*arc) for part in parts.values())


def without_context(known: Mapping[str, Any]) -> dict[str, Any]:
    """Return knowledge about the other variables."""
    found: dict[str, dict[str, list[Any]]] = {"knowledge": {}}
    for name, groups in known.get("knowledge", {}).items():
        kept = [[x for x in group if x != CONTEXT] for group in groups]
        found["knowledge"][name] = [group for group in kept if group and (name == "tiers" or len(group) == 2)]
    if "forbidden_members" in known:
        found["forbidden_members"] = known["forbidden_members"]
    return found


def plain_causes(case: Case) -> set[str]:
    """Return the intersection of all invariant subsets of the blanket; nothing if there is none."""
    blanket = sorted(true_blanket(case.graph, case.target) - {CONTEXT})
    subsets = [set(one) for size in range(len(blanket) + 1) for one in combinations(blanket, size)]
    invariant = [one for one in subsets if nx.is_d_separator(case.graph, {case.target}, {CONTEXT}, one)]
    return set.intersection(*invariant) if invariant else set()


def wrong_of_pooled(case: Case, found: serape.ContextBlankets) -> str:
    """Return what is wrong with the answer for all rows, if anything is."""
    truth = true_blanket(case.graph, case.target)
    right: dict[str, tuple[Any, Any]] = {
        "blanket": (set(found.blanket), truth - {CONTEXT}),
        "invariant": (found.invariant, CONTEXT not in truth),
        "changes": (set(found.changes), set(case.graph.successors(CONTEXT))),
        "causes": (set(found.causes), plain_causes(case)),
        "parents": (set(found.causes) <= set(case.graph.predecessors(case.target)), True),
    }
    return ", ".join(f"{what} is {one}, not {other}" for what, (one, other) in right.items() if one != other)


def wrong_of_contexts(case: Case, found: serape.ContextBlankets) -> str:
    """Return what is wrong with the answer for each context, if anything is."""
    truth = {name: true_blanket(part, case.target) for name, part in case.parts.items()}
    every, common = set.union(*truth.values()), set.intersection(*truth.values())
    some = {x: {name for name, one in truth.items() if x in one} for x in every - common}
    right: dict[str, tuple[Any, Any]] = {
        "by_context": ({name: set(one.blanket) for name, one in found.by_context.items()}, truth),
        "common": (set(found.common), common),
        "in_some": ({x: set(where) for x, where in found.in_some.items()}, some),
    }
    return ", ".join(f"{what} is {one}, not {other}" for what, (one, other) in right.items() if one != other)


def one_law(case: Case, algorithm: str) -> tuple[str, int]:
    """Ask about a case in which every arc is there in every context."""
    oracle = serape.DSeparation(case.graph, case.order)
    found = serape.context_blankets(oracle, case.target, CONTEXT, algorithm, **case.known)
    return wrong_of_pooled(case, found), found.tests


def absent_arcs(case: Case, algorithm: str) -> tuple[str, int]:
    """Ask about a case with absent arcs."""
    found = serape.context_blankets(Contexts(case), case.target, CONTEXT, algorithm, **case.known)
    return ", ".join(filter(None, (wrong_of_pooled(case, found), wrong_of_contexts(case, found)))), found.tests


def absent_exact(case: Case, algorithm: str) -> tuple[str, int]:
    """Ask about a case with absent arcs, with a test that knows which arcs are never there together."""
    found = serape.context_blankets(Mixture(case), case.target, CONTEXT, algorithm, **case.known)
    union = set.union(*(true_blanket(part, case.target) for part in case.parts.values()))
    wrong = "" if set(found.blanket) == union else f"blanket is {set(found.blanket)}, not {union}"
    return ", ".join(filter(None, (wrong, wrong_of_contexts(case, found)))), found.tests


def ignored(case: Case, algorithm: str) -> tuple[str, int]:
    """Ask for the blanket in all rows without the context, as if they were of one context."""
    order = [name for name in case.order if name != CONTEXT]
    found = serape.markov_blanket(serape.DSeparation(case.graph, order, hidden=[CONTEXT]), case.target, algorithm)
    truth = true_blanket(case.system, case.target)
    return "" if set(found.blanket) == truth else f"blanket is {set(found.blanket)}, not {truth}", found.tests


def several_targets(case: Case, algorithm: str) -> tuple[str, int]:
    """Ask about several targets."""
    random = np.random.default_rng([len(case.order), *map(ord, case.target)])
    system = case.system
    order = [name for name in case.order if name != CONTEXT]
    count = int(random.integers(2, min(4, len(order) - 1) + 1))
    targets = [case.target, *random.choice([n for n in order if n != case.target], count - 1, replace=False).tolist()]
    found = serape.joint_blanket(serape.DSeparation(system, order), targets, algorithm, **without_context(case.known))
    rest = [name for name in order if name not in targets]
    union = set().union(*(true_blanket(system, target) for target in targets)) - set(targets)

    def separates(given: set[str]) -> bool:
        others = set(rest) - given
        return not others or nx.is_d_separator(system, set(targets), others, given)

    smallest = next(
        set(one) for size in range(len(rest) + 1) for one in combinations(rest, size) if separates(set(one))
    )
    right: dict[str, tuple[Any, Any]] = {
        "blanket": (set(found.blanket), union),
        "the smallest set": (smallest, union),
        "shared": (set(found.shared), {x for x in union if all(x in true_blanket(system, t) for t in targets)}),
    }
    wrong = ", ".join(f"{what} is {one}, not {other}" for what, (one, other) in right.items() if one != other)
    return wrong, found.tests


def all_blankets(case: Case, algorithm: str) -> tuple[str, int]:
    """Ask for all blankets in another DAG, where variables are copies and functions of others."""
    random = np.random.default_rng([len(case.order), *map(ord, "".join(case.order))])
    drawn = random_case(random)
    oracle, target = drawn.oracle(), str(random.choice(drawn.order))
    known: dict[str, Any] = {}
    kept: frozenset[str] = frozenset()
    if case.known:
        known["knowledge"] = random_knowledge(random, drawn.graph)
        kept = frozenset(x for arc in known["knowledge"].get("required", ()) if target in arc for x in arc) - {target}
    truth = every_blanket(oracle, target, kept)
    if "forbidden_members" in case.known:
        outside = sorted(set(drawn.order).difference({target}, *truth))
        known["forbidden_members"] = [x for x in outside if random.random() < 0.5]
    found = serape.all_blankets(oracle, target, algorithm, **known)
    if set(map(frozenset, found.blankets)) == truth:
        return "", found.tests
    about = f"{list(drawn.graph.edges)}, {drawn.determined} in the order {drawn.order} with {known}"
    return f"those of {target} on {about} are {found.blankets}, not {truth}", found.tests


Asked = Callable[[Case, str], tuple[str, int]]
QUESTIONS: dict[str, tuple[Asked, bool]] = {
    "one law for all arcs": (one_law, False),
    "absent arcs": (absent_arcs, True),
    "absent arcs, exact": (absent_exact, True),
    "the context ignored": (ignored, False),
    "several targets": (several_targets, False),
    "all blankets": (all_blankets, False),
}
SOUND = [name for name, algorithm in ALGORITHMS.items() if algorithm.sound and algorithm.answers("blanket")]
WITHOUT_FAITHFULNESS = [name for name in SOUND if ALGORITHMS[name].conditions_on_blanket]
"""Those that find a blanket also where the test does not follow one graph."""
VARIANTS = [
    (what, algorithm)
    for what in QUESTIONS
    if what != "the context ignored"
    for algorithm in (WITHOUT_FAITHFULNESS if what in ("absent arcs, exact", "all blankets") else SOUND)
]


UNSOUND = [("the context ignored", "iamb"), ("absent arcs, exact", "hiton-mb"), ("absent arcs, exact", "hpc")]
"""Those for which there are wrong answers."""


def hunt(
    what: str, algorithm: str, seed: int, numbers: Sequence[int], max_nodes: int = 9, *, knowledge: bool = False
) -> tuple[int, int]:
    """Return how many answers are wrong, and the number of tests; print the first wrong one."""
    ask, absent = QUESTIONS[what]
    wrong, tests = 0, 0
    for case in drawn(seed, numbers, absent=absent, max_nodes=max_nodes):
        case = case if knowledge else replace(case, known={})
        complaint, count = ask(case, algorithm)
        tests += count
        if complaint:
            if not wrong:
                print(f"{what} by {algorithm}: wrong for {case}: {complaint}", flush=True)
            wrong += 1
    return wrong, tests


def hunt_part(options: argparse.Namespace, variant: tuple[str, str], numbers: Sequence[int]) -> tuple[int, int]:
    """Hunt on the DAGs of these numbers."""
    return hunt(*variant, options.seed, numbers, knowledge=options.knowledge)


def main() -> None:
    """Run all variants, or those of one name, and print how many answers are wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dags", type=int, default=5_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="")
    parser.add_argument("--unsound", action="store_true", help="what is known to be wrong")
    parser.add_argument("--knowledge", action="store_true", help="with knowledge that is true")
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    total = 0
    parts = [range(k, options.dags, 4 * options.jobs) for k in range(4 * options.jobs)]
    with ProcessPoolExecutor(options.jobs, get_context("spawn")) as pool:
        for variant in UNSOUND if options.unsound else VARIANTS:
            if options.only not in " ".join(variant):
                continue
            found = pool.map(hunt_part, [options] * len(parts), [variant] * len(parts), parts)
            wrong, tests = map(sum, zip(*found, strict=True))
            total += wrong
            said = f"{', by '.join(variant)}; {tests / options.dags:,.0f} tests"
            print(f"{wrong:6,} wrong of {options.dags:,}: {said}", flush=True)
    raise SystemExit(total > 0)


if __name__ == "__main__":
    main()
