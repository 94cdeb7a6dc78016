"""How counts are made: a table of shapes and chosen strategies, and that questions are counted as the plan says."""

from typing import Any

import numpy as np
import pytest

from plain import random_table
from serape import _core
from serape.independence import G2

P, S, R, O = "planes", "scatter", "sparse", "ones"  # noqa: E741

# rows, cells, candidates, levels, other facts → strategy by number of levels
SHAPES: list[tuple[dict[str, Any], dict[int, str]]] = [
    ({"rows": 5000, "cells": 8, "candidates": 37, "levels": [2, 3, 8]}, {2: P, 3: P, 8: P}),
    ({"rows": 5000, "cells": 8, "candidates": 37, "levels": [2, 9, 300]}, {2: P, 300: S}),
    ({"rows": 5000, "cells": 64, "candidates": 37, "levels": [2, 4]}, {2: P, 4: P}),
    ({"rows": 5000, "cells": 512, "candidates": 37, "levels": [2, 4]}, {2: P, 4: S}),
    ({"rows": 5000, "cells": 513, "candidates": 37, "levels": [2, 4]}, {2: S, 4: S}),
    ({"rows": 5000, "cells": 3000, "candidates": 37, "levels": [2, 8, 12]}, {2: S, 8: S, 12: S}),
    ({"rows": 5000, "cells": 3000, "candidates": 37, "levels": [2, 30]}, {2: S, 30: R}),
    ({"rows": 500, "cells": 490, "candidates": 37, "levels": [4, 20]}, {4: S, 20: R}),
    ({"rows": 500, "cells": 490, "candidates": 37, "levels": [4, 20], "functional": "x2"}, {4: R, 20: R}),
    ({"rows": 100_000, "cells": 90_000, "candidates": 37, "levels": [2, 5, 6]}, {2: S, 5: S, 6: R}),
    ({"rows": 100_000, "cells": 18, "candidates": 37, "levels": [3]}, {3: P}),
    ({"rows": 100_000, "cells": 512, "candidates": 37, "levels": [2, 4]}, {2: P, 4: S}),
    # Bitsets of cells that were found row by row pay for several candidates only.
    ({"rows": 5000, "cells": 30, "candidates": 7, "levels": [2], "has_masks": False}, {2: S}),
    ({"rows": 5000, "cells": 30, "candidates": 8, "levels": [2], "has_masks": False}, {2: P}),
    ({"rows": 5000, "cells": 64, "candidates": 37, "levels": [2], "instruction_set": "plain"}, {2: P}),
    ({"rows": 5000, "cells": 128, "candidates": 37, "levels": [2], "instruction_set": "plain"}, {2: S}),
    ({"rows": 5000, "cells": 128, "candidates": 37, "levels": [2], "instruction_set": "avx2"}, {2: P}),
    # Forced.
    ({"rows": 5000, "cells": 8, "candidates": 37, "levels": [2, 9], "strategy": "scatter"}, {2: S, 9: S}),
    ({"rows": 5000, "cells": 8, "candidates": 37, "levels": [2, 9], "strategy": "sparse"}, {2: R, 9: R}),
    ({"rows": 5000, "cells": 512, "candidates": 1, "levels": [8, 9], "strategy": "planes"}, {8: P, 9: S}),
    ({"rows": 5000, "cells": 513, "candidates": 37, "levels": [2], "strategy": "planes"}, {2: S}),
]


@pytest.mark.parametrize(("shape", "strategies"), SHAPES, ids=str)
def test_the_strategy_of_a_shape(shape: dict[str, Any], strategies: dict[int, str]) -> None:
    plan = _core.explain_plan(varying=shape["cells"], **shape)
    assert plan["by_levels"] == strategies
    assert not plan["panels"]


# rows, cells, candidates, columns from the first to the last → panels
PANELS = [
    (5000, 8, 37, 37, False),
    (5000, 8, 127, 127, False),
    (5000, 8, 441, 441, True),
    (5000, 8, 10_000, 10_000, True),
    (5000, 8, 441, 200_000, False),  # few in each panel
    (1909, 2, 10_000, 10_000, True),
    (1909, 16, 139_351, 139_351, True),
    (1_000_000, 16, 441, 441, True),
]


