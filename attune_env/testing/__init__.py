"""Contracts for what you add: `check_reward`, `check_episode`, `check_env_contract`.

Each raises ContractError (an AssertionError) at the first thing that does not hold, naming the conversation,
the request and the numbers. The project's own rewards, policies, data and environments go through the same
functions.
"""

from attune_env.testing.contract import ContractError
from attune_env.testing.environments import Outcome, Player, check_env_contract
from attune_env.testing.episodes import check_episode
from attune_env.testing.rewards import check_reward

__all__ = [
    "ContractError",
    "Outcome",
    "Player",
    "check_env_contract",
    "check_episode",
    "check_reward",
]
