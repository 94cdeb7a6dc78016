"""Tables that several test files share."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

Frame = pd.DataFrame


def gappy(
    random: np.random.Generator, rows: int, levels: Sequence[int], gaps: Sequence[float], kinds: int = 99
) -> Frame:
    """Draw columns partly copied from each other, each missing a share of its values, in at most so many patterns."""
    masks = [random.random(rows) for _ in range(min(kinds, len(levels)))]
    codes: list[NDArray[np.int64]] = []
    frame = {}
    for k, (count, share) in enumerate(zip(levels, gaps, strict=True)):
        own = random.integers(count, size=rows)
        if k:
            own = np.where(random.random(rows) < 0.5, codes[int(random.integers(k))] % count, own)
        codes.append(own)
        column = pd.Categorical.from_codes(own.tolist(), categories=pd.Index([f"l{v}" for v in range(count)]))
        frame[f"c{k}"] = pd.Series(column).where(masks[k % len(masks)] >= share)
    return pd.DataFrame(frame)
