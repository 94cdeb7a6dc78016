"""serape network, skeleton and region."""

import json
from pathlib import Path

import pytest

import serape
from command import run
from serape.cli.base import find_command
from serape.data.writing import write_table
from serape.structure.registry import NETWORK_ALGORITHMS


@pytest.fixture
def asia(tmp_path: Path) -> str:
    path = tmp_path / "asia.csv"
    write_table(serape.load_network("asia").sample(2000, 1), path)
    return str(path)


class TestStructure:
    def test_network(self, capsys: pytest.CaptureFixture[str], asia: str, tmp_path: Path) -> None:
        picture, bif, kept = (str(tmp_path / name) for name in ("net.svg", "net.bif", "net.json"))
        code, out, _ = run(
            capsys,
            "network",
            asia,
            "--algorithm",
            "mmhc",
            "--truth",
            "asia",
            "--picture",
            picture,
            "--bif",
            bif,
            "-o",
            kept,
        )
        assert code == 0
        assert "Network of 8 variables" in out
        assert "structural Hamming distance" in out
        assert "bdeu score" in out
        assert "in the truth too" in Path(picture).read_text()
        assert set(serape.read_bif(bif).variables) == set(serape.load_network("asia").variables)
        assert json.loads(Path(kept).read_text())["algorithm"] == "mmhc"

    def test_skeleton_and_region(self, capsys: pytest.CaptureFixture[str], asia: str, tmp_path: Path) -> None:
        kept = str(tmp_path / "kept.jsonl")
        code, out, _ = run(capsys, "skeleton", asia, "--checkpoint", kept, "--json")
        assert code == 0
        first = json.loads(out)
        assert first["finds"] == "skeleton"
        written = Path(kept).read_text()
        code, out, _ = run(capsys, "skeleton", asia, "--checkpoint", kept, "--json")
        assert {**json.loads(out), "seconds": 0} == {**first, "seconds": 0}
        assert Path(kept).read_text() == written
        code, out, _ = run(capsys, "region", asia, "-t", "either", "--depth", "1", "--json")
        assert {node["distance"] for node in json.loads(out)["nodes"]} == {0, 1}
        code, out, _ = run(capsys, "region", asia, "-t", "either", "--depth", "1")
        assert "Within 1 edge of either" in out

    @pytest.mark.parametrize("algorithm", NETWORK_ALGORITHMS)
    def test_knowledge(self, capsys: pytest.CaptureFixture[str], asia: str, tmp_path: Path, algorithm: str) -> None:
        path = tmp_path / "known.json"
        path.write_text('{"required": [["xray", "asia"]], "tiers": [["bronc"], ["smoke"]]}')
        code, out, _ = run(capsys, "network", asia, "--algorithm", algorithm, "--knowledge", str(path), "--json")
        assert code == 0
        edges = {(e["from"], e["to"]): e["directed"] for e in json.loads(out)["edges"]}
        assert edges["xray", "asia"]
        assert ("smoke", "bronc") not in edges
        path.write_text('{"required": [["asia", "dysp"], ["tub", "dysp"]]}')
        if "max_parents" in NETWORK_ALGORITHMS[algorithm].defaults:
            asked = ("network", asia, "--algorithm", algorithm, "--option", "max_parents=1", "--knowledge", str(path))
            code, _, err = run(capsys, *asked)
            assert (code, "requires 2 parents of 'dysp'" in err) == (2, True)

    def test_knowledge_that_contradicts_itself(
        self, capsys: pytest.CaptureFixture[str], asia: str, tmp_path: Path
    ) -> None:
        path = tmp_path / "known.json"
        path.write_text('{"required": [["xray", "asia"], ["asia", "xray"]]}')
        code, _, err = run(capsys, "network", asia, "--knowledge", str(path))
        assert (code, "both required" in err) == (2, True)

    def test_options_of_the_question(self, capsys: pytest.CaptureFixture[str], asia: str) -> None:
        asked = ("network", asia, "--algorithm", "mmhc", "--rule", "and", "--ess", "3", "--json")
        found = json.loads(run(capsys, *asked)[1])
        expected = serape.network(asia, "mmhc", rule="and", equivalent_sample_size=3.0)
        assert found["total"] == expected.total != serape.network(asia, "mmhc", rule="and").total
        assert found["options"] == expected.options
        assert found["options"]["rule"] == "and"

    def test_refuses_before_it_searches(
        self, capsys: pytest.CaptureFixture[str], asia: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        find_command("network")  # it is made of its question
        monkeypatch.setattr(serape, "network", lambda *_, **__: pytest.fail("it searches"))
        code, out, err = run(capsys, "network", asia, "--picture", str(tmp_path / "net.gif"))
        assert (code, out) == (2, "")
        assert ".png, .svg or .pdf" in err
        code, out, err = run(capsys, "network", asia, "--knowledge", str(tmp_path / "none.json"))
        assert (code, out) == (2, "")
        code, out, err = run(capsys, "network", asia, "--truth", "sachs")
        assert (code, out) == (2, "")
        assert "--truth sachs and the table have different variables; both must have the same" in err
        code, out, err = run(capsys, "network", "none.csv", "--truth", "nowhere")
        assert (code, "nowhere" in err) == (2, True)
        code, out, err = run(capsys, "network", "none.csv", "--bif", "nowhere/net.bif")
        assert (code, "there is no folder nowhere" in err) == (1, True)


def test_region(capsys: pytest.CaptureFixture[str], patients: str, tmp_path: Path) -> None:
    kept = tmp_path / "region.json"
    code, out, _ = run(capsys, "region", patients, "-t", "ECG", "--depth", "1", "--json", "-o", str(kept))
    assert code == 0
    assert json.loads(out) == json.loads(kept.read_text())


class TestBudgets:
    """What a budget ended is an answer, and the exit code tells it."""

    def test_skeleton_and_network(self, capsys: pytest.CaptureFixture[str], asia: str, tmp_path: Path) -> None:
        bif = tmp_path / "net.bif"
        for command in (("skeleton", "--algorithm", "hiton-pc"), ("network", "--algorithm", "mmhc")):
            code, out, err = run(capsys, command[0], asia, *command[1:], "--max-tests", "9")
            assert (code, err) == (3, "")
            assert out.splitlines()[1].startswith("not complete: the search stopped at --max-tests 9")
        code, _, err = run(capsys, "network", asia, "--algorithm", "tabu", "--max-seconds", "1e-9", "--bif", str(bif))
        assert (code, bif.exists()) == (3, False)
        assert err == f"serape: the network is not complete, so {bif} is not written\n"

    def test_region(self, capsys: pytest.CaptureFixture[str], asia: str) -> None:
        asked = ("region", asia, "-t", "either", "--max-tests", "9", "--fdr", "0.1")
        code, out, err = run(capsys, *asked)
        assert (code, err) == (3, "")
        assert "false discovery rate 0.1" in out
        assert out.splitlines()[1].startswith("not complete: the search stopped at --max-tests 9")


def test_a_false_discovery_rate(capsys: pytest.CaptureFixture[str], asia: str) -> None:
    expected = serape.network(asia, "mmhc", fdr=0.001)
    code, out, err = run(capsys, "network", asia, "--algorithm", "mmhc", "--fdr", "0.001", "--json")
    assert (code, err) == (0, "")
    content = json.loads(out)
    assert (content["fdr"], content["threshold"]) == (0.001, expected.threshold)
    assert [edge["adjusted_p"] for edge in content["edges"]] == list(expected.evidence["adjusted_p"])
    code, _, err = run(capsys, "network", asia, "--algorithm", "ges", "--fdr", "0.1")
    assert code == 2
    assert "uses a score, not tests, so --fdr 0.1 has no effect" in err


class TestFormats:
    def test_printed_and_saved(self, capsys: pytest.CaptureFixture[str], asia: str, tmp_path: Path) -> None:
        for command in (("network", "--algorithm", "tabu"), ("skeleton",), ("region", "-t", "either")):
            for format_, sign in (("dot", "graph {"), ("graphml", "<graphml"), ("dagitty", "dag {")):
                path = tmp_path / f"found.{format_}"
                asked = (command[0], asia, *command[1:], "--format", format_, "-o", str(path))
                code, out, err = run(capsys, *asked)
                assert (code, err) == (0, "")
                assert sign in out
                assert path.read_text() == out
        code, out, _ = run(capsys, "network", asia, "--algorithm", "tabu", "--format", "bnlearn")
        assert code == 0
        assert out.count("[") == 8
        code, out, err = run(capsys, "network", asia, "--format", "dot", "--json")
        assert (code, out) == (2, "")
        assert "--json and --format dot exclude each other" in err

    def test_directions_are_counted(self, capsys: pytest.CaptureFixture[str], asia: str, tmp_path: Path) -> None:
        report = tmp_path / "net.html"
        asked = ("network", asia, "--algorithm", "mmhc", "--truth", "asia", "--report", str(report))
        _, out, _ = run(capsys, *asked)
        expected = serape.network(asia, "mmhc")
        assert f"{expected.directions}\n" in out
        assert expected.directions in report.read_text()
        assert out.count("→") == expected.decided
        _, out, _ = run(capsys, *asked, "--json")
        content = json.loads(out)
        assert content["directions"] == {"decided": expected.decided, "edges": len(expected.edges)}
        told = expected.compare(serape.load_network("asia"))
        assert content["comparison"]["half_directed"] == told.half_directed

    def test_names_replaced_in_bif_are_noted(self, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
        path, bif = tmp_path / "odd.csv", tmp_path / "odd.bif"
        path.write_text("my a,b\n" + "40 to 60,x\n<40,y\n" * 50)
        code, _, err = run(capsys, "network", str(path), "--bif", str(bif))
        assert code == 0
        assert "names that other programs cannot read are written in another way" in err
        assert serape.read_bif(bif).levels("my a") == ("40 to 60", "<40")
