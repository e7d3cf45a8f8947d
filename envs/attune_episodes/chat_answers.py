"""Read chat completions: the text of a message, and how long to wait before a retry."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime


def text_of(content: object) -> str:
    """The text of a message field, which may be a string, a list of parts, or null.

    The texts of the parts are concatenated; "" if there is none.
    """
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    texts = [part.get("text") for part in content if isinstance(part, Mapping)]
    return "".join(text for text in texts if isinstance(text, str))


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
