"""`fdr=`: a bound on the false discovery rate in every question."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pytest

import serape
from plain import random_dag, true_blanket
from serape.independence.outcomes import Outcome, p_value_text
from serape.independence.partial_correlation import PartialCorrelation
from serape.local.registry import ALGORITHMS
from serape.search import FalseDiscoveryRate


def gaussian(graph: nx.DiGraph[str], rows: int, random: np.random.Generator, weight: float = 0.5) -> pd.DataFrame:
    """Draw from a linear network with weights of ±`weight`."""
    columns: dict[str, Any] = {}
    for node in nx.topological_sort(graph):
        columns[node] = random.normal(size=rows)
        for parent in graph.predecessors(node):
            columns[node] = columns[node] + random.choice([-weight, weight]) * columns[parent]
    return pd.DataFrame({node: columns[node] for node in graph})


@pytest.fixture(autouse=True)
def loose_levels(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make a loose alpha the default, and no bound, so that there is something to drop."""
    monkeypatch.setattr("serape.questions.query.ALPHA", 0.05)
    monkeypatch.setattr("serape.questions.query.RATE", None)


@pytest.fixture(scope="module")
def wide() -> pd.DataFrame:
    """Return y = strong + weak effects of two columns, and 60 columns of noise; some have p < 0.05."""
    random = np.random.default_rng(11)
    frame = pd.DataFrame(random.normal(size=(300, 60)), columns=[f"n{k}" for k in range(60)])
    frame["strong"], frame["other"] = random.normal(size=(2, 300))
    frame["y"] = frame["strong"] + 0.6 * frame["other"] + random.normal(size=300)
    return frame


def asked(data: Any, target: str, algorithm: str, **settings: Any) -> serape.Result:
    return serape.markov_blanket(data, target, algorithm, test="partial-correlation", **settings)


# --- results ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_noise_is_left_out(wide: pd.DataFrame, algorithm: str) -> None:
    of_blankets = ALGORITHMS[algorithm].answers("blanket")
    question = serape.markov_blanket if of_blankets else serape.parents_children
    plain = question(wide, "y", algorithm, test="partial-correlation")
    found = question(wide, "y", algorithm, test="partial-correlation", fdr=0.05)
    assert len(plain.members) > 2 or ALGORITHMS[algorithm].family == "score"  # which has a bound of its own
    assert found.members == ("strong", "other")
    assert (plain.fdr, plain.threshold, plain.adjusted_p) == (None, None, {})
    assert found.fdr == 0.05
    assert found.threshold is not None
    assert found.threshold < 0.05
    assert found.options["fdr"] == 0.05
    assert found.options["fdr_method"] == ("by" if ALGORITHMS[algorithm].conditions_on_blanket else "adaptive")
    assert f"false discovery rate 0.05 (p up to {p_value_text(found.threshold)})" in str(found)
    for name, adjusted in found.adjusted_p.items():
        assert (adjusted <= 0.05) == (name in found.members)
    evidence = {row["variable"]: row["adjusted_p"] for row in found.evidence}
    assert all(evidence[name] == adjusted for name, adjusted in found.adjusted_p.items())
    assert all(math.isnan(evidence[name]) for name in evidence if name not in found.adjusted_p)


class Recording(serape.FunctionTest):
    """Partial correlation, one test at a time, that remembers the log p of all tests of each pair."""

    def __init__(self, frame: pd.DataFrame) -> None:
        super().__init__(frame, lambda x, y, z: math.nan)
        self.plain = PartialCorrelation(self.table)
        self.asked: dict[frozenset[int], list[float]] = {}

    def test(self, x: int, y: int, given: Sequence[int] = ()) -> Outcome:
        outcome = self.plain.test(x, y, given)
        self.asked.setdefault(frozenset((x, y)), []).append(outcome.log_p)
        return outcome


