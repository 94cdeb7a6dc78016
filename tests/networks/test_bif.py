"""BIF files: what is written is read again, and the forms that programs write."""

import gzip
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import serape
from bif_texts import SAME_AS_SMALL, SMALL, declared, parsed, refused
from plain import random_network
from serape.networks import Network, load_network, read_bif, write_bif

# --- round trip ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["asia", "sachs", "insurance", "water", "alarm", "hailfinder", "hepar2", "andes", "munin1"]
)
@pytest.mark.parametrize("suffix", [".bif", ".bif.gz"])
def test_what_is_written_is_read_again(name: str, suffix: str, tmp_path: Path) -> None:
    network = load_network(name)
    path = tmp_path / f"{name}{suffix}"
    write_bif(network, path)
    assert (path.read_bytes()[:2] == b"\x1f\x8b") == (suffix == ".bif.gz")
    assert read_bif(path) == network
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("seed", range(5))
def test_random_numbers_survive_to_the_last_bit(seed: int, folder: Path) -> None:
    network = random_network(np.random.default_rng(seed), 7)
    write_bif(network, folder / "random.bif")
    again = read_bif(folder / "random.bif")
    assert again == network
    assert all(again.cpt(n).tobytes() == network.cpt(n).tobytes() for n in network.variables)


NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8).filter(
    lambda s: s.splitlines() == [s]
)


@settings(max_examples=60, deadline=None)
@given(st.lists(NAMES, min_size=2, max_size=4, unique=True), st.lists(NAMES, min_size=1, max_size=4, unique=True))
def test_any_names_survive(folder: Path, names: list[str], levels: list[str]) -> None:
    share = 1 / len(levels)
    network = Network(
        dict.fromkeys(names, levels),
        {names[0]: names[1:]},
        {
            name: np.full((len(levels) ** (len(names) - 1 if k == 0 else 0), len(levels)), share)
            for k, name in enumerate(names)
        },
    )
    write_bif(network, folder / "names.bif")
    assert read_bif(folder / "names.bif") == network


@pytest.mark.parametrize(
    "name",
    ['say "x"', "back\\slash", 'end\\"', "//", "a//b", "/*", "*/", "http://x", " ", "1", "0.5", "table", "default",
     "property", "variable", "probability", "(", "}", "a, b", "x|y", "é", "<5", ">=7.5", "[0]", ";", "'", "a\tb"],
)  # fmt: skip
def test_odd_names_survive(name: str, folder: Path) -> None:
    network = Network(
        {name: [name, "other"], "child": [name, "x"]}, {"child": [name]}, {name: [0.5, 0.5], "child": [[1, 0], [0, 1]]}
    )
    write_bif(network, folder / "odd.bif")
    assert read_bif(folder / "odd.bif") == network


def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "kept.bif"
    path.write_text("kept")
    with pytest.raises(serape.DataError, match="'\\\\ud800' in a name cannot be written as UTF-8"):
        write_bif(Network({"a\ud800": ["x"]}, {}, {"a\ud800": [1]}), path)
    assert path.read_text() == "kept"
    with pytest.raises(serape.DataError, match="cannot be written"):
        write_bif(load_network("asia"), tmp_path / "nowhere" / "asia.bif")
    assert [p.name for p in tmp_path.iterdir()] == ["kept.bif"]


def test_a_zipped_file_has_the_same_bytes_every_time(tmp_path: Path) -> None:
    for name in ("one.bif.gz", "two.bif.gz"):
        write_bif(load_network("asia"), tmp_path / name)
    assert (tmp_path / "one.bif.gz").read_bytes() == (tmp_path / "two.bif.gz").read_bytes()


# --- what is read --------------------------------------------------------------------------------------------------


def test_a_small_file(folder: Path) -> None:
    network = parsed(folder, SMALL)
    assert network.variables == ("rain", "grass")
    assert network.levels("grass") == ("dry", "damp", "wet")
    assert network.parents("grass") == ("rain",)
    assert network.cpt("grass").tolist() == [[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]]


@pytest.mark.parametrize("way", SAME_AS_SMALL)
def test_the_same_network_in_other_words(way: str, folder: Path) -> None:
    assert parsed(folder, SAME_AS_SMALL[way]) == parsed(folder, SMALL)
    assert parsed(folder, gzip.compress(SAME_AS_SMALL[way].encode())) == parsed(folder, SMALL)


