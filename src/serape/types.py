"""Types that several packages share."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, Literal

Poll = Callable[[], object]
"""Called now and then during long work; it may raise to end it."""
Finds = Literal["blanket", "parents-children"]
"""The question about a target."""
FindsEdges = Literal["skeleton", "network"]
"""The question about all variables together."""
DofRule = Literal["auto", "full", "adjusted"]
"""How degrees of freedom are counted."""
ReliabilityRule = Literal["dof", "cells"] | None
"""Which tests of a contingency table are reliable."""
Reliability = ReliabilityRule | Literal["auto"]
"""The rule of reliability as a setting."""
FdrMethod = Literal["auto", "bh", "by", "adaptive"]
"""How the false discovery rate is bounded: Benjamini–Hochberg or Benjamini–Yekutieli."""
Missing = Literal["error", "drop", "level", "pairwise"]
"""The rule for missing values."""
MissingRules = Missing | Mapping[str, Missing]
"""The rule for missing values of all columns, or of some by name; "*" stands for the others."""
EngineName = Literal["auto", "cpu", "gpu"]
"""Where tests are computed."""
Rule = Literal["and", "or"]
"""Whether an edge needs both neighbourhoods or one."""
Rank = Literal["significance", "information"]
"""What makes a candidate the strongest: the smallest p-value, or the largest conditional mutual information."""
Unclear = Literal["skipped", "independent"]
"""How tests that show nothing are read: they are skipped, as everywhere in serape, or show independence."""
LocalAlgorithm = Callable[..., Any]
"""`algorithm(search, target, **options)`: returns the variables found (positions or names), or an `Answer`."""
Variables = Collection[str | int] | Mapping[str | int, Collection[str | int]]
"""Variables by name or position, or a dict of them by target."""
WeightKind = Literal["frequency", "survey"]
"""What the weights of rows mean."""
