"""`max_seconds=` and `max_tests=`: every search stops, and says so.

Seconds are those of the processor, which are no more if the machine is busy with other work.
"""

from __future__ import annotations

import html
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import serape
from serape.data.example import clinic
from serape.errors import abbreviate
from serape.independence import G2
from serape.local.registry import ALGORITHMS

SPENT = "the search stopped at {}: the members are those found so far, and neither all candidates nor all members have"
NETWORKS = ["pc-stable", "hiton-pc", "mmhc", "h2pc", "ges", "xges", "boss", "sca", "tabu"]


@pytest.fixture(scope="module")
def dense() -> serape.Table:
    """Return 150 columns that all depend on each other, so that there are very many conditioning sets."""
    random = np.random.default_rng(0)
    hidden = random.integers(0, 2, 3000)
    columns = {}
    for k in range(150):
        own = random.integers(0, 2, 3000)
        columns[f"v{k}"] = np.where(random.random(3000) < 0.45, hidden, own)
    return serape.Table(columns)


def slow(x: Any, y: Any, z: Any) -> float:
    """A test that takes 5 ms of the processor and shows dependence."""
    end = time.thread_time() + 0.005
    while time.thread_time() < end:
        pass
    return float(1e-3 * ((x[:50] != y[:50]).mean() + 0.01 * len(z)))


def sleepy(x: Any, y: Any, z: Any) -> float:
    """A test that waits 5 ms and shows dependence."""
    time.sleep(0.005)
    return float(1e-3 * ((x[:50] != y[:50]).mean() + 0.01 * len(z)))


def ask(name: str, data: Any, **settings: Any) -> serape.Result:
    question = serape.markov_blanket if ALGORITHMS[name].answers("blanket") else serape.parents_children
    return question(data, "v0", name, **settings)


# --- time ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ALGORITHMS)
def test_time_ends_every_algorithm(dense: serape.Table, name: str) -> None:
    started = time.thread_time()
    found = ask(name, serape.FunctionTest(dense, slow), max_seconds=0.15)
    assert time.thread_time() - started >= 0.15
    assert not found.complete
    assert found.tests <= 31  # that is, 0.15 s of them
    assert found.notes[-1] == f"{SPENT.format('max_seconds=0.15')} been tested"
    assert "not complete: the search stopped at " in str(found)


def test_other_work_on_the_machine_takes_nothing_from_a_search(dense: serape.Table) -> None:
    """Two processes for every core leave a third of it; by the clock, some 10 tests would be done."""
    calls = 0

    def counted(x: Any, y: Any, z: Any) -> float:
        nonlocal calls
        calls += 1
        return slow(x, y, z)

    others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2 * (os.cpu_count() or 1))]
    try:
        found = ask("iamb", serape.FunctionTest(dense, counted), max_seconds=0.15)
    finally:
        for process in others:
            process.kill()
            process.wait()
    assert not found.complete
    assert calls <= 31
    assert calls >= 20 or "by the clock" in found.notes[-1]  # where still others are busy


def test_the_clock_has_a_wider_limit(dense: serape.Table) -> None:
    found = ask("iamb", serape.FunctionTest(dense, sleepy), max_seconds=0.02)
    assert not found.complete
    assert found.notes[-1] == f"{SPENT.format('10 times max_seconds=0.02 by the clock')} been tested"


@pytest.mark.parametrize("name", ["mmpc", "mmmb", "hiton-pc", "hiton-mb", "ipc-mb", "dos", "hpc"])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_time_ends_long_batches(dense: serape.Table, name: str, n_jobs: int) -> None:
    started = time.process_time()
    found = ask(name, dense, max_seconds=0.1, reliability=None, n_jobs=n_jobs)
    assert time.process_time() - started < 0.1 * n_jobs + 0.5
    assert not found.complete
    assert "max_seconds=0.1" in found.notes[-1]


@pytest.mark.parametrize("algorithm", NETWORKS)
def test_time_ends_networks(dense: serape.Table, algorithm: str) -> None:
    by_score = algorithm in ("ges", "xges", "boss", "sca", "tabu")
    by_tests = {} if by_score else {"reliability": None}
    seconds = 0.01 if by_score else 0.1  # a whole search by score takes about 0.1
    started = time.process_time()
    found = serape.network(dense, algorithm, max_seconds=seconds, **by_tests)  # type: ignore[arg-type]
    assert time.process_time() - started < 0.8
    assert not found.complete
    assert f"the search stopped at max_seconds={seconds}: this is what was found so far" in found.notes
    assert "not complete" in str(found)


