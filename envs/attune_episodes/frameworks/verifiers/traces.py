"""Store our data in a trace of verifiers and read it: the task's data, the state, and the raw replies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import verifiers.v1 as vf
from pydantic import Field

from attune_episodes.frameworks.verifiers.arguments import Granularity
from attune_episodes.frameworks.verifiers.logs import entries_in, replies_in
from attune_episodes.parsing import parse, sound
from attune_episodes.play.task import Task

AnyTrace: TypeAlias = vf.Trace[Any, Any, Any]
AnyTask: TypeAlias = vf.Task[Any, Any, Any]
AnyEpisode: TypeAlias = vf.Episode[Any, Any, Any]


class AttuneData(vf.TaskData):
    """One task: a conversation, or one request of it.

    It contains only what cannot be derived, except for the prompt of a single request, which other harnesses
    expect there.
    """

    granularity: Granularity = "conversation"
    conversation: dict[str, Any]
    """The record in the benchmark's format. It has the annotated answers, so never show it to a model."""
    settings: dict[str, Any]
    """The settings, from `Settings.to_json`."""
    reward: dict[str, Any]
    """The reward: `attune_rewards.reward.spec_files.describe_reward`."""
    request: str | None = None
    """The id of the single request, `conversation/turn/stage`; None for a whole conversation."""

    @staticmethod
    def of(task: Task) -> AttuneData:
        """The data of a task; for a single request, it includes the prompt, for any chat harness."""
        data = task.to_json()
        if task.only is None:
            # verifiers requires a prompt for every task; the harness follows the plan
            prompt: Any = task.conversation.turns[0].user_message or " "
            return AttuneData(name=data["id"], prompt=prompt, **data)
        (system, *rest) = task.requests[0].chat()
        about = {"name": task.only, "granularity": "request", "system_prompt": system["content"]}
        return AttuneData.model_validate({**data, **about, "prompt": rest})

    @property
    def task(self) -> Task:
        """The engine's task."""
        return Task.from_json(self.__dict__)

    def check_prompts(self) -> None:
        """Raise DataError if this process would ask anything other than what the task was made for."""
        self.task.settings.check_same(self.settings, f"task {self.id}", "prompts")


class AttuneState(vf.State):
    """The state of a rollout in addition to its trace; it is not saved."""

    outcomes: dict[str, tuple[str, Any]] = Field(default_factory=dict, exclude=True)
    """Request id -> (raw reply, parsed reply), so that no reply is parsed twice."""


def state_of(trace: AnyTrace) -> AttuneState:
    """The state of a trace, converted to ours on first access."""
    state = trace.state
    if not isinstance(state, AttuneState):
        state = trace.state = AttuneState(artifacts=state.artifacts)
    return state


def outcomes_of(trace: AnyTrace, task: Task) -> dict[str, tuple[str, Any]]:
    """Request id -> (raw reply, parsed reply); a missing reply counts as an empty one."""
    replies, outcomes = replies_of(trace, task), state_of(trace).outcomes
    for request in task.requests:
        text = sound(replies.get(request.id, ""))
        if request.id not in outcomes or outcomes[request.id][0] != text:
            outcomes[request.id] = text, parse(request, text)
    return outcomes


def replies_of(trace: AnyTrace, task: Task) -> dict[str, str]:
    """Request id -> raw reply, for the requests that were answered."""
    return replies_in(trace.info, [node.message.content for node in trace.nodes if node.sampled], task)


def note_rewards(trace: AnyTrace, rewards: Mapping[str, float]) -> None:
    """Note beside each reply what its request earns; a chat harness has no place for it."""
    for name, entry in entries_in(trace.info).items():
        if name in rewards:
            entry["reward"] = rewards[name]
