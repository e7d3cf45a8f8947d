"""The presets: rewards with a name, one or several to a module that assigns `REWARDS` and defines `make`."""

from __future__ import annotations

from dataclasses import dataclass
from operator import attrgetter
from typing import Final

from attune_data.registry import Registry


@dataclass(frozen=True, slots=True)
class Preset:
    """The description of a preset, available before it is made."""

    text: str
    """What it rewards, and what it is for."""
    rewards_silence: bool = False
    """Whether an empty answer may earn something, or a perfect one less than 1: never train with it."""


REWARDS: Final = Registry(__name__, "REWARDS", "reward preset", Preset, attrgetter("rewards_silence"))
"""Name -> preset, those that reward silence last; `REWARDS.make(name)` is its `RewardSpec`."""
