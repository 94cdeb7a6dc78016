"""What has to be known of a call to write it down again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Call:
    """Which settings of a call were objects of the caller's own, and which need not be written down."""

    own: tuple[str, ...] = ()
    """Settings that were objects, not names: "algorithm" or "test"."""
    defaults: Mapping[str, Any] = field(default_factory=dict)
    """Options at these values need not be written on the command line."""
    implied: tuple[str, ...] = ()
    """Options that the algorithm sets by itself."""

    def to_dict(self) -> dict[str, Any]:
        """Return plain dicts and lists, fit for JSON."""
        return {"own": list(self.own), "defaults": dict(self.defaults), "implied": list(self.implied)}

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any] | None) -> Call:
        """Return what `to_dict` gives; files of older versions have none."""
        if stored is None:
            return cls()
        return cls(tuple(map(str, stored["own"])), dict(stored["defaults"]), tuple(map(str, stored["implied"])))
