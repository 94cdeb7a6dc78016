"""Reports in a real browser: what they look like, at three widths and in both themes."""

import os
from typing import Any

import pytest

from browser import ARABIC, HEBREW, JAPANESE, NAMES, WIDTHS, panel


@pytest.mark.parametrize(
    ("name", "width"),
    [*((name, 1280) for name in NAMES), *((name, 360) for name in ("clinic", "50", "alarm", "world"))],
)
def test_it_opens_and_nothing_overlaps(show: Any, name: str, width: int) -> None:
    page = show(name, width=width)
    boxes = page.evaluate(
        """[...document.querySelectorAll(".node")].map((node) => {
        const box = node.querySelectorAll("rect")[1].getBoundingClientRect();
        const text = node.querySelector("text").getBoundingClientRect();
        return [box.left, box.top, box.right, box.bottom, text.left, text.right]; })"""
    )
    assert len(boxes) >= 2 or name == "empty"
    for k, (left, top, right, bottom, begin, end) in enumerate(boxes):
        assert left <= begin <= end <= right  # the name is in its box
        for left2, top2, right2, bottom2, *_ in boxes[k + 1 :]:
            assert right <= left2 or right2 <= left or bottom <= top2 or bottom2 <= top
    folder = os.environ.get("SERAPE_SCREENSHOTS")  # to look at
    for scheme in ("light", "dark") if folder else ():
        page.emulate_media(color_scheme=scheme)
        page.screenshot(path=f"{folder}/{name}-{width}-{scheme}.png", full_page=True)


@pytest.mark.parametrize("name", NAMES)
def test_nothing_scrolls_sideways(show: Any, name: str) -> None:
    """The page never does; on narrow pages, tables and graphs do not either."""
    page = show(name)
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 800})
        page.wait_for_function("width => innerWidth === width", arg=width)
        page.evaluate("new Promise(requestAnimationFrame)")
        wide = page.evaluate(
            """() => [...document.querySelectorAll("body *")].filter((element) => !element.closest(".skip, .unseen")
            && (element.matches(".scroll, .canvas, pre") || !element.closest(".scroll, .canvas, pre"))
            && element.getBoundingClientRect().right > document.documentElement.clientWidth + 0.5)
            .map((element) => `${element.tagName} ${element.id} ${element.className}`)"""
        )
        assert wide == []
        assert page.evaluate("document.documentElement.scrollWidth") == width
        inner = "(box) => box.scrollWidth <= box.clientWidth"
        if width < 896:
            assert all(box.evaluate(inner) for box in page.locator(".scroll, .canvas").all())


def test_a_row_becomes_a_card_on_a_phone(show: Any) -> None:
    page = show("clinic", width=360)
    label = "(cell) => getComputedStyle(cell, '::before').content"
    first = page.locator("#members tbody tr").first
    assert [cell.evaluate(label) for cell in first.locator("td").all()] == [
        f'"{name}"'
        for name in ("Role", "Statistic", "Degrees of freedom", "p", "Effect (bits)", "Rows per cell", "Given")
    ]
    page.set_viewport_size({"width": 1280, "height": 800})
    assert {cell.evaluate(label) for cell in first.locator("td").all()} == {"none"}


def test_what_sorts_is_one_row_on_a_phone(show: Any) -> None:
    page = show("clinic", width=400)
    tops = {button.bounding_box()["y"] for button in page.locator("#members thead button").all()}
    assert len(tops) == 1
    last = page.locator("#members thead button").last
    last.focus()  # the row scrolls
    assert last.bounding_box()["x"] + last.bounding_box()["width"] <= 400


@pytest.mark.parametrize("width", [400, 1280])
def test_an_empty_graph_is_low(show: Any, width: int) -> None:
    page = show("empty", width=width)
    assert page.locator(".node").count() == 1
    assert page.locator("#canvas").bounding_box()["height"] < 100


def test_the_graph_on_a_phone(show: Any) -> None:
    page = show("clinic", width=360)
    left = {
        node.get_attribute("aria-label").split(",")[0]: node.locator("rect").nth(1).bounding_box()
        for node in page.locator(".node").all()
    }
    assert min(left, key=lambda name: left[name]["y"]) == "HeartDisease"  # on top
    column = [box["x"] for name, box in left.items() if name not in ("HeartDisease", "Anxiety")]
    assert max(column) - min(column) < 1
    assert left["Anxiety"]["y"] > left["ChestPain"]["y"]
    assert left["Anxiety"]["x"] > left["ChestPain"]["x"]
    page.locator("#outside button.variable", has_text="Exercise").click()
    assert page.locator(".ghost .node").count() == 1
    assert page.evaluate("document.documentElement.scrollWidth") == 360


def test_a_network_on_a_phone(show: Any) -> None:
    page = show("alarm", width=360)
    few = page.locator(".node").count()
    assert few < 10
    page.get_by_role("button", name="Whole graph").click()
    assert page.locator(".node").count() == 37
    assert page.evaluate("canvas.scrollWidth <= canvas.clientWidth")
    page.locator(".node", has_text="CATECHOL").click()
    page.get_by_role("button", name="One variable").click()
    assert panel(page).startswith("CATECHOL")
    assert page.locator('.node[aria-pressed="true"]').get_attribute("aria-label").startswith("CATECHOL")
    page.set_viewport_size({"width": 1280, "height": 800})
    page.get_by_role("button", name="Whole graph").click()
    assert page.locator(".node").count() == 37
    assert show("clinic").get_by_role("button", name="Whole graph").count() == 0


