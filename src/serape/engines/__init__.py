"""Engines hold rows and answer with integers and sums; tests and scores are computed from these."""

from serape.engines.base import Engine, Gram
from serape.engines.gram_matrix import GramMatrix, gram_matrix
from serape.engines.native import NativeEngine
from serape.engines.plain import PlainEngine
from serape.engines.weighted import WeightedEngine

__all__ = ["Engine", "Gram", "GramMatrix", "NativeEngine", "PlainEngine", "WeightedEngine", "gram_matrix"]
