"""The shrink phase that GS and the IAMB family share.

See docs/papers.md: Peña et al. 2005, Table 1; Yaramakala and Margaritis 2005, Figure 1.
"""

from __future__ import annotations

from serape.search import Members, Search


def shrink(search: Search, target: int, blanket: Members, newest: int | None = None) -> bool:
    """Remove X from the blanket where X ⊥ T | B \\ X, until no X is removed; return whether any was.

    The `newest` member is known to depend on T given the others: it is tested again only after one of these is removed.
    """
    removed = False
    while shrink_once(search, target, blanket, newest):
        removed, newest = True, None
    return removed


def shrink_once(search: Search, target: int, blanket: Members, newest: int | None = None) -> bool:
    """Go through the blanket once, removing X where X ⊥ T | B \\ X; return whether any was removed."""
    removed = search.test_each_given_rest(target, blanket, newest)
    for x in removed:
        blanket.remove(x)
    return bool(removed)
