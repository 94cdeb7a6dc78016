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

    def to_dict(self) -> dict[str, Any]:
        """Return plain dicts and lists, fit for JSON."""
        return {"own": list(self.own), "defaults": dict(self.defaults), "implied": list(self.implied)}

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any] | None) -> Call:
        """Return the call that `to_dict` wrote; files of older versions have none."""
        if stored is None:
            return cls()
        return cls(tuple(map(str, stored["own"])), dict(stored["defaults"]), tuple(map(str, stored["implied"])))
