"""Playing policies over many people, each in an episode of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from attune_data.simulate.stream import Simulation
from attune_episodes.live.constants import Constants
from attune_episodes.live.episode import LiveEpisode
from attune_episodes.reading import Reader

LivePolicy = Callable[[LiveEpisode], str | None]
"""The reply to the person's present message. One that knows nothing looks at `message` and `turns` alone."""


class LivePlayed(NamedTuple):
    """What came of one episode."""

    total: float
    turns: int
    lost: int
    """Turns that were lost when the person went."""
    told: bool
    """Whether what was held back came out."""


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
