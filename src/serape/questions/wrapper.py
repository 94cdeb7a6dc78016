"""The wrapper: remove the members of a blanket that a classifier does not need.

Step 6 of GLL-MB (Aliferis 2008), step 4 of HITON (Aliferis, Tsamardinos and Statnikov 2003). A blanket carries
all information about the target, but a classifier may not be able to use all of it. Members are removed, one at a time,
as long as the cross-validated score does not fall.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from serape._keywords import Keywords
from serape.data.table import Table
from serape.errors import DataError, InputTypeError, MissingLibraryError, OptionError, abbreviate, is_integer
from serape.results.result import Result
from serape.settings import Settings, check_options, question, refuse


@question(
    without=dict.fromkeys(
        (
            "algorithm", "test", "alpha", "fdr", "fdr_method", "min_effect", "max_conditioning", "dof", "reliability",
            "random_state", "knowledge", "known_members", "forbidden_members", "progress", "max_seconds", "max_tests",
            "engine",
        ),
        "the members have been found already",
    ) | dict.fromkeys(("sample_weight", "weight_kind", "groups"), "every row counts once, in folds made by `cv`")
)  # fmt: skip
def wrapper(
    data: Any,
    found: Result,
    classifier: Any,
    *,
    cv: Any = 5,
    scoring: Any = None,
    tolerance: float = 0.0,
    **settings: Unpack[Keywords],
) -> Result:
    """Remove members of a blanket that a classifier does not need.

    Backward elimination: the member whose removal gives the highest score is removed if that score is at most
    `tolerance` below the best so far. This repeats until every remaining member is needed, or one is left.

    Parameters
    ----------
    data
        The data in which the blanket was found, or any table with its columns.
    found
        The result with the members.
    classifier
        Any scikit-learn classifier (or pipeline). It receives every level of a member as a column of zeros and ones.
    cv
        As in `sklearn.model_selection.cross_val_score`. With a number, folds are stratified and the same for all sets
        that are compared.
    scoring
        As in `sklearn.model_selection.cross_val_score`.
    tolerance
        The loss in score that is accepted for the removal of one member.

    Returns
    -------
    Result
        The same result with fewer members; a note gives the scores and the removed members.

    Examples
    --------
    >>> from sklearn.naive_bayes import BernoulliNB
    >>> found = serape.markov_blanket(patients, "HeartDisease", alpha=0.01)
    >>> serape.wrapper(patients, found, BernoulliNB(), tolerance=0.01).blanket
    ('Smoking', 'BloodPressure', 'ECG', 'ChestPain')
    """
    refuse(wrapper, settings)
    asked = Settings.of(**settings)
    check_options("wrapper", asked.options, ["cv", "scoring", "tolerance"])
    try:
        from sklearn.base import clone, is_classifier
        from sklearn.model_selection import check_cv, cross_val_score
    except ImportError:
        raise MissingLibraryError(
            "the wrapper needs scikit-learn, 1.6 or newer; install it with: pip install 'serape[sklearn]'"
        ) from None
    if not isinstance(found, Result):
        raise InputTypeError(f"the wrapper takes a Result, not a {type(found).__name__}")
    if not is_classifier(classifier):
        raise InputTypeError(f"the wrapper needs a scikit-learn classifier, not {classifier!r}")
    if not isinstance(tolerance, int | float) or not tolerance >= 0:
        raise OptionError(f"tolerance must be 0 or more, not {tolerance!r}")
    table = Table.of(data, asked.data)
    missing = [name for name in (found.target, *found.members) if name not in table.names]
    if missing:
        raise DataError(f"the table has no column {missing[0]!r}, which the result names")
    target = _codes(table, found.target)
    columns = {name: _indicators(table, name) for name in found.members}
    rarest = int(np.bincount(target)[np.unique(target)].min())
    if is_integer(cv) and not 2 <= cv <= rarest:
        raise OptionError(
            f"cv={cv} needs from 2 to {rarest} folds: the rarest level of {found.target!r} has {rarest} rows"
        )
    folds = list(check_cv(cv, target, classifier=True).split(target, target))

    def score(members: Sequence[str]) -> float:
        features = np.concatenate([columns[name] for name in members], axis=1)
        scores = cross_val_score(
            clone(classifier), features, target, cv=folds, scoring=scoring, n_jobs=asked.run.n_jobs
        )
        return float(np.mean(scores))

    members = list(found.members)
    if len(members) < 2:
        return replace(found, notes=(*found.notes, "wrapper: a blanket of fewer than two members is kept as it is"))
    before = best = score(members)
    dropped: list[str] = []
    while len(members) > 1:
        without = {name: score([m for m in members if m != name]) for name in members}
        least_needed = max(members, key=lambda name: without[name])
        if without[least_needed] < best - tolerance:
            break
        best = max(best, without[least_needed])
        members.remove(least_needed)
        dropped.append(least_needed)
    after = score(members)
    change = (
        f"removed {abbreviate(dropped)}, {before:.4f} → {after:.4f}"
        if dropped
        else f"{before:.4f}, every member is needed"
    )
    spouses = {s: _without(v, dropped) or () for s, v in (found.spouses or {}).items() if s not in dropped}
    return replace(
        found,
        blanket=tuple(x for x in found.blanket if x not in dropped),
        parents_children=_without(found.parents_children, dropped),
        spouses=None if found.spouses is None else spouses,
        dropped=tuple(dropped),
        notes=(*found.notes, f"wrapper, {type(classifier).__name__}, cross-validated score: {change}"),
    )


def _without(names: tuple[str, ...] | None, dropped: Sequence[str]) -> tuple[str, ...] | None:
    return None if names is None else tuple(x for x in names if x not in dropped)


def _codes(table: Table, name: str) -> NDArray[np.uint16]:
    at = table.position(name)
    if at in table.continuous:
        raise DataError(
            f"column {name!r} is continuous, but the wrapper needs categorical columns; divide it into classes with "
            f"serape.discretise"
        )
    return table.packed.codes(at)


def _indicators(table: Table, name: str) -> NDArray[np.float64]:
    """Return a column of zeros and ones for each level (one column for two levels)."""
    codes = _codes(table, name)
    levels = np.arange(1 if table.levels(table.position(name)) == 2 else 0, table.levels(table.position(name)))
    indicators: NDArray[np.float64] = (codes[:, None] == levels).astype(np.float64)
    return indicators
