"""Feelings from turn to turn: affect that drifts, a family of feelings, shifts that are tagged.

The equations are in docs/simulator-model.md; names follow it. Nothing here reads or writes text.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from attune_data.simulate.draws import Draws, clip, rating, squash
from attune_data.simulate.levels import Level
from attune_data.simulate.person import Person
from attune_data.simulate.texts import Family

THRESHOLD = 0.44
"""Activation from which a shift is noticed and tagged half of the time."""
THRESHOLD_DIAGNOSED = 0.20
"""Added to it by a diagnosis (fewer tags)."""
STEEPNESS = 6.0
PERSISTENCE = 0.55
"""Probability that a family of feelings stays while its sign fits."""
OTHER_SIGN = 0.3
"""Weight of a second feeling of the other sign, against one of the same sign."""


@dataclass(frozen=True, slots=True)
class TurnMood:
    """A turn's feelings, and the probabilities that the tags were drawn from."""

    sign: int
    activation: float
    family: str
    second_family: str | None
    tags: tuple[tuple[str, int], ...]
    """(item, intensity 1-7)"""
    tag_probability: float
    """That any shift is tagged."""
    second_probability: float
    """That a second tag joins the first."""
    first: Mapping[str, float]
    """Item -> probability of being the first tag."""
    second: Mapping[str, float]
    """Item -> probability of being the second one."""

    @property
    def need(self) -> float:
        """How much support the moment calls for."""
        return 1.5 * self.activation if self.sign < 0 else -0.4


@dataclass(slots=True)
class Mood:
    """A person's affect in one conversation."""

    person: Person
    families: Mapping[str, Family]
    tilt: int
    positive: float
    negative: float
    base: tuple[float, float]
    family: str = ""
    traces: dict[str, float] = field(default_factory=dict)
    """PANAS item -> what tags on it have left behind."""

    @staticmethod
    def start(person: Person, families: Mapping[str, Family], tilt: int, draws: Draws) -> Mood:
        """Affect before the conversation."""
        positive = 0.25 * tilt - 0.3 * person.distress + 0.6 * draws.normal()
        negative = -0.2 * tilt + 0.5 * person.distress + 0.7 * draws.normal()
        return Mood(person, families, tilt, positive, negative, (positive, negative))

    def turn(self, level: Level, draws: Draws, *, first: bool, last: bool) -> TurnMood:
        """Draw the feelings of the next turn."""
        valence = 0.85 * self.tilt + 0.55 * (self.positive - self.negative) + 0.8 * draws.normal()
        if first and valence * self.tilt < 0 and draws.yes(0.8):
            valence = -valence  # the opening event mostly sets the mood
        sign = 1 if valence > 0 else -1
        stays = draws.yes(PERSISTENCE)
        if not (self.family and self.families[self.family].sign == sign and stays):
            habits = self.person.family_habit
            self.family = draws.weighted({f: habits[f] for f, x in self.families.items() if x.sign == sign})
        middle = 0.0 if first or last else 0.06
        activation = 0.30 + 0.35 * min(abs(valence), 2.0) / 2.0 + 0.28 * draws.normal() + middle
        threshold = THRESHOLD + (THRESHOLD_DIAGNOSED if self.person.diagnosed else 0.0)
        probability = squash(STEEPNESS * (activation - threshold))
        one, two = self._first(), self._second(sign)
        second_family, tags = None, []
        if draws.yes(probability):
            tags.append(draws.weighted(one))
            if draws.yes(level.mixed):
                item = draws.weighted(two)
                second_family = next(f for f, x in self.families.items() if item in x.named)
                tags.append(item)
        rated = tuple((item, rating(2.4 + 3.2 * activation + 0.8 * draws.normal())) for item in tags)
        return TurnMood(
            sign, activation, self.family, second_family, rated, probability, level.mixed, one, two
        )

    def _first(self) -> dict[str, float]:
        return _shares({item: self._readiness(item) for item in self.families[self.family].items})

    def _second(self, sign: int) -> dict[str, float]:
        habit = self.person.family_habit
        return _shares(
            {
                item: self._readiness(item) * habit[name] * (1.0 if family.sign == sign else OTHER_SIGN)
                for name, family in self.families.items()
                if name != self.family
                for item in family.items
            }
        )

    def _readiness(self, item: str) -> float:
        habit = self.person.item_habit[item]
        return habit * habit  # not ** 2: that is the C library's pow, which differs between machines

    def after(self, turn: TurnMood, fit: float, draws: Draws) -> None:
        """The reply has come: affect moves by how well it fitted."""
        push = 0.25 * turn.sign * clip(turn.activation, 0.0, 1.5)
        self.positive += -0.3 * (self.positive - self.base[0]) + 0.75 * fit + push + 0.25 * draws.normal()
        self.negative += (
            -0.3 * (self.negative - self.base[1]) - 0.70 * fit - push - 0.12 + 0.25 * draws.normal()
        )
        for item, _ in turn.tags:
            self.traces[item] = 0.7 * self.traces.get(item, 0.0) + turn.activation


def _shares(weights: Mapping[str, float]) -> dict[str, float]:
    total = math.fsum(weights.values())
    return {item: weight / total for item, weight in weights.items()}