@pytest.mark.parametrize("width", [360, 1280])
def test_heads_that_sort_look_it(show: Any, width: int) -> None:
    page = show("clinic", width=width)
    triangles = """(head) => ["::before", "::after"].map((part) => {
        const style = getComputedStyle(head.querySelector(".arrow"), part);
        const height = parseFloat(style.borderTopWidth) + parseFloat(style.borderBottomWidth);
        return style.visibility === "visible" && height > 4;
    })"""
    heads = page.locator("#members thead th").all()
    assert [head.get_attribute("aria-sort") for head in heads] == ["none"] * len(heads)
    for head in heads:
        assert head.evaluate(triangles) == [True, True]
        assert head.get_by_role("button").evaluate("(button) => getComputedStyle(button).cursor") == "pointer"
    button = heads[4].get_by_role("button")
    button.focus()
    page.keyboard.press("Tab")
    page.keyboard.press("Shift+Tab")  # the focus is that of the keyboard
    assert button.evaluate("(button) => getComputedStyle(button).outlineStyle") == "solid"
    for key, order, cue in (("Enter", "ascending", [True, False]), ("Space", "descending", [False, True])):
        page.keyboard.press(key)
        assert heads[4].get_attribute("aria-sort") == order
        assert heads[4].evaluate(triangles) == cue
        assert [head.get_attribute("aria-sort") for head in heads].count("none") == len(heads) - 1
        values = [float(text) for text in page.locator("#members tbody td:nth-child(5)").all_inner_texts()]
        assert values == sorted(values, reverse=order == "descending")
    about = page.locator("#data thead th").last  # its texts have no order
    assert about.get_attribute("aria-sort") is None
    assert about.get_by_role("button").count() == 0


def test_names_of_all_the_world(show: Any) -> None:
    page = show("world")
    direction = "(element) => getComputedStyle(element).direction"
    title = page.locator("h1 bdi")
    assert title.inner_text() == ARABIC
    assert title.evaluate(direction) == "rtl"
    assert page.locator("html").evaluate(direction) == "ltr"
    for name, expected in ((ARABIC, "rtl"), (HEBREW, "rtl"), (JAPANESE, "ltr")):
        assert page.locator("#data tbody th bdi", has_text=name).evaluate(direction) == expected
        text = page.locator(".node text", has_text=name).first
        assert text.evaluate("(element) => getComputedStyle(element).unicodeBidi") == "plaintext"
    page.locator("#search").fill(HEBREW)
    assert page.locator("#search").evaluate(direction) == "rtl"
    assert page.locator("#matches bdi").all_inner_texts() == [HEBREW]
    page.locator("#matches li").first.click()
    # In sentences a right-to-left name stands for itself, so that the words around it stay in order.
    assert panel(page).startswith(HEBREW)
    sentence = page.locator("#panel > p")
    names = [name.inner_text() for name in sentence.locator("bdi").all()]
    assert names[0] == HEBREW
    assert "ضغط الدم" in names
    assert sentence.locator("bdi").first.evaluate(direction) == "rtl"


def test_light_and_dark(show: Any) -> None:
    ground = "getComputedStyle(document.body).backgroundColor"
    light, dark = show("clinic", "light"), show("clinic", "dark")
    bright, dim = light.evaluate(ground), dark.evaluate(ground)
    assert bright != dim
    light.get_by_role("button", name="Dark colours").click()
    dark.get_by_role("button", name="Light colours").click()
    assert (light.evaluate(ground), dark.evaluate(ground)) == (dim, bright)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["clinic", "alarm"])
def test_text_stands_out(show: Any, name: str, scheme: str) -> None:
    """All text has the contrast that WCAG AA asks for."""
    page = show(name, scheme)
    page.locator("button.variable").first.click()
    page.locator("thead button").first.click()
    found = page.evaluate(
        """() => {
        const shares = (colour) => colour.match(/[\\d.]+/g).slice(0, 3).map((v) => v / 255);
        const linear = (v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
        const light = (colour) => shares(colour).map(linear)
          .reduce((sum, v, k) => sum + v * [0.2126, 0.7152, 0.0722][k], 0);
        const ratio = (one, other) => {
          const [more, less] = [light(one), light(other)].sort((a, b) => b - a);
          return (more + 0.05) / (less + 0.05);
        };
        const style = (element) => getComputedStyle(element);
        const behind = (element) => {
          const own = style(element).backgroundColor;
          return own === "rgba(0, 0, 0, 0)" ? behind(element.parentElement) : own;
        };
        const told = (element, contrast) => [contrast, `${element.tagName}: ${element.textContent}`];
        const nodes = [...document.querySelectorAll(".node")];
        const texts = [...document.querySelectorAll("header *, main *")].filter((element) => !element.closest("svg")
          && style(element).opacity === "1"
          && [...element.childNodes].some((child) => child.nodeType === 3 && child.textContent.trim()));
        return [
          ...nodes.map((node) => [node, node.querySelector("text"), node.querySelectorAll("rect")[1]])
            .map(([node, text, box]) => told(node, ratio(style(text).fill, style(box).fill))),
          ...texts.map((element) => told(element, ratio(style(element).color, behind(element)))),
        ]; }"""
    )
    assert len(found) > 100
    assert [words for contrast, words in found if contrast < 4.5] == []


def test_a_narrow_window(show: Any) -> None:
    page = show("50", width=390)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    letters = page.evaluate("document.querySelector('.node text').getBoundingClientRect().height")
    assert letters >= 9  # names can be read; the graph scrolls
    page.get_by_role("button", name="Larger").click()
    assert page.evaluate("document.querySelector('.node text').getBoundingClientRect().height") > letters
    page.get_by_role("button", name="Fit").click()
    assert page.evaluate("document.querySelector('.node text').getBoundingClientRect().height") == letters
