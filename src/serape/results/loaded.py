"""Results about one target, read from files that their `save` wrote."""

from __future__ import annotations

import os
from typing import Any

from serape.files import as_path
from serape.results import all_blankets, knockoffs, result
from serape.results.saved import DAMAGED, damaged, read_saved

_FORMATS = {
    result.FORMAT: result.result_from_dict,
    all_blankets.FORMAT: all_blankets.AllBlankets.from_dict,
    knockoffs.FORMAT: knockoffs.KnockoffSelection.from_dict,
}


def load_result(path: str | os.PathLike[str]) -> Any:
    """Read a result written by `Result.save`, `AllBlankets.save` or `KnockoffSelection.save`.

    Parameters
    ----------
    path
        The JSON file.

    Returns
    -------
    Result, AllBlankets or KnockoffSelection
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
    content = read_saved(as_path(path), tuple(_FORMATS), "result")
    try:
        return _FORMATS[content["format"]](content)
    except DAMAGED as error:
        raise damaged(path, error) from None
