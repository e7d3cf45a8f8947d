"""A figure's SVG as part of a page: in the page's own ink, so that it can be read in the dark too.

matplotlib writes a document of its own, with a style sheet that would reach the whole page, style
attributes that a strict content policy forbids, and ids that repeat from figure to figure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final
from xml.etree import ElementTree

from attune_data.errors import one_line
from attune_env.figures.style import FAINT, GRID, INK

_SVG: Final = "{http://www.w3.org/2000/svg}"
_HREF: Final = "{http://www.w3.org/1999/xlink}href"
_POINTS_TO_PX: Final = 1.2 * 4 / 3
"""A little larger than in print: screens are further away than paper."""
_FONT: Final = "'DejaVu Sans', Arial, Helvetica, sans-serif"
_PAINTS: Final = ("fill", "stroke")
_CLASSES: Final = {GRID: "grid", FAINT: "faint", "#ffffff": "paper"}
"""Colours that a page sets anew in the dark -> class (`fill-grid`, `stroke-grid`, …)."""
_KEPT: Final = frozenset(
    {
        "fill", "fill-opacity", "fill-rule", "font-size", "font-style", "font-weight", "image-rendering",
        "opacity", "stroke", "stroke-dasharray", "stroke-dashoffset", "stroke-linecap", "stroke-linejoin",
        "stroke-miterlimit", "stroke-opacity", "stroke-width", "text-anchor",
    }
)  # fmt: skip
"""What of a style attribute may stand as an attribute of its own."""
_NO_XML: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_URL: Final = re.compile(r"url\(#([^)]+)\)")


def inline_svg(text: str, name: str, title: str) -> str:
    """The SVG document `text` as an element for an HTML page.

    Args:
        text: as `svg_text` gives it.
        name: goes before every id, so that the ids of several figures differ.
        title: what the figure shows, for those who cannot see it.

    Text colours follow the page (`currentColor`); grid, references and white faces get classes.
    """
    root = ElementTree.fromstring(_NO_XML.sub("\ufffd", text))
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag == f"{_SVG}style" or child.tag == f"{_SVG}metadata":
                parent.remove(child)
    used = set(_referred(root))
    for element in root.iter():
        _clean(element, name, used)
    width, height = (float(part) * _POINTS_TO_PX for part in root.attrib["viewBox"].split()[2:])
    root.attrib = {
        "viewBox": root.attrib["viewBox"],
        "width": f"{width:.0f}",
        "height": f"{height:.0f}",
        "role": "img",
        "aria-labelledby": f"{name}-title",
        "font-family": _FONT,
        "stroke-linejoin": "round",
        "stroke-linecap": "butt",
    }
    heading = ElementTree.Element("title", {"id": f"{name}-title"})
    heading.text = one_line(title, 10_000)
    root.insert(0, heading)
    return ElementTree.tostring(root, encoding="unicode")


def _referred(root: ElementTree.Element) -> Iterator[str]:
    """The ids that something points to."""
    for element in root.iter():
        for value in element.attrib.values():
            if value.startswith("#"):
                yield value[1:]
            yield from _URL.findall(value)


def _clean(element: ElementTree.Element, name: str, used: set[str]) -> None:
    """One element in place: no namespace, own ids, attributes in the place of styles."""
    element.tag = element.tag.removeprefix(_SVG)
    if element.tag not in ("text", "tspan"):
        element.text = None
    element.tail = None
    classes: list[str] = []
    clean: dict[str, str] = {}
    for key, value in element.attrib.items():
        if key == "style":
            clean |= dict(_styles(value, element.tag, classes))
        elif key == _HREF:
            clean["href"] = f"#{name}-{value[1:]}" if value.startswith("#") else "".join(value.split())
        elif key == "id":
            clean |= {"id": f"{name}-{value}"} if value in used else {}
        elif key == "d":
            clean["d"] = " ".join(value.split())
        elif not key.startswith("{"):
            clean[key] = _URL.sub(rf"url(#{name}-\1)", value)
    if element.tag == "text":
        clean.setdefault("fill", "currentColor")  # matplotlib leaves black unsaid
    if classes:
        clean["class"] = " ".join(classes)
    element.attrib = clean


def _styles(text: str, tag: str, classes: list[str]) -> Iterator[tuple[str, str]]:
    """The declarations of a style attribute as attributes; colours that change in the dark as classes."""
    for declaration in text.split(";"):
        key, _, value = (part.strip() for part in declaration.partition(":"))
        if key not in _KEPT:
            continue
        if key in _PAINTS:
            if value in (INK, "#000000"):
                value = "currentColor"
            elif value in _CLASSES and (tag != "text" or value == FAINT):  # white text stands on a colour
                classes.append(f"{key}-{_CLASSES[value]}")
        yield key, value
