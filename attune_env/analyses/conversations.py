"""Over turns and conversations: whether scores drift, and which conversations are hard."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from attune_env.analyses.analysis import Absent, Analysis
from attune_env.analyses.study import Study, over_models
from attune_env.figures.plots import dots, lines
from attune_env.report.names import references
from attune_env.report.table import Column, Table
from attune_env.statistics.bootstrap import Array
from attune_env.statistics.score_table import Key

THIRDS = ("first", "middle", "last")
FEWEST = 3
"""Turns that a conversation needs to have three thirds."""
DRIFTING = {
    "binary_om_accuracy": "Binary OM",
    "binary_human_accuracy": "Binary HP",
    "emotion_va_score": "Emotion VA",
    "emotion_f1": "Emotion F1",
    "pairwise_accuracy": "Pairwise",
}
Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class TurnTable:
    """Scores turn by turn: one row per scored turn of one (model, mode).

    The place of a turn is its rank among the turns of its conversation: those of the record where it is
    available, else those that any model was scored on.
    """

    at: Integers
    """(rows, 4): conversation, key, place from 1, turns of the conversation."""
    tagged: Array
    """1 where the person tagged an emotion, 0 where the turn is neutral, NaN where that is unknown."""
    values: Mapping[str, Array]
    shape: tuple[int, int]
    """Conversations and keys."""

    @classmethod
    def of(cls, study: Study, metrics: Sequence[str], keys: Sequence[Key]) -> TurnTable:
        """The turns of some models."""
        rows = {identity: row for row, identity in enumerate(study.table.ids)}
        columns = {key: number for number, key in enumerate(keys)}
        places = turn_places(study)
        tags = {
            (record.conversation_id, turn.turn_number): float(bool(turn.mood_shift_tags))
            for record in study.records if record is not None
            for turn in record.turns if turn.mood_shift_tags is not None
        }  # fmt: skip
        at: list[tuple[int, int, int, int]] = []
        tagged: list[float] = []
        found: list[list[Any]] = []
        for entry in study.entries:
            identity, column = entry["conversationId"], columns.get((entry["em_model"], entry["mode"]))
            for turn in entry.get("turn_scores") or () if column is not None else ():
                place = places[identity].get(turn["turnNumber"])
                if place is not None and column is not None:  # else no turn of the record
                    at.append((rows[identity], column, place, len(places[identity])))
                    tagged.append(tags.get((identity, turn["turnNumber"]), np.nan))
                    found.append([turn.get(name) for name in metrics])
        values = np.array(found, dtype=np.float64).reshape(-1, len(metrics))
        return cls(
            np.array(at, dtype=np.int64).reshape(-1, 4), np.array(tagged, dtype=np.float64),
            {name: values[:, i] for i, name in enumerate(metrics)}, (len(study.table.ids), len(keys)),
        )  # fmt: skip

    @property
    def third(self) -> Integers:
        """0, 1 or 2: ⌊3 (place − 1) / length⌋; −1 in conversations of fewer than three turns."""
        place, length = self.at[:, 2], self.at[:, 3]
        return np.where(length >= FEWEST, 3 * (place - 1) // np.maximum(length, 1), -1)

    def thirds(self, metric: str) -> Array:
        """(conversations, keys, 3): the mean over the turns of each third, NaN where none is defined."""
        return self._means(metric, self.third, 3)

    def tagged_only(self, metric: str) -> Array:
        """(conversations, keys): the mean over the turns whose person tagged an emotion."""
        return self._means(metric, np.where(self.tagged == 1, 0, -1), 1)[:, :, 0]

    def _means(self, metric: str, part: Integers, parts: int) -> Array:
        values = self.values[metric]
        used = (part >= 0) & ~np.isnan(values)
        shape = (*self.shape, parts)
        cell = np.ravel_multi_index((self.at[used, 0], self.at[used, 1], part[used]), shape)
        size = int(np.prod(shape))
        counts = np.bincount(cell, minlength=size)
        sums = np.bincount(cell, weights=values[used], minlength=size)
        with np.errstate(invalid="ignore"):
            return (sums / counts).reshape(shape)


def turn_places(study: Study) -> dict[str, dict[int, int]]:
    """Conversation id -> turn number -> place, from 1."""
    numbers: dict[str, set[int]] = {identity: set() for identity in study.table.ids}
    for entry in study.entries:
        numbers[entry["conversationId"]].update(t["turnNumber"] for t in entry.get("turn_scores") or ())
    for record in study.records:
        if record is not None:
            numbers[record.conversation_id] = {turn.turn_number for turn in record.turns}
    return {name: {n: i + 1 for i, n in enumerate(sorted(known))} for name, known in numbers.items()}


def _drift(study: Study) -> list[Table]:
    turns = TurnTable.of(study, list(DRIFTING), study.models)
    if not (turns.third >= 0).any():
        raise Absent(f"no scored conversation has {FEWEST} turns with scores of single turns")
    table = Table(
        study.titled("Turn drift, all models, points of 100"),
        ("metric", *(Column(f"{third} third", places=1, scale=100) for third in THIRDS),
         Column("last - first", "change", places=1, scale=100), "models down",
         Column("significantly", "models_down_significantly"), "models", "n"),
        name="turn_drift",
    )  # fmt: skip
    by_model: dict[str, list[Any]] = {}
    for metric, label in DRIFTING.items():
        thirds = turns.thirds(metric)
        change = thirds[:, :, 2] - thirds[:, :, 0]
        if np.isnan(change).all():
            continue
        columns = np.concatenate([over_models(thirds), over_models(change)[:, None], change], axis=1)
        first, middle, last, moved, *singly = study.table.kernel.intervals(columns)
        down = [one for one in singly if one.mean is not None and one.mean < 0]
        told = sum(one.mean is not None for one in singly)
        sure = sum(one.leaves_out_zero for one in down)
        table.rows.append((label, first, middle, last, moved, len(down), sure, told, moved.n))
        by_model[label] = singly
    if not table.rows:
        raise Absent("no turn metric is defined in both the first and the last third")
    models = Table(
        study.titled("Turn drift by model, last third - first third, points of 100"),
        ("model", *(Column(label, places=1, scale=100) for label in by_model), "n"),
        dim=references(study.models), name="turn_drift_by_model",
    )  # fmt: skip
    for number, key in enumerate(study.models):
        changes = [one[number] for one in by_model.values()]
        models.rows.append((key[0], *changes, max(one.n for one in changes)))
    return [table, models]


def _difficulty(study: Study) -> list[Table]:
    values = study.table.metric(study.composite, study.models)
    mean = over_models(values)
    known = np.flatnonzero(~np.isnan(mean))
    if known.size < 2:
        raise Absent(f"{known.size} conversation with a Composite; two are needed")
    lengths = np.array([len(turn_places(study)[identity]) for identity in study.table.ids])
    table = Table(
        study.titled("Conversations by mean Composite, hardest first, points of 100"),
        (
            "conversation",
            Column("category", prose=True),
            "turns",
            Column("mean", places=1),
            Column("sd over models", places=1),
            Column("lowest", places=1),
            Column("highest", places=1),
            "models",
            *(Column(key[0], f"of_{key[0]}", places=1) for key in study.models),
        ),
        name="difficulty",
    )
    for row in known[np.argsort(mean[known], kind="stable")]:
        scores = values[row][~np.isnan(values[row])]
        record = study.records[row]
        category = record.metadata.category if record is not None and record.metadata else None
        spread = float(np.std(scores, ddof=1)) if scores.size > 1 else None
        singly = (None if np.isnan(value) else float(value) for value in values[row])
        table.rows.append((
            study.table.ids[row], category or "", int(lengths[row]) or None, float(mean[row]), spread,
            float(scores.min()), float(scores.max()), int(scores.size), *singly,
        ))  # fmt: skip
    by_length = Table(
        study.titled("Mean Composite by number of turns, points of 100"),
        ("turns", Column("mean", places=1), "n"),
        name="difficulty_by_length",
    )
    found = sorted(set(lengths[known][lengths[known] > 0].tolist()))
    if found:
        columns = np.stack([np.where(lengths == number, mean, np.nan) for number in found], axis=1)
        intervals = study.table.kernel.intervals(columns)
        by_length.rows += [(number, one, one.n) for number, one in zip(found, intervals, strict=True)]
    return [table, by_length] if found else [table]


DRIFT = Analysis(
    "turn-drift",
    "Turn drift",
    "Do models get better or worse as a conversation goes on?",
    f"Turn k of T is in third ⌊3 (k − 1)/T⌋, in conversations of at least {FEWEST} turns. Each third is "
    "the mean over its turns, then over models, then over conversations; the change is taken within each "
    "conversation. Canonical turn scores, in which a turn without judgements or comparisons counts as 1.",
    _drift,
    {
        "turn-drift": partial(
            lines,
            table="turn_drift",
            columns=[f"{third}_third" for third in THIRDS],
            unit="mean over models, %, with 95 % interval",
        ),
        "turn-drift-by-model": partial(
            dots,
            table="turn_drift_by_model",
            line=0.0,
            across=5,
            columns=[label.lower().replace(" ", "_") for label in DRIFTING.values()],
            unit="last third minus first third, points",
        ),
    },
    signal="change",
)
DIFFICULTY = Analysis(
    "difficulty",
    "Difficulty of conversations",
    "Which conversations are hard, for all and for each model?",
    "Mean of the leading Composite over the models that were scored on a conversation; standard "
    "deviations with n − 1. The figure shows the hardest.",
    _difficulty,
    {"difficulty": partial(dots, table="difficulty", columns=["mean", "lowest", "highest"],
                           unit="points of 100, over models")},
)  # fmt: skip
