"""The same rewards in every fine-tuning loop: rows for trainers, and reward functions for the rows.

`training_dataset` makes rows; `reward_functions` and `row_reward` are what trainers such as TRL's call, and
`score_row` is for your own loop. The modules `verl` and `skyrl` serve those trainers. No framework is
imported before it is used.
"""

from attune_episodes.training.columns import to_skyrl, to_verl
from attune_episodes.training.dataset import training_dataset
from attune_episodes.training.reply_rows import demonstrations, preference_pairs
from attune_episodes.training.rewards import (
    PartReward,
    RowReward,
    check_rows,
    reward_functions,
    row_reward,
)
from attune_episodes.training.sampling import keep_pass_rates
from attune_episodes.training.scoring import score_row, text_of

__all__ = [
    "PartReward",
    "RowReward",
    "check_rows",
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
