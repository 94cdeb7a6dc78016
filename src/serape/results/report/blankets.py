"""The report of all blankets of a target."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from serape.errors import n_shown
from serape.independence.effects import size_text
from serape.independence.outcomes import p_text
from serape.markup import MAX_TEXT, shown
from serape.results.report.calls import blankets_calls
from serape.results.report.common import Embedded, budget_about, few, provenance_pairs, skipped_about
from serape.results.report.data import data_grid
from serape.results.report.page import Cell, Grid, Name, Page, Words, listed

if TYPE_CHECKING:
    from serape.results.all_blankets import AllBlankets

MAX_MEMBERS = 300
"""The largest number of members that are embedded: those of the first blankets."""
MAX_DRAWN = 120
MAX_SETS = 500
"""The largest number of blankets, and of trials, in the tables."""
_KINDS = {"indispensable": "neighbour", "replaceable": "spouse", "undecided": "member"}
"""How a member is drawn, by status."""
_MEANING = {
    "target": "the target",
    "neighbour": "indispensable: in every blanket",
    "spouse": "replaceable: something else may stand for it",
    "member": "undecided: in every blanket found, but not shown to be needed",
}


def blankets_page(found: AllBlankets) -> Page:
    """Return the report of all blankets: their members, the blankets, and the trials that decided."""
    inside = found.members[: n_shown(len(found.members), MAX_MEMBERS)]
    drawn = inside[: n_shown(len(inside), MAX_DRAWN)]
    shares = dict(zip(found.records["variable"], found.records["share"], strict=True))
    names = Embedded()
    names.indices([found.target, *inside])
    variables = [
        {"name": shown(found.target), "kind": "target", "role": "target", "text": f"{found.title}: {found.counted}.",
         "facts": [], "sets": []},
        *(_variable(found, name, shares[name], names) for name in inside),
    ]  # fmt: skip
    kinds = {"target", *(_KINDS[found.status[name]] for name in drawn)}
    return Page(
        kicker="All Markov blankets",
        title=shown(found.target),
        answer=_answer(found),
        facts=_facts(found),
        warnings=_warnings(found),
        hint="Choose a variable to see what may stand for it. The thicker a line, the more blankets have the variable."
        if inside
        else "",
        legend={kind: meaning for kind, meaning in _MEANING.items() if kind in kinds},
        widths={"in every blanket": 1.0, "in half of them": 0.5} if inside else {},
        graph={
            "mode": "around",
            "centre": 0,
            "variables": [*variables, *({"name": shown(name)} for name in names.names[len(variables) :])],
            "described": len(variables),
            "absent": len(found.members) - len(inside),
            "drawn": [0, *(names.index(name) for name in drawn)],
            "edges": [
                {"a": 0, "b": names.index(name), "arrow": 0, "strength": shares[name]}
                | ({"loose": 1} if found.status[name] == "undecided" else {})
                for name in drawn
            ],
            "label": f"Graph of {len(drawn):,} members around {shown(found.target)}",
        },
        grids=(
            _members_grid(found, inside, names),
            _blankets_grid(found),
            _trials_grid(found),
            *data_grid(found.data, [found.target, *inside]),
        ),
        budget=found.tests_by_size,
        budget_about=budget_about(found.tests, found.skipped, found.tests_by_size),
        notes=found._other_notes(),
        reproduce=provenance_pairs(found.data),
        calls=blankets_calls(found),
    )


def _variable(found: AllBlankets, name: str, share: float, names: Embedded) -> dict[str, Any]:
    sets = [
        names.group("Replaceable by" if one else "May be left out", one) for one in found.replaceable.get(name, ())[:20]
    ]
    return {
        "name": shown(name),
        "kind": _KINDS[found.status[name]],
        "role": found.status[name],
        "brief": f"in {100 * share:.0f} % of the blankets",
        "text": shown(found.explain(name), MAX_TEXT),
        "facts": [["Blankets that have it", f"{round(share * len(found.blankets)):,} of {len(found.blankets):,}"]],
        "sets": sets,
    }


# --- tables ----------------------------------------------------------------------------------------------------------


def _members_grid(found: AllBlankets, inside: tuple[str, ...], names: Embedded) -> Grid:
    about = "For each variable that is in some blanket, whether it can be replaced, and by what."
    if len(inside) < len(found.members):
        about += f" Of {len(found.members):,} variables, this file has {len(inside):,}."
    rows = [
        [
            Cell(shown(row["variable"]), shown(row["variable"]), names.index(row["variable"])),
            Cell(row["status"], row["status"]),
            Cell(f"{row['blankets']:,}", float(row["blankets"])),
            Cell(shown(row["replaceable by"], MAX_TEXT) or "–"),
        ]
        for row in (found.records[k] for k in range(len(inside)))
    ]
    heads = ("Variable", "Status", "Blankets", "Replaceable by")
    return Grid("members", "Members", about if rows else "There are none.", heads, frozenset({"Blankets"}), rows)


def _blankets_grid(found: AllBlankets) -> Grid:
    n = n_shown(len(found.blankets), MAX_SETS)
    about = "The first is what a single search finds."
    if n < len(found.blankets):
        about += f" Of {len(found.blankets):,} blankets, this file has {n:,}."
    if found.interchangeable:
        about += " Of duplicate columns, each blanket names one; any of the others would do as well."
    rows = [
        [Cell(f"{k:,}", float(k)), Cell(f"{len(one):,}", float(len(one))), Cell(listed(one, 40, 40) or ["none"])]
        for k, one in enumerate(found.blankets[:n], 1)
    ]
    return Grid("blankets", "Blankets", about, ("Blanket", "Size", "Members"), frozenset({"Blanket", "Size"}), rows)


def _trials_grid(found: AllBlankets) -> Grid:
    n = n_shown(len(found.trials), MAX_SETS)
    about = (
        "Sets that a search finds without some variables. A set is a blanket if, given it, neither these nor the "
        "members of the first blanket depend on the target; the strongest of these tests is shown."
    )
    if n < len(found.trials):
        about += f" Of {len(found.trials):,} trials, this file has {n:,}."
    rows = [
        [
            Cell(few(trial.removed)),
            Cell(few(trial.members)),
            Cell(trial.verdict, trial.verdict),
            Cell(shown(trial.variable), shown(trial.variable)),
            Cell("–") if trial.log_p is None else Cell(p_text(trial.log_p), trial.log_p),
            Cell("–") if trial.effect is None else Cell(size_text(trial.effect), trial.effect),
        ]
        for trial in found.trials[:n]
    ]
    heads = ("Without", "Found", "Verdict", "Tested variable", "p", "Effect (bits)")
    title = "Trials"
    return Grid("trials", title, about if rows else "There are none.", heads, frozenset({"p", "Effect (bits)"}), rows)


# --- sentences -------------------------------------------------------------------------------------------------------


def _answer(found: AllBlankets) -> Words:
    words: list[str] = [f"{found.counted[0].upper()}{found.counted[1:]} of ", Name(shown(found.target)), "."]
    if found.indispensable:
        words += [" Indispensable: ", *listed(found.indispensable), "."]
    if found.replaceable:
        words += [" Replaceable: ", *listed(found.replaceable), "."]
    if found.undecided:
        words += [" Undecided: ", *listed(found.undecided), "."]
    return words


def _facts(found: AllBlankets) -> dict[str, str]:
    facts = {"Algorithm": found.algorithm, "Test": found.test, "Alpha": f"{found.alpha:g}"}
    if found.fdr is not None:
        facts["False discovery rate"] = f"{found.fdr:g}"
    if found.data is not None:
        facts |= {"Rows": f"{found.data.rows:,}", "Columns": f"{found.data.columns:,}"}
    return {**facts, "Searches": f"{found.searches:,}", "Tests": f"{found.tests:,}", "Time": f"{found.seconds:.3g} s"}


def _warnings(found: AllBlankets) -> list[Words]:
    warnings: list[Words] = []
    if not found.complete:
        warnings.append([f"The search is {found._unfinished()}; there may be more blankets."])
    if found.skipped:
        bound = found.options.get("max_conditioning")
        warnings.append([skipped_about(found.tests, found.skipped, bound if isinstance(bound, int) else None)])
    return warnings
