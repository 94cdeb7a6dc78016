"""The shrink phase that GS and the IAMB family share."""

from __future__ import annotations

from serape.search import Members, Search


def shrink(search: Search, target: int, blanket: Members, newest: int | None = None) -> bool:
    """Drop X from the blanket where X ⊥ T | B \\ X, until nothing drops; return whether anything did.

    The `newest` member is known to depend on T given the others: as long as these stay, it is not tested again.
    """
    dropped = False
    while shrink_once(search, target, blanket, newest):
        dropped, newest = True, None
    return dropped


def shrink_once(search: Search, target: int, blanket: Members, newest: int | None = None) -> bool:
    """Go through the blanket once, dropping X where X ⊥ T | B \\ X; return whether anything was dropped."""
    dropped = search.test_each_given_rest(target, blanket, newest)
    for x in dropped:
        blanket.remove(x)
    return bool(dropped)
