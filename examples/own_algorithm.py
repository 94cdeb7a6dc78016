"""An algorithm of one's own: a function of a search and a target.

    python examples/own_algorithm.py

`forward` adds whatever is dependent given what it has, and stops: half of IAMB. `both_ways` then drops what has become
superfluous. Both find the right blanket in the patients; only one of them is right on every graph, and the checker says
which.
"""

from __future__ import annotations

import serape
from serape.data.example import clinic


def forward(search: serape.Search, target: int) -> list[int]:
    """Add the strongest given those that are in, as long as one is dependent."""
    blanket: list[int] = []
    while (x := search.strongest(target, search.candidates(target, *blanket), tuple(blanket))) is not None:
        blanket.append(x)
    return blanket


def both_ways(search: serape.Search, target: int) -> list[int]:
    """The same, and then drop those that tell nothing given all others."""
    blanket = forward(search, target)
    for x in list(blanket):
        if search.independent(x, target, tuple(z for z in blanket if z != x)):
            blanket.remove(x)
    return blanket


def main() -> None:
    """Use both, and put both to the proof."""
    patients = serape.Table(clinic(5000))
    for algorithm in (forward, both_ways):
        found = serape.markov_blanket(patients, "HeartDisease", algorithm=algorithm, alpha=0.01)
        print(f"{found.algorithm}: {', '.join(found.blanket)}")
        print(serape.check_algorithm(algorithm, cases=50) or "no graph was found on which it errs", end="\n\n")


if __name__ == "__main__":
    main()
