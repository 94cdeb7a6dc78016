"""The store of separating sets, against a dict of the first set of each pair."""

from __future__ import annotations

import math
import pickle
from collections.abc import Sequence

import numpy as np
import pytest

import serape
from serape.independence import G2, SubsetQuery
from serape.independence.screens import ScreenResult
from serape.independence.subsets import SubsetResult
from serape.search import separations
from serape.search.separations import NO_SEPARATIONS, Separations

Given = tuple[int, ...]
LOG_ALPHA = math.log(0.01)


class Both:
    """A store and the dict that it must agree with."""

    def __init__(self) -> None:
        self.store = Separations()
        self.first: dict[frozenset[int], Given] = {}

    def add(self, x: int, target: int, given: Given) -> None:
        self.store.add(x, target, given)
        self.first.setdefault(frozenset((x, target)), given)

    def add_batch(self, xs: Sequence[int], target: int, which: Sequence[int] | None, sets: Sequence[Given]) -> None:
        indices = None if which is None else np.array(which, np.int32)
        self.store.add_batch(np.array(xs, np.uint32), target, indices, sets)
        for x, k in zip(xs, which or [0] * len(xs), strict=True):
            self.first.setdefault(frozenset((x, target)), sets[k])

    def add_found(self, found: SubsetResult, target: int) -> None:
        self.store.add_found(found, target, LOG_ALPHA)
        for x, given in found.separations(LOG_ALPHA):
            self.first.setdefault(frozenset((x, target)), given)

    def add_screen(self, xs: Sequence[int], target: int, p: Sequence[float], given: Given) -> None:
        """Add tests; a p of NaN stands for one that is not reliable."""
        reliable, nothing = ~np.isnan(p), np.zeros(len(xs))
        screen = ScreenResult(np.array(xs, np.uint32), given, nothing, nothing, reliable, np.log(p))
        self.store.add_screen(screen, target, LOG_ALPHA)
        for x, one in zip(xs, p, strict=True):
            if one > 0.01:
                self.first.setdefault(frozenset((x, target)), given)

    def merge(self, other: Both) -> None:
        self.store.merge(other.store)
        for pair, given in other.first.items():
            self.first.setdefault(pair, given)

    def assert_agree(self, width: int, *, saved: bool = False) -> None:
        """Compare the store, or one that it becomes when it is sent to another process, before anybody asks."""
        self._assert_agrees(pickle.loads(pickle.dumps(self.store)) if saved else self.store, width)

    def _assert_agrees(self, store: Separations, width: int) -> None:
        for x in range(width):
            for y in range(x):
                wanted = self.first.get(frozenset((x, y)))
                assert store.get(x, y) == store.get(y, x) == wanted


def draw(random: np.random.Generator, width: int, steps: int) -> Both:
    """Do random things: pairs, batches of all sizes, nearly all variables, and all of one kind after another."""
    made = Both()
    for step in range(steps):
        target = int(random.integers(4)) if random.random() < 0.7 else width - 1
        others = [x for x in range(width) if x != target]
        given = (1000 + step,)
        kind = int(random.integers(6))
        if kind == 0:
            made.add(others[random.integers(len(others))], target, given)
            continue
        if kind == 5:
            xs = random.permutation(others)[: random.integers(len(others) + 1)].tolist()
            p = random.choice([0.001, 0.01, 0.5, math.nan], size=len(xs), p=random.dirichlet([0.5] * 4))
            made.add_screen(sorted(xs), target, p.tolist(), given)
            continue
        most = (3, 12, len(others), len(others))[kind - 1]
        size = int(random.integers(len(others) - 2, len(others) + 1)) if kind == 4 else int(random.integers(most + 1))
        xs = random.permutation(others)[:size].tolist()
        if random.random() < 0.7:
            xs.sort()
        several = random.random() < 0.4
        which = random.integers(3, size=len(xs)).tolist() if several else None
        made.add_batch(xs, target, which, [given, (2000 + step, 5), ()])
    return made


