"""SkyRL: training rows, and whole conversations, in the columns of its datasets. Needs no SkyRL itself."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from attune_data.guard import for_training
from attune_data.schema import Conversation
from attune_episodes.plan import plan
from attune_episodes.request import Request
from attune_episodes.score import default_spec
from attune_episodes.settings import Settings
from attune_episodes.trainers.reshape import fact_types, facts, reshaped
from attune_episodes.training.rows import RowMaker
from attune_rewards.spec import RewardSpec

if TYPE_CHECKING:
    from datasets import Dataset, IterableDataset

REQUEST: Final = "attune-request"
"""Environment id: one request, one answer."""
CONVERSATION: Final = "attune-conversation"
"""Environment id: all requests of a conversation in one growing chat."""
Messages = list[dict[str, str]]


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
    reward: RewardSpec | str | None = None,
    *,
    allow_benchmark_training: bool = False,
) -> Dataset:
    """One row for each conversation, for the environment that plays all of it.

    Args:
        conversations: what is trained on.
        settings: how the requests are asked; the default protocol if None.
        reward: a spec or the name of a preset, as `to_dataset` takes it; the Composite if None.
        allow_benchmark_training: take benchmark records too, against their authors' rule.

    Raises BenchmarkTrainingError, SettingsError or DataError, as `to_dataset` does.
    """
    from datasets import Dataset, Features

    spec = RewardSpec.preset(reward) if isinstance(reward, str) else reward or default_spec()
    maker = RowMaker(settings or Settings(), spec)
    maker.check()
    for_training(conversations, allow_benchmark_training=allow_benchmark_training)
    rows = [_conversation(about, maker, index) for index, about in enumerate(conversations)]
    return Dataset.from_list(rows, features=Features(_types()))


def _row(row: Mapping[str, Any], index: int) -> dict[str, Any]:
    return {
        "data_source": f"attune/{row['stage']}",
        "prompt": row["prompt"],
        "env_class": REQUEST,
        "reward_spec": {"method": "rule", "ground_truth": row["truth"]},
        "extra_info": facts(row, index),
    }


def _conversation(about: Conversation, maker: RowMaker, index: int) -> dict[str, Any]:
    requests = plan(about, maker.settings)
    truths = {row["id"]: row["truth"] for row in maker.rows(about)}
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


def _new_messages(requests: Iterable[Request]) -> Iterator[Messages]:
    """For each request the messages that a chat which grew through the earlier ones does not hold yet.

    The placeholder that answers the last message in sight is left out: the model's answer stands there.
    Where a stage is not asked, its message and the placeholder of its answer come with the next request.
    """
    shown: set[tuple[str, str]] = set()
    for request in requests:
        messages = request.chat()
        known = [i for i, m in enumerate(messages[:-1]) if (m["role"], m["content"]) in shown]
        fresh = messages[known[-1] + 1 :] if known else messages
        if known and fresh[0]["role"] == "assistant":
            fresh = fresh[1:]
        shown |= {(m["role"], m["content"]) for m in messages if m["role"] != "assistant"}
        yield fresh


def _types() -> dict[str, Any]:
    text = fact_types()["stage"]
    return {
        "data_source": text,
        "prompt": [{"role": text, "content": text}],
        "env_class": text,
        "reward_spec": {"method": text, "ground_truth": text},
        "extra_info": fact_types(),
    }
