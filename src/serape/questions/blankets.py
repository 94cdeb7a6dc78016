"""Blankets of many targets at once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Unpack

from serape._keywords import Keywords
from serape.checks import is_several
from serape.errors import InputTypeError, shown
from serape.independence import table_of
from serape.independence.screens import ScreenResult
from serape.parallel.marginals import marginal_tests, shared_tests
from serape.parallel.precompute import precompute_steps
from serape.progress import ProgressCallback
from serape.questions.kept_evidence import KeptEvidence
from serape.questions.query import Query
from serape.questions.run import Run
from serape.results.blankets import Blankets
from serape.results.result import Result
from serape.search.record import Record
from serape.settings import RunSettings, Settings, question
from serape.types import LocalAlgorithm


@question(
    command=(
        "serape blankets patients.csv --alpha 0.01 --report blankets.html",
        "serape blankets patients.csv --target HeartDisease --target ECG --explain Anxiety",
    )
)
def blankets(
    data: Any,
    targets: Iterable[str | int] | None = None,
    algorithm: str | LocalAlgorithm = "auto",
    **settings: Unpack[Keywords],
) -> Blankets:
    """Find the Markov blankets of many targets.

    The table is packed once. Tests given nothing are symmetric, so those between two targets are performed once and
    shared: they are not counted in the `tests` of a result, and a note gives their number. (Above ten million targets
    times variables, where the answers would not fit into memory, each target performs its own.) Divide-and-conquer
    algorithms also find the neighbourhoods of a target's neighbours; each neighbourhood is found once for all targets.
    The answers are those of single searches; the `tests` of a result are those that no earlier target had performed, so
    they depend on the order. Results keep their evidence, up to 256 MiB for all targets together; beyond that, a search
    of its own gathers it when it is first used, and these searches share their steps (docs/memory.md).

    `n_jobs` processes work on different targets, if the work takes more than a moment (docs/cores.md); the answers do
    not depend on it. A callable `progress` is called after each target, with its name, blanket and number of tests.

    Parameters
    ----------
    data, algorithm
        As for `markov_blanket`.
    targets
        The targets, by name or position; by default all variables but constant columns and identifiers.

    Returns
    -------
    Blankets
        The results by name of target, as a dict. On Ctrl-C, those that are complete.

    Examples
    --------
    >>> found = serape.blankets(patients, ["HeartDisease", "ECG"], alpha=0.01)
    >>> {target: result.blanket for target, result in found.items()}
    {'HeartDisease': ('Age', 'Smoking', 'BloodPressure', 'Anxiety', 'ECG', 'ChestPain'), 'ECG':
    ('HeartDisease',)}
    """
    asked = Settings.of(algorithm=algorithm, **settings)
    query = Query.resolve(data, "blanket", asked)
    if targets is None:
        table = table_of(query.source)
        positions = list(range(len(query.source.variables))) if table is None else table.varying
    else:
        if not is_several(targets):
            raise InputTypeError(
                f"targets must be a list of variables, not {shown(targets)}; for one target use markov_blanket"
            )
        positions = list(dict.fromkeys(query.position(t) for t in targets))
    return ask_of_many(query.constrained(asked.search, positions), positions, asked.run)


def ask_of_many(query: Query, positions: list[int], run: RunSettings | None = None) -> Blankets:
    """Ask a question about many targets, which share tests and steps."""
    settings = run or RunSettings()
    call = Run(settings, query.source)
    jobs = settings.threads
    found: dict[int, Result] = {}
    known: Mapping[int, ScreenResult] = {}
    steps = (
        query.shared_steps(len(positions)) if settings.max_tests is None else None
    )  # a count of tests for each target
    notes: list[str] = []
    common = query.excluded(-1)
    precomputed: dict[int, Record] = {}
    again = query.remembering_steps()  # for evidence that is not kept
    room = KeptEvidence(len(positions), len(query.source.variables))

    def one(target: int, watch: ProgressCallback) -> Result:
        # Other targets have the first of several duplicates as a candidate; a target that is a duplicate does not.
        shared = steps if query.excluded(target) == common else None
        counted = precomputed.get(target)
        return query.run(
            target, watch=watch, marginals=known, steps=shared, notes=notes, counted=counted, evidence=room.wanted
        )

    def done(target: int, result: Result) -> None:
        if result.data is None:  # of another process
            result = again.attached(target, result)
        if not room.has_room(result):
            result = replace(result, trace=again.evidence_later(target))
        found[target] = result
        bar.advance(result.target, result.blanket, result.tests, result.skipped)

    with call.part(), call.bar("blankets", len(positions)) as bar:
        unbounded = not settings.bounded  # work that is shared looks at no budget
        known = marginal_tests(query.source, positions, query.knowledge, jobs) if unbounded else {}
        if known:
            notes.append(f"{shared_tests(known):,} tests given nothing are shared between the targets")
        if steps is not None:
            notes.append(
                "neighbourhoods are shared between the targets; `tests` counts those performed for this target"
            )
        sharing = [target for target in positions if query.excluded(target) == common] if steps is not None else []
        if steps is not None and room.wanted:
            steps.evidence_of = frozenset(sharing)
        if unbounded:
            precomputed.update(precompute_steps(query, sharing, jobs, known, steps, settings.progress))
        call.each(one, positions, done, detach=query.detached)
    if call.interrupted:  # the complete results are returned
        left = len(positions) - len(found)
        note = f"interrupted: {left:,} of {len(positions):,} targets are left undone"
        found = {target: replace(result, notes=(*result.notes, note)) for target, result in found.items()}
    names = query.source.variables
    return Blankets(
        {names[target]: found[target] for target in positions if target in found},
        targets=[names[target] for target in positions],
        seconds=call.seconds,
    )
