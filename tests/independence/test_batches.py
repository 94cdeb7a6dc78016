"""Larger questions: sweeps, groups of candidates, marginal tests, lists of candidates."""

import math
import threading

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import serape
from plain import PlainContingency
from plain_batches import RULES, TESTS, bits, mixed_table
from serape import _core
from serape.independence import G2
from serape.independence.base import IndependenceTest
from serape.independence.screens import CandidateGroups, ScreenResult


@pytest.mark.parametrize("name", ["g2", "x2"])
@given(
    seed=st.integers(0, 10**6),
    rows=st.sampled_from([60, 700, 3000]),
    rules=RULES,
    stop=st.sampled_from([math.log(0.05), math.log(0.3)]),
    max_size=st.sampled_from([None, 1, 3]),
)
@settings(max_examples=40, deadline=None)
def test_sweep_against_its_twin(
    name: str, seed: int, rows: int, rules: dict[str, str], stop: float, max_size: int | None
) -> None:
    test = TESTS[name](mixed_table(seed, rows, 9), **rules)  # type: ignore[arg-type]
    order = np.random.default_rng(seed).permutation(9).tolist()
    target, pool = order[0], order[1 : 2 + seed % 6]
    xs = [x for x in pool if x % 3] + order[7:8]  # some of the pool, and one that is not in it
    found, tally = test.test_each_given_rest(xs, target, pool, stop, max_size=max_size)
    expected, plain_tally = IndependenceTest.test_each_given_rest(test, xs, target, pool, stop, max_size=max_size)
    assert repr(list(found)) == repr(list(expected))
    assert tally == plain_tally


@pytest.mark.parametrize("as_written", [False, True])
def test_spouses_of_many_candidates_by_several_threads(as_written: bool) -> None:
    """Candidates that are many enough for a table of their own."""
    random = np.random.default_rng(8)
    codes = (random.random((500, 3200)) < 0.2).astype(np.uint8)
    common = random.random(codes.shape) < random.uniform(0.0, 0.3, 3200)
    test = G2(serape.Table(np.where(common, codes[:, :1] ^ codes[:, 1:2], codes)))
    order = random.permutation(np.arange(6, 3200, dtype=np.uint32))
    parts = [(np.sort(order[:2600]), ()), (np.sort(order[2600:3000]), (3,)), (np.sort(order[3000:]), (4,))]
    found = []
    for threads in (1, 3):  # a few children are taken one after another, many side by side
        for children in (range(1, 3), range(1, 6)):
            groups = CandidateGroups(parts)
            found.append(
                [
                    (list(dependents), screened, repr(list(answers)), tally)
                    for dependents, screened, answers, tally in test.find_spouses(
                        0, groups, children, math.log(0.05), as_written=as_written, max_size=None, threads=threads
                    )
                ]
            )
    assert found[0] == found[2]
    assert found[1] == found[3]
    assert found[0] == found[1][:2]
    for child, (dependents, *_) in zip(range(1, 6), found[1], strict=True):
        screen, _ = IndependenceTest.screens(test, 0, CandidateGroups(parts), child)
        assert dependents == screen.dependents(math.log(0.05))
        assert len(dependents) > 1


def test_a_sweep_skips_separated_variables() -> None:
    """A copy of a copy: given one, the other tells nothing; the first goes, so the second has to stay."""
    random = np.random.default_rng(5)
    x = random.integers(2, size=2000)
    table = serape.Table({"t": x ^ (random.random(2000) < 0.1), "a": x, "b": x ^ (random.random(2000) < 0.01)})
    for ask in (G2(table).test_each_given_rest, PlainContingency(table).test_each_given_rest):
        found, tally = ask([2, 1], 0, [1, 2], math.log(0.05))
        assert found.separated_variables == [2]
        assert found.survivors == [1]
        assert found[1].given == ()
        assert tally.tests_by_size == {0: 1, 1: 1}


@pytest.mark.parametrize("name", ["g2", "x2"])
@given(seed=st.integers(0, 10**6), rows=st.sampled_from([60, 700, 2000]), rules=RULES)
@settings(max_examples=30, deadline=None)
def test_screens_of_groups_against_their_twin(name: str, seed: int, rows: int, rules: dict[str, str]) -> None:
    test = TESTS[name](mixed_table(seed, rows, 320), **rules)  # type: ignore[arg-type]
    order = np.random.default_rng(seed).permutation(320).tolist()
    target, also = order[0], order[1]
    groups = CandidateGroups(
        [
            (np.sort(order[10:160]).astype(np.uint32), ()),  # worth a screen of its own
            (order[160:163], (order[2],)),
            (order[163:170], (order[2], order[3])),
            (order[170:180], (also, order[4])),  # left out
            ([], (order[5],)),
            (order[180:200], ()),
        ]
    )
    expected, plain_tally = IndependenceTest.screens(test, target, groups, also)
    for threads in (1, 3):
        found, tally = test.screens(target, groups, also, threads=threads)
        assert found.xs.tolist() == expected.xs.tolist()
        assert bits(found) == bits(expected)
        assert tally == plain_tally
    nobody, tally = test.screens(target, CandidateGroups([]), also)
    assert len(nobody) == 0
    assert tally.tests_by_size == tally.skipped_by_size == {}


