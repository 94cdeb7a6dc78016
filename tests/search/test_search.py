"""Search: verdicts, counting, separating sets, evidence, progress, interruption."""

import math
import os
import signal

import networkx as nx
import numpy as np
import pytest

import serape
from plain import PlainContingency, random_table
from serape.data.example import clinic
from serape.independence import G2
from serape.search import Progress
from serape.search.evidence import EvidenceLog

CHAIN = serape.DSeparation(nx.DiGraph([("a", "b"), ("b", "c"), ("c", "d")]))


def test_verdicts() -> None:
    search = serape.Search(CHAIN)
    assert search.dependent(0, 2)
    assert not search.independent(0, 2)
    assert search.independent(0, 2, [1])
    assert search.separating_set(0, 2) == (1,)
    assert search.separating_set(2, 0) == (1,)
    assert search.separating_set(0, 1) is None
    assert search.tally.tests_by_size == {0: 2, 1: 1}


def test_an_unreliable_test_is_neither() -> None:
    table = random_table(np.random.default_rng(0), 12, [4, 4])
    search = serape.Search(G2(table))
    assert not search.dependent(0, 1)
    assert not search.independent(0, 1)
    assert search.tally.tests_by_size == {}
    assert search.tally.skipped_by_size == {0: 2}
    assert search.separating_set(0, 1) is None


def test_largest_conditioning_set() -> None:
    search = serape.Search(CHAIN, max_conditioning=1)
    assert not search.independent(0, 3, [1, 2])
    assert len(search.screen(0, [3], [1, 2])) == 1
    assert search.first_dependent(0, [3], [1, 2]) is None
    assert search.tally.skipped_by_size == {2: 3}
    assert search.separate([0], 3, [1, 2])[0].given == (1,)


def test_sets_over_the_bound_are_counted_as_skipped() -> None:
    search = serape.Search(CHAIN, max_conditioning=1)
    search.weakest([0], 3, [1, 2])
    assert search.tally.tests_by_size == {0: 1, 1: 2}
    assert search.tally.skipped_by_size == {2: 1}


@pytest.mark.parametrize("question", [(0, 0, ()), (0, 1, (0,)), (0, 1, (1,)), (99, 1, ()), (-1, 1, ())])
def test_questions_that_make_no_sense(question: tuple[int, int, tuple[int, ...]]) -> None:
    with pytest.raises(serape.OptionError, match="different variables"):
        serape.Search(CHAIN).dependent(*question)


def test_separating_sets_come_from_batches_too() -> None:
    search = serape.Search(CHAIN)
    search.dependents(3, [0, 1], [2])
    assert search.separating_set(0, 3) == (2,)
    assert search.strongest(1, [3], [2]) is None
    assert search.separating_set(1, 3) == (2,)
    search.weakest([0], 2, [1, 3])
    assert search.separating_set(2, 0) == (1,)


def test_others_leaves_out_what_it_is_told() -> None:
    search = serape.Search(CHAIN)
    assert search.candidates(3, 0).tolist() == [1, 2]
    assert search.candidates(0, 1, 2, 3).tolist() == []


def test_order_by_strength_is_that_of_the_plain_twin() -> None:
    table = random_table(np.random.default_rng(1), 500, [2, 3, 4, 2, 3, 2, 5, 2, 3])
    plain = PlainContingency(table)
    expected = sorted(range(1, 9), key=lambda x: (plain.test(x, 0).log_p, -plain.test(x, 0).statistic))
    assert serape.Search(G2(table)).by_strength(0, list(range(1, 9))).tolist() == expected


def test_members_remember() -> None:
    search = serape.Search(CHAIN)
    search.dependent(1, 0)
    members = search.members(0)
    members.add(1)
    members.add(2)
    members.remove(1)
    assert list(members) == [2]
    assert search.members_so_far(0) == (2,)
    assert [(e.variable, e.what) for e in search.log(0).events] == [(1, "entered"), (2, "entered"), (1, "left")]


class TestTrail:
    def test_latest_wins_whatever_its_form(self) -> None:
        """Screens and single tests in any order, more screens than are kept apart."""
        random = np.random.default_rng(2)
        trail = EvidenceLog(4)
        oracle = CHAIN
        latest: dict[int, tuple[int, ...]] = {}
        for step in range(60):
            given = tuple(int(v) for v in random.choice([1, 2, 3], int(random.integers(3)), replace=False))
            if step % 3 == 0:
                x = int(random.integers(1, 4))
                if x in given:
                    continue
                trail.note(x, oracle.test(x, 0, given), given)
                latest[x] = given
            else:
                rest = [v for v in (1, 2, 3) if v not in given and random.random() < 0.7]
                trail.note_batch(oracle.screen(0, rest, given))
                latest.update(dict.fromkeys(rest, given))
            for x, expected in latest.items():
                decision = trail.latest(x)
                assert decision is not None
                assert decision.given == expected
                assert decision.outcome.p == oracle.test(x, 0, expected).p
        *_, which, sets = trail.columns()
        assert {x: sets[which[x]] for x in latest} == latest
        assert which[0] == -1

    def test_memory_is_linear_in_the_variables(self) -> None:
        table = random_table(np.random.default_rng(3), 64, [2] * 3000)
        search = serape.Search(G2(table))
        for z in range(1, 100):
            search.screen(0, search.candidates(0, z), (z,))
        trail = search.log(0)
        assert len(trail._batches) <= 8


