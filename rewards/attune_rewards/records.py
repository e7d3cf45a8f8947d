"""Reading an official result record (one model, one conversation, one mode) into predictions.

Lenient where the benchmark's own files vary: a missing key or null is unanswered, `[]` is an answer,
wrong types are unanswered and named in a warning. What this project adds stands under the key
`attune`, in the file, each turn and the post part; files without it read the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attune_data import affect
from attune_data.aliases import RESPONSE_NAMES, WINNERS
from attune_data.constants import BRANCHES, JUDGE_DIMENSIONS, Side
from attune_data.errors import Problem
from attune_data.schema import Conversation
from attune_rewards.predictions import (
    STAGES,
    Assess,
    AssessHP,
    ConversationPrediction,
    Draft,
    Judged,
    Prefer,
    Reflect,
    Stage,
    TurnPrediction,
)
from attune_rewards.reader import Reader, known_emotion

_INDICES = frozenset(map(str, range(1000)))


def read_record(
    record: Mapping[str, Any], conversation: Conversation, file: str = "result"
) -> tuple[ConversationPrediction, tuple[Problem, ...]]:
    """The predictions that an official result record holds for a conversation, and warnings.

    Turns that the conversation does not have are left out with a warning; of a turn that stands twice,
    the first counts.
    """
    if not isinstance(record, Mapping):
        raise TypeError(f"a result record is an object, got {type(record).__name__}")
    reader = Reader(file)
    given = record.get("conversationId")
    if given is not None and given != conversation.conversation_id:
        reader.warn("conversationId", given, f"{conversation.conversation_id!r}, the conversation given")
    turns: dict[int, TurnPrediction] = {}
    entries = record.get("turns")
    if entries is not None and not isinstance(entries, list):
        reader.warn("turns", entries, "a list")
    for index, entry in enumerate(entries if isinstance(entries, list) else ()):
        place = f"turns[{index}]"
        if not isinstance(entry, Mapping):
            reader.warn(place, entry, "an object")
            continue
        number = entry.get("turnNumber")
        truth = conversation.turn(number) if type(number) is int else None
        if type(number) is not int or truth is None or number in turns:
            reader.warn(f"{place}.turnNumber", number, "a turn of the conversation, each once")
            continue
        turns[number] = _read_turn(reader, entry, conversation, number, place)
    post = reader.mapping(record.get("post_conversation"), "post_conversation")
    marks = record.get("attune")
    left_out = marks.get("not_asked") if isinstance(marks, Mapping) else None
    prediction = ConversationPrediction(
        conversation_id=conversation.conversation_id,
        turns=turns,
        reflect=_read_reflect(reader, post) if post else None,
        not_asked=_stages(left_out) | _reflect_not_asked(post),
    )
    return prediction, reader.all_warnings()


def _reflect_not_asked(post: Mapping[str, Any] | None) -> frozenset[Stage]:
    marks = post.get("attune") if post else None
    outcomes = marks.get("outcomes") if isinstance(marks, Mapping) else None
    skipped = isinstance(outcomes, Mapping) and outcomes.get("reflect") == "not_asked"
    return frozenset(("reflect",)) if skipped else frozenset()


def _stages(names: object) -> frozenset[Stage]:
    return frozenset(stage for stage in STAGES if isinstance(names, list) and stage in names)


def _read_turn(
    reader: Reader, entry: Mapping[str, Any], conversation: Conversation, number: int, place: str
) -> TurnPrediction:
    draft = reader.text(entry.get("em_drafted_response"), f"{place}.em_drafted_response")
    tags = reader.tags(entry.get("em_emotion_tags"), f"{place}.em_emotion_tags")
    binary = {
        key: reader.answers(entry.get(key), f"{place}.{key}")
        for key in (
            "em_binary_om_assessment",
            "em_binary_human_prediction",
            "em_binary_om_assessment_hp",
            "em_binary_human_prediction_hp",
        )
    }
    marks = entry.get("attune")
    outcomes = marks.get("outcomes") if isinstance(marks, Mapping) else None
    not_asked = (
        [s for s, outcome in outcomes.items() if outcome == "not_asked"]
        if isinstance(outcomes, Mapping)
        else []
    )
    return TurnPrediction(
        turn=number,
        draft=Draft(draft) if draft is not None else None,
        assess=Assess(
            tags,
            binary["em_binary_om_assessment"] or {},
            binary["em_binary_human_prediction"] or {},
            reader.text(entry.get("emotion_reasoning"), f"{place}.emotion_reasoning"),
        ),
        assess_hp=AssessHP(
            binary["em_binary_om_assessment_hp"] or {}, binary["em_binary_human_prediction_hp"] or {}
        ),
        prefer=Prefer(_read_picks(reader, entry, conversation, number, place)),
        judged=_read_judged(reader, entry, place),
        not_asked=_stages(not_asked),
    )


def _read_picks(
    reader: Reader, entry: Mapping[str, Any], conversation: Conversation, number: int, place: str
) -> dict[int, Side]:
    """Picks in the conversation's frame, translated by `pairwise_assignment` where that is swapped."""
    turn = conversation.turn(number)
    comparisons = turn.comparisons if turn else ()
    assignment = reader.mapping(entry.get("pairwise_assignment"), f"{place}.pairwise_assignment") or {}
    given = reader.mapping(entry.get("em_pairwise_selections"), f"{place}.em_pairwise_selections") or {}
    picks: dict[int, Side] = {}
    for key, value in given.items():
        here = f"{place}.em_pairwise_selections.{key}"
        side = WINNERS.get(value) if isinstance(value, str) else None
        # the index as it is written: "00" is no second name of "0"
        index = int(key) if key in _INDICES else -1
        if side is None or not 0 <= index < len(comparisons):
            if value is not None:
                reader.warn(here, value, "A or B at the index of a comparison")
            continue
        frame = assignment.get(key)
        if isinstance(frame, Mapping) and ("A" in frame or "B" in frame):
            ours = (comparisons[index].response_a, comparisons[index].response_b)
            theirs = (_response(frame.get("A")), _response(frame.get("B")))
            if theirs != ours and theirs == ours[::-1]:
                side = "B" if side == "A" else "A"
            elif theirs != ours:
                reader.warn(f"{place}.pairwise_assignment.{key}", theirs, f"the responses {ours}")
                continue
        picks[index] = side
    return picks


