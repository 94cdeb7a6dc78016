"""What is known beforehand: knowledge, known members and forbidden members, checked against each other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from serape.data.notes import kind_in_use
from serape.data.table import Table
from serape.errors import DataError, OptionError, abbreviate, first_few
from serape.independence import IndependenceTest, position, table_of
from serape.knowledge import BoundKnowledge, Knowledge
from serape.settings import SearchSettings
from serape.types import Variables
from serape.wording import setting

MembersOf = dict[int, frozenset[int]]
"""Members of the answer, by target."""


class Constraints(NamedTuple):
    """Constraints on the answers for some targets, in positions."""

    knowledge: BoundKnowledge | None
    known: MembersOf
    named: dict[str, Any]
    """The constraints as settings, with names of variables."""


def resolve_constraints(
    source: IndependenceTest, asked: SearchSettings, targets: Sequence[int], *, adjacent: bool, symmetric: bool = False
) -> Constraints:
    """Return the constraints for these targets; refuse those that contradict each other.

    `adjacent` says that members are adjacent to their target; those of a blanket need not be. If `symmetric`, x is a
    known member of y wherever y is one of x.
    """
    known, forbidden = (_members(source, given, targets) for given in (asked.known_members, asked.forbidden_members))
    for members in known.values():
        refuse_identifiers(table_of(source), "the known member", members)
    if symmetric:
        for target, members in list(known.items()):
            for x in members:
                known[x] = known.get(x, frozenset()) | {target}
    knowledge = None if asked.knowledge is None else Knowledge.of(asked.knowledge)
    bound = BoundKnowledge() if knowledge is None else knowledge.bind(source.variables)
    bound = _with_forbidden(bound, known, forbidden, source.variables)
    _check_known(bound, known, source.variables, adjacent=adjacent)
    named = {
        "knowledge": None if knowledge is None else knowledge.to_dict(),
        "known_members": _named(source, asked.known_members),
        "forbidden_members": _named(source, asked.forbidden_members),
    }
    return Constraints(
        None if bound.is_empty else bound, known, {name: value for name, value in named.items() if value}
    )


def left_out_notes(knowledge: BoundKnowledge | None, names: Sequence[str], target: int | None = None) -> list[str]:
    """Return a note that names the forbidden members, of a target or of all variables; none if there are none."""
    if knowledge is None:
        return []
    if target is None:
        pairs = [f"{names[x]} – {names[y]}" for x, y in knowledge.untested_pairs]
        return [f"forbidden members are not tested, and no edge joins them: {first_few(pairs)}"] if pairs else []
    members = [names[x] for x in sorted(knowledge.forbidden_members(target))]
    return [f"forbidden members are not tested, and not in the answer: {abbreviate(members)}"] if members else []


def refuse_identifiers(table: Table | None, what: str, variables: Iterable[int]) -> None:
    """Refuse identifiers, which take part in no search."""
    if table is None:
        return
    for k in sorted(table.identifiers.intersection(variables)):
        variable = table.variables[table.names[k]]
        raise DataError(
            f"{what} {variable.name!r} is an identifier ({variable.reason}); to use it, pass {kind_in_use(variable)}"
        )


def _with_forbidden(
    bound: BoundKnowledge, known: MembersOf, forbidden: MembersOf, names: Sequence[str]
) -> BoundKnowledge:
    """Return knowledge with the forbidden members of targets, which are not tested against them."""
    for target, members in forbidden.items():
        if both := sorted(members & known.get(target, frozenset())):
            raise OptionError(
                f"{names[both[0]]!r} is both known and forbidden; remove it from {setting('known_members')} "
                f"or from {setting('forbidden_members')}"
            )
        for x in sorted(bound.required_neighbours(target) & members):
            raise OptionError(
                f"{names[x]!r} is a forbidden member, but knowledge requires an arc between it and {names[target]!r}; "
                f"remove one of the two"
            )
    pairs = [(target, x) for target, members in forbidden.items() for x in members]
    return bound.with_forbidden_members(pairs) if pairs else bound


def _check_known(bound: BoundKnowledge, known: MembersOf, names: Sequence[str], *, adjacent: bool) -> None:
    """Refuse known members that knowledge forbids. It may forbid that the target and a spouse are adjacent."""
    for target, members in known.items():
        forbidden = bound.forbidden_neighbours(target) if adjacent else bound.forbidden_members(target)
        for x in sorted(members & forbidden):
            untested = x in bound.forbidden_members(target)
            why = (
                f"it is forbidden with {names[target]!r}"
                if untested
                else (f"knowledge forbids it to be adjacent to {names[target]!r}")
            )
            raise OptionError(f"{names[x]!r} is a known member, but {why}; remove one of the two")


def _members(source: IndependenceTest, given: Variables, targets: Sequence[int]) -> MembersOf:
    """Return members by target; a list holds for every target but those in it."""
    if isinstance(given, Mapping):
        by_target = {position(source, t): _positions(source, group) for t, group in given.items()}
    else:
        group = _positions(source, given)
        several = len(targets) > 1
        by_target = {t: group - {t} if several else group for t in targets} if group else {}
    for target, members in by_target.items():
        if target in members:
            raise OptionError(
                f"the target {source.variables[target]!r} is no member of its own blanket; remove it from "
                f"{setting('known_members')} and {setting('forbidden_members')}"
            )
    return {target: members for target, members in by_target.items() if members}


def _positions(source: IndependenceTest, variables: Iterable[str | int]) -> frozenset[int]:
    return frozenset(position(source, variable) for variable in variables)


def _named(source: IndependenceTest, given: Variables) -> dict[str, list[str]] | list[str]:
    names = source.variables

    def listed(group: Iterable[str | int]) -> list[str]:
        return [names[x] for x in sorted(position(source, variable) for variable in group)]

    if isinstance(given, Mapping):
        return {names[position(source, target)]: listed(group) for target, group in given.items()}
    return listed(given)
