"""The native core: packed columns, counting, statistics."""

from collections.abc import Sequence
from typing import Annotated, Any, Final, overload

import numpy
import numpy.typing
from numpy.typing import NDArray


MAX_LEVELS: int = 65536

MAX_ROWS: int = 2147483000

PLANE_LEVELS: int = 8

def checksum(bytes: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> int:
    """The checksum of packed files."""

class PackedTable:
    """Discrete columns, packed for counting."""

    def __init__(self, rows: int) -> None: ...

    @staticmethod
    def borrow(rows: int, name: str, levels: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], totals: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], checksums: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], planes: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], narrow: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], wide: Annotated[NDArray[numpy.uint16], dict(shape=(None,), order='C', device='cpu', writable=False)], trusted: bool = False) -> PackedTable:
        """
        A table that uses columns in place, in arrays that it keeps; each is verified on first use, unless they are trusted.
        """

    @property
    def rows(self) -> int: ...

    @property
    def columns(self) -> int: ...

    def counted_rows(self) -> int:
        """
        The number of rows that are read to count all: that of the distinct rows, which are made now, if they are few.
        """

    @property
    def nbytes(self) -> int:
        """Bytes held, derived layouts included."""

    @property
    def planes(self) -> Annotated[NDArray[numpy.uint64], dict(shape=(None,), writable=False)]: ...

    @property
    def narrow(self) -> Annotated[NDArray[numpy.uint8], dict(shape=(None,), writable=False)]: ...

    @property
    def wide(self) -> Annotated[NDArray[numpy.uint16], dict(shape=(None,), writable=False)]: ...

    @property
    def totals(self) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,), writable=False)]: ...

    def checksums(self) -> Annotated[NDArray[numpy.uint64], dict(shape=(None,))]:
        """By column, the checksum of its planes or codes."""

    def all_levels(self) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,))]:
        """By column, its number of levels."""

    def verify(self, column: int) -> None:
        """Refuse a column whose stored content is wrong."""

    def reserve_planes(self, planes: int) -> None: ...

    @overload
    def append(self, codes: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], levels: int) -> None: ...

    @overload
    def append(self, codes: Annotated[NDArray[numpy.uint16], dict(shape=(None,), order='C', device='cpu', writable=False)], levels: int) -> None: ...

    def append_block(self, codes: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), device='cpu', writable=False)], levels: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    def append_ones(self, ones: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    def levels(self, column: int) -> int: ...

    def first_copies(self) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,))]:
        """For every column, the first that divides the rows alike."""

    def column_hashes(self) -> Annotated[NDArray[numpy.uint64], dict(shape=(None,))]:
        """
        A hash of every column, the same for columns that divide the rows alike, also in other tables.
        """

    def codes(self, column: int) -> Annotated[NDArray[numpy.uint16], dict(shape=(None,))]: ...

