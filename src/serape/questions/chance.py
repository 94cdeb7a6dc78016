"""Members that may have been found by chance, and answers without members.

With many candidates, alpha lets some pass that have nothing to say; a bound on the false discovery rate may let none
pass.
"""

from __future__ import annotations

import math
from collections.abc import Collection

import numpy as np

from serape.errors import abbreviate
from serape.independence.outcomes import p_text
from serape.search import FalseDiscoveryRate, Positions, Search
from serape.wording import setting

SUGGESTED_FDR = 0.05


def chance_note(
    search: Search, target: int, members: Collection[int], kept: Collection[int], candidates: int
) -> list[str]:
    """Return a note about members whose deciding p a false discovery rate of 0.05 over all candidates does not allow.

    There is none if a rate is bounded already, or if alpha lets less than one candidate pass by chance; members in
    `kept` are known and not named. No test is performed.
    """
    by_chance = math.exp(search.log_alpha) * candidates
    if search.fdr is not None or by_chance < 1:
        return []
    latest = {x: search.log(target).latest(x) for x in sorted(members) if x not in kept}
    log_p = {x: one.outcome.log_p for x, one in latest.items() if one is not None and one.outcome.reliable}
    level = FalseDiscoveryRate(SUGGESTED_FDR).log_threshold(log_p.values(), candidates)
    weak = [search.test.variables[x] for x, value in log_p.items() if value > level]
    if not weak:
        return []
    have = "has" if len(weak) == 1 else "have"
    return [
        f"{len(weak):,} of {len(members):,} members {have} p above {p_text(level)}, so perhaps by chance: "
        f"{abbreviate(weak)}; of {candidates:,} candidates, about {by_chance:,.0f} without any dependence would have p "
        f"below alpha, {search.alpha:g}: pass {setting('fdr', SUGGESTED_FDR)}, or a smaller alpha"
    ]


def nothing_note(search: Search, target: int, members: Collection[int], candidates: Positions) -> list[str]:
    """Return a note about the candidates nearest to an answer without members, if a rate kept them out."""
    if members or search.fdr is None:
        return []
    _, _, log_p, reliable, _, _ = search.log(target).columns()
    tested = candidates[reliable[candidates] & (log_p[candidates] <= search.log_alpha)]
    if not len(tested):
        return []
    nearest = tested[np.argsort(log_p[tested], kind="stable")][:3]
    level = search.fdr.log_threshold((), len(candidates))
    named = ", ".join(f"{search.test.variables[x]!r} (p = {p_text(float(log_p[x]))})" for x in nearest)
    return [
        f"no member was found, which does not show that there is none: among {len(candidates):,} candidates, a false "
        f"discovery rate of {search.fdr.rate:g} allows p up to {p_text(level)}; the smallest p of last tests: "
        f"{named}"
    ]
