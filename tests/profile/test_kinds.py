"""What a field takes for a value, for nothing, and for something that nobody could guess."""

from __future__ import annotations

from typing import Any

import pytest

from attune_data import DataError, load
from attune_env.profile.form import Form, form_with
from attune_env.profile.kinds import Outside
from tests.profile.people import FIELDS, FORM, person

OUT = "outside"


@pytest.mark.parametrize(("name", "value", "found"), [
    ("gender", "Female", "Female"), ("gender", "  non-BINARY ", "Non-binary"), ("gender", "Ж", OUT),
    ("gender", "Prefer not to say", None), ("gender", "", None), ("gender", None, None), ("gender", 1, None),
    ("gender", ["Female"], None), ("gender", "F" * 200, OUT), ("age_range", "65+", "65+"),
    ("age_range", "65 +", OUT), ("education", "bachelor's  degree", "Bachelor's degree"),
    ("country", "USA", "united states"), ("country", "the United States", "united states"),
    ("country", "the Netherlands", "netherlands"), ("country", "México", "mexico"),
    ("country", "Côte d'Ivoire", "côte d'ivoire"), ("country", "مصر", "مصر"), ("country", "x" * 101, OUT),
    ("diagnoses", ["adhd", "Anxiety"], frozenset({"ADHD", "Anxiety"})), ("diagnoses", [], frozenset()),
    ("diagnoses", ["None of the above"], frozenset()), ("diagnoses", "ADHD", frozenset({"ADHD"})),
    ("diagnoses", "none", frozenset()), ("diagnoses", ["ADHD", "none"], None),
    ("diagnoses", ["ADHD", "Lupus"], OUT), ("diagnoses", ["Prefer not to say"], None),
    ("diagnoses", ["ADHD", None], None), ("diagnoses", [[]], None), ("diagnoses", {"ADHD": True}, None),
    ("diagnoses", ["ADHD"] * 51, None), ("diagnoses", None, None),
    ("who_5", 0, 0.0), ("who_5", 25, 25.0), ("who_5", 26, OUT), ("who_5", -1, OUT), ("who_5", "13", 13.0),
    ("who_5", "thirteen", None), ("who_5", True, None), ("who_5", float("nan"), None),
    ("who_5", 10**400, OUT),
    ("who_5", float("inf"), OUT), ("who_5", "nan", None), ("who_5", None, None), ("who_5", [13], None),
    ("promis_sleep_t", 41.1, 41.1), ("promis_sleep_t", 6, OUT),
])  # fmt: skip
def test_what_a_value_says(name: str, value: object, found: object) -> None:
    read = FIELDS[name].read(value)
    got = OUT if isinstance(read, Outside) else read
    assert (type(got), got) == (type(found), found)


def test_everything_that_the_sample_and_written_people_state_could_be_guessed() -> None:
    for about in (*load("sample"), *load("written")):
        stated = FORM.stated(about)
        assert set(stated) == set(FIELDS)
        assert not [name for name, v in stated.items() if v is None or isinstance(v, Outside)]


def test_options_of_your_own_take_the_place_of_ours() -> None:
    given = {"gender": ["Frau", "Mann", "Nichtbinär"], "diagnoses": ["PTSD", "OCD"]}
    form = form_with(given, "memory")
    assert form.describe() == {**Form().describe(), **given}
    stated = form.stated(person("c", "P", gender="NICHTBINÄR", diagnoses=["ocd"]))
    assert (stated["gender"], stated["diagnoses"]) == ("Nichtbinär", frozenset({"OCD"}))
    assert form_with(form.describe(), "again") == form


@pytest.mark.parametrize(("options", "said"), [
    ({"gendre": ["a", "b"]}, "gendre: found no field with options, expected one of education, gender"),
    ({"country": ["a", "b"]}, "country: found no field with options"),
    ({"gender": ["a"]}, "gender: found ['a'], expected 2 to 50 different texts"),
    ({"gender": "Female"}, 'gender: found "Female", expected'),
    ({"gender": ["a", 5]}, "gender: found 5, expected"),
    ({"gender": ["a", " "]}, 'gender: found " ", expected'),
    ({"gender": ["a", "A "]}, 'gender: found "a" twice, expected'),
    ({"diagnoses": ["ADHD", "None of the above"]}, 'diagnoses: found "None of the above", expected'),
    (["gender"], "found ['gender'], expected {"),
])  # fmt: skip
def test_a_wrong_list_of_options_is_told_by_its_place(options: Any, said: str) -> None:
    with pytest.raises(DataError) as caught:
        form_with(options, "o.json")
    assert said in str(caught.value)
