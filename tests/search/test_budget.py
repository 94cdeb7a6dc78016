"""What a search may spend: tests, and seconds of the processor."""

from __future__ import annotations

import os
import pickle
import threading
import time
from pathlib import Path

import pytest

from serape.search.budget import BY_THE_CLOCK, Budget, BudgetSpent, Stopwatch
from serape.settings import RunSettings


def spin(seconds: float) -> None:
    """Use the processor."""
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


def test_waiting_is_not_counted() -> None:
    watch = Stopwatch()
    time.sleep(0.03)
    assert watch.used < 0.01
    spin(0.02)
    assert 0.02 <= watch.used < 0.03


def test_others_go_on_from_what_was_used_when_it_was_handed_over() -> None:
    watch = Stopwatch(1.0)
    spin(0.01)
    watch.hand_over()
    seen: list[float] = []

    def other() -> None:
        first = watch.used
        spin(0.02)
        seen.extend((first, watch.used))

    thread = threading.Thread(target=other)
    thread.start()
    thread.join()
    assert 1.01 <= seen[0] < 1.02
    assert 1.03 <= seen[1] < 1.04
    assert watch.used < 1.02  # what the other used is added by who waited for it
    watch.add(0.5)
    assert 1.51 <= watch.used < 1.52


def test_a_forked_process_and_a_pickle_go_on(tmp_path: Path) -> None:
    budget = Budget(max_seconds=2.0)
    spin(0.02)
    budget.watch.hand_over()
    again = pickle.loads(pickle.dumps(budget))
    assert 0.02 <= again.watch.used < 0.04
    file = tmp_path / "used"
    if (child := os.fork()) == 0:
        file.write_text(str(budget.watch.used))
        os._exit(0)
    os.waitpid(child, 0)
    assert 0.02 <= float(file.read_text()) < 0.04


def test_seconds_of_the_processor_end_a_search() -> None:
    budget = Budget(max_seconds=0.02)
    budget.check()
    time.sleep(0.025)
    budget.check()  # it only waited
    spin(0.02)
    with pytest.raises(BudgetSpent, match=r"^max_seconds=0.02$"):
        budget.check()


def test_the_clock_ends_a_search_later() -> None:
    budget = Budget(max_seconds=0.01)
    time.sleep(BY_THE_CLOCK * 0.01)
    with pytest.raises(BudgetSpent, match=r"^10 times max_seconds=0.01 by the clock$"):
        budget.check()


def test_where_others_do_the_work_the_clock_counts() -> None:
    budget = Budget.of(RunSettings(max_seconds=0.02), None, waits=True)
    assert budget is not None
    budget.check()
    time.sleep(0.02)
    with pytest.raises(BudgetSpent, match=r"^max_seconds=0.02$"):
        budget.check()


def test_tests_end_a_search() -> None:
    budget = Budget(max_tests=10, spent=4)
    budget.check(5)
    assert budget.tests_left(3) == 3
    assert budget.tests_left(9) == 1
    assert Budget(max_seconds=1.0).tests_left(5) is None
    with pytest.raises(BudgetSpent, match=r"^max_tests=10$"):
        budget.check(6)
    budget.of_time.check(6)
    assert Budget.of(RunSettings(max_seconds=None), 60.0) is None
    automatic = Budget.of(RunSettings(), 60.0)
    assert automatic is not None
    assert (automatic.max_seconds, automatic.max_tests) == (60.0, None)
