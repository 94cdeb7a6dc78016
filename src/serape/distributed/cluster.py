"""The shards of a table on the workers of a Dask cluster, and the rounds in which they are asked.

In one round every shard gets at most two tasks: one lends the columns that others need, the other answers. Questions
that several threads ask while a round is under way travel together in the next one.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from threading import Condition
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from serape.distributed import shards
from serape.distributed.shards import Borrowed, SentPositions, ShardQuestion
from serape.distributed.waiting import POLL, gathered, submitted
from serape.independence.outcomes import Poll

MANY_COLUMNS = 1000
"""Tables of more columns, and of fewer rows than a thousand times the columns, are split by columns."""


def is_wide(rows: int, columns: int) -> bool:
    """Return whether a table is split by columns rather than by rows, if nobody says how."""
    return columns > MANY_COLUMNS and rows < 1000 * columns


@dataclass
class Traffic:
    """What was sent: rounds, tasks, and bytes to the workers, from them, and between them."""

    rounds: int = 0
    tasks: int = 0
    sent: int = 0
    received: int = 0
    lent: int = 0

    def __str__(self) -> str:
        return (
            f"{self.rounds:,} rounds, {self.tasks:,} tasks, {self.sent:,} bytes sent, {self.received:,} received, "
            f"{self.lent:,} between workers"
        )


class Asked(NamedTuple):
    """A question to all shards that hold its candidates."""

    function: Callable[..., Any]
    """What the workers call: it takes the shard, a list of questions, the settings and borrowed columns."""
    target: int
    candidates: NDArray[np.uint32]
    given: tuple[int, ...]
    settings: tuple[Any, ...] = ()


class ShardAnswer(NamedTuple):
    """What one shard answered: the places of its candidates in the question, and the answer."""

    places: NDArray[np.intp]
    answer: Any


class Cluster:
    """Shards by part of the rows and block of columns; every question to workers goes through here."""

    def __init__(
        self,
        client: Any,
        grid: Sequence[Sequence[Any]],
        starts: Sequence[int],
        rows: Sequence[int],
        timeout: float | None,
    ) -> None:
        self.client = client
        self.timeout = timeout
        """Seconds after which a round ends in which no task is finished."""
        self.grid = grid
        """Futures of shards, by part of the rows and block of columns."""
        self.starts = list(starts)
        """The first column of each block, and one more than the last column."""
        self.rows = list(rows)
        """By part, its rows."""
        self.traffic = Traffic()
        self._changed = Condition()
        self._queue: list[_Waiting] = []
        self._is_busy = False

    @property
    def blocks(self) -> int:
        """The number of blocks of columns."""
        return len(self.starts) - 1

    def block_of(self, position: int) -> int:
        """Return the block that holds a column."""
        return bisect_right(self.starts, position) - 1

    # --- asking ---------------------------------------------------------------------------------------------------

    def ask(self, asked: Sequence[Asked], poll: Poll | None = None) -> list[list[list[ShardAnswer]]]:
        """Return the answers to questions, by question, part of the rows and shard that holds candidates."""
        mine = _Waiting(asked)
        with self._changed:
            self._queue.append(mine)
            while self._is_busy and not mine.is_done:
                self._changed.wait(POLL)
                if poll is not None and not mine.is_done:
                    poll()
            if mine.is_done:
                return mine.result()
            self._is_busy = True
            together, self._queue = self._queue, []
        try:
            self._answer(together, poll)
        finally:
            with self._changed:
                self._is_busy = False
                for one in together:
                    one.is_done = True
                self._changed.notify_all()
        return mine.result()

    def _answer(self, together: Sequence[_Waiting], poll: Poll | None) -> None:
        every = [asked for one in together for asked in one.asked]
        try:
            found = self._round(every, poll)
        except BaseException as error:
            for one in together:
                one.error = error
            raise
        begin = 0
        for one in together:
            one.found = found[begin : begin + len(one.asked)]
            begin += len(one.asked)

    def _round(self, every: Sequence[Asked], poll: Poll | None) -> list[list[list[ShardAnswer]]]:
        """Send questions to the shards: those of one function and settings to one shard in one task."""
        needed = sorted({x for asked in every for x in (asked.target, *asked.given)})
        waiting: list[tuple[Any, int, list[tuple[int, NDArray[np.intp]]]]] = []  # task, part, questions and places
        sent = 0
        for part in range(len(self.grid)):
            lent = self.lend(part, needed) if self.blocks > 1 else []  # otherwise each shard has all columns
            for block in range(self.blocks):
                groups: dict[tuple[Any, ...], list[tuple[int, NDArray[np.intp]]]] = {}
                for k, asked in enumerate(every):
                    places = self._places(asked.candidates, block)
                    if len(places) or (len(asked.candidates) == 0 and block == 0):
                        groups.setdefault((asked.function, asked.settings), []).append((k, places))
                for (function, settings), own in groups.items():
                    questions = [
                        ShardQuestion(every[k].target, SentPositions.of(every[k].candidates[places]), every[k].given)
                        for k, places in own
                    ]
                    sent += sum(q.candidates.nbytes + 4 * (1 + len(q.given)) for q in questions)
                    task = self.submit(function, self.grid[part][block], questions, *settings, *lent)
                    waiting.append((task, part, own))
        answers = self.gather([task for task, _, _ in waiting], poll)
        found: list[list[list[ShardAnswer]]] = [[[] for _ in self.grid] for _ in every]
        for (_, part, own), of_task in zip(waiting, answers, strict=True):
            for (k, places), answer in zip(own, of_task, strict=True):
                found[k][part].append(ShardAnswer(places, answer))
                self.traffic.received += answer.nbytes
        self.traffic.sent += sent
        return found

    def _places(self, candidates: NDArray[np.uint32], block: int) -> NDArray[np.intp]:
        low, high = self.starts[block], self.starts[block + 1]
        return np.flatnonzero((candidates >= low) & (candidates < high))

    def lend(self, part: int, needed: Sequence[int]) -> list[Any]:
        """Return futures of the columns that shards of a part of the rows borrow."""
        by_block: dict[int, list[int]] = {}
        for x in needed:
            by_block.setdefault(self.block_of(x), []).append(x)
        self.traffic.lent += len(needed) * self.rows[part] * (self.blocks - 1)  # a byte per value, at most
        return [
            self.submit(shards.lend, self.grid[part][block], tuple(positions)) for block, positions in by_block.items()
        ]

    # --- tasks ----------------------------------------------------------------------------------------------------

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Start a task."""
        self.traffic.tasks += 1
        return submitted(self.client, function, *arguments)

    def gather(self, tasks: Sequence[Any], poll: Poll | None = None) -> list[Any]:
        """Return the results of tasks: the end of a round."""
        self.traffic.rounds += 1
        return gathered(self.client, tasks, poll, self.timeout)

    def columns(self, positions: Sequence[int], poll: Poll | None = None) -> list[list[Borrowed]]:
        """Return columns, by part of the rows."""
        tasks = [self.lend(part, positions) for part in range(len(self.grid))]
        flat = iter(self.gather([task for own in tasks for task in own], poll))
        found = [[next(flat) for _ in own] for own in tasks]
        self.traffic.received += sum(one.table.nbytes for own in found for one in own)
        return found


class _Waiting:
    """Questions of one thread."""

    def __init__(self, asked: Sequence[Asked]) -> None:
        self.asked = asked
        self.found: list[list[list[ShardAnswer]]] = []
        self.error: BaseException | None = None
        self.is_done = False

    def result(self) -> list[list[list[ShardAnswer]]]:
        """Return the answers, or raise the error that ended the round."""
        if self.error is not None:
            raise self.error
        return self.found
