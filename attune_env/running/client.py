"""Send one request to a server: an answer, or a `Fault`."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from contextlib import suppress
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Any, Final

import httpx

from attune_data.errors import SettingsError, one_line, show
from attune_env.running.answer import Answer, read_answer
from attune_env.running.faults import Fault, status_fault
from attune_env.running.providers import Endpoint

CONNECT_SECONDS: Final = 30.0
"""Seconds after which a server that does not accept the connection counts as unreachable."""
MOST_BYTES: Final = 4_000_000
"""Largest answer: the longest reply that is read has 1,000,000 characters. Sixteen at once, and the decoded
form of one, stay far below 400 MB."""
MOST_OF_A_REFUSAL: Final = 256_000
"""How much is read of the body of an error response, which is only quoted."""


class ChatClient:
    """A client for one endpoint; may be used by many tasks at once."""

    def __init__(self, endpoint: Endpoint, *, call_timeout: float) -> None:
        self.endpoint = endpoint
        self.call_timeout = call_timeout
        self._hide = endpoint.key.hidden_in
        # a compressed body could expand to any size
        headers = {**endpoint.headers, "Content-Type": "application/json", "Accept-Encoding": "identity"}
        if endpoint.key:
            headers["Authorization"] = f"Bearer {endpoint.key.reveal()}"
        try:
            self._options: dict[str, Any] = {
                "timeout": httpx.Timeout(call_timeout, connect=min(CONNECT_SECONDS, call_timeout)),
                "verify": httpx.create_ssl_context(),
                "cookies": CookieJar(DefaultCookiePolicy(allowed_domains=())),
                "headers": headers,
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

    async def complete(self, body: Mapping[str, Any]) -> Answer:
        """Send a chat completion request and return the answer; raises Fault."""
        # each request in flight has its own client and so its own connection: the pool of httpx looks at
        # all its connections for each request, which at 64 of them costs more than the request
        client = self._idle.pop() if self._idle else httpx.AsyncClient(**self._options)
        url, content = f"{self.endpoint.base_url}/chat/completions", json.dumps(body).encode("ascii")
        try:
            # the client's own limit applies between two bytes, and a slow server would never reach it
            async with (
                asyncio.timeout(self.call_timeout),
                client.stream("POST", url, content=content) as response,
            ):
                data = await _bounded(response)
        except BaseException as error:
            # a connection abandoned in the middle may never become free again
            with suppress(Exception):
                async with asyncio.timeout(1.0):
                    await client.aclose()
            if isinstance(error, (TimeoutError, httpx.TimeoutException)):
                raise Fault("timeout", f"no answer within {self.call_timeout:g} s (--call-timeout)") from None
            if isinstance(error, (httpx.HTTPError, httpx.InvalidURL)):
                raise Fault("connection", self._why(error)) from None
            raise
        self._idle.append(client)
        return read_answer(response.status_code, data, response.headers, self._hide)

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
    most = MOST_BYTES if response.is_success else MOST_OF_A_REFUSAL
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
