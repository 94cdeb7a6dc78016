"""The benchmarks' own arithmetic, and that they compare like with like."""

from __future__ import annotations

import json
import lzma
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest

import serape
from benchmarks import memory
from benchmarks.__main__ import COMMANDS, parse
from benchmarks.accuracy import blocks, choosing, knockoffs, real_classes, selector
from benchmarks.common import data, output, timing
from benchmarks.peers import questions as peer_questions
from benchmarks.peers import runner
from benchmarks.peers import searches as peer_searches
from benchmarks.peers.__main__ import main as tool_of_one_question
from benchmarks.peers.codes import Codes
from benchmarks.peers.frames import Frame
from benchmarks.scaling import growth
from benchmarks.suite import questions, searches
from serape.local.registry import ALGORITHMS

PARTS = (
    "suite questions",
    "suite searches --data alarm --algorithms iamb pc-stable",
    "suite tests --tests fisher-z gcm",
    "suite default",
    "suite networks",
    "suite gaussian",
    "suite structures",
    "suite reading",
    "suite packed",
    "suite published",
    "scaling growth --variables 37 100 --rows 100 1000 --threads 1",
    "scaling cores --jobs 1 2 --repeats 1",
    "scaling packing",
    "scaling skeletons",
    "scaling cluster --workers 2 --algorithms fbed",
    "scaling gpu --jobs 2",
    "scaling wide --jobs 2",
    "kernels screens",
    "kernels subsets",
    "kernels scores",
    "kernels pairs",
    "kernels correlations",
    "kernels gram",
    "kernels incremental",
    "kernels divide",
    "kernels calls",
    "kernels selector",
    "kernels startup",
    "kernels strategies",
    "accuracy automatic",
    "accuracy blankets",
    "accuracy blocks",
    "accuracy calibration",
    "accuracy causes",
    "accuracy hidden",
    "accuracy ldecc",
    "accuracy choosing",
    "accuracy contexts",
    "accuracy covariance",
    "accuracy discoveries",
    "accuracy recovery",
    "accuracy selector",
    "accuracy dof",
    "accuracy few-rows",
    "accuracy small-tables",
    "accuracy soundness",
    "accuracy knockoffs",
    "accuracy knowledge",
    "accuracy networks colliders",
    "accuracy networks limit",
    "accuracy networks scores",
    "accuracy probes",
    "accuracy stability",
    "accuracy structures",
    "studies bound",
    "studies empty",
    "studies pigs",
    "studies rules",
    "studies superset",
    "studies ties",
    "memory growth",
    "memory questions",
)


PROCESSES = ("suite searches", "suite tests", "scaling packing", "scaling cluster", "kernels calls")
"""Parts whose measurements have processes of their own here, too; of the others the work is done, in this process."""


class Here:
    """What stands for a pool of processes."""

    def __init__(self, *_: object) -> None: ...

    def __enter__(self) -> Here:
        return self

    def __exit__(self, *_: object) -> None: ...

    def submit(self, job: Callable[..., Any], *arguments: Any) -> Future[Any]:
        done: Future[Any] = Future()
        done.set_result(job(*arguments))
        return done


def call_here(run: runner.Runner, tool: str, method: str, data: Path) -> dict[str, Any]:
    run.result.unlink(missing_ok=True)
    tool_of_one_question(run.arguments(tool, method, data))
    found: dict[str, Any] = json.loads(run.result.read_text())
    return found