class ScreenAnswers:
    """The answers of a screen of contingency tables."""

    def __init__(self, statistic: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], dof: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], reliable: Annotated[NDArray[numpy.bool_], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    def __len__(self) -> int: ...

    @property
    def performed(self) -> int:
        """How many are reliable: the others were not performed."""

    def arrays(self) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.bool_], dict(shape=(None,))]]:
        """Statistics, degrees of freedom, and which are reliable."""

    def strongest(self) -> tuple[list[int], float]:
        """
        Indices of the strongest reliable answers (several if they tie exactly) and their log p.
        """

    def partition(self, log_alpha: float) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))]]:
        """
        Indices of the reliable answers with log p <= log_alpha, and of the other reliable ones.
        """

    def ranked(self, indices: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]:
        """Indices of reliable answers, from the strongest to the weakest."""

    def dependents(self, xs: Sequence[int] | numpy.typing.NDArray[numpy.uint32], log_alpha: float) -> list[int]:
        """
        The columns whose answers are reliable, with log p <= log_alpha: the strongest first, ties by column.
        """

    def ranked_split(self, xs: Sequence[int] | numpy.typing.NDArray[numpy.uint32], log_alpha: float) -> tuple[list[int], Annotated[NDArray[numpy.uint32], dict(shape=(None,))]]:
        """These, and the other columns whose answers are reliable."""

    def each(self, xs: Sequence[int] | numpy.typing.NDArray[numpy.uint32]) -> list[tuple[int, int, float, float]]:
        """Index, x, log p and statistic of the reliable answers."""

    def shown(self, xs: Sequence[int] | numpy.typing.NDArray[numpy.uint32], x: int, log_alpha: float) -> list[tuple[float, int]]:
        """Log p and index of the answers that show one column to be dependent."""

    @overload
    def at(self, indices: Sequence[int] | numpy.typing.NDArray[numpy.uint32]) -> ScreenAnswers:
        """The answers at some indices."""

    @overload
    def at(self, indices: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> ScreenAnswers: ...

    def outcome(self, index: int) -> tuple[float, float, float, bool]:
        """Statistic, dof, log p and reliability of one answer."""

class SubsetQuery:
    """What a search through conditioning sets is asked."""

    def __init__(self, xs: Sequence[int] | numpy.typing.NDArray[numpy.uint32], target: int, pool: Sequence[int] | numpy.typing.NDArray[numpy.uint32], fixed: Sequence[int], start: int, stop: int, max_size: int | None, n_exhausted: Sequence[int], stop_above: float | None, shrinking: bool, until_survivor: bool, max_tests: int | None = None) -> None: ...

class FoundSubsets:
    """The answers of a search through conditioning sets."""

    def __len__(self) -> int: ...

    def arrays(self) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,), writable=False)], Annotated[NDArray[numpy.int32], dict(shape=(None,), writable=False)], Annotated[NDArray[numpy.int64], dict(shape=(None,), writable=False)], Annotated[NDArray[numpy.uint32], dict(shape=(None,), writable=False)]]:
        """
        Statistics, dof and log p (one after another); verdicts (0 unreliable, 1 dependent, 2 separated) and indices of conditioning sets; these sets one after another: ends, members.
        """

    def tests(self) -> tuple[Annotated[NDArray[numpy.int32], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))]]:
        """Verdicts, log p and statistics."""

    def tests_at(self, indices: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.uint32], dict(shape=(None,))]]:
        """
        Statistic, dof and log p of some answers, and their conditioning sets one after another: ends, members.
        """

    @property
    def cut(self) -> bool:
        """Whether max_tests cut the search short."""

    def separated(self) -> Annotated[NDArray[numpy.bool_], dict(shape=(None,))]:
        """By answer, whether a set separates the x."""

    def xs(self) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,), writable=False)]: ...

    def tally(self) -> tuple[dict[int, int], dict[int, int]]:
        """
        Numbers of tests, and of tests that were skipped, by size of the conditioning set.
        """

    def those(self, separated: bool) -> list[int]:
        """The x that some set separates, or those that none does."""

    def last_survives(self) -> bool:
        """Whether there is a last x and nothing separates it."""

    def separations(self, log_alpha: float) -> list[tuple[int, tuple[int, ...]]]:
        """The x whose log p is above a value, each with its conditioning set."""

    def each(self) -> list[tuple[int, int, float, float]]:
        """Index, x, log p and statistic of the reliable answers."""

    def columns(self) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.uint32], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))]]:
        """Index, x, log p and statistic of the reliable answers, in arrays."""

    def indices_of(self, x: int) -> list[int]:
        """Indices of the reliable answers about one x."""

    def shown(self, x: int, log_alpha: float) -> list[tuple[float, int]]:
        """
        Log p and index of the answers that show x to be dependent, then 0 and that of the last that separates it.
        """

    def outcome(self, index: int) -> tuple[float, float, float, bool]:
        """Statistic, dof, log p and reliability of one answer."""

    def given_of(self, index: int) -> tuple[int, ...]:
        """The conditioning set of one answer."""

    def weaken(self, statistic: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], dof: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], log_p: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], batch: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')], index: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')], number: int) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]:
        """
        Takes the index of known associations where an answer is weaker; returns the indices of the x that are not separated.
        """

