"""Scores of guesses, worked by hand."""

from __future__ import annotations

import pytest

from attune_data import Conversations, DataError
from attune_data.simulate import simulate
from attune_env.profile.baselines import baseline
from attune_env.profile.fields import form_with, plain
from attune_env.profile.scoring import FieldScore, score_guesses
from tests.profile.people import FORM, guessed, measure, person, scored, truth


def means(row: FieldScore) -> tuple[float | None, ...]:
    """Value, prior, constant, gain."""
    return tuple(row.intervals[name].mean for name in ("value", "prior", "constant", "gain"))


def test_a_class() -> None:
    people = [
        person("a", "P1", gender="Female"), person("b", "P1", gender="Female"),
        person("c", "P2", gender="Female"), person("d", "P3", gender="Male"),
        person("e", "P4", gender="Male"), person("f", "P5", gender="Prefer not to say"),
        person("g", "P6", gender="Agender"),
    ]  # fmt: skip
    guesses = {"a": "Female", "b": "Male", "c": "female", "d": "Male", "f": "Male", "g": "Male"}
    found = scored(people, guessed("e", who_5=3), *(guessed(i, gender=g) for i, g in guesses.items()))
    accuracy = measure(found, "gender", "accuracy")
    # right: a, c, d of a-e. Prior: P1 is left Male 2 : 1 (wrong twice), P2 2 : 2, so the first option
    # (right), P3 and P4 Female 3 : 1 (wrong): 1/5. Constant: Female, 3/5
    assert means(accuracy) == pytest.approx((3 / 5, 1 / 5, 3 / 5, 0.0))
    assert accuracy.intervals["gain_over_prior"].mean == pytest.approx(2 / 5)
    assert (accuracy.scored, accuracy.people) == (5, 4)
    assert (accuracy.unanswered, accuracy.unstated, accuracy.outside) == (1, 1, ("Agender",))


def test_diagnoses() -> None:
    people = [
        person("a", "P1", diagnoses=["ADHD"]), person("b", "P2", diagnoses=["None of the above"]),
        person("c", "P3", diagnoses=["Anxiety", "ADHD"]), person("d", "P4", diagnoses=[]),
    ]  # fmt: skip
    guesses = {"a": ["ADHD", "Depression"], "b": [], "c": ["Anxiety"], "d": None}
    found = scored(people, *(guessed(i, diagnoses=g) for i, g in guesses.items()))
    # 2·1/(1+2), 1 (both empty), 2·1/(2+1), 0 (unanswered)
    assert measure(found, "diagnoses", "set F1").intervals["value"].mean == pytest.approx(
        (2 / 3 + 1 + 2 / 3 + 0) / 4
    )
    # the constant {}: 0 + 1 + 0 + 1; {ADHD}: 1 + 0 + 2/3 + 0
    assert measure(found, "diagnoses", "set F1").intervals["constant"].mean == pytest.approx(2 / 4)


def test_scores() -> None:
    people = [person(i, f"P-{i}", who_5=v) for i, v in {"a": 10, "b": 20, "c": 5, "d": 15}.items()]
    guesses = {"a": 12, "b": 20, "c": 99, "d": 14}  # 99 is out of range: no answer
    found = scored(people, *(guessed(i, who_5=g) for i, g in guesses.items()))
    # c counts as 25, the end farther from 5: 2 + 0 + 20 + 1 of 4. Prior: the lower medians of the others are
    # 15, 10, 15, 10: 5 + 10 + 10 + 5. Constant: 10: 0 + 10 + 5 + 5
    mae = measure(found, "who_5", "mae")
    assert means(mae) == pytest.approx((5.75, 7.5, 5.0, -0.75))
    assert mae.intervals["gain_over_prior"].mean == pytest.approx(1.75)
    assert not [row for row in found.fields if row.intervals and row.field != "who_5"]


def test_participants_are_resampled_and_not_conversations() -> None:
    people = [*(person(f"a{n}", "P1", gender="Male") for n in range(3)), person("b", "P2", gender="Male")]
    found = scored(
        people, *(guessed(f"a{n}", gender="Male") for n in range(3)), guessed("b", gender="Female")
    )
    value = measure(found, "gender", "accuracy").intervals["value"]
    # P1 twice: 1, each once: 3/4, P2 twice (1 in 4): 0. Conversations alone would hit 0 once in 256
    assert (value.mean, value.low, value.high) == (0.75, 0.0, 1.0)
    assert (value.n, value.units, value.meaningful) == (4, 2, False)


def test_a_tie_of_two_classes_makes_a_prior_of_zero_and_no_gain_of_it() -> None:
    people = [person(f"c{n}", f"P{n}", gender=("Female", "Male")[n % 2]) for n in range(10)]
    found = scored(people, *(guessed(f"c{n}", gender="Female") for n in range(10)))
    # whoever is left out leaves the other class in front: 0 of 10
    assert means(measure(found, "gender", "accuracy")) == pytest.approx((0.5, 0.0, 0.5, 0.0))


def test_knowing_everything_is_perfect_and_silence_gains_nowhere() -> None:
    people = list(simulate(30, seed=2))
    knows = scored(people, *(guessed(one.conversation_id, **truth(one)) for one in people))
    silent = scored(people, *(guessed(one.conversation_id) for one in people))
    for row in knows.fields:
        assert row.intervals["value"].mean in (None, 0.0 if row.measure == "mae" else pytest.approx(1.0)), row
        assert row.intervals["gain"].mean is None or row.intervals["gain"].mean > -1e-9
    for row in silent.fields:
        assert row.intervals["gain"].mean is None or row.intervals["gain"].mean <= 0
    assert {row.unanswered for row in silent.fields} == {30}


def test_the_prior_gains_nothing_over_itself() -> None:
    people = list(simulate(30, seed=2))
    prior = baseline("prior", people, FORM)
    guesses = [
        guessed(one.conversation_id, **{name: plain(v) for name, v in prior(one).items()}) for one in people
    ]
    for row in scored(people, *guesses).fields:
        over = row.intervals["gain_over_prior"]
        assert (over.mean, over.low, over.high) == (0.0, 0.0, 0.0)
        assert row.intervals["gain"].mean is None or row.intervals["gain"].mean <= 0


def test_files_of_one_model_with_different_options_are_refused() -> None:
    people = [person("a", "P1", gender="Male"), person("b", "P2", gender="Male")]
    other = form_with({"gender": ["Male", "Frau"]}, "here")
    with pytest.raises(DataError, match=r"found other options, expected those of a\.json"):
        score_guesses([guessed("a"), guessed("b", other)], Conversations(people))
