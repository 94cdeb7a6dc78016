"""Partial ancestral graphs, which allow for hidden common causes, and the rules that orient them.

An edge has a mark at each end. X → Y: X is a cause of Y, possibly through other variables, and Y is no cause of X.
X ↔ Y: neither causes the other, so they share a hidden cause. A circle, as in X o→ Y, stands for a mark that the data
do not decide. Rules 1 to 4 and 8 to 10 of Zhang, *On the completeness of orientation rules for causal discovery in the
presence of latent confounders and selection bias*, Artificial Intelligence 172, 2008. (Rules 5 to 7 are about selected
samples.)

The graph may be known in part: `complete` are the nodes all of whose edges are known. Whether two nodes are adjacent is
known if one of them is complete. A rule that needs the edges of another node notes that it is `wanted`.

See docs/papers.md: Zhang 2008.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterator
from itertools import permutations
from typing import Literal

Mark = Literal["o", ">", "-"]
NodePair = tuple[int, int]
_SIGNS: dict[tuple[Mark, Mark], str] = {
    ("-", ">"): "→", (">", "-"): "←", (">", ">"): "↔", ("o", ">"): "o→", (">", "o"): "←o", ("o", "o"): "o–o",
    ("-", "o"): "–o", ("o", "-"): "o–", ("-", "-"): "–",
}  # fmt: skip
"""The marks at both ends of an edge, in one sign."""


class PartialAncestralGraph:
    """Nodes, edges, and the marks at their ends; `mark[x, y]` is the mark at y of the edge between x and y."""

    def __init__(self, complete: Collection[int], names: Callable[[int], str]) -> None:
        self.complete = complete
        self.mark: dict[NodePair, Mark] = {}
        self.near: dict[int, set[int]] = {}
        self.reasons: dict[NodePair, str] = {}
        """By mark that is decided, why."""
        self.conflicts: list[str] = []
        """Marks that follow but contradict others."""
        self.wanted: dict[int, None] = {}
        """Nodes whose edges a rule needs."""
        self.changed = False
        self._name = names
        self._separates: Callable[[int, int, int], bool | None] = _unknown

    def add_edge(self, x: int, y: int) -> None:
        """Add an edge with circles at both ends."""
        for a, b in ((x, y), (y, x)):
            self.mark[a, b] = "o"
            self.near.setdefault(a, set()).add(b)

    def set(self, x: int, y: int, mark: Mark, why: str) -> None:
        """Put a mark at y of the edge between x and y in place of a circle; note it if there is another mark."""
        if self.mark[x, y] == "o":
            self.mark[x, y] = mark
            self.reasons[x, y] = why
            self.changed = True
        elif self.mark[x, y] != mark:
            note = f"{'an arrowhead' if mark == '>' else 'a tail'} at {self._name(y)} of its edge to {self._name(x)}"
            if note not in self.conflicts:
                self.conflicts.append(note)

    def apart(self, x: int, y: int) -> bool:
        """Return whether two nodes are known not to be adjacent."""
        return x != y and y not in self.near.get(x, ()) and (x in self.complete or y in self.complete)

    def is_arc(self, x: int, y: int) -> bool:
        """Return whether there is an arc x → y."""
        return self.mark.get((x, y)) == ">" and self.mark[y, x] == "-"

    def edges_with_circles(self) -> list[NodePair]:
        """Return the pairs (x, y) of edges with a circle at y, sorted."""
        return sorted(pair for pair, mark in self.mark.items() if mark == "o")

    def orient(self, separates: Callable[[int, int, int], bool | None]) -> None:
        """Apply the rules until none changes a mark.

        `separates(x, z, y)` returns whether z is in the set that separates x and y, None if no set is known.
        """
        self.wanted = {}
        self._separates = separates
        rules = (self._rule_1, self._rule_2, self._rule_3, self._rule_4, self._rule_8, self._rule_9, self._rule_10)
        self.changed = True
        while self.changed:
            self.changed = False
            for x, y in self.edges_with_circles():
                for rule in rules:
                    if self.mark[x, y] == "o":
                        rule(x, y)

    def sign(self, x: int, y: int) -> str:
        """Return the marks of an edge, read from x to y."""
        return _SIGNS[self.mark[y, x], self.mark[x, y]]

    def _arrow(self, x: int, y: int) -> str:
        return f"{self._name(x)} {self.sign(x, y)} {self._name(y)}"

    # --- the rules: each may decide the mark at b of an edge a – b, which is a circle -----------------------------

    def _rule_1(self, c: int, b: int) -> None:
        """If a *→ b o–* c, and a and c are not adjacent: b → c, because b is no collider."""
        for a in sorted(self.near[b]):
            if a != c and self.mark[a, b] == ">" and self.apart(a, c) and self._separates(a, b, c):
                both = f"{self._name(a)} and {self._name(c)}"
                why = f"{self._arrow(a, b)}, and {self._name(b)} is not a common effect of {both}"
                self.set(c, b, "-", why)
                self.set(b, c, ">", why)
                return

    def _rule_2(self, a: int, c: int) -> None:
        """If a → b *→ c or a *→ b → c, and a *–o c: a *→ c."""
        for b in sorted(self.near[a] & self.near[c]):
            if self.mark[a, b] == self.mark[b, c] == ">" and (self.mark[b, a] == "-" or self.mark[c, b] == "-"):
                self.set(a, c, ">", f"{self._arrow(a, b)} and {self._arrow(b, c)}, and there is no directed cycle")
                return

    def _rule_3(self, d: int, b: int) -> None:
        """If a *→ b ←* c, a *–o d o–* c, a and c are not adjacent, and d *–o b: d *→ b."""
        both = [a for a in sorted(self.near[d] & self.near[b]) if self.mark[a, b] == ">" and self.mark[a, d] == "o"]
        for a, c in permutations(both, 2):
            if a < c and self.apart(a, c) and self._separates(a, d, c):
                why = f"{self._arrow(a, b)} and {self._arrow(c, b)}, and {self._name(d)} is adjacent to both"
                self.set(d, b, ">", why)
                return

    def _rule_4(self, c: int, b: int) -> None:
        """If a path d … a, b, c discriminates b, the set that separates d and c decides whether b is a collider."""
        for d, a in self._discriminating(b, c):
            inside = self._separates(d, b, c)
            if inside is None:
                continue
            path = f"{self._name(d)} is separated from {self._name(c)} {'by' if inside else 'without'} {self._name(b)}"
            if inside:
                self.set(c, b, "-", path)
            else:
                self.set(a, b, ">", path)
                self.set(c, b, ">", path)
            self.set(b, c, ">", path)
            return

    def _discriminating(self, b: int, c: int) -> Iterator[tuple[int, int]]:
        """Return the ends (d, a) of discriminating paths d … a, b, c; those between are colliders and parents of c."""
        for a in sorted(self.near[b] & self.near[c]):
            if self.mark[b, a] == ">" and self.is_arc(a, c):
                visited, pending = {a, b, c}, deque([a])
                while pending:
                    node = pending.popleft()
                    self._want(node)
                    for d in sorted(self.near[node] - visited):
                        if self.mark[d, node] == ">":
                            if self.apart(d, c):
                                yield d, a
                            elif self.mark[node, d] == ">" and self.is_arc(d, c):
                                visited.add(d)
                                pending.append(d)

    def _rule_8(self, c: int, a: int) -> None:
        """If a → b → c, and a o→ c: a → c."""
        if self.mark[a, c] == ">":
            for b in sorted(self.near[a] & self.near[c]):
                if self.is_arc(a, b) and self.is_arc(b, c):
                    self.set(c, a, "-", f"{self._arrow(a, b)} and {self._arrow(b, c)}")
                    return

    def _rule_9(self, c: int, a: int) -> None:
        """If a o→ c, and an uncovered, possibly directed path a, b, …, c exists with b not adjacent to c: a → c."""
        if self.mark[a, c] == ">":
            for b in sorted(self.near[a] - self.near[c] - {c}):
                if self.apart(b, c) and self._may_lead(a, b, c):
                    self.set(c, a, "-", f"otherwise a path through {self._name(b)} would have another collider")
                    return

    def _rule_10(self, c: int, a: int) -> None:
        """If a o→ c, b → c ← d, and uncovered, possibly directed paths from a to b and d begin apart: a → c."""
        if self.mark[a, c] != ">":
            return
        parents = [b for b in sorted(self.near[c]) if b != a and self.is_arc(b, c)]
        first = {b: [m for m in sorted(self.near[a]) if m != c and self._may_lead(a, m, b)] for b in parents}
        for b, d in permutations(parents, 2):
            if any(self.apart(m, w) for m in first[b] for w in first[d]):
                self.set(c, a, "-", f"{self._arrow(b, c)} and {self._arrow(d, c)}, to both of which paths may lead")
                return

    # --- paths ---------------------------------------------------------------------------------------------------

    def _possible(self, x: int, y: int) -> bool:
        """Return whether an edge may be an arc x → y."""
        return self.mark[y, x] != ">" and self.mark[x, y] != "-"

    def _may_lead(self, start: int, first: int, end: int) -> bool:
        """Return whether an uncovered, possibly directed path leads from the start by way of `first` to the end."""
        if not self._possible(start, first):
            return False
        seen = {(start, first)}
        pending = deque([(start, first, frozenset((start, first)))])
        while pending:
            before, node, path = pending.popleft()
            if node == end:
                return True
            self._want(node)
            for y in sorted(self.near[node] - path):
                if (node, y) not in seen and self._possible(node, y) and self.apart(before, y):
                    seen.add((node, y))
                    pending.append((node, y, path | {y}))
        return False

    def _want(self, node: int) -> None:
        if node not in self.complete:
            self.wanted[node] = None


def _unknown(x: int, z: int, y: int) -> bool | None:
    del x, z, y
    return None
