"""Results about one target, read from files that their `save` wrote."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

from serape.results import (
    all_blankets,
    context_blankets,
    joint_blanket,
    knockoffs,
    result,
    saved_causes,
    saved_contexts,
)
from serape.results.saved import load_saved

_FORMATS: dict[str, Callable[[Mapping[str, Any]], Any]] = {
    result.FORMAT: result.result_from_dict,
    all_blankets.FORMAT: all_blankets.AllBlankets.from_dict,
    saved_causes.FORMAT: saved_causes.causes_from_dict,
    context_blankets.FORMAT: saved_contexts.contexts_from_dict,
    joint_blanket.FORMAT: saved_contexts.joint_from_dict,
    knockoffs.FORMAT: knockoffs.KnockoffSelection.from_dict,
}


def load_result(path: str | os.PathLike[str]) -> Any:
    """Read a result written by the method `save` of any result about one target or several.

    Parameters
    ----------
    path
        The JSON file.

    Returns
    -------
    Result, AllBlankets, Causes, ContextBlankets, JointBlanket or KnockoffSelection
        The result, with the evidence and without the data.

    Raises
    ------
    DataError
        If the file is no such result.

    Examples
    --------
    >>> found = serape.markov_blanket(patients, "HeartDisease", alpha=0.01)
    >>> found.save("found.json")
    >>> serape.load_result("found.json").blanket == found.blanket
    True
    """
    return load_saved(path, _FORMATS, "result")
