"""Asks about contexts, and about several targets, with a perfect test on many random DAGs, and counts wrong answers.

    python tests/contexts_oracle.py [--dags 5000] [--seed 0] [--only iamb] [--unsound]

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
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import networkx as nx
import numpy as np

import serape
from plain import random_dag, true_blanket
from serape import IndependenceTest, Outcome
from serape.independence.outcomes import NO_OUTCOME

CONTEXT = "context"
Graph = nx.DiGraph  # of names


@dataclass(frozen=True)
class Case:
    """A DAG with the context, the DAG of each context, an order and a target."""

    graph: Graph[str]
    parts: Mapping[str, Graph[str]]
    order: tuple[str, ...]
    target: str

    @property
    def system(self) -> Graph[str]:
        """The DAG without the context."""
        return nx.DiGraph(self.graph.subgraph([name for name in self.graph if name != CONTEXT]))

    def __str__(self) -> str:
        arcs = {name: sorted(set(self.system.edges) - set(part.edges)) for name, part in self.parts.items()}
        return f"{self.target} on {list(self.graph.edges)} without {arcs} in the order {self.order}"


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


def drawn(seed: int, dags: int, *, absent: bool, max_nodes: int = 9) -> Iterator[Case]:
    """Draw cases; with `absent`, arcs into children of the context may be absent in some contexts."""
    random = np.random.default_rng(seed)
    for _ in range(dags):
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
        yield Case(graph, parts, order, str(random.choice(list(system))))


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
    found = serape.context_blankets(serape.DSeparation(case.graph, case.order), case.target, CONTEXT, algorithm)
    return wrong_of_pooled(case, found), found.tests


def absent_arcs(case: Case, algorithm: str) -> tuple[str, int]:
    """Ask about a case with absent arcs."""
    found = serape.context_blankets(Contexts(case), case.target, CONTEXT, algorithm)
    return ", ".join(filter(None, (wrong_of_pooled(case, found), wrong_of_contexts(case, found)))), found.tests


def absent_exact(case: Case, algorithm: str) -> tuple[str, int]:
    """Ask about a case with absent arcs, with a test that knows which arcs are never there together."""
    found = serape.context_blankets(Mixture(case), case.target, CONTEXT, algorithm)
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
    found = serape.joint_blanket(serape.DSeparation(system, order), targets, algorithm)
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


Asked = Callable[[Case, str], tuple[str, int]]
QUESTIONS: dict[str, tuple[Asked, bool]] = {
    "one law for all arcs": (one_law, False),
    "absent arcs": (absent_arcs, True),
    "absent arcs, exact": (absent_exact, True),
    "the context ignored": (ignored, False),
    "several targets": (several_targets, False),
}
VARIANTS = [
    *(
        (what, algorithm)
        for what in ("one law for all arcs", "absent arcs")
        for algorithm in ("iamb", "fbed", "hiton-mb", "hpc")
    ),
    ("absent arcs, exact", "iamb"),
    ("absent arcs, exact", "fbed"),
    ("several targets", "iamb"),
    ("several targets", "hpc"),
]


UNSOUND = [("the context ignored", "iamb"), ("absent arcs, exact", "hiton-mb"), ("absent arcs, exact", "hpc")]
"""Those for which there are wrong answers."""


def hunt(what: str, algorithm: str, seed: int, dags: int, max_nodes: int = 9) -> tuple[int, float]:
    """Return how many answers are wrong, and the mean number of tests; print the first wrong one."""
    ask, absent = QUESTIONS[what]
    wrong, tests = 0, 0
    for case in drawn(seed, dags, absent=absent, max_nodes=max_nodes):
        complaint, count = ask(case, algorithm)
        tests += count
        if complaint:
            if not wrong:
                print(f"{what} by {algorithm}: wrong for {case}: {complaint}")
            wrong += 1
    return wrong, tests / dags


def main() -> None:
    """Run all variants, or those of one name, and print how many answers are wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dags", type=int, default=5_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="")
    parser.add_argument("--unsound", action="store_true", help="what is known to be wrong")
    options = parser.parse_args()
    total = 0
    for what, algorithm in UNSOUND if options.unsound else VARIANTS:
        if options.only in f"{what} {algorithm}":
            wrong, tests = hunt(what, algorithm, options.seed, options.dags)
            total += wrong
            print(f"{wrong:6,} wrong of {options.dags:,}: {what}, by {algorithm}; {tests:,.0f} tests", flush=True)
    raise SystemExit(total > 0)


if __name__ == "__main__":
    main()
