"""The answer of an algorithm, checked and in positions, with the members that are known."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from serape.errors import InputTypeError, OptionError, is_integer, shown
from serape.independence import position
from serape.local.answer import Answer

if TYPE_CHECKING:
    from serape.questions.query import Query


def checked_answer(query: Query, answer: Any, target: int) -> Answer:
    """Return the answer of an algorithm about a target, checked and in positions."""

    def position_of(variable: int | str) -> int:  # a number is a position and not a name
        if is_integer(variable) and 0 <= int(variable) < len(query.source.variables):
            return int(variable)
        return position(query.source, variable)

    def positions(variables: Collection[int | str] | None) -> tuple[int, ...] | None:
        if variables is None:
            return None
        found = {position_of(v) for v in variables}
        if target in found:
            raise OptionError(f"algorithm {query.algorithm.name!r} returned the target as a member of its own blanket")
        return tuple(sorted(found))

    def with_known(found: tuple[int, ...] | None, *, neighbours: bool = False) -> tuple[int, ...] | None:
        """Return the found and the known members; for `neighbours` within a blanket, only the required ones."""
        if found is None:
            return None
        return tuple(sorted({*found, *(query.required(target) if neighbours else query.kept(target))}))

    if isinstance(answer, Answer):
        if query.finds == "parents-children" and answer.parents_children is not None:
            answer = Answer(parents_children=answer.parents_children)  # what else it found was not asked for
        spouses = answer.spouses
        return Answer(
            with_known(positions(answer.blanket)),
            with_known(positions(answer.parents_children), neighbours=query.finds == "blanket"),
            None if spouses is None else {position_of(s): positions(via) or () for s, via in spouses.items()},
        )
    if not isinstance(answer, Collection) or isinstance(answer, str):
        raise InputTypeError(
            f"algorithm {query.algorithm.name!r} must return the variables it found or a serape.Answer, "
            f"not {shown(answer)}"
        )
    found = with_known(positions(answer))
    return Answer(blanket=found) if query.finds == "blanket" else Answer(parents_children=found)
