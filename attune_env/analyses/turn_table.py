"""Scores turn by turn as one array, for whatever changes over a conversation or holds in some turns only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from attune_env.analyses.study import Study
from attune_env.statistics.bootstrap import Array
from attune_env.statistics.scores import Key

THIRDS = ("first", "middle", "last")
FEWEST = 3
"""Turns that a conversation needs to have three thirds."""

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class TurnTable:
    """One row per scored turn of one (model, mode).

    The place of a turn is its rank among the turns of its conversation: those of the record where it is at
    hand, else those that any model was scored on. A turn that a result lacks has no row and does not move
    the others.
    """

    conversation: Integers
    """Row of the study's score table."""
    key: Integers
    """Column of `keys`."""
    place: Integers
    """1 to `length`."""
    length: Integers
    """Turns of the conversation."""
    tagged: Array
    """1 where the person tagged an emotion, 0 where the turn is neutral, NaN where that is not known."""
    values: Array
    """(rows, metrics); NaN = undefined."""
    keys: tuple[Key, ...]
    metrics: tuple[str, ...]
    conversations: int

    @classmethod
    def of(cls, study: Study, metrics: Sequence[str], keys: Sequence[Key] | None = None) -> TurnTable:
        """From the `turn_scores` of a scores file, for `keys` (by default all of the study's mode).

        Args:
            study: conversations are read where it has them.
            metrics: names of turn scores, such as `emotion_va_score`.
            keys: (model, mode) pairs, the columns.
        """
        chosen = tuple(study.keys if keys is None else keys)
        columns = {key: i for i, key in enumerate(chosen)}
        rows = {identity: i for i, identity in enumerate(study.table.ids)}
        places = turn_places(study)
        tags = {
            conversation.conversation_id: {
                turn.turn_number: float(bool(turn.mood_shift_tags))
                for turn in conversation.turns
                if turn.mood_shift_tags is not None
            }
            for conversation in study.conversations or ()
        }
        where: list[tuple[int, int, int, int]] = []
        tagged: list[float] = []
        found: list[list[Any]] = []
        for entry in study.entries:
            column = columns.get((entry["em_model"], entry["mode"]))
            if column is None:
                continue
            identity = entry["conversationId"]
            for turn in entry.get("turn_scores") or ():
                place = places[identity].get(turn["turnNumber"])
                if place is None:  # no turn of the record at hand
                    continue
                where.append((rows[identity], column, place, len(places[identity])))
                tagged.append(tags.get(identity, {}).get(turn["turnNumber"], np.nan))
                found.append([turn.get(name) for name in metrics])
        at = np.array(where, dtype=np.int64).reshape(-1, 4)
        values = np.array(found, dtype=np.float64).reshape(-1, len(metrics))
        marks = np.array(tagged, dtype=np.float64)
        return cls(
            at[:, 0],
            at[:, 1],
            at[:, 2],
            at[:, 3],
            marks,
            values,
            chosen,
            tuple(metrics),
            len(study.table.ids),
        )

    @property
    def third(self) -> Integers:
        """0, 1 or 2: ⌊3 (place − 1) / length⌋; −1 in conversations of fewer than three turns."""
        return np.where(self.length >= FEWEST, 3 * (self.place - 1) // self.length, -1)

    def thirds(self, metric: str) -> Array:
        """(conversations, keys, 3): the mean over the turns of each third, NaN where none is defined."""
        return self._means(metric, self.third, 3)

    def tagged_only(self, metric: str) -> Array:
        """(conversations, keys): the mean over the turns whose person tagged an emotion."""
        return self._means(metric, np.where(self.tagged == 1, 0, -1), 1)[:, :, 0]

    def _means(self, metric: str, part: Integers, parts: int) -> Array:
        values = self.values[:, self.metrics.index(metric)]
        used = (part >= 0) & ~np.isnan(values)
        shape = (self.conversations, len(self.keys), parts)
        cell = np.ravel_multi_index((self.conversation[used], self.key[used], part[used]), shape)
        size = int(np.prod(shape))
        counts = np.bincount(cell, minlength=size)
        sums = np.bincount(cell, weights=values[used], minlength=size)
        with np.errstate(invalid="ignore"):
            return (sums / counts).reshape(shape)


def turn_places(study: Study) -> dict[str, dict[int, int]]:
    """Conversation id -> turn number -> place, from 1: of the record at hand, else of all scored turns."""
    numbers: dict[str, set[int]] = {identity: set() for identity in study.table.ids}
    for entry in study.entries:
        numbers[entry["conversationId"]].update(t["turnNumber"] for t in entry.get("turn_scores") or ())
    for conversation in study.conversations or ():
        if conversation.conversation_id in numbers:
            numbers[conversation.conversation_id] = {turn.turn_number for turn in conversation.turns}
    return {name: {n: i + 1 for i, n in enumerate(sorted(known))} for name, known in numbers.items()}
