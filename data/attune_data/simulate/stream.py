"""The endless, seeded stream of simulated conversations, and its levels of difficulty.

Item i of a seed is always the same, on every machine.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import lru_cache
from itertools import count
from typing import Any, Final

from attune_data.errors import SettingsError, UnknownNameError, show
from attune_data.loading import Conversations
from attune_data.schema import Conversation
from attune_data.seeding import digest
from attune_data.simulate.draws import Draws
from attune_data.simulate.person import Person, make_person
from attune_data.simulate.texts import PARTS, Part, texts
from attune_data.simulate.turn import LatentState, hold
from attune_data.simulate.voice import Voice, grammar, name_of, put_into_words


@dataclass(frozen=True, slots=True)
class Level:
    """How hard the people of a simulated world are to read. Probabilities are in [0, 1]."""

    name: str = "default"
    clarity: float = 0.84
    """Probability that a feeling which shifted shows in the message."""
    blunt: float = 0.26
    """Subtracted from the clarity for any diagnosis: the only clinical effect (docs/simulator.md)."""
    leak: float = 0.18
    """Probability that a message shows a feeling even though none shifted."""
    mixed: float = 0.26
    """Probability of a second feeling in addition to the first."""
    gain: float = 3.0
    """Steepness of choices between replies: higher is less noisy."""
    wish_noise: float = 0.75
    """Spread of the noise in what a person would have wanted; above 0."""
    judgement: float = 0.95
    """Sharpness of judgements (does the tone fit?): at 0 they are random."""
    turns: tuple[int, int] = (4, 7)
    """Fewest and most turns of a conversation."""

    def __post_init__(self) -> None:
        for field in ("clarity", "blunt", "leak", "mixed", "gain", "judgement", "wish_noise"):
            value = getattr(self, field)
            highest = math.inf if field in ("gain", "judgement", "wish_noise") else 1.0
            if not (isinstance(value, int | float) and math.isfinite(value) and 0.0 <= value <= highest):
                expected = f"a number from 0 to {highest:g}"
                raise SettingsError(f"{field} of a level is {value!r}; it must be {expected}")
            object.__setattr__(self, field, float(value))  # 3 and 3.0 are the same level
        if not self.wish_noise:
            raise SettingsError("wish_noise of a level is 0; it must be above 0")
        turns: Any = self.turns
        pair = tuple(turns) if isinstance(turns, tuple | list) else ()
        if not (len(pair) == 2 and all(type(n) is int for n in pair) and 1 <= pair[0] <= pair[1] <= 20):
            raise SettingsError(
                f"turns of a level are {turns}; expected two whole numbers, 1 ≤ fewest ≤ most ≤ 20"
            )
        object.__setattr__(self, "turns", pair)

    def describe(self) -> dict[str, Any]:
        """The level's values, as records and seeds name them."""
        return asdict(self) | {"turns": list(self.turns)}


LEVELS: Final[dict[str, Level]] = {
    level.name: level
    for level in (
        Level("plain", .97, .05, .05, .05, 6.0, .35, 1.6, (3, 4)),
        Level("clear", .92, .15, .12, .15, 4.0, .50, 1.2, (4, 5)),
        Level(),
        Level("blunted", .65, .40, .28, .30, 3.0, .75, .95, (4, 7)),
        Level("tangled", .60, .30, .35, .50, 2.0, 1.0, .7, (6, 10)),
    )
}  # fmt: skip
"""Name -> level, from the easiest to the hardest."""


def level_of(level: str | Level) -> Level:
    """The level itself, or the one with that name; raises UnknownNameError with a suggestion."""
    if isinstance(level, Level):
        return level
    given: object = level
    if not isinstance(given, str) or given not in LEVELS:
        raise UnknownNameError("level", level, LEVELS)
    return LEVELS[level]


VERSION: Final = 2
"""Version of the simulated world: raised whenever the same seed gives different conversations."""
_OWNERS: Final = (0, 1, 1, 2, 3, 3)
"""Every six consecutive conversations belong to four people, two of whom hold two each."""
_PEOPLE: Final = max(_OWNERS) + 1


