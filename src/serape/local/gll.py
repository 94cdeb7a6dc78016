"""GLL, generalised local learning: the framework that HITON and MMPC are instances of.

Aliferis, *Introduction to IAMB, GLL & LGL*, 2008; Aliferis, Statnikov, Tsamardinos, Mani and Koutsoukos, *Local causal
and Markov blanket induction for causal discovery and feature selection for classification*, JMLR 2010.

An instance is made of four strategies, each a small function of a `Neighbourhood`:

- *start* returns the variables that TPC begins with, in place of none; they may be any, and are examined like others;
- *inclusion* yields variables in the order in which they enter TPC, without those that show no association; it may
  depend on the current TPC;
- *elimination* removes from TPC the examined members that a subset of the others separates from the target;
- *interleaving* says which members to examine after an inclusion. After the last inclusion, all are examined.

An instance is admissible, and so sound with symmetry, if its inclusion yields every parent and child that TPC does not
begin with (rule 1), if its elimination removes exactly the members that a subset separates (rule 2), and if it ends
when no variable can enter and none can be removed (rule 3; the framework ensures this).

See docs/papers.md: Rodrigues de Morais and Aussem 2010, Figure 1; Aliferis 2008, GLL-PC, GLL-MB.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

from serape.local.answer import Answer
from serape.local.neighbourhood import Neighbourhood
from serape.local.spouses import blanket_around, prepare_around
from serape.search import Search, memoised

__all__ = [
    "GLL",
    "Neighbourhood",
    "after_every_inclusion",
    "at_the_end",
    "by_association",
    "by_subsets",
    "gll_pc_nonsym",
    "max_min",
    "with_nothing",
]

Inclusion = Callable[[Neighbourhood], Iterator[int]]
Elimination = Callable[[Neighbourhood, Sequence[int]], None]
Interleaving = Callable[[Neighbourhood], Sequence[int]]
FirstMembers = Callable[[Neighbourhood], Iterable[int]]


# --- inclusion ----------------------------------------------------------------------------------------------------


def by_association(tpc: Neighbourhood) -> Iterator[int]:
    """HITON's inclusion: by decreasing association with the target given nothing.

    A variable that a subset of TPC separates from the target is skipped.

    Examples
    --------
    >>> from serape.local.gll import GLL, by_association
    >>> serape.parents_children(patients, "ECG", GLL(by_association).parents_children, alpha=0.01).members
    ('HeartDisease',)
    """
    open_ = tpc.dependents()
    while (index := tpc.first_survivor(open_)) is not None:
        yield int(open_[index])
        open_ = open_[index + 1 :]


def max_min(tpc: Neighbourhood) -> Iterator[int]:
    """MMPC's inclusion: the variable whose weakest association over all subsets of TPC is the strongest.

    Examples
    --------
    >>> from serape.local.gll import GLL, max_min
    >>> serape.parents_children(patients, "ECG", GLL(max_min).parents_children, alpha=0.01).members
    ('HeartDisease',)
    """
    outside = tpc.outside()
    while (x := outside.take_strongest(tpc.members)) is not None:
        tpc.mark_exhausted(x)
        yield x


# --- elimination --------------------------------------------------------------------------------------------------


def by_subsets(tpc: Neighbourhood, examined: Sequence[int]) -> None:
    """Remove X where X ⊥ T | Z for some Z ⊆ TPC without X, one after another.

    Examples
    --------
    >>> from serape.local.gll import GLL, by_association, by_subsets
    >>> GLL(by_association) == GLL(by_association, elimination=by_subsets)
    True
    """
    tpc.eliminate(examined)


# --- interleaving -------------------------------------------------------------------------------------------------


def after_every_inclusion(tpc: Neighbourhood) -> Sequence[int]:
    """Examine all members.

    Examples
    --------
    >>> from serape.local.gll import GLL, after_every_inclusion, by_association
    >>> GLL(by_association) == GLL(by_association, interleaving=after_every_inclusion)
    True
    """
    return list(tpc.members)


def at_the_end(tpc: Neighbourhood) -> Sequence[int]:
    """Examine no member until the last inclusion.

    Examples
    --------
    >>> from serape.local.gll import GLL, at_the_end, by_association
    >>> late = GLL(by_association, interleaving=at_the_end)
    >>> serape.parents_children(patients, "ECG", late.parents_children, alpha=0.01).members
    ('HeartDisease',)
    """
    del tpc
    return ()


# --- start --------------------------------------------------------------------------------------------------------


def with_nothing(tpc: Neighbourhood) -> Iterable[int]:
    """Begin with an empty TPC.

    Examples
    --------
    >>> from serape.local.gll import GLL, by_association, with_nothing
    >>> GLL(by_association) == GLL(by_association, start=with_nothing)
    True
    """
    del tpc
    return ()


# --- the framework ------------------------------------------------------------------------------------------------


class GLL(NamedTuple):
    """One instance of the framework.

    Parameters
    ----------
    inclusion
        A function of TPC, the tentative parents and children: yields variables in the order in which they enter.
    elimination
        A function of TPC and the examined members: removes those that a subset of the others separates from the target.
    interleaving
        A function of TPC: returns the members to examine after an inclusion.
    start
        A function of TPC: returns the variables that it begins with.

    Examples
    --------
    >>> from serape.local.gll import GLL, max_min
    >>> serape.markov_blanket(patients, "ECG", GLL(inclusion=max_min).markov_blanket, alpha=0.01).blanket
    ('HeartDisease',)
    """

    inclusion: Inclusion
    elimination: Elimination = by_subsets
    interleaving: Interleaving = after_every_inclusion
    start: FirstMembers = with_nothing

    @property
    def is_hiton(self) -> bool:
        """Whether inclusions and eliminations are those of HITON, which a test may answer in one question."""
        strategies = self.inclusion is by_association and self.elimination is by_subsets
        return strategies and self.interleaving in (after_every_inclusion, at_the_end)

    def parents_children(self, search: Search, target: int, *, symmetry: bool = True) -> tuple[int, ...]:
        """GLL-PC: the members of TPC(T) whose own TPC contains the target; all of TPC(T) without symmetry."""
        tentative = gll_pc_nonsym(search, target, self)
        if not symmetry:
            return tentative
        search.prepare(gll_pc_nonsym, tentative, self)
        return tuple(x for x in tentative if target in gll_pc_nonsym(search, x, self))

    def markov_blanket(self, search: Search, target: int, *, symmetry: bool = True, published: bool = False) -> Answer:
        """GLL-MB: parents and children, and the spouses found among their neighbours."""

        def neighbours(search: Search, y: int) -> Collection[int]:
            return self.parents_children(search, y, symmetry=symmetry)

        tpc = neighbours(search, target)
        prepare_around(search, target, tpc, gll_pc_nonsym, self, symmetry=symmetry)
        return blanket_around(search, target, tpc, neighbours, published=published)


@memoised
def gll_pc_nonsym(search: Search, target: int, rules: GLL) -> tuple[int, ...]:
    """GLL-PC-nonsym: a superset of the parents and children, possibly with some descendants of children.

    Examples
    --------
    >>> from serape.local.gll import GLL, by_association, gll_pc_nonsym
    >>> oracle = serape.DSeparation(nx.DiGraph([("a", "b"), ("b", "c")]))
    >>> gll_pc_nonsym(serape.Search(oracle), 2, GLL(by_association))
    (1,)
    """
    tpc = Neighbourhood(search, target)
    tpc.begin_with(rules.start(tpc))
    if rules.is_hiton and tpc.can_ask_at_once:
        tpc.include_survivors(tpc.dependents(), examine=rules.interleaving is after_every_inclusion)
    else:
        _include_in_turn(tpc, rules)
    rules.elimination(tpc, list(tpc.members))
    return tuple(tpc.members)


def _include_in_turn(tpc: Neighbourhood, rules: GLL) -> None:
    included = set(tpc.members)
    for x in rules.inclusion(tpc):
        if int(x) not in included:  # a removed variable does not enter again (rule 2)
            included.add(int(x))
            tpc.include(int(x))
            rules.elimination(tpc, rules.interleaving(tpc))
