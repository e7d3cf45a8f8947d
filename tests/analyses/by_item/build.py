"""Studies made of result records at hand: written, scored and read as a person's would be."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from attune_data import Conversations
from attune_env.analyses import Absent, Analysis, Study
from attune_env.report.cells import Cell
from attune_env.results import read_results, score_results
from attune_env.results.files import result_name
from attune_episodes import Settings, builtin_policy, rollout
from tests.data.builders import Json, write

MODEL = "lab/one"


def answers(conversation: Any, model: str = MODEL, **asked: Any) -> Json:
    """The record of the right answers, under a model's name."""
    settings = Settings(**asked)
    oracle = builtin_policy("oracle", [conversation], settings)
    return dict(rollout(conversation, oracle, settings, em_model=model).result)


def study_of(
    folder: Path,
    conversations: Conversations,
    records: Iterable[Mapping[str, Any]],
    *,
    scoring: Literal["canonical", "strict"] = "canonical",
) -> Study:
    for record in records:
        name = result_name(record["conversationId"], record["em_model"], record["mode"])
        write(folder / "results" / name, record)
    found, problems, _ = read_results(folder / "results", conversations)
    assert not problems
    scores = score_results(found, conversations, ground_truth="here", scoring=scoring)
    return Study(scores, conversations=conversations, results=folder / "results")


def made(found: Analysis | Absent) -> Analysis:
    assert isinstance(found, Analysis), found
    return found


def rows(found: Analysis, table: str) -> list[dict[str, Cell]]:
    """The rows of a table as name of the column in CSV -> value."""
    one = next(t for t in found.tables if t.name == table)
    return [dict(zip([c.key for c in one.columns], row, strict=True)) for row in one.rows]


def row(found: Analysis, table: str, **where: Cell) -> dict[str, Cell]:
    """The one row in which columns hold these values."""
    (match,) = [r for r in rows(found, table) if all(r[k] == v for k, v in where.items())]
    return match


def mean(cell: Cell) -> float:
    value = getattr(cell, "mean", None)
    assert isinstance(value, float), cell
    return value


def drawn(found: Sequence[Analysis]) -> None:
    """Every figure of the analyses, drawn and thrown away."""
    from attune_env.figures.style import svg_text

    for analysis in found:
        for _, draw in analysis.figures:
            assert svg_text(draw()).startswith("<?xml")
