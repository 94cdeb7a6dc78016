"""Background knowledge about the arcs of a network."""

from __future__ import annotations

import copy
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, Self

import numpy as np

from serape.errors import InputTypeError, OptionError, either, shown, suggestion
from serape.wording import setting

NamePair = tuple[str, str]


@dataclass(frozen=True)
class Knowledge:
    """Background knowledge, by the variables' names. Arcs that are not mentioned may be present or absent.

    Parameters
    ----------
    required
        Arcs, each a pair (from, to), that are in the network.
    forbidden
        Arcs that are not; the reverse arc may be.
    tiers
        Groups of variables, from earlier to later: a variable of a later tier is never a parent of one of an earlier
        tier.
    forbidden_pairs
        Pairs that have no arc in either direction. They are not adjacent; nothing else follows from it.

    Examples
    --------
    >>> known = serape.Knowledge(required=[("Age", "HeartDisease")], tiers=[["Age"], ["HeartDisease", "ECG"]])
    >>> serape.network(patients, "pc-stable", alpha=0.01, knowledge=known).graph.has_edge("HeartDisease", "Age")
    False
    """

    required: Sequence[NamePair] = ()
    forbidden: Sequence[NamePair] = ()
    tiers: Sequence[Sequence[str]] = ()
    forbidden_pairs: Sequence[NamePair] = ()

    def __post_init__(self) -> None:
        for field in ("required", "forbidden", "forbidden_pairs"):
            object.__setattr__(self, field, _pairs(field, getattr(self, field)))
        object.__setattr__(self, "tiers", _tiers(self.tiers))
        self._check()

    def bind(self, names: Sequence[str]) -> BoundKnowledge:
        """Return the same knowledge about positions in a list of names."""
        index = {name: k for k, name in enumerate(names)}
        for field in fields(self):
            for group in getattr(self, field.name):
                for name in group:
                    if name not in index:
                        raise OptionError(
                            f"{field.name} names a variable {name!r} that the data do not have; correct or remove it."
                            f"{suggestion(name, index)}"
                        )
        return BoundKnowledge(
            required=[(index[x], index[y]) for x, y in self.required],
            forbidden=[(index[x], index[y]) for x, y in self.forbidden],
            tiers=[[index[x] for x in tier] for tier in self.tiers],
            forbidden_pairs=[(index[x], index[y]) for x, y in self.forbidden_pairs],
        )

    @classmethod
    def of(cls, knowledge: Any) -> Knowledge:
        """Return knowledge that is given as such or as a dict."""
        if isinstance(knowledge, Knowledge):
            return knowledge
        if isinstance(knowledge, Mapping):
            return cls.from_dict(knowledge)
        raise InputTypeError(
            f"{setting('knowledge')} must be {either('a serape.Knowledge or a dict', 'a JSON object')}, not "
            f"{shown(knowledge)}"
        )

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Self:
        """Return the knowledge that `to_dict` wrote."""
        known = [field.name for field in fields(cls)]
        if not isinstance(stored, Mapping):
            raise OptionError(f"knowledge must be a dict with any of {', '.join(known)}, not {shown(stored)}")
        for key in stored:
            if key not in known:
                raise OptionError(
                    f"knowledge has no {shown(key)}.{suggestion(str(key), known)} It has {', '.join(known)}."
                )
        return cls(**stored)

    def to_dict(self) -> dict[str, list[list[str]]]:
        """Return plain lists, fit for JSON."""
        return {field: [list(group) for group in groups] for field, groups in asdict(self).items()}

    def _check(self) -> None:
        """Refuse knowledge that contradicts itself."""
        tier = {name: k for k, names in enumerate(self.tiers, 1) for name in names}
        required, forbidden = set(self.required), set(self.forbidden)
        forbidden_neighbours = {frozenset(pair) for pair in self.forbidden_pairs}
        for x, y in self.required:
            arc = f"{x!r} → {y!r}"
            if (x, y) in forbidden:
                raise OptionError(f"the arc {arc} is both required and forbidden; remove it from one of the two")
            if frozenset((x, y)) in forbidden_neighbours:
                raise OptionError(f"the arc {arc} is required, but its pair is forbidden; remove one of the two")
            if (y, x) in required:
                raise OptionError(f"{arc} and {y!r} → {x!r} are both required; remove one of them")
            if x in tier and y in tier and tier[x] > tier[y]:
                raise OptionError(
                    f"the required arc {arc} goes back from tier {tier[x]} to tier {tier[y]}; "
                    "remove it, or move a variable to another tier"
                )
        if self.required:
            self._check_for_cycles()

    def _check_for_cycles(self) -> None:
        import networkx as nx

        try:
            cycle = nx.find_cycle(nx.DiGraph(self.required))
        except nx.NetworkXNoCycle:
            return
        path = " → ".join(repr(x) for x in (*(x for x, _ in cycle), cycle[0][0]))
        raise OptionError(f"the required arcs form a cycle, {path}; remove one of them")


