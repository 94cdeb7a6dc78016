"""Blankets in several contexts, or of several targets, read from files that their `save` wrote."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from serape.independence.outcomes import Outcome
from serape.results.context_blankets import ContextBlankets, Difference
from serape.results.joint_blanket import JointBlanket
from serape.results.result import result_from_dict
from serape.results.saved import known, log_p, number, texts


def contexts_from_dict(content: Mapping[str, Any]) -> ContextBlankets:
    """Return the result that `ContextBlankets.to_dict` wrote."""
    pooled = result_from_dict(content["pooled"])
    names = pooled.trace.names
    by_context = {str(name): result_from_dict(one) for name, one in content["by_context"].items()}
    if pooled.target != content["target"] or any(one.target != pooled.target for one in by_context.values()):
        raise ValueError("the results are about different targets")
    for one in by_context.values():
        if one.trace.names != names:
            raise ValueError("the results are about different variables")
    if content["context"] == pooled.target:
        raise ValueError("the context is the target")
    return ContextBlankets(
        target=pooled.target,
        context=known([str(content["context"])], names)[0],
        pooled=pooled,
        by_context=by_context,
        not_searched={str(name): str(why) for name, why in content["not_searched"].items()},
        changes=known(texts(content["changes"]), names),
        invariance=None if content["invariance"] is None else _outcome(content["invariance"]),
        invariance_test=str(content["invariance_test"]),
        invariant_sets=tuple(known(texts(one), names) for one in content["invariant_sets"]),
        causes=known(texts(content["causes"]), names),
        differences=tuple(_difference(one, names, list(by_context)) for one in content["differences"]),
        tests=int(content["tests"]),
        tests_by_size={int(size): int(count) for size, count in content["tests_by_size"].items()},
        skipped=int(content["skipped"]),
        seconds=number(content["seconds"]),
        complete=bool(content["complete"]),
        notes=texts(content["notes"]),
    )


def joint_from_dict(content: Mapping[str, Any]) -> JointBlanket:
    """Return the result that `JointBlanket.to_dict` wrote."""
    names = texts(content["names"])
    targets = known(texts(content["targets"]), names)
    by_target = {known([str(name)], targets)[0]: result_from_dict(one) for name, one in content["by_target"].items()}
    if not by_target:
        raise ValueError("there is no target")
    for name, one in by_target.items():
        if one.target != name or one.trace.names != names:
            raise ValueError(f"the result about {name!r} is about another target, or other variables")
    return JointBlanket(
        targets=targets,
        by_target=by_target,
        names=names,
        tests=int(content["tests"]),
        tests_by_size={int(size): int(count) for size, count in content["tests_by_size"].items()},
        skipped=int(content["skipped"]),
        seconds=number(content["seconds"]),
        complete=bool(content["complete"]),
        notes=texts(content["notes"]),
    )


def _difference(content: Mapping[str, Any], names: tuple[str, ...], contexts: list[str]) -> Difference:
    sizes = number(content["bits"], 0), number(content["elsewhere"], 0), number(content["p"], 0, 1)
    (variable,) = known([str(content["variable"])], names)
    (context,) = known([str(content["context"])], contexts)
    return Difference(variable, context, known(texts(content["given"]), names), *sizes)


def _outcome(content: Mapping[str, Any]) -> Outcome:
    value = -math.inf if content["log_p"] == "-inf" else log_p(content["log_p"])
    return Outcome(number(content["statistic"]), number(content["dof"]), value, reliable=True)
