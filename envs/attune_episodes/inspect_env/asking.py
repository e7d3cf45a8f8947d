"""What the solver does: every request of the plan, each from its own messages."""

from __future__ import annotations

from typing import Any, Final

import anyio
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageUser,
    GenerateConfig,
    Model,
    ModelOutput,
    ResponseSchema,
    get_model,
)
from inspect_ai.model._generate_config import active_generate_config
from inspect_ai.solver import TaskState
from inspect_ai.util import JSONSchema, collect

from attune_episodes.inspect_env.samples import REPLIES, task_of
from attune_episodes.parsing import Unparsed, parse, sound
from attune_episodes.request import Message, Request

OK: Final = "ok"
_MESSAGE: Final = {"system": ChatMessageSystem, "user": ChatMessageUser, "assistant": ChatMessageAssistant}
_CUT: Final = ("max_tokens", "model_length")
"""Stop reasons of a reply that may end in its middle."""


async def ask_all(state: TaskState, *, reasks: int, parallel: int | None, structured: bool) -> TaskState:
    """Asks every request of the sample's plan, and puts the replies into the store.

    Requests are functions of the conversation alone, so they go out together; Inspect's own limits (its
    connections, its time and token limits) hold each of them. What was answered by the time a limit ends the
    sample is in the store.

    Args:
        state: of the sample.
        reasks: how often a request is asked again, from its original messages, when the reply cannot be read.
        parallel: at most so many requests of the sample at once; None: as many as Inspect lets out.
        structured: hold answers to their JSON schema.
    """
    task = task_of(state.metadata, asking=True)
    asker = _Asker(get_model(), reasks, structured)
    gate = anyio.CapacityLimiter(parallel or len(task.requests))
    try:
        await collect(*(asker.ask(request, gate) for request in task.requests))
    finally:
        found = {r.id: asker.entries[r.id] for r in task.requests if r.id in asker.entries}
        state.store.set(REPLIES, found)
    last = asker.outputs[task.requests[-1].id]
    # for whoever reads the log: each request's question and its reply, not the chat that was sent
    shown: list[ChatMessage] = list(asker.messages(task.requests[0])[:1])
    for request in task.requests:
        output = asker.outputs[request.id]
        shown += [asker.messages(request)[-1]] + ([] if output.empty else [output.message])
    state.output = last
    state.messages = shown
    return state


class _Asker:
    """Asks the model about one conversation."""

    def __init__(self, model: Model, reasks: int, structured: bool) -> None:
        self.model, self.reasks, self.structured = model, reasks, structured
        self.seed: int | None = model.config.merge(active_generate_config()).seed
        self.entries: dict[str, dict[str, Any]] = {}
        self.outputs: dict[str, ModelOutput] = {}
        self._made: dict[int, ChatMessage] = {}

    async def ask(self, request: Request, gate: anyio.CapacityLimiter) -> None:
        """Asks until the reply can be read, or often enough; the last reply stands."""
        async with gate:
            for ask in range(1, self.reasks + 2):
                # a reply that is asked again must not come out of Inspect's cache
                fresh: dict[str, Any] = {} if ask == 1 else {"cache": False}
                output = await self.model.generate(
                    self.messages(request), config=self._config(request, ask), **fresh
                )
                text = sound(output.completion or "")
                said = parse(request, text)
                status = said.reason if isinstance(said, Unparsed) else OK
                finish = "" if output.empty else output.stop_reason
                if status == OK and not _cut(request, finish):
                    break
        self.outputs[request.id] = output
        self.entries[request.id] = {"text": text, "status": status, "asks": ask, "finish": finish}

    def messages(self, request: Request) -> list[ChatMessage]:
        """The messages as Inspect's; those that requests share are made once, which keeps its log small."""
        return [self._message(message) for message in request.messages]

    def _message(self, message: Message) -> ChatMessage:
        made = self._made.get(id(message))
        if made is None:
            made = self._made[id(message)] = _MESSAGE[message.role](content=message.content)
        return made

    def _config(self, request: Request, ask: int) -> GenerateConfig:
        """What differs from the run's own options: the schema, and the seed of what is asked again."""
        config = GenerateConfig()
        if ask > 1 and self.seed is not None:
            config.seed = self.seed + ask - 1  # the same seed would draw the same unreadable reply again
        if self.structured and not _is_plain(request):
            schema = JSONSchema.model_validate(request.schema)
            config.response_schema = ResponseSchema(name=request.stage, json_schema=schema, strict=True)
        return config


def _is_plain(request: Request) -> bool:
    """Whether the answer is plain text: a draft, unless reasoning is asked with it."""
    return request.stage == "draft" and not request.verbose


def _cut(request: Request, finish: str) -> bool:
    """Whether a reply that can be read is not the whole one, or none of the model's own."""
    # an object that can be read is whole; a text may end in the middle
    return finish == "content_filter" or (finish in _CUT and _is_plain(request))
