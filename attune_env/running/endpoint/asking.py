"""One call from its first attempt to its end: retries after faults, re-asks after unreadable answers."""

from __future__ import annotations

import hashlib
import json
import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, Literal

from attune_data.seeding import digest
from attune_env.running.endpoint.answer import NO_USAGE, Answer, Usage
from attune_env.running.endpoint.control import Breaker, Control
from attune_env.running.endpoint.faults import Fault, StopRun
from attune_env.running.endpoint.journal import Finished
from attune_env.running.endpoint.structured import Structured
from attune_episodes.parsing.extract import kept

if TYPE_CHECKING:
    from attune_env.running.endpoint.client import ChatClient

Structure = Literal["auto", "on", "off"]
OK: Final = "ok"
_BEFORE_ANY_ANSWER: Final = {"connection": 2, "timeout": 1}
"""Further attempts after such faults while the server has never answered."""


@dataclass(frozen=True)
class Sampling:
    """What decides, with the messages, what a model answers. Everything else is the server's default."""

    temperature: float | None = None
    max_tokens: int | None = None
    seed: int | None = None
    """Seed of the server's drawing, hashed with the request; None sends none."""
    structured: Structure = "auto"
    """Whether answers are held to their JSON schema: `auto` where the server takes it."""

    def describe(self) -> dict[str, Any]:
        """What result files record, and what makes two calls the same."""
        return {
            "temperature": self.temperature,
            "max_tokens": self.max_tokens,
            "seed": self.seed,
            "structured": self.structured,
        }


