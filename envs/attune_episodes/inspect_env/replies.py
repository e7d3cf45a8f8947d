"""`answer_of`: what a model's output in Inspect says, in the terms of `attune_episodes.chat`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from inspect_ai.model import ContentText, ModelOutput

from attune_episodes.chat.completion import Answer, mapping
from attune_episodes.chat.finish import ending_of

_LOST: Final = "unknown"
"""Inspect's word for every finish reason that it does not know, and for none."""
_WITHHELD: Final = ("refusal", "content_filter")


def answer_of(output: ModelOutput, response: object = None) -> Answer:
    """The text and the finish reason of an output; a message that is a refusal has the finish `refusal`.

    `response` is the body of the server's response, if known: where Inspect does not know the finish reason,
    it is read there.
    """
    if output.empty:
        usage = output.usage
        withheld = bool(usage and usage.input_tokens and not usage.output_tokens)
        return Answer("", finish="refusal" if withheld else "error: no choices")
    finish = output.stop_reason if output.stop_reason != _LOST else _finish_in(response)
    content = output.message.content
    parts = [part for part in content if isinstance(part, ContentText)] if isinstance(content, list) else []
    refusals = [part.text for part in parts if part.refusal]
    text = "".join(part.text for part in parts if not part.refusal) if refusals else output.completion
    details = output.choices[0].stop_details
    if not text.strip() and (refusals or (details is not None and details.type in _WITHHELD)):
        text, finish = "".join(refusals), finish if ending_of(finish) == "refused" else "refusal"
    return Answer(text, finish=finish)


def _finish_in(response: object) -> str:
    """The finish reason in a chat completion; "" if it gives none, and Inspect's word in another format."""
    choices: Any = mapping(response).get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    if not isinstance(first, Mapping):
        return _LOST
    finish = first.get("finish_reason")
    return finish if isinstance(finish, str) else ""
