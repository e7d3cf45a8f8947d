"""Faults: the ways in which a call can fail, and how the run reacts."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Final, Literal

from attune_data.errors import AttuneError, one_line, show
from attune_episodes.chat_answers import retry_after

Action = Literal["retry", "give_up", "stop"]
"""`retry`: try again after a delay, a limited number of times. `give_up`: this call fails, and so does its
conversation. `stop`: other calls would fail too, so the run ends."""

KINDS: Final[Mapping[str, tuple[Action, str]]] = {
    # the network and the server
    "timeout": (
        "retry",
        "is the server overloaded? give it more time with a higher --call-timeout, or lower --concurrency",
    ),
    "connection": ("retry", "is the server running, and --base-url right?"),
    "busy": ("retry", ""),  # 408, 409, 425, 5xx
    "rate_limited": ("retry", "lower --concurrency"),  # 429
    # a success status without an answer
    "web_page": ("retry", "check --base-url: most end in /v1"),
    "bad_json": ("retry", ""),
    "no_choices": ("retry", ""),
    "too_large": ("give_up", ""),
    "packed": ("give_up", ""),
    # refused requests; 400, 413, 422 and the like are bad requests
    "bad_request": ("give_up", "does this model accept such requests? the message says what is wrong"),
    "forbidden": ("give_up", ""),  # 403
    "too_long_wait": ("give_up", ""),  # Retry-After longer than the run waits
    "bad_key": ("stop", "check the key"),  # 401
    "no_credit": ("stop", "the account has no credit left, or its quota is used up"),  # 402
    "not_found": ("stop", "check --base-url: most end in /v1"),  # 404, 405: the model or the address
    "redirect": ("stop", "if the server has moved, give its new address with --base-url"),  # 3xx
}
"""Kind of fault -> the reaction, and advice for a run that it ends. An unreadable answer is not a fault; the
request is asked again."""

_BY_STATUS: Final = {
    401: "bad_key", 402: "no_credit", 403: "forbidden", 404: "not_found", 405: "not_found", 408: "busy",
    409: "busy", 425: "busy", 429: "rate_limited",
}  # fmt: skip
_SPENT: Final = {"insufficient_quota", "insufficient_credits", "billing_hard_limit_reached"}
_FILTERED: Final = {"content_filter", "content_policy_violation", "responsible_ai_policy_violation"}


class Fault(AttuneError):
    """One failed attempt. The message is for people and contains no key."""

    def __init__(self, kind: str, message: str, *, retry_after: float | None = None, status: int = 0) -> None:
        super().__init__(one_line(message, 500))
        self.kind = kind
        self.action, self.advice = KINDS[kind]
        self.retry_after = retry_after
        """Seconds that the server asks to wait; None if it does not say."""
        self.status = status
        """HTTP status; 0 if there was no answer."""


class StopRun(AttuneError):
    """The run cannot continue; what is complete is kept."""


def is_filtered(status: int, body: object) -> bool:
    """Whether a refusal concerns the content; it then counts as the model's own answer."""
    about = error_of(body)
    flagged = status == 403 and "flagged_input" in str(about.get("metadata"))
    return flagged or bool(_codes(about) & _FILTERED)


def status_fault(
    status: int, body: object, text: str, headers: Mapping[str, str], hide: Callable[[str], str] = str
) -> Fault:
    """The fault indicated by an HTTP status or the code of an error object.

    `body` is the decoded `text`; `hide` removes the key from the server's message.
    """
    if 300 <= status < 400:
        # not followed, since prompts and headers are meant for the given address
        address = headers.get("location")
        where = show(hide(address), 200) if address else "no address"
        said = f"redirected to {where}; redirects are not followed"
        return Fault("redirect", f"HTTP {status}: {said}", status=status)
    about = error_of(body)
    kind = _BY_STATUS.get(status, "busy" if status >= 500 else "bad_request")
    if _codes(about) & _SPENT:
        kind = "no_credit"
    said = _said(about, text, hide)
    message = f"HTTP {status}: {said}" if said else f"HTTP {status}"
    return Fault(kind, message, retry_after=retry_after(headers), status=status)


def error_of(body: object) -> Mapping[str, Any]:
    """The error object of a body; {} if it has none."""
    error = body.get("error") if isinstance(body, dict) else None
    if isinstance(error, str):
        return {"message": error}
    return error if isinstance(error, dict) else {}


def _codes(about: Mapping[str, Any]) -> set[str]:
    return {str(about.get(name, "")).lower() for name in ("code", "type")}


def _said(about: Mapping[str, Any], text: str, hide: Callable[[str], str]) -> str:
    """The server's own message, shortened."""
    message = about.get("message")
    if not isinstance(message, str) or not message.strip():
        if text.lstrip()[:1] == "<":
            return "a web page, no JSON"
        try:  # without needless escapes
            message = json.dumps(json.loads(text), ensure_ascii=False)
        except (ValueError, RecursionError):
            message = text
    # hide the key in the whole decoded text, since a partial or escaped key would not be recognised
    return one_line(" ".join(hide(message)[:2000].split()), 300)
