"""`Attune/Live-v0`: a live conversation with a played person; texts in, texts out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import cycle
from pathlib import Path
from typing import Any, Final

import gymnasium
from gymnasium.error import ResetNeeded

from attune_data.errors import UnknownNameError, show
from attune_episodes.frameworks.gymnasium.spaces import TextSpace
from attune_episodes.people.cards import Card
from attune_episodes.people.endpoint import answerer, people_of
from attune_episodes.people.live import Answerer, LiveEpisode

MAX_CHARS: Final = 100_000


class LiveEnv(gymnasium.Env[str, str]):
    """An episode is a conversation: the observation is the person's message, the action the reply.

    The reward of a step is that of the reply (`LiveEpisode`). `info` has `chat`, the conversation as chat
    messages; after a step also the `turn`; and at the end `total`, `closing` (the person's judgement, apart
    from the reward) and `record`. A person who leaves terminates the episode; nothing is truncated.
    """

    metadata: dict[str, Any] = {"render_modes": ["ansi"]}  # noqa: RUF012  (Gymnasium's own declaration)

    def __init__(
        self,
        people: str | Path | Sequence[Card],
        *,
        person: str | Answerer | None = None,
        reader: str | Answerer | None = None,
        key_var: str = "",
        render_mode: str | None = None,
    ) -> None:
        """Make the environment.

        Args:
            people: a plan, the folder of pinned people, or cards.
            person: who plays the persons: a function, or `MODEL@http://…/v1`. By default, pinned people.
            reader: who reads the replies; by default, whoever plays the persons.
            key_var: the environment variable with the key of both endpoints.
            render_mode: with "ansi", `render()` returns the conversation so far.
        """
        self.person, self.cards = people_of(people, person, key_var)
        self.reader = None if reader is None else answerer(reader, key_var)
        if render_mode not in (None, "ansi"):
            raise TypeError(f"render_mode is {show(render_mode)}; expected ansi, or None")
        self.render_mode = render_mode
        self.observation_space, self.action_space = TextSpace(MAX_CHARS), TextSpace(MAX_CHARS)
        self.episode: LiveEpisode | None = None
        """The current episode; None before the first reset."""
        self._order = self._ordered()

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[str, dict[str, Any]]:
        """Begin a conversation with the next person, or with `options={"card": id}`.

        `seed` shuffles the persons; without one they come in the order of the plan.
        """
        super().reset(seed=seed)
        if seed is not None:
            self._order = self._ordered([int(i) for i in self.np_random.permutation(len(self.cards))])
        known = {card.id: card for card in self.cards}
        name = (options or {}).get("card")
        if name is not None and name not in known:
            raise UnknownNameError("card", str(name), known)
        card = known[name] if name is not None else next(self._order)
        self.episode = LiveEpisode(card, person=self.person, reader=self.reader)
        return self.episode.message, self._info()

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Reply; raises ResetNeeded before the first reset and after the end."""
        episode = self.episode
        if episode is None or episode.done:
            raise ResetNeeded("call reset() to begin a conversation")
        turn = episode.say(action)
        info = {**self._info(), "turn": turn}
        if episode.done:
            info |= {"total": episode.total, "closing": episode.closing, "record": episode.record()}
        return episode.message, turn.reward, episode.done, False, info

    def render(self) -> str | None:
        """The conversation so far in mode ansi; None in other modes."""
        if self.render_mode is None or self.episode is None:
            return None
        return "\n\n".join(f"{message['role']}: {message['content']}" for message in self.episode.chat())

    def _ordered(self, places: Sequence[int] | None = None) -> Iterator[Card]:
        return cycle(self.cards if places is None else [self.cards[i] for i in places])

    def _info(self) -> dict[str, Any]:
        assert self.episode is not None
        return {"card": self.episode.card.id, "chat": self.episode.chat()}
