"""`Standing`: where a live conversation begins, as plain JSON values to send to a worker or put in a row.

The world, the item and the turn are enough to rebuild the person in the state in which the recorded replies
up to that turn left them, with the same random draws for every reply. It holds no text and no state, but both
can be rebuilt from it: use it for scoring, and never show it to a model.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, StrictInt

from attune_data.errors import DataError, Problem, SettingsError, UnknownNameError, show
from attune_data.simulate.stream import Level, Simulation
from attune_data.simulate.texts import Part
from attune_data.simulate.voice import grammar
from attune_data.version import SCORING_VERSION
from attune_episodes.live.episode import DEFAULT, LiveEpisode
from attune_episodes.reading import READERS


def reader_name(reader: object) -> str:
    """The name of an embedded reader, by default for None; raises UnknownNameError for anything else.

    Scoring from JSON values alone, on another machine, needs a reader that exists there too.
    """
    if reader is None:
        return DEFAULT
    if not isinstance(reader, str) or reader not in READERS:
        raise UnknownNameError("reader", str(reader), READERS)
    return reader


class _World(BaseModel):
    key: str
    seed: StrictInt
    level: dict[str, Any]
    topics: Part
    templates: Part


class _Document(BaseModel):
    """A standing as parsed from JSON."""

    scoring: str
    world: _World
    item: StrictInt
    turn: StrictInt
    reader: str


@dataclass(frozen=True, slots=True)
class Standing:
    """The turn of a recorded conversation at which a policy takes over."""

    world: Simulation
    index: int
    turn: int = 0
    reader: str = DEFAULT

    def to_json(self) -> dict[str, Any]:
        """The standing as JSON values, for `from_json`.

        Raises SettingsError for a world with a voice of its own, which JSON cannot hold.
        """
        world = self.world
        if world.voice is not grammar:
            raise SettingsError(
                f"{world!r} has a voice, which cannot be written as JSON; use a LiveEpisode instead"
            )
        return {
            "scoring": SCORING_VERSION,
            "world": {
                "key": world.key,
                "seed": world.seed,
                "level": world.level.describe(),
                "topics": world.topics,
                "templates": world.templates,
            },
            "item": self.index,
            "turn": self.turn,
            "reader": self.reader,
        }

    @staticmethod
    def from_json(document: object) -> Standing:
        """Read what `to_json` wrote.

        Raises DataError for anything else, including what another version of the scoring or of the simulated
        world wrote, since that would be a different conversation.
        """
        try:
            if not isinstance(document, Mapping):
                raise TypeError("not a JSON object")
            told = _Document.model_validate(document)
            of = told.world
            world = Simulation(of.seed, level=Level(**of.level), topics=of.topics, templates=of.templates)
            if (world.key, SCORING_VERSION) != (of.key, told.scoring):
                raise ValueError("it comes from another version of the scoring or of the simulated world")
            if not 0 <= told.turn < world.level.turns[1]:
                raise ValueError(f"no conversation of this level has a turn {told.turn}")
            world.person(told.item)  # which refuses an item that does not exist
            found = Standing(world, told.item, told.turn, reader_name(told.reader))
        except (LookupError, TypeError, ValueError) as error:  # from pydantic, or from what the world refuses
            raise DataError(
                Problem("live", "", show(str(document)), "the beginning of a live conversation",
                        f"{type(error).__name__} {error}; make the rows or tasks again")
            ) from error  # fmt: skip
        return found

    def live(self) -> LiveEpisode:
        """The conversation, taken over at this turn."""
        return LiveEpisode(self.world, self.index, turn=self.turn, reader=self.reader)
