"""blankets: many targets give the answers of each alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import serape
from plain import random_dag, random_table, true_blanket
from serape.data.example import clinic
from serape.search import EarlierSteps


class TestBlankets:
    data = clinic(2000, seed=3)

    @pytest.mark.parametrize("algorithm", ["gs", "iamb", "fast-iamb"])
    def test_the_same_as_one_by_one(self, algorithm: str) -> None:
        many = serape.blankets(self.data, algorithm=algorithm, n_jobs=2)
        assert list(many) == list(self.data)
        for name, found in many.items():
            alone = serape.markov_blanket(self.data, name, algorithm=algorithm)
            assert found.blanket == alone.blanket
            assert found.tests <= alone.tests
            assert str(found.explain("Age" if name != "Age" else "Ward")) == str(
                alone.explain("Age" if name != "Age" else "Ward")
            )

    def test_threads_do_not_matter(self) -> None:
        one, three = (serape.blankets(self.data, algorithm="iamb", n_jobs=n) for n in (1, 3))
        assert {k: (v.blanket, v.tests, v.skipped) for k, v in one.items()} == {
            k: (v.blanket, v.tests, v.skipped) for k, v in three.items()
        }

    def test_some_targets(self) -> None:
        assert list(serape.blankets(self.data, ["ECG", 0, "ECG"])) == ["ECG", "Age"]

    def test_constant_columns_are_excluded(self) -> None:
        many = serape.blankets({**self.data, "Same": np.zeros(2000, int)})
        assert "Same" not in many
        declared = pd.DataFrame(self.data).assign(Same=pd.Categorical(["u"] * 2000, categories=["u", "v"]))
        assert list(serape.blankets(declared)) == list(self.data)
        with pytest.raises(serape.DataError, match="'Same' is constant"):
            serape.blankets({**self.data, "Same": np.zeros(2000, int)}, ["Same"])

    def test_shared_tests_are_reported(self) -> None:
        note = serape.blankets(self.data, algorithm="iamb")["Age"].notes[-1]
        assert "91 tests given nothing are shared" in note  # 14 · 13 / 2

    def test_an_interruption_returns_the_finished_results(self) -> None:
        done: list[str] = []

        def watch(now: serape.Progress) -> None:
            done.append(now.target)
            if len(done) == 4:
                raise KeyboardInterrupt

        for jobs in (1, 2):
            done.clear()
            many = serape.blankets(self.data, progress=watch, n_jobs=jobs)
            assert 4 <= len(many) < 14
            assert set(done[:4]) <= set(many)
            note = f"interrupted: {14 - len(many)} of 14 targets are left undone"
            assert all(result.notes[-1] == note for result in many.values())
        assert "interrupted" not in str(serape.blankets(self.data, ["Age"])["Age"])

    def test_oracle(self) -> None:
        graph = random_dag(np.random.default_rng(4), 9, 0.3)
        many = serape.blankets(serape.DSeparation(graph), algorithm="inter-iamb")
        assert {k: set(v.blanket) for k, v in many.items()} == {t: true_blanket(graph, t) for t in graph}
        assert serape.compare(many, graph).distance == 0


@pytest.mark.parametrize("algorithm", ["mmmb", "hiton-mb", "pcmb", "ipc-mb", "dos", "hpc"])
def test_shared_neighbourhoods_change_no_answer(algorithm: str) -> None:
    table = random_table(np.random.default_rng(21), 900, [2, 3, 2, 4] * 4, 0.6)
    alone = {name: serape.markov_blanket(table, name, algorithm=algorithm) for name in table.names}
    tests = []
    for n_jobs in (1, 3):
        together = serape.blankets(table, algorithm=algorithm, n_jobs=n_jobs)
        for name, result in together.items():
            assert result.blanket == alone[name].blanket
            assert result.parents_children == alone[name].parents_children
            assert result.spouses == alone[name].spouses
            assert str(result.explain(table.names[-1 if name != table.names[-1] else 0])) == str(
                alone[name].explain(table.names[-1 if name != table.names[-1] else 0])
            )
            assert result.evidence.to_pandas().equals(alone[name].evidence.to_pandas())
        tests.append(sum(result.tests for result in together.values()))
    assert tests[0] < sum(result.tests for result in alone.values()) / 2
    assert tests[0] == tests[1]  # no neighbourhood is found twice
    backwards = serape.blankets(table, targets=table.names[::-1], algorithm=algorithm)
    assert {name: result.blanket for name, result in backwards.items()} == {n: r.blanket for n, r in alone.items()}


@pytest.mark.parametrize("settings", [{}, {"random_state": 1}, {"max_tests": 10**6}])
def test_evidence_is_gathered_with_shared_steps(settings: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Where there is no room to keep it, and unless the order of tests matters."""
    monkeypatch.setattr("serape.questions.kept_evidence.MAX_BYTES", 0)
    table = random_table(np.random.default_rng(3), 500, [2, 3] * 5, 0.6)
    recalled, recall = [], EarlierSteps.recall

    def noted(self: EarlierSteps, key: Any) -> Any:
        recalled.append(recall(self, key))
        return recalled[-1]

    monkeypatch.setattr(EarlierSteps, "recall", noted)
    found = serape.blankets(table, algorithm="hiton-mb", **settings)
    assert recalled == []
    for name, result in found.items():
        assert len(result.evidence) == 9
        assert result.evidence.to_pandas().equals(
            serape.markov_blanket(serape.Table(table.to_pandas()), name, "hiton-mb", **settings).evidence.to_pandas()
        )
    assert any(step is not None for step in recalled) == (not settings)
