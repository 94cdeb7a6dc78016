"""The effect sizes of the tests that decided, computed when they are read."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from serape.independence.base import IndependenceTest
from serape.independence.effects import MEASURES, Effect, Effects, Indices
from serape.results import saved

COLUMNS = ("effect", "effect_name", "effect_value")


class DecidingEffects:
    """The effect size of each variable's deciding test; each is computed when it is first used.

    Without a test, they are those in `known`, or none.
    """

    def __init__(self, count: int, test: IndependenceTest | None, target: int, known: Effects | None = None) -> None:
        self._count = count
        self._known = known
        self._test = test if test is not None and test.has_effect else None
        self._target = target

    @cached_property
    def _found(self) -> Effects:
        return Effects.unknown(self._count) if self._known is None else self._known

    @cached_property
    def _pending(self) -> NDArray[np.bool_]:
        return np.full(self._count, self._test is not None)

    def of(self, asked: Sequence[int], tests: Mapping[str, Any], given: Sequence[tuple[int, ...]]) -> Effects:
        """Return the effects of all variables, of which those asked for are computed.

        `tests` are the columns of the evidence, and `given` its conditioning sets.
        """
        fresh = np.asarray(asked, np.int64)
        fresh = fresh[self._pending[fresh]]
        if self._test is not None and len(fresh):
            self._pending[fresh] = False
            which = np.asarray(tests["which"], np.int64)
            fresh = fresh[np.asarray(tests["reliable"], bool)[fresh] & (which[fresh] >= 0)]
            statistic, dof = (np.asarray(tests[name], np.float64) for name in ("statistic", "dof"))
            for k, at in _by_set(fresh, which):
                found = self._test.effects(self._target, at.astype(np.uint32), given[k], statistic[at], dof[at])
                self._found.put(at, found)
        return self._found

    @classmethod
    def from_dict(cls, content: Mapping[str, Any], count: int) -> DecidingEffects:
        """Return the effects that `effect_columns` wrote; files of older versions have none."""
        if content.get("effect") is None:
            return cls(count, None, 0)
        bits, value = (
            np.array([read(v) for v in content[c]])
            for read, c in zip((saved.bits, saved.number), COLUMNS[::2], strict=True)
        )
        measure = np.array([-1 if name is None else MEASURES.index(name) for name in content[COLUMNS[1]]], np.int64)
        if not len(bits) == len(value) == len(measure) == count:
            raise ValueError("columns have different lengths")
        return cls(count, None, 0, Effects(bits, value, measure))


def edge_effect(evidence: Mapping[str, Any]) -> Effect | None:
    """Return the effect size among the attributes of an edge."""
    if "effect" not in evidence:
        return None
    return Effect(evidence["effect"], evidence.get("effect_name"), evidence.get("effect_value", math.nan))


def effect_columns(effects: Effects, keep: Sequence[int]) -> dict[str, list[Any]]:
    """Return some of the effects as columns: bits, the name of the familiar measure, and its value."""
    at = np.asarray(keep, np.int64)
    names = [None if m < 0 else MEASURES[m] for m in effects.measure[at].tolist()]
    return dict(zip(COLUMNS, (effects.bits[at].tolist(), names, effects.value[at].tolist()), strict=True))


def _by_set(variables: Indices, which: Indices) -> list[tuple[int, Indices]]:
    """Return the conditioning sets of some variables, as indices, each with the variables."""
    order = variables[np.argsort(which[variables], kind="stable")]
    sets, first = np.unique(which[order], return_index=True)
    return list(zip(sets.tolist(), np.split(order, first[1:]), strict=True)) if len(order) else []
