"""How often a variable is found when the rows are drawn again.

Stability selection: Meinshausen and Bühlmann, *Stability selection* (JRSS B 2010); halves in pairs that have no row in
common: Shah and Samworth, *Variable selection with error control: another look at stability selection* (JRSS B 2013).
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from serape.data.resampling import Resampler, Rows
from serape.data.table import as_table
from serape.errors import InputTypeError, OptionError, is_integer
from serape.independence import DofRule, IndependenceTest
from serape.knowledge import Knowledge
from serape.local.registry import LocalAlgorithm
from serape.parallel.map import ProgressBar, parallel_map
from serape.progress import ProgressCallback
from serape.questions.query import Query, Reliability, thread_count
from serape.records import Records
from serape.results.charts import draw_stability
from serape.results.pictures import figure_of, picture_format, save_picture
from serape.results.result import Finds, Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Sampling = Literal["half", "bootstrap"]
SAMPLINGS: tuple[Sampling, ...] = ("half", "bootstrap")


@dataclass(frozen=True)
class Stability:
    """How often each variable was found."""

    target: str
    finds: Finds
    sampling: Sampling
    draws: int
    """Draws that were searched; fewer than asked for if interrupted."""
    rows: int
    """Rows of a draw."""
    mean_size: float
    """The mean number of variables found in a draw."""
    frequencies: Mapping[str, float] = field(repr=False)
    """For every variable but the target, the share of the draws in which it was found; the most frequent first."""
    algorithm: str
    test: str
    alpha: float
    random_state: int
    seconds: float
    complete: bool
    """False if interrupted."""
    notes: tuple[str, ...] = ()
    """What was treated specially in the data or decided along the way."""

    def stable(self, threshold: float = 0.5) -> tuple[str, ...]:
        """Return the variables found in at least this share of the draws, the most frequent first."""
        if not isinstance(threshold, int | float) or not 0 < threshold <= 1:
            raise OptionError(f"threshold must lie above 0 and at most be 1, not {threshold!r}")
        return tuple(name for name, share in self.frequencies.items() if share >= threshold)

    @cached_property
    def records(self) -> Records:
        """For every variable, the draws in which it was found and their share: a table for any dataframe library."""
        shares = list(self.frequencies.values())
        return Records(
            {
                "variable": list(self.frequencies),
                "draws": [round(share * self.draws) for share in shares],
                "share": shares,
            }
        )

    def plot(
        self, path: str | os.PathLike[str] | None = None, *, threshold: float = 0.5, ax: Axes | None = None
    ) -> Axes:
        """Draw the shares of the 30 most frequent variables, and the threshold; how many others there were is written.

        `path` is a file to write the picture to (.png, .svg, .pdf), `ax` are axes to draw in.
        """
        self.stable(threshold)
        if path is not None:
            picture_format(Path(path))
        ax = draw_stability(self, threshold, ax)
        if path is not None:
            save_picture(figure_of(ax), Path(path))
        return ax

    @property
    def title(self) -> str:
        """What was asked, in words."""
        what = "Markov blanket" if self.finds == "blanket" else "Parents and children"
        how = f"halves of {self.rows:,} rows" if self.sampling == "half" else f"bootstraps of {self.rows:,} rows"
        return f"{what} of {self.target} in {self.draws:,} {how}"

    def __str__(self) -> str:
        found = [f"{name} ({share:.0%})" for name, share in self.frequencies.items() if share >= 0.5]
        lines = [
            f"{self.title}",
            f"  in half of them or more: {', '.join(found) or 'nothing'}",
            f"  by {self.algorithm} with {self.test} at alpha {self.alpha:g}: {self.mean_size:.3g} variables in a draw "
            f"on average, {sum(s > 0 for s in self.frequencies.values()):,} at least once, {self.seconds:.3g} s",
        ]
        if not self.complete:
            lines.append("  interrupted: this is what had been found by then")
        return "\n".join([*lines, *(f"  note: {note}" for note in self.notes)])


def stability(
    data: Any,
    target: str | int,
    *,
    draws: int = 100,
    sampling: Sampling = "half",
    finds: Finds = "blanket",
    algorithm: str | LocalAlgorithm = "auto",
    test: str = "auto",
    alpha: float = 0.05,
    max_conditioning: int | None = None,
    reliability: Reliability = "auto",
    dof: DofRule = "auto",
    random_state: int = 0,
    n_jobs: int = 1,
    progress: bool | ProgressCallback | None = None,
    knowledge: Knowledge | Mapping[str, Any] | None = None,
    known_members: Collection[str | int] = (),
    forbidden_members: Collection[str | int] = (),
    **algorithm_options: Any,
) -> Stability:
    """Search again and again in rows drawn from the data, and count how often each variable is found.

    Parameters
    ----------
    data
        Anything a `Table` can be made of. It is encoded once; kinds and levels are those of the whole table.
    target
        The variable, by name or position.
    draws
        How many samples are drawn and searched.
    sampling
        "half": half of the rows, each at most once, in pairs of halves that have no row in common. "bootstrap": as many
        rows as there are, drawn with replacement. In a bootstrap rows come twice and more, and to a test they look like
        so many independent ones: p-values are too small, and many variables that have nothing to do with the target are
        found in some draws (`docs/pictures.md` has figures). In a half they are right, but tests have half the rows.
    finds
        What is asked for: "blanket" or "parents-children".
    random_state
        The seed of the draws. The answer depends on it, and not on `n_jobs`.
    n_jobs
        Threads that search different draws; -1 for all.
    algorithm, test, alpha, max_conditioning, reliability, dof, knowledge, known_members, forbidden_members
        As in `markov_blanket`, and so are all further options.
    progress
        None shows a bar on a terminal once the work takes two seconds, True always, False never; a callable is told
        after each draw.

    Returns
    -------
    Stability
        The share of the draws in which each variable was found. Interrupted by Ctrl-C, that of the draws searched by
        then; a KeyboardInterrupt if there were none.
    """
    if isinstance(data, IndependenceTest):
        raise InputTypeError(
            f"stability draws rows again, which a test on given data ({type(data).__name__}) cannot do; pass the table"
        )
    if sampling not in SAMPLINGS:
        raise OptionError(f"sampling={sampling!r} is not known; use one of {', '.join(map(repr, SAMPLINGS))}")
    if not is_integer(draws) or draws < 1:
        raise OptionError(f"draws must be a whole number from 1 on, not {draws!r}")
    if not is_integer(random_state) or random_state < 0:
        raise OptionError(f"random_state must be a whole number from 0 on, not {random_state!r}")
    table = as_table(data)
    if sampling == "half" and table.rows < 4:
        raise OptionError(f"a half of {table.rows} rows is too little to search; use sampling='bootstrap'")
    query = Query.make(
        table, finds, algorithm, test, alpha, max_conditioning, reliability, dof, None, algorithm_options
    )
    query, at = query.with_knowledge(knowledge, target, known_members, forbidden_members)
    query.search(at)  # refuses what a search would refuse
    jobs = thread_count(n_jobs)
    resampler = Resampler(table)
    found: dict[int, tuple[str, ...]] = {}
    show = ProgressBar("draws", draws, progress)
    started = time.perf_counter()

    def one(draw: int, watch: ProgressCallback) -> Result:
        sample = resampler.draw(rows_of_draw(table.rows, draw, sampling, random_state))
        return query.on(sample).run(at, watch=watch)

    def keep(draw: int, result: Result) -> None:
        found[draw] = result.members
        show.advance(result.target, result.members, result.tests, result.skipped)

    try:
        parallel_map(one, range(draws), jobs, keep, test=query.source, detach=query.detached)
    except KeyboardInterrupt:
        if not found:
            raise KeyboardInterrupt from None  # nothing to show of the draw that was cut short
    finally:
        show.close()
    counts = Counter(name for members in found.values() for name in members)
    names = [name for name in table.names if name != table.names[at]]
    return Stability(
        target=table.names[at],
        finds=finds,
        sampling=sampling,
        draws=len(found),
        rows=len(rows_of_draw(table.rows, 0, sampling, random_state)),
        mean_size=counts.total() / len(found),
        frequencies={name: counts[name] / len(found) for name in sorted(names, key=lambda name: -counts[name])},
        algorithm=query.algorithm.name,
        test=query.source.name,
        alpha=float(alpha),
        random_state=int(random_state),
        seconds=time.perf_counter() - started,
        complete=len(found) == draws,
        notes=(*table.notes, *query.source.notes),
    )


def rows_of_draw(rows: int, draw: int, sampling: Sampling, random_state: int) -> Rows:
    """Return which rows are drawn, in ascending order: nothing counts but the seed and the number of the draw."""
    if sampling == "bootstrap":
        chosen = np.random.default_rng([random_state, draw]).integers(0, rows, rows)
    else:  # every two draws are halves of one permutation
        shuffled = np.random.default_rng([random_state, draw // 2]).permutation(rows)
        half = rows // 2
        chosen = shuffled[:half] if draw % 2 == 0 else shuffled[half : 2 * half]
    return np.sort(chosen.astype(np.int64))
