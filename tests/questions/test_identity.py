"""A question has an identity: what another question found is never taken for its own."""

from __future__ import annotations

import contextlib
import copy
import functools
import inspect
import itertools
import math
import sqlite3
import threading
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression, Ridge

import serape
from serape.independence.permutation import Permutation
from serape.local.gll import GLL, at_the_end, by_association, max_min
from serape.questions.identity import NOT_PART, identity
from serape.questions.query import Query
from serape.settings import FIELDS, SearchSettings, Settings

ASIA = serape.load_network("asia").sample(300, 1).to_pandas()
MEASURED = ASIA.assign(
    visits=np.random.default_rng(1).poisson(2.0, 300),
    gap=ASIA["xray"].astype(str).where(np.arange(300) % 7 > 0),
    ward=np.arange(300) % 10,
    weight=1 + np.arange(300) % 3,
)


def content_of(found: serape.Structure) -> dict[str, Any]:
    content = found.to_dict()
    content.pop("seconds")
    return content


# --- settings -----------------------------------------------------------------------------------------------------

COLUMNS = ["smoke", "lung", "bronc", "dysp"]
PLAIN = {"ignore": ["visits", "gap", "ward", "weight"]}
TEXTS: dict[str, tuple[str, Callable[[list[str]], str], dict[str, Any], dict[str, Any]]] = {
    "header": ("a,b,c\n", ",".join, {"header": True}, {"header": False}),
    "delimiter": ("a;u,b;v,c\n", lambda row: f"{row[0]};{row[1]},{row[1]};{row[2]},{row[2]}", {"delimiter": ","},
                  {"delimiter": ";"}),
    "decimal": ("a;b;c\n", lambda row: f"{len(row[0])},25;{len(row[1])},5;{len(row[2])},75", {"decimal": ","},
                {"decimal": "."}),
    "encoding": ("a,b,c\n", lambda row: ",".join(f"é{value}" for value in row), {"encoding": "utf-8"},
                 {"encoding": "latin-1"}),
    "quote": ("a,b,c\n", lambda row: ",".join(f'"{value}"' for value in row), {"quote": '"'}, {"quote": ""}),
    "comment": ("a,b,c\n", lambda row: ("#" if row == ["no", "no", "no"] else "") + ",".join(row), {"comment": "#"},
                {"comment": ""}),
    "index": ("a,b,c\n", ",".join, {"index": True}, {"index": False}),
    "na_values": ("a,b,c\n", ",".join, {"missing": "level"}, {"na_values": ["yes"], "missing": "level"}),
}  # fmt: skip
"""Of settings about text files: the first line, how a row is written, and two ways to read it."""
CHANGED: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "algorithm": (PLAIN, PLAIN | {"algorithm": "pcmb"}),
    "test": (PLAIN, PLAIN | {"test": "x2"}),
    "alpha": (PLAIN, PLAIN | {"alpha": 0.2}),
    "fdr": (PLAIN, PLAIN | {"fdr": None}),
    "fdr_method": (PLAIN, PLAIN | {"fdr_method": "by"}),
    "min_effect": (PLAIN, PLAIN | {"min_effect": 0.05}),
    "max_conditioning": (PLAIN, PLAIN | {"max_conditioning": 0}),
    "decide_on_part": (PLAIN, PLAIN | {"decide_on_part": False}),
    "dof": (PLAIN, PLAIN | {"dof": "full"}),
    "reliability": (PLAIN, PLAIN | {"reliability": None}),
    "random_state": (PLAIN, PLAIN | {"random_state": 3}),
    "knowledge": (PLAIN, PLAIN | {"knowledge": {"forbidden_pairs": [("smoke", "bronc")]}}),
    "known_members": (PLAIN, PLAIN | {"known_members": ["asia"]}),
    "forbidden_members": (PLAIN, PLAIN | {"forbidden_members": {"smoke": ["bronc"]}}),
    "kinds": ({"ignore": ["gap"], "kinds": {"ward": "count"}}, {"ignore": ["gap"], "kinds": {"ward": "continuous"}}),
    "missing": ({"missing": "level"}, {"missing": "pairwise"}),
    "ignore": (PLAIN, {"ignore": ["visits", "gap", "ward", "weight", "asia"]}),
    "sample_weight": (PLAIN, {"ignore": ["visits", "gap", "ward"], "sample_weight": "weight"}),
    "weight_kind": (
        {"ignore": ["visits", "gap", "ward"], "sample_weight": "weight"},
        {"ignore": ["visits", "gap", "ward"], "sample_weight": "weight", "weight_kind": "survey"},
    ),
    "groups": (PLAIN, {"ignore": ["visits", "gap", "weight"], "groups": "ward"}),
    "table": ({"table": "one"}, {"table": "two"}),
    "n_jobs": (PLAIN, PLAIN | {"n_jobs": 2}),
    "progress": (PLAIN, PLAIN | {"progress": False}),
    "max_seconds": (PLAIN, PLAIN | {"max_seconds": 1000}),
    "max_tests": (PLAIN, PLAIN | {"max_tests": 40}),
    "engine": (PLAIN, PLAIN | {"engine": "cpu"}),
    **{name: (first, second) for name, (_, _, first, second) in TEXTS.items()},
}
"""For every setting, two runs that differ in it."""
THE_SAME = ("n_jobs", "progress", "max_seconds", "engine")
AFTERWARDS = ("fdr_method",)
"""What judges the edges once all neighbourhoods are found."""


