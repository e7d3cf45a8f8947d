"""Chats and comparisons of replies, in whatever form a source has them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any, Final

from attune_data.errors import DataError, Problem, show
from attune_data.format.constants import RESPONSES
from attune_data.importing.imported import Left
from attune_data.jsonio import parse_json
from attune_data.seeding import digest

SLOTS: Final = dict(zip(RESPONSES, ("llmResponse", "llmImproved", "humanEdited"), strict=True))
"""Response -> the field that holds it: of the turn, and of its `alternateResponses`."""
SYSTEM: Final = "system messages"
"""The name under which they are counted."""
_ROLES: Final[Mapping[object, str]] = {
    "user": "user",
    "human": "user",
    "prompter": "user",
    "assistant": "assistant",
    "gpt": "assistant",
    "model": "assistant",
    "system": "system",
}
Chat = list[tuple[str, str]]
"""(role, text): "user" and "assistant" by turns, beginning with "user"."""


def compared(one: str, two: str, scores: Mapping[str, float | None], *place: str) -> dict[str, Any]:
    """The comparison on "general" of two responses, of which the higher score wins; there may be no winner.

    The sides are by a hash of the place: otherwise, the reply in the thread would always be on the same side.
    """
    first, second = (two, one) if digest(*place, one, two)[0] & 1 else (one, two)
    a, b = scores[first] or 0.0, scores[second] or 0.0
    winner = None if a == b else "A" if a > b else "B"
    return {"questionId": "general", "responseA": first, "responseB": second, "winner": winner}


def turn_of(
    number: int, message: str, replies: Iterable[str], compared: list[dict[str, Any]]
) -> dict[str, Any]:
    """The record of a turn with up to three replies and their comparisons."""
    original, *others = replies
    turn: dict[str, Any] = {"turnNumber": number, "userMessage": message, SLOTS["original"]: original}
    if others:
        slots = zip((SLOTS["alternate"], SLOTS["human"]), others, strict=False)
        chosen = {"pairwiseComparisons": compared, "selectedPairwiseQuestions": ["general"]}
        turn["annotations"] = {"alternateResponses": dict(slots)} | (chosen if compared else {})
    return turn


def chat_of(value: object, where: str, column: str, left: Left) -> Chat:
    """The chat that a cell holds: a text, which is one message, or a list of messages, or the JSON of one.

    Messages in a row of the same role are one; blank ones are left out, and so are system messages.
    Raises DataError for anything else, and if the first message is not the user's.
    """
    if isinstance(value, str) and value.lstrip().startswith(("[{", "[ {")):
        with suppress(DataError):  # a text that begins like a list
            value = parse_json(value, where)
    if isinstance(value, str):
        value = [{"role": "user", "content": value}]
    chat: Chat = []
    for index, part in enumerate(value if isinstance(value, (list, tuple)) else [value]):
        place = f"{column}[{index}]"
        role, text = _message(part, where, place)
        if role == "system":
            left[SYSTEM] += 1
        elif text and chat and chat[-1][0] == role:
            chat[-1] = (role, f"{chat[-1][1]}\n{text}")
        elif text:
            chat.append((role, text))
    if not chat or chat[0][0] != "user":
        found = "no message" if not chat else "an assistant's message first"
        raise DataError(Problem(where, column, found, "a chat that begins with a message of the user"))
    return chat


def _message(part: object, where: str, place: str) -> tuple[str, str]:
    if not isinstance(part, Mapping):
        raise DataError(Problem(where, place, show(part), "a message {role, content}"))
    said = part.get("role", part.get("from"))
    if (role := _ROLES.get(said)) is None:
        raise DataError(Problem(where, f"{place}.role", show(said), "user, assistant or system"))
    content = part.get("content", part.get("value"))
    if isinstance(content, (list, tuple)):
        texts: list[Any] = [one.get("text") if isinstance(one, Mapping) else None for one in content]
        content = "\n".join(texts) if all(isinstance(text, str) for text in texts) else None
    if not isinstance(content, str):
        raise DataError(Problem(where, f"{place}.content", show(part.get("content")), "text"))
    return role, content.strip()
