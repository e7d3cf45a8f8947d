"""No annotated answer can be read off any prompt: every mode and stage, the sample and written conversations.

What a prompt may hold of the annotations, and what these tests therefore keep fixed:
- which yes/no questions apply in a turn, and which are listed as not applicable (what that says by itself,
  such as a question that applies only where a feeling was tagged, is the data's and no test's here);
- which comparisons were made, on which questions, and in prefer the texts of their responses;
- under `absolute` and `delta` the PANAS totals before the conversation, in reflect;
- in the omniscient modes the background: topic, attitude, profile and PANAS before the conversation.
All else that the person said is an answer, and nothing may depend on it.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable
from dataclasses import fields, replace
from functools import cache

import pytest

from attune_data import Conversation, Turn
from attune_episodes import Request, Settings, plan
from attune_episodes.protocol.shown import label_responses, show_comparisons
from tests.play.builders import (
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
from tests.protocol.leaks import (
    CLUES,
    answered_otherwise,
    attack,
    corpus,
    rows,
    shown,
    unanswered,
    walk,
)

Twin = Callable[[Conversation], Conversation]


@cache
def twins(twin: Twin) -> dict[str, Conversation]:
    return {about.conversation_id: twin(about) for about in corpus()}


def handed(request: Request) -> tuple[object, ...]:
    """All that a request hands over; mappings as lists, since their order could tell something too."""
    return (
        [(message.role, message.content) for message in request.messages],
        (request.history, request.user_message, request.reply, request.questions, request.comparisons),
        (list(request.responses.items()), list(request.options.items()), list(request.shown_labels.items())),
        (request.id, request.verbose, request.pre_totals, request.wants_change),
    )


# --- 1. other answers, the same prompts ----------------------------------------------------------


@pytest.mark.slow
def test_no_request_depends_on_any_answer() -> None:
    requests: Counter[str] = Counter()
    for number, (about, settings) in enumerate(walk()):
        want = [handed(request) for request in plan(about, settings)]
        requests.update(request.stage for request in plan(about, settings))
        for twin in (answered_otherwise, unanswered)[: 1 + (number % 5 < 2)]:  # 5: prime to the walk's steps
            other = plan(twins(twin)[about.conversation_id], settings)
            assert [handed(request) for request in other] == want, (about, settings.describe())
    assert min(requests.values()) > 1_300  # each stage was there


# --- 3. labels, sides and order ------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("clues", [CLUES, CLUES[:2], CLUES[2:]], ids=" ".join)
def test_no_table_of_labels_sides_and_numbers_predicts_a_winner(clues: tuple[str, ...]) -> None:
    accuracy, error = attack(rows(), clues)
    assert error < 0.003  # half of the turns under 16 seeds: about 5,000 turns with a spread below 0.2
    assert abs(accuracy - 0.5) < 4.5 * error  # a fair coin, whichever question it is


@pytest.mark.slow
def test_the_same_attack_succeeds_on_official_labels_which_do_tell_the_source() -> None:
    official = Settings(stages=("prefer",), prompts="compact", labels="official")
    accuracy, error = attack(shown(official, corpus()), ("label_a", "label_b"))
    assert accuracy > 0.5 + 4.5 * error


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


PLACES = [(seed, f"conversation-{n}") for seed in (0, 1, 2) for n in range(400)]
N = len(PLACES)  # 1200 draws, fixed: the tests below cannot flicker
TURN = conversation().turns[0]


def labels_at(place: tuple[int, str], here: Turn = TURN) -> dict[str, str]:
    return dict(label_responses(here, place, masked=True))


def swaps_at(place: tuple[int, str], here: Turn = TURN) -> list[bool]:
    """Whether each comparison of the conversation is shown with its sides swapped."""
    shown = show_comparisons(here, label_responses(here, place, masked=True), place, masked=True)
    return [c.swapped for c in sorted(shown, key=lambda c: c.index)]


def assert_uniform(drawn: Iterable[Hashable], kinds: int) -> None:
    """Every kind turns up, each within 4.5 standard deviations of its binomial mean."""
    counts = Counter(drawn)
    n, p = counts.total(), 1 / kinds
    assert len(counts) == kinds
    assert max(abs(count - n * p) for count in counts.values()) < 4.5 * math.sqrt(n * p * (1 - p))


def labelling(place: tuple[int, str], here: Turn = TURN) -> tuple[tuple[str, str], ...]:
    return tuple(labels_at(place, here).items())


FIRST, SECOND = conversation().turns
DRAWS: dict[str, tuple[Callable[[tuple[int, str]], Hashable], int]] = {
    "the 3! ways to label three responses": (labelling, 6),  # 200 ± 58 each
    "labels of two turns": (lambda place: (labelling(place, FIRST), labelling(place, SECOND)), 36),
    "sides of neighbouring comparisons": (lambda place: tuple(swaps_at(place)[:2]), 4),
    "sides of one comparison in two turns": (
        lambda place: (swaps_at(place, FIRST)[0], swaps_at(place, SECOND)[0]), 4,
    ),
    **{f"sides of {i}": (lambda place, i=i: swaps_at(place)[i], 2) for i in range(12)},  # type: ignore[misc]
}  # fmt: skip


@pytest.mark.parametrize("what", DRAWS)
def test_draws_are_uniform_and_independent(what: str) -> None:
    draw, kinds = DRAWS[what]
    assert_uniform(map(draw, PLACES), kinds)


@pytest.mark.parametrize("place", PLACES[:20])
def test_a_pick_in_the_prompt_names_the_same_response_in_the_conversation(place: tuple[int, str]) -> None:
    labels = label_responses(TURN, place, masked=True)
    for c in show_comparisons(TURN, labels, place, masked=True):
        asked = TURN.comparisons[c.index]
        theirs = {"A": asked.response_a, "B": asked.response_b}
        assert labels[c.label_a] == theirs[c.to_conversation("A")]
        assert labels[c.label_b] == theirs[c.to_conversation("B")]
        assert c.question == asked.question_id
        assert [c.to_shown(c.to_conversation(side)) for side in ("A", "B")] == ["A", "B"]
