"""Simulated participants: scores in range and hanging together, shares near what is stated."""

from __future__ import annotations

import math
from collections import Counter
from functools import cache
from statistics import correlation, fmean, stdev

import pytest

from attune_data.affect import EMOTIONS
from attune_data.constants import BINARY_IDS
from attune_data.simulate.draws import squash
from attune_data.simulate.person import NO_DIAGNOSIS, PROMIS_T, Person, make_person
from attune_data.simulate.texts import PEOPLE, texts
from tests.data.simulate.worlds import Json

COUNT = 600
RANGES = {
    "who_5": (0, 25), "asrs_6": (0, 6), "aq_10": (0, 10), "promis_anxiety": (4, 20),
    "promis_depression": (4, 20), "promis_sleep": (4, 20),
    **dict.fromkeys(["tipi_extraversion", "tipi_agreeableness", "tipi_conscientiousness", "tipi_stability",
                     "tipi_openness"], (2, 14)),
}  # fmt: skip
"""Score -> lowest and highest, as the instruments define them."""
DIAGNOSES = {"Anxiety", "Depression", "ADHD", "Autism (ASD)", NO_DIAGNOSIS}
ERROR = 1 / math.sqrt(COUNT)
"""Standard error of a mean of standard scores, and about that of a correlation of 0: .041."""


@cache
def people() -> tuple[Person, ...]:
    return tuple(make_person(5, n, f"P{n}", texts().families) for n in range(COUNT))


def scores(name: str) -> list[float]:
    return [person.profile["computed_scores"][name] for person in people()]


def diagnoses(person: Person) -> list[str]:
    found: list[str] = person.profile["demographics"]["diagnoses"]
    return found


def test_a_profile_is_whole() -> None:
    for person in people():
        profile: Json = dict(person.profile)
        assert set(profile) == {
            "schema_version", "participant_id", "profile_type", "demographics", "computed_scores",
        }  # fmt: skip
        assert profile["profile_type"] == "simulated"
        assert profile["participant_id"] == person.participant_id
        told = profile["demographics"]
        for key in ("country", "education", "gender", "age_range", "english_proficiency"):
            assert told[key] in PEOPLE[key]
        work = told["work_edu_background"]
        assert 1 <= len(set(work)) == len(work) <= 2
        assert set(work) <= set(PEOPLE["work_edu_background"])
        t_scores = {f"promis_{name}_t" for name in PROMIS_T}
        assert set(profile["computed_scores"]) == {*RANGES, *t_scores}


@pytest.mark.parametrize("name", RANGES)
def test_scores_lie_on_their_scales_and_use_them(name: str) -> None:
    low, high = RANGES[name]
    values = scores(name)
    assert all(type(value) is int and low <= value <= high for value in values)
    assert len(set(values)) > (high - low) / 2
    assert stdev(values) > (high - low) / 10


@pytest.mark.parametrize(("name", "raw", "t"), [
    # public scoring tables of the short forms 4a: lowest, some between, highest
    ("anxiety", 4, 40.3), ("anxiety", 9, 57.7), ("anxiety", 15, 69.3), ("anxiety", 20, 81.6),
    ("depression", 4, 41.0), ("depression", 8, 55.7), ("depression", 12, 62.2), ("depression", 20, 79.4),
    ("sleep", 4, 32.0), ("sleep", 11, 52.4), ("sleep", 16, 61.7), ("sleep", 20, 73.3),
])  # fmt: skip
def test_promis_t_scores_by_hand(name: str, raw: int, t: float) -> None:
    assert PROMIS_T[name][raw - 4] == t


@pytest.mark.parametrize("name", PROMIS_T)
def test_every_t_score_goes_with_its_raw_sum(name: str) -> None:
    pairs = set(zip(scores(f"promis_{name}"), scores(f"promis_{name}_t"), strict=True))
    assert len(PROMIS_T[name]) == 17
    assert pairs <= set(enumerate(PROMIS_T[name], start=4))
    assert len(pairs) > 12  # nearly all sums from 4 to 20 occur


@pytest.mark.parametrize(("one", "other", "sign"), [
    ("who_5", "promis_depression", -1),  # -.7 x .8 = -.56
    ("promis_anxiety", "promis_depression", 1),  # .8 x .8 = .64
    ("promis_anxiety", "promis_sleep", 1),  # .8 x .55 = .44
    ("tipi_stability", "promis_anxiety", -1),
    ("tipi_stability", "who_5", 1),
])  # fmt: skip
def test_scores_hang_together_by_distress(one: str, other: str, sign: int) -> None:
    assert sign * correlation(scores(one), scores(other)) > 0.25


def test_openness_has_nothing_to_do_with_distress() -> None:
    distress = [person.distress for person in people()]
    assert abs(correlation(scores("tipi_openness"), distress)) < 4 * ERROR


