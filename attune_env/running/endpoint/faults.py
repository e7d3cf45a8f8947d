"""What can go wrong with a call, and what is then done: the one table of it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Final, Literal

from attune_data.errors import AttuneError, one_line
from attune_episodes.chat_answers import retry_after

Action = Literal["retry", "give_up", "stop"]
"""`retry`: try again after a while, a bounded number of times. `give_up`: this call fails, and with it its
conversation. `stop`: no call would do better, so the run ends."""

ACTIONS: Final[Mapping[str, Action]] = {
    # the network and the server
    "timeout": "retry",
    "connection": "retry",
    "busy": "retry",  # 408, 409, 425, 5xx
    "rate_limited": "retry",  # 429
    # answers that are none, with a status of success
    "web_page": "retry",
    "bad_encoding": "retry",
    "bad_json": "retry",
    "no_choices": "retry",
    "too_large": "give_up",  # a body beyond all answers
    # requests that are refused
    "bad_request": "give_up",  # 400, 413, 422 and the like
    "forbidden": "give_up",  # 403
    "too_long_wait": "give_up",  # Retry-After beyond all patience
    "bad_key": "stop",  # 401
    "no_credit": "stop",  # 402, or a quota that is used up
    "not_found": "stop",  # 404, 405: the model or the address
    "redirect": "stop",  # 3xx: another address
}
"""Kind of fault -> what is done. An answer that came and cannot be read is no fault: it is asked again."""

_SPENT: Final = ("insufficient_quota", "insufficient_credits", "billing_hard_limit_reached")
_FILTERED: Final = ("content_filter", "content_policy_violation", "responsible_ai_policy_violation")


class Fault(AttuneError):
    """One failed attempt. The message is for people, and holds no key."""

    def __init__(self, kind: str, message: str, *, retry_after: float | None = None, status: int = 0) -> None:
        super().__init__(one_line(message, 500))
        self.kind = kind
        self.retry_after = retry_after
        """Seconds that the server asks to wait; None where it does not say."""
        self.status = status
        """HTTP status; 0 where there was no answer."""

    @property
    def action(self) -> Action:
        """What is done about it."""
        return ACTIONS[self.kind]

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle by the parts."""
        return type(self), (self.kind, super().__str__())


class FilteredError(Exception):
    """The server refused the request for its content: an answer of a kind, and the model's own."""


class StopRun(AttuneError):
    """The run cannot go on; what is complete is kept."""


def as_it_is(text: str) -> str:
    """The text: nothing is hidden in it."""
    return text


def status_fault(
    status: int,
    body: object,
    text: str,
    headers: Mapping[str, str],
    hide: Callable[[str], str] = as_it_is,
) -> Fault:
    """The fault that an HTTP status stands for; raises FilteredError for a refusal of content.

    Args:
        status: the HTTP status, or the code of an error object in a body with status 200.
        body: the decoded body, an error object if the server is like OpenAI's.
        text: the body as text.
        headers: those of the answer.
        hide: takes the key out of what the server says.
    """
    about = _error_of(body)
    codes = {str(about.get(name, "")).lower() for name in ("code", "type")}
    said = _said(about, text, hide)
    if codes.intersection(_FILTERED) or (status == 403 and "flagged_input" in str(about.get("metadata"))):
        raise FilteredError
    wait = retry_after(headers)
    if status == 402 or codes.intersection(_SPENT):
        kind = "no_credit"
    elif status == 401:
        kind = "bad_key"
    elif status == 403:
        kind = "forbidden"
    elif status in (404, 405):
        kind = "not_found"
    elif status == 429:
        kind = "rate_limited"
    elif status in (408, 409, 425) or status >= 500:
        kind = "busy"
    else:
        kind = "bad_request"
    return Fault(
        kind, f"HTTP {status}: {said}" if said else f"HTTP {status}", retry_after=wait, status=status
    )


def error_in(body: object) -> int | None:
    """The status of an error object in a body that came with success; None where there is none."""
    if not isinstance(body, dict) or not body.get("error") or body.get("choices"):
        return None
    code = _error_of(body).get("code")
    return code if type(code) is int and 400 <= code <= 599 else 500


def _error_of(body: object) -> Mapping[str, Any]:
    error = body.get("error") if isinstance(body, dict) else None
    if isinstance(error, str):
        return {"message": error}
    return error if isinstance(error, dict) else {}


def _unescaped(text: str) -> str:
    """A JSON text without needless escapes; another text as it is."""
    try:
        return json.dumps(json.loads(text), ensure_ascii=False)
    except (ValueError, RecursionError):
        return text


def _said(about: Mapping[str, Any], text: str, hide: Callable[[str], str]) -> str:
    """What the server says went wrong, short."""
    message = about.get("message")
    if not isinstance(message, str) or not message.strip():
        if text.lstrip()[:1] == "<":
            return "a web page, no JSON"
        message = _unescaped(text)
    # in the whole text, decoded: a part of a key, or one with escapes in it, would not be known any more
    return one_line(" ".join(hide(message)[:2000].split()), 300)