@pytest.mark.parametrize("line", PARTS)
def test_every_part_runs(
    line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if line.split()[-1] in ("selector", "blankets", "calibration", "knockoffs", "probes"):
        pytest.importorskip("sklearn")
    monkeypatch.setattr(output, "OUT", tmp_path / "out")
    if not line.startswith(PROCESSES):
        monkeypatch.setattr(timing, "ProcessPoolExecutor", Here)
        monkeypatch.setattr(runner.Runner, "call", call_here)
    alarm = signal.getsignal(signal.SIGALRM)
    try:
        run, options = parse([*line.split(), "--quick"])
        run(options)
    finally:
        signal.signal(signal.SIGALRM, alarm)
    assert capsys.readouterr().out.count("\n") > 1
    for file in tmp_path.glob("out/*.json"):
        measured = json.loads(file.read_text()).get("measured", ())
        assert not [one for one in measured if isinstance(one, dict) and one.get("failure")]


def test_every_part_is_run_here() -> None:
    parts = {(name, part) for name in COMMANDS for part in import_module(f"benchmarks.{name}").COMMAND.parts}
    assert parts == {tuple(line.split()[:2]) for line in PARTS}


def test_a_command_without_a_part() -> None:
    assert parse(["suite", "--limit", "3"])[1].limit == 3
    assert parse(["memory"])[0] is memory.run
    with pytest.raises(SystemExit):
        parse(["accuracy"])
    with pytest.raises(SystemExit):
        parse(["nothing"])


def test_exponent_of_a_power_law() -> None:
    sizes = [10, 100, 1000, 10_000]
    assert timing.exponent(sizes, [3 * n**1.5 for n in sizes]) == pytest.approx(1.5)
    assert timing.exponent(sizes, [7, 7, 7, 7]) == pytest.approx(0)
    assert timing.exponent([*sizes, 100_000], [5, 5, 10, 100, 1000], last=3) == pytest.approx(1)
    assert timing.exponent([10], [1]) is None
    assert timing.exponent([10, 10], [1, 2]) is None
    assert timing.exponent([10, 100], [0, 1]) is None  # no logarithm of 0


def test_median_of_jobs_that_take_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    order: list[str] = []
    clock = iter([0, 1, 1, 11, 11, 14, 14, 34, 34, 36, 36, 66])  # a: 1, 3, 2; b: 10, 20, 30
    monkeypatch.setattr("benchmarks.common.timing.time.perf_counter", lambda: next(clock))
    found = timing.alternating({"a": lambda: order.append("a"), "b": lambda: order.append("b")}, 3)
    assert found == {"a": 2, "b": 20}
    assert order == ["a", "b"] * 3


def test_table_of_markdown() -> None:
    lines = output.markdown(("name", "s"), [["a|b", "1.5"], ["longer", "22"]]).splitlines()
    assert lines == ["| name   |   s |", "| ------ | --: |", "| a/b    | 1.5 |", "| longer |  22 |"]
    with pytest.raises(ValueError, match="as many cells"):
        output.markdown(("a", "b"), [["1"]])


@pytest.mark.parametrize(
    ("number", "text"),
    [(None, "–"), (0, "0"), (0.00123456, "0.00123"), (1.5, "1.50"), (61.96, "62.0"), (1234.5, "1,230")],
)
def test_short_numbers(number: float | None, text: str) -> None:
    assert output.short(number) == text


def test_peak_memory_grows() -> None:
    before = timing.peak_mebibytes()
    ballast = np.ones(2**24)  # 128 MiB, touched
    after = timing.peak_mebibytes()
    assert before is None or (after is not None and after >= ballast.nbytes / 2**20)
    assert timing.peak_mebibytes(2**30) is None  # no such process


def test_every_algorithm_is_measured_and_every_peer_is_pinned() -> None:
    asked = {(q.algorithm, q.finds) for q in searches.QUESTIONS}
    assert {name for name, _ in asked} == {*ALGORITHMS, "pc-stable"}
    for name, algorithm in ALGORITHMS.items():
        assert (name, "parents-children" if algorithm.finds == "parents-children" else "blanket") in asked or (
            name == "hpc"  # whose blanket is that of hpc-mb
        )
    in_r = {*runner.PROGRAMS}
    for peer in {*runner.PEERS, *questions.TITLES} - in_r:
        pins = [line for line in (runner.PINS / f"{peer}.txt").read_text().splitlines() if line[0] != "#"]
        assert pins[0].startswith(f"{peer}==")
        assert all("==" in line for line in pins)
    for question in searches.QUESTIONS:
        for tool, method in question.peers:
            assert tool in peer_searches.TOOLS
            assert tool != "pyCausalFS" or method in peer_searches.PYCAUSALFS
    assert {q.name for q in questions.QUESTIONS} == {*peer_questions.ASKED, "selector"}
    assert {tool for q in questions.QUESTIONS for tool, _ in q.peers} == {*questions.TITLES}
    assert {*questions.TITLES} == {*peer_questions.TOOLS, *in_r} - {"serape"}


# --- default questions ------------------------------------------------------------------------------------------------


def some_frame(target: str) -> Frame:
    """A class and a number that follow from a number and a category, beside noise."""
    random = np.random.default_rng(0)
    letters, number, noise = random.choice(["a", "b", "c"], 400), random.normal(size=400), random.integers(0, 50, 400)
    score = 2 * (letters == "b") + number + 0.5 * random.normal(size=400)
    columns = {"n": number, "noise": noise, "c": letters, "y": score > 0.5, "constant": noise * 0, "s": score}
    return Frame.of(columns, target)


def test_a_frame_is_read_as_it_was_written(tmp_path: Path) -> None:
    frame = some_frame("y")
    assert (frame.kinds, frame.rows, frame.levels, frame.targets) == ("mixed", 400, [0, -1, 3, 2, 0], [3, 4, 0, 1, 2])
    assert (frame.asked("one"), frame.asked("five")) == (["x3"], ["x3", "x4", "x0", "x1", "x2"])
    assert frame.asked("all") == ["x0", "x1", "x2", "x3", "x4"]
    again = Frame.read(str(frame.write(tmp_path / "frame")))
    assert (again.levels, again.targets) == (frame.levels, frame.targets)
    for ours, theirs in zip(frame.columns, again.columns, strict=True):
        assert theirs.dtype.kind == ours.dtype.kind
        np.testing.assert_array_equal(ours, theirs)
    pandas = pytest.importorskip("pandas")
    assert isinstance(again.pandas()["x2"].dtype, pandas.CategoricalDtype)
    assert again.pandas()["x2"].tolist() == [f"l{code}" for code in frame.columns[2]]


@pytest.mark.parametrize("drawn", questions.QUICK, ids=lambda drawn: drawn.name)
def test_drawn_frames(drawn: questions.Data) -> None:
    frame = drawn.frame(None)
    assert (frame.kinds, frame.rows, len(frame.columns)) == (drawn.kinds, drawn.rows, drawn.columns)
    assert frame.asked("five") == ["x10", "x14", "x18", "x2", "x6"]
    assert {*frame.levels} <= {0, 2, 4}
    assert len(serape.markov_blanket(serape.Table(frame.pandas()), "x10").blanket) > 0


def test_frames_of_all_sizes_and_kinds() -> None:
    assert len({one.name for one in questions.FRAMES}) == len(questions.FRAMES) >= 12
    assert {one.kinds for one in questions.FRAMES} == {*data.KINDS}
    rows, columns = ([getattr(one, what) for one in questions.FRAMES] for what in ("rows", "columns"))
    assert (min(rows), max(rows), max(columns)) == (500, 1_000_000, 2000)


def test_real_frames_that_are_not_there_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(output, "OUT", tmp_path / "out")
    run, options = parse(["suite", "questions", "--frames", "bike", "adult", "--real", str(tmp_path)])
    run(options)
    assert "Not there, so left out: bike, adult (" in capsys.readouterr().out
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "bike.txt.xz").write_bytes(lzma.compress(b"RentedBikeCount\tHour\n1\t2\n3\t4\n"))
    pytest.importorskip("pandas")
    with pytest.raises(ValueError, match="other rows and columns than 8,760 × 13"):
        run(options)


