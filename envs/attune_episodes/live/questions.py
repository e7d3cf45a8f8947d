"""Ask the policy what the person felt and wanted from its reply, and score its answer.

The request is the benchmark's (stage `assess`), scored by the same engine as everything else. The truth is
the state: the feelings that shifted, and what was wanted. This score is reported separately from what the
reply earned, to expose a policy that pleases without reading the person.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from attune_data.schema import Conversation
from attune_episodes.parsing import parse
from attune_episodes.plan import plan
from attune_episodes.request import Request
from attune_episodes.score import score
from attune_episodes.settings import Settings
from attune_rewards.predictions import Stage
from attune_rewards.reward import Score
from attune_rewards.spec import RewardSpec

if TYPE_CHECKING:
    from attune_episodes.live.episode import LiveEpisode

STAGES: Final[tuple[Stage, ...]] = ("assess",)
READING: Final = RewardSpec.weighted("live_reading", {"emotion_f1": 1.0, "emotion_va": 1.0, "binary_hp": 2.0})
"""Half for what was felt, half for what was wanted."""


class Felt(NamedTuple):
    """The person's state when a reply arrived."""

    tags: tuple[tuple[str, int], ...]
    """The feelings that shifted: (item, intensity)."""
    wants: Mapping[str, float]
    """Construct -> what doing it was worth: wanted above 0, unwanted below 0, indifferent at 0."""


def conversation(live: LiveEpisode, states: Sequence[Felt]) -> Conversation:
    """The turns so far as an annotated conversation: what was felt, what was read, what was wanted.

    Questions about which the person was indifferent are left out.
    """
    turns: list[dict[str, Any]] = []
    for number, (turn, felt) in enumerate(zip(live.turns, states, strict=True), 1):
        rows = [
            {
                "questionId": question,
                "observedBehavior": "yes" if turn.reading.says(question) else "no",
                "preferredBehavior": "yes" if value > 0 else "no",
            }
            for question, value in felt.wants.items()
            if value
        ]
        turns.append({
            "turnNumber": number,
            "userMessage": turn.message,
            "llmResponse": turn.reply,
            "moodShiftTags": [{"emotion": item, "intensity": strength} for item, strength in felt.tags],
            "annotations": {"binaryJudgements": rows},
        })  # fmt: skip
    record = {
        "conversationId": live.name,
        "provenance": "simulated",
        "turns": turns,
    }
    return Conversation.model_validate(record)


def asked(spoken: Conversation, settings: Settings | None = None) -> Request:
    """The request about the last turn."""
    return plan(spoken, settings or Settings(stages=STAGES))[-1]


def scored(spoken: Conversation, request: Request, text: str) -> Score:
    """The score of the answer to a request; its `value` is in [0, 1]."""
    return score(spoken, request, parse(request, text), READING, stages=STAGES)
