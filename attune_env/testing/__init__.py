"""Contracts for your own extensions, and filler to try them on.

`check_reward`, `check_episode` and `check_env_contract` raise ContractError (an AssertionError) at the first
violation, naming the conversation, the request and the numbers. The project's own rewards, policies, data and
environments are checked with the same functions.
"""

from attune_env.testing.contracts import (
    ContractError,
    Outcome,
    Player,
    check_env_contract,
    check_episode,
    check_reward,
)
from attune_env.testing.filler import filler

__all__ = [
    "ContractError",
    "Outcome",
    "Player",
    "check_env_contract",
    "check_episode",
    "check_reward",
    "filler",
]
