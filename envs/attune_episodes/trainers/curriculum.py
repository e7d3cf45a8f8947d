"""`Curriculum`: simulated conversations of one level, of several in turn, or after a schedule."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, cycle, islice, repeat
from typing import Any

from attune_data.errors import SettingsError, show
from attune_data.schema import Conversation
from attune_data.simulate.stream import Level, Simulation, level_of


@dataclass(frozen=True)
class Curriculum(Iterable[Conversation]):
    """Conversation i of a world at the i-th of its levels, whoever holds it. Picklable, iterates again."""

    seed: int
    schedule: tuple[tuple[Level, int], ...]
    """(level, how many conversations in a row): the schedule begins again after its last level."""
    number: int | None
    """How many conversations in all; None: without end."""

    @staticmethod
    def of(
        level: str | Level | Sequence[str | Level] | Mapping[str, int], seed: int, number: int | None
    ) -> Curriculum:
        """The curriculum that the arguments of `training_dataset` describe.

        Raises UnknownNameError for a level that does not exist, SettingsError for an empty list, a schedule
        whose counts are not whole numbers above 0, and one beside a `number`.
        """
        if isinstance(level, Mapping):
            for name, count in level.items():
                if type(count) is not int or count < 1:
                    raise SettingsError(f"level {show(name)} has {show(count)} conversations; at least 1")
            if number is not None:
                raise SettingsError("a schedule of levels counts its conversations; leave out number")
            schedule = tuple((level_of(name), count) for name, count in level.items())
            number = sum(level.values())
        else:
            named: Any = level if isinstance(level, (list, tuple)) else [level]
            schedule = tuple((level_of(one), 1) for one in named)
        if not schedule:
            raise SettingsError("level is empty; name at least one")
        return Curriculum(seed, schedule, number)

    def __iter__(self) -> Iterator[Conversation]:
        return (conversation for conversation, _ in self.with_levels())

    def with_levels(self) -> Iterator[tuple[Conversation, str]]:
        """Each conversation with the name of its level."""
        worlds = {level: Simulation(self.seed, level=level) for level, _ in self.schedule}
        levels = chain.from_iterable(repeat(level, count) for level, count in cycle(self.schedule))
        for index, level in enumerate(islice(levels, self.number)):
            yield worlds[level][index], level.name
