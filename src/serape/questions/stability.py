"""How often a variable is found in rows drawn from the data.

Stability selection: Meinshausen and Bühlmann, *Stability selection* (JRSS B 2010); halves in pairs that have no row in
common: Shah and Samworth, *Variable selection with error control: another look at stability selection* (JRSS B 2013).
"""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import replace
from typing import Any, Unpack

import numpy as np

from serape._keywords import Keywords
from serape.data.resampling import Resampler, Rows
from serape.data.table import Table
from serape.errors import InputTypeError, OptionError, is_integer
from serape.independence import IndependenceTest
from serape.parallel.map import parallel_map
from serape.parallel.progress_bar import ProgressBar
from serape.progress import ProgressCallback
from serape.questions.query import Query
from serape.results.result import Result
from serape.results.stability import SAMPLINGS, Sampling, Stability
from serape.settings import DataSettings, Settings, question
from serape.types import Finds, LocalAlgorithm


@question()
def stability(
    data: Any,
    target: str | int,
    *,
    draws: int = 100,
    sampling: Sampling = "half",
    finds: Finds = "blanket",
    algorithm: str | LocalAlgorithm = "auto",
    **settings: Unpack[Keywords],
) -> Stability:
    """Repeat the search in rows drawn from the data, and count how often each variable is found.

    Parameters
    ----------
    data
        Anything a `Table` can be made of. It is encoded once; all draws have the kinds and levels of the whole table.
    target
        The variable, by name or position.
    draws
        The number of samples to draw and search.
    sampling
        "half": half of the rows, each at most once, in pairs of halves that have no row in common. "bootstrap": as many
        rows as there are, drawn with replacement. A bootstrap repeats rows, which a test treats as independent rows:
        p-values are too small, and some draws find variables that are independent of the target (`docs/pictures.md`
        has figures). In a half, p-values are right, but tests have half the rows. With `groups`, whole groups are
        drawn in place of rows.
    finds
        The question: "blanket" or "parents-children".

    Returns
    -------
    Stability
        The share of the draws in which each variable was found. On Ctrl-C, the share of the draws searched so far, or a
        KeyboardInterrupt if there are none. The answer depends on `random_state` (by default 0), the seed of the draws,
        and not on `n_jobs`.
    """
    if isinstance(data, IndependenceTest):
        raise InputTypeError(
            f"stability draws rows from a table, not from an independence test ({type(data).__name__}); pass the table"
        )
    if sampling not in SAMPLINGS:
        raise OptionError(f"sampling={sampling!r} is not known; use one of {', '.join(map(repr, SAMPLINGS))}")
    if not is_integer(draws) or draws < 1:
        raise OptionError(f"draws must be a whole number, 1 or more, not {draws!r}")
    asked = Settings.of(algorithm=algorithm, **settings)
    seed = asked.search.random_state
    if isinstance(seed, np.random.Generator):
        raise OptionError("random_state must be a whole number, the seed of the draws, not a generator")
    random_state = 0 if seed is None else int(seed)
    asked = replace(asked, search=replace(asked.search, random_state=None))
    table = Table.of(data, asked.data)
    resampler = Resampler(table)
    units = resampler.units
    if sampling == "half" and units < 4:
        raise OptionError(
            f"half of {units} {'rows' if table.groups is None else 'groups'} are too few for a search; use "
            f"sampling='bootstrap' (--sampling on the command line)"
        )
    query, at = Query.about(table, target, finds, replace(asked, data=DataSettings()))
    found: dict[int, tuple[str, ...]] = {}
    bar = ProgressBar("draws", draws, asked.run.progress)
    started = time.perf_counter()

    def one(draw: int, watch: ProgressCallback) -> Result:
        sample = resampler.draw_units(rows_of_draw(units, draw, sampling, random_state))
        return query.on(sample).run(at, watch=watch)

    def keep(draw: int, result: Result) -> None:
        found[draw] = result.members
        bar.advance(result.target, result.members, result.tests, result.skipped)

    try:
        parallel_map(one, range(draws), asked.run.threads, keep, test=query.source, detach=query.detached)
    except KeyboardInterrupt:
        if not found:
            raise KeyboardInterrupt from None  # no draw is complete
    finally:
        bar.close()
    counts = Counter(name for members in found.values() for name in members)
    names = [name for name in table.names if name != table.names[at]]
    return Stability(
        target=table.names[at],
        finds=finds,
        sampling=sampling,
        draws=len(found),
        rows=resampler.rows_in(rows_of_draw(units, 0, sampling, random_state)),
        mean_size=counts.total() / len(found),
        frequencies={name: counts[name] / len(found) for name in sorted(names, key=lambda name: -counts[name])},
        algorithm=query.algorithm.name,
        test=query.source.name,
        alpha=float(query.alpha),
        random_state=random_state,
        seconds=time.perf_counter() - started,
        complete=len(found) == draws,
        notes=(*table.notes, *query.source.notes),
    )


def rows_of_draw(rows: int, draw: int, sampling: Sampling, random_state: int) -> Rows:
    """Return the rows, or groups, of a draw, in ascending order; they depend only on the seed and the draw's number."""
    if sampling == "bootstrap":
        chosen = np.random.default_rng([random_state, draw]).integers(0, rows, rows)
    else:  # two successive draws are halves of one permutation
        shuffled = np.random.default_rng([random_state, draw // 2]).permutation(rows)
        half = rows // 2
        chosen = shuffled[:half] if draw % 2 == 0 else shuffled[half : 2 * half]
    return np.sort(chosen.astype(np.int64))
