"""What a call asks for, checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

from serape.data.table import as_table
from serape.errors import InputTypeError, OptionError, abbreviate, is_integer, suggestion
from serape.independence import DofRule, IndependenceTest, table_of
from serape.knowledge import Knowledge
from serape.local.registry import ALGORITHMS, DIVIDE, LocalAlgorithm
from serape.questions.neighbourhoods import Rule
from serape.questions.query import Query, Reliability
from serape.structure.registry import NETWORK_ALGORITHMS, NetworkAlgorithm
from serape.structure.scores import Score, make_score

LEARNER = "hiton-pc"
"""What `algorithm="auto"` means where neighbourhoods of many variables are asked for."""
MAX_CONDITIONING = 3
"""What `max_conditioning="auto"` means for learners that go through subsets of neighbourhoods, where there are data."""


def make_task(
    data: Any,
    algorithm: str | LocalAlgorithm,
    test: str,
    alpha: float,
    max_conditioning: int | Literal["auto"] | None,
    reliability: Reliability,
    dof: DofRule,
    knowledge: Knowledge | Mapping[str, Any] | None,
    random_state: int | None,
    options: dict[str, Any],
) -> Query:
    """Settle what is asked of every variable, and check that the data can answer it."""
    if isinstance(data, Score):
        raise InputTypeError("a score answers no independence questions; pass the data, or take 'ges', 'tabu' or 'sca'")
    known = [name for name, a in ALGORITHMS.items() if a.answers("parents-children")]
    if isinstance(algorithm, str) and algorithm not in (*known, *NETWORK_ALGORITHMS, *ALGORITHMS, "auto"):
        every = [*known, *NETWORK_ALGORITHMS]
        raise OptionError(
            f"algorithm {algorithm!r} is not known.{suggestion(algorithm, every)} Known are 'auto', "
            f"{', '.join(map(repr, every))}."
        )
    limit = None if max_conditioning == "auto" else max_conditioning
    if algorithm == "pc-stable":
        if options:
            raise OptionError(f"algorithm 'pc-stable' has no option {next(iter(options))!r} (it takes none)")
        query = Query.make(
            data, "parents-children", _no_learner, test, alpha, limit, reliability,
            "adjusted" if dof == "auto" else dof, random_state, {},
        )  # fmt: skip
        query = replace(query, algorithm=replace(query.algorithm, name="pc-stable", family=DIVIDE))
    else:
        query = Query.make(
            data, "parents-children", LEARNER if algorithm == "auto" else algorithm, test, alpha, limit,
            reliability, dof, random_state, options,
        )  # fmt: skip
    if max_conditioning == "auto":
        bounded = table_of(query.source) is not None and query.algorithm.parts_by_subsets
        query = replace(query, max_conditioning=MAX_CONDITIONING if bounded else None)
    told = as_knowledge(knowledge)
    return query if told is None else replace(query, knowledge=told.bind(query.source.variables))


def _no_learner(search: Any, target: int) -> tuple[int, ...]:
    raise NotImplementedError("pc-stable does not go by neighbourhoods")


def as_knowledge(knowledge: Knowledge | Mapping[str, Any] | None) -> Knowledge | None:
    """Return knowledge, however it was given."""
    return None if knowledge is None else Knowledge.of(knowledge)


def checked_rule(rule: Any) -> Rule:
    """Return the rule, if it is one."""
    if rule not in ("and", "or"):
        raise OptionError(f"rule must be 'and' or 'or', not {rule!r}")
    chosen: Rule = rule
    return chosen


def check_options(algorithm: NetworkAlgorithm, options: Mapping[str, Any]) -> None:
    """Refuse options that an algorithm does not take, or values that it cannot have."""
    for name, value in options.items():
        if name not in algorithm.defaults:
            takes = ", ".join(map(repr, algorithm.defaults))
            close = suggestion(name, algorithm.defaults)
            raise OptionError(f"algorithm {algorithm.name!r} has no option {name!r} (it takes {takes}).{close}")
        if name == "rule" or (name == "max_parents" and value is None):
            continue
        least = 0 if name == "patience" else 1
        if not (is_integer(value) and value >= least):
            raise OptionError(f"{name} must be a whole number from {least} up, not {value!r}")


def refuse(algorithm: str, why: str, **given: tuple[Any, Any]) -> None:
    """Refuse settings that mean nothing to an algorithm: each with its value and the default."""
    for name, (value, default) in given.items():
        if value is not default and value != default:
            raise OptionError(f"algorithm {algorithm!r} {why}: {name}={value!r} means nothing to it; leave it out")


def score_of(data: Any, score: str | Score, equivalent_sample_size: float) -> Score:
    """Return the score, if it is one of the data."""
    made = make_score(data, score, equivalent_sample_size)
    if isinstance(score, Score) and data is not score:
        names = data.variables if isinstance(data, Score) else as_table(data).names
        if tuple(names) != tuple(score.variables):
            raise OptionError(
                f"the score is about {abbreviate(score.variables)}, the data have {abbreviate(names)}; they must be the same "
                f"and in the same order"
            )
    return made


def table_notes(source: Any) -> tuple[str, ...]:
    """Return what was noted when the table was made."""
    own = source.notes if isinstance(source, IndependenceTest) else ()
    return (*getattr(getattr(source, "table", None), "notes", ()), *own)
