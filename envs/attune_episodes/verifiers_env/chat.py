"""`Chat`: chat completions over HTTP, with retries. One call gives one reply."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any, Final

import aiohttp

from attune_data.errors import AttuneError, one_line
from attune_episodes.asking import pause
from attune_episodes.chat_answers import retry_after, text_of

RETRIED: Final = frozenset({408, 409, 425, 429})
"""Status codes below 500 after which a retry may succeed."""
LONGEST_ASKED_PAUSE: Final = 120.0
"""Longest `Retry-After` that is obeyed, in seconds."""


@dataclass(frozen=True, slots=True)
class Reply:
    """The response to one request."""

    text: str
    """The content, or the text of a refusal without content; "" if there is neither."""
    finish_reason: str | None
    refused: bool
    calls: int
    """Number of HTTP calls made."""


class CallFailedError(AttuneError):
    """No reply after all retries; `calls` is the number of calls made."""

    def __init__(self, message: str, calls: int) -> None:
        self.calls = calls
        super().__init__(message)


@dataclass(frozen=True, slots=True)
class Chat:
    """A client that posts chat requests to one endpoint."""

    session: aiohttp.ClientSession
    url: str
    model: str
    retries: int
    backoff: float
    """Seconds before the first retry."""

    async def ask(self, messages: Sequence[Mapping[str, str]], name: str) -> Reply:
        """Send messages unchanged and return the reply.

        `name` identifies this call, in ASCII: if its answer is lost in transit, a retry returns the same
        reply instead of sampling again. Raises CallFailedError after the last retry, or at once if a retry
        would not help.
        """
        body = {"model": self.model, "messages": list(messages)}
        for call in count(1):
            final, asked_pause = False, None
            try:
                async with self.session.post(
                    self.url, json=body, headers={"Idempotency-Key": name}
                ) as response:
                    raw = await response.read()
                if response.status == 200:
                    return read_reply(json.loads(raw), call)
                problem = f"HTTP {response.status}: {raw[:300].decode('utf-8', 'replace')}"
                final = response.status < 500 and response.status not in RETRIED
                asked_pause = retry_after(response.headers)
            except (aiohttp.ClientError, TimeoutError, ValueError, RecursionError) as error:
                problem = f"{type(error).__name__} {error}".strip()
            if final or call > self.retries:
                raise CallFailedError(one_line(problem, 500), call)
            waits = pause(call, self.backoff) if asked_pause is None else asked_pause
            await asyncio.sleep(min(waits, LONGEST_ASKED_PAUSE))
        raise AssertionError("unreachable")


def read_reply(body: Any, calls: int) -> Reply:
    """The reply in an endpoint's response; raises ValueError if there is none."""
    try:
        first = body["choices"][0]
        message = dict(first["message"])
    except (LookupError, TypeError, ValueError):
        raise ValueError(f"a response without a valid choice: {json.dumps(body)[:200]}") from None
    refusal, reason = message.get("refusal"), first.get("finish_reason")
    refused = isinstance(refusal, str) and bool(refusal)
    text = text_of(message.get("content")) or (str(refusal) if refused else "")
    return Reply(text, reason if isinstance(reason, str) else None, refused, calls)
