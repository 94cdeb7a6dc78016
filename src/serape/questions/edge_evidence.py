"""The evidence for the edges of a skeleton, by name: the test of the weakest association, and its effect size."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from serape.independence import IndependenceTest
from serape.independence.effects import Effect, EffectGroup, Effects
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
    effects: dict[Pair, Effect | None] = dict.fromkeys(pairs_of(found.neighbours))
    for pair in effects if test.has_effect else ():
        known = found.weakest.get(pair)
        if known is not None:
            outcome = known[2].outcome(known[3])
            if outcome.reliable:
                x, y = sorted(pair)
                key = x, tuple(map(int, known[2].given_of(known[3])))
                together.setdefault(key, []).append((y, outcome.statistic, outcome.dof))
    groups: list[EffectGroup] = []
    for (x, given), tests in together.items():
        ys, statistic, dof = zip(*tests, strict=True)
        groups.append((x, ys, given, statistic, dof))

    def effects_from(begin: int, watch: ProgressCallback) -> Effects:
        del watch
        return test.effects_each(groups[begin : begin + _GROUPS])

    def keep(begin: int, answer: Effects) -> None:
        pairs = [frozenset((group[0], y)) for group in groups[begin : begin + _GROUPS] for y in group[1]]
        effects.update(zip(pairs, answer.each(), strict=True))

    parallel_map(effects_from, range(0, len(groups), _GROUPS), jobs, keep, test=test)
    return effects
