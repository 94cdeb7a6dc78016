"""Batches of scores: the same bits for every way to count, instruction set and number of threads; interruption."""

import signal
import threading
from itertools import combinations, permutations

import numpy as np
import pytest

from plain_scores import STRATEGIES, mixed_table
from serape import _core
from serape.structure.scores import SCORES, AdditionQuery, BDeu, PermutedScore, Score

# --- the same bits -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", SCORES)
@pytest.mark.parametrize("rows", [65, 1909, 20_000])
def test_every_way_gives_the_same_bits(kind: str, rows: int, instruction_set: str) -> None:
    del instruction_set
    table = mixed_table(rows)
    score = SCORES[kind](table)
    for child, parents in ((0, ()), (20, (3,)), (36, (1, 25)), (7, (40, 2, 35, 3, 22)), (38, (1,)), (1, (38, 37))):
        candidates = np.setdiff1d(np.arange(len(table.names)), [child, *parents]).astype(np.uint32)
        one_by_one = [score.local(child, (*parents, int(x))) for x in candidates]
        turned = [score.local(child, (int(x), *reversed(parents))) for x in candidates]
        assert turned == one_by_one
        assert score.families(child, [(*parents, int(x)) for x in candidates], threads=3).tolist() == one_by_one
        for strategy in STRATEGIES:
            for threads in (1, 3):
                found = score.additions(child, candidates, parents, threads=threads, strategy=strategy)
                assert found.tolist() == one_by_one, (strategy, threads)
        assert score.additions(child, candidates[:3], parents[::-1]).tolist() == one_by_one[:3]


@pytest.mark.parametrize("kind", SCORES)
def test_many_queries_give_the_same_bits(kind: str) -> None:
    table = mixed_table(1909)
    random = np.random.default_rng(3)
    queries: list[AdditionQuery] = []
    for size in (0, 0, 1, 2, 3, 5) * 3:
        child, *parents = random.permutation(len(table.names))[: size + 1].tolist()
        others = np.setdiff1d(np.arange(len(table.names)), [child, *parents])
        queries.append((child, others[random.random(len(others)) < random.random()].tolist(), parents))
    queries.append((0, [], [1]))
    score = SCORES[kind](table)
    turned = PermutedScore(score, np.argsort(order := random.permutation(len(table.names))).tolist())
    in_turn: list[AdditionQuery] = [
        (int(order[y]), order[list(xs)].tolist(), order[list(given)].tolist()) for y, xs, given in queries
    ]
    expected = [found.tobytes() for found in Score.additions_of_many(score, queries)]
    for few in (len(queries), 2, 1, 0):
        for threads in (1, 2, 5):
            found = score.additions_of_many(queries[:few], threads=threads)
            assert [scores.tobytes() for scores in found] == expected[:few]
            found = turned.additions_of_many(in_turn[:few], threads=threads)
            assert [scores.tobytes() for scores in found] == expected[:few]


def test_many_queries_are_checked() -> None:
    score = BDeu(mixed_table(65))
    for wrong in ((0, [0], []), (0, [2, 1], [1]), (0, [1], [2, 2]), (0, [1], [0])):
        with pytest.raises(ValueError, match="already|twice|its own parent"):
            score.additions_of_many([(1, [2], []), wrong], threads=2)
    for wrong in ((0, [1000], []), (1000, [0], []), (0, [1], [1000])):
        with pytest.raises(IndexError, match="1000"):
            score.additions_of_many([wrong])


@pytest.mark.parametrize("kind", SCORES)
def test_instruction_sets_agree(kind: str) -> None:
    table = mixed_table(1909)
    candidates = list(range(2, 45))
    found = set()
    before = _core.instruction_set()
    for name in _core.instruction_sets():
        assert _core.use_instruction_set(name)
        found.add(SCORES[kind](table).additions(0, candidates, (1, 45)).tobytes())
    _core.use_instruction_set(before)
    assert len(found) == 1


def test_what_was_asked_before_does_not_matter() -> None:
    """Tables of logarithms grow as they are needed."""
    table = mixed_table(20_000)
    questions: list[tuple[int, tuple[int, ...]]] = [(0, ()), (0, tuple(range(1, 12))), (2, (5,)), (3, (1, 2))]
    fresh = [BDeu(table).local(*question) for question in questions]
    for order in permutations(range(len(questions))):
        score = BDeu(table)
        assert {k: score.local(*questions[k]) for k in order} == dict(enumerate(fresh))


# --- the Python face -----------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("listening")
@pytest.mark.parametrize("threads", [1, 2])
def test_ctrl_c_stops_a_native_count(threads: int) -> None:
    score = BDeu(mixed_table(20_000))
    candidates = np.tile(np.arange(3, 38, dtype=np.uint32), 100_000)
    main = threading.main_thread().ident
    assert main is not None
    timer = threading.Timer(0.2, lambda: signal.pthread_kill(main, signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        score.additions(0, candidates, (1, 2), threads=threads)
    timer.join()


def test_poll_stops_a_native_count() -> None:
    def stop() -> None:
        raise RuntimeError("enough")

    score = BDeu(mixed_table(20_000))
    candidates = np.tile(np.arange(3, 38, dtype=np.uint32), 100_000)
    with pytest.raises(RuntimeError, match="enough"):
        score.additions(0, candidates, (1, 2), threads=2, poll=stop)
    with pytest.raises(RuntimeError, match="enough"):
        score.additions_of_many([(0, candidates, (1, 2))] * 3, threads=2, poll=stop)


def test_threads_share_a_score() -> None:
    """Tables of logarithms are made by whoever comes first."""
    table = mixed_table(1909)
    sets = [list(c) for size in (0, 1, 2, 3) for c in combinations(range(30, 39), size)]
    expected = [BDeu(table).local(0, s) for s in sets]
    score = BDeu(table)
    found: list[list[float]] = []

    def ask() -> None:
        found.append(score.families(0, sets, threads=2).tolist())

    askers = [threading.Thread(target=ask) for _ in range(4)]
    for asker in askers:
        asker.start()
    for asker in askers:
        asker.join()
    assert found == [expected] * 4
