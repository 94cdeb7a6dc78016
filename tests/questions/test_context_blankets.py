"""Blankets in several contexts: what holds in all of them, and what differs."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pytest

import contexts_oracle
import serape
from serape.data.example import clinic
from serape.errors import Interrupted
from serape.local.invariant_sets import invariant_sets
from serape.questions.information import Information, added, p_of_less

BLANKET = ("Age", "Smoking", "BloodPressure", "Anxiety", "ECG", "ChestPain")
MODULE = "serape.questions.context_blankets"
Columns = dict[str, Any]


def sites(rows: int = 3000, **changed: Any) -> dict[str, Columns]:
    """Two sites; in b, some columns are shuffled, so that they depend on nothing."""
    tables = {"a": dict(clinic(rows, seed=1)), "b": dict(clinic(rows, seed=2))}
    for name in changed.get("shuffled", ()):
        tables["b"][name] = np.random.default_rng(0).permutation(tables["b"][name])
    return tables


@pytest.fixture(scope="module")
def same() -> serape.Table:
    return serape.join_tables(sites(), context="Site")


@pytest.fixture(scope="module")
def different() -> serape.Table:
    return serape.join_tables(sites(shuffled=["ChestPain"]), context="Site")


@pytest.fixture(scope="module")
def found(different: serape.Table) -> serape.ContextBlankets:
    return serape.context_blankets(different, "HeartDisease", context="Site")


class TestWithAPerfectTest:
    @pytest.mark.parametrize(("what", "algorithm"), contexts_oracle.VARIANTS)
    @pytest.mark.parametrize("knowledge", [False, True])
    def test_nothing_is_wrong(self, what: str, algorithm: str, knowledge: bool) -> None:
        count = (
            25 if algorithm in contexts_oracle.WITHOUT_FAITHFULNESS else 10 if algorithm in ("hpc", "hiton-mb") else 4
        )
        cases = range(count)
        assert contexts_oracle.hunt(what, algorithm, 1, cases, max_nodes=7, knowledge=knowledge)[0] == 0

    def test_a_search_that_ignores_the_context_is_wrong(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert contexts_oracle.hunt("the context ignored", "iamb", 1, range(60))[0] > 0
        assert "wrong for" in capsys.readouterr().out

    @pytest.mark.parametrize(("algorithm", "blanket"), [("iamb", {"Y"}), ("hpc", {"X", "Y"}), ("hiton-mb", {"X", "Y"})])
    def test_arcs_that_are_never_there_together(self, algorithm: str, blanket: set[str]) -> None:
        """T → Y in one context and X → Y in the other: X is a spouse of T in neither, but a common neighbour of Y."""
        whole = nx.DiGraph([("T", "Y"), ("X", "Y")])
        parts = {name: nx.DiGraph(whole) for name in "ab"}
        parts["a"].remove_edge("X", "Y")
        parts["b"].remove_edge("T", "Y")
        whole.add_edge(contexts_oracle.CONTEXT, "Y")
        case = contexts_oracle.Case(whole, parts, ("T", "X", "Y", contexts_oracle.CONTEXT), "T")
        found = serape.context_blankets(contexts_oracle.Mixture(case), "T", contexts_oracle.CONTEXT, algorithm)
        assert set(found.blanket) == blanket
        assert found.in_some == {"Y": ("a",)}
        assert set(found.undecided) == blanket - {"Y"}

    def test_a_required_arc_from_the_context_makes_it_no_member_of_a_context(self) -> None:
        whole = nx.DiGraph([("X", "T"), (contexts_oracle.CONTEXT, "T")])
        parts = {name: nx.DiGraph([("X", "T")]) for name in "ab"}
        case = contexts_oracle.Case(whole, parts, ("T", "X", contexts_oracle.CONTEXT), "T")
        known = {"required": [(contexts_oracle.CONTEXT, "T"), ("X", "T")], "tiers": [[contexts_oracle.CONTEXT], ["T"]]}
        oracle = contexts_oracle.Contexts(case)
        found = serape.context_blankets(oracle, "T", contexts_oracle.CONTEXT, knowledge=known)
        assert {name: one.blanket for name, one in found.by_context.items()} == {"a": ("X",), "b": ("X",)}
        assert (found.blanket, found.common, found.changes) == (("X",), ("X",), ("T",))

    def test_a_test_without_rows_says_that_no_context_is_searched(self) -> None:
        case = next(contexts_oracle.drawn(0, [0], absent=False))
        found = serape.context_blankets(
            serape.DSeparation(case.graph, case.order), case.target, contexts_oracle.CONTEXT
        )
        assert not found.by_context
        assert "has no rows of its contexts" in found.notes[-1]


class TestTheSameLaw:
    def test_every_member_is_common(self, same: serape.Table) -> None:
        found = serape.context_blankets(same, "HeartDisease", context="Site")
        assert found.common == found.blanket == BLANKET
        assert found.invariant is True
        assert (found.in_some, found.undecided, found.changes, found.complete) == ({}, {}, (), True)
        assert found.invariant_sets == ((),)
        assert found.causes == ()

    def test_the_answer_is_made_of_ordinary_searches(self, same: serape.Table) -> None:
        found = serape.context_blankets(same, "HeartDisease", context="Site", alpha=0.01)
        frame = same.to_pandas()
        assert found.pooled == serape.markov_blanket(same, "HeartDisease", alpha=0.01)
        for name in ("a", "b"):
            own = serape.markov_blanket(frame[frame["Site"] == name].drop(columns="Site"), "HeartDisease", alpha=0.01)
            assert found.by_context[name].blanket == own.blanket

    def test_any_order_and_number_of_threads(self, different: serape.Table, found: serape.ContextBlankets) -> None:
        frame = different.to_pandas()
        turned = frame[frame.columns[::-1]].sample(frac=1, random_state=0)
        other = serape.context_blankets(turned, "HeartDisease", context="Site", n_jobs=2)
        assert set(other.common) == set(found.common)
        assert other.in_some == found.in_some
        assert other.invariant is found.invariant
        assert other.tests == found.tests


class TestWhatDiffers:
    def test_members_of_some_contexts(self, found: serape.ContextBlankets) -> None:
        assert found.common == ("Age", "Smoking", "BloodPressure", "ECG")
        assert found.in_some == {"Anxiety": ("a",), "ChestPain": ("a",)}
        assert found.undecided == {}
        less = {one.variable: one for one in found.differences}
        assert less["ChestPain"].p < 1e-6
        assert less["ChestPain"].bits < 0.001 < less["ChestPain"].elsewhere
        assert less["Anxiety"].given == ("ChestPain",)  # on its own it tells nothing anywhere

    def test_a_law_whose_marginals_stay_is_seen_given_the_blanket(self, found: serape.ContextBlankets) -> None:
        assert "Site" not in found.pooled.blanket  # every column has the same distribution at both sites
        assert found.invariant is False
        assert found.invariance is not None
        assert found.invariance.log_p < math.log(1e-6)
        assert "differs by Site" in found.law

    def test_a_member_that_varies_little_is_undecided(self) -> None:
        """In b, x is almost constant, so that it tells almost nothing, but by the same law."""
        random = np.random.default_rng(0)
        site = np.repeat(["a", "b"], 2000)
        x = random.random(4000) < np.where(site == "a", 0.5, 0.003)
        y = random.random(4000) < np.where(x, 0.7, 0.2)
        found = serape.context_blankets({"x": x, "y": y, "z": random.random(4000) < 0.5, "site": site}, "y", "site")
        assert found.invariant is True
        assert found.by_context["b"].blanket == ()
        assert found.differences[0].p < 0.01
        assert (found.in_some, found.undecided) == ({}, {"x": ("a",)})
        assert "but the law of y is not shown to differ" in found.explain("x")

    def test_whose_law_differs(self) -> None:
        tables = sites(4000)
        pain = tables["b"]["ChestPain"]
        tables["b"]["ChestPain"] = np.where(np.random.default_rng(0).random(4000) < 0.3, "yes", pain)
        found = serape.context_blankets(serape.join_tables(tables, "Site"), "HeartDisease", "Site")
        assert found.changes == ("ChestPain",)
        assert "Site" in found.pooled.blanket
        assert found.law.endswith("differs by Site, because that of ChestPain does.")
        own = serape.context_blankets(serape.join_tables(tables, "Site"), "ChestPain", "Site")
        assert own.changes == ("ChestPain",)
        assert own.invariant is False
        assert own.law.endswith("differs by Site, because its own law given its causes does.")
        assert own.invariant_sets == ()

    def test_an_intervention_names_causes(self) -> None:
        """A drug lowers the blood pressure; what it does to the heart goes through it."""
        random = np.random.default_rng(0)
        rows = 6000
        treated = random.random(rows) < 0.5
        salt = random.random(rows) < 0.4
        pressure = random.random(rows) < 0.15 + 0.3 * salt + 0.4 * ~treated
        disease = random.random(rows) < 0.1 + 0.4 * pressure
        ecg = random.random(rows) < 0.2 + 0.5 * disease
        data = {"salt": salt, "pressure": pressure, "disease": disease, "ecg": ecg, "treated": treated}
        found = serape.context_blankets(data, "disease", context="treated")
        assert found.blanket == found.common == ("pressure", "ecg")
        assert found.changes == ("pressure",)
        assert found.invariant is True
        assert found.invariant_sets == (("pressure",),)
        assert found.causes == ("pressure",)

    def test_numbers(self) -> None:
        random = np.random.default_rng(0)
        site = np.repeat(["a", "b", "c"], 600)
        x, z = random.normal(size=(2, 1800))
        y = np.where(site == "c", 0.0, 1.0) * x + z + random.normal(size=1800)
        found = serape.context_blankets(pd.DataFrame({"x": x, "z": z, "y": y, "site": site}), "y", "site")
        assert found.common == ("z",)
        assert found.in_some == {"x": ("a", "b")}


class TestShuffledContexts:
    def test_nothing_differs(self) -> None:
        """Members come and go in 300 rows, but none is said to tell less; the law is called different about never."""
        different = 0
        for seed in range(12):
            columns = {**clinic(900, seed=seed), "Site": np.random.default_rng(seed).choice(["a", "b", "c"], 900)}
            found = serape.context_blankets(columns, "HeartDisease", "Site")
            assert found.in_some == {}
            different += found.invariant is False
        assert different <= 1


class TestInformation:
    def test_equal_information_is_seldom_called_less(self) -> None:
        """G² in tables of the same law: p of less is about uniform."""
        random = np.random.default_rng(0)
        low = 0
        for _ in range(300):
            x = random.integers(0, 2, 1200)
            y = random.random(1200) < 0.3 + 0.25 * x
            parts = [serape.Table({"x": x[part], "y": y[part]}) for part in (slice(300), slice(300, 1200))]
            outcomes = [serape.ci_test(part, "x", "y") for part in parts]
            told = [Information(o.statistic, o.dof, part.rows) for o, part in zip(outcomes, parts, strict=True)]
            low += p_of_less(*told) <= 0.05
        assert 3 <= low <= 28

    def test_none_where_others_have_much_is_less(self) -> None:
        assert p_of_less(Information(1.0, 1, 500), Information(60.0, 1, 500)) < 1e-3
        assert p_of_less(Information(30.0, 1, 500), Information(60.0, 1, 1000)) == pytest.approx(0.5, abs=0.1)
        assert p_of_less(Information(60.0, 1, 500), Information(1.0, 1, 500)) > 0.99
        assert p_of_less(Information(0.0, 0, 500), Information(0.0, 0, 500)) == 1.0

    def test_added(self) -> None:
        assert added([Information(3, 1, 10), Information(4, 2, 20)]) == Information(7, 3, 30)


class TestRefusals:
    @pytest.mark.parametrize(
        ("context", "error", "sentence"),
        [
            ("HeartDisease", serape.OptionError, "is both the target and the context; name two columns"),
            ("Sites", serape.OptionError, "Did you mean 'Site'"),
            (None, serape.InputTypeError, "context must be the name or the position of a column, not None"),
            (1.5, serape.InputTypeError, "not a float"),
            ("one", serape.DataError, "has one value; at least two contexts are needed"),
            ("number", serape.DataError, r"holds numbers.*kinds=\{'number': 'categorical'\}"),
            ("copy", serape.DataError, r"has a duplicate, 'Site'; pass ignore=\['Site'\]"),
            ("id", serape.DataError, "is an identifier"),
        ],
    )
    def test_of_contexts(self, context: Any, error: type[Exception], sentence: str) -> None:
        columns = {**clinic(200), "Site": np.repeat(["a", "b"], 100), "copy": np.repeat(["x", "y"], 100)}
        columns |= {"one": np.full(200, "x"), "number": np.random.default_rng(0).random(200)}
        columns["id"] = np.arange(200)
        with pytest.raises(error, match=sentence) as told:
            serape.context_blankets(columns, "HeartDisease", context)
        assert "\n" not in str(told.value)

    def test_a_row_without_context(self) -> None:
        columns: Columns = {**clinic(200), "Site": [None, *["a", "b"] * 99, "a"]}
        with pytest.raises(serape.DataError, match="'Site' has no value in row 1"):
            serape.context_blankets(columns, "HeartDisease", "Site", missing="pairwise")

    @pytest.mark.parametrize("name", ["known_members", "forbidden_members"])
    def test_the_context_as_a_member(self, same: serape.Table, name: str) -> None:
        settings: Any = {name: ["Site"]}
        with pytest.raises(serape.OptionError, match=f"always tested; remove it from {name}"):
            serape.context_blankets(same, "HeartDisease", "Site", **settings)

    def test_contexts_that_cannot_be_searched(self, same: serape.Table) -> None:
        frame = same.to_pandas().astype(str)
        odd = frame.iloc[[0]].assign(Site="one row")
        flat = frame.iloc[:200].assign(Site="constant", HeartDisease="no")
        few = frame.iloc[:4].assign(Site="few", HeartDisease=["no", "yes"] * 2)
        found = serape.context_blankets(pd.concat([frame, odd, flat, few]), "HeartDisease", "Site")
        assert found.contexts == ("a", "b")
        assert found.not_searched == {
            "constant": "the target is constant there",
            "few": "it has too few rows for any reliable test",
            "one row": "it has one row",
        }
        assert sum("is not searched by itself" in note for note in found.notes) == 3
        assert set(found.common) == set(BLANKET)

    def test_columns_that_stand_for_the_context(self, same: serape.Table) -> None:
        frame = same.to_pandas().assign(Country="x")
        frame = pd.concat([frame, frame.iloc[:3000].assign(Site="c")])
        frame.loc[frame["Site"] == "c", "Country"] = "y"
        found = serape.context_blankets(frame, "HeartDisease", "Site")
        assert any(note.endswith("may stand for it: 'Country'") for note in found.notes)


class TestRuns:
    def test_known_members_hold_in_every_context(self, same: serape.Table) -> None:
        found = serape.context_blankets(same, "HeartDisease", "Site", known_members=["Ward"], forbidden_members=["Age"])
        assert "Ward" in found.common
        assert "Age" not in found.members

    def test_algorithms_without_neighbourhoods(self, same: serape.Table) -> None:
        found = serape.context_blankets(same, "HeartDisease", "Site", "iamb", alpha=0.01)
        assert found.pooled.parents_children is None
        assert found.changes == ()
        assert found.invariant is True

    def test_weights(self, same: serape.Table) -> None:
        frame = same.to_pandas().assign(times=2)
        twice = serape.context_blankets(frame, "HeartDisease", "Site", sample_weight="times", alpha=1e-4)
        repeated = pd.concat([frame, frame]).drop(columns="times")
        assert twice.common == serape.context_blankets(repeated, "HeartDisease", "Site", alpha=1e-4).common

    def test_a_budget_ends_each_search(self, same: serape.Table) -> None:
        found = serape.context_blankets(same, "HeartDisease", "Site", max_tests=20)
        assert not found.complete
        assert "not complete" in str(found)

    def test_interrupted(self, same: serape.Table, monkeypatch: pytest.MonkeyPatch) -> None:
        def stop(*_: object) -> None:
            raise KeyboardInterrupt

        monkeypatch.setattr(MODULE + ".tests_of_contexts", stop)
        with pytest.raises(Interrupted) as stopped:
            serape.context_blankets(same, "HeartDisease", "Site")
        part = stopped.value.found
        assert part.blanket == BLANKET
        assert part.by_context == {}
        assert not part.complete
        assert "interrupted" in part.notes[-1]

    def test_many_members_name_no_cause(self, same: serape.Table, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(MODULE + ".invariant_sets", partial(invariant_sets, max_sets=10))
        found = serape.context_blankets(same, "HeartDisease", "Site")
        assert found.causes == ()
        assert "of the subsets of 6 members, those of up to 1 are tried" in found.notes[-1]


class TestJoinTables:
    def test_rows_and_levels(self) -> None:
        table = serape.join_tables({"x": {"a": [1, 2, 1], "b": ["u", "v", "u"]}, "y": {"b": ["w", "w"], "a": [3, 3]}})
        assert table.names == ("a", "b", "context")
        assert table.column("context").tolist() == ["x", "x", "x", "y", "y"]
        assert table.column("a").tolist() == [1, 2, 1, 3, 3]
        assert table.variables["b"].levels == ("u", "v", "w")

    def test_files_and_settings(self, tmp_path: Any) -> None:
        for name in ("one", "two"):
            pd.DataFrame({"p": [1, 2, None], "q": ["x", "y", "x"]}).to_csv(tmp_path / f"{name}.csv", index=False)
        paths = {name: tmp_path / f"{name}.csv" for name in ("one", "two")}
        with pytest.raises(serape.DataError, match="missing='drop'"):
            serape.join_tables(paths, "file")
        table = serape.join_tables(paths, "file", missing="drop", kinds={"p": "categorical"})
        assert (table.rows, table.kinds["p"]) == (4, "categorical")

    @pytest.mark.parametrize(
        ("tables", "context", "sentence"),
        [
            ({"x": {"a": [1, 2]}}, "c", "at least two are needed"),
            ([{"a": [1, 2]}] * 2, "c", "must be a dict of data by name"),
            ({"x": {"a": [1, 2]}, "y": {"b": [1, 2]}}, "c", "y lacks the column 'a', unlike x"),
            ({"x": {"a": [1, 2]}, "y": {"a": [1, 2]}}, "a", "have a column 'a' already"),
            ({"x": {"a": [1, 2]}, "y": {"a": [1, 2]}}, 3, "must be the name of the added column"),
        ],
    )
    def test_refusals(self, tables: Any, context: Any, sentence: str) -> None:
        with pytest.raises(serape.SerapeError, match=sentence):
            serape.join_tables(tables, context)

    def test_an_unknown_setting(self) -> None:
        with pytest.raises(serape.OptionError, match="join_tables has no option 'mising'. Did you mean 'missing'"):
            serape.join_tables({"x": {"a": [1, 2]}, "y": {"a": [1, 2]}}, mising="drop")  # type: ignore[call-arg]