@pytest.mark.parametrize("algorithm", ["iamb-npc", "inter-iamb-npc", "inter-iamb", "fbed"])
def test_no_member_is_above_the_rate_where_rows_are_few(algorithm: str) -> None:
    insurance = serape.load_network("insurance")
    judged = 0
    for seed in range(6):
        found = serape.blankets(insurance.sample(50, seed), algorithm=algorithm, test="g2", fdr=0.2)
        for result in found.values():
            assert all(result.adjusted_p.get(x, 0.0) <= 0.2 for x in result.members), result
            judged += len(set(result.members) & set(result.adjusted_p))
    assert judged > 20


def test_a_member_by_the_tests_of_the_other_side_is_explained() -> None:
    random = np.random.default_rng(0)
    columns = random.integers(2, size=(120, 200))
    for k in range(1, 120):
        columns[k] = np.where(random.random(200) < 0.25, columns[random.integers(k)], columns[k])
    data = serape.Table(pd.DataFrame({f"x{k}": column for k, column in enumerate(columns)}))
    found = serape.blankets(data, algorithm="hpc", alpha=0.01, fdr=0.2)
    by_other_side = 0
    for result in found.values():
        for name in result.members:
            why = result.explain(name)
            assert f"associated with {result.target}" in str(why)
            assert why.log_p <= math.log(result.level)
            assert result.adjusted_p[name] >= why.p
            parents_children = found[name].parents_children
            assert parents_children is not None
            by_other_side += result.target in parents_children and name in (result.parents_children or ())
    assert by_other_side > 0


@pytest.mark.parametrize("algorithm", ["hiton-pc", "mmpc"])
@pytest.mark.parametrize("method", ["bh", "by", "adaptive"])
def test_the_weakest_association_counts(wide: pd.DataFrame, algorithm: str, method: Any) -> None:
    """The p that counts for a neighbour is the largest of all tests of the pair that showed dependence."""
    test = Recording(wide)
    found = serape.parents_children(test, "y", algorithm, fdr=0.1, fdr_method=method)
    plain = serape.parents_children(wide, "y", algorithm, test="partial-correlation")
    assert set(found.adjusted_p) == set(plain.members) > set(found.members)
    at = {name: k for k, name in enumerate(wide)}
    tests = {name: test.asked[frozenset((at[name], at["y"]))] for name in found.adjusted_p}
    weakest = [max(p for p in values if p <= math.log(0.05)) for values in tests.values()]
    expected = FalseDiscoveryRate(0.1, method, math.log(0.05)).adjusted(weakest, len(wide.columns) - 1)
    assert list(found.adjusted_p.values()) == pytest.approx(expected.tolist())


