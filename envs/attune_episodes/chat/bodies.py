"""Decode the body of a response: JSON, or the events of a stream, which are joined to one completion."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from attune_episodes.chat.message import CALL_FIELDS, REASONING_FIELDS

_FIELD: Final = re.compile(r"(data|event|id|retry|): ?")
"""The beginning of a line of an event stream; a comment has no name."""
_DONE: Final = "[DONE]"
_JOINED: Final = ("content", *REASONING_FIELDS, "refusal", *CALL_FIELDS)


def decoded(text: str) -> Any:
    """The JSON value in a body, or the completion that its events add up to; None if it is broken or cut off.

    A byte-order mark is passed over, and so is a `data: [DONE]` after a completion that is not streamed.
    """
    text = text.strip().removeprefix("\ufeff").strip()
    if (value := _json(text)) is not None or not text:
        return value
    events = _events(text)
    return None if events is None else _completion(events)


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _events(text: str) -> list[Mapping[str, Any]] | None:
    """The objects in the events of a stream; None if it is none, or ends before its end."""
    events: list[Mapping[str, Any]] = []
    ended, name, data = False, "", list[str]()
    for line in [*text.splitlines(), ""]:
        field = _FIELD.match(line)
        if field and field[1] == "data":
            data.append(line[field.end() :])
        elif field and field[1] == "event":
            name = line[field.end() :].strip()
        elif line.strip() and not field:
            data.append(line)  # JSON without the name of a field, on its own or before `data: [DONE]`
        whole = _json(said := "\n".join(data))
        if said.strip() == _DONE:
            ended = True
        elif isinstance(whole, dict):
            events.append({"error": whole} if name == "error" and "error" not in whole else whole)
        elif not line.strip() and said.strip():
            return None
        else:
            if not line.strip():
                name = ""
            continue
        data.clear()
    failed = any(event.get("error") for event in events)
    finished = any(choice.get("finish_reason") or "message" in choice for choice in _choices(events))
    return events if events and (ended or failed or finished) else None


def _choices(events: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The first choice of each event."""
    found = [event.get("choices") for event in events]
    choices = [choice for held in found if isinstance(held, list) for choice in held]
    return [one for one in choices if isinstance(one, dict) and not one.get("index")]


def _completion(events: list[Mapping[str, Any]]) -> dict[str, Any]:
    """One completion from the chunks of a stream, or the only one among the events."""
    made: dict[str, Any] = {}
    for event in events:
        made |= {name: value for name, value in event.items() if value is not None and name != "choices"}
    choices = _choices(events)
    if not choices:
        return made | {"choices": []}
    choice: dict[str, Any] = {}
    message: dict[str, Any] = {}
    for part in choices:
        choice |= {name: value for name, value in part.items() if value is not None}
        delta = part.get("delta") or part.get("message") or {"content": part.get("text")}
        for name, value in delta.items() if isinstance(delta, dict) else ():
            if value:
                message[name] = _added(message.get(name), value) if name in _JOINED else value
    return made | {"choices": [choice | {"message": message}]}


def _added(before: Any, piece: Any) -> Any:
    """A field of a message with a further piece, both of which are texts or lists of parts."""
    if isinstance(before, str) and isinstance(piece, str):
        return before + piece
    if before is None or isinstance(piece, dict):
        return piece
    parts = [{"type": "text", "text": one} if isinstance(one, str) else one for one in (before, piece)]
    return [entry for one in parts for entry in (one if isinstance(one, list) else [one])]
