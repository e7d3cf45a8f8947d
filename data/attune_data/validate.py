"""From a parsed JSON value to a `Conversation`, every problem named by its place in the file."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from attune_data import affect, constants
from attune_data.errors import DataError, Problem, show
from attune_data.fields import Record
from attune_data.jsonio import MAX_LISTED
from attune_data.schema import Conversation, Panas, Turn

_EXPECTED = {
    "string_type": "text",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "tuple_type": "a list",
    "list_type": "a list",
    "bool_type": "true or false",
    "dict_type": "an object",
    "model_type": "an object",
    "too_short": "at least one",
    "greater_than_equal": "a whole number from 1 up",
    "string_too_short": "some text",
    "string_too_long": "at most 200 characters",
}
_ADVICE = {
    "missing": "add it",
    "too_short": "leave the conversation out or add its turns",
}


def conversation_from(value: Any, file: str) -> Conversation:
    """The conversation that a parsed JSON value holds; raises DataError with all problems found."""
    if not isinstance(value, dict):
        kinds = {list: "a list", str: "text", int: "a number", float: "a number", bool: "true or false"}
        raise DataError(
            Problem(file, "", kinds.get(type(value), "null"), "one conversation object {…}",
                    "several conversations go into a folder or a .jsonl file")
        )  # fmt: skip
    try:
        return Conversation.model_validate(value, by_alias=True, by_name=False)
    except ValidationError as error:
        raise DataError(problems_of(error, file)) from error


def problems_of(error: ValidationError, file: str, place: str = "", advice: str = "") -> list[Problem]:
    """Turn what pydantic found into problems; `place` is where the validated value stands in the file."""
    details = error.errors()[:MAX_LISTED]
    # A list of which no element is valid is reported as too short as well: its elements say enough.
    inside = {detail["loc"][:depth] for detail in details for depth in range(len(detail["loc"]))}
    return [_problem(file, place, detail, advice) for detail in details if detail["loc"] not in inside]


def _problem(file: str, base: str, detail: ErrorDetails, advice: str) -> Problem:
    kind = detail["type"]
    place = base
    for part in detail["loc"]:
        place += f"[{part}]" if isinstance(part, int) else f".{part}" if place else part
    if kind == "missing":
        return Problem(file, place, "nothing", "this field", advice or _ADVICE["missing"])
    if kind == "expected":
        expected = detail["msg"]
    elif kind == "literal_error":
        expected = detail["ctx"]["expected"].replace("'", '"')
    else:
        expected = _EXPECTED.get(kind, detail["msg"])
    return Problem(file, place, brief(detail["input"]), expected, advice or _ADVICE.get(kind, ""))


def brief(value: object) -> str:
    """`value` as a message names it: objects and lists by their kind, everything else as it stands."""
    if isinstance(value, dict):
        return "an object" if value else "an empty object"
    if isinstance(value, (list, tuple)):
        return f"a list of {len(value)}" if value else "an empty list"
    return show(value)


def oddities(conversation: Conversation, file: str) -> Iterator[Problem]:
    """Warnings: what can be used but contradicts itself, or is likely a slip."""

    def warn(place: str, found: str, expected: str, advice: str = "") -> Problem:
        return Problem(file, place, found, expected, advice, severity="warning")

    for place, name, meant in _near_misses(conversation, ""):
        yield warn(
            place, f"the unknown field {show(name)}", f"{meant}, if that is meant", "it is kept, but not read"
        )
    for side, panas in (("prePanas", conversation.pre_panas), ("postPanas", conversation.post_panas)):
        if panas is not None:
            for place, found, expected in _panas_contradictions(panas):
                yield warn(f"{side}.{place}", found, expected, "scoring takes the items")
            for key, meant in _unknown_keys(panas, None):
                yield warn(f"{side}.responses.{key}", show(key), meant, "it is kept, but not read")
    for index, turn in enumerate(conversation.turns):
        yield from _turn_oddities(turn, f"turns[{index}]", warn)
    wide = conversation.conversation_wide
    if wide is None:
        return
    for key, meant in _unknown_keys(None, wide.four_branch_scores):
        yield warn(
            f"conversationWideQuestions.fourBranchScores.{key}", show(key), meant, "it is kept, but not read"
        )
    options = (("q2_emotionClarity", wide.q2_emotion_clarity, constants.Q2_OPTIONS),
               ("q3_modelFit", wide.q3_model_fit, constants.Q3_OPTIONS))  # fmt: skip
    for name, given, known in options:
        if given is not None and given.casefold() not in {option.casefold() for option in known}:
            yield warn(f"conversationWideQuestions.{name}", show(given), f"one of: {' | '.join(known)}")
    for goal in wide.q1_looking_for or ():
        if goal not in constants.Q1_OPTIONS:
            known_goals = " | ".join(constants.Q1_OPTIONS)
            yield warn("conversationWideQuestions.q1_lookingFor", show(goal), f"some of: {known_goals}")
    negative = {option.casefold() for option in constants.Q3_NEGATIVE}
    if wide.q3_follow_up and wide.q3_model_fit is not None and wide.q3_model_fit.casefold() not in negative:
        yield warn("conversationWideQuestions.q3_followUp_whatFeltOff", f"{len(wide.q3_follow_up)} entries",
                   "none after a good fit")  # fmt: skip


def _near_misses(part: Record, place: str) -> Iterator[tuple[str, str, str]]:
    """(place, field, what it looks like) of every unknown field whose name is nearly a known one."""
    known = [field.serialization_alias or name for name, field in type(part).model_fields.items()]
    for name in part.model_extra or {}:
        if near := difflib.get_close_matches(str(name), known, n=1, cutoff=0.8):
            yield f"{place}.{name}".lstrip("."), str(name), near[0]
    for name, field in type(part).model_fields.items():
        inner = f"{place}.{field.serialization_alias or name}".lstrip(".")
        value = getattr(part, name)
        if isinstance(value, Record):
            yield from _near_misses(value, inner)
        elif isinstance(value, tuple):
            for index, child in enumerate(value):
                if isinstance(child, Record):
                    yield from _near_misses(child, f"{inner}[{index}]")


def _unknown_keys(panas: Panas | None, scores: Mapping[str, object] | None) -> Iterator[tuple[str, str]]:
    """(key, what was expected) of ratings under names that nothing reads."""
    for key in (panas.responses if panas else None) or {}:
        if key not in affect.POLARITY:
            yield key, "one of the 20 PANAS items"
    for key in scores or {}:
        if key not in constants.BRANCHES:
            yield key, f"one of {', '.join(constants.BRANCHES)}"


def _panas_contradictions(panas: Panas) -> Iterator[tuple[str, str, str]]:
    for place, total, names in (
        ("totalPositiveAffect", panas.total_positive_affect, affect.POSITIVE),
        ("totalNegativeAffect", panas.total_negative_affect, affect.NEGATIVE),
    ):
        items = [panas.item(name) for name in names]
        known = [item for item in items if item is not None]
        if total is not None and len(known) == len(items) and sum(known) != total:
            yield place, f"{total:g}", f"{sum(known)}, the sum of its ten items"
        elif 0 < len(known) < len(items):
            yield "responses", f"{len(known)} of the ten items of {place}", "all ten or none"


def _turn_oddities(turn: Turn, place: str, warn: Any) -> Iterator[Problem]:
    here = f"{place}.annotations"
    seen: set[str] = set()
    for index, judgement in enumerate(turn.judgements):
        question, at = judgement.question_id, f"{here}.binaryJudgements[{index}].questionId"
        if question not in constants.BINARY_BRANCHES:
            yield warn(at, show(question), "one of the 36 ids B1–B505")
        if question in seen:
            yield warn(at, f"{show(question)} again", "each question once a turn")
        seen.add(question)
    tags = [tag.emotion for tag in turn.mood_shift_tags or ()]
    if len(set(tags)) != len(tags):
        yield warn(f"{place}.moodShiftTags", "an emotion twice", "each emotion once a turn")
    texts = turn.responses
    for index, comparison in enumerate(turn.comparisons):
        at = f"{here}.pairwiseComparisons[{index}]"
        if comparison.response_a == comparison.response_b:
            yield warn(at, f"{show(comparison.response_a)} on both sides", "two different responses")
        for name in dict.fromkeys((comparison.response_a, comparison.response_b)):
            if texts[name] is None:
                yield warn(at, f"no text of the response {show(name)}", "its text in alternateResponses")
        if comparison.question_id not in constants.PAIRWISE_IDS:
            yield warn(f"{at}.questionId", show(comparison.question_id), "general or PW1–PW16")
