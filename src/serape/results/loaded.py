"""Results read from files that their `save` wrote."""

from __future__ import annotations

import os
from importlib import import_module
from typing import Any

import serape
from serape.errors import DataError, one_line
from serape.files import as_path, no_file, parsed_json
from serape.results.kind import RESULT_KINDS
from serape.results.structure import Structure

_DAMAGED = (KeyError, TypeError, ValueError, AttributeError, OverflowError, IndexError)
"""What reading the wrong content raises."""


def load_result(path: str | os.PathLike[str]) -> Any:
    """Read a result of any kind, written by its method `save`.

    Parameters
    ----------
    path
        The JSON file.

    Returns
    -------
    object
        The result, of the kind that was saved, with the evidence and without the data.

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
    return _load(path, RESULT_KINDS, "result")


def load_structure(path: str | os.PathLike[str]) -> Structure:
    """Read a structure written by `Structure.save`.

    Parameters
    ----------
    path
        The JSON file.

    Returns
    -------
    Structure
        The structure; it has no data, so it cannot be fitted.

    Raises
    ------
    DataError
        If the file is no such structure.

    Examples
    --------
    >>> found = serape.skeleton(patients, "hiton-pc", alpha=0.01)
    >>> found.save("found.json")
    >>> serape.load_structure("found.json").edges == found.edges
    True
    """
    found: Structure = _load(path, {Structure.format: Structure}, "structure")
    return found


def _load(path: str | os.PathLike[str], kinds: dict[str, Any], what: str) -> Any:
    """Return what the kind with the name of a JSON file makes of it."""
    file = as_path(path)
    try:
        content = parsed_json(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise no_file(file) from None
    except (OSError, ValueError) as error:
        raise DataError(f"{file} cannot be read as JSON: {one_line(error)}") from None
    kind = _kind_of(content, kinds)
    if kind is None and kinds is RESULT_KINDS:
        _import_kinds()
        kind = _kind_of(content, kinds)
    if kind is None:
        raise DataError(f"{file} is not a {what} saved by serape (format {' or '.join(map(repr, kinds))})")
    try:
        return kind.from_dict(content)
    except _DAMAGED as error:
        raise DataError(f"{path} is damaged: {type(error).__name__} {one_line(error)}") from None


def _import_kinds() -> None:
    """Import all kinds of results, which are public classes: one is known only once its module is imported."""
    for module, names in vars(serape)["_NAMES"].items():
        if module.startswith(("results.", "questions.")) and any(name[0].isupper() for name in names):
            import_module(f"serape.{module}")


def _kind_of(content: Any, kinds: dict[str, Any]) -> Any:
    """Return the kind that a file names or, where older versions wrote no name, the one that has its entries."""
    if not isinstance(content, dict):
        return None
    name = content.get("format")
    if name is None:
        return next((kind for kind in kinds.values() if kind._unnamed and kind._unnamed <= content.keys()), None)
    return kinds.get(name) if isinstance(name, str) else None
