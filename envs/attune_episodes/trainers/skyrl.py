"""SkyRL-gym environments: one request, or a whole conversation in one growing chat.

`register_environments()` makes them known to `skyrl_gym.make` under the ids that `to_skyrl` and
`conversations_to_skyrl` write into the rows; call it in the process that makes environments.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any, Final

from attune_data.errors import DataError, Problem, show
from attune_data.extras import needs_extra, warn_if_untested
from attune_episodes.episode import EpisodeOverError
from attune_episodes.trainers.completion import text_of
from attune_episodes.trainers.skyrl_rows import CONVERSATION, REQUEST
from attune_episodes.training.scoring import paid_by, score_truth
from attune_rewards.reward import OK, Score, part_means

with needs_extra("skyrl", "skyrl_gym"):
    import skyrl_gym
    from skyrl_gym.envs.base_text_env import BaseTextEnv, BaseTextEnvStepOutput

TESTED: Final = ("0.4", "0.5")
"""The tests were run with the versions of skyrl-gym from the first up to, without, the second."""
Messages = list[dict[str, str]]


class _AttuneEnv(BaseTextEnv):  # type: ignore[misc]  # skyrl-gym is not there when types are checked
    """What both environments share: steps with their truths, and what was earned."""

    def __init__(self, steps: list[tuple[Messages, str | None]]) -> None:
        super().__init__()
        self._steps = steps
        self._rewards: list[float] = []
        self._scores: list[Score] = []
        self.max_turns = len(steps)

    def init(self, prompt: Messages) -> tuple[Messages, dict[str, Any]]:
        """The prompt of the row, as it is; starts anew."""
        self.turns = 0
        self._rewards, self._scores = [], []
        return prompt, {"requests": len(self._steps)}

    def step(self, action: str) -> BaseTextEnvStepOutput:
        """Scores an answer; `metadata` holds its `parts` (name -> score in [0, 1]) and `reason`."""
        if self.turns >= len(self._steps):
            raise EpisodeOverError("the episode is over; init(prompt) starts it anew")
        truth = self._steps[self.turns][1]
        self.turns += 1
        reward, metadata = 0.0, {"parts": {}, "reason": "not_scored"}
        if truth is not None:
            score = score_truth(truth, text_of(action))
            reward = self._paid(score)
            metadata = {"parts": dict(score.parts), "reason": score.reason}
            self._scores.append(score)
        self._rewards.append(reward)
        done = self.turns == len(self._steps)
        following = [] if done else [dict(message) for message in self._steps[self.turns][0]]
        return BaseTextEnvStepOutput(observations=following, reward=reward, done=done, metadata=metadata)

    def _paid(self, score: Score) -> float:
        raise NotImplementedError

    def get_metrics(self) -> dict[str, Any]:
        """`return`, `parse_rate` of the scored answers, and the mean score of each part."""
        metrics = part_means(self._scores)
        if self._scores:
            metrics["parse_rate"] = sum(s.reason == OK for s in self._scores) / len(self._scores)
        return {"return": math.fsum(self._rewards), **metrics}


class RequestEnv(_AttuneEnv):
    """One row, one answer: the protocol exactly. The reward is the row's own, the value of `score_row`."""

    def __init__(self, env_config: object = None, extras: Mapping[str, Any] | None = None) -> None:
        truth = _ground_truth(extras, "to_skyrl(rows)")
        paid_by(truth)  # what is no truth is refused now
        super().__init__([([], truth)])

    def _paid(self, score: Score) -> float:
        return score.value if score.value is not None else 0.0


class ConversationEnv(_AttuneEnv):
    """All requests of a conversation in one chat; rewards sum to the return of the episode.

    Not protocol-exact: the chat holds the model's own earlier answers, and what was asked beside the
    thread stays in sight, whereas the protocol shows neither. `max_turns` of the configuration is not
    used: a conversation has as many steps as requests.
    """

    def __init__(self, env_config: object = None, extras: Mapping[str, Any] | None = None) -> None:
        text = _ground_truth(extras, "conversations_to_skyrl(conversations)")
        try:
            steps = [(list(step["messages"]), step["truth"]) for step in json.loads(text)]
        except (LookupError, TypeError, ValueError) as error:
            raise _refused(text, "conversations_to_skyrl(conversations)") from error
        for _, truth in steps:
            if truth is not None:
                paid_by(truth)
        super().__init__(steps)

    def init(self, prompt: Messages) -> tuple[Messages, dict[str, Any]]:
        """The prompt of the row, as it is; starts anew."""
        messages, info = super().init(prompt)
        return messages, {**info, "protocol_exact": False}

    def _paid(self, score: Score) -> float:
        return score.reward


_ENTRY_POINTS: Final = {REQUEST: RequestEnv, CONVERSATION: ConversationEnv}


def register_environments() -> None:
    """Registers both environments with SkyRL-gym; once, however often it is called.

    Warns (UntestedVersionWarning) where its version is none that this was tested with.
    """
    warn_if_untested("skyrl-gym", *TESTED)
    for name, kind in _ENTRY_POINTS.items():
        if name not in skyrl_gym.registry:
            skyrl_gym.register(id=name, entry_point=f"{__name__}:{kind.__name__}")


def _ground_truth(extras: Mapping[str, Any] | None, maker: str) -> str:
    wanted = (extras or {}).get("reward_spec")
    truth = wanted.get("ground_truth") if isinstance(wanted, Mapping) else None
    if not isinstance(truth, str):
        raise _refused(truth, maker)
    return truth


def _refused(found: object, maker: str) -> DataError:
    return DataError(
        Problem("rows", "reward_spec.ground_truth", show(found), "the truth of the row", f"see {maker}")
    )
