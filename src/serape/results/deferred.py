"""What results make when it is first asked for: for very many variables, that takes longer than the search."""

from __future__ import annotations

from collections.abc import Callable, ItemsView, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from serape.independence.given_tests import VariableSets

T = TypeVar("T")


class Deferred(Generic[T]):
    """A field of a dataclass: a value, or a function that makes it when it is first asked for."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, instance: object | None, owner: type) -> T:
        if instance is None:
            raise AttributeError(self._name)  # so that the field has no default
        value = instance.__dict__[self._name]
        if callable(value):
            value = instance.__dict__[self._name] = value()
        made: T = value
        return made

    def __set__(self, instance: object, value: T | Callable[[], T]) -> None:
        instance.__dict__[self._name] = value


class NamedSets(Mapping[frozenset[str], tuple[str, ...]]):
    """Sets of variables by pair, with names; the positions are kept, and entries made when they are asked for.

    A pair of positions x < y is the number x · 2³² + y.
    """

    def __init__(self, names: Sequence[str], keys: NDArray[np.int64], sets: VariableSets) -> None:
        self._names = names
        self._keys = keys
        self._sets = sets

    def __len__(self) -> int:
        return len(self._keys)

    def __iter__(self) -> Iterator[frozenset[str]]:
        names = self._names
        for key in self._keys.tolist():
            yield frozenset((names[key >> 32], names[key & 0xFFFFFFFF]))

    def __getitem__(self, pair: frozenset[str]) -> tuple[str, ...]:
        try:
            x, y = sorted(self._position[name] for name in pair)
            at = self._place[x << 32 | y]
        except (KeyError, ValueError, TypeError):
            raise KeyError(pair) from None
        return tuple([self._names[z] for z in self._sets[at]])

    def items(self) -> ItemsView[frozenset[str], tuple[str, ...]]:
        """Return a view of all pairs with their sets."""
        return _Items(self)

    def _each(self) -> Iterator[tuple[str, ...]]:
        names = self._names
        for members in self._sets:
            yield tuple([names[z] for z in members])

    @cached_property
    def _position(self) -> dict[str, int]:
        return {name: k for k, name in enumerate(self._names)}

    @cached_property
    def _place(self) -> dict[int, int]:
        return {key: k for k, key in enumerate(self._keys.tolist())}

    def __repr__(self) -> str:
        return repr(dict(self.items()))

    def __reduce__(self) -> tuple[type[dict[frozenset[str], tuple[str, ...]]], tuple[object]]:
        return dict, (dict(self.items()),)


class _Items(ItemsView[frozenset[str], tuple[str, ...]]):
    """All entries, without a look-up of each."""

    def __init__(self, sets: NamedSets) -> None:
        super().__init__(sets)
        self._sets = sets

    def __iter__(self) -> Iterator[tuple[frozenset[str], tuple[str, ...]]]:
        return zip(self._sets, self._sets._each(), strict=True)
