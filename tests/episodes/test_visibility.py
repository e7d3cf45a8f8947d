"""What each stage may see and what it may not: the heart of a fair evaluation."""

from __future__ import annotations

import copy
import re
from dataclasses import fields, replace

import pytest

from attune_data import Conversation
from attune_episodes import Request, Settings, plan
from attune_episodes.settings import LABELS, PANAS_STRATEGIES, Labels, PanasStrategy
from tests.episodes.builders import (
    BACKGROUND,
    EVERY_SETTING,
    NEVER,
    PRE_TOTALS,
    conversation,
    reannotated,
    record,
    request_of,
    setting_id,
    told,
    turn,
)

SEEN_BEFORE = {"MSG-1", "OM-1"}
EVERYTHING = {f"{kind}-{n}" for kind in ("MSG", "OM", "ALT", "HUM") for n in (1, 2, 3)}
VISIBLE = {
    # in turn 2 of 3; whatever text is not named here is forbidden there
    "draft": {*SEEN_BEFORE, "MSG-2"},
    "assess": {*SEEN_BEFORE, "MSG-2", "OM-2"},
    "assess_hp": {*SEEN_BEFORE, "MSG-2", "OM-2"},
    "prefer": {*SEEN_BEFORE, "MSG-2", "OM-2", "ALT-2", "HUM-2"},
    "reflect": {*SEEN_BEFORE, "MSG-2", "OM-2", "MSG-3", "OM-3"},
}
THREE_TURNS = conversation(turn(1), turn(2), turn(3))
every_setting = pytest.mark.parametrize("settings", EVERY_SETTING, ids=setting_id)


def everything_in(request: Request) -> str:
    """All that a policy is handed, except what is for the record only."""
    handed = replace(request, conversation_id="", shown_labels={})
    return str([getattr(handed, field.name) for field in fields(handed)])


def shows_totals(text: str) -> list[bool]:
    return [re.search(rf"\b{total}\b", text) is not None for total in PRE_TOTALS]


def reflect(about: Conversation, settings: Settings) -> Request:
    return request_of("reflect", settings, of=about)


@every_setting
def test_each_stage_sees_its_texts_and_no_others(settings: Settings) -> None:
    for stage, visible in VISIBLE.items():
        request = next(r for r in plan(THREE_TURNS, settings) if r.stage == stage and r.turn in (2, None))
        assert {marker for marker in EVERYTHING if marker in told(request)} == visible
        assert {marker for marker in EVERYTHING if marker in everything_in(request)} == visible


@every_setting
def test_no_annotated_answer_changes_anything_that_is_asked(settings: Settings) -> None:
    raw = record(turn(1), turn(2), turn(3))
    original, other = Conversation.model_validate(raw), Conversation.model_validate(reannotated(raw))
    assert original != other
    assert plan(original, settings) == plan(other, settings)


@pytest.mark.parametrize("field", ["moodShiftTags", "winner", "postPanas", "conversationWideQuestions"])
def test_whether_something_is_annotated_at_all_is_not_betrayed_either(field: str) -> None:
    raw = record()
    if field in raw:
        raw[field] = None
    for here in raw["turns"]:
        here["moodShiftTags"] = None if field == "moodShiftTags" else here["moodShiftTags"]
        for entry in here["annotations"]["pairwiseComparisons"]:
            entry["winner"] = None if field == "winner" else entry["winner"]
    assert plan(Conversation.model_validate(raw)) == plan(conversation())


@every_setting
def test_ids_sources_unknown_fields_and_free_text_annotations_are_never_shown(settings: Settings) -> None:
    raw = record()
    for about in (Conversation.model_validate(raw), Conversation.model_validate(reannotated(raw))):
        for request in plan(about, settings):
            assert [marker for marker in NEVER if marker in everything_in(request)] == []


@every_setting
def test_the_background_is_told_once_and_only_in_omniscient_modes(settings: Settings) -> None:
    for request in plan(THREE_TURNS, settings):
        times = {told(request).count(marker) for marker in BACKGROUND}
        assert times == ({1} if settings.omniscient else {0})


def test_in_the_thread_the_background_stands_before_the_first_message() -> None:
    for request in plan(THREE_TURNS, Settings(mode="omniscient")):
        first = request.messages[1]["content"]
        assert -1 < first.index("ATTITUDE-1") < first.index("MSG-1")


def test_without_a_background_the_omniscient_modes_say_so() -> None:
    bare = conversation(turn(1), metadata=None, participant_profile=None, prePanas=None)
    assert "No background is known." in told(request_of("draft", Settings(mode="omniscient"), of=bare))


