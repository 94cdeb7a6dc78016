"""The contexts of a table: the column that tells them apart, the tests on the rows of each, and of invariance."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from serape.data.table import Table
from serape.errors import DataError, InputTypeError, OptionError, abbreviate, either, is_integer, shown
from serape.independence import TESTS, IndependenceTest, position, table_of
from serape.questions.constraints import refuse_identifiers
from serape.questions.query import Query
from serape.settings import Settings
from serape.wording import setting


def context_position(source: IndependenceTest, context: object, target: int) -> int:
    """Return the position of a column that can be the context."""
    if not isinstance(context, str) and not is_integer(context):
        what = "None" if context is None else f"a {type(context).__name__}"
        raise InputTypeError(f"{setting('context')} must be the name or the position of a column, not {what}")
    at = position(source, context)
    name = source.variables[at]
    if at == target:
        raise OptionError(f"{name!r} is both the target and the context; name two columns")
    table = table_of(source)
    if table is None:
        return at
    refuse_identifiers(table, "the context", [at])
    if not table.levels(at):
        raise DataError(
            f"the context {name!r} holds numbers, and contexts are told apart by the levels of a column; pass "
            f"{setting('kinds', {name: 'categorical'})}, or cut it into classes{either(' by serape.discretise', '')}"
        )
    if at in table.missing:
        row = int(np.argmax(table.missing[at]))
        raise DataError(f"the context {name!r} has no value in row {row + 1}; give it one, or leave the row out")
    if table.is_constant(at):
        raise DataError(f"the context {name!r} has one value; at least two contexts are needed to compare them")
    if at in table.duplicates:
        same = [table.names[k] for k in table.duplicates[at] if k != at]
        raise DataError(
            f"the context {name!r} has a duplicate, {abbreviate(same)}; pass {setting('ignore', same)} when the data "
            f"are read"
        )
    return at


def refuse_member(source: IndependenceTest, given: Any, context: int, name: str) -> None:
    """Refuse the context among known or forbidden members."""
    groups = given.values() if isinstance(given, Mapping) else [given]
    if any(position(source, x) == context for group in groups for x in group):
        raise OptionError(
            f"{source.variables[context]!r} is the context, which is always tested; remove it from {setting(name)}"
        )


def judging_query(query: Query, asked: Settings) -> Query:
    """Return the question whose tests judge invariance: without a rate, and without a limit on conditioning sets.

    Given a whole blanket, p-values of G² are far too small or too large, whatever the degrees of freedom. Those of
    "x2-moments" are right (docs/contexts.md has figures), so it takes the place of G² unless you choose the test.
    """
    query = replace(query, fdr=None)
    if asked.search.max_conditioning == "auto":
        query = replace(query, max_conditioning=None)
    table = table_of(query.source)
    chosen = asked.search.test != "auto" or asked.search.dof != "auto"
    entry = TESTS.get(query.source.name)
    right = None if entry is None else entry.given_blankets
    if table is None or chosen or right is None or table.weights is not None:
        return query
    make: Callable[..., IndependenceTest] = query.make_source
    return replace(query, source=make(table.whole, test=right))


def tests_of_contexts(query: Query, context: int) -> dict[str, IndependenceTest]:
    """Return, for each context that occurs, the test on its rows; none for a test that knows nothing of contexts.

    An independence test without a table may offer `in_contexts(context)`, which returns them.
    """
    table = table_of(query.source)
    if table is None:
        of_test = getattr(query.source, "in_contexts", None)
        return {} if of_test is None else dict(of_test(context))
    whole = table.whole
    codes, levels = whole.codes(context), whole.column_levels(context)
    columns = range(len(whole.names))
    found: dict[str, IndependenceTest] = {}
    for code in np.unique(codes).tolist():
        part: Table = whole.part(columns, codes == code)
        found[_label(levels[code], found)] = query.make_source(part)
    return found


def _label(level: object, known: Mapping[str, object]) -> str:
    text = str(level)
    return text if text not in known else f"{text} ({shown(level)})"
