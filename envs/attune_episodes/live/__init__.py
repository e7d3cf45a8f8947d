"""Live episodes: a person answers the policy's own reply, and their state decides its reward.

`LiveEpisode` is one conversation. `constants` holds the baseline and the unit of its total, `calibrate`
measures them, `oracle` writes the state-knowing reply, and `blind` the replies that know nothing.
Environments and trainers play it through `LiveSource` (with which people), `LiveChat` (one growing chat) and
`Standing` (where it begins, as JSON values).
"""

from attune_episodes.live.constants import Constants, constants
from attune_episodes.live.episode import LiveEpisode, LiveTurn

__all__ = ["Constants", "LiveEpisode", "LiveTurn", "constants"]