class BoundKnowledge:
    """Knowledge about positions. Its size is that of the knowledge, not of all pairs."""

    def __init__(
        self,
        required: Iterable[tuple[int, int]] = (),
        forbidden: Iterable[tuple[int, int]] = (),
        tiers: Iterable[Iterable[int]] = (),
        forbidden_pairs: Iterable[tuple[int, int]] = (),
    ) -> None:
        self.required = frozenset(required)
        self._forbidden = frozenset(forbidden)
        self._tier = {x: k for k, tier in enumerate(tiers, 1) for x in tier}
        self._required_neighbours: dict[int, set[int]] = {}
        for x, y in self.required:
            _join(self._required_neighbours, x, y)
        self._forbidden_neighbours: dict[int, set[int]] = {}
        for x, y in forbidden_pairs:
            _join(self._forbidden_neighbours, x, y)
        for x, y in self._forbidden:
            if not self.allows(y, x):
                _join(self._forbidden_neighbours, x, y)
        self._forbidden_members: dict[int, set[int]] = {}

    def with_forbidden_members(self, pairs: Iterable[tuple[int, int]]) -> BoundKnowledge:
        """Return the same knowledge with pairs that are no members of each other's answers, and not tested."""
        extended = copy.copy(self)
        extended._forbidden_neighbours = {x: set(others) for x, others in self._forbidden_neighbours.items()}
        extended._forbidden_members = {x: set(others) for x, others in self._forbidden_members.items()}
        for x, y in pairs:
            _join(extended._forbidden_neighbours, x, y)
            _join(extended._forbidden_members, x, y)
        return extended

    def without(self, x: int) -> BoundKnowledge:
        """Return what is known about all other variables."""
        rest = copy.copy(self)
        rest.required = frozenset(arc for arc in self.required if x not in arc)
        rest._forbidden = frozenset(arc for arc in self._forbidden if x not in arc)
        rest._tier = {y: k for y, k in self._tier.items() if y != x}
        for field in ("_required_neighbours", "_forbidden_neighbours", "_forbidden_members"):
            setattr(rest, field, {y: near - {x} for y, near in getattr(self, field).items() if y != x})
        return rest

    def among(self, variables: Sequence[int]) -> BoundKnowledge:
        """Return what is known about some variables, by their indices in this list."""
        index = {x: k for k, x in enumerate(variables)}

        def inside(pairs: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
            return [(index[x], index[y]) for x, y in pairs if x in index and y in index]

        tiers: dict[int, list[int]] = {}
        for x, tier in self._tier.items():
            if x in index:
                tiers.setdefault(tier, []).append(index[x])
        return BoundKnowledge(
            inside(self.required),
            inside(self._forbidden),
            [group for _, group in sorted(tiers.items())],
            inside((x, y) for x, others in self._forbidden_neighbours.items() for y in others),
        )

    @property
    def is_empty(self) -> bool:
        """Whether nothing is known."""
        return not (self.required or self._forbidden or self._forbidden_neighbours or len(set(self._tier.values())) > 1)

    @property
    def has_forbidden_members(self) -> bool:
        """Whether some pair is not tested."""
        return bool(self._forbidden_members)

    @property
    def leaves_tests_alone(self) -> bool:
        """Whether every pair is tested, and may be separated: what else is known is used after the tests."""
        return not self.required and not self._forbidden_members

    def forbidden_pairs(self, variables: Collection[int]) -> list[tuple[int, int]]:
        """Return the pairs of some variables that cannot be adjacent, each once, in ascending order."""
        among = set(variables) if self._forbidden_neighbours else set()
        return [(x, y) for x, y in _each_once(self._forbidden_neighbours) if x in among and y in among]

    @property
    def untested_pairs(self) -> list[tuple[int, int]]:
        """The pairs of which one is a forbidden member of the other, each once, in ascending order."""
        return _each_once(self._forbidden_members)

    @property
    def forbidden_arcs(self) -> frozenset[tuple[int, int]]:
        """The arcs that are forbidden as such; others follow from tiers and pairs."""
        return self._forbidden

    def tier(self, x: int) -> int:
        """Return the number of the tier of x, 0 if it has none."""
        return self._tier.get(x, 0)

    @property
    def has_orientations(self) -> bool:
        """Whether anything is known besides forbidden pairs."""
        one_way = any(self.allows(y, x) for x, y in self._forbidden)
        return bool(self.required or one_way or len(set(self._tier.values())) > 1)

    def allows(self, x: int, y: int) -> bool:
        """Return whether the arc x → y is allowed."""
        return not (
            (x, y) in self._forbidden
            or (y, x) in self.required
            or y in self._forbidden_neighbours.get(x, ())
            or (x in self._tier and y in self._tier and self._tier[x] > self._tier[y])
        )

    def requires(self, x: int, y: int) -> bool:
        """Return whether the arc x → y is required."""
        return (x, y) in self.required

    def required_neighbours(self, x: int) -> frozenset[int]:
        """Return the variables that have a required arc from or to x."""
        return frozenset(self._required_neighbours.get(x, ()))

    def forbidden_neighbours(self, x: int) -> frozenset[int]:
        """Return the variables that cannot be adjacent to x: they are tested like others."""
        return frozenset(self._forbidden_neighbours.get(x, ()))

    def forbidden_members(self, x: int) -> frozenset[int]:
        """Return the variables that are not tested against x."""
        return frozenset(self._forbidden_members.get(x, ()))

    def forbids_pair(self, x: int, y: int) -> bool:
        """Return whether x and y cannot be adjacent."""
        return y in self._forbidden_neighbours.get(x, ())

    def direction(self, x: int, y: int) -> tuple[int, int] | None:
        """Return the only allowed arc between x and y, or None if both or neither are allowed."""
        onward, back = self.allows(x, y), self.allows(y, x)
        if onward == back:
            return None
        return (x, y) if onward else (y, x)


def _join(neighbours: dict[int, set[int]], x: int, y: int) -> None:
    neighbours.setdefault(x, set()).add(y)
    neighbours.setdefault(y, set()).add(x)


def _each_once(neighbours: Mapping[int, set[int]]) -> list[tuple[int, int]]:
    return sorted((x, y) for x, others in neighbours.items() for y in others if x < y)


def _pairs(field: str, given: Any) -> tuple[NamePair, ...]:
    pairs = _groups(given, Sequence, np.ndarray)
    if pairs is None or any(len(pair) != 2 for pair in pairs):
        raise OptionError(f'{field} must be a list of pairs of names such as [["A", "B"]], not {shown(given)}')
    for x, y in pairs:
        if x == y:
            raise OptionError(f"{field} joins {x!r} to itself; remove the pair, or name two variables")
    return tuple((x, y) for x, y in pairs)


def _tiers(given: Any) -> tuple[tuple[str, ...], ...]:
    tiers = _groups(given, Iterable)
    if tiers is None:
        raise OptionError(f'tiers must be a list of lists of names such as [["A"], ["B", "C"]], not {shown(given)}')
    tier: dict[str, int] = {}
    for k, names in enumerate(tiers, 1):
        for name in names:
            if tier.setdefault(name, k) != k:
                raise OptionError(f"{name!r} is in tier {tier[name]} and in tier {k}; keep it in one of them")
    return tiers


def _groups(given: Any, *kinds: Any) -> tuple[tuple[str, ...], ...] | None:
    """Return groups of names as tuples, or None if the value is anything else."""
    if isinstance(given, str) or not isinstance(given, Iterable):
        return None
    groups = []
    for group in given:
        if isinstance(group, str) or not isinstance(group, kinds):
            return None
        names = tuple(group)
        if not all(isinstance(name, str) for name in names):
            return None
        groups.append(names)
    return tuple(groups)
