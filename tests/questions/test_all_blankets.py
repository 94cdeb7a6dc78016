"""all_blankets: every blanket that the data cannot tell apart."""

from __future__ import annotations

import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import serape
from drawn import names_of, rows_of
from serape.data.example import clinic
from serape.results.exchanges import Exchange, exchanges
from serape.results.report import blankets_page
from tables import PATIENTS

ALARM = serape.load_network("alarm")


def with_copies(rows: int = 2000) -> pd.DataFrame:
    """Return patients with a refinement of Smoking, a duplicate of ECG, and a pair of columns in one."""
    frame = pd.DataFrame(clinic(rows))
    coins = np.random.default_rng(0).integers(1, 3, rows)
    frame["Cigarettes"] = np.where(frame["Smoking"] == "yes", coins, 0).astype(str)
    frame["ECG2"] = frame["ECG"].map({"normal": "fine", "abnormal": "not fine"})
    frame["Both"] = frame["Age"] + frame["BloodPressure"]
    return frame


COPIES = serape.Table(with_copies())
FOUND = serape.all_blankets(COPIES, "HeartDisease", alpha=0.01)


# --- what is found ---------------------------------------------------------------------------------------------------


def test_known_equivalences() -> None:
    rest = {"ChestPain", "ECG"}
    smoking = ({"Smoking"}, {"Cigarettes"})
    age = ({"Both"}, {"Age", "BloodPressure"})
    assert {frozenset(b) for b in FOUND.blankets} == {frozenset(rest | s | a) for s in smoking for a in age}
    assert FOUND.blankets[0] == serape.markov_blanket(COPIES, "HeartDisease", "iamb", alpha=0.01).blanket
    assert FOUND.indispensable == ("ChestPain",)
    assert FOUND.replaceable["Smoking"] == (("Cigarettes",),)
    assert FOUND.replaceable["Both"] == (("Age", "BloodPressure"),)
    assert FOUND.replaceable["Age"] == FOUND.replaceable["BloodPressure"] == (("Both",),)
    assert FOUND.replaceable["ECG"] == (("ECG2",),)
    assert not FOUND.undecided
    assert FOUND.complete
    assert FOUND.count == 2 * len(FOUND.blankets) == 8
    assert "duplicates of 'ECG' (any of them would do as well): 'ECG2'" in FOUND.notes


def test_explanations_and_texts() -> None:
    assert FOUND.explain("ChestPain").startswith("ChestPain is indispensable: without it, the search finds ")
    assert "and this is no blanket (ChestPain given this set: p = " in FOUND.explain("ChestPain")
    assert "Smoking is replaceable by Cigarettes" in FOUND.explain("Smoking")
    assert "together with BloodPressure" in FOUND.explain("Age")
    assert FOUND.explain("ECG2") == "ECG2 is a duplicate of ECG: it stands for it in every blanket."
    with pytest.raises(serape.OptionError, match="'Smokin' is in no blanket that was found.*Did you mean 'Smoking'"):
        FOUND.explain("Smokin")
    assert str(FOUND).startswith("Markov blankets of HeartDisease: 4 blankets, 8 with every choice among duplicates\n")
    assert "  indispensable: ChestPain\n" in str(FOUND)
    assert Exchange(("Age", "BloodPressure"), ("Both",)) in FOUND.exchanges
    assert "Age, BloodPressure together by Both" in map(str, FOUND.exchanges)


def test_every_trial_is_a_test_that_can_be_repeated() -> None:
    """The deciding test of each trial is the strongest of the removed variables and the members of the first."""
    assert {trial.verdict for trial in FOUND.trials} == {"blanket", "told apart"}
    for trial in FOUND.trials:
        assert not set(trial.removed) & set(trial.members)
        others = sorted({*FOUND.blankets[0], *trial.removed} - set(trial.members))
        tests = {
            x: serape.ci_test(COPIES, x, "HeartDisease", list(trial.members), test="g2", dof="adjusted") for x in others
        }
        told_apart = [x for x, outcome in tests.items() if outcome.reliable and outcome.p <= 0.01]
        assert (trial.verdict == "told apart") == bool(told_apart)
        assert (trial.members in FOUND.blankets) == (not told_apart)
        if told_apart:
            assert trial.variable == min(tests, key=lambda x: tests[x].log_p if tests[x].reliable else 0)
            assert trial.log_p == tests[trial.variable].log_p
            assert trial.effect is not None
            assert trial.effect > 0


def test_numbers() -> None:
    random = np.random.default_rng(0)
    a, b = random.normal(size=(2, 2000))
    target = a + b + random.normal(size=2000)
    data = {"a": a, "b": b, "target": target, "scaled": 3 * b - 1, "sum": a + b, "noise": random.normal(size=2000)}
    truth = {frozenset(one) for one in (("sum",), ("a", "b"), ("a", "scaled"))}
    for test in ("partial-correlation", "fisher-z", "residuals", "mixed"):
        found = serape.all_blankets(data, "target", test=test)
        assert set(map(frozenset, found.blankets)) == truth, test
        assert not found.undecided


