"""Convert training rows to the columns of verl and SkyRL, without needing either."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby, takewhile
from typing import TYPE_CHECKING, Any, Final

from attune_data.errors import DataError, Problem, show
from attune_episodes.training.rewards import check_rows
from attune_rewards.predictions import STAGES
from attune_rewards.reward.spec import RewardSpec

if TYPE_CHECKING:
    from datasets import Dataset, IterableDataset

Chat = Sequence[Mapping[str, str]]
REQUEST: Final = "attune-request"
"""Id of SkyRL's environment for the rows."""
CONVERSATION: Final = "attune-conversation"
"""Id of SkyRL's environment for whole conversations."""
FACTS: Final = ("id", "conversation_id", "participant_id", "stage", "weight", "reward", "provenance")
"""Columns that are put into `extra_info` if a row has them."""


def to_verl(
    rows: Dataset | IterableDataset, *, spec: RewardSpec | str | None = None
) -> Dataset | IterableDataset:
    """Give rows verl's columns: data_source, prompt, ability, reward_model, extra_info.

    The rows are of `training_dataset`; `to_verl(rows).to_parquet("train.parquet")` writes the file that verl
    reads. `spec` is the reward of the rows, needed only if it has parts of your own. Raises DataError for
    rows without a truth, TypeError for a list of rows.
    """
    return _renamed(rows, spec, "reward_model", "style")


def to_skyrl(
    rows: Dataset | IterableDataset, *, spec: RewardSpec | str | None = None, whole: bool = False
) -> Dataset | IterableDataset:
    """Give rows SkyRL's columns: data_source, prompt, env_class, reward_spec, extra_info.

    The rows are of `training_dataset`; `spec` is as for `to_verl`. With `whole`, the requests of a
    conversation become the turns of one episode, with a reward for each. Raises DataError for rows without a
    truth and, with `whole`, for rows that are not in order; TypeError for a list of rows, or for a stream
    with `whole`.
    """
    return _whole(rows, spec) if whole else _renamed(rows, spec, "reward_spec", "method")


def _renamed(
    rows: Dataset | IterableDataset, spec: RewardSpec | str | None, reward: str, kind: str
) -> Dataset | IterableDataset:
    """Move the rows' truth into the column `reward`, next to `{kind: "rule"}`."""
    if not hasattr(rows, "map"):
        raise TypeError(f"rows is a {type(rows).__name__}; make a Dataset with Dataset.from_list(rows)")
    columns = rows.column_names or list(next(iter(rows)))  # a stream loses its column names in `map`
    check_rows(rows, spec)

    def renamed(row: Mapping[str, Any], index: int) -> dict[str, Any]:
        return {
            "data_source": f"attune/{row['stage']}",
            "prompt": row["prompt"],
            **({"ability": row["stage"]} if reward == "reward_model" else {"env_class": REQUEST}),
            reward: {kind: "rule", "ground_truth": row["truth"]},
            "extra_info": {"index": index} | {name: row[name] for name in FACTS if name in row},
        }

    return rows.map(renamed, with_indices=True, remove_columns=columns)


def _whole(rows: Dataset | IterableDataset, spec: RewardSpec | str | None) -> Dataset:
    """Make one row of the rows of each conversation."""
    if not (hasattr(rows, "map") and hasattr(rows, "__len__")):
        raise TypeError(f"rows is a {type(rows).__name__}; whole conversations need a Dataset: give number=…")
    from datasets import Dataset

    check_rows(rows, spec)
    made = Dataset.from_list(list(_episodes(rows)))
    made.info.description = rows.info.description
    return made


def _episodes(rows: Dataset) -> Iterator[dict[str, Any]]:
    seen: set[str] = set()
    for name, of_it in groupby(rows, key=lambda row: row["conversation_id"]):
        asked = list(of_it)
        places = [(row["turn"] or math.inf, STAGES.index(row["stage"])) for row in asked]
        if name in seen or sorted(set(places)) != places:
            raise DataError(
                Problem("rows", f"conversation {show(name)}", "rows that are shuffled or sampled",
                        "each row once, in the protocol's order", "leave out shuffle and sampling")
            )  # fmt: skip
        seen.add(name)
        before: Chat = ()
        turns = []
        for row in asked:
            turns.append([_added(before, row["prompt"]) if before else [], row["truth"]])
            before = row["prompt"]
        facts = {fact: asked[0][fact] for fact in FACTS if fact in asked[0]}
        yield {
            "data_source": "attune/conversation",
            "prompt": asked[0]["prompt"],
            "env_class": CONVERSATION,
            "reward_spec": {"method": "rule", "ground_truth": json.dumps(turns, ensure_ascii=False)},
            "extra_info": {"index": len(seen) - 1, "requests": len(asked)}
            | {fact: value for fact, value in facts.items() if fact not in ("id", "stage", "weight")},
        }


def _added(before: Chat, prompt: Chat) -> Chat:
    """The messages that a prompt adds to the one before it, whose answer is already in the chat."""
    shared = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(before, prompt, strict=False)))
    # a threaded prompt has a placeholder where the model has answered
    answered = shared == len(before) < len(prompt) and prompt[shared]["role"] == "assistant"
    return prompt[shared + answered :]
