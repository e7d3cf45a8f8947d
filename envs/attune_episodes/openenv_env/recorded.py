"""Recorded conversations in OpenEnv sessions: each reply answers one request of the protocol."""

from __future__ import annotations

from threading import Lock
from typing import Any

import numpy as np

from attune_data.schema import Conversation
from attune_episodes.episode import Episode
from attune_episodes.openenv_env.environment import check_name, check_seed
from attune_episodes.settings import Settings
from attune_episodes.source import WORLD, ConversationSource
from attune_rewards.spec import RewardSpec


class RecordedServed:
    """The state that a server's sessions share: conversations and their order, settings, reward."""

    description = "Annotated conversations: predict, turn by turn, what the person felt and preferred."

    def __init__(self, source: ConversationSource, settings: Settings, spec: RewardSpec) -> None:
        self.source, self.settings, self.spec = source, settings, spec
        self._lock = Lock()  # the source keeps an order, and the conversations that it made lately

    def episode(self, seed: int | None, conversation_id: str | None, index: int | None) -> RecordedPlaying:
        """Begin an episode; the arguments and errors are those of `AttuneEnvironment.reset`."""
        check_seed(seed)
        check_name("conversation_id", conversation_id)
        given = {"conversation_id": conversation_id, "index": index}
        options = {name: value for name, value in given.items() if value is not None}
        generator = np.random.default_rng(seed)
        size = WORLD if self.source.endless else len(self.source)

        def drawn() -> Conversation:
            return self.source.conversation(int(generator.integers(size)))

        with self._lock:
            chosen = self.source.choose(options, self.settings, None if seed is None else drawn)
        return RecordedPlaying(Episode(chosen, self.settings, self.spec))


class RecordedPlaying:
    """The engine's `Episode` as a session sees it."""

    def __init__(self, episode: Episode) -> None:
        self._episode = episode
        self.name = episode.conversation.conversation_id
        self.number = len(episode.requests)
        self.total_name = episode.total_name

    @property
    def said(self) -> int:
        """How many requests were answered."""
        return len(self._episode.steps)

    @property
    def done(self) -> bool:
        """Whether every request was answered."""
        return self._episode.done

    @property
    def total(self) -> float:
        """The return so far."""
        return self._episode.total

    def waiting(self) -> dict[str, Any]:
        """The request that waits; nothing after the last."""
        if self.done:
            return {}
        request = self._episode.request
        return {
            "request_id": request.id,
            "stage": request.stage,
            "turn": request.turn,
            "messages": request.chat(),
            "answer_schema": request.schema,
        }

    def say(self, text: str) -> dict[str, Any]:
        """Score the reply; one that cannot be read earns 0 and says why."""
        step = self._episode.submit(text)
        score = step.score
        return {
            "reward": step.reward,
            "scored": step.request.id,
            "parts": dict(score.parts),
            "value": score.value,
            "weight": score.weight,
            "reason": score.reason,
            "status": step.status,
        }
