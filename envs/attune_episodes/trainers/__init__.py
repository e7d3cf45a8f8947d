"""The same rewards in every fine-tuning loop: rows for trainers, and reward functions for the rows.

`training_dataset` makes rows, `reward_functions` and `row_reward` are what trainers such as TRL's call, and
`score` is for a loop of one's own. The modules `verl` and `skyrl` hold what those two want. Nothing here
loads before it is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from attune_data.lazy import lazy_names

if TYPE_CHECKING:
    from attune_episodes.trainers.completion import text_of
    from attune_episodes.trainers.plain import score
    from attune_episodes.trainers.reply_rows import demonstrations, preference_pairs
    from attune_episodes.trainers.rewards import (
        PartReward,
        RowReward,
        check_rows,
        reward_functions,
        row_reward,
    )
    from attune_episodes.trainers.rows import training_dataset
    from attune_episodes.trainers.trl_environment import ConversationEnvironment
    from attune_episodes.trainers.trl_rollout import conversation_rollouts

_HOME = {
    "ConversationEnvironment": ".trl_environment",
    "PartReward": ".rewards",
    "RowReward": ".rewards",
    "check_rows": ".rewards",
    "conversation_rollouts": ".trl_rollout",
    "demonstrations": ".reply_rows",
    "preference_pairs": ".reply_rows",
    "reward_functions": ".rewards",
    "row_reward": ".rewards",
    "score": ".plain",
    "text_of": ".completion",
    "training_dataset": ".rows",
}
"""Name -> the module that it comes from."""

__all__ = [
    "ConversationEnvironment",
    "PartReward",
    "RowReward",
    "check_rows",
    "conversation_rollouts",
    "demonstrations",
    "preference_pairs",
    "reward_functions",
    "row_reward",
    "score",
    "text_of",
    "training_dataset",
]

__getattr__, __dir__ = lazy_names(__name__, _HOME)
