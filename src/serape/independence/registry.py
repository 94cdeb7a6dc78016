"""The independence tests by name, and the default test for each kind of data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from serape.data.table import Table
from serape.data.variables import position_of
from serape.engines.gpu.choice import ProgressSetting
from serape.errors import OptionError, abbreviate
from serape.independence.base import IndependenceTest
from serape.independence.contingency import check_rules
from serape.independence.g2 import G2
from serape.independence.gcm import GCM
from serape.independence.mixed import ConditionalGaussian
from serape.independence.on_engine import on_engine
from serape.independence.pairwise import Pairwise
from serape.independence.partial_correlation import CorrelationTest, FisherZ, NormalScores, PartialCorrelation, Spearman
from serape.independence.pcm import PCM
from serape.independence.permutation import Permutation
from serape.independence.regression import RegressionTest
from serape.independence.residuals import MonotoneResiduals, Residuals
from serape.independence.semiparametric import SemiParametric
from serape.independence.shrinkage import ShrunkenG2
from serape.independence.survey import weighted_contingency, weights_refused
from serape.independence.trend import Trend
from serape.independence.x2 import X2
from serape.independence.x2_moments import X2Moments
from serape.names import match, unknown
from serape.settings import FIELDS, DataSettings, Settings
from serape.types import DofRule, EngineName, ReliabilityRule
from serape.wording import setting

ColumnKinds = Literal["categorical", "any"]


@dataclass(frozen=True, slots=True)
class Rules:
    """Settings of tests: of those in contingency tables, and the seed of those that draw random numbers."""

    dof: DofRule = "auto"
    reliability: ReliabilityRule = "dof"
    minimum: float = 5.0
    seed: int = 0


@dataclass(frozen=True, slots=True)
class TestEntry:
    """A named independence test."""

    name: str
    make: Callable[[Table, Rules], IndependenceTest]
    has_rules: bool = False
    """Whether it uses `dof` and `reliability`."""
    default_for: ColumnKinds | None = None
    """The kinds of columns for which "auto" means this test."""
    weighted: Callable[[Table, Rules], IndependenceTest] | None = None
    """Makes it on a table whose rows have weights, if it can take them."""
    uses_groups: bool = False
    """Whether it takes account of groups of rows."""
    uses_seed: bool = False
    """Whether it draws random numbers."""
    adds_up: Literal["counts", "products"] | None = None
    """What parts of the rows send, if its answers are made of sums over the rows."""
    given_blankets: str | None = None
    """The test whose p-values are right given whole blankets, where its own are not."""


def _correlation(made: type[CorrelationTest], adds_up: Literal["products"] | None = None) -> TestEntry:
    return TestEntry(made.name, lambda t, _: made(t), weighted=lambda t, _: made(t), adds_up=adds_up)


_ALL = (
    TestEntry(
        "g2",
        lambda t, r: G2(t, r.dof, r.reliability, r.minimum),
        has_rules=True,
        default_for="categorical",
        adds_up="counts",
        given_blankets="x2-moments",
        weighted=lambda t, r: weighted_contingency(t, "g2", r.dof, r.reliability, r.minimum),
    ),
    TestEntry(
        "x2",
        lambda t, r: X2(t, r.dof, r.reliability, r.minimum),
        has_rules=True,
        adds_up="counts",
        weighted=lambda t, r: weighted_contingency(t, "x2", r.dof, r.reliability, r.minimum),
    ),
    _correlation(FisherZ),
    _correlation(PartialCorrelation, "products"),
    _correlation(Spearman),
    _correlation(NormalScores),
    TestEntry("residuals", lambda t, _: Residuals(t), default_for="any", weighted=lambda t, _: Residuals(t)),
    TestEntry("monotone-residuals", lambda t, _: MonotoneResiduals(t), weighted=lambda t, _: MonotoneResiduals(t)),
    TestEntry("mixed", lambda t, _: ConditionalGaussian(t)),
    TestEntry("regression", lambda t, _: RegressionTest(t)),
    TestEntry("trend", lambda t, _: Trend(t)),
    TestEntry("g2-permutation", lambda t, r: Permutation(t, "g2", seed=r.seed), uses_groups=True, uses_seed=True),
    TestEntry("g2-semiparametric", lambda t, r: SemiParametric(t, seed=r.seed), uses_groups=True, uses_seed=True),
    TestEntry("x2-moments", lambda t, _: X2Moments(t)),
    TestEntry("g2-shrinkage", lambda t, r: ShrunkenG2(t, r.dof, r.reliability, r.minimum), has_rules=True),
    TestEntry(
        "correlation-permutation",
        lambda t, r: Permutation(t, "correlation", seed=r.seed),
        uses_groups=True,
        uses_seed=True,
    ),
    TestEntry("gcm", lambda t, r: GCM(t, random_state=r.seed), uses_seed=True),
    TestEntry("pcm", lambda t, r: PCM(t, random_state=r.seed), uses_seed=True),
)
TESTS = {entry.name: entry for entry in _ALL}
_FEW_ROWS = "x2-moments"
_DEFAULTS = {entry.default_for: entry.name for entry in _ALL if entry.default_for is not None}


def find_test(name: object) -> str:
    """Return the name of a test, or "auto", matched without regard to case, `-` and `_`."""
    known = ("auto", *TESTS)
    found = match(name, known)
    if found is None:
        raise OptionError(unknown("test", name, known))
    return found


def seed_of(test: object, random_state: int | np.random.Generator | None) -> int:
    """Return the seed of a test of this name: the caller's, or one drawn by the caller's generator; 0 if there is none.

    Nothing is drawn for a test without random numbers.
    """
    entry = TESTS.get(find_test(test))
    if random_state is None or entry is None or not entry.uses_seed:
        return 0
    return int(random_state.integers(1 << 32) if isinstance(random_state, np.random.Generator) else random_state)


def make_test(
    data: Any,
    test: str = "auto",
    dof: DofRule = "auto",
    reliability: ReliabilityRule = "dof",
    minimum: float = 5.0,
    settings: DataSettings | None = None,
    few_rows: bool = False,
    seed: int = 0,
    engine: EngineName = "cpu",
    progress: ProgressSetting = False,
) -> IndependenceTest:
    """Return the independence test of a name on data; a test passed as data is returned unchanged.

    If `few_rows`, "auto" may be a test for few rows. `seed` is that of tests that draw random numbers.
    """
    check_rules(dof, reliability)
    name = find_test(test)
    if isinstance(data, IndependenceTest):
        return data
    table = Table.of(data, settings)
    reason = ""
    if name == "auto":
        name, reason = chosen_test(table)
        if few_rows and name == _DEFAULTS["categorical"] and small_table(table):
            name, reason = _FEW_ROWS, f"{len(table.names)} columns have {table.rows} rows"
    recipe = Recipe(name, Rules(dof, reliability, minimum, seed))
    if table.remote is not None:
        found: IndependenceTest = table.remote.test(recipe)
    else:
        found = Pairwise(table, recipe.make) if table.missing else recipe.make(table)
    if reason:
        found.note(f"test {name!r} was chosen because {reason}")
    if table.groups is not None and not TESTS[name].uses_groups:
        found.note(f"test {name!r} treats the rows of a group as independent, so its p-values may be too small")
    return on_engine(found, engine, progress)


@dataclass(frozen=True, slots=True)
class Recipe:
    """A named test with its settings, to be made on any table."""

    name: str
    rules: Rules

    @property
    def uses_seed(self) -> bool:
        """Whether the test draws random numbers."""
        return TESTS[self.name].uses_seed

    @property
    def adds_up(self) -> Literal["counts", "products"] | None:
        """What parts of the rows send, if the answers are made of sums over the rows."""
        return TESTS[self.name].adds_up

    def make(self, table: Table) -> IndependenceTest:
        """Return the test on a table."""
        entry = TESTS[self.name]
        if table.weights is None:
            return entry.make(table, self.rules)
        if entry.weighted is None:
            raise weights_refused(table, self.name, [other.name for other in _ALL if other.weighted is not None])
        return entry.weighted(table, self.rules)


def small_table(table: Table) -> bool:
    """Return whether searches by G² find too many members: up to 100 rows and more than 500 columns.

    With so few rows most tests of G² are skipped, and a skipped test removes no variable. With so many columns, many
    enter by chance (docs/few-rows.md).
    """
    return table.rows <= 100 and len(table.names) > 500 and table.weights is None


def chosen_test(table: Table) -> tuple[str, str]:
    """Return the default test for the kinds of a table's columns, and the reason; "" if all are categorical.

    It is "g2" if all columns are categorical, and "residuals" otherwise.
    """
    used = table.searched
    continuous = [table.names[k] for k in table.continuous if k not in table.identifiers]
    if not continuous:
        return _DEFAULTS["categorical"], ""
    if len(continuous) == len(used):
        return _DEFAULTS["any"], "all columns are continuous"
    return _DEFAULTS["any"], f"{len(continuous)} of {len(used)} columns are continuous: {abbreviate(continuous)}"


def refuse_beside_test(test: IndependenceTest, settings: Settings) -> None:
    """Refuse settings of the test, or of reading data, if the data are an independence test."""
    of_test = {name: getattr(settings.search, name) for name in ("test", "dof", "reliability")}
    given = {name: value for name, value in of_test.items() if value != FIELDS[name].default}
    given |= {name: getattr(settings.data, name) for name in settings.data.given()}
    for name, value in given.items():
        raise OptionError(
            f"the data are an independence test already ({test.name!r}), so {setting(name, value)} has no effect; "
            f"leave it out, or pass the table"
        )


def table_of(test: IndependenceTest) -> Table | None:
    """Return the table behind a test, if there is one."""
    table = getattr(test, "table", None)
    return table if isinstance(table, Table) else None


def has_rows(test: IndependenceTest) -> bool:
    """Return whether a test is on rows of data, here or elsewhere, and so can be wrong."""
    return test.on_rows or table_of(test) is not None


def searched(test: IndependenceTest) -> Sequence[int]:
    """Return the positions of the variables of a test that take part in searches: all but identifiers."""
    table = table_of(test)
    return range(len(test.variables)) if table is None else table.searched


def position(test: IndependenceTest, variable: object) -> int:
    """Return the position of a variable, given by name or position, among a test's variables."""
    table = table_of(test)
    if table is not None:
        return table.position(variable)
    return position_of(variable, test.variables, {name: k for k, name in enumerate(test.variables)})


__all__ = [
    "TESTS",
    "Recipe",
    "Rules",
    "TestEntry",
    "chosen_test",
    "find_test",
    "has_rows",
    "make_test",
    "position",
    "refuse_beside_test",
    "searched",
    "seed_of",
    "small_table",
    "table_of",
]
