"""What was known of a variable before a search, as far as an explanation must tell it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from serape.knowledge import Knowledge

if TYPE_CHECKING:
    from serape.results.result import Result

Known = Literal["forbidden member", "known member", "required", "apart", ""]

WORDS: Mapping[Known, str] = {
    "forbidden member": "it is a forbidden member",
    "known member": "it is a known member",
    "required": "knowledge requires an arc between the two",
    "apart": "knowledge forbids that the two are adjacent",
}


def known_beforehand(variable: str, result: Result, names: Sequence[str]) -> Known:
    """Return what was known of a variable and the target; an empty text if nothing was."""
    target, options = result.target, result.options
    forbidden = options.get("forbidden_members", ())
    if _names(variable, target, forbidden) or _names(target, variable, forbidden):
        return "forbidden member"
    if _names(variable, target, options.get("known_members", ())):
        return "known member"
    given = options.get("knowledge")
    if given is None:
        return ""
    known, x, t = Knowledge.of(given).bind(names), names.index(variable), names.index(target)
    if x in known.required_neighbours(t):
        return "required"
    return "apart" if known.forbids_pair(x, t) else ""


def _names(variable: str, target: str, given: Any) -> bool:
    """Return whether members, given as a list for every target or by target, name a variable for a target."""
    return variable in (given.get(target, ()) if isinstance(given, Mapping) else given)
