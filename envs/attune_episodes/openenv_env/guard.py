"""`Guard`: enforce the limits on each client of a server, and the host names it accepts.

It wraps OpenEnv's own application and ends sessions that are idle, last too long or send too much.
"""

from __future__ import annotations

import asyncio
import ipaddress
import json
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from contextlib import suppress
from dataclasses import dataclass, fields
from typing import Any, Final
from urllib.parse import urlsplit

from attune_data.errors import AttuneError, SettingsError, show
from attune_data.jsonio import parse_json
from attune_episodes.parsing import sound
from attune_episodes.source import ConversationSource

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Any, Receive, Send], Awaitable[None]]
"""An ASGI application."""
POLICY: Final = 1008
"""WebSocket close code for a policy violation."""
BODY_SECONDS: Final = 60.0
"""Seconds for the body of an HTTP request to arrive."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits on clients.

    The default size admits any reply short enough to be read (a million characters).
    """

    sessions: int = 64
    """Maximum number of open sessions; a further one gets an error and is closed."""
    message_bytes: int = 16 * 1024 * 1024
    """Maximum size of a message, in bytes."""
    idle_seconds: float = 3_600.0
    """Idle time after which a session ends, in seconds."""
    session_seconds: float = 7 * 86_400.0
    """Maximum length of a session, in seconds."""

    def __post_init__(self) -> None:
        for field in fields(self):
            value: Any = getattr(self, field.name)
            whole = field.type == "int"
            good = type(value) is int or (type(value) is float and not whole)
            if not good or not 0 < value <= 1e15:  # servers use machine words
                kind = "a whole number from 1" if whole else "a finite number above 0"
                raise SettingsError(f"{field.name} is {show(value)}; it must be {kind}, at most 1e15")


def host_name(text: str) -> str:
    """Normalise a host name or an address for comparison; raises SettingsError if it is neither."""
    plain = text.lower().removeprefix("[").removesuffix("]")
    try:
        return str(ipaddress.ip_address(plain.partition("%")[0]))  # without the network interface
    except ValueError:
        pass
    try:
        name = plain.encode("idna").decode()
    except UnicodeError:
        name = ""
    if not name or not set(name) <= set("abcdefghijklmnopqrstuvwxyz0123456789_.-"):
        raise SettingsError(
            f"allowed host {show(text)}: expected a name or an address without scheme and port, "
            "such as env.example.org"
        )
    return name


