"""Who is played: age, place, work, diagnoses and questionnaire scores, drawn so that they go together."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final

from attune_data.jsonio import read_text
from attune_episodes.people.draws import Draws, cycled

DIAGNOSES: Final = ("Anxiety", "Depression", "ADHD", "Autism (ASD)")
PROMIS_T: Final = {
    "anxiety": (40.3, 48.0, 51.2, 53.7, 55.8, 57.7, 59.5, 61.4, 63.4, 65.3, 67.3, 69.3, 71.2, 73.3, 75.4,
                77.9, 81.6),
    "depression": (41.0, 49.0, 51.8, 53.9, 55.7, 57.3, 58.9, 60.5, 62.2, 63.9, 65.7, 67.5, 69.4, 71.2, 73.3,
                   75.7, 79.4),
    "sleep": (32.0, 37.5, 41.1, 43.8, 46.2, 48.4, 50.5, 52.4, 54.3, 56.1, 57.9, 59.8, 61.7, 63.8, 66.0, 68.8,
              73.3),
}  # fmt: skip
"""Scale -> the T score of each raw score from 4 to 20."""


@cache
def pools() -> Mapping[str, Any]:
    """What is drawn from: subtopics, people and circumstances; do not change it."""
    return tomllib.loads(read_text(Path(__file__).with_name("pools.toml")))


def people(draws: Draws, name: str, count: int) -> list[dict[str, Any]]:
    """The people of a part, each in one conversation."""
    known = pools()["person"]
    each = {key: cycled(draws, known[key], count) for key in ("places", "ages", "genders")}
    left = {key: cycled(draws, known[key], count) for key in ("education", "work")}
    found = []
    for i in range(count):
        place, language, english = each["places"][i]
        distress = draws.normal()
        diagnoses = diagnosed(draws, distress)
        age = each["ages"][i]
        education = _fitting(draws, "education", left, age)
        work = _fitting(draws, "work", left, age, education)
        found.append({
            "id": f"P{name}-{i + 1:04}", "age": age, "gender": each["genders"][i],
            "place": place, "language": language, "english": english, "education": education,
            "work": work, "diagnoses": diagnoses or ["None of the above"],
            "scores": scores(draws, distress, diagnoses),
        })  # fmt: skip
    return found


def _fitting(draws: Draws, key: str, left: Mapping[str, list[str]], *own: str) -> str:
    """The first of what is left to deal that goes with what a person has; if none does, any that does."""
    clashes: Mapping[str, Sequence[str]] = pools()["person"]["clashes"]
    known: Sequence[str] = pools()["person"][key]
    dealing = left[key]

    def goes(one: str) -> bool:
        return not any(one in clashes.get(mine, ()) for mine in own)

    found = next(filter(goes, dealing), "")
    if not found:
        return draws.pick([one for one in known if goes(one)])
    dealing.remove(found)
    return found


def diagnosed(draws: Draws, distress: float) -> list[str]:
    """The diagnoses of somebody under so much distress, a number from about N(0, 1); most have none."""
    if not draws.yes(0.3 if distress < 0.5 else 0.65):
        return []
    return draws.some(DIAGNOSES, 1 + draws.yes(0.25))


def scores(draws: Draws, distress: float, diagnoses: Sequence[str]) -> dict[str, float]:
    """Questionnaire scores that go with distress and diagnoses, roughly."""

    def whole(mean: float, spread: float, low: int, high: int) -> int:
        return min(high, max(low, round(mean + spread * draws.normal())))

    raised = {"anxiety": "Anxiety" in diagnoses, "depression": "Depression" in diagnoses, "sleep": False}
    found: dict[str, float] = {
        "who_5": whole(14 - 3 * distress, 3, 0, 25),
        "asrs_6": whole(4.3 if "ADHD" in diagnoses else 1.6, 1.2, 0, 6),
        "aq_10": whole(7.6 if "Autism (ASD)" in diagnoses else 2.8, 1.6, 0, 10),
    }
    for scale, high in raised.items():
        raw = whole(8 + 2 * distress + 3 * high, 2, 4, 20)
        found |= {f"promis_{scale}": raw, f"promis_{scale}_t": PROMIS_T[scale][raw - 4]}
    for trait in ("extraversion", "agreeableness", "conscientiousness", "stability", "openness"):
        found[f"tipi_{trait}"] = whole(10 - (2 * distress if trait == "stability" else 0), 2.4, 2, 14)
    return found
