"""Knockoffs from a network: the joint law of columns and knockoffs, enumerated, is the same after any exchange."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, combinations, product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import serape
from serape.networks.knockoffs import MAX_CELLS, KnockoffPlan, draw_knockoffs, make_plan, visit


def random_network(seed: int, nodes: int, *, zeros: bool = False) -> serape.Network:
    random = np.random.default_rng(seed)
    names = [f"v{k}" for k in range(nodes)]
    sizes = [int(n) for n in random.integers(2, 4 if nodes < 5 else 3, nodes)]
    parents = {
        name: [names[p] for p in sorted(random.permutation(k)[: random.integers(0, min(k, 3) + 1)])]
        for k, name in enumerate(names)
    }
    cpts = {}
    for k, name in enumerate(names):
        rows = int(np.prod([sizes[names.index(p)] for p in parents[name]]))
        cpt = random.dirichlet(np.full(sizes[k], 0.7), rows)
        if zeros:
            cpt[random.random(rows) < 0.4] = np.eye(sizes[k])[0]
        cpts[name] = cpt
    return serape.Network({n: [str(v) for v in range(s)] for n, s in zip(names, sizes, strict=True)}, parents, cpts)


def law_of(network: serape.Network) -> NDArray[np.float64]:
    """The joint law of the variables, from the definition."""
    sizes = [len(network.levels(k)) for k in range(network.nodes)]
    law = np.ones(sizes)
    for values in product(*map(range, sizes)):
        for k in range(network.nodes):
            at = 0
            for name in network.parents(k):
                p = network.variables.index(name)
                at = at * sizes[p] + values[p]
            row = network.cpt(k)[at]
            law[values] *= row[values[k]] / row.sum()
    return law


def joint_law(network: serape.Network, plan: KnockoffPlan) -> NDArray[np.float64]:
    """The joint law of the visible variables and their knockoffs, from the sampler's own probabilities."""
    visible = [k for k in range(network.nodes) if k not in plan.hidden]
    sizes = [len(network.levels(k)) for k in visible]
    law = law_of(network).sum(axis=tuple(plan.hidden)).ravel()
    pairs = np.array(list(product(*map(range, sizes * 2))), np.intp)
    first, second = pairs[:, : len(visible)], pairs[:, len(visible) :]
    weight = law[np.ravel_multi_index(tuple(first.T), sizes)]
    possible = weight > 0
    chance = np.where((first == second)[:, [visible.index(k) for k in plan.fixed]].all(axis=1), weight, 0.0)[possible]
    first, second = first[possible], second[possible]

    def force(k: int, chances: NDArray[np.float64]) -> NDArray[np.intp]:
        forced = second[:, visible.index(k)]
        picked = chances[np.arange(len(forced)), forced]
        chance[:] = chance * picked
        # What cannot be drawn has no successor: let it go on with its own value.
        going: NDArray[np.intp] = np.where(picked > 0, forced, first[:, visible.index(k)])
        return going

    columns = [first[:, visible.index(k)] if k in visible else None for k in range(network.nodes)]
    visit(network, columns, plan, force)
    full = np.zeros(len(pairs))
    full[possible] = chance
    return full.reshape(sizes * 2)


def largest_change(joint: NDArray[np.float64]) -> float:
    """The largest change of a probability by any exchange of variables and their knockoffs."""
    count = joint.ndim // 2
    changes = []
    for exchanged in chain.from_iterable(combinations(range(count), n) for n in range(1, count + 1)):
        axes = list(range(2 * count))
        for k in exchanged:
            axes[k], axes[count + k] = axes[count + k], axes[k]
        changes.append(np.abs(joint - joint.transpose(axes)).max())
    return float(max(changes))


@pytest.mark.parametrize("zeros", [False, True])
@pytest.mark.parametrize("seed", range(12))
def test_the_law_does_not_change_by_an_exchange(seed: int, zeros: bool) -> None:
    network = random_network(seed, 3 + seed % 3, zeros=zeros)
    joint = joint_law(network, make_plan(network))
    assert joint.sum() == pytest.approx(1, abs=1e-12)
    assert largest_change(joint) < 1e-12


@pytest.mark.parametrize("seed", range(8))
def test_hidden_and_fixed_variables(seed: int) -> None:
    network = random_network(seed, 5)
    plan = make_plan(network, hidden=[seed % 5], max_cells=8)
    joint = joint_law(network, plan)
    assert joint.sum() == pytest.approx(1, abs=1e-12)
    assert largest_change(joint) < 1e-12
    assert plan.cells <= 8
    assert len(plan.order) + len(plan.fixed) == 5


