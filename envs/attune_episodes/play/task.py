"""`Task`: a conversation with its settings and reward. `replay` scores recorded replies to a task.

Anything sent to another process to be played (a verifiers task, an Inspect sample) contains a task as JSON.
Prompts, weights and truths are pure functions of it and are computed again when needed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, Final

from attune_data.errors import DataError, Problem
from attune_data.format.schema import Conversation
from attune_episodes.play.rollout import Rollout, rollout
from attune_episodes.protocol.plan import plan
from attune_episodes.protocol.request import Request
from attune_episodes.protocol.settings import Settings
from attune_rewards.metrics.aggregate import flatten
from attune_rewards.metrics.scoring import score_conversation
from attune_rewards.reward.spec import RewardSpec
from attune_rewards.reward.spec_files import describe_reward, reward_from

KEPT: Final = 256
"""How many parsed conversations a process caches with their plans; the rollouts of a group share one."""


@dataclass(frozen=True)
class Task:
    """One conversation to play, or a single request of it."""

    conversation: Conversation
    settings: Settings
    spec: RewardSpec
    only: str | None = None
    """The id of the single request to ask; None for all requests."""

    @cached_property
    def requests(self) -> tuple[Request, ...]:
        """The requests of the task, in the protocol's order."""
        planned = plan(self.conversation, self.settings)
        return planned if self.only is None else tuple(r for r in planned if r.id == self.only)

    def to_json(self) -> dict[str, Any]:
        """The task as JSON values: `id`, `conversation`, `settings`, `reward`, and `request` if it is single.

        The conversation includes its annotated answers, so never show it to a model. Raises SettingsError for
        a reward with parts that are Python functions.
        """
        return {
            "id": self.only or self.conversation.conversation_id,
            "conversation": self.conversation.to_record(),
            "settings": self.settings.to_json(),
            "reward": describe_reward(self.spec),
            **({} if self.only is None else {"request": self.only}),
        }

    @staticmethod
    def from_json(data: Mapping[str, Any], *, asking: bool = False) -> Task:
        """Read a task from the output of `to_json`.

        Args:
            data: `id`, `conversation`, `settings`, `reward` and, for a single request, `request`.
            asking: the prompts are about to be sent and must be those with which the task was made.

        Raises DataError if this process has a different codebook from the one with which the task was made
        (its option lists determine the meaning of numbers in a reply), or different prompts if `asking`.
        """
        task = _read(
            json.dumps(data["conversation"], ensure_ascii=False, sort_keys=True),
            json.dumps(data["settings"], sort_keys=True),
            json.dumps(data["reward"], sort_keys=True),
            data.get("request"),
        )
        place = f"task {data.get('id')}"
        task.settings.check_same(data["settings"], place, "codebook")
        if asking:
            task.settings.check_same(data["settings"], place, "prompts")
        if not task.requests:
            raise DataError(Problem(place, "request", str(task.only), "a request of its conversation"))
        return task

    def missing(self, replies: Mapping[str, str]) -> list[str]:
        """Ids of the requests without a reply, in their order."""
        return [request.id for request in self.requests if request.id not in replies]


def replay(
    task: Task,
    replies: Mapping[str, str],
    *,
    em_model: str | None = None,
    facts: Mapping[str, Any] | None = None,
) -> Rollout:
    """Score recorded replies by replaying them in a rollout.

    Args:
        task: a task with a whole conversation.
        replies: request id -> raw reply, for every request; raises KeyError if one is missing.
        em_model: the model's name in the result record; `policy/recorded` if None.
        facts: further fields of the result record.
    """
    said = _Recorded(replies)
    return rollout(task.conversation, said, task.settings, task.spec, em_model=em_model, facts=facts)


def scores_of(played: Rollout) -> dict[str, float | None]:
    """Name of a metric in score files -> the value that `attune score` gives the rollout's result record."""
    return flatten(score_conversation(played.conversation, played.prediction))


@dataclass(frozen=True)
class _Recorded:
    """A policy that repeats recorded replies."""

    replies: Mapping[str, str]
    name: str = "recorded"

    def reply(self, request: Request) -> str:
        return self.replies[request.id]


@lru_cache(maxsize=KEPT)
def _read(conversation: str, settings: str, reward: str, request: str | None) -> Task:
    return Task(
        _conversation(conversation),
        Settings.from_json(json.loads(settings)),
        reward_from(json.loads(reward)),
        request,
    )


@lru_cache(maxsize=KEPT)
def _conversation(text: str) -> Conversation:
    return Conversation.model_validate(json.loads(text))
