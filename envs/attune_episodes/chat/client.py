"""Send one request to a server: an answer, or a `Fault`."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Any, Final

import httpx

from attune_data.errors import SettingsError, one_line, show
from attune_episodes.chat.completion import Answer, check_finish, read_answer
from attune_episodes.chat.faults import Fault, status_fault

CONNECT_SECONDS: Final = 30.0
"""Seconds after which a server that does not accept the connection counts as unreachable."""
MOST_BYTES: Final = 4_000_000
"""Largest answer: the longest reply that is read has 1,000,000 characters. Sixteen at once, and the decoded
form of one, stay far below 400 MB."""
MOST_STREAMED: Final = 12_000_000
"""The same for a stream of events, each of which repeats the names of its fields."""
MOST_OF_A_REFUSAL: Final = 256_000
"""How much is read of the body of an error response, which is only quoted."""


class ChatClient:
    """A client for one server; may be used by many tasks at once.

    Args:
        base_url: the address, without `/chat/completions`.
        headers: headers of each request, such as the one with the key.
        call_timeout: seconds for one request; None if the caller limits them.
        hide: removes the key from a text.
        finish_ok: finish reasons that the user declares to be the model's own end.
        proxies: whether proxies and certificates are taken from the environment.
    """

    def __init__(
        self,
        base_url: str,
        headers: Mapping[str, str],
        *,
        call_timeout: float | None,
        hide: Callable[[str], str] = str,
        finish_ok: Collection[str] = (),
        proxies: bool = True,
    ) -> None:
        self.call_timeout = call_timeout
        self._url, self._hide, self._finish_ok = f"{base_url}/chat/completions", hide, finish_ok
        connect = CONNECT_SECONDS if call_timeout is None else min(CONNECT_SECONDS, call_timeout)
        # a compressed body could expand to any size
        headers = {**headers, "Content-Type": "application/json", "Accept-Encoding": "identity"}
        try:
            self._options: dict[str, Any] = {
                "timeout": httpx.Timeout(call_timeout, connect=connect),
                "verify": httpx.create_ssl_context(),
                "cookies": CookieJar(DefaultCookiePolicy(allowed_domains=())),
                "headers": headers,
                "trust_env": proxies,
                # before httpx parses the address, which may be invalid
                "event_hooks": {"response": [self._refuse_redirect]},
            }
            self._idle = [httpx.AsyncClient(**self._options)]
        except (ImportError, OSError, ValueError, httpx.InvalidURL) as error:
            # httpx hides the password of a proxy in its messages
            raise SettingsError(
                "the certificates (SSL_CERT_FILE, SSL_CERT_DIR) or the proxy (HTTP_PROXY, HTTPS_PROXY, "
                f"ALL_PROXY) set in the environment cannot be used: {error}"
            ) from None

    async def close(self) -> None:
        """Close every connection."""
        for client in self._idle:
            await client.aclose()

    async def complete(
        self,
        body: Mapping[str, Any],
        *,
        plain: bool,
        readable: Callable[[str], bool],
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """Send a chat completion request and return the answer; raises Fault if what comes back is none.

        `plain` says whether a plain text is asked for, `readable` whether a text can be read as an answer.
        `headers` are those of this request alone.
        """
        status, data, received = await self._send(json.dumps(body).encode("ascii"), headers)
        answer = read_answer(status, data, received, self._hide)
        check_finish(answer, plain=plain, readable=readable, finish_ok=self._finish_ok)
        return answer

    async def _send(
        self, content: bytes, headers: Mapping[str, str] | None
    ) -> tuple[int, bytes, Mapping[str, str]]:
        # each request in flight has its own client and so its own connection: the pool of httpx looks at
        # all its connections for each request, which at 64 of them costs more than the request
        client = self._idle.pop() if self._idle else httpx.AsyncClient(**self._options)
        try:
            # the client's own limit applies between two bytes, and a slow server would never reach it
            async with (
                asyncio.timeout(self.call_timeout),
                client.stream("POST", self._url, content=content, headers=headers) as response,
            ):
                data = await _bounded(response)
        except BaseException as error:
            # a connection abandoned in the middle may never become free again
            with suppress(Exception):
                async with asyncio.timeout(1.0):
                    await client.aclose()
            if isinstance(error, (TimeoutError, httpx.TimeoutException)):
                raise Fault(
                    "timeout", f"no answer within {self.call_timeout or 0:g} s (--call-timeout)"
                ) from None
            if isinstance(error, (httpx.HTTPError, httpx.InvalidURL)):
                raise Fault("connection", self._why(error)) from None
            raise
        self._idle.append(client)
        return response.status_code, data, response.headers

    async def _refuse_redirect(self, response: httpx.Response) -> None:
        if response.is_redirect:
            raise status_fault(response.status_code, None, "", response.headers, self._hide)

    def _why(self, error: Exception) -> str:
        """The cause of a failed connection, without the key."""
        deepest: BaseException = error
        while cause := deepest.__cause__ or deepest.__context__:
            deepest = cause
        said = str(error) or str(deepest) or type(error).__name__
        # hidden before it is cut: a part of a key would not be recognised
        return f"no connection: {one_line(self._hide(said), 200)} ({type(deepest).__name__})"


async def _bounded(response: httpx.Response) -> bytes:
    """Read the body; raises Fault if an answer is too large or compressed. An error body is truncated."""
    streamed = "event-stream" in response.headers.get("content-type", "")
    most = MOST_STREAMED if streamed else MOST_BYTES
    if not response.is_success:
        most = MOST_OF_A_REFUSAL
    encoding = response.headers.get("content-encoding", "identity").strip().lower()
    if encoding not in ("", "identity"):
        if not response.is_success:
            return b""
        raise Fault("packed", f"the answer is compressed ({show(encoding)}), which was not requested")
    body = bytearray()
    async for piece in response.aiter_raw():
        body += piece
        if len(body) > most:
            if response.is_success:
                raise Fault("too_large", f"the answer is larger than {most // 10**6} MB")
            break
    return bytes(body[:most])
