"""The assistants and the writers of alternate replies: models behind endpoints, or fixed sentences."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final

from attune_data.errors import AttuneError, one_line
from attune_data.seeding import digest
from attune_env.running.asker import Asker, Call
from attune_env.running.control import Breaker, Control
from attune_env.running.providers import endpoint_of
from attune_env.running.settings import Model, Options, Patience, Price, Sampling
from attune_env.study.design import Asked
from attune_env.study.events import Store
from attune_env.study.fields import clean
from attune_env.study.folder import Study
from attune_env.study.steps import CANNED
from attune_env.study.view import View
from attune_episodes.chat.client import ChatClient
from attune_episodes.chat.faults import Fault

LONGEST_REPLY: Final = 20_000
"""Characters kept of a reply."""
IN_FLIGHT: Final = 64
"""The most requests to one endpoint at a time."""
PATIENCE: Final = Patience(asks=2, retries=4, longest_wait=8.0, longest_asked=20.0)
"""Somebody is waiting for the reply."""
_REPLIES: Final = (
    "That sounds like a lot to carry. What about it stays with you the most?",
    "Thank you for telling me. It makes sense that this is on your mind. What would help a little today?",
    "I see. You could write down the two things that matter most, and start with the smaller one.",
    "It is good that you noticed that. How do you feel about it now?",
)
_ALTERNATES: Final = (
    "I hear you, and I will not rush to advice. Would you like to say more about what made it so?",
    "What you describe would move most people. Tell me which part you would like to look at together.",
    "That is a real question, not a small one. What have you tried so far, and what did it change?",
)


@dataclass(frozen=True)
class Said:
    """A question to an assistant, in the form that `Asker` takes."""

    id: str
    messages: tuple[tuple[str, str], ...]
    """(role, text)."""
    plain: bool = True
    schema: dict[str, Any] = field(default_factory=dict)

    def chat(self) -> list[dict[str, str]]:
        """The messages."""
        return [{"role": role, "content": text} for role, text in self.messages]


class _Patient(Breaker):
    """A breaker that never stops: the next participant comes after an endpoint's bad hour."""

    def failed(self, fault: Fault) -> bool:
        """Record a call that is given up."""
        self.in_a_row += 1
        return False


def log(line: str) -> None:
    """Write a line to standard error, which nobody's answer depends on: it may be on a full disk, too."""
    with suppress(OSError):
        print(line, file=sys.stderr, flush=True)


def messages_of(view: View) -> tuple[tuple[str, str], ...]:
    """What an assistant is sent for a reply or an alternate reply to the turn of a step."""
    talk = view.study.design.conversation
    messages = [("system", talk.system)] if talk.system else []
    for turn in view.turns[: view.number]:
        messages.append(("user", turn["message"]))
        if turn["number"] < view.number:
            messages.append(("assistant", turn["reply"]))
    if view.kind == "alternate":
        messages += [("assistant", view.turns[view.number - 1]["reply"]), ("user", talk.rewrite)]
    return tuple(messages)


class Assistants:
    """Answers the steps of models, each in a task of its own, and records the replies.

    A step that is being answered, or has failed, is known here alone: after the server was killed, it is
    asked again when its page is next shown.
    """

    def __init__(self, study: Study, store: Store) -> None:
        self.study, self.store = study, store
        self._askers: dict[Asked, Asker] = {}
        self._tasks: dict[tuple[str, str], asyncio.Task[None]] = {}
        self._failed: dict[tuple[str, str], str] = {}
        for asked in study.design.models:
            self._askers.setdefault(asked, _asker(asked))

    def start(self, view: View) -> None:
        """Have a step answered, unless it is, is about to be, or has failed."""
        key = (view.state.participant, view.step)
        if view.step not in view.state.answers and key not in self._tasks and key not in self._failed:
            self._tasks[key] = asyncio.create_task(self._answer(view))

    def failed(self, view: View) -> bool:
        """Whether a step was given up."""
        return (view.state.participant, view.step) in self._failed

    def again(self, view: View) -> None:
        """Have a step answered, also if it was given up before."""
        self._failed.pop((view.state.participant, view.step), None)
        self.start(view)

    async def settled(self, view: View, seconds: float) -> None:
        """Wait for a step to be answered or given up, but no longer than so many seconds."""
        if task := self._tasks.get((view.state.participant, view.step)):
            await asyncio.wait([task], timeout=seconds)

    async def close(self) -> None:
        """Drop the calls in flight and close every connection."""
        for task in list(self._tasks.values()):
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)
        for asker in self._askers.values():
            await asker.client.close()

    async def _answer(self, view: View) -> None:
        key = (view.state.participant, view.step)
        try:
            payload = await self._ask(view)
            self.store.add(*key, payload)
        except Exception as error:  # whatever it is, the participant gets a sentence and goes on
            self._failed[key] = one_line(f"{type(error).__name__}: {error}")
            log(f"{view.state.participant} {view.step}: {self._failed[key]}")
        finally:
            self._tasks.pop(key, None)

    async def _ask(self, view: View) -> Mapping[str, Any]:
        asked = self._asked(view)
        messages = messages_of(view)
        if asked is None:
            texts = _ALTERNATES if view.kind == "alternate" else _REPLIES
            said = texts[digest(*messages[-1], view.number)[0] % len(texts)]
            return {"text": said, "model": CANNED, "cost": 0.0}
        asker = self._askers[asked]
        question = Said(f"{view.state.participant}/{view.step}", messages)
        call = Call(asker, question, lambda _, text: text, view.kind, view.state.participant)
        done = await asker.ask(call)
        text = clean(done.reply or done.refusal).strip()[:LONGEST_REPLY]
        if not text:
            raise AttuneError(f"the model said nothing ({done.finish})")
        facts = {"model": asked.model, "served": done.served, "seconds": done.seconds, "finish": done.finish}
        usage = {
            "tokens_in": done.usage.tokens_in,
            "tokens_out": done.usage.tokens_out,
            "cost": done.usage.cost,
        }
        return {"text": text, **facts, **usage}

    def _asked(self, view: View) -> Asked | None:
        """The model of a step; None for fixed sentences."""
        design = self.study.design
        if view.kind == "alternate" and design.alternate is not None:
            return design.alternate
        if not design.assistants:
            return None
        number = view.state.answer("consent").get("assistant", 0)
        return design.assistants[int(number) % len(design.assistants)]


def _asker(asked: Asked) -> Asker:
    """The asker of a model; raises SettingsError if its key or address is missing."""
    endpoint = endpoint_of(asked.provider, base_url=asked.base_url, api_key_var=asked.key_var)
    priced = asked.price_in is not None and asked.price_out is not None
    price = Price(asked.price_in or 0.0, asked.price_out or 0.0) if priced else None
    model = Model(asked.model, endpoint, Sampling(asked.temperature, asked.max_tokens), price)
    client = ChatClient(
        endpoint.base_url, endpoint.all_headers, call_timeout=asked.seconds, hide=endpoint.key.hidden_in
    )

    async def remember(_: bool) -> None:
        pass

    control = Control(Options(concurrency=IN_FLIGHT))
    asker = Asker(client, model, control, PATIENCE, None, remember, log)
    asker.breaker = _Patient(control, model.name, endpoint.base_url)
    return asker
