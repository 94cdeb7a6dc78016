"""Every question on rows with weights or groups: frequencies give the answer on rows repeated, bit for bit."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from scipy.special import gammaln, xlogy

import serape
from command import run
from serape import Table
from serape.data import rows as applied
from serape.data.example import clinic
from serape.data.resampling import Resampler
from serape.networks.fitting import fit
from serape.results.report import blanket_page
from serape.structure.scores import SCORES, make_score

TIMES = np.random.default_rng(3).integers(0, 4, 300)
FRAME = pd.DataFrame(clinic(300))
FRAME["Age"] = [f"age {age}" for age in FRAME["Age"]]
WEIGHTED = FRAME.assign(times=TIMES)
WRITTEN = FRAME.loc[np.repeat(FRAME.index, TIMES)].reset_index(drop=True)
SURVEY: dict[str, Any] = {
    "sample_weight": np.random.default_rng(4).lognormal(0, 0.5, 300),
    "weight_kind": "survey",
}


def evidence(found: serape.Result) -> tuple[Any, ...]:
    return found.blanket, found.tests_by_size, found.skipped, repr(list(found.evidence))


def graph(found: Any) -> tuple[Any, ...]:
    edges = [(a, b, repr(sorted(more.items()))) for a, b, more in found.graph.edges(data=True)]
    return edges, found.tests, getattr(found, "total", None)


QUESTIONS: dict[str, Callable[..., Any]] = {
    "markov_blanket": lambda data, **more: evidence(serape.markov_blanket(data, "HeartDisease", **more)),
    "markov_blanket, iamb": lambda data, **more: evidence(serape.markov_blanket(data, 0, "iamb", test="x2", **more)),
    "parents_children": lambda data, **more: evidence(serape.parents_children(data, "HeartDisease", "mmpc", **more)),
    "blankets": lambda data, **more: [  # with n_jobs, searches share other tests, so their numbers differ
        (one.blanket, repr(list(one.evidence))) for one in serape.blankets(data, [0, 3, 5], **more).values()
    ],
    "region": lambda data, **more: repr(serape.region(data, "HeartDisease", **more).edges(data=True)),
    "skeleton": lambda data, **more: graph(serape.skeleton(data, algorithm="pc-stable", **more)),
    "network": lambda data, **more: graph(serape.network(data, "mmhc", **more)),
    "network, ges": lambda data, **more: graph(serape.network(data, "ges", score="bic", **more)),
    "network, tabu": lambda data, **more: graph(serape.network(data, "tabu", score="k2", **more)),
    "stability": lambda data, **more: serape.stability(data, "HeartDisease", draws=4, **more).frequencies,
    "bootstrap": lambda data, **more: (
        serape.stability(data, 0, draws=3, algorithm="iamb", sampling="bootstrap", **more).frequencies
    ),
    "all_blankets": lambda data, **more: [
        (found := serape.all_blankets(data, "HeartDisease", **more)).blankets,
        repr(found.trials),
        found.tests,
    ],
    "alpha_path": lambda data, **more: asdict(replace(serape.alpha_path(data, 0, **more), seconds=0.0, notes=())),
    "ci_test": lambda data, **more: repr(serape.ci_test(data, 0, 1, [2], **{**more, "n_jobs": 1})),
    "all_pairs": lambda data, **more: repr(list(serape.all_pairs(data, **more).records)),
}


@pytest.mark.parametrize("kept", [False, True], ids=["repeated", "kept"])
@pytest.mark.parametrize("name", QUESTIONS)
def test_frequencies_give_the_answer_on_rows_repeated(name: str, kept: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    ask = QUESTIONS[name]
    written = ask(WRITTEN)
    if kept:
        monkeypatch.setattr(applied, "MAX_BYTES", 0)
    assert ask(WEIGHTED, sample_weight="times") == written
    if name in ("blankets", "stability"):
        assert ask(WEIGHTED, sample_weight="times", n_jobs=2) == written
    assert ask(FRAME) != written  # the weights do matter


@pytest.mark.parametrize("name", QUESTIONS)
def test_every_question_takes_survey_weights(name: str) -> None:
    ask = QUESTIONS[name]
    found = ask(FRAME, **SURVEY)
    assert found != ask(FRAME)
    assert found == ask(FRAME, **SURVEY, n_jobs=2)


def test_a_result_tells_the_effective_rows() -> None:
    found = serape.markov_blanket(FRAME, "HeartDisease", **SURVEY)
    weights = SURVEY["sample_weight"]
    effective = weights.sum() ** 2 / (weights**2).sum()
    assert f"rows have survey weights: 300 rows count as {effective:.1f} (the effective number of rows)" in found.notes
    assert int(effective) in {int(row["rows"]) for row in found.evidence}


# --- scores and networks ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", SCORES)
def test_scores_of_survey_weights(kind: str) -> None:
    """They are those of rows where weights are equal, and grow with the weights of the rows that fit."""
    equal = make_score(Table(FRAME, sample_weight=np.full(300, 0.2), weight_kind="survey"), kind)
    rows = make_score(Table(FRAME), kind)
    for child, parents in ((0, ()), (1, (0, 2)), (5, (3, 4, 1)), (2, tuple(range(3, 9)))):
        assert equal.local(child, parents) == pytest.approx(rows.local(child, parents), rel=1e-9)
        assert equal.local(child, parents) == equal.local(child, tuple(reversed(parents)))
    assert getattr(equal, "equivalent_sample_size", None) == getattr(rows, "equivalent_sample_size", None)


@pytest.mark.parametrize("kind", SCORES)
def test_scores_of_survey_weights_against_a_plain_twin(kind: str) -> None:
    """Doubled weights on half of the rows, scaled to the effective rows, by the formula of the counts."""
    weights = np.where(np.arange(300) % 2, 2.0, 1.0)
    scaled = weights * weights.sum() / (weights**2).sum()
    counts = pd.crosstab(FRAME["Age"], FRAME["Smoking"], values=scaled, aggfunc="sum").fillna(0).to_numpy()
    score = make_score(Table(FRAME, sample_weight=weights, weight_kind="survey"), kind, 3.0)
    names = list(FRAME.columns)
    found = score.local(names.index("Smoking"), [names.index("Age")])
    (q, r), totals = counts.shape, counts.sum(axis=1)
    if kind in ("bdeu", "k2"):
        a_jk, a_j = (1.0, r) if kind == "k2" else (3 / (r * q), 3 / q)
        expected = (gammaln(counts + a_jk) - gammaln(a_jk)).sum() - (gammaln(totals + a_j) - gammaln(a_j)).sum()
    else:
        penalty = {"loglik": 0.0, "bic": 0.5 * np.log(scaled.sum()), "aic": 1.0}[kind]
        expected = xlogy(counts, counts / totals[:, None]).sum() - penalty * (r - 1) * q
    assert found == pytest.approx(expected, rel=1e-9)


def test_a_prior_smaller_than_any_float() -> None:
    random = np.random.default_rng(0)
    wide = {f"v{k}": random.integers(0, 20, 200) for k in range(300)}
    equal = make_score(Table(wide, sample_weight=np.full(200, 0.2), weight_kind="survey"), "bdeu")
    rows = make_score(Table(wide), "bdeu")
    parents = list(range(1, 300))
    assert equal.local(0, parents) == pytest.approx(rows.local(0, parents), rel=1e-9)


def test_fitted_probabilities(monkeypatch: pytest.MonkeyPatch) -> None:
    arcs = {"Smoking": ["Age"]}
    written = fit(Table(WRITTEN), arcs)
    monkeypatch.setattr(applied, "MAX_BYTES", 0)
    kept = fit(Table(WEIGHTED, sample_weight="times"), arcs)
    for name in FRAME.columns:
        assert (kept.cpt(name) == written.cpt(name)).all()
    survey = fit(Table(FRAME, **SURVEY), arcs, equivalent_sample_size=0)
    shares = FRAME.assign(w=SURVEY["sample_weight"]).groupby("Smoking")["w"].sum()
    assert not (survey.cpt("Smoking") == written.cpt("Smoking")).all()
    marginal = fit(Table(FRAME, **SURVEY), {}, equivalent_sample_size=0).cpt("Smoking")
    np.testing.assert_allclose(marginal[0], (shares / shares.sum()).to_numpy())


def test_a_checkpoint_belongs_to_its_weights(tmp_path: Path) -> None:
    path = tmp_path / "found.jsonl"
    serape.skeleton(FRAME, algorithm="mmpc", checkpoint=path, **SURVEY)
    with pytest.raises(serape.SerapeError, match="checkpoint"):
        serape.skeleton(FRAME, algorithm="mmpc", checkpoint=path)


# --- groups ----------------------------------------------------------------------------------------------------------


def grouped(rows: int = 240, size: int = 6) -> tuple[pd.DataFrame, np.ndarray[Any, Any]]:
    """Visits of patients: every visit of a patient has the same genes, so rows are not independent."""
    random = np.random.default_rng(8)
    patients = np.repeat(np.arange(rows // size), size)
    random.shuffle(patients)
    genes = random.integers(0, 2, (rows // size, 6))[patients]
    disease = genes[:, 0] ^ (random.random(rows) < 0.2)
    return pd.DataFrame({"disease": disease, **{f"gene{k}": genes[:, k] for k in range(6)}}), patients


@pytest.mark.parametrize("sampling", ["half", "bootstrap"])
def test_stability_draws_whole_groups(sampling: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    frame, patients = grouped()
    drawn: list[Table] = []
    original = Resampler.draw

    def draw(resampler: Resampler, rows: Any) -> Table:
        drawn.append(original(resampler, rows))
        return drawn[-1]

    monkeypatch.setattr(Resampler, "draw", draw)
    found = serape.stability(frame, "disease", draws=4, sampling=sampling, groups=patients)
    assert "the rows are in 40 groups" in found.notes
    assert any("treats the rows of a group as independent" in note for note in found.notes)
    assert found.rows == drawn[0].rows == (120 if sampling == "half" else 240)
    times = [np.bincount(table.groups, minlength=40) for table in drawn if table.groups is not None]
    assert {int(visits) % 6 for one in times for visits in one} == {0}  # all visits of a patient, or none
    if sampling == "half":
        assert ((times[0] > 0) ^ (times[1] > 0)).all()
        assert (times[0] > 0).sum() == 20
    else:
        assert times[0].max() > 6  # some patient twice


def test_groups_of_one_row_each_are_no_groups() -> None:
    frame, _ = grouped()
    found = serape.stability(frame, "disease", draws=6, groups=[f"row {k}" for k in range(len(frame))])
    assert found.frequencies == serape.stability(frame, "disease", draws=6).frequencies


def test_fewer_than_four_groups() -> None:
    frame, _ = grouped()
    with pytest.raises(serape.OptionError, match="half of 3 groups are too few"):
        serape.stability(frame, "disease", groups=np.arange(240) % 3)


def test_groups_with_frequencies(monkeypatch: pytest.MonkeyPatch) -> None:
    frame, patients = grouped()
    times = np.random.default_rng(1).integers(1, 4, len(frame))
    repeated = serape.stability(frame, "disease", draws=4, groups=patients, sample_weight=times).frequencies
    monkeypatch.setattr(applied, "MAX_BYTES", 0)
    kept = serape.stability(frame, "disease", draws=4, groups=patients, sample_weight=times).frequencies
    assert kept == repeated


# --- the command line ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["blanket", "neighbours", "region", "skeleton", "network", "stability", "path"])
def test_every_command_takes_weights(command: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    WEIGHTED.to_csv(tmp_path / "weighted.csv", index=False)
    WRITTEN.to_csv(tmp_path / "written.csv", index=False)
    words = [] if command in ("skeleton", "network") else ["-t", "HeartDisease"]
    words += ["--draws", "2"] if command == "stability" else []
    found = []
    for name, more in (("weighted", ["--sample-weight", "times"]), ("written", [])):
        code, out, err = run(capsys, command, str(tmp_path / f"{name}.csv"), *words, *more, "--json", "--quiet")
        assert (code, err) == (0, "")
        found.append(json.loads(out))
    for name in ("blanket", "frequencies", "edges", "members", "tests"):
        assert found[0].get(name) == found[1].get(name)
    more = ["--sample-weight", "times", "--weight-kind", "survey", "--groups", "Ward"]
    code, out, _ = run(capsys, command, str(tmp_path / "weighted.csv"), *words, *more, "--json", "--quiet")
    assert code == 0
    assert any("rows have survey weights in 'times'" in note for note in json.loads(out)["notes"])


def test_a_report_tells_how_to_repeat_the_call(tmp_path: Path) -> None:
    WEIGHTED.to_csv(tmp_path / "weighted.csv", index=False)
    table = Table(tmp_path / "weighted.csv", sample_weight="times", weight_kind="survey", groups="Ward")
    calls = blanket_page(serape.markov_blanket(table, "HeartDisease")).calls
    assert "sample_weight='times', weight_kind='survey', groups='Ward')" in calls["In Python"]
    shown = calls["On the command line"].replace("\\\n", "")
    for words in ("--sample-weight times", "--weight-kind survey", "--groups Ward"):
        assert words in shown
    table = Table(tmp_path / "weighted.csv", sample_weight=TIMES)
    calls = blanket_page(serape.markov_blanket(table, "HeartDisease")).calls
    assert "sample_weight=sample_weight)" in calls["In Python"]
    assert "On the command line" not in calls


def test_the_wrapper_refuses_weights() -> None:
    with pytest.raises(serape.OptionError, match="sample_weight='times' has no effect here"):
        serape.wrapper(WEIGHTED, None, None, sample_weight="times")  # type: ignore[arg-type]


def test_graphs_are_compared() -> None:
    """The comparison above is of graphs with edges."""
    assert nx.Graph(serape.skeleton(WRITTEN, algorithm="pc-stable").graph).number_of_edges() > 3
