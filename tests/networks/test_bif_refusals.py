"""BIF files that are wrong or harmful: refused in one sentence that names the line."""

import gzip
import io
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import serape
from bif_texts import SAME_AS_SMALL, SMALL, declared, line_of, refused
from serape.networks import bif_reader, bif_tokens, read_bif, write_bif

# --- what is refused -----------------------------------------------------------------------------------------------


def changed(old: str, new: str) -> str:
    assert SMALL.count(old) == 1
    return SMALL.replace(old, new)


WRONG: dict[str, tuple[str, int, str]] = {
    "nothing": ("", 1, "there is no variable"),
    "another format": ("<xml></xml>", 1, "expected 'network', 'variable' or 'probability', found '<xml></xml>'"),
    "an unknown block": (SMALL + "utility u { }", 16, "found 'utility'"),
    "a comment without an end": (SMALL + "/* never", 16, "a comment opened by /* is never closed"),
    "a quotation mark without an end": (changed("{ no, yes }", '{ no, "yes }'), 4, "a quotation mark is not closed"),
    "an empty name": (changed("{ no, yes }", '{ no, "" }'), 4, "nothing between two quotation marks"),
    "a block without an end": (SMALL.rstrip("}\n"), 12, "the probability block is never closed"),
    "a block without a beginning": ("network small", 1, "the network block is never opened"),
    "a variable without a name": (changed("variable rain", "variable"), 3, "a variable must have one name"),
    "a variable without a block": (SMALL + "variable x", 16, "in a variable's name, found the end of the file"),
    "a variable of two names": (changed("variable rain", "variable rain, sun"), 3, "a variable must have one name"),
    "a variable twice": (changed("variable grass", "variable rain"), 6, "variable 'rain' is declared twice"),
    "a variable without levels": (changed("type discrete [ 2 ] { no, yes };", ""), 3, "variable 'rain' has no levels"),
    "a level twice": (changed("{ no, yes }", "{ no, no }"), 4, "variable 'rain' has the level 'no' twice"),
    "an empty list of levels": (changed("[ 2 ] { no, yes }", "{ }"), 4, "variable 'rain' has no levels"),
    "a level missing between commas": (changed("{ no, yes }", "{ no,, yes }"), 4, "a name is missing before ','"),
    "too few levels": (changed("[ 2 ]", "[ 4 ]"), 4, "expected 4 names in the levels of 'rain', found 2"),
    "too many levels": (changed("[ 2 ]", "[ 1 ]"), 4, "expected 1 name in the levels of 'rain', found 2"),
    "no level": (changed("[ 2 ]", "[ 0 ]"), 4, "variable 'rain' declares 0 levels; it can have 1 to 65,536"),
    "a giant of a variable": (changed("[ 2 ]", "[ 999999999 ]"), 4, "variable 'rain' declares 999,999,999 levels"),
    "a continuous variable": (changed("discrete [ 2 ]", "continuous"), 4, "the type of 'rain' must be written"),
    "a bar among levels": (changed("{ no, yes }", "{ no | yes }"), 4, "in the levels of 'rain', found '|'"),
    "a word in a variable": (changed("type discrete [ 2 ]", "kind discrete [ 2 ]"), 4, "'rain', found 'kind'"),
    "two types": (changed("no, yes };", "no, yes }; type discrete { a };"), 4, "in variable 'rain', found 'type'"),
    "a comma missing": (changed("[ 2 ] { no, yes }", '[ 2 ] { "no" x, yes }'), 4, "a comma is missing after 'no'"),
    "an unknown child": (changed("( rain )", "( rian )"), 9, "names 'rian', which is not a variable; declare it. Did"),
    "an unknown parent": (changed("| rain", "| snow"), 12, "names 'snow', which is not a variable; declare it"),
    "no child": (changed("( rain )", "( )"), 9, "a probability block names no variable"),
    "no names": (changed("( rain )", ""), 9, "expected '(' to open the names of a probability block, found '{'"),
    "two children": (changed("( grass | rain )", "( grass, rain | rain )"), 12, "must have one variable before '|'"),
    "two bars": (changed("| rain )", "| rain | grass )"), 12, "in the head of a probability block, found '|'"),
    "its own parent": (changed("| rain )", "| grass )"), 12, "'grass' is its own parent"),
    "a parent twice": (changed("| rain )", "| rain, rain )"), 12, "'grass' has the same parent twice"),
    "probabilities twice": (SMALL + "probability ( rain ) { table 1 0; }", 16, "'rain' are given twice"),
    "a cycle": (changed("( rain ) {\n  table 0.8, 0.2;", "( rain | grass ) { default 1 0;"), 11, "form a cycle, '"),
    "an unknown level": (changed("(no)", "(now)"), 13, "'now' is not a level of 'rain'; use one of its levels. Did"),
    "too many in a label": (changed("(no)", "(no, yes)"), 13, "expected 1 name in a row's levels, found 2"),
    "too few in a label": (changed("(no)", "()"), 13, "expected 1 name in a row's levels, found 0"),
    "a bar in a label": (changed("(no)", "(no | yes)"), 13, "there is a '|' among a row's levels"),
    "a label without an end": (changed("(no)", "(no"), 13, "expected a name, ',' or ')' in a row's levels, found ';'"),
    "a row twice": (changed("(yes)", "(no)"), 14, "a row of 'grass' is given twice"),
    "a row missing": (changed("  (yes) 0.1, 0.3, 0.6;\n", ""), 12, "'grass' has 1 of 2 rows, and none for (yes); add"),
    "no table": (changed("table 0.8, 0.2;", ""), 9, "'rain' has no probabilities; give it a line 'table …;'"),
    "a number missing": (changed("0.7, 0.2, 0.1", "0.7, 0.2"), 13, "a row of 'grass' needs 3 numbers but has 2"),
    "no numbers": (changed("0.7, 0.2, 0.1", ""), 13, "a row of 'grass' needs 3 numbers but has fewer"),
    "a number too many": (changed("0.2, 0.1", "0.2, 0.1, 0"), 13, "a row of 'grass' needs 3 numbers but has more"),
    "a word for a number": (changed("0.7", "often"), 13, "'often' in a row of 'grass' is not a number"),
    "not a number": (changed("0.7", "nan"), 13, "'nan' in a row of 'grass' is not a number"),
    "an underscore": (changed("0.7", "0.7_1"), 13, "'_1' in a row of 'grass' is not a number"),
    "a malformed number": (changed("0.7", "0.7.1"), 13, "has a value that is not a number"),
    "an overflowing number": (changed("0.7", "1e999"), 13, "the probabilities of 'grass' add up to inf"),
    "a semicolon missing": (changed("0.1;", "0.1"), 14, "a row of 'grass' is not ended by ';'"),
    "a row that does not add up": (changed("0.7", "0.6"), 13, "'grass' add up to 0.9; they must add up to 1"),
    "the later row that does not add up": (changed("0.6;", "0.5;"), 14, "'grass' add up to 0.9; they must add up"),
    "a negative probability": (changed("0.8, 0.2", "1.2, -0.2"), 10, "'rain' include -0.2; none may be negative"),
    "a table that does not add up": (changed("0.8", "0.7"), 10, "the probabilities of 'rain' add up to 0.9"),
    "a default that does not add up": (changed("(no) 0.7", "default 0.8"), 13, "the default probabilities of 'grass'"),
    "a table and rows": (changed("(yes)", "table .1 .1 .1 .1 .3 .3; (yes)"), 12, "'grass' are both a table and rows"),
    "two tables": (changed("0.2;", "0.2; table 1, 0;"), 10, "in the probabilities of 'rain', found 'table'"),
    "a word in a table": (changed("table 0.8", "tabel 0.8"), 10, "in the probabilities of 'rain', found 'tabel'"),
}  # fmt: skip


