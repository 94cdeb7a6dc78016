"""What a step tells searches about other variables: the latest tests of each candidate, by verdict."""

from __future__ import annotations

import pickle

import numpy as np

from serape.independence.outcomes import Outcome
from serape.independence.subsets import Association, as_subset_result
from serape.search import told as module
from serape.search.told import Sides, Told

LOG_ALPHA = -3.0


def drawn(random: np.random.Generator) -> tuple[int, Outcome, tuple[int, ...]]:
    x, given = int(random.integers(5)), tuple(random.integers(10, 99, int(random.integers(3))).tolist())
    outcome = Outcome(float(random.random()), 1.0, -6 * float(random.random()), bool(random.random() < 0.8), 7)
    return x, outcome, given


def test_the_latest_tests_are_told() -> None:
    random = np.random.default_rng(1)
    for most in (4, 1000):  # answers are looked through often, or never
        for _ in range(100):
            told, plain = Told(LOG_ALPHA, 1), dict[int, Sides]()
            told._most = most
            for _ in range(8):
                tests = [drawn(random) for _ in range(int(random.integers(1, 4)))]
                for x, outcome, given in tests:
                    if outcome.reliable:
                        plain.setdefault(x, {})[outcome.log_p <= LOG_ALPHA] = outcome, given
                if len(tests) == 1:
                    told.add(*tests[0])
                else:
                    found = [Association(outcome, given, separated=False) for _, outcome, given in tests]
                    told.add_found(as_subset_result([x for x, _, _ in tests], found, 7))
            for one in (told, pickle.loads(pickle.dumps(told))):
                assert [one.of(x) for x in range(5)] == [plain.get(x, {}) for x in range(5)]


def test_answers_are_looked_through_in_time() -> None:
    told = Told(LOG_ALPHA, 1)
    for _ in range(3 * module._MANY * module._MIN_VARIABLES):
        told.add(1, Outcome(1.0, 1.0, -9.0, reliable=True), ())
        assert len(told._put_by) <= module._MANY * module._MIN_VARIABLES
