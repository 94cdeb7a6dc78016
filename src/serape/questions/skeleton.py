"""Which variables are adjacent in the network behind the data."""

from __future__ import annotations

import os
from typing import Any, Unpack

from serape._keywords import Keywords
from serape.data.table import Table
from serape.questions.structures import (
    StructureQuery,
    StructureRun,
    checked_rule,
    find_skeleton,
    refuse_unused,
    resolve_learner,
    skeleton_result,
)
from serape.results.structure import Structure
from serape.settings import RunSettings, Settings, question
from serape.types import LocalAlgorithm, Rule


@question(
    command=(
        "serape skeleton patients.csv --algorithm hiton-pc --jobs -1 --checkpoint kept.jsonl",
        "serape skeleton patients.csv --rule or --report skeleton.html",
    ),
    about="Find which columns are adjacent, without the directions of the arcs.\n\n"
    "Prints the edges with their evidence.",
)
def skeleton(
    data: Any,
    algorithm: str | LocalAlgorithm = "auto",
    rule: Rule = "and",
    checkpoint: str | os.PathLike[str] | None = None,
    **settings: Unpack[Keywords],
) -> Structure:
    """Find which variables are adjacent in the network behind the data, without the directions of the arcs.

    Constant columns have no neighbours. Conditioning sets of more than 3 variables take much longer where a variable
    has many neighbours, and hardly change the answer (see docs/networks.md).

    Parameters
    ----------
    data
        As for `markov_blanket`.
    algorithm
        Any algorithm that finds parents and children, by name or your own (the neighbourhoods of all variables are
        combined by the `rule`), or "pc-stable"; "auto" is "hpc" for up to
        1,000 categorical columns and 50,000 rows, otherwise "hiton-pc".
    rule
        "and": two variables are adjacent if each is among the parents and children of the other. "or": if one is.
    checkpoint
        A file that keeps the neighbourhoods as they are found, so that a run that was stopped can continue. It belongs
        to one question, and one run uses it at a time (docs/networks.md).

    Returns
    -------
    Structure
        The graph, the separating set of each pair that is not adjacent, and the evidence for each edge.

    Raises
    ------
    Interrupted
        On Ctrl-C; its `found` is the skeleton of the complete neighbourhoods.

    Examples
    --------
    >>> found = serape.skeleton(patients, "hiton-pc", alpha=0.01)
    >>> found.edges[:3]
    (('Age', 'Exercise'), ('Age', 'BloodPressure'), ('Age', 'HeartDisease'))
    >>> found.separating_sets[frozenset(("Smoking", "ECG"))]
    ('HeartDisease',)
    """
    asked = Settings.of(algorithm=algorithm, **settings)
    return resolve_skeleton(data, asked, rule, checkpoint).ask(None, asked.run)


def resolve_skeleton(
    data: Any, asked: Settings, rule: Rule = "and", checkpoint: str | os.PathLike[str] | None = None
) -> StructureQuery:
    """Resolve the question about the skeleton, and check the data for it."""
    query = resolve_learner(data, asked)
    if query.algorithm.by_pairs:
        refuse_unused(
            query.algorithm.name,
            "tests pairs, not neighbourhoods",
            rule=(rule, "and"),
            checkpoint=(checkpoint, None),
        )
    query = query.constrained(asked.search, range(len(query.source.variables)), symmetric=True)
    rule = checked_rule(rule)

    def ask(table: Table | None, settings: RunSettings) -> Structure:
        own = query if table is None else query.on(table)
        run = StructureRun.of(own, asked, settings)
        return skeleton_result(run, own, find_skeleton(run, own, rule, checkpoint))

    return StructureQuery(ask, query.source, query.knowledge, query.known)
