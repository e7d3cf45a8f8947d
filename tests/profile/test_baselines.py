"""Guesses that read nothing: what they are fitted on, worked by hand."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from attune_data import Conversations
from attune_data.simulate import simulate
from attune_env.profile.baselines import baseline, best_constants
from attune_env.profile.fields import Number, Outside, plain, set_f1
from tests.profile.people import FORM, person

OPTIONS = FORM.describe()["diagnoses"]
PEOPLE = [
    person("a", "P1", gender="Female", who_5=4, diagnoses=["ADHD"]),
    person("b", "P1", gender="Female", who_5=6, diagnoses=["ADHD"]),
    person("c", "P2", gender="Male", who_5=10, diagnoses=[]),
    person("d", "P3", gender="Male", who_5=20, diagnoses=["ADHD", "Anxiety"]),
    person("e", "P4", gender="Prefer not to say", who_5=99, diagnoses=["Lupus"]),  # says nothing usable
]


@pytest.mark.parametrize(("identity", "gender", "who_5", "diagnoses"), [
    # left: c, d. Male 2 of 2. Lower median of 10, 20. {} scores 1 + 0, {ADHD, Anxiety} 0 + 1, {ADHD} 2/3,
    # {ADHD, Depression} 2·1/(2+2): of the two with 1 the smaller set
    ("a", "Male", 10, []), ("b", "Male", 10, []),
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
    identity: str, gender: str, who_5: float, diagnoses: list[str]
) -> None:
    data = Conversations(PEOPLE)
    guesses = baseline("prior", data, FORM)(data.by_id[identity])
    assert {name: plain(value) for name, value in guesses.items()} == {
        "gender": gender, "who_5": who_5, "diagnoses": diagnoses,
    }  # fmt: skip


def test_no_constant_set_of_the_options_has_a_higher_f1_on_simulated_people() -> None:
    people = list(simulate(30, seed=8))
    stated = [value for one in people if isinstance(value := FORM.stated(one)["diagnoses"], frozenset)]
    sets = [
        frozenset(name for name, taken in zip(OPTIONS, picks, strict=True) if taken)
        for picks in product((False, True), repeat=4)
    ]

    def worth(guess: Any) -> float:
        return sum(set_f1(one, guess) for one in stated)

    found = best_constants(FORM, people)
    assert worth(found["diagnoses"]) == pytest.approx(max(map(worth, sets)))
    for field in (one for one in FORM.fields if isinstance(one, Number)):
        values = [value for one in people if isinstance(value := FORM.stated(one)[field.name], float)]
        best = found[field.name]
        assert isinstance(best, float)
        error = sum(abs(value - best) for value in values)
        assert all(error <= sum(abs(v - other) for v in values) + 1e-9 for other in set(values))


@pytest.mark.parametrize(("truth", "guess", "f1"), [
    ([], [], 1.0), (["a"], [], 0.0), ([], ["a"], 0.0), (["a"], ["a"], 1.0), (["a", "b"], ["a"], 2 / 3),
    (["a", "b"], ["b", "c", "d"], 0.4),  # 2·1/(2+3)
])  # fmt: skip
def test_set_f1(truth: list[str], guess: list[str], f1: float) -> None:
    assert set_f1(frozenset(truth), frozenset(guess)) == pytest.approx(f1)


def test_random_draws_valid_values_the_same_each_time_and_uses_them_all() -> None:
    someone = person("c", "P")
    named = [someone.model_copy(update={"conversation_id": f"c-{n}"}) for n in range(900)]

    def draws(seed: int, number: int) -> list[dict[str, Any]]:
        guess = baseline("random", [], FORM, seed=seed)
        return [{name: plain(value) for name, value in guess(one).items()} for one in named[:number]]

    assert draws(3, 20) == draws(3, 20) != draws(4, 20)
    drawn = draws(3, 900)
    for field in FORM.fields:
        values = [one[field.name] for one in drawn if field.name in one]
        for value in values:
            read = field.read(value)
            assert not isinstance(read, Outside)
            assert plain(read) == value
        different = len({str(value) for value in values})
        if field.name == "country":
            assert not values
        elif isinstance(field, Number):
            assert different == field.scale.high - field.scale.low + 1  # at most 56
        else:
            assert different == (16 if field.name == "diagnoses" else len(field.options))