class CandidateGroups:
    """Candidates and the conditioning sets they are tested with."""

    def __init__(self, table: PackedTable, groups: Sequence[tuple[Sequence[int] | numpy.typing.NDArray[numpy.uint32], Sequence[int]]]) -> None: ...

    many: Final[int] = ...
    """From so many candidates on they may get a table of their own."""

    @property
    def has_own_table(self) -> bool:
        """Whether the candidates are kept in a table of their own."""

class ContingencyTest:
    """G² and X² tests on a packed table."""

    def __init__(self, table: PackedTable, statistic: str, dof: str, reliability: str, minimum: float) -> None: ...

    def test(self, x: int, y: int, given: Sequence[int]) -> tuple[float, float, float, bool]: ...

    def screen(self, target: int, candidates: Sequence[int] | numpy.typing.NDArray[numpy.uint32], given: Sequence[int], threads: int = 1, poll: object | None = None, strategy: str = 'automatic') -> ScreenAnswers:
        """Statistic, dof and reliability of many candidates given one set."""

    def strategies(self, target: int, candidates: Sequence[int] | numpy.typing.NDArray[numpy.uint32], given: Sequence[int], strategy: str = 'automatic') -> list[str]:
        """How each candidate of such a screen is counted."""

    def marginals(self, targets: Sequence[int] | numpy.typing.NDArray[numpy.uint32], threads: int = 1) -> list[ScreenAnswers]:
        """Each target against all columns given nothing."""

    def screens(self, target: int, groups: CandidateGroups, also: int, threads: int = 1, poll: object | None = None) -> tuple[ScreenAnswers, Annotated[NDArray[numpy.uint32], dict(shape=(None,))], dict[int, int], dict[int, int]]:
        """
        The candidates of groups, each given its group's set and one more, one after another; these candidates; tests and skips by size.
        """

    def screen_among(self, target: int, groups: CandidateGroups, candidates: Sequence[int] | numpy.typing.NDArray[numpy.uint32], given: Sequence[int], threads: int = 1, poll: object | None = None) -> ScreenAnswers:
        """As screen, of some of the candidates of groups, which may be quicker."""

    def screen_in(self, source: PackedTable, target: int, candidates: Sequence[int] | numpy.typing.NDArray[numpy.uint32], given: Sequence[int], threads: int = 1, poll: object | None = None) -> ScreenAnswers:
        """As screen, of candidates in another table of the same rows."""

    def find_spouses(self, target: int, groups: CandidateGroups, children: Sequence[int] | numpy.typing.NDArray[numpy.uint32], log_alpha: float, as_written: bool, max_size: int | None, threads: int = 1, poll: object | None = None) -> list[tuple[list[int], FoundSubsets, dict[int, int], dict[int, int]]]:
        """
        By child: the dependent candidates given it, what separates them given it and one other, and the number of tests of the first kind, and of those skipped.
        """

    def inter_iapc(self, among: CandidateGroups, targets: Sequence[int] | numpy.typing.NDArray[numpy.uint32], log_alpha: float, weigh: Sequence[int] | numpy.typing.NDArray[numpy.uint32], threads: int = 1, poll: object | None = None) -> list[tuple[list[tuple[list[int], int, int, Annotated[NDArray[numpy.uint32], dict(shape=(None,))], list[FoundSubsets]]], bool, FoundSubsets, list[tuple[int, float, float, float, int]]]]:
        """
        Inter-IAPC of each target: the rounds (members before, tests of the others performed and skipped, which of them are independent, tests of members given the rest); whether a set of members repeated; the search that separates members given the others; of the candidates to weigh, the weakest association that they had before they entered: x, statistic, dof, log p, and the round.
        """

    def first_dependent(self, target: int, candidates: Sequence[int] | numpy.typing.NDArray[numpy.uint32], given: Sequence[int], log_alpha: float, poll: object | None = None) -> ScreenAnswers: ...

    def search_subsets(self, query: SubsetQuery, threads: int = 1, poll: object | None = None) -> FoundSubsets:
        """
        For each x the first separation, or else the weakest association, over subsets of the pool.
        """

    def grow_pool(self, query: SubsetQuery, examine: bool, enough: int, poll: object | None = None) -> tuple[FoundSubsets, list[tuple[int, bool]], int]:
        """
        Searches the xs in turn; one that no set separates joins the pool. With `examine`, each older member is then searched given the sets with the new one, and leaves the pool if it is separated. After `enough` tests the rest is left. Returns the answers, who joined (true) or left (false), and how many xs were searched.
        """

    def grow_pools(self, targets: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], ends: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], candidates: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], log_alpha: float, max_size: int | None, weigh: bool, threads: int = 1, poll: object | None = None) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.uint32], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.uint32], dict(shape=(None,))], dict[int, int], dict[int, int]]:
        """
        Such pools, empty at first, of many targets, with `examine`; the candidates depend on their target given nothing. Returns ends and members of the pools; with `weigh`, by member, the weakest association given a set (NaN if there was none): statistics, dof, log p, ends and members of the sets; and numbers of tests and of skipped ones by size.
        """

    def search_each(self, targets: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], x_ends: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], xs: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], pool_ends: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], pools: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], size: int, max_size: int | None, stop_above: float, threads: int = 1, poll: object | None = None) -> FoundSubsets:
        """Such searches through sets of one size, for many targets."""

    def test_each_given_rest(self, xs: Sequence[int] | numpy.typing.NDArray[numpy.uint32], target: int, pool: Sequence[int] | numpy.typing.NDArray[numpy.uint32], max_size: int | None, stop_above: float, poll: object | None = None) -> FoundSubsets:
        """
        Tests each x given the rest of the pool; a separated x leaves it for those after.
        """