def test_near_copies_are_told_apart_by_the_rows_or_not_by_the_effect() -> None:
    """Of 20,000 rows, 2 % differ between Smoking and its near-copy: this is seen, but it is a small effect."""
    frame = pd.DataFrame(clinic(20_000))
    wrong = np.random.default_rng(1).random(20_000) < 0.02
    frame["Nearly"] = np.where(wrong, np.where(frame["Smoking"] == "yes", "no", "yes"), frame["Smoking"])
    strict = serape.all_blankets(frame, "HeartDisease", alpha=0.01)
    assert "Smoking" in strict.indispensable
    loose = serape.all_blankets(frame, "HeartDisease", alpha=0.01, min_effect=0.01)
    assert loose.replaceable["Smoking"] == (("Nearly",),)
    few = serape.all_blankets(frame[:1000], "HeartDisease", alpha=0.01)
    assert few.replaceable["Smoking"] == (("Nearly",),)


def test_a_note_is_told_once() -> None:
    """Also one that names a setting."""
    data = clinic(300)
    found = serape.all_blankets({**data, "Copy": data["HeartDisease"]}, "HeartDisease", "hiton-mb", max_blankets=1)
    about = [note for note in found.notes if "duplicates of the target" in note]
    assert len(about) == 1
    assert about[0].endswith("leave it out with ignore=['Copy']")


def test_an_empty_blanket() -> None:
    data = np.random.default_rng(0).integers(0, 2, (100, 4))
    found = serape.all_blankets(data, 0, alpha=1e-6)
    assert found.blankets == ((),)
    assert (found.members, found.indispensable, found.replaceable, found.count) == ((), (), {}, 1)
    assert "1: no variables" in str(found)
    found.plot()


def test_many_identical_columns_cost_no_more() -> None:
    frame = pd.DataFrame(clinic(1000))
    one = serape.all_blankets(frame, "HeartDisease", alpha=0.01)
    more = pd.concat([frame, *(frame["ECG"].rename(f"ECG {k}") for k in range(21))], axis=1)
    many = serape.all_blankets(more, "HeartDisease", alpha=0.01)
    assert many.blankets == one.blankets
    assert many.tests == one.tests
    assert many.count == 22 * one.count
    assert len(many.replaceable["ECG"]) == 21
    assert "ECG" in one.indispensable
    seeded = serape.all_blankets(more, "HeartDisease", alpha=0.01, random_state=1)
    assert seeded.blankets == one.blankets  # a class of duplicates is one candidate, also with a seed


def test_the_order_of_columns_changes_names_and_order_alone() -> None:
    frame = with_copies()
    shuffled = frame[list(np.random.default_rng(5).permutation(frame.columns))]
    again = serape.all_blankets(shuffled, "HeartDisease", alpha=0.01)
    named = {"ECG2": "ECG"}
    assert {frozenset(named.get(x, x) for x in b) for b in again.blankets} == {frozenset(b) for b in FOUND.blankets}


def test_faithful_data_have_mostly_one() -> None:
    table = ALARM.sample(5000, seed=3)
    counts = [len(serape.all_blankets(table, name).blankets) for name in table.names]
    assert np.mean(counts) < 1.3
    full = [len(serape.all_blankets(table, name, dof="full").blankets) for name in table.names]
    assert np.mean(full) > 2  # why sets are judged by the degrees of freedom that occur


# --- constraints -----------------------------------------------------------------------------------------------------


def test_known_and_forbidden_members() -> None:
    kept = serape.all_blankets(COPIES, "HeartDisease", alpha=0.01, known_members=["Smoking", "Ward"])
    assert all({"Smoking", "Ward"} <= set(blanket) for blanket in kept.blankets)
    assert {"Smoking", "Ward"} <= set(kept.indispensable)
    assert kept.explain("Ward") == "Ward is a known member of every blanket."
    without = serape.all_blankets(COPIES, "HeartDisease", alpha=0.01, forbidden_members=["Cigarettes", "Both"])
    assert len(without.blankets) == 1
    required = serape.all_blankets(
        COPIES, "HeartDisease", alpha=0.01, knowledge={"required": [("Cigarettes", "HeartDisease")]}
    )
    assert all("Cigarettes" in blanket and "Smoking" not in blanket for blanket in required.blankets)


