"""The prompt holds the transcript and nothing else of the record; guesses are read from a model's text."""

from __future__ import annotations

import copy
import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attune_data import Conversation, load
from attune_data.format.validate import conversation_from
from attune_env.profile.kinds import Outside, plain
from attune_env.profile.request import parse_profile, profile_request, template_fingerprint
from attune_episodes.parsing import Unparsed
from tests.profile.people import FIELDS, FORM
from tests.protocol.leaks import answered_otherwise, corpus, unanswered

MARK = re.compile(r"carry the code ([0-9a-f]{12})\.")
WHOLE = {
    "country": "Ireland", "education": "Doctorate", "gender": "Male", "age_range": "25-34",
    "english_proficiency": "Native", "conversation_topic_attitude": "Neutral/Open",
    "diagnoses": ["ADHD", "Depression"], "who_5": 12, "asrs_6": 1, "aq_10": 2, "promis_anxiety_t": 55.8,
    "promis_depression_t": 51.8, "promis_sleep_t": 54.3, "tipi_extraversion": 9, "tipi_agreeableness": 10,
    "tipi_conscientiousness": 13, "tipi_stability": 9, "tipi_openness": 10,
}  # fmt: skip


def somebody_else(about: Conversation, other: Conversation) -> Conversation:
    """The same messages, held by another person about another topic, with other replies to choose from."""
    raw, theirs = copy.deepcopy(about.to_record()), other.to_record()
    for name in ("participant_profile", "metadata", "prePanas", "postPanas", "provenance"):
        raw[name] = theirs[name]
    raw["participant_profile"]["participant_id"] = "someone-else"
    for turn in raw["turns"]:
        turn["annotations"]["alternateResponses"] = {"llmImproved": "Other.", "humanEdited": "Else."}
    return conversation_from(raw, "memory")


def bare(about: Conversation) -> Conversation:
    """The same messages and nothing more."""
    turns = [{name: turn[name] for name in ("turnNumber", "userMessage", "llmResponse")}
             for turn in about.to_record()["turns"]]  # fmt: skip
    return conversation_from({"conversationId": about.conversation_id, "turns": turns}, "memory")


@pytest.mark.slow
def test_no_prompt_depends_on_what_the_person_stated_felt_or_annotated() -> None:
    people = corpus()[::3]
    changed = 0
    for about, other in zip(people, (*people[7:], *people[:7]), strict=True):
        want = profile_request(about)
        twins = (somebody_else(about, other), answered_otherwise(about), unanswered(about), bare(about))
        changed += FORM.stated(twins[0]) != FORM.stated(about)
        for twin in twins:
            request = profile_request(twin)
            assert (request.messages, repr(request.schema)) == (want.messages, repr(want.schema))
    assert changed > 30  # the twins are other people indeed


def test_a_prompt_is_one_frame_and_the_texts_in_their_order() -> None:
    frames = set()
    for about in (*load("sample"), *load("written:dev")[:5]):
        (message,) = profile_request(about).messages
        mark = MARK.search(message.content)
        assert mark is not None
        texts = "".join(
            f"\n<message {n} {mark[1]}>\n{turn.user_message}\n</message {n} {mark[1]}>\n"
            f"\n<reply {n} {mark[1]}>\n{turn.llm_response}\n</reply {n} {mark[1]}>\n"
            for n, turn in enumerate(about.turns, 1)
        )
        assert message.content.count(texts) == 1
        frames.add(message.content.replace(texts, "#").replace(mark[1], "code"))
        assert mark[1] not in "".join(turn.user_message + turn.llm_response for turn in about.turns)
    (frame,) = frames
    for field in FORM.fields:
        assert f"\n{field.name}: {field.text}" in frame
        assert all(f'"{option}"' in frame for option in field.options)
    assert re.fullmatch("[0-9a-f]{16}", template_fingerprint())


def test_the_schema_asks_for_every_field_and_lets_none_be_answered() -> None:
    schema = profile_request(load("sample")[0]).schema
    asked = schema["properties"]
    assert schema["required"] == list(asked) == list(FIELDS)
    assert all("null" in one["type"] for one in asked.values())
    assert asked["gender"]["enum"] == ["Female", "Male", "Non-binary", None]
    assert asked["who_5"] == {"type": ["number", "null"], "minimum": 0, "maximum": 25}
    assert "enum" not in asked["country"]


TEXT = json.dumps(WHOLE, ensure_ascii=False)
READ = WHOLE | {"country": "ireland"}


@pytest.mark.parametrize(("text", "found"), [
    (TEXT, READ), (f"Sure 😀\n```json\n{TEXT}\n```", READ), (f"<think>{{}}</think>{TEXT}", READ),
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
    said = parse_profile(FORM, text)
    assert (said.reason if isinstance(said, Unparsed) else {n: plain(v) for n, v in said.items()}) == found


VALUES = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False) | st.integers() | st.text(max_size=8)
    | st.sampled_from(["Female", "65+", "ADHD", "none", "Neutral/Open", "12"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=4,
)  # fmt: skip


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(st.dictionaries(st.sampled_from([*FIELDS, "other"]), VALUES, max_size=8))
def test_whatever_is_read_is_valid_and_reading_it_again_changes_nothing(answer: dict[str, object]) -> None:
    found = parse_profile(FORM, json.dumps(answer))
    if isinstance(found, Unparsed):
        assert found.code == "no_fields"
        assert not set(answer) & set(FIELDS)
        return
    assert not [name for name in found if isinstance(FIELDS[name].read(answer[name]), Outside)]
    assert FORM.read({name: plain(value) for name, value in found.items()}) == found
