"""Read an answer from a server's response: text, separate reasoning, and usage."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Final

from pydantic import Field

from attune_data.errors import one_line
from attune_env.results.marks import mapping
from attune_env.running.faults import Fault, error_of, is_filtered, status_fault
from attune_episodes.chat_answers import text_of
from attune_episodes.parsing import Unparsed, sound
from attune_episodes.parsing.extract import MAX_CHARS, without_reasoning

MOST_TOKENS: Final = 10**9
MOST_DOLLARS: Final = 10**6
"""Largest plausible count or cost of one answer; a larger one is ignored."""
MOST_IN_ALL: Final = 10**15
"""The same for a call with all its answers, so that sums remain finite."""
LONGEST_NAME: Final = 200
"""Characters kept of the finish reason, and of the model that a server names."""
Count = Annotated[int, Field(ge=0, le=MOST_IN_ALL)]
Amount = Annotated[float, Field(ge=0, le=MOST_IN_ALL)]


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens and cost of one or several attempts, as counted by the server."""

    tokens_in: Count = 0
    tokens_out: Count = 0
    """With the reasoning."""
    reasoning: Count = 0
    cached: Count = 0
    """Input tokens that came from a prefix cache."""
    cost: Amount | None = None
    """Cost in dollars; None if unknown."""

    def __add__(self, other: Usage) -> Usage:
        unknown = self.cost is None or other.cost is None
        return Usage(
            self.tokens_in + other.tokens_in,
            self.tokens_out + other.tokens_out,
            self.reasoning + other.reasoning,
            self.cached + other.cached,
            None if unknown else (self.cost or 0.0) + (other.cost or 0.0),
        )

    def describe(self) -> dict[str, Any]:
        """The usage as stored in files; the cost is in dollars, null if unknown."""
        return {
            "tokens_in": self.tokens_in,
            "tokens_out": self.tokens_out,
            "tokens_reasoning": self.reasoning,
            "tokens_cached": self.cached,
            "api_cost": None if self.cost is None else round(self.cost, 9),
        }


NO_USAGE = Usage(cost=0.0)
"""The zero of a sum."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A server's answer to one attempt."""

    text: str
    """The text without reasoning, unless the reasoning is never closed."""
    reasoning: str = ""
    finish: str = "stop"
    """`finish_reason` of the choice; `refusal` if the message is one."""
    usage: Usage = field(default_factory=Usage)
    served: str = ""
    """The model that the server names."""


def read_answer(
    status: int, data: bytes, headers: Mapping[str, str], hide: Callable[[str], str] = str
) -> Answer:
    """Read the answer in a response; raises Fault if there is none.

    `hide` removes the key from every text. A request refused for its content gives an answer without text, as
    its `finish` says.
    """
    text = data.decode("utf-8", "replace")
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        body = None
    if 200 <= status < 300:
        if body is None:
            if text.lstrip()[:1] == "<":
                raise Fault("web_page", "the server answered with a web page instead of JSON")
            raise Fault("bad_json", "the answer is not JSON, or was cut off")
        if isinstance(body, dict) and body.get("error") and not body.get("choices"):
            code = error_of(body).get("code")
            status = code if type(code) is int and 400 <= code <= 599 else 500
    if not 200 <= status < 300:
        if is_filtered(status, body):
            return Answer("", finish="content_filter")
        raise status_fault(status, body, text, headers, hide)
    about = mapping(body)
    choices = about.get("choices")
    choice = mapping(choices[0]) if isinstance(choices, list) and choices else {}
    message = choice.get("message")
    if not isinstance(message, dict):
        raise Fault("no_choices", "the answer contains no choice with a message")
    finish = choice.get("finish_reason")
    text, reasoning = _texts(message)
    if not text.strip() and (refusal := text_of(message.get("refusal"))):
        text, finish = refusal, "refusal"

    # hide the key before truncating, since part of a key would not be recognised
    def bounded(found: str) -> str:
        return hide(sound(found))[: MAX_CHARS + 1]

    def name(found: object, default: str) -> str:
        return one_line(hide(found), LONGEST_NAME) if isinstance(found, str) else default

    usage, served = _usage(about.get("usage")), name(about.get("model"), "")
    return Answer(bounded(text), bounded(reasoning), name(finish, "stop"), usage, served)


def _texts(message: Mapping[str, Any]) -> tuple[str, str]:
    """The text of a message and its reasoning, which may be a separate field or part of the text."""
    text = text_of(message.get("content"))
    reasoning = text_of(message.get("reasoning_content")) or text_of(message.get("reasoning"))
    # a JSON object may mention such tags in its texts, so the parser reads it unchanged
    whole = text.lstrip()[:1] == "{" or len(text) > MAX_CHARS
    answer = text if whole else without_reasoning(text)
    if isinstance(answer, Unparsed) or len(answer) == len(text):
        return text, reasoning
    # the removed text including its tags, so that its position need not be guessed later
    return answer.strip(), f"{reasoning}\n{text}" if reasoning else text


def _usage(found: object) -> Usage:
    def count(where: object, name: str) -> int:
        value = mapping(where).get(name)
        return value if type(value) is int and 0 <= value <= MOST_TOKENS else 0

    usage = mapping(found)
    asked, said = usage.get("prompt_tokens_details"), usage.get("completion_tokens_details")
    cost: Any = usage.get("cost")
    return Usage(
        count(usage, "prompt_tokens"),
        count(usage, "completion_tokens"),
        count(said, "reasoning_tokens"),
        count(asked, "cached_tokens"),
        float(cost) if type(cost) in (int, float) and 0 <= cost <= MOST_DOLLARS else None,
    )
