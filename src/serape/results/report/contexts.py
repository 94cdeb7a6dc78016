"""The report of a blanket in several contexts: that in all rows, with what holds where."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from serape.errors import n_shown
from serape.independence.effects import size_text
from serape.independence.outcomes import p_text, p_value_text
from serape.markup import MAX_TEXT, shown
from serape.results.context_blankets import IN_SOME, UNDECIDED
from serape.results.report.blanket import blanket_page, embedded_variables
from serape.results.report.calls import contexts_calls
from serape.results.report.common import budget_about, few
from serape.results.report.page import Cell, Grid, Name, Page, Words, listed

if TYPE_CHECKING:
    from serape.results.context_blankets import ContextBlankets

MAX_ROWS = 500
"""The largest number of rows of a table."""


def contexts_page(found: ContextBlankets) -> Page:
    """Return the report of a blanket in several contexts: that in all rows, with what holds where."""
    page = blanket_page(found.pooled)
    graph = dict(page.graph)
    inside, excluded = embedded_variables(found.pooled)
    own = [found.target, *inside, *excluded]
    index = {name: k for k, name in enumerate(own)}
    graph["variables"] = [
        *(_in_words(found, name, one) for name, one in zip(own, graph["variables"], strict=False)),
        *graph["variables"][len(own) :],
    ]
    return replace(
        page,
        kicker=f"Markov blanket by {shown(found.context)}",
        answer=_contexts_answer(found),
        facts={
            **page.facts,
            "Contexts": f"{len(found.by_context) + len(found.not_searched):,} of {shown(found.context)}",
            "Tests": f"{found.tests:,}",
            "Skipped": f"{found.skipped:,}",
            "Time": f"{found.seconds:.3g} s",
        },
        warnings=[
            *([[f"The search is {found._unfinished()}."]] if found.pooled.complete and not found.complete else []),
            *page.warnings,
        ],
        graph=graph,
        grids=[_status_grid(found, index), _tests_grid(found, index), *_law_grids(found), *page.grids],
        budget=found.tests_by_size,
        budget_about=budget_about(found.tests, found.skipped, found.tests_by_size),
        notes=found._other_notes(),
        calls=contexts_calls(found),
    )


def _in_words(found: ContextBlankets, name: str, one: dict[str, Any]) -> dict[str, Any]:
    if name not in found.status and name != found.context:
        return one
    status = {} if name == found.context else {"brief": found.status[name]}
    return {**one, **status, "text": shown(found.explain(name), MAX_TEXT)}


def _contexts_answer(found: ContextBlankets) -> Words:
    words: list[str] = [
        "In the blanket of ",
        Name(shown(found.target)),
        f" in all contexts of {shown(found.context)}: ",
    ]
    words += [*(listed(found.common) or ["none"]), "."]
    for status, names in ((IN_SOME, found.in_some), (UNDECIDED, found.undecided)):
        if names:
            words += [f" {status[0].upper()}{status[1:]}: ", *listed(tuple(names)), "."]
    return [*words, f" {shown(found.law, MAX_TEXT)}"]


def _name(name: str, index: dict[str, int]) -> Cell:
    return Cell(shown(name), shown(name), index.get(name))


def _status_grid(found: ContextBlankets, index: dict[str, int]) -> Grid:
    n = n_shown(len(found.members), MAX_ROWS)
    about = (
        "A member in all contexts is found by the search in the rows of each. One in some contexts is not found in "
        "others and tells less there, and the law of the target differs. For those undecided, this is not shown."
    )
    rows = [
        [
            _name(name, index),
            Cell(found.status[name], found.status[name]),
            Cell(few(found.found_in(name)), float(len(found.found_in(name)))),
            Cell("yes" if name in found.blanket else "no", float(name in found.blanket)),
        ]
        for name in found.members[:n]
    ]
    if n < len(found.members):
        about += f" Of {len(found.members):,} members, this file has {n:,}."
    heads = ("Variable", "Status", "Found in", "In all rows")
    return Grid("contexts", "Members by context", about if rows else "There are none.", heads, frozenset(), rows)


def _tests_grid(found: ContextBlankets, index: dict[str, int]) -> Grid:
    evidence = found.evidence
    n = n_shown(len(evidence), MAX_ROWS)
    rows = []
    for row in (evidence[k] for k in range(n)):
        given = row["given"]
        rows.append(
            [
                _name(row["variable"], index),
                Cell(shown(row["context"]), shown(row["context"])),
                Cell("yes" if row["included"] else "no", float(row["included"])),
                Cell(p_text(row["log_p"]), None if math.isnan(row["log_p"]) else row["log_p"]),
                Cell(size_text(row["effect"]), None if math.isnan(row["effect"]) else row["effect"]),
                Cell("not tested" if given is None else shown(given, 200) or "none"),
                Cell("–") if math.isnan(row["p of less"]) else Cell(p_value_text(row["p of less"]), row["p of less"]),
            ]
        )
    about = (
        "The deciding test of each member in each context. For a member that is not found, the last column is the p "
        "of the hypothesis that it tells no less there than in the other contexts."
    )
    if n < len(evidence):
        about += f" Of {len(evidence):,} tests, this file has {n:,}."
    heads = ("Variable", "Context", "Found", "p", "Effect (bits)", "Given", "p of less")
    numbers = frozenset({"p", "Effect (bits)", "p of less"})
    return Grid("by-context", "Tests by context", about if rows else "There are none.", heads, numbers, rows)


def _law_grids(found: ContextBlankets) -> list[Grid]:
    """Return tables of what differs, and of the invariant sets, if there are any."""
    grids = []
    if found.changes:
        rows = [[Cell(shown(name), shown(name)), Cell(_place(found, name))] for name in found.changes[:MAX_ROWS]]
        about = f"The neighbours of {shown(found.context)}: their law given their causes differs between the contexts."
        grids.append(Grid("changes", "What differs", about, ("Variable", "What it is"), frozenset(), rows))
    if found.invariant_sets:
        rows = [[Cell(few(one)), Cell(f"{len(one):,}", float(len(one)))] for one in found.invariant_sets[:MAX_ROWS]]
        about = "The smallest sets of members given which the target is independent of the context."
        if found.causes:
            about += f" In all of them, so causes: {shown(', '.join(found.causes), 300)}."
        grids.append(Grid("invariant", "Invariant sets", about, ("Set", "Size"), frozenset({"Size"}), rows))
    return grids


def _place(found: ContextBlankets, name: str) -> str:
    return "the target" if name == found.target else "a member" if name in found.blanket else "not in the blanket"
