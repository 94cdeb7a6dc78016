"""`min_effect`: weak members and edges are left out, named in a note, and explained."""

from __future__ import annotations

import json
import math
import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import serape
from serape.results.effects import COLUMNS


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    """Return y = −0.6 strong + 0.15 weak + noise, and a child of strong and other."""
    draw = np.random.default_rng(0)
    strong, weak, other, idle = draw.normal(size=(4, 2000))
    y = -0.6 * strong + 0.15 * weak + draw.normal(size=2000)
    child = strong + other + draw.normal(size=2000)
    return pd.DataFrame({"strong": strong, "weak": weak, "other": other, "idle": idle, "child": child, "y": y})


@pytest.mark.parametrize("algorithm", ["iamb", "hiton-mb", "hpc-mb", "pcmb"])
@pytest.mark.parametrize("test", ["residuals", "partial-correlation"])
def test_weak_members_are_left_out(frame: pd.DataFrame, algorithm: str, test: str) -> None:
    all_of_them = serape.markov_blanket(frame, "y", algorithm, test=test, alpha=0.001)
    assert all_of_them.blanket == ("strong", "weak")
    found = serape.markov_blanket(frame, "y", algorithm, test=test, alpha=0.001, min_effect=0.05)
    assert found.blanket == ("strong",)
    assert found.parents_children in (None, ("strong",))
    assert "left out because of an effect of less than 0.05 bits: 'weak'" in found.notes
    why = found.explain("weak")
    assert not why.included
    assert why.effect is not None
    assert why.effect.bits < 0.05
    assert str(why).endswith("It is left out because its effect is less than 0.05 bits.")
    assert found.options["min_effect"] == 0.05
    assert found.tests == all_of_them.tests


def test_a_threshold_below_every_effect_changes_nothing(frame: pd.DataFrame) -> None:
    plain = serape.markov_blanket(frame, "y", "hiton-mb")
    found = serape.markov_blanket(frame, "y", "hiton-mb", min_effect=0)
    assert (found.blanket, found.spouses, found.notes) == (plain.blanket, plain.spouses, plain.notes)


def test_known_and_required_members_stay(frame: pd.DataFrame) -> None:
    known = serape.markov_blanket(frame, "y", "iamb", min_effect=0.05, known_members=["weak"])
    required = serape.markov_blanket(frame, "y", "hiton-mb", min_effect=0.05, knowledge={"required": [("weak", "y")]})
    assert {"strong", "weak"} <= set(known.blanket) & set(required.blanket)


def test_spouses_and_children(frame: pd.DataFrame) -> None:
    plain = serape.markov_blanket(frame, "other", "hiton-mb", alpha=0.001)
    assert plain.spouses == {"strong": ("child",)}
    effect = plain.explain("strong").effect
    assert effect is not None
    found = serape.markov_blanket(frame, "other", "hiton-mb", alpha=0.001, min_effect=effect.bits * 1.01)
    assert (found.blanket, found.parents_children, found.spouses) == (("child",), ("child",), {})


def test_many_targets_agree_with_one(frame: pd.DataFrame) -> None:
    together = serape.blankets(frame, algorithm="hiton-mb", min_effect=0.05, n_jobs=2)
    for name, found in together.items():
        alone = serape.markov_blanket(frame, name, "hiton-mb", min_effect=0.05)
        assert found.blanket == alone.blanket
        assert str(found.explain("weak" if name != "weak" else "y")) == str(
            alone.explain("weak" if name != "weak" else "y")
        )


@pytest.mark.parametrize("algorithm", ["hiton-pc", "pc-stable"])
def test_weak_edges_are_left_out(frame: pd.DataFrame, algorithm: str) -> None:
    plain = serape.skeleton(frame, algorithm, test="partial-correlation", alpha=0.001)
    effects = {(row["from"], row["to"]): row["effect"] for row in plain.evidence}
    assert set(effects) == {("strong", "child"), ("strong", "y"), ("weak", "y"), ("other", "child")}
    assert effects["weak", "y"] < 0.05 < min(bits for edge, bits in effects.items() if edge != ("weak", "y"))
    found = serape.skeleton(frame, algorithm, test="partial-correlation", alpha=0.001, min_effect=0.05)
    assert set(found.edges) == set(effects) - {("weak", "y")}
    assert "edges left out because of an effect of less than 0.05 bits: 'weak – y'" in found.notes
    network = serape.network(frame, algorithm, test="partial-correlation", alpha=0.001, min_effect=0.05)
    assert {frozenset(edge) for edge in network.edges} == {frozenset(edge) for edge in found.edges}
    assert {a for a, b in network.edges if b == "child"} == {"strong", "other"}


