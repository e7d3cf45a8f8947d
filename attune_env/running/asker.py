"""Make one call to its end: retry after faults, and ask again after unreadable replies."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from attune_env.running.answer import NO_USAGE, Answer
from attune_env.running.control import Breaker, Control
from attune_env.running.existing import identity_of
from attune_env.running.faults import Fault, StopRun
from attune_env.running.journal import CallKey, Finished
from attune_env.running.settings import Model, Patience
from attune_episodes.asking import OK, Asking, Question
from attune_episodes.parsing.extract import kept

if TYPE_CHECKING:
    from attune_env.running.client import ChatClient

_REFUSALS: Final = (400, 404, 415, 422, 501)
"""Status codes with which servers reject an unsupported field."""
_STUMBLES: Final = 3
"""Number of attempts with another server error before the schema is suspected as the cause."""


@dataclass(frozen=True)
class Call:
    """One request of a run to one model."""

    asker: Asker
    request: Question
    read: Callable[[Any, str], Any]
    """Parses a reply to the request; returns `Unparsed` if it cannot be read."""
    stage: str
    group: str
    sample: int = 1
    judge: str = ""
    """The judge's model; "" for the evaluated model."""

    @cached_property
    def key(self) -> CallKey:
        """Its key in the journal."""
        id_ = f"{self.request.id}/{self.judge}" if self.judge else self.request.id
        return CallKey(self.group, id_, self.asker.digest(self))


@dataclass
class Asker:
    """Asks one model; shared by all calls of a run."""

    client: ChatClient
    model: Model
    control: Control
    patience: Patience
    takes_schemas: bool | None
    """Whether the server enforces schemas; None while unknown."""
    remember: Callable[[bool], Awaitable[None]]
    """Called once this is known."""
    _stages_without: set[str] = field(default_factory=set)
    """Stages whose schema the server rejects (as too large, say), even if it supports others."""

    def __post_init__(self) -> None:
        self.breaker = Breaker(self.control, self.model.name, self.model.endpoint.base_url)
        if self.model.sampling.structured != "auto":
            self.takes_schemas = self.model.sampling.structured == "on"

    def digest(self, call: Call) -> str:
        """A digest of everything that determines the answer, 16 hex digits; equal for equal requests."""
        model = self.model
        # each training step has its own answers
        checkpoint = [] if model.training is None else [asdict(model.training)]
        return identity_of(
            [
                model.endpoint.provider,
                model.name,
                asdict(model.sampling),
                call.sample,
                call.request.chat(),
                *checkpoint,
            ]
        )

    async def ask(self, call: Call) -> Finished:
        """Make the call until it is finished; raises Fault if it is given up, StopRun if the run ends."""
        start = time.monotonic()
        usage, attempts, answer, held = NO_USAGE, 0, Answer(""), False
        asking = Asking(call.request, call.read, self.patience.asks)
        for _ in asking:
            answer, tried, held = await self._answer(call, asking)
            usage, attempts = usage + answer.usage, attempts + tried
            asking.take(answer.text, answer.finish)
            if not call.request.plain:
                self.breaker.read("" if asking.status == OK else _blank(answer))
        return Finished(
            reply=kept(answer.text),
            reason=asking.status,
            finish=answer.finish,
            reasoning=kept(answer.reasoning),
            usage=usage,
            asks=asking.asks,
            attempts=attempts,
            seconds=round(time.monotonic() - start, 3),
            structured=held,
            served=answer.served,
            unread=tuple((kept(text), reason) for text, reason in asking.unread),
        )

    async def _answer(self, call: Call, asking: Asking[Any, Any]) -> tuple[Answer, int, bool]:
        """Get an answer; also returns the number of attempts, and whether the server enforced the schema."""
        attempt, refused, stumbled = 0, False, False
        while True:
            attempt += 1
            plain = call.request.plain or self.takes_schemas is False or call.stage in self._stages_without
            schema = not (plain or refused or stumbled)
            try:
                async with self.control.attempt():
                    try:
                        answer = await self.client.complete(self._body(call, asking, schema=schema))
                    except Fault as failed:
                        # recorded before the slot is released, so that the next attempt sees the pause
                        fault = self.patience.bounded(failed)
                        self.control.fault(fault)
                        raise fault from None
            except Fault as fault:
                if schema:
                    refused = fault.status in _REFUSALS
                    stumbled = not refused and fault.status >= 500 and attempt >= _STUMBLES
                    if refused or stumbled:
                        continue  # try again at once without a schema
                if self.patience.over(fault, attempt, ever=self.breaker.ever):
                    if self.breaker.failed(fault):
                        raise StopRun(str(self.control.reason)) from None
                    raise fault from None
                await self.control.sleep(self.patience.wait(attempt, fault.retry_after))
                continue
            if answer.usage.cost is None and self.model.price is not None:
                priced = replace(answer.usage, cost=self.model.price.of(answer.usage))
                answer = replace(answer, usage=priced)
            self.control.worked(answer.usage)
            self.breaker.worked()
            await self._learn(call.stage, held=schema, refused=refused)
            return answer, attempt, schema

    async def _learn(self, stage: str, *, held: bool, refused: bool) -> None:
        """Record whether the server accepted a schema; a server error leaves this unknown."""
        if refused and self.takes_schemas:
            self._stages_without.add(stage)
        elif (held or refused) and self.takes_schemas is not held:
            self.takes_schemas = held
            await self.remember(held)

    def _body(self, call: Call, asking: Asking[Any, Any], *, schema: bool) -> dict[str, Any]:
        """The request body for the next attempt."""
        sampling, endpoint = self.model.sampling, self.model.endpoint
        optional: dict[str, Any] = {
            "temperature": sampling.temperature,
            endpoint.limit_field: sampling.max_tokens,
        }
        if sampling.seed is not None:
            optional["seed"] = asking.seed(sampling.seed, call.group, call.key.id)
        if schema:
            wanted = {"name": call.stage, "strict": True, "schema": call.request.schema}
            optional["response_format"] = {"type": "json_schema", "json_schema": wanted}
        body = {"model": self.model.name, "messages": call.request.chat(), **endpoint.extra}
        return body | {name: value for name, value in optional.items() if value is not None}


def _blank(answer: Answer) -> str:
    """How an unreadable answer ended if that concerns its length, otherwise ""."""
    if answer.finish == "length":
        return "cut off"
    return "empty" if not answer.text.strip() and answer.finish != "content_filter" else ""
