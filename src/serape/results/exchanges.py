"""Blankets beside each other: what can be exchanged between them, and the trials that decided."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

from serape.errors import first_few
from serape.independence.effects import size_text
from serape.independence.outcomes import p_text
from serape.results.saved import bits, log_p, number, texts

Verdict = Literal["blanket", "told apart", "undecided"]
Names = tuple[str, ...]
_MAX_TOGETHER = 20


@dataclass(frozen=True)
class Trial:
    """A set that was found in place of a blanket, without some variables, and the test that decided on it."""

    removed: Names
    """The variables that the search did without."""
    members: Names
    """The set that it found."""
    verdict: Verdict
    """Whether it is a blanket, is told apart from the first blanket by a test, or cannot be judged: a test that would
    tell is not reliable."""
    variable: str
    """The variable of the deciding test, given the set: the most strongly associated of the removed variables and the
    members of the first blanket, or one whose test is not reliable."""
    statistic: float | None
    """None, like the numbers below, if the test is not reliable; 0 if the set determines the variable."""
    dof: float | None
    log_p: float | None
    effect: float | None
    """In bits; None if the test has no effect size."""

    def to_dict(self) -> dict[str, Any]:
        """Return plain lists, text and numbers."""
        return {**asdict(self), "removed": list(self.removed), "members": list(self.members)}

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Trial:
        """Return the trial that `to_dict` wrote."""
        if stored["verdict"] not in get_args(Verdict):
            raise ValueError("an unknown verdict")
        return cls(
            removed=texts(stored["removed"]),
            members=texts(stored["members"]),
            verdict=stored["verdict"],
            variable=str(stored["variable"]),
            statistic=None if stored["statistic"] is None else number(stored["statistic"]),
            dof=None if stored["dof"] is None else number(stored["dof"], 0),
            log_p=None if stored["log_p"] is None else log_p(stored["log_p"]),
            effect=None if stored["effect"] is None else bits(stored["effect"]),
        )

    @property
    def evidence(self) -> str:
        """The deciding test, in words."""
        if self.log_p is None:
            return f"no test of {self.variable} given this set is reliable"
        if self.dof == 0:
            return f"the set determines {self.variable}"
        size = "" if self.effect is None else f", {size_text(self.effect)} bits"
        return f"{self.variable} given this set: p = {p_text(self.log_p)}{size}"


@dataclass(frozen=True)
class Exchange:
    """Members of a blanket, and what stands for them in another that is the same otherwise."""

    leaving: Names
    entering: Names

    def __str__(self) -> str:
        together = " together" if len(self.leaving) > 1 else ""
        return f"{first_few(self.leaving)}{together} by {' with '.join(self.entering) or 'nothing'}"


def exchanges(blankets: Sequence[Names]) -> tuple[Exchange, ...]:
    """Return the smallest differences between blankets.

    For a member that can be replaced alone, they are all sets that stand for it in some blanket, and that contain no
    other such set. For one that can be replaced only together with others, they are the smallest differences, 20 at
    most, between the first blanket that has it and others.
    """
    names = list(dict.fromkeys(name for blanket in blankets for name in blanket))
    index = {name: 1 << k for k, name in enumerate(names)}
    sets = [sum(index[name] for name in blanket) for blanket in blankets]
    alone: dict[int, dict[int, None]] = {}
    for one in sets:
        for other in sets:
            leaving = one & ~other
            if leaving and not leaving & (leaving - 1):
                alone.setdefault(leaving, {})[other & ~one] = None
    found = [(x, entering) for x, each in alone.items() for entering in _smallest([(0, more) for more in each])]
    pairs = [(x, entering[1]) for x, entering in found]
    for one in sets:
        together = [name for name in names if index[name] & one and index[name] not in alone]
        first = [name for name in together if one == next(own for own in sets if own & index[name])]
        inside = sum(index[name] for name in first)
        pairs += _smallest([(one & ~other, other & ~one) for other in sets if one & ~other & inside], _MAX_TOGETHER)

    def named(bits_: int) -> Names:
        return tuple(name for name in names if index[name] & bits_)

    return tuple(Exchange(named(leaving), named(entering)) for leaving, entering in dict.fromkeys(pairs))


def _smallest(pairs: Sequence[tuple[int, int]], max_count: int | None = None) -> list[tuple[int, int]]:
    """Return the pairs of sets that do not contain another pair, the smallest first."""
    found: list[tuple[int, int]] = []
    for leaving, entering in sorted(dict.fromkeys(pairs), key=lambda pair: pair[0].bit_count() + pair[1].bit_count()):
        if not any(not (less & ~leaving) and not (more & ~entering) for less, more in found):
            found.append((leaving, entering))
            if len(found) == max_count:
                break
    return found
