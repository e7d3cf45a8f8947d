"""`rollout` and `rollout_batch`: a policy plays whole conversations."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar

from attune_data.schema import Conversation
from attune_episodes.episode import Episode, Step
from attune_episodes.policies.base import ChatFunction, Policy, answer, as_policy, prepared
from attune_episodes.settings import Settings
from attune_rewards.spec import RewardSpec

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Rollout:
    """A finished episode."""

    conversation: Conversation
    policy: str
    steps: tuple[Step, ...]
    total: float
    """The return: for the default reward and all scored stages `composite_strict`/100."""
    total_name: str
    result: dict[str, Any]
    """The official result record."""

    @property
    def parts(self) -> dict[str, float]:
        """Part -> mean score over the requests where it was scored, in [0, 1]."""
        sums: dict[str, list[float]] = {}
        for step in self.steps:
            for name, value in step.score.parts.items():
                sums.setdefault(name, []).append(value)
        return {name: sum(values) / len(values) for name, values in sums.items()}

    @property
    def parse_rate(self) -> float:
        """Share of replies that were parsed, in [0, 1]; 1 where nothing was asked."""
        return sum(step.status == "ok" for step in self.steps) / len(self.steps) if self.steps else 1.0


async def rollout_async(
    conversation: Conversation,
    policy: Policy | ChatFunction,
    settings: Settings | None = None,
    reward: RewardSpec | str | None = None,
    **facts: Any,
) -> Rollout:
    """`rollout` for callers that run an event loop already."""
    playing = as_policy(policy)
    player = prepared(playing, conversation)
    episode = Episode(conversation, settings, reward)
    while not episode.done:
        episode.submit(await answer(player, episode.request))
    facts.setdefault("em_model", f"policy/{playing.name}")
    return Rollout(
        conversation,
        playing.name,
        tuple(episode.steps),
        episode.total,
        episode.total_name,
        episode.result(**facts),
    )


def rollout(
    conversation: Conversation,
    policy: Policy | ChatFunction,
    settings: Settings | None = None,
    reward: RewardSpec | str | None = None,
    **facts: Any,
) -> Rollout:
    """Plays one conversation with a policy and scores it.

    Args:
        conversation: the annotated conversation.
        policy: an object with `reply(request)`, or any sync or async function from chat messages to text.
        settings: mode, stages, wording and so on.
        reward: a RewardSpec or the name of a preset; the strict Composite by default.
        facts: for the result record: `em_model`, `source_file`, `duration_seconds`, …

    Works in notebooks too. An async policy that belongs to a running event loop wants
    `await rollout_async(…)`.
    """
    return _run(rollout_async(conversation, policy, settings, reward, **facts))


def _run(coroutine: Coroutine[Any, Any, T]) -> T:
    """Runs a coroutine to its end; beside a running event loop (a notebook) in a thread of its own."""
    if not _loop_is_running():
        return asyncio.run(coroutine)
    with ThreadPoolExecutor(max_workers=1) as pool:
        return pool.submit(asyncio.run, coroutine).result()


def _loop_is_running() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def rollout_batch(
    conversations: Iterable[Conversation],
    policy: Policy | ChatFunction,
    settings: Settings | None = None,
    reward: RewardSpec | str | None = None,
    *,
    concurrency: int = 8,
    on_done: Callable[[Rollout], None] | None = None,
) -> list[Rollout]:
    """Plays many conversations, in their order; an async policy plays `concurrency` of them at a time.

    An error of the policy stops the batch and is raised. `on_done` is called with each as it ends.
    """
    if concurrency < 1:
        raise ValueError(f"concurrency is {concurrency}; it must be at least 1")
    return _run(_batch(list(conversations), policy, settings, reward, concurrency, on_done))


async def _batch(
    conversations: list[Conversation],
    policy: Policy | ChatFunction,
    settings: Settings | None,
    reward: RewardSpec | str | None,
    concurrency: int,
    on_done: Callable[[Rollout], None] | None,
) -> list[Rollout]:
    gate = asyncio.Semaphore(concurrency)

    async def play(conversation: Conversation) -> Rollout:
        async with gate:
            await asyncio.sleep(0)  # a sync policy leaves no other chance to stop after an error
            done = await rollout_async(conversation, policy, settings, reward)
        if on_done is not None:
            on_done(done)
        return done

    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(play(conversation)) for conversation in conversations]
    except BaseExceptionGroup as failed:
        raise failed.exceptions[0] from None  # the policy's own error; the group stopped the others
    return [task.result() for task in tasks]
