"""What is in the data, before any question is asked about them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import permutations
from typing import Any, Unpack

import numpy as np

from serape._keywords import Keywords
from serape.data.degenerate import Degenerate, degenerate
from serape.data.table import Table
from serape.errors import (
    InputTypeError,
    OptionError,
    SerapeError,
    abbreviate,
    either,
    embedded,
    first_few,
    is_integer,
)
from serape.independence import IndependenceTest
from serape.questions.choice import choose_learner, choose_network
from serape.questions.duplicates import target_duplicates_note
from serape.questions.leaks import MAX_LEFT, Leaks, find_leaks, share_left, some_rows
from serape.questions.query import Query
from serape.results.description import AutomaticChoice, Description, NearlyDetermined, column_facts, empty_column
from serape.settings import FIELDS, DataSettings, Settings, check_options, question, refuse
from serape.structure.registry import NETWORK_ALGORITHMS
from serape.structure.score_choice import automatic_score
from serape.wording import OTHERS, setting

MAX_COMPARED = 60
"""Columns are compared in pairs if there are at most so many."""
MAX_CANDIDATES = 10_000
"""The largest number of columns that are compared with the target."""
_FEW_ROWS, _MANY_ROWS = 500, 20_000  # of pairs of columns: first the few, then the many
_OWN = {f for f in FIELDS if f in DataSettings.__dataclass_fields__}


@question(without=dict.fromkeys((name for name in FIELDS if name not in _OWN), "no search is made"))
def describe(data: Any, target: str | int | None = None, **settings: Unpack[Keywords]) -> Description:
    """Describe data: every column, what is odd about them, and what the automatic choice of a search would be.

    Parameters
    ----------
    data
        As for `markov_blanket`; not an independence test. Missing values are counted, not refused.
    target
        A variable, by name or position: columns that tell it by themselves are likely leaks, and are named.

    Returns
    -------
    Description
        Print it, or read its attributes: kinds, levels, missing values, constants, duplicates, identifiers, dates,
        columns that others tell nearly exactly, leaks, and the meaning of "auto".

    The time is linear in the size of the data, but for pairs of columns: these are compared in up to 20,000 rows, and
    only if there are at most 60 columns. A note reports what was not compared.

    Examples
    --------
    >>> described = serape.describe(patients, "HeartDisease")
    >>> described.title
    '2,000 rows and 14 columns, target HeartDisease'
    >>> print(described.choices[0])
    markov_blanket: hpc with g2 at alpha 0.01, false discovery rate 0.2 (adaptive), conditioning sets of any
    size
    """
    refuse(describe, settings)
    asked = Settings.of(**settings)
    check_options("describe", asked.options, ["target"])
    if isinstance(data, IndependenceTest):
        raise InputTypeError(f"describe needs data, not the independence test {data.name!r}; pass its table")
    table = _TolerantTable.of(data, asked.data if isinstance(data, Table) else _counting(asked.data))
    if table.empty and is_integer(target):
        raise OptionError("name the target, because columns without values are left out and positions differ")
    notes = [*table.notes]
    if table.missing:
        notes.append(
            f"a search needs a rule for missing values: {setting('missing', 'drop')}, {setting('missing', 'pairwise')} "
            f"(assumed here) or {setting('missing', 'level')}"
        )
    try:
        query = Query.resolve(table, "blanket", Settings())
        choices = _choices(table, query)
    except SerapeError as error:
        query, choices = None, ()
        notes.append(f"no search is possible: {embedded(error)}")
    at = None if target is None else table.position(target) if query is None else query.position(target)
    odd = degenerate(table)
    notes += replace(odd, constant=()).notes
    determined, told = _determined(table, odd)
    notes += told
    leaks = Leaks("") if at is None or query is None else find_leaks(query.search(at), at, (), MAX_CANDIDATES)
    if at is not None:
        notes += _leak_notes(odd.interchangeable(table.names[at]), leaks)
    remarks = _remarks(table, odd, determined, leaks, at)
    gaps = list(table.missing.values())
    return Description(
        rows=table.rows,
        complete_rows=table.rows - int(np.logical_or.reduce(gaps).sum()) if gaps else table.rows,
        target=None if at is None else table.names[at],
        columns=(
            *(column_facts(table, k, remarks.get(name, ())) for k, name in enumerate(table.names)),
            *(empty_column(name, table.rows) for name in table.empty),
        ),
        empty=table.empty,
        constant=odd.constant,
        identifiers=tuple(table.names[k] for k in sorted(table.identifiers)),
        dates=tuple(name for name, kind in table.kinds.items() if kind == "date"),
        duplicates=odd.duplicates,
        rescaled=odd.rescaled,
        determined=determined,
        copies=leaks.copies,
        leaks=leaks.likely,
        choices=choices,
        notes=tuple(notes),
    )


# --- internal --------------------------------------------------------------------------------------------------------


class _TolerantTable(Table):
    """A table without the columns that have no values, which `empty` names."""

    _leave_out_empty = True


def _counting(settings: DataSettings) -> DataSettings:
    """Return the settings, with missing values kept and counted unless the caller has a rule for them."""
    rules = settings.missing
    if isinstance(rules, Mapping):
        return replace(settings, missing={OTHERS: "pairwise", **rules})
    return replace(settings, missing="pairwise") if rules == "error" else settings


def _choices(table: Table, query: Query) -> tuple[AutomaticChoice, ...]:
    """Return what "auto" means for a blanket, for parents and children, and for a network."""
    name = choose_network(table, by_score=False)
    network = NETWORK_ALGORITHMS.get(name)
    score = None if network is None or network.search is None else automatic_score(table, network.score)
    by_score = AutomaticChoice("network", name, None, None, None, None, None, score)
    learner = name if network is None else network.learner or name
    return (
        _choice("markov_blanket", query),
        _choice("parents_children", Query.resolve(table, "parents-children", Settings())),
        by_score
        if score is not None and not (network and network.learner)
        else replace(
            _choice(
                "network",
                Query.resolve(table, "parents-children", Settings.of(algorithm=learner), choose=choose_learner),
            ),
            algorithm=name,
            score=score,
        ),
    )


def _choice(question: str, query: Query) -> AutomaticChoice:
    fdr = query.fdr
    return AutomaticChoice(
        question,
        query.algorithm.name,
        query.source.name,
        query.alpha,
        None if fdr is None else fdr.rate,
        None if fdr is None else fdr.method,
        query.max_conditioning,
    )


def _determined(table: Table, odd: Degenerate) -> tuple[tuple[NearlyDetermined, ...], list[str]]:
    """Return the columns that others tell nearly exactly, the most exact first, and a note about them."""
    later = {name for groups in (odd.duplicates, odd.rescaled) for group in groups for name in group[1:]}
    compared = [k for k in table.varying if table.names[k] not in later]
    if len(compared) > MAX_COMPARED:
        return (), [
            f"columns that others tell nearly exactly were not looked for, because there are {len(compared):,} columns "
            f"and at most {MAX_COMPARED} are compared in pairs"
            f"{either('; serape.degenerate(data, tolerance=0.01) compares all columns of categories', '')}"
        ]
    few, many = some_rows(table, _FEW_ROWS), some_rows(table, _MANY_ROWS)
    found = []
    for x, y in permutations(compared, 2):
        if share_left(table, y, x, few) <= 2 * MAX_LEFT and (left := share_left(table, y, x, many)) <= MAX_LEFT:
            found.append(NearlyDetermined(table.names[y], table.names[x], max(0.0, left)))
    found.sort(key=lambda one: one.left)
    told = {(one.by, one.variable) for one in found}
    pairs = [
        f"{one.by!r} tells {one.variable!r}{' and the other way round' if both else ''}"
        for one in found
        if not (both := (one.variable, one.by) in told) or one.by < one.variable
    ]
    if not pairs:
        return (), []
    return tuple(found), [
        f"nearly determined, so neighbours of these can be lost (ignore the less useful of the two): "
        f"{first_few(pairs, between='; ')}"
    ]


def _leak_notes(same: Sequence[str], leaks: Leaks) -> list[str]:
    notes = [target_duplicates_note(same)] if same else []
    notes += leaks.notes
    if leaks.unchecked:
        notes.append(f"{leaks.unchecked:,} columns were not compared with the target, because there are too many")
    return notes


def _remarks(
    table: Table, odd: Degenerate, determined: Sequence[NearlyDetermined], leaks: Leaks, target: int | None
) -> Mapping[str, list[str]]:
    """Return, by column, what is odd about it beside others."""
    remarks: dict[str, list[str]] = {}
    if target is not None:
        remarks[table.names[target]] = ["the target"]
    for names, what in ((leaks.copies, "copy of the target in other units"), (leaks.likely, "likely leak")):
        for name in names:
            remarks.setdefault(name, []).append(what)
    for what, groups in (("duplicate of", odd.duplicates), ("up to scale equal to", odd.rescaled)):
        for group in groups:
            for name in group:
                first = next(other for other in group if other != name)
                more = f" and {len(group) - 2:,} more" if len(group) > 2 else ""
                remarks.setdefault(name, []).append(f"{what} {first!r}{more}")
    by: dict[str, list[str]] = {}
    for one in determined:
        by.setdefault(one.variable, []).append(one.by)
    for name, others in by.items():
        remarks.setdefault(name, []).append(f"told by {abbreviate(others, 3)}")
    return remarks
