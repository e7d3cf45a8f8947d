"""SkyRL: `register_environments()` in the process that makes environments; extra `skyrl`.

A request becomes a row (`training.to_skyrl`) with an environment of one step (`RequestEnv`), and the reply to
it the step's reward; with `to_skyrl(rows, whole=True)`, a conversation becomes a row, whose environment has a
step and a reward for each of its requests (`ConversationEnv`). Prompts, parsing and scoring stay ours.

The environments are registered with `skyrl_gym.make` under the ids that `to_skyrl` writes into the rows.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from attune_data.errors import DataError, Problem, SettingsError, show
from attune_data.extras import needs_extra, warn_if_untested
from attune_episodes.play.episode import EpisodeOverError
from attune_episodes.training.columns import CONVERSATION, REQUEST
from attune_episodes.training.scoring import checked_truth, own_parts_of, score_truth, shares_of
from attune_rewards.reward.score import OK, Score, part_means

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
        truth = checked_truth(wanted.get("ground_truth") if isinstance(wanted, Mapping) else None)
        self._turns = self._read(truth)
        """What is said before each answer, after the prompt; and the truth of the answer."""
        for _, truth in self._turns:
            shares_of(truth, self._own)  # raises an error for an invalid truth
        self._scores: list[Score] = []

    def _read(self, truth: str) -> Sequence[tuple[Chat, str]]:
        return [([], truth)]

    def _earned(self, score: Score) -> float:
        """The reward of a step; None, of a request that no part scores, has no row."""
        return score.value or 0.0

    def init(self, prompt: Chat) -> tuple[Chat, dict[str, Any]]:
        """Begin the episode with the unchanged prompt of the row."""
        self.turns, self._scores = 0, []
        return prompt, {}

    def step(self, action: str) -> BaseTextEnvStepOutput:
        """Score the answer; the last one ends the episode.

        `metadata` holds the answer's `parts` (name -> score in [0, 1]) and `reason`.
        """
        if self.turns == len(self._turns):
            raise EpisodeOverError("the episode is over; call init(prompt) to start again")
        score = score_truth(self._turns[self.turns][1], action, self._own)
        self._scores.append(score)
        self.turns += 1
        done = self.turns == len(self._turns)
        return BaseTextEnvStepOutput(
            observations=[] if done else self._turns[self.turns][0],
            reward=self._earned(score),
            done=done,
            metadata={"parts": dict(score.parts), "reason": score.reason},
        )

    def get_metrics(self) -> dict[str, Any]:
        """`return`, `parse_rate`, and the mean score of each part; nothing before the first answer."""
        scores = self._scores
        if not scores:
            return {}
        parsed = sum(score.reason == OK for score in scores) / len(scores)
        return {"return": sum(map(self._earned, scores)), **part_means(scores), "parse_rate": parsed}


class ConversationEnv(RequestEnv):
    """The scored requests of a conversation as one chat; each step earns its request's share of the return.

    Unlike in the protocol, the model sees its own earlier answers.
    """

    def __init__(
        self, env_config: object = None, extras: Mapping[str, Any] | None = None, spec: str | None = None
    ) -> None:
        super().__init__(env_config, extras, spec)
        most = (extras or {}).get("max_turns")
        if most is not None and most < len(self._turns):
            raise SettingsError(
                f"max_turns is {most}, but this conversation has {len(self._turns)} requests; set "
                "generator.max_turns to that of the longest conversation, extra_info.requests in the rows"
            )

    def _read(self, truth: str) -> Sequence[tuple[Chat, str]]:
        try:
            turns = json.loads(truth)
            return [(chat, checked_truth(one)) for chat, one in turns]
        except (TypeError, ValueError) as error:
            wanted = "what to_skyrl(rows, whole=True) wrote"
            raise DataError(
                Problem("row", "ground_truth", show(truth), wanted, "make the rows again")
            ) from error

    def _earned(self, score: Score) -> float:
        return score.reward


def register_environments(spec: str | None = None) -> None:
    """Register the environments with SkyRL-gym; if called repeatedly, the last call counts.

    `spec` is needed for a reward with parts of your own: `FILE.py:NAME` or `module:NAME`. Warns
    (UntestedVersionWarning) if skyrl-gym's version has not been tested.
    """
    warn_if_untested("skyrl-gym", *TESTED)
    for name, env in ((REQUEST, RequestEnv), (CONVERSATION, ConversationEnv)):
        skyrl_gym.registry.pop(name, None)
        skyrl_gym.register(id=name, entry_point=f"{__name__}:{env.__name__}", kwargs={"spec": spec})
