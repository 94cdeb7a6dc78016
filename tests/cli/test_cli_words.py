"""Errors and notes of the command line name its own options, never those of Python."""

import ast
import json
import pickle
import re
import sqlite3
import zipfile
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest

import serape
from command import run
from serape import errors, wording
from serape.settings import FIELDS

NAMES = [name for name in FIELDS if "_" in name] + ["equivalent_sample_size", "max_false", "read_bif"]
PYTHON = re.compile(
    r"(?<!--option )\b[a-z_]+=(['\"\[{(]|True|False|None|[0-9.]+\b)"  # missing='drop', header=True, fdr=0.05
    r"|\bserape\.[a-z_]+"  # serape.network
    r"|\b(None|True|False|Table|DataFrame|dict|callable)\b|\b(" + "|".join(NAMES) + r")\b"
)
"""Python in a sentence: keywords with values, functions, constants, and settings by their names in Python."""


def assert_speaks_shell(text: str) -> None:
    assert not any("\U0001fffe" <= letter <= "\U0002fffe" for letter in text), "both wordings"
    found = PYTHON.search(text)
    assert found is None, f"{found[0]!r} in {text}"


def table(head: str, *columns: Iterable[object], delimiter: str = ",") -> str:
    lines = (delimiter.join(map(str, row)) for row in zip(*columns, strict=True))
    return "".join(f"{line}\n" for line in (*([head] if head else []), *lines))


