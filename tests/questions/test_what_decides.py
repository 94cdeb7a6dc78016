"""Which test decides on a variable or an edge, and what counts for it, from written answers."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from scripted import DEPENDENT, TOO_FEW_ROWS, Scripted
from serape.independence.outcomes import Outcome
from serape.local.answer import Answer
from serape.questions.deciding import Deciding, Discoveries, Link, Weighed, given_rest, of_members, of_sides
from serape.search import FalseDiscoveryRate, Search
from serape.search.associations import DecidingTest

RATE = FalseDiscoveryRate(0.1, log_alpha=math.log(0.05))
A, B, C, D, E, F, G, H = range(8)
TEST = DecidingTest(math.log(0.01), 9.0, 1.0, True, 100, (C,))


def searched(p: Mapping[str, float], **settings: Any) -> Search:
    """Return a search that has asked all these questions in this order: "ab|c" names the candidate a of a target b."""
    search = Search(Scripted(p, 8), **settings)
    for question in p:
        x, target, *given = ("abcdefgh".index(name) for name in question.replace("|", ""))
        search.ask(x, target, given)
    return search


# --- what counts ------------------------------------------------------------------------------------------------------


def test_what_counts_more_than_the_deciding_test() -> None:
    link = Link(A, B, math.log(0.5), ())
    more = Weighed(math.log(0.02), TEST)
    assert more.weighs_more(B, A) == Link(B, A, math.log(0.02), (C,))
    assert more._replace(link=link).weighs_more(B, A) is link
    assert Weighed(math.log(0.01), TEST).weighs_more(B, A) is None
    assert Weighed(0.0, None).weighs_more(B, A) is None
    assert Weighed(0.0, TEST._replace(separated=True)).weighs_more(B, A) is None


@pytest.mark.parametrize("either", [False, True])
def test_of_two_equal_sides_the_first_counts(either: bool) -> None:
    sides = [Weighed(TEST.log_p, TEST._replace(given=given)) for given in ((C,), ())]
    for first, second in (sides, sides[::-1]):
        assert of_sides([first, second], either=either).test is first.test


def test_no_p_is_above_1() -> None:
    nothing = Weighed(0.0, None)
    assert of_sides([None, None], either=False) == nothing
    assert of_sides([nothing, nothing], either=True) == nothing


def test_members_are_tested_given_the_others_as_the_search_has_asked() -> None:
    test = Scripted({"ba|cd": 0.01, "ca|bd": TOO_FEW_ROWS, "da|bc": 0.5})
    search = Search(test, fdr=RATE, stepwise=True)
    built = search.members(A)
    for x in (D, B, C):
        built.add(x)

    def found(answer: Answer) -> dict[int, tuple[float, tuple[int, ...]]]:
        weighed = given_rest(search, A, answer)
        return {x: (round(math.exp(one.log_p), 9), one.test.given) for x, one in weighed.items() if one.test}

    assert found(Answer(blanket=[B, C, D])) == {B: (0.01, (D, C)), D: (0.5, (B, C))}
    assert found(Answer(parents_children=[B, C, D])) == {B: (0.01, (D, C)), D: (0.5, (B, C))}
    assert found(Answer(blanket=[C, D], parents_children=[D])) == {C: (DEPENDENT, (D,)), D: (DEPENDENT, (C,))}


@pytest.mark.parametrize(
    ("changes", "counts", "link"),
    [
        ({}, 0.01, None),
        ({"cb": 0.03}, 0.03, (C, B, 0.03, ())),
        ({"ba": 0.02, "cb": 0.03}, 0.03, (C, B, 0.03, ())),
        ({"ba": 0.04, "cb": 0.03}, 0.04, (A, B, 0.04, ())),
        ({"ba": 0.03, "cb": 0.03}, 0.03, (A, B, 0.03, ())),  # of equal ones that of the target
        ({"cb|d": 0.04}, 0.04, (C, B, 0.04, (D,))),
        ({"cb": 0.01}, 0.01, None),  # its own test says as much
    ],
)
def test_the_weakest_link_of_a_spouse(
    changes: dict[str, float], counts: float, link: tuple[int, int, float, tuple[int, ...]] | None
) -> None:
    """The spouse c, and the target a, with their child b."""
    search = searched({"ba": 0.002, "cb": 0.003, "ca": 0.5, "ca|b": 0.01} | changes, fdr=RATE)
    weighed = of_members(search, A, Answer(blanket=[C], spouses={C: [B]}), either=False)[C]
    assert math.exp(weighed.log_p) == pytest.approx(counts)
    assert weighed.test is not None
    assert weighed.test.given == (B,)
    assert weighed.link == (None if link is None else Link(*link[:2], math.log(link[2]), link[3]))


def test_an_edge_that_no_test_shows_is_the_weakest_link() -> None:
    search = searched({"cb": 0.003, "ca": 0.5, "ca|b": 0.01}, fdr=RATE)
    weighed = of_members(search, A, Answer(blanket=[C], spouses={C: [B]}), either=False)[C]
    assert (weighed.log_p, weighed.link) == (0.0, Link(A, B, 0.0, ()))


def test_a_link_has_the_p_of_its_test() -> None:
    """Of two tests the better is enough; its p counts twice, and is shown as it is."""
    search = searched({"ba": 0.03, "ab|d": 0.02, "cb": 0.003, "ca": 0.5, "ca|b": 0.01}, fdr=RATE)
    weighed = of_members(search, A, Answer(blanket=[C], spouses={C: [B]}), either=True)[C]
    assert math.exp(weighed.log_p) == pytest.approx(0.04)
    assert weighed.link == Link(A, B, math.log(0.02), (D,))


def test_of_two_equal_children_the_first_counts() -> None:
    search = searched({"ca": 0.5, "ca|b": 0.02, "ca|d": 0.02} | dict.fromkeys(("ba", "da", "cb", "cd"), 0.01), fdr=RATE)
    for children in ((B, D), (D, B)):
        weighed = of_members(search, A, Answer(blanket=[C], spouses={C: children}), either=False)[C]
        assert weighed.test is not None
        assert weighed.test.given == children[:1]
        assert math.exp(weighed.log_p) == pytest.approx(0.04)


def test_two_children_that_show_little_count_as_a_p_of_1() -> None:
    search = searched({"ca": 0.5, "ca|b": 0.7, "ca|d": 0.7} | dict.fromkeys(("ba", "da", "cb", "cd"), 0.01), fdr=RATE)
    weighed = of_members(search, A, Answer(blanket=[C], spouses={C: [B, D]}), either=False)[C]
    assert weighed.log_p == 0.0


# --- what decides -----------------------------------------------------------------------------------------------------

NO_RATE = Discoveries()


def decided(
    search: Search, answer: Answer, found: Discoveries = NO_RATE, *, by_subsets: bool = True
) -> dict[str, tuple[float, str]]:
    """Return p and conditioning set of the test that decides on each variable about a, once it is settled."""
    deciding = Deciding(search, A, answer, found, by_subsets=by_subsets)
    for _ in range(2):  # the second time nothing is left to be done
        deciding.settle()
    latest = {name: search.log(A).latest(x) for x, name in enumerate(search.test.variables)}
    return {
        name: (round(one.outcome.p, 9), "".join("abcdefgh"[z] for z in one.given))
        for name, one in latest.items()
        if one is not None
    }


@pytest.mark.parametrize("by_subsets", [False, True])
def test_the_weakest_association_of_a_neighbour_decides(by_subsets: bool) -> None:
    p = {"ba": 0.01, "ba|c": 0.002, "ca": 0.02, "ca|b": 0.001}
    for answer, b, c in [
        (Answer(parents_children=[B, C]), (0.01, ""), (0.02, "")),
        (Answer(blanket=[B, E]), (0.01, ""), (0.001, "b")),  # nobody tested e
        (Answer(blanket=[B, C], spouses={C: [B]}), (0.01, ""), (0.001, "b")),
    ]:
        assert decided(searched(p), answer, by_subsets=by_subsets) == {"b": b, "c": c}


def test_a_separation_does_not_decide_on_a_member() -> None:
    search = Search(Scripted({"ba": 0.01, "ba|c": 0.5, "ba|d": 0.03}))
    search.ask(B, A)
    search.separate([B], A, [C])
    search.ask(B, A, [D])
    assert decided(search, Answer(blanket=[B])) == {"b": (0.03, "d")}


@pytest.mark.parametrize(("reconciled", "expected"), [(None, (0.01, "")), ([], (0.5, "c")), ([B], (0.01, ""))])
def test_the_other_side_decides_where_it_agrees_with_the_answer(
    reconciled: list[int] | None, expected: tuple[float, str]
) -> None:
    """Only where the sides are to be reconciled, and with these members."""
    search = searched({"ba": 0.01, "ab|c": 0.5}, subject=A)
    deciding = Deciding(search, A, Answer(), NO_RATE, by_subsets=False, reconciled=reconciled)
    deciding.settle()
    latest = search.log(A).latest(B)
    assert latest is not None
    assert (round(latest.outcome.p, 9), "".join("abcdefgh"[z] for z in latest.given)) == expected


def test_what_a_rate_judged_decides() -> None:
    """Also on what it leaves out, whatever separates that."""
    search = searched({"ba|c": 0.5, "ba|d": 0.01, "ca": 0.01}, fdr=RATE)
    found = Discoveries(0.02, {B: 0.2}, (B,), {B: TEST._replace(log_p=math.log(0.04), given=(E,))})
    assert decided(search, Answer(parents_children=[C]), found) == {"b": (0.04, "e"), "c": (0.01, "")}


@pytest.mark.parametrize("by_subsets", [False, True])
def test_a_separation_decides_on_what_is_left_out(by_subsets: bool) -> None:
    search = searched(
        {
            "ba|c": 0.5, "ba": 0.01,  # the latest test shows dependence
            "ca|b": 0.5, "ca": 0.05,  # at alpha
            "ad|b": 0.5, "da": TOO_FEW_ROWS,
            "ae|b": 0.5,  # it was not tested as a candidate
            "fa|b": 0.5, "fa|c": 0.6,  # the latest separates it, too
            "ga": 0.5, "ga|b": 0.01,  # a member
            "ah|b": 0.5,
        }
    )  # fmt: skip
    search.record_decision(H, A, Outcome(1.0, 1.0, math.log(0.7), reliable=False), (C,))
    answer = Answer(blanket=[G], spouses={G: [B]})
    found = decided(search, answer, by_subsets=by_subsets)
    same = {"f": (0.6, "c"), "g": (0.01, "b")}
    if by_subsets:
        assert found == same | dict.fromkeys("cdh", (0.5, "b")) | {"b": (0.5, "c")}
    else:
        unreliable = found.pop("d")
        assert math.isnan(unreliable[0])
        assert found == same | {"b": (0.01, ""), "c": (0.05, ""), "h": (0.7, "c")}


class Doubtful(Scripted):
    """A test that has a p, but is not reliable, if e is in the conditioning set."""

    def test(self, x: int, y: int, given: Any = ()) -> Outcome:
        """Return the outcome that is written down."""
        outcome = super().test(x, y, given)
        return replace(outcome, reliable=False) if E in given else outcome


def test_what_separates_must_show_independence_when_it_is_repeated() -> None:
    """The same test from the other side, or one that the search read as independence, may not."""
    p = {"ba|d": 0.5, "ca|d": 0.05, "fa|d": 0.01, "ga|d": TOO_FEW_ROWS, "ha|e": 0.5}
    search = Search(Doubtful(p, 8))
    for x in (B, C, F, G, H):
        search.ask(x, A)
    search.record_independence(np.array([B, C, F, G], np.uint32), A, [D])
    search.record_independence(np.array([H], np.uint32), A, [E])
    latest = dict.fromkeys("cfgh", (DEPENDENT, ""))
    assert decided(search, Answer(blanket=[])) == latest | {"b": (0.5, "d")}


@pytest.mark.parametrize("by_subsets", [False, True])
def test_what_was_read_as_independence_shows_what_it_was(by_subsets: bool) -> None:
    test = Scripted({"ba": TOO_FEW_ROWS, "ca": 0.5})
    search = Search(test)
    with search.read_as_independence("all"):
        assert search.separate([B, C, D], A, []).separated_variables == [B, C]
    found = decided(search, Answer(parents_children=[D]), by_subsets=by_subsets)
    assert math.isnan(found.pop("b")[0])
    assert found == {"c": (0.5, ""), "d": (DEPENDENT, "")}
    latest = search.log(A).latest(B)
    assert latest is not None
    assert not latest.outcome.reliable
    assert test.asked == [(B, A, ()), (C, A, ()), (D, A, ()), (B, A, ())]


def test_a_p_of_1_is_believed() -> None:
    search = searched({"ba": 1.0})
    assert decided(search, Answer(blanket=[])) == {"b": (1.0, "")}
    assert isinstance(search.test, Scripted)
    assert search.test.asked == [(B, A, ())]
