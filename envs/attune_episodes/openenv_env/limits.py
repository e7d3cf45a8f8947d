"""What one client may do to a server, and `Guard`, which holds every client to it.

The guard stands before OpenEnv's own application. It answers what is no message of the protocol itself, in
OpenEnv's form of an error, so that a session outlives whatever its client sends; and it ends sessions that
stay silent or last too long.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from dataclasses import dataclass, fields
from typing import Any, Final

from attune_data.errors import AttuneError, SettingsError, UnknownNameError, show
from attune_data.jsonio import bad_byte, parse_json
from attune_episodes.openenv_env.hosts import host_name, refusal
from attune_episodes.parsing import sound

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Any, Receive, Send], Awaitable[None]]
"""An ASGI application."""

KINDS: Final = ("reset", "step", "state", "close")
"""The messages of a session."""
RESET: Final = ("seed", "episode_id", "conversation_id", "index")
"""The arguments of a reset."""
POLICY: Final = 1008
"""WebSocket close code: a rule was broken."""
LARGEST: Final = 10**15
"""Largest limit: what it is handed on to counts in machine words."""
BODY_SECONDS: Final = 60.0
"""Time for the body of an HTTP request to arrive."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What clients may do. The default size holds any reply that is read at all (a million characters)."""

    sessions: int = 64
    """Open sessions at a time; one more is told so and closed."""
    message_bytes: int = 16 * 1024 * 1024
    """Size of a message, in bytes. A longer one is answered with an error."""
    messages: int = 1_000_000
    """Messages of one session: steps, resets and all others."""
    idle_seconds: float = 3_600.0
    """Silence after which a session ends, in seconds."""
    session_seconds: float = 7 * 86_400.0
    """Length of a session, in seconds."""

    def __post_init__(self) -> None:
        for field in fields(self):
            value: Any = getattr(self, field.name)
            whole = field.type == "int"
            good = type(value) is int or (type(value) is float and not whole)
            if not good or not 0 < value <= LARGEST:
                kind = "a whole number, at least 1" if whole else "a finite number above 0"
                kind += f", at most {LARGEST:.0e}"
                raise SettingsError(f"{field.name} is {show(value)}; it must be {kind}")


class Guard:
    """An ASGI application that holds the clients of another one to the limits and to the hosts it serves."""

    def __init__(
        self, app: Application, limits: Limits, *, allowed_hosts: Iterable[str] = (), bound: str = ""
    ) -> None:
        """Guards an application.

        Args:
            app: what is guarded.
            limits: of size, sessions and time.
            allowed_hosts: names that clients may ask for beside loopback and the address that is served on.
            bound: the name or address that is served on, if it is known.
        """
        self.app, self.limits = app, limits
        self.allowed_hosts = frozenset(map(host_name, allowed_hosts))
        self.bound = host_name(bound) if bound else ""

    def bound_to(self, host: str) -> Guard:
        """The same application, served on that name or address."""
        return Guard(self.app, self.limits, allowed_hosts=self.allowed_hosts, bound=host)

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        """Serves one connection."""
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
        elif refused := refusal(scope, self.bound, self.allowed_hosts):
            await _refuse(scope, send, *refused)
        elif scope["type"] == "http":
            await self._http(scope, receive, send)
        else:
            session = _Session(self.limits, receive, send)
            await self.app(scope, session.receive, session.send)

    async def _http(self, scope: Any, receive: Receive, send: Send) -> None:
        """Reads the whole body, as far as the limits allow, and hands it on if it is JSON, or nothing."""
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
                        await _refuse(scope, send, 413, f"the body has more than {most} bytes")
                        return
        except TimeoutError:
            await _refuse(scope, send, 408, "the body did not arrive in time")
            return
        try:
            _check_body(bytes(body), scope["path"])
        except AttuneError as error:
            await _refuse(scope, send, 400, str(error))
            return
        read = False

        async def again() -> Message:
            nonlocal read
            if read:
                return await receive()
            read = True
            return {"type": "http.request", "body": bytes(body), "more_body": False}

        await self.app(scope, again, send)


