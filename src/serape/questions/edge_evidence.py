"""The evidence for the edges of a skeleton: the test of the weakest association, and its effect size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from serape.independence import IndependenceTest
from serape.independence.effects import Effect, EffectGroup, Effects
from serape.independence.outcomes import Outcome
from serape.parallel.map import parallel_map
from serape.progress import ProgressCallback
from serape.skeletons.pair_tests import PairsWithTests, pair_of
from serape.skeletons.skeleton import Pair, Skeleton

_GROUPS = 200  # that one worker looks at together
Attributes = dict[str, Any]


@dataclass(frozen=True)
class EdgeEvidence:
    """The tests behind the edges of a skeleton that have one, and their effects."""

    found: PairsWithTests
    effects: Effects

    def attributes(self, names: Sequence[str]) -> list[Attributes]:
        """Return each test as attributes of an edge."""
        tests = self.found.tests
        columns = (tests.statistic.tolist(), tests.dof.tolist(), tests.log_p.tolist())
        return [
            test_attributes(Outcome(statistic, dof, log_p, reliable=True), tuple([names[z] for z in given]), effect)
            for statistic, dof, log_p, given, effect in zip(*columns, tests.given, self.effects.each(), strict=True)
        ]

    def by_name(self, names: Sequence[str]) -> dict[frozenset[str], Attributes]:
        """Return the attributes by pair."""
        pairs = (frozenset([names[x] for x in pair_of(key)]) for key in self.found.keys.tolist())
        return dict(zip(pairs, self.attributes(names), strict=True))


def edge_evidence(test: IndependenceTest, found: Skeleton, jobs: int = 1) -> EdgeEvidence:
    """Return the test behind every edge of a skeleton."""
    weakest = found.weakest.of(found.pairs())
    return EdgeEvidence(weakest, _effects(test, weakest, jobs))


def test_attributes(outcome: Outcome, given: tuple[str, ...], effect: Effect | None) -> Attributes:
    """Return a test as attributes of an edge."""
    attributes: Attributes = {
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
    """Return the effect size of the weakest association of every adjacent pair that has one."""
    evidence = edge_evidence(test, found, jobs)
    return dict(zip(map(pair_of, evidence.found.keys.tolist()), evidence.effects.each(), strict=True))


def _effects(test: IndependenceTest, found: PairsWithTests, jobs: int) -> Effects:
    """Return the effects of tests: in one call, or for each variable and conditioning set in one."""
    if not test.has_effect:
        return Effects.unknown(len(found.keys))
    xs, ys = (found.keys >> 32).astype(np.uint32), (found.keys & 0xFFFFFFFF).astype(np.uint32)
    direct = test.effects_of(xs, ys, found.tests, threads=jobs)
    return _effects_in_groups(test, found, jobs) if direct is None else direct


def _effects_in_groups(test: IndependenceTest, found: PairsWithTests, jobs: int) -> Effects:
    tests = found.tests
    together: dict[tuple[int, tuple[int, ...]], list[int]] = {}
    for k, (key, given) in enumerate(zip(found.keys.tolist(), tests.given, strict=True)):
        together.setdefault((key >> 32, given), []).append(k)
    groups: list[tuple[EffectGroup, NDArray[np.intp]]] = []
    for (x, given), own in together.items():
        at = np.array(own)
        ys = (found.keys[at] & 0xFFFFFFFF).tolist()
        groups.append(((x, ys, given, tests.statistic[at].tolist(), tests.dof[at].tolist()), at))
    effects = Effects.unknown(len(found.keys))

    def effects_from(begin: int, watch: ProgressCallback) -> Effects:
        del watch
        some = [group for group, _ in groups[begin : begin + _GROUPS]]
        test.expect_screens([(x, ys, given) for x, ys, given, _, _ in some])
        return test.effects_each(some)

    def keep(begin: int, answer: Effects) -> None:
        effects.put(np.concatenate([at for _, at in groups[begin : begin + _GROUPS]]), answer)

    parallel_map(effects_from, range(0, len(groups), _GROUPS), jobs, keep, test=test)
    return effects
