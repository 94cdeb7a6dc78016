"""Independence tests: one file for each test, a base class, and the d-separation oracle."""

from __future__ import annotations

from serape.independence.base import IndependenceTest
from serape.independence.contingency import ContingencyTest
from serape.independence.d_separation import DSeparation
from serape.independence.effects import Effect
from serape.independence.function import FunctionTest
from serape.independence.g2 import G2
from serape.independence.gcm import GCM
from serape.independence.outcomes import Outcome, Tally
from serape.independence.pcm import PCM
from serape.independence.registry import TESTS, make_test, position, table_of
from serape.independence.screens import ScreenResult
from serape.independence.subset_query import SubsetQuery
from serape.independence.subsets import Association
from serape.independence.x2 import X2
from serape.types import DofRule, ReliabilityRule

__all__ = [
    "G2",
    "GCM",
    "PCM",
    "TESTS",
    "X2",
    "Association",
    "ContingencyTest",
    "DSeparation",
    "DofRule",
    "Effect",
    "FunctionTest",
    "IndependenceTest",
    "Outcome",
    "ReliabilityRule",
    "ScreenResult",
    "SubsetQuery",
    "Tally",
    "make_test",
    "position",
    "table_of",
]
