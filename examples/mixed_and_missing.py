"""Mixed columns with gaps: a file as it comes, and three ways with what is missing.

    python examples/mixed_and_missing.py

Names, numbers and gaps stand side by side. Kinds are judged by column and can be overruled; gaps are an error until
something is said about them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

import serape


def houses(count: int, seed: int = 0) -> pd.DataFrame:
    """Draw houses: price follows from size and place, heating from size and age; a tenth of the ages is missing."""
    random = np.random.default_rng(seed)
    index = random.choice(["city", "village"], count)
    size = random.normal(100, 25, count) - 20 * (index == "city")
    age = random.gamma(3, 12, count)
    price = 2.2 * size + 150 * (index == "city") + random.normal(0, 30, count)
    heating = 0.08 * size + 0.05 * age + random.normal(0, 0.8, count)
    age[random.random(count) < 0.1] = np.nan
    return pd.DataFrame(
        {
            "place": index,
            "size": size,
            "age": age,
            "rooms": np.clip(np.round(size / 25 + random.normal(0, 0.5, count)), 1, 8).astype(int),
            "heating": heating,
            "price": price,
            "door": random.choice(["red", "green", "blue"], count),
        }
    )


def main() -> None:
    """Find what tells about the heating costs."""
    frame = houses(2000)
    try:
        serape.markov_blanket(frame, "heating")
    except serape.DataError as error:
        print("error:", error)

    rules: tuple[Any, ...] = ("drop", "pairwise")
    for rule in rules:
        table = serape.Table(frame, missing=rule, kinds={"rooms": "continuous"})
        found = serape.markov_blanket(table, "heating", alpha=0.01)
        print(f"\nmissing={rule!r}: {', '.join(found.blanket)} ({found.test})")
        for note in found.notes:
            print("  note:", note)

    classes = serape.discretise(serape.Table(frame, missing="drop"), "quantile", bins=3)
    print("\nin classes:", ", ".join(serape.markov_blanket(classes.table, "heating", alpha=0.01).blanket))
    print("size is cut at", [round(cut) for cut in classes.cuts["size"]])


if __name__ == "__main__":
    main()
