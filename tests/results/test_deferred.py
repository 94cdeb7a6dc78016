"""What results make when it is first asked for."""

from __future__ import annotations

import pickle
from dataclasses import dataclass, replace

import numpy as np
import pytest

import serape
from serape.independence.given_tests import VariableSets
from serape.results.deferred import Deferred, NamedSets


@dataclass(frozen=True)
class _Holder:
    value: Deferred[list[int]] = Deferred()  # noqa: RUF009
    other: int = 0


def test_a_deferred_field_is_made_once() -> None:
    made: list[int] = []

    def make() -> list[int]:
        made.append(1)
        return [7]

    held = _Holder(make)
    assert made == []
    assert held.value is held.value
    assert (held.value, made) == ([7], [1])
    assert replace(held, other=3) == _Holder([7], 3)
    with pytest.raises(TypeError, match="value"):
        _Holder()


def test_named_sets_are_a_mapping() -> None:
    keys = np.array([0 << 32 | 2, 1 << 32 | 3])
    sets = NamedSets(("a", "b", "c", "d"), keys, VariableSets.of([(1, 3), ()]))
    plain = {frozenset("ac"): ("b", "d"), frozenset("bd"): ()}
    assert sets == plain
    assert (list(sets), list(sets.items()), len(sets)) == (list(plain), list(plain.items()), 2)
    assert repr(sets) == repr(plain)
    assert pickle.loads(pickle.dumps(sets)) == plain
    assert sets[frozenset("ca")] == ("b", "d")
    for missing in (frozenset("ab"), frozenset("a"), frozenset("xy"), frozenset("abc")):
        assert missing not in sets
    with pytest.raises(KeyError):
        sets[frozenset("ab")]


def test_a_structure_can_be_pickled_before_its_graph_is_made() -> None:
    data = np.random.default_rng(0).integers(0, 2, (200, 4)).astype(np.uint8)
    data[:, 1] = data[:, 0]
    found = serape.skeleton(serape.Table(data), "pc-stable")
    assert pickle.loads(pickle.dumps(found)) == found
