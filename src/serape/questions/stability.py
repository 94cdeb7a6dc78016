"""How often a variable is found when the rows are drawn again.

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

    Returns
    -------
    Stability
        The share of the draws in which each variable was found. Interrupted by Ctrl-C, that of the draws searched by
        then; a KeyboardInterrupt if there were none. The answer depends on `random_state` (0 if not given), the seed of
        the draws, and not on `n_jobs`.
    """
    if isinstance(data, IndependenceTest):
        raise InputTypeError(
            f"stability draws rows again, which a test on given data ({type(data).__name__}) cannot do; pass the table"
        )
    if sampling not in SAMPLINGS:
        raise OptionError(f"sampling={sampling!r} is not known; use one of {', '.join(map(repr, SAMPLINGS))}")
    if not is_integer(draws) or draws < 1:
        raise OptionError(f"draws must be a whole number from 1 on, not {draws!r}")
    asked = Settings.of(algorithm=algorithm, **settings)
    seed = asked.search.random_state
    if isinstance(seed, np.random.Generator):
        raise OptionError("random_state must be a whole number, the seed of the draws, not a generator")
    random_state = 0 if seed is None else int(seed)
    asked = replace(asked, search=replace(asked.search, random_state=None))
    table = Table.of(data, asked.data)
    if sampling == "half" and table.rows < 4:
        raise OptionError(f"a half of {table.rows} rows is too little to search; use sampling='bootstrap'")
    query, at = Query.about(table, target, finds, replace(asked, data=DataSettings()))
    resampler = Resampler(table)
    found: dict[int, tuple[str, ...]] = {}
    bar = ProgressBar("draws", draws, asked.run.progress)
    started = time.perf_counter()

    def one(draw: int, watch: ProgressCallback) -> Result:
        sample = resampler.draw(rows_of_draw(table.rows, draw, sampling, random_state))
        return query.on(sample).run(at, watch=watch)

    def keep(draw: int, result: Result) -> None:
        found[draw] = result.members
        bar.advance(result.target, result.members, result.tests, result.skipped)

    try:
        parallel_map(one, range(draws), asked.run.threads, keep, test=query.source, detach=query.detached)
    except KeyboardInterrupt:
        if not found:
            raise KeyboardInterrupt from None  # nothing to show of the draw that was cut short
    finally:
        bar.close()
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
        alpha=float(query.alpha),
        random_state=random_state,
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
