"""Parts that the reports of blankets and of networks share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from serape.data.provenance import Provenance
from serape.errors import n_shown
from serape.markup import shown
from serape.results.displayed import rate_value
from serape.results.report.page import Words, listed

if TYPE_CHECKING:
    from serape.results.result import Result
    from serape.results.structure import Structure

MAX_SET = 100
"""The largest number of names of a conditioning set that are embedded."""


class Embedded:
    """The names that a report mentions, each with an index."""

    def __init__(self) -> None:
        self._indices: dict[str, int] = {}

    @property
    def names(self) -> list[str]:
        """The names, in the order of their indices."""
        return list(self._indices)

    def index(self, name: str) -> int:
        """Return the index of a name; a new name gets the next."""
        return self._indices.setdefault(name, len(self._indices))

    def indices(self, names: Iterable[str]) -> list[int]:
        """Return the indices of names."""
        return [self.index(name) for name in names]

    def group(self, label: str, names: Sequence[str]) -> dict[str, Any]:
        """Return names under a label, for the page's script."""
        n = n_shown(len(names), MAX_SET)
        return {"label": label, "members": self.indices(names[:n]), "more": len(names) - n}


def few(names: Sequence[str]) -> Words:
    """Return the first names of a conditioning set and the number of the others."""
    return listed(names, 4, 40) or ["none"]


def skipped_about(tests: int, skipped: int, bound: int | None) -> str:
    """Return a sentence on how many tests were skipped, and why; if nothing bounds the search, also their share."""
    were = "was" if skipped == 1 else "were"
    if bound is None:
        total = tests + skipped
        share = 100 * skipped / total
        count = f"{skipped:,} of {total:,} tests ({share:.2g} %) {were} skipped: too few rows, or nothing to test."
    else:
        count = (
            f"{skipped:,} test{'' if skipped == 1 else 's'} {were} skipped: too few rows, nothing to test, or a "
            f"conditioning set of more than {bound}."
        )
    return f"{count} A skipped test neither adds nor removes a variable."


def budget_about(tests: int, skipped: int, by_size: Mapping[int, int]) -> str:
    """Return a sentence on how many tests were performed and the largest conditioning set."""
    performed = f"{tests:,} {'test was' if tests == 1 else 'tests were'} performed"
    largest = max((size for size, count in by_size.items() if count), default=None)
    if largest is not None:
        performed += f", given at most {largest:,} variable{'' if largest == 1 else 's'}"
    if not skipped:
        return f"{performed}; none was skipped."
    return f"{performed}. {skipped:,} more {'was' if skipped == 1 else 'were'} skipped."


def rate_facts(found: Result | Structure) -> dict[str, str]:
    """Return the false discovery rate and the p-value that it came to, if there is a rate."""
    return {} if found.fdr is None else {"False discovery rate": rate_value(found.fdr, found.threshold)}


def provenance_pairs(data: Provenance | None) -> dict[str, str]:
    """Return the version of serape and a description of the data."""
    from importlib.metadata import version

    pairs = {"Version": f"serape {version('serape')}"}
    if data is None:
        return {**pairs, "Data": "none: an independence test was passed in place of data"}
    if "path" in data.made:
        pairs["File"] = shown(str(data.made["path"]), 300)
    return {
        **pairs,
        "Data": f"{data.rows:,} rows, {data.columns:,} columns",
        "Fingerprint": data.fingerprint or "not computed",
    }