@pytest.mark.parametrize("method", [q.name for q in questions.QUESTIONS])
def test_default_questions_are_what_a_user_asks(method: str) -> None:
    pytest.importorskip("sklearn")
    frame = some_frame("y")
    search, read = peer_questions.serape(frame, method, 0.0)
    found = read(search(lambda: None))
    assert ("table" in found) == (method != "selector")
    if method in ("blanket", "selector"):
        assert found["found"] == len(serape.markov_blanket(frame.pandas(), "x3").blanket)
    elif method == "network":  # an edge without direction is one, not an arc each way
        assert found["found"] == serape.network(frame.pandas()).graph.to_undirected().number_of_edges()
    elif "blankets" in method and method != "all blankets":  # all five columns are targets
        assert found["found"] == sum(len(one.blanket) for one in serape.blankets(frame.pandas()).values())
    else:
        assert found["found"] >= 1


def test_what_is_classified() -> None:
    assert [peer_questions.has_classes(some_frame(target)) for target in ("y", "c", "s", "noise")] == [1, 1, 0, 0]
    columns = {"x": np.arange(6), "of two numbers": np.tile([-1, 1], 3)}
    assert peer_questions.has_classes(Frame.of(columns, "of two numbers"))


@pytest.mark.filterwarnings("ignore")  # as where tools run
@pytest.mark.parametrize("target", ["y", "s", "c"])
def test_columns_with_a_coefficient_are_counted(target: str) -> None:
    pytest.importorskip("sklearn")
    search, read = peer_questions.scikit_learn(some_frame(target), "L1", 0.0)
    model = search(lambda: None)
    assert 2 <= read(model)["found"] <= 4
    for fitted in getattr(model[-1], "estimators_", [model[-1]]):
        fitted.coef_ = np.zeros_like(fitted.coef_)
        fitted.coef_[..., -2:] = 1  # two levels of one column, or a level of each of two
    categories = {"y": 1, "s": 1, "c": 1}
    assert read(model)["found"] == categories[target]


