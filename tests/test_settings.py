"""One set of settings: the same names, meaning, default and order in every question, the selector and every command."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection
from typing import Any, Literal, get_args

import numpy as np
import pytest

import keywords
import serape
import settings_page
from serape import settings
from serape.cli.base import find_command
from serape.cli.data_options import DataOptions, ReadingOptions
from serape.cli.options import SearchOptions
from serape.cli.settings_options import SettingOptions, _parameters
from serape.data.example import clinic
from serape.settings import FIELDS, DataSettings, RunSettings, SearchSettings, Settings, _setting
from tables import OF_FILES

TABLE = serape.Table(clinic(400))


def _context(data: Any) -> str | int:
    return 1 if isinstance(data, serape.IndependenceTest) else "Parking"


ONE_TARGET: dict[str, Callable[..., Any]] = {
    "markov_blanket": serape.markov_blanket,
    "parents_children": serape.parents_children,
    "region": serape.region,
    "causes": serape.causes,
    "stability": lambda data, target, **more: serape.stability(data, target, draws=2, **more),
    "all_blankets": serape.all_blankets,
    "alpha_path": lambda data, target, **more: serape.alpha_path(data, target, [0.01], **more),
    "context_blankets": lambda data, target, **more: serape.context_blankets(data, target, _context(data), **more),
}
MANY: dict[str, Callable[..., Any]] = {
    "blankets": serape.blankets,
    "skeleton": serape.skeleton,
    "network": serape.network,
}
MORE: dict[str, Callable[..., Any]] = {
    "all_pairs": serape.all_pairs,
    "ci_test": lambda data, **more: serape.ci_test(data, 0, 1, **more),
    "joint_blanket": lambda data, **more: serape.joint_blanket(data, [0, 1], **more),
}
ALL = [*ONE_TARGET, *MANY, *MORE]
QUESTIONS = [
    serape.markov_blanket,
    serape.parents_children,
    serape.blankets,
    serape.region,
    serape.causes,
    serape.skeleton,
    serape.network,
    serape.stability,
    serape.all_blankets,
    serape.alpha_path,
    serape.context_blankets,
    serape.joint_blanket,
    serape.all_pairs,
    serape.ci_test,
    serape.describe,
    serape.check_algorithm,
    serape.wrapper,
    serape.knockoffs,
    serape.knockoff_filter,
]


def ask(name: str, data: Any, **settings: Any) -> Any:
    """Ask a question of a name, about HeartDisease where it is about one target."""
    if name in ONE_TARGET:
        target = "HeartDisease" if not isinstance(data, serape.IndependenceTest) else 0
        return ONE_TARGET[name](data, target, **settings)
    return {**MANY, **MORE}[name](data, **settings)


def gaps() -> dict[str, list[Any]]:
    columns = {name: [str(value) for value in values] for name, values in clinic(300).items()}
    columns["Age"][7] = None  # type: ignore[call-overload]
    return columns


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda q: q.__name__)
def test_signatures_show_the_settings_in_one_order(question: Callable[..., Any]) -> None:
    parameters = inspect.signature(question).parameters
    refused = question.refused_settings  # type: ignore[attr-defined]
    shared = [name for name in parameters if name in FIELDS and name != "algorithm"]
    assert shared == [name for name in FIELDS if name not in refused and name != "algorithm"]
    for name in shared:
        assert parameters[name].default == FIELDS[name].default
        assert FIELDS[name].metadata["meaning"].split()[0] in (question.__doc__ or "")
    if "algorithm" in parameters and question is not serape.check_algorithm:
        assert parameters["algorithm"].default == FIELDS["algorithm"].default


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda q: q.__name__)
def test_what_means_nothing_to_a_question_is_refused(question: Callable[..., Any]) -> None:
    own = {serape.check_algorithm: ("iamb",), serape.wrapper: (TABLE, None, None)}
    one = {serape.ci_test: (TABLE, "Age", "Weight"), serape.all_pairs: (TABLE,), serape.alpha_path: (TABLE, "Age")}
    one |= {serape.describe: (TABLE,), serape.knockoffs: (TABLE,), serape.knockoff_filter: (TABLE, "Age")}
    for name in question.refused_settings:  # type: ignore[attr-defined]
        if name in inspect.signature(question).parameters:
            continue
        with pytest.raises(serape.OptionError, match=f"{name}=.* has no effect here"):
            question(*({**own, **one}[question]), **{name: 0.25})


def test_the_selector_has_all_settings_of_a_search_in_memory() -> None:
    own = {"finds", "hidden", "algorithm_options", "target_kind", "discretise", "bins"}
    of_rows = {"sample_weight", "groups"}  # arguments of `fit`, or for `stability`
    parameters = inspect.signature(serape.MarkovBlanketSelector.__init__).parameters
    shared = [name for name in parameters if name not in own and name != "self"]
    assert shared == [name for name in FIELDS if name not in OF_FILES | of_rows]
    assert {name: parameters[name].default for name in shared} == {name: FIELDS[name].default for name in shared}


def test_the_selector_takes_knowledge_and_members() -> None:
    columns = clinic(400)
    y = columns.pop("HeartDisease")
    X = np.column_stack(list(columns.values()))  # noqa: N806
    known = serape.MarkovBlanketSelector(known_members=["x0"], forbidden_members=["x1"]).fit(X, y)
    assert "x0" in known.blanket_
    assert "x1" not in known.blanket_
    fixed = serape.MarkovBlanketSelector(knowledge={"required": [("x2", "y")]}).fit(X, y)
    assert "x2" in fixed.blanket_


SEARCHES = ("blanket", "neighbours", "causes", "all-blankets", "path", "stability", "contexts", "joint", "region",
            "skeleton", "network", "blankets")  # fmt: skip
"""The commands that search."""


def test_every_command_has_all_settings() -> None:
    assert [*SearchOptions().arguments(), *ReadingOptions().arguments()] == [
        name for group in (SearchSettings, RunSettings, DataSettings) for name in group.__dataclass_fields__
    ]
    assert DataOptions.settings == ReadingOptions.settings
    for name in SEARCHES:
        command = find_command(name).callback
        assert command is not None
        options = {one.name for group in (SearchOptions, DataOptions) for one in group.parameters()}
        refused = serape.alpha_path.refused_settings if name == "path" else {}  # type: ignore[attr-defined]
        assert options - {*refused} <= {*inspect.signature(command).parameters}, name
    for name, value in {**SearchOptions().arguments(), **ReadingOptions().arguments()}.items():
        assert value == FIELDS[name].default, name


@pytest.mark.parametrize(
    ("hint", "default", "typed", "value"),
    [
        (float | None, None, 0.5, 0.5),
        (int | None, None, None, None),
        (float | Literal["auto"] | None, "auto", "none", None),
        (float | Literal["auto"] | None, "auto", "0.5", 0.5),
        (int | Literal["auto"], "auto", "7", 7),
        (Literal["dof", "auto"] | None, "auto", "none", None),
        (bool | None, None, False, False),
        (Collection[str], (), ["a", "b"], ("a", "b")),
        (Collection[str], (), None, ()),
        (str, "auto", "word", "word"),
    ],
)
def test_a_new_setting_has_an_option(
    monkeypatch: pytest.MonkeyPatch, hint: Any, default: Any, typed: Any, value: Any
) -> None:
    added = _setting(default, "A meaning.")
    added.type = hint
    monkeypatch.setitem(FIELDS, "brand_new", added)
    _parameters.cache_clear()

    class Own(SettingOptions):
        settings = ("brand_new",)

    (option,) = Own.parameters()
    assert option.name == "brand_new"
    assert get_args(option.annotation)[1].help == "A meaning."
    assert Own(brand_new=typed).arguments() == {"brand_new": value}
    assert Own().arguments() == {"brand_new": default}


def test_a_new_setting_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    assert SearchSettings(dof="full").more() == {}
    monkeypatch.setattr("serape.settings._RESOLVED", frozenset())
    assert SearchSettings(dof="full").more() == {"dof": "full"}


def test_the_keywords_of_type_checkers_are_those_of_the_settings() -> None:
    assert keywords.PATH.read_text(encoding="utf-8") == keywords.keywords(), "run: make stubs"


def test_the_tables_of_the_page_are_those_of_the_settings() -> None:
    assert settings_page.PATH.read_text(encoding="utf-8") == settings_page.page(), "run: make stubs"


@pytest.mark.parametrize("name", ALL)
class TestEveryQuestion:
    def test_takes_missing_and_kinds(self, name: str) -> None:
        with pytest.raises(serape.DataError, match="missing='drop'"):
            ask(name, gaps())
        ask(name, gaps(), missing="drop", kinds={"Age": "categorical"}, ignore=["Ward"])

    def test_refuses_encoding_a_table_again(self, name: str) -> None:
        with pytest.raises(serape.OptionError, match="a Table already, so missing='drop' has no effect"):
            ask(name, TABLE, missing="drop")

    def test_refuses_a_test_beside_a_test(self, name: str) -> None:
        if name == "stability":
            pytest.skip("it takes no test for data")
        test = serape.DSeparation(serape.load_network("asia").graph)
        more = {"algorithm": "pc-stable"} if name == "network" else {}
        settings: dict[str, Any]
        for settings in ({"test": "g2"}, {"dof": "full"}, {"reliability": "cells"}, {"missing": "drop"}):
            with pytest.raises(serape.OptionError, match="an independence test already"):
                ask(name, test, **settings, **more)

    def test_takes_all_cores(self, name: str) -> None:
        if name == "ci_test":
            pytest.skip("one test needs no more")
        ask(name, TABLE, n_jobs=-1)
        with pytest.raises(serape.OptionError, match="n_jobs must be"):
            ask(name, TABLE, n_jobs=0)

    def test_takes_names_in_any_case_and_usual_ones(self, name: str) -> None:
        ask(name, TABLE, test="G2")
        ask(name, TABLE, test="chi2")
        with pytest.raises(serape.OptionError, match=r"test 'tend' is not known. Did you mean 'trend'"):
            ask(name, TABLE, test="tend")

    def test_says_what_is_wrong_with_alpha(self, name: str) -> None:
        if name in ("alpha_path", "ci_test"):
            pytest.skip("it has none")
        for alpha in ("x", 0, 1, None, True):
            with pytest.raises(serape.OptionError, match="alpha must be between 0 and 1"):
                ask(name, TABLE, alpha=alpha)


@pytest.mark.parametrize("name", [*ONE_TARGET, *MANY])
class TestEverySearch:
    def test_takes_known_and_forbidden_members(self, name: str) -> None:
        settings: dict[str, Any]
        by_list = {"known_members": ["Ward"], "forbidden_members": ["Smoking"]}
        by_target = {"known_members": {"HeartDisease": ["Ward"]}, "forbidden_members": {"HeartDisease": ["Smoking"]}}
        if name in MANY:  # a list is about every target, so Ward is a known member of Smoking's blanket
            with pytest.raises(serape.OptionError, match="is a known member, but|both known and forbidden"):
                ask(name, TABLE, **by_list)
        for settings in (by_target,) if name in MANY else (by_list, by_target):
            found = ask(name, TABLE, **settings)
            if name == "blankets":
                found = found["HeartDisease"]
            if isinstance(found, serape.Result | serape.AllBlankets | serape.Causes | serape.ContextBlankets):
                members = found.blanket if isinstance(found, serape.Causes) else found.members
                assert "Ward" in members
                assert "Smoking" not in members
            elif name in ("skeleton", "region"):
                graph = found.graph if name == "skeleton" else found
                assert graph.has_edge("HeartDisease", "Ward")
                assert not graph.has_edge("HeartDisease", "Smoking")

    def test_takes_algorithms_in_any_case(self, name: str) -> None:
        of_one = ("markov_blanket", "stability", "all_blankets", "alpha_path", "context_blankets")
        blanket = name in (*of_one, "blankets")
        usual = "MB_by_MB" if name == "causes" else "Inter_IAMB" if blanket else "HITON_PC"
        ask(name, TABLE, algorithm=usual)
        wrong, right = ("intr-iamb", "inter-iamb") if blanket else ("hitonn-pc", "hiton-pc")
        if name == "causes":
            wrong, right = "mb-by-m", "mb-by-mb"
        with pytest.raises(serape.OptionError, match=f"algorithm '{wrong}' is not known. Did you mean '{right}'"):
            ask(name, TABLE, algorithm=wrong)


@pytest.mark.parametrize("name", ONE_TARGET)
@pytest.mark.parametrize("target", [None, 1.5, np.zeros(3), ["Age"]], ids=["None", "float", "array", "list"])
def test_what_is_no_target_gets_one_sentence(name: str, target: Any) -> None:
    with pytest.raises(serape.InputTypeError, match="target must be the name or the position of a column, not") as told:
        ONE_TARGET[name](TABLE, target)
    assert "\n" not in str(told.value)


def test_a_series_as_target_gets_one_sentence() -> None:
    frame = TABLE.to_pandas()
    with pytest.raises(serape.InputTypeError, match="not a Series$"):
        serape.markov_blanket(frame, frame["Age"])  # type: ignore[arg-type]


def test_a_table_of_a_table_is_that_table() -> None:
    assert serape.Table(TABLE) is TABLE
    with pytest.raises(serape.OptionError, match="a Table already"):
        serape.Table(TABLE, missing="drop")


def test_settings_are_sorted_out_of_keywords() -> None:
    settings = Settings.of(alpha=0.01, kinds="categorical", n_jobs=2, k=3)
    assert settings.search == SearchSettings(alpha=0.01)
    assert settings.data == DataSettings(kinds="categorical")
    assert settings.run == RunSettings(n_jobs=2)
    assert settings.options == {"k": 3}
    assert settings.data.given() == ["kinds"]
    assert DataSettings(ignore=[], kinds={}).given() == []


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ({"max_conditioning": 2**70}, "max_conditioning must be a whole number"),
        ({"max_conditioning": "two"}, "max_conditioning must be a whole number"),
        ({"random_state": -1}, "random_state must be a whole number"),
        ({"dof": "few"}, "dof='few' is not known"),
        ({"reliability": "always"}, "reliability='always' is not known"),
        ({"missing": "guess"}, "missing='guess' is not known"),
        ({"progress": "yes"}, "progress must be True, False, None or a callable"),
        ({"known_members": "Age"}, "known_members must be a list of variables"),
        ({"known_members": {"Age": "Ward"}}, "known_members must be a list of variables"),
    ],
)
def test_settings_are_checked(settings: dict[str, Any], complaint: str) -> None:
    with pytest.raises(serape.SerapeError, match=complaint):
        serape.markov_blanket(TABLE, "Age", **settings)


def test_the_type_of_a_setting_is_evaluated_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Searches make settings again and again."""
    asked: list[str] = []
    hint_of = settings.hint_of

    def asks(one: Any) -> Any:
        asked.append(one.name)
        return hint_of(one)

    monkeypatch.setattr(settings, "hint_of", asks)
    settings._allowed.cache_clear()
    for _ in range(3):
        SearchSettings(dof="full")
    assert asked == ["dof"]