@dataclass(frozen=True)
class Patience:
    """How hard a call is tried."""

    asks: int = 3
    """How often a request is asked at most until its answer can be read."""
    retries: int = 6
    """Further attempts after a fault that may pass; half as many after a time-out, twice as
    many after "too many requests"."""
    first_wait: float = 0.5
    """Seconds before the first further attempt; each wait doubles, and 0 to 50 % are taken off by chance."""
    longest_wait: float = 30.0
    longest_asked: float = 120.0
    """A server that asks to wait longer than this is not waited for."""

    def wait(self, attempt: int, asked: float | None) -> float:
        """Seconds before the attempt after the `attempt`-th (from 1); `asked` is the server's Retry-After."""
        if asked is not None:
            # a little more, and not everybody at once
            return asked + random.uniform(0, 0.1) * min(asked, self.longest_wait)
        full = min(self.longest_wait, self.first_wait * 2.0 ** (attempt - 1))
        return full * random.uniform(0.5, 1.0)

    def bounded(self, fault: Fault) -> Fault:
        """The fault, or another kind of it where the server asks to wait longer than is waited."""
        if fault.retry_after is None or fault.retry_after <= self.longest_asked:
            return fault
        return Fault("too_long_wait", f"{fault} and asks to wait {fault.retry_after:g} s")

    def over(self, fault: Fault, attempt: int, *, ever: bool) -> bool:
        """Whether a call is given up after this fault at its `attempt`-th attempt.

        `ever` says whether the server has answered before: one that has not is likely not there.
        """
        often = {"timeout": self.retries // 2, "rate_limited": self.retries * 2}
        retries = often.get(fault.kind, self.retries)
        if not ever:
            retries = min(retries, _BEFORE_ANY_ANSWER.get(fault.kind, retries))
        return fault.action != "retry" or attempt > retries


@dataclass(frozen=True)
class Price:
    """Dollars per million tokens."""

    tokens_in: float
    tokens_out: float

    def of(self, usage: Usage) -> float:
        """What a usage costs."""
        return (usage.tokens_in * self.tokens_in + usage.tokens_out * self.tokens_out) / 1e6


@dataclass(frozen=True)
class Question:
    """What is asked of a model, and how its answer is read."""

    id: str
    """Unique in a run."""
    stage: str
    messages: list[dict[str, str]]
    read: Callable[[str], str]
    """From the answer's text to `ok` or `unparsed:<code>`."""
    schema: Callable[[], Mapping[str, Any]] | None = None
    """Makes the JSON schema of the answer; None where plain text is asked."""
    sample: int = 1


@dataclass
class Asker:
    """Asks one model. Shared by all calls of a run."""

    client: ChatClient
    model: str
    control: Control
    sampling: Sampling
    structured: Structured
    patience: Patience = field(default_factory=Patience)
    price: Price | None = None
    checkpoint: Mapping[str, Any] = field(default_factory=dict)
    """What tells the model from others of its name: answers of one training step are not those of another."""

    def __post_init__(self) -> None:
        self.breaker = Breaker(self.control, self.model, self.client.endpoint.base_url)

    def digest(self, question: Question) -> str:
        """16 hex digits of everything that decides the answer; equal for equal questions."""
        told = [
            self.client.endpoint.provider,
            self.model,
            self.sampling.describe(),
            question.sample,
            question.messages,
            *([self.checkpoint] if self.checkpoint else []),
        ]
        text = json.dumps(told, ensure_ascii=True, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode("ascii")).hexdigest()[:16]

    async def ask(self, question: Question) -> Finished:
        """The finished call.

        Raises Fault where it is given up, StopRun where the run ends. An answer that cannot be read is
        asked again from the original messages; the last one stands, with its reason.
        """
        try:
            return await self._ask(question)
        finally:
            self.structured.let_go(question.id)

    async def _ask(self, question: Question) -> Finished:
        start = time.monotonic()
        usage, attempts = NO_USAGE, 0
        unread: list[tuple[str, str]] = []
        for ask in range(1, self.patience.asks + 1):
            answer, tried, held = await self._answer(question, ask)
            usage, attempts = usage + answer.usage, attempts + tried
            reason = question.read(answer.text)
            if question.schema is not None:
                self.breaker.read("" if reason == OK else _blank(answer))
            if (reason == OK and not _cut(answer, question)) or ask == self.patience.asks:
                break
            unread.append((kept(answer.text), reason if reason != OK else answer.finish))
        return Finished(
            reply=kept(answer.text),
            reason=reason,
            finish=answer.finish,
            reasoning=kept(answer.reasoning),
            usage=usage,
            asks=ask,
            attempts=attempts,
            seconds=round(time.monotonic() - start, 3),
            structured=held,
            served=answer.served,
            unread=tuple(unread),
        )

    async def _answer(self, question: Question, ask: int) -> tuple[Answer, int, bool]:
        """An answer, the attempts it took, and whether the server held it to the schema."""
        attempt = 0
        while True:
            attempt += 1
            with_schema = question.schema is not None and await self.structured.wanted(
                question.id, question.stage
            )
            try:
                async with self.control.attempt():
                    body = self.body(question, ask, with_schema)
                    try:
                        answer = await self.client.complete(body, lenient=attempt > self.patience.retries)
                    except Fault as failed:
                        # noted before the place is given on: the next one must see the pause
                        fault = self.patience.bounded(failed)
                        self.control.fault(fault)
                        raise fault from None
            except Fault as fault:
                if with_schema and self.structured.refused(question.id, fault, attempt):
                    continue  # the same without a schema, at once
                if self.patience.over(fault, attempt, ever=self.breaker.ever):
                    if self.breaker.failed(fault):
                        raise StopRun(str(self.control.reason)) from None
                    raise fault from None
                await self.control.sleep(self.patience.wait(attempt, fault.retry_after))
                continue
            if answer.usage.cost is None and self.price is not None:
                priced = replace(answer.usage, cost=self.price.of(answer.usage))
                answer = replace(answer, usage=priced)
            self.control.worked(answer.usage)
            self.breaker.worked()
            if question.schema is not None:
                await self.structured.answered(question.id, question.stage, with_schema)
            return answer, attempt, with_schema

    def body(self, question: Question, ask: int, with_schema: bool) -> dict[str, Any]:
        """What is sent."""
        sampling, endpoint = self.sampling, self.client.endpoint
        body: dict[str, Any] = {"model": self.model, "messages": question.messages, **endpoint.extra}
        if sampling.temperature is not None:
            body["temperature"] = sampling.temperature
        if sampling.max_tokens is not None:
            body[endpoint.limit_field] = sampling.max_tokens
        if sampling.seed is not None:
            # another one at each ask: the same seed would draw the same unreadable answer again
            drawn = digest(sampling.seed, question.id, question.sample, ask)
            body["seed"] = int.from_bytes(drawn[:4], "big") >> 1
        if with_schema and question.schema is not None:
            schema = {"name": question.stage, "strict": True, "schema": question.schema()}
            body["response_format"] = {"type": "json_schema", "json_schema": schema}
        return body


def _blank(answer: Answer) -> str:
    """How an answer that cannot be read ended, where that has to do with its length; else ""."""
    if answer.finish == "length":
        return "cut off"
    return "empty" if not answer.text.strip() and answer.finish != "content_filter" else ""


def _cut(answer: Answer, question: Question) -> bool:
    """Whether an answer that can be read is not the whole one, or none of the model's own."""
    if answer.finish in ("refusal", "content_filter"):
        return True
    # an object that can be read is whole; a text may end in the middle
    return answer.finish == "length" and question.schema is None
