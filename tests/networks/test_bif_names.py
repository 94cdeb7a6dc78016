"""Names in BIF files that other programs read."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import serape
from serape.networks import Network, read_bif, write_bif

ODD = ["<5", ">5", "2.5", "-3", "7", "40 to 60", "(1,2]", "é", "日本", "default", "x_5", '// "q\\', "{", "_5"]
NETWORK = Network(
    {"my var": ODD, "table": ["yes", "no"], "plain": ["a", "b"], "my_var": ["1", "2"]},
    {"plain": ["my var", "table"]},
    {
        "my var": [[1 / len(ODD)] * len(ODD)],
        "table": [[0.5, 0.5]],
        "plain": [[k / 100, 1 - k / 100] for k in range(2 * len(ODD))],
        "my_var": [[0.1, 0.9]],
    },
)


def test_names_are_replaced_and_restored(tmp_path: Path) -> None:
    path = tmp_path / "net.bif"
    (note,) = write_bif(NETWORK, path)
    assert "2 variables and 10 levels, such as 'my var' as 'my_var_2'" in note
    text = path.read_text()
    assert text.isascii()
    code = re.sub(r"//.*", "", text)
    assert '"' not in code
    names = re.findall(r"variable (\S+) \{\n  type discrete \[ \d+ \] \{ (.*) \};", code)
    assert len(names) == 4
    for name, levels in names:
        assert re.fullmatch(r"[A-Za-z_]\w*", name)
        assert name not in ("table", "default")
        each = levels.split(", ")
        assert all(re.fullmatch(r"[A-Za-z_]\w*|-?\d+", level) and level != "default" for level in each)
        assert len(set(each)) == len(each)
    assert read_bif(path) == NETWORK


def test_names_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "net.bif"
    assert write_bif(NETWORK, path, portable=False) == []
    assert "// serape" not in path.read_text()
    assert 'variable "my var"' in path.read_text()
    assert read_bif(path) == NETWORK


def test_plain_names_need_no_comment(tmp_path: Path) -> None:
    assert write_bif(serape.load_network("alarm"), tmp_path / "alarm.bif") == []
    assert "//" not in (tmp_path / "alarm.bif").read_text()


def test_damaged_comments(tmp_path: Path) -> None:
    path = tmp_path / "net.bif"
    rest = "variable b { type discrete [ 1 ] { z }; }\nprobability ( b ) { table 1; }\n"
    body = "variable a { type discrete [ 2 ] { x, y }; }\nprobability ( a ) { table 0.5, 0.5; }\n" + rest
    for comment in (
        '// serape: variable a is "\\ud800"',
        '// serape: variable a is "\\x"',
        "// serape: variable a is c",
    ):
        path.write_text(f"{comment}\n{body}")
        assert read_bif(path).variables == ("a", "b")
    for comment, message in (
        ('// serape: variable a is "b"', "two variables have the same original name"),
        ('// serape: level of a x is "y"', "'a' has the same level twice"),
        ('// serape: variable a is "two\\nlines"', "its name must be text of one line"),
    ):
        path.write_text(f"{comment}\n{body}")
        with pytest.raises(serape.DataError, match=message) as refused:
            read_bif(path)
        assert str(path) in str(refused.value)
