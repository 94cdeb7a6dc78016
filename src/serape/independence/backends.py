"""Who answers a question: a device, a cluster, the core, or plain loops in Python.

Questions come in four patterns over lists (a screen, subsets of a pool, each given the rest, all pairs). Kernels answer
several of them in one call: a test that has none is asked by pattern, and the answers are the same. A test says which
questions the core and a device answer for it; `choose` decides from that and the shape of a question alone.
"""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

Pattern = Literal["screen", "subsets", "each given the rest", "pairs"]
Kernel = Literal["dependent pairs", "subsets of many", "growing pool", "growing pools", "spouses", "inter-iapc"]
Question = Pattern | Kernel
Questions = frozenset[Question]
Backend = Literal["device", "cluster", "core", "plain"]

PATTERNS: Final[dict[Pattern, str]] = {
    "screen": "screen",
    "subsets": "search_subsets",
    "each given the rest": "test_each_given_rest",
    "pairs": "marginals",
}
"""The method of every test that answers a pattern."""
KERNELS: Final[dict[Kernel, str]] = {
    "dependent pairs": "",
    "subsets of many": "search_each",
    "growing pool": "grow_pool",
    "growing pools": "grow_pools",
    "spouses": "find_spouses",
    "inter-iapc": "inter_iapc",
}
"""The method, if it is one, of the tests that have a kernel."""
NO_QUESTIONS: Final[Questions] = frozenset()
AT_ONCE: Final[tuple[Backend, ...]] = ("core", "device")
"""The backends that answer a kernel's questions in one call."""
LARGE_POOL = 2048
"""Variables of a pool from which on the way to a device pays (docs/gpu.md)."""
MAX_SIZE = 3
"""Members of the largest sets that a device searches."""


class Shape(NamedTuple):
    """What decides who answers a question."""

    question: Question
    pool: int = 0
    """Of subsets: the variables that sets are drawn from."""
    sizes: range = range(1, 2)
    """Of subsets: the sizes of the sets that are searched."""
    usual: bool = True
    """Whether every variable is asked about, in the order of strength, and leaves the pool where a set separates it."""
    weighs: bool = False
    """Whether the weakest association of each pair is asked for too."""


def choose(shape: Shape, core: Questions, device: Questions, *, on_cluster: bool = False) -> Backend:
    """Return who answers a question of this shape, if the core and a device that is there answer these."""
    if on_cluster:
        return "cluster"
    if shape.question in device and _pays_on_device(shape):
        return "device"
    return "core" if shape.question in core else "plain"


def _pays_on_device(shape: Shape) -> bool:
    """Return whether a device that can answer a question is faster than the core."""
    small = shape.sizes.start >= 1 and shape.sizes.stop - 1 <= MAX_SIZE
    match shape.question:
        case "subsets":
            return shape.usual and shape.pool >= LARGE_POOL and shape.sizes == range(1, 2)
        case "subsets of many":
            return small
        case "growing pools":
            return not shape.weighs
        case "spouses":
            return shape.usual and small
        case _:
            return True