def data_for(name: str, folder: Path) -> Any:
    if name == "table":
        path = folder / "data.sqlite"
        with contextlib.closing(sqlite3.connect(path)) as base:
            ASIA[COLUMNS].astype(str).to_sql("one", base, index=False)
            ASIA[COLUMNS[::-1]].astype(str).to_sql("two", base, index=False)
        return path
    if name in TEXTS:
        first, written, _, _ = TEXTS[name]
        path = folder / "data.csv"
        rows = ASIA[["smoke", "bronc", "dysp"]].astype(str).to_numpy().tolist()
        path.write_text(first + "".join(f"{written(row)}\n" for row in rows), encoding="utf-8")
        return path
    return MEASURED


def test_every_setting_is_changed() -> None:
    assert set(CHANGED) == set(FIELDS), "a new setting needs two runs in CHANGED that differ in it"


def test_settings_are_part_or_listed() -> None:
    asked = identity(Query.resolve(ASIA, "parents-children", Settings.of(algorithm="hiton-pc")))
    assert set(FIELDS) == {name for name in asked if name in FIELDS} | set(NOT_PART)


@pytest.mark.parametrize("name", CHANGED)
def test_a_changed_setting_is_refused_or_changes_nothing(name: str, tmp_path: Path) -> None:
    data = data_for(name, tmp_path)
    first, second = CHANGED[name]
    ask = functools.partial(serape.skeleton, data, algorithm="hiton-pc")
    refused = 0
    for number, (one, other) in enumerate([(first, second), (second, first)]):
        path = tmp_path / f"{number}.jsonl"
        ask(**one, checkpoint=path)
        try:
            found = ask(**other, checkpoint=path)
        except serape.OptionError as refusal:
            assert str(path) in str(refusal)
            assert "\n" not in str(refusal)
            refused += 1
            continue
        assert content_of(found) == content_of(ask(**other, checkpoint=tmp_path / f"{number}.fresh"))
        assert found.edges == ask(**other).edges
    assert refused == (1 if name == "max_tests" else 0 if name in (*THE_SAME, *AFTERWARDS) else 2)


def test_more_tests_may_be_performed_later(tmp_path: Path) -> None:
    ask = functools.partial(serape.skeleton, serape.load_network("child").sample(200, 1), "hiton-pc")
    whole = ask()
    for tests in (150, 200, 240, whole.tests + 1, whole.tests + 100):
        path = tmp_path / str(tests)
        begun = ask(max_tests=tests, checkpoint=path)
        assert content_of(begun) == content_of(ask(max_tests=tests))
        assert content_of(ask(max_tests=tests, checkpoint=path)) == content_of(begun)
        more = ask(max_tests=tests + 20, checkpoint=path)
        assert content_of(more) == content_of(ask(max_tests=tests + 20))
        assert content_of(ask(checkpoint=path)) == content_of(whole)
        with pytest.raises(serape.OptionError, match="has the answers of .* leaves none; pass a larger number"):
            ask(max_tests=150, checkpoint=path)


