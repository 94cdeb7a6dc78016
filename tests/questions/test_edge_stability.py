"""stability of skeletons and networks: how often edges are found in rows drawn again."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest

import serape
from drawn import arrows, has_head
from serape import OptionError
from serape.questions.draws import rows_of_draw
from serape.structure.graphs import PartlyDirected, cpdag
from tables import PATIENTS

ALARM = serape.load_network("alarm")
ASIA = serape.load_network("asia")
TABLE = ASIA.sample(1000, seed=3)


def half(draw: int, seed: int = 0) -> serape.Table:
    return TABLE.part(range(len(TABLE.names)), rows_of_draw(1000, draw, "half", seed))


@pytest.mark.parametrize("algorithm", ["auto", "pc-stable"])
def test_skeletons_are_those_of_searches_by_hand(algorithm: str) -> None:
    found = serape.stability(TABLE, finds="skeleton", algorithm=algorithm, draws=6, alpha=0.01, random_state=4)
    by_hand = Counter(
        frozenset(edge) for k in range(6) for edge in serape.skeleton(half(k, 4), algorithm, alpha=0.01).edges
    )
    assert {frozenset(edge): share for edge, share in found.frequencies.items()} == {
        edge: count / 6 for edge, count in by_hand.items()
    }
    assert found.mean_size == found.mean_found == pytest.approx(by_hand.total() / 6)
    assert (found.candidates, found.draws, found.pairs, found.rows) == (28, 6, 3, 500)
    assert found.algorithm == ("hpc" if algorithm == "auto" else algorithm)
    assert (found.test, found.alpha, found.score, found.directions) == ("g2", 0.01, None, {})


@pytest.mark.parametrize("algorithm", ["mmhc", "pc-stable", "ges", "hiton-pc"])
def test_networks_are_those_of_searches_by_hand(algorithm: str) -> None:
    found = serape.stability(TABLE, finds="network", algorithm=algorithm, draws=4)
    edges: Counter[Any] = Counter()
    arcs: Counter[Any] = Counter()
    for k in range(4):
        graph = serape.network(half(k), algorithm).graph
        names = list(graph)
        assert isinstance(graph, nx.DiGraph)
        partly = PartlyDirected.of_networkx(graph, names)
        if algorithm == "mmhc":
            partly = cpdag(partly.parents)
        edges.update(frozenset((a, b)) for a, b in graph.edges if not graph.has_edge(b, a) or a < b)
        arcs.update((names[x], names[y]) for x, y in partly.arcs())
    assert {frozenset(edge): share for edge, share in found.frequencies.items()} == {
        edge: count / 4 for edge, count in edges.items()
    }
    assert found.directions == {arc: count / 4 for arc, count in arcs.items()}
    for row in found.records:
        assert row["forward"] + row["backward"] + row["undirected"] == pytest.approx(row["share"])
        assert row["forward"] == arcs[row["from"], row["to"]] / 4


def test_options_reach_the_search() -> None:
    either, both = (
        serape.stability(TABLE, finds="skeleton", draws=6, algorithm="mmpc", rule=rule, alpha=0.2, symmetry=False)
        for rule in ("or", None)
    )
    assert both.mean_size < either.mean_size
    by_bic, by_aic = (
        serape.stability(TABLE, finds="network", algorithm="tabu", score=s, draws=4) for s in ("bic", "aic")
    )
    assert (by_bic.score, by_bic.test, by_bic.alpha) == ("bic", None, None)
    assert by_bic.mean_size < by_aic.mean_size
    assert "by tabu bic score" in str(by_bic)
    sparse = serape.stability(TABLE, finds="network", algorithm="tabu", draws=4, max_parents=1)
    assert sparse.mean_size <= 7


def test_stable_edges_of_alarm_are_true() -> None:
    table = ALARM.sample(2000, seed=1)
    found = serape.stability(table, finds="network", algorithm="pc-stable", draws=20, alpha=0.1)
    truth = {frozenset(edge) for edge in ALARM.graph.edges}
    stable = {frozenset(edge) for edge in found.stable(0.9)}
    assert len(stable & truth) >= 35
    assert len(stable - truth) <= found.false_selections(0.9).bound
    once = {frozenset(edge) for edge in found.frequencies}
    assert len(stable - truth) < len(once - truth)
    arrows = [(a, b) for a, b in found.graph(0.9).edges if not found.graph(0.9).has_edge(b, a)]
    assert sum(ALARM.graph.has_edge(a, b) for a, b in arrows) > 0.8 * len(arrows) > 0


def test_false_edges_among_noise_respect_the_bounds() -> None:
    random = np.random.default_rng(1)
    selected, bounds = np.zeros(3), np.zeros(3)
    for _ in range(20):
        noise = random.integers(0, 2, (200, 12)).astype(np.uint8)
        found = serape.stability(
            noise, finds="skeleton", algorithm="pc-stable", draws=10, alpha=0.2, max_conditioning=0
        )
        assert found.candidates == 66
        selected += [len(found.stable(at)) / 20 for at in (0.6, 0.8, 1.0)]
        bounds += [found.false_selections(at).bound / 20 for at in (0.6, 0.8, 1.0)]
    assert selected[0] > 0.5
    assert (selected <= bounds).all()


def test_knowledge_and_known_members() -> None:
    found = serape.stability(
        TABLE, finds="network", algorithm="mmhc", draws=4, alpha=0.001,
        knowledge={
            "required": [["asia", "xray"]], "forbidden_pairs": [["lung", "either"]], "tiers": [["smoke"], ["bronc"]],
        },
    )  # fmt: skip
    assert found.frequencies["asia", "xray"] == found.directions["asia", "xray"] == 1
    assert ("lung", "either") not in found.frequencies
    assert found.directions["smoke", "bronc"] == found.frequencies["smoke", "bronc"]  # by tiers, not by the class
    assert found.candidates == 26
    assert found.mean_found == pytest.approx(found.mean_size - 1)
    known = serape.stability(TABLE, finds="skeleton", draws=4, known_members={"asia": ["dysp"]})
    assert known.frequencies["asia", "dysp"] == 1
    assert known.candidates == 27
    assert known.mean_found == pytest.approx(known.mean_size - 1)
    scored = serape.stability(
        TABLE, finds="network", algorithm="tabu", draws=2, knowledge={"required": [["asia", "xray"]]}
    )
    assert (scored.candidates, scored.directions["asia", "xray"]) == (27, 1)


def test_the_same_on_any_number_of_processes() -> None:
    one, two = (serape.stability(TABLE, finds="network", draws=30, n_jobs=jobs) for jobs in (1, 2))
    assert list(one.frequencies.items()) == list(two.frequencies.items())
    assert one.directions == two.directions
    scored = [serape.stability(TABLE, finds="network", algorithm="ges", draws=30, n_jobs=jobs) for jobs in (1, 2)]
    assert scored[0].frequencies == scored[1].frequencies


def test_groups_and_weights() -> None:
    groups = np.arange(1000) // 4
    grouped = serape.stability(TABLE.to_pandas(), finds="skeleton", groups=groups, draws=2)
    assert grouped.rows == 500
    assert any("250 groups" in note for note in grouped.notes)
    weighted = serape.stability(TABLE.to_pandas(), finds="skeleton", sample_weight=np.full(1000, 2), draws=2)
    assert weighted.rows == 1000
    assert weighted.frequencies["smoke", "bronc"] == 1


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("finds", ["skeleton", "network"])
def test_ctrl_c_keeps_what_was_found(jobs: int, finds: Any) -> None:
    told: list[Any] = []

    def progress(now: Any) -> None:
        told.append(now)
        if len(told) == 5:
            raise KeyboardInterrupt

    found = serape.stability(TABLE, finds=finds, draws=40, n_jobs=jobs, progress=progress)
    assert not found.complete
    assert 5 <= found.draws <= 6
    assert found.pairs <= 3
    assert "not complete" in str(found)
    assert [now.members for now in told] == [()] * len(told)


def test_graph_and_picture(tmp_path: Path) -> None:
    found = serape.stability(TABLE, finds="network", draws=4)
    found = replace(
        found,
        frequencies={("asia", "tub"): 1.0, ("tub", "smoke"): 0.75, ("smoke", "lung"): 0.5, ("lung", "xray"): 0.25},
        directions={("asia", "tub"): 1.0, ("smoke", "tub"): 0.75, ("smoke", "lung"): 0.25},
    )
    graph = found.graph()
    assert set(graph.edges) == {("asia", "tub"), ("smoke", "tub"), ("smoke", "lung"), ("lung", "smoke")}
    assert graph.edges["smoke", "tub"] == {"share": 0.75}
    assert set(graph) == set(TABLE.names)
    assert set(found.graph(0.8).edges) == {("asia", "tub")}
    assert len(set(found.graph(0.25).edges)) == 5  # smoke → lung in a quarter, lung – xray both ways
    assert found.stable() == (("asia", "tub"), ("tub", "smoke"), ("smoke", "lung"))
    picture = tmp_path / "edges.svg"
    drawn = arrows(found.plot(picture))
    widths = [drawn[edge].get_linewidth() for edge in (("asia", "tub"), ("smoke", "tub"), ("smoke", "lung"))]
    assert widths == sorted(widths, reverse=True)
    assert len(set(widths)) == 3
    assert [has_head(drawn[edge]) for edge in (("smoke", "tub"), ("smoke", "lung"))] == [True, False]
    assert "edges found in at least 50 % of them" in picture.read_text()
    assert found.plot(max_false=1e-9) is not None
    skeleton = serape.stability(TABLE, finds="skeleton", draws=4).graph()
    assert not skeleton.is_directed()
    content = found.to_dict()
    assert content["edges"][1] == {"from": "tub", "to": "smoke", "draws": 3, "share": 0.75, "forward": 0.0,
                                   "backward": 0.75, "undirected": 0.0}  # fmt: skip
    assert "frequencies" not in content


def test_a_column_that_is_constant_in_a_draw() -> None:
    rare = np.random.default_rng(0).integers(0, 2, (60, 4)).astype(np.uint8)
    rare[:, 0] = np.arange(60) == 0
    for finds in ("skeleton", "network"):
        assert serape.stability(rare, finds=finds, draws=6).draws == 6


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"finds": "skeleton", "target": "asia"}, "a skeleton has no target, but target='asia' is given"),
        ({"finds": "skeleton", "score": "bic"}, "score='bic' has no effect with finds='skeleton'"),
        ({"finds": "network", "rule": "xor"}, "rule must be 'and' or 'or'"),
        ({"finds": "network", "score": 3}, "name the score"),
        ({"finds": "blanket", "target": "asia", "rule": "or"}, "rule='or' has no effect with finds='blanket'"),
        (
            {"finds": "graph"},
            "finds='graph' is not known; use one of 'blanket', 'parents-children', 'skeleton', 'network'",
        ),
        ({"finds": "skeleton", "algorithm": "iamb"}, "iamb"),
        ({"finds": "network", "algorithm": "tabu", "alpha": 0.01}, "uses a score, not tests"),
    ],
)
def test_refusals(options: dict[str, Any], words: str) -> None:
    with pytest.raises(OptionError, match=words):
        serape.stability(TABLE, **options)


def test_a_target_is_needed() -> None:
    with pytest.raises(serape.InputTypeError, match="target must be the name"):
        serape.stability(PATIENTS)  # type: ignore[call-overload]
