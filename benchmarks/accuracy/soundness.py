"""Which algorithms are wrong on some graph though every test is perfect."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import NamedTuple

import numpy as np

from benchmarks.accuracy.soundness_checks import Answer, Case, Check, checks, determined
from benchmarks.common.internals import reductions
from benchmarks.common.linear_oracle import draw_weights
from benchmarks.common.output import markdown, save
from benchmarks.common.processes import add_jobs, in_processes

DRAWS = 100
"""How many times the weights of a counterexample are drawn."""
LEAST = 5
"""Graphs of fewer nodes are all tried, so that random ones have at least so many."""


class Tried(NamedTuple):
    """What a search for counterexamples has seen."""

    asked: int
    wrong: int
    tests: int
    smallest: Case | None
    """Of the wrong cases, the first of those with the fewest nodes."""


class Row(NamedTuple):
    """A line of the page."""

    number: int
    asked: int
    wrong: int
    tests: float
    counterexample: str
    strengths: str


def options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--cases", type=int, default=150, help="how many random graphs")
    parser.add_argument("--only", nargs="+", help="only these algorithms")
    add_jobs(parser)


def run(options: argparse.Namespace) -> None:
    """Search for counterexamples of every algorithm, also of published ones that serape restates.

    The graphs are all DAGs of up to 4 nodes in all orders of the columns, random ones of 5 to 9 nodes, and some hard
    ones. A counterexample of more than 5 nodes is searched for again among smaller graphs. If it is one for a blanket
    or for parents and children, it is tried with the strengths of linear-Gaussian models, because the order in which
    an algorithm takes its candidates depends on them.
    """
    cases = 20 if options.quick else options.cases
    only = options.only or (["tabu", "LRH"] if options.quick else None)
    every = checks()
    numbers = [k for k, check in enumerate(every) if only is None or check.name in only]
    rows = sorted(in_processes([partial(measured, k, cases) for k in numbers], options.jobs))
    lines = [
        [str(check), check.finds, check.paper, verdict(check, row), f"{row.tests:.1f}", row.counterexample or "–"]
        for row in rows
        for check in [every[row.number]]
    ]
    head = ("algorithm", "finds", "paper", "verdict", "tests", "smallest counterexample found")
    print(markdown(head, lines, (0, 1, 2, 3, 5)) + "\n")
    strengths = [[str(every[row.number]), row.strengths] for row in rows if row.strengths]
    print(markdown(("algorithm", "with strengths"), strengths, range(2)))
    save("soundness", {"cases": cases, "checks": [dict(zip(head, line, strict=True)) for line in lines]})


def verdict(check: Check, row: Row) -> str:
    """Return what was found, in words."""
    if not row.wrong:
        return f"no counterexample in {row.asked:,} {check.unit}"
    return f"unsound: wrong for {row.wrong:,} of {row.asked:,} {check.unit}"


def measured(number: int, cases: int) -> Row:
    """Return the line of one check, by its number: not all algorithms can be sent to another process."""
    check = checks()[number]
    tried = hunt(check, check.cases(np.random.default_rng(0), cases))
    wrong = None if tried.smallest is None else smallest(check, tried.smallest, cases)
    shown = "" if wrong is None else in_short(wrong, check.answer(wrong).found, check.truth(wrong))
    strengths = "" if wrong is None or type(check) is not Check else with_strengths(check, wrong, cases)
    return Row(number, tried.asked, tried.wrong, tried.tests / max(tried.asked, 1), shown, strengths)


def hunt(check: Check, cases: Iterable[Case]) -> Tried:
    """Ask about all cases, and count wrong answers and tests."""
    asked = wrong = tests = 0
    least: Case | None = None
    for case in cases:
        if len(case.order) < 2:
            continue
        answer: Answer = check.answer(case)
        asked, tests = asked + 1, tests + answer.tests
        if not check.is_right(answer.found, case):
            wrong += 1
            if least is None or len(case.graph) < len(least.graph):
                least = case
    return Tried(asked, wrong, tests, least)


def smallest(check: Check, wrong: Case, cases: int) -> Case:
    """Return a counterexample with as few nodes as such searches find."""
    wrong = reduced(wrong, check.is_wrong)
    for nodes in range(LEAST, len(wrong.graph)):
        trials = check.cases(np.random.default_rng(nodes), cases, nodes)
        smaller = next((case for case in trials if LEAST <= len(case.graph) <= nodes and check.is_wrong(case)), None)
        if smaller is not None:
            return reduced(smaller, check.is_wrong)
    return wrong


def reduced(case: Case, is_wrong: Callable[[Case], bool]) -> Case:
    """Remove nodes and arcs as long as the answer is wrong."""

    def smaller(case: Case) -> Iterator[Case]:
        for graph, order in reductions(*case):
            graph.graph.update(case.graph.graph)
            yield Case(graph, order, case.target)

    while (found := next((less for less in smaller(case) if is_wrong(less)), None)) is not None:
        case = found
    return case


def with_strengths(check: Check, wrong: Case, cases: int) -> str:
    """Say whether the algorithm is wrong on this graph with strengths, or, if not, on which other one."""
    random = np.random.default_rng(0)
    count = sum(check.is_wrong_with(wrong, draw_weights(wrong.graph, random)) for _ in range(DRAWS))
    if count:
        return f"wrong on the same graph in {count} of {DRAWS} models"
    models = 0
    for graph, order in check.graphs(np.random.default_rng(1), cases, 7):
        if len(order) < LEAST:
            continue
        models += 1
        weights = draw_weights(graph, random)
        for target in order:
            if check.is_wrong_with(Case(graph, order, target), weights):
                small = reduced(Case(graph, order, target), lambda case: check.is_wrong_with(case, weights))  # noqa: B023
                return f"wrong on {in_short(small, check.ask_with(small, weights), check.truth(small))}"
    return f"not wrong on the same graph in {DRAWS} models, nor on {models:,} other graphs"


def in_short(case: Case, found: Iterable[str], truth: Iterable[str]) -> str:
    """Return a counterexample in a cell of a table."""
    arcs = ", ".join(f"{a}→{b}" for a, b in sorted(case.graph.edges)) or "no arcs"
    unseen = sorted(node for node in case.graph if node not in case.order)
    about = [arcs]
    about += [f"{name} a function of {' and '.join(others)}" for name, others in determined(case.graph)]
    about += [f"{', '.join(unseen)} hidden"] * bool(unseen) + [f"target {case.target}"] * bool(case.target)
    sets = (f"{{{', '.join(sorted(names))}}}" for names in (found, truth))
    return "{}: found {}, true {}".format(", ".join(about), *sets)
