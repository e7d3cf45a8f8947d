"""`AttuneData`: what a task carries to whatever worker plays it.

Only what nothing else can be made of is carried. The prompt of a single request is the one exception:
harnesses of other people look for it there.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import verifiers.v1 as vf
from pydantic import PrivateAttr

from attune_data.schema import Conversation
from attune_episodes.request import Request
from attune_episodes.told import Told, check_prompts, read_told, write_told
from attune_episodes.verifiers_env.config import Granularity

AnyTrace: TypeAlias = vf.Trace[Any, Any, Any]
AnyTask: TypeAlias = vf.Task[Any, Any, Any]
AnyEpisode: TypeAlias = vf.Episode[Any, Any, Any]


class AttuneData(vf.TaskData):
    """One task: a conversation, or one request of it."""

    granularity: Granularity = "conversation"
    conversation: dict[str, Any]
    """The record in the benchmark's format. It holds the annotated answers: never show it to a model."""
    settings: dict[str, Any]
    """How it is asked about: `write_settings`."""
    reward: dict[str, Any]
    """What is paid: `attune_rewards.spec_files.describe_reward`."""
    request: str | None = None
    """The id of the one request, `conversation/turn/stage`; None for a whole conversation."""

    _told: tuple[tuple[object, ...], Told] | None = PrivateAttr(None)

    @property
    def told(self) -> Told:
        """The same as the engine's objects (kept, so that asking again is cheap)."""
        # a copy with other fields takes this along: what was read is known by what it was read from
        source = (self.conversation, self.settings, self.reward, self.request)
        if self._told is None or any(a is not b for a, b in zip(self._told[0], source, strict=True)):
            self._told = source, read_told(self.__dict__)
        return self._told[1]

    def check_prompts(self) -> None:
        """Raises DataError where this process would ask something else than the task was made with."""
        check_prompts(self.__dict__, self.told)


def write_data(
    conversation: Conversation,
    settings: Mapping[str, Any],
    reward: Mapping[str, Any],
    request: Request | None = None,
) -> AttuneData:
    """The data of a task.

    Args:
        conversation: what it is about.
        settings: as `write_settings` gives them.
        reward: as `describe_reward` gives it.
        request: the one request that is asked; None for the whole conversation.
    """
    shared = write_told(conversation, settings, reward)
    if request is None:
        name = conversation.conversation_id
        # verifiers wants a prompt of every task; the harness asks what the plan says
        return AttuneData(id=name, name=name, prompt=conversation.turns[0].user_message or " ", **shared)
    (system, *rest) = request.chat()
    return AttuneData.model_validate(
        {
            "id": request.id,
            "name": request.id,
            "granularity": "request",
            "request": request.id,
            "system_prompt": system["content"],
            "prompt": rest,
            **shared,
        }
    )
