"""From the bytes of a response to an answer: the text, the reasoning beside it, what it took."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeGuard

from attune_data.errors import one_line
from attune_env.running.endpoint.faults import Fault, as_it_is, error_in, status_fault
from attune_episodes.chat_answers import text_of
from attune_episodes.parsing import Unparsed, sound
from attune_episodes.parsing.extract import MAX_CHARS, without_reasoning

MOST_TOKENS: Final = 10**9
MOST_DOLLARS: Final = 10**6
"""More than this for one answer is no count and no cost: it is taken as not told."""
MOST_IN_ALL: Final = 10**15
"""The same for a call with all its answers, so that no sum of such ever leaves the finite numbers."""
LONGEST_NAME: Final = 200
"""Characters kept of how an answer ended, and of the model that a server names."""


@dataclass(frozen=True, slots=True)
class Usage:
    """What one or several attempts took, as the server counted."""

    tokens_in: int = 0
    tokens_out: int = 0
    """With the reasoning."""
    reasoning: int = 0
    cached: int = 0
    """Of the tokens in, those that a prefix cache held."""
    cost: float | None = None
    """Dollars; None where nobody says."""

    def __add__(self, other: Usage) -> Usage:
        known = self.cost is not None and other.cost is not None
        return Usage(
            self.tokens_in + other.tokens_in,
            self.tokens_out + other.tokens_out,
            self.reasoning + other.reasoning,
            self.cached + other.cached,
            (self.cost or 0.0) + (other.cost or 0.0) if known else None,
        )


NO_USAGE = Usage(cost=0.0)
"""What nothing takes: the start of a sum."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a server answered, in one attempt."""

    text: str
    """Without reasoning, unless that is never closed."""
    reasoning: str = ""
    finish: str = "stop"
    """`finish_reason` of the choice; `refusal` where the message is one."""
    usage: Usage = field(default_factory=Usage)
    served: str = ""
    """The model that the server names."""


def read_answer(
    data: bytes,
    headers: Mapping[str, str],
    *,
    lenient: bool = False,
    hide: Callable[[str], str] = as_it_is,
) -> Answer:
    """The answer in the body of a successful response.

    Args:
        data: the body.
        headers: of the response; an error object in the body may belong to a Retry-After there.
        lenient: replace bytes that are no UTF-8 rather than raise.
        hide: takes the key out of every text.

    Raises:
        Fault: no answer is in it.
        FilteredError: the server refuses the content.
    """
    try:
        text = data.decode("utf-8", "replace" if lenient else "strict")
    except UnicodeDecodeError as error:
        raise Fault("bad_encoding", f"the answer is not UTF-8 (byte {error.start})") from None
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        if text.lstrip()[:1] == "<":
            raise Fault("web_page", "the server answers with a web page, not with JSON") from None
        raise Fault("bad_json", "the answer is no JSON, or only a part of it") from None
    status = error_in(body)
    if status is not None:
        raise status_fault(status, body, text, headers, hide)
    choices = body.get("choices") if isinstance(body, dict) else None
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        raise Fault("no_choices", "the answer holds no choice")
    return _answer(body, choices[0], hide)


def _answer(body: Mapping[str, Any], choice: Mapping[str, Any], hide: Callable[[str], str]) -> Answer:
    message = choice.get("message")
    if not isinstance(message, dict):
        raise Fault("no_choices", "the choice holds no message")
    finish = choice.get("finish_reason")
    text, refusal = text_of(message.get("content")), text_of(message.get("refusal"))
    reasoning = text_of(message.get("reasoning_content")) or text_of(message.get("reasoning"))
    # a text that is an object may speak of such tags inside it: the parser reads it as it is
    whole = text.lstrip()[:1] == "{" or len(text) > MAX_CHARS
    answer = text if whole else without_reasoning(text)
    if not isinstance(answer, Unparsed) and len(answer) != len(text):
        # what was cut out, tags and all: nobody has to guess later where it stood
        reasoning = f"{reasoning}\n{text}" if reasoning else text
        text = answer.strip()
    if not text.strip() and refusal:
        text, finish = refusal, "refusal"
    return Answer(
        text=_text(text, hide),
        reasoning=_text(reasoning, hide),
        finish=_name(finish, hide) if isinstance(finish, str) else "stop",
        usage=_usage(body.get("usage")),
        served=_name(body.get("model"), hide),
    )


def _text(found: str, hide: Callable[[str], str]) -> str:
    """A text as it may be kept: one that is too long to be read stays so."""
    # hidden before it is cut: a part of a key would not be known any more
    return hide(sound(found))[: MAX_CHARS + 1]


def _name(found: object, hide: Callable[[str], str]) -> str:
    return one_line(hide(found), LONGEST_NAME) if isinstance(found, str) else ""


def _usage(found: object) -> Usage:
    if not isinstance(found, dict):
        return Usage()
    details = found.get("completion_tokens_details")
    prompt = found.get("prompt_tokens_details")
    cost = found.get("cost")
    return Usage(
        tokens_in=_count(found.get("prompt_tokens")),
        tokens_out=_count(found.get("completion_tokens")),
        reasoning=_count(details.get("reasoning_tokens")) if isinstance(details, dict) else 0,
        cached=_count(prompt.get("cached_tokens")) if isinstance(prompt, dict) else 0,
        cost=float(cost) if is_amount(cost, MOST_DOLLARS) else None,
    )


def _count(value: object) -> int:
    return value if type(value) is int and 0 <= value <= MOST_TOKENS else 0


def is_amount(value: object, most: int = MOST_IN_ALL) -> TypeGuard[int | float]:
    """Whether a value is a number from 0 to `most`; true, NaN and infinity are none."""
    return type(value) in (int, float) and 0 <= value <= most  # type: ignore[operator]
