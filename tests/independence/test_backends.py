"""Who answers: the choice as docs/engines.md states it, the tags that it reads, and answers beside the plain twin."""

from __future__ import annotations

import inspect
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import backends
import serape
from backend_questions import table_for
from gpu.emulator import EmulatedDevice
from serape.engines.gpu.pairs import MAX_STRONGEST
from serape.engines.gpu.subsets import MAX_SIZE
from serape.independence import G2, X2, IndependenceTest
from serape.independence.answering import at_once, who_answers
from serape.independence.backends import KERNELS, NO_OFFER, PATTERNS, QUESTIONS, Offer, Shape, choose
from serape.independence.counted import CountedTest
from serape.independence.elsewhere import ELSEWHERE, LARGE_POOL, OFFERS
from serape.independence.mixed import ConditionalGaussian
from serape.independence.partial_correlation import PartialCorrelation
from serape.independence.registry import TESTS, make_test
from serape.independence.residuals import Residuals
from serape.parallel import workers

PAGE = Path(__file__).parents[2] / "docs" / "engines.md"
SHAPES = {
    "`screen`": Shape("screen"),
    "`subsets`": Shape("subsets", pool=100),
    f"… given one of {LARGE_POOL:,} variables or more, the weakest first": Shape("subsets", pool=LARGE_POOL),
    f"… given more than one of {LARGE_POOL:,} variables": Shape("subsets", pool=LARGE_POOL, sizes=range(1, 3)),
    f"… of {LARGE_POOL:,} variables in another order": Shape("subsets", pool=LARGE_POOL, usual=False),
    "`each given the rest`": Shape("each given the rest"),
    "`pairs`": Shape("pairs"),
    "`all pairs` of columns of up to 8 levels": Shape("all pairs"),
    f"… the {MAX_STRONGEST} strongest of each variable": Shape("all pairs", strongest=MAX_STRONGEST),
    "… more of each": Shape("all pairs", strongest=MAX_STRONGEST + 1),
    "`dependent pairs` of all variables": Shape("dependent pairs"),
    "… of some variables": Shape("dependent pairs", usual=False),
    "`screen in another table`": Shape("screen in another table"),
    f"`subsets of many` of 1 to {MAX_SIZE} members": Shape("subsets of many", sizes=range(MAX_SIZE, MAX_SIZE + 1)),
    "… of none": Shape("subsets of many", sizes=range(1)),
    "… of more": Shape("subsets of many", sizes=range(MAX_SIZE + 1, MAX_SIZE + 2)),
    "`growing pool`": Shape("growing pool"),
    "`growing pools` where dependent pairs alone are known": Shape("growing pools"),
    "… where all pairs are known": Shape("growing pools", usual=False),
    "`spouses`, the weakest first, given two or more": Shape("spouses"),
    "… otherwise": Shape("spouses", usual=False),
    "`inter-iapc`": Shape("inter-iapc"),
}
TESTS_HERE: dict[str, type[IndependenceTest]] = {
    "`g2`": G2, "`x2`": X2, "correlations": PartialCorrelation, "`residuals`": Residuals,
    "`mixed` and others": ConditionalGaussian,
}  # fmt: skip


def rows() -> Iterator[str]:
    """Yield the rows of the table."""
    on_device = [name for name, test in TESTS_HERE.items() if test.kept_on_device is not None]
    columns: list[tuple[str, type[IndependenceTest], Offer]] = [
        *((name, test, NO_OFFER) for name, test in TESTS_HERE.items()),
        *((f"{name}, GPU", TESTS_HERE[name], OFFERS[str(TESTS_HERE[name].kept_on_device)]) for name in on_device),
        ("on a cluster", CountedTest, OFFERS["fetched"]),
    ]
    names = ["question", *(name for name, _, _ in columns)]
    yield f"| {' | '.join(names)} |"
    yield f"|{'---|' * len(names)}"
    for label, shape in SHAPES.items():
        found = [choose(shape, test.core_answers, offer) for _, test, offer in columns]
        yield f"| {label} | {' | '.join(one or 'by pattern' for one in found)} |"


def test_the_page_states_who_answers() -> None:
    text = PAGE.read_text(encoding="utf-8")
    table = "\n".join(rows())
    assert table in text, f"docs/engines.md must have this table:\n\n{table}"
    assert {shape.question for shape in SHAPES.values()} == set(QUESTIONS)


def own_tests(of: type[IndependenceTest] = IndependenceTest) -> Iterator[type[IndependenceTest]]:
    for test in of.__subclasses__():
        if test.__module__.startswith("serape."):
            yield test
            yield from own_tests(test)


