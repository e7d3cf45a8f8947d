"""The prompt holds the transcript and nothing else of the record."""

from __future__ import annotations

import copy
import re

import pytest

from attune_data import Conversation
from attune_data.validate import conversation_from
from attune_env.profile.request import profile_request, template_fingerprint
from tests.episodes.leaks import answered_otherwise, corpus, unanswered
from tests.profile.people import FORM

MARK = re.compile(r"carry the code ([0-9a-f]{12})\.")


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
    people = corpus()[::6]
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
    for about in corpus():
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
    for option in (option for options in FORM.describe().values() for option in options):
        assert f'"{option}"' in frame


def test_the_schema_asks_for_every_field_and_lets_none_be_answered() -> None:
    schema = profile_request(corpus()[0]).schema
    assert schema["required"] == list(schema["properties"]) == [field.name for field in FORM.fields]
    assert all("null" in one["type"] for one in schema["properties"].values())
    assert schema["properties"]["gender"]["enum"] == ["Female", "Male", "Non-binary", None]
    assert schema["properties"]["who_5"] == {"type": ["number", "null"], "minimum": 0, "maximum": 25}
    assert "enum" not in schema["properties"]["country"]


def test_the_template_is_named_by_its_content() -> None:
    assert re.fullmatch("[0-9a-f]{16}", template_fingerprint())