@pytest.mark.parametrize(("trait", "score", "sign"), [
    (0, "tipi_agreeableness", 1), (1, "tipi_stability", -1), (2, "tipi_openness", 1),
])  # fmt: skip
def test_questionnaires_show_the_traits(trait: int, score: str, sign: int) -> None:
    values = [person.traits[trait] for person in people()]
    assert sign * correlation(values, scores(score)) > 0.7


def test_somewhat_under_half_have_a_diagnosis_and_more_of_the_distressed() -> None:
    # σ(-.25 + 1.1 x) over x ~ N(0, 1): σ(-.25) = .44 at the middle
    share = fmean(person.diagnosed for person in people())
    assert squash(-0.25) == pytest.approx(0.4380, abs=1e-4)
    assert abs(share - 0.45) < 4 * 0.5 * ERROR
    low, high = ([p.diagnosed for p in people() if (p.distress > 0) == half] for half in (False, True))
    assert fmean(high) - fmean(low) > 0.2


def test_diagnoses_are_named_where_there_are_any() -> None:
    counts = Counter(name for person in people() for name in diagnoses(person))
    assert set(counts) == DIAGNOSES
    assert min(counts.values()) > 0.05 * COUNT
    for person in people():
        found = diagnoses(person)
        assert (found == [NO_DIAGNOSIS]) == (not person.diagnosed)
        assert person.diagnosed == (NO_DIAGNOSIS not in found)
        assert 1 <= len(set(found)) == len(found) <= 4
    assert sum(len(diagnoses(person)) > 1 for person in people()) > 0.1 * COUNT  # several are common


@pytest.mark.parametrize(("name", "score"), [("ADHD", "asrs_6"), ("Autism (ASD)", "aq_10")])
def test_screeners_tell_those_with_the_diagnosis(name: str, score: str) -> None:
    having, lacking = (
        [p.profile["computed_scores"][score] for p in people() if (name in diagnoses(p)) == has]
        for has in (True, False)
    )
    assert fmean(having) - fmean(lacking) > 2


@pytest.mark.parametrize(("name", "mean", "spread"), [
    ("distress", 0, 1),
    ("leniency", 0, 0.5),
    ("outspoken", 0.4, 0.5 / math.sqrt(12)),  # uniform from .15 to .65
    ("inertia", 0.35, 0.3 / math.sqrt(12)),  # uniform from .2 to .5
])  # fmt: skip
def test_dispositions_are_spread_as_stated(name: str, mean: float, spread: float) -> None:
    values = [getattr(person, name) for person in people()]
    assert abs(fmean(values) - mean) < 4 * spread * ERROR
    assert 0.88 < stdev(values) / spread < 1.12  # 4 standard errors of a spread: 4/√(2n) = .115


def test_bounded_dispositions_stay_in_their_bounds() -> None:
    for person in people():
        assert 0.15 <= person.outspoken < 0.65
        assert 0.2 <= person.inertia < 0.5
        assert 0 < person.names_feelings < 1
        assert set(person.item_habit) == set(EMOTIONS)
        assert set(person.family_habit) == set(texts().families)
        assert set(person.taste) == set(BINARY_IDS)
        habits = [*person.item_habit.values(), *person.family_habit.values()]
        assert all(0.3 <= habit < 1.3 for habit in habits)


def test_traits_are_standard_scores() -> None:
    for trait in range(3):
        values = [person.traits[trait] for person in people()]
        assert abs(fmean(values)) < 4 * ERROR
        assert 0.88 < stdev(values) < 1.12
    tastes = [taste for person in people() for taste in person.taste.values()]
    assert stdev(tastes) == pytest.approx(0.45, abs=0.01)


def test_people_type_in_five_ways() -> None:
    registers = Counter(person.typing.register for person in people())
    assert registers.keys() == {"plain", "casual", "terse", "chatty", "formal"}
    assert min(registers.values()) > 0.05 * COUNT
    for person in people():
        typing = person.typing
        assert 0 <= typing.typos < 0.05
        assert not (typing.register == "formal" and typing.typos)
        assert not typing.emoji or typing.register in ("casual", "chatty")


def test_the_diagnosed_name_their_feelings_less() -> None:
    def named(diagnosed: bool) -> float:
        return fmean(person.names_feelings for person in people() if person.diagnosed == diagnosed)

    assert named(True) < 0.75 * named(False)  # half as often, by definition


def test_people_differ() -> None:
    profiles = {str(dict(person.profile) | {"participant_id": ""}) for person in people()}
    assert len(profiles) == COUNT
    again = make_person(5, 17, "P17", texts().families)
    assert again == people()[17] != make_person(6, 17, "P17", texts().families)