@pytest.mark.parametrize("tests", [312, 321, 330])
def test_steps_that_are_found_again_do_not_count_in_the_budget(tests: int, tmp_path: Path) -> None:
    ask = functools.partial(serape.skeleton, serape.load_network("child").sample(200, 1), "hiton-pc")
    ask(max_tests=tests, checkpoint=tmp_path / "kept")
    found = ask(max_tests=tests + 15, checkpoint=tmp_path / "kept")
    assert content_of(found) == content_of(ask(max_tests=tests + 15))


def test_tests_given_nothing_stay_shared_in_a_small_budget(tmp_path: Path) -> None:
    few = serape.load_network("child").sample(60, 1)

    def stop(now: serape.Progress) -> None:
        del now
        raise KeyboardInterrupt

    with pytest.raises(serape.Interrupted) as stopped:
        serape.skeleton(few, "hiton-pc", checkpoint=tmp_path / "kept", progress=stop)
    shared = stopped.value.found.tests_by_size[0]
    assert stopped.value.found.tests < 189 < math.comb(len(few.names), 2)
    found = serape.skeleton(few, "hiton-pc", checkpoint=tmp_path / "kept", max_tests=189)
    assert found.tests_by_size[0] == shared


def test_more_time_may_be_given_later(tmp_path: Path) -> None:
    ask = functools.partial(serape.skeleton, serape.load_network("child").sample(200, 1), "hiton-pc")
    assert not ask(max_seconds=1e-9, checkpoint=tmp_path / "c").complete
    assert content_of(ask(max_seconds=1000, checkpoint=tmp_path / "c")) == content_of(ask())


# --- what tests, algorithms and data are made of --------------------------------------------------------------------

NUMBERS = pd.DataFrame(np.random.default_rng(5).normal(size=(60, 3)).cumsum(axis=1), columns=["a", "b", "c"])


def defined(source: str, **known: Any) -> Any:
    """Return the function `f` that a text defines, as a program of its own does."""
    exec(compile(source, "<program>", "exec"), known)
    return known["f"]


SHIFTED = "def f(x, y, z, by={by}):\n    return min(1.0, abs(x[0] - y[0]) + by){ending}"
HELPED = "def helper(v):\n    return v[0]{ending}\ndef f(x, y, z):\n    return min(1.0, abs(helper(x) - helper(y)))"
NAMED = "def f(x, y, z):\n    return 0.5 if {name} in {{'u', 'v', 'w'}} else math.exp(-abs(x[0])){ending}"


def shifted(by: float) -> Callable[..., float]:
    def f(x: Any, y: Any, z: Any) -> float:
        del z
        return min(1.0, abs(float(x[0] - y[0])) + by)

    return f


class Shifted:
    def __init__(self, by: float) -> None:
        self.by = by

    def __call__(self, x: Any, y: Any, z: Any) -> float:
        del z
        return min(1.0, abs(float(x[0] - y[0])) + self.by)

    def method(self, x: Any, y: Any, z: Any) -> float:
        return self(x, y, z)


class Threshold(serape.IndependenceTest):
    """A caller's own test; what it answers depends on a private attribute."""

    name = "threshold"

    def __init__(self, by: float) -> None:
        self.table = serape.Table(NUMBERS)
        self.variables = self.table.names
        self._by = by

    def test(self, x: int, y: int, given: Any = ()) -> serape.Outcome:
        del given
        return serape.Outcome(0.0, 1.0, -self._by * (x + y), reliable=True)


class Lower(Threshold):
    def test(self, x: int, y: int, given: Any = ()) -> serape.Outcome:
        del x, y, given
        return serape.Outcome(0.0, 1.0, -self._by, reliable=True)


class Widened(serape.GCM):
    """A test that adds to one of serape, and says what."""

    made_of = ("width",)

    def __init__(self, width: float) -> None:
        super().__init__(NUMBERS)
        self.width = width


class Silent(serape.GCM):
    """A test that adds to one of serape without a word."""