def test_required_edges_stay(frame: pd.DataFrame) -> None:
    found = serape.skeleton(frame, min_effect=0.05, knowledge={"required": [("weak", "y")]})
    assert ("weak", "y") in found.edges


def test_hybrid_networks_search_within_strong_edges() -> None:
    table = serape.load_network("asia").sample(5000, seed=1)
    plain, found = serape.network(table), serape.network(table, min_effect=0.05)
    edges = {frozenset(edge) for edge in found.edges}
    assert edges < {frozenset(edge) for edge in plain.edges}
    assert any("edges left out" in note for note in found.notes)


def test_regions_end_at_weak_edges(frame: pd.DataFrame) -> None:
    assert serape.region(frame, "weak", 2, alpha=0.001).nodes["strong"] == {"distance": 2}
    found = serape.region(frame, "weak", 2, alpha=0.001, min_effect=0.05)
    assert list(found.nodes) == ["weak"]
    assert "'weak – y'" in found.graph["notes"][-1]


def test_tests_without_effects_refuse(frame: pd.DataFrame) -> None:
    with pytest.raises(serape.OptionError, match="needs an effect size, which test 'pcm' does not have"):
        serape.markov_blanket(frame, "y", test="pcm", min_effect=0.1)
    for wrong in (-1, "x", True, math.nan, math.inf):
        with pytest.raises(serape.OptionError, match="min_effect must be a number of bits"):
            serape.markov_blanket(frame, "y", min_effect=wrong)  # type: ignore[arg-type]


# --- evidence --------------------------------------------------------------------------------------------------------


def test_evidence_has_effects(frame: pd.DataFrame) -> None:
    found = serape.markov_blanket(frame, "y", "iamb", test="partial-correlation")
    evidence = found.evidence.to_pandas().set_index("variable")
    for name in ("strong", "idle"):
        given = str(evidence.loc[name, "given"])
        outcome = serape.ci_test(frame, name, "y", given.split(", ") if given else (), test="partial-correlation")
        assert outcome.effect is not None
        assert tuple(evidence.loc[name, list(COLUMNS)]) == pytest.approx(
            (outcome.effect.bits, outcome.effect.name, outcome.effect.value)
        )
    assert str(found.explain("strong").effect) in str(found.explain("strong"))
    assert "bits, partial correlation −0.5" in str(found.explain("strong"))


def test_saved_effects_are_loaded(frame: pd.DataFrame, tmp_path: Path) -> None:
    path = tmp_path / "found.json"
    found = serape.markov_blanket(frame, "y", "hiton-mb")
    found.save(path)
    for again in (serape.load_result(path), pickle.loads(pickle.dumps(found))):
        for name in ("strong", "idle"):
            assert again.explain(name).effect == found.explain(name).effect
            assert str(again.explain(name)) == str(found.explain(name))
    content = json.loads(path.read_text())
    for name in COLUMNS:
        assert len(content["evidence"].pop(name)) == len(frame.columns)
    path.write_text(json.dumps(content))
    old = serape.load_result(path)  # as written by older versions
    assert old.explain("strong").effect is None
    assert all(math.isnan(bits) for bits in old.evidence["effect"])
    assert old.blanket == found.blanket
    content["evidence"] |= {"effect": [0.1], "effect_name": [None], "effect_value": [None]}
    path.write_text(json.dumps(content))
    with pytest.raises(serape.DataError, match="damaged"):
        serape.load_result(path)


def test_old_structures_are_loaded(frame: pd.DataFrame, tmp_path: Path) -> None:
    path = tmp_path / "found.json"
    found = serape.skeleton(frame)
    found.save(path)
    assert serape.load_structure(path).evidence["effect"] == pytest.approx(found.evidence["effect"])
    content = json.loads(path.read_text())
    for edge in content["edges"]:
        for name in COLUMNS:
            del edge[name]
    path.write_text(json.dumps(content))
    assert serape.load_structure(path).evidence["effect"] == [None] * len(found.edges)


def test_the_oracle_has_none() -> None:
    found = serape.markov_blanket(serape.DSeparation(serape.load_network("asia").graph), "dysp")
    assert found.explain("bronc").effect is None
    assert all(math.isnan(bits) for bits in found.evidence["effect"])
