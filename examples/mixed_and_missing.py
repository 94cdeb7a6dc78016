"""Analyse mixed columns with missing values in three ways.

    python examples/mixed_and_missing.py

The data contain text, numbers and missing values. serape detects the kind of each column, and `kinds` overrides it.
Missing values are an error until you choose a rule.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

import serape


def houses(count: int, seed: int = 0) -> pd.DataFrame:
    """Generate houses: price depends on size and place, heating on size and age; a tenth of the ages is missing."""
    random = np.random.default_rng(seed)
    place = random.choice(["city", "village"], count)
    size = random.normal(100, 25, count) - 20 * (place == "city")
    age = random.gamma(3, 12, count)
    price = 2.2 * size + 150 * (place == "city") + random.normal(0, 30, count)
    heating = 0.08 * size + 0.05 * age + random.normal(0, 0.8, count)
    age[random.random(count) < 0.1] = np.nan
    return pd.DataFrame(
        {
            "place": place,
            "size": size,
            "age": age,
            "rooms": np.clip(np.round(size / 25 + random.normal(0, 0.5, count)), 1, 8).astype(int),
            "heating": heating,
            "price": price,
            "door": random.choice(["red", "green", "blue"], count),
        }
    )


def main() -> None:
    """Find the blanket of the heating costs."""
    frame = houses(2000)
    try:
        serape.markov_blanket(frame, "heating")
    except serape.DataError as error:
        print("error:", error)

    rules: tuple[Any, ...] = ("drop", "pairwise")
    for rule in rules:
        found = serape.markov_blanket(frame, "heating", alpha=0.01, missing=rule, kinds={"rooms": "continuous"})
        print(f"\nmissing={rule!r}: {', '.join(found.blanket)} ({found.test})")
        for note in found.notes:
            print("  note:", note)

    classes = serape.discretise(serape.Table(frame, missing="drop"), "quantile", bins=3)
    print("\ndiscretised:", ", ".join(serape.markov_blanket(classes.table, "heating", alpha=0.01).blanket))
    print("size is cut at", [round(cut) for cut in classes.cuts["size"]])


if __name__ == "__main__":
    main()