class GaussianTest:
    """Partial correlations of standardised columns."""

    def __init__(self, rows: int, columns: int, kind: str, effective: float | None = None) -> None:
        """
        With `effective`, an effective number of rows, columns are weighted already and are not centred.
        """

    @property
    def nbytes(self) -> int:
        """Bytes held by the columns."""

    def append(self, values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> str:
        """
        Adds a column; says whether it is "varying", "constant" or has values "missing".
        """

    def test(self, x: int, y: int, given: Sequence[int]) -> tuple[float, float, float, bool]: ...

    def outcomes(self, xs: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], ys: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], sets: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], size: int, threads: int = 1, poll: object | None = None) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.bool_], dict(shape=(None,))]]:
        """
        Many single tests: of each x with its y given its set; all sets have one size and lie one after another.
        """

    def critical_correlation(self, log_alpha: float, given: int) -> tuple[float, float, float]:
        """
        Degrees of freedom given so many; correlations up to which log p is above a level, and from which on it is not.
        """

    def standardised(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """
        All columns, centred and of length 1, one after another; those that do not vary are zeros.
        """

    def screen(self, target: int, candidates: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], given: Sequence[int], threads: int = 1, poll: object | None = None) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.bool_], dict(shape=(None,))]]:
        """Statistic, dof and reliability of many candidates given one set."""

    def correlations(self, target: int, candidates: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], given: Sequence[int]) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """
        Partial correlations of many candidates given one set, with their signs; NaN where there is none.
        """

    def first_dependent(self, target: int, candidates: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], given: Sequence[int], log_alpha: float, poll: object | None = None) -> tuple[int, Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.bool_], dict(shape=(None,))]]: ...

    def search_subsets(self, query: SubsetQuery, threads: int = 1, poll: object | None = None) -> FoundSubsets:
        """As ContingencyTest.search_subsets."""

    def grow_pool(self, query: SubsetQuery, examine: bool, enough: int, poll: object | None = None) -> tuple[FoundSubsets, list[tuple[int, bool]], int]:
        """As ContingencyTest.grow_pool."""

    def expect(self, targets: Sequence[int] | numpy.typing.NDArray[numpy.uint32], threads: int = 1, poll: object | None = None) -> None:
        """
        Announces searches about some targets: their correlations with all columns are made together.
        """

    def log_p(self, statistic: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], dof: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

    def dependent(self, statistic: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], dof: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], reliable: Annotated[NDArray[numpy.bool_], dict(shape=(None,), order='C', device='cpu', writable=False)], log_alpha: float) -> Annotated[NDArray[numpy.bool_], dict(shape=(None,))]:
        """Which answers are reliable and have log p <= log_alpha."""

