"""`MarkovBlanketSelector`: a scikit-learn selector that selects the Markov blanket of y."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace
from inspect import signature
from typing import Any, Literal, Unpack

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from serape._keywords import SelectorKeywords
from serape.data.discretise import Method, discretise
from serape.data.encoding import Encoded
from serape.data.kinds import FEW_LEVELS, KINDS, Kind, Kinds
from serape.data.labels import encode_array
from serape.data.reading import read, read_series
from serape.data.table import Table
from serape.errors import (
    DataError,
    EmptyBlanketWarning,
    IncompleteSearchWarning,
    InputTypeError,
    MissingLibraryError,
    OptionError,
    row_text,
    shown,
)
from serape.knowledge import Knowledge
from serape.questions.blanket import ask
from serape.questions.hidden import NOTE, allow_hidden, check_hidden
from serape.records import Records
from serape.results.result import Result
from serape.search.budget import STOPPED
from serape.settings import FIELDS, DataSettings, Settings, selector_settings, signature_with
from serape.types import (
    Finds,
    LocalAlgorithm,
    WeightKind,
)

try:
    from sklearn.base import BaseEstimator
    from sklearn.feature_selection import SelectorMixin
    from sklearn.utils import Tags, assert_all_finite, check_consistent_length, column_or_1d
    from sklearn.utils.validation import check_is_fitted, validate_data
except ImportError:
    raise MissingLibraryError(
        "MarkovBlanketSelector needs scikit-learn, 1.6 or newer; install it with: pip install 'serape[sklearn]'"
    ) from None

TargetKind = Literal["auto"] | Kind


class MarkovBlanketSelector(SelectorMixin, BaseEstimator):  # type: ignore[misc]
    """Select the Markov blanket of y: the smallest set of columns that makes y independent of all others.

    A scikit-learn selector. `fit` takes arrays, sparse matrices, pandas and polars frames, with numbers, categories,
    text and truth values in any mix. For a frame, `transform` returns a frame of the same library, unless `set_output`
    says otherwise. It returns the columns unchanged, without encoding them. Columns of an array are called x0, x1, ….

    The blanket may be empty: then `fit` warns (`EmptyBlanketWarning`), and `transform` returns no columns. It warns too
    if a limit of time or tests ends the search (`IncompleteSearchWarning`): after 60 seconds, unless `max_seconds` says
    otherwise.

    Parameters that are not listed here are settings, as in `serape.markov_blanket` (docs/settings.md), with columns of
    X by name or position. `n_jobs` is the number of threads. `weight_kind` is about the `sample_weight` of `fit`.

    Parameters
    ----------
    algorithm
        As in `serape.markov_blanket`; y is the target.
    kinds
        As in `serape.Table`: a kind, such as "categorical" or "continuous", for all columns of X, or kinds by name.
    missing
        As in `serape.Table`, for X: "error", "drop", "level" or "pairwise". Unless it is "error", `transform` accepts
        missing values. y must be complete.
    finds
        "blanket", or "parents-children" for parents and children alone (as `serape.parents_children`).
    hidden
        As in `markov_blanket`: whether common causes of the columns may be hidden.
    algorithm_options
        A dict of options of the algorithm.
    target_kind
        The kind of y: "categorical", "continuous" or another of the kinds, but not "identifier", or "auto". With
        "auto", text, truth values, declared categories and whole numbers of at most 20 distinct values (also as 1.0,
        2.0, …) are used as categories, other numbers as numbers.
    discretise
        Divide continuous columns (and y, if it is continuous) into classes for the search, so that tests for
        categorical columns can be used: "quantile", "width" or "mdl", as in `serape.discretise`. `transform` returns
        the original columns.
    bins
        The number of classes, for "quantile" and "width".

    Attributes
    ----------
    blanket_ : tuple of str
        The names of the selected columns.
    support_ : array of bool
        Which columns are selected.
    result_ : Result
        The full result; `result_.explain(name)` explains why a column is selected or not.
    evidence_ : Records
        The test that decided on each column, as a table.
    n_features_in_ : int
    feature_names_in_ : array of str
        Only if the columns of X have names, all of them text.

    Examples
    --------
    >>> X = serape.Table(patients).to_pandas()
    >>> selector = serape.MarkovBlanketSelector(alpha=0.01)
    >>> selector.fit_transform(X.drop(columns="HeartDisease"), X["HeartDisease"]).columns.tolist()
    ['Age', 'Smoking', 'BloodPressure', 'Anxiety', 'ECG', 'ChestPain']
    """

    def __init__(
        self,
        algorithm: str | LocalAlgorithm = "auto",
        test: str = "auto",
        alpha: float | Literal["auto"] = "auto",
        *,
        hidden: bool = False,
        finds: Finds = "blanket",
        algorithm_options: Mapping[str, Any] | None = None,
        target_kind: TargetKind = "auto",
        discretise: Method | None = None,
        bins: int = 5,
        **settings: Unpack[SelectorKeywords],
    ) -> None:
        self.hidden = hidden
        self.finds = finds
        self.algorithm_options = algorithm_options
        self.target_kind = target_kind
        self.discretise = discretise
        self.bins = bins
        given = {"algorithm": algorithm, "test": test, "alpha": alpha, **settings}
        if unknown := given.keys() - set(selector_settings()):
            raise TypeError(f"MarkovBlanketSelector.__init__() got an unexpected keyword argument {min(unknown)!r}")
        for name in selector_settings():
            setattr(self, name, given.get(name, FIELDS[name].default))

    __init__.__signature__ = signature_with(__init__, selector_settings())  # type: ignore[attr-defined]

    def fit(
        self, X: Any, y: Any = None, sample_weight: Any = None, groups: Any = None, **fit_params: Any
    ) -> MarkovBlanketSelector:
        """Find the blanket of y among the columns of X.

        `sample_weight` holds one weight per row, `groups` one label per row: rows of one group depend on each other,
        which permutation tests take account of.
        """
        if fit_params:
            raise InputTypeError(
                f"MarkovBlanketSelector.fit does not take {next(iter(fit_params))!r}; it takes X, y, sample_weight and "
                f"groups"
            )
        if y is None:
            raise DataError("MarkovBlanketSelector requires y to be passed, but the target y is None")
        if self.finds not in ("blanket", "parents-children"):
            raise OptionError(f"finds={self.finds!r} is not known; use 'blanket' or 'parents-children'")
        of_rows = {"sample_weight": sample_weight, "groups": groups}
        table, target = self._table(X, y, of_rows)
        settings, notes = self._settings(), []
        if check_hidden(self.hidden):
            if self.finds != "blanket":
                raise OptionError("hidden=True is about blankets; use finds='blanket', or leave hidden out")
            settings, notes = allow_hidden(settings), [NOTE]
        found = ask(table, target, self.finds, settings, notes)
        data = None if found.data is None else replace(found.data, table=None)
        fit = tuple(name for name, given in of_rows.items() if given is not None)
        call = replace(found.call, selector=self._arguments(), fit=fit)
        self.result_: Result = replace(found, trace=found.trace.detached(), data=data, call=call)  # without the table
        self.blanket_ = self.result_.members
        self.support_ = np.zeros(len(table.names) - 1, bool)
        self.support_[[table.position(name) for name in self.blanket_]] = True
        if not found.complete:
            warnings.warn(_incomplete(found), IncompleteSearchWarning, stacklevel=2)
        if not self.blanket_:
            warnings.warn(
                f"no column is selected: no column was found to depend on {target!r} at alpha={found.alpha:g} "
                f"({found.tests:,} tests by {found.test}, {found.skipped:,} skipped); transform returns no columns",
                EmptyBlanketWarning,
                stacklevel=2,
            )
        return self

    def transform(self, X: Any) -> Any:
        """Return the selected columns of X, unchanged.

        Values are checked in arrays only: NaN and infinities are refused unless `missing` allows them.
        """
        check_is_fitted(self)
        if not _is_frame(X):
            return self._checked(X, accept_sparse=["csr", "csc"], reset=False)[:, np.flatnonzero(self.support_)]
        validate_data(self, X, reset=False, skip_check_array=True)
        if hasattr(X, "iloc"):
            return X.iloc[:, np.flatnonzero(self.support_)]
        frame = nw.from_native(X, eager_only=True)
        return frame[:, np.flatnonzero(self.support_).tolist()].to_native()

    @property
    def evidence_(self) -> Records:
        """The test that decided on each column."""
        check_is_fitted(self)
        return self.result_.evidence

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self)
        return self.support_

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.sparse = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.allow_nan = self.missing != "error"
        return tags

    # --- inside --------------------------------------------------------------------------------------------------

    def _settings(self) -> Settings:
        """Return the settings of the search; the table has been read already."""
        given = {name: getattr(self, name) for name in selector_settings() if name != "weight_kind"}
        options = self.algorithm_options or {}
        asked = Settings.of(**{**given, "random_state": _seed(self.random_state)}, **options)
        return replace(asked, data=DataSettings())

    def _arguments(self) -> tuple[str, ...]:
        """Return the parameters that are not at their defaults as code, but for those that do not change the answer."""
        defaults = {name: one.default for name, one in signature(type(self)).parameters.items()}
        texts = {name: _code(value) for name, value in self.get_params(deep=False).items()}
        order = [name for name in defaults if name not in ("n_jobs", "progress")]
        return tuple(f"{name}={texts[name]}" for name in order if texts[name] != _code(defaults[name]))

    def _checked(self, X: Any, **options: Any) -> Any:
        """Return X, which is not a frame, as an array or sparse matrix checked by scikit-learn."""
        finite = True if self.missing == "error" else "allow-nan"
        checked = validate_data(self, X, dtype=None, ensure_all_finite=finite, **options)
        if checked.dtype.kind == "U" and not hasattr(X, "dtype"):  # from a list in which some values are not text
            return np.array(X, object)
        return checked

    def _table(self, X: Any, y: Any, of_rows: Mapping[str, Any]) -> tuple[Table, str]:
        """Return X and y in one table with the weights and groups of its rows, and the name of y in it."""
        for setting, given in of_rows.items():
            if isinstance(given, str):
                raise InputTypeError(f"{setting} must hold one value per row, not {shown(given)}")
        if _is_frame(X):
            validate_data(self, X, skip_check_array=True)
        else:
            X = self._checked(X, accept_sparse="csc", ensure_min_samples=2)
        check_consistent_length(X, y)
        columns = read(X, Kinds(self.kinds))
        name = _name_of(y, columns.names)
        target = _target(name, y, self.target_kind)
        kind: WeightKind = self.weight_kind if of_rows["sample_weight"] is not None else "frequency"
        together = columns.with_added_column(name, target)
        table = Table(together, self.kinds, self.missing, weight_kind=kind, **of_rows)
        if self.discretise is None:
            return table, name
        divided = discretise(table, self.discretise, self.bins, target=name if self.discretise == "mdl" else None)
        return divided.table, name


def _is_frame(X: Any) -> bool:
    if nw.dependencies.is_polars_lazyframe(X):
        raise InputTypeError("X is a lazy frame, which scikit-learn does not accept; pass X.collect()")
    return nw.dependencies.is_into_dataframe(X)


def _name_of(y: Any, names: list[str]) -> str:
    """Return a name for y that no column of X has: its own, if it has one."""
    own = getattr(y, "name", None)
    name = own if isinstance(own, str) and own else "y"
    while name in names:
        name += "_"
    return name


def _target(name: str, y: Any, asked: TargetKind) -> Encoded:
    """Return y as a column."""
    if asked not in ("auto", *KINDS) or asked == "identifier":
        known = ", ".join(repr(kind) for kind in ("auto", *KINDS) if kind != "identifier")
        raise OptionError(f"target_kind={asked!r} is not known; use one of {known}")
    values = column_or_1d(y, warn=True)
    if values.dtype.kind == "f":
        assert_all_finite(values, input_name="y")
    series = nw.from_native(y, series_only=True, pass_through=True)
    not_numeric = isinstance(series, nw.Series) and not series.dtype.is_numeric()  # it may declare categories
    if asked != "auto":
        column = read_series(name, series, asked) if not_numeric else encode_array(name, values, kind=asked)
    elif not_numeric:
        column = read_series(name, series, None)
    else:
        column = _by_values(name, values)
    if column.kind == "identifier":  # y is the target, whatever it looks like
        return _target(name, y, "categorical" if column.levels else "continuous")
    if column.missing is not None:
        row = int(np.argmax(column.missing))
        raise DataError(
            f"a value of y is missing in {row_text(row)}, one of {int(column.missing.sum()):,}; leave out such rows"
        )
    return column


def _by_values(name: str, values: NDArray[Any]) -> Encoded:
    """Return y as a column of a kind detected from its values: few distinct whole numbers are categories."""
    if values.dtype.kind == "f" and (values == np.floor(values)).all():
        distinct = len(np.unique(values))
        if distinct <= FEW_LEVELS:
            column = encode_array(name, values, kind="categorical")
            return replace(column, reason=f"whole numbers, {distinct} distinct")
    return encode_array(name, values)


def _code(value: Any) -> str:
    """Return a parameter as code; of an object that code cannot show, its name, or an ellipsis."""
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if isinstance(value, Knowledge):
        value = value.to_dict()
    text = repr(dict(value) if isinstance(value, Mapping) else value)
    return getattr(value, "__name__", "…") if " at 0x" in text else text


def _incomplete(found: Result) -> str:
    """Return what ended a search, and the remedy."""
    limit = next(note.removeprefix(STOPPED) for note in found.notes if note.startswith(STOPPED)).partition(":")[0]
    remedy = (
        "pass a larger max_tests, or max_tests=None for no limit"
        if limit.startswith("max_tests")
        else "pass max_seconds=None for no limit, and max_tests too for one that gives the same answer on any machine"
    )
    return f"{STOPPED}{limit}, so the selected columns are those found so far; {remedy}"


def _seed(random_state: int | np.random.Generator | np.random.RandomState | None) -> int | np.random.Generator | None:
    """Return a random state in a form that the search accepts."""
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(np.iinfo(np.int32).max))
    return random_state
