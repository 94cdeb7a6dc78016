"""The shrink phase that GS and the IAMB family share."""

from __future__ import annotations

from serape.search import Members, Search


def shrink(search: Search, target: int, blanket: Members) -> bool:
    """Drop X from the blanket where X ⊥ T | B \\ X, until nothing drops; return whether anything did."""
    dropped = False
    again = True
    while again:
        again = False
        for x in blanket:
            if search.independent(x, target, blanket.without(x)):
                blanket.remove(x)
                dropped = again = True
    return dropped
