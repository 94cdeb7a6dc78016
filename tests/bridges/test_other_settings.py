"""The settings that docs/coming-from.md gives for other packages: the same p-values and the same skeletons."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import serape

pytestmark = pytest.mark.filterwarnings("ignore")  # of the other packages

AS_PGMPY: dict[str, Any] = {
    "alpha": 0.01, "test": "x2", "dof": "adjusted", "reliability": None, "max_conditioning": 5,
}  # fmt: skip
AS_CAUSAL_LEARN: dict[str, Any] = {
    "alpha": 0.05, "test": "g2", "dof": "adjusted", "reliability": None, "max_conditioning": None,
}  # fmt: skip
CHILD = serape.load_network("child").sample(1000, seed=1)
CODES = np.stack([CHILD.codes(k) for k in range(len(CHILD.names))], axis=1)


def questions(min_levels: int) -> list[tuple[int, int, tuple[int, ...]]]:
    columns = [k for k in range(len(CHILD.names)) if CHILD.levels(k) >= min_levels]
    random = np.random.default_rng(0)
    drawn = [random.permutation(columns)[: 2 + k % 3].tolist() for k in range(60)]
    return [(x, y, tuple(z)) for x, y, *z in drawn]


@pytest.mark.parametrize(("theirs", "ours"), [("gsq", "g2"), ("chisq", "x2")])
def test_causal_learn_has_the_same_p_values(theirs: str, ours: str) -> None:
    cit = pytest.importorskip("causallearn.utils.cit").CIT(CODES, theirs)
    for x, y, z in questions(2):
        found = serape.ci_test(CHILD, x, y, z, test=ours, dof="adjusted", reliability=None)
        if found.dof:
            assert cit(x, y, list(z)) == pytest.approx(found.p, rel=1e-9)
        else:
            assert (cit(x, y, list(z)), found.reliable) == (1, False)


def test_causal_learn_has_the_same_skeleton() -> None:
    pc = pytest.importorskip("causallearn.search.ConstraintBased.PC").pc
    marks = pc(CODES, 0.05, "gsq", show_progress=False).G.graph
    adjacent = {frozenset((CHILD.names[a], CHILD.names[b])) for a, b in zip(*np.nonzero(marks), strict=True)}
    found = serape.skeleton(CHILD, "pc-stable", **AS_CAUSAL_LEARN)
    assert adjacent == set(map(frozenset, found.edges))


def test_pgmpy_has_the_same_p_values_unless_it_corrects_them() -> None:
    frame = CHILD.to_pandas()
    theirs = pytest.importorskip("pgmpy.ci_tests").ChiSquare(frame)
    corrected = 0
    for x, y, z in questions(3):
        found = serape.ci_test(CHILD, x, y, z, test="x2", dof="adjusted", reliability=None)
        _, p = theirs.run_test(CHILD.names[x], CHILD.names[y], [CHILD.names[k] for k in z])
        if not z:
            assert p == pytest.approx(found.p, rel=1e-9)
        elif found.dof:  # strata with two levels of each are corrected, after Yates
            corrected += p > found.p
            assert p >= found.p * (1 - 1e-9)
    assert corrected


def test_pgmpy_finds_no_other_edges() -> None:
    learner = pytest.importorskip("pgmpy.causal_discovery").PC(ci_test="chi_square", n_jobs=1, show_progress=False)
    edges = set(map(frozenset, learner.fit(CHILD.to_pandas()).causal_graph_.edges()))
    found = set(map(frozenset, serape.skeleton(CHILD, "pc-stable", **AS_PGMPY).edges))
    assert edges <= found
    assert len(found - edges) <= 3
