"""A conversation is played by one generator: who sees what, what is asked again, and what is kept."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace

import pytest

from attune_data.format.constants import JUDGED
from attune_data.format.validate import conversation_from
from attune_episodes.people.asks import Ask, GivenUpError, Hand, answered
from attune_episodes.people.cards import GOALS, plan
from attune_episodes.people.judging import Judged
from attune_episodes.people.play import Played, matters, play
from attune_episodes.people.record import only, record
from attune_episodes.people.usable import read_message
from attune_rewards.predictions import YesNo
from tests.people.scripted import CAST, Script

CARDS, FAILED = answered(matters(plan(6, 11), CAST), Script().ask)
CARD = CARDS[0]
ALL = replace(CAST, checked=1.0, twice=1.0)
REFUSAL = "I'm sorry, but I can't help with that."
SPANISH = (
    "no sé qué hacer con esto, mi hermana dice que la casa es suya y yo ya no quiero hablar más con ella"
)


def heard() -> tuple[Played, list[Ask]]:
    """A played conversation, and everything that was asked."""
    asks: list[Ask] = []
    script = Script()

    def answer(ask: Ask) -> str:
        asks.append(ask)
        return script.ask(ask)

    return answered(play(CARD, ALL), answer), asks


def test_assistants_and_reader_see_the_transcript_and_no_card() -> None:
    played, asks = heard()
    assert FAILED == {}
    private = (CARD.matter, *CARD.style, CARD.circumstance)
    for ask in asks:
        whole = json.dumps(ask.chat(), ensure_ascii=False)
        seen = [text for text in private if json.dumps(text, ensure_ascii=False)[1:-1] in whole]
        if ask.hand == "person":
            assert CARD.matter in seen
        else:
            assert seen == []
    assert len({ask.key for ask in asks}) == len({ask.id for ask in asks}) == len(asks)
    assert len(played.turns) <= CARD.turns


def test_the_next_message_is_written_before_the_other_reply_is_seen() -> None:
    played, asks = heard()
    received, other = played.turns[0].replies
    (second,) = [ask.chat()[0]["content"] for ask in asks if ask.request.id.endswith("/2/message")]
    assert f"\n{received}\n" in second
    assert other not in second


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (REFUSAL, "speaks as an assistant"),
        (SPANISH, "not in English"),
        ("I feel Upset 5 about it", "repeats the instructions"),
        ("As my card says, I am angry with him", "repeats the instructions"),
        (CARD.matter, "only shown"),
        (CARD.style[0], "only shown"),
        ("and so on " * 200, "600 words"),
        ("", "empty"),
    ],
)
def test_a_message_that_cannot_be_used_is_asked_for_again_with_the_reason(said: str, why: str) -> None:
    told: list[str] = []

    def once(kind: str, prompt: str, text: str) -> str:
        if kind != "message" or "could not be used" in prompt:
            told.extend([prompt] if "could not be used" in prompt else [])
            return text
        return said

    played = answered(play(CARD, CAST), Script(once).ask)
    assert said not in [turn.message for turn in played.turns]
    assert all(why in prompt for prompt in told)
    with pytest.raises(
        GivenUpError, match=f"message: no usable answer from lab/person in 3 attempts: .*{why}"
    ):
        answered(play(CARD, CAST), Script(lambda kind, _, text: said if kind == "message" else text).ask)


def test_who_writes_about_a_bank_card_is_heard() -> None:
    said = "They charged my card twice for the boiler"
    assert read_message(CARD, said) == said


def test_careless_readers_and_judges_are_asked_again_for_what_they_left_out() -> None:
    def careless(kind: str, prompt: str, text: str) -> str:
        if kind == "judgement" and "could not be used" not in prompt:
            return json.dumps({**json.loads(text), "ranks": {"general": "E>A>B"}})
        return text

    script = Script(careless)
    played = answered(play(CARD, CAST), script.ask)
    assert script.asked.count("judgement") == 2 * len(played.turns)


def test_the_mark_follows_the_text_where_what_should_show_is_not_found() -> None:
    def blind(kind: str, prompt: str, text: str) -> str:
        return '{"emotions": [{"emotion": "Proud", "intensity": 2}]}' if kind == "feelings" else text

    card = replace(
        CARD, openness="names it", attitude="Frustrated/Angry", turns=6, compared=CARD.compared[:1] * 6
    )
    played = answered(play(card, ALL), Script(blind).ask)
    read = [turn for turn in played.turns if turn.origin == "read"]
    assert read
    assert all([tag.emotion for tag in turn.tags] == ["Proud"] for turn in read)
    labels = record(played)["played"]["labels"]["moodShiftTags"]
    assert labels == [turn.origin for turn in played.turns]


def test_no_two_matters_are_alike() -> None:
    def copied(kind: str, prompt: str, text: str) -> str:
        return "the boiler broke and the man came twice and left the bill with her on Monday in May"[:200]

    made, failed = answered(matters(plan(3, 5), CAST), Script(copied).ask)
    assert len(made) == 1
    assert set(failed.values()) == {"every matter was like an earlier one"}


def test_the_record_is_of_the_format_and_says_where_each_label_comes_from() -> None:
    played, _ = heard()
    made = record(played)
    conversation = conversation_from(json.loads(json.dumps(made)), "played")
    assert conversation.origin == "played"
    assert made["played"]["hands"] == {
        "person": "lab/person", "assistant-1": "lab/one", "assistant-2": "other/two", "reader": "lab/reader"
    }  # fmt: skip
    first = played.turns[0]
    observed = {j.question_id: j.observed for j in conversation.turns[0].judgements}
    assert first.judged is not None
    assert observed["B8"] == first.judged.answers["B8"] == "yes"
    assert observed["B11"] == first.read["B11"] == "no"
    assert made["turns"][0]["played"]["read_again"] == dict(first.read)


@pytest.mark.parametrize(
    ("origins", "kept"),
    [
        ({"read"}, (False, False, True, False, False)),
        ({"decided"}, (True, True, False, False, False)),
        ({"judged", "read"}, (False, False, True, True, True)),
    ],
)
def test_labels_of_other_origins_can_be_left_out(origins: set[str], kept: tuple[bool, ...]) -> None:
    made = record(heard()[0])
    whole = conversation_from(made, "played")
    (found,) = only([whole], origins)
    turn = found.turns[0]
    judged = {j.question_id: j for j in turn.judgements}
    applies = [j.question_id for j in whole.turns[0].judgements if j.observed != "na"]
    about = judged.get(next(q for q in applies if q not in JUDGED))
    assert kept[:4] == (
        found.pre_panas is not None,
        turn.mood_shift_tags is not None,
        about is not None and about.observed is not None,
        about is not None and about.preferred_truth in ("yes", "no"),
    )
    assert bool(turn.comparisons) is kept[4]
    assert only([whole], {"decided", "read", "judged"})[0] is whole


def test_what_the_person_would_have_wanted_is_judged_and_decided_where_nobody_judges() -> None:
    turn = heard()[0].turns[0]
    assert turn.judged is not None
    read: dict[str, YesNo] = {"B1": "yes", "B11": "no", "B13": "yes", "B316": "no", "B505": "yes", "B2": "no"}
    named = Judged({"B2": "yes"}, ("B2", "B13", "B316"), "", {})
    here = replace(turn, read=read, wanted={"B16": "na", "B1": "no"}, judged=named)
    assert here.observed == {**read, "B2": "yes", "B16": "na"}
    assert here.preferred == {
        "B1": "yes",  # fine as it was, whatever was decided
        "B2": "no", "B13": "no", "B316": "yes",  # the other way round
        "B11": "yes",  # a suggestion that is wanted is advice
        "B505": "no",  # no question at all
        "B16": "na",
    }  # fmt: skip
    assert replace(here, judged=None).preferred == {"B16": "na", "B1": "no"}


def test_the_person_judges_after_their_next_message_and_is_told_no_wishes() -> None:
    played, asks = heard()
    prompts = {ask.request.id: ask.chat()[0]["content"] for ask in asks}
    here = prompts[f"{CARD.id}/1/judgement"]
    assert f"\n{played.turns[1].message}\n" in here
    assert "what you wrote next" not in prompts[f"{CARD.id}/{len(played.turns)}/judgement"]
    assert "would rather it did not" in prompts[f"{CARD.id}/1/message"]
    assert "would rather it did not" not in here


def test_the_person_judges_the_whole_with_what_they_said_before() -> None:
    played, asks = heard()
    last = asks[-1]
    assert last.request.id == f"{CARD.id}/closing"
    for turn in played.turns:
        assert turn.message in last.chat()[0]["content"]
    made = record(played)
    assert made["conversationWideQuestions"] == {
        "fourBranchScores": dict.fromkeys(("perceiving", "facilitating", "understanding", "managing"), 4),
        "q1_lookingFor": [GOALS[goal] for goal in CARD.goals],
        "q2_emotionClarity": "Implied or indirect",
        "q3_modelFit": "Mixed, some good moments, some misses",
        "q3_followUp_whatFeltOff": ["It felt generic"],
    }
    assert made["postPanas"] == made["prePanas"]  # the script feels as before
    assert made["played"]["labels"]["postPanas"] == made["played"]["labels"]["q3_modelFit"] == "judged"
    alone = record(replace(played, closing=None))
    assert alone["played"]["labels"]["postPanas"] == "decided"


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"fit": "good"}, '"fit" is none of very, mostly, mixed, off'),
        ({"clarity": None}, '"clarity" is none of clear'),
        ({"off": ["slow"]}, '"off" is no list of some of early'),
        (
            {"branches": {"perceiving": 8}},
            '"branches" has no rating from 1 to 7 for perceiving, facilitating',
        ),
        ({"now": {}}, '"now" has no rating from 1 to 7 for Proud, Irritable'),
    ],
)
def test_a_closing_judgement_that_lacks_something_is_asked_for_again(
    change: dict[str, object], why: str
) -> None:
    told: list[str] = []

    def careless(kind: str, prompt: str, text: str) -> str:
        if kind == "closing":
            told.append(prompt)
            return text if "could not be used" in prompt else json.dumps({**json.loads(text), **change})
        return text

    answered(play(CARD, CAST), Script(careless).ask)
    assert [why in prompt for prompt in told] == [False, True]


def test_nothing_felt_off_where_the_replies_fitted() -> None:
    def pleased(kind: str, prompt: str, text: str) -> str:
        return json.dumps({**json.loads(text), "fit": "very"}) if kind == "closing" else text

    closing = answered(play(CARD, CAST), Script(pleased).ask).closing
    assert closing is not None
    assert (closing.fit, closing.off) == ("very", ())


def test_an_answer_about_a_question_that_was_not_asked_is_asked_for_again() -> None:
    def invented(kind: str, prompt: str, text: str) -> str:
        if kind == "judgement" and "could not be used" not in prompt:
            return json.dumps({**json.loads(text), "otherwise": ["B999"]})
        return text

    script = Script(invented)
    played = answered(play(CARD, CAST), script.ask)
    assert script.asked.count("judgement") == 2 * len(played.turns)


def test_one_family_is_said_to_be_one() -> None:
    kin = [Hand("openrouter/anthropic/claude-a-4"), Hand("claude-b"), Hand("openai/gpt-5")]
    assert [hand.kin for hand in kin] == ["claude", "claude", "gpt"]
    assert replace(CAST, person=kin[0], assistants=(kin[1],), reader=kin[1]).one_family
    assert not CAST.one_family


def test_the_same_plan_and_answers_give_the_same_bytes_under_any_hash_seed() -> None:
    code = (
        "import hashlib, json; from tests.people.test_play import *; "
        "print(hashlib.sha256(json.dumps([record(answered(play(c, ALL), Script().ask)) for c in CARDS[:2]])"
        ".encode()).hexdigest())"
    )
    run: Callable[[str], str] = lambda seed: subprocess.run(  # noqa: E731
        [sys.executable, "-c", code], env={**os.environ, "PYTHONHASHSEED": seed}, check=True,
        capture_output=True, text=True,
    ).stdout  # fmt: skip
    assert run("1") == run("2") == run("3") != ""
