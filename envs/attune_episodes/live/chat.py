"""`LiveChat`: a live conversation as one growing chat, the form that trainers and harnesses use."""

from __future__ import annotations

from attune_episodes.live.episode import LiveEpisode
from attune_episodes.score import LIVE
from attune_rewards.reward import Score

Chat = list[dict[str, str]]


class LiveChat:
    """A live episode whose replies stay in the chat as the model wrote them."""

    def __init__(self, episode: LiveEpisode) -> None:
        self.episode = episode

    @property
    def done(self) -> bool:
        """Whether the person has ended the conversation or left."""
        return self.episode.done

    @property
    def length(self) -> int:
        """The most replies that are asked for."""
        return self.episode.length

    def opening(self) -> Chat:
        """The messages before the first reply."""
        return self.episode.chat()

    def submit(self, reply: str) -> tuple[float, Score, Chat]:
        """Say a reply; returns its reward, its score, and the messages to append to the chat."""
        turn = self.episode.say(reply)
        following = [] if turn.done else [{"role": "user", "content": self.episode.message}]
        return turn.reward, live_score(turn.reward), following


def live_score(reward: float) -> Score:
    """A live reward as the score of one request, with weight 1; it is unbounded."""
    return Score(reward, parts={LIVE: reward}, weight=1.0)
