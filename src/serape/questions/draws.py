"""A search repeated in rows drawn from a table: the draws, and what they found.

Stability selection: Meinshausen and Bühlmann, *Stability selection* (JRSS B 2010); halves in pairs that have no row in
common: Shah and Samworth, *Variable selection with error control: another look at stability selection* (JRSS B 2013).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from typing import Any, NamedTuple

import numpy as np

from serape.checks import MAX_SIZE, is_one_of
from serape.data.resampling import Resampler, RowPositions
from serape.data.table import Table
from serape.errors import InputTypeError, OptionError, is_integer, shown
from serape.independence import IndependenceTest
from serape.progress import ProgressCallback
from serape.questions.run import Run
from serape.results.stability import SAMPLINGS, Sampling
from serape.search.budget import STOPPED
from serape.settings import RunSettings, Settings
from serape.wording import setting


class DrawnAnswer(NamedTuple):
    """What the search in one draw found."""

    items: tuple[Any, ...]
    """Variables or edges."""
    tests: int
    skipped: int
    arcs: tuple[tuple[str, str], ...] = ()
    """Of a network, the edges whose direction is decided."""
    how: tuple[Any, ...] = ()
    """Of a skeleton or network, how it was found: algorithm, test, alpha, false discovery rate, score."""
    complete: bool = True
    """False if a budget ended the search in this draw."""


class Draws:
    """Draws of rows from a table, and a search in each."""

    def __init__(self, data: Any, draws: int, sampling: Sampling, asked: Settings) -> None:
        if isinstance(data, IndependenceTest):
            raise InputTypeError(
                f"stability draws rows from a table, not from an independence test ({type(data).__name__}); pass the "
                f"table"
            )
        if not is_one_of(sampling, SAMPLINGS):
            raise OptionError(
                f"{setting('sampling', sampling)} is not known; use one of {', '.join(map(repr, SAMPLINGS))}"
            )
        if not is_integer(draws) or not 1 <= draws < MAX_SIZE:
            raise OptionError(f"{setting('draws')} must be a whole number, 1 or more, not {shown(draws)}")
        seed = asked.search.random_state
        if isinstance(seed, np.random.Generator):
            raise OptionError("random_state must be a whole number, the seed of the draws, not a generator")
        self.random_state = 0 if seed is None else int(seed)
        self.table = Table.of(data, asked.data).whole
        self.draws, self.sampling = draws, sampling
        self.found: dict[int, DrawnAnswer] = {}
        """By draw."""
        self._resampler = Resampler(self.table)
        units = self._resampler.units
        if sampling == "half" and units < 4:
            raise OptionError(
                f"half of {units} {'rows' if self.table.groups is None else 'groups'} are too few for a search; use "
                f"{setting('sampling', 'bootstrap')}"
            )

    def search(
        self,
        ask: Callable[[Table, ProgressCallback], DrawnAnswer],
        test: object,
        settings: RunSettings,
        target: str = "",
    ) -> None:
        """Search all draws; on Ctrl-C, keep what was found in those that are complete.

        `test` is the test or score behind the search, `target` what progress is reported about.
        """
        self._run = run = Run(settings, test)

        def one(draw: int, watch: ProgressCallback) -> DrawnAnswer:
            return ask(self._resampler.draw_units(self._units(draw)), watch)

        def keep(draw: int, found: DrawnAnswer) -> None:
            self.found[draw] = found
            bar.advance(target, found.items if target else (), found.tests, found.skipped)

        with run.part(), run.bar("draws", self.draws) as bar:
            run.each(one, range(self.draws), keep)
        if run.interrupted and not self.found:
            raise KeyboardInterrupt  # no draw is complete

    def counts(self) -> Counter[Any]:
        """Return the number of draws in which each variable or edge was found."""
        return Counter(item for found in self.found.values() for item in found.items)

    def summary(self, fixed: Collection[Any], candidates: int, notes: Sequence[str]) -> dict[str, Any]:
        """Return the fields that all results have; `fixed` variables or edges are known beforehand."""
        searched = len(self.found)
        stopped = sum(not found.complete for found in self.found.values())
        budget = f"{setting('max_seconds')}, {setting('max_tests')}"
        spent = f"{STOPPED}the budget ({budget}) in {stopped:,} of {searched:,} draws"
        paired = self.sampling == "half"
        return {
            "sampling": self.sampling,
            "draws": searched,
            "pairs": sum(k % 2 == 0 and k + 1 in self.found for k in self.found) if paired else 0,
            "rows": self._resampler.rows_in(self._units(0)),
            "mean_size": sum(len(found.items) for found in self.found.values()) / searched,
            "mean_found": sum(item not in fixed for found in self.found.values() for item in found.items) / searched,
            "candidates": candidates,
            "random_state": self.random_state,
            "seconds": self._run.seconds,
            "complete": searched == self.draws and not stopped,
            "notes": (*notes, *[spent] * bool(stopped)),
        }

    def _units(self, draw: int) -> RowPositions:
        return rows_of_draw(self._resampler.units, draw, self.sampling, self.random_state)


def rows_of_draw(rows: int, draw: int, sampling: Sampling, random_state: int) -> RowPositions:
    """Return the rows, or groups, of a draw, in ascending order; they depend only on the seed and the draw's number."""
    if sampling == "bootstrap":
        chosen = np.random.default_rng([random_state, draw]).integers(0, rows, rows)
    else:  # two successive draws are halves of one permutation
        shuffled = np.random.default_rng([random_state, draw // 2]).permutation(rows)
        half = rows // 2
        chosen = shuffled[:half] if draw % 2 == 0 else shuffled[half : 2 * half]
    return np.sort(chosen.astype(np.int64))
