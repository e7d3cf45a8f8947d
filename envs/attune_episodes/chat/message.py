"""Read the fields of a chat message: its text, its reasoning, and a refusal."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

REASONING_FIELDS: Final = (
    "reasoning_content",
    "reasoning",
    "reasoning_text",
    "thinking",
    "reasoning_details",
)
"""Fields beside `content` that servers use for reasoning; the first with a text counts."""
CALL_FIELDS: Final = ("tool_calls", "function_call")


def text_of(content: object) -> str:
    """The text of a message's content, which may be a string, a list of parts, a JSON object, or null.

    The texts of the parts are concatenated, without those of reasoning and refusals; "" if there is none. An
    object that is no part is the answer itself.
    """
    if isinstance(content, Mapping) and content and not content.keys() & {"type", "text"}:
        return json.dumps(content, ensure_ascii=False)
    return content if isinstance(content, str) else "".join(_texts(content, "text"))


def reasoning_of(message: Mapping[str, Any]) -> str:
    """The reasoning of a message, from a field of its own or from parts of the content."""
    for name in REASONING_FIELDS:
        found = message.get(name)
        text = found if isinstance(found, str) else "".join(_texts(found, "text", "reasoning"))
        if text:
            return text
    return "".join(_texts(message.get("content"), "reasoning"))


def refusal_of(message: Mapping[str, Any]) -> str:
    """The text with which the model refuses; "" if it does not."""
    said = message.get("refusal")
    own = said if isinstance(said, str) else "".join(_texts(said, "text"))
    return own or "".join(_texts(message.get("content"), "refusal"))


def _texts(content: object, *kinds: str) -> Iterator[str]:
    """The texts of the parts of these kinds: `text`, `reasoning` or `refusal`."""
    parts = [content] if isinstance(content, Mapping) else content
    for part in parts if isinstance(parts, list) else ():
        if isinstance(part, str) and "text" in kinds:
            yield part
        elif isinstance(part, Mapping) and (kind := _kind(part)) in kinds:
            for name in (kind, "text", "thinking", "summary"):
                held = part.get(name)
                if isinstance(held, Mapping):  # {"text": {"value": …}}
                    held = held.get("value")
                text = held if isinstance(held, str) else "".join(_texts(held, "text"))
                if text:
                    yield text
                    break


def _kind(part: Mapping[str, Any]) -> str:
    name = str(part.get("type") or "").lower()
    if "reason" in name or "think" in name:
        return "reasoning"
    return "refusal" if "refus" in name else "text"
