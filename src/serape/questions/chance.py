"""Members that may have been found by chance: with many candidates, alpha lets some pass that have nothing to say."""

from __future__ import annotations

import math
from collections.abc import Collection

from serape.errors import abbreviate
from serape.independence.outcomes import p_text
from serape.search import FalseDiscoveryRate, Search
from serape.wording import setting

SUGGESTED_FDR = 0.05


def chance_note(search: Search, target: int, members: Collection[int], kept: Collection[int]) -> list[str]:
    """Return a note about members whose deciding p a false discovery rate of 0.05 over all candidates does not allow.

    There is none if a rate is bounded already, or if alpha lets less than one candidate pass by chance; members in
    `kept` are known and not named. No test is performed.
    """
    candidates = len(search.candidates(target))
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
