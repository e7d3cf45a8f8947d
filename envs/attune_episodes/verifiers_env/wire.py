"""`AttuneData`: what a task carries to whatever worker plays it.

Only what nothing else can be made of is carried. The prompt of a single request is the one exception:
harnesses of other people look for it there.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import verifiers.v1 as vf
from pydantic import PrivateAttr

from attune_episodes.task import Task
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
    """How it is asked about: `Settings.to_json`."""
    reward: dict[str, Any]
    """What is rewarded: `attune_rewards.spec_files.describe_reward`."""
    request: str | None = None
    """The id of the one request, `conversation/turn/stage`; None for a whole conversation."""

    _task: tuple[tuple[object, ...], Task] | None = PrivateAttr(None)

    @staticmethod
    def of(task: Task) -> AttuneData:
        """The data of a task. That of a single request carries its prompt, for any chat harness."""
        data = task.to_json()
        if task.only is None:
            # verifiers wants a prompt of every task; the harness asks what the plan says
            prompt: Any = task.conversation.turns[0].user_message or " "
            return AttuneData(name=data["id"], prompt=prompt, **data)
        (system, *rest) = task.requests[0].chat()
        about = {"name": task.only, "granularity": "request", "system_prompt": system["content"]}
        return AttuneData.model_validate({**data, **about, "prompt": rest})

    @property
    def task(self) -> Task:
        """The engine's task (kept, so that asking again is cheap)."""
        # a copy with other fields takes this along: what was read is known by what it was read from
        source = (self.conversation, self.settings, self.reward, self.request)
        if self._task is None or any(a is not b for a, b in zip(self._task[0], source, strict=True)):
            self._task = source, Task.from_json(self.__dict__)
        return self._task[1]

    def check_prompts(self) -> None:
        """Raises DataError where this process would ask something else than the task was made with."""
        self.task.settings.check_same(self.settings, f"task {self.id}", "prompts")