@pytest.mark.parametrize("algorithm", ["iamb", "fast-iamb", "inter-iamb"])
def test_members_are_tested_once_and_counted_as_asked(
    wide: pd.DataFrame, algorithm: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ask() -> tuple[serape.Result, int]:
        test = Recording(wide)
        found = serape.markov_blanket(test, "y", algorithm, fdr=0.1)
        return found, sum(map(len, test.asked.values()))

    found, computed = ask()
    monkeypatch.setattr("serape.search.search._MAX_OUTCOMES", 0)  # nothing is remembered
    plain, all_computed = ask()
    assert (found.members, found.tests, found.skipped) == (plain.members, plain.tests, plain.skipped)
    assert found.adjusted_p == plain.adjusted_p
    assert computed < all_computed


def test_a_candidate_that_joined_is_not_tested_again_given_the_others(wide: pd.DataFrame) -> None:
    class Questions(Recording):
        def test(self, x: int, y: int, given: Sequence[int] = ()) -> Outcome:
            questions.append((frozenset((x, y)), frozenset(given)))
            return super().test(x, y, given)

    questions: list[tuple[frozenset[int], frozenset[int]]] = []
    found = serape.markov_blanket(Questions(wide), "y", "iamb", fdr=0.1)
    assert len(found.members) > 1
    assert len(set(questions)) == len(questions) < found.tests


def test_a_member_that_is_dropped_is_explained(wide: pd.DataFrame) -> None:
    found = asked(wide, "y", "hiton-mb", fdr=0.05)
    dropped = [name for name in found.adjusted_p if name not in found.blanket]
    assert dropped
    for name in dropped:
        text = str(found.explain(name))
        assert text.startswith(
            f"{name} is not in the Markov blanket of y: its association is too weak for a false discovery rate of "
            f"0.05. Its adjusted p is {found.adjusted_p[name]:.3g}. Its deciding test is the one "
        )
    assert "the largest p that the rate allows" in str(found.explain("strong"))


def test_saved_and_read_again(wide: pd.DataFrame, tmp_path: Path) -> None:
    found = asked(wide, "y", "hiton-mb", fdr=0.05)
    path = tmp_path / "found.json"
    found.save(path)
    again = serape.load_result(path)
    assert (again.fdr, again.threshold, again.adjusted_p) == (found.fdr, found.threshold, found.adjusted_p)
    assert str(again) == str(found)
    name = next(name for name in found.adjusted_p if name not in found.blanket)
    assert str(again.explain(name)) == str(found.explain(name))
    content = json.loads(path.read_text())
    for key in ("fdr", "threshold", "adjusted_p"):
        del content[key]
    path.write_text(json.dumps(content))
    old = serape.load_result(path)
    assert (old.blanket, old.fdr, old.threshold, old.adjusted_p) == (found.blanket, None, None, {})


def test_known_and_required_members_stay(wide: pd.DataFrame) -> None:
    for algorithm in ("iamb", "fbed", "hiton-mb", "hpc"):
        known = asked(wide, "y", algorithm, fdr=0.05, known_members=["n7"])
        assert {"strong", "other", "n7"} <= set(known.blanket)
        assert "n7" not in known.adjusted_p
        required = asked(wide, "y", algorithm, fdr=0.05, knowledge={"required": [("n7", "y")]})
        assert {"strong", "other", "n7"} <= set(required.blanket)


@pytest.mark.parametrize("method", ["bh", "by"])
def test_no_candidates(wide: pd.DataFrame, method: Any) -> None:
    rest = [name for name in wide if name != "y"]
    for algorithm in ("iamb", "hiton-mb"):
        assert asked(wide, "y", algorithm, fdr=0.05, fdr_method=method, forbidden_members=rest).blanket == ()


@pytest.mark.parametrize("algorithm", ["iamb", "hiton-mb"])
def test_an_empty_answer_names_the_nearest(algorithm: str) -> None:
    random = np.random.default_rng(1)
    noise = pd.DataFrame({f"n{k}": random.normal(size=200) for k in range(400)}).assign(y=random.normal(size=200))
    found = asked(noise, "y", algorithm, fdr=0.05)
    assert found.blanket == ()
    (note,) = (note for note in found.notes if note.startswith("no member was found"))
    nearest = min(found.evidence, key=lambda row: row["p"])
    assert f"smallest p of deciding tests: {nearest['variable']!r} (p = " in note
    assert "among 400 candidates, a false discovery rate of 0.05 allows p up to " in note
    assert not any(note.startswith("no member") for note in asked(noise, "y", algorithm, fdr=None, alpha=1e-9).notes)


def test_bad_values(wide: pd.DataFrame) -> None:
    with pytest.raises(serape.OptionError, match="fdr must be between 0 and 1, not 2"):
        asked(wide, "y", "iamb", fdr=2)
    with pytest.raises(serape.OptionError, match="fdr_method='bonferroni' is not known"):
        asked(wide, "y", "iamb", fdr=0.1, fdr_method="bonferroni")
    with pytest.raises(serape.OptionError, match="fdr_method='adaptive' needs .* at each step; use 'bh' or 'by'"):
        asked(wide, "y", "iamb", fdr=0.1, fdr_method="adaptive")
    with pytest.raises(serape.OptionError, match="fdr_method='by' needs a rate; pass one, such as fdr=0.05"):
        asked(wide, "y", "iamb", fdr=None, fdr_method="by")


# --- the rate --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("algorithm", ["iamb", "fbed", "hiton-mb", "hpc"])
def test_the_rate_on_noise(algorithm: str) -> None:
    """Every member is false, so the rate is the share of answers with members."""
    some, without = 0, 0
    targets = 0
    for seed in range(8):
        frame = pd.DataFrame(np.random.default_rng(seed).normal(size=(100, 30))).rename(columns="v{}".format)
        ask: dict[str, Any] = {"algorithm": algorithm, "test": "partial-correlation"}
        some += sum(bool(found.blanket) for found in serape.blankets(frame, **ask, fdr=0.2).values())
        without += sum(bool(found.blanket) for found in serape.blankets(frame, **ask).values())
        targets += 30
    assert some / targets <= 0.2 + 2 * math.sqrt(0.2 * 0.8 / (targets / 2))  # answers come in pairs
    assert without / targets > 0.5


@pytest.mark.parametrize("algorithm", ["iamb", "fbed", "hiton-mb", "hpc"])
def test_the_rate_in_random_networks(algorithm: str) -> None:
    false: dict[float | None, int] = {None: 0, 0.1: 0}
    members = dict(false)
    true = dict(false)
    for seed in range(4):
        random = np.random.default_rng(seed)
        graph = random_dag(random, 40, 0.04)
        frame = gaussian(graph, 500, random)
        for q in false:
            answers = serape.blankets(frame, algorithm=algorithm, test="partial-correlation", fdr=q)
            for name, found in answers.items():
                wrong = len(set(found.blanket) - true_blanket(graph, name))
                false[q] += wrong
                members[q] += len(found.blanket)
                true[q] += len(found.blanket) - wrong
    assert false[0.1] / members[0.1] <= 0.1 + 2 * math.sqrt(0.1 * 0.9 / members[0.1])
    assert false[None] / members[None] > 0.2
    assert true[0.1] > 0.85 * true[None]


@pytest.mark.parametrize("algorithm", ["hiton-pc", "hpc", "pc-stable"])
@pytest.mark.parametrize("q", [0.05, 0.2])
def test_the_rate_of_edges(algorithm: str, q: float) -> None:
    false = found = true = 0
    for seed in range(3):
        random = np.random.default_rng(50 + seed)
        graph = random_dag(random, 40, 0.05)
        frame = gaussian(graph, 500, random).assign(**{f"z{k}": random.normal(size=500) for k in range(30)})
        edges = serape.skeleton(frame, algorithm, test="partial-correlation", fdr=q).edges
        wrong = sum(not (graph.has_edge(a, b) or graph.has_edge(b, a)) for a, b in edges)
        false, found, true = false + wrong, found + len(edges), true + len(graph.edges)
    assert false / found <= q + 2 * math.sqrt(q * (1 - q) / found)
    assert found - false > 0.95 * true


# --- other questions -------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def network() -> tuple[nx.DiGraph[str], pd.DataFrame]:
    random = np.random.default_rng(11)
    graph = random_dag(random, 25, 0.06)
    return graph, gaussian(graph, 400, random)


Network = tuple["nx.DiGraph[str]", pd.DataFrame]


@pytest.mark.parametrize("algorithm", ["iamb", "fbed", "hiton-mb", "hpc", "pcmb"])
def test_many_targets_agree_with_one(network: Network, algorithm: str) -> None:
    _, frame = network
    settings: dict[str, Any] = {"algorithm": algorithm, "test": "partial-correlation", "fdr": 0.1}
    together = serape.blankets(frame, **settings)
    in_parallel = serape.blankets(frame, **settings, n_jobs=2)
    for name, found in together.items():
        alone = serape.markov_blanket(frame, name, **settings)
        for other in (found, in_parallel[name]):
            assert other.blanket == alone.blanket
            assert other.threshold == pytest.approx(alone.threshold, rel=1e-12)
            assert other.adjusted_p == pytest.approx(alone.adjusted_p, rel=1e-9)
            assert other.evidence["adjusted_p"] == pytest.approx(alone.evidence["adjusted_p"], rel=1e-9, nan_ok=True)


def test_threads_change_nothing(network: Network) -> None:
    _, frame = network
    for algorithm in ("iamb", "hiton-mb", "hpc"):
        one = asked(frame, frame.columns[3], algorithm, fdr=0.1)
        two = asked(frame, frame.columns[3], algorithm, fdr=0.1, n_jobs=2)
        assert (one.blanket, one.threshold, one.adjusted_p, one.tests) == (
            two.blanket, two.threshold, two.adjusted_p, two.tests,
        )  # fmt: skip


@pytest.mark.parametrize("algorithm", ["hiton-pc", "mmpc", "hpc", "inter-iapc", "pc-stable"])
def test_skeletons(network: Network, algorithm: str) -> None:
    graph, frame = network
    true = {frozenset(edge) for edge in graph.edges}
    plain = serape.skeleton(frame, algorithm, test="partial-correlation")
    found = serape.skeleton(frame, algorithm, test="partial-correlation", fdr=0.05)
    parallel = serape.skeleton(frame, algorithm, test="partial-correlation", fdr=0.05, n_jobs=2)
    assert (parallel.edges, parallel.threshold, parallel.tests) == (found.edges, found.threshold, found.tests)
    edges = {frozenset(edge) for edge in found.edges}
    assert edges < {frozenset(edge) for edge in plain.edges}
    assert len(edges - true) <= 1
    assert len(edges & true) > 0.6 * len(true)
    assert (plain.fdr, plain.threshold) == (None, None)
    assert "adjusted_p" not in plain.evidence.columns
    assert found.fdr == 0.05
    assert found.threshold is not None
    assert f"false discovery rate 0.05 (p up to {p_value_text(found.threshold)})" in str(found)
    assert all(0 <= p <= 0.05 for p in found.evidence["adjusted_p"])


@pytest.mark.parametrize("algorithm", ["mmhc", "h2pc", "pc-stable", "hiton-pc"])
def test_networks(network: Network, algorithm: str, tmp_path: Path) -> None:
    _, frame = network
    frame = (frame > 0).astype(int)
    plain = serape.network(frame, algorithm)
    found = serape.network(frame, algorithm, fdr=0.01, fdr_method="by")
    assert len(found.edges) < len(plain.edges)
    assert set(map(frozenset, found.edges)) <= set(map(frozenset, plain.edges)) or algorithm in ("mmhc", "h2pc")
    assert all(p <= 0.01 for p in found.evidence["adjusted_p"])
    path = tmp_path / "network.json"
    found.save(path)
    again = serape.load_structure(path)
    assert (again.fdr, again.threshold) == (found.fdr, found.threshold)
    assert again.evidence["adjusted_p"] == found.evidence["adjusted_p"]
    content = json.loads(path.read_text())
    for key in ("fdr", "threshold"):
        del content[key]
    for edge in content["edges"]:
        del edge["adjusted_p"]
    path.write_text(json.dumps(content))
    old = serape.load_structure(path)
    assert (old.edges, old.fdr, old.threshold) == (found.edges, None, None)


@pytest.mark.parametrize(
    ("algorithm", "setting"),
    [("hiton-pc", "knowledge"), ("hiton-pc", "known_members"), ("hpc", "known_members"), ("pc-stable", "knowledge")],
)
def test_required_edges_stay(network: Network, algorithm: str, setting: str) -> None:
    _, frame = network
    ask: dict[str, Any] = {"algorithm": algorithm, "test": "partial-correlation"}
    plain, strict = serape.skeleton(frame, **ask), serape.skeleton(frame, **ask, fdr=1e-9)
    a, b = next(edge for edge in plain.edges if not strict.graph.has_edge(*edge))
    settings: dict[str, Any] = {"knowledge": {"required": [(a, b)]}, "known_members": {a: [b]}}
    found = serape.skeleton(frame, **ask, fdr=1e-9, **{setting: settings[setting]})
    assert found.graph.has_edge(a, b)
    assert "adjusted_p" not in found.graph.edges[a, b]


@pytest.mark.parametrize("algorithm", ["hiton-pc", "hpc", "inter-iapc"])
def test_a_run_that_continues_gives_the_same_answer(network: Network, algorithm: str, tmp_path: Path) -> None:
    _, frame = network
    ask: dict[str, Any] = {"algorithm": algorithm, "test": "partial-correlation"}
    whole = serape.skeleton(frame, **ask, fdr=0.05)
    path = tmp_path / "kept.jsonl"
    serape.skeleton(frame, **ask, fdr=0.05, checkpoint=path)
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(lines[:12]))
    again = serape.skeleton(frame, **ask, fdr=0.05, checkpoint=path)
    assert (again.tests, again.edges, again.threshold) == (whole.tests, whole.edges, whole.threshold)
    assert again.evidence["adjusted_p"] == whole.evidence["adjusted_p"]
    other = serape.skeleton(frame, **ask, fdr=0.2, fdr_method="bh", checkpoint=path)
    assert other.edges == serape.skeleton(frame, **ask, fdr=0.2, fdr_method="bh").edges
    unbounded = tmp_path / "unbounded.jsonl"
    serape.skeleton(frame, **ask, checkpoint=unbounded)
    with pytest.raises(serape.OptionError, match="belongs to a run with fdr None"):
        serape.skeleton(frame, **ask, fdr=0.05, checkpoint=unbounded)


