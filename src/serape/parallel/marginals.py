"""Tests given nothing, which the searches for many targets share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from serape.independence.base import IndependenceTest
from serape.independence.dependent_pairs import DependentBlocks, find_dependent_pairs, have_few_levels
from serape.independence.marginals import AllMarginals, as_marginals
from serape.independence.screens import ScreenResult
from serape.knowledge import BoundKnowledge

MAX_SHARED = 10_000_000
"""The most targets times variables for which tests given nothing are shared: 250 MB of answers."""


def marginal_tests(
    test: IndependenceTest,
    targets: Sequence[int],
    knowledge: BoundKnowledge | None = None,
    threads: int = 1,
    log_alpha: float | None = None,
) -> Mapping[int, ScreenResult]:
    """Test every target against all variables given nothing, each pair once; none if the answers are too many.

    Of many pairs only those dependent at `log_alpha` are kept, if it is given. Forbidden members are not tested.
    """
    if len(targets) < 2:
        return {}
    if len(targets) * len(test.variables) > MAX_SHARED:
        if log_alpha is None or not _leaves_tests_alone(knowledge):
            return {}
        return find_dependent_pairs(test, targets, log_alpha, threads) or {}
    forbidden = knowledge.forbidden_members if knowledge is not None and knowledge.has_forbidden_members else None
    return AllMarginals(test.marginals(targets, forbidden, threads=threads))


def marginal_blocks(
    test: IndependenceTest, targets: Sequence[int], knowledge: BoundKnowledge | None, threads: int, log_alpha: float
) -> DependentBlocks | None:
    """Return the same in blocks of targets where `marginal_tests` returns none; None if the answers are too few."""
    few = len(targets) < 2 or len(targets) * len(test.variables) <= MAX_SHARED
    if few or not _leaves_tests_alone(knowledge) or not have_few_levels(test, range(len(test.variables))):
        return None
    return DependentBlocks(test, targets, log_alpha, threads)


def _leaves_tests_alone(knowledge: BoundKnowledge | None) -> bool:
    return knowledge is None or knowledge.leaves_tests_alone


def shared_tests(known: Mapping[int, ScreenResult]) -> int:
    """Return the number of tests behind the marginal tests of targets: a pair of targets was tested once."""
    return as_marginals(known).tests
