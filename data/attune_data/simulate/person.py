"""Simulated participants: traits, scores, habits and taste; and their mood from turn to turn.

The equations of the mood are in docs/simulator-model.md; names follow it. Nothing here reads or writes text.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from attune_data.affect import EMOTIONS
from attune_data.constants import BINARY_IDS
from attune_data.simulate.draws import Draws, clip, rating, squash
from attune_data.simulate.texts import FAMILIES, PEOPLE, Family

if TYPE_CHECKING:
    from attune_data.simulate.stream import Level

NO_DIAGNOSIS: Final = "None of the above"

# T-scores of the PROMIS short forms 4a by raw sum 4-20 (public scoring tables).
PROMIS_T: Final[Mapping[str, tuple[float, ...]]] = {
    "anxiety": (40.3, 48.0, 51.2, 53.7, 55.8, 57.7, 59.5, 61.4, 63.4, 65.3, 67.3, 69.3, 71.2, 73.3, 75.4,
                77.9, 81.6),
    "depression": (41.0, 49.0, 51.8, 53.9, 55.7, 57.3, 58.9, 60.5, 62.2, 63.9, 65.7, 67.5, 69.4, 71.2, 73.3,
                   75.7, 79.4),
    "sleep": (32.0, 37.5, 41.1, 43.8, 46.2, 48.4, 50.5, 52.4, 54.3, 56.1, 57.9, 59.8, 61.7, 63.8, 66.0, 68.8,
              73.3),
}  # fmt: skip

# mean, spread, loading on distress
_TIPI: Final = {
    "tipi_extraversion": (8.9, 2.9, -0.2),
    "tipi_agreeableness": (10.5, 2.2, -0.1),
    "tipi_conscientiousness": (10.8, 2.6, -0.25),
    "tipi_stability": (9.7, 2.8, -0.6),
    "tipi_openness": (10.8, 2.1, 0.0),
}


@dataclass(frozen=True, slots=True)
class Typing:
    """How somebody writes."""

    register: str
    """plain, casual, terse, chatty or formal"""
    typos: float
    """Probability of a typo per letter of a long word, 0-0.012."""
    emoji: bool


@dataclass(frozen=True, slots=True)
class Person:
    """One participant, unchanged across all their conversations."""

    participant_id: str
    profile: Mapping[str, Any]
    """The participant profile of the record, without the topic attitude."""
    diagnosed: bool
    distress: float
    """About N(0, 1)."""
    traits: tuple[float, float, float]
    """Agreeableness, neuroticism, openness, about N(0, 1) each."""
    item_habit: Mapping[str, float]
    """PANAS item -> how readily they use it as a tag, 0.3-1.3."""
    family_habit: Mapping[str, float]
    """Family of feelings -> how prone they are to it, 0.3-1.3."""
    taste: Mapping[str, float]
    """Construct -> stable personal preference, N(0, 0.45)."""
    leniency: float
    """How leniently they judge, N(0, 0.5)."""
    outspoken: float
    """Probability of saying what they think of a reply, 0.15-0.65."""
    inertia: float
    """Probability that a PANAS answer repeats the earlier one, 0.2-0.5."""
    names_feelings: float
    """Probability that they name what they feel rather than show it."""
    typing: Typing


def make_person(seed: int, number: int, participant_id: str) -> Person:
    """Participant `number` of a seed's world."""
    d = Draws(seed, "person", number)
    distress = d.normal()
    any_diagnosis = d.yes(squash(-0.25 + 1.1 * distress))
    agreeable, open_ = d.normal(), d.normal()
    neurotic = 0.6 * distress + 0.8 * d.normal()
    lean = {"tipi_agreeableness": agreeable, "tipi_stability": -neurotic, "tipi_openness": open_}

    def mixed(loading: float, own: float | None = None) -> float:
        """Draw a standard score whose correlation with distress is `loading`."""
        own = d.normal() if own is None else own
        return loading * distress + math.sqrt(1.0 - loading * loading) * own

    def count(mean: float, spread: float, low: int, high: int, z: float) -> int:
        return int(clip(round(mean + spread * z), low, high))

    tipi = {
        name: count(mean, spread, 2, 14, mixed(loading, lean.get(name)))
        for name, (mean, spread, loading) in _TIPI.items()
    }
    promis = {"anxiety": mixed(0.8), "depression": mixed(0.8), "sleep": mixed(0.55)}
    diagnoses = _diagnoses(d, any_diagnosis, promis["anxiety"], promis["depression"])
    adhd, autism = "ADHD" in diagnoses, "Autism (ASD)" in diagnoses
    scores: dict[str, Any] = {
        "who_5": count(14.5, 5.0, 0, 25, mixed(-0.7)),
        "asrs_6": count(*((4.3, 1.2) if adhd else (1.6, 1.5)), 0, 6, d.normal()),
        "aq_10": count(*((7.9, 1.9) if autism else (2.8, 2.0)), 0, 10, d.normal()),
    }
    for name, z in promis.items():
        table = PROMIS_T[name]
        raw = min(range(len(table)), key=lambda i: (abs(table[i] - (53.0 + 10.0 * z)), i))
        scores |= {f"promis_{name}": raw + 4, f"promis_{name}_t": table[raw]}
    demographics: dict[str, Any] = {
        key: d.pick(PEOPLE[key])
        for key in ("country", "education", "gender", "age_range", "english_proficiency")
    }
    demographics["work_edu_background"] = d.some(PEOPLE["work_edu_background"], 1 + d.yes(0.3))
    demographics["diagnoses"] = list(diagnoses) or [NO_DIAGNOSIS]
    return Person(
        participant_id=participant_id,
        profile={
            "schema_version": "2.0",
            "participant_id": participant_id,
            "profile_type": "simulated",
            "demographics": demographics,
            "computed_scores": scores | tipi,
        },
        diagnosed=any_diagnosis,
        distress=distress,
        traits=(agreeable, neurotic, open_),
        item_habit={item: 0.3 + d.uniform() for item in EMOTIONS},
        family_habit={name: 0.3 + d.uniform() for name in FAMILIES},
        taste={construct: 0.45 * d.normal() for construct in BINARY_IDS},
        leniency=0.5 * d.normal(),
        outspoken=0.15 + 0.5 * d.uniform(),
        inertia=0.2 + 0.3 * d.uniform(),
        names_feelings=(0.55 if d.yes(0.3) else 0.08) * (0.5 if any_diagnosis else 1.0),
        typing=_typing(d),
    )