@every_setting
def test_totals_before_are_shown_under_absolute_and_delta_only(settings: Settings) -> None:
    request = reflect(THREE_TURNS, settings)
    shown = settings.panas_strategy != "blind_delta"
    assert request.pre_totals == (PRE_TOTALS if shown else None)
    if not settings.omniscient:  # their background tells the feelings before in any case
        assert shows_totals(told(request)) == [shown, shown]
    for earlier in plan(THREE_TURNS, settings)[:-1]:
        assert earlier.pre_totals is None
        assert shows_totals(told(earlier)) == [settings.omniscient] * 2


@pytest.mark.parametrize("mode", ["default", "verbose"])
def test_blind_delta_shows_nothing_of_the_feelings_before(mode: str) -> None:
    settings = next(s for s in EVERY_SETTING if (s.mode, s.panas_strategy) == (mode, "blind_delta"))
    without = conversation(prePanas=None)
    assert plan(without, settings) == plan(conversation(), settings)


@pytest.mark.parametrize("strategy", PANAS_STRATEGIES)
@pytest.mark.parametrize("side", ["totalPositiveAffect", "totalNegativeAffect"])
def test_one_total_alone_is_not_shown(strategy: PanasStrategy, side: str) -> None:
    about = conversation(prePanas={side: 37})
    request = reflect(about, Settings(panas_strategy=strategy))
    assert request.pre_totals is None
    assert shows_totals(told(request)) == [False, False]


def test_stored_totals_are_shown_where_there_are_no_items() -> None:
    about = conversation(prePanas={"totalPositiveAffect": 37, "totalNegativeAffect": 23})
    assert shows_totals(told(reflect(about, Settings()))) == [True, True]


@every_setting
def test_only_the_change_strategies_ask_for_changes(settings: Settings) -> None:
    request = reflect(THREE_TURNS, settings)
    wants_change = settings.panas_strategy != "absolute"
    assert request.wants_change is wants_change
    assert ("panas_change" in told(request), "post_panas" in told(request)) == (
        wants_change,
        not wants_change,
    )


@every_setting
def test_labels_betray_their_source_only_under_the_official_style(settings: Settings) -> None:
    request = request_of("prefer", settings)
    last = request.messages[-1]["content"].casefold()
    named = [name for name in ("original", "alternate", "human", "improved", "edited") if name in last]
    if settings.labels == "masked":
        assert named == []
        assert set(request.responses) == {"X", "Y", "Z"}
        assert all({c.label_a, c.label_b} <= {"X", "Y", "Z"} for c in request.comparisons)
    else:
        assert named == ["original", "alternate"]
        assert list(request.responses) == ["original", "alternate1", "alternate2"]


def test_official_labels_keep_the_order_and_the_sides_of_the_file() -> None:
    about = conversation()
    request = request_of("prefer", Settings(labels="official"), of=about)
    names = {"original": "original", "alternate": "alternate1", "human": "alternate2"}
    want = [(names[c.response_a], names[c.response_b]) for c in about.turns[0].comparisons]
    assert [(c.label_a, c.label_b) for c in request.comparisons] == want
    assert [c.index for c in request.comparisons] == list(range(12))
    assert not any(c.swapped for c in request.comparisons)
    kinds = {"original": "OM-1", "alternate1": "ALT-1", "alternate2": "HUM-1"}
    assert all(marker in request.responses[label] for label, marker in kinds.items())


@pytest.mark.parametrize("labels", LABELS)
def test_each_response_is_printed_once_under_its_label(labels: Labels) -> None:
    request = request_of("prefer", Settings(labels=labels))
    last = request.messages[-1]["content"]
    assert [last.count(marker) for marker in ("OM-1", "ALT-1", "HUM-1")] == [1, 1, 1]
    for label, text in request.responses.items():
        assert f"<reply {label}>\n{text}\n</reply {label}>" in last


def test_a_response_that_is_not_compared_is_not_shown() -> None:
    pair = {"questionId": "general", "responseA": "original", "responseB": "human", "winner": "A"}
    request = request_of("prefer", of=conversation(turn(1, pairs=[pair])))
    assert len(request.responses) == 2
    assert "ALT-1" not in everything_in(request)


def test_changing_a_later_turn_changes_no_earlier_request() -> None:
    raw = record(turn(1), turn(2), turn(3))
    later = copy.deepcopy(raw)
    later["turns"][2] = turn(3, texts={"MSG": "other", "OM": "other", "ALT": "other", "HUM": "other"})
    before = [r for r in plan(Conversation.model_validate(raw)) if r.turn in (1, 2)]
    assert before == [r for r in plan(Conversation.model_validate(later)) if r.turn in (1, 2)]
