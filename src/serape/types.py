"""Types that several rooms share."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, Literal

Finds = Literal["blanket", "parents-children"]
"""What is asked about one target."""
DofRule = Literal["auto", "full", "adjusted"]
"""How degrees of freedom are counted."""
ReliabilityRule = Literal["dof", "cells"] | None
"""Which tests of a contingency table are reliable."""
Reliability = ReliabilityRule | Literal["auto"]
"""As a caller gives it."""
Missing = Literal["error", "drop", "level", "pairwise"]
"""What is done about missing values."""
Rule = Literal["and", "or"]
"""How the neighbourhoods of two variables decide on their edge."""
LocalAlgorithm = Callable[..., Any]
"""`algorithm(search, target, **options)`: returns the variables found (positions or names), or an `Answer`."""
Variables = Collection[str | int] | Mapping[str | int, Collection[str | int]]
"""Variables by name or position, or a dict of them by target."""