def _diagnoses(d: Draws, has_any: bool, anxiety: float, depression: float) -> tuple[str, ...]:
    """Draw the diagnoses of a person who has at least one; having several is common."""
    chances = {
        "Anxiety": 0.6 * (0.6 + 0.8 * squash(anxiety)),
        "Depression": 0.5 * (0.6 + 0.8 * squash(depression)),
        "ADHD": 0.3,
        "Autism (ASD)": 0.2,
    }
    drawn = tuple(name for name, chance in chances.items() if d.yes(chance))
    if not has_any:
        return ()
    return drawn or (d.weighted(chances),)


def _typing(d: Draws) -> Typing:
    register = d.weighted({"plain": 0.36, "casual": 0.26, "terse": 0.14, "chatty": 0.14, "formal": 0.10})
    slips = 0.0 if register == "formal" else clip(0.004 * d.normal(), 0.0, 0.012)
    return Typing(register, slips, register in ("casual", "chatty") and d.yes(0.35))


THRESHOLD = 0.44
"""Activation at which a shift is noticed and tagged half the time."""
THRESHOLD_DIAGNOSED = 0.20
"""Added to the threshold by a diagnosis (fewer tags)."""
STEEPNESS = 6.0
PERSISTENCE = 0.55
"""Probability that a family of feelings persists while its sign still fits."""
OTHER_SIGN = 0.3
"""Weight of a second feeling of the opposite sign, relative to one of the same sign."""


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
    """Probability that a shift is tagged."""
    second_probability: float
    """Probability that a second tag is added to the first."""
    first: Mapping[str, float]
    """Item -> probability of being the first tag."""
    second: Mapping[str, float]
    """Item -> probability of being the second tag."""

    @property
    def need(self) -> float:
        """How much support the moment calls for."""
        return 1.5 * self.activation if self.sign < 0 else -0.4