@pytest.mark.parametrize("what", WRONG)
def test_errors_name_their_line(what: str, folder: Path) -> None:
    text, line, told = WRONG[what]
    message = refused(folder, text)
    assert told in message
    assert line_of(message) == line


def test_lines_are_counted_through_comments(folder: Path) -> None:
    text = "/* one\ntwo\r\nthree */ // more\n\n" + changed("(no)", "(now)")
    assert line_of(refused(folder, text)) == 4 + 13


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    path = tmp_path / "network.bif"
    with pytest.raises(serape.DataError, match="there is no file"):
        read_bif(path)
    with pytest.raises(serape.DataError, match="cannot be read"):
        read_bif(tmp_path)
    assert "is not UTF-8 text" in refused(tmp_path, b"variable \xff")
    zipped = gzip.compress(SMALL.encode())
    assert "cannot be decompressed" in refused(tmp_path, zipped[:-10])
    assert "cannot be decompressed" in refused(tmp_path, zipped[:12] + b"\0\xff\0\xff" + zipped[16:])
    assert "cannot be decompressed" in refused(tmp_path, b"\x1f\x8b")


# --- what is meant to do harm --------------------------------------------------------------------------------------


PAIRS = declared(*(f"v{k}" for k in range(40)))
LONG = 300_000