@pytest.mark.parametrize("pending", [0, 1 << 15])
@pytest.mark.parametrize("width", [9, 60, 150])
def test_any_order_of_pairs_batches_and_screens(width: int, pending: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Screens are looked through when somebody asks, or as soon as they have many answers."""
    monkeypatch.setattr(separations, "_MIN_PENDING", pending)
    monkeypatch.setattr(separations, "_MAX_PENDING", 1)
    random = np.random.default_rng(width)
    for steps in (1, 2, 4, 12, 40):
        for _ in range(max(1, 60 // width)):
            made = draw(random, width, steps)
            made.assert_agree(width)
            made.merge(draw(random, width, 3))
            made.add_batch([*range(1, width)], 0, None, [(7,)])
            made.merge(draw(random, width, 2))
            made.assert_agree(width)


@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize("missing", [(), (1,), (3, 38), (60, 70, 80), tuple(range(20, 60))])
def test_what_a_batch_leaves_out_a_screen_may_separate(missing: tuple[int, ...], several: bool) -> None:
    """Also where the batch goes further than the screen, and where a screen made it."""
    for end in (40, 90, 120):
        xs = [x for x in range(1, 100) if x not in missing]
        batch, screen = Both(), Both()
        batch.add_batch(xs, 0, [x % 2 for x in xs] if several else None, [(200,), (300,)])
        screen.add_screen(xs, 0, [0.5] * len(xs), (200,))
        for made in (batch, screen):
            made.add_screen(list(range(1, end)), 0, [0.001 if x % 7 == 0 else 0.5 for x in range(1, end)], (400,))
            made.add_screen(list(range(1, end)), 0, [0.5] * (end - 1), (500,))
            made.assert_agree(121)


def searched(columns: int, log_alpha: float = LOG_ALPHA, pool: Sequence[int] = (1, 2)) -> SubsetResult:
    """Return a search in which the second column separates the first from nearly all others."""
    rng = np.random.default_rng(0)
    first = rng.integers(0, 2, 400)
    values = [
        np.where(rng.random(400) < (0.3 if k != 1 else 0), rng.integers(0, 2, 400), first) for k in range(columns)
    ]
    found, _ = G2(serape.Table(np.array(values).T)).search_subsets(
        SubsetQuery(list(range(2, columns)), 0, pool, range(1, 3), stop_above=log_alpha)
    )
    assert len(found.separated_variables) > 0.8 * columns
    return found


@pytest.mark.parametrize("columns", [12, 128, 129, 130, 170])
def test_what_a_search_found_counts_from_then_on(columns: int) -> None:
    """Its answers may be looked through later, and still come before what was found later, and after what was."""
    found = searched(columns)
    some = found.separated_variables[:4]
    made, other = Both(), Both()
    made.add(some[0], 0, (9, 9))
    made.add_found(found, 0)
    made.add(some[1], 0, (8, 8))
    made.add_batch(list(range(1, columns)), 0, None, [(7, 7)])
    made.assert_agree(columns, saved=True)
    made.assert_agree(columns)
    other.add(some[2], 0, (6, 6))
    other.add_found(found, 0)
    other.add_found(searched(columns), 0)
    other.add(some[3], 0, (5, 5))
    last = Both()
    last.add(some[1], 0, (4, 4))
    last.merge(other)
    last.merge(made)
    last.assert_agree(columns)


def test_what_is_found_all_around_a_search() -> None:
    """A search that separates all of its candidates comes after the batch before it, and before the one after it."""
    found = searched(40, math.log(1e-9), (1,))
    xs = list(range(2, 40))
    assert sorted(found.separated_variables) == xs
    before, after = Both(), Both()
    for made in (before, after):
        for x in range(3):
            made.add(x, 50, ())
    before.add_batch(xs, 0, None, [(9, 9)])
    for made in (before, after):
        made.store.add_found(found, 0, math.log(1e-9))
        for x in xs:
            made.first.setdefault(frozenset((x, 0)), (1,))
    after.add_batch(xs, 0, None, [()])
    before.assert_agree(51)
    after.assert_agree(51)
    late = Both()
    for x in xs[::-1]:
        late.add(x, 0, (7, x))
    late.add_found(found, 0)
    late.assert_agree(41)


def test_first_from_either_side() -> None:
    """Of two batches, one about each of the two, the earlier counts."""
    for first, second in ((0, 40), (40, 0)):
        made = Both()
        made.add_batch([x for x in range(41) if x != first], first, None, [(100,)])
        made.add_batch([x for x in range(41) if x != second], second, None, [(200,)])
        made.assert_agree(41)
        assert made.store.get(0, 40) == (100,)


def test_a_store_that_keeps_nothing() -> None:
    NO_SEPARATIONS.add(1, 0, ())
    NO_SEPARATIONS.add_batch(np.arange(1, 50, dtype=np.uint32), 0, None, [()])
    nothing = np.zeros(1)
    screen = ScreenResult(np.array([1], np.uint32), (), nothing, nothing, nothing == 0, nothing)
    NO_SEPARATIONS.add_screen(screen, 0, LOG_ALPHA)
    NO_SEPARATIONS.add_found(searched(12), 0, LOG_ALPHA)
    kept = Separations()
    kept.add(1, 2, ())
    NO_SEPARATIONS.merge(kept)
    empty = Separations()
    empty.merge(NO_SEPARATIONS)
    assert empty.get(1, 0) is empty.get(1, 2) is None
    with pytest.raises(LookupError, match="keeps no separating sets, so that of 1 and 0 is not known"):
        NO_SEPARATIONS.get(1, 0)
    assert pickle.loads(pickle.dumps(NO_SEPARATIONS)) is NO_SEPARATIONS