def texts() -> dict[str, str]:
    """Files that ask for a remedy, by name."""
    random = np.random.default_rng(0)
    noise, other = random.normal(size=(2, 400)).round(4).tolist()
    bit, few, weights = [k % 2 for k in range(400)], random.integers(3, size=400), random.integers(1, 4, size=400)
    word = [["low", "mid", "high"][k] for k in few]
    shifted = [[word[k] if k % 7 else word[k - j] for k in range(400)] for j in (1, 2, 3)]
    comma = [[str(value).replace(".", ",") for value in column] for column in (noise, other)]
    return {
        "plain.csv": table("y,a,b,c", word, *shifted),
        "gaps.csv": table("y,a,x", bit, ["", *word[1:]], [*noise[:9], "NA", *noise[10:]]),
        "alone.csv": table("y,a", [one or "" for one in bit], ["" if one else 2 for one in bit]),
        "numbers.csv": table("y,x,n", noise, other, few),
        "mixed.csv": table("y,x,g,w,h", bit, noise, word, weights, weights + 0.5),
        "identifier.csv": table("y,id,x", bit, [f"P{k:05}" for k in range(400)], noise),
        "leak.csv": table("y,x,z", noise, [2 * value + 1 for value in noise], other),
        "headless.csv": table("", bit, bit, noise),
        "years.csv": table("y,1990,1991", word, bit, [k % 5 for k in range(400)]),
        "index.csv": table(",y,a", range(400), bit, word),
        "odd.csv": table("y,x", bit, ["n.d.", *noise[1:]]),
        "text.csv": table("y,x", bit[:40], ["low" if k % 7 == 0 else k for k in range(40)]),
        "tabs.txt": table("y\tx", bit, noise, delimiter="\t"),
        "semicolons.csv": table("y;x;z", bit, *comma, delimiter=";"),
        "levels.csv": table("y,s", bit * 165, range(66000)),
        "constant.csv": table("y,a", [1] * 400, few),
        "one.csv": table("y", bit),
        "few.csv": table("y,a", bit[:3], bit[:3]),
        "empty.csv": "",
        "repeated.csv": "y,y\n0,1\n1,0\n0,0\n",
        "bad.json": "[1, 2",
        "list.json": "[1, 2]",
        "cyclic.json": json.dumps({"required": [["y", "a"], ["a", "y"]]}),
        "pairs.json": json.dumps({"required": ["y"]}),
        "tiers.json": json.dumps({"tiers": "y"}),
        "key.json": json.dumps({"Required": []}),
        "arcs.json": json.dumps({"required": [["a", "y"]]}),
        "apart.json": json.dumps({"forbidden_pairs": [["a", "y"]]}),
        "strange.json": json.dumps({"required": [["A", "y"]]}),
        "bare.bif": "network n {} variable v { type discrete [2] { a, b }; }",
    }


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with files that ask for a remedy."""
    folder = tmp_path_factory.mktemp("words")
    content = texts()
    for name, text in content.items():
        (folder / name).write_text(text)
    (folder / "latin.csv").write_bytes("y,größe\n0,1\n1,\x81\n".encode("latin-1"))
    (folder / "nul.csv").write_bytes(b"y,a\n0,\x00\n" * 20)
    (folder / "data.parquet").write_bytes(b"PAR1 and no more")
    (folder / "data.csv.gz").write_bytes(b"\x1f\x8b and no more")
    with zipfile.ZipFile(folder / "two.zip", "w") as archive:
        archive.writestr("a.csv", content["plain.csv"])
        archive.writestr("b.csv", content["plain.csv"])
    with sqlite3.connect(folder / "data.sqlite") as database:
        database.execute("create table one (y, a)")
        database.execute("create table two (y, a)")
    database.close()
    return folder


ERRORS = [
    # reading
    ("blanket plian.csv -t y", 1, "Did you mean 'plain.csv'"),
    ("blanket PLAIN.csv -t y", 1, "Did you mean 'plain.csv'?"),
    ("blanket plain.csv -t Y", 2, "Did you mean 'y'?"),
    ("blanket plain.csv -t y --ignore A", 2, "Did you mean 'a'?"),
    ("blanket plain.csv -t y --ignore y", 2, "the column 'y' is ignored"),
    ("blanket plain.csv -t y --ignore y --ignore a --ignore b --ignore c", 2, "all columns are ignored"),
    ("blanket plain.csv -t y --kind A=categorical", 2, "--kind names a column 'A'"),
    ("blanket plain.csv -t y --kind a=Ordinal", 2, "Did you mean 'ordinal'?"),
    ("blanket plain.csv -t y --kind a", 2, "--kind 'a' must be NAME=KIND"),
    ("blanket plain.csv -t y --kind a=ordinal", 1, "write its levels as numbers"),
    ("blanket plain.csv -t y --kind a=boolean", 1, "pass --kind a=categorical"),
    ("blanket plain.csv -t y --kind a=date", 1, "a date"),
    ("blanket numbers.csv -t y --kind x=count", 1, "pass --kind x=continuous"),
    ("blanket numbers.csv -t y --kind x=proportion", 1, "pass --kind x=continuous"),
    ("blanket levels.csv -t y --kind s=categorical", 1, "pass --kind s=continuous"),
    ("blanket gaps.csv -t y", 1, "pass --missing drop to drop such rows (2 of 400) or --missing pairwise to keep"),
    ("blanket gaps.csv -t y --missing level", 1, "as in --missing level --missing x=drop"),
    ("blanket gaps.csv -t y --missing some", 2, "--missing 'some' is not known"),
    ("blanket gaps.csv -t y --missing z=drop", 2, "--missing names a column 'z'"),
    ("blanket alone.csv -t y --missing drop", 1, "pass --missing pairwise to keep them"),
    ("blanket empty.csv -t y", 1, "is empty"),
    ("blanket repeated.csv -t y", 1, "occurs more than once"),
    ("blanket one.csv -t y", 1, "the table has one column"),
    ("blanket constant.csv -t y", 1, "is constant"),
    ("blanket latin.csv -t y", 1, "such as --encoding cp1251"),
    ("blanket latin.csv -t y --encoding utf-8", 1, "such as --encoding cp1252"),
    ("blanket latin.csv -t y --encoding utf-9", 2, "--encoding utf-9 is not known"),
    ("blanket nul.csv -t y", 1, "no text"),
    ("blanket data.parquet -t y", 1, "cannot be read as Parquet"),
    ("blanket data.csv.gz -t y", 1, "cannot be decompressed"),
    ("blanket two.zip -t y", 2, "choose one with --table a.csv"),
    ("blanket two.zip -t y --table A.csv", 2, "Did you mean 'a.csv'"),
    ("blanket data.sqlite -t y", 2, "choose one with --table one"),
    ("blanket data.sqlite -t y --table one --header --decimal ,", 2, "--header and --decimal are about files"),
    ("blanket plain.csv -t y --table a", 2, "--table a names a sheet"),
    ("blanket plain.csv -t y --delimiter ;;", 2, "--delimiter must be one character"),
    ("blanket plain.csv -t y --delimiter , --decimal ,", 2, "--delimiter , is another mark"),
    ("blanket plain.csv -t y --quote ab", 2, "--quote must be one character"),
    ("blanket plain.csv -t y --comment #############", 2, "--comment must be a mark"),
    ("blanket plain.csv -t y --names a,b", 1, "but --names names 2"),
    ("blanket plain.csv -t y --names a,b,c,d --header", 2, "leave out --header"),
    ("blanket headless.csv -t y", 2, "pass --header if it holds their names, or name them, as in --names a,b"),
    # weights and groups
    ("blanket mixed.csv -t y --weight-kind survey", 2, "name their column with --sample-weight"),
    ("blanket mixed.csv -t y --sample-weight W", 2, "for --sample-weight. Did you mean 'w'?"),
    ("blanket mixed.csv -t w --sample-weight w", 2, "the column 'w' holds the weights"),
    ("blanket mixed.csv -t y --sample-weight h", 1, "pass --weight-kind survey"),
    ("blanket gaps.csv -t y --missing drop --sample-weight x", 1, "named by --sample-weight, has no value"),
    ("blanket mixed.csv -t y --sample-weight h --weight-kind survey --test gcm", 1, "cannot take survey weights"),
    ("blanket constant.csv -t a --groups y", 1, "all rows are in one group"),
    # settings of the search
    ("blanket plain.csv -t y --algorithm IAMBX", 2, "Did you mean 'iamb'"),
    ("blanket plain.csv -t y --algorithm MMHC", 2, "use serape network, or another algorithm"),
    ("blanket plain.csv -t y --algorithm hiton-pc", 2, "finds parents and children only"),
    ("blanket plain.csv -t y --test G22", 2, "Did you mean 'g2'?"),
    ("blanket plain.csv -t y --test chi3", 2, "'chi3' is not known"),
    ("blanket plain.csv -t y --test partial-correlation", 1, "use --test mixed, pass --ignore y"),
    ("blanket plain.csv -t y --test correlation-permutation", 1, "pass --ignore y, or"),
    ("blanket gaps.csv -t y --missing level --kind x=categorical --test trend", 1, "pass --missing drop or --test g2"),
    ("blanket mixed.csv -t y --test g2", 1, "leave them out with --ignore x --ignore h"),
    ("blanket identifier.csv -t id", 1, "pass --kind id="),
    ("blanket identifier.csv -t y --known id", 1, "pass --kind id="),
    ("blanket plain.csv -t y --alpha 7", 2, "--alpha must be between 0 and 1, not 7.0"),
    ("blanket plain.csv -t y --alpha x", 2, "--alpha must be a number"),
    ("blanket plain.csv -t y --fdr 7", 2, "--fdr must be between 0 and 1"),
    ("blanket plain.csv -t y --fdr none --fdr-method by", 2, "pass one, such as --fdr 0.05"),
    ("blanket plain.csv -t y --min-effect -1", 2, "--min-effect must be a number of bits"),
    ("blanket plain.csv -t y --max-conditioning x", 2, "--max-conditioning must be a whole number"),
    ("blanket plain.csv -t y --max-conditioning 99999999999", 2, "--max-conditioning must be a whole number"),
    ("blanket plain.csv -t y --max-seconds 0", 2, "--max-seconds must be a number above 0"),
    ("blanket plain.csv -t y --max-tests 0", 2, "--max-tests must be a whole number"),
    ("blanket plain.csv -t y --seed -1", 2, "--seed must be a whole number"),
    ("blanket plain.csv -t y --jobs 0", 2, "--jobs must be 1 or more"),
    ("blanket plain.csv -t y --option k", 2, "--option k must be NAME=VALUE"),
    ("blanket plain.csv -t y --option alpha=1", 2, "use --alpha"),
    ("blanket plain.csv -t y --option z=1", 2, "no algorithm has an option 'z'"),
    ("blanket plain.csv -t y --algorithm iamb --option k=2", 2, "has no option 'k'"),
    ("blanket plain.csv -t y --algorithm fbed --option k=x", 2, "--option k must be a whole number, 0 or more, or"),
    ("blanket plain.csv -t y --algorithm pcmb --option symmetry=2", 2, "--option symmetry must be true or false"),
    ("blanket plain.csv -t y --algorithm iamb --option rank=best", 2, "--option rank must be"),
    ("blanket plain.csv -t y --algorithm iamb --option rank=information --test x2", 2, "use --option rank="),
    ("blanket plain.csv -t y --known a --forbid a", 2, "remove it from --known or from --forbid"),
    ("blanket plain.csv -t y --known y", 2, "remove it from --known and --forbid"),
    ("blanket plain.csv -t y --known Z", 2, "there is no column 'Z'"),
    ("neighbours plain.csv -t y --known a --knowledge apart.json", 2, "knowledge forbids it"),
    ("blanket plain.csv -t y --forbid a --knowledge arcs.json", 2, "knowledge requires an arc"),
    ("blanket plain.csv -t y --knowledge bad.json", 2, "cannot be read as JSON"),
    ("blanket plain.csv -t y --knowledge list.json", 2, "--knowledge must be a JSON object"),
    ("blanket plain.csv -t y --knowledge cyclic.json", 2, "are both required"),
    ("blanket plain.csv -t y --knowledge pairs.json", 2, 'such as [["A", "B"]]'),
    ("blanket plain.csv -t y --knowledge tiers.json", 2, 'such as [["A"], ["B", "C"]]'),
    ("blanket plain.csv -t y --knowledge key.json", 2, "Did you mean 'required'?"),
    ("blanket plain.csv -t y --knowledge strange.json", 2, "Did you mean 'a'?"),
    ("blanket plain.csv -t y --explain A", 2, "Did you mean 'a'?"),
    ("blanket plain.csv -t y --explain y", 2, "the target itself"),
    ("blanket plain.csv -t y --picture a.gif", 2, ".png, .svg or .pdf"),
    ("blanket plain.csv -t y --report a.txt", 2, "ends in .html"),
    ("blanket plain.csv -t y -o none/a.json", 1, "there is no folder none"),
    ("blanket plain.csv -t y --dof FUL", 2, "'full'"),
    ("blanket plain.csv --Tagret y", 2, "--target"),
    # many columns, draws, networks
    ("path plain.csv -t y --alpha 7", 2, "--alpha must be between 0 and 1"),
    ("stability plain.csv", 2, "name it with --target"),
    ("stability plain.csv -t y --finds skeleton", 2, "--target y is given"),
    ("stability plain.csv -t y --rule or", 2, "--rule or has no effect with --finds blanket"),
    ("stability plain.csv --finds skeleton --score bic", 2, "--score bic has no effect with --finds skeleton"),
    ("stability plain.csv -t y --draws 0", 2, "--draws must be a whole number"),
    ("stability few.csv -t y", 2, "use --sampling bootstrap"),
    ("stability plain.csv -t y --threshold 2", 2, "--threshold must be above 0"),
    ("stability plain.csv -t y --max-false 0", 2, "--max-false takes a number above 0"),
    ("region plain.csv -t y --depth 0", 2, "--depth must be a whole number"),
    ("region plain.csv -t y --algorithm pc-stable", 2, "for a region use one"),
    ("region plain.csv -t y --json --format dot", 2, "--json and --format dot exclude"),
    ("skeleton plain.csv --algorithm ges", 2, "use serape network"),
    ("skeleton plain.csv --checkpoint plain.csv", 2, "is not a checkpoint"),
    ("network plain.csv --algorithm ges --alpha 0.1", 2, "so --alpha 0.1 has no effect"),
    ("network plain.csv --algorithm ges --checkpoint kept.jsonl", 2, "so --checkpoint kept.jsonl has no effect"),
    ("network plain.csv --algorithm ges --score k2", 2, "use --score bdeu or 'bic'"),
    ("network plain.csv --algorithm ges --option k=2", 2, "has no option 'k'"),
    ("network plain.csv --algorithm tabu --option max_parents=0", 2, "--option max_parents must be a whole number"),
    ("network plain.csv --algorithm tabu --score bdeu --ess -1", 2, "must be"),
    ("network mixed.csv --algorithm mmhc --score bic", 1, "or use --algorithm hiton-pc or 'pc-stable'"),
    ("network numbers.csv --bif net.bif", 1, "leave them out with --ignore"),
    ("network plain.csv --truth asia", 2, "have different variables"),
    ("network plain.csv --truth ASI", 2, "Did you mean 'asia'"),
    ("network gaps.csv --missing pairwise --kind x=categorical --algorithm ges", 1, "pass --missing drop or --missing"),
    ("describe plain.csv -t Y", 2, "Did you mean 'y'?"),
    # the library
    ("sample ALRM", 2, "the name of a file ends in .bif or .bif.gz"),
    ("sample none.bif", 1, "there is no file none.bif"),
    ("sample bare.bif", 1, "has no probability block"),
    ("sample asia --json", 2, "--json is for --list only"),
    ("sample asia -o a.txt", 2, "must end in .csv"),
    ("sample", 2, "serape sample alarm"),
    ("study Pena2005", 2, "Did you mean"),
    ("study pena2005-table4 --quick --jobs 0", 2, "--jobs must be 1 or more"),
    ("demo --out plain.csv", 1, "name another with --out"),
    ("demo --seed -1", 2, "--seed"),
    ("blnket plain.csv", 2, "blanket"),
]  # fmt: skip


@pytest.mark.parametrize(("line", "code", "sentence"), ERRORS, ids=[line for line, _, _ in ERRORS])
def test_errors(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    files: Path,
    line: str,
    code: int,
    sentence: str,
) -> None:
    monkeypatch.chdir(files)
    found, _, err = run(capsys, *line.split())
    text = " ".join(re.sub("[│╭╮╰╯─]", " ", err).split())
    assert sentence in text
    assert found == code
    assert_speaks_shell(text)


NOTES = [
    ("blanket years.csv -t y", "pass --no-header if it is"),
    ("blanket headless.csv -t x0", "pass --header if it holds their names, or name them, as in --names a,b"),
    ("blanket index.csv -t y", "pass --no-index if it is a variable"),
    ("blanket odd.csv -t y --missing drop", "pass --kind x=categorical if the column is text"),
    ("blanket text.csv -t y", "pass --na low if this means a missing value"),
    ("blanket tabs.txt -t y", "detected in the text: --delimiter tab;"),
    ("blanket semicolons.csv -t y", "detected in the text: --delimiter ';', --decimal ,;"),
    ("blanket leak.csv -t y", "leave it out with --ignore x"),
    ("blanket identifier.csv -t y", "pass --kind id=categorical"),
    ("blanket numbers.csv -t y", "pass --kind n=ordinal"),
    ("blanket plain.csv -t y --max-tests 3", "stopped at --max-tests 3"),
    ("blanket plain.csv -t y --max-conditioning 1", "over --max-conditioning"),
    ("blanket plain.csv -t y --min-effect 9 --explain a", "its effect is less than 9 bits"),
    ("path plain.csv -t y --max-tests 1", "stopped at the budget (--max-seconds, --max-tests)"),
    ("stability plain.csv -t y --max-tests 1 --draws 2", "stopped at the budget (--max-seconds, --max-tests)"),
    ("region plain.csv -t y --max-tests 2", "stopped at --max-tests 2"),
    ("network plain.csv --max-tests 2", "stopped at --max-tests 2"),
    ("describe gaps.csv", "--missing pairwise (assumed here)"),
]


@pytest.mark.parametrize(("line", "note"), NOTES, ids=[line for line, _ in NOTES])
def test_notes(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, files: Path, line: str, note: str
) -> None:
    monkeypatch.chdir(files)
    code, out, err = run(capsys, *line.split())
    text = " ".join(out.split())
    assert (code, err) == (3 if "stopped at" in note else 0, "")
    assert note in text
    assert_speaks_shell(text)


def test_python_keeps_its_own_words(files: Path) -> None:
    """An error or a note tells what Python takes, wherever it is shown but by a command."""
    with pytest.raises(serape.DataError, match=r"pass missing='drop' to .*missing='pairwise' to "):
        serape.markov_blanket(files / "gaps.csv", "y")
    with pytest.raises(serape.DataError, match=r"as in missing={'\*': 'level', 'x': 'drop'}$"):
        serape.Table(files / "gaps.csv", missing="level")
    with pytest.raises(serape.OptionError, match="use serape.network, or another"):
        serape.markov_blanket(files / "plain.csv", "y", algorithm="mmhc")
    with pytest.raises(serape.OptionError, match="^k must be a whole number, 0 or more, or None to repeat"):
        serape.markov_blanket(files / "plain.csv", "y", algorithm="fbed", k="x")  # type: ignore[arg-type]
    with pytest.raises(serape.OptionError, match="^n_jobs must be 1 or more"):
        serape.markov_blanket(files / "plain.csv", "y", n_jobs=0)
    with pytest.raises(serape.OptionError, match="are called x0 to x2; pass header=True if it holds"):
        serape.markov_blanket(serape.Table(files / "headless.csv"), "y")
    table = serape.Table(files / "index.csv")
    assert table.notes[0].endswith("pass index=False if it is a variable")
    found = serape.markov_blanket(table, "y", max_conditioning=1, max_tests=1)
    assert found.notes[-1].startswith("the search stopped at max_tests=1")
    assert "unreliable or over max_conditioning, " in str(found)
    assert json.loads(found.to_json())["notes"] == list(found.notes) == list(pickle.loads(pickle.dumps(found)).notes)


def test_every_setting_is_named_as_its_option() -> None:
    import typer

    from serape.cli.app import app

    group = typer.main.get_command(app)
    stability = group.commands["stability"]  # type: ignore[attr-defined]
    options = {name for parameter in stability.params for name in (*parameter.opts, *parameter.secondary_opts)}
    for name in FIELDS.keys() - {"progress"}:  # --quiet
        assert wording.option_of(name) in options, name


@pytest.mark.parametrize(
    ("name", "value", "python", "command"),
    [
        ("header", True, "header=True", "--header"),
        ("header", ["a", "b c"], "header=['a', 'b c']", "--names 'a,b c'"),
        ("index", False, "index=False", "--no-index"),
        ("kinds", {"a b": "count"}, "kinds={'a b': 'count'}", "--kind 'a b=count'"),
        ("missing", {"*": "level", "x": "drop"}, "missing={'*': 'level', 'x': 'drop'}",
         "--missing level --missing x=drop"),
        ("ignore", ["a", "b"], "ignore=['a', 'b']", "--ignore a --ignore b"),
        ("max_conditioning", None, "max_conditioning=None", "--max-conditioning none"),
        ("delimiter", "\t", "delimiter='\\t'", "--delimiter tab"),
        ("kinds", "count", "kinds='count'", "kinds='count'"),  # the command line cannot say so
    ],
)  # fmt: skip
def test_a_setting_with_a_value(name: str, value: object, python: str, command: str) -> None:
    sentence = errors.OptionError(f"pass {wording.setting(name, value)}")
    for carried in (sentence, pickle.loads(pickle.dumps(sentence)), errors.OptionError(errors.embedded(sentence))):
        assert str(carried) == f"pass {python}"
        assert errors.command_words(carried) == f"pass {command}"


@pytest.mark.parametrize(
    "value",
    [5, 10**5000, np.zeros(10**6), [1, "a"], {"a": 1}, b"a", object(), float("nan")],
    ids=lambda value: type(value).__name__,
)
def test_a_wrong_value_is_told_too(value: object) -> None:
    for name in FIELDS:
        assert errors.worded(wording.setting(name, value)).startswith(f"{name}=")


def test_sentences_leave_the_words_to_wording() -> None:
    """No text in the code gives a setting a value in the way of Python, where a command can come by."""
    source = Path(serape.__file__).parent
    only_python = {"sklearn.py", "data/discretise.py", "data/degenerate.py", "networks/bif_reader.py", "_keywords.py"}
    syntax = re.compile(rf"\b({'|'.join(FIELDS)})=(['\"{{\[]|True|False|None)|\bserape\.[a-z_]+\(")
    for path in sorted(source.rglob("*.py")):
        name = path.relative_to(source).as_posix()
        if name in only_python or name.startswith(("cli/", "studies/", "results/report/")):
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        told = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}  # docstrings
        for call in ast.walk(tree):
            if (
                isinstance(call, ast.Call)
                and isinstance(call.func, ast.Name)
                and call.func.id in ("_setting", "either")
            ):
                told |= {id(node) for node in ast.walk(call)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in told:
                assert not syntax.search(node.value), f"{name}, line {node.lineno}: {node.value}"
