"""Read an answer from the response of a server: the text, the reasoning beside it, the usage."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeGuard

from attune_data.errors import one_line
from attune_env.running.faults import Fault, error_of, is_filtered, status_fault
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
    """Tokens and cost of one or several attempts, as the server counted."""

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

    def describe(self) -> dict[str, Any]:
        """The usage as files keep it; the cost in dollars, null where not known."""
        return {
            "tokens_in": self.tokens_in,
            "tokens_out": self.tokens_out,
            "tokens_reasoning": self.reasoning,
            "tokens_cached": self.cached,
            "api_cost": None if self.cost is None else round(self.cost, 9),
        }


NO_USAGE = Usage(cost=0.0)
"""The start of a sum."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A server's answer to one attempt."""

    text: str
    """Without reasoning, unless that is never closed."""
    reasoning: str = ""
    finish: str = "stop"
    """`finish_reason` of the choice; `refusal` where the message is one."""
    usage: Usage = field(default_factory=Usage)
    served: str = ""
    """The model that the server names."""


def read_answer(
    status: int, data: bytes, headers: Mapping[str, str], hide: Callable[[str], str] = str
) -> Answer:
    """The answer in a response; raises Fault where there is none.

    `hide` takes the key out of every text. A request that is refused for its content is an answer without
    text, whose `finish` says so.
    """
    text = data.decode("utf-8", "replace")
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        body = None
    if 200 <= status < 300:
        if body is None:
            if text.lstrip()[:1] == "<":
                raise Fault("web_page", "the server answers with a web page, not with JSON")
            raise Fault("bad_json", "the answer is no JSON, or only a part of it")
        if isinstance(body, dict) and body.get("error") and not body.get("choices"):
            code = error_of(body).get("code")
            status = code if type(code) is int and 400 <= code <= 599 else 500
    if not 200 <= status < 300:
        if is_filtered(status, body):
            return Answer("", finish="content_filter")
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

    # hidden before it is cut: a part of a key would not be recognised
    def bounded(found: str) -> str:
        return hide(sound(found))[: MAX_CHARS + 1]

    def name(found: object) -> str:
        return one_line(hide(found), LONGEST_NAME) if isinstance(found, str) else ""

    return Answer(
        text=bounded(text),
        reasoning=bounded(reasoning),
        finish=name(finish) if isinstance(finish, str) else "stop",
        usage=_usage(body.get("usage")),
        served=name(body.get("model")),
    )


def _usage(found: object) -> Usage:
    if not isinstance(found, dict):
        return Usage()

    def count(name: str, inside: str = "") -> int:
        where = found.get(inside) if inside else found
        value = where.get(name) if isinstance(where, dict) else None
        return value if type(value) is int and 0 <= value <= MOST_TOKENS else 0

    cost = found.get("cost")
    return Usage(
        tokens_in=count("prompt_tokens"),
        tokens_out=count("completion_tokens"),
        reasoning=count("reasoning_tokens", "completion_tokens_details"),
        cached=count("cached_tokens", "prompt_tokens_details"),
        cost=float(cost) if is_amount(cost, MOST_DOLLARS) else None,
    )


def is_amount(value: object, most: int = MOST_IN_ALL) -> TypeGuard[int | float]:
    """Whether a value is a number from 0 to `most`; true, NaN and infinity are none."""
    return type(value) in (int, float) and 0 <= value <= most  # type: ignore[operator]
