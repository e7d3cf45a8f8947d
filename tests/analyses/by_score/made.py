"""Scores made by hand: entries that hold just what a test is about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from attune_data import Conversation, Conversations
from attune_env.analyses import Absent, Analysis, Study
from attune_env.report.cells import Cell, DataTable
from attune_env.results.scores import aggregates_of
from attune_env.statistics.bootstrap import Interval
from tests.data.builders import conversation, turn

Json = dict[str, Any]
A, B, C = "lab/a", "lab/b", "lab/c"


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
            "data": {"provenance": "simulated", "fingerprint": "0" * 16},
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


def found(result: Analysis | Absent) -> Analysis:
    """An analysis that is there."""
    assert isinstance(result, Analysis), result
    return result


def cells(table: DataTable, column: str) -> list[Cell]:
    """A column by its name in CSV files."""
    place = [one.key for one in table.columns].index(column)
    return [row[place] for row in table.rows]


def means(table: DataTable, column: str) -> list[float | None]:
    """The means of a column of intervals."""
    values = cells(table, column)
    assert all(isinstance(one, Interval) for one in values)
    return [one.mean for one in values if isinstance(one, Interval)]
