"""Reports in a real browser: chromium through playwright, where both are there."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest

import serape
from serape.data.example import clinic

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium")
OPTIONS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
NASTY = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as run:
        found = run.chromium.launch(executable_path=CHROMIUM, args=OPTIONS)
        yield found
        found.close()


@pytest.fixture(scope="module")
def context(browser: Any) -> Iterator[Any]:
    found = browser.new_context()
    yield found
    found.close()


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Reports of 6, 20 and 50 members, of a network, of one too large to be drawn whole, and of nasty names."""
    folder = tmp_path_factory.mktemp("reports")
    serape.markov_blanket(clinic(5000), "HeartDisease", algorithm="hiton-mb", alpha=0.01).report(folder / "clinic.html")
    rng = np.random.default_rng(0)
    target = rng.integers(2, size=3000)

    def noisy(least: float) -> Any:
        return np.where(rng.random(3000) < least + 0.1 * rng.random(), target, 1 - target)

    for count in (20, 50):
        data = {"Outcome": target, **{f"{'a_rather_long_name_' * (k % 3)}{k}": noisy(0.6) for k in range(count)}}
        found = serape.parents_children(data, "Outcome", algorithm="hiton-pc", max_conditioning=1)
        assert len(found.members) == count
        found.report(folder / f"{count}.html")
    serape.network(serape.load_network("alarm").sample(2000, 1)).report(folder / "alarm.html")
    serape.skeleton(serape.load_network("hepar2").sample(500, 1)).report(folder / "hepar2.html")
    names = [
        NASTY,
        "</script><script>alert(2)</script>",
        "<img src=x onerror=alert(3)>",
        "a\u2028b",
        '" onfocus="alert(4)',
    ]
    nasty = {name: noisy(0.8) for name in names}
    serape.markov_blanket(nasty, NASTY, algorithm="hiton-mb").report(folder / "nasty.html")
    return folder


class Opened:
    """A page, and what it did that it should not have done."""

    def __init__(self, page: Any) -> None:
        self.page = page
        self.requests: list[str] = []
        self.complaints: list[str] = []
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("console", lambda message: self.complaints.append(message.text))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("dialog", self._dialog)

    def _dialog(self, dialog: Any) -> None:
        self.complaints.append(f"a dialog: {dialog.message}")
        dialog.dismiss()


@pytest.fixture
def show(context: Any, reports: Path) -> Iterator[Any]:
    """Open a report; when the test is over, nothing but the file itself may have been asked for."""
    opened: list[Opened] = []

    def one(name: str, scheme: str = "light", width: int = 1280) -> Any:
        seen = Opened(context.new_page())
        opened.append(seen)
        seen.page.set_viewport_size({"width": width, "height": 900})
        seen.page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        seen.page.goto((reports / f"{name}.html").as_uri())
        return seen.page

    yield one
    for seen in opened:
        assert [url.startswith("file:") for url in seen.requests] == [True]
        assert seen.complaints == []
        seen.page.close()


def panel(page: Any) -> str:
    text: str = page.locator("#panel").inner_text()
    return text


@pytest.mark.parametrize("name", ["clinic", "20", "50", "alarm", "hepar2", "nasty"])
def test_it_opens_and_nothing_overlaps(show: Any, name: str) -> None:
    page = show(name)
    boxes = page.evaluate(
        """[...document.querySelectorAll(".node")].map((node) => {
        const box = node.querySelectorAll("rect")[1].getBoundingClientRect();
        const text = node.querySelector("text").getBoundingClientRect();
        return [box.left, box.top, box.right, box.bottom, text.left, text.right]; })"""
    )
    assert len(boxes) >= 2
    for k, (left, top, right, bottom, begin, end) in enumerate(boxes):
        assert left <= begin <= end <= right  # the name is in its box
        for left2, top2, right2, bottom2, *_ in boxes[k + 1 :]:
            assert right <= left2 or right2 <= left or bottom <= top2 or bottom2 <= top
    folder = os.environ.get("SERAPE_SCREENSHOTS")  # to look at
    for scheme in ("light", "dark") if folder else ():
        page.emulate_media(color_scheme=scheme)
        page.screenshot(path=f"{folder}/{name}-{scheme}.png", full_page=True)