def test_two_parents_in_both_layouts(folder: Path) -> None:
    head = declared("a", "b", "c") + "probability ( a ) { table 1 0; } probability ( b ) { table 1 0; }\n"
    rows = "probability ( c | a, b ) { (x,x) .1 .9; (y,x) .3 .7; (x,y) .2 .8; (y,y) .4 .6; }"
    table = "probability ( c | a, b ) { table .1 .2 .3 .4 .9 .8 .7 .6; }"
    expected = [[0.1, 0.9], [0.2, 0.8], [0.3, 0.7], [0.4, 0.6]]
    assert parsed(folder, head + rows).cpt("c").tolist() == expected
    assert parsed(folder, head + table) == parsed(folder, head + rows)


def test_the_dog_problem_as_its_authors_program_writes_it(folder: Path) -> None:
    text = """
        // Bayesian network
        network "Dog-Problem" { //3 variables and 3 probability distributions
            property "credal-set constant-density-bounded 1.1" ;
        }
        variable  "light-on" { //2 values
            type discrete[2] {  "true"  "false" };
            property "position = (218, 195)" ;
        }
        variable  "family-out" { type discrete[2] {  "true"  "false" }; }
        probability (  "light-on"  "family-out" ) { //2 variable(s) and 4 values
            table 0.6 0.05 0.4 0.95 ;
        }
        probability (  "family-out" ) { table 0.15 0.85 ; }
    """
    network = parsed(folder, text)
    assert network.parents("light-on") == ("family-out",)
    assert network.cpt("light-on").tolist() == [[0.6, 0.4], [0.05, 0.95]]


def test_names_with_spaces_and_names_like_numbers(folder: Path) -> None:
    text = """
        variable blood pressure { type discrete [2] { very low, 1 }; }
        variable 7 { type discrete [2] { 0.5, 1 }; }
        probability ( blood pressure ) { table 0.5, 0.5; }
        probability ( 7 | blood pressure ) { ( very  low ) 0.25, 0.75; (1) 1, 0; }
    """
    network = parsed(folder, text)
    assert network.variables == ("blood pressure", "7")
    assert network.levels("blood pressure") == ("very low", "1")
    assert network.parents("7") == ("blood pressure",)
    assert network.cpt("7").tolist() == [[0.25, 0.75], [1, 0]]


def test_a_noisy_max_is_multiplied_out(folder: Path) -> None:
    head = declared("a", "b") + declared("c", levels="low, middle, high") + declared("d", levels="0, 1")
    head += "probability ( a ) { table 1 0; } probability ( b ) { table 1 0; } probability ( c ) { table 1 0 0; }\n"
    text = f"""{head} probability ( d | a, b, c ) {{
        property function max;
        (x, x, low) 0.9, 0.1; // leak
        (y, x, low) 0.5, 0.5;
        (x, y, low) 0.4, 0.6;
        (x, x, middle) 0.3, 0.7;
        (x, x, high) 0.2, 0.8;
    }}"""
    network = parsed(folder, text)
    table = network.cpt("d").reshape(2, 2, 3, 2)
    for a in range(2):
        for b in range(2):
            for c in range(3):
                none = 0.9 * (0.5 if a else 1) * (0.4 if b else 1) * (1, 0.3, 0.2)[c]
                assert table[a, b, c] == pytest.approx([none, 1 - none])
    message = refused(folder, text.replace("(x, x, high) 0.2, 0.8;", ""))
    assert "the noisy MAX of 'd' needs the row of all parents at their first level" in message


def test_a_variable_without_probabilities(folder: Path) -> None:
    text = SMALL + declared("alone", levels="1, 2, 3, 4")
    message = refused(folder, text)
    assert "line 16: variable 'alone' has no probability block; add one, or pass missing='uniform'" in message
    assert parsed(folder, text, missing="uniform").cpt("alone").tolist() == [[0.25] * 4]
    with pytest.raises(serape.OptionError, match="missing='guess' is not known"):
        read_bif(folder / "network.bif", missing="guess")  # type: ignore[arg-type]
