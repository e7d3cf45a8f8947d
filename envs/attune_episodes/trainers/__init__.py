"""The same rewards in every fine-tuning loop: rows for trainers, and reward functions for the rows.

`training_dataset` makes rows; `reward_functions` and `row_reward` are what trainers such as TRL's call, and
`score_row` is for your own loop. The modules `verl`, `skyrl` and `trl` hold what those want.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from attune_data.lazy import lazy_names

if TYPE_CHECKING:
    from attune_episodes.trainers.columns import to_skyrl, to_verl
    from attune_episodes.trainers.conversations import conversation_rows
    from attune_episodes.trainers.dataset import training_dataset
    from attune_episodes.trainers.reply_rows import demonstrations, preference_pairs
    from attune_episodes.trainers.rewards import PartReward, check_rows, reward_functions, row_reward
    from attune_episodes.trainers.sampling import keep_pass_rates
    from attune_episodes.trainers.scoring import score_row, text_of
    from attune_episodes.trainers.trl import conversation_rollouts

_MODULES = {
    ".columns": ["to_skyrl", "to_verl"],
    ".conversations": ["conversation_rows"],
    ".dataset": ["training_dataset"],
    ".reply_rows": ["demonstrations", "preference_pairs"],
    ".rewards": ["PartReward", "check_rows", "reward_functions", "row_reward"],
    ".sampling": ["keep_pass_rates"],
    ".scoring": ["score_row", "text_of"],
    ".trl": ["conversation_rollouts"],
}
__all__ = [
    "PartReward",
    "check_rows",
    "conversation_rollouts",
    "conversation_rows",
    "demonstrations",
    "keep_pass_rates",
    "preference_pairs",
    "reward_functions",
    "row_reward",
    "score_row",
    "text_of",
    "to_skyrl",
    "to_verl",
    "training_dataset",
]

__getattr__, __dir__ = lazy_names(
    __name__, {name: module for module, names in _MODULES.items() for name in names}
)
