"""Faults: the ways in which a call can fail, how a run reacts, and what an error of a server says."""

from __future__ import annotations

import json
import math
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from email.utils import parsedate_to_datetime
from typing import Any, Final, Literal

from attune_data.errors import AttuneError, one_line, show

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
    "broken_off": ("retry", "the server did not finish its answer; its log may say why"),
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
_UNWANTED: Final = re.compile(
    r"unsupported|not supported|n[o']t support|unrecogni[sz]ed|unknown|unexpected|"
    r"extra[ _](input|field|param|arg|key|forbidden)|"
    r"not permitted|not allowed|forbidden|deprecated|not a valid|invalid (param|field|arg)|only the default",
    re.IGNORECASE,
)
"""How servers say that they do not take a field, as opposed to its value being out of range."""
_SCHEMAS: Final = re.compile(
    r"response_format|json_?_?schema|structured output|grammar|guided", re.IGNORECASE
)
_NO_SAMPLE: Final = re.compile(r"json_validate_failed|output_parse_failed|tool_use_failed", re.IGNORECASE)
"""Codes for an answer of the model that the server could not use."""
_ROLES: Final = re.compile(r"system.{0,40}role|role.{0,40}system|roles must alternate", re.IGNORECASE)
_AS_USER: Final = "add --system-as-user, which puts the system message into the user's"
_MOST_NESTED: Final = 6
_NOTHING: Final = ("", "0", "200", "success", "ok", "none", "null", "false", "no error")
"""Words of an error object that reports success; some servers always send one."""
_WORDS: Final = ("message", "msg", "error_msg", "error_message", "errmsg", "status_msg", "detail")
"""The names under which servers say what is wrong."""
_QUOTED: Final = 500
"""Characters of an error's message that are searched; the rest may repeat the prompt."""


class Fault(AttuneError):
    """One failed attempt. The message is for people and contains no key."""

    def __init__(
        self,
        kind: str,
        message: str,
        *,
        retry_after: float | None = None,
        status: int = 0,
        body: object = None,
    ) -> None:
        super().__init__(one_line(message, 500))
        self.kind = kind
        self.action, self.advice = KINDS[kind]
        self.retry_after = retry_after
        """Seconds that the server asks to wait; None if it does not say."""
        self.status = status
        """HTTP status; 0 if there was no answer."""
        self._body = body
        """The decoded body of an error."""

    @property
    def refuses_schemas(self) -> bool:
        """Whether the server refuses JSON schemas as such."""
        return bool(_SCHEMAS.search(message_of(self._body)) or _SCHEMAS.search(_param(self._body)))

    def refused_field(self, names: Iterable[str]) -> str | None:
        """The first of these fields of the request that the server does not take; None if it names none."""
        for entry in _details(self._body):  # of pydantic: one for each field
            place = [str(part) for part in entry.get("loc") or ()]
            if _UNWANTED.search(f"{entry.get('type')} {entry.get('msg')}"):
                return next((name for name in names if name in place), None)
        said = message_of(self._body)
        if not _UNWANTED.search(f"{said} {' '.join(_codes(error_of(self._body)))}"):
            return None
        param = _param(self._body).split(".")[0]
        places = {name: re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", said) for name in names}
        found = [(place.start(), name) for name, place in places.items() if place]
        return param if param in places else min(found)[1] if found else None


def failed_sample(body: object) -> str | None:
    """The model's text that a server refuses to pass on because it is not the JSON asked for, or None."""
    about = error_of(body)
    sample = about.get("failed_generation")
    if isinstance(sample, str) or any(_NO_SAMPLE.search(code) for code in _codes(about)):
        return sample if isinstance(sample, str) else ""
    return None


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
    said = quoted(about, text, hide)
    message = f"HTTP {status}: {said}" if said else f"HTTP {status}"
    if _ROLES.search(message_of(body)):
        kind, message = "bad_request", f"{message}; {_AS_USER}"
    return Fault(kind, message, retry_after=retry_after(headers), status=status, body=body)


def error_of(body: object) -> Mapping[str, Any]:
    """The error object of a body; {} if it has none.

    An error that is no object, such as a text, a list or `true`, becomes one.
    """
    body = body[0] if isinstance(body, list) and body else body  # Gemini
    if not isinstance(body, dict):
        return {}
    found = body.get("error") or body.get("errors")
    kind = str(body.get("type"))
    if not found and (body.get("object") == "error" or kind == "error" or kind.endswith(".failed")):
        inner = body.get("response")
        found = (inner.get("error") if isinstance(inner, dict) else None) or body
    if not found and body.get("success") is False:
        found = True
    while isinstance(found, list):
        found = found[0] if found else None
    if isinstance(found, dict) or found is None:
        return found or {}
    return {"message": found if isinstance(found, str) else words_of(body) or str(found)} if found else {}


def says_something(error: Mapping[str, Any]) -> bool:
    """Whether an error object states an error; some servers always send one."""
    told = [error[name] for name in ("code", "status", "type", *_WORDS) if name in error]
    return any(
        value is not None and str(value).strip().lower() not in _NOTHING for value in told or error.values()
    )


def words_of(body: object) -> str:
    """The words of a body, wherever they are; "" if there are none."""
    return next((said for said in named(body, *_WORDS) if said.strip()), "")


def code_of(error: Mapping[str, Any]) -> int:
    """The HTTP status in an error object; 500 if it has none."""
    for name in ("code", "status", "status_code", "http_code"):
        code = error.get(name)
        number = int(code) if isinstance(code, str) and code.isdecimal() and len(code) == 3 else code
        if type(number) is int and 400 <= number <= 599:
            return number
    return 500


def retry_after(headers: Mapping[str, str], now: float | None = None) -> float | None:
    """Seconds to wait, from `retry-after-ms` or `Retry-After` (seconds or a date), or None.

    Args:
        headers: the headers of a response; the case of their names does not matter.
        now: the time, in seconds since 1970; by default the current time.
    """
    lower = {name.lower(): value for name, value in headers.items()}
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        value = lower.get(name)
        if value is None:
            continue
        try:
            seconds = float(value) * unit
        except ValueError:
            try:
                until = parsedate_to_datetime(value).timestamp()
            except (ValueError, TypeError, OverflowError):
                continue
            seconds = until - (time.time() if now is None else now)
        if math.isfinite(seconds):
            return max(0.0, seconds)
    return None


def _codes(about: Mapping[str, Any]) -> set[str]:
    return {str(about.get(name, "")).lower() for name in ("code", "type")}


def named(value: object, *names: str, depth: int = 0) -> Iterator[str]:
    """The texts under these names, however deep: filters give their code in `innererror`."""
    if isinstance(value, Mapping) and depth < _MOST_NESTED:
        for name, held in value.items():
            if name in names and isinstance(held, str):
                yield held
            yield from named(held, *names, depth=depth + 1)


def message_of(body: object) -> str:
    """The beginning of an error's message."""
    said = error_of(body).get("message")
    if not isinstance(said, str) and isinstance(body, dict):
        said = next((body[name] for name in ("message", "detail") if isinstance(body.get(name), str)), "")
    return said[:_QUOTED] if isinstance(said, str) else ""


def _param(body: object) -> str:
    return str(error_of(body).get("param") or "")


def _details(body: object) -> list[Mapping[str, Any]]:
    found = body.get("detail") if isinstance(body, dict) else None
    return [entry for entry in found if isinstance(entry, dict)] if isinstance(found, list) else []


def quoted(about: Mapping[str, Any], text: str, hide: Callable[[str], str] = str) -> str:
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