def of(function: Any, data: Any = NUMBERS, **more: Any) -> serape.FunctionTest:
    return serape.FunctionTest(data, function, "mine", **more)


def two_lines(ending: str = "", by: float = 0.0) -> Any:
    return defined(SHIFTED.format(by=by, ending=ending))


def found_by(search: serape.Search, target: int) -> list[int]:
    return search.dependents(target, search.candidates(target))


def counted_by(search: serape.Search, target: int, most: int = 3) -> list[int]:
    return search.dependents(target, search.candidates(target))[:most]


def weighted(kind: str, first: float = 1.0) -> serape.Table:
    weights = np.ones(300)
    weights[0] = first
    return serape.Table(ASIA, sample_weight=weights, weight_kind=kind)  # type: ignore[arg-type]


def grouped(last: int) -> serape.Table:
    return serape.Table(ASIA, groups=[*range(299), last])


def gaps(rule: str) -> serape.Table:
    return serape.Table(MEASURED[["gap", "lung"]], missing=rule)  # type: ignore[arg-type]


def other_value() -> pd.DataFrame:
    frame = ASIA.copy()
    frame.loc[0, "lung"] = "yes" if frame.loc[0, "lung"] == "no" else "no"
    return frame


MADE: dict[str, tuple[Any, Any]] = {
    "another function": (lambda: of(two_lines()), lambda: of(two_lines(" / 2"))),
    "another default": (lambda: of(two_lines(by=0.1)), lambda: of(two_lines(by=0.2))),
    "another helper": (lambda: of(defined(HELPED.format(ending=""))),
                       lambda: of(defined(HELPED.format(ending=" / 2")))),
    "another enclosed value": (lambda: of(shifted(0.1)), lambda: of(shifted(0.2))),
    "another partial": (lambda: of(functools.partial(two_lines(), by=0.1)),
                        lambda: of(functools.partial(two_lines(), by=0.2))),
    "another state of an object": (lambda: of(Shifted(0.1)), lambda: of(Shifted(0.2))),
    "another state behind a method": (lambda: of(Shifted(0.1).method), lambda: of(Shifted(0.2).method)),
    "another global value": (lambda: of(defined(NAMED.format(name="k", ending=""), k="u")),
                             lambda: of(defined(NAMED.format(name="k", ending=""), k="v"))),
    "another test": (lambda: Threshold(0.1), lambda: Threshold(0.2)),
    "another class": (lambda: Threshold(0.1), lambda: Lower(0.1)),
    "another attribute of a test that adds": (lambda: Widened(1.0), lambda: Widened(2.0)),
    "another regressor": (lambda: serape.GCM(NUMBERS, LinearRegression()), lambda: serape.GCM(NUMBERS, Ridge())),
    "another parameter of it": (lambda: serape.PCM(NUMBERS, Ridge(2)), lambda: serape.PCM(NUMBERS, Ridge(3))),
    "other folds": (lambda: serape.GCM(NUMBERS), lambda: serape.GCM(NUMBERS, folds=4)),
    "other tails": (lambda: serape.PCM(NUMBERS), lambda: serape.PCM(NUMBERS, tails=None)),
    "another seed": (lambda: serape.GCM(NUMBERS), lambda: serape.GCM(NUMBERS, random_state=1)),
    "another minimum": (lambda: serape.GCM(NUMBERS), lambda: serape.GCM(NUMBERS, minimum=6)),
    "more permutations": (lambda: Permutation(serape.Table(ASIA), permutations=20),
                          lambda: Permutation(serape.Table(ASIA), permutations=30)),
    "a full permutation test": (lambda: Permutation(serape.Table(ASIA), permutations=20),
                                lambda: Permutation(serape.Table(ASIA), permutations=20, stop_early=False)),
    "another seed of permutations": (lambda: Permutation(serape.Table(ASIA), permutations=20),
                                     lambda: Permutation(serape.Table(ASIA), permutations=20, seed=1)),
    "rows in another order": (lambda: ASIA, lambda: ASIA.iloc[::-1]),
    "another value": (lambda: ASIA, lambda: other_value()),
    "columns in another order": (lambda: ASIA, lambda: ASIA[ASIA.columns[::-1]]),
    "another name": (lambda: ASIA, lambda: ASIA.rename(columns={"tub": "tb"})),
    "another level": (lambda: ASIA, lambda: ASIA.assign(lung=ASIA["lung"].astype(str).replace("yes", "Yes"))),
    "weights": (lambda: ASIA, lambda: weighted("survey", 2)),
    "other weights": (lambda: weighted("survey", 3), lambda: weighted("survey", 2)),
    "another kind of weights": (lambda: weighted("frequency"), lambda: weighted("survey", 2)),
    "other groups": (lambda: grouped(298), lambda: grouped(297)),
    "gaps as a level": (lambda: gaps("level"), lambda: gaps("pairwise")),
}  # fmt: skip
"""Two things to ask that differ."""
THE_SAME_AGAIN: dict[str, Any] = {
    "a function": lambda: of(two_lines()),
    "a function that names others": lambda: of(defined(HELPED.format(ending=""))),
    "a function with a set of words": lambda: of(defined(NAMED.format(name="k", ending=""), k="u")),
    "a function that encloses": lambda: of(shifted(0.1)),
    "an object": lambda: of(Shifted(0.1)),
    "a test": lambda: Threshold(0.1),
    "a test that adds": lambda: Widened(1.0),
    "regressors": lambda: serape.GCM(NUMBERS, Ridge(2)),
    "permutations": lambda: Permutation(serape.Table(ASIA), permutations=20),
    "gaps": lambda: gaps("pairwise"),
    "weights": lambda: weighted("survey", 2),
}


