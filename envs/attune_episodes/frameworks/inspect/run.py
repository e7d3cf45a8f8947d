"""Make the task that Inspect runs, and its solver, which sends every request of the plan."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, Final

import anyio
from click import ClickException, get_current_context
from inspect_ai import Task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.event import ModelEvent
from inspect_ai.log import transcript
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageUser,
    ContentText,
    GenerateConfig,
    ModelOutput,
    ResponseSchema,
    get_model,
)
from inspect_ai.scorer import Scorer
from inspect_ai.solver import Solver, TaskState
from inspect_ai.util import JSONSchema, collect

from attune_data.errors import AttuneError
from attune_data.extras import warn_if_untested
from attune_data.version import SCORING_VERSION, __version__
from attune_episodes.chat.completion import Answer
from attune_episodes.chat.faults import Fault
from attune_episodes.chat.finish import ending_of
from attune_episodes.frameworks import inspect
from attune_episodes.frameworks.inspect.arguments import read_arguments
from attune_episodes.frameworks.inspect.tasks import REPLIES, metadata_of, task_of
from attune_episodes.parsing import parse
from attune_episodes.play.asking import Asking
from attune_episodes.protocol.request import Request

_MESSAGE: Final = {"system": ChatMessageSystem, "user": ChatMessageUser, "assistant": ChatMessageAssistant}
_WITHHELD: Final = ("refusal", "content_filter")


def make_task(given: Mapping[str, Any], solver: Callable[..., Solver], scorer: Callable[[], Scorer]) -> Task:
    """The Inspect task of the arguments: a sample per conversation.

    Args:
        given: the arguments of the task (`-T name=value`).
        solver: makes the solver from `reasks`, `parallel`, `structured` and `finish_ok`.
        scorer: makes the scorer.

    Raises an AttuneError if the arguments or the data are wrong; Inspect's command line shows its message.
    """
    warn_if_untested("inspect-ai", *inspect.TESTED)
    try:
        conversations, tasks = read_arguments(given)
    except AttuneError as error:
        if get_current_context(silent=True) is None:
            raise
        # the command line shows this error as one message, but others with a stack
        raise ClickException(str(error)) from error
    samples = [
        Sample(
            id=one.conversation.conversation_id,
            # for readers of the log; the solver follows the plan
            input=one.conversation.turns[0].user_message or " ",
            metadata=metadata_of(one),
        )
        for one in tasks
    ]
    return Task(
        dataset=MemoryDataset(samples, name=conversations.source),
        solver=solver(**{name: given[name] for name in ("reasks", "parallel", "structured", "finish_ok")}),
        scorer=scorer(),
        version=SCORING_VERSION,
        metadata={
            "versions": {"attune-env": __version__, "scoring": SCORING_VERSION},
            "settings": tasks[0].settings.describe(),
            "data": {"fingerprint": conversations.fingerprint, "provenance": conversations.provenance},
        },
    )


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


def answer_of(output: ModelOutput) -> Answer:
    """The text and the finish reason of an output; a message that is a refusal has the finish `refusal`.

    Inspect passes on few finish reasons, and says `unknown` for all others and where there is none.
    """
    if output.empty:
        return Answer("", finish="unknown")  # nothing says that a filter withheld it
    text, finish, content = output.completion, output.stop_reason, output.message.content
    parts = [part for part in content if isinstance(part, ContentText)] if isinstance(content, list) else []
    refusals = [part.text for part in parts if part.refusal]
    if refusals:
        text = "".join(part.text for part in parts if not part.refusal)
    details = output.choices[0].stop_details
    if not text.strip() and (refusals or (details is not None and details.type in _WITHHELD)):
        return Answer("".join(refusals), finish=finish if ending_of(finish) == "refused" else "refusal")
    return Answer(text, finish=finish)
