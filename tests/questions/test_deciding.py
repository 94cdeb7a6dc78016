"""One deciding test: p, adjusted p, statistic, conditioning set, verdict and words belong together."""

from __future__ import annotations

import math
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import serape
from deciding_checks import check_edges, check_result
from serape.local.registry import ALGORITHMS
from serape.search.associations import DecidingTest
from serape.types import Finds, Rule

FINDS: tuple[Finds, ...] = ("blanket", "parents-children")
ALL = [(finds, name) for finds in FINDS for name, algorithm in ALGORITHMS.items() if algorithm.answers(finds)]
RULES: tuple[Rule, ...] = ("and", "or")
RATES: tuple[dict[str, Any], ...] = ({}, {"alpha": 0.05}, {"alpha": 0.05, "fdr": 0.05})


@cache
def sampled(network: str, rows: int) -> serape.Table:
    return serape.load_network(network).sample(rows, 3)


@cache
def mixed() -> serape.Table:
    random = np.random.default_rng(1)
    a, noise = random.normal(size=300), random.normal(size=(4, 300))
    b = a + noise[0]
    d = a**2 + noise[1]
    frame = {
        "a": a,
        "b": b,
        "c": np.where(b + noise[2] > 0, "yes", "no"),
        "d": d,
        "e": np.where(b > 0, d, -d) + noise[3],
        "f": random.choice(["x", "y", "z"], 300),
        "g": b * random.normal(size=300),
    }
    return serape.Table(pd.DataFrame(frame))


@cache
def numbers() -> serape.Table:
    random = np.random.default_rng(2)
    columns: dict[str, Any] = {}
    for k in range(8):
        columns[f"x{k}"] = random.normal(size=150) + sum(random.choice([0, 0.6]) * v for v in columns.values())
    return serape.Table(pd.DataFrame(columns))


def of_counts(options: Any) -> dict[str, Any]:
    return {name: options.get(name) for name in ("dof", "reliability")}


def asked(finds: Finds, *args: Any, **settings: Any) -> serape.Result:
    return (serape.markov_blanket if finds == "blanket" else serape.parents_children)(*args, **settings)


@pytest.mark.parametrize("settings", RATES)
@pytest.mark.parametrize(("finds", "algorithm"), ALL)
def test_evidence_of_every_algorithm(finds: Finds, algorithm: str, settings: dict[str, Any]) -> None:
    shown: Counter[str] = Counter()
    for table, targets in ((sampled("insurance", 300), 6), (sampled("child", 500), 4), (numbers(), 3)):
        for target in table.names[:targets]:
            found = asked(finds, table, target, algorithm, **settings)
            shown.update(check_result(table, found, **of_counts(found.options)))
    assert set(shown) <= {"dependent", "independent", "skipped", "reason"}
    assert shown["dependent"] > 5


@pytest.mark.parametrize("test", ["residuals", "regression"])
@pytest.mark.parametrize("algorithm", ["iamb", "hiton-mb", "hpc"])
def test_evidence_of_a_mixture(algorithm: str, test: str) -> None:
    for settings in RATES:
        found = serape.markov_blanket(mixed(), "b", algorithm, test=test, **settings)
        assert set(check_result(mixed(), found)) <= {"dependent", "independent", "skipped"}


@pytest.mark.parametrize(
    ("algorithm", "settings"),
    [
        ("hpc", {"unreliable": "independent"}),
        ("pcmb", {"zero_dof": "independent"}),
        ("mmmb", {"published": True}),
        ("hiton-mb", {"symmetry": False}),
        ("iamb", {"rank": "information"}),
        ("fast-iamb", {"k": 20}),
        ("inter-iamb-npc", {"published": True}),
        ("hpc", {"max_conditioning": 1}),
        ("iamb", {"max_conditioning": 1}),
        ("hiton-mb", {"min_effect": 0.05}),
        ("iamb", {"known_members": ["ThisCarCost"]}),
        ("hiton-mb", {"knowledge": {"required": [("ThisCarCost", "Age")]}}),
        ("inter-iamb-npc", {"known_members": ["ThisCarCost", "Theft"]}),
        ("hpc", {"forbidden_members": ["SocioEcon"]}),
    ],
)
def test_evidence_under_other_settings(algorithm: str, settings: dict[str, Any]) -> None:
    table = sampled("insurance", 300)
    for rate in RATES:
        for target in ("Age", "RiskAversion"):
            found = serape.markov_blanket(table, target, algorithm, **rate, **settings)
            shown = set(check_result(table, found, **of_counts(found.options)))
            assert shown <= {"dependent", "independent", "skipped", "reason", "untested"}


@pytest.mark.parametrize("settings", RATES)
@pytest.mark.parametrize("algorithm", ["hpc", "hiton-pc", "inter-iapc", "pcd", "pc-stable"])
def test_evidence_of_edges(algorithm: str, settings: dict[str, Any], tmp_path: Path) -> None:
    for table in (sampled("child", 400), mixed()):
        for rule in RULES[: 1 + (algorithm != "pc-stable")]:
            found = serape.skeleton(table, algorithm, rule, **settings)
            options = of_counts(found.options)
            judged = check_edges(table, found.graph.edges(data=True), rate=found.fdr, test=str(found.test), **options)
            assert judged == (0 if found.fdr is None else len(found.edges))
        network = serape.network(table, algorithm, **settings)
        check_edges(table, network.graph.edges(data=True), rate=network.fdr, test=str(network.test), **options)
        network.save(tmp_path / "network.json")
        assert str(serape.load_structure(tmp_path / "network.json").evidence) == str(network.evidence)


