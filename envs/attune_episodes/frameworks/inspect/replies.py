"""`answer_of`: what a model's output in Inspect says, in the terms of `attune_episodes.chat`."""

from __future__ import annotations

from typing import Final

from inspect_ai.model import ContentText, ModelOutput

from attune_episodes.chat.completion import Answer
from attune_episodes.chat.finish import ending_of

_WITHHELD: Final = ("refusal", "content_filter")


def answer_of(output: ModelOutput) -> Answer:
    """The text and the finish reason of an output; a message that is a refusal has the finish `refusal`.

    Inspect passes on few finish reasons, and says `unknown` for all others and where there is none.
    """
    if output.empty:
        return Answer("", finish="unknown")  # nothing says that a filter withheld it
    text, finish, content = output.completion, output.stop_reason, output.message.content
    parts = [part for part in content if isinstance(part, ContentText)] if isinstance(content, list) else []
    refusals = [part.text for part in parts if part.refusal]
    if refusals:
        text = "".join(part.text for part in parts if not part.refusal)
    details = output.choices[0].stop_details
    if not text.strip() and (refusals or (details is not None and details.type in _WITHHELD)):
        return Answer("".join(refusals), finish=finish if ending_of(finish) == "refused" else "refusal")
    return Answer(text, finish=finish)
