"""The blanket of several targets together.

The smallest set outside the targets that makes all of them together independent of everything else is the union of
their blankets, without the targets. Of a distribution with the intersection property (any positive one, and any that is
faithful to a DAG):

- It is enough. Join two variables by an edge if they depend on each other given all others; the blanket of a variable
  are its neighbours. Every path from a target to the rest goes through a neighbour of a target that is no target, so
  the union separates the targets from the rest in this graph, and by the global Markov property in the distribution.
- Nothing can be left out. If the targets were independent of a member Y given the other members, then by contraction
  they would be independent of Y and the rest together, and by weak union a target whose blanket has Y would be
  independent of Y given all other variables.

So no search of its own is needed, and the answer is unique.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any, Unpack

from serape._keywords import Keywords
from serape.checks import is_several
from serape.errors import InputTypeError, OptionError, abbreviate, either, shown
from serape.questions.blankets import ask_of_many
from serape.questions.query import Query
from serape.questions.run import Run
from serape.results.joint_blanket import JointBlanket
from serape.settings import Settings, question
from serape.types import LocalAlgorithm


@question(
    command=(
        "serape joint patients.csv --target ECG --target ChestPain",
        "serape joint patients.csv --target ECG --target ChestPain --picture joint.png --report report.html --json",
    ),
    about="Find the blanket of several columns together: the smallest set of others that tells all about them.\n\n"
    "Prints the members with the targets that they serve, what all targets share, and notes.",
    words={"targets": "A target: a column that the question is about. Repeat it for each of the targets."},
)
def joint_blanket(
    data: Any,
    targets: Iterable[str | int],
    algorithm: str | LocalAlgorithm = "auto",
    **settings: Unpack[Keywords],
) -> JointBlanket:
    """Find the Markov blanket of several variables together: the smallest set outside them that tells all about them.

    It is the union of their blankets, without the targets (docs/contexts.md). The searches share work,
    as in `blankets`.

    Parameters
    ----------
    data, algorithm
        As for `markov_blanket`.
    targets
        Two or more variables, by name or position.

    Returns
    -------
    JointBlanket
        The blanket, what the targets share, and which targets each member serves.

    Raises
    ------
    Interrupted
        On Ctrl-C; its `found` is the result so far.

    Examples
    --------
    >>> found = serape.joint_blanket(patients, ["ECG", "ChestPain"], alpha=0.01)
    >>> found.blanket, found.shared
    (('Anxiety', 'HeartDisease'), ('HeartDisease',))
    """
    asked = Settings.of(algorithm=algorithm, **settings)
    query = Query.resolve(data, "blanket", asked)
    if not is_several(targets):
        raise InputTypeError(
            f"targets must be a list of variables, not {shown(targets)}; for one target use markov_blanket"
        )
    positions = [query.position(target) for target in targets]
    names = query.source.variables
    twice = [names[x] for x, count in Counter(positions).items() if count > 1]
    if twice:
        raise OptionError(f"the target {abbreviate(twice)} is named twice; name each target once")
    if len(positions) < 2:
        single = either("markov_blanket", "serape blanket")
        raise OptionError(f"a joint blanket has two or more targets; for one target use {single}")
    run = Run(asked.run, query.source)
    by_target = ask_of_many(query.constrained(asked.search, positions), positions, asked.run)
    run.interrupted = len(by_target) < len(positions)
    tests: Counter[int] = Counter()
    for one in by_target.values():
        tests.update(one.tests_by_size)
    found = JointBlanket(
        targets=tuple(names[x] for x in positions),
        by_target=by_target,
        names=tuple(names),
        tests=sum(tests.values()),
        tests_by_size=dict(sorted(tests.items())),
        skipped=sum(one.skipped for one in by_target.values()),
        seconds=run.seconds,
        complete=not run.interrupted and all(one.complete for one in by_target.values()),
        notes=tuple(dict.fromkeys(note for one in by_target.values() for note in one.notes)),
    )
    return run.hand_over(found)
