"""Which variables are adjacent in the network behind the data."""

from __future__ import annotations

import os
from typing import Any, Unpack

from serape._keywords import Keywords
from serape.questions.run import (
    Run,
    checked_rule,
    find_skeleton,
    refuse_unused,
    resolve_learner,
    skeleton_result,
)
from serape.results.structure import Structure
from serape.settings import Settings, question
from serape.types import LocalAlgorithm, Rule


@question()
def skeleton(
    data: Any,
    algorithm: str | LocalAlgorithm = "auto",
    rule: Rule = "and",
    checkpoint: str | os.PathLike[str] | None = None,
    **settings: Unpack[Keywords],
) -> Structure:
    """Find which variables are joined by an arc in the network behind the data, without the arcs' directions.

    Constant columns are adjacent to none. Larger conditioning sets than 3 take much longer where a variable has many
    neighbours, and hardly change the answer (see the page on networks).

    Parameters
    ----------
    algorithm
        Any algorithm that finds parents and children, by name or your own (they are found for every variable, and
        joined by the `rule`), or "pc-stable"; "auto" is "hiton-pc".
    rule
        "and": two variables are adjacent if each is among the parents and children of the other. "or": if one is.
    checkpoint
        A file that keeps the neighbourhoods as they are found; a run that was stopped goes on from it.

    Raises
    ------
    Interrupted
        On Ctrl-C; its `found` is the skeleton of the neighbourhoods that were complete.
    """
    asked = Settings.of(algorithm=algorithm, **settings)
    query = resolve_learner(data, asked)
    if query.algorithm.by_pairs:
        refuse_unused(
            query.algorithm.name,
            "goes by pairs, not by neighbourhoods",
            rule=(rule, "and"),
            checkpoint=(checkpoint, None),
        )
    query = query.constrained(asked.search, range(len(query.source.variables)), symmetric=True)
    run = Run.of(query, asked)
    return skeleton_result(run, query, find_skeleton(run, query, checked_rule(rule), checkpoint))