class Simulation:
    """The endless simulated conversations 0, 1, 2, … of a seed, generated on demand.

    Each iteration starts at the first one; `simulation[i]` generates only item i; `take(n)` returns
    `Conversations`. Memory use is constant. The conversations are marked `simulated` and may be trained on.

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
        voice: Voice = grammar,
    ) -> None:
        """Define the world; nothing is generated yet.

        Args:
            seed: the seed of all draws.
            level: a name of `LEVELS`, or your own Level.
            topics: "all", or a part: "unseen" has three topics that "seen" lacks.
            templates: "all", or a part of the phrases: "unseen" is a fifth of every list.
            start: index of the first item of an iteration.
            step: distance between the items of an iteration (`start=rank, step=workers` divides the stream
                among workers).
            voice: words the messages and replies, given a packet with the content of each and the transcript;
                by default the grammar. People, states, random draws and annotations do not depend on it.
        """
        if type(seed) is not int:
            raise SettingsError(f"seed is {seed!r}; it must be a whole number")
        for kind, part in (("part of topics", topics), ("part of templates", templates)):
            if part not in PARTS:
                raise UnknownNameError(kind, part, PARTS)
        if type(start) is not int or type(step) is not int or start < 0 or step < 1:
            raise SettingsError(
                f"start is {start!r} and step {step!r}; expected whole numbers from 0 and from 1"
            )
        if not callable(voice):
            raise SettingsError(
                f"voice is {show(voice)}; expected a callable from packet and transcript to text"
            )
        self.seed, self.start, self.step = seed, start, step
        self.level = level_of(level)
        self.topics, self.templates = topics, templates
        self.voice = voice
        world = [VERSION, seed, self.level.describe(), topics, templates]
        self.key = digest(json.dumps(world, sort_keys=True)).hex()
        """Key of everything but `start`, `step` and `voice`: worlds with equal keys have the same people."""

        self._level_name = self.level.name if LEVELS.get(self.level.name) == self.level else "of its own"
        self.source = f"simulated, seed {seed}, level {self._level_name}"
        if voice is not grammar:
            self.source += f", voice {name_of(voice)}"
        """A short description of the world, used in tables and rows as the source of the data."""

    def __repr__(self) -> str:
        whole = self.topics == self.templates == "all"
        parts = "" if whole else f", {self.topics} topics, {self.templates} templates"
        voice = "" if self.voice is grammar else f", voice {name_of(self.voice)}"
        return f"Simulation(seed {self.seed}, level {self._level_name!r}{parts}{voice})"

    def __eq__(self, other: object) -> bool:
        """Whether it generates the same conversations in the same order."""
        return isinstance(other, Simulation) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash(self.key)

    def __iter__(self) -> Iterator[Conversation]:
        return (self[i] for i in count(self.start, self.step))

    def __getitem__(self, index: int) -> Conversation:
        """Item `index`, counted from 0 regardless of `start` and `step`."""
        return Conversation.model_validate(self.record(index))

    def take(self, number: int) -> Conversations:
        """The next `number` items of an iteration, in memory."""
        if type(number) is not int or number < 1:
            expected = "it must be a whole number, at least 1"
            raise SettingsError(f"number of conversations is {number!r}; {expected}")
        indices = range(self.start, self.start + number * self.step, self.step)
        return Conversations([self[i] for i in indices], source=self.source)

    def record(self, index: int) -> dict[str, Any]:
        """Item `index` as a JSON record in the benchmark's format."""
        return self.with_state(index)[0]

    def with_state(self, index: int) -> tuple[dict[str, Any], LatentState]:
        """Item `index`: its record, and the latent state that its labels were drawn from."""
        person = self.person(index)
        said = texts(self.templates, self.topics)
        record, state = hold(said, person, self.level, self.identity(index), Draws(self.key, index))
        put_into_words(record, state, person, self.voice)
        return record, state

    def identity(self, index: int) -> str:
        """The id of conversation `index`."""
        return f"sim-{digest(self.key, 'id', index).hex()[:20]}"

    def person(self, index: int) -> Person:
        """The participant of conversation `index`: the same person at every level of a seed."""
        if type(index) is not int or index < 0:
            raise SettingsError(f"index is {index!r}; it must be a whole number from 0")
        block, place = divmod(index, len(_OWNERS))
        return _person(self.seed, block * _PEOPLE + _OWNERS[place])


@lru_cache(maxsize=64)
def _person(seed: int, number: int) -> Person:
    name = digest(seed, "participant", number).hex()[:12]
    return make_person(seed, number, f"S-{name}")


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
