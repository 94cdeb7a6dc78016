"""Gram matrices of scores on the device: those of the core to 1e-10, in blocks of rows, with weights, extended."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

import serape
from serape.engines.gpu import scores as on_the_device
from serape.engines.gpu.scores import DeviceRows
from serape.engines.gram_matrix import gram_matrix


def frame_of(rows: int, seed: int = 1) -> pd.DataFrame:
    r = np.random.default_rng(seed)
    z = r.normal(size=rows)
    return pd.DataFrame(
        {
            "line": z + r.normal(size=rows),
            "letter": np.array(list("abcde"))[np.clip(np.abs(2 * z).astype(int), 0, 4)],
            "zeros": np.where(r.random(rows) < 0.4, 0.0, np.exp(z)),
            "constant": 1.5,
            "rare": np.where(np.arange(rows) % 97 == 0, "x", np.where(z > 0, "y", "n")),
            "curve": z**2 + r.normal(size=rows),
        }
    )


def weights_of(rows: int, kind: str | None) -> dict[str, Any]:
    if kind is None:
        return {}
    r = np.random.default_rng(4)
    values: NDArray[Any] = r.integers(1, 5, rows) if kind == "frequency" else r.uniform(0.1, 9, rows)
    return {"sample_weight": values, "weight_kind": kind}


@pytest.mark.parametrize("weights", [None, "frequency", "survey"])
@pytest.mark.parametrize("block_bytes", [1, 100_000, 1 << 28])
@pytest.mark.usefixtures("on_device")
def test_the_device_makes_the_matrix_of_the_core(
    weights: str | None, block_bytes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(on_the_device, "_BLOCK_BYTES", block_bytes)
    table = serape.Table(frame_of(700), **weights_of(700, weights))
    for degree in (1, 4):
        expected, found = gram_matrix(table, degree=degree), gram_matrix(table, degree=degree, engine="gpu")
        assert np.array_equal(found.scores, expected.scores)
        assert np.array_equal(found.blocks, expected.blocks)
        assert found.rows == expected.rows
        np.testing.assert_allclose(found.matrix, expected.matrix, atol=1e-10, rtol=0)


@pytest.mark.usefixtures("on_device")
def test_the_device_makes_what_is_new_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[int, int]] = []
    products = DeviceRows.products

    def counted(rows: DeviceRows, scores: Any, known: int, *more: Any) -> Any:
        asked.append((len(scores), known))
        return products(rows, scores, known, *more)

    monkeypatch.setattr(DeviceRows, "products", counted)
    table = serape.Table(frame_of(500))
    gram_matrix(table, [5], 1, engine="gpu")
    found = gram_matrix(table, [0, 5, 1], 3, engine="gpu")
    assert asked == [(1, 0), (len(found.matrix), 1)]
    expected = gram_matrix(table, [0, 5, 1], 3)  # not what the device made
    assert len(asked) == 2
    assert found.names == expected.names
    np.testing.assert_allclose(found.matrix, expected.matrix, atol=1e-10, rtol=0)


@pytest.mark.usefixtures("on_device")
def test_the_device_can_be_stopped() -> None:
    def stop() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        gram_matrix(serape.Table(frame_of(100)), engine="gpu", poll=stop)


def test_auto_is_the_core(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("serape.engines.gpu.choice.find_device", lambda: pytest.fail("no device is looked for"))
    table = serape.Table(frame_of(300))
    assert np.array_equal(gram_matrix(table, engine="auto").matrix, gram_matrix(table).matrix)
