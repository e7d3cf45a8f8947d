"""TRL: `LiveEnvironments(…)` as the `environment_factory` of GRPOTrainer: played people to talk with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from attune_data.extras import needs_extra
from attune_episodes.frameworks.trl import OVER, NotResetError
from attune_episodes.people.cards import Card
from attune_episodes.people.endpoint import answerer, people_of
from attune_episodes.people.live import Answerer, LiveEpisode
from attune_episodes.play.episode import EpisodeOverError

if TYPE_CHECKING:
    from datasets import Dataset

HOW = "Reply to this person with the tool `answer`, which returns what they say next."


class LiveEnvironment:
    """One conversation at a time: `reset`, then calls of `answer`, then `get_reward`."""

    def __init__(self, begin: Callable[[str], LiveEpisode]) -> None:
        """Make the environment; `begin` begins a conversation with the person of a card's id."""
        self._begin = begin
        self._episode: LiveEpisode | None = None

    @property
    def episode(self) -> LiveEpisode:
        """The episode that is played; raises NotResetError before `reset`."""
        if self._episode is None:
            raise NotResetError("no conversation has begun: call reset() first")
        return self._episode

    def reset(self, card: str, **row: object) -> str:
        """Begin the conversation of a card and return its first message; `row` is not used."""
        self._episode = self._begin(card)
        return f"{HOW}\n\n{self._episode.message}"

    def answer(self, reply: str) -> str:
        """Reply to the person, and get their next message.

        Args:
            reply: Your reply, as the person will read it.

        Returns:
            What the person says next, or that the conversation is over.
        """
        # the model is shown this docstring
        if self.episode.done:
            raise EpisodeOverError(f"{OVER} Do not reply any more.")
        self.episode.say(str(reply))
        return self.episode.message or OVER

    def get_reward(self) -> float:
        """End the conversation with silence, so that stopping does not pay, and return its total."""
        while not self.episode.done:
            self.episode.say("")
        return self.episode.total


class LiveEnvironments:
    """Makes the environments of a trainer, and the data set that names their cards.

    The arguments are those of `Attune/Live-v0`.
    """

    def __init__(
        self,
        people: str | Path | Sequence[Card],
        *,
        person: str | Answerer | None = None,
        reader: str | Answerer | None = None,
        key_var: str = "",
    ) -> None:
        self.person, cards = people_of(people, person, key_var)
        self.reader = None if reader is None else answerer(reader, key_var)
        self.cards = {card.id: card for card in cards}

    def __call__(self) -> LiveEnvironment:
        """Make an environment."""
        return LiveEnvironment(self._begin)

    @property
    def train_dataset(self) -> Dataset:
        """One row per card of the part train, for the trainer's argument of that name."""
        with needs_extra("trl", "datasets"):
            from datasets import Dataset
        names = [name for name, card in self.cards.items() if card.part == "train"]
        return Dataset.from_list(
            [{"prompt": [{"role": "user", "content": ""}], "card": one} for one in names]
        )

    def _begin(self, card: str) -> LiveEpisode:
        return LiveEpisode(self.cards[card], person=self.person, reader=self.reader)