def test_bnlearn_reads_the_same_frame(tmp_path: Path) -> None:
    program = runner.with_bnlearn()
    if program is None:
        pytest.skip("there is no bnlearn")
    frame = some_frame("y").write(tmp_path / "frame")
    one = runner.Runner("questions", tmp_path, frame, {"bnlearn": program}, 0.0, 60.0, of_processor=True)
    found = {method: one.call("bnlearn", method, frame) for method in ("iamb one", "iamb five", "iamb all", "hc")}
    assert found["iamb one"]["found"]["found"] >= 1
    assert found["iamb five"]["found"] == found["iamb all"]["found"]
    assert all(len(answer["processor"]) == 1 and answer["version"] for answer in found.values())
    assert "valid learning algorithm" in one.call("bnlearn", "nothing one", frame)["error"]


def test_lines_of_default_questions() -> None:
    drawn, asked = questions.Data("mixed", 500, 20), questions.QUESTIONS[:2]
    found = {
        method: questions.Measured(drawn.name, *method)
        for method in (("serape", "blanket"), ("serape", "selector"), *questions.SELECTION, ("bnlearn", "iamb one"))
    }
    ours, selector_, lightgbm, l1, forest, bnlearn = found.values()
    answer = {"found": {"found": 3, "table": 0.01}, "version": "1"}
    questions.take(ours, {**answer, "processor": [0.1, 0.2, 0.3], "mebibytes": 60.0}, 60)
    questions.take(selector_, {"ended": 0}, 60)
    questions.take(lightgbm, {**answer, "processor": [1.0]}, 60)
    questions.take(lightgbm, {**answer, "processor": [3.0]}, 60)
    questions.take(lightgbm, {**answer, "processor": [2.0]}, 60)
    questions.take(l1, {"ended": 0}, 60)
    questions.take(forest, {"error": "ValueError: no"}, 60)
    questions.take(bnlearn, {**answer, "processor": [0.05]}, 60)
    assert (ours.seconds, ours.table, ours.found, ours.version) == (0.2, 0.01, 3, "serape 1")
    assert [one.over for one in found.values()] == [False, True, False, True, True, False]
    assert questions.lines(drawn, found, asked, {"serape", *questions.TITLES}) == [
        "| mixed, 500 × 20 | blanket | 0.20 | 0.010 | 3 "
        "| 2.0 (10 ×, 3) | > 60 (> 300 ×) | fails | 0.050 (0.25 ×, 3) |  |",
        "|  | selector | > 60 |  |  | 2.0 (< 0.033 ×, 3) | > 60 | fails |  |  |",
    ]
    assert questions.lines(drawn, found, asked, {"serape"})[0] == "| mixed, 500 × 20 | blanket | 0.20 | 0.010 | 3 |"


