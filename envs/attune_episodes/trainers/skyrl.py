"""SkyRL-gym environments: one request, or a whole conversation in one growing chat, recorded or live.

`register_environments()` makes them known to `skyrl_gym.make` under the ids that `to_skyrl` writes into the
rows; call it in the process that makes environments.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, Final

from attune_data.extras import needs_extra, warn_if_untested
from attune_episodes.episode import EpisodeOverError
from attune_episodes.trainers.columns import CONVERSATION, LIVE_CONVERSATION, REQUEST
from attune_episodes.trainers.conversations import Chat, GrowingChat
from attune_episodes.trainers.live import chat_of_row
from attune_episodes.trainers.scoring import checked_truth, score_truth, shares_of
from attune_rewards.reward import OK, Score, part_means

with needs_extra("skyrl", "skyrl_gym"):
    import skyrl_gym
    from skyrl_gym.envs.base_text_env import BaseTextEnv, BaseTextEnvStepOutput

TESTED: Final = ("0.4", "0.5")
"""The tests were run with the versions of skyrl-gym from the first up to, without, the second."""


class _AttuneEnv(BaseTextEnv):  # type: ignore[misc]  # skyrl-gym is not installed when types are checked
    """The rewards of an episode, its metrics, and its end."""

    max_turns: int

    def __init__(self, env_config: object = None, extras: Mapping[str, Any] | None = None) -> None:
        super().__init__()
        wanted = (extras or {}).get("reward_spec")
        self._truth: Any = wanted.get("ground_truth") if isinstance(wanted, Mapping) else None
        self._begin()  # which refuses what is no truth

    def init(self, prompt: Chat) -> tuple[Chat, dict[str, Any]]:
        """Begin the episode under the prompt of the row, as it is."""
        self.turns = 0
        self._rewards: list[float] = []
        self._scores: list[Score] = []
        self._begin()
        return prompt, {"requests": self.max_turns}

    def step(self, action: str) -> BaseTextEnvStepOutput:
        """Score the answer; `observations` are the messages of the next request, if there is one.

        `metadata` holds the answer's `parts` (name -> score in [0, 1]) and `reason`.
        """
        if self._done():
            raise EpisodeOverError("the episode is over; init(prompt) begins it again")
        reward, score, following = self._submit(action)
        self.turns += 1
        self._rewards.append(reward)
        self._scores.append(score)
        metadata = {"parts": dict(score.parts), "reason": score.reason}
        return BaseTextEnvStepOutput(
            observations=following, reward=reward, done=self._done(), metadata=metadata
        )

    def get_metrics(self) -> dict[str, Any]:
        """`return`, `parse_rate`, and the mean score of each part."""
        metrics = part_means(self._scores)
        if self._scores:
            metrics["parse_rate"] = sum(s.reason == OK for s in self._scores) / len(self._scores)
        return {"return": math.fsum(self._rewards), **metrics}

    @abstractmethod
    def _begin(self) -> None:
        """Begin an episode and set `max_turns`; DataError for a truth that is none of ours."""

    def _done(self) -> bool:
        return bool(self.turns >= self.max_turns)

    @abstractmethod
    def _submit(self, action: str) -> tuple[float, Score, Chat]:
        """The reward and the score of an answer, and the messages that follow it."""


class RequestEnv(_AttuneEnv):
    """One row, one answer: exactly the protocol. The reward is the row's own, the value of `score_row`."""

    def _begin(self) -> None:
        shares_of(checked_truth(self._truth))
        self.max_turns = 1

    def _submit(self, action: str) -> tuple[float, Score, Chat]:
        score = score_truth(self._truth, action)
        return score.value or 0.0, score, []


class ConversationEnv(_AttuneEnv):
    """All scored requests of a conversation in one chat; rewards sum to the return of the episode.

    Not protocol-exact: the chat holds the model's own earlier answers, and questions asked outside the thread
    stay visible, whereas the protocol shows neither. `max_turns` of the configuration is ignored: a
    conversation has as many steps as scored requests.
    """

    def init(self, prompt: Chat) -> tuple[Chat, dict[str, Any]]:
        """Begin the episode under the prompt of the row, as it is."""
        messages, info = super().init(prompt)
        return messages, {**info, "protocol_exact": False}

    def _begin(self) -> None:
        self._chat = GrowingChat.of_row(self._truth)
        self.max_turns = self._chat.length

    def _submit(self, action: str) -> tuple[float, Score, Chat]:
        return self._chat.submit(action)


class LiveConversationEnv(_AttuneEnv):
    """A simulated person answers the model's own replies; rewards sum to the total of the live episode.

    The person ends it after `requests` replies, or leaves before; `max_turns` of the configuration is
    ignored.
    """

    def _begin(self) -> None:
        self._chat = chat_of_row(self._truth)
        self.max_turns = self._chat.length

    def _done(self) -> bool:
        return self._chat.done

    def _submit(self, action: str) -> tuple[float, Score, Chat]:
        return self._chat.submit(action)


def register_environments() -> None:
    """Register the environments with SkyRL-gym; once, however often it is called.

    Warns (UntestedVersionWarning) if its version has not been tested.
    """
    warn_if_untested("skyrl-gym", *TESTED)
    kinds = {REQUEST: RequestEnv, CONVERSATION: ConversationEnv, LIVE_CONVERSATION: LiveConversationEnv}
    for name, kind in kinds.items():
        if name not in skyrl_gym.registry:
            skyrl_gym.register(id=name, entry_point=f"{__name__}:{kind.__name__}")
