"""The questions about one target."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Unpack

from serape._keywords import Keywords
from serape.progress import progress_callback
from serape.questions.hidden import NOTE, allow_hidden, check_hidden
from serape.questions.resolved import resolve
from serape.results.result import Result
from serape.settings import Settings, question
from serape.types import Finds, LocalAlgorithm


@question()
def markov_blanket(
    data: Any,
    target: str | int,
    algorithm: str | LocalAlgorithm = "auto",
    *,
    hidden: bool = False,
    **settings: Unpack[Keywords],
) -> Result:
    """Find the Markov blanket of a variable: the smallest set that makes it independent of all others.

    Parameters
    ----------
    data
        Anything a `Table` can be made of, a `Table`, a path, or an independence test such as `DSeparation`.
    target
        The variable, by name or position.
    algorithm
        A name from `serape.algorithms()`, a callable `algorithm(search, target, **options)`, or "auto": "hpc" for
        categorical columns, "boss-mb" if some are numbers ("iamb" for more than 150 columns, more than 50,000 rows or
        with missing values, "fbed" for more than 500 columns); docs/choosing.md has the whole rule.
    hidden
        Whether common causes of the variables may be hidden, that is, not among them. If so, the blanket is that of an
        ancestral graph, and "auto" is "fbed" with k = "inf"; algorithms that do not find it are refused
        (docs/hidden-causes.md).

    Returns
    -------
    Result
        The blanket, how it was found, and the evidence for each variable.

    Raises
    ------
    Interrupted
        On Ctrl-C: a KeyboardInterrupt whose `found` is the result so far.

    Examples
    --------
    >>> found = serape.markov_blanket(patients, "HeartDisease", alpha=0.01)
    >>> found.blanket
    ('Age', 'Smoking', 'BloodPressure', 'Anxiety', 'ECG', 'ChestPain')
    >>> print(found.explain("Weight"))
    Weight is not in the Markov blanket of HeartDisease: given BloodPressure, it is independent of HeartDisease
    (g2 = 2.902, 6 degrees of freedom, p = 0.821, 0.001 bits, Cramér's V 0.04, above alpha = 0.01).
    """
    asked = Settings.of(algorithm=algorithm, **settings)
    if check_hidden(hidden):
        return ask(data, target, "blanket", allow_hidden(asked), [NOTE])
    return ask(data, target, "blanket", asked)


@question()
def parents_children(
    data: Any, target: str | int, algorithm: str | LocalAlgorithm = "auto", **settings: Unpack[Keywords]
) -> Result:
    """Find the parents and children of a variable: those adjacent to it in the network behind the data.

    Parameters
    ----------
    data, target, algorithm
        As for `markov_blanket`.

    Returns
    -------
    Result
        The parents and children, how they were found, and the evidence for each variable.

    Raises
    ------
    Interrupted
        On Ctrl-C; its `found` is the result so far.

    Examples
    --------
    >>> serape.parents_children(patients, "HeartDisease", "hiton-pc", alpha=0.01).members
    ('Age', 'Smoking', 'BloodPressure', 'ECG', 'ChestPain')
    """
    return ask(data, target, "parents-children", Settings.of(algorithm=algorithm, **settings))


def ask(data: Any, target: object, finds: Finds, settings: Settings, notes: Sequence[str] = ()) -> Result:
    """Ask a question about one target."""
    query = resolve(data, finds, settings)
    at = query.position(target)
    query = query.constrained(settings.search, [at])
    return query.run(at, settings.run.threads, progress_callback(settings.run.progress), notes=notes, warn=True)