class NetworkScore:
    """A decomposable score of Bayesian networks."""

    def additions_of_many(self, children: Sequence[int], candidates: Sequence[Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)]], parents: Sequence[Sequence[int]], threads: int = 1, poll: object | None = None) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """
        Scores of many children, each with its parents and each of its candidates.
        """

    def families(self, child: int, parent_sets: Sequence[Sequence[int]], threads: int = 1, poll: object | None = None) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """Scores of the child with each of several sets of parents."""

    def removals(self, child: int, parents: Sequence[int]) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """By parent, the score of the child without that one."""

    def raising(self, child: int, candidates: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], parents: Sequence[int], least: float, threads: int = 1) -> tuple[float, Annotated[NDArray[numpy.uint32], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))]]:
        """
        The score of the family, the candidates that raise it by more than `least`, and the scores with them.
        """

class PermutedScore(NetworkScore):
    """A score with its variables in another order."""

    def __init__(self, score: NetworkScore, order: Sequence[int]) -> None: ...

class CallerScore(NetworkScore):
    """A score written in Python: a serape.Score."""

    def __init__(self, score: object, variables: int) -> None: ...

class BlockScore(NetworkScore):
    """Scores of families whose columns are blocks of scores."""

    def __init__(self, gram: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], begins: Sequence[int], rows: float, cost_of_product: float, cost_of_parent: float) -> None:
        """Of the flattened Gram matrix of the scores of all columns."""

    @property
    def unit(self) -> float:
        """All scores are multiples of it."""

class GaussianScore(NetworkScore):
    """Scores of linear Gaussian families."""

    def __init__(self, columns: GaussianTest, kind: str, log_variance: Sequence[float], cost: float = 0.0) -> None:
        """
        Of the columns of a test of partial correlations, all of which must have been appended.
        """

    @property
    def unit(self) -> float:
        """All scores are multiples of it."""

class MixedTest:
    """The conditional Gaussian likelihood-ratio test."""

    def __init__(self, table: PackedTable, continuous: Sequence[int], minimum: float, most_bytes: int) -> None: ...

    @property
    def nbytes(self) -> int:
        """Bytes taken by what is remembered between questions."""

    def set_values(self, column: int, values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    def test(self, x: int, y: int, given: Sequence[int], thorough: bool = True, remember: bool = True) -> tuple[float, float, int, bool]:
        """Statistic, dof, rows that take part and reliability."""

class MixedScore(NetworkScore):
    """Conditional Gaussian scores of families."""

    def __init__(self, numbers: GaussianTest, log_variance: Sequence[float], cost: float = 0.0) -> None: ...

    def add_category(self, codes: Annotated[NDArray[numpy.uint16], dict(shape=(None,), order='C', device='cpu', writable=False)], levels: int) -> None:
        """Adds a category as the next variable."""

    def add_number(self) -> None:
        """Adds the next of the numbers as the next variable."""

    @property
    def unit(self) -> float:
        """All scores are multiples of it."""

class OrderSearch:
    """An order of variables, and the parents of each among those before it."""

    def __init__(self, score: NetworkScore, allowed: Sequence[Sequence[int]], max_parents: int, rounding: float, required: Sequence[Sequence[int]] = [], earlier: Sequence[Sequence[int]] = [], threads: int = 1, most_bytes: int = 1073741824) -> None:
        """
        By child, the parents that it may have, and those that it has whatever the score; by variable, those that come before it in every order. No gain is up to `rounding`. The trees take up to `most_bytes`.
        """

    def set_order(self, order: Sequence[int], poll: object | None = None) -> None:
        """Begins with an order, the first one or another."""

    def best_move(self, variable: int, poll: object | None = None) -> float:
        """
        Moves a variable to where the score is highest, if that raises it; by how much.
        """

    def improve(self, moved: object | None = None, poll: object | None = None) -> None:
        """
        Moves each variable in turn until no move raises the score; calls moved(arcs, score) after each.
        """

    @property
    def order(self) -> list[int]: ...

    @property
    def arcs(self) -> int: ...

    @property
    def total(self) -> float:
        """The score."""

    def parents(self, child: int) -> list[int]: ...

def keep_weakest(pair: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], index: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], log_p: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], statistic: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], batch: int, added: int, kept_log_p: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], kept_statistic: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], kept_batch: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')], kept_index: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')], since: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """
    Adds tests of pairs; by pair, the weakest stays, and of equal ones the first.
    """

