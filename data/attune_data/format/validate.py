"""Turn a parsed JSON value into a `Conversation`, reporting every problem with its place in the file."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from itertools import chain, islice
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from attune_data.errors import DataError, Problem, show
from attune_data.format import affect, constants
from attune_data.format.fields import Record
from attune_data.format.schema import Conversation, ConversationWide
from attune_data.jsonio import MAX_LISTED

_EXPECTED = {
    "missing": "this field",
    "string_type": "text",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "finite_number": "a finite number",
    "tuple_type": "a list",
    "list_type": "a list",
    "bool_type": "true or false",
    "extra_forbidden": "no key of that name",
    "dict_type": "an object",
    "model_type": "an object",
    "too_short": "at least one",
    "greater_than_equal": "a whole number from 1 up",
    "string_too_short": "some text",
    "string_too_long": "at most 200 characters",
}


def conversation_from(value: Any, file: str) -> Conversation:
    """Validate a parsed JSON value as a conversation; raises DataError with all problems found."""
    if not isinstance(value, dict):
        advice = "put several conversations into a folder or a .jsonl file"
        raise DataError(Problem(file, "", brief(value), "one conversation object {…}", advice))
    try:
        return Conversation.model_validate(value, by_alias=True, by_name=False)
    except ValidationError as error:
        count = error.error_count()
        if count <= MAX_LISTED:
            raise DataError(problems_of(error, file)) from error
    # describing each takes 1 kB: for a file of `[0,0,…]` that would be 500 times its size
    try:
        Conversation.model_validate(_beginning(value), by_alias=True, by_name=False)
        few = []
    except ValidationError as error:
        few = problems_of(error, file)
    listed = f"{len(few)} of them are listed"
    raise DataError([*few, Problem(file, "", f"{count} invalid values", "the conversation format", listed)])


def _beginning(value: Any) -> Any:
    """The value with only the first entries of its lists and objects, whose places stay the same."""
    if isinstance(value, list):
        return [_beginning(child) for child in value[:8]]
    if isinstance(value, dict):
        return {key: _beginning(child) for key, child in islice(value.items(), 40)}
    return value


def problems_of(error: ValidationError, file: str, place: str = "", advice: str = "") -> list[Problem]:
    """Turn what pydantic found into problems; `place` is where the validated value is in the file."""
    details = error.errors()[:MAX_LISTED]
    # A list without any valid element is also reported as too short; its elements' problems suffice.
    inside = {detail["loc"][:depth] for detail in details for depth in range(len(detail["loc"]))}
    return [_problem(file, place, detail, advice) for detail in details if detail["loc"] not in inside]


def _problem(file: str, place: str, detail: ErrorDetails, advice: str) -> Problem:
    kind, found = detail["type"], brief(detail["input"])
    for part in detail["loc"]:
        place += f"[{part}]" if isinstance(part, int) else f".{part}" if place else part
    expected = _EXPECTED.get(kind, detail["msg"])
    if kind == "missing":
        found, advice = "nothing", advice or "add it"
    elif kind == "too_short":
        turns = place.endswith("turns")
        advice = advice or ("leave the conversation out or add its turns" if turns else "add one")
    elif kind == "literal_error":
        expected = detail["ctx"]["expected"].replace("'", '"')
    return Problem(file, place, found, expected, advice)


def brief(value: object) -> str:
    """Describe `value` in a message: objects and lists by their kind, everything else unchanged."""
    if isinstance(value, dict):
        return "an object" if value else "an empty object"
    if isinstance(value, (list, tuple)):
        return f"a list of {len(value)}" if value else "an empty list"
    return show(value)


def oddities(conversation: Conversation, file: str) -> Iterator[Problem]:
    """Warnings about data that can be used but contradicts itself or is probably a mistake."""
    found = chain(
        _near_misses(conversation, ""),
        _panas(conversation),
        _turns(conversation),
        _wide(conversation.conversation_wide or ConversationWide()),
    )
    return (Problem(file, place, odd, wanted, severity="warning") for place, odd, wanted in found)


_Odd = tuple[str, str, str]
"""(place, what was found, what was expected)"""


def _near_misses(part: Record, place: str) -> Iterator[_Odd]:
    """Warn of unknown fields whose names closely resemble known ones."""
    named = {name: field.serialization_alias or name for name, field in type(part).model_fields.items()}
    for name in part.model_extra or {}:
        if near := difflib.get_close_matches(str(name), named.values(), n=1, cutoff=0.8):
            meant = f"{near[0]}, if that is what was meant: the unknown field is kept but ignored"
            yield f"{place}.{name}".lstrip("."), f"the unknown field {show(name)}", meant
    for name, inner in named.items():
        value = getattr(part, name)
        at = f"{place}.{inner}".lstrip(".")
        if isinstance(value, Record):
            yield from _near_misses(value, at)
        for index, child in enumerate(value if isinstance(value, tuple) else ()):
            if isinstance(child, Record):
                yield from _near_misses(child, f"{at}[{index}]")


def _panas(conversation: Conversation) -> Iterator[_Odd]:
    for side, panas in (("prePanas", conversation.pre_panas), ("postPanas", conversation.post_panas)):
        if panas is None:
            continue
        for name, total, items in (
            ("totalPositiveAffect", panas.total_positive_affect, affect.POSITIVE),
            ("totalNegativeAffect", panas.total_negative_affect, affect.NEGATIVE),
        ):
            known = [rating for item in items if (rating := panas.item(item)) is not None]
            if len(known) == len(items) and total not in (None, sum(known)):
                yield (
                    f"{side}.{name}",
                    f"{total:g}",
                    f"{sum(known)}, the sum of its ten items, which scoring uses",
                )
            elif 0 < len(known) < len(items):
                yield f"{side}.responses", f"{len(known)} of the ten items of {name}", "all ten or none"
        for key in panas.responses or {}:
            if key in affect.POLARITY:
                continue
            yield f"{side}.responses.{key}", show(key), "one of the 20 PANAS items; it is ignored"


def _turns(conversation: Conversation) -> Iterator[_Odd]:
    for number, turn in enumerate(conversation.turns):
        here, asked = f"turns[{number}].annotations", set()
        for index, judgement in enumerate(turn.judgements):
            question, at = judgement.question_id, f"{here}.binaryJudgements[{index}].questionId"
            if question not in constants.BINARY_BRANCHES:
                yield at, show(question), "one of the 36 ids B1–B505"
            if question in asked:
                yield at, f"{show(question)} again", "each question once per turn"
            asked.add(question)
        tags = [tag.emotion for tag in turn.mood_shift_tags or ()]
        if len(set(tags)) != len(tags):
            yield f"turns[{number}].moodShiftTags", "an emotion twice", "each emotion once per turn"
        for index, comparison in enumerate(turn.comparisons):
            at, sides = f"{here}.pairwiseComparisons[{index}]", (comparison.response_a, comparison.response_b)
            if sides[0] == sides[1]:
                yield at, f"{show(sides[0])} on both sides", "two different responses"
            for name in dict.fromkeys(sides):
                if turn.responses[name] is None:
                    yield at, f"no text of the response {show(name)}", "its text in alternateResponses"
            if comparison.question_id not in constants.PAIRWISE_IDS:
                yield f"{at}.questionId", show(comparison.question_id), "general or PW1–PW16"


def _wide(wide: ConversationWide) -> Iterator[_Odd]:
    place = "conversationWideQuestions"
    for key in wide.four_branch_scores or {}:
        if key not in constants.BRANCHES:
            wanted = f"one of {', '.join(constants.BRANCHES)}; it is ignored"
            yield f"{place}.fourBranchScores.{key}", show(key), wanted
    for name, given, known in (
        *(("q1_lookingFor", goal, constants.Q1_OPTIONS) for goal in wide.q1_looking_for or ()),
        ("q2_emotionClarity", wide.q2_emotion_clarity, constants.Q2_OPTIONS),
        ("q3_modelFit", wide.q3_model_fit, constants.Q3_OPTIONS),
    ):
        if given is not None and given.casefold() not in map(str.casefold, known):
            yield f"{place}.{name}", show(given), f"one of: {' | '.join(known)}"
    fit = (wide.q3_model_fit or "").casefold()
    if wide.q3_follow_up and fit and fit not in map(str.casefold, constants.Q3_NEGATIVE):
        found = f"{len(wide.q3_follow_up)} entries"
        yield f"{place}.q3_followUp_whatFeltOff", found, "none after a good fit"
