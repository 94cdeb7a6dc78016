"""What both kinds of report need."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import version
from typing import Any

from serape.data.provenance import Provenance
from serape.results.report.page import shown

MOST_IN_A_SET = 100
"""Names of a conditioning set that are embedded."""


class Embedded:
    """The names that a report mentions, each with its place in the list."""

    def __init__(self) -> None:
        self._places: dict[str, int] = {}

    @property
    def names(self) -> list[str]:
        """The names, in order of their places."""
        return list(self._places)

    def index(self, name: str) -> int:
        """Return the place of a name; a new one takes the next."""
        return self._places.setdefault(name, len(self._places))

    def indices(self, names: Iterable[str]) -> list[int]:
        """Return the places of names."""
        return [self.index(name) for name in names]

    def group(self, label: str, names: Sequence[str]) -> dict[str, Any]:
        """Return names under a label, for the page's script."""
        return {"label": label, "of": self.indices(names[:MOST_IN_A_SET]), "more": max(0, len(names) - MOST_IN_A_SET)}


def strengths(log_p: Mapping[Any, float]) -> dict[Any, float]:
    """Return from 0 to 1 how strong associations are, for the width of lines: by the number of digits of p."""
    digits = {key: math.log1p(min(max(0.0, -value), 1e6)) for key, value in log_p.items() if not math.isnan(value)}
    least, most = min(digits.values(), default=0.0), max(digits.values(), default=0.0)
    span = most - least
    return {key: round((digits[key] - least) / span, 3) if span and key in digits else 0.3 for key in log_p}


def few(names: Sequence[str], most: int = 4) -> str:
    """Return the first names of a conditioning set and how many more there are."""
    told = ", ".join(shown(name, 40) for name in names[:most])
    return f"{told} and {len(names) - most:,} more" if len(names) > most else told or "nothing"


def skipped_about(tests: int, skipped: int, bound: int | None) -> str:
    """Say how many questions had no verdict, why, and what that means; of unbounded searches, also how large a part."""
    if bound is None:
        part = 100 * skipped / (tests + skipped)
        told = (
            f"{skipped:,} of {tests + skipped:,} questions ({part:.2g} %) had no verdict: too few rows for them, or "
            f"nothing to test."
        )
    else:
        told = (
            f"{skipped:,} questions had no verdict: too few rows for them, nothing to test, or more than {bound} to "
            f"condition on."
        )
    return f"{told} They count neither for nor against a variable."


def budget_about(tests: int, skipped: int, by_size: Mapping[int, int]) -> str:
    """Say how many tests there were, and how they were conditioned."""
    told = f"{tests:,} {'test was' if tests == 1 else 'tests were'} performed"
    largest = max((size for size, count in by_size.items() if count), default=None)
    if largest is not None:
        told += f", given at most {largest:,} variable{'' if largest == 1 else 's'}"
    if not skipped:
        return f"{told}; none was skipped for want of rows."
    return f"{told}. {skipped:,} more {'question' if skipped == 1 else 'questions'} had no verdict."


def provenance_pairs(data: Provenance | None) -> dict[str, str]:
    """Say which version found it, and in which data."""
    pairs = {"Version": f"serape {version('serape')}"}
    if data is None:
        return {**pairs, "Data": "none: the answers came from an independence test that was passed in place of data"}
    if "path" in data.made:
        pairs["File"] = shown(str(data.made["path"]), 300)
    return {
        **pairs,
        "Data": f"{data.rows:,} rows, {data.columns:,} columns",
        "Fingerprint": data.fingerprint or "not computed",
    }
