"""Marginals: those of the joint distribution."""

import numpy as np
import pytest

from plain import joint_distribution, random_network
from serape.networks import Network, load_network
from serape.networks.marginals import ancestry, marginal


@pytest.mark.parametrize("seed", range(8))
def test_marginals_are_those_of_the_joint_distribution(seed: int) -> None:
    network = random_network(np.random.default_rng(seed), 6)
    joint = joint_distribution(network)
    for k, name in enumerate(network.variables):
        others = tuple(axis for axis in range(network.nodes) if axis != k)
        assert marginal(network, name) == pytest.approx(joint.sum(axis=others), abs=1e-12)


def test_marginals_that_would_take_long_are_not_computed() -> None:
    link = load_network("link")
    deep = [name for name in link.variables if len(ancestry(link, name) or ()) > 100]
    assert deep
    assert all(marginal(link, name) is None for name in deep)
    wide = Network(
        {f"v{k}": ["x", "y"] for k in range(17)},
        {"v16": [f"v{k}" for k in range(16)]},
        {f"v{k}": [0.5, 0.5] for k in range(16)} | {"v16": np.full((1 << 16, 2), 0.5)},
    )
    assert marginal(wide, "v16") is None
    assert marginal(wide, "v3") == pytest.approx([0.5, 0.5])
