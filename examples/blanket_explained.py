"""Find a blanket, and explain why each column is in it or not.

    python examples/blanket_explained.py

The patients are generated, so the truth is known. `Anxiety` does not affect the heart, but both cause chest pain.
`Weight` affects the heart only through blood pressure.
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
        print(f"\n{name} on its own: p = {alone.p:.2g}")
        print(found.explain(name))
    accuracy = serape.compare(found, clinic_graph())
    print(f"\nprecision {accuracy.precision:.2f}, recall {accuracy.recall:.2f}")
    print("missed:", ", ".join(accuracy.missed) or "none")


if __name__ == "__main__":
    main()
