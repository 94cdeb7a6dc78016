"""A new instance of GLL in ten lines: which variables to include first is all that is new.

    python examples/own_instance.py

HITON includes variables by their association with the target alone, MMPC by their weakest association given subsets of
what is in. This one looks one step ahead only: by the association given the variable that was included last.
"""

from __future__ import annotations

from collections.abc import Iterator

import serape
from serape.data.example import clinic
from serape.local.gll import GLL, Neighbourhood


def given_the_last(near: Neighbourhood) -> Iterator[int]:
    """Yield the variables most strongly associated with the target given the last one that was included."""
    open_ = [int(x) for x in near.dependents()]
    while open_:
        last = tuple(near.members)[-1:]
        order = near.search.dependents(near.target, [x for x in open_ if x not in last], last)
        yield (best := order[0] if order else open_[0])
        open_.remove(best)


def one_step(search: serape.Search, target: int) -> serape.Answer:
    """Find the Markov blanket of the target."""
    return GLL(given_the_last).markov_blanket(search, target)


if __name__ == "__main__":
    found = serape.markov_blanket(clinic(5000), "HeartDisease", algorithm=one_step, dof="adjusted")
    print("blanket:", ", ".join(found.blanket))
    print("errs on:", serape.check_algorithm(one_step, cases=20) or "no graph that was tried")
