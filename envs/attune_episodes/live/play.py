"""Plays policies with many people, each in a separate episode."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from attune_data.simulate.stream import Simulation
from attune_episodes.live.constants import Constants
from attune_episodes.live.episode import LiveEpisode
from attune_episodes.reading import Reader

LivePolicy = Callable[[LiveEpisode], str | None]
"""Gives the reply to the current message. One that knows nothing uses only `message` and `turns`."""


class LivePlayed(NamedTuple):
    """The outcome of one episode."""

    total: float
    turns: int
    lost: int
    """How many turns were lost because the person left."""
    told: bool
    """Whether the person told what they held back."""


def play_live(
    policy: LivePolicy,
    world: Simulation,
    indices: Iterable[int],
    *,
    reader: Reader | str | None = None,
    measured: Constants | None = None,
) -> list[LivePlayed]:
    """Play a policy with these people of a world, to the end of each conversation."""
    return [played(policy, LiveEpisode(world, i, reader=reader, measured=measured)) for i in indices]


def played(policy: LivePolicy, live: LiveEpisode) -> LivePlayed:
    """Play one episode to its end."""
    while not live.done:
        live.say(policy(live))
    lost = live.talk.story.count - len(live.turns)
    return LivePlayed(live.total, len(live.turns), lost, live.talk.bond.disclosed)
