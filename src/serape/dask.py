"""Tables on the workers of a Dask cluster, for data that are too large, or searches too long, for one machine.

`table` puts data on the workers; the result is passed to any question like other data. See docs/cluster.md.
"""

from __future__ import annotations

import logging
from importlib.util import find_spec
from typing import Any, Literal, Unpack

from serape._keywords import Keywords
from serape.distributed.reading import table_on_cluster
from serape.distributed.table import ClusterTable
from serape.distributed.waiting import TIMEOUT
from serape.errors import ClusterError, MissingLibraryError, OptionError, is_integer, one_line, shown
from serape.progress import Sayer, StatusLine, progress_callback
from serape.settings import Settings, check_options

__all__ = ["ClusterTable", "connect", "table"]

if find_spec("distributed") is None:
    raise MissingLibraryError("serape.dask needs Dask; run: pip install 'serape[dask]'")


def connect(address: str | None = None, workers: int | None = None) -> Any:
    """Return a Dask client: of the cluster at an address, or of so many new worker processes on this machine.

    Dask can do more: `dask.distributed` has clusters of many kinds, and any client serves.

    Parameters
    ----------
    address
        The address of a scheduler, such as "tcp://10.0.0.1:8786".
    workers
        The number of processes to start, each with one thread; two if no address is given either.
    """
    from distributed import Client, LocalCluster

    logging.getLogger("distributed.client").setLevel(logging.CRITICAL)  # a lost connection is an error of the question
    if address is None:
        try:
            own = LocalCluster(
                n_workers=workers or 2, threads_per_worker=1, dashboard_address=":0", silence_logs=logging.CRITICAL
            )
        except RuntimeError as error:
            raise ClusterError(
                f"worker processes cannot be started ({one_line(error)}); call connect in a file, below "
                f"if __name__ == '__main__':"
            ) from None
        return Client(own, direct_to_workers=True)  # answers need not pass through the scheduler
    try:
        return Client(address, timeout=_CONNECTING)
    except (OSError, ValueError) as error:
        raise OptionError(f"no Dask scheduler answers at {address!r} ({one_line(error)}); is it running?") from None


_CONNECTING = 10  # seconds until a scheduler must answer


def table(
    client: Any,
    source: Any,
    split: Literal["auto", "rows", "columns", "both"] = "auto",
    parts: int | None = None,
    timeout: float | None = TIMEOUT,
    **settings: Unpack[Keywords],
) -> ClusterTable:
    """Put a table on the workers of a Dask cluster, and return it for use as data in every question.

    Workers read their parts themselves, so that a part that is lost with its worker is read again.

    Parameters
    ----------
    client
        A `dask.distributed.Client`.
    source
        A Dask frame; the path of a file or a pattern such as "data/*.parquet"; a list of paths; a packed file; or a
        table, frame or array of this process. All workers must be able to read the files.
    split
        "rows" gives each worker some rows, "columns" some columns, "both" some rows of some columns. "auto" splits
        columns if there are more than a thousand, unless the rows are a thousand times as many.
    parts
        How many parts to make; by default as many as the workers have threads. Files and the partitions of a Dask frame
        are parts already if rows are split.
    timeout
        Seconds for which the cluster may finish nothing before a question ends with a `ClusterError`; None waits
        without end.
    """
    from distributed import Client

    if not isinstance(client, Client):
        raise OptionError(f"client must be a dask.distributed.Client, not {shown(client)}")
    if parts is not None and (not is_integer(parts) or parts < 1):
        raise OptionError(f"parts must be a positive number, not {shown(parts)}")
    if timeout is not None and (isinstance(timeout, bool) or not isinstance(timeout, int | float) or not timeout > 0):
        raise OptionError(f"timeout must be a positive number of seconds, or None, not {shown(timeout)}")
    asked = Settings.of(**settings)
    check_options("table", asked.options, ["client", "source", "split", "parts", "timeout"])
    callback = progress_callback(asked.run.progress, "Ctrl-C stops")
    try:
        return table_on_cluster(client, source, split, parts, asked.data, Sayer(callback, "reading"), timeout)
    finally:
        if isinstance(callback, StatusLine):
            callback.close()