def test_click(show: Any) -> None:
    page = show("clinic")
    assert "target" in panel(page)
    page.locator(".node", has_text="Anxiety").click()
    assert "Anxiety is in the Markov blanket of HeartDisease" in panel(page)
    assert "spouse" in panel(page)
    assert "Spouse through" in panel(page)
    assert page.locator('.node[aria-pressed="true"]').count() == 1
    page.locator("#panel button", has_text="ChestPain").first.click()
    assert "common child" in panel(page)


def test_a_variable_left_out_and_what_separates_it(show: Any) -> None:
    page = show("clinic")
    page.locator("#outside button.variable", has_text="Exercise").click()
    assert "Separated from HeartDisease by" in panel(page)
    assert page.locator(".ghost .node").get_attribute("aria-label").startswith("Exercise, excluded")
    separating = {node.get_attribute("aria-label").split(",")[0] for node in page.locator(".node.part").all()}
    found = serape.markov_blanket(clinic(5000), "HeartDisease", algorithm="hiton-mb", alpha=0.01)
    assert separating == set(found.explain("Exercise").separating_set or ())
    page.locator(".node", has_text="Smoking").click()
    assert page.locator(".ghost").count() == 0


def test_search(show: Any) -> None:
    page = show("clinic")
    box = page.get_by_role("combobox", name="Find a variable")
    box.fill("a")
    assert page.locator("#matches li").count() > 3
    box.fill("exerc")
    assert page.locator("#matches li").all_inner_texts()[0].startswith("Exercise")
    assert page.locator("#search-status").inner_text() == "1 variable"
    box.press("Enter")
    assert panel(page).startswith("Exercise")
    box.fill("nothing of the kind")
    assert "No variable name contains this text" in page.locator("#search-status").inner_text()
    box.fill("blood")
    page.locator("#matches li").first.click()
    assert panel(page).startswith("BloodPressure")


def test_search_by_keys(show: Any) -> None:
    page = show("clinic")
    page.locator("#search").fill("we")
    first, second = page.locator("#matches bdi").all_inner_texts()[:2]
    page.keyboard.press("ArrowDown")
    assert page.locator('#matches [aria-selected="true"] bdi').inner_text() == first
    page.keyboard.press("ArrowDown")
    chosen = page.locator("#search").get_attribute("aria-activedescendant")
    assert page.locator(f"#{chosen} bdi").inner_text() == second
    page.keyboard.press("Enter")
    assert panel(page).startswith(second)


def test_keys_in_the_graph(show: Any) -> None:
    page = show("clinic")
    assert page.locator('.node[tabindex="0"]').count() == 1  # one stop for the whole graph
    for _ in range(20):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.classList.contains('node')"):
            break
    focused = "document.activeElement.getAttribute('aria-label')"
    assert page.evaluate(focused).startswith("HeartDisease, target")
    page.keyboard.press("ArrowRight")
    there = page.evaluate(focused).split(",")[0]
    assert there != "HeartDisease"
    page.keyboard.press("Enter")
    assert panel(page).startswith(there)
    reached = {there}
    for key in (
        ["ArrowDown"] * 3
        + ["ArrowUp"] * 5
        + ["ArrowRight", "ArrowLeft", "ArrowLeft", "ArrowLeft", "ArrowDown", "ArrowUp"]
    ):
        page.keyboard.press(key)
        reached.add(page.evaluate(focused).split(",")[0])
    assert reached == {"HeartDisease", "Age", "Smoking", "BloodPressure", "Anxiety", "ECG", "ChestPain"}
    page.keyboard.press("Home")
    assert page.evaluate(focused).startswith("HeartDisease")
    page.keyboard.press("Escape")
    assert "target" in panel(page)
    assert page.locator('.node[aria-pressed="true"]').count() == 0


def test_skip_links(show: Any) -> None:
    page = show("clinic")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the answer"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "answer"


def test_sorting(show: Any) -> None:
    page = show("clinic")
    head = page.locator("#members thead th")
    names = page.locator("#members tbody th")

    def column(k: int) -> list[str]:
        found: list[str] = page.locator(f"#members tbody td:nth-child({k})").all_inner_texts()
        return found

    before = names.all_inner_texts()
    head.nth(0).get_by_role("button").click()
    assert head.nth(0).get_attribute("aria-sort") == "ascending"
    assert names.all_inner_texts() == sorted(before, key=str.lower) != before
    head.nth(0).get_by_role("button").press("Enter")
    assert head.nth(0).get_attribute("aria-sort") == "descending"
    assert names.all_inner_texts() == sorted(before, key=str.lower, reverse=True)
    head.nth(2).get_by_role("button").click()
    numbers = [float(text) for text in column(3)]
    assert numbers == sorted(numbers)
    assert head.nth(0).get_attribute("aria-sort") == "none"
    head.nth(4).get_by_role("button").click()
    exponents = [float(text) for text in column(5)]
    assert exponents == sorted(exponents)


