"""`score`: for any loop. A row and what the model wrote, to plain values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypedDict

from attune_episodes.trainers.completion import text_of
from attune_episodes.training.scoring import score_row


class Scored(TypedDict):
    """What a completion earns, as values that JSON can hold."""

    reward: float
    """The row's reward: in [0, 1], or below 0 where it is measured from nulls (`skill`)."""
    parts: dict[str, float]
    """Part -> score in [0, 1], before nulls are taken off."""
    reason: str
    """`ok`, or `unparsed:<code>`, which earns 0 on every part."""


def score(row: Mapping[str, Any], text: object) -> Scored:
    """What a completion of a row's prompt earns; the very value of `score_row`.

    Args:
        row: a row of `training_dataset` or `to_dataset`, or any mapping with its `truth`.
        text: the completion: a text, or chat messages (the last one of the assistant counts); None is "".

    Raises DataError for a row without truth or with one of another scoring version, TypeError for what is
    no row and for a completion of another shape. Nothing that a model writes raises.
    """
    scored = score_row(row, "" if text is None else text_of(text))
    if scored.value is None:
        raise AssertionError("a row is scored by at least one part")
    return {"reward": scored.value, "parts": dict(scored.parts), "reason": scored.reason}
