"""stability: how often variables are found in rows drawn again."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

import serape
from serape import DataError, InputTypeError, OptionError, Table
from serape.questions.alpha_path import ALPHAS
from serape.questions.draws import rows_of_draw
from tables import PATIENTS, assorted

# --- stability -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sampling", ["half", "bootstrap"])
@pytest.mark.parametrize("algorithm", ["iamb", "hiton-mb"])
def test_frequencies_are_those_of_searches_by_hand(sampling: Any, algorithm: str) -> None:
    found = serape.stability(
        PATIENTS, "HeartDisease", draws=6, sampling=sampling, algorithm=algorithm, alpha=0.01, random_state=4
    )
    by_hand: Counter[str] = Counter()
    for draw in range(6):
        part = PATIENTS.part(range(len(PATIENTS.names)), rows_of_draw(1500, draw, sampling, 4))
        by_hand.update(serape.markov_blanket(part, "HeartDisease", algorithm, alpha=0.01).blanket)
    assert {name: share for name, share in found.frequencies.items() if share} == {
        name: count / 6 for name, count in by_hand.items()
    }
    assert set(found.frequencies) == set(PATIENTS.names) - {"HeartDisease"}
    assert found.mean_size == pytest.approx(by_hand.total() / 6)
    assert (found.draws, found.rows, found.complete) == (6, 750 if sampling == "half" else 1500, True)
    assert (found.algorithm, found.test, found.alpha) == (algorithm, "g2", 0.01)


def test_the_same_on_any_number_of_threads_and_for_a_seed() -> None:
    one, three, other = (
        serape.stability(PATIENTS, "HeartDisease", draws=30, n_jobs=jobs, random_state=seed)
        for jobs, seed in ((1, 0), (3, 0), (1, 1))
    )
    assert list(one.frequencies.items()) == list(three.frequencies.items())
    assert one.frequencies != other.frequencies


def test_stable_and_records() -> None:
    found = serape.stability(PATIENTS, "HeartDisease", draws=20)
    shares = list(found.frequencies.values())
    assert shares == sorted(shares, reverse=True)
    assert found.stable() == tuple(name for name, share in found.frequencies.items() if share >= 0.5)
    assert found.stable(1.0) == tuple(name for name, share in found.frequencies.items() if share == 1)
    assert {"ECG", "ChestPain"} <= set(found.stable(0.9))
    assert found.records.columns == ("variable", "draws", "share")
    assert [row["draws"] for row in found.records] == [round(20 * share) for share in shares]
    assert f"{found.stable()[0]} ({shares[0]:.0%})" in str(found)
    for threshold in (0, 1.1, "half"):
        with pytest.raises(OptionError, match="threshold must be"):
            found.stable(threshold)  # type: ignore[arg-type]


@pytest.mark.parametrize("missing", ["drop", "level", "pairwise"])
@pytest.mark.parametrize("sampling", ["half", "bootstrap"])
def test_any_data(missing: str, sampling: Any) -> None:
    found = serape.stability(assorted(missing, 200), "two", draws=4, sampling=sampling)
    assert found.test == "residuals"
    assert found.frequencies["constant"] == 0
    assert any("missing" in note for note in found.notes)
    assert "note: constant, so never part of a blanket" in str(found)
    assert serape.alpha_path(assorted(missing, 200), "two", [0.01]).notes == found.notes
    near = serape.stability(assorted(missing, 200), "number", draws=4, sampling=sampling, finds="parents-children")
    assert near.frequencies["other"] >= 0.75
    assert near.title.startswith("Parents and children of number in 4 ")


def test_a_target_that_is_constant_in_a_draw() -> None:
    rare = np.zeros((40, 4), np.uint8)
    rare[:, 1:] = np.random.default_rng(0).integers(0, 2, (40, 3))
    rare[0, 0] = 1
    assert serape.stability(rare, 0, draws=10).mean_size == 0
    assert serape.stability(rare.astype(float), 0, draws=10).draws == 10


def test_bootstraps_find_more_of_what_is_not_there() -> None:
    """Rows that come twice make p-values too small: why halves are the default."""
    noise = np.random.default_rng(1).integers(0, 2, (400, 40)).astype(np.uint8)
    half, bootstrap = (serape.stability(noise, 0, draws=40, sampling=s, alpha=0.01) for s in ("half", "bootstrap"))
    assert half.mean_size < bootstrap.mean_size / 2
    assert half.stable() == ()
    assert serape.stability(noise, 0, draws=2).sampling == "half"


def test_what_is_known_beforehand() -> None:
    found = serape.stability(
        PATIENTS, "HeartDisease", draws=5, known_members=["Weight"], forbidden_members=["ECG"], max_conditioning=2
    )
    assert found.frequencies["Weight"] == 1
    assert found.frequencies["ECG"] == 0


def interrupting(after: int) -> Any:
    told: list[Any] = []

    def progress(now: Any) -> None:
        told.append(now)
        if len(told) == after:
            raise KeyboardInterrupt

    return progress


@pytest.mark.parametrize("jobs", [1, 2])
def test_ctrl_c_keeps_what_was_found(jobs: int) -> None:
    found = serape.stability(PATIENTS, "HeartDisease", draws=50, n_jobs=jobs, progress=interrupting(7))
    assert not found.complete
    assert 7 <= found.draws <= 8
    assert found.frequencies["ECG"] == 1
    assert "not complete" in str(found)
    path = serape.alpha_path(PATIENTS, "HeartDisease", n_jobs=jobs, progress=interrupting(5))
    assert not path.complete
    assert path.alphas == ALPHAS[: len(path.alphas)]
    assert 5 <= len(path.alphas) == len(path.members) <= 6
    assert "not complete" in str(path)


def test_a_budget_holds_for_each_draw() -> None:
    found = serape.stability(PATIENTS, "HeartDisease", algorithm="iamb", draws=4, max_tests=20)
    assert (found.draws, found.complete) == (4, False)
    assert "the search stopped at the budget (max_seconds, max_tests) in 4 of 4 draws" in found.notes
    assert serape.stability(PATIENTS, "HeartDisease", algorithm="iamb", draws=4, max_tests=10_000).complete


def test_ctrl_c_before_anything_was_found() -> None:
    def interrupt(search: Any, target: int) -> Any:
        del search, target
        raise KeyboardInterrupt

    for ask in (serape.stability, serape.alpha_path):
        with pytest.raises(KeyboardInterrupt) as raised:
            ask(PATIENTS, "HeartDisease", algorithm=interrupt)
        assert raised.type is KeyboardInterrupt  # not with the result of one draw


def test_progress_is_reported_or_silent(capfd: pytest.CaptureFixture[str]) -> None:
    told: list[Any] = []
    serape.stability(PATIENTS, "HeartDisease", draws=3, progress=told.append)
    serape.alpha_path(PATIENTS, "HeartDisease", [0.01, 0.05], progress=told.append)
    assert [now.target for now in told] == ["HeartDisease"] * 5
    assert all("ECG" in now.members for now in told)
    assert capfd.readouterr() == ("", "")
    serape.stability(PATIENTS, "HeartDisease", draws=3, progress=True)
    assert "3/3" in capfd.readouterr().err


# --- the alpha path --------------------------------------------------------------------------------------------------


def test_data_are_encoded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []
    original = Table.__init__

    def counted(made: Table, *arguments: Any, **settings: Any) -> None:
        read.append(1)
        original(made, *arguments, **settings)

    monkeypatch.setattr(Table, "__init__", counted)
    serape.alpha_path(PATIENTS.to_pandas(), "HeartDisease", [0.01, 0.05])
    serape.stability(PATIENTS.to_pandas(), "HeartDisease", draws=3)
    assert len(read) == 2


# --- refusals --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"sampling": "third"}, OptionError, "sampling='third' is not known; use one of 'half', 'bootstrap'"),
        ({"draws": 0}, OptionError, "draws must be a whole number, 1 or more, not 0"),
        ({"random_state": -1}, OptionError, "random_state must be"),
        ({"alpha": 2}, OptionError, "alpha must be between 0 and 1"),
        ({"finds": "children"}, OptionError, "finds='children' is not known"),
        ({"algorithm": "iamm"}, OptionError, "Did you mean 'iamb'"),
        ({"whatever": 1}, OptionError, "has no option 'whatever'"),
        ({"n_jobs": 0}, OptionError, "n_jobs must be"),
    ],
)
def test_stability_refuses(options: dict[str, Any], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        serape.stability(PATIENTS, "HeartDisease", **options)


def test_stability_refuses_data() -> None:
    oracle = serape.DSeparation(serape.load_network("asia").graph)
    with pytest.raises(InputTypeError, match="DSeparation.*pass the table"):
        serape.stability(oracle, "dysp")
    with pytest.raises(OptionError, match="half of 3 rows"):
        serape.stability([{"a": k % 2, "b": k} for k in range(3)], "a")
    with pytest.raises(OptionError, match="no column 'Heart'"):
        serape.stability(PATIENTS, "Heart")
    with pytest.raises(DataError, match="constant"):
        serape.stability(assorted("drop"), "constant")


def test_draws_that_find_nothing_are_no_reassurance() -> None:
    random = np.random.default_rng(1)
    noise = {f"n{k}": random.normal(size=60) for k in range(200)} | {"y": random.normal(size=60)}
    found = serape.stability(noise, "y", draws=4, algorithm="iamb", sampling="half")
    assert found.mean_size == 0
    assert "no draw found any variable: half of the rows may be too few" in str(found)
    assert "expected number of false selections" not in str(found)
