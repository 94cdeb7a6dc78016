"""Conditional probabilities estimated from data, for arcs that are given."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from serape.data.table import Table
from serape.errors import DataError, InputTypeError, OptionError, abbreviate
from serape.networks.network import Network, Probabilities, describe_cycle, find_cycle, is_name, parents_first
from serape.wording import setting

MAX_CELLS = 50_000_000
"""The largest number of probabilities of one variable."""


def fit(table: Table, parents: Mapping[str, Sequence[str]], equivalent_sample_size: float = 1.0) -> Network:
    """Return the network of a table's columns with the given arcs and with probabilities estimated from the rows.

    `parents` names the parents of each column (a column that is not in it has none). In each configuration of its
    parents, the probability of a level is (count + s / rq) / (total + s / q), where the variable has r levels, its
    parents have q configurations and s is the `equivalent_sample_size`: the mean of the posterior under a BDeu prior.
    With 0 it is the frequency (maximum likelihood). In a configuration that does not occur, all levels are equally
    likely. If the rows have weights, counts are sums of weights, scaled to the effective number of rows.

    The names of levels are their text, as `str` gives it: `True`, `1`, `2.5`, and `None` for the level of missing
    values.
    """
    if not isinstance(table, Table):
        raise InputTypeError(f"a Table is needed, not a {type(table).__name__}; pass serape.Table(data)")
    if not isinstance(parents, Mapping):
        raise InputTypeError(f"parents must be a dict of lists of names, not a {type(parents).__name__}")
    size = _checked_size(equivalent_sample_size)
    if table.continuous:
        names = [table.names[k] for k in table.continuous]
        raise DataError(
            f"a network needs categorical columns, but {abbreviate(names)} {'is' if len(names) == 1 else 'are'} "
            f"continuous; leave them out with {setting('ignore', names[:5])}, or discretise them"
        )
    table.check_complete()
    above = _positions(table, parents)
    levels = {name: level_texts(name, table.variables[name].levels) for name in table.names}
    cpts = {name: _fitted(table, k, above[k], size) for k, name in enumerate(table.names)}
    return Network(levels, {name: parents.get(name, ()) for name in table.names}, cpts)


def _checked_size(size: Any) -> float:
    if isinstance(size, bool) or not isinstance(size, int | float | np.integer | np.floating):
        raise OptionError(f"{setting('equivalent_sample_size', size)} is not a number; give a number, 0 or more")
    if not 0 <= size < math.inf:
        raise OptionError(f"{setting('equivalent_sample_size', size)} must be finite, and 0 or more")
    return float(size)


def _positions(table: Table, parents: Mapping[str, Sequence[str]]) -> list[list[int]]:
    """Return the parents of every column by position; refuse arcs that do not form a network."""
    above: list[list[int]] = [[] for _ in table.names]
    for name, given in parents.items():
        if isinstance(given, str):
            raise DataError(f"the parents of {name!r} are the text {given!r}; give a list of names")
        above[_position(table, name)] = [_position(table, parent) for parent in given]
        if name in given:
            raise DataError(f"{name!r} is its own parent; remove that arc")
        if len(set(given)) < len(given):
            raise DataError(f"{name!r} has the same parent twice among {abbreviate(given)}; name each once")
    order = parents_first(above)
    if len(order) < len(above):
        cycle = [table.names[k] for k in find_cycle(above, order)]
        raise DataError(f"the arcs form a cycle, {describe_cycle(cycle)}; remove one of them")
    return above


def _position(table: Table, name: str) -> int:
    if not isinstance(name, str):
        raise OptionError(f"parents names the column {name!r}; give its name as text")
    return table.position(name)


def level_texts(name: str, levels: Sequence[Any]) -> tuple[str, ...]:
    """Return the names that the levels of a column have in a network; refuse those that cannot be told apart."""
    texts = tuple(map(str, levels))
    if len(set(texts)) < len(texts):
        shared = next(text for text, count in Counter(texts).items() if count > 1)
        first, second, *_ = (level for level, text in zip(levels, texts, strict=True) if text == shared)
        raise DataError(
            f"levels {first!r} and {second!r} of column {name!r} are both called {shared!r} as text; rename one"
        )
    for text in texts:
        if not is_name(text):
            raise DataError(
                f"column {name!r} has the level {text!r}; a level of a network must be text of one line, and not "
                f"empty: rename it"
            )
    return texts


def _fitted(table: Table, k: int, parents: Sequence[int], size: float) -> Probabilities:
    """Return the probabilities of a column: a row for every configuration of its parents; the last varies fastest."""
    columns = table.levels(k)
    rows = math.prod(table.levels(p) for p in parents)
    if rows * columns > MAX_CELLS:
        raise DataError(
            f"the probabilities of {table.names[k]!r} given {abbreviate(table.names[p] for p in parents)} would fill "
            f"{rows * columns:,} cells, more than {MAX_CELLS:,}; remove a parent, or merge levels"
        )
    cell = np.zeros(table.rows, np.intp)
    for column in (*parents, k):
        cell *= table.levels(column)
        cell += table.codes(column)
    scaled = None if table.weights is None else table.weights.scaled
    counts = np.bincount(cell, scaled, rows * columns).reshape(rows, columns)
    totals = counts.sum(axis=1, keepdims=True)
    occurs = totals > 0
    cpt: Probabilities = (counts + size / (rows * columns)) / np.where(occurs, totals + size / rows, 1.0)
    cpt[~occurs[:, 0]] = 1 / columns
    cpt.flags.writeable = False  # so that the network need not copy it
    return cpt
