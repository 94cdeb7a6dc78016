"""Resolved questions that are remembered for their table, so that calls for one target after another resolve once."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from functools import partial
from typing import Any, NamedTuple

from serape.data.table import Table
from serape.independence import IndependenceTest
from serape.independence.on_engine import on_engine
from serape.questions.query import Query
from serape.search.steps import STEP_BYTES
from serape.settings import Settings
from serape.types import Finds


class _Known(NamedTuple):
    """A resolved question without its test: this refers to the table, which would never be forgotten."""

    settings: Settings
    query: Query
    make_source: Callable[[Table], IndependenceTest]


def resolve(data: Any, finds: Finds, settings: Settings) -> Query:
    """Return what `Query.resolve` does; on a table, for tests in contingency tables, it is remembered.

    Settings are recognised as objects: `Settings.of` returns the same one for the same plain values.
    """
    if not isinstance(data, Table):
        return Query.resolve(data, finds, settings)
    key = "question", finds, id(settings)
    found: _Known | None = data.memory.get(key)
    if found is not None:
        source = on_engine(found.make_source(data), "gpu" if settings.run.engine == "gpu" else "cpu")
        return _with_source(found.query, source)
    query = Query.resolve(data, finds, settings)
    source = query.source
    if source.made_again_from is not None and not source.notes:
        make = partial(type(source), **{name: getattr(source, name) for name in source.made_again_from})
        query = query.remembering_steps()
        _ = query.reported, query.own  # which depend on the test
        known = _Known(settings, _with_source(query, None), make)  # keeps the id from being reused
        data.memory.put(key, known, STEP_BYTES)
    return query


def _with_source(query: Query, source: IndependenceTest | None) -> Query:
    """Return a copy of a question with an equal test; what follows from it is not made again."""
    made = copy(query)
    object.__setattr__(made, "source", source)
    return made
