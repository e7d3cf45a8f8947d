"""Any well-formed ESConv chat imports, validates, and keeps its messages in order."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attune_data import Conversation, DataError, load
from attune_data.importing import import_esconv
from attune_data.writing import write_jsonl

TEXT = st.text(st.characters(codec="utf-8"), max_size=12)
MAYBE = st.one_of(st.none(), TEXT)
STRATEGY = st.sampled_from(["Question", "Others", "Providing Suggestions", "Reflection of feelings"]) | MAYBE
INTENSITY = st.sampled_from(["1", "2", "3", "4", "5", "", 3, None])
EMOTION = st.sampled_from(["fear", "guilt", "anxiety"]) | MAYBE


def some_of(fields: dict[str, st.SearchStrategy[Any]]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({}, optional=fields)


MESSAGE = st.fixed_dictionaries(
    {"speaker": st.sampled_from(["seeker", "supporter", "speaker", "listener"]), "content": TEXT},
    optional={"annotation": st.none() | some_of({"strategy": STRATEGY, "feedback": INTENSITY})},
)
SEEKER = some_of({
    "initial_emotion_intensity": INTENSITY, "final_emotion_intensity": INTENSITY,
    "empathy": INTENSITY, "relevance": INTENSITY,
})  # fmt: skip
CHAT = st.fixed_dictionaries(
    {"dialog": st.lists(MESSAGE, max_size=8)},
    optional={
        "experience_type": MAYBE,
        "emotion_type": EMOTION,
        "problem_type": MAYBE,
        "situation": MAYBE,
        "survey_score": st.none() | some_of({"seeker": st.none() | SEEKER, "supporter": st.just({})}),
        "seeker_question1": MAYBE,
    },
)


def has_an_answer(dialog: list[dict[str, Any]]) -> bool:
    """Whether a message of the seeker is followed by one of the supporter, blank ones aside."""
    sides = [message["speaker"] in ("seeker", "speaker") for message in dialog if message["content"].strip()]
    return (True, False) in pairwise(sides)


def messages(conversation: Conversation) -> list[str]:
    """All texts of a conversation, those outside the turns too, in the order they were said."""
    outside = conversation.to_record().get("outsideTurns") or {}
    turns = [text for turn in conversation.turns for text in (turn.user_message, turn.llm_response)]
    return ["\n".join(part) for part in (outside.get("before", []), turns, outside.get("after", [])) if part]


@settings(max_examples=150, deadline=None)
@given(st.lists(CHAT, min_size=1, max_size=3))
def test_any_chat_imports_whole_and_keeps_its_messages_in_order(chats: list[dict[str, Any]]) -> None:
    with TemporaryDirectory() as name:
        path = Path(name) / "any.json"
        path.write_text(json.dumps(chats), encoding="utf-8")
        answered = [has_an_answer(chat["dialog"]) for chat in chats]
        if not any(answered):
            with pytest.raises(DataError) as caught:
                import_esconv(path)
            assert {problem.severity for problem in caught.value.problems} == {"warning"}
            return
        found = import_esconv(path).conversations
        write_jsonl(found, Path(name) / "any.jsonl")
        again = load(Path(name) / "any.jsonl")  # raises where a record has any error
    assert [c.conversation_id for c in found] == [f"any-{i}" for i, one in enumerate(answered) if one]
    assert again.fingerprint == found.fingerprint
    assert again.provenance == "imported"
    for conversation in again:
        chat = chats[int(conversation.conversation_id.rpartition("-")[2])]
        said = [m["content"].strip() for m in chat["dialog"] if m["content"].strip()]
        assert "\n".join(messages(conversation)) == "\n".join(said)
