"""The result record: the official fields and no others, null against empty, and the way back."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings

from attune_data import Conversation, load
from attune_data.format.affect import EMOTIONS
from attune_episodes import Episode, Settings, Unparsed
from attune_episodes.play.score import resolved
from attune_rewards import (
    ConversationPrediction,
    Reflect,
    read_record,
)
from attune_rewards.truth import truth_of
from tests.play.players import PLAYED, SETTINGS, example, play
from tests.rewards.builders import Json, answer, gold, summing

RECORD = {
    "conversationId", "source_file", "em_model", "run_timestamp", "mode", "turns", "post_conversation",
    "api_cost", "duration_seconds",
}  # fmt: skip
TURN = {
    "turnNumber", "em_emotion_tags", "em_drafted_response", "response_reasoning", "emotion_reasoning",
    "pairwise_assignment", "em_binary_om_assessment", "em_binary_human_prediction",
    "em_binary_om_assessment_hp", "em_binary_human_prediction_hp", "em_pairwise_selections",
    "em_four_branch_scores", "em_draft_judge_scores", "em_draft_judge_scores_by_model",
    "em_draft_binary_assessment", "em_draft_binary_assessment_by_model",
}  # fmt: skip
POST = {
    "panas_strategy", "pre_panas_shown", "predicted_post_panas", "predicted_panas_delta",
    "predicted_conversation_wide",
}  # fmt: skip
PANAS = {"totalPositiveAffect", "totalNegativeAffect", "items"}
WIDE = {"q1_lookingFor", "q2_emotionClarity", "q3_modelFit", "q3_followUp_whatFeltOff", "fourBranchScores"}
ANSWERS = (
    "em_binary_om_assessment", "em_binary_human_prediction", "em_binary_om_assessment_hp",
    "em_binary_human_prediction_hp", "em_pairwise_selections",
)  # fmt: skip
some = settings(max_examples=25, deadline=None)
Played = tuple[Conversation, ConversationPrediction]


def of_example(*replies: str, **asked: Any) -> Json:
    episode = Episode(example(), Settings(**asked))
    for reply in replies:
        episode.submit(reply)
    return episode.result()


@some
@given(played=PLAYED, asked=SETTINGS)
def test_a_record_has_the_official_fields_and_attune_and_nothing_else(
    played: Played, asked: Settings
) -> None:
    record = play(*played, asked).result()
    assert record.keys() == RECORD | {"attune"}
    assert [entry["turnNumber"] for entry in record["turns"]] == [t.turn_number for t in played[0].turns]
    for entry in record["turns"]:
        assert entry.keys() == TURN | {"attune"}
    post = record["post_conversation"]
    assert post.keys() == POST | {"attune"}
    assert post["predicted_post_panas"].keys() == PANAS
    assert post["predicted_conversation_wide"].keys() == WIDE
    assert (record["mode"], post["panas_strategy"]) == (asked.mode, asked.panas_strategy)


@some
@given(played=PLAYED, asked=SETTINGS)
def test_reading_a_record_gives_back_what_was_said(played: Played, asked: Settings) -> None:
    about, _ = played
    episode = play(*played, asked, as_text=True)
    back, warnings = read_record(json.loads(json.dumps(episode.result())), about)
    assert warnings == ()
    for step in episode.steps:
        if isinstance(step.outcome, Unparsed):
            continue
        said = resolved(truth_of(about), step.outcome)
        got = answer(back, step.request.stage, step.request.turn)
        if isinstance(said, Reflect) and isinstance(got, Reflect):
            # totals are written from the items, and changes as the items they come to
            said, got = replace(said, panas_change=None), replace(got, panas_totals=(None, None))
        assert got == said


# --- null, [] and {} ------------------------------------------------------------------------------------


def test_unreadable_replies_are_null() -> None:
    record = of_example(*[""] * 5)
    (entry,), post = record["turns"], record["post_conversation"]
    nulls = {key for key, value in entry.items() if value is None}
    texts = {"em_emotion_tags", "em_drafted_response", "response_reasoning", "emotion_reasoning"}
    assert nulls == {*texts, *ANSWERS}
    answered = post["predicted_conversation_wide"]
    assert answered == dict.fromkeys(WIDE - {"fourBranchScores"}) | {"fourBranchScores": {}}
    assert post["predicted_post_panas"] == {
        "totalPositiveAffect": None, "totalNegativeAffect": None, "items": {},
    }  # fmt: skip


def test_empty_answers_are_empty_not_null() -> None:
    record = of_example(
        "…", '{"emotions": [], "observed": {}, "preferred": {}}', '{"observed": {}}', '{"picks": {}}',
        '{"q1_lookingFor": [], "q3_followUp_whatFeltOff": []}',
    )  # fmt: skip
    (entry,), wide = record["turns"], record["post_conversation"]["predicted_conversation_wide"]
    assert entry["em_emotion_tags"] == []
    assert [entry[key] for key in ANSWERS] == [{}] * 5
    assert (wide["q1_lookingFor"], wide["q3_followUp_whatFeltOff"]) == ([], [])
    assert (wide["q2_emotionClarity"], wide["q3_modelFit"]) == (None, None)


# --- attune -------------------------------------------------------------------------------------------


def test_what_was_shown_is_kept() -> None:
    about = load("sample")[0]
    episode = play(about, gold(about), Settings(seed=2))
    for request, entry in ((r, e) for e in episode.result()["turns"] for r in episode.requests
                           if r.stage == "prefer" and r.turn == e["turnNumber"]):  # fmt: skip
        shown = entry["attune"]["shown"]
        assert shown["labels"] == dict(request.shown_labels)
        assert shown["order"] == [c.index for c in request.comparisons]
        assert shown["swapped"] == [c.index for c in request.comparisons if c.swapped]


@pytest.mark.parametrize(("strategy", "shown"), [
    ("absolute", {"totalPositiveAffect": 30, "totalNegativeAffect": 20, "items": {}}),
    ("delta", {"totalPositiveAffect": 30, "totalNegativeAffect": 20, "items": {}}),
    ("blind_delta", None),
])  # fmt: skip
def test_totals_before_are_recorded_where_they_were_shown(strategy: Any, shown: Json | None) -> None:
    reply = (
        Reflect(summing(35, 20))
        if strategy == "absolute"
        else Reflect(panas_change=dict.fromkeys(EMOTIONS, 1))
    )
    episode = Episode(example(), Settings(stages=("reflect",), panas_strategy=strategy))
    episode.submit(reply)
    post = episode.result()["post_conversation"]
    assert post["pre_panas_shown"] == shown
    assert (post["predicted_panas_delta"] == {}) == (strategy == "absolute")
    # by hand: 35 and 20 as said; 30 + 10 and 20 + 10 from the changes
    want = (35, 20) if strategy == "absolute" else (40, 30)
    totals = post["predicted_post_panas"]
    assert (totals["totalPositiveAffect"], totals["totalNegativeAffect"]) == want
