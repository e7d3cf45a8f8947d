"""Make one call to its end: retry after faults, and ask again after unreadable replies."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Final

from attune_data.errors import one_line, show
from attune_env.running.control import Breaker, Control, StopRun
from attune_env.running.existing import identity_of
from attune_env.running.journal import CallKey, Finished
from attune_env.running.settings import Model, Patience
from attune_env.running.tally import Prompts
from attune_env.running.troubles import trouble_of
from attune_episodes.chat.completion import NO_USAGE, Answer
from attune_episodes.chat.faults import Fault
from attune_episodes.chat.finish import ending_of, is_declared
from attune_episodes.parsing import Unparsed
from attune_episodes.parsing.extract import kept
from attune_episodes.play.asking import Asking, Question

if TYPE_CHECKING:
    from attune_episodes.chat.client import ChatClient

_REFUSALS: Final = (400, 404, 415, 422, 501)
"""Status codes with which servers reject an unsupported field."""
_STUMBLES: Final = 3
"""Number of attempts with another server error before the schema is suspected as the cause."""
_DOUBTS: Final = 3
"""Number of calls refused with a schema, without a reason, and answered without one: then it is the cause."""
_LIMITS: Final = ("max_tokens", "max_completion_tokens")
"""The names of the limit of an answer's length; a server takes one of them."""
_NEEDED: Final = {"model", "messages", "response_format"}
"""Fields that are not left out: without the first two there is no request; the schema has its own rule."""


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
    _last: dict[str, Any] = field(default_factory=dict, init=False, repr=False, compare=False)
    """The last reply that was parsed -> what it says."""

    def outcome(self, reply: str) -> Any:
        """Parse a reply to the request; the last one is kept, so that each reply is parsed once."""
        if reply not in self._last:
            said = self.read(self.request, reply)
            self._last.clear()
            self._last[reply] = said
        return self._last[reply]

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
    said: Callable[[str], None] = lambda message: None
    """Receives what the user should know, each of it once."""
    finish_ok: Collection[str] = ()
    _stages_without: set[str] = field(default_factory=set)
    """Stages whose schema the server rejects (as too large, say), even if it supports others."""
    _doubts: Counter[str] = field(default_factory=Counter)
    """Stage, or "" while no schema was ever accepted -> calls refused with a schema for no stated reason."""
    _told: set[str] = field(default_factory=set)
    left_out: set[str] = field(default_factory=set)
    """Fields of requests that the server refuses."""
    served: dict[str, None] = field(default_factory=dict)
    """The models that the server names, in order."""

    def __post_init__(self) -> None:
        self._prompts = Prompts()
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
                model.sampling.describe(),
                call.sample,
                call.request.chat(),
                *checkpoint,
            ]
        )

    async def ask(self, call: Call) -> Finished:
        """Make the call until it is finished; raises Fault if it is given up, StopRun if the run ends."""
        start = time.monotonic()
        usage, attempts, answer, held = NO_USAGE, 0, Answer(""), False
        asking = Asking(
            call.request, lambda _, text: call.outcome(text), self.patience.asks, finish_ok=self.finish_ok
        )
        finished = Finished("", "")
        for _ in asking:
            answer, tried, held = await self._answer(call, asking)
            usage, attempts = usage + answer.usage, attempts + tried
            asking.take(answer.text, answer.finish)
            finished = self._finished(asking, answer)
            if not call.request.plain:
                self.breaker.read(trouble_of(finished, plain=False, finish_ok=self.finish_ok))
        return replace(
            finished,
            usage=usage,
            attempts=attempts,
            seconds=round(time.monotonic() - start, 3),
            structured=held,
        )

    def _finished(self, asking: Asking[Any, Any], answer: Answer) -> Finished:
        return Finished(
            reply=kept(asking.text),
            reason=asking.status,
            finish=answer.finish,
            reasoning=kept(answer.reasoning),
            asks=asking.asks,
            served=answer.served,
            unread=tuple((kept(text), reason) for text, reason in asking.unread),
            text_in=answer.text_in,
            refusal=kept(asking.refusal),
        )

    async def _answer(self, call: Call, asking: Asking[Any, Any]) -> tuple[Answer, int, bool]:
        """Get an answer; also returns the number of attempts, and whether the server enforced the schema."""
        attempt, refused, stumbled = 0, None, False
        while True:
            attempt += 1
            plain = call.request.plain or self.takes_schemas is False or call.stage in self._stages_without
            schema = not (plain or refused or stumbled)
            body = self._body(call, asking, schema=schema)
            try:
                async with self.control.attempt():
                    try:
                        answer = await self.client.complete(
                            body, plain=call.request.plain, readable=partial(_readable, call)
                        )
                    except Fault as failed:
                        # recorded before the slot is released, so that the next attempt sees the pause
                        fault = self.patience.bounded(failed)
                        self.control.fault(fault)
                        raise fault from None
            except Fault as fault:
                # try again at once without the field that is refused
                if fault.status in _REFUSALS and self._leave_out(fault.refused_field(body.keys() - _NEEDED)):
                    continue
                if schema:
                    refused = fault if fault.status in _REFUSALS else None
                    stumbled = not refused and fault.status >= 500 and attempt >= _STUMBLES
                    if refused or stumbled:
                        continue
                if self.patience.over(fault, attempt, ever=self.breaker.ever):
                    if self.breaker.failed(fault):
                        raise StopRun(str(self.control.reason)) from None
                    raise fault from None
                await self.control.sleep(self.patience.wait(attempt, fault.retry_after))
                continue
            if answer.usage.cost is None and self.model.price is not None and answer.usage.counted:
                priced = replace(answer.usage, cost=self.model.price.of(answer.usage))
                answer = replace(answer, usage=priced)
            self.control.worked(answer.usage)
            self.breaker.worked()
            await self._learn(call.stage, held=schema, refused=refused)
            self._look_at(answer, body["messages"])
            return answer, attempt, schema

    async def _learn(self, stage: str, *, held: bool, refused: Fault | None) -> None:
        """Record whether the server accepted a schema; a server error leaves this unknown."""
        if refused is not None:
            place = stage if self.takes_schemas else ""
            self._doubts[place] += 1
            if not refused.refuses_schemas and self._doubts[place] < _DOUBTS:
                return  # it may have been this answer that did not fit
            self._tell(f"the server refuses the JSON schema{f' of {place}' if place else 's'}: sent without")
        if refused is not None and self.takes_schemas:
            self._stages_without.add(stage)
        elif (held or refused is not None) and self.takes_schemas is not held:
            self.takes_schemas = held
            await self.remember(held)

    def _leave_out(self, name: str | None) -> bool:
        """Leave a field out of every further request; False if there is none to leave out."""
        if name is None:
            return False
        self.left_out.add(name)
        other = next((limit for limit in _LIMITS if limit not in self.left_out), None)
        if name in _LIMITS and other is not None:
            self._tell(f"the server refuses {name}: {other} is sent instead")
        else:
            self._tell(f"the server refuses {one_line(name, 100)}: sent without it from now on")
        return True

    def _look_at(self, answer: Answer, messages: Sequence[Mapping[str, str]]) -> None:
        """Tell the user what is odd about an answer that counts."""
        unknown = ending_of(answer.finish) == "unknown" and not is_declared(answer.finish, self.finish_ok)
        if answer.text and unknown:
            self._tell(f"unknown finish reason {show(answer.finish)}: such answers count if they can be read")
        if answer.served and answer.served not in self.served:
            self.served[answer.served] = None
            if len(self.served) > 1:
                names = " and then ".join(map(show, list(self.served)[-2:]))
                self._tell(f"another model answers: the server names {names}", "served")
        characters = sum(len(message["content"]) for message in messages)
        if cut := self._prompts.cut(characters, answer.usage.tokens_in):
            self._tell(cut, "prompts")

    def _tell(self, message: str, about: str = "") -> None:
        if (about or message) not in self._told:
            self._told.add(about or message)
            self.said(f"{self.model.name}: {message}")

    def _body(self, call: Call, asking: Asking[Any, Any], *, schema: bool) -> dict[str, Any]:
        """The request body for the next attempt."""
        sampling, endpoint = self.model.sampling, self.model.endpoint
        limits = sorted(_LIMITS, key=lambda name: name != endpoint.limit_field)
        limit = next((name for name in limits if name not in self.left_out), limits[0])
        body: dict[str, Any] = {
            "model": self.model.name,
            "messages": sampling.chat(call.request.chat()),
            "stream": False,
            **endpoint.extra,
            "temperature": sampling.temperature,
            limit: sampling.max_tokens,
        }
        if sampling.seed is not None:
            body["seed"] = asking.seed(sampling.seed, call.group, call.key.id)
        if schema:
            wanted = {"name": call.stage, "strict": True, "schema": call.request.schema}
            body["response_format"] = {"type": "json_schema", "json_schema": wanted}
        if any(name in sampling.extra_body for name in _LIMITS):
            del body[limit]
        given = {name: value for name, value in body.items() if value is not None} | dict(sampling.extra_body)
        return {name: value for name, value in given.items() if name not in self.left_out}


def _readable(call: Call, text: str) -> bool:
    return not isinstance(call.outcome(text), Unparsed)
