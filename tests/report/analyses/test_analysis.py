"""The contract of every analysis: hostile names, missing inputs, figures, tables."""

from __future__ import annotations

import csv
import io
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import pytest

from attune_env.report.analyses import ANALYSES, Absent, Analysis, Study
from attune_env.report.analyses.comparisons import WINS
from attune_env.report.figures.style import drawn
from attune_env.results.scores import aggregates_of
from tests.report.analyses.made import A, B, columns, entry, study, study_of
from tests.report.analyses.planted import people, reader, results_of

EVIL = ["$x^_{", "<script>alert('1')</script>", "lab/\u202elive😀 שלום", f"lab/{'w' * 300}"]
NAMES = ("good", "worse", "tuned-0", "tuned-400")


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Study:
    """Four readers under names that break what is careless; two asked in a second mode too, and baselines."""
    talks = people(8)
    names = dict(zip(NAMES, EVIL, strict=True))
    records = [
        {**one.record, "em_model": name}
        for reader_name, name in (*names.items(), ("no-gap", "builtin/prior"), ("drifts", "builtin/oracle"))
        for one in results_of(talks, [reader(reader_name)])
    ]
    made = study_of(tmp_path_factory.mktemp("hostile"), talks, records)
    entries = made.entries
    again = [{**one, "mode": "<b>$\n"} for one in entries if one["em_model"] in EVIL[:2]]
    samples = [{**one, "em_model": f"{EVIL[0]}@sample2"} for one in entries if one["em_model"] == EVIL[0]]
    every = [*entries, *again, *samples]
    scores = {**made.scores, "conversations": every, "aggregates": aggregates_of(every)}
    return replace(made, scores=scores)


@pytest.mark.slow
@pytest.mark.parametrize("analysis", ANALYSES, ids=lambda one: one.name)
def test_hostile_names_break_nothing(hostile: Study, analysis: Analysis) -> None:
    found = analysis.run(hostile)
    assert analysis.question.endswith("?")
    assert analysis.caption.endswith(".")
    assert analysis.signal in ("", *(head.key for table in found.tables.values() for head in table.heads))
    for name, table in found.tables.items():
        assert name == table.name
        assert {len(row) for row in table.rows} == {len(table.heads)}
        assert len({column.key for column in table.heads}) == len(table.heads)
        shown = list(csv.reader(io.StringIO(table.csv_text())))
        assert {len(row) for row in shown} == {len(shown[0])}
        assert len(shown) == len(table.rows) + 1
        assert "\u202e" not in table.csv_text()
    for name, draw in found.draws.items():
        assert all(c.islower() or c == "-" for c in name)
        ET.fromstring(drawn(draw(), ())["svg"])  # well-formed whatever the names are


@pytest.mark.parametrize("analysis", ANALYSES, ids=lambda one: one.name)
def test_what_is_missing_is_said(analysis: Analysis) -> None:
    with pytest.raises(Absent, match=r"\w"):
        analysis.run(study([entry("c", A)]))


@pytest.mark.parametrize("metric", ["composite_score", "avg_pairwise_kendall_tau", "perspective_gap_om_hp"])
def test_one_conversation_and_one_metric_raise_nothing(metric: str) -> None:
    made = study(columns(metric, {A: [50.0], B: [40.0]}))
    for analysis in ANALYSES:
        try:
            found = analysis.run(made)
        except Absent:
            continue
        for draw in found.draws.values():
            draw()


def test_a_matrix_of_one_model_is_not_drawn() -> None:
    made = study(columns("avg_pairwise_kendall_tau", {A: [0.5]}))
    assert "preference-wins" not in WINS.run(made).draws


def test_names_of_analyses_tables_and_figures_are_unique(hostile: Study) -> None:
    found = [analysis.run(hostile) for analysis in ANALYSES]
    for names in ([one.analysis.name for one in found], [n for one in found for n in one.tables],
                  [n for one in found for n in one.draws]):  # fmt: skip
        assert len({name.casefold() for name in names}) == len(names)


@pytest.mark.slow
def test_a_figure_has_the_same_bytes_every_time(hostile: Study, tmp_path: Path) -> None:
    (draw, *_) = ANALYSES[2].run(hostile).draws.values()
    assert drawn(draw(), ("png", "pdf")) == drawn(draw(), ("png", "pdf"))
