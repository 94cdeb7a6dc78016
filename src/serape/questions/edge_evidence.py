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
_Tests = dict[Pair, tuple[Outcome, tuple[int, ...]]]
"""By adjacent pair, the test of the weakest association, if there is one, and its conditioning set."""


def edge_evidence(
    test: IndependenceTest, found: Skeleton, names: Sequence[str], jobs: int = 1
) -> dict[frozenset[str], dict[str, Any]]:
    """Return the test behind every edge of a skeleton, by name."""
    tests = _weakest_tests(found)
    effects = _effects(test, tests, jobs)
    return {
        frozenset([names[x] for x in pair]): test_attributes(
            outcome, tuple([names[z] for z in given]), effects.get(pair)
        )
        for pair, (outcome, given) in tests.items()
    }


def _weakest_tests(found: Skeleton) -> _Tests:
    known = ((pair, found.weakest.get(pair)) for pair in pairs_of(found.neighbours))
    return {pair: (one[2].outcome(one[3]), one[2].given_of(one[3])) for pair, one in known if one is not None}


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
    effects = _effects(test, _weakest_tests(found), jobs)
    return {pair: effects.get(pair) for pair in pairs_of(found.neighbours)}


def _effects(test: IndependenceTest, tests: _Tests, jobs: int) -> dict[Pair, Effect | None]:
    together: dict[tuple[int, tuple[int, ...]], list[tuple[int, float, float]]] = {}
    for pair, (outcome, given) in tests.items() if test.has_effect else ():
        if outcome.reliable:
            x, y = sorted(pair)
            together.setdefault((x, given), []).append((y, outcome.statistic, outcome.dof))
    groups: list[EffectGroup] = []
    for (x, given), own in together.items():
        ys, statistic, dof = zip(*own, strict=True)
        groups.append((x, ys, tuple(map(int, given)), statistic, dof))
    effects: dict[Pair, Effect | None] = {}

    def effects_from(begin: int, watch: ProgressCallback) -> Effects:
        del watch
        return test.effects_each(groups[begin : begin + _GROUPS])

    def keep(begin: int, answer: Effects) -> None:
        pairs = [frozenset((group[0], y)) for group in groups[begin : begin + _GROUPS] for y in group[1]]
        effects.update(zip(pairs, answer.each(), strict=True))

    parallel_map(effects_from, range(0, len(groups), _GROUPS), jobs, keep, test=test)
    return effects
