"""The answer of an algorithm."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Answer:
    """The variables found around a target, as positions or names; None for what the algorithm does not find.

    Examples
    --------
    >>> def dependents(search, target):
    ...     return serape.Answer(parents_children=search.dependents(target, search.candidates(target)))
    >>> serape.parents_children(patients, "ECG", dependents, alpha=1e-40).members
    ('HeartDisease',)
    """

    blanket: Collection[int | str] | None = None
    parents_children: Collection[int | str] | None = None
    spouses: Mapping[int | str, Collection[int | str]] | None = None
    """For each spouse, its common children with the target."""
    spouse_tests: Mapping[tuple[int, int], tuple[int, ...]] | None = None
    """By spouse and child, the set given which spouse and target were tested, if not a separating set and the child."""
