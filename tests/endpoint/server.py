"""The server: one handler, a log of calls, and a thread to run it in."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import struct
import threading
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from tests.endpoint import bodies
from tests.endpoint.answers import Answers, Messages, key_of
from tests.endpoint.faults import Fault, Faults

_NO_LINGER = struct.pack("ii", 1, 0)
"""Closing the socket then resets the connection."""


@dataclass
class Call:
    """One request to the server, in the order in which they came."""

    number: int
    """From 1."""
    at: float
    """When it came, by `time.monotonic`."""
    headers: Mapping[str, str]
    """With lower-case names."""
    body: Any = None
    """The JSON that was sent; None if that is not kept."""
    request: str | None = None
    """Id of the request of a plan that asks with these messages."""
    attempt: int = 0
    """How many calls had these messages by then, this one included."""
    status: int = 0
    """The answer's status; 0 while there is none, and where the connection was broken off."""
    fault: Fault | None = None
    unknown: bool = False
    """Whether its messages are some that nobody should send."""


@dataclass
class Server:
    """What a server answers, and what it saw."""

    answers: Answers
    faults: Faults = field(default_factory=Faults)
    latency: float = 0.0
    """Seconds before each answer."""
    key: str | None = None
    """The only key that is let in (else 401); None: any, or none."""
    model: str | None = None
    """The only model there is (else 404); None: any."""
    structured: bool = True
    """Whether `response_format` is taken; if not, it gets 400."""
    price: tuple[float, float] | None = None
    """Dollars per million tokens in and out: `usage.cost` is then given."""
    gather: int = 0
    """Answers nobody before so many requests are in flight at once."""
    keep_bodies: bool = True
    url: str = ""
    """Base URL for clients, `http://127.0.0.1:PORT/v1`."""
    calls: list[Call] = field(default_factory=list)
    in_flight: int = 0
    most_in_flight: int = 0
    peers: set[object] = field(default_factory=set)
    """Address and port of every connection that a call came on."""

    def __post_init__(self) -> None:
        self._attempts: Counter[str] = Counter()
        self._closing = asyncio.Event()

    @property
    def unknown(self) -> list[Call]:
        """Calls whose messages nobody should send."""
        return [call for call in self.calls if call.unknown]

    def facts(self) -> dict[str, Any]:
        """Counts, as `GET /facts` gives them, and the CPU seconds of the process."""
        times = os.times()
        return {
            "calls": len(self.calls),
            "statuses": dict(Counter(str(call.status) for call in self.calls)),
            "requests": dict(Counter(call.request for call in self.calls if call.request)),
            "unknown": len(self.unknown),
            "most_in_flight": self.most_in_flight,
            "cpu_seconds": times.user + times.system,
        }

    def app(self) -> web.Application:
        """The routes: chat completions, models, facts."""

        async def facts(_: web.Request) -> web.Response:
            return web.json_response(self.facts())

        async def shutdown(_: web.Application) -> None:
            self._closing.set()

        app = web.Application(client_max_size=64 * 2**20)
        app.router.add_post("/v1/chat/completions", self._chat)
        app.router.add_get("/v1/models", self._models)
        app.router.add_get("/facts", facts)
        app.on_shutdown.append(shutdown)
        return app

    async def _models(self, request: web.Request) -> web.Response:
        if not self._let_in(request):
            return bodies.error(401, "Incorrect API key provided.", "invalid_api_key")
        return web.json_response({"object": "list", "data": [{"id": self.model or "any", "object": "model"}]})

    def _let_in(self, request: web.Request) -> bool:
        return self.key is None or request.headers.get("Authorization") == f"Bearer {self.key}"

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        headers = {name.lower(): value for name, value in request.headers.items()}
        call = Call(len(self.calls) + 1, time.monotonic(), headers)
        self.calls.append(call)
        if request.transport is not None:
            self.peers.add(request.transport.get_extra_info("peername"))
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            response = await self._answer(request, call)
            call.status = response.status
        finally:
            self.in_flight -= 1
        return response

    async def _answer(self, request: web.Request, call: Call) -> web.StreamResponse:
        raw = await request.read()
        if self.latency:
            await asyncio.sleep(self.latency)
        while self.most_in_flight < self.gather and not self._closing.is_set():
            await asyncio.sleep(0.01)
        if not self._let_in(request):
            return bodies.error(401, "Incorrect API key provided.", "invalid_api_key")
        try:
            body = json.loads(raw)
        except ValueError:
            return bodies.error(400, "the body is not JSON", "invalid_request")
        if self.keep_bodies:
            call.body = body
        wrong = bodies.problem(body)
        if wrong:
            return bodies.error(400, wrong, "invalid_request")
        if self.model is not None and body["model"] != self.model:
            return bodies.error(404, f"The model `{body['model']}` does not exist.", "model_not_found")
        if not self.structured and "response_format" in body:
            return bodies.error(
                400, "response_format is not supported by this model", "unsupported_parameter"
            )
        return await self._reply(request, call, body)

    async def _reply(self, request: web.Request, call: Call, body: Mapping[str, Any]) -> web.StreamResponse:
        messages: Messages = body["messages"]
        key = key_of(messages)
        self._attempts[key] += 1
        call.attempt = self._attempts[key]
        find: Callable[[Messages], str | None] = getattr(self.answers, "request_id", lambda _: None)
        call.request = find(messages)
        answer = self.answers(messages)
        if answer is None:
            call.unknown = True
            last = messages[-1].get("content") if messages else None
            return bodies.error(
                400, f"no plan has these {len(messages)} messages, the last of them: {last!r}",
                "unknown_messages",
            )  # fmt: skip
        call.fault = fault = self.faults.next(call.request, key, call.attempt)
        if fault is not None and fault.kind == "hang":
            with suppress(TimeoutError):  # but not beyond the end of the server
                await asyncio.wait_for(self._closing.wait(), fault.seconds)
        if fault is not None and fault.kind in ("flood", "bomb", "drip"):
            return await self._send_on(request, fault)
        response = bodies.answered(body, answer, self.price, fault)
        if fault is not None and fault.kind in ("drop", "reset"):
            await self._break_off(request, fault, response)
        return response

    async def _send_on(self, request: web.Request, fault: Fault) -> web.StreamResponse:
        """Sends a body that is too long, or never ends, until the client or the server has enough."""
        packed = {"Content-Encoding": "gzip"} if fault.kind == "bomb" else {}
        response = web.StreamResponse(
            status=fault.code, headers={"Content-Type": "application/json", **packed}
        )
        await response.prepare(request)
        for piece, seconds in bodies.endless(fault):
            if self._closing.is_set():
                break
            await response.write(piece)
            await asyncio.sleep(seconds)
        return response

    async def _break_off(self, request: web.Request, fault: Fault, whole: web.Response) -> None:
        """Resets the connection, before the answer or in the middle of it."""
        transport = request.transport
        assert transport is not None
        if fault.kind == "reset":
            data = whole.body
            assert isinstance(data, bytes)
            part = web.StreamResponse(headers={"Content-Type": whole.content_type})
            part.content_length = len(data)
            await part.prepare(request)
            await part.write(data[: len(data) // 2])
            await asyncio.sleep(0.02)  # so that the client has read that half before the reset
        taken: socket.socket = transport.get_extra_info("socket")
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _NO_LINGER)
        transport.abort()
        raise ConnectionResetError("broken off on purpose")


async def run(server: Server, ready: Callable[[], object], until: Awaitable[object]) -> None:
    """Serves on a free port of 127.0.0.1 until something is over."""
    runner = web.AppRunner(server.app(), access_log=None, shutdown_timeout=1.0)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", 0, backlog=1024)
        await site.start()
        server.url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
        ready()
        await until
    finally:
        await runner.cleanup()


@contextmanager
def serve(answers: Answers, faults: Iterable[Fault | str] = (), **options: Any) -> Iterator[Server]:
    """A server in a thread of this process, on a free port; `options` are the fields of `Server`."""
    server = Server(answers, Faults(faults), **options)
    loop = asyncio.new_event_loop()
    over = loop.create_future()
    ready = threading.Event()
    failed: list[BaseException] = []

    def work() -> None:
        try:
            loop.run_until_complete(run(server, ready.set, over))
        except BaseException as error:  # told to the thread that waits
            failed.append(error)
        finally:
            ready.set()
            loop.close()

    thread = threading.Thread(target=work, name="endpoint", daemon=True)
    thread.start()
    try:
        if not ready.wait(10) or failed:
            raise RuntimeError("the endpoint did not start") from (failed[0] if failed else None)
        yield server
    finally:
        if not failed and thread.is_alive():
            loop.call_soon_threadsafe(over.set_result, None)
        thread.join(10)
    if failed:
        raise failed[0]