def by_strength(x: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], y: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], log_p: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], statistic: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], threads: int = 1) -> tuple[Annotated[NDArray[numpy.uint32], dict(shape=(None,))], Annotated[NDArray[numpy.uint32], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))]]:
    """
    Every edge from both sides: from, to and the index of the edge, by variable, the strongest first.
    """

def statistic_each(test: ContingencyTest, x: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], y: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], ends: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], members: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], threads: int = 1, poll: object | None = None) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
    """
    The statistic of each test of x and y given a set; the sets are one after another. Not a number where a test carries no information.
    """

def all_pairs(table: PackedTable, log_alpha: float, strongest: int, least_rows: int, threads: int = 1, poll: object | None = None) -> tuple[Annotated[NDArray[numpy.uint32], dict(shape=(None,))], Annotated[NDArray[numpy.uint32], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))]]:
    """
    For every column how many others depend on it, which most (so many a column), and their statistics and dof.
    """

def strongest_pairs(test: ContingencyTest, columns: Sequence[int] | numpy.typing.NDArray[numpy.uint32], log_alpha: float, strongest: int, threads: int = 1, poll: object | None = None) -> tuple[Annotated[NDArray[numpy.uint32], dict(shape=(None,))], Annotated[NDArray[numpy.uint32], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))]]:
    """The same for columns of up to eight levels, by the rules of a test."""

def tested_pairs(test: ContingencyTest, columns: Sequence[int] | numpy.typing.NDArray[numpy.uint32]) -> int:
    """The number of pairs of such columns whose test is reliable."""

def dependent_pairs(test: ContingencyTest, columns: Sequence[int] | numpy.typing.NDArray[numpy.uint32], log_alpha: float, most: int, threads: int = 1, poll: object | None = None) -> tuple[bool, Annotated[NDArray[numpy.uint64], dict(shape=(None,))], Annotated[NDArray[numpy.uint32], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.uint8], dict(shape=(None,))]]:
    """
    Which pairs of columns of up to eight levels depend on each other: whether all are here (no more than `most`), by column the begin of its partners, the partners, their statistics and dof.
    """

class PairBlocks:
    """Which columns of up to eight levels depend on some of them."""

    def __init__(self, test: ContingencyTest, columns: Sequence[int] | numpy.typing.NDArray[numpy.uint32], log_alpha: float) -> None: ...

    def of(self, targets: Sequence[int] | numpy.typing.NDArray[numpy.uint32], most: int, threads: int = 1, poll: object | None = None) -> tuple[bool, Annotated[NDArray[numpy.uint64], dict(shape=(None,))], Annotated[NDArray[numpy.uint32], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.uint8], dict(shape=(None,))]]:
        """
        Whether all are here (no more than `most`), by target the begin of its partners, the partners, their statistics and dof.
        """

MAX_DEGREE: int = 12

class ScoredPart:
    """Some rows of a table, with scores that were made in all its rows."""

    def __init__(self, rows: int) -> None: ...

    def add_number(self, scores: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], common: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], polynomials: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """
        Add a number: its scores and the indicator of a common value, or an empty array, of mean square 1 in all rows; and the polynomials, as ResidualTest.polynomials.
        """

    def add_category(self, codes: Annotated[NDArray[numpy.uint16], dict(shape=(None,), order='C', device='cpu', writable=False)], all_levels: int, levels: Sequence[int], shares: Sequence[float]) -> None:
        """
        Add a category: the levels that have indicators, and their shares of all rows.
        """

    def score_products(self, scores: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], known: int = 0, threads: int = 1, poll: object | None = None) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """
        As ResidualTest.score_products. Columns are numbered in the order in which they were added.
        """

def indicated_levels(rows: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,))]:
    """
    The levels of a category that have indicators, by the rows of each level.
    """

def f_log_sf(explained: float, unexplained: float, more: float, rest: float) -> float:
    """Log p of the F test from sums of squares and their degrees of freedom."""

