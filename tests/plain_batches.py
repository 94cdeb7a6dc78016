"""Tables for batches of tests, and what it means that two answers are the same."""

import numpy as np
from hypothesis import strategies as st

import serape
from plain import random_table
from serape.independence import G2, X2
from serape.independence.screens import ScreenResult

TESTS = {"g2": G2, "x2": X2}
RULES = st.fixed_dictionaries(
    {"dof": st.sampled_from(["full", "adjusted"]), "reliability": st.sampled_from(["dof", "cells", None])}
)


def bits(screen: ScreenResult) -> tuple[bytes, bytes, bytes]:
    return screen.statistic.tobytes(), screen.dof.tobytes(), screen.reliable.tobytes()


def same(native: ScreenResult, plain: ScreenResult) -> None:
    assert native.reliable.tolist() == plain.reliable.tolist()
    ok = native.reliable
    np.testing.assert_allclose(native.statistic[ok], plain.statistic[ok], rtol=1e-9, atol=1e-8)
    np.testing.assert_array_equal(native.dof[ok], plain.dof[ok])
    finite = ok & np.isfinite(plain.log_p)
    np.testing.assert_allclose(native.log_p[finite], plain.log_p[finite], rtol=1e-7, atol=1e-6)  # log p ≈ √G² near 1
    assert np.isnan(native.statistic[~ok]).all()
    assert np.isnan(native.log_p[~ok]).all()


def mixed_table(seed: int, rows: int, columns: int) -> serape.Table:
    random = np.random.default_rng(seed)
    levels = random.choice(
        [1, 2, 2, 2, 3, 4, 8, 9, 12, 300], columns, p=[0.03, 0.3, 0.2, 0.1, 0.12, 0.1, 0.05, 0.05, 0.03, 0.02]
    )
    return random_table(random, rows, levels.tolist())
