"""`LiveSource`: the people an environment holds live conversations with, and their order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from attune_data.errors import SettingsError, UnknownNameError, show
from attune_data.simulate.stream import Level, Simulation
from attune_episodes.data_arguments import SIMULATED
from attune_episodes.live.episode import LiveEpisode
from attune_episodes.live.standing import reader_name
from attune_episodes.source import WORLD, ConversationSource


def check_simulated(data: object, who: str = "a live conversation") -> None:
    """Refuse conversations whose people have no known state, with a SettingsError."""
    if not (isinstance(data, str) and data == SIMULATED):
        raise SettingsError(
            f"data is {show(data)}, whose people have no known state; {who} needs "
            f'"{SIMULATED}" or, in Python, a Simulation(…)'
        )


class LiveSource:
    """Live conversations with simulated people, endless, in the orders that `ConversationSource` offers."""

    def __init__(
        self,
        data: object = SIMULATED,
        *,
        level: str | Level = "default",
        world_seed: int = 0,
        reader: str | None = None,
        **selection: Any,
    ) -> None:
        """Set the world and the order.

        Args:
            data: "simulated"; only simulated people have a known state.
            level: how hard people are to read.
            world_seed: which people they are.
            reader: what reads the replies: a name in `READERS`, by default `fitted`.
            selection: further arguments of `ConversationSource`: `number`, `sampling`, `shard`.

        Raises SettingsError and UnknownNameError if `ConversationSource` does, and SettingsError for other
        data.
        """
        check_simulated(data)
        self.reader = reader_name(reader)
        self.order = ConversationSource(SIMULATED, level=level, world_seed=world_seed, **selection)
        self.world = Simulation(world_seed, level=level)

    @property
    def name(self) -> str:
        """A short description of where the people come from."""
        return f"live conversations, {self.world.source}, reader {self.reader}"

    def begin(self, options: object = None, np_random: np.random.Generator | None = None) -> LiveEpisode:
        """Begin the next conversation, or the one that `{"index": i}` names.

        Raises UnknownNameError for any other option, SettingsError for an index that does not exist.
        """
        if options:
            if not isinstance(options, Mapping):
                raise SettingsError(f'options is {show(options)}; expected {{"index": i}}')
            for name in options:
                if name != "index":
                    raise UnknownNameError("reset option", str(name), ("index",))
            index = options["index"]
            if not self.order.endless:
                self.order.conversation(index)  # which refuses an index that does not exist
        else:
            index = self.order.next_index(np_random)
        return LiveEpisode(self.world, index, reader=self.reader)

    def drawn(self, seed: int) -> LiveEpisode:
        """Begin the conversation that a seed draws, regardless of what was played before."""
        size = WORLD if self.order.endless else len(self.order)
        return LiveEpisode(self.world, int(np.random.default_rng(seed).integers(size)), reader=self.reader)
