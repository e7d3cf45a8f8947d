"""Over turns and conversations: whether scores drift, and which conversations are hard."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from attune_data.extras import needs_extra
from attune_env.report.analyses.analysis import Analysis
from attune_env.report.analyses.study import Absent, Study, label_of, over_models
from attune_env.report.figures.dots import Dots
from attune_env.report.figures.lines import Lines
from attune_env.tables.cells import Cell, Column, points
from attune_env.tables.groups import METRICS
from attune_env.tables.table import Table
from attune_rewards.bootstrap import Array, known

if TYPE_CHECKING:
    import pandas as pd

THIRDS: Final = ("first", "middle", "last")
FEWEST: Final = 3
"""Turns that a conversation needs to be divided into thirds."""
DRIFTING: Final = {
    name: label_of(METRICS[f"avg_{name}"])
    for name in ("binary_om_accuracy", "binary_human_accuracy", "emotion_va_score", "emotion_f1",
                 "pairwise_accuracy")
}  # fmt: skip


def turn_places(study: Study) -> list[dict[int, int]]:
    """Turn number -> position from 1, for each row: in the record, or else among scored turns."""
    numbers: dict[str, set[int]] = {identity: set() for identity in study.table.ids}
    for entry in study.entries:
        numbers[entry["conversationId"]].update(t["turnNumber"] for t in entry.get("turn_scores") or ())
    for record in study.records:
        if record is not None:
            numbers[record.conversation_id] = {turn.turn_number for turn in record.turns}
    return [{n: i + 1 for i, n in enumerate(sorted(known))} for known in numbers.values()]


def turn_scores(study: Study, metrics: Sequence[str]) -> pd.DataFrame:
    """A row per scored turn of a compared model: `row`, `key`, `third`, `tagged`, and the metrics.

    third: 0, 1 or 2, ⌊3 (place − 1)/length⌋; −1 in conversations of fewer than three turns. tagged: 1 if
    the person tagged an emotion, 0 if the turn is neutral, NaN if that is unknown.
    """
    with needs_extra("report", "pandas"):
        import pandas as pd
    rows = {identity: row for row, identity in enumerate(study.table.ids)}
    places = turn_places(study)
    tags = {
        (row, turn.turn_number): float(bool(turn.mood_shift_tags))
        for row, record in enumerate(study.records) if record is not None
        for turn in record.turns if turn.mood_shift_tags is not None
    }  # fmt: skip
    found: list[tuple[Any, ...]] = []
    for entry in study.entries:
        key, row = (entry["em_model"], entry["mode"]), rows[entry["conversationId"]]
        for turn in entry.get("turn_scores") or () if key in study.models else ():
            number, length = turn["turnNumber"], len(places[row])
            if (place := places[row].get(number)) is not None:  # else no turn of the record
                third = 3 * (place - 1) // length if length >= FEWEST else -1
                values = (turn.get(name) for name in metrics)
                found.append((row, study.models.index(key), third, tags.get((row, number), np.nan), *values))
    frame = pd.DataFrame(found, columns=["row", "key", "third", "tagged", *metrics])
    return frame.astype(dict.fromkeys(metrics, np.float64))


def turn_means(study: Study, turns: pd.DataFrame, metric: str, part: pd.Series, parts: int = 1) -> Array:
    """(conversations, models, parts): means of a metric over the turns whose `part` is that, NaN if none."""
    values, part = turns[metric].to_numpy(), part.to_numpy()
    used = (part >= 0) & ~np.isnan(values)
    shape = len(study.table.ids), len(study.models), parts
    cell = np.ravel_multi_index((turns["row"][used], turns["key"][used], part[used]), shape)
    size = int(np.prod(shape))
    with np.errstate(invalid="ignore"):
        means = np.bincount(cell, values[used], size) / np.bincount(cell, minlength=size)
    return means.reshape(shape)


def _drift(study: Study) -> list[Table]:
    turns = turn_scores(study, list(DRIFTING))
    if not (turns["third"] >= 0).any():
        raise Absent(f"no scored conversation of {FEWEST} turns or more has scores for individual turns")
    rows: list[tuple[Cell, ...]] = []
    by_model = {}
    for metric, label in DRIFTING.items():
        thirds = turn_means(study, turns, metric, turns["third"], 3)
        change = thirds[:, :, 2] - thirds[:, :, 0]
        if np.isnan(change).all():
            continue
        columns = np.column_stack([over_models(thirds), over_models(change), change])
        *pooled, moved = study.table.kernel.intervals(columns)[:4]
        singly = by_model[points(label, metric)] = study.table.kernel.intervals(columns)[4:]
        down = [one for one in singly if one.mean is not None and one.mean < 0]
        told = sum(one.mean is not None for one in singly)
        sure = sum(one.leaves_out_zero for one in down)
        rows.append((label, *pooled, moved, len(down), sure, told, moved.n))
    if not rows:
        raise Absent("no turn metric is defined in both the first and the last third")
    table = study.sheet(
        "turn_drift",
        "Turn drift, all models, points of 100",
        (
            "metric",
            *(points(f"{third} third") for third in THIRDS),
            points("last - first", "change"),
            "models down",
            Column("significantly", "models_down_significantly"),
            "models",
            "n",
        ),
        rows,
    )
    models = study.sheet(
        "turn_drift_by_model",
        "Turn drift by model, last third - first third, points of 100",
        ("model", *by_model, "n"),
        (
            (key[0], *changes, max(one.n for one in changes))
            for key, *changes in zip(study.models, *by_model.values(), strict=True)
        ),
    )
    return [table, models]


def _difficulty(study: Study) -> list[Table]:
    values = study.table.metric(study.composite, study.models)
    mean = over_models(values)
    defined = np.flatnonzero(~np.isnan(mean))
    if defined.size < 2:
        raise Absent(f"conversations with a Composite: {defined.size}; at least two are needed")
    lengths = np.array([len(places) for places in turn_places(study)])
    rows: list[tuple[Cell, ...]] = []
    for row in defined[np.argsort(mean[defined], kind="stable")]:
        scores = values[row][~np.isnan(values[row])]
        record = study.records[row]
        category = record.metadata.category if record is not None and record.metadata else None
        spread = float(np.std(scores, ddof=1)) if scores.size > 1 else None
        ends = float(scores.min()), float(scores.max())
        about = study.table.ids[row], category or "", int(lengths[row]) or None
        rows.append((*about, float(mean[row]), spread, *ends, scores.size, *map(known, values[row])))
    heads = ("mean", "sd over models", "lowest", "highest")
    table = study.sheet(
        "difficulty",
        "Conversations by mean Composite, hardest first, points of 100",
        (
            "conversation",
            "category",
            "turns",
            *(Column(head, places=1) for head in heads),
            "models",
            *(Column(key[0], f"of_{key[0]}", places=1) for key in study.models),
        ),
        rows,
    )
    return [table]


DRIFT = Analysis(
    "turn-drift",
    "Turn drift",
    "Do models get better or worse as a conversation goes on?",
    f"In conversations of at least {FEWEST} turns, turn k of T is in third ⌊3 (k − 1)/T⌋, counting from 0. "
    "Each third is averaged over its turns, then over models, then over conversations; the change is "
    "computed within each conversation. Turn scores are canonical, so a turn without judgements or "
    "comparisons counts as 1.",
    _drift,
    {
        "turn-drift": Lines("turn_drift", [f"{third}_third" for third in THIRDS],
                            unit="mean over models, %, with 95% interval"),
        "turn-drift-by-model": Dots(
            "turn_drift_by_model", list(DRIFTING), line=0.0, across=5,
            unit="last third minus first third, points",
        ),
    },
    signal="change",
    chapter="Participants and conversations",
    place=4,
    inputs="turn scores",
)  # fmt: skip
DIFFICULTY = Analysis(
    "difficulty",
    "Difficulty of conversations",
    "Which conversations are hard, for all models together and for each?",
    "Mean of the leading Composite over the models that were scored on a conversation; standard "
    "deviations use n − 1. The figure shows the hardest conversations.",
    _difficulty,
    {"difficulty": Dots("difficulty", ["mean", "lowest", "highest"], unit="points of 100, over models")},
    chapter="Participants and conversations",
    place=5,
)
ANALYSES: Final = (DRIFT, DIFFICULTY)