@pytest.mark.parametrize("name", ["g2", "x2"])
@pytest.mark.parametrize("dof", ["full", "adjusted"])
def test_many_candidates_in_groups_are_kept_together(name: str, dof: str) -> None:
    test = TESTS[name](mixed_table(5, 400, 2500), dof=dof)  # type: ignore[arg-type]
    order = np.random.default_rng(5).permutation(2500).tolist()
    parts = [
        (order[10:1500], ()),
        (order[1500:1530], (order[2],)),
        (np.sort(order[1530:]).astype(np.uint32), order[3:4]),
    ]
    groups = CandidateGroups(parts)
    for also in order[4:8]:  # again and again
        expected, plain_tally = IndependenceTest.screens(test, order[0], groups, also)
        for threads in (1, 3):
            found, tally = test.screens(order[0], groups, also, threads=threads)
            assert found.xs.tolist() == expected.xs.tolist()
            assert bits(found) == bits(expected)
            assert tally == plain_tally


@given(seed=st.integers(0, 10**6), rows=st.sampled_from([60, 700]), rules=RULES)
@settings(max_examples=20, deadline=None)
def test_marginals_against_their_twin(seed: int, rows: int, rules: dict[str, str]) -> None:
    test = G2(mixed_table(seed, rows, 150), **rules)  # type: ignore[arg-type]
    targets = np.random.default_rng(seed).permutation(150)[: 2 + seed % 40].tolist()
    expected = IndependenceTest.marginals(test, targets)
    for threads in (1, 3):
        found = test.marginals(targets, threads=threads)
        assert list(found) == targets
        for target in targets:
            assert found[target].reliable.tolist() == expected[target].reliable.tolist()
            tested = found[target].reliable
            assert found[target].statistic[tested].tobytes() == expected[target].statistic[tested].tobytes()
            assert found[target].dof[tested].tobytes() == expected[target].dof[tested].tobytes()


@given(seed=st.integers(0, 10**6), rows=st.sampled_from([60, 700]), rules=RULES)
@example(seed=326613, rows=60, rules={"dof": "full", "reliability": None})  # ties of other degrees of freedom
@settings(max_examples=40, deadline=None)
def test_a_screen_result_equals_its_arrays(seed: int, rows: int, rules: dict[str, str]) -> None:
    test = G2(mixed_table(seed, rows, 40), **rules)  # type: ignore[arg-type]
    native = test.screen(0, range(2, 40), [1])
    plain = ScreenResult(native.xs, native.given, native.statistic, native.dof, native.reliable, native.log_p.copy())
    assert native.performed == plain.performed
    for a, b in zip(native.partition(math.log(0.1)), plain.partition(math.log(0.1)), strict=True):
        assert a.tolist() == b.tolist()
    assert native.strongest() == plain.strongest()
    assert [repr(test.screen(0, range(2, 40), [1]).outcome(k)) for k in range(38)] == [
        repr(plain.outcome(k)) for k in range(38)
    ]
    indices = np.flatnonzero(native.reliable)
    assert native.ranked(indices).tolist() == plain.ranked(indices).tolist()
    mixed = (np.random.default_rng(seed).permutation(38) + 2).astype(np.uint32)
    fresh = test.screen(0, mixed, [1])
    again = ScreenResult(fresh.xs, fresh.given, fresh.statistic, fresh.dof, fresh.reliable, fresh.log_p.copy())
    assert fresh.dependents(math.log(0.1)) == again.dependents(math.log(0.1))
    assert native.dependents(math.log(0.1)) == again.dependents(math.log(0.1))
    for one, other in ((fresh, again), (fresh.at(indices[::2]), again.at(indices[::2]))):
        found, apart = one.ranked_split(math.log(0.1))
        expected, parted = other.ranked_split(math.log(0.1))
        assert (found, apart.tolist()) == (expected, parted.tolist())
        assert one.performed == other.performed
        assert one.each() == other.each()


@given(numbers=st.lists(st.integers(0, 40), max_size=30), excluded=st.lists(st.integers(0, 45), max_size=6))
def test_lists_of_candidates(numbers: list[int], excluded: list[int]) -> None:
    columns = np.array(numbers, np.uint32)
    assert _core.without(columns, excluded).tolist() == [x for x in numbers if x not in excluded]
    ascending = np.unique(columns)
    assert _core.without(ascending, excluded, ascending=True).tolist() == np.setdiff1d(ascending, excluded).tolist()
    bits = _core.bits_of(columns)
    assert {k for k in range(8 * len(bits)) if bits[k >> 3] >> (k & 7) & 1} == set(numbers)


@given(pairs=st.lists(st.tuples(st.sampled_from([-3.0, -2.0, -1.0]), st.sampled_from([1.0, 2.0])), min_size=1))
def test_lowest(pairs: list[tuple[float, float]]) -> None:
    log_p, statistic = (np.array(column) for column in zip(*pairs, strict=True))
    best = min((p, -s) for p, s in pairs)
    assert _core.lowest(log_p, statistic) == [k for k, (p, s) in enumerate(pairs) if (p, -s) == best]


def test_several_threads_may_ask_for_threads() -> None:
    """The helping threads serve one call at a time; who finds them busy does without."""
    test = G2(mixed_table(7, 400, 3000))
    expected = bits(test.screen(0, range(2, 3000), [1]))
    found: list[tuple[bytes, bytes, bytes]] = []

    def ask() -> None:
        found.extend(bits(test.screen(0, range(2, 3000), [1], threads=3)) for _ in range(20))

    askers = [threading.Thread(target=ask) for _ in range(4)]
    for asker in askers:
        asker.start()
    for asker in askers:
        asker.join()
    assert found == [expected] * 80
