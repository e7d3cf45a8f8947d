"""A simulated participant: traits, questionnaire scores, diagnoses, habits of feeling, taste and typing."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from attune_data.affect import EMOTIONS
from attune_data.simulate.draws import Draws, clip, squash
from attune_data.simulate.texts import PEOPLE, Family
from attune_data.simulate.wishes import WISHES

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
    """Probability of a slip per letter of a long word, 0-0.012."""
    emoji: bool


@dataclass(frozen=True, slots=True)
class Person:
    """One participant; the same in all their conversations."""

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
    """Family of feelings -> how readily they fall into it, 0.3-1.3."""
    taste: Mapping[str, float]
    """Construct -> lasting like or dislike, N(0, 0.45)."""
    leniency: float
    """N(0, 0.5): how kindly they judge."""
    outspoken: float
    """0.15-0.65: probability of saying what they think of a reply."""
    inertia: float
    """0.2-0.5: probability that a PANAS answer repeats the earlier one."""
    names_feelings: float
    """Probability that they name what they feel rather than show it."""
    typing: Typing


def make_person(seed: int, number: int, participant_id: str, families: Mapping[str, Family]) -> Person:
    """Participant `number` of a seed's world."""
    d = Draws(seed, "person", number)
    distress = d.normal()
    any_diagnosis = d.yes(squash(-0.25 + 1.1 * distress))
    agreeable, open_ = d.normal(), d.normal()
    neurotic = 0.6 * distress + 0.8 * d.normal()
    lean = {"tipi_agreeableness": agreeable, "tipi_stability": -neurotic, "tipi_openness": open_}
    tipi = {
        name: int(clip(round(mean + spread * _mix(loading, distress, lean.get(name), d)), 2, 14))
        for name, (mean, spread, loading) in _TIPI.items()
    }
    anxiety, depression, sleep = (_mix(loading, distress, None, d) for loading in (0.8, 0.8, 0.55))
    diagnoses = _diagnoses(d, any_diagnosis, anxiety, depression)
    scores: dict[str, Any] = {
        "who_5": int(clip(round(14.5 + 5.0 * _mix(-0.7, distress, None, d)), 0, 25)),
        "asrs_6": _count(d, 6, (4.3, 1.2) if "ADHD" in diagnoses else (1.6, 1.5)),
        "aq_10": _count(d, 10, (7.9, 1.9) if "Autism (ASD)" in diagnoses else (2.8, 2.0)),
    }
    for name, z in (("anxiety", anxiety), ("depression", depression), ("sleep", sleep)):
        raw = _nearest(PROMIS_T[name], 53.0 + 10.0 * z)
        scores |= {f"promis_{name}": raw + 4, f"promis_{name}_t": PROMIS_T[name][raw]}
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
        family_habit={name: 0.3 + d.uniform() for name in families},
        taste={construct: 0.45 * d.normal() for construct in WISHES},
        leniency=0.5 * d.normal(),
        outspoken=0.15 + 0.5 * d.uniform(),
        inertia=0.2 + 0.3 * d.uniform(),
        names_feelings=(0.55 if d.yes(0.3) else 0.08) * (0.5 if any_diagnosis else 1.0),
        typing=_typing(d),
    )


def _mix(loading: float, distress: float, lean: float | None, d: Draws) -> float:
    """A standard score that hangs together with distress by its loading."""
    own = d.normal() if lean is None else lean
    return loading * distress + math.sqrt(1.0 - loading * loading) * own


def _diagnoses(d: Draws, has_any: bool, anxiety: float, depression: float) -> tuple[str, ...]:
    """Which ones, given that there is any; several are common."""
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


def _count(d: Draws, highest: int, norm: tuple[float, float]) -> int:
    mean, spread = norm
    return int(clip(round(mean + spread * d.normal()), 0, highest))


def _nearest(table: tuple[float, ...], score: float) -> int:
    return min(range(len(table)), key=lambda i: (abs(table[i] - score), i))


def _typing(d: Draws) -> Typing:
    register = d.weighted({"plain": 0.36, "casual": 0.26, "terse": 0.14, "chatty": 0.14, "formal": 0.10})
    slips = 0.0 if register == "formal" else clip(0.004 * d.normal(), 0.0, 0.012)
    return Typing(register, slips, register in ("casual", "chatty") and d.yes(0.35))