def test_too_few_rows_to_judge() -> None:
    table = ALARM.sample(150, seed=0)
    found = [serape.all_blankets(table, name, alpha=0.05) for name in table.names]
    undecided = [one for one in found if any(trial.verdict == "undecided" for trial in one.trials)]
    assert undecided
    for one in undecided:
        assert any("in place of a blanket cannot be judged" in note for note in one.notes)
        for trial in one.trials:
            assert (trial.verdict == "blanket") == (trial.members in one.blankets)
        for name in one.undecided:
            assert all(name in blanket for blanket in one.blankets)
            assert f"{name} is undecided: without it, the search finds" in one.explain(name)


def test_a_limit_on_conditioning_sets_is_kept() -> None:
    found = serape.all_blankets(COPIES, "HeartDisease", alpha=0.01, max_conditioning=2)
    assert max(found.tests_by_size) <= 2


# --- bounds ----------------------------------------------------------------------------------------------------------


def test_a_number_of_blankets() -> None:
    for count in (1, 2, 4):
        found = serape.all_blankets(COPIES, "HeartDisease", alpha=0.01, max_blankets=count)
        assert found.blankets == FOUND.blankets[:count]
        assert not found.complete
        assert f"the search stopped at max_blankets={count}: there may be more blankets" in found.notes[-1]
        assert f"at least {count} blanket" in str(found)
    one = serape.all_blankets(COPIES, "HeartDisease", alpha=0.01, max_blankets=1)
    assert "ChestPain" in one.undecided
    assert "the search ended before it looked for a blanket without it" in one.explain("ChestPain")
    assert serape.all_blankets(COPIES, "HeartDisease", alpha=0.01, max_blankets=5) == replace(FOUND, max_blankets=5)


@pytest.mark.parametrize("tests", [5, 60, 200, 400])
def test_a_number_of_tests(tests: int) -> None:
    one, two = (
        serape.all_blankets(COPIES, "HeartDisease", alpha=0.01, max_tests=tests, n_jobs=n, max_seconds=None)
        for n in (1, 2)
    )
    assert one == two
    assert not one.complete
    assert tests <= one.tests < tests + 60  # a batch of tests is not cut short
    assert f"the search stopped at max_tests={tests}: " in one.notes[-1]
    assert sum("the search stopped" in note for note in one.notes) == 1
    assert one.blankets == FOUND.blankets[: len(one.blankets)] or tests == 5
    enough = serape.all_blankets(COPIES, "HeartDisease", alpha=0.01, max_tests=FOUND.tests + 1)
    assert enough == FOUND


def test_time() -> None:
    found = serape.all_blankets(COPIES, "HeartDisease", max_seconds=1e-9)
    assert not found.complete
    assert "the search stopped at max_seconds=1e-09: the first blanket is as far as it was found" in found.notes
    assert found.to_dict()["complete"] is False


@pytest.mark.parametrize("after", [1, 2, 3])
def test_ctrl_c_keeps_what_was_found(after: int) -> None:
    told: list[serape.Progress] = []

    def progress(now: serape.Progress) -> None:
        told.append(now)
        if len(told) == after:
            raise KeyboardInterrupt

    with pytest.raises(serape.Interrupted) as stop:
        serape.all_blankets(COPIES, "HeartDisease", alpha=0.01, progress=progress)
    found = stop.value.found
    assert isinstance(found, serape.AllBlankets)
    assert found.blankets == FOUND.blankets[:after]
    assert not found.complete
    assert "the search was interrupted: there may be more blankets" in found.notes[-1]


def test_ctrl_c_in_the_first_search() -> None:
    def interrupt(search: serape.Search, target: int) -> Any:
        search.members(target).add(int(search.candidates(target)[0]))
        raise KeyboardInterrupt

    with pytest.raises(serape.Interrupted) as stop:
        serape.all_blankets(PATIENTS, "HeartDisease", interrupt)
    assert stop.value.found.blankets == (("Age",),)
    assert "the search was interrupted: the first blanket is as far as it was found" in stop.value.found.notes


def test_progress() -> None:
    told: list[serape.Progress] = []
    found = serape.all_blankets(COPIES, "HeartDisease", alpha=0.01, progress=told.append)
    reports = [now for now in told if now.doing]
    assert [now.members for now in reports][-1] == found.blankets[-1]
    assert [now.tests for now in told] == sorted(now.tests for now in told)
    assert told[-1].tests <= found.tests
    assert reports[-1].doing.startswith("4 blankets found")


@pytest.mark.parametrize("count", [0, -1, 1.5, "many", None, True])
def test_no_number_of_blankets(count: Any) -> None:
    with pytest.raises(serape.OptionError, match="max_blankets must be a whole number, 1 or more"):
        serape.all_blankets(PATIENTS, "HeartDisease", max_blankets=count)


# --- the result ------------------------------------------------------------------------------------------------------


