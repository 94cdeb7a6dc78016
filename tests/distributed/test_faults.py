"""Workers and schedulers that fail: the answer is that of one process, or the question ends with one sentence."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Timer
from typing import Any

import pytest

import serape

pytest.importorskip("distributed")
import serape.dask
from serape.distributed import waiting


@pytest.fixture(scope="module")
def asia() -> serape.Table:
    return serape.load_network("asia").sample(400, 5)


@contextmanager
def cluster(workers: int = 2, **options: Any) -> Iterator[Any]:
    """A client of worker processes on this machine, none of which is left at the end."""
    import psutil  # type: ignore[import-untyped]

    from distributed import Client, LocalCluster

    before = set(psutil.Process().children(recursive=True))
    with (
        LocalCluster(
            n_workers=workers, threads_per_worker=1, dashboard_address=":0", silence_logs=50, **options
        ) as own,
        Client(own) as client,
    ):
        yield client
    left = {one for one in psutil.Process().children(recursive=True) if "spawn_main" in " ".join(one.cmdline())}
    assert not left - before


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    """For faults after which a cluster is whole again."""
    with cluster() as own:
        yield own


def worker(client: Any) -> int:
    """Return the process of a worker."""
    return int(next(iter(client.cluster.workers.values())).pid)


def in_round(table: serape.dask.ClusterTable, number: int, fault: Callable[[], Any]) -> None:
    """Let something happen once in a later round, when its tasks are under way."""
    gather, when = table.cluster.gather, table.traffic.rounds + number

    def with_fault(tasks: Any, poll: Any = None) -> list[Any]:
        if table.traffic.rounds == when:
            fault()
        return gather(tasks, poll)

    table.cluster.gather = with_fault  # type: ignore[method-assign]


def skeleton(data: Any, **settings: Any) -> Any:
    return serape.skeleton(data, algorithm="hiton-pc", **settings)


@pytest.mark.parametrize("split", ["rows", "columns"])
def test_a_killed_worker_is_replaced_and_the_answer_is_the_same(client: Any, asia: serape.Table, split: Any) -> None:
    expected = skeleton(asia)
    table = serape.dask.table(client, asia, split=split, parts=2)
    in_round(table, 1, lambda: os.kill(worker(client), signal.SIGKILL))
    found = skeleton(table)
    assert (found.edges, found.tests) == (expected.edges, expected.tests)


@pytest.mark.parametrize("split", ["rows", "columns"])
def test_a_worker_that_stands_still_for_a_moment_changes_nothing(client: Any, asia: serape.Table, split: Any) -> None:
    client.wait_for_workers(2)
    expected = skeleton(asia)
    table = serape.dask.table(client, asia, split=split)
    pid = worker(client)
    timer = Timer(1, lambda: os.kill(pid, signal.SIGCONT))

    def stop() -> None:
        os.kill(pid, signal.SIGSTOP)
        timer.start()

    in_round(table, 1, stop)
    found = skeleton(table)
    timer.join()
    assert (found.edges, found.tests) == (expected.edges, expected.tests)


def test_a_worker_that_stands_still_for_good_ends_the_question(
    asia: serape.Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(waiting, "_ALIVE", 1.0)
    with cluster() as client:
        table = serape.dask.table(client, asia, split="rows")
        pid = worker(client)

        def stop() -> None:
            os.kill(pid, signal.SIGSTOP)
            table.cluster.timeout = 2

        in_round(table, 2, stop)
        path = tmp_path / "kept.jsonl"
        with pytest.raises(serape.ClusterError, match="finished nothing for 2 s: worker .* does not answer"):
            skeleton(table, checkpoint=path)
        os.kill(pid, signal.SIGKILL)  # as the sentence says
        table.cluster.timeout = waiting.TIMEOUT
        assert skeleton(table, checkpoint=path).edges == skeleton(asia).edges


def test_a_scheduler_that_starts_again_ends_the_question_and_a_checkpoint_stays(
    asia: serape.Table, tmp_path: Path
) -> None:
    path = tmp_path / "kept.jsonl"
    with cluster() as client:
        table = serape.dask.table(client, asia, split="rows")

        def restart(now: serape.Progress) -> None:
            del now
            if not restarted:
                restarted.append(True)
                client.restart()

        restarted: list[bool] = []
        with pytest.raises(serape.ClusterError, match="has lost this work"):
            skeleton(table, checkpoint=path, progress=restart)
        assert '"target"' in path.read_text()
        again = serape.dask.table(client, asia, split="rows")
        found = skeleton(again, checkpoint=path)
        assert found.edges == skeleton(asia).edges


def test_targets_over_workers_are_lost_with_the_scheduler(asia: serape.Table) -> None:
    from joblib import parallel_config

    expected = serape.stability(asia, "either", draws=20)
    with cluster() as client, parallel_config("dask"):
        timer = Timer(1, client.restart)
        timer.start()
        with pytest.raises(serape.ClusterError, match="has lost this work"):
            serape.stability(asia, "either", draws=1_000_000, n_jobs=2)
        timer.join()
        assert serape.stability(asia, "either", draws=20, n_jobs=2).frequencies == expected.frequencies


def test_a_lost_scheduler_is_one_sentence(asia: serape.Table) -> None:
    with cluster(1) as client:
        table = serape.dask.table(client, asia, split="rows")
        client.cluster.close()
        for _ in range(2):
            with pytest.raises(serape.ClusterError, match="make the table again"):
                serape.markov_blanket(table, "either", algorithm="iamb")
        with pytest.raises(serape.ClusterError, match="scheduler"):
            serape.dask.table(client, asia)


def test_workers_that_run_out_of_memory_are_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    with path.open("w") as file:
        file.write(",".join(f"x{k}" for k in range(20)) + "\n")
        for k in range(30):
            file.write(f"{','.join(str((k * j) % 3) for j in range(20))}\n" * 20_000)
    with (
        cluster(1, memory_limit="240MB") as client,
        pytest.raises(serape.ClusterError, match="killed again and again, perhaps because memory is short"),
    ):
        serape.dask.table(client, path, split="rows")


def fail(error: Exception) -> None:
    raise error


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (MemoryError(), "too little memory"),
        (OSError(28, "No space left on device"), "cannot read or write a file: .* No space left"),
        (ZeroDivisionError("by zero"), "the cluster failed: ZeroDivisionError: by zero"),
    ],
)
def test_errors_of_workers_are_one_sentence(error: Exception, sentence: str) -> None:
    from distributed import Client

    with (
        Client(processes=False, n_workers=1, threads_per_worker=1, dashboard_address=":0") as client,
        pytest.raises(serape.ClusterError, match=sentence),
    ):
        waiting.gathered(client, [waiting.submitted(client, fail, error)])


def test_a_waiting_time_that_is_none_is_refused(client: Any, asia: serape.Table) -> None:
    for bad in (0, -1, True, "long"):
        with pytest.raises(serape.OptionError, match="timeout must be"):
            serape.dask.table(client, asia, timeout=bad)  # type: ignore[arg-type]
