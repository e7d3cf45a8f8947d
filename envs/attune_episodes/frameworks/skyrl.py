"""SkyRL: `register_environments()` in the process that makes environments; extra `skyrl`.

A request becomes a row (`training.to_skyrl`) with an environment of one step (`RequestEnv`), and the reply to
it the step's reward. Prompts, parsing and scoring stay ours.

The environment is registered with `skyrl_gym.make` under the id that `to_skyrl` writes into the rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from attune_data.extras import needs_extra, warn_if_untested
from attune_episodes.play.episode import EpisodeOverError
from attune_episodes.training.columns import REQUEST
from attune_episodes.training.scoring import checked_truth, own_parts_of, score_truth, shares_of
from attune_rewards.reward.score import OK, Score

with needs_extra("skyrl", "skyrl_gym"):
    import skyrl_gym
    from skyrl_gym.envs.base_text_env import BaseTextEnv, BaseTextEnvStepOutput

TESTED: Final = ("0.4", "0.5")
"""The range of tested versions of skyrl-gym; the upper end is excluded."""
Chat = list[dict[str, str]]


class RequestEnv(BaseTextEnv):  # type: ignore[misc]  # skyrl-gym is not installed when types are checked
    """One row with a single answer, exactly as in the protocol. The reward is the value of `score_row`."""

    def __init__(
        self, env_config: object = None, extras: Mapping[str, Any] | None = None, spec: str | None = None
    ) -> None:
        super().__init__()
        self._own = own_parts_of(spec)
        wanted = (extras or {}).get("reward_spec")
        self._truth = checked_truth(wanted.get("ground_truth") if isinstance(wanted, Mapping) else None)
        shares_of(self._truth, self._own)  # raises an error for an invalid truth
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
        self._score = score = score_truth(self._truth, action, self._own)
        self.turns += 1
        metadata = {"parts": dict(score.parts), "reason": score.reason}
        return BaseTextEnvStepOutput(observations=[], reward=score.value, done=True, metadata=metadata)

    def get_metrics(self) -> dict[str, Any]:
        """`return`, `parse_rate`, and the score of each part; nothing before the answer."""
        score = self._score
        if score is None:
            return {}
        return {"return": score.value, **score.parts, "parse_rate": float(score.reason == OK)}


def register_environments(spec: str | None = None) -> None:
    """Register the environment with SkyRL-gym; if called repeatedly, the last call counts.

    `spec` is needed for a reward with parts of your own: `FILE.py:NAME` or `module:NAME`. Warns
    (UntestedVersionWarning) if skyrl-gym's version has not been tested.
    """
    warn_if_untested("skyrl-gym", *TESTED)
    skyrl_gym.registry.pop(REQUEST, None)
    skyrl_gym.register(id=REQUEST, entry_point=f"{__name__}:{RequestEnv.__name__}", kwargs={"spec": spec})
