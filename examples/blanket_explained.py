"""A blanket, and why each column is in it or not.

    python examples/blanket_explained.py

The patients are imaginary, and how they come about is known: `Anxiety` has nothing to do with the heart, but both cause
chest pain. `Weight` does, through blood pressure, and through nothing else.
"""

from __future__ import annotations

import serape
from serape.data.example import clinic, clinic_graph


def main() -> None:
    """Find the blanket, explain two columns, and compare with the truth."""
    patients = serape.Table(clinic(rows=5000))
    found = serape.markov_blanket(patients, "HeartDisease", algorithm="hiton-mb", alpha=0.01)
    print("blanket:", ", ".join(found.blanket))
    print("spouses:", found.spouses)
    for name in ("Anxiety", "Weight"):
        alone = serape.ci_test(patients, name, "HeartDisease")
        print(f"\n{name} alone: p = {alone.p:.2g}")
        print(found.explain(name))
    near = serape.compare(found, clinic_graph())
    print(f"\nprecision {near.precision:.2f}, recall {near.recall:.2f}; missed: {', '.join(near.missed) or 'nobody'}")


if __name__ == "__main__":
    main()