def crowd(parents: int) -> str:
    return f"{PAIRS} probability ( v0 | {', '.join(f'v{k}' for k in range(1, parents + 1))} )"


HARMFUL = {
    "a table of 2^40 numbers": f"{crowd(39)} {{ table 1; }}",
    "a default for 2^39 rows": f"{crowd(39)} {{ default 1 0; }}",
    "a table of 2^24 numbers": f"{crowd(23)} {{ table 1; }}",
    "one row of 2^23": f"{crowd(23)} {{ ({', '.join(['x'] * 23)}) 1 0; }}",
    "comments in comments": "/*" * LONG,
    "open comments": "/* " * LONG,
    "slashes": "/" * LONG,
    "quotation marks": '"' * (LONG + 1),
    "escaped quotation marks": '"' + '\\"' * LONG,
    "escaped quotation marks in a block": 'network x { "' + '\\"' * LONG,
    "escaped quotation marks in a property": 'variable x { property "' + '\\"' * LONG,
    "braces": "network x " + "{" * LONG,
    "pairs of braces": "network x {" + "{}" * LONG,
    "braces in a variable": "variable x " + "{" * LONG,
    "braces in a property": "variable x { property " + "{a}" * LONG,
    "parentheses": "probability " + "(" * LONG,
    "parentheses in a block": declared("a") + "probability ( a ) { " + "(" * LONG + "}",
    "words": "variable " + "a " * LONG,
    "parents": declared("a") + "probability ( a | " + "a," * LONG + ") { }",
    "levels": "variable a { type discrete [2] { " + "x," * LONG,
    "a level twice among many": "variable a { type discrete { "
    + " ".join(map(str, [*range(60_000), 59_999]))
    + " }; }",
    "a long label": declared("a", "b") + "probability ( a | b ) { (" + "x," * LONG + ") 1 0; }",
    "a long name": declared("a" * LONG),
    "a long unknown name": declared("a" * LONG) + f"probability ( {'a' * LONG}b ) {{ }}",
    "a long number": declared("a") + "probability ( a ) { table 0." + "1" * LONG + ", 0.5; }",
    "many numbers": declared("a") + "probability ( a ) { table " + "0 " * LONG + "; }",
    "many rows": declared("a") + "probability ( a ) { " + "() 1 0; " * LONG + "}",
    "many semicolons": ";" * LONG,
    "many lines": "\n" * LONG,
    "zeros": "\0" * LONG,
    "a long cycle": declared(*(f"v{k}" for k in range(2000)))
    + "".join(f"probability ( v{k} | v{(k + 1) % 2000} ) {{ default 1 0; }}\n" for k in range(2000)),
}