@pytest.mark.parametrize("algorithm", ["pc-stable", "hiton-pc", "hpc"])
def test_time_ends_skeletons_and_regions(dense: serape.Table, algorithm: str) -> None:
    started = time.process_time()
    found = serape.skeleton(dense, algorithm, max_seconds=0.1, reliability=None, n_jobs=2)
    assert time.process_time() - started < 0.8
    assert not found.complete
    if algorithm != "pc-stable":
        started = time.process_time()
        near = serape.region(dense, "v0", 2, algorithm, max_seconds=0.1, reliability=None)
        assert time.process_time() - started < 0.8
        assert not near.graph["complete"]
        assert near.graph["notes"][-1] == "the search stopped at max_seconds=0.1: the region is as far as it was found"


def test_each_target_draw_and_level_has_its_own_time(dense: serape.Table) -> None:
    asked: dict[str, Any] = {"algorithm": "hiton-mb", "reliability": None, "max_seconds": 0.05}
    found = serape.blankets(dense, ["v0", "v1", "v2"], **asked)
    assert list(found) == ["v0", "v1", "v2"]
    assert not any(result.complete for result in found.values())
    draws = serape.stability(dense, "v0", draws=2, **asked)
    assert not draws.complete
    assert draws.draws == 2
    assert draws.notes[-1] == "the search stopped at the budget (max_seconds, max_tests) in 2 of 2 draws"
    path = serape.alpha_path(dense, "v0", [0.01, 0.05], **asked)
    assert not path.complete
    assert path.alphas == (0.01, 0.05)
    assert path.notes[-1] == "the search stopped at the budget (max_seconds, max_tests) with 2 of 2 levels"
    assert "not complete: the search stopped at " in str(path)


# --- tests -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ALGORITHMS)
def test_a_number_of_tests_ends_every_algorithm_at_the_same_place(dense: serape.Table, name: str) -> None:
    whole = {"fast-iamb": 140, "boss-mb": 100}.get(name, 400)
    one = ask(name, dense, max_tests=whole, reliability=None)
    two = ask(name, dense, max_tests=whole, reliability=None, n_jobs=2)
    assert not one.complete
    assert whole <= one.tests < whole + 400  # a batch of tests is not cut short
    assert f"the search stopped at max_tests={whole}" in one.notes[-1]
    assert (one.members, one.tests, one.tests_by_size) == (two.members, two.tests, two.tests_by_size)


def test_searches_through_conditioning_sets_stop_at_once(dense: serape.Table) -> None:
    """A search through millions of sets is cut short at the number of tests."""
    found = serape.parents_children(dense, "v0", "hiton-pc", max_tests=5000, reliability=None)
    assert 5000 <= found.tests < 5100


def test_members_so_far(dense: serape.Table) -> None:
    """The members are those that the algorithm had at that moment: of IAMB, the strongest."""
    whole = serape.markov_blanket(dense, "v0", "iamb")
    strongest = serape.Search(G2(dense)).strongest(0, range(1, 150))
    for tests in (149, 200):
        found = serape.markov_blanket(dense, "v0", "iamb", max_tests=tests)
        assert found.blanket in ((), (dense.names[strongest or 0],))
    enough = serape.markov_blanket(dense, "v0", "iamb", max_tests=whole.tests + 1)
    assert enough.complete
    assert enough.blanket == whole.blanket


def test_many_targets_have_a_number_each(dense: serape.Table) -> None:
    settings: dict[str, Any] = {"algorithm": "hiton-mb", "reliability": None, "max_tests": 700}
    together = serape.blankets(dense, ["v0", "v1"], **settings)
    in_parallel = serape.blankets(dense, ["v0", "v1"], **settings, n_jobs=2)
    for name, found in together.items():
        alone = serape.markov_blanket(dense, name, **settings)
        for other in (found, in_parallel[name]):
            assert (other.blanket, other.tests, other.complete) == (alone.blanket, alone.tests, False)


