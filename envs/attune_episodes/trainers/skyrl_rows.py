"""SkyRL: training rows, and whole conversations, in the columns of its datasets. Needs no SkyRL itself."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

from attune_data.guard import for_training
from attune_data.schema import Conversation
from attune_data.version import __version__
from attune_episodes.plan import plan
from attune_episodes.request import Request
from attune_episodes.score import reward_spec
from attune_episodes.settings import Settings
from attune_episodes.trainers.growing_chat import Chat, fresh_messages
from attune_episodes.trainers.reshape import fact_types, facts, reshaped
from attune_episodes.training.arguments import described, sequence_of, settings_of, unscored
from attune_episodes.training.rows import RowMaker
from attune_rewards.spec import RewardSpec

if TYPE_CHECKING:
    from datasets import Dataset, IterableDataset

REQUEST: Final = "attune-request"
"""Environment id: one request, one answer."""
CONVERSATION: Final = "attune-conversation"
"""Environment id: all requests of a conversation in one growing chat."""


def to_skyrl(rows: Dataset | IterableDataset) -> Dataset | IterableDataset:
    """Rows in SkyRL's columns: data_source, prompt, env_class, reward_spec, extra_info.

    Args:
        rows: of `training_dataset` or `to_dataset`.

    Raises DataError for rows without a truth.
    """
    return reshaped(rows, _row, _types())


def conversations_to_skyrl(
    conversations: Sequence[Conversation],
    settings: Settings | None = None,
    reward: RewardSpec | str = "skill",
    *,
    allow_benchmark_training: bool = False,
) -> Dataset:
    """One row for each conversation of which the reward scores anything, for the environment that plays it.

    Args:
        conversations: the annotated conversations, in a sequence.
        settings: how the requests are asked; the default protocol if None.
        reward: a spec or the name of a preset.
        allow_benchmark_training: make rows of benchmark records too; they are marked `benchmark`, and the
            description of the dataset says so.

    Raises (all at the call):
        BenchmarkTrainingError: benchmark or unmarked records are among the conversations.
        SettingsError: the reward cannot travel (functions of one's own, terminal) or scores no stage asked.
        DataError: there are no conversations, or the reward scores nothing in them.
        TypeError: something else than conversations in a sequence was given.
    """
    items, spec = sequence_of(conversations), reward_spec(reward)
    maker = RowMaker(settings_of(settings), spec)
    maker.check()
    mark = for_training(items, allow_benchmark_training=allow_benchmark_training)
    rows: list[dict[str, Any]] = []
    for about in items:
        truths = {row["id"]: row["truth"] for row in maker.rows(about)}
        if truths:
            rows.append(_conversation(about, maker, truths, len(rows)))
    if not rows:
        raise unscored(spec)

    from datasets import Dataset, Features

    dataset = Dataset.from_list(rows, features=Features(_types()))
    dataset.info.description = described(
        f"Conversations for SkyRL, attune-env {__version__}, reward {spec.name}", mark
    )
    return dataset


def _row(row: Mapping[str, Any], index: int) -> dict[str, Any]:
    return {
        "data_source": f"attune/{row['stage']}",
        "prompt": row["prompt"],
        "env_class": REQUEST,
        "reward_spec": {"method": "rule", "ground_truth": row["truth"]},
        "extra_info": facts(row, index),
    }


def _conversation(
    about: Conversation, maker: RowMaker, truths: Mapping[str, str], index: int
) -> dict[str, Any]:
    requests = plan(about, maker.settings)
    steps = [
        {"id": request.id, "messages": messages, "truth": truths.get(request.id)}
        for request, messages in zip(requests, _new_messages(requests), strict=True)
    ]
    of_it = {
        "id": about.conversation_id,
        "conversation_id": about.conversation_id,
        "participant_id": about.participant,
        "stage": "conversation",
        "weight": 1.0,
        "reward": maker.spec.name,
        "provenance": about.origin,
    }
    return {
        "data_source": "attune/conversation",
        "prompt": requests[0].chat(),
        "env_class": CONVERSATION,
        "reward_spec": {"method": "rule", "ground_truth": json.dumps(steps, ensure_ascii=False)},
        "extra_info": facts(of_it, index),
    }


def _new_messages(requests: Sequence[Request]) -> Iterator[Chat]:
    """For each request the messages that a chat which grew through the earlier ones does not hold yet."""
    yield requests[0].chat()
    for before, request in pairwise(requests):
        yield fresh_messages(before, request)


def _types() -> dict[str, Any]:
    text = fact_types()["stage"]
    return {
        "data_source": text,
        "prompt": [{"role": text, "content": text}],
        "env_class": text,
        "reward_spec": {"method": text, "ground_truth": text},
        "extra_info": fact_types(),
    }