@pytest.mark.parametrize("algorithm", ["mmhc", "h2pc"])
def test_evidence_of_networks_by_score(algorithm: str) -> None:
    table = sampled("child", 400)
    found = serape.network(table, algorithm)
    options = of_counts(found.options)
    assert check_edges(table, found.graph.edges(data=True), rate=found.fdr, test=str(found.test), **options) > 10


@pytest.mark.parametrize("settings", RATES)
def test_evidence_of_regions_and_causes(settings: dict[str, Any]) -> None:
    for table, target, dof in ((sampled("child", 400), "CO2", {"dof": "adjusted"}), (mixed(), "b", {})):
        region = serape.region(table, target, 2, "hiton-pc", **settings)
        attributes = region.graph
        judged = check_edges(table, region.edges(data=True), rate=attributes["fdr"], test=attributes["test"], **dof)
        assert judged == (0 if attributes["fdr"] is None else len(region.edges))
        for learner in ("iamb", "hpc"):
            found = serape.causes(table, target, learner=learner, **settings).blanket_result
            assert set(check_result(table, found, **of_counts(found.options))) <= {
                "dependent", "independent", "skipped", "reason",
            }  # fmt: skip


def test_evidence_of_contexts_and_joint_blankets() -> None:
    table = sampled("child", 1500)
    contexts = serape.context_blankets(table, "CO2", context="Sick")
    for found in (contexts.pooled, *contexts.by_context.values()):
        assert all(p >= row["p"] for row in found.evidence if (p := found.adjusted_p.get(row["variable"])) is not None)
    joint = serape.joint_blanket(table, ["CO2", "Age"])
    for found in joint.by_target.values():
        set(check_result(table, found, **of_counts(found.options)))


@pytest.mark.parametrize("algorithm", ["iamb", "hiton-mb", "hpc"])
def test_saved_and_made_elsewhere(algorithm: str, tmp_path: Path) -> None:
    table = sampled("insurance", 300)
    together = serape.blankets(table, algorithm=algorithm)
    in_processes = serape.blankets(table, algorithm=algorithm, n_jobs=2)
    for target in table.names[:6]:
        found = serape.markov_blanket(table, target, algorithm)
        path = tmp_path / "found.json"
        found.save(path)
        again = serape.load_result(path)
        for other in (again, together[target], in_processes[target]):
            assert str(other.evidence) == str(found.evidence)
            words = [str(other.explain(name)) for name in table.names if name != target]
            assert words == [str(found.explain(name)) for name in table.names if name != target]


def test_a_run_that_continues_shows_the_same_tests(tmp_path: Path) -> None:
    table, path = sampled("child", 400), tmp_path / "kept.jsonl"
    whole = serape.skeleton(table, "hiton-pc", checkpoint=path)
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:15]))
    assert str(serape.skeleton(table, "hiton-pc", checkpoint=path).evidence) == str(whole.evidence)


def test_a_neighbour_has_its_weakest_association() -> None:
    """With a rate and without one: of all tests that the search asked, none of a member showed less."""
    table = sampled("alarm", 1000)
    both: tuple[dict[str, Any], ...] = ({"alpha": 0.01}, {"alpha": 0.01, "fdr": 0.2})
    for settings in both:
        for target in table.names[:12]:
            found = serape.parents_children(table, target, "hiton-pc", max_conditioning=1, **settings)
            for name in found.members:
                why = found.explain(name)
                others = [z for z in found.members if z != name]
                asked_of = [
                    serape.ci_test(table, name, target, g, dof="adjusted") for g in ([], *([z] for z in others))
                ]
                assert why.log_p >= max(o.log_p for o in asked_of if o.reliable) - 1e-9


def test_twice_the_p_of_the_stronger_side_counts() -> None:
    """A variable whose doubled p is above alpha is kept at no rate, and the explanation says so."""
    doubled = 0
    for seed in range(4):
        table = serape.load_network("insurance").sample(1000, seed)
        for target in (name for name in table.names if not table.is_constant(table.position(name))):
            found = serape.parents_children(table, target, "hpc", alpha=0.01, fdr=0.2)
            for name, adjusted in found.adjusted_p.items():
                assert (adjusted <= 0.2) == (name in found.members)
                why = found.explain(name)
                if name not in found.members and why.log_p <= math.log(0.01):
                    doubled += "because p counts as" in str(why)
                    assert adjusted == 1 or adjusted > 0.2
    assert doubled > 0


def test_the_weakest_link_of_a_spouse_is_named() -> None:
    table, named = sampled("alarm", 2000), 0
    for target in table.names[:14]:
        found = serape.markov_blanket(table, target, "hpc")
        for spouse in found.spouses or {}:
            why = found.explain(spouse)
            words = str(why)
            if ", because of " in words:
                named += 1
                link, rest = words.split(", because of ")[1].split(", the weakest link", 1)
                one, other = link.split(" – ")
                assert found.target in (one, other) or spouse in (one, other)
                assert set((found.spouses or {})[spouse]) & {one, other}
                p = float(rest.split("p = ")[1].split(")")[0])
                assert why.p <= p <= found.adjusted_p[spouse] * 1.01
    assert named > 0


def test_a_separated_pair_counts_as_p_1() -> None:
    test = DecidingTest(math.log(0.03), 7.0, 2.0, True, 100, (3,), separated=True)
    assert test.counted == 0.0
    assert test.outcome.p == pytest.approx(0.03)
