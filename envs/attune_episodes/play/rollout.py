"""`rollout` and `rollout_batch`: a policy plays whole conversations."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

from attune_data.errors import one_line
from attune_data.format.schema import Conversation
from attune_episodes.play.episode import Episode, Step, parse_rate
from attune_episodes.play.policy import ChatFunction, FunctionPolicy, Policy, Reply, as_policy, prepared
from attune_episodes.protocol.settings import Settings
from attune_rewards.predictions import ConversationPrediction
from attune_rewards.reward.score import part_means
from attune_rewards.reward.spec import RewardSpec

T = TypeVar("T")


@dataclass(frozen=True, slots=True, repr=False)
class Rollout:
    """A finished episode."""

    conversation: Conversation
    policy: str
    steps: tuple[Step, ...]
    total: float
    """The return; for the default reward with all scored stages, `composite_strict`/100."""
    total_name: str
    prediction: ConversationPrediction
    """Everything that the replies say about the conversation."""
    result: dict[str, Any]
    """The official result record, which contains the same."""

    def __repr__(self) -> str:
        return (
            f"Rollout({self.policy} on {self.conversation.conversation_id!r}, {len(self.steps)} requests, "
            f"{self.total_name} {self.total:.4f})"
        )

    @property
    def parts(self) -> dict[str, float]:
        """Part -> mean score over the requests where it was scored, in [0, 1]."""
        return part_means(step.score for step in self.steps)

    @property
    def parse_rate(self) -> float:
        """Share of replies that were parsed, in [0, 1]; 1 if nothing was asked."""
        return parse_rate(self.steps)


def rollout(
    conversation: Conversation,
    policy: Policy | ChatFunction,
    settings: Settings | None = None,
    reward: RewardSpec | str | None = None,
    *,
    em_model: str | None = None,
    facts: Mapping[str, Any] | None = None,
) -> Rollout:
    """Play one conversation with a policy and score it.

    Args:
        conversation: the annotated conversation.
        policy: an object with `name` and `reply(request)`, or any sync or async function from chat
            messages to text.
        settings: mode, stages, wording and so on.
        reward: a RewardSpec or the name of a preset; the strict Composite by default.
        em_model: `provider/model` for the result record; `policy/<name>` by default.
        facts: further fields of the result record: `source_file`, `api_cost`, …

    Works in notebooks. Each call runs an async policy in a new event loop; for a policy that keeps a client
    across conversations, use `rollout_batch` or `await rollout_async(…)`.
    """
    playing = as_policy(policy)
    player = prepared(playing, conversation)
    if _is_async(player):
        return _run(rollout_async(conversation, policy, settings, reward, em_model=em_model, facts=facts))
    episode = Episode(conversation, settings, reward)
    while not episode.done:
        with _noting(player, episode):
            reply = player.reply(episode.request)
            # a plain function may still return a coroutine
            episode.submit(_run(_wait(reply)) if inspect.isawaitable(reply) else reply)
    return _finished(episode, playing.name, em_model, facts)


async def rollout_async(
    conversation: Conversation,
    policy: Policy | ChatFunction,
    settings: Settings | None = None,
    reward: RewardSpec | str | None = None,
    *,
    em_model: str | None = None,
    facts: Mapping[str, Any] | None = None,
) -> Rollout:
    """`rollout` for callers that already run an event loop."""
    playing = as_policy(policy)
    player = prepared(playing, conversation)
    episode = Episode(conversation, settings, reward)
    while not episode.done:
        with _noting(player, episode):
            reply = player.reply(episode.request)
            episode.submit(await reply if inspect.isawaitable(reply) else reply)
    return _finished(episode, playing.name, em_model, facts)


def rollout_batch(
    conversations: Iterable[Conversation],
    policy: Policy | ChatFunction,
    settings: Settings | None = None,
    reward: RewardSpec | str | None = None,
    *,
    em_model: str | None = None,
    concurrency: int = 8,
    on_done: Callable[[Rollout], None] | None = None,
) -> list[Rollout]:
    """Play many conversations in order; an async policy plays `concurrency` of them at a time.

    An error in the policy stops the batch and is re-raised with a note that names the request. `on_done` is
    called with each rollout as it ends, so that finished ones are not lost.
    """
    if concurrency < 1:
        raise ValueError(f"concurrency is {concurrency}; it must be at least 1")
    playing = as_policy(policy)

    def done(played: Rollout) -> Rollout:
        if on_done is not None:
            on_done(played)
        return played

    async def all_played() -> list[Rollout]:
        gate = asyncio.Semaphore(concurrency)

        async def play(conversation: Conversation) -> Rollout:
            async with gate:
                played = await rollout_async(conversation, playing, settings, reward, em_model=em_model)
            return done(played)

        try:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(play(conversation)) for conversation in conversations]
        except BaseExceptionGroup as failed:
            raise failed.exceptions[0] from None  # the policy's own error; the others were cancelled
        return [task.result() for task in tasks]

    if _is_async(playing):
        return _run(all_played())
    return [done(rollout(one, playing, settings, reward, em_model=em_model)) for one in conversations]


def _finished(
    episode: Episode, policy: str, em_model: str | None, facts: Mapping[str, Any] | None
) -> Rollout:
    return Rollout(
        episode.conversation,
        policy,
        tuple(episode.steps),
        episode.total,
        episode.total_name,
        episode.prediction,
        episode.result(em_model or f"policy/{policy}", facts),
    )


def _is_async(policy: Policy) -> bool:
    """Whether the policy's reply is defined as asynchronous."""
    function = policy.function if isinstance(policy, FunctionPolicy) else policy.reply
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(type(function).__call__)


@contextmanager
def _noting(policy: Policy, episode: Episode) -> Iterator[None]:
    """Add a note that names the request to errors of the policy."""
    request = episode.request
    try:
        yield
    except Exception as error:
        error.add_note(one_line(f"while {policy.name!r} answered {request.id}"))
        raise


async def _wait(reply: Awaitable[Reply]) -> Reply:
    return await reply


def _run(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to completion, in a separate thread if an event loop is running (as in a notebook)."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(coroutine)
    with ThreadPoolExecutor(max_workers=1) as pool:
        return pool.submit(asyncio.run, coroutine).result()
