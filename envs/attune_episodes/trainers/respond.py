"""Rows of the stage `respond`: the recorded conversation up to a person's message, and one reply to it.

The reward is that one turn's live reward. A row's truth says where the conversation stands, not how: the
world, the item and the turn are enough to make the person again, in the state in which the recorded replies
left them (`attune_data.simulate.live.Talk`), with the same luck for every reply.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from pydantic import BaseModel, StrictInt

from attune_data.errors import SettingsError, show
from attune_data.simulate.stream import Level, Simulation
from attune_data.simulate.texts import Part
from attune_data.version import SCORING_VERSION
from attune_episodes.live import LiveEpisode
from attune_episodes.live.episode import DEFAULT
from attune_episodes.reading import READERS
from attune_episodes.trainers.rows import Row
from attune_episodes.trainers.truth import LIVE, RESPOND
from attune_rewards.reward import Score


@dataclass(frozen=True, slots=True)
class RespondMaker:
    """Makes rows of simulated conversations. Picklable: worker processes make rows too."""

    reader: str = DEFAULT
    """A name of `READERS`: what is scored from a row alone has no other."""

    name = LIVE

    def __post_init__(self) -> None:
        if self.reader not in READERS:
            raise SettingsError(
                f"reader is {show(self.reader)}; rows are read by one of {', '.join(READERS)}"
            )

    def rows(self, world: Simulation, index: int) -> Iterator[Row]:
        """One row for each turn of conversation `index`."""
        about = world[index]
        chat: list[dict[str, str]] = []
        for place, turn in enumerate(about.turns):
            chat = [*chat, {"role": "user", "content": turn.user_message}]
            yield {
                "prompt": chat,
                "id": f"{about.conversation_id}/{turn.turn_number}/{RESPOND}",
                "conversation_id": about.conversation_id,
                "participant_id": about.participant,
                "stage": RESPOND,
                "turn": turn.turn_number,
                "level": world.level.name,
                "weight": 1.0,
                "reward": LIVE,
                "truth": written(world, index, place, self.reader),
                "provenance": about.origin,
            }
            chat = [*chat, {"role": "assistant", "content": turn.llm_response}]


def written(world: Simulation, index: int, turn: int, reader: str) -> str:
    """The truth of a row: where its conversation stands, as one JSON text."""
    document = {
        "scoring": SCORING_VERSION,
        "stage": RESPOND,
        "world": {
            "key": world.key,
            "seed": world.seed,
            "level": world.level.describe(),
            "topics": world.topics,
            "templates": world.templates,
        },
        "item": index,
        "turn": turn,
        "reader": reader,
    }
    return json.dumps(document, ensure_ascii=False, separators=(",", ":"))


class _World(BaseModel):
    key: str
    seed: StrictInt
    level: dict[str, Any]
    topics: Part
    templates: Part


class _Document(BaseModel):
    """A truth as it is read."""

    stage: Literal["respond"]
    world: _World
    item: StrictInt
    turn: StrictInt
    reader: str


class Standing(NamedTuple):
    """Where a conversation stands when the reply comes."""

    world: Simulation
    index: int
    turn: int
    reader: str

    @staticmethod
    def read(document: Mapping[str, Any]) -> Standing:
        """Read a truth; ValueError where it is none, or of another version of the simulated world."""
        told = _Document.model_validate(document)
        of = told.world
        world = Simulation(of.seed, level=Level(**of.level), topics=of.topics, templates=of.templates)
        if world.key != of.key:
            raise ValueError("it is of another version of the simulated world")
        found = Standing(world, told.item, told.turn, RespondMaker(told.reader).reader)
        found.live()  # which refuses a turn that is not there
        return found

    def live(self) -> LiveEpisode:
        """The live conversation, taken over at this turn."""
        return LiveEpisode(self.world, self.index, turn=self.turn, reader=self.reader)

    def score(self, reply: str) -> Score:
        """The reward of a reply, in the unit of live totals: not bounded by 0 and 1."""
        reward = self.live().say(reply).reward
        return Score(reward, parts={LIVE: reward}, weight=1.0)