def test_nasty_names_are_shown_not_run(show: Any) -> None:
    page = show("nasty")  # a dialog would be a complaint
    assert page.locator("h1").inner_text() == NASTY
    assert page.locator("script").count() == 2
    assert page.locator("img").count() == 0
    for node in page.locator(".node").all():
        node.click()
    page.locator("#search").fill("<img")
    page.locator("#matches li").first.click()
    assert "<img src=x onerror=alert(3)>" in panel(page)
    assert page.locator("img").count() == 0
    page.locator("#members thead button").first.click()


def test_light_and_dark(show: Any) -> None:
    ground = "getComputedStyle(document.body).backgroundColor"
    light, dark = show("clinic", "light"), show("clinic", "dark")
    bright, dim = light.evaluate(ground), dark.evaluate(ground)
    assert bright != dim
    light.get_by_role("button", name="Dark colours").click()
    dark.get_by_role("button", name="Light colours").click()
    assert (light.evaluate(ground), dark.evaluate(ground)) == (dim, bright)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out(show: Any, scheme: str) -> None:
    """Names in the graph and small print have the contrast that WCAG AA asks for."""
    page = show("clinic", scheme)
    found = page.evaluate(
        """() => {
        const shares = (colour) => colour.match(/[\\d.]+/g).slice(0, 3).map((v) => v / 255);
        const linear = (v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
        const light = (colour) => shares(colour).map(linear)
          .reduce((sum, v, k) => sum + v * [0.2126, 0.7152, 0.0722][k], 0);
        const ratio = (one, other) => {
          const [more, less] = [light(one), light(other)].sort((a, b) => b - a);
          return (more + 0.05) / (less + 0.05);
        };
        const style = (element) => getComputedStyle(element);
        const nodes = [...document.querySelectorAll(".node")];
        const small = [...document.querySelectorAll(".about, .kicker, dt, .legend li, button.variable")];
        return [
          ...nodes.map((n) => ratio(style(n.querySelector("text")).fill, style(n.querySelectorAll("rect")[1]).fill)),
          ...small.map((element) => ratio(style(element).color, style(document.body).backgroundColor)),
        ]; }"""
    )
    assert len(found) > 20
    assert min(found) >= 4.5


def test_a_network_drawn_whole(show: Any) -> None:
    page = show("alarm")
    assert page.locator(".node").count() == 37
    assert "No variable is chosen" in panel(page)
    page.locator(".node", has_text="CATECHOL").click()
    assert panel(page).startswith("CATECHOL")
    assert "Evidence for the edges" in panel(page)
    assert page.locator(".line.lit").count() >= 2
    page.locator("#edges button.variable", has_text="PRESS").first.click()
    assert panel(page).startswith("PRESS")


def test_a_network_too_large_to_be_drawn_whole(show: Any) -> None:
    page = show("hepar2")
    found = serape.skeleton(serape.load_network("hepar2").sample(500, 1))
    most = max(found.graph, key=lambda name: found.graph.degree[name])
    assert found.graph.degree[most] == page.locator(".node").count() - 1
    other = next(name for name in nx.all_neighbors(found.graph, most) if found.graph.degree[name] > 1)
    page.locator(".node", has=page.get_by_text(other, exact=True)).click()
    assert panel(page).startswith(other)
    assert page.locator(".node").count() == found.graph.degree[other] + 1


def test_a_narrow_window(show: Any) -> None:
    page = show("50", width=390)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    letters = page.evaluate("document.querySelector('.node text').getBoundingClientRect().height")
    assert letters >= 9  # names can be read; the graph scrolls
    page.get_by_role("button", name="Larger").click()
    assert page.evaluate("document.querySelector('.node text').getBoundingClientRect().height") > letters
    page.get_by_role("button", name="Fit").click()
    assert page.evaluate("document.querySelector('.node text').getBoundingClientRect().height") == letters


def test_without_javascript(browser: Any, reports: Path) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((reports / "clinic.html").as_uri())
    assert "need JavaScript" in page.locator("noscript").inner_text()
    assert page.locator("#members tbody tr").count() == 6
    context.close()
