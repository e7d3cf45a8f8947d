"""The solver: send every request of the plan, each with its own messages."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, Final

import anyio
from inspect_ai.event import ModelEvent
from inspect_ai.log import transcript
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageUser,
    GenerateConfig,
    ModelOutput,
    ResponseSchema,
    get_model,
)
from inspect_ai.solver import TaskState
from inspect_ai.util import JSONSchema, collect

from attune_episodes.chat.faults import Fault
from attune_episodes.frameworks.inspect.replies import answer_of
from attune_episodes.frameworks.inspect.tasks import REPLIES, task_of
from attune_episodes.parsing import parse
from attune_episodes.play.asking import Asking
from attune_episodes.protocol.request import Request

_MESSAGE: Final = {"system": ChatMessageSystem, "user": ChatMessageUser, "assistant": ChatMessageAssistant}


async def ask_all(
    state: TaskState, *, reasks: int, parallel: int | None, structured: bool, finish_ok: Sequence[str] = ()
) -> TaskState:
    """Send every request of the sample's plan and put the replies into the store.

    Requests depend only on the conversation, so they are sent concurrently; Inspect's own limits
    (connections, time and tokens) apply to each of them. If a limit ends the sample, the store has the
    replies received by then. The other arguments are those of `walk_plan`.

    Raises Fault, which fails the sample, if the last answer to a request is one that the server broke off.
    """
    task = task_of(state.metadata, asking=True)
    model = get_model()
    seeds: list[int | None] = []  # the run's own, once a reply has shown it
    gate = anyio.CapacityLimiter(parallel or len(task.requests))
    entries: dict[str, dict[str, Any]] = {}
    outputs: dict[str, ModelOutput] = {}

    @cache  # messages shared by requests are created only once, which keeps Inspect's log small
    def message(role: str, content: str) -> ChatMessage:
        return _MESSAGE[role](content=content)

    async def ask(request: Request) -> None:
        async with gate:
            asking = Asking(request, parse, reasks + 1, finish_ok=finish_ok)
            for number in asking:
                # a retry must not be answered from Inspect's cache
                fresh: dict[str, Any] = {} if number == 1 else {"cache": False}
                messages = [message(one.role, one.content) for one in request.messages]
                config = _config(request, number, seeds[0] if seeds else None, structured)
                output = await model.generate(messages, config=config, **fresh)
                if not seeds:  # nothing has been asked again yet, with another seed
                    seeds.append(_seed())
                answer = answer_of(output)
                asking.take(answer.text, answer.finish)
        if asking.verdict == "fault":
            raise Fault(
                "broken_off",
                f"{request.id}: the answer has the finish reason {asking.finish!r} in Inspect, so the "
                "server may have broken it off; inspect eval-retry LOG asks again; if it is the model's "
                f"own end, add -T finish_ok={asking.finish}",
            )
        outputs[request.id] = output
        entries[request.id] = {
            "text": asking.text, "status": asking.status, "asks": asking.asks, "finish": asking.finish,
        }  # fmt: skip

    try:
        await collect(*(ask(request) for request in task.requests))
    finally:
        state.store.set(REPLIES, {r.id: entries[r.id] for r in task.requests if r.id in entries})
    # for readers of the log: each request's question and reply, not the chat that was sent
    system = task.requests[0].messages[0]
    shown = [message(system.role, system.content)]
    for request in task.requests:
        asked, output = request.messages[-1], outputs[request.id]
        shown += [message(asked.role, asked.content)] + ([] if output.empty else [output.message])
    state.output = output
    state.messages = shown
    return state


def _seed() -> int | None:
    """The seed of the latest call; None if the run has none."""
    events = list(transcript().events)
    return next((event.config.seed for event in reversed(events) if isinstance(event, ModelEvent)), None)


def _config(request: Request, ask: int, seed: int | None, structured: bool) -> GenerateConfig:
    """The options that differ from those of the run: the schema, and the seed of retries."""
    config = GenerateConfig()
    if ask > 1 and seed is not None:
        config.seed = seed + ask - 1  # with the same seed, the retry would give the same unreadable reply
    if structured and not request.plain:
        schema = JSONSchema.model_validate(request.schema)
        config.response_schema = ResponseSchema(name=request.stage, json_schema=schema, strict=True)
    return config
