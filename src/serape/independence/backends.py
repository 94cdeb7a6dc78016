"""Who answers a question: a device, a cluster, the core, or plain loops in Python.

Questions come in four patterns over lists: a screen, subsets of a pool, each given the rest, all pairs. *Kernels* stand
beside them: the core or a device answers what an algorithm would ask in many patterns in one call. A test for which
nobody has a kernel is asked by pattern, and the answers are the same.

A test says by tags which questions the core answers for it, and what of its table a device keeps; one whose table is on
a cluster has what fetches from there. `choose` decides from these and from the shape of a question, and nothing else
does; `answering` asks whom it names. docs/engines.md has the table.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple, Protocol

Pattern = Literal["screen", "subsets", "each given the rest", "pairs"]
Kernel = Literal[
    "all pairs", "dependent pairs", "screen in another table", "subsets of many", "growing pool", "growing pools",
    "spouses", "inter-iapc",
]  # fmt: skip
QuestionName = Pattern | Kernel
Questions = frozenset[QuestionName]
Backend = Literal["device", "cluster", "core", "plain"]


@dataclass(frozen=True)
class Question:
    """A pattern, or a kernel."""

    name: QuestionName
    method: str
    """The method of tests that answers it."""
    in_place_of: tuple[Pattern, ...] = ()
    """Of a kernel: the patterns that are asked where nobody has it."""


_ALL = (
    Question("screen", "screen"),
    Question("subsets", "search_subsets"),
    Question("each given the rest", "test_each_given_rest"),
    Question("pairs", "marginals"),
    Question("all pairs", "all_pairs", ("pairs",)),
    Question("dependent pairs", "dependent_pairs", ("pairs",)),
    Question("screen in another table", "screen_in", ("screen",)),
    Question("subsets of many", "search_each", ("subsets",)),
    Question("growing pool", "grow_pool", ("subsets",)),
    Question("growing pools", "grow_pools", ("subsets",)),
    Question("spouses", "find_spouses", ("screen", "subsets")),
    Question("inter-iapc", "inter_iapc", ("screen", "each given the rest", "subsets")),
)
QUESTIONS: Final[Mapping[QuestionName, Question]] = {question.name: question for question in _ALL}
PATTERNS: Final[Questions] = frozenset(question.name for question in _ALL if not question.in_place_of)
KERNELS: Final[Questions] = frozenset(QUESTIONS) - PATTERNS
NO_QUESTIONS: Final[Questions] = frozenset()
SCREENS: Final[Questions] = frozenset({"screen"})


class DeviceColumns(Protocol):
    """What of a table is on a device, or is sent there in parts."""

    kind: str
    """The kind of columns, by which kernels are registered."""

    @property
    def here(self) -> bool:
        """Whether this process can use the device: a forked one cannot."""


class Shape(NamedTuple):
    """What decides who answers a question."""

    question: QuestionName
    pool: int = 0
    """Of subsets: the variables that sets are drawn from."""
    sizes: range = range(1, 2)
    """Of subsets: the sizes of the sets that are searched."""
    usual: bool = True
    """Whether it is asked in the way for which there are kernels on a device; `answering` says which way that is."""
    strongest: int = 0
    """Of all pairs: how many of each variable are kept; 0 for all that are dependent."""


Pays = Callable[[Shape], bool]
"""Whether a backend that can answer a question of this shape is faster than the core (docs/gpu.md has measurements)."""


class Offer(NamedTuple):
    """The questions that a device or a cluster answers, each with the shapes for which this pays."""

    backend: Backend
    questions: Mapping[QuestionName, Pays]


NO_OFFER: Final = Offer("plain", {})


def choose(shape: Shape, core: Questions, offer: Offer = NO_OFFER) -> Backend | None:
    """Return who answers a question of this shape; None if nobody has this kernel, so that patterns must be asked.

    `core` are the questions that the core answers, `offer` those that the device or the cluster of the test answers.
    """
    pays = offer.questions.get(shape.question)
    if pays is not None and pays(shape):
        return offer.backend
    if shape.question in core:
        return "core"
    return "plain" if shape.question in PATTERNS else None