def normal_quantile(p: float) -> float: ...

class ResidualTest:
    """The test of residuals of scores."""

    def __init__(self, table: PackedTable, numbers: Sequence[int], curved: bool, weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], frequencies: bool) -> None: ...

    @property
    def nbytes(self) -> int:
        """Bytes held by the scores."""

    @property
    def effective_rows(self) -> float:
        """Rows; with weights, what they add up to."""

    def set_values(self, column: int, values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    def set_category(self, column: int) -> None: ...

    def divides(self, given: Sequence[int]) -> bool:
        """Whether the joint cells of the categories among these divide the rows."""

    def row_keys(self) -> Annotated[NDArray[numpy.uint64], dict(shape=(None,))]:
        """
        A number for each row that looks random, in whatever order rows, columns and levels are.
        """

    def test(self, x: int, y: int, given: Sequence[int]) -> tuple[float, float, float, bool]: ...

    def screen(self, target: int, candidates: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], given: Sequence[int], threads: int = 1, poll: object | None = None) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.bool_], dict(shape=(None,))]]:
        """Statistic, dof and reliability of many candidates given one set."""

    def scores_of(self, columns: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], degree: int, threads: int = 1, poll: object | None = None) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,))]:
        """
        The scores of columns, powers up to a degree, three numbers each: kind (0 score, 1 indicator of a common value, 2 power, 3 level), column, and degree or level.
        """

    @property
    def root_weights(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), writable=False)]:
        """By row, the root of its weight."""

    def scores(self, column: int) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,), writable=False)], Annotated[NDArray[numpy.float64], dict(shape=(None,), writable=False)]]:
        """
        The scores of a number, and the indicator of a common value, empty if there is none; of length 1, times the root of weights.
        """

    def polynomials(self, column: int, degree: int) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """
        The polynomials of a number by degree, from 1, three numbers each: of the scores less the first, times the polynomial before, less the second times the one before that, all times the third.
        """

    def indicators(self, column: int) -> tuple[Annotated[NDArray[numpy.uint32], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))]]:
        """
        The levels of a category that have indicators, and their shares of the rows.
        """

    def score_products(self, scores: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], known: int = 0, threads: int = 1, poll: object | None = None) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """
        The sums over the rows of the products of all scores with those after the first `known`, row by row.
        """

    def effects(self, target: int, candidates: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], given: Sequence[int]) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))]]:
        """
        The logarithm of Wilks' Λ, the correlation of the scores of two numbers, and the number of products, of many candidates given one set; NaN where there is none, and for categories alone.
        """

    def search_subsets(self, query: SubsetQuery, threads: int = 1, poll: object | None = None, part: ResidualTest | None = None, clear: float = 0.0) -> FoundSubsets:
        """
        As ContingencyTest.search_subsets; a part of the rows shows dependence up to a log p, if there is one.
        """

class FamilyScore(NetworkScore):
    """Scores of Bayesian-network families on a packed table."""

    def __init__(self, table: PackedTable, kind: str, ess: float = 1.0) -> None: ...

    def additions(self, child: int, candidates: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], parents: Sequence[int], threads: int = 1, poll: object | None = None, strategy: str = 'automatic') -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """Scores of the child with the parents and each of many candidates."""

class Counts:
    """
    Counts of candidates with a target in the strata of a conditioning set. Of each candidate, the cells that occur: stratum, level of the target, level of the candidate, rows.
    """

    def __init__(self, rows: int, target_levels: int, given_levels: Sequence[int], candidate_levels: Sequence[int], begin: Sequence[int], cells: Annotated[NDArray[numpy.int64], dict(shape=(None, 4), order='C', device='cpu', writable=False)]) -> None: ...

    @property
    def rows(self) -> int: ...

    @property
    def target_levels(self) -> int: ...

    @property
    def given_levels(self) -> list[int]: ...

    @property
    def candidate_levels(self) -> list[int]: ...

    @property
    def begin(self) -> list[int]:
        """By candidate, its first cell; one more than candidates."""

    @property
    def cells(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None, None))]:
        """
        Stratum, level of the target, level of the candidate and rows, by cell.
        """

    @property
    def strata(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None, None))]:
        """
        By stratum, the levels of the conditioning set, where the core made the counts.
        """

    def guesses(self) -> list[list[int]]:
        """
        By candidate, given nothing: rows of the target's commonest level, levels of the candidate that occur, and rows guessed right by the commonest level of the target among the other rows of their level.
        """