def scip(law: NDArray[np.float64], order: Sequence[int], fixed: Sequence[int]) -> NDArray[np.float64]:
    """The joint law of variables and knockoffs by the definition: tables over all variables, and nothing local.

    X̃ⱼ has the law of Xⱼ given all other variables and the knockoffs before it; fixed variables are their own knockoffs.
    """
    count = law.ndim
    joint = law.reshape([*law.shape, *[1] * count])
    for k in fixed:
        same = np.eye(law.shape[k]).reshape(
            [law.shape[k] if axis in (k, count + k) else 1 for axis in range(2 * count)]
        )
        joint = joint * same
    for k in order:
        total = joint.sum(axis=k, keepdims=True)
        conditional = np.divide(joint, total, out=np.zeros_like(joint), where=total > 0)
        joint = joint * np.swapaxes(conditional, k, count + k)
    return np.broadcast_to(joint, [*law.shape, *law.shape])


@pytest.mark.parametrize("seed", range(60))
def test_the_sampler_is_the_definition(seed: int) -> None:
    """Also with levels that do not occur, hidden variables, fixed ones and deterministic tables."""
    network = random_network(100 + seed, 3 + seed % 2, zeros=seed % 3 == 0)
    hidden = [seed % 3] if seed % 4 == 0 else []
    plan = make_plan(network, hidden, max_cells=(6, 12, MAX_CELLS)[seed % 3])
    visible = [k for k in range(network.nodes) if k not in hidden]
    law = law_of(network).sum(axis=tuple(hidden))
    order, fixed = ([visible.index(k) for k in some if k in visible] for some in (plan.order, sorted(plan.fixed)))
    assert joint_law(network, plan) == pytest.approx(scip(law, order, fixed), abs=1e-13)


def test_some_of_these_plans_fix_variables() -> None:
    fixed = [make_plan(random_network(seed, 5), hidden=[seed % 5], max_cells=8).fixed for seed in range(8)]
    assert any(fixed)
    assert not all(fixed)


def test_draws_given_blankets_alone_are_no_knockoffs() -> None:
    """What the sampler must not do: draw given the blanket in the data, without earlier knockoffs."""
    network = random_network(1, 3)
    law = law_of(network)
    joint = np.einsum("abc,xbc,ayc,abz->abcxyz", *[law] * 4)
    for axis in range(3):
        joint = joint / np.where((total := law.sum(axis=axis)) > 0, total, 1).reshape(
            [1 if k == axis else n for k, n in enumerate(law.shape)] + [1] * 3
        )
    assert joint.sum() == pytest.approx(1)
    assert largest_change(joint) > 1e-3


def frequencies(columns: Sequence[NDArray[np.intp]], sizes: Sequence[int]) -> NDArray[np.float64]:
    at = np.ravel_multi_index(tuple(columns), tuple(sizes))
    return np.bincount(at, minlength=int(np.prod(sizes))) / len(at)


def test_draws_have_the_law() -> None:
    network = random_network(2, 3)
    sizes = [len(network.levels(k)) for k in range(3)]
    rows = 200_000
    table = network.sample(rows, 3)
    columns: list[Any] = [table.codes(k).astype(np.intp) for k in range(3)]
    plan = make_plan(network)
    made = draw_knockoffs(network, columns, plan, np.random.default_rng(4))
    law = joint_law(network, plan).ravel()
    found = frequencies([*columns, *made], sizes * 2)
    assert np.abs(found - law).max() < 5 * np.sqrt(law.max() / rows)


def test_chunks_do_not_change_the_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    network = serape.load_network("asia")
    table = network.sample(101, 1)
    columns: list[Any] = [table.codes(k).astype(np.intp) for k in range(8)]
    plan = make_plan(network)
    whole = draw_knockoffs(network, columns, plan, np.random.default_rng(0))
    monkeypatch.setattr("serape.networks.knockoffs._CHUNK_CELLS", 7 * plan.cells)
    parts = draw_knockoffs(network, columns, plan, np.random.default_rng(0))
    assert all(np.array_equal(a, b) for a, b in zip(whole, parts, strict=True))


def test_large_networks_have_small_tables() -> None:
    for name in ("alarm", "insurance", "hailfinder"):
        plan = make_plan(serape.load_network(name))
        assert plan.cells <= MAX_CELLS
        assert len(plan.fixed) < len(plan.order)


def test_impossible_rows_are_refused() -> None:
    network = serape.Network(
        {"a": ["0", "1"], "b": ["0", "1"]}, {"b": ["a"]}, {"a": [[0.5, 0.5]], "b": [[1.0, 0.0], [0.5, 0.5]]}
    )
    columns: list[Any] = [np.array([0, 1]), np.array([1, 1])]
    with pytest.raises(serape.DataError, match="probability 0"):
        draw_knockoffs(network, columns, make_plan(network), np.random.default_rng(0))
