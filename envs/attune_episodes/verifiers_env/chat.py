"""`Chat`: chat completions over HTTP, with retries of what failed on the way. One call gives one reply."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import aiohttp

from attune_data.errors import AttuneError, one_line
from attune_episodes.chat_answers import retry_after, text_of

RETRIED: Final = frozenset({408, 409, 425, 429})
"""Statuses below 500 that may be gone the next time; 500 and above are always tried again."""
LONGEST_PAUSE: Final = 30.0
LONGEST_ASKED_PAUSE: Final = 120.0
"""Seconds that a `Retry-After` is obeyed for, at most."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back for one request."""

    text: str
    """The content; "" for none. Of a refusal without content: what was said in its place."""
    finish_reason: str | None
    refused: bool
    calls: int
    """HTTP calls that it took."""


class CallFailedError(AttuneError):
    """No reply came, after all retries; `calls` says how many were made."""

    def __init__(self, message: str, calls: int, status: int | None = None) -> None:
        self.calls, self.status = calls, status
        super().__init__(message)


@dataclass(frozen=True, slots=True)
class Chat:
    """Posts chat requests to one endpoint."""

    session: aiohttp.ClientSession
    url: str
    """Of the chat completions."""
    model: str
    retries: int
    backoff: float
    """Seconds before the first retry."""

    async def ask(self, messages: Sequence[Mapping[str, str]], name: str) -> Reply:
        """The reply to some messages.

        Args:
            messages: sent as they are.
            name: names this call, in ASCII: a call whose answer got lost on the way is then answered with
                what the model said, rather than sampled a second time. Asking anew takes another name.

        Raises CallFailedError after the last retry, or at once where a retry would not help.
        """
        body = json.dumps({"model": self.model, "messages": list(messages)}).encode()
        headers = {"Content-Type": "application/json", "Idempotency-Key": name}
        for attempt in range(self.retries + 1):
            asked_pause: float | None = None
            status: int | None = None
            try:
                async with self.session.post(self.url, data=body, headers=headers) as response:
                    status, raw = response.status, await response.read()
                    asked_pause = retry_after(response.headers)
                problem = _problem(status, raw)
                if problem is None:
                    return _reply(_decoded(raw), attempt + 1)
            except (aiohttp.ClientError, TimeoutError) as error:
                problem = f"{type(error).__name__} {error}".strip()
            except _NoReplyError as error:
                problem = str(error)
            if attempt == self.retries or not _may_pass(status):
                raise CallFailedError(one_line(problem, 500), attempt + 1, status)
            await asyncio.sleep(self._pause(attempt, asked_pause))
        raise AssertionError("unreachable")

    def _pause(self, attempt: int, asked: float | None) -> float:
        if asked is not None:
            return min(asked, LONGEST_ASKED_PAUSE)
        return min(self.backoff * 2.0 ** min(attempt, 32), LONGEST_PAUSE) * random.uniform(0.5, 1.0)


class _NoReplyError(Exception):
    """An answer of the endpoint without a reply of a model in it."""


def _may_pass(status: int | None) -> bool:
    """Whether the same call may succeed the next time; 200 stands for an answer that could not be read."""
    return status is None or status == 200 or status in RETRIED or status >= 500


def _problem(status: int, raw: bytes) -> str | None:
    if status == 200:
        return None
    return f"HTTP {status}: {raw[:300].decode('utf-8', 'replace')}"


def _decoded(raw: bytes) -> Any:
    try:
        return json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise _NoReplyError(f"an answer that is no JSON: {raw[:200].decode('utf-8', 'replace')}") from error


def _reply(body: Any, calls: int) -> Reply:
    choices = body.get("choices") if isinstance(body, Mapping) else None
    first = choices[0] if isinstance(choices, list) and choices else None
    message = first.get("message") if isinstance(first, Mapping) else None
    if not isinstance(first, Mapping) or not isinstance(message, Mapping):
        raise _NoReplyError(f"an answer without a choice: {json.dumps(body)[:200]}")
    text, refusal = text_of(message.get("content")), message.get("refusal")
    refused = isinstance(refusal, str) and bool(refusal)
    reason = first.get("finish_reason")
    said = text or (str(refusal) if refused else "")
    return Reply(said, reason if isinstance(reason, str) else None, refused, calls)
