"""Define a new instance of GLL in ten lines; only the order of inclusion is new.

    python examples/own_instance.py

HITON includes variables by their marginal association with the target. MMPC includes them by their weakest association
given subsets of the current members. This instance uses the association given the last variable that was included.
"""

from __future__ import annotations

from collections.abc import Iterator

import serape
from serape.data.example import clinic
from serape.local.gll import GLL, Neighbourhood


def given_the_last(tpc: Neighbourhood) -> Iterator[int]:
    """Yield the variables most strongly associated with the target given the last one that was included."""
    remaining = [int(x) for x in tpc.dependents()]
    while remaining:
        last = tuple(tpc.members)[-1:]
        order = tpc.search.dependents(tpc.target, [x for x in remaining if x not in last], last)
        yield (best := order[0] if order else remaining[0])
        remaining.remove(best)


def one_step(search: serape.Search, target: int) -> serape.Answer:
    """Find the Markov blanket of the target."""
    return GLL(given_the_last).markov_blanket(search, target)


if __name__ == "__main__":
    found = serape.markov_blanket(clinic(5000), "HeartDisease", algorithm=one_step, dof="adjusted")
    print("blanket:", ", ".join(found.blanket))
    print("counterexample:", serape.check_algorithm(one_step, cases=20) or "none found")
