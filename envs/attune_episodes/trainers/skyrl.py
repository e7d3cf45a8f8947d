"""SkyRL-gym environments: one request, or a whole conversation in one growing chat, recorded or live.

`register_environments()` registers them with `skyrl_gym.make` under the ids that `to_skyrl` writes into the
rows; call it in the process that makes environments.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Final

from attune_data.extras import needs_extra, warn_if_untested
from attune_episodes.episode import EpisodeOverError
from attune_episodes.live.chat import LiveChat
from attune_episodes.trainers.columns import CONVERSATION, LIVE_CONVERSATION, REQUEST
from attune_episodes.trainers.conversations import Chat, GrowingChat
from attune_episodes.trainers.live import chat_of_row
from attune_episodes.trainers.scoring import checked_truth, score_truth, shares_of
from attune_rewards.reward import OK, Score, part_means

with needs_extra("skyrl", "skyrl_gym"):
    import skyrl_gym
    from skyrl_gym.envs.base_text_env import BaseTextEnv, BaseTextEnvStepOutput

TESTED: Final = ("0.4", "0.5")
"""The range of tested versions of skyrl-gym; the upper end is excluded."""


class _AttuneEnv(BaseTextEnv):  # type: ignore[misc]  # skyrl-gym is not installed when types are checked
    """The rewards of an episode, its metrics, and its end."""

    max_turns: int
    told: ClassVar[dict[str, Any]] = {}
    """Further values that `init` returns, besides the number of requests."""

    def __init__(self, env_config: object = None, extras: Mapping[str, Any] | None = None) -> None:
        super().__init__()
        wanted = (extras or {}).get("reward_spec")
        self._truth: Any = wanted.get("ground_truth") if isinstance(wanted, Mapping) else None
        self._begin()  # which raises an error for an invalid truth

    def init(self, prompt: Chat) -> tuple[Chat, dict[str, Any]]:
        """Begin the episode with the unchanged prompt of the row."""
        self._begin()
        return prompt, {"requests": self.max_turns, **self.told}

    def step(self, action: str) -> BaseTextEnvStepOutput:
        """Score the answer; `observations` are the messages of the next request, if there is one.

        `metadata` holds the answer's `parts` (name -> score in [0, 1]) and `reason`.
        """
        if self._chat.done:
            raise EpisodeOverError("the episode is over; call init(prompt) to start again")
        reward, score, following = self._chat.submit(action)
        self.turns += 1
        self._rewards.append(reward)
        self._scores.append(score)
        metadata = {"parts": dict(score.parts), "reason": score.reason}
        return BaseTextEnvStepOutput(
            observations=following, reward=reward, done=self._chat.done, metadata=metadata
        )

    def get_metrics(self) -> dict[str, Any]:
        """`return`, `parse_rate`, and the mean score of each part."""
        metrics = part_means(self._scores)
        if self._scores:
            metrics["parse_rate"] = sum(s.reason == OK for s in self._scores) / len(self._scores)
        return {"return": math.fsum(self._rewards), **metrics}

    def _begin(self) -> None:
        self.turns = 0
        self._rewards: list[float] = []
        self._scores: list[Score] = []
        self._chat = self.chat_of(self._truth)
        self.max_turns = self._chat.length

    @staticmethod
    @abstractmethod
    def chat_of(truth: Any, /) -> GrowingChat | LiveChat | _OneRequest:
        """Begin the chat of a row; raises DataError for a truth that this package did not write."""


class _OneRequest:
    """One row as a chat with a single answer."""

    length = 1

    def __init__(self, truth: object) -> None:
        self._truth = checked_truth(truth)
        shares_of(self._truth)  # which parses it
        self.done = False

    def submit(self, reply: str) -> tuple[float, Score, Chat]:
        self.done = True
        score = score_truth(self._truth, reply)
        return score.value or 0.0, score, []


class RequestEnv(_AttuneEnv):
    """One row with a single answer, exactly as in the protocol. The reward is the value of `score_row`."""

    chat_of = _OneRequest


class ConversationEnv(_AttuneEnv):
    """All scored requests of a conversation in one chat; rewards sum to the return of the episode.

    This is not protocol-exact: the chat contains the model's own earlier answers and the questions asked
    outside the thread, whereas the protocol shows neither. `max_turns` in the configuration is ignored, since
    a conversation has as many steps as scored requests.
    """

    told: ClassVar = {"protocol_exact": False}
    chat_of = staticmethod(GrowingChat.of_row)


class LiveConversationEnv(_AttuneEnv):
    """A simulated person answers the model's own replies; rewards sum to the total of the live episode.

    The person ends the conversation after `requests` replies, or leaves earlier; `max_turns` in the
    configuration is ignored.
    """

    chat_of = staticmethod(chat_of_row)


def register_environments() -> None:
    """Register the environments with SkyRL-gym, only once even if called repeatedly.

    Warns (UntestedVersionWarning) if its version has not been tested.
    """
    warn_if_untested("skyrl-gym", *TESTED)
    kinds = {REQUEST: RequestEnv, CONVERSATION: ConversationEnv, LIVE_CONVERSATION: LiveConversationEnv}
    for name, kind in kinds.items():
        if name not in skyrl_gym.registry:
            skyrl_gym.register(id=name, entry_point=f"{__name__}:{kind.__name__}")
