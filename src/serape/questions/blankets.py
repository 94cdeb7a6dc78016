"""Blankets of many targets at once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Unpack

from serape._keywords import Keywords
from serape.errors import InputTypeError
from serape.independence import table_of
from serape.independence.outcomes import Tally
from serape.independence.screens import ScreenResult
from serape.parallel.map import marginal_tests, parallel_map, shared_tests
from serape.parallel.precompute import precompute_steps
from serape.parallel.progress_bar import ProgressBar
from serape.progress import ProgressCallback
from serape.questions.query import Query
from serape.results.result import Result
from serape.settings import RunSettings, Settings, question
from serape.types import LocalAlgorithm


@question()
def blankets(
    data: Any,
    targets: Iterable[str | int] | None = None,
    algorithm: str | LocalAlgorithm = "auto",
    **settings: Unpack[Keywords],
) -> dict[str, Result]:
    """Find the Markov blankets of many targets (all variables, if none are named); a dict by name of target.

    The table is packed once. Tests given nothing are symmetric, so those between two targets are performed once and
    shared: they are not in a result's own `tests`, and a note gives their number. (Above ten million targets times
    variables, where the answers would not fit memory, each target performs its own.) Divide-and-conquer algorithms
    look at the neighbours of a target's neighbours too; each neighbourhood is found once for all targets. The answers
    are those that each target would get by itself; a result's `tests` are those that no target before it had
    performed, so they depend on the order. Evidence is gathered when it is first looked at, by a search of its own.
    Constant columns are left out when no targets are named.

    `n_jobs` processes (on Linux; elsewhere threads, which wait for each other) work on different targets, if the first
    ones show that it will take more than a moment; the answers do not depend on it. Interrupted by Ctrl-C, it returns
    the results that are complete. A callable `progress` is called after each target, with its name, blanket and number
    of tests.
    """
    asked = Settings.of(algorithm=algorithm, **settings)
    query = Query.resolve(data, "blanket", asked)
    if targets is None:
        table = table_of(query.source)
        positions = list(range(len(query.source.variables))) if table is None else table.varying
    else:
        if isinstance(targets, str) or not isinstance(targets, Iterable):
            raise InputTypeError(
                f"targets must be a list of variables, not {targets!r:.60}; for one, ask markov_blanket"
            )
        positions = list(dict.fromkeys(query.position(t) for t in targets))
    return ask_of_many(query.constrained(asked.search, positions), positions, asked.run)


def ask_of_many(query: Query, positions: list[int], run: RunSettings | None = None) -> dict[str, Result]:
    """Ask a question of many targets, sharing what can be shared."""
    run = run or RunSettings()
    jobs = run.threads
    found: dict[int, Result] = {}
    bar = ProgressBar("blankets", len(positions), run.progress)
    known: Mapping[int, ScreenResult] = {}
    cache = query.cache(len(positions))
    notes: list[str] = []
    common = query.duplicates(-1)
    precomputed: dict[int, Tally] = {}

    def one(target: int, watch: ProgressCallback) -> Result:
        # A duplicate of an earlier column is searched for by itself: for the others the first one stands in its place.
        shared = cache if query.duplicates(target) == common else None
        result = query.run(target, watch=watch, marginals=known, cache=shared, notes=notes)
        return result if target not in precomputed else result.with_added_tests(precomputed[target])

    def done(target: int, result: Result) -> None:
        found[target] = query.attached(target, result)
        bar.advance(result.target, result.blanket, result.tests, result.skipped)

    try:
        known = marginal_tests(query.source, positions, query.knowledge, jobs)
        if known:
            notes.append(f"{shared_tests(known):,} tests given nothing were shared between the targets")
        if cache is not None:
            notes.append("neighbourhoods found for other targets were shared; `tests` are those performed for this one")
        alike = [target for target in positions if query.duplicates(target) == common] if cache is not None else []
        taken, jobs = precompute_steps(query, alike, jobs, known, cache, run.progress)
        precomputed.update(taken)
        parallel_map(one, positions, jobs, done, test=query.source, detach=query.detached)
    except KeyboardInterrupt:
        pass  # what is complete is returned
    finally:
        bar.close()
    return {query.source.variables[target]: found[target] for target in positions if target in found}
