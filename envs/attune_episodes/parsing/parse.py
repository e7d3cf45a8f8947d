"""`parse`: one parser per stage. A missing or invalid field counts as unanswered; the others still count."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

from attune_data.errors import show
from attune_data.format.affect import EMOTIONS, canonical_emotion
from attune_data.format.constants import BRANCHES, Side
from attune_data.format.fields import read_answer
from attune_episodes.parsing.decode import Unparsed, sound
from attune_episodes.parsing.extract import MAX_CHARS, extract_object
from attune_episodes.parsing.reasoning import plain_reply
from attune_episodes.protocol.request import Request
from attune_episodes.protocol.schemas import PANAS_CHANGE, PANAS_ITEMS
from attune_rewards.predictions import (
    Assess,
    AssessHP,
    Draft,
    Prediction,
    Prefer,
    Reflect,
    Stage,
    Tag,
    YesNo,
)
from attune_rewards.record.read import read_intensity

_BOTH: Final = ("observed", "preferred")
_SIDES: Final[Mapping[str, Side]] = {"A": "A", "B": "B", "a": "A", "b": "B"}
MAX_LIST: Final = 200
"""A longer list of tags or options is not an answer."""
MAX_TEXT: Final = 2000
"""Free texts are truncated to this many characters."""
MAX_NAME: Final = 80
"""Unknown emotion names are truncated to this many characters."""
_MAX_ANSWER: Final = 100
"""A longer text is not read as yes, no or a number, since case folding takes 12 times its length."""


def parse(request: Request, text: str) -> Prediction | Unparsed:
    """Parse a model's reply, or say why it cannot be read. Never raises on a reply.

    JSON may be on its own, in a fence, or within prose; a text that is not just an object is read without its
    reasoning blocks. An object without any of the requested fields is unparsed (`no_fields`). Each field of
    an object is read separately: an invalid or missing one is unanswered. A draft may be plain text.
    """
    if request.stage == "draft":
        return _draft(text)
    found = extract_object(text)
    return found if isinstance(found, Unparsed) else read_fields(request, found)


def read_fields(request: Request, found: Mapping[str, Any]) -> Prediction | Unparsed:
    """Read the object in a reply to any request but a draft."""
    fields = _FIELDS[request.stage]
    if not any(name in found for name in fields):
        others = f"; found {show(', '.join(found))}" if found else ""
        return Unparsed("no_fields", f"none of {', '.join(fields)}{others}")
    return _READERS[request.stage](request, found)


def _draft(text: str) -> Draft | Unparsed:
    if len(text) > MAX_CHARS:
        return Unparsed("too_long", f"{len(text)} characters")
    if "{" in text:
        found = extract_object(text)
        if isinstance(found, dict) and isinstance(found.get("draft"), str):
            written = found["draft"].strip()
            return Draft(written, _reasoning(found)) if written else Unparsed("empty")
        del found  # its texts may be as long as the reply
    plain = plain_reply(text)
    return plain if isinstance(plain, Unparsed) else Draft(sound(plain))


def _reasoning(found: Mapping[str, Any]) -> str | None:
    value = found.get("reasoning")
    return value if isinstance(value, str) else None


def _assess(request: Request, found: Mapping[str, Any]) -> Assess | AssessHP:
    observed, preferred = (read_answers(found.get(name), request.questions) for name in _BOTH)
    if request.stage == "assess_hp":
        return AssessHP(observed, preferred, _reasoning(found))
    return Assess(read_tags(found.get("emotions")), observed, preferred, _reasoning(found))


def read_tags(value: object) -> tuple[Tag, ...] | None:
    """Read a list of tags; a single "none" is the empty list.

    An entry that does not name any emotion invalidates the list, since it may mean anything.
    """
    if value == "none" or (isinstance(value, list) and len(value) == 1 and _is_none(value[0])):
        return ()
    if not isinstance(value, list) or len(value) > MAX_LIST:
        return None
    tags = []
    for entry in value:
        name, intensity = entry, None
        if isinstance(entry, dict):
            name, intensity = entry.get("emotion"), read_intensity(entry.get("intensity"))
        if not isinstance(name, str) or not name.strip():
            return None
        # a name outside the 20 items is kept, since it is a wrong tag and not a missing one
        name = _cut(name, MAX_NAME)
        tags.append(Tag(canonical_emotion(name) or name, intensity))
    return tuple(tags)


def _is_none(entry: object) -> bool:
    return isinstance(entry, str) and len(entry) <= _MAX_ANSWER and entry.strip().lower() == "none"


def _cut(text: str, longest: int) -> str:
    """The text without surrounding white space; a long one is truncated, but never equals a short text."""
    text = text.strip()
    if len(text) <= longest:
        return text
    cut = text[:longest]
    return f"{cut.rstrip()}…" if cut[-1].isspace() else cut


@lru_cache(maxsize=1024)
def _spelled(names: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """Each name with its lower case, cached because every reply uses the same few dozen names."""
    return tuple((name, name.lower()) for name in names)


def _by_name(value: dict[str, Any], name: str) -> Any:
    """The value under a name or its lower-case form; None if both exist and differ."""
    given, lower = value.get(name), value.get(name.lower())
    if name in value and name.lower() in value:
        differ = given != lower or isinstance(given, bool) is not isinstance(lower, bool)  # true is not 1
        return None if differ else given
    return lower if given is None else given


def read_answers(value: object, questions: tuple[str, ...]) -> dict[str, YesNo]:
    """Question id -> yes or no, for the questions asked; contradictory answers count as unanswered."""
    if not isinstance(value, dict):
        return {}
    answers: dict[str, YesNo] = {}
    for question, lower in _spelled(questions):
        given = value.get(question)
        if lower in value:
            given = _by_name(value, question)
        elif given == "yes" or given == "no":  # nearly always
            answers[question] = given
            continue
        if given is None or (isinstance(given, str) and len(given) > _MAX_ANSWER):
            continue
        answer = read_answer(given)
        if answer == "yes" or answer == "no":
            answers[question] = answer
    return answers


def _prefer(request: Request, found: Mapping[str, Any]) -> Prefer:
    picks: dict[int, Side] = {}
    given = found.get("picks")
    if isinstance(given, list):
        given = {str(number): pick for number, pick in enumerate(given, 1)}
    if isinstance(given, dict):
        for comparison in request.comparisons:
            pick = given.get(str(comparison.number))
            side = _SIDES.get(pick.strip()) if isinstance(pick, str) else None
            if side is not None:
                picks[comparison.index] = comparison.to_conversation(side)
    return Prefer(picks, _reasoning(found))


def _reflect(request: Request, found: Mapping[str, Any]) -> Reflect:
    options = request.options
    return Reflect(
        panas={} if request.wants_change else read_numbers(found.get(PANAS_ITEMS), EMOTIONS, 1, 7),
        panas_change=read_numbers(found.get(PANAS_CHANGE), EMOTIONS, -6, 6) if request.wants_change else None,
        q1=read_options(found.get("q1_lookingFor"), options["q1_lookingFor"]),
        q2=_one(found.get("q2_emotionClarity"), options["q2_emotionClarity"]),
        q3=_one(found.get("q3_modelFit"), options["q3_modelFit"]),
        q3_follow_up=read_options(found.get("q3_followUp_whatFeltOff"), options["q3_followUp_whatFeltOff"]),
        branches=read_numbers(found.get("fourBranchScores"), BRANCHES, 1, 7),
        reasoning=_reasoning(found),
    )


def read_numbers(value: object, names: tuple[str, ...], low: int, high: int) -> dict[str, int]:
    """Name -> whole number on the scale, by the name or its lower-case form; booleans are not numbers."""
    if not isinstance(value, dict):
        return {}
    numbers = {}
    for name, lower in _spelled(names):
        given = _by_name(value, name) if lower in value else value.get(name)
        if isinstance(given, str):
            given = _integer(given)
        if isinstance(given, float) and given.is_integer():
            given = int(given)
        if type(given) is int and low <= given <= high:
            numbers[name] = given
    return numbers


def _integer(text: str) -> int | None:
    if len(text) > _MAX_ANSWER:
        return None
    text = text.strip()
    digits = text[1:] if text[:1] in "+-" else text
    return int(text) if 0 < len(digits) < 4 and digits.isascii() and digits.isdecimal() else None


def _one(value: object, options: Sequence[str]) -> str | None:
    """Read an option given by its text (ignoring case and surrounding white space) or its 1-based number.

    Any other text is kept unchanged, since it is a wrong answer and not a missing one.
    """
    number = _integer(value) if isinstance(value, str) else value
    if type(number) is int:
        return options[number - 1] if 1 <= number <= len(options) else None
    if isinstance(value, str):
        text = _cut(value, MAX_TEXT)
        wanted = text.casefold()
        for number, option in enumerate(options, 1):
            if wanted in (option.casefold(), f"{number}. {option}".casefold()):
                return option
        return text or None
    return None


def read_options(value: object, options: Sequence[str]) -> tuple[str, ...] | None:
    """Read several options, each given by text or number; a single one need not be in a list.

    None if any of them is invalid.
    """
    if isinstance(value, str) or type(value) is int:
        value = [value]
    if not isinstance(value, list) or len(value) > MAX_LIST:
        return None
    chosen = [_one(entry, options) for entry in value]
    if any(choice is None for choice in chosen):
        return None
    return tuple(dict.fromkeys(choice for choice in chosen if choice is not None))


_FIELDS: Final[Mapping[Stage, tuple[str, ...]]] = {
    "assess": ("emotions", *_BOTH),
    "assess_hp": _BOTH,
    "prefer": ("picks",),
    "reflect": (
        PANAS_ITEMS, PANAS_CHANGE, "q1_lookingFor", "q2_emotionClarity", "q3_modelFit",
        "q3_followUp_whatFeltOff", "fourBranchScores",
    ),
}  # fmt: skip
_READERS: Final[Mapping[Stage, Callable[[Request, Mapping[str, Any]], Prediction]]] = {
    "assess": _assess,
    "assess_hp": _assess,
    "prefer": _prefer,
    "reflect": _reflect,
}
