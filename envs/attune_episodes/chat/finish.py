"""`verdict`: what came back, judged by its finish reason and by whether it can be read.

Providers spell finish reasons in their own way (`stop`, `end_turn`, `FINISH_REASON_SAFETY`, `maxTokens`, …).
A reason is therefore split into words, and the most serious word that is known decides; it is the model's own
end only if every word is known, since `not_finished` and `stop: shutting down` are none.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from functools import lru_cache
from typing import Any, Final, Literal

Ending = Literal["whole", "cut", "refused", "fault", "unknown"]
Verdict = Literal["answer", "unreadable", "cut", "refused", "fault"]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


ENDINGS: Final[Mapping[Ending, frozenset[str]]] = {
    # what the model or a filter would not say
    "refused": _words(
        "refusal refused filter filters filtered filtering safety unsafe sensitive moderation moderated "
        "prohibited recitation blocklist block blocked spii guardrail guardrails toxic toxicity inspection "
        "flagged censored harmful violation jailbreak inappropriate armor risk"
    ),
    # what went wrong at the server, or on the way
    "fault": _words(
        "error errors abort aborted cancel canceled cancelled cancellation fail failed failing failure "
        "network connection disconnect disconnected insufficient resource resources time timed "
        "timeout overload overloaded unavailable interrupt interrupted exception expired rate quota upstream "
        "crash crashed shutdown preempted evicted killed memory oom deadline capacity dropped lost"
    ),
    # where the length of the answer or of the context ended it
    "cut": _words(
        "length max maximum tokens truncated truncation context window limit incomplete budget repetition "
        "pause"
    ),
    # the model's own end; a tool call is one, and so is no reason at all
    "whole": _words(
        "stop stopped stopping eos eot eom eog end ended complete completed completion finish finished done "
        "success successful succeeded normal natural ok tool tools function call calls none null unspecified"
    ),
}
"""Ending -> words that say so; an ending counts before those below it."""
_WHOLE_NAMES: Final[Mapping[str, Ending]] = {
    "error limit": "cut",  # Cohere
    "language": "refused",  # Gemini, and the next two
    "malformed function call": "whole",
    "unexpected tool call": "whole",
}
"""Reasons whose words mislead."""
_PARTS: Final = _words(
    "content system sequence turn token text by of to the reached exceeded in out use user reason model "
    "string str word new output input policy"
)
"""Further words of reasons, so that `endturn` can be split."""
_BESIDE_WHOLE: Final = _words(
    "sequence turn token text by of to the reached in use reason model string str word output content "
    "message response generation found matched id im"
)
"""The words that may stand beside those of the model's own end."""
_FINISHES: Final = (
    "finish_reason", "finishReason", "stop_reason", "finish_details", "native_finish_reason", "done_reason",
)  # fmt: skip
"""The names of a finish reason; the first with a value counts."""
_LONGEST_WORD: Final = 40
_HUMP: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[\W_]+")
_WORD: Final = re.compile("|".join(sorted(_PARTS.union(*ENDINGS.values()), key=len, reverse=True)))
_JOINED: Final = re.compile(f"(?:{_WORD.pattern})+")


def finish_in(choice: Mapping[str, Any], body: Mapping[str, Any]) -> str:
    """The finish reason of a choice, or of the body around it; "" if there is none.

    One that is no text is the `type` or `reason` in it, otherwise `unknown`. A body's `status` counts only if
    it is no good end.
    """
    for name in _FINISHES:
        for place in (choice, body):
            held = place.get(name)
            if type(held) is int and name == "stop_reason":
                continue  # vLLM: the number of the token
            if said := _reason(held):
                return said
    status = body.get("status")
    said = _reason(body.get("incomplete_details")) or (status if isinstance(status, str) else "")
    return "" if ending_of(said) == "whole" else said


def _reason(value: object) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    held = [value.get(name) for name in ("type", "reason")] if isinstance(value, Mapping) else []
    return next((one for one in held if isinstance(one, str) and one), "unknown")


@lru_cache(maxsize=1024)
def ending_of(finish: str) -> Ending:
    """Classify a finish reason in any provider's spelling; "" says as little as `stop`."""
    words = [part for word in _HUMP.split(finish) for part in _split(word.lower())]
    if words[:2] in (["finish", "reason"], ["stop", "reason"]):
        words = words[2:]
    if not words:
        return "whole"
    if name := _WHOLE_NAMES.get(" ".join(words)):
        return name
    found: Ending = next((ending for ending, known in ENDINGS.items() if known & set(words)), "unknown")
    half = found == "whole" and not set(words) <= ENDINGS["whole"] | _BESIDE_WHOLE
    return "unknown" if half else found


def _split(word: str) -> list[str]:
    """The known words that a joined one consists of, otherwise the word itself."""
    joined = len(word) <= _LONGEST_WORD and _JOINED.fullmatch(word)
    return _WORD.findall(word) if joined else [word] if word else []


def is_declared(finish: str, finish_ok: Collection[str]) -> bool:
    """Whether a finish reason is one that the user calls whole, in any case."""
    return finish.lower() in {name.lower() for name in finish_ok}


def verdict(finish: str, *, plain: bool, readable: bool, finish_ok: Collection[str] = ()) -> Verdict:
    """Classify a reply: an answer, an unreadable or cut one, a refusal, or a fault, which is no reply.

    A reply with a finish that nobody knows is an answer if it can be read, since a JSON object shows that it
    is whole; a `plain` text does not, and counts only if its finish is declared in `finish_ok`.
    """
    ending = "whole" if is_declared(finish, finish_ok) else ending_of(finish)
    if ending == "fault" or (ending == "unknown" and (plain or not readable)):
        return "fault"
    if ending == "refused":
        return "refused"
    if ending == "cut" and (plain or not readable):
        return "cut"
    return "answer" if readable else "unreadable"