def ask(data: Any, path: Path, algorithm: Any = found_by, **more: Any) -> serape.Structure:
    return serape.skeleton(data, algorithm, checkpoint=path, max_conditioning=0, **more)


@pytest.mark.parametrize("name", MADE)
def test_a_question_made_of_something_else_is_refused(name: str, tmp_path: Path) -> None:
    first, second = MADE[name]
    for one, other in ((first, second), (second, first)):
        path = tmp_path / "kept.jsonl"
        ask(one(), path)
        with pytest.raises(serape.OptionError, match="belongs to a run with"):
            ask(other(), path)
        path.unlink()


@pytest.mark.parametrize("name", THE_SAME_AGAIN)
def test_the_same_made_again_is_taken_over(name: str, tmp_path: Path) -> None:
    made = THE_SAME_AGAIN[name]
    found = ask(made(), tmp_path / "kept.jsonl")
    kept = (tmp_path / "kept.jsonl").read_text()
    assert content_of(ask(made(), tmp_path / "kept.jsonl")) == content_of(found)
    assert (tmp_path / "kept.jsonl").read_text() == kept
    assert "0x" not in kept


def test_a_copy_of_a_test_is_the_same_question() -> None:
    class Own(Threshold):
        """A class of which no object was ever copied."""

    test = Own(0.1)
    query = functools.partial(Query.resolve, finds="blanket", settings=Settings.of(algorithm="iamb"))
    before = identity(query(test))
    assert identity(query(copy.copy(test))) == before
    assert identity(query(test)) == before


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (found_by, counted_by),
        (functools.partial(counted_by, most=1), functools.partial(counted_by, most=2)),
        (GLL(by_association).parents_children, GLL(max_min).parents_children),
        (GLL(by_association).parents_children, GLL(by_association, interleaving=at_the_end).parents_children),
    ],
)
def test_algorithms_of_callers(first: Any, second: Any, tmp_path: Path) -> None:
    table = serape.Table(ASIA)
    for one, other in ((first, second), (second, first)):
        path = tmp_path / "kept.jsonl"
        assert content_of(ask(table, path, one)) == content_of(ask(table, path, one))
        with pytest.raises(serape.OptionError, match="belongs to a run with algorithm"):
            ask(table, path, other)
        path.unlink()


def test_options_of_algorithms(tmp_path: Path) -> None:
    path = tmp_path / "kept.jsonl"
    ask(ASIA, path, "hiton-pc", symmetry=False)
    with pytest.raises(serape.OptionError, match="belongs to a run with symmetry False, not None"):
        ask(ASIA, path, "hiton-pc")