class _Session:
    """One WebSocket: hands on what is a message of the protocol, and answers the rest."""

    def __init__(self, limits: Limits, receive: Receive, send: Send) -> None:
        self._limits, self._receive, self._send = limits, receive, send
        self._ends = asyncio.get_running_loop().time() + limits.session_seconds
        self._count = 0
        self._over = False

    async def receive(self) -> Message:
        """The next message that the application shall see; a disconnect after the end."""
        while not self._over:
            message = await self._next()
            if message is None:
                break
            if message["type"] != "websocket.receive":
                self._over = message["type"] == "websocket.disconnect"
                return message
            self._count += 1
            if self._count > self._limits.messages:
                await self._end("SESSION_LIMIT", f"more than {self._limits.messages} messages in a session")
                break
            try:
                return {
                    "type": "websocket.receive",
                    "text": read_message(message, self._limits.message_bytes),
                }
            except _NoMessageError as problem:
                await self._tell(problem.code, str(problem))
        return {"type": "websocket.disconnect", "code": POLICY}

    async def send(self, message: Message) -> None:
        """Sends while the client is there; one that does not read is left after a while."""
        if self._over:
            return  # the application says goodbye to a client that has left
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
            lasted = f"lasted {self._limits.session_seconds:g} seconds, which is the most"
            silent = f"was silent for {idle:g} seconds"
            await self._end("SESSION_TIMEOUT", f"the session {silent if idle < left else lasted}")
            return None

    async def _tell(self, code: str, text: str) -> None:
        data = {"message": text, "code": code}
        await self.send({"type": "websocket.send", "text": json.dumps({"type": "error", "data": data})})

    async def _end(self, code: str, text: str) -> None:
        await self._tell(code, f"{text}; connect again")
        await self.send({"type": "websocket.close", "code": POLICY, "reason": text[:100]})


class _NoMessageError(Exception):
    def __init__(self, code: str, text: str) -> None:
        super().__init__(text)
        self.code = code


def read_message(message: Message, most: int) -> str:
    """The text of a WebSocket message, if it is one of the protocol; without halves of characters."""
    text = message.get("text")
    if not isinstance(text, str):
        raise _NoMessageError("INVALID_JSON", "a binary frame; expected a text frame with a JSON object")
    size = len(text) if len(text) > most or text.isascii() else len(text.encode("utf-8", "replace"))
    if size > most:
        raise _NoMessageError("MESSAGE_TOO_BIG", f"a message of {size} bytes; at most {most}")
    try:
        said = json.loads(text)
        if "\\ud" in text or "\\uD" in text:
            text = sound(json.dumps(said, ensure_ascii=False))
    except (ValueError, RecursionError) as error:
        raise _NoMessageError("INVALID_JSON", f"no JSON: {show(str(error))}") from None
    if not isinstance(said, dict):
        raise _NoMessageError("VALIDATION_ERROR", f"JSON, but {type(said).__name__}; expected an object")
    kind = said.get("type")
    if kind not in KINDS:
        raise _NoMessageError("UNKNOWN_TYPE", f"type is {show(kind)}; expected {', '.join(KINDS)}")
    allowed = {"type", "data"} if kind in ("reset", "step") else {"type"}
    if strange := [name for name in said if name not in allowed]:
        raise _NoMessageError(
            "VALIDATION_ERROR", f"unknown field {show(strange[0])} beside {', '.join(sorted(allowed))}"
        )
    data = said.get("data", {})
    if not isinstance(data, dict):
        raise _NoMessageError("VALIDATION_ERROR", f"data is {show(data)}; expected an object")
    if kind == "step":
        _check_action(data)
    elif kind == "reset":
        try:
            _check_reset(data)
        except UnknownNameError as error:
            raise _NoMessageError("VALIDATION_ERROR", str(error)) from None
    return text


def _check_action(data: dict[str, Any]) -> None:
    found = f"the action is {show(data)}"
    if not isinstance(data.get("message"), str):
        raise _NoMessageError("VALIDATION_ERROR", f'{found}; expected {{"message": text}}')
    if not isinstance(data.get("metadata", {}), dict) or not data.keys() <= {"message", "metadata"}:
        raise _NoMessageError("VALIDATION_ERROR", f'{found}; expected nothing beside "message"')


def _check_reset(data: dict[str, Any]) -> None:
    """Raises UnknownNameError for what `reset` does not take, which OpenEnv would drop or fail on."""
    for name in data:
        if name not in RESET:
            raise UnknownNameError("reset argument", name[:100], RESET)


def _check_body(body: bytes, path: str) -> None:
    """Raises DataError for what is no sound JSON, which OpenEnv would fail on, UnknownNameError as above."""
    if not body.strip():
        return
    try:
        text = body.decode()
    except UnicodeDecodeError as error:
        raise bad_byte("body", 0, error) from error
    value = parse_json(text, "body")
    if path.endswith("/reset") and isinstance(value, dict):
        _check_reset(value)


async def _refuse(scope: Any, send: Send, code: int, text: str) -> None:
    """Answers without the application; a WebSocket whose server cannot say why gets 403."""
    kind = "http.response"
    if scope["type"] == "websocket":
        kind = "websocket.http.response"
        if kind not in scope.get("extensions", {}):
            await send({"type": "websocket.close", "code": POLICY})
            return
    headers = [(b"content-type", b"application/json"), (b"connection", b"close")]
    await send({"type": f"{kind}.start", "status": code, "headers": headers})
    await send({"type": f"{kind}.body", "body": json.dumps({"detail": text}).encode()})
