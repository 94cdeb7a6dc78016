"""A report as tests read it."""

import json
from html.parser import HTMLParser
from typing import Any


class Reader(HTMLParser):
    """Reads a page: elements, texts, and what stands in which script."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.inside: dict[str, list[str]] = {"script": [], "style": []}
        self._open: str | None = None
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag in self.inside:
            self._open = tag
            self.inside[tag].append("")

    def handle_endtag(self, tag: str) -> None:
        self._open = None if tag == self._open else self._open

    def handle_data(self, data: str) -> None:
        if self._open is not None:
            self.inside[self._open][-1] += data
        else:
            self.texts.append(data)

    @property
    def content(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.inside["script"][0])
        return found

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.texts).split())

    def attribute(self, tag: str, name: str) -> list[str]:
        return [attrs[name] or "" for t, attrs in self.elements if t == tag and name in attrs]
