"""Read `--metadata attune_…=…`, raising every error before anything is asked.

lm-eval passes a task its own `--metadata` and the arguments of the model in one mapping, so ours have a
prefix, without which a misspelt name would go unnoticed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from attune_data import Conversations
from attune_data.errors import DataError, Problem, SettingsError, UnknownNameError, show
from attune_data.format.schema import Conversation
from attune_data.source.names import accepted
from attune_data.source.source import SELECTION
from attune_episodes.frameworks.arguments import asked_by
from attune_episodes.frameworks.lm_eval.tasks import document_of
from attune_episodes.play.score import default_spec
from attune_episodes.protocol.plan import plan
from attune_episodes.protocol.settings import Settings
from attune_episodes.training.rows import unscored
from attune_rewards.metrics.tree import SCORED_STAGES
from attune_rewards.predictions import STAGES, Stage
from attune_rewards.reward.score import scored_requests

PREFIX: Final = "attune_"
ARGUMENTS: Final = (*SELECTION, *(field.name for field in fields(Settings)))
"""The names allowed with the prefix."""
COMPOSITE_STAGES: Final = tuple(stage for stage in STAGES if stage in SCORED_STAGES)
"""The stages that make up a Composite."""


@dataclass(frozen=True)
class Arguments:
    """The conversations of a task, and how they are asked about."""

    conversations: tuple[Conversation, ...]
    """The conversations with something to ask in these stages."""
    settings: Settings

    @cached_property
    def by_id(self) -> Mapping[str, Conversation]:
        """Id -> conversation."""
        return {one.conversation_id: one for one in self.conversations}

    @property
    def documents(self) -> list[dict[str, Any]]:
        """One document per conversation."""
        return [document_of(one, self.settings) for one in self.conversations]


def read_arguments(metadata: Mapping[str, Any], stage: Stage | None) -> Arguments:
    """The arguments of a task: the names with the prefix `attune_` in its metadata.

    `stage` is the only stage of the task; None for the task of all stages.

    Raises:
        UnknownNameError: an argument, mode, stage or other name that does not exist.
        SettingsError: conflicting arguments.
        DataError: the data cannot be read, or has nothing to ask or to score.
    """
    given = {name.removeprefix(PREFIX): value for name, value in metadata.items() if name.startswith(PREFIX)}
    for name in given.keys() - ARGUMENTS:
        raise UnknownNameError("argument of --metadata", PREFIX + name, [PREFIX + one for one in ARGUMENTS])
    if not isinstance(given.get("data", ""), (str, Path, Conversations)):
        told = show(given["data"])
        raise SettingsError(f"{PREFIX}data is {told}; expected {accepted()}")
    stages = _composite_stages(given.get("stages")) if stage is None else (stage,)
    chosen, settings = asked_by({**given, "stages": stages})
    place = show(str(chosen.data))
    conversations = tuple(one for one in chosen.finite(f"{PREFIX}number=20") if plan(one, settings))
    if not conversations:
        raise DataError(
            Problem(place, "", f"nothing to ask in the stages {', '.join(settings.stages)}",
                    "a conversation with such requests", "attune data stats shows what is annotated")
        )  # fmt: skip
    spec = default_spec()
    if set(settings.stages) & SCORED_STAGES and not any(
        scored_requests(one, spec, settings.stages) for one in conversations
    ):
        raise unscored(spec.name, place)
    return Arguments(conversations, settings)


def _composite_stages(given: object) -> Sequence[str]:
    """The stages of the task of all stages: those given, which must make up a Composite."""
    named = given.split(",") if isinstance(given, str) else STAGES if given is None else given
    if not isinstance(named, (list, tuple)) or not all(isinstance(one, str) for one in named):
        raise SettingsError(
            f"{PREFIX}stages is {show(given)}; expected names such as {','.join(COMPOSITE_STAGES)}"
        )
    stages = [one.strip() for one in named]
    for one in stages:
        if one not in STAGES:
            raise UnknownNameError("stage", one, STAGES)
    if missing := [one for one in COMPOSITE_STAGES if one not in stages]:
        raise SettingsError(
            f"{PREFIX}stages leaves out {', '.join(missing)}, and a Composite needs "
            f"{', '.join(COMPOSITE_STAGES)}; for single stages, use the tasks "
            + ", ".join(PREFIX + one for one in STAGES)
        )
    return stages
