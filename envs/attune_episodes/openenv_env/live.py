"""Live conversations in OpenEnv sessions: each reply is said to a simulated person, who answers it."""

from __future__ import annotations

from threading import Lock
from typing import Any

from attune_data.errors import SettingsError, show
from attune_episodes.live.chat import live_score
from attune_episodes.live.episode import LiveEpisode
from attune_episodes.live.source import LiveSource
from attune_episodes.openenv_env.environment import check_seed
from attune_episodes.score import LIVE


class LiveServed:
    """The state that a server's sessions share: the world, the order of its people, the reader."""

    description = (
        "Live conversations: a simulated person answers each reply; the reward is what it was worth to them."
    )

    def __init__(self, source: LiveSource) -> None:
        self.source = source
        self._lock = Lock()  # the source keeps an order

    def episode(self, seed: int | None, conversation_id: str | None, index: int | None) -> LivePlaying:
        """Begin an episode; the arguments and errors are those of `AttuneEnvironment.reset`."""
        check_seed(seed)
        if conversation_id is not None:
            raise SettingsError(
                f"conversation_id is {show(conversation_id)}; a live conversation is named by its index"
            )
        with self._lock:
            if seed is not None and index is None:
                return LivePlaying(self.source.drawn(seed))
            return LivePlaying(self.source.begin(None if index is None else {"index": index}))


class LivePlaying:
    """A `LiveEpisode` as a session sees it: never the person's state."""

    total_name = "live_total"

    def __init__(self, live: LiveEpisode) -> None:
        self._live = live
        self.name = live.name
        self.number = live.length

    @property
    def said(self) -> int:
        """How many replies were given."""
        return len(self._live.turns)

    @property
    def done(self) -> bool:
        """Whether the person has ended the conversation or left."""
        return self._live.done

    @property
    def total(self) -> float:
        """The sum of the rewards."""
        return self._live.total

    def waiting(self) -> dict[str, Any]:
        """The chat, and which reply is next; after the end the chat alone, with the last words."""
        seen: dict[str, Any] = {"messages": self._live.chat()}
        if not self.done:
            turn = self.said + 1
            seen |= {"request_id": f"{self.name}/{turn}", "stage": LIVE, "turn": turn}
        return seen

    def say(self, text: str) -> dict[str, Any]:
        """Say the reply; `parts` and `status` tell what it was worth to the person and what they did."""
        turn = self._live.say(text)
        score = live_score(turn.reward)
        return {
            "reward": turn.reward,
            "scored": f"{self.name}/{self.said}",
            "parts": turn.taken._asdict(),
            "value": score.value,
            "weight": score.weight,
            "reason": score.reason,
            "status": turn.answer,
        }
