"""Reports of hostile names and of hostile files, in a real browser: no script runs, and nothing is asked for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import serape
from browser import Opened

RUN = "window.ran=1"
HOSTILE = [
    f"<script>{RUN}</script>",
    f"</script><script>{RUN}</script>",
    f"<img src=x onerror={RUN}>",
    f'" onfocus="{RUN}" autofocus="',
    f"' onmouseover='{RUN}",
    f"<svg/onload={RUN}>",
    f"]]><script>{RUN}</script><!--",
    f"</style><script>{RUN}</script>",
    f"javascript:{RUN}",
    f"<iframe srcdoc='<script>parent.{RUN}</script>'>",
    "{{script}}{{content}}",
    "</title><base href=//example.org/>",
    "<meta http-equiv=refresh content='0;url=//example.org/'>",
    "\\u003cscript\\u003e",
    "a\u2028b\ud800",
]


def hostile_data() -> dict[str, Any]:
    random = np.random.default_rng(0)
    target = random.integers(2, size=500)
    data: dict[str, Any] = {}
    for k, name in enumerate(HOSTILE):
        other = HOSTILE[(k + 1) % len(HOSTILE)]
        data[name] = [other if value else name for value in np.where(random.random(500) < 0.8, target, 1 - target)]
    return data


def replaced(content: Any, k: int = 0) -> Any:
    """Return a saved result in which free texts are hostile."""
    content["notes"] = HOSTILE
    content["algorithm"] = content["test"] = HOSTILE[k]
    content["options"] = {HOSTILE[k]: HOSTILE[k + 1]}
    for entry in ("own", "implied", "fit"):
        content["call"][entry] = HOSTILE
    return content


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hostile")
    data = hostile_data()
    blanket = serape.markov_blanket(data, HOSTILE[0], "hiton-mb", alpha=0.05, max_conditioning=1)
    network = serape.network(data, "mmhc")
    every = serape.all_blankets(data, HOSTILE[0], alpha=0.05)
    results: dict[str, Any] = {"blanket": blanket, "blankets": every, "network": network}
    for name, found in results.items():
        found.report(folder / f"{name}.html")
        found.save(folder / f"{name}.json")
    for name in results:
        load = serape.load_structure if name == "network" else serape.load_result
        path = folder / f"{name}.json"
        path.write_text(json.dumps(replaced(json.loads(path.read_text()))))
        load(path).report(folder / f"{name}_of_a_file.html")
    return folder


@pytest.mark.parametrize(
    "name", [f"{name}{of}" for name in ("blanket", "blankets", "network") for of in ("", "_of_a_file")]
)
def test_no_script_of_a_name_runs(browser: Any, pages: Path, name: str) -> None:
    seen = Opened(browser.new_page(reduced_motion="reduce"))
    seen.page.goto((pages / f"{name}.html").as_uri())
    for node in seen.page.locator(".node").all():
        node.dispatch_event("click")
        node.dispatch_event("mouseover")
        node.dispatch_event("focus")
    for fold in seen.page.locator("details:not([open]) > summary").all():
        fold.dispatch_event("click")
    seen.page.locator("#search").fill("script")
    seen.page.wait_for_timeout(100)
    assert seen.page.evaluate("window.ran") is None
    assert seen.page.locator("iframe, img, base, meta[http-equiv=refresh], [onerror], [onload], [onfocus]").count() == 0
    assert seen.page.locator("script:not([type])").count() <= 1
    assert [url.startswith("file:") for url in seen.requests] == [True]
    assert seen.complaints == []
    seen.page.close()


def test_gains_larger_than_any_exponent(tmp_path: Path) -> None:
    found = serape.network(serape.load_network("alarm").sample(3000, 1), "tabu")
    assert max(evidence["gain"] for *_, evidence in found.graph.edges(data=True)) > 710
    found.report(tmp_path / "network.html")
    assert "a gain of" in (tmp_path / "network.html").read_text(encoding="utf-8")