LOCK, DRAWN = threading.Lock(), np.random.default_rng(1)


def with_a_lock(x: Any, y: Any, z: Any) -> float:
    del x, y, z
    with LOCK:
        return 0.5


def with_chance(x: Any, y: Any, z: Any) -> float:
    del x, y, z
    return float(DRAWN.uniform())


@pytest.mark.parametrize(
    ("made", "why"),
    [
        (lambda: of(with_a_lock), "'LOCK' of with_a_lock is a lock, whose state is not known"),
        (lambda: of(with_chance), r"'DRAWN' of with_chance \(Generator\) answers differently each time"),
        (lambda: of(DRAWN.uniform), r"'function' \(Generator\) answers differently each time"),
        (lambda: of({}.get), "'function' is a built-in method of a dict, whose state may change"),
        (lambda: Silent(NUMBERS), "the class of test 'gcm' does not say what it adds to GCM"),
    ],
)
def test_what_cannot_be_recognised_is_refused(made: Any, why: str, tmp_path: Path) -> None:
    with pytest.raises(serape.OptionError, match=f"another run can recognise, but .*{why}.*; leave out checkpoint"):
        ask(made(), tmp_path / "kept.jsonl")
    assert not (tmp_path / "kept.jsonl").exists()


def test_a_generator_as_random_state_is_refused(tmp_path: Path) -> None:
    with pytest.raises(serape.OptionError, match="'random_state' .*answers differently each time"):
        ask(ASIA, tmp_path / "kept.jsonl", "hiton-pc", random_state=np.random.default_rng(1))


def own_tests() -> list[type[serape.IndependenceTest]]:
    found: list[type[serape.IndependenceTest]] = []
    left: list[type[serape.IndependenceTest]] = [serape.IndependenceTest]  # type: ignore[type-abstract]
    while left:
        for made in left.pop().__subclasses__():
            left.append(made)
            found += [made] if made.__module__.startswith("serape.independence") and "_" not in made.__name__ else []
    return found


@pytest.mark.parametrize("made", own_tests())
def test_every_argument_of_a_test_is_a_part(made: type[serape.IndependenceTest]) -> None:
    parts = {name.lstrip("_") for kind in made.__mro__ for name in vars(kind).get("made_of") or ()}
    given = set(inspect.signature(made.__init__).parameters) - {"self"}
    in_the_data = {"table", "data", "engine", "name", "graph", "order", "determined", "hidden"}
    assert any("made_of" in vars(kind) for kind in made.__mro__[:-3]), "made_of says on what its answers depend"
    assert given <= parts | in_the_data


def test_graphs() -> None:
    def of_graph(**more: Any) -> dict[str, Any]:
        import networkx as nx

        test = serape.DSeparation(nx.DiGraph(more.pop("arcs", [("a", "b"), ("b", "c")])), **more)
        return identity(Query.resolve(test, "blanket", Settings.of(algorithm="iamb")))

    first = of_graph()
    assert first == of_graph()
    others: list[dict[str, Any]] = [
        {"arcs": [("a", "b"), ("c", "b")]},
        {"order": ["c", "b", "a"]},
        {"determined": [("c", ["a"])]},
    ]
    others.append({"arcs": [("a", "b"), ("b", "c"), ("d", "a")], "hidden": ["d"]})
    assert all(of_graph(**other) != first for other in others)


# --- what is remembered with a table ----------------------------------------------------------------------------------


def test_calls_about_one_table_do_not_mix() -> None:
    of_search = [f.name for f in fields(SearchSettings) if f.name != "algorithm"]
    changes: list[dict[str, Any]] = [{}, *({name: CHANGED[name][1][name]} for name in of_search), {"max_tests": 30}]
    used = serape.Table(ASIA)
    for change, target in itertools.product([*changes, *changes[::-1]], ["bronc", "dysp"]):
        answers = []
        for table in (used, serape.Table(ASIA)):
            with contextlib.suppress(serape.OptionError):
                answers.append(serape.markov_blanket(table, target, "hiton-mb", **change).to_dict() | {"seconds": 0})
        assert len(answers) in (0, 2)
        assert answers[:1] == answers[1:], change