@pytest.mark.parametrize(("rows", "cells", "candidates", "span", "panels"), PANELS)
def test_panels_of_a_shape(rows: int, cells: int, candidates: int, span: int, panels: bool) -> None:
    facts: dict[str, Any] = {"varying": cells, "levels": [2] * 32, "candidates": candidates, "largest": rows // cells}
    assert _core.explain_plan(rows, cells, span=span, **facts)["panels"] == panels
    for strategy, expected in (("panels", True), ("planes", False), ("scatter", False)):
        plan = _core.explain_plan(rows, cells, span=span, strategy=strategy, **facts)
        assert plan["panels"] == expected


def test_the_other_choices_of_a_shape() -> None:
    def plan(rows: int = 5000, cells: int = 8, varying: int | None = None, **facts: Any) -> dict[str, Any]:
        all_facts: dict[str, Any] = {"levels": [2], "candidates": 100} | facts
        return _core.explain_plan(rows, cells, cells if varying is None else varying, **all_facts)

    # Several candidates side by side, where bitsets are long.
    assert not plan(rows=65_024)["together"]
    assert plan(rows=65_025)["together"]
    assert not plan(rows=65_025, levels=[2, 9])["together"]
    assert not plan(rows=65_025, varying=0)["together"]
    # The largest cell is what the others leave, where that saves more than it costs.
    assert not plan(rows=500)["by_rest"]
    assert plan(rows=20_000)["by_rest"]
    # Strata in which the target does not vary are skipped, but not by functionals that need them.
    assert plan(varying=6)["skips"]
    assert not plan(varying=7)["skips"]
    assert plan(varying=6, functional="likelihood")["skips"]
    assert not plan(varying=6, functional="dirichlet")["skips"]
    # Rare ones.
    assert plan(cells=100, ones_are_few=True)["ones_below"] == pytest.approx(227, abs=1)
    for facts in ({"ones_are_few": False}, {"cells": 64}, {"candidates": 63}, {"functional": "x2"}):
        assert plan(**({"cells": 100, "ones_are_few": True} | facts))["ones_below"] == 0


@pytest.mark.parametrize(
    ("rows", "cells", "xs", "levels", "pool", "pays"),
    [
        (1909, 2, 64, 2, 64, True),
        (1909, 2, 63, 2, 64, False),
        (1909, 2, 64, 2, 63, False),
        (65_529, 2, 64, 2, 64, False),
        (1909, 64, 64, 2, 64, True),
        (1909, 33, 64, 3, 64, False),
        (1909, 2, 64, 2, 300_000, False),  # too much memory
    ],
)
def test_pairs_of_a_shape(rows: int, cells: int, xs: int, levels: int, pool: int, pays: bool) -> None:
    assert _core.pairs_pay(rows, cells, xs, levels, pool) == pays


def test_questions_are_counted_as_planned() -> None:
    levels = [2] * 600 + [3, 9, 300]
    test = G2(random_table(np.random.default_rng(1), 1909, levels, 0.3)).native
    before = _core.instruction_set()
    if "avx512" not in _core.instruction_sets():
        pytest.skip("strategies are listed for one set of instructions")
    _core.use_instruction_set("avx512")
    try:
        some, wide = list(range(10, 30)), [600, 601, 602]
        assert test.strategies(0, [*some, *wide], [1]) == [P] * 21 + [S] * 2
        assert test.strategies(0, list(range(3, 603)), [1, 2]) == ["panels"] * 598 + [S] * 2
        assert test.strategies(0, list(range(602, 2, -1)), [1, 2]) == [S] * 2 + [P] * 598  # not in order
        assert test.strategies(0, some, list(range(500, 511))) == [S] * 20
        assert test.strategies(0, wide, [601, 500, 501]) == [S, S, R]
        for strategy in (P, S, R, O):
            assert test.strategies(0, some, [1], strategy) == [strategy] * 20
    finally:
        _core.use_instruction_set(before)


@pytest.mark.parametrize(
    ("size", "columns", "screens"), [(2047, 12_000, None), (2048, 12_000, 2), (2048, 4_000, 9), (2048, 2_100, None)]
)
def test_many_candidates_of_groups_get_a_table_of_their_own(size: int, columns: int, screens: int | None) -> None:
    """After so many screens, if others stand between them: making it takes as long as eight of its candidates."""
    test = G2(random_table(np.random.default_rng(1), 50, [2] * columns))
    parts = [(list(range(2, 12)), [0]), (list(range(12, 2 + size)), [])]
    groups = _core.CandidateGroups(test.table.packed, parts)
    assert not groups.has_own_table
    answers = set()
    for k in range(1, 12):
        found, *_ = test.native.screens(0, groups, 1, 1 + k % 2)
        answers.add(b"".join(array.tobytes() for array in found.arrays()))
        assert groups.has_own_table == (screens is not None and k >= screens)
    assert len(answers) == 1


def test_a_screen_of_no_candidates() -> None:
    """Also of a group that has a table of its own, and of one that has not."""
    table = random_table(np.random.default_rng(1), 100, [2] * 2100)
    test = G2(table)
    for size in (5, 2090):
        screen = test.working_set(np.arange(1, size, dtype=np.uint32))
        assert len(screen(0, np.empty(0, np.uint32))) == 0
    native = _core.CandidateGroups(table.packed, [([1, 2], [])])
    assert len(test.native.screen_among(0, native, np.empty(0, np.uint32), [])) == 0
    for strategy in ("automatic", "panels", "planes"):
        assert len(test.screen(0, [], strategy=strategy)) == 0
