"""Write your own algorithm: a function of a search and a target.

    python examples/own_algorithm.py

`forward` adds dependent candidates given the current blanket, and stops: the first half of IAMB. `forward_backward`
then removes members that are independent given the others. Both find the true blanket in the example data. Only one of
them is right on every graph, and the checker shows which.
"""

from __future__ import annotations

import serape
from serape.data.example import clinic


def forward(search: serape.Search, target: int) -> list[int]:
    """Add the strongest candidate given the current blanket, as long as one is dependent."""
    blanket: list[int] = []
    while (x := search.strongest(target, search.candidates(target, *blanket), tuple(blanket))) is not None:
        blanket.append(x)
    return blanket


def forward_backward(search: serape.Search, target: int) -> list[int]:
    """Run `forward`, then remove the members that are independent given all others."""
    blanket = forward(search, target)
    for x in list(blanket):
        if search.independent(x, target, tuple(z for z in blanket if z != x)):
            blanket.remove(x)
    return blanket


def main() -> None:
    """Run both algorithms, and check both."""
    patients = serape.Table(clinic(5000))
    for algorithm in (forward, forward_backward):
        found = serape.markov_blanket(patients, "HeartDisease", algorithm=algorithm, alpha=0.01)
        print(f"{found.algorithm}: {', '.join(found.blanket)}")
        print(serape.check_algorithm(algorithm, cases=50) or "no counterexample was found", end="\n\n")


if __name__ == "__main__":
    main()