def test_a_limit_of_the_processor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert timing.processor_seconds(2**30) is None  # no such process
    used = timing.processor_seconds(os.getpid())
    assert used is None or used > 0

    class Busy:
        """A process that never ends, on a machine that gives it half of the time."""

        pid, args, waited = 0, "busy", 0.0

        def wait(self, seconds: float) -> None:
            self.waited += seconds
            raise subprocess.TimeoutExpired(self.args, seconds)

    busy = Busy()
    monkeypatch.setattr(runner, "processor_seconds", lambda _: round(busy.waited / 2, 2))
    one = runner.Runner("questions", tmp_path, tmp_path, {}, 0.0, 8.0, of_processor=True)
    with pytest.raises(subprocess.TimeoutExpired):
        one.wait(busy)  # type: ignore[arg-type]
    assert busy.waited == pytest.approx(16, abs=0.1)
    monkeypatch.setattr(runner, "processor_seconds", lambda _: None)  # a system that does not tell
    busy.waited = 0.0
    with pytest.raises(subprocess.TimeoutExpired):
        one.wait(busy)  # type: ignore[arg-type]
    assert busy.waited == 8


# --- searches ---------------------------------------------------------------------------------------------------------


def test_which_methods_are_compared() -> None:
    case = searches.make_case("alarm", 2000, 37)
    assert case.targets == list(range(37))
    assert case.codes.min() == 0
    truth = serape.load_network("alarm")
    assert len(case.members(3, "blanket")) == len(truth.markov_blanket(truth.variables[3]))
    mmpc = next(q for q in searches.QUESTIONS if q.algorithm == "mmpc")
    assert searches.rivals(mmpc, case, {"pgmpy", "pyCausalFS"}) == [("pgmpy", "MMPC"), ("pyCausalFS", "MMPC")]
    some = searches.Case("some", case.codes, [0, 1], case.truth, [mmpc])
    assert searches.rivals(mmpc, some, {"pgmpy", "pyCausalFS"}) == [("pyCausalFS", "MMPC")]


def test_lines_of_the_suite() -> None:
    case = searches.make_case("alarm", 2000, 37)
    own = searches.Measured("alarm", "blanket", "iamb", "serape", "blanket iamb", seconds=0.01)
    exact = {str(t): [int(x) for x in case.members(t, "blanket")] for t in case.targets}
    searches.take(own, {"seconds": [3, 1, 2], "found": exact, "mebibytes": 60.0, "mebibytes_before": 50.0}, case, 60)
    assert (own.times, own.distance) == ([2], 0)
    slow = searches.Measured("alarm", "blanket", "iamb", "pyCausalFS", "IAMB", ratio=6000)
    searches.take(slow, {"ended": 12, "mebibytes": 80.0}, case, 60)
    broken = searches.Measured("alarm", "blanket", "iamb", "causal-learn", "IAMB")
    searches.take(broken, {"error": "TypeError: no"}, case, 60)
    assert slow.over
    assert broken.over
    ours = ["blanket", "iamb", "0.0100", "0.000", "60.0 (50.0)"]
    assert searches.lines([own, slow, broken], 37) == [
        [*ours, "pyCausalFS IAMB", "> 60 (12 of 37)", "> 6,000", "–", "80.0"],
        [*ours, "causal-learn IAMB", "fails: TypeError: no", "–", "–", "–"],
    ]
    assert len(searches.lines([own], 37)) == 1


@pytest.mark.parametrize("method", ["blanket iamb", "parents-children hiton-pc", "parents-children pc-stable"])
def test_the_suite_asks_what_a_user_asks(method: str) -> None:
    case = searches.make_case("alarm", 1000, 37)
    search, read = peer_searches.serape(Codes.of_levels_that_occur(case.codes, case.targets), method, 0.01)
    found = read(search(lambda: None))
    assert list(found) == case.targets
    finds, algorithm = method.split()
    table = serape.Table(case.codes)
    if algorithm == "pc-stable":
        graph = serape.skeleton(table, algorithm, alpha=0.01, max_conditioning=None).graph
        assert found[3] == sorted(int(x[1:]) for x in graph.neighbors("x3"))
    else:
        ask = serape.markov_blanket if finds == "blanket" else serape.parents_children
        assert found[3] == sorted(int(x[1:]) for x in ask(table, 3, algorithm=algorithm, alpha=0.01).members)


