"""Live episodes: the person answers the policy's own reply, and the reply is paid by the person's state.

`LiveEpisode` is one conversation; `constants` holds its zero line and unit, `calibrate` makes them, `oracle`
writes the state-knowing reply, `policies` the replies that know nothing. Environments and trainers play it by
`LiveSource` (with whom), `LiveChat` (one growing chat) and `Standing` (where it begins, as JSON values).
"""

from attune_episodes.live.constants import Constants, constants
from attune_episodes.live.episode import LiveEpisode, LiveTurn

__all__ = ["Constants", "LiveEpisode", "LiveTurn", "constants"]
