"""ESConv: what becomes a turn, which answers and intensities are imported, and what is counted as left."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from attune_data import Conversation
from attune_data.format.constants import Q3_OPTIONS
from attune_data.importing import Imported, import_esconv
from tests.data.builders import write
from tests.data.importing.exports import LONG, chat, real_esconv, replied, said


def imported(folder: Path, *chats: Any) -> Imported:
    return import_esconv(write(folder / "ESConv.json", list(chats)))


def one(folder: Path, *chats: Any) -> Conversation:
    (conversation,) = imported(folder, *chats).conversations
    return conversation


def counts(result: Imported) -> dict[str, int]:
    """Everything that is counted; 0 is left away."""
    return {count.what: count.count for count in (*result.annotated, *result.left) if count.count}


def texts(conversation: Conversation) -> list[tuple[str, str]]:
    return [(turn.user_message, turn.llm_response) for turn in conversation.turns]


def outside(conversation: Conversation) -> Any:
    return conversation.to_record().get("outsideTurns")


def test_a_real_export_loads_whole_and_is_counted(tmp_path: Path) -> None:
    result = imported(tmp_path, *real_esconv())
    found = result.conversations
    assert [c.conversation_id for c in found] == ["ESConv-0", "ESConv-1", "ESConv-3", "ESConv-4"]
    assert counts(result) == {
        # turns: 2 + 2 + 1 + 1; with an answer: both of the first (B1 and B13; B11), the first of the second
        "turns with observed answers": 3,
        "observed answers": 4,
        "some PANAS item before": 1,  # nervousness; of guilt it is blank, of sadness there is no item
        "some PANAS item after": 2,
        "questions after the conversation": 1,  # two stars in the first chat, one in the second
        "conversations that make none": 1,
        "messages before the seeker's first": 2,
        "messages after the last reply": 2,
        "blank messages": 1,
        "strategy restatement or paraphrasing": 1,
        "strategy self-disclosure": 1,
        "strategy affirmation and reassurance": 1,
        "strategy other": 1,  # the second chat's; the first chat's stands before the first turn
        "intensities of other emotions": 2,
        "seeker's empathy": 3,
        "seeker's relevance": 3,
        "supporter's relevance": 3,
        "situations": 3,
    }
    (problem,) = found.left_out
    assert (problem.severity, problem.place) == ("warning", "[2].dialog")
    assert result.notes == ("all 4 observed answers are yes: a model that always says so has them all",)


def test_messages_in_a_row_are_one_and_what_stands_outside_turns_is_kept(tmp_path: Path) -> None:
    chats = [*real_esconv()[:2], chat(), real_esconv()[3]]
    first, second, third, fourth = imported(tmp_path, *chats).conversations
    assert texts(first) == [
        (
            "My boss moved the talk to today\nI could not eat anything",
            "That must be hard, you sound tense.\nIs it about the project?",
        ),
        (
            "Yes, what else",
            "Perhaps write down three points before you go in.\nI froze in one of those myself once.",
        ),
    ]
    assert [turn.turn_number for turn in first.turns] == [1, 2]
    assert outside(first) == {"before": ["Hello there", "How is your day going?"], "after": ["good idea"]}
    assert (outside(second), outside(third)) == (None, None)
    # blank messages vanish, their strategies with them, and long ones stay whole
    assert texts(fourth) == [(LONG.strip(), "Das klingt zäh.")]
    assert fourth.turns[0].annotations is None


@pytest.mark.parametrize(("strategy", "questions"), [
    ("Question", ["B13"]), ("Questions", ["B13"]), ("[Question]", ["B13"]), ("question", ["B13"]),
    ("Providing Suggestions", ["B11"]), ("Reflection of feelings", ["B1"]),
    ("Reflection of Feelings", ["B1"]),
    ("Restatement or Paraphrasing", []), ("Self-disclosure", []), ("Affirmation and Reassurance", []),
    ("Information", []), ("Other", []), ("Others", []), ("Humming", []), ("", []), (None, []),
    ("Providing Suggestions or Information", []), ("Greeting", []),
    ("Emotional Validation (EV)", ["B1", "B19"]), ("Normalise Experiences", ["B19"]),
    ("Clarification", ["B13"]), ("Collaborative Planning", ["B11"]), ("Suggest Option", ["B11"]),
    ("Avoid Judgement and Criticism", []), ("Share Information", []), ("Reflective Statements", []),
])  # fmt: skip
def test_a_strategy_answers_only_what_it_entails(
    tmp_path: Path, strategy: str | None, questions: list[str]
) -> None:
    (turn,) = one(tmp_path, chat(said("a"), replied("b", strategy))).turns
    assert [judgement.question_id for judgement in turn.judgements] == questions
    for judgement in turn.judgements:
        assert (judgement.observed, judgement.preferred) == ("yes", "na")
        # absent would be read as the observed answer: the source says nothing about what was wanted
        assert judgement.preferred_truth == "na"
    assert turn.mood_shift_tags is None


@pytest.mark.parametrize(("emotion", "item"), [
    ("nervousness", "Nervous"), ("fear", "Afraid"), ("shame", "Ashamed"), ("guilt", "Guilty"),
    ("Fear", "Afraid"),
    ("anxiety", None), ("depression", None), ("sadness", None), ("anger", None), ("disgust", None),
    ("pain", None), ("jealousy", None), ("", None), (None, None),
])  # fmt: skip
def test_only_an_emotion_that_is_a_panas_item_by_name_is_rated(
    tmp_path: Path, emotion: str | None, item: str | None
) -> None:
    result = imported(tmp_path, chat(emotion_type=emotion, before="5", after="1"))
    conversation = result.conversations[0]
    before, after = conversation.pre_panas, conversation.post_panas
    if item is None:
        assert (before, after) == (None, None)
        assert counts(result)["intensities of other emotions"] == 2
    else:
        assert before is not None
        assert after is not None
        assert (before.responses, after.responses) == ({item: 7}, {item: 1})
        # one item of ten: no total, so that nothing of it is scored as one
        assert (before.total("negative"), before.total("positive")) == (None, None)


@pytest.mark.parametrize(("given", "rating"), [
    # 1 + 1.5 (x - 1) = 1, 2.5, 4, 5.5, 7; the halves go towards the middle
    ("1", 1), ("2", 3), ("3", 4), ("4", 5), ("5", 7), (4, 5), (4.0, 5), (" 5 ", 7), ("", None), (None, None),
])  # fmt: skip
def test_intensities_are_stretched_from_five_steps_to_seven(
    tmp_path: Path, given: Any, rating: int | None
) -> None:
    conversation = one(tmp_path, chat(before=given, after="3"))
    if rating is None:
        assert conversation.pre_panas is None
    else:
        assert conversation.pre_panas is not None
        assert conversation.pre_panas.item("Nervous") == rating
    assert conversation.post_panas is not None


@pytest.mark.parametrize("survey", [None, {}, {"seeker": None}, {"seeker": {}, "supporter": {}}])
def test_a_conversation_may_hold_nothing_but_its_messages(tmp_path: Path, survey: Any) -> None:
    dialog = [
        {"speaker": "seeker", "content": "a", "annotation": None},
        {"speaker": "supporter", "content": "b"},
    ]
    conversation = one(tmp_path, {"dialog": dialog} | ({} if survey is None else {"survey_score": survey}))
    assert texts(conversation) == [("a", "b")]
    assert (conversation.pre_panas, conversation.post_panas) == (None, None)
    assert conversation.to_record()["metadata"] == {
        "model": "human supporter",
        "dataset": "ESConv",
        "licence": "CC BY-NC 4.0",
        "non_commercial": True,
        "record": "ESConv.json[0]",
    }


@pytest.mark.parametrize(("stars", "fit"), [
    ((), None), (("5",), None),  # one star is of one moment
    (("5", 5), 0), (("3", "5"), 0),  # means of 4 and more
    (("3", "4"), 1), (("2", "3"), 2),  # 3.5 and 2.5
    (("1", "2"), 3), (("1", "1"), 3),
])  # fmt: skip
def test_the_mean_of_the_stars_is_the_fit_of_the_chat(
    tmp_path: Path, stars: tuple[Any, ...], fit: int | None
) -> None:
    turns = [part for star in stars for part in (replied("Oh?"), said("yes", feedback=star))]
    wide = one(tmp_path, chat(said("a"), replied("b"), said("c"), *turns)).conversation_wide
    assert (wide and wide.q3_model_fit) == (None if fit is None else Q3_OPTIONS[fit])


def test_stars_stand_on_the_turn_whose_reply_they_follow(tmp_path: Path) -> None:
    result = imported(tmp_path, chat(
        replied("hello"), said("hi", feedback="2"), replied("What is it?"), said("my exam", feedback="4"),
        said("tomorrow"), replied("Oh."), said("yes"), replied("Rest a bit."), said("thanks", feedback="5"),
    ))  # fmt: skip
    (conversation,) = result.conversations
    assert [turn.get("stars") for turn in conversation.to_record()["turns"]] == [4, None, 5]
    assert counts(result)["stars before the first reply"] == 1
    assert not any(turn.comparisons for turn in conversation.turns)