class TestProgress:
    def test_a_watcher_is_told(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("serape.search.state._TICK", 0.0)
        seen: list[Progress] = []

        def slow(search: serape.Search, target: int) -> list[int]:
            members = search.members(target)
            for x in search.candidates(target):
                members.add(int(x))
                search.dependent(int(x), target)
            return list(members)

        serape.markov_blanket(clinic(200), "Age", algorithm=slow, progress=seen.append)
        assert len(seen) >= 3
        assert seen[-1].target == "Age"
        assert seen[-1].tests > seen[0].tests
        assert len(seen[-1].members) > len(seen[0].members)

    def test_names_are_no_markup(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        monkeypatch.setattr("serape.search.state._TICK", 0.0)
        x = np.arange(100) % 2
        serape.markov_blanket({"[/a]": x, "b": x}, "[/a]", algorithm=self.slow, progress=True)
        assert capsys.readouterr().out == ""

    @staticmethod
    def slow(search: serape.Search, target: int) -> list[int]:
        members = search.members(target)
        for _ in range(3):
            search.dependent(1, target)
        return list(members)

    def test_nothing_is_shown_without_a_terminal(self, capsys: pytest.CaptureFixture[str]) -> None:
        serape.markov_blanket(clinic(200), "Age")
        assert capsys.readouterr() == ("", "")


class TestInterruption:
    def test_what_was_found_is_kept(self) -> None:
        def interrupted(search: serape.Search, target: int) -> list[int]:
            search.members(target).add(1)
            raise KeyboardInterrupt

        with pytest.raises(serape.Interrupted) as stop:
            serape.markov_blanket(clinic(200), "Age", algorithm=interrupted)
        assert stop.value.found.blanket == ("Smoking",)
        assert not stop.value.found.complete
        assert isinstance(stop.value, KeyboardInterrupt)

    @pytest.mark.usefixtures("listening")
    def test_control_c_reaches_a_native_call(self) -> None:
        """A search that would take years ends at once."""

        def endless(search: serape.Search, target: int) -> list[int]:
            search.members(target).add(3)
            search.weakest([1], target, list(range(4, 60)))
            return []

        def press(now: Progress) -> None:
            """Called from within the native call, as it asks whether to go on."""
            del now
            os.kill(os.getpid(), signal.SIGINT)

        table = serape.Table(np.random.default_rng(4).integers(2, size=(2000, 60)))
        with pytest.raises(serape.Interrupted) as stop:
            serape.markov_blanket(table, 0, algorithm=endless, reliability=None, progress=press)
        assert stop.value.found.blanket == ("x3",)


def test_a_test_of_ones_own() -> None:
    """A subclass with nothing but `test` works with every algorithm."""

    class Rank(serape.IndependenceTest):
        def __init__(self, data: np.ndarray) -> None:
            self.data = data
            self.variables = tuple(f"v{k}" for k in range(data.shape[1]))

        def test(self, x: int, y: int, given: object = ()) -> serape.Outcome:
            columns = np.column_stack([np.ones(len(self.data)), *(self.data[:, z] for z in given)])  # type: ignore[attr-defined]
            rest = [
                self.data[:, v] - columns @ np.linalg.lstsq(columns, self.data[:, v], rcond=None)[0] for v in (x, y)
            ]
            r = float(np.corrcoef(*rest)[0, 1])
            statistic = (len(self.data) - columns.shape[1] - 2) * r * r
            return serape.Outcome(statistic, 1, math.log(max(math.erfc(math.sqrt(statistic / 2)), 1e-300)), True)

    random = np.random.default_rng(5)
    a, b = random.normal(size=(2, 2000))
    t = a + b + random.normal(size=2000)
    data = np.column_stack([a, b, t, t + random.normal(size=2000), random.normal(size=2000)])
    for algorithm in ("gs", "iamb"):
        assert serape.markov_blanket(Rank(data), "v2", algorithm=algorithm, alpha=0.001).blanket == ("v0", "v1", "v3")


@pytest.mark.parametrize("required", [[], [("x0", "x4")]])
def test_ties_go_by_position_whatever_the_order_of_candidates(required: list[tuple[str, str]]) -> None:
    random = np.random.default_rng(0)
    target = random.integers(2, size=200)
    copies = np.where(random.random(200) < 0.8, target, 1 - target)
    table = serape.Table(np.column_stack([target, copies, copies, copies, random.integers(2, size=200)]))
    search = serape.Search(G2(table), knowledge=serape.Knowledge(required=required).bind(table.names))
    found, apart = search.ranked_split(0, [3, 1, 4, 2])
    assert found == [1, 2, 3, *([4] if required else [])]
    assert apart.tolist() == ([] if required else [4])
