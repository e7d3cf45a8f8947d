"""From a model's text to guesses."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attune_env.profile.fields import Outside, plain
from attune_env.profile.request import parse_profile
from attune_episodes.parsing import Unparsed
from tests.profile.people import FORM

NAMES = [field.name for field in FORM.fields]
WHOLE = {
    "country": "Ireland", "education": "Doctorate", "gender": "Male", "age_range": "25-34",
    "english_proficiency": "Native", "conversation_topic_attitude": "Neutral/Open",
    "diagnoses": ["ADHD", "Depression"], "who_5": 12, "asrs_6": 1, "aq_10": 2, "promis_anxiety_t": 55.8,
    "promis_depression_t": 51.8, "promis_sleep_t": 54.3, "tipi_extraversion": 9, "tipi_agreeableness": 10,
    "tipi_conscientiousness": 13, "tipi_stability": 9, "tipi_openness": 10,
}  # fmt: skip


def said(text: str | None) -> dict[str, object] | str:
    found = parse_profile(FORM, text)
    return found.reason if isinstance(found, Unparsed) else {n: plain(v) for n, v in found.items()}


def test_a_whole_answer_is_read_however_it_is_wrapped() -> None:
    text = json.dumps(WHOLE, ensure_ascii=False)
    for wrapped in (text, f"Sure 😀\n```json\n{text}\n```", f"<think>{{}}</think>{text}"):
        assert said(wrapped) == WHOLE | {"country": "ireland"}


@pytest.mark.parametrize(("text", "found"), [
    ('{"gender": "male", "who_5": 30, "age_range": "25"}', {"gender": "Male"}),  # out of range, no option
    ('{"gender": null, "who_5": null}', {}),
    ('{"diagnoses": ["ADHD", "Lupus"], "aq_10": "3"}', {"aq_10": 3}),
    ('{"diagnoses": "None of the above"}', {"diagnoses": []}),
    ('{"answer": "Male"}', "unparsed:no_fields"),
    ("I cannot guess that.", "unparsed:no_json"),
    ("", "unparsed:empty"), (None, "unparsed:empty"),
    ('{"gender": "Male"} or {"gender": "Female"}', "unparsed:ambiguous"),
    ('{"gender": "Male', "unparsed:truncated"),
])  # fmt: skip
def test_each_field_stands_for_itself(text: str | None, found: object) -> None:
    assert said(text) == found


VALUES = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False) | st.integers() | st.text(max_size=8)
    | st.sampled_from(["Female", "65+", "ADHD", "none", "Neutral/Open", "12"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=4,
)  # fmt: skip


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(st.dictionaries(st.sampled_from([*NAMES, "other"]), VALUES, max_size=8))
def test_whatever_is_read_is_valid_and_reading_it_again_changes_nothing(answer: dict[str, object]) -> None:
    found = parse_profile(FORM, json.dumps(answer))
    if isinstance(found, Unparsed):
        assert found.code == "no_fields"
        assert not set(answer) & set(NAMES)
        return
    for field in FORM.fields:
        if field.name in found:
            assert field.name in answer
            assert not isinstance(field.read(answer[field.name]), Outside)
    assert FORM.read({name: plain(value) for name, value in found.items()}) == found
