"""Figures inside a page: its ink, no styles of their own, ids that do not meet."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib.figure import Figure

from attune_env.figures.marks import interval_dots, matrix, reference_line
from attune_env.figures.style import INK, panels, svg_text
from attune_env.pages.drawing import Drawing, drawn
from attune_env.pages.inline_svg import inline_svg
from attune_env.statistics.bootstrap import Interval

HOSTILE = "</svg><script>alert(1)</script>\x07$x^"


def figure() -> Figure:
    made, (left, right) = panels(1, 2)
    interval_dots(left, [HOSTILE, "b"], [Interval(0.5, 0.4, 0.6, 9, 9), Interval(0.5, 0.4, 0.6, 3, 3)])
    reference_line(left, 0.45, "chance")
    left.set_xlabel("Composite")
    matrix(right, np.array([[0.1, 0.9]]), ["a"], ["c", "d"], low=0, high=1)
    made.supxlabel("said in black")
    return made


def test_it_takes_the_ink_of_the_page() -> None:
    text = inline_svg(svg_text(figure()), "figure-x", HOSTILE)
    root = ElementTree.fromstring(text)
    assert INK not in text
    texts = list(root.iter("text"))
    assert {"said in black", "Composite", "chance", "0.10"} <= {element.text for element in texts}
    for element in texts:
        assert element.get("fill") in ("currentColor", "#7d8590", "#ffffff", "#111111", "#0072b2")
    (chance,) = [element for element in texts if element.text == "chance"]
    assert chance.get("class") == "fill-faint"
    faces = [e.get("class") for e in root.iter("use") if e.get("fill") == "#ffffff"]
    assert faces == ["fill-paper"]  # the open dot


def test_it_brings_no_styles_scripts_or_foreign_names() -> None:
    root = ElementTree.fromstring(inline_svg(svg_text(figure()), "figure-x", HOSTILE))
    assert {element.tag for element in root.iter()} <= {
        "svg", "title", "g", "defs", "path", "use", "text", "clipPath", "rect", "image",
    }  # fmt: skip
    for element in root.iter():
        assert "style" not in element.attrib
        assert not any(key.startswith(("{", "on")) for key in element.attrib)
        href = element.get("href", "")
        assert href.startswith(("#figure-x-", "data:image/png;base64,")) or not href
    title = root.find("title")
    assert title is not None
    assert title.text == HOSTILE.replace("\x07", "\\x07")
    assert root.get("aria-labelledby") == title.get("id") == "figure-x-title"


def test_what_is_referred_to_is_there_and_bears_the_figures_name() -> None:
    first, second = (inline_svg(svg_text(figure()), name, "t") for name in ("figure-1", "figure-2"))
    roots = [ElementTree.fromstring(text) for text in (first, second)]
    ids = [{e.get("id") for e in root.iter() if e.get("id")} for root in roots]
    assert ids[0]
    assert not ids[0] & ids[1]
    for element in roots[0].iter():
        for value in (element.get("href", ""), element.get("clip-path", "").removeprefix("url(").rstrip(")")):
            if value.startswith("#"):
                assert value[1:] in ids[0]


def test_a_second_process_draws_the_same_files() -> None:
    wanted = ("svg", "png", "pdf")
    alone = drawn(figure, wanted)
    assert [kind for kind, _ in alone] == list(wanted)
    for beside in (False, True):
        with Drawing(wanted, beside=beside) as drawing:
            drawing.add(figure)
            drawing.add(figure)
            drawing.go_on()
            assert list(drawing.finished()) == [alone, alone]


def test_a_figure_that_cannot_be_drawn_is_heard_and_spoils_no_other() -> None:
    def broken() -> Figure:
        raise ValueError("nothing to draw")

    for beside in (False, True):
        with Drawing(("svg",), beside=beside) as drawing:
            for draw in (figure, figure, broken, figure):
                drawing.add(draw)
            made = drawing.finished()
            assert next(made) == next(made) == drawn(figure, ("svg",))
            with pytest.raises(ValueError, match="nothing to draw"):
                next(made)


def test_svg_is_always_drawn_and_nothing_else_unasked() -> None:
    assert [kind for kind, _ in drawn(figure, ())] == ["svg"]
    assert [kind for kind, _ in drawn(figure, ("pdf",))] == ["svg", "pdf"]
