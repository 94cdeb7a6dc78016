"""Waiting for the workers of a Dask cluster: for a limited time, and with one sentence for whatever goes wrong."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import Future, wait
from typing import Any

from serape.errors import ClusterError, SerapeError, one_line
from serape.independence.outcomes import Poll

TIMEOUT = 600.0
"""Seconds for which a cluster may finish nothing, unless the caller says otherwise."""
POLL = 0.2
"""Seconds between two looks at whether the caller wants to stop."""
_REPLY = 5.0  # seconds for a scheduler that is asked why it is silent
_CLOSED = ("closing", "closed")  # states of a client
_ALIVE = 10.0  # seconds: a worker that lives is heard of more often


def submitted(client: Any, function: Callable[..., Any], *arguments: Any) -> Any:
    """Start a task."""
    try:
        return client.submit(function, *arguments, pure=False)
    except Exception as error:
        raise readable(error, client) from None


def gathered(client: Any, tasks: Sequence[Any], poll: Poll | None = None, timeout: float | None = TIMEOUT) -> list[Any]:
    """Return the results of tasks; a failure is one sentence, and whatever ends the waiting cancels them."""
    try:
        results = _begun(client, client.gather(list(tasks), asynchronous=True))
        try:
            _wait_for(client, results, tasks, poll, timeout)
            return list(results.result())
        except BaseException:
            with contextlib.suppress(ClusterError):  # the client may be closed
                wait([_begun(client, client.cancel(list(tasks), force=True, asynchronous=True))], _REPLY)
            wait([results], _REPLY)  # it ends with the tasks
            results.cancel()
            raise
    except SerapeError:
        raise
    except Exception as error:
        raise readable(error, client) from None


def number_of_threads(client: Any, timeout: float | None = TIMEOUT) -> int:
    """Return how many threads the workers of a cluster have."""
    try:
        answer = _begun(client, client.scheduler.ncores())
        if not wait([answer], timeout).done:
            answer.cancel()
            raise ClusterError(_NO_SCHEDULER)
        return int(sum(answer.result().values()))
    except SerapeError:
        raise
    except Exception as error:
        raise readable(error, client) from None


def _begun(client: Any, coroutine: Coroutine[Any, Any, Any]) -> Future[Any]:
    """Start a coroutine in the thread of the client."""
    loop = client.loop.asyncio_loop
    if client.status in _CLOSED or not loop.is_running():
        coroutine.close()
        raise ClusterError(_NO_CONNECTION)
    return asyncio.run_coroutine_threadsafe(coroutine, loop)


def _wait_for(
    client: Any, results: Future[Any], tasks: Sequence[Any], poll: Poll | None, timeout: float | None
) -> None:
    """Wait for results; refuse to wait longer if no task is finished for too long."""
    finished, since = 0, time.monotonic()
    while not wait([results], POLL).done:
        if poll is not None:
            poll()
        if client.status in _CLOSED:
            raise ClusterError(_NO_CONNECTION)
        now = sum(task.done() for task in tasks)
        if now != finished:
            finished, since = now, time.monotonic()
        if timeout is not None and time.monotonic() - since > timeout:
            raise ClusterError(_why_silent(client, timeout))


def _why_silent(client: Any, timeout: float) -> str:
    """Return, as a sentence, what is likely to keep a cluster from finishing anything."""
    answer = _begun(client, client.scheduler.identity())
    if not wait([answer], _REPLY).done:
        answer.cancel()
        return _NO_SCHEDULER
    if answer.exception() is not None:
        return _NO_CONNECTION
    workers = answer.result()["workers"]
    if not workers:
        return "the cluster has no workers any more; start some, and make the table again"
    begin = f"the cluster has finished nothing for {timeout:g} s"
    paused = [address for address, worker in workers.items() if worker["status"] == "paused"]
    if paused:
        return f"{begin}: worker {paused[0]} waits because its memory is short; use more workers, or smaller parts"
    silent = {address: time.time() - worker["last_seen"] for address, worker in workers.items()}
    address = max(silent, key=silent.__getitem__)
    if silent[address] > _ALIVE:
        return f"{begin}: worker {address} does not answer; end it, and ask again"
    return f"{begin}; ask again, and pass a longer timeout if its workers are only slow"


_NO_SCHEDULER = "the cluster's scheduler does not answer; see whether it runs"
_NO_CONNECTION = "the connection to the cluster's scheduler is lost; see whether it runs, and make the table again"
_LOST = "the cluster has lost this work, perhaps because its scheduler was started again; make the table again"
_KNOWN = {
    "KilledWorker": "a worker of the cluster was killed again and again, perhaps because memory is short; use more "
    "workers, or smaller parts",
    "CancelledError": _LOST,
    "FutureCancelledError": _LOST,
    "CommClosedError": _NO_CONNECTION,
    "ClosedClientError": _NO_CONNECTION,
    "TimeoutError": _NO_SCHEDULER,
}


def readable(error: Exception, client: Any) -> ClusterError:
    """Return an error of Dask as one sentence."""
    if client.status != "running":
        return ClusterError(_NO_CONNECTION)
    for kind in type(error).__mro__:
        if kind.__name__ in _KNOWN:
            return ClusterError(_KNOWN[kind.__name__])
    if isinstance(error, OSError):
        return ClusterError(f"a worker of the cluster cannot read or write a file: {one_line(error)}")
    if isinstance(error, MemoryError):
        return ClusterError("a worker of the cluster has too little memory; use more workers, or smaller parts")
    return ClusterError(f"the cluster failed: {type(error).__name__}: {one_line(error)}")
