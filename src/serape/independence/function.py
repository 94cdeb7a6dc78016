"""A function of one's own as an independence test.

`function(x, y, z)` is given the values of two columns, as `Table.column` returns them (numbers for continuous columns,
the levels themselves for categorical ones), and a tuple of such arrays for the conditioning set, empty if there is
none: each keeps its own type, and `np.column_stack(z)` makes a matrix of them where all are numbers. The arrays are
read-only. Of the two columns the one that stands first in the table is x, and z is in the table's order, whichever way
an algorithm asks: a function that is not symmetric gives one answer to a question nevertheless.

It returns p, a number from 0 to 1, or (statistic, dof, log p). With p alone, the statistic is −2 ln p with 2 degrees of
freedom, which is the same p. Candidates are ranked by log p, those of one log p by statistic; of two answers about one
pair with the same degrees of freedom, that of the larger statistic is the stronger. Return log p where p would be too
small for a float: p = 0 ranks all that have it alike.

NaN says that the question cannot be answered: the test is not reliable, which shows neither dependence nor
independence, and `notes` tells how often that was so. So do 0 degrees of freedom. Anything else is an error.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from serape.data.table import Table
from serape.errors import DataError, InputTypeError
from serape.independence.base import IndependenceTest
from serape.independence.outcomes import Outcome

TestFunction = Callable[[NDArray[Any], NDArray[Any], tuple[NDArray[Any], ...]], Any]
"""`function(x, y, z)`: returns p, or (statistic, dof, log p)."""

Question = tuple[int, int, tuple[int, ...]]

_ROUNDING = 1e-12  # p may pass 0 and 1 by so much
_MOST_ANSWERS = 1 << 18


class FunctionTest(IndependenceTest):
    """A test made of a function `(x, y, z) -> p` or `-> (statistic, dof, log_p)`. Usable as `data` anywhere.

    `data` is anything a `Table` can be made of. The function is asked each question once, and must be fit to be called
    from several threads if `n_jobs` is not 1. `name` is what results call the test, by default the function's own name.
    """

    def __init__(self, data: Any, function: TestFunction, name: str | None = None) -> None:
        if not callable(function):
            raise InputTypeError(f"an independence test is made of a function (x, y, z) -> p, not of {function!r:.60}")
        self.table = Table(data)
        self.variables = self.table.names
        self.rows = self.table.rows
        self.function = function
        self.name = str(getattr(function, "__name__", type(function).__name__) if name is None else name)
        self._columns: dict[int, NDArray[Any]] = {}
        self._answers: dict[Question, Outcome] = {}
        self._running: dict[Question, threading.Event] = {}
        self._lock = threading.Lock()
        self._unanswered = 0
        self._first_unanswered = ""

    def __reduce__(self) -> tuple[Any, ...]:
        known = ("_noted", "_answers", "_unanswered", "_first_unanswered")
        made_of = (self.table, self.function, self.name)
        with self._lock:
            return type(self), made_of, {name: getattr(self, name) for name in known}

    @property
    def notes(self) -> tuple[str, ...]:
        """What a result should say: whether there were questions the function could not answer."""
        if not self._unanswered:
            return ()
        times = "once" if self._unanswered == 1 else f"{self._unanswered:,} times, first"
        return (f"{self.name!r} returned NaN {times} for {self._first_unanswered}; such tests are not reliable",)

    def rows_per_cell(self, variables: Iterable[int]) -> float:
        """Return the mean number of rows in a cell of the table of the categorical ones of these variables."""
        return self.table.rows / math.prod(max(self.table.levels(v), 1) for v in variables)

    def test(self, x: int, y: int, given: Sequence[int] = ()) -> Outcome:
        """Test X ⊥ Y | given: call the function, if it has not been asked before."""
        first, second = sorted((int(x), int(y)))
        question = first, second, tuple(sorted(map(int, given)))
        while True:
            with self._lock:
                answer = self._answers.get(question)
                if answer is not None:
                    return answer
                running = self._running.get(question)
                if running is None:
                    mine = self._running[question] = threading.Event()
                    break
            running.wait()
        try:
            answer = self._asked(question)
            with self._lock:
                if len(self._answers) >= _MOST_ANSWERS:
                    self._answers.clear()
                self._answers[question] = answer
                if math.isnan(answer.log_p) and answer.dof != 0:
                    self._unanswered += 1
                    self._first_unanswered = self._first_unanswered or self._told(question)
        finally:
            with self._lock:
                del self._running[question]
            mine.set()
        return answer

    def _asked(self, question: Question) -> Outcome:
        x, y, given = question
        columns = self._column(x), self._column(y), tuple(map(self._column, given))
        try:
            returned = self.function(*columns)
        except Exception as error:
            error.add_note(f"This came from the independence test {self.name!r}, asked whether {self._told(question)}.")
            raise
        if isinstance(returned, tuple | list) and len(returned) == 3:
            return self._of_three(question, returned)
        p = _number(returned)
        if p is not None and math.isnan(p):
            return Outcome(math.nan, math.nan, math.nan, reliable=False, rows=self.rows)
        if p is None or not -_ROUNDING <= p <= 1 + _ROUNDING:
            wanted = "p, a number from 0 to 1, or the three numbers (statistic, dof, log p)"
            raise self._refusal(question, wanted, returned)
        log_p = math.log(min(p, 1.0)) if p > 0 else -math.inf
        return Outcome(-2 * log_p, 2.0, log_p, reliable=True, rows=self.rows)

    def _of_three(self, question: Question, returned: Sequence[Any]) -> Outcome:
        statistic, dof, log_p = map(_number, returned)
        if statistic is None or dof is None or log_p is None or statistic < 0 or dof < 0 or log_p > _ROUNDING:
            wanted = "(statistic, dof, log p) with a statistic and dof of 0 or more and a log p of 0 or less"
            raise self._refusal(question, wanted, returned)
        if dof == 0:
            return Outcome(statistic, 0.0, math.nan, reliable=False, rows=self.rows)
        if any(map(math.isnan, (statistic, dof, log_p))):
            return Outcome(statistic, dof, math.nan, reliable=False, rows=self.rows)
        return Outcome(statistic, dof, min(log_p, 0.0), reliable=True, rows=self.rows)

    def _refusal(self, question: Question, wanted: str, returned: Any) -> DataError:
        return DataError(
            f"the independence test {self.name!r} must return {wanted}, but returned {returned!r:.80} when asked "
            f"whether {self._told(question)}"
        )

    def _told(self, question: Question) -> str:
        x, y, given = question
        told = f"{self.variables[x]!r} ⊥ {self.variables[y]!r}"
        return f"{told} | {', '.join(repr(self.variables[z]) for z in given)}" if given else told

    def _column(self, k: int) -> NDArray[Any]:
        column = self._columns.get(k)
        if column is None:
            column = self.table.column(k).view()
            column.flags.writeable = False
            self._columns[k] = column
        return column


def _number(value: Any) -> float | None:
    """Return a number of Python or NumPy as a float; None for anything else, truth values included."""
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    if isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool):
        return float(value)
    return None
