"""The rows of a conversation: one per request that a part of the reward scores."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from attune_data.errors import SettingsError
from attune_data.schema import Conversation
from attune_episodes.plan import plan
from attune_episodes.settings import Settings
from attune_episodes.training.truth import write_truth
from attune_rewards.portable import check_portable
from attune_rewards.predictions import Stage
from attune_rewards.reward import scored_requests
from attune_rewards.spec import RewardSpec
from attune_rewards.tree import LEAF

Row = dict[str, Any]


def check_stages(spec: RewardSpec, stages: Sequence[Stage]) -> None:
    """Raises SettingsError where a reward scores none of the stages that are asked.

    A part of one's own may score any stage: what holds one passes.
    """
    asked = set(stages)
    for name in spec.parts:
        drafts_only = name == "format" and asked == {"draft"}
        if LEAF[name].stage in asked if name in LEAF else not drafts_only:
            return
    raise SettingsError(
        f"reward {spec.name!r} scores nothing in the stages {', '.join(stages)}; "
        "ask more stages or choose another reward"
    )


@dataclass(frozen=True, slots=True)
class RowMaker:
    """Makes rows of conversations, always in the same way. Picklable: worker processes make rows too."""

    settings: Settings
    spec: RewardSpec

    def check(self) -> None:
        """Raises SettingsError where no row can come of it, whatever the conversations."""
        check_portable(self.spec)
        check_stages(self.spec, self.settings.stages)

    def rows(self, conversation: Conversation) -> Iterator[Row]:
        """The rows of one conversation, in the protocol's order."""
        table = scored_requests(conversation, self.spec, self.settings.stages)
        for request in plan(conversation, self.settings):
            scored = table.get((request.stage, request.turn))
            if scored is None:
                continue
            yield {
                "prompt": request.chat(),
                "id": request.id,
                "conversation_id": conversation.conversation_id,
                "participant_id": conversation.participant,
                "stage": request.stage,
                "turn": request.turn,
                "weight": scored.weight,
                "reward": self.spec.name,
                "nulls": json.dumps({name: null for name, _, null in scored.parts if null}),
                "truth": write_truth(request, scored),
                "provenance": conversation.origin,
            }

    def __call__(self, conversations: Iterable[Conversation]) -> Iterator[Row]:
        """The rows of many conversations, one after the other."""
        for conversation in conversations:
            yield from self.rows(conversation)
