"""SkyRL: rows as environments of one request and one answer.

`register_environments()` registers the environment with `skyrl_gym.make` under the id that `to_skyrl` writes
into the rows; call it in the process that makes environments.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from attune_data.extras import needs_extra, warn_if_untested
from attune_episodes.play.episode import EpisodeOverError
from attune_episodes.training.columns import REQUEST
from attune_episodes.training.scoring import checked_truth, score_truth, shares_of
from attune_rewards.reward.score import OK, Score

with needs_extra("skyrl", "skyrl_gym"):
    import skyrl_gym
    from skyrl_gym.envs.base_text_env import BaseTextEnv, BaseTextEnvStepOutput

TESTED: Final = ("0.4", "0.5")
"""The range of tested versions of skyrl-gym; the upper end is excluded."""
Chat = list[dict[str, str]]


class RequestEnv(BaseTextEnv):  # type: ignore[misc]  # skyrl-gym is not installed when types are checked
    """One row with a single answer, exactly as in the protocol. The reward is the value of `score_row`."""

    def __init__(self, env_config: object = None, extras: Mapping[str, Any] | None = None) -> None:
        super().__init__()
        wanted = (extras or {}).get("reward_spec")
        self._truth = checked_truth(wanted.get("ground_truth") if isinstance(wanted, Mapping) else None)
        shares_of(self._truth)  # raises an error for an invalid truth
        self._score: Score | None = None

    def init(self, prompt: Chat) -> tuple[Chat, dict[str, Any]]:
        """Begin the episode with the unchanged prompt of the row."""
        self.turns, self._score = 0, None
        return prompt, {}

    def step(self, action: str) -> BaseTextEnvStepOutput:
        """Score the answer, which ends the episode.

        `metadata` holds the answer's `parts` (name -> score in [0, 1]) and `reason`.
        """
        if self._score is not None:
            raise EpisodeOverError("the episode is over; call init(prompt) to start again")
        self._score = score = score_truth(self._truth, action)
        self.turns += 1
        metadata = {"parts": dict(score.parts), "reason": score.reason}
        return BaseTextEnvStepOutput(observations=[], reward=score.value, done=True, metadata=metadata)

    def get_metrics(self) -> dict[str, Any]:
        """`return`, `parse_rate`, and the score of each part; nothing before the answer."""
        score = self._score
        if score is None:
            return {}
        return {"return": score.value, **score.parts, "parse_rate": float(score.reason == OK)}


def register_environments() -> None:
    """Register the environment with SkyRL-gym, only once even if called repeatedly.

    Warns (UntestedVersionWarning) if its version has not been tested.
    """
    warn_if_untested("skyrl-gym", *TESTED)
    if REQUEST not in skyrl_gym.registry:
        skyrl_gym.register(id=REQUEST, entry_point=f"{__name__}:{RequestEnv.__name__}")
