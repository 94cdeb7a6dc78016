"""The program that changes the code: what it changes, and that it notices what tests notice."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from mutants import MODULES, ROOT, equivalents, files_of_tests, mutants_of, path_of, report, tried
from mutation import core_code, python_code, schemata, trial
from mutation.core_code import Together
from mutation.mutant import Mutant

CODE = '''
"""Docstring."""
Number = int | float
Pair = tuple[Number, Number]

@decorated(strict=True)
def f(a: int = 2, *, b: bool = False) -> list[int]:
    """Docstring."""
    if a < 2 and not b:
        raise ValueError(f"no {a + 1}")
    with lock:
        a += 1
    held.value = min(a, 1.5)
    return sorted({"x": 1, "y": [k for k in g(a, key=b) if k != "end"]})
'''
WANTED = {
    "def f(a: int=3, *, b: bool=False) -> list[int]:", "def f(a: int=2, *, b: bool=True) -> list[int]:",
    "if True:", "if False:", "if a <= 2 and (not b):", "if a < 2 or not b:", "if not b:", "if a < 2:",
    "", "(no with)", "a -= 1", "a += 2", "held.value = max(a, 1.5)", "held.value = min(a, 3.0)", "return None",
}  # fmt: skip
UNWANTED = ("Number", "Pair", "strict", "Docstring", "a + 2", "a - 1")


@pytest.fixture
def drawn(tmp_path: Path) -> list[Mutant]:
    path = tmp_path / "code.py"
    path.write_text(CODE)
    return python_code.mutants(path, "code.py")


def test_changes_of_python(drawn: list[Mutant]) -> None:
    after = {mutant.after for mutant in drawn}
    assert after >= WANTED
    assert not any(word in mutant.after for mutant in drawn for word in UNWANTED)
    assert len({mutant.key for mutant in drawn}) == len(drawn)
    assert all(mutant.where in ("f", "module") for mutant in drawn)


def test_a_change_is_compiled_and_nothing_else_changes(drawn: list[Mutant], tmp_path: Path) -> None:
    path = tmp_path / "code.py"
    for mutant in drawn:
        assert python_code.compiled(path, mutant).co_filename == str(path)
    assert path.read_text() == CODE
    first = next(mutant for mutant in drawn if mutant.after == "a += 2")
    assert first.lines == range(12, 13)


def test_the_same_change_at_two_places_is_two_mutants(tmp_path: Path) -> None:
    path = tmp_path / "code.py"
    path.write_text("def f():\n    g(1)\n    g(1)\n")
    keys = [mutant.key for mutant in python_code.mutants(path, "code.py")]
    assert keys == [
        "f: g(1) → nothing", "f: g(1) → g(2)", "f: g(1) → g(0)",
        "f: g(1) → nothing [2]", "f: g(1) → g(2) [2]", "f: g(1) → g(0) [2]",
    ]  # fmt: skip


def test_changes_of_the_core(tmp_path: Path) -> None:
    path = tmp_path / "code.cpp"
    path.write_text(
        "double f(double x) {\n    // x < 1\n    for (int i = 0; i < 5; ++i) {\n        x += g(x);\n    }\n"
        "    if (x > 2.5) {\n        h(x);\n    }\n    return x == 1 ? 3 : x;\n}\n"
    )
    found = {mutant.after for mutant in core_code.mutants(path, "code.cpp")}
    assert found == {
        "for (int i = 1; i < 5; ++i) {", "x -= g(x);", "", "if (x >= 2.5) {", "if (x <= 2.5) {", "if (x > (2 * 2.5)) {",
        "if (true) {", "if (false) {", "return x != 1 ? 3 : x;", "return x == 2 ? 3 : x;", "return x == 1 ? 4 : x;",
        "return x == 1 ? x : 3;",
    }  # fmt: skip
    assert {mutant.where for mutant in core_code.mutants(path, "code.cpp")} == {"f"}


def test_changes_of_the_core_are_guarded_in_one_text(tmp_path: Path) -> None:
    path = tmp_path / "code.cpp"
    text = (
        "constexpr int most = 3;\ndouble f(double x) {  // a, b\n"
        "    const double y =\n        g(x + 1, z);  // why\n    h(y);\n"
        "    for (int i = 0; i < 5; ++i) {\n        x += y;\n    }\n    if (const auto found = k(x)) {\n    }\n"
        "    return -x;\n}\n"
    )
    path.write_text(text)
    mutants = core_code.mutants(path, "code.cpp")
    source, lines = schemata.guarded(text, {number: mutant.change for number, mutant in enumerate(mutants, 1)})
    left = {mutant.after for number, mutant in enumerate(mutants, 1) if number not in lines}
    assert left == {"constexpr int most = 4;", "if (true) {", "if (false) {"}
    assert source.partition("#line 1\n")[2].splitlines() == [
        "constexpr int most = 3;",
        "double f(double x) {  // a, b",
        "    const double y =",
        "        g((mutant_number == 2 ? (x - 1) : mutant_number == 3 ? (x + 2) : (x + 1)), z);  // why",
        "    if (mutant_number != 4) { h(y); }",
        "    for (int i = (mutant_number == 5 ? (1) : (0)); i < 5; ++i) {",
        "        if (mutant_number != 7) { (mutant_number == 6 ? (x -= y) : (x += y)); }",
        "    }",
        "    if (const auto found = k(x)) {",
        "    }",
        "    return (mutant_number == 10 ? (x) : (-x));",
        "}",
    ]
    assert [lines[number].start for number in sorted(lines)] == [4, 4, 5, 6, 7, 7, 11]


@pytest.mark.parametrize(
    ("code", "changed", "to", "guarded"),
    [
        ("if (a.has()) {", "a.has()", "true", "if ((mutant_number == 1 ? bool(true) : bool(a.has()))) {"),
        ("f(g<a, b>(x + 1));", " + ", " - ", "f(g<a, b>((mutant_number == 1 ? (x - 1) : (x + 1))));"),
        ("std::map<int, 3> x;", "3", "4", None),
        ("const T a = b, c = d + e;", " + ", " - ", "const T a = b, c = (mutant_number == 1 ? (d - e) : (d + e));"),
        (
            "p = q ? f(a, b) : c;",
            "f(a, b) : c",
            "c : f(a, b)",
            "p = (mutant_number == 1 ? (q ? c : f(a, b)) : (q ? f(a, b) : c));",
        ),
        ("p = f(q ? a(b : c, d));", "a(b : c", "c : a(b", None),
    ],
)
def test_what_is_guarded_is_an_expression(code: str, changed: str, to: str, guarded: str | None) -> None:
    start = code.index(changed)
    found, lines = schemata.guarded(code, {1: schemata.Edit(start, start + len(changed), to)})
    assert found.partition("#line 1\n")[2] == (guarded or code)
    assert lines == ({} if guarded is None else {1: range(1, 2)})


@pytest.mark.parametrize(
    "told", ["{path}:2:7: error: no", "vector:9:1: error: no\n{path}:2:7: required from here"], ids=["here", "header"]
)
def test_what_the_compiler_refuses_is_left_out_of_the_build(
    told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, texts = tmp_path / "code.cpp", []
    path.write_text("double f(double x) {\n    g(x + 1);\n    return x - y;\n}\n")

    def core_with(path: Path, text: str, folder: Path) -> Path:
        texts.append(text.partition("#line 1\n")[2].splitlines())
        if len(texts) == 1:
            raise subprocess.CalledProcessError(1, "c++", stderr=told.format(path=path))
        return folder / "core.so"

    monkeypatch.setattr(core_code, "_core_with", core_with)
    mutants = core_code.mutants(path, "code.cpp")
    built = core_code.built_together(path, mutants, tmp_path)
    (last,) = (mutant for mutant in mutants if mutant.lines.start == 3)
    assert built == Together(tmp_path / "core.so", {last.key: mutants.index(last) + 1})
    assert "mutant_number" in texts[0][1]
    assert texts[1][1:3] == ["    g(x + 1);", "    return (mutant_number == 4 ? (x + y) : (x - y));"]


def test_a_mutant_of_a_build_is_chosen_by_its_number(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    seen = []

    def notice(replaced: trial.Replaced, *_: object) -> int:
        seen.append((replaced.name, replaced.path, os.environ[schemata.VARIABLE]))
        return 1

    monkeypatch.setenv(schemata.VARIABLE, "0")
    monkeypatch.setattr(trial, "notice", notice)
    mutant = mutants_of("core/src/residual_comparison.cpp")[5]
    assert tried(mutant, [], [], tmp_path, Together(tmp_path / "core.so", {mutant.key: 6})) == 1
    assert seen == [("serape._core", str(tmp_path / "core.so"), "6")]


def test_the_listed_modules_tests_and_mutants_are_there() -> None:
    for module, places in MODULES.items():
        assert path_of(module).is_file()
        assert all((ROOT / file).is_file() for file in files_of_tests(places))
    for module, listed in equivalents().items():
        assert module in MODULES
        assert all(reason.endswith(".") for reason in listed.values())


def test_a_survivor_that_is_not_listed_is_counted(drawn: list[Mutant], capsys: pytest.CaptureFixture[str]) -> None:
    outcomes = {("code.py", mutant.key): "killed" for mutant in drawn}
    assert report("code.py", drawn, outcomes, {}) == 0
    alive = next(mutant for mutant in drawn if mutant.after == "a += 2")
    outcomes["code.py", alive.key] = "survived"
    assert report("code.py", drawn, outcomes, {alive.key: "A reason."}) == 0
    capsys.readouterr()
    assert report("code.py", drawn, outcomes, {}) == 1
    assert "code.py:12 in f\n  - a += 1\n  + a += 2" in capsys.readouterr().out
    outcomes["code.py", alive.key] = "killed"
    assert report("code.py", drawn, outcomes, {alive.key: "A reason."}) == 1  # it is no equivalent


@pytest.mark.parametrize("module", ["files.py", "search/associations.py", "core/src/residual_comparison.cpp"])
def test_mutants_have_names_of_their_own(module: str) -> None:
    found = mutants_of(module)
    assert len({mutant.key for mutant in found}) == len(found) > 30
