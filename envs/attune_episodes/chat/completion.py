"""Read an answer from a server's response: text, separate reasoning, and usage."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Final

from pydantic import Field

from attune_data.errors import one_line, show
from attune_episodes.chat.bodies import decoded, text_of_body
from attune_episodes.chat.faults import (
    Fault,
    code_of,
    error_of,
    failed_sample,
    quoted,
    says_something,
    status_fault,
    words_of,
)
from attune_episodes.chat.finish import ending_of, finish_in, verdict
from attune_episodes.chat.message import CALL_FIELDS, reasoning_of, refusal_of, text_of
from attune_episodes.chat.refusals import is_refused
from attune_episodes.parsing import Unparsed, sound
from attune_episodes.parsing.extract import MAX_CHARS
from attune_episodes.parsing.reasoning import without_reasoning

MOST_TOKENS: Final = 10**9
MOST_DOLLARS: Final = 10**6
"""Largest plausible count or cost of one answer; a larger one is ignored."""
MOST_IN_ALL: Final = 10**15
"""The same for a call with all its answers, so that sums remain finite."""
LONGEST_NAME: Final = 200
"""Characters kept of the finish reason, and of the model that a server names."""
_MESSAGES: Final = ("message", "delta")
_MOST_NESTED: Final = 6
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

    @property
    def counted(self) -> bool:
        """Whether the server counts any token; if not, no price gives a cost."""
        return bool(self.tokens_in or self.tokens_out)

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
    """The finish reason as the server spells it; `refusal` if the message is one."""
    usage: Usage = field(default_factory=Usage)
    served: str = ""
    """The model that the server names."""
    text_in: str = ""
    """`reasoning` or `tool_calls` if there is a text, but only in such a field; otherwise ""."""


def mapping(value: object) -> Mapping[str, Any]:
    """The value if it is an object, otherwise {}."""
    return value if isinstance(value, Mapping) else {}


def read_answer(
    status: int, data: bytes, headers: Mapping[str, str], hide: Callable[[str], str] = str
) -> Answer:
    """Read the answer in a response; raises Fault if there is none.

    `hide` removes the key from every text. What a content filter withholds, in whatever form, gives an answer
    that is a refusal, as its `finish` says; its text is then what the server says about it. Whether the
    finish makes it an answer is for `verdict` to say.
    """
    text = text_of_body(data, headers.get("content-type", ""))
    body = decoded(text)
    about = mapping(body)
    choice = _first(about.get("choices"))
    if 200 <= status < 300:
        if body is None:
            if text.lstrip("\ufeff \r\n\t")[:1] == "<":
                raise Fault("web_page", "the server answered with a web page instead of JSON")
            raise Fault("bad_json", "the answer is not JSON, or was cut off")
        error = next((one for one in map(error_of, (body, choice)) if says_something(one)), None)
        if error is not None:
            body, text, status = {"error": error}, json.dumps(error, default=str), code_of(error)
    if not 200 <= status < 300:
        if is_refused(status, body):
            return Answer(quoted(error_of(body), text, hide), finish="content_filter")
        if (sample := failed_sample(body)) is not None:
            return Answer(_bounded(sample, hide))
        raise status_fault(status, body, text, headers, hide)
    finish = finish_in(choice, about)
    message = next((choice[name] for name in _MESSAGES if isinstance(choice.get(name), dict)), None)
    if message is None:
        message = {"content": choice["text"]} if isinstance(choice.get("text"), str) else {}
        if not (message or _withheld(about) or ending_of(finish) in ("refused", "fault")):
            said = one_line(hide(words_of(body)), 300)
            where = "the answer contains no choice with a message"
            raise Fault("no_choices", f"{where}: {said}" if said else where)
    said, reasoning = _texts(message)
    text_in = ""
    if not said.strip():
        refusal = refusal_of(message)
        if refusal or (_withheld(about) and ending_of(finish) == "whole"):
            said, finish = refusal, finish if ending_of(finish) == "refused" else "refusal"
        elif any(message.get(name) for name in CALL_FIELDS):
            text_in = "tool_calls"
        elif reasoning.strip():
            text_in = "reasoning"
    return Answer(
        _bounded(said, hide),
        _bounded(reasoning, hide),
        one_line(hide(finish), LONGEST_NAME) or "stop",
        _usage(about.get("usage")),
        one_line(hide(named), LONGEST_NAME) if isinstance(named := about.get("model"), str) else "",
        text_in,
    )


def check_finish(
    answer: Answer, *, plain: bool, readable: Callable[[str], bool], finish_ok: Collection[str] = ()
) -> None:
    """Raise Fault if an answer is none, since the server broke it off; see `verdict`."""
    ending, usage = ending_of(answer.finish), answer.usage
    odd = ending == "unknown"
    nothing = not (answer.text.strip() or answer.reasoning.strip() or answer.text_in)
    if nothing and ending == "whole" and usage.counted and not (usage.tokens_out or usage.reasoning):
        # a model that says nothing still writes the token that ends it; not every server counts
        raise Fault("broken_off", "the answer has no text, and the server counts no token of one", status=200)
    can_be_read = bool(answer.text.strip()) and (not odd or readable(answer.text))
    if verdict(answer.finish, plain=plain, readable=can_be_read, finish_ok=finish_ok) == "fault":
        known = (
            "which is not known; if it is the model's own end, add --finish-ok" if odd else "which is no end"
        )
        raise Fault(
            "broken_off", f"the answer has the finish reason {show(answer.finish)}, {known}", status=200
        )


def _first(choices: object) -> Mapping[str, Any]:
    return mapping(choices[0]) if isinstance(choices, list) and choices else {}


def _withheld(value: object, depth: int = 0) -> bool:
    """Whether a filter withheld a text: Azure's `content_filter_results`, Gemini's `block_reason`."""
    if isinstance(value, Mapping) and depth < _MOST_NESTED:
        said = value.get("filtered") is True or value.get("block_reason") or value.get("blockReason")
        return bool(said) or any(_withheld(held, depth + 1) for held in value.values())
    if isinstance(value, list) and depth < _MOST_NESTED:
        return any(_withheld(held, depth + 1) for held in value)
    return False


def _bounded(text: str, hide: Callable[[str], str]) -> str:
    # hide the key before truncating, since part of a key would not be recognised
    return hide(sound(text))[: MAX_CHARS + 1]


def _texts(message: Mapping[str, Any]) -> tuple[str, str]:
    """The text of a message and its reasoning, which may be a separate field or part of the text."""
    text, reasoning = text_of(message.get("content")), reasoning_of(message)
    # a JSON object may mention such tags in its texts, so the parser reads it unchanged
    whole = text.lstrip()[:1] == "{" or len(text) > MAX_CHARS
    answer = text if whole else without_reasoning(text)
    if isinstance(answer, Unparsed) or len(answer) == len(text):
        return text, reasoning
    # the removed text including its tags, so that its position need not be guessed later
    return answer.strip(), f"{reasoning}\n{text}" if reasoning else text


def _usage(found: object) -> Usage:
    usage = mapping(found)

    def count(*names: str, where: Mapping[str, Any] = usage) -> int:
        held = (where.get(name) for name in names)
        whole = (n for n in held if type(n) is int or (type(n) is float and n.is_integer()))
        return next((int(n) for n in whole if 0 <= n <= MOST_TOKENS), 0)

    def details(name: str) -> Mapping[str, Any]:
        return mapping(usage.get(f"{name}_tokens_details"))

    cost: Any = usage.get("cost")
    return Usage(
        count("prompt_tokens", "input_tokens"),
        count("completion_tokens", "output_tokens"),
        count("reasoning_tokens", where=details("completion") or details("output")),
        count("cached_tokens", where=details("prompt") or details("input")),
        float(cost) if type(cost) in (int, float) and 0 <= cost <= MOST_DOLLARS else None,
    )
