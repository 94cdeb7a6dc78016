"""LDECC: local discovery by eager collider checks.

Gupta, Childers and Lipton, *Local causal discovery for estimating causal effects*, CLeaR 2023.

Finds which neighbours of the target are causes, which are effects, and which the data cannot tell. The tests are those
of the PC algorithm over all variables, in its order, but they end as soon as every edge of the target T has a
direction. Each time a set S separates A and B, it is checked at once what that says about T:

- *Eager collider check*: if T is not in S, and A and B depend on each other given S and T, then neither is a
  descendant of T. So those of them that are neighbours of T are causes. For one that is none, the members of its
  *minimal neighbour separator* are: of the smallest set of neighbours of T that separates it from T.
- If T is in S, and A and B depend on each other given S and a neighbour C of T, then C is an effect. (If it were a
  cause, T in S would have opened the same path.)
- If A and B are neighbours of T and T is in S, then T is not their common effect: if one is a cause, the other is an
  effect.

On data, an eager check is wrong where A and B are not separated and a test does not see it. Therefore not every check
is believed. If A and B are neighbours of T, it is, and the neighbours of T in S are causes too. If A alone is one, the
separator of B must have at least two members, A among them. If neither is, their separators must be the same
(`equal_separators`): an option of the authors' code, which is the rule here because it makes fewer mistakes.

LDECC does better than MB-by-MB where colliders far away decide the edges of T, and worse where T has many undirected
neighbours whose blankets would tell more.

Sound, with one addition to the authors' code: if A and B are neighbours of T and all tests leave edges undirected, the
members of S are asked for their separators too. (They are ancestors of A or B because S is minimal, so they are no
descendants of T either.) Without it, on the DAG A→B, A→T, C→B, C→T, D→A, D→B, D→C, B→T, B is left undecided, though all
equivalent DAGs have B→T. That fewer checks are believed loses nothing with perfect tests, as far as is known: it is
checked on random DAGs, not proven.

With `published`, there is no such addition, Meek's rules use no edges between neighbours of T, and of contradictions,
an effect is one whatever else is found; here the most certain test decides. What remains different from the authors'
code: any algorithm finds the blanket and the neighbours; a member of the blanket that is no neighbour shows effects by
one separator in place of all; the tests of one variable at one size use the neighbours that it has before them.

See docs/papers.md: Gupta et al. 2023.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from serape.structure.local_graph import LocalGraph, ask_one_more


def ldecc(local: LocalGraph, target: int, published: bool = False, equal_separators: bool | None = None) -> None:
    """Learn the blanket of the target, then test pairs as PC does, until all its edges are directed.

    As `published`, which is not exact, separators need not be equal unless that is asked for.
    """
    local.expand(target)
    checks = _EagerChecks(local, target, published, not published if equal_separators is None else equal_separators)
    checks.show_effects_of_blanket()
    checks.separate_marginally()
    size = 1
    while checks.separate(size):
        size += 1
    if not published:
        checks.ask_separating_sets()
        checks.join()


class _EagerChecks:
    """The graph of the PC algorithm without the target's own edges, and what its separating sets say about these."""

    def __init__(self, local: LocalGraph, target: int, published: bool, equal_separators: bool) -> None:
        self.local, self.target, self.search = local, target, local.search
        self.published, self.equal_separators = published, equal_separators
        self.near = local.expanded[target].neighbours
        others = [x for x in self.search.variables if x != target and not self.search.excludes([x])]
        self.order = sorted(others, key=lambda x: x not in self.near)
        self.adjacent: dict[int, set[int]] = {x: {target} if x in self.near else set() for x in others}
        self.separators: dict[int, tuple[int, ...] | None] = {}
        self.not_common_effect: list[tuple[int, int]] = []
        """As published, pairs of neighbours that the target, given with others, separates."""
        self.colliders: list[tuple[tuple[int, ...], float, str]] = []
        """What separates neighbours of which the target is a common descendant, how certain this is, and why."""

    def show_effects_of_blanket(self) -> None:
        """Show the effects that the blanket shows again, as published whatever else is found."""
        for (x, effect), (certain, text) in list(self.local.shown.items()):
            if x == self.target:
                self._show_effect(effect, certain, text)

    def separate_marginally(self) -> None:
        """Test all pairs given nothing, each once; those that are dependent are adjacent so far.

        A pair whose test is unreliable is not adjacent, as by `pc-stable`.
        """
        for k, x in enumerate(self.order):
            if not self.local.undirected(self.target):
                return
            dependent, independent = self.search.partition(x, self.search.admissible(x, self.order[k + 1 :]))
            for y in dependent.xs.tolist():
                self.adjacent[x].add(y)
                self.adjacent[y].add(x)
            for y in independent.tolist():
                self.check(x, y, ())

    def separate(self, size: int) -> bool:
        """Separate pairs by sets of one size; return whether some variable has neighbours for larger sets."""
        goes_on = False
        for x in self.order:
            if not self.local.undirected(self.target):
                return False
            pool = sorted(self.adjacent[x], key=lambda y: (y != self.target, y))
            if len(pool) <= size:
                continue
            goes_on = True
            asked = [y for y in pool if y != self.target]
            found = self.search.separate(asked, x, pool, range(size, size + 1))
            for y, given in found.separations(self.search.log_alpha):
                self.adjacent[x].discard(y)
                self.adjacent[y].discard(x)
                self.check(x, y, given)
        return goes_on

    def ask_separating_sets(self) -> None:
        """Show the causes that the members of the sets that separate two causes have as separators."""
        for given, certain, text in self.colliders:
            if self.local.undirected(self.target):
                for z in given:
                    self._show_causes(self.separator(z) or (), certain, text)

    def join(self) -> None:
        """Add the edges between neighbours of the target: with all tests done, those that no set separates."""
        if self.local.undirected(self.target):
            for x in sorted(self.near):
                for y in sorted(self.adjacent[x] & self.near):
                    if x < y:
                        self.local.join(x, y)

    def check(self, a: int, b: int, given: tuple[int, ...]) -> None:
        """See what a set that separates two variables says about the target's edges."""
        if self.target not in given:
            self._check_collider(a, b, given)
        elif a in self.near and b in self.near:
            if self.published:
                self.not_common_effect += [(a, b), (b, a)]
            else:
                self.local.note_separation(a, b, given)
            for c in sorted(self.near.difference(given, (a, b)).intersection(self.local.undirected(self.target))):
                certain = ask_one_more(self.search, a, b, (*given, c))
                self._show_effect(c, certain, self._text(a, b, given, c))
        self._show_others_of_causes()

    def _check_collider(self, a: int, b: int, given: tuple[int, ...]) -> None:
        certain = ask_one_more(self.search, a, b, (*given, self.target))
        if certain is None:
            return
        text = self._text(a, b, given, self.target)
        if a in self.near and b in self.near:
            self._show_causes(self.near.intersection((a, b, *given)), certain, text)
            self.colliders.append((given, certain, text))
            return
        of_a, of_b = self.separator(a), self.separator(b)
        if of_a is None or of_b is None:
            return
        if a in self.near or b in self.near:
            believed = (len(of_a) > 1 and b in of_a) or (len(of_b) > 1 and a in of_b)
        else:
            believed = not self.equal_separators or of_a == of_b
        if believed:
            self._show_causes({*of_a, *of_b}, certain, text)

    def _show_causes(self, causes: Iterable[int], certain: float, text: str) -> None:
        for cause in sorted(causes):
            self.local.show(cause, self.target, certain, text)

    def _show_effect(self, effect: int, certain: float | None, text: str) -> None:
        """Show an effect; as published, whatever shows that it is a cause."""
        certain = math.inf if self.published and certain is not None else certain
        self.local.show(self.target, effect, certain, text)

    def _show_others_of_causes(self) -> None:
        """As published, show that a neighbour is an effect if the target is no common effect of it and of a cause."""
        names, t = self.local.names, self.target
        for a, b in self.not_common_effect:
            if (a, t) in self.local.shown:
                text = f"{names[a]} → {names[t]}, and {names[t]} is not a common effect of {names[a]} and {names[b]}"
                self._show_effect(b, math.inf, text)

    def separator(self, x: int) -> tuple[int, ...] | None:
        """Return the minimal neighbour separator: the smallest set of neighbours that separates x from the target.

        That of a neighbour is the neighbour.
        """
        if x in self.near:
            return (x,)
        if x not in self.separators:
            found = self.search.separate([x], self.target, sorted(self.near))
            self.separators[x] = next((given for _, given in found.separations(self.search.log_alpha)), None)
        return self.separators[x]

    def _text(self, a: int, b: int, given: tuple[int, ...], c: int) -> str:
        names = self.local.names
        alone = f"given {', '.join(names[z] for z in given)}" if given else "given nothing"
        return (
            f"{names[a]} and {names[b]} are independent {alone}, but not given "
            f"{', '.join(names[z] for z in (*given, c))}"
        )
