"""One attempt at a call, through the `openai` SDK: an answer, or a `Fault`.

The SDK builds the request, keeps the connections and raises on statuses. Its own retries are off (the run
bounds them), and its models are not used: they let a half-broken body through, and cost more than the call.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from types import TracebackType
from typing import Any

import httpx
import openai

from attune_data.errors import SettingsError, one_line
from attune_env.running.endpoint.answer import Answer, read_answer
from attune_env.running.endpoint.faults import Fault, FilteredError, status_fault
from attune_env.running.endpoint.providers import Endpoint
from attune_env.running.endpoint.receiving import ACCEPTED, no_cookies, received, refuse_redirect

CONNECT_SECONDS = 30.0
"""A server that does not take the connection by then is not there."""


class _OneEach(openai.DefaultAsyncHttpxClient):
    """The HTTP client of the SDK: every request under way goes through a client of its own.

    Each of those has one connection, used again when the request is over: the connection pool of httpx looks
    at all its connections for each request, which at 64 of them costs more than the request.
    """

    def __init__(self, timeout: httpx.Timeout, hide: Callable[[str], str]) -> None:
        async def check(response: httpx.Response) -> None:
            refuse_redirect(response, hide)

        try:
            trusted = httpx.create_ssl_context()
        except OSError as error:
            raise SettingsError(
                f"the certificates that SSL_CERT_FILE or SSL_CERT_DIR names cannot be used: {error}"
            ) from None
        self._one: dict[str, Any] = {
            "timeout": timeout,
            "limits": httpx.Limits(max_connections=1, max_keepalive_connections=1),
            "verify": trusted,
            "cookies": no_cookies(),
            "follow_redirects": False,
            # before httpx itself looks at the address, which may be none
            "event_hooks": {"response": [check]},
        }
        try:
            super().__init__(**self._one)
        except (ImportError, ValueError, httpx.InvalidURL) as error:
            # httpx hides the password of a proxy in what it says
            raise SettingsError(
                f"the proxy that HTTP_PROXY, HTTPS_PROXY or ALL_PROXY names cannot be used: {error}"
            ) from None
        self._all: set[httpx.AsyncClient] = set()
        self._idle: list[httpx.AsyncClient] = []

    async def send(self, request: httpx.Request, **options: Any) -> httpx.Response:
        """Send a request and read the answer, up to a limit."""
        if self._idle:
            client = self._idle.pop()
        else:
            client = openai.DefaultAsyncHttpxClient(**self._one)
            self._all.add(client)
        try:
            response = await received(await client.send(request, **{**options, "stream": True}))
        except BaseException:
            # a connection that was left in the middle may never be free again
            self._all.discard(client)
            with suppress(Exception):
                async with asyncio.timeout(1.0):
                    await client.aclose()
            raise
        self._idle.append(client)
        return response

    async def aclose(self) -> None:
        """Closes all connections."""
        for client in self._all:
            await client.aclose()
        await super().aclose()


class ChatClient:
    """Asks one endpoint; may be used by many tasks at once.

    (The SDK's client over aiohttp needs 0.3 ms less a call, but takes a refused connection for a time-out.)
    """

    def __init__(self, endpoint: Endpoint, *, call_timeout: float) -> None:
        self.endpoint = endpoint
        self.call_timeout = call_timeout
        timeout = httpx.Timeout(call_timeout, connect=min(CONNECT_SECONDS, call_timeout), pool=None)
        omit = openai.Omit()
        headers: dict[str, Any] = {**endpoint.headers, "Accept-Encoding": ACCEPTED}
        # without a key no such header is sent; the SDK wants to be told with each request
        self._options: Any = {} if endpoint.key else {"headers": {"Authorization": omit}}
        if endpoint.provider != "openai":
            # the SDK reads them from the environment: they are nobody else's business
            headers |= {"OpenAI-Organization": omit, "OpenAI-Project": omit}
        self._sdk = openai.AsyncOpenAI(
            api_key=endpoint.key.reveal() or "none",
            base_url=endpoint.base_url,
            max_retries=0,
            timeout=timeout,
            default_headers=headers,
            http_client=_OneEach(timeout, endpoint.key.hidden_in),
        )

    async def __aenter__(self) -> ChatClient:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._sdk.close()

    async def complete(self, body: Mapping[str, Any], *, lenient: bool = False) -> Answer:
        """The answer to a chat completion request; raises Fault.

        `lenient` replaces bytes that are no UTF-8: for the last attempt at a server that always sends them.
        """
        try:
            # the SDK's own limit is between two bytes; a server that drips would never meet it
            async with asyncio.timeout(self.call_timeout):
                response = await self._sdk.post(
                    "/chat/completions", cast_to=httpx.Response, body=body, options=self._options
                )
            return read_answer(
                response.content, response.headers, lenient=lenient, hide=self.endpoint.key.hidden_in
            )
        except FilteredError:
            return Answer("", finish="content_filter")
        except openai.APIStatusError as error:
            response = error.response
        except (TimeoutError, openai.APITimeoutError):
            raise Fault("timeout", f"no answer within {self.call_timeout:g} s (--call-timeout)") from None
        except (openai.OpenAIError, httpx.HTTPError, httpx.InvalidURL) as error:
            if isinstance(error.__cause__, Fault):
                # the SDK takes whatever is raised while it sends for a lost connection
                raise error.__cause__ from None
            raise Fault("connection", self._why(error)) from None
        try:
            raise self._refused(response)
        except FilteredError:
            return Answer("", finish="content_filter")

    def _refused(self, response: httpx.Response) -> Fault:
        text = response.content.decode("utf-8", "replace")
        try:
            body = json.loads(text)
        except (ValueError, RecursionError):
            body = None
        return status_fault(response.status_code, body, text, response.headers, self.endpoint.key.hidden_in)

    def _why(self, error: Exception) -> str:
        """What stands behind the SDK's "Connection error."; no key is in it."""
        cause = error.__cause__ or error
        deepest = cause
        while deepest.__cause__ or deepest.__context__:
            deepest = deepest.__cause__ or deepest.__context__ or deepest
        said = str(cause) or str(deepest) or type(cause).__name__
        # hidden before it is cut: a part of a key would not be known any more
        said = one_line(self.endpoint.key.hidden_in(said), 200)
        return f"no connection: {said} ({type(deepest).__name__})"
