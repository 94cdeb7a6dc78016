"""Which variables enter as alpha grows."""

from __future__ import annotations

import os
import time
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from serape.errors import InputTypeError, OptionError
from serape.independence import DofRule, table_of
from serape.knowledge import Knowledge
from serape.local.registry import LocalAlgorithm
from serape.parallel.map import ProgressBar, parallel_map
from serape.progress import ProgressCallback
from serape.questions.query import Query, Reliability, thread_count
from serape.records import Records
from serape.results.charts import draw_alpha_path
from serape.results.pictures import figure_of, picture_format, save_picture
from serape.results.result import Finds, Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ALPHAS: tuple[float, ...] = tuple(float(f"{alpha:.3g}") for alpha in np.geomspace(1e-10, 0.2, 25))
"""The significance levels looked at if none are named."""


@dataclass(frozen=True)
class AlphaPath:
    """What was found at each significance level."""

    target: str
    finds: Finds
    alphas: tuple[float, ...]
    """The significance levels, ascending; those that were searched, if interrupted."""
    members: tuple[tuple[str, ...], ...] = field(repr=False)
    """What was found at each of them, in the table's order."""
    variables: int
    """How many variables there are besides the target."""
    algorithm: str
    test: str
    tests: int
    """Tests performed, at all levels together."""
    seconds: float
    complete: bool
    """False if interrupted."""
    notes: tuple[str, ...] = ()
    """What was treated specially in the data or decided along the way."""

    @cached_property
    def records(self) -> Records:
        """For every variable ever found, the alpha at which it first is, and the share of alphas at which it is.

        In the order in which they enter; of those that enter together the one found more often comes first.
        """
        enters: dict[str, float] = {}
        count: dict[str, int] = {}
        for alpha, members in zip(self.alphas, self.members, strict=True):
            for name in members:
                enters.setdefault(name, alpha)
                count[name] = count.get(name, 0) + 1
        order = sorted(enters, key=lambda name: (enters[name], -count[name]))
        return Records(
            {
                "variable": order,
                "enters": [enters[name] for name in order],
                "share": [count[name] / len(self.alphas) for name in order],
            }
        )

    def plot(self, path: str | os.PathLike[str] | None = None, *, ax: Axes | None = None) -> Axes:
        """Draw at which alphas each variable is in, those that enter first on top; 40 variables at most.

        A search need not keep at a larger alpha what it finds at a smaller one, so a row may have gaps. `path` is a
        file to write the picture to (.png, .svg, .pdf), `ax` are axes to draw in.
        """
        if path is not None:
            picture_format(Path(path))
        ax = draw_alpha_path(self, ax)
        if path is not None:
            save_picture(figure_of(ax), Path(path))
        return ax

    @property
    def title(self) -> str:
        """What was asked, in words."""
        return f"{'Markov blanket' if self.finds == 'blanket' else 'Parents and children'} of {self.target}"

    def __str__(self) -> str:
        lines = [f"{self.title} as alpha grows from {self.alphas[0]:g} to {self.alphas[-1]:g}"]
        lines += [f"  from {row['enters']:.2g}: {row['variable']}" for row in self.records]
        lines.append(f"  by {self.algorithm} with {self.test}: {self.tests:,} tests, {self.seconds:.3g} s")
        if not self.complete:
            lines.append("  interrupted: this is what had been found by then")
        return "\n".join([*lines, *(f"  note: {note}" for note in self.notes)])


def alpha_path(
    data: Any,
    target: str | int,
    alphas: Iterable[float] | None = None,
    algorithm: str | LocalAlgorithm = "auto",
    test: str = "auto",
    *,
    finds: Finds = "blanket",
    max_conditioning: int | None = None,
    reliability: Reliability = "auto",
    dof: DofRule = "auto",
    random_state: int | None = None,
    n_jobs: int = 1,
    progress: bool | ProgressCallback | None = None,
    knowledge: Knowledge | Mapping[str, Any] | None = None,
    known_members: Collection[str | int] = (),
    forbidden_members: Collection[str | int] = (),
    **algorithm_options: Any,
) -> AlphaPath:
    """Search at one significance level after another, and tell which variables enter as alpha grows.

    The data are encoded once. `alphas` are the levels, 25 from 1e-10 to 0.2 if none are named. `finds` is what is asked
    for: "blanket" or "parents-children". `n_jobs` threads work on different levels. All other arguments are those of
    `markov_blanket`; a callable `progress` is told after each level. Interrupted by Ctrl-C, it returns the levels that
    are complete, or raises KeyboardInterrupt if there are none.
    """
    levels = _checked(ALPHAS if alphas is None else alphas)
    query = Query.make(
        data, finds, algorithm, test, levels[0], max_conditioning, reliability, dof, random_state, algorithm_options
    )
    query, at = query.with_knowledge(knowledge, target, known_members, forbidden_members)
    found: dict[int, Result] = {}
    show = ProgressBar("alphas", len(levels), progress)
    started = time.perf_counter()

    def one(index: int, watch: ProgressCallback) -> Result:
        return replace(query, alpha=levels[index]).run(at, watch=watch)

    def keep(index: int, result: Result) -> None:
        found[index] = result
        show.advance(result.target, result.members, result.tests, result.skipped)

    try:
        parallel_map(one, range(len(levels)), thread_count(n_jobs), keep, test=query.source, detach=query.detached)
    except KeyboardInterrupt:
        if not found:
            raise KeyboardInterrupt from None  # nothing to show of the level that was cut short
    finally:
        show.close()
    done = sorted(found)
    table = table_of(query.source)
    return AlphaPath(
        target=query.source.variables[at],
        finds=finds,
        alphas=tuple(levels[index] for index in done),
        members=tuple(found[index].members for index in done),
        variables=len(query.source.variables) - 1,
        algorithm=query.algorithm.name,
        test=query.source.name,
        tests=sum(result.tests for result in found.values()),
        seconds=time.perf_counter() - started,
        complete=len(done) == len(levels),
        notes=(*(() if table is None else table.notes), *query.source.notes),
    )


def _checked(alphas: Iterable[float]) -> tuple[float, ...]:
    if isinstance(alphas, str) or not isinstance(alphas, Iterable):
        raise InputTypeError(f"alphas must be a list of numbers between 0 and 1, not {alphas!r:.60}")
    levels = list(alphas)
    if not levels:
        raise OptionError("alphas is empty; name at least one significance level")
    for alpha in levels:
        if isinstance(alpha, bool) or not isinstance(alpha, int | float | np.number) or not 0 < alpha < 1:
            raise OptionError(f"every alpha must lie between 0 and 1, not be {alpha!r}")
    return tuple(sorted({float(alpha) for alpha in levels}))
