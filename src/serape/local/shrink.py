"""The shrink phase that GS and the IAMB family share."""

from __future__ import annotations

from serape.search import Members, Search


def shrink(search: Search, target: int, blanket: Members) -> bool:
    """Drop X from the blanket where X ⊥ T | B \\ X, until nothing drops; return whether anything did."""
    dropped = False
    while shrink_once(search, target, blanket):
        dropped = True
    return dropped


def shrink_once(search: Search, target: int, blanket: Members) -> bool:
    """Go through the blanket once, dropping X where X ⊥ T | B \\ X; return whether anything was dropped."""
    dropped = search.sweep(target, blanket)
    for x in dropped:
        blanket.remove(x)
    return bool(dropped)