def test_tags_are_true_of_every_test() -> None:
    for test in {*own_tests()}:
        if inspect.isabstract(test):
            continue
        overridden = {
            name
            for name in PATTERNS
            if getattr(test, QUESTIONS[name].method) is not getattr(IndependenceTest, QUESTIONS[name].method)
        }
        assert test.core_answers & PATTERNS == overridden, test
        assert all(hasattr(test, QUESTIONS[name].method) for name in test.core_answers), test
    assert all(set(QUESTIONS[name].in_place_of) <= PATTERNS for name in KERNELS)


def test_the_refusal_names_the_tests_that_a_device_answers() -> None:
    here = serape.Table({"a": [0.1, 0.4, 0.2, 0.8] * 9, "b": [0.3, 0.1, 0.7, 0.2] * 9}, kinds="continuous")
    with pytest.raises(serape.OptionError) as refused:
        make_test(here, "residuals", engine="gpu")
    named = {name for name in TESTS if f"'{name}'" in str(refused.value).partition(", not test")[0]}
    tables = {name: table_for(name)(np.random.default_rng(0)) for name in TESTS}
    assert named == {name for name in TESTS if make_test(tables[name], name).kept_on_device is not None}


class Own(G2):
    """A test that may answer some questions in its own way, which its class need not say."""


class OwnNumbers(PartialCorrelation):
    """Another one."""


def test_a_class_derived_from_a_test_has_its_tags_only_if_it_says_so() -> None:
    table = serape.load_network("asia").sample(200, 1)
    numbers = table_for("spearman")(np.random.default_rng(0))
    for test in (Own(table), OwnNumbers(numbers)):
        assert all(at_once(test, Shape(name)) is None for name in KERNELS)
        assert {who_answers(test, Shape(name)) for name in PATTERNS} == {"plain"}
        assert test.kept_on_device is None
        assert test.made_again_from is None
        assert test.of_caller
    assert not G2(table).of_caller
    assert Own(table).counts_cells


def test_workers_share_work_with_the_callers_tests_as_threads() -> None:
    table = serape.load_network("asia").sample(200, 1)
    assert workers.choose_workers(Own(table)).run is workers._in_threads
    assert workers.choose_workers(serape.FunctionTest(table, lambda x, y, z: 1.0)).run is workers._in_threads
    assert workers.choose_workers(object()).run is workers._in_threads


def test_a_device_that_has_not_all_columns_leaves_questions_to_the_core() -> None:
    table = serape.Table({name: np.arange(200) % levels for name, levels in (("a", 2), ("b", 3), ("many", 20))})

    class Away:
        kind, here = "planes", True

    test = G2(table)
    test.keep_on_device(Away())
    ask = at_once(test, Shape("spouses"))
    assert ask is not None
    asked: list[Any] = []
    kernel = ELSEWHERE["planes", "spouses"]
    assert ask.together == kernel.together > 0
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ask, "_kernel", type(kernel)("planes", "spouses", lambda *a, **o: asked.append(a)))
        found = ask(0, serape.search.CandidateGroups([([2], ())]), [1], math.log(0.05))
    assert len(asked) == 1
    core = G2(table).find_spouses(0, serape.search.CandidateGroups([([2], ())]), [1], math.log(0.05))
    assert list(found[0][0]) == list(core[0][0])
    Away.here = False  # in a process that was forked
    assert who_answers(test, Shape("spouses")) == "core"


@pytest.mark.parametrize("backend", ["core", "cluster"])
def test_answers_are_those_of_the_plain_twin(backend: str, tmp_path: Path) -> None:
    """`python tests/backends.py` asks more."""
    asked = [cell for cell in backends.cells() if cell.backend == backend and cell.test not in ("gcm", "pcm")]
    assert backends.check(asked, 2, EmulatedDevice(tmp_path)) == []


def test_the_comparison_notices_another_answer(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    marginals, cell = IndependenceTest.marginals, backends.Cell("core", "pairs", "g2")
    monkeypatch.setattr(
        G2, "marginals", lambda test, targets, *rest, **more: marginals(test, targets[::-1][1:], **more)
    )
    assert len(backends.check([cell], 2, EmulatedDevice(tmp_path))) == 1
    assert backends.same([1.0, (math.nan, "x")], [1.0 + 1e-12, (math.nan, "x")], 1e-9)
    assert not backends.same([1.0], [1.0 + 1e-6], 1e-9)
    assert not backends.same([None], [(1.0, 2.0)], 1e-9)
