"""`Told`: what the data of a task says, as the engine's objects; the same for every harness.

A task carries the conversation, the settings and the reward as plain JSON values. Prompts, weights and
truths are pure functions of these and are made again where they are needed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, Final

from attune_data.errors import DataError, Problem
from attune_data.schema import Conversation
from attune_episodes.plan import plan
from attune_episodes.request import Request
from attune_episodes.settings import Settings
from attune_episodes.settings_json import check_same, make_settings
from attune_rewards.spec import RewardSpec
from attune_rewards.spec_files import reward_from

KEPT: Final = 256
"""Conversations that a process keeps read, with their plans: groups of rollouts share one."""


@dataclass(frozen=True)
class Told:
    """A conversation, how it is asked about and what is paid; of a task, or of one request of it."""

    conversation: Conversation
    settings: Settings
    spec: RewardSpec
    only: str | None = None
    """The id of the one request that is asked; None: all of them."""

    @cached_property
    def requests(self) -> tuple[Request, ...]:
        """The requests of the task, in the protocol's order."""
        planned = plan(self.conversation, self.settings)
        return planned if self.only is None else tuple(r for r in planned if r.id == self.only)


def write_told(
    conversation: Conversation, settings: Mapping[str, Any], reward: Mapping[str, Any]
) -> dict[str, Any]:
    """What `read_told` reads, but for the task's `id` and, of a single request, `request`.

    Args:
        conversation: with its annotated answers, which are written too: never show this to a model.
        settings: as `write_settings` gives them.
        reward: as `attune_rewards.spec_files.describe_reward` gives it.
    """
    return {
        "conversation": conversation.to_record(),
        "settings": dict(settings),
        "reward": dict(reward),
    }


def read_told(data: Mapping[str, Any]) -> Told:
    """What the data of a task says.

    Args:
        data: with `id`, `conversation`, `settings`, `reward` and, of a single request, `request`.

    Raises DataError where this process has another wording than the task was made with: its option lists
    decide what a number in a reply means.
    """
    told = _read(
        json.dumps(data["conversation"], ensure_ascii=False, sort_keys=True),
        json.dumps(data["settings"], sort_keys=True),
        json.dumps(data["reward"], sort_keys=True),
        data.get("request"),
    )
    check_same("codebook", data["settings"], told.settings, _named(data))
    if not told.requests:
        raise DataError(Problem(_named(data), "request", str(told.only), "a request of its conversation"))
    return told


def check_prompts(data: Mapping[str, Any], told: Told) -> None:
    """Raises DataError where this process would ask in other prompts than the task was made with."""
    check_same("prompts", data["settings"], told.settings, _named(data))


def _named(data: Mapping[str, Any]) -> str:
    return f"task {data.get('id')}"


@lru_cache(maxsize=KEPT)
def _read(conversation: str, settings: str, reward: str, request: str | None) -> Told:
    return Told(_conversation(conversation), _settings(settings), _reward(reward), request)


@lru_cache(maxsize=KEPT)
def _conversation(text: str) -> Conversation:
    return Conversation.model_validate(json.loads(text))


@lru_cache(maxsize=32)
def _settings(text: str) -> Settings:
    return make_settings(json.loads(text))


@lru_cache(maxsize=32)
def _reward(text: str) -> RewardSpec:
    return reward_from(json.loads(text))
