"""The report of a network."""

import numpy as np

import serape
from html_reader import Reader
from serape.results.report import network_page, page_text


class TestNetworks:
    def test_whole(self) -> None:
        found = serape.network(serape.load_network("asia").sample(2000, 1), "pc-stable")
        read = Reader(page_text(network_page(found)))
        assert read.content["mode"] == "full"
        assert len(read.content["boxes"]) == 8
        names = [v["name"] for v in read.content["variables"]]
        assert [(names[e["a"]], names[e["b"]]) for e in read.content["edges"]] == list(found.edges)
        boxes = read.content["boxes"]
        for k, (x, y, w, h) in enumerate(boxes):
            for x2, y2, w2, h2 in boxes[k + 1 :]:
                assert abs(x - x2) > (w + w2) / 2 or abs(y - y2) > (h + h2) / 2  # no box on another

    def test_no_edges(self) -> None:
        values = np.random.default_rng(0).integers(2, size=(50, 4))
        text = Reader(page_text(network_page(serape.network(values, "pc-stable", alpha=1e-9)))).text
        assert "None of the 4 variables has a neighbour" in text

    def test_found_by_score_alone(self) -> None:
        text = Reader(page_text(network_page(serape.network(serape.load_network("asia").sample(300, 1), "ges")))).text
        assert "No tests were performed" in text
        assert "what the score would lose without it" in text
