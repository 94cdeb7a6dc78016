"""Long lists in messages: the first few, and the number of the others, but never "and 1 more"."""

from __future__ import annotations

import numpy as np
import pytest

import serape
from serape.errors import abbreviate, first_few, n_shown
from serape.records import Records
from serape.results.explanation import Evidence
from serape.results.report.common import Embedded, few
from serape.results.report.page import listed


@pytest.mark.parametrize(("total", "shown"), [(0, 0), (4, 4), (5, 5), (6, 6), (7, 5), (100, 5)])
def test_one_alone_is_not_hidden(total: int, shown: int) -> None:
    assert n_shown(total, 5) == shown
    names = [f"x{k}" for k in range(total)]
    text = abbreviate(names)
    assert text.count("'x") == shown
    assert text.endswith(f" and {total - shown} more") == (shown < total)


def test_first_few_say_what_the_others_are() -> None:
    assert first_few("abcdefgh", str.upper, 2, what="letters", between="; ") == "A; B and 6 more letters"
    assert first_few("abc", max_items=2) == "a, b, c"


@pytest.mark.parametrize("max_names", [4, 12])
def test_names_in_reports(max_names: int) -> None:
    for total in range(max_names + 4):
        words = "".join(listed([f"x{k}" for k in range(total)], max_names))
        assert words.count("x") == n_shown(total, max_names)
        assert "and 1 more" not in words
    assert "".join(few(["a"] * 5)) == "a, a, a, a and a"
    assert Embedded().group("", [f"x{k}" for k in range(101)])["more"] == 0
    assert Embedded().group("", [f"x{k}" for k in range(102)])["more"] == 2


def test_rows_of_tables() -> None:
    for total, lines in ((60, 61), (61, 62), (62, 62)):
        text = repr(Records({"x": list(range(total))}))
        assert len(text.splitlines()) == lines
        assert ("… and 2 more rows" in text) == (total == 62)
    for total, rows in ((20, 21), (21, 22), (22, 21)):  # with the head
        html = Records({"x": list(range(total))})._repr_html_()
        assert html.count("<tr>") == rows
        assert ("… and 2 more rows" in html) == (total == 22)


def test_levels_of_a_column() -> None:
    values = {count: np.arange(60) % count for count in (3, 4, 5)}
    described = serape.describe({f"x{count}": map(str, v) for count, v in values.items()}, kinds="categorical").columns
    assert [column.values.count("%") for column in described] == [3, 4, 3]
    assert [column.values.endswith("…") for column in described] == [False, False, True]


def test_the_explanation_of_a_member() -> None:
    names = ["t", "x", *(f"z{k}" for k in range(10))]
    for count in (8, 9, 10):
        columns = {
            "statistic": [9.0] * 12,
            "dof": [1.0] * 12,
            "log_p": [-9.0] * 12,
            "reliable": [True] * 12,
            "which": [0] * 12,
        }
        given = tuple(range(2, 2 + count))
        trace = Evidence(names, lambda columns=columns, given=given: (columns, [given], [], {}, {}))  # type: ignore[misc]
        found = serape.markov_blanket({"t": [0, 1] * 50, "x": [0, 1] * 50}, "t", algorithm="iamb")
        text = trace.explain("x", found).text
        assert text.count("z") == (8 if count == 10 else count)
        assert "and 1 more" not in text