@pytest.mark.parametrize("algorithm", ["hiton-pc", "hpc", "pc-stable"])
def test_one_number_for_all_neighbourhoods(algorithm: str) -> None:
    data = serape.load_network("alarm").sample(500, seed=1)
    whole = serape.skeleton(data, algorithm)
    one = serape.skeleton(data, algorithm, max_tests=whole.tests // 2)
    two = serape.skeleton(data, algorithm, max_tests=whole.tests // 2, n_jobs=2)
    assert not one.complete
    assert whole.tests // 2 <= one.tests < whole.tests
    assert (one.edges, one.tests, one.notes) == (two.edges, two.tests, two.notes)
    assert len(one.edges) != len(whole.edges)
    assert serape.skeleton(data, algorithm, max_tests=10 * whole.tests).edges == whole.edges


def test_a_bound_on_false_discoveries_beside_a_budget(dense: serape.Table) -> None:
    for name in ("iamb", "hiton-mb", "hpc"):
        found = ask(name, dense, fdr=0.1, max_tests=300, reliability=None)
        assert not found.complete
        assert (found.fdr, found.threshold, found.adjusted_p) == (0.1, None, {})


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"max_seconds": 0}, "max_seconds must be a number above 0, not 0"),
        ({"max_seconds": True}, "max_seconds must be a number above 0, not True"),
        ({"max_seconds": "1"}, "max_seconds must be a number above 0, not '1'"),
        ({"max_tests": 0}, "max_tests must be a whole number, 1 or more, not 0"),
        ({"max_tests": 1.5}, "max_tests must be a whole number, 1 or more, not 1.5"),
    ],
)
def test_bad_values(settings: Any, message: str) -> None:
    with pytest.raises(serape.OptionError, match=message):
        serape.markov_blanket(pd.DataFrame({"a": [0, 1], "b": [0, 1]}), "a", **settings)


# --- what is said first ----------------------------------------------------------------------------------------------

ASKED: dict[str, Any] = {
    "markov_blanket": lambda data: serape.markov_blanket(data, "HeartDisease", max_tests=3),
    "causes": lambda data: serape.causes(data, "HeartDisease", max_tests=3),
    "all_blankets": lambda data: serape.all_blankets(data, "HeartDisease", max_tests=3),
    "alpha_path": lambda data: serape.alpha_path(data, "HeartDisease", max_tests=3),
    "stability": lambda data: serape.stability(data, "HeartDisease", draws=4, max_tests=3),
    "region": lambda data: serape.region(data, "HeartDisease", max_tests=3),
    "network": lambda data: serape.network(data, "hiton-pc", max_tests=3),
    "blankets": lambda data: serape.blankets(data, ["HeartDisease", "ECG"], max_tests=3),
    "some of blankets": lambda data: serape.blankets(data, algorithm="fbed", max_tests=25),
    "joint_blanket": lambda data: serape.joint_blanket(data, ["HeartDisease", "ECG"], max_tests=3),
    "context_blankets": lambda data: serape.context_blankets(data, "HeartDisease", "Smoking", max_tests=3),
}


@pytest.mark.parametrize("name", ASKED)
def test_the_limit_is_said_first_and_once(name: str, tmp_path: Path) -> None:
    found = ASKED[name](clinic(500))
    first = str(found).splitlines()[1].strip()
    assert first.startswith("not complete: the search stopped at ")
    assert repr(found).endswith(" (not complete)>")
    found.report(tmp_path / "report.html")
    limit = html.escape(first.removeprefix("not complete: "))
    for text in (html.escape(str(found)), found._repr_html_(), (tmp_path / "report.html").read_text()):
        assert (text.count("not complete: "), text.count(limit)) == (1, 1)


def test_the_targets_whose_search_a_limit_ended_are_named() -> None:
    found = serape.blankets(clinic(500), algorithm="fbed", max_tests=25)
    ended = [name for name, one in found.items() if not one.complete]
    assert 0 < len(ended) < len(found)
    named = f"the search stopped at max_tests=25 for {len(ended)} of {len(found)} targets ({abbreviate(ended)}): "
    assert named in str(found).splitlines()[1]


def test_the_contexts_where_a_limit_ended_the_search_are_named() -> None:
    data = clinic(2000)
    found = serape.context_blankets(data, "HeartDisease", "Smoking", max_tests=3)
    assert "the search stopped at max_tests=3 in the contexts 'no', 'yes': their members are those" in found.notes[-1]
