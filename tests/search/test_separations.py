"""The store of separating sets."""

from __future__ import annotations

import numpy as np

from serape.search.separations import Separations


def test_the_first_separation_counts_however_it_was_found() -> None:
    for many in (3, 500):
        store = Separations()
        store.add_batch(np.arange(1, many, dtype=np.uint32), 0, None, [()])
        store.add(2, 0, (7, 8))
        store.add_batch(np.arange(2, many, dtype=np.uint32), 0, None, [(9,)])
        assert store.get(0, 2) == store.get(2, 0) == ()
        store.add(0, 600, (1,))
        store.add_batch(np.arange(0, many, dtype=np.uint32), 600, None, [()])
        assert store.get(600, 0) == (1,)
        assert store.get(600, 601) is None
