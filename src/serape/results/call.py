"""What a report needs to know about a call in order to show it again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Call:
    """Which settings of a call were objects of the caller, and which options need not be shown."""

    own: tuple[str, ...] = ()
    """Settings that were objects, not names: "algorithm" or "test"."""
    defaults: Mapping[str, Any] = field(default_factory=dict)
    """Options with these values need not be shown on the command line."""
    implied: tuple[str, ...] = ()
    """Options that the algorithm sets itself."""
    selector: tuple[str, ...] | None = None
    """Of a selector's result: the arguments of the selector that are not at their defaults, as code."""
    fit: tuple[str, ...] = ()
    """Of a selector's result: the arguments of `fit` besides X and y."""

    def to_dict(self) -> dict[str, Any]:
        """Return plain dicts and lists, fit for JSON."""
        of_selector = {} if self.selector is None else {"selector": list(self.selector), "fit": list(self.fit)}
        return {"own": list(self.own), "defaults": dict(self.defaults), "implied": list(self.implied), **of_selector}

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any] | None) -> Call:
        """Return the call that `to_dict` wrote; files of older versions have none."""
        if stored is None:
            return cls()
        own, implied, fit = (tuple(map(str, stored.get(name, ()))) for name in ("own", "implied", "fit"))
        selector = tuple(map(str, stored["selector"])) if "selector" in stored else None
        return cls(own, dict(stored["defaults"]), implied, selector, fit)