class Mood:
    """A person's affect in one conversation."""

    def __init__(self, person: Person, families: Mapping[str, Family], tilt: int, draws: Draws) -> None:
        self.person, self.families, self.tilt, self.draws = person, families, tilt, draws
        self.positive = 0.25 * tilt - 0.3 * person.distress + 0.6 * draws.normal()
        self.negative = -0.2 * tilt + 0.5 * person.distress + 0.7 * draws.normal()
        self.base = self.positive, self.negative
        self.family = ""
        self.traces: dict[str, float] = {}
        """PANAS item -> lasting effect of earlier tags."""

    def turn(self, level: Level, *, first: bool, last: bool) -> TurnMood:
        """Draw the feelings of the next turn."""
        draws, families = self.draws, self.families
        valence = 0.85 * self.tilt + 0.55 * (self.positive - self.negative) + 0.8 * draws.normal()
        if first and valence * self.tilt < 0 and draws.yes(0.8):
            valence = -valence  # the opening event usually determines the mood
        sign = 1 if valence > 0 else -1
        stays = draws.yes(PERSISTENCE)
        if not (self.family and families[self.family].sign == sign and stays):
            habits = self.person.family_habit
            self.family = draws.weighted({f: habits[f] for f, x in families.items() if x.sign == sign})
        middle = 0.0 if first or last else 0.06
        activation = 0.30 + 0.35 * min(abs(valence), 2.0) / 2.0 + 0.28 * draws.normal() + middle
        threshold = THRESHOLD + (THRESHOLD_DIAGNOSED if self.person.diagnosed else 0.0)
        probability = squash(STEEPNESS * (activation - threshold))
        one, two = self.first_shares(), self._second(sign)
        second_family, tags = None, []
        if draws.yes(probability):
            tags.append(draws.weighted(one))
            if draws.yes(level.mixed):
                tags.append(draws.weighted(two))
                second_family = next(f for f, x in families.items() if tags[1] in x.named)
        rated = tuple((item, rating(2.4 + 3.2 * activation + 0.8 * draws.normal())) for item in tags)
        return TurnMood(
            sign, activation, self.family, second_family, rated, probability, level.mixed, one, two
        )

    def first_shares(self) -> dict[str, float]:
        """Item of the current family -> probability of being the first tag."""
        return _shares({item: self._readiness(item) for item in self.families[self.family].named})

    def _second(self, sign: int) -> dict[str, float]:
        habit = self.person.family_habit
        return _shares(
            {
                item: self._readiness(item) * habit[name] * (1.0 if family.sign == sign else OTHER_SIGN)
                for name, family in self.families.items()
                if name != self.family
                for item in family.named
            }
        )

    def _readiness(self, item: str) -> float:
        habit = self.person.item_habit[item]
        return habit * habit  # not ** 2: that is the C library's pow, which differs between machines

    def after(self, turn: TurnMood, fit: float) -> None:
        """Update affect after a reply according to how well it fitted."""
        push, noise = 0.25 * turn.sign * clip(turn.activation, 0.0, 1.5), self.draws.normal
        self.positive += -0.3 * (self.positive - self.base[0]) + 0.75 * fit + push + 0.25 * noise()
        self.negative += -0.3 * (self.negative - self.base[1]) - 0.70 * fit - push - 0.12 + 0.25 * noise()
        for item, _ in turn.tags:
            self.traces[item] = 0.7 * self.traces.get(item, 0.0) + turn.activation


def _shares(weights: Mapping[str, float]) -> dict[str, float]:
    total = math.fsum(weights.values())
    return {item: weight / total for item, weight in weights.items()}
