"""`read_arguments`: what `--metadata attune_…=…` says, and every error of it before anything is asked.

lm-eval hands a task its own `--metadata` and the arguments of the model in one mapping, so ours carry a
prefix: a name that nobody reads would otherwise pass unnoticed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from attune_data import Conversations
from attune_data.errors import DataError, Problem, SettingsError, UnknownNameError, show
from attune_data.loading import fingerprint
from attune_data.schema import Conversation
from attune_episodes.data_arguments import asked_by
from attune_episodes.plan import plan
from attune_episodes.score import default_spec
from attune_episodes.settings import Settings
from attune_episodes.trainers.rows import unscored
from attune_rewards.predictions import STAGES, Stage
from attune_rewards.reward import scored_requests
from attune_rewards.tree import SCORED_STAGES

PREFIX: Final = "attune_"
KNOWN: Final = (
    "data", "number", "where", "split", "provenance", "level", "world_seed",
    "mode", "stages", "panas_strategy", "labels", "seed", "prompts", "codebook",
)  # fmt: skip
"""The keys allowed under the prefix: the fields of `DataArguments` and of `Settings`."""
COMPOSITE: Final = tuple(stage for stage in STAGES if stage in SCORED_STAGES)
"""The stages that a Composite is made of."""


@dataclass(frozen=True)
class Asked:
    """The conversations of a task, and how they are asked about."""

    conversations: tuple[Conversation, ...]
    """Those with something to ask in these stages."""
    settings: Settings

    @cached_property
    def by_id(self) -> Mapping[str, Conversation]:
        """Id -> conversation."""
        return {one.conversation_id: one for one in self.conversations}

    @property
    def documents(self) -> list[dict[str, Any]]:
        """One a conversation: what is asked, and nothing of the annotations, since logs are published."""
        written = json.dumps(self.settings.to_json(), ensure_ascii=False, sort_keys=True)
        return [
            {
                "conversation_id": one.conversation_id,
                "fingerprint": fingerprint(one),
                "requests": [request.id for request in plan(one, self.settings)],
                "settings": written,
            }
            for one in self.conversations
        ]


def read_arguments(metadata: Mapping[str, Any], stage: Stage | None) -> Asked:
    """The arguments of a task: the names with the prefix `attune_` in its metadata.

    `stage` is the one stage of the task; None for the task of all stages.

    Raises:
        UnknownNameError: an argument, mode, stage or other name that is not there.
        SettingsError: arguments that do not go together.
        DataError: the data cannot be read, or holds nothing to ask or to score.
    """
    given = {name.removeprefix(PREFIX): value for name, value in metadata.items() if name.startswith(PREFIX)}
    for name in given.keys() - KNOWN:
        raise UnknownNameError("argument of --metadata", PREFIX + name, [PREFIX + one for one in KNOWN])
    if not isinstance(given.get("data", ""), (str, Path, Conversations)):
        found = show(given["data"])
        raise SettingsError(f"{PREFIX}data is {found}; expected a path, a dataset's name or sample")
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
        raise unscored(spec, place)
    return Asked(conversations, settings)


def _composite_stages(given: object) -> Sequence[str]:
    """The stages of the task of all stages: those given, which must make a Composite."""
    named = given.split(",") if isinstance(given, str) else STAGES if given is None else given
    if not isinstance(named, (list, tuple)) or not all(isinstance(one, str) for one in named):
        raise SettingsError(f"{PREFIX}stages is {show(given)}; expected names such as {','.join(COMPOSITE)}")
    stages = [one.strip() for one in named]
    for one in stages:
        if one not in STAGES:
            raise UnknownNameError("stage", one, STAGES)
    if missing := [one for one in COMPOSITE if one not in stages]:
        raise SettingsError(
            f"{PREFIX}stages leaves out {', '.join(missing)}, and a Composite needs "
            f"{', '.join(COMPOSITE)}; for single stages there are the tasks "
            + ", ".join(PREFIX + one for one in STAGES)
        )
    return stages
