"""Reports in a real browser: what they do."""

from pathlib import Path
from typing import Any

import networkx as nx

import serape
from browser import NASTY, panel
from serape.data.example import clinic


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


def test_without_javascript(browser: Any, reports: Path) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((reports / "clinic.html").as_uri())
    assert "need JavaScript" in page.locator("noscript").inner_text()
    assert page.locator("#members tbody tr").count() == 6
    context.close()
