"""The network behind the data."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any, Unpack

from serape._keywords import Keywords
from serape.data.table import Table
from serape.errors import DataError
from serape.independence import IndependenceTest, table_of
from serape.knowledge import Knowledge
from serape.names import match
from serape.questions.by_score import check_network_options, check_score, score_of, scored_result
from serape.questions.choice import choose_network
from serape.questions.structures import (
    StructureQuery,
    StructureRun,
    checked_rule,
    find_skeleton,
    oriented_result,
    refuse_unused,
    resolve_learner,
    strong_neighbours,
)
from serape.results.structure import Structure
from serape.settings import FIELDS, DataSettings, RunSettings, Settings, question
from serape.structure.registry import NETWORK_ALGORITHMS, NetworkAlgorithm
from serape.structure.scores import Score
from serape.types import LocalAlgorithm, Rule


@question(
    command=(
        "serape network patients.csv --algorithm mmhc --picture net.png --bif net.bif",
        "serape network patients.csv --algorithm ges --score bic --report net.html",
        "serape sample alarm --rows 5000 | serape network - --truth alarm",
        "serape network patients.csv --format dot > net.dot",
    ),
    about="Find the network behind a table: which columns are adjacent, and the directions of the arcs.\n\n"
    "Prints the edges with their evidence.",
    words={"equivalent_sample_size": "Equivalent sample size of the BDeu score."},
)
def network(
    data: Any,
    algorithm: str | LocalAlgorithm = "auto",
    score: str | Score = "auto",
    equivalent_sample_size: float = 1.0,
    rule: Rule | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    **settings: Unpack[Keywords],
) -> Structure:
    """Find the network behind the data: which variables are adjacent, and the directions that the data decide.

    The answer is a class: an edge is undirected if graphs that the data cannot tell apart disagree on its direction.
    `found.dag` is one member of the class.

    Parameters
    ----------
    data
        As for `markov_blanket`. Algorithms that use a score alone also accept a `Score`.
    algorithm
        - "auto": "hpc" for categorical columns (up to 1,000, and 50,000 rows; "ges" if there are more rows, "mmhc" if
          there are more columns or if you ask for a score), "boss" if some columns are numbers. It is "hiton-pc" for
          these if values are missing, there are more than 1,000 columns, or you pass settings of tests, such as an
          alpha ("mmhc" if you ask for a score then).
        - "mmhc", "h2pc": a skeleton by MMPC or HPC, in which tabu search finds the graph of the highest
          score. Options: `tabu` (100), `patience` (15), `max_parents`.
        - "tabu", "sca": tabu search among all graphs, or among the `k` (10) most promising parents of each variable.
          Same options.
        - "ges", "xges", "boss": greedy search through equivalence classes, or through orders of the variables. xges is
          slower than ges and more accurate. Option: `max_parents`; for boss also `starts`, the number of orders to
          begin with (10, fewer for many columns).
        - "pc-stable", or any algorithm that finds parents and children: a skeleton, whose edges are directed where
          separating sets decide their direction.
    score
        For categories "bdeu", "bic", "aic" or "k2"; for numbers "gaussian-bic", "gaussian-ebic" or "bge"; for columns
        of any kind "cg-bic", "cg-ebic" or "block-ebic"; or a `Score`. "auto" follows the columns. For categories it is
        "bdeu" for mmhc and h2pc, as in their papers, and "bic" for the other algorithms that use a score; if some
        columns are numbers, it is "block-ebic".
    equivalent_sample_size
        The equivalent sample size of BDeu.
    rule
        As for `skeleton`, for algorithms that combine neighbourhoods; None is "or" for mmhc and h2pc and "and" for all
        others.
    checkpoint
        As for `skeleton`, for the same algorithms.

    Returns
    -------
    Structure
        The class, one member of it, and the evidence for each edge.

    Raises
    ------
    Interrupted
        On Ctrl-C; its `found` is the network found so far.

    Examples
    --------
    >>> found = serape.network(patients, "mmhc")
    >>> print(found.title)
    Network of 14 variables: 13 edges, 6 of 13 directions are decided
    >>> found.reversible
    (('Age', 'BloodPressure'), ('Age', 'HeartDisease'), ('Weight', 'Diabetes'), ('Weight', 'BloodPressure'),
    ('BloodPressure', 'Medication'), ('BloodPressure', 'HeartDisease'), ('HeartDisease', 'ECG'))
    """
    asked = Settings.of(algorithm=algorithm, **settings)
    return resolve_network(data, asked, score, equivalent_sample_size, rule, checkpoint).ask(None, asked.run)


def resolve_network(
    data: Any,
    asked: Settings,
    score: str | Score = "auto",
    equivalent_sample_size: float = 1.0,
    rule: Rule | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
) -> StructureQuery:
    """Resolve the question about the network, and check the data for it."""
    if rule is not None:
        asked = replace(asked, options={**asked.options, "rule": rule})
    algorithm = asked.search.algorithm
    if match(algorithm, ["auto"]):
        if not isinstance(data, Score | IndependenceTest):
            data, asked = Table.of(data, asked.data), replace(asked, data=DataSettings())
        by_score = isinstance(data, Score) or not (isinstance(score, str) and match(score, ["auto"]))
        by_tests = checkpoint is not None or "rule" in asked.options or any(_for_tests(asked).values())
        algorithm = "mmhc" if isinstance(data, Score) else choose_network(data, by_score=by_score, by_tests=by_tests)
        asked = replace(asked, search=replace(asked.search, algorithm=algorithm))
    name = match(algorithm, NETWORK_ALGORITHMS)
    chosen = None if name is None else NETWORK_ALGORITHMS[name]
    if chosen is None or chosen.search is None:
        return _by_tests(data, asked, score, checkpoint)
    check_network_options(chosen, asked.options)
    if chosen.learner:
        return _hybrid(data, asked, chosen, score, equivalent_sample_size, checkpoint)
    return _by_score(data, asked, chosen, score, equivalent_sample_size, checkpoint)


def _for_tests(asked: Settings) -> dict[str, bool]:
    """Return by setting that searches by score have no use for, whether it is given."""
    names = [name for name in FIELDS if hasattr(asked.search, name) and name not in ("algorithm", "knowledge")]
    given = {name: (getattr(asked.search, name), FIELDS[name].default) for name in names}
    return {name: value is not default and value != default for name, (value, default) in given.items()}


def _by_tests(
    data: Any,
    asked: Settings,
    score: str | Score,
    checkpoint: str | os.PathLike[str] | None,
) -> StructureQuery:
    """Find a skeleton and orient it."""
    options = dict(asked.options)
    rule = checked_rule(options.pop("rule", "and"))
    query = resolve_learner(data, replace(asked, options=options))
    own = query.algorithm
    refuse_unused(own.name, "uses tests, not a score", score=(score, "auto"))
    if own.by_pairs:
        refuse_unused(own.name, "tests pairs, not neighbourhoods", rule=(rule, "and"), checkpoint=(checkpoint, None))
    query = query.constrained(asked.search, range(len(query.source.variables)), symmetric=True)

    def ask(table: Table | None, settings: RunSettings) -> Structure:
        own = query if table is None else query.on(table)
        run = StructureRun.of(own, asked, settings)
        return oriented_result(run, own, find_skeleton(run, own, rule, checkpoint))

    return StructureQuery(ask, query.source, query.knowledge, query.known)


def _hybrid(
    data: Any,
    asked: Settings,
    chosen: NetworkAlgorithm,
    score: str | Score,
    equivalent_sample_size: float,
    checkpoint: str | os.PathLike[str] | None,
) -> StructureQuery:
    """Find a skeleton, and the graph with the highest score within it."""
    options = {**chosen.defaults, **asked.options}
    rule = checked_rule(options.pop("rule", "or"))
    learner = replace(asked.search, algorithm=chosen.learner)
    query = resolve_learner(data, replace(asked, search=learner, options=chosen.learner_options))
    query = query.constrained(asked.search, range(len(query.source.variables)), symmetric=True)
    whole = table_of(query.source)
    if whole is None:
        raise DataError(
            f"algorithm {chosen.name!r} uses a score, which needs data, not the test {query.source.name!r}; pass "
            f"the table"
        )

    def ask(table: Table | None, settings: RunSettings) -> Structure:
        own = query if table is None else query.on(table)
        scores = score_of(whole if table is None else table, score, chosen.score, equivalent_sample_size)
        run = StructureRun.of(own, asked, settings)
        check_score(chosen, scores, run.knowledge, options["max_parents"])
        return scored_result(run, own, chosen, scores, strong_neighbours(run, own, rule, checkpoint), options)

    return StructureQuery(ask, query.source, query.knowledge, query.known)


def _by_score(
    data: Any,
    asked: Settings,
    chosen: NetworkAlgorithm,
    score: str | Score,
    equivalent_sample_size: float,
    checkpoint: str | os.PathLike[str] | None,
) -> StructureQuery:
    """Find the graph with the highest score."""
    unused = list(_for_tests(asked))
    refuse_unused(
        chosen.name,
        "uses a score, not tests",
        checkpoint=(checkpoint, None),
        **{name: (getattr(asked.search, name), FIELDS[name].default) for name in unused},
    )
    if not isinstance(data, Score | IndependenceTest):
        data = Table.of(data, asked.data)
    whole = score_of(data, score, chosen.score, equivalent_sample_size)
    knowledge = None if asked.search.knowledge is None else Knowledge.of(asked.search.knowledge)
    options = {**chosen.defaults, **asked.options}
    check_score(chosen, whole, knowledge, options["max_parents"])

    def ask(table: Table | None, settings: RunSettings) -> Structure:
        scores = whole if table is None else score_of(table, score, chosen.score, equivalent_sample_size)
        run = StructureRun(scores.variables, scores, knowledge, settings)
        return scored_result(run, None, chosen, scores, None, options)

    return StructureQuery(ask, whole, None if knowledge is None else knowledge.bind(whole.variables))