def test_saved_and_read_again(tmp_path: Path) -> None:
    path = tmp_path / "found.json"
    for found in (FOUND, serape.all_blankets(COPIES, "HeartDisease", max_blankets=1, known_members=["Ward"])):
        found.save(path)
        again = serape.load_result(path)
        assert again == found
        assert again.to_dict() == found.to_dict()
        assert (again.data, again.status, again.replaceable) == (found.data, found.status, found.replaceable)
        assert pickle.loads(pickle.dumps(found)) == found
    path.write_text(path.read_text().replace("serape-blankets-1", "serape-blankets-9"))
    with pytest.raises(serape.DataError, match="is not a result saved by serape"):
        serape.load_result(path)


def test_records_and_display() -> None:
    assert FOUND.records.columns == ("variable", "status", "blankets", "share", "replaceable by")
    rows = {row["variable"]: row for row in FOUND.records}
    assert (rows["ChestPain"]["blankets"], rows["ChestPain"]["share"]) == (4, 1.0)
    assert (rows["Smoking"]["blankets"], rows["Smoking"]["share"]) == (2, 0.5)
    shown = FOUND._repr_html_()
    assert all(f">{name}<" in shown for name in (*FOUND.members, *FOUND.status.values()))
    assert "by iamb with g2 at alpha 0.01" in shown
    assert "4 blankets" in repr(FOUND)


def test_picture(tmp_path: Path) -> None:
    ax = FOUND.plot(tmp_path / "blankets.png")
    assert (tmp_path / "blankets.png").stat().st_size > 1000
    labels = names_of(ax)
    assert labels == [f"{name} (or 1 duplicate)" if name == "ECG" else name for name in FOUND.members]
    for label, runs in rows_of(ax).items():
        name = label.removesuffix(" (or 1 duplicate)")
        inside = {k for k, blanket in enumerate(FOUND.blankets, 1) if name in blanket}
        assert {round((left + right) / 2) for left, right in runs} == inside
    legend = ax.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == ["indispensable", "replaceable"]
    with pytest.raises(serape.OptionError, match=r"\.png"):
        FOUND.plot(tmp_path / "blankets.txt")


def test_many_blankets_are_drawn_and_told_in_part() -> None:
    blankets = tuple((f"a{k}", f"b{k}") for k in range(100))
    many = replace(FOUND, blankets=blankets, interchangeable={}, trials=())
    ax = many.plot()
    assert len(names_of(ax)) == 40
    assert any("160 other variables and 40 other blankets not drawn" in text.get_text() for text in ax.texts)
    assert "  and 90 more\n" in str(many)


def test_report(tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    FOUND.report(path)
    text = path.read_text()
    assert text.endswith("</html>\n")
    page = blankets_page(FOUND)
    assert [grid.id for grid in page.grids] == ["members", "blankets", "trials", "data"]
    assert len(page.grids[1].rows) == 4
    assert len(page.grids[2].rows) == len(FOUND.trials)
    assert "serape.all_blankets(" in page.calls["In Python"]
    with pytest.raises(serape.OptionError, match="ends in .html"):
        FOUND.report(tmp_path / "report.txt")


def test_the_call_in_a_report_gives_the_result_again(tmp_path: Path) -> None:
    path = tmp_path / "patients.csv"
    with_copies().to_csv(path, index=False)
    found = serape.all_blankets(path, "HeartDisease", max_blankets=3)
    made: dict[str, Any] = {}
    exec(blankets_page(found).calls["In Python"], made)
    assert made["found"] == found


def test_exchanges_are_the_smallest() -> None:
    blankets = (("a", "b"), ("a", "c"), ("d", "b"), ("d", "c"), ("e",))
    found = set(exchanges(blankets))
    assert Exchange(("b",), ("c",)) in found
    assert Exchange(("a",), ("d",)) in found
    assert Exchange(("a", "b"), ("d", "c")) not in found
    assert {one.entering for one in found if one.leaving == ("e",)} == {("a", "b"), ("a", "c"), ("b", "d"), ("c", "d")}
    assert exchanges((("a", "b", "c"), ("a", "b"))) == (Exchange(("c",), ()),)
    assert set(exchanges((("a", "b"), ("c",)))) == {Exchange(("a", "b"), ("c",)), Exchange(("c",), ("a", "b"))}
    many = exchanges([(f"a{k}", f"b{k}") for k in range(200)])  # few of 40,000 differences
    assert len([one for one in many if "a5" in one.leaving]) == 20


def test_what_may_be_left_out() -> None:
    """Algorithms that do not condition on the whole blanket may find more than is needed."""
    larger = replace(FOUND, blankets=(("Age", "ECG", "Ward"), ("Age", "ECG")), interchangeable={}, trials=())
    assert larger.replaceable == {"Ward": ((),)}
    assert larger.explain("Ward").startswith("Ward is replaceable by nothing (it may be left out).")