def _response(name: object) -> str | None:
    return RESPONSE_NAMES.get(name) if isinstance(name, str) else None


def _read_judged(reader: Reader, entry: Mapping[str, Any], place: str) -> Judged | None:
    scores = reader.ratings(entry.get("em_draft_judge_scores"), f"{place}.em_draft_judge_scores", 1, 7)
    binary = reader.answers(entry.get("em_draft_binary_assessment"), f"{place}.em_draft_binary_assessment")
    known = {name: scores[name] for name in JUDGE_DIMENSIONS if name in scores}
    given = entry.get("em_draft_binary_assessment")
    assessed = isinstance(given, Mapping) and bool(given)
    return Judged(known, binary if assessed else None) if known or assessed else None


def _read_reflect(reader: Reader, post: Mapping[str, Any]) -> Reflect:
    here = "post_conversation"
    panas = reader.mapping(post.get("predicted_post_panas"), f"{here}.predicted_post_panas") or {}
    items = reader.whole(panas.get("items"), f"{here}.predicted_post_panas.items", *affect.SCALE)
    wide_place = f"{here}.predicted_conversation_wide"
    wide = reader.mapping(post.get("predicted_conversation_wide"), wide_place) or {}
    branches = reader.whole(wide.get("fourBranchScores"), f"{wide_place}.fourBranchScores", *affect.SCALE)

    def total(name: str) -> float | None:
        value: Any = panas.get(name)
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if number and affect.TOTALS[0] <= value <= affect.TOTALS[1]:
            return float(value)
        if value is not None:
            reader.warn(f"{here}.predicted_post_panas.{name}", value, "a number from 10 to 70")
        return None

    named = {(known_emotion(name) or name): value for name, value in items.items()}
    return Reflect(
        panas={name: named[name] for name in affect.EMOTIONS if name in named},
        panas_totals=(total("totalPositiveAffect"), total("totalNegativeAffect")),
        q1=reader.texts(wide.get("q1_lookingFor"), f"{wide_place}.q1_lookingFor"),
        q2=reader.text(wide.get("q2_emotionClarity"), f"{wide_place}.q2_emotionClarity"),
        q3=reader.text(wide.get("q3_modelFit"), f"{wide_place}.q3_modelFit"),
        q3_follow_up=reader.texts(
            wide.get("q3_followUp_whatFeltOff"), f"{wide_place}.q3_followUp_whatFeltOff"
        ),
        branches={name: branches[name] for name in BRANCHES if name in branches},
    )