def test_regions(network: Network) -> None:
    _, frame = network
    target = max(network[0].degree, key=lambda pair: pair[1])[0]
    plain = serape.region(frame, target, 2, "hiton-pc", test="partial-correlation")
    found = serape.region(frame, target, 2, "hiton-pc", test="partial-correlation", fdr=1e-4)
    assert (plain.graph["fdr"], found.graph["fdr"]) == (None, 1e-4)
    assert len(found.edges) < len(plain.edges)
    assert set(map(frozenset, found.edges)) <= set(map(frozenset, plain.edges))


def test_stability(wide: pd.DataFrame) -> None:
    ask: dict[str, Any] = {"algorithm": "hiton-mb", "test": "partial-correlation", "draws": 6}
    plain, found = serape.stability(wide, "y", **ask), serape.stability(wide, "y", **ask, fdr=0.05)
    assert found.mean_size < plain.mean_size
    assert found.frequencies["strong"] == 1
    again = serape.stability(wide, "y", **ask, fdr=0.05, n_jobs=2)
    assert again.frequencies == found.frequencies
    edges = {"algorithm": "hiton-pc", "test": "partial-correlation", "draws": 2, "finds": "skeleton"}
    part = wide[["y", "strong", "other", *(f"n{k}" for k in range(12))]]
    loose, strict = serape.stability(part, **edges), serape.stability(part, **edges, fdr=0.05)  # type: ignore[call-overload]
    assert strict.mean_size < loose.mean_size
    for one in (found, strict):
        assert one.fdr == one.to_dict()["fdr"] == 0.05
        assert ", false discovery rate 0.05: " in str(one)
    assert plain.fdr is None
    assert "rate" not in str(plain)


def test_questions_that_refuse_it(wide: pd.DataFrame) -> None:
    with pytest.raises(serape.OptionError, match="the significance levels are `alphas`"):
        serape.alpha_path(wide, "y", fdr=0.05)
    for algorithm in ("ges", "tabu"):
        with pytest.raises(serape.OptionError, match=r"uses a score, not tests, so fdr=0.05 has no effect"):
            serape.network(wide, algorithm, fdr=0.05)
