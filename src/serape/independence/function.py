"""A user's own function as an independence test.

`function(x, y, z)` receives the values of two columns, as `Table.column` returns them (numbers for continuous columns,
levels for categorical ones), and a tuple of such arrays for the conditioning set; the tuple is empty if there is none.
Each array keeps its own type; `np.column_stack(z)` makes a matrix of them if all are numbers. The arrays are read-only.
Of the two columns, x is the one that comes first in the table, and z is in the table's order, whatever the order of the
algorithm's question. So even a function that is not symmetric gives one answer to each question.

The function returns p, a number from 0 to 1, or (statistic, dof, log p). With p alone, the statistic is −2 ln p with 2
degrees of freedom, which gives the same p. Candidates are ranked by log p, and by statistic where log p ties; of two
answers about one pair with the same degrees of freedom, the one with the larger statistic is stronger. Return log p
where p would be too small for a float: candidates with p = 0 all tie.

NaN means that the question has no answer: the test is not reliable and shows neither dependence nor independence, and
`notes` reports how often this happened. 0 degrees of freedom mean the same. Any other return value is an error.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from serape.data.table import Table
from serape.errors import DataError, InputTypeError, shown
from serape.independence.base import IndependenceTest
from serape.independence.outcomes import Outcome
from serape.wording import setting

TestFunction = Callable[[NDArray[Any], NDArray[Any], tuple[NDArray[Any], ...]], Any]
"""`function(x, y, z)`: returns p, or (statistic, dof, log p)."""

AskedTest = tuple[int, int, tuple[int, ...]]

_ROUNDING = 1e-12  # by how much p may lie outside 0 to 1
_MAX_ANSWERS = 1 << 18


class FunctionTest(IndependenceTest):
    """A test made of a function. It can be passed as `data`.

    Parameters
    ----------
    data
        Anything a `Table` can be made of.
    function
        `function(x, y, z)` returns p, or (statistic, dof, log p). x and y are columns, z is a tuple of columns. It is
        called once for each question, and must be thread-safe if `n_jobs` is not 1. docs/extending.md has more.
    name
        The name of the test in results, by default that of the function.

    Examples
    --------
    >>> from scipy.stats import spearmanr
    >>> def ranks(x, y, z):
    ...     return spearmanr(x, y).pvalue
    >>> numbers = np.random.default_rng(0).normal(size=(100, 2)).cumsum(axis=1)
    >>> serape.ci_test(serape.FunctionTest(numbers, ranks), "x0", "x1").p < 0.001
    True
    """

    made_of: ClassVar[tuple[str, ...] | None] = ("function",)
    of_caller = True

    def __init__(self, data: Any, function: TestFunction, name: str | None = None) -> None:
        if not callable(function):
            raise InputTypeError(f"FunctionTest needs a function (x, y, z) -> p, not {shown(function)}")
        self.table = Table(data)
        if self.table.weights is not None:
            raise DataError(f"a function takes no weights; leave out {setting('sample_weight')}")
        self.variables = self.table.names
        self.rows = self.table.rows
        self.function = function
        self.name = str(getattr(function, "__name__", type(function).__name__) if name is None else name)
        self._columns: dict[int, NDArray[Any]] = {}
        self._answers: dict[AskedTest, Outcome] = {}
        self._running: dict[AskedTest, threading.Event] = {}
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
        """How often the function had no answer, for a result to report."""
        if not self._unanswered:
            return ()
        times = "once" if self._unanswered == 1 else f"{self._unanswered:,} times, first"
        return (f"{self.name!r} returned NaN {times} for {self._first_unanswered}; such tests are not reliable",)

    def rows_per_cell(self, variables: Iterable[int]) -> float:
        """Return the mean number of rows per cell of the table of the variables that are categorical."""
        return self.table.rows / math.prod(max(self.table.levels(v), 1) for v in variables)

    def test(self, x: int, y: int, given: Sequence[int] = ()) -> Outcome:
        """Test X ⊥ Y | given: call the function, unless the answer is known."""
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
            answer = self._call(question)
            with self._lock:
                if len(self._answers) >= _MAX_ANSWERS:
                    self._answers.clear()
                self._answers[question] = answer
                if math.isnan(answer.log_p) and answer.dof != 0:
                    self._unanswered += 1
                    self._first_unanswered = self._first_unanswered or self._statement(question)
        finally:
            with self._lock:
                del self._running[question]
            mine.set()
        return answer

    def _call(self, question: AskedTest) -> Outcome:
        x, y, given = question
        columns = self._column(x), self._column(y), tuple(map(self._column, given))
        try:
            returned = self.function(*columns)
        except Exception as error:
            error.add_note(
                f"The independence test {self.name!r} raised this when asked whether {self._statement(question)}."
            )
            raise
        if isinstance(returned, tuple | list) and len(returned) == 3:
            return self._from_triple(question, returned)
        p = _number(returned)
        if p is not None and math.isnan(p):
            return Outcome(math.nan, math.nan, math.nan, reliable=False, rows=self.rows)
        if p is None or not -_ROUNDING <= p <= 1 + _ROUNDING:
            wanted = "p, a number from 0 to 1, or the three numbers (statistic, dof, log p)"
            raise self._refusal(question, wanted, returned)
        log_p = math.log(min(p, 1.0)) if p > 0 else -math.inf
        return Outcome(-2 * log_p, 2.0, log_p, reliable=True, rows=self.rows)

    def _from_triple(self, question: AskedTest, returned: Sequence[Any]) -> Outcome:
        statistic, dof, log_p = map(_number, returned)
        if statistic is None or dof is None or log_p is None or statistic < 0 or dof < 0 or log_p > _ROUNDING:
            wanted = "(statistic, dof, log p) with a statistic and dof of 0 or more and a log p of 0 or less"
            raise self._refusal(question, wanted, returned)
        if dof == 0:
            return Outcome(statistic, 0.0, math.nan, reliable=False, rows=self.rows)
        if any(map(math.isnan, (statistic, dof, log_p))):
            return Outcome(statistic, dof, math.nan, reliable=False, rows=self.rows)
        return Outcome(statistic, dof, min(log_p, 0.0), reliable=True, rows=self.rows)

    def _refusal(self, question: AskedTest, wanted: str, returned: Any) -> DataError:
        return DataError(
            f"the independence test {self.name!r} must return {wanted}, but returned {returned!r:.80} when asked "
            f"whether {self._statement(question)}"
        )

    def _statement(self, question: AskedTest) -> str:
        x, y, given = question
        pair = f"{self.variables[x]!r} ⊥ {self.variables[y]!r}"
        return f"{pair} | {', '.join(repr(self.variables[z]) for z in given)}" if given else pair

    def _column(self, k: int) -> NDArray[Any]:
        column = self._columns.get(k)
        if column is None:
            column = self.table.column(k).view()
            column.flags.writeable = False
            self._columns[k] = column
        return column


def _number(value: Any) -> float | None:
    """Return a Python or NumPy number as a float; None for anything else, truth values included."""
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    if isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool):
        return float(value)
    return None
