"""`min_effect`: members and edges whose deciding test shows a weak effect are left out, and a note names them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from serape.errors import OptionError, abbreviate
from serape.independence import IndependenceTest
from serape.local.answer import Answer
from serape.questions.deciding import Deciding
from serape.questions.discoveries import without_members
from serape.questions.edge_evidence import edge_effects
from serape.search import Search
from serape.skeletons.skeleton import Skeleton
from serape.wording import setting

if TYPE_CHECKING:
    from serape.questions.query import Query


def check_has_effect(test: IndependenceTest, min_effect: float | None) -> None:
    """Refuse a smallest effect for a test that has no effect size."""
    if min_effect is not None and not test.has_effect:
        raise OptionError(
            f"{setting('min_effect', min_effect)} needs an effect size, which test {test.name!r} does not have; leave "
            f"it out, or "
            f"use another test"
        )


def without_weak(query: Query, search: Search, target: int, answer: Answer, deciding: Deciding) -> Answer:
    """Return an answer about a target without the members of weak effect, and let the search note them.

    A member stays if it is known or required, or if its deciding test has no effect size.
    """
    if query.min_effect is None:
        return answer
    deciding.settle()
    log = search.log(target)
    kept = {*query.required(target), *query.known.get(target, ())}
    weak = []
    for x in sorted({int(x) for x in (*(answer.blanket or ()), *(answer.parents_children or ()))} - kept):
        latest = log.latest(x)
        if latest is not None and latest.outcome.reliable:
            effect = query.source.effect_of(x, target, latest.given, latest.outcome)
            if effect is not None and effect.bits < query.min_effect:
                weak.append(x)
    if weak:
        names = [query.source.variables[x] for x in weak]
        search.notes.append(
            f"left out because of an effect of less than {query.min_effect:g} bits: {abbreviate(names)}"
        )
    return without_members(answer, weak)


def remove_weak_edges(query: Query, found: Skeleton) -> list[str]:
    """Remove the adjacent pairs of weak effect from a skeleton, and return a note about them.

    A pair stays if it is known or required, or if its weakest association has no effect size.
    """
    if query.min_effect is None:
        return []
    removed = []
    for pair, effect in edge_effects(query.source, found).items():
        x, y = sorted(pair)
        stays = y in query.required(x) or y in query.known.get(x, ()) or x in query.known.get(y, ())
        if effect is not None and effect.bits < query.min_effect and not stays:
            found.neighbours[x].discard(y)
            found.neighbours[y].discard(x)
            removed.append(f"{query.source.variables[x]} – {query.source.variables[y]}")
    if not removed:
        return []
    return [f"edges left out because of an effect of less than {query.min_effect:g} bits: {abbreviate(removed)}"]