def is_loopback(host: str) -> bool:
    """Whether the host can be reached only from this machine."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


class Guard:
    """An ASGI application that enforces limits and allowed hosts for the clients of another one."""

    def __init__(
        self,
        app: Application,
        limits: Limits,
        source: ConversationSource,
        *,
        allowed_hosts: Iterable[str] = (),
        bound: str = "",
    ) -> None:
        """Guard an application, which serves the conversations of `source`.

        Clients may use loopback, the name or address of the server (`bound`, if known) and the
        `allowed_hosts`.
        """
        self.app, self.limits, self.source = app, limits, source
        self.allowed_hosts = frozenset(map(host_name, allowed_hosts))
        self.bound = host_name(bound) if bound else ""

    def bound_to(self, host: str) -> Guard:
        """The same application, served under the given name or address."""
        return Guard(self.app, self.limits, self.source, allowed_hosts=self.allowed_hosts, bound=host)

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        """Serve one connection."""
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
        elif refused := self.refusal(scope):
            await _refuse(scope, send, *refused)
        elif scope["type"] == "http":
            await self._http(scope, receive, send)
        else:
            session = _Session(self.limits, receive, send)
            await self.app(scope, session.receive, session.send)

    def refusal(self, scope: Any) -> tuple[int, str] | None:
        """The HTTP status and reason for refusing a connection; None if it is allowed.

        A browser sends the host name from the URL in `Host`, and the requesting page's site in `Origin`. A
        page of another site can make its own name resolve to an address of this machine (DNS rebinding).
        """
        hosts, origins = _values(scope, b"host"), _values(scope, b"origin")
        name = _host_of(hosts[0]) if len(hosts) == 1 else None
        address = _spelt((scope.get("server") or ("",))[0])
        if name is None or not (is_loopback(name) or name in {self.bound, address, *self.allowed_hosts}):
            found = show(" and ".join(hosts)) if hosts else "missing"
            return 421, (
                f"the Host header is {found}; expected localhost or the address served on; allow "
                "other names, such as a proxy's, with --allowed-host NAME (in Python: allowed_hosts)"
            )
        for origin in origins:
            page = origin.partition("://")[2].lower()
            if page != hosts[0].lower() and _host_of(page) not in self.allowed_hosts:
                return 403, f"requests from web pages on other sites are refused: {show(origin)}"
        return None

    async def _http(self, scope: Any, receive: Receive, send: Send) -> None:
        body, more, most = bytearray(), True, self.limits.message_bytes
        try:
            async with asyncio.timeout(min(BODY_SECONDS, self.limits.idle_seconds)):
                while more:
                    message = await receive()
                    if message["type"] != "http.request":
                        return  # the client has left
                    body += message.get("body", b"")
                    more = message.get("more_body", False)
                    if len(body) > most:
                        await _refuse(scope, send, 413, f"the body is larger than {most} bytes")
                        return
        except TimeoutError:
            await _refuse(scope, send, 408, "the body did not arrive in time")
            return
        try:
            if body.strip():  # strict, because OpenEnv fails on NaN, lone surrogates and deep nesting
                parse_json(body.decode(), "body")
        except (AttuneError, UnicodeDecodeError) as error:
            await _refuse(scope, send, 400, str(error))
            return
        messages = iter([{"type": "http.request", "body": bytes(body), "more_body": False}])

        async def again() -> Message:
            return next(messages, None) or await receive()

        await self.app(scope, again, send)


class _Session:
    """One WebSocket: pass on its messages, and close it when a limit is reached."""

    def __init__(self, limits: Limits, receive: Receive, send: Send) -> None:
        self._limits, self._receive, self._send = limits, receive, send
        self._ends = asyncio.get_running_loop().time() + limits.session_seconds
        self._over = False

    async def receive(self) -> Message:
        """The next message for the application, or a disconnect after the end."""
        while not self._over:
            message = await self._next()
            if message is None:
                break
            if message["type"] != "websocket.receive":
                self._over = message["type"] == "websocket.disconnect"
                return message
            text, most = message.get("text") or "", self._limits.message_bytes
            if len(text) > most or len(text.encode("utf-8", "replace")) > most:
                await self._tell("MESSAGE_TOO_BIG", f"a message may have at most {most} bytes")
                continue
            with suppress(ValueError, RecursionError):  # invalid JSON gets OpenEnv's own answer
                if "\\u" in text:
                    text = sound(json.dumps(json.loads(text), ensure_ascii=False))
            return {"type": "websocket.receive", "text": text}
        return {"type": "websocket.disconnect", "code": POLICY}

    async def send(self, message: Message) -> None:
        """Send while the client is connected; a client that does not read is dropped after some time."""
        if self._over:
            return  # the application may send to a client that has left
        self._over = message["type"] == "websocket.close"
        try:
            async with asyncio.timeout(self._limits.idle_seconds):
                await self._send(message)
        except (TimeoutError, OSError):
            self._over = True

    async def _next(self) -> Message | None:
        left = self._ends - asyncio.get_running_loop().time()
        idle = self._limits.idle_seconds
        try:
            async with asyncio.timeout(min(idle, left)):
                return await self._receive()
        except TimeoutError:
            lasted = f"reached its limit of {self._limits.session_seconds:g} seconds"
            why = f"was idle for {idle:g} seconds" if idle < left else lasted
            await self._tell("SESSION_TIMEOUT", f"the session {why}; connect again")
            await self.send({"type": "websocket.close", "code": POLICY, "reason": f"the session {why}"[:100]})
            return None

    async def _tell(self, code: str, text: str) -> None:
        error = {"type": "error", "data": {"message": text, "code": code}}
        await self.send({"type": "websocket.send", "text": json.dumps(error)})


def _values(scope: Any, header: bytes) -> list[str]:
    return [value.decode("latin-1") for name, value in scope.get("headers", ()) if name.lower() == header]


def _host_of(authority: str) -> str | None:
    """The host in `host:port`; None if invalid."""
    try:
        parts = urlsplit(f"//{authority}")
        _ = parts.port  # which must be a number
    except ValueError:
        return None
    host = parts.hostname or ""
    brackets = authority.startswith("[")
    if parts.netloc != authority or "@" in authority or (":" in host) != brackets:
        return None
    return _spelt(host)


def _spelt(host: str) -> str | None:
    try:
        return host_name(host)
    except SettingsError:
        return None


async def _refuse(scope: Any, send: Send, code: int, text: str) -> None:
    """Respond without the application; a WebSocket gets 403 if the server cannot send a reason."""
    kind = "http.response"
    if scope["type"] == "websocket":
        kind = "websocket.http.response"
        if kind not in scope.get("extensions", {}):
            await send({"type": "websocket.close", "code": POLICY})
            return
    headers = [(b"content-type", b"application/json"), (b"connection", b"close")]
    await send({"type": f"{kind}.start", "status": code, "headers": headers})
    await send({"type": f"{kind}.body", "body": json.dumps({"detail": text}).encode()})
