"""An endless, seeded source of simulated conversations: item i is the same everywhere, always."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import lru_cache
from itertools import count
from typing import Any, Final

from attune_data.errors import SettingsError, UnknownNameError
from attune_data.loading import Conversations
from attune_data.schema import Conversation
from attune_data.seeding import digest
from attune_data.simulate.conversation import LatentState, hold
from attune_data.simulate.draws import Draws
from attune_data.simulate.levels import LEVELS, Level, level_of
from attune_data.simulate.person import Person, make_person
from attune_data.simulate.texts import PARTS, Part, texts

VERSION: Final = 1
"""Of the simulated world: it goes up whenever the same seed gives other conversations."""
_OWNERS: Final = (0, 1, 1, 2, 3, 3)
"""Six conversations in a row belong to four people, two of whom hold two."""
_PEOPLE: Final = max(_OWNERS) + 1


class Simulation:
    """Simulated conversations 0, 1, 2, … of a seed, without end; made when they are asked for.

    Iterating starts at the first one each time; `simulation[i]` makes item i alone; `take(n)` gives
    `Conversations`. Memory stays flat. Marked `simulated`, and may be trained on.

    >>> world = Simulation(seed=7)
    >>> world[3].conversation_id == next(iter(Simulation(seed=7, start=3))).conversation_id
    True
    """

    def __init__(
        self,
        seed: int = 0,
        *,
        level: str | Level = "default",
        topics: Part = "all",
        templates: Part = "all",
        start: int = 0,
        step: int = 1,
    ) -> None:
        """Describes the world; nothing is made yet.

        Args:
            seed: of everything.
            level: a name of `LEVELS`, or your own Level.
            topics: "all", or one part of them: "unseen" is three topics that "seen" does not have.
            templates: the same of the phrases: "unseen" is a fifth of every list.
            start: index of the first item of an iteration.
            step: distance between the items of an iteration (`start=rank, step=workers` shares the stream
                out).
        """
        if type(seed) is not int:
            raise SettingsError(f"seed is {seed!r}; it must be a whole number")
        for kind, part in (("part of topics", topics), ("part of templates", templates)):
            if part not in PARTS:
                raise UnknownNameError(kind, part, PARTS)
        if type(start) is not int or type(step) is not int or start < 0 or step < 1:
            raise SettingsError(f"start is {start!r} and step {step!r}; whole numbers, at least 0 and 1")
        self.seed, self.start, self.step = seed, start, step
        self.level = level_of(level)
        self.topics, self.templates = topics, templates
        world = [VERSION, seed, self.level.describe(), topics, templates]
        self._key = digest(json.dumps(world, sort_keys=True)).hex()

    def __repr__(self) -> str:
        whole = self.topics == self.templates == "all"
        parts = "" if whole else f", {self.topics} topics, {self.templates} templates"
        return f"Simulation(seed {self.seed}, level {self._level_name!r}{parts})"

    @property
    def source(self) -> str:
        """The world in a few words, as tables and rows name where data comes from."""
        return f"simulated, seed {self.seed}, level {self._level_name}"

    @property
    def _level_name(self) -> str:
        return self.level.name if LEVELS.get(self.level.name) == self.level else "of its own"

    def __iter__(self) -> Iterator[Conversation]:
        return (self[i] for i in count(self.start, self.step))

    def __getitem__(self, index: int) -> Conversation:
        """Item `index`, from 0, whatever `start` and `step` are."""
        return Conversation.model_validate(self.record(index))

    def take(self, number: int) -> Conversations:
        """The next `number` items of an iteration, in memory."""
        if type(number) is not int or number < 1:
            raise SettingsError(
                f"number of conversations is {number!r}; it must be a whole number, at least 1"
            )
        indices = range(self.start, self.start + number * self.step, self.step)
        return Conversations([self[i] for i in indices], source=self.source)

    def record(self, index: int) -> dict[str, Any]:
        """Item `index` as a JSON record in the benchmark's format."""
        return self.with_state(index)[0]

    def with_state(self, index: int) -> tuple[dict[str, Any], LatentState]:
        """Item `index`: its record, and the latent state that its labels were drawn from."""
        person = self.person(index)
        said = texts(self.templates, self.topics)
        name = digest(self._key, "id", index).hex()[:20]
        return hold(said, person, self.level, f"sim-{name}", Draws(self._key, index))

    def person(self, index: int) -> Person:
        """Who holds conversation `index`: the same person at every level of a seed."""
        if type(index) is not int or index < 0:
            raise SettingsError(f"index is {index!r}; it must be a whole number from 0")
        block, place = divmod(index, len(_OWNERS))
        return _person(self.seed, block * _PEOPLE + _OWNERS[place])


@lru_cache(maxsize=64)
def _person(seed: int, number: int) -> Person:
    name = digest(seed, "participant", number).hex()[:12]
    return make_person(seed, number, f"S-{name}", texts().families)


def simulate(
    number: int,
    seed: int = 0,
    *,
    level: str | Level = "default",
    topics: Part = "all",
    templates: Part = "all",
) -> Conversations:
    """The first `number` simulated conversations of a seed, in memory; `Simulation` for an endless stream.

    >>> simulate(2, seed=1)
    Conversations(2 from 'simulated, seed 1, level default', simulated)
    """
    return Simulation(seed, level=level, topics=topics, templates=templates).take(number)
