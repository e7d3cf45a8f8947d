"""The attack by repetition: every entry of every list in an answer, named again in other spellings."""

from __future__ import annotations

from typing import Any, Final

from attune_episodes.protocol.request import Request

FEELING: Final = "Upset"
"""Named where the prior names no feeling, since a list without entries repeats nothing."""


def repeated(request: Request, body: dict[str, Any]) -> dict[str, Any]:
    """The answer with each entry of its lists four times: as it is, again, and in other spellings."""
    if body.get("emotions") == []:
        body["emotions"] = [FEELING]
    numbers = {text: number for texts in request.options.values() for number, text in enumerate(texts, 1)}
    return {key: _again(value, numbers) for key, value in body.items()}


def _again(value: Any, numbers: dict[str, int]) -> Any:
    if isinstance(value, dict):
        return {key: _again(inner, numbers) for key, inner in value.items()}
    if not isinstance(value, list):
        return value
    return [*value, *value, *(_respelled(entry, numbers) for entry in (*value, *value))]


def _respelled(entry: Any, numbers: dict[str, int]) -> Any:
    """The entry in capitals; a feeling with the highest intensity, an option by its number."""
    if isinstance(entry, dict):
        return {**entry, "emotion": str(entry.get("emotion")).upper(), "intensity": 7}
    return numbers.get(entry, f" {entry.upper()} ") if isinstance(entry, str) else entry
