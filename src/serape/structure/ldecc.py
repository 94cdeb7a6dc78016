"""LDECC: local discovery by eager collider checks.

Gupta, Childers and Lipton, *Local causal discovery for estimating causal effects*, CLeaR 2023.

Finds which neighbours of the target are causes, which are effects, and which the data cannot tell. The tests are those
of the PC algorithm over all variables, in its order, but they end as soon as every edge of the target T has a
direction. Each time a set S separates A and B, it is checked at once what that says about T:

- *Eager collider check*: if T is not in S, and A and B depend on each other given S and T, then neither is a
  descendant of T. Nor are the members of S, which are ancestors of A or B because S is minimal. So the neighbours of T
  among A, B and S are causes. For one that is no neighbour, the members of its *minimal neighbour separator* are: of
  the smallest set of neighbours of T that separates it from T.
- If T is in S, and A and B depend on each other given S and a neighbour C of T, then C is an effect. (If it were a
  cause, T in S would have opened the same path.)
- If A and B are neighbours of T and T is in S, then T is not their common effect: if one is a cause, the other is an
  effect.

LDECC does better than MB-by-MB where colliders far away decide the edges of T, and worse where T has many undirected
neighbours whose blankets would tell more.

Sound, with one addition to the authors' code, which looks at the members of S that are neighbours of T but not at the
separators of the others. Without it, on the DAG A→B, A→T, C→B, C→T, D→A, D→B, D→C, B→T, B is left undecided, though all
equivalent DAGs have B→T. Their code asks for more of an eager check of a neighbour and another variable, which
perfect tests do not need.

See docs/papers.md: Gupta et al. 2023.
"""

from __future__ import annotations

from serape.structure.local_graph import LocalGraph, ask_one_more


def ldecc(local: LocalGraph, target: int, published: bool = False) -> None:
    """Learn the blanket of the target, then test pairs as PC does, until all its edges are directed.

    As `published`, separators of the members of S are not looked for, which is not exact.
    """
    local.expand(target)
    checks = _EagerChecks(local, target, published)
    checks.separate_marginally()
    size = 1
    while checks.separate(size):
        size += 1
    if local.undirected(target):
        checks.join()


class _EagerChecks:
    """The graph of the PC algorithm without the target's own edges, and what its separating sets say about these."""

    def __init__(self, local: LocalGraph, target: int, published: bool) -> None:
        self.local, self.target, self.search = local, target, local.search
        self.published = published
        self.near = local.expanded[target].neighbours
        others = [x for x in self.search.variables if x != target and not self.search.excludes([x])]
        self.order = sorted(others, key=lambda x: x not in self.near)
        self.adjacent: dict[int, set[int]] = {x: {target} if x in self.near else set() for x in others}
        self.separators: dict[int, tuple[int, ...] | None] = {}

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

    def join(self) -> None:
        """Add the edges between neighbours of the target: with all tests done, those that no set separates."""
        for x in sorted(self.near):
            for y in sorted(self.adjacent[x] & self.near):
                if x < y:
                    self.local.join(x, y)

    def check(self, a: int, b: int, given: tuple[int, ...]) -> None:
        """See what a set that separates two variables says about the target's edges."""
        if self.target not in given:
            self._check_collider(a, b, given)
        elif a in self.near and b in self.near:
            self.local.note_separation(a, b, given)
            for c in sorted(self.near.difference(given, (a, b)).intersection(self.local.undirected(self.target))):
                certain = ask_one_more(self.search, a, b, (*given, c))
                self.local.show(self.target, c, certain, self._text(a, b, given, c))

    def _check_collider(self, a: int, b: int, given: tuple[int, ...]) -> None:
        certain = ask_one_more(self.search, a, b, (*given, self.target))
        if certain is None:
            return
        text = self._text(a, b, given, self.target)
        causes = self.near.intersection((a, b, *given)).union(
            *(self.separator(x) or () for x in ((a, b) if self.published else (a, b, *given)) if x not in self.near)
        )
        for cause in sorted(causes):
            self.local.show(cause, self.target, certain, text)

    def separator(self, x: int) -> tuple[int, ...] | None:
        """Return the minimal neighbour separator: the smallest set of neighbours that separates x from the target."""
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