@pytest.mark.parametrize("what", HARMFUL)
def test_a_harmful_file_is_refused(what: str, folder: Path) -> None:
    refused(folder, HARMFUL[what])


def test_defaults_have_a_limit_together(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bif_reader, "MAX_NUMBERS", 5000)
    parents = ", ".join(f"v{k}" for k in range(10, 20))
    blocks = [f"probability ( v{k} | {parents} ) {{ default 1 0; }}\n" for k in range(3)]
    message = refused(folder, PAIRS + "".join(blocks))
    assert "line 43: with the probabilities of 'v2' there are more than 5,000 numbers" in message


def test_names_have_a_limit(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bif_reader, "MAX_NAMES", 20)
    assert "more than 20 variables and levels" in refused(folder, PAIRS)


def test_a_gzip_bomb_is_not_unpacked(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bif_tokens, "MAX_BYTES", 1 << 20)
    assert "is larger than 1 MB once decompressed" in refused(folder, gzip.compress(b" " * (32 << 20)))
    several = io.BytesIO()
    for _ in range(40):
        several.write(gzip.compress(b" " * (1 << 16)))
    assert "is larger than 1 MB once decompressed" in refused(folder, several.getvalue())
    assert "is larger than 1 MB, the limit" in refused(folder, " " * ((1 << 20) + 1))


# --- chance --------------------------------------------------------------------------------------------------------


WORDS = st.sampled_from(
    ["network", "variable", "probability", "type", "discrete", "table", "default", "property", "function max", "a", "b",
     "x", "y", "x, y", "0.5", "0.5, 0.5", "1", "2", "1e400", "-1", "[2]", "{", "}", "(", ")", ",", ";", "|", "=", '"',
     "\\", "//", "/*", "*/", "\n", " ", "\t", "\0", "é", "\u2028", "variable a { type discrete [2] { x, y }; }",
     "variable b { type discrete { x, y }; }", "probability ( a ) { table 0.5 0.5; }", "probability ( a | b ) {"]
)  # fmt: skip


def read_or_refused(folder: Path, content: bytes) -> None:
    """Read something that may be anything: a network or a DataError comes out."""
    path = folder / "fuzz.bif"
    path.write_bytes(content)
    choices: tuple[bif_reader.MissingNumbers, ...] = ("error", "uniform")
    for missing in choices:
        try:
            network = read_bif(path, missing=missing)
        except serape.DataError as error:
            assert "\n" not in str(error)
        else:
            write_bif(network, folder / "again.bif")
            assert read_bif(folder / "again.bif") == network


@settings(max_examples=300, deadline=None)
@given(st.lists(WORDS, max_size=40).map("".join))
def test_words_of_the_format_in_any_order(folder: Path, text: str) -> None:
    read_or_refused(folder, text.encode())


@settings(max_examples=100, deadline=None)
@given(st.one_of(st.binary(max_size=200), st.text(max_size=200).map(lambda s: s.encode("utf-8", "surrogatepass"))))
def test_anything_at_all(folder: Path, content: bytes) -> None:
    read_or_refused(folder, content)


@settings(max_examples=300, deadline=None)
@given(
    st.sampled_from([SMALL, *SAME_AS_SMALL.values()]),
    st.lists(
        st.tuples(st.floats(0, 1), st.integers(0, 12), st.one_of(WORDS, st.text(max_size=3))), min_size=1, max_size=4
    ),
)
def test_files_with_something_changed(folder: Path, text: str, changes: list[tuple[float, int, str]]) -> None:
    for where, length, new in changes:
        at = int(where * len(text))
        text = text[:at] + new + text[at + length :]
    read_or_refused(folder, text.encode("utf-8", "surrogatepass"))


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_zipped_files_with_a_byte_changed(folder: Path, data: st.DataObject) -> None:
    zipped = bytearray(gzip.compress(SMALL.encode(), mtime=0))
    zipped[data.draw(st.integers(0, len(zipped) - 1))] = data.draw(st.integers(0, 255))
    read_or_refused(folder, bytes(zipped))
