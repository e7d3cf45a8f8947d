"""The text of a completion, in the shapes that trainers hand completions over."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from attune_data.errors import show


def text_of(completion: object) -> str:
    """What the model wrote.

    Args:
        completion: a text; a chat message; or a list of chat messages, of which the last one of the
            assistant counts. A message's content is a text or a list of parts, whose texts are joined.

    Returns:
        The text; "" where there is none: no message of the assistant, no content, or content of another
        kind. Whatever a model wrote comes out as some text.

    Raises TypeError for something else than a text and messages: that is the trainer's, not the model's.
    """
    if isinstance(completion, str):
        return completion
    if type(completion) is list and completion and type(last := completion[-1]) is dict:  # nearly always
        text = last.get("content")
        if last.get("role") == "assistant" and isinstance(text, str):
            return text
    if isinstance(completion, Mapping):
        completion = (completion,)
    if not isinstance(completion, Sequence) or isinstance(completion, (bytes, bytearray)):
        raise _unknown(completion)
    for message in reversed(completion):
        if not isinstance(message, Mapping) or "role" not in message:
            raise _unknown(completion)
        if message["role"] == "assistant":
            return _content(message.get("content"))
    return ""


def _content(content: object) -> str:
    if isinstance(content, str):
        return content
    if not isinstance(content, Sequence) or isinstance(content, (bytes, bytearray)):
        return ""
    texts = (part.get("text") if isinstance(part, Mapping) else part for part in content)
    return "".join(text for text in texts if isinstance(text, str))


def _unknown(completion: object) -> TypeError:
    return TypeError(
        f"a completion is {show(completion)} ({type(completion).__name__}); expected a text, or a list of "
        'chat messages such as [{"role": "assistant", "content": "…"}]'
    )
