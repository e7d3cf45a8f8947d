"""Guesses that read nothing: what they are fitted on, worked by hand."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from attune_data import Conversations, load
from attune_env.profile.baselines import baseline, best_constants
from attune_env.profile.kinds import Number, dice, plain
from tests.profile.people import FIELDS, FORM, person

PEOPLE = [
    person("a", "P1", gender="Female", who_5=4, diagnoses=["ADHD"]),
    person("b", "P1", gender="Female", who_5=6, diagnoses=["ADHD"]),
    person("c", "P2", gender="Male", who_5=10, diagnoses=[]),
    person("d", "P3", gender="Male", who_5=20, diagnoses=["ADHD", "Anxiety"]),
    person("e", "P4", gender="Prefer not to say", who_5=99, diagnoses=["Lupus"]),  # says nothing usable
]


@pytest.mark.parametrize(("identities", "gender", "who_5", "diagnoses"), [
    # left: c, d. Male 2 of 2. Lower median of 10, 20. {} scores 1 + 0, {ADHD, Anxiety} 0 + 1, {ADHD} 2/3,
    # {ADHD, Depression} 2·1/(2+2): of the two with 1 the smaller set
    ("ab", "Male", 10, []),
    # left: a, b, d. Female 2, Male 1. Median of 4, 6, 20. {ADHD}: 1 + 1 + 2·1/(2+1) = 2.67;
    # {ADHD, Anxiety}: 2/3 + 2/3 + 1 = 2.33
    ("c", "Female", 6, ["ADHD"]),
    # left: a, b, c. Median of 4, 6, 10. {ADHD}: 1 + 1 + 0 = 2; {}: 0 + 0 + 1
    ("d", "Female", 6, ["ADHD"]),
    # left: a, b, c, d. Female 2, Male 2: the first option. Lower median of 4, 6, 10, 20.
    # {ADHD}: 1 + 1 + 0 + 2/3 = 2.67
    ("e", "Female", 6, ["ADHD"]),
])  # fmt: skip
def test_the_prior_is_fitted_on_the_other_participants(
    identities: str, gender: str, who_5: float, diagnoses: list[str]
) -> None:
    data = Conversations(PEOPLE)
    for identity in identities:
        guesses = baseline("prior", data, FORM)(data.by_id[identity])
        want = {"gender": gender, "who_5": who_5, "diagnoses": diagnoses}
        assert {name: plain(value) for name, value in guesses.items()} == want


def test_no_constant_of_the_options_does_better_on_written_people() -> None:
    people = load("written:dev")[:12]
    stated = [FORM.stated(one) for one in people]
    best: dict[str, Any] = best_constants(FORM, people)
    diagnoses = FIELDS["diagnoses"].options
    sets = [frozenset(n for n, taken in zip(diagnoses, picks, strict=True) if taken)
            for picks in product((False, True), repeat=4)]  # fmt: skip
    for name, field in FIELDS.items():
        values: list[Any] = [one[name] for one in stated]
        if isinstance(field, Number):
            errors = {guess: sum(abs(value - guess) for value in values) for guess in {*values, best[name]}}
            assert errors[best[name]] <= min(errors.values()) + 1e-9
        elif name == "diagnoses":
            worth = {guess: sum(dice(value, guess) for value in values) for guess in {*sets, best[name]}}
            assert worth[best[name]] == pytest.approx(max(worth.values()))
        else:
            assert values.count(best[name]) == max(map(values.count, values))


@pytest.mark.parametrize(("truth", "guess", "f1"), [
    ("", "", 1.0), ("a", "", 0.0), ("", "a", 0.0), ("a", "a", 1.0), ("ab", "a", 2 / 3),
    ("ab", "bcd", 0.4),  # 2·1/(2+3)
])  # fmt: skip
def test_dice(truth: str, guess: str, f1: float) -> None:
    assert dice(frozenset(truth), frozenset(guess)) == pytest.approx(f1)


def test_random_draws_valid_values_the_same_each_time_and_uses_them_all() -> None:
    someone = person("c", "P")
    named = [someone.model_copy(update={"conversation_id": f"c-{n}"}) for n in range(900)]

    def draws(seed: int, number: int) -> list[dict[str, Any]]:
        guess = baseline("random", [], FORM, seed=seed)
        return [{name: plain(value) for name, value in guess(one).items()} for one in named[:number]]

    assert draws(3, 20) == draws(3, 20) != draws(4, 20)
    drawn = draws(3, 900)
    assert {plain(FORM.read(one)[name]) == value for one in drawn for name, value in one.items()
            if name != "diagnoses"} == {True}  # fmt: skip
    for name, field in FIELDS.items():
        ways = {"country": 0, "diagnoses": 16}.get(name, len(field.options))
        if isinstance(field, Number):
            ways = int(field.scale.high - field.scale.low) + 1  # at most 56
        assert len({str(one[name]) for one in drawn if name in one}) == ways
