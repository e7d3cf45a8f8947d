"""What holds for every analysis of scores: hostile names, missing inputs, figures, tables."""

from __future__ import annotations

import csv
import io
import xml.etree.ElementTree as ET
from typing import Any

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from attune_env.analyses import Absent, Analysis, Study, by_score
from attune_env.analyses.by_score.wording import (
    counted,
    listed,
    names_of,
    number_text,
    of_all,
    sentence,
    span,
)
from attune_env.figures.score_marks import frame
from attune_env.figures.style import panels, svg_text
from attune_env.results.scores import aggregates_of
from attune_env.statistics.bootstrap import Interval
from tests.analyses.by_score.made import A, B, columns, entry, study
from tests.analyses.planted import people
from tests.analyses.planted import planted_scores as scores_of_readers

EVIL = ["$x^_{", "<script>alert('1')</script>", "lab/‮live😀 שלום", f"lab/{'w' * 300}"]
NAMES = ("good", "worse", "tuned-0", "tuned-400")
NAMED = [by_score.__dict__[name] for name in by_score.__all__]


@pytest.fixture(scope="module")
def hostile() -> Study:
    """Four readers under names that break what is careless; one of them asked in a second mode too."""
    content = scores_of_readers(20, NAMES)
    names = dict(zip((f"planted/{name}" for name in NAMES), EVIL, strict=True))
    entries = [one | {"em_model": names[one["em_model"]]} for one in content["conversations"]]
    again = [one | {"mode": "<b>$\n"} for one in entries if one["em_model"] in EVIL[:2]]
    samples = [one | {"em_model": f"{EVIL[0]}@sample2"} for one in entries if one["em_model"] == EVIL[0]]
    every = [*entries, *again, *samples]
    made = content | {"conversations": every, "aggregates": aggregates_of(every)}
    return Study(made, conversations=people(20))


@pytest.mark.parametrize("analyse", NAMED, ids=by_score.__all__)
def test_hostile_names_break_nothing(hostile: Study, analyse: Any) -> None:
    result = analyse(hostile)
    if analyse is by_score.cost_against_score:
        assert isinstance(result, Absent)
        return
    assert isinstance(result, Analysis)
    assert result.reading.isprintable()
    assert result.reading.endswith(".")
    assert result.method
    for table in result.tables:
        assert {len(row) for row in table.rows} == {len(table.columns)}
        assert len({column.key for column in table.columns}) == len(table.columns)
        shown = list(csv.reader(io.StringIO(table.csv_text())))
        assert {len(row) for row in shown} == {len(shown[0])}
        assert len(shown) == len(table.rows) + 1
        assert table.shown().columns
    for name, draw in result.figures:
        assert name == name.lower()
        assert all(c.isalnum() or c == "-" for c in name)
        assert name.isascii()
        ET.fromstring(svg_text(draw()))  # well-formed whatever the names are


@pytest.mark.parametrize("analyse", NAMED, ids=by_score.__all__)
def test_no_input_is_needed_to_be_told_what_is_missing(analyse: Any) -> None:
    bare = study([entry("c", A)])
    result = analyse(bare)
    assert isinstance(result, Absent)
    assert result.reason
    assert result.name == result.name.lower()


@pytest.mark.parametrize("analyse", NAMED, ids=by_score.__all__)
def test_one_conversation_and_one_metric_raise_nothing(analyse: Any) -> None:
    for metric in ("composite_score", "avg_pairwise_kendall_tau", "perspective_gap_om_hp"):
        result = analyse(study(columns(metric, {A: [50.0], B: [40.0]})))
        assert isinstance(result, (Analysis, Absent))
        for _, draw in result.figures if isinstance(result, Analysis) else ():
            svg_text(draw())


def test_names_are_short_and_differ() -> None:
    keys = [(name, "default") for name in ("a/m", "b/m", "lab/x", f"l/{'q' * 40}1", f"l/{'q' * 40}2", "/")]
    names = names_of(keys)
    assert names[:3] == ["a/m", "b/m", "x"]
    assert len(set(names)) == len(names)
    assert max(map(len, names)) <= 26


@pytest.mark.parametrize(("said", "want"), [
    (counted(1, "model"), "1 model"), (counted(0, "model"), "0 models"),
    (counted(2, "category"), "2 categories"), (of_all(3, 3, "policy"), "all 3 policies"),
    (of_all(0, 1, "model"), "no model"), (of_all(0, 3, "model"), "none of 3 models"),
    (of_all(1, 1, "model"), "the one model"), (of_all(2, 2, "model"), "both models"),
    (of_all(3, 3, "model"), "all 3 models"), (of_all(1, 3, "model"), "1 of 3 models"),
    (listed(["a"]), "a"), (listed(["a", "b"]), "a and b"), (listed(["a", "b", "c"]), "a, b and c"),
    (listed(["a", "b", "c", "d"]), "a, b and 2 more"),
    (span([3.0, 7.61]), "3.0 to 7.6"), (span([3.0]), "3.0"),
    (number_text(-0.04), "0.0"), (number_text(-0.06), "−0.1"), (number_text(0.06, signed=True), "+0.1"),
    (sentence("it\nis"), "It\\nis."),
])  # fmt: skip
def test_words(said: str, want: str) -> None:
    assert said == want


def test_long_names_keep_what_tells_them_apart() -> None:
    keys = [(f"lab/instruct-with-a-very-long-name-step{step}", "default") for step in (100, 200)]
    assert names_of(keys) == ["instruct-with…name-step100", "instruct-with…name-step200"]


@pytest.mark.parametrize("null", [40.0, 45.0, 50.0, 55.0, 60.0])
def test_names_of_references_do_not_lie_on_each_other(null: float) -> None:
    figure, (axis,) = panels(width=2.0, height=1.9)
    means = [Interval(mean, mean - 2, mean + 2, 9, 9) for mean in (42.0, 58.0)]
    frame(axis, means, [("prior", null, True), ("oracle", 100.0, False)])
    FigureCanvasAgg(figure).draw()  # type: ignore[no-untyped-call]
    first, second = (text.get_window_extent() for text in axis.texts)
    assert not first.overlaps(second)
    assert min(first.x0, second.x0) >= axis.bbox.x0 - 1
    assert max(first.x1, second.x1) <= axis.bbox.x1 + 1
