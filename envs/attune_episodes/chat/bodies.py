"""Decode the body of a response: JSON, or the events of a stream, which are joined to one completion."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from functools import reduce
from itertools import pairwise
from typing import Any, Final

from attune_episodes.chat.faults import error_of, says_something
from attune_episodes.chat.finish import finish_in
from attune_episodes.chat.message import CALL_FIELDS, REASONING_FIELDS

_FIELD: Final = re.compile(r"(data|event|id|retry|error|): ?")
"""The beginning of a line of an event stream; a comment has no name. llama.cpp has a field `error`."""
_LINE: Final = re.compile(r"\r\n|\n|\r")
"""The only ends of lines: further ones of Unicode may stand in a JSON string."""
_CHARSET: Final = re.compile(
    r"""charset\s*=\s*["']?((?:utf-?\d|gb|big5|euc|hz|shift|sjis|iso-?8859|latin|windows-|cp\d|koi8)[\w.:-]*)""",
    re.IGNORECASE,
)
_DONE: Final = "[DONE]"
_JOINED: Final = ("content", *REASONING_FIELDS, "refusal", *CALL_FIELDS)
_REPEATED: Final = 16
"""Characters from which on a piece that begins with all the text before it repeats that text."""


def text_of_body(data: bytes, content_type: str) -> str:
    """The text of a body: UTF-8 as JSON must be, otherwise as declared.

    UTF-8 comes first, since servers declare Latin-1 for anything; a wrong byte is replaced.
    """
    declared = _CHARSET.search(content_type)
    names = ["utf-8", *([declared[1]] if declared else [])]
    for name in names[:: -1 if declared and declared[1].lower().startswith("utf") else 1]:
        try:
            return data.decode(name)
        except (ValueError, LookupError):
            continue
    return data.decode("utf-8", "replace")


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
    """The objects in the events of a stream up to an error; None if it is none, or ends before its end."""
    events: list[Mapping[str, Any]] = []
    name, data = "", list[str]()
    for line in [*_LINE.split(text), ""]:
        field = _FIELD.match(line)
        if field and field[1] in ("data", "error"):
            data.append(line[field.end() :])
            name = "error" if field[1] == "error" else name
        elif field and field[1] == "event":
            name = line[field.end() :].strip()
        elif line.strip() and not field:
            data.append(line)  # JSON without the name of a field, on its own or before `data: [DONE]`
        whole = _json(said := "\n".join(data))
        if isinstance(whole, dict):
            if failed := _error_in(name, whole):
                return [{"error": failed}]
            events.append(whole)
        elif said.strip() == _DONE:
            pass
        elif not line.strip() and said.strip():
            return None
        else:
            if not line.strip():
                name = ""
            continue
        data.clear()
    return events if events and _finished(events) else None


def _error_in(name: str, event: Mapping[str, Any]) -> Mapping[str, Any]:
    """The error that an event states; {} if it states none."""
    error = error_of(event)
    if says_something(error):
        return error
    if name == "error":
        return event
    return {"message": event["detail"]} if event.get("detail") and "choices" not in event else {}


def _finished(events: list[Mapping[str, Any]]) -> bool:
    """Whether a stream has reached its end, which `[DONE]` alone does not show: gateways add it anyway."""
    choices = [(choice, event) for event in events for choice in _choices([event])]
    if any(finish_in(choice, event) for choice, event in choices):
        return True
    # a completion that is not in pieces, or none at all
    return len(choices) < 2 and all("message" in choice and "delta" not in choice for choice, _ in choices)


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
    pieces: dict[str, list[Any]] = {}
    for part in choices:
        choice |= {name: value for name, value in part.items() if value not in (None, "")}
        whole = part.get("message")
        delta = whole or part.get("delta") or {"content": part.get("text")}
        for name, value in delta.items() if isinstance(delta, dict) else ():
            if value and name in _JOINED and not whole:
                pieces.setdefault(name, []).append(value)
            elif value:
                pieces[name] = [value]  # a message is all there is so far
    message = {name: _joined(held) for name, held in pieces.items()}
    return made | {"choices": [choice | {"message": message}]}


def _joined(pieces: list[Any]) -> Any:
    """Join the pieces of a field; a piece that repeats all before it takes its place."""
    if not all(isinstance(piece, str) for piece in pieces):
        return reduce(_added, pieces)
    grows = all(later.startswith(earlier) for earlier, later in pairwise(pieces))
    if grows and len(pieces) > 1 and len(pieces[-2]) >= _REPEATED and pieces[-1] != pieces[0]:
        return pieces[-1]
    text = ""
    for piece in pieces:
        text = piece if len(text) >= _REPEATED and piece.startswith(text) else text + piece
    return text


def _added(before: Any, piece: Any) -> Any:
    """A field of a message with a further piece, both of which are texts or lists of parts."""
    if isinstance(before, str) and isinstance(piece, str):
        return before + piece
    if isinstance(piece, dict):
        return piece
    parts = [{"type": "text", "text": one} if isinstance(one, str) else one for one in (before, piece)]
    return [entry for one in parts for entry in (one if isinstance(one, list) else [one])]
