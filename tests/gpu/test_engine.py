"""Questions with engine="gpu": the same answers as with engine="cpu"."""

from __future__ import annotations

import builtins
import itertools
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import serape
from gpu.runs import differences, one_run
from gpu.tables import categorical, numeric
from serape import progress
from serape.engines.gpu import choice, planes
from serape.engines.gpu.device import cuda_device
from serape.engines.gpu.tiled import TiledPlanes


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.usefixtures("on_device")
def test_answers_are_those_of_the_core(seed: int) -> None:
    assert one_run(seed) == []


@pytest.mark.parametrize("algorithm", ["pc-stable", "hiton-pc"])
@pytest.mark.usefixtures("on_device")
def test_skeletons_of_many_categorical_columns(algorithm: str) -> None:
    table = categorical(np.random.default_rng(4), 70, 300, (2, 3))
    settings: dict[str, Any] = {"algorithm": algorithm, "alpha": 0.01, "fdr": None}
    found = [serape.skeleton(table, engine=engine, **settings) for engine in ("cpu", "gpu")]
    assert differences(*found) == []


@pytest.mark.parametrize("test", ["partial-correlation", "fisher-z", "spearman", "normal-scores"])
@pytest.mark.parametrize("odd", ["nothing", "copy", "constant"])
@pytest.mark.usefixtures("on_device")
def test_skeletons_of_many_numbers(test: str, odd: str) -> None:
    values = numeric(np.random.default_rng(5), 66, 120)
    if odd == "copy":
        values[:, 5] = 2.0 * values[:, 3] + 1.0
    if odd == "constant":
        values[:, 7] = 4.0
    settings: dict[str, Any] = {"algorithm": "pc-stable", "test": test, "alpha": 0.05, "fdr": None}
    table = serape.Table(values)
    found = [serape.skeleton(table, engine=engine, **settings) for engine in ("cpu", "gpu")]
    assert differences(*found) == []


def test_without_cupy_one_sentence_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *rest: Any) -> Any:
        if name == "cupy":
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    cuda_device.cache_clear()
    with pytest.raises(
        serape.MissingLibraryError, match=r"^engine='gpu' needs CuPy; install it .* or use engine='cpu'$"
    ):
        serape.all_pairs({"a": ["x", "y"] * 10, "b": ["u", "v"] * 10}, engine="gpu")
    assert not choice.has_device()


@pytest.mark.usefixtures("on_device")
def test_tests_that_a_gpu_does_not_answer_are_refused() -> None:
    data = {"a": ["x", "y"] * 30, "b": ["u", "v"] * 30, "c": ["p", "q", "q"] * 20}
    with pytest.raises(
        serape.OptionError, match=r"^engine='gpu' answers tests 'g2', .* not test 'x2'; use engine='cpu'$"
    ):
        serape.markov_blanket(data, "a", test="x2", engine="gpu")
    with pytest.raises(serape.OptionError, match=r"^engine='tpu' is not known; use 'auto', 'cpu' or 'gpu'$"):
        serape.markov_blanket(data, "a", engine="tpu")  # type: ignore[arg-type]


def test_small_tables_stay_here(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_device() -> Any:
        raise AssertionError("asked for a device")

    monkeypatch.setattr(choice, "find_device", no_device)
    data = {"a": ["x", "y"] * 30, "b": ["u", "v"] * 30}
    assert serape.markov_blanket(data, "a", engine="auto").blanket == ("b",)


@pytest.mark.usefixtures("on_device")
def test_a_table_larger_than_the_memory_gives_the_same_answers(device: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device, "memory", 12_000, raising=False)
    table = categorical(np.random.default_rng(4), 70, 300, (2, 3))
    asked: dict[str, Any] = {"alpha": 0.01, "fdr": None, "algorithm": "pc-stable"}
    assert differences(*(serape.skeleton(table, engine=engine, **asked) for engine in ("cpu", "gpu"))) == []
    assert isinstance(choice.planes_of(table, "gpu"), TiledPlanes)
    found = [serape.all_pairs(table, strongest=3, alpha=0.01, engine=engine) for engine in ("cpu", "gpu")]
    assert differences(*found) == []


@pytest.mark.usefixtures("on_device")
def test_a_device_too_small_for_two_columns_is_refused(device: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device, "memory", 100, raising=False)
    said = r"^the table needs .* too few for two of its columns; use engine='cpu'$"
    with pytest.raises(serape.SerapeError, match=said):
        serape.all_pairs({"a": ["x", "y"] * 30, "b": ["u", "v"] * 30}, engine="gpu")


@pytest.mark.usefixtures("on_device")
def test_progress_shows_how_much_of_a_table_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = itertools.count()
    monkeypatch.setattr(progress, "time", SimpleNamespace(monotonic=lambda: float(next(clock))))
    monkeypatch.setattr(planes, "_PART", 1600)
    table = categorical(np.random.default_rng(4), 70, 300, (2,))
    shown: list[str] = []
    serape.all_pairs(table, alpha=0.01, engine="gpu", progress=lambda now: shown.append(f"{now.target}: {now.doing}"))
    assert len(shown) > 1
    assert shown[-1] == "the table to the GPU: 0 of 0 MiB"
    shown.clear()
    serape.all_pairs(table, alpha=0.01, engine="gpu", progress=lambda now: shown.append(now.doing))
    assert shown == []


@pytest.mark.usefixtures("on_device")
def test_auto_uses_a_gpu_for_many_pairs_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    table = categorical(np.random.default_rng(4), 70, 300, (2, 3))
    monkeypatch.setattr(choice, "MIN_PAIRS", 100)
    monkeypatch.setattr(choice, "has_device", lambda: True)
    said = "a GPU answered the large questions; engine='cpu' gives the same answer without it"
    assert said in serape.skeleton(table, algorithm="pc-stable", alpha=0.01).notes
    assert said not in serape.skeleton(table, algorithm="hiton-pc", alpha=0.01).notes
    assert said not in serape.markov_blanket(table, 0, alpha=0.01).notes