def counts(table: PackedTable, target: int, candidates: Sequence[int] | numpy.typing.NDArray[numpy.uint32], given: Sequence[int], threads: int = 1, poll: object | None = None, strategy: str = 'automatic', source: PackedTable | None = None) -> Counts:
    """
    Counts of the candidates with the target; without candidates, of the target alone. Candidates are columns of `source`, a table of the same rows, if it is given.
    """

def distinct_rows(table: PackedTable, columns: Sequence[int], most: int) -> tuple[Annotated[NDArray[numpy.uint16], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))]] | None:
    """
    The codes of the rows that occur in some columns, column after column, and how often each row occurs; None if there are more than `most`, or seem to be, judged by the first rows.
    """

def explain_plan(rows: int, cells: int, varying: int, levels: Sequence[int], candidates: int, *, functional: str = 'g2', has_masks: bool = True, ones_are_few: bool = False, span: int = 0, largest: int = 0, idle: int = 0, strategy: str = 'automatic', instruction_set: str = 'avx512') -> dict[str, Any]:
    """
    How counts of such a shape are made: by number of levels, and by panels if `span` says how many columns lie from the first candidate to the last.
    """

def pairs_pay(rows: int, cells: int, xs: int, most_levels: int, pool: int) -> bool:
    """Whether a subset search counts each x with each member of the pool."""

class CountedTest:
    """G² and X² tests on counts."""

    def __init__(self, rows: int, statistic: str, dof: str, reliability: str, minimum: float) -> None: ...

    def screen(self, counts: Counts) -> ScreenAnswers:
        """As ContingencyTest.screen."""

    def test(self, counts: Counts) -> tuple[float, float, float, bool]:
        """As ContingencyTest.test."""

class CountedScore:
    """Scores of families on counts."""

    def __init__(self, rows: int, kind: str, ess: float = 1.0) -> None: ...

    def scores(self, counts: Counts) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """
        By candidate, the score of the target given the conditioning set and the candidate.
        """

def log_terms(rows: int) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,))], float]:
    """
    n ln n of all counts up to the rows, in fixed point, and what one is worth.
    """

def critical_sums(rows: int, dof: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], log_alpha: float) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]:
    """
    By degrees of freedom, the smallest sum of G² in fixed point whose log p is at most `log_alpha`.
    """

@overload
def chi_square_log_sf(statistic: float, dof: float) -> float:
    """Natural logarithm of the chi-square tail probability."""

@overload
def chi_square_log_sf(statistic: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], dof: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], threads: int = 1) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

def ranked_each(ends: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], xs: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], statistic: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], dof: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], threads: int = 1) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,))]:
    """
    Lists of columns, one after another, each by the answers about them from the strongest to the weakest; ties by column.
    """

def student_t_log_p(statistic: float, dof: float) -> float:
    """Natural logarithm of the two-sided tail probability of Student's t."""

def lowest(log_p: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], statistic: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> list[int]:
    """
    Places of the lowest log p, and of several those of the largest statistic.
    """

def bits_of(columns: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> bytes:
    """
    A bit for each column up to the last, set where it is named, the lowest first.
    """

def ascending(columns: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> bool:
    """Whether each column is larger than the one before it."""

def gaps(columns: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,))]:
    """
    The columns up to the last that are not named; the named ones must be ascending.
    """

def without(columns: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], excluded: Sequence[int], ascending: bool = False) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,))]:
    """
    The columns that are not excluded, in their order; quicker if that is known to be ascending.
    """

def instruction_sets() -> list[str]:
    """Sets of kernels this processor can run, the plainest first."""

def instruction_set() -> str:
    """The set of kernels in use."""

def use_instruction_set(name: str) -> bool: ...

def compiler() -> str:
    """The compiler that made the core, with its version."""
