"""Checkpoints: a run goes on where it was stopped."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import networkx as nx
import pytest

import serape
from oracles import undirected_pairs
from serape.independence import dependent_pairs
from serape.parallel import marginals


@contextlib.contextmanager
def room_for(size: int) -> Iterator[Callable[[], None]]:
    """No file can grow beyond so many bytes, as on a full disk, until the function is called."""
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)

    def make_room() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)

    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield make_room
    finally:
        make_room()


def content_of(found: serape.Structure) -> dict[str, Any]:
    content = found.to_dict()
    content.pop("seconds")
    return content


def stopping(after: int) -> Callable[[serape.Progress], None]:
    count = itertools.count(1)

    def stop(_: serape.Progress) -> None:
        if next(count) == after:
            raise KeyboardInterrupt

    return stop


class TestCheckpoint:
    def test_a_full_disk_does_not_end_the_run(self, tmp_path: Path) -> None:
        table = serape.load_network("child").sample(500, 1)
        whole = serape.skeleton(table, "hiton-pc")
        path = tmp_path / "kept.jsonl"
        with room_for(2000):
            found = serape.skeleton(table, "hiton-pc", checkpoint=path)
        assert (found.edges, found.tests) == (whole.edges, whole.tests)
        assert any("could not be written to the checkpoint" in note for note in found.notes)
        with room_for(100), pytest.raises(serape.OptionError, match="cannot be written"):
            serape.skeleton(table, "hiton-pc", checkpoint=tmp_path / "other.jsonl")
        (tmp_path / "other.jsonl").unlink()
        again = serape.skeleton(table, "hiton-pc", checkpoint=path)
        assert (again.edges, again.tests) == (whole.edges, whole.tests)
        assert [entry.name for entry in tmp_path.iterdir()] == [path.name]

    def test_lines_are_written_when_there_is_room_again(self, tmp_path: Path) -> None:
        table = serape.load_network("child").sample(500, 1)
        path = tmp_path / "kept.jsonl"
        seen: list[str] = []

        def watch(now: serape.Progress) -> None:
            seen.append(now.target)
            if len(seen) == 15:
                make_room()

        with room_for(2000) as make_room:
            found = serape.skeleton(table, "hiton-pc", checkpoint=path, progress=watch)
        assert not any("checkpoint" in note for note in found.notes)
        again = serape.skeleton(table, "hiton-pc", checkpoint=path)
        assert again.edges == found.edges
        assert path.read_text().count('"target"') == len(table.names)

    def test_goes_on_where_it_was_stopped(self, tmp_path: Path) -> None:
        table = serape.load_network("child").sample(500, 1)
        whole = serape.skeleton(table, "hiton-pc")
        path = tmp_path / "kept.jsonl"
        seen: list[str] = []

        def stop(now: serape.Progress) -> None:
            seen.append(now.target)
            if len(seen) == 7:
                raise KeyboardInterrupt

        with pytest.raises(serape.Interrupted) as stopped:
            serape.skeleton(table, "hiton-pc", checkpoint=path, progress=stop)
        assert not stopped.value.found.complete
        lines = path.read_text().splitlines()
        assert len(lines) == 2 + 7  # the settings, the tests that all targets share, and the targets
        path.write_text("\n".join(lines) + '\n{"target": "BirthA')  # cut off in the middle of a line
        seen.clear()
        found = serape.skeleton(table, "hiton-pc", checkpoint=path, progress=lambda now: seen.append(now.target))
        assert len(seen) == len(table.names) - 7
        assert undirected_pairs(found.graph) == undirected_pairs(whole.graph)
        assert content_of(found) == content_of(whole)
        again = serape.skeleton(table, "hiton-pc", checkpoint=path)
        assert again.edges == found.edges

    @pytest.mark.parametrize("jobs", [1, 2])
    def test_keeps_steps_of_blocks(self, jobs: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        table = serape.load_network("alarm").sample(500, 1)
        whole = serape.skeleton(table, "hiton-pc", alpha=0.01)
        monkeypatch.setattr(marginals, "MAX_SHARED", 1)
        monkeypatch.setattr(dependent_pairs, "_MAX_PAIRS", 100)
        path = tmp_path / "kept.jsonl"
        blocks = dependent_pairs.DependentBlocks.__iter__

        def stop(self: Any) -> Any:
            for number, block in enumerate(blocks(self)):
                if number == 2:
                    raise KeyboardInterrupt
                yield block

        with monkeypatch.context() as patch:
            patch.setattr(dependent_pairs.DependentBlocks, "__iter__", stop)
            with pytest.raises(serape.Interrupted) as stopped:
                serape.skeleton(table, "hiton-pc", alpha=0.01, n_jobs=jobs, checkpoint=path)
        assert stopped.value.found.edges == ()
        lines = path.read_text().splitlines()
        kept = sum('{"step": ' in line for line in lines)
        assert 0 < kept == len(lines) - 2 < len(table.varying)
        asked: list[int] = []

        def noted(self: Any) -> Iterator[Any]:
            for block in blocks(self):
                asked.extend(block)
                yield block

        monkeypatch.setattr(dependent_pairs.DependentBlocks, "__iter__", noted)
        found = serape.skeleton(table, "hiton-pc", alpha=0.01, n_jobs=jobs, checkpoint=path)
        assert len(asked) == len(table.varying) - kept
        assert list(found.evidence) == list(whole.evidence)
        assert found.tests_by_size == whole.tests_by_size
        again = serape.skeleton(table, "hiton-pc", alpha=0.01, n_jobs=jobs, checkpoint=path)
        assert list(again.evidence) == list(whole.evidence)

    def test_refuses_another_run(self, tmp_path: Path) -> None:
        path = tmp_path / "kept.jsonl"
        network = serape.load_network("asia")
        serape.skeleton(network.sample(300, 1), "mmpc", checkpoint=path)
        with pytest.raises(serape.OptionError, match="other data"):
            serape.skeleton(network.sample(300, 2), "mmpc", checkpoint=path)
        with pytest.raises(serape.OptionError, match=r"alpha 0.01, not 0.05"):
            serape.skeleton(network.sample(300, 1), "mmpc", alpha=0.05, checkpoint=path)
        path.write_text("hello\nworld\n")
        with pytest.raises(serape.OptionError, match="not a checkpoint"):
            serape.skeleton(network.sample(300, 1), "mmpc", checkpoint=path)
        path.write_text("[]\n")
        with pytest.raises(serape.OptionError, match="not a checkpoint"):
            serape.skeleton(network.sample(300, 1), "mmpc", checkpoint=path)
        with pytest.raises(serape.OptionError, match="cannot be written"):
            serape.skeleton(network.sample(300, 1), "mmpc", checkpoint=tmp_path / "no" / "such" / "folder")

    def test_of_own_learners_and_tests(self, tmp_path: Path) -> None:
        table = serape.load_network("asia").sample(300, 1)
        path = tmp_path / "kept.jsonl"

        def make(size: int) -> Any:
            if size == 0:

                def mine(search: serape.Search, target: int) -> list[int]:
                    del search, target
                    return []
            else:

                def mine(search: serape.Search, target: int) -> list[int]:
                    return search.dependents(target, search.candidates(target))

            return mine

        serape.skeleton(table, make(1), checkpoint=path)
        assert serape.skeleton(table, make(1), checkpoint=path).graph.number_of_edges() > 0
        with pytest.raises(serape.OptionError, match="belongs to a run with algorithm"):
            serape.skeleton(table, make(0), checkpoint=path)
        with pytest.raises(serape.OptionError, match="needs a test on a table"):
            serape.skeleton(serape.DSeparation(nx.DiGraph([("a", "b")])), "mmpc", checkpoint=tmp_path / "other")

    @pytest.mark.parametrize("fdr", [None, 0.2])
    @pytest.mark.parametrize("algorithm", ["hiton-pc", "mmpc", "hpc", "pcmb", "ipc-mb", "inter-iapc"])
    def test_every_field_is_that_of_a_run_that_was_not_stopped(
        self, algorithm: str, fdr: float | None, tmp_path: Path
    ) -> None:
        table = serape.load_network("child").sample(300, 1)
        whole = content_of(serape.skeleton(table, algorithm, alpha=0.02, fdr=fdr))
        for number, (after, first, then) in enumerate([(1, 1, 1), (7, 1, 1), (15, 2, 1), (7, 1, 2), (19, 1, 1)]):
            path = tmp_path / str(number)
            with contextlib.suppress(serape.Interrupted):
                serape.skeleton(table, algorithm, alpha=0.02, fdr=fdr, checkpoint=path, n_jobs=first,
                                progress=stopping(after))  # fmt: skip
            for _ in range(2):  # what is left, and nothing
                found = serape.skeleton(table, algorithm, alpha=0.02, fdr=fdr, checkpoint=path, n_jobs=then)
                assert content_of(found) == whole

    @pytest.mark.parametrize("algorithm", ["mmhc", "h2pc"])
    def test_every_field_of_networks(self, algorithm: str, tmp_path: Path) -> None:
        table = serape.load_network("child").sample(300, 1)
        whole = content_of(serape.network(table, algorithm))
        with contextlib.suppress(serape.Interrupted):
            serape.network(table, algorithm, checkpoint=tmp_path / "kept", progress=stopping(9))
        assert content_of(serape.network(table, algorithm, checkpoint=tmp_path / "kept")) == whole
