"""TIE*, target information equivalence: all blankets of a target.

Statnikov, Lytkin, Lemeire and Aliferis, *Algorithms for discovery of multiple Markov boundaries*, JMLR 14, 2013,
algorithm TIE*. Finds every blanket. `find` is the algorithm 𝕏 of the paper, which finds a blanket in what is left
when the variables in G are removed; `is_blanket` is the criterion ℤ, which decides whether that is a blanket of the
whole data, too. The loop is the procedure 𝕐, which generates the sets G. `find` may yield more than one set; the first
that is a blanket counts.

Complete if `find` returns a blanket whenever there is one without the variables in G, and if the criterion is right.
Take any blanket B. The loop begins with G = ∅, which does not meet B. As long as the blanket M found without G is not
B, some x in M is not in B, because no blanket contains another. The set G ∪ {x} does not meet B either and is generated
later. It has one more variable, so B is found at last.

Deviations. The paper generates the subsets of all variables of the blankets found so far (IGS-Lex and others). Here, as
in the hitting set tree of Reiter, *A theory of diagnosis from first principles*, Artificial Intelligence 32, 1987, only
sets G ∪ {x} with x in the blanket that was found without G are generated, small sets first, and a blanket that is known
and does not meet G is not searched for again. As in the paper, no set is generated that contains one without which
there is no blanket.

See docs/papers.md: Statnikov, Lytkin, Lemeire and Aliferis 2013.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator

VariableSet = frozenset[int]


def tie_star(
    find: Callable[[VariableSet], Iterable[VariableSet]],
    is_blanket: Callable[[VariableSet, VariableSet], bool],
    kept: Collection[int] = (),
    poll: Callable[[], None] = lambda: None,
) -> Iterator[VariableSet]:
    """Yield every blanket; the first is that of the whole data. Those in `kept` are members of all.

    `is_blanket` receives a set and the variables G without which it was found; `poll` is called for every G.
    """
    nothing: VariableSet = frozenset()
    blankets = [next(iter(find(nothing)))]
    yield blankets[0]
    no_blanket: list[VariableSet] = []
    generated, remaining = {nothing}, deque([nothing])
    while remaining:
        poll()
        removed = remaining.popleft()
        if any(some <= removed for some in no_blanket):
            continue
        blanket = next((known for known in blankets if not known & removed), None)
        if blanket is None:
            blanket = next((found for found in find(removed) if is_blanket(found, removed)), None)
            if blanket is None:
                no_blanket.append(removed)
                continue
            blankets.append(blanket)
            yield blanket
        for x in sorted(blanket.difference(kept)):
            if (larger := removed | {x}) not in generated:
                generated.add(larger)
                remaining.append(larger)
