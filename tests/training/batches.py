"""Rows and replies as a trainer hands them to reward functions."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from attune_data import Conversation, load
from attune_episodes import Settings, builtin_policy, plan
from attune_episodes.training import training_dataset
from attune_rewards import RewardSpec

SAMPLE = load("sample")
SPECS: dict[str, RewardSpec] = {
    "composite": RewardSpec.preset("composite"),
    "skill": RewardSpec.preset("skill"),
    "emotion": RewardSpec.preset("emotion"),
    "holistic": RewardSpec.preset("holistic"),
    "two": RewardSpec.weighted("two", {"emotion_va": 2, "pairwise": 1}),
    "with format": RewardSpec.preset("skill").with_format(0.3),
}
BROKEN = ("", "They were upset.", "{", "[]", '{"emotions": [', "<think>hm", '{"\ud800": 1}', "{" * 500)


def bare() -> Conversation:
    """A conversation of which nothing is annotated."""
    record = SAMPLE[0].to_record() | {"conversationId": "bare"}
    for key in ("prePanas", "postPanas", "conversationWideQuestions"):
        record.pop(key, None)
    for turn in record["turns"]:
        turn.pop("moodShiftTags", None)
        turn.pop("annotations", None)
    return Conversation.model_validate(record)


@cache
def rows_of(name: str) -> tuple[dict[str, Any], ...]:
    """All rows of the sample under a reward of `SPECS`."""
    return tuple(training_dataset("sample", reward=SPECS[name]))


@cache
def replies() -> dict[str, tuple[str, ...]]:
    """Request id -> replies of policies that know and of policies that do not."""
    said: dict[str, list[str]] = {}
    for name in ("oracle", "lexicon", "prior"):
        policy = builtin_policy(name, SAMPLE)
        for about in SAMPLE:
            player = policy.for_conversation(about)
            for request in plan(about, Settings()):
                said.setdefault(request.id, []).append(str(player.reply(request)))
    return {request: tuple(texts) for request, texts in said.items()}


def called(rows: Sequence[dict[str, Any]], completions: Sequence[Any], **others: Any) -> dict[str, Any]:
    """The arguments with which TRL calls a reward function."""
    columns = {name: [row[name] for row in rows] for name in rows[0] if name != "prompt"}
    return {
        "prompts": [row["prompt"] for row in rows],
        "completions": list(completions),
        "completion_ids": [[1, 2]] * len(rows),
        "trainer_state": None,
        **columns,
        **others,
    }


def messages(text: str) -> list[dict[str, str]]:
    """A completion of a conversational prompt."""
    return [{"role": "assistant", "content": text}]
