"""Steps that are computed once a search, however often an algorithm comes back to them."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from serape.search.search import Search

Value = TypeVar("Value")


def once(step: Callable[..., Value]) -> Callable[..., Value]:
    """Let `step(search, target, ...)` be computed once for each target (and further arguments) of a search."""

    @functools.wraps(step)
    def remembered(search: Search, target: int, *rest: Any) -> Value:
        key = (step, target, *rest)
        if key not in search.memory:
            search.memory[key] = step(search, target, *rest)
        value: Value = search.memory[key]
        return value

    return remembered
