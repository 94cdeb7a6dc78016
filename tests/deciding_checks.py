"""What holds for every deciding test: it can be performed again, and p, adjusted p, verdict and words agree."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import pytest

import serape

REASONS = (
    "It is a known member.",
    "Knowledge requires an arc between the two.",
    "The search ended before it could enter.",
    "It did not enter: ",
    "the largest p that the rate allows",
    "It is left out because its effect is less than",
)


def given_of(row: Any) -> list[str]:
    """Return the conditioning set of a row of evidence."""
    given = row["given"]
    return list(given) if isinstance(given, tuple) else given.split(", ") if given else []


def same_test(table: serape.Table, x: str, y: str, row: Any, test: str) -> None:
    """Check that a row of evidence is what the test of its variables given its conditioning set says."""
    settings = row.get("settings", {})
    of_counts = settings if settings.get("dof") is not None else {}
    again = serape.ci_test(table, x, y, given_of(row), test=test, **of_counts)
    where = f"{x} – {y} given {given_of(row)}"
    assert again.reliable == bool(row["reliable"]), where
    if again.reliable:
        assert row["statistic"] == pytest.approx(again.statistic, rel=1e-6, abs=1e-6), where
        assert row["dof"] == again.dof, where
        assert row["log_p"] == pytest.approx(again.log_p, rel=1e-6, abs=1e-6), where


def check_result(table: serape.Table, found: serape.Result, **settings: Any) -> Iterator[str]:
    """Check the evidence and the explanations of a result; yield what each row shows."""
    rows = {row["variable"]: dict(row) for row in found.evidence}
    for name, row in rows.items():
        why = found.explain(name)
        assert why.included == row["included"] == (name in found.members)
        adjusted = found.adjusted_p.get(name)
        assert row["adjusted_p"] == adjusted or (adjusted is None and math.isnan(row["adjusted_p"]))
        if found.complete:
            assert "ended before" not in str(why), str(why)
        if row["given"] is None:
            assert "was not tested" in str(why)
            yield "untested"
            continue
        bound = found.options["max_conditioning"]
        if bound is not None and len(given_of(row)) > bound:
            assert not row["reliable"]
            yield "skipped"
            continue
        same_test(table, name, found.target, {**row, "settings": settings}, found.test)
        assert why.given == tuple(given_of(row))
        assert why.effect is None or why.effect.bits == pytest.approx(row["effect"], nan_ok=True)
        if adjusted is not None:
            assert adjusted >= row["p"], str(why)
            assert found.fdr is not None
            assert (adjusted <= found.fdr) == (name in found.members), str(why)
            assert "Its adjusted p is " in str(why)
        dependent = row["reliable"] and row["log_p"] <= math.log(found.alpha)
        if adjusted is None and row["included"] != dependent and row["reliable"]:
            yield "reason" if any(reason in str(why) for reason in REASONS) else f"no reason: {why}"
        yield "skipped" if not row["reliable"] else "dependent" if dependent else "independent"


def check_edges(table: serape.Table, edges: Any, *, rate: float | None, test: str, **settings: Any) -> int:
    """Check the evidence of edges; return how many have an adjusted p."""
    judged = 0
    for x, y, row in edges:
        if "log_p" not in row:
            continue
        same_test(table, x, y, {**row, "settings": settings}, test)
        adjusted = row.get("adjusted_p")
        if adjusted is not None and not math.isnan(adjusted):
            assert rate is not None
            assert math.exp(row["log_p"]) <= adjusted <= rate, (x, y, row)
            judged += 1
    return judged
