"""Scores of guesses, worked by hand."""

from __future__ import annotations

import pytest

from attune_data import Conversations, DataError, load
from attune_env.profile.baselines import baseline
from attune_env.profile.form import form_with
from attune_env.profile.kinds import plain
from attune_env.profile.scoring import FieldScore, score_guesses
from tests.profile.people import FORM, guessed, person, scored, truth


def means(row: FieldScore) -> tuple[float | None, ...]:
    """Value, prior, constant, gain over the prior, gain."""
    names = ("value", "prior", "constant", "gain_over_prior", "gain")
    return tuple(row.intervals[name].mean for name in names)


def test_a_class() -> None:
    genders = {"a": "Female", "b": "Female", "c": "Female", "d": "Male", "e": "Male",
               "f": "Prefer not to say", "g": "Agender"}  # fmt: skip
    owners = {"a": "P1", "b": "P1"}
    people = [person(i, owners.get(i, f"P-{i}"), gender=gender) for i, gender in genders.items()]
    guesses = {"a": "Female", "b": "Male", "c": "female", "d": "Male", "f": "Male", "g": "Male"}
    found = scored(people, guessed("e", who_5=3), *(guessed(i, gender=g) for i, g in guesses.items()))[
        "gender"
    ]
    # right: a, c, d of a-e. Prior: P1 is left Male 2 : 1 (wrong twice), c 2 : 2, so the first option
    # (right), d and e Female 3 : 1 (wrong): 1/5. Constant: Female, 3/5
    assert means(found) == pytest.approx((3 / 5, 1 / 5, 3 / 5, 2 / 5, 0.0))
    assert (found.measure, found.scored, found.people) == ("accuracy", 5, 4)
    assert (found.unanswered, found.unstated, found.outside) == (1, 1, ("Agender",))


def test_diagnoses() -> None:
    stated = {"a": ["ADHD"], "b": ["None of the above"], "c": ["Anxiety", "ADHD"], "d": []}
    people = [person(i, f"P-{i}", diagnoses=names) for i, names in stated.items()]
    guesses = {"a": ["ADHD", "Depression"], "b": [], "c": ["Anxiety"], "d": None}
    found = scored(people, *(guessed(i, diagnoses=g) for i, g in guesses.items()))["diagnoses"]
    # 2·1/(1+2), 1 (both empty), 2·1/(2+1), 0 (unanswered)
    assert means(found)[0] == pytest.approx((2 / 3 + 1 + 2 / 3 + 0) / 4)
    # the constant {}: 0 + 1 + 0 + 1; {ADHD}: 1 + 0 + 2/3 + 0
    assert means(found)[2] == pytest.approx(2 / 4)


def test_scores() -> None:
    people = [person(i, f"P-{i}", who_5=v) for i, v in {"a": 10, "b": 20, "c": 5, "d": 15}.items()]
    guesses = {"a": 12, "b": 20, "c": 99, "d": 14}  # 99 is out of range: no answer
    found = scored(people, *(guessed(i, who_5=g) for i, g in guesses.items()))
    # c counts as 25, the end farther from 5: 2 + 0 + 20 + 1 of 4. Prior: the lower medians of the others are
    # 15, 10, 15, 10: 5 + 10 + 10 + 5. Constant: 10: 0 + 10 + 5 + 5
    assert means(found["who_5"]) == pytest.approx((5.75, 7.5, 5.0, 1.75, -0.75))
    assert not [row for row in found.values() if row.intervals and row.field != "who_5"]


def test_participants_are_resampled_and_not_conversations() -> None:
    people = [*(person(f"a{n}", "P1", gender="Male") for n in range(3)), person("b", "P2", gender="Male")]
    found = scored(
        people, *(guessed(f"a{n}", gender="Male") for n in range(3)), guessed("b", gender="Female")
    )
    value = found["gender"].intervals["value"]
    # P1 twice: 1, each once: 3/4, P2 twice (1 in 4): 0. Conversations alone would hit 0 once in 256
    assert (value.mean, value.low, value.high) == (0.75, 0.0, 1.0)
    assert (value.n, value.units, value.meaningful) == (4, 2, False)


def test_a_tie_of_two_classes_makes_a_prior_of_zero_and_no_gain_of_it() -> None:
    people = [person(f"c{n}", f"P{n}", gender=("Female", "Male")[n % 2]) for n in range(10)]
    found = scored(people, *(guessed(f"c{n}", gender="Female") for n in range(10)))
    # whoever is left out leaves the other class in front: 0 of 10
    assert means(found["gender"]) == pytest.approx((0.5, 0.0, 0.5, 0.5, 0.0))


def test_knowing_everything_is_perfect_and_silence_and_the_prior_gain_nowhere() -> None:
    people = list(load("written:dev"))
    prior = baseline("prior", people, FORM)
    knows = scored(people, *(guessed(one.conversation_id, **truth(one)) for one in people))
    silent = scored(people, *(guessed(one.conversation_id) for one in people))
    same = scored(
        people,
        *(guessed(one.conversation_id, **{n: plain(v) for n, v in prior(one).items()}) for one in people),
    )
    for name, row in knows.items():
        value, *_, gain = means(row)
        assert value == (0.0 if row.measure == "mae" else pytest.approx(1.0)), name
        assert (gain or 0) > -1e-9
        for other in (silent[name], same[name]):
            assert (means(other)[-1] or 0) <= 0
        assert silent[name].unanswered == len(people)
        over = same[name].intervals["gain_over_prior"]
        assert (over.mean, over.low, over.high) == (0.0, 0.0, 0.0)


def test_files_of_one_model_with_different_options_are_refused() -> None:
    people = [person("a", "P1", gender="Male"), person("b", "P2", gender="Male")]
    other = form_with({"gender": ["Male", "Frau"]}, "here")
    with pytest.raises(DataError, match=r"found other options, expected those of a\.json"):
        score_guesses([guessed("a"), guessed("b", other)], Conversations(people))