@pytest.mark.parametrize("variables", [37, 2100])
def test_data_of_the_scaling_page(variables: int) -> None:
    table = data.grouped_table(variables, 20_000)
    assert len(table.names) == variables
    count, target = -(-min(variables, data.BLOCK) // data.GROUP), data.target_index(variables)
    found = serape.markov_blanket(table, target, algorithm="iamb", alpha=1e-9)
    assert found.blanket == tuple(f"x{k * count}" for k in (0, 1, 3, 4, 5))


def test_points_of_the_scaling_page() -> None:
    first, second = growth.points(37, 200, ["iamb", "hiton-pc"], False, 60.0)
    assert first.seconds is not None
    assert second.tests
    stopped = growth.points(37, 200, ["iamb"], True, -1.0)[0]
    assert (stopped.stopped, stopped.seconds) == (True, None)
    fitted = growth.exponents([first, second], "variables")
    assert [f["seconds"] for f in fitted] == [None, None]  # one point makes no line


def test_algorithms_are_compared_on_networks_on_which_all_ended() -> None:
    one = choosing.Measured("child", 200, 1, 0.01, "blanket", "iamb", "full", 0.01, 1.0, 0.5, 0.5, 9)
    better = replace(one, algorithm="hpc", distance=0.25, seconds=0.02)
    slow = replace(better, network="alarm", distance=None, seconds=None)
    measured = [one, better, replace(one, network="alarm", distance=0.1), slow]
    assert choosing.all_ended(measured, 200) == ["child"]
    table = choosing.table_of(measured, [200])
    assert [line.split() for line in table.splitlines()[2:4]] == [
        ["|", "`iamb`", "|", "full", "(auto)", "|", ".500", "|", "10", "|", "10", "|"],
        ["|", "`hpc`", "|", "full", "|", "**.250**", "|", "20", "|", "20", "|"],
    ]
    assert table.endswith("200 rows: without alarm, where these did not end: hpc (full)")


@pytest.mark.skipif(sys.platform == "win32", reason="needs an interval timer")
def test_accuracy_of_an_algorithm(monkeypatch: pytest.MonkeyPatch) -> None:
    network = serape.load_network("asia")
    truth = {name: network.markov_blanket(name) for name in network.variables}
    what = choosing.Measured("asia", 500, 1, 0.01, "blanket", "iamb", "full")
    got = choosing.accuracy(network.sample(500, 1), truth, what, 60.0)
    assert got is not None
    found = serape.blankets(network.sample(500, 1), algorithm="iamb", alpha=0.01)
    assert got.distance == pytest.approx(serape.compare(found, truth).distance)

    def late(*_: object, **__: object) -> None:
        signal.raise_signal(signal.SIGALRM)

    before = signal.signal(signal.SIGALRM, choosing.interrupt)
    monkeypatch.setattr(choosing, "accuracy_of_all", late)
    try:
        assert choosing.accuracy(network.sample(500, 1), truth, what, 60.0) is None
    finally:
        signal.signal(signal.SIGALRM, before)
    assert {a for finds in choosing.QUESTIONS for a in choosing.candidates(finds)} == {*ALGORITHMS} - {"hpc-mb"}


def test_verdict_on_a_selector() -> None:
    other = selector.Measured("data", 9, 9, 2, "L1", [0.8, 0.9], [3, 5], [1, 1])
    for auc, kept, said in (
        ([0.8, 0.885], [4, 4], "as good"),
        ([0.8, 0.87], [4, 4], "less accurate"),
        ([0.8, 0.9], [5, 4], "more columns"),
        ([0.5, 0.5], [9, 9], "less accurate and more columns"),
    ):
        ours = replace(other, way="blanket", auc=auc, kept=kept)
        assert selector.verdict(ours, other) == said
        assert f"| {said} " in selector.table_of([replace(other, way="all columns"), other, ours])


def test_columns_of_l1_selection() -> None:
    pd = pytest.importorskip("pandas")
    pytest.importorskip("sklearn")
    random = np.random.default_rng(0)
    words, number, noise = random.choice(["a", "b", "c"], 400), random.normal(size=400), random.normal(size=400)
    y = (2 * (words == "b") + number + random.normal(size=400) > 0.5).astype(int)
    frame = pd.DataFrame({"noise": 0.0 * noise, "words": words, "number": number})
    assert selector.lasso(frame, y).tolist() == [False, True, True]


def test_classes_of_real_columns() -> None:
    numbers = real_classes.classes(np.arange(99), 0.02)
    assert [np.count_nonzero(numbers == level) for level in "012"] == [33, 33, 33]
    letters = np.array(list("a" * 60 + "b" * 37 + "cde"))
    assert set(real_classes.classes(letters, 0.02)) == {"a", "b", "(rare)"}
    assert set(real_classes.classes(letters[:-2], 0.02)) == {"a", "b", "c"}  # one rare level stays
    assert real_classes.classes(np.array([0] * 90 + list(range(1, 11))), 0.02).tolist() == ["0"] * 90 + ["1"] * 10


def test_rows_of_real_data_are_drawn(tmp_path: Path) -> None:
    pytest.importorskip("sklearn")
    columns, target = real_classes.drawn_rows(None, "breast_cancer", 0)
    assert len(columns) == 31
    assert set(columns[target]) == {"0", "1"}
    assert all(len(values) == 569 for values in columns.values())
    assert real_classes.available(None) == ["breast_cancer", "digits"]
    (tmp_path / "adult").mkdir()
    row = "39, State-gov, 77516, Bachelors, 13, Never-married, Clerk, None, White, Male, 2174, 0, 40, Cuba, <=50K\n"
    (tmp_path / "adult" / "adult.data.xz").write_bytes(lzma.compress((row + row.replace("39", "40")).encode()))
    assert "adult" in real_classes.available(tmp_path)
    columns, target = real_classes.drawn_rows(tmp_path, "adult", 0)
    assert target == "income"
    assert sorted(columns["age"].tolist()) == ["39", "40"]


def test_rows_of_a_fitted_network() -> None:
    """Of two categories and two numbers: the first category changes fastest among the columns of coefficients."""
    nodes = {
        "y": {
            "parents": np.array(["x", "a", "b"]),
            "coefficients": np.array([[0.0, 10.0, 20.0, 30.0, 40.0, 50.0], [1.0, 1.0, 1.0, 1.0, 1.0, -1.0]]),
            "sd": np.zeros(6),
        },
        "a": {"parents": np.array([]), "prob": np.array([0.5, 0.5])},
        "b": {"parents": np.array([]), "prob": np.array([0.2, 0.3, 0.5])},
        "x": {"parents": np.array([]), "coefficients": np.array([3.0]), "sd": np.array([0.1])},
    }
    columns, graph = blocks.sampled(nodes, 2000, 1)
    assert set(graph.edges) == {("x", "y"), ("a", "y"), ("b", "y")}
    a, b = (np.array([int(level[1:]) for level in columns[name]]) for name in "ab")
    np.testing.assert_allclose(np.bincount(b) / 2000, [0.2, 0.3, 0.5], atol=0.05)
    assert abs(columns["x"].mean() - 3) < 0.01
    cell = a + 2 * b
    np.testing.assert_allclose(columns["y"], 10 * cell + np.where(cell == 5, -1, 1) * columns["x"])


def test_blankets_in_a_class() -> None:
    graph = nx.DiGraph([("a", "c"), ("b", "c"), ("c", "d"), ("d", "e"), ("e", "d"), ("f", "e"), ("e", "f")])
    expected = {"a": "bc", "b": "ac", "c": "abd", "d": "ce", "e": "df", "f": "e"}
    assert {name: "".join(sorted(blocks.blanket_in(graph, name))) for name in graph} == expected
    assert blocks.compared({"x": "ab", "y": ""}, {"x": {"a", "c"}, "y": set()}) == (0.5**0.5 / 2, 0.25, 0.75)


def test_an_effect_depends_on_its_causes_alone() -> None:
    random = np.random.default_rng(0)
    causes = [random.integers(0, 3, 4000) for _ in range(3)]
    drawn = knockoffs.effect(causes, np.random.default_rng(1))
    assert 0.4 < drawn.mean() < 0.6
    table = {**{f"c{k}": column for k, column in enumerate(causes)}, "noise": random.integers(0, 3, 4000), "y": drawn}
    assert serape.markov_blanket(serape.Table(table, kinds="categorical"), "y", alpha=1e-4).blanket == (
        "c0",
        "c1",
        "c2",
    )
