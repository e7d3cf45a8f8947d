"""`Told`: what a task's data says, as the engine's objects; free of verifiers, so that reading traces is.

A task carries the conversation, the settings and the reward as plain JSON values. Prompts, weights and
truths are pure functions of these and are made again where they are needed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, Final, cast

from attune_data.codebook import Codebook, load_official
from attune_data.errors import DataError, Problem
from attune_data.schema import Conversation
from attune_episodes.plan import plan
from attune_episodes.request import Request
from attune_episodes.settings import Settings
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
    only: str | None
    """The id of the one request that is asked; None: all of them."""

    @cached_property
    def requests(self) -> tuple[Request, ...]:
        """The requests of the task, in the protocol's order."""
        planned = plan(self.conversation, self.settings)
        return planned if self.only is None else tuple(r for r in planned if r.id == self.only)


def read_told(data: Mapping[str, Any]) -> Told:
    """What the data of a task says.

    Args:
        data: with `id`, `conversation`, `settings`, `reward` and `request`, as `AttuneData` has them.

    Raises DataError where this process has another wording than the task was made with: its option lists
    decide what a number in a reply means.
    """
    told = _read(
        json.dumps(data["conversation"], ensure_ascii=False, sort_keys=True),
        json.dumps(data["settings"], sort_keys=True),
        json.dumps(data["reward"], sort_keys=True),
        data.get("request"),
    )
    _check(data, "codebook", told.settings.codebook.fingerprint)
    if not told.requests:
        raise DataError(
            Problem(f"task {data.get('id')}", "request", str(told.only), "a request of its conversation")
        )
    return told


def check_prompts(data: Mapping[str, Any], told: Told) -> None:
    """Raises DataError where this process would ask in other prompts than the task was made with."""
    _check(data, "prompts", told.settings.prompt_set.fingerprint)


def _check(data: Mapping[str, Any], what: str, found: str) -> None:
    settings = data["settings"]
    wanted = settings["fingerprints"][what]
    if found != wanted:
        named = settings[what] or "our own wording"
        raise DataError(
            Problem(f"task {data.get('id')}", f"settings.{what}", f"{named} with fingerprint {found}",
                    f"the one that the task was made with, {wanted}",
                    "use the same files and version of attune-env, or make the tasks again")
        )  # fmt: skip


def write_settings(settings: Settings, codebook: str | None) -> dict[str, Any]:
    """Settings as JSON values.

    Args:
        settings: how it is asked.
        codebook: path of the official codebook in use; None for the project's own wording.
    """
    return {
        "mode": settings.mode,
        "stages": list(settings.stages),
        "panas_strategy": settings.panas_strategy,
        "labels": settings.labels,
        "seed": settings.seed,
        "prompts": settings.prompts,
        "codebook": codebook,
        # so that a worker with another copy of these files cannot ask something else unnoticed
        "fingerprints": {
            "prompts": settings.prompt_set.fingerprint,
            "codebook": settings.codebook.fingerprint,
        },
    }


def make_settings(told: Mapping[str, Any]) -> Settings:
    """Settings from what `write_settings` gives; UnknownNameError or SettingsError name what is wrong."""
    book = told["codebook"]
    return Settings(
        mode=told["mode"],
        stages=cast(Any, tuple(told["stages"])),
        panas_strategy=told["panas_strategy"],
        labels=told["labels"],
        seed=told["seed"],
        prompts=told["prompts"],
        codebook=Codebook.own() if book is None else _official(book),
    )


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


@lru_cache(maxsize=8)
def _official(path: str) -> Codebook:
    return load_official(path)
