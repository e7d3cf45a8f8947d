"""A page as a browser would take it."""

from __future__ import annotations

from html.parser import HTMLParser

VOID = {"meta", "input", "br", "link", "img", "hr"}


class Page(HTMLParser):
    """Its tags with their attributes, and the text outside style and script; tags must match."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag, (tag, self._open)

    def handle_data(self, data: str) -> None:
        if not {"style", "script"} & set(self._open):
            self.text += data

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]
