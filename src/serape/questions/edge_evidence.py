"""The evidence for the edges of a skeleton, by name: the test of the weakest association, and its effect size."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from serape.independence import IndependenceTest
from serape.independence.effects import Effect, Effects
from serape.independence.outcomes import Outcome
from serape.parallel.map import parallel_map
from serape.progress import ProgressCallback
from serape.skeletons.edges import pairs_of
from serape.skeletons.skeleton import Pair, Skeleton

_GROUPS = 200  # that one worker looks at together


def edge_evidence(
    test: IndependenceTest, found: Skeleton, names: Sequence[str], jobs: int = 1
) -> dict[frozenset[str], dict[str, Any]]:
    """Return the test behind every edge of a skeleton, by name."""
    evidence = {}
    for pair, effect in edge_effects(test, found, jobs).items():
        if pair in found.weakest:
            _, _, answers, index = found.weakest[pair]
            given = tuple(names[z] for z in answers.given_of(index))
            evidence[frozenset(names[x] for x in pair)] = test_attributes(answers.outcome(index), given, effect)
    return evidence


def test_attributes(outcome: Outcome, given: tuple[str, ...], effect: Effect | None) -> dict[str, Any]:
    """Return a test as attributes of an edge."""
    attributes: dict[str, Any] = {
        "statistic": outcome.statistic,
        "dof": outcome.dof,
        "log_p": outcome.log_p,
        "reliable": outcome.reliable,
        "given": given,
    }
    if effect is not None:
        attributes["effect"] = effect.bits
        if effect.name is not None:
            attributes |= {"effect_name": effect.name, "effect_value": effect.value}
    return attributes


def edge_effects(test: IndependenceTest, found: Skeleton, jobs: int = 1) -> dict[Pair, Effect | None]:
    """Return the effect size of the weakest association of every adjacent pair; tests given one set in one call."""
    together: dict[tuple[int, tuple[int, ...]], list[tuple[int, float, float]]] = {}
    effects: dict[Pair, Effect | None] = {}
    for pair in pairs_of(found.neighbours):
        effects[pair] = None
        if pair in found.weakest and test.has_effect:
            _, _, answers, index = found.weakest[pair]
            outcome = answers.outcome(index)
            if outcome.reliable:
                x, y = sorted(pair)
                key = x, tuple(map(int, answers.given_of(index)))
                together.setdefault(key, []).append((y, outcome.statistic, outcome.dof))
    groups = list(together.items())

    def effects_from(begin: int, watch: ProgressCallback) -> Effects:
        del watch
        parts = []
        for (x, given), tests in groups[begin : begin + _GROUPS]:
            ys, statistic, dof = zip(*tests, strict=True)
            parts.append(test.effects(x, ys, given, np.array(statistic), np.array(dof)))
        return Effects(*map(np.concatenate, zip(*((p.bits, p.value, p.measure) for p in parts), strict=True)))

    def keep(begin: int, answer: Effects) -> None:
        pairs = (frozenset((x, y)) for (x, _), tests in groups[begin : begin + _GROUPS] for y, _, _ in tests)
        effects.update((pair, answer[k]) for k, pair in enumerate(pairs))

    parallel_map(effects_from, range(0, len(groups), _GROUPS), jobs, keep, test=test)
    return effects
