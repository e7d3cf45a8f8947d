"""Studies made by hand: scores that hold just what a test is about, and result records written and scored."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from attune_data import Conversation, Conversations
from attune_env.report.analyses import Analysis, Study
from attune_env.results import read_results, score_results
from attune_env.results.files import result_name
from attune_env.results.scores import aggregates_of
from attune_env.tables.cells import Cell
from attune_env.tables.table import Table
from attune_episodes import Settings, builtin_policy, rollout
from tests.data.builders import conversation, turn, write

Json = dict[str, Any]
A, B = "lab/a", "lab/b"
COMPOSITE = "composite_score"


def entry(
    identity: str, model: str = A, *, mode: str = "default", turns: Sequence[Json] = (), **metrics: Any
) -> Json:
    """One conversation's scores; turn scores are numbered from 1 where they do not say."""
    marks = metrics.pop("attune", {})
    return {
        "conversationId": identity,
        "em_model": model,
        "mode": mode,
        "turn_scores": [{"turnNumber": i + 1} | scores for i, scores in enumerate(turns)],
        "post_score": {},
        "unscored_share": 0.25,
        "answered_share": 0.75,
        "source_result": f"{identity}_{model.replace('/', '_')}_{mode}.json",
        "attune": {"participant": f"P-{identity}", "outcomes": {"ok": 9, "unparsed:json": 1}} | marks,
    } | metrics


def scored(entries: Sequence[Json], reading: str = "canonical") -> Json:
    """The content of a scores file."""
    both: Json = {"composite_score": None, "composite_strict": None}  # as every real entry has
    return {
        "metadata": {
            "format": 1,
            "data": {"provenance": "filler", "fingerprint": "0" * 16},
            "settings": {"scoring": reading},
        },
        "conversations": list(entries),
        "aggregates": aggregates_of([both | one for one in entries]),
    }


def study(entries: Sequence[Json], people: Sequence[Conversation] | None = None, **options: Any) -> Study:
    """A study of them."""
    conversations = None if people is None else Conversations(people)
    return Study(scored(entries), conversations=conversations, **options)


def columns(metric: str, values: Mapping[str, Sequence[float | None]], **more: Any) -> list[Json]:
    """Entries of one metric: model -> values of conversations c0, c1, …; None leaves the entry out."""
    return [
        entry(f"c{row}", model, **({metric: value} | more))
        for model, column in values.items()
        for row, value in enumerate(column)
        if value is not None
    ]


def composites(**models: Sequence[float | None]) -> Study:
    """A study of the Composites of models of one lab, by conversation."""
    return study(columns(COMPOSITE, {f"lab/{name}": values for name, values in models.items()}))


def person(
    identity: str,
    diagnoses: Sequence[str] | None = None,
    *,
    category: str | None = "Work",
    tagged: Sequence[bool] = (True,),
    **scores: float,
) -> Conversation:
    """A conversation of a person of their own; `tagged` says for each turn whether it holds an emotion."""
    demographics = {} if diagnoses is None else {"diagnoses": list(diagnoses)}
    tags = [{"emotion": "Upset", "intensity": 5}]
    return conversation(
        conversationId=identity,
        metadata={"category": category},
        participant_profile={
            "participant_id": f"P-{identity}",
            "demographics": demographics,
            "computed_scores": scores,
        },
        turns=[turn(i + 1, moodShiftTags=tags if one else []) for i, one in enumerate(tagged)],
    )


def tables(analysis: Analysis, made: Study) -> dict[str, Table]:
    """The tables of an analysis that is there."""
    return dict(analysis.run(made).tables)


def first(analysis: Analysis, made: Study) -> Table:
    """Its first table."""
    return next(iter(tables(analysis, made).values()))


def means(table: Table, column: str) -> list[float | None]:
    """The means of a column of intervals."""
    return [one.mean for one in table.intervals(column)]


def mean(cell: Cell) -> float:
    """The mean of an interval that is defined."""
    value = getattr(cell, "mean", None)
    assert isinstance(value, float), cell
    return value


def rows(table: Table) -> list[dict[str, Cell]]:
    """The rows of a table as name of the column in CSV -> value."""
    return [dict(zip([c.key for c in table.heads], row, strict=True)) for row in table.rows]


def row(table: Table, **where: Cell) -> dict[str, Cell]:
    """The one row in which columns hold these values."""
    (match,) = [r for r in rows(table) if all(r[k] == v for k, v in where.items())]
    return match


MODEL = "lab/one"


def answers(talk: Conversation, model: str = MODEL, **asked: Any) -> Json:
    """The record of the right answers, under a model's name."""
    settings = Settings(**asked)
    oracle = builtin_policy("oracle", [talk], settings)
    return dict(rollout(talk, oracle, settings, em_model=model).result)


def study_of(
    folder: Path,
    conversations: Conversations,
    records: Iterable[Mapping[str, Any]],
    *,
    scoring: Literal["canonical", "strict"] = "canonical",
) -> Study:
    """A study of result records: written, scored and read as a person's would be."""
    for one in records:
        write(folder / "results" / result_name(one["conversationId"], one["em_model"], one["mode"]), one)
    found, problems, _ = read_results(folder / "results", conversations)
    assert not problems
    scores = score_results(found, conversations, ground_truth="here", scoring=scoring)
    return Study(scores, conversations=conversations, results=folder / "results")
