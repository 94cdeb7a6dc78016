"""Blankets of many targets at once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from serape.independence import DofRule
from serape.independence.base import ScreenResult, Tally
from serape.knowledge import Knowledge
from serape.local.registry import LocalAlgorithm
from serape.parallel.map import ProgressBar, marginal_tests, parallel_map, shared_tests
from serape.parallel.precompute import precompute_steps
from serape.progress import ProgressCallback
from serape.questions.query import Query, Reliability, thread_count
from serape.results.result import Result


def blankets(
    data: Any,
    targets: Iterable[str | int] | None = None,
    algorithm: str | LocalAlgorithm = "auto",
    test: str = "auto",
    alpha: float = 0.05,
    max_conditioning: int | None = None,
    reliability: Reliability = "auto",
    dof: DofRule = "auto",
    random_state: int | None = None,
    n_jobs: int = 1,
    progress: bool | ProgressCallback | None = None,
    knowledge: Knowledge | Mapping[str, Any] | None = None,
    **algorithm_options: Any,
) -> dict[str, Result]:
    """Find the Markov blankets of many targets (all variables, if none are named); a dict by name of target.

    The table is packed once. Tests given nothing are symmetric, so those between two targets are performed once and
    shared: they are not in a result's own `tests`, and a note says how many there were. (Above ten million targets
    times variables, where the answers would not fit memory, each target asks for itself.) Divide-and-conquer algorithms
    look at the neighbours of a target's neighbours too; each neighbourhood is found once for all targets. The answers
    are those that each target would get by itself; a result's `tests` are those that nobody had performed before, so
    they depend on who came first. Evidence is gathered when it is first looked at, by a search of its own.
    Constant columns are left out when no targets are named.

    `n_jobs` processes (on Linux; elsewhere threads, which wait for each other) work on different targets, if the first
    ones show that it will take more than a moment; the answers do not depend on it. Interrupted by Ctrl-C, it returns
    the results that are complete. All other arguments are those of `markov_blanket`; a callable `progress` is told
    after each target, with its name, blanket and number of tests.
    """
    query = Query.make(
        data, "blanket", algorithm, test, alpha, max_conditioning, reliability, dof, random_state, algorithm_options
    )
    query, _ = query.with_knowledge(knowledge)
    if targets is None:
        table = getattr(query.source, "table", None)
        positions = list(range(len(query.source.variables))) if table is None else table.varying
    else:
        positions = list(dict.fromkeys(query.position(t) for t in targets))
    return ask_of_many(query, positions, thread_count(n_jobs), progress)


def ask_of_many(
    query: Query, positions: list[int], jobs: int = 1, progress: bool | ProgressCallback | None = None
) -> dict[str, Result]:
    """Ask a question of many targets, sharing what can be shared."""
    found: dict[int, Result] = {}
    show = ProgressBar("blankets", len(positions), progress)
    known: Mapping[int, ScreenResult] = {}
    memory = query.memory(len(positions))
    notes: list[str] = []
    common = query.duplicates(-1)
    ahead: dict[int, Tally] = {}

    def one(target: int, watch: ProgressCallback) -> Result:
        # A copy of an earlier column is searched for by itself: for the others the first one stands in its place.
        shared = memory if query.duplicates(target) == common else None
        result = query.run(target, watch=watch, marginals=known, memory=shared, notes=notes)
        return result if target not in ahead else result.with_added_tests(ahead[target])

    def done(target: int, result: Result) -> None:
        found[target] = query.attached(target, result)
        show.advance(result.target, result.blanket, result.tests, result.skipped)

    try:
        known = marginal_tests(query.source, positions, query.knowledge, jobs)
        if known:
            notes.append(f"{shared_tests(known):,} tests given nothing were shared between the targets")
        if memory is not None:
            notes.append("neighbourhoods found for other targets were shared; `tests` are those performed for this one")
        alike = [target for target in positions if query.duplicates(target) == common] if memory is not None else []
        taken, jobs = precompute_steps(query, alike, jobs, known, memory, progress)
        ahead.update(taken)
        parallel_map(one, positions, jobs, done, test=query.source, detach=query.detached)
    except KeyboardInterrupt:
        pass  # what is complete is returned
    finally:
        show.close()
    return {query.source.variables[target]: found[target] for target in positions if target in found}
