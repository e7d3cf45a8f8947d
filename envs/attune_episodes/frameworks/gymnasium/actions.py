"""Convert structured actions, texts and typed predictions to answers to requests.

In a structured action, 0 (or "") means no answer, so an all-zero action answers nothing. For emotions, q1 and
follow_up, the empty list is itself a possible answer, which is declared in the field `none`; a slot of `none`
counts only if the answer is otherwise empty. Picks refer to the sides in the prompt.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

import numpy as np
from gymnasium.error import InvalidAction

from attune_data.errors import show
from attune_data.format.affect import EMOTIONS
from attune_data.format.constants import BINARY_IDS, BRANCHES, Side
from attune_episodes.frameworks.gymnasium.spaces import (
    COMPARISONS,
    FIELDS,
    MOST_CHANGED,
    NO_CHANGE,
    SLOTS,
    TEXTS,
)
from attune_episodes.parsing import Unparsed, extract_object, parse, sound
from attune_episodes.parsing.extract import MAX_CHARS
from attune_episodes.parsing.parse import read_fields, read_options
from attune_episodes.protocol.plan import OPTION_FIELDS
from attune_episodes.protocol.request import Request
from attune_rewards.predictions import (
    PREDICTION_OF,
    Assess,
    AssessHP,
    Draft,
    Prediction,
    Prefer,
    Reflect,
    Tag,
    TurnPrediction,
    YesNo,
)

Structured = Mapping[str, Any]
"""A structured action: field -> array, number or text."""
Action = Structured | str | Prediction | TurnPrediction
Answer = tuple[Prediction | Unparsed, str | None]
"""A parsed reply, and its raw text if it had one."""
_UP_TO: Final = tuple(frozenset(range(highest + 1)) for highest in range(MOST_CHANGED + 1))
"""Highest value -> the allowed values."""
_SLOT: Final = {name: slot for slot, name in enumerate(BINARY_IDS)}
_TAGS: Final = tuple(tuple(Tag(name, value) for value in range(8)) for name in EMOTIONS)
_ANSWERS: Final[tuple[YesNo, ...]] = ("no", "no", "yes")
"""Value -> answer; 0 is never looked up."""
_SIDES: Final[tuple[Side, Side]] = ("A", "B")
UNKNOWN_INTENSITY: Final = 4
"""The intensity used in a structured action for a tag without one."""


# --- reading ----------------------------------------------------------------------------------------------


def read_action(requests: Sequence[Request], action: object) -> list[Answer]:
    """Read the answers that an action gives to the requests of a step.

    A text is read as by `parse`; a text that answers several requests must be an object with a key per stage.
    Raises InvalidAction, naming what was found and expected, for anything that is not an action or does not
    match the requests.
    """
    if isinstance(action, (dict, Mapping)):  # the first check is faster
        return [(read_structured(request, action), None) for request in requests]
    if isinstance(action, str):
        return _read_text(requests, sound(action))
    return _read_typed(requests, action)


def _read_text(requests: Sequence[Request], text: str) -> list[Answer]:
    if len(requests) == 1:
        return [(parse(requests[0], text), text)]
    found = extract_object(text)
    if isinstance(found, Unparsed):
        return [(found, text) for _ in requests]
    answers: list[Answer] = []
    for request in requests:
        part = found.get(request.stage)
        own = part if isinstance(part, str) else json.dumps(part, ensure_ascii=False)
        if part is None:
            answers.append((Unparsed("no_fields", f"no {request.stage}"), ""))
        elif isinstance(part, dict) and request.stage != "draft":
            answers.append((read_fields(request, part), own))
        else:
            answers.append((parse(request, own), own))
    return answers


def _read_typed(requests: Sequence[Request], said: object) -> list[Answer]:
    turn, whole = requests[0].turn, isinstance(said, TurnPrediction)
    if isinstance(said, TurnPrediction) and turn not in (None, said.turn):
        raise InvalidAction(f"the action answers turn {said.turn}, expected turn {turn}")
    if len(requests) > 1 and not whole:
        asked = ", ".join(one.stage for one in requests)
        raise InvalidAction(
            f"turn {turn} asks {asked}: expected a structured action, a text or a TurnPrediction, found "
            f"{show(said)} ({type(said).__name__})"
        )
    answers: list[Answer] = []
    for request in requests:
        one = getattr(said, request.stage) if whole and turn is not None else said
        wanted = PREDICTION_OF[request.stage]
        if isinstance(one, wanted):
            answers.append((one, None))
        elif one is None and whole:
            answers.append((Unparsed("empty"), ""))
        else:
            raise InvalidAction(
                f"stage {request.stage} expects a structured action, a text or {wanted.__name__}, found "
                f"{show(one)} ({type(one).__name__}; {request.id})"
            )
    return answers


def read_structured(request: Request, action: Structured) -> Prediction | Unparsed:
    """Read the prediction in a structured action; an empty draft is unparsed, like an empty reply.

    Only the fields of the stage are read. Raises InvalidAction naming the field, what was found and expected.
    """
    if request.stage == "draft":
        text = _text(action, "draft")
        if len(text) > MAX_CHARS:
            return Unparsed("too_long", f"{len(text)} characters")
        return Draft(sound(text).strip()) if text.strip() else Unparsed("empty")
    if request.stage == "assess":
        felt, none = _numbers(action, "emotions"), _numbers(action, "none")
        tags = tuple([tag[value] for tag, value in zip(_TAGS, felt, strict=True) if value])
        observed, preferred = _yes_no(request, action, "observed"), _yes_no(request, action, "preferred")
        return Assess(tags if tags or none[0] else None, observed, preferred)
    if request.stage == "assess_hp":
        return AssessHP(_yes_no(request, action, "observed_hp"), _yes_no(request, action, "preferred_hp"))
    if request.stage == "prefer":
        picks = _numbers(action, "picks")
        return Prefer(
            {
                shown.index: _SIDES[(value == 2) != shown.swapped]
                for shown, value in zip(request.comparisons, picks, strict=False)
                if value
            }
        )
    return _reflect(request, action)


def _yes_no(request: Request, action: Structured, name: str) -> dict[str, YesNo]:
    values = _numbers(action, name)
    return {
        question: _ANSWERS[value] for question, slot in _places(request.questions) if (value := values[slot])
    }


@lru_cache(maxsize=1024)
def _places(questions: tuple[str, ...]) -> tuple[tuple[str, int], ...]:
    return tuple((question, _SLOT[question]) for question in questions if question in _SLOT)


def _reflect(request: Request, action: Structured) -> Reflect:
    goals, clarity, fit, felt_off = (request.options[name] for name in OPTION_FIELDS)
    changes, none = request.wants_change, _numbers(action, "none")
    items = _numbers(action, "panas", MOST_CHANGED if changes else None)
    moved = NO_CHANGE if changes else 0
    panas = {name: value - moved for name, value in zip(EMOTIONS, items, strict=True) if value}
    q1 = tuple([goal for goal, bit in zip(goals, _numbers(action, "q1"), strict=True) if bit])
    (q2,), (q3,) = _numbers(action, "q2"), _numbers(action, "q3")
    lines = [line for line in map(str.strip, sound(_text(action, "follow_up")).split("\n")) if line]
    branches = zip(BRANCHES, _numbers(action, "branches"), strict=True)
    return Reflect(
        panas={} if changes else panas,
        panas_change=panas if changes else None,
        q1=q1 if q1 or none[1] else None,
        q2=clarity[q2 - 1] if q2 else None,
        q3=fit[q3 - 1] if q3 else None,
        q3_follow_up=read_options(lines, felt_off) if lines or none[2] else None,
        branches={name: value for name, value in branches if value},
    )


def _numbers(action: Structured, name: str, highest: int | None = None) -> list[int]:
    """The validated numbers of a field; a list of one if the field is a single number."""
    shape, usual = SLOTS[name]
    highest = highest or usual
    try:
        found = np.asarray(action[name])
        numbers: list[int] = found.tolist() if shape else [found.item()]
        if found.shape == shape and found.dtype.kind in "iub" and _UP_TO[highest].issuperset(numbers):
            return numbers
    except (KeyError, TypeError, ValueError):
        pass  # no such field, or lists of different lengths
    wanted = f"{shape[0]} whole numbers" if shape else "a whole number"
    raise _invalid(action, name, f"{wanted} from 0 to {highest}")


def _text(action: Structured, name: str) -> str:
    value = action.get(name)
    if not isinstance(value, str):
        raise _invalid(action, name, "a text")
    return value


def _invalid(action: Structured, name: str, wanted: str) -> InvalidAction:
    if name not in action:
        fields = ", ".join(map(show, action))
        return InvalidAction(
            f"the action has no field {name!r}; found {fields}, expected {', '.join(FIELDS)}"
        )
    shape = getattr(action[name], "shape", None)
    kind = type(action[name]).__name__ + (f" of shape {tuple(shape)}" if shape is not None else "")
    return InvalidAction(f"action[{name!r}] is {show(action[name])} ({kind}); expected {wanted}")


# --- writing ----------------------------------------------------------------------------------------------


def no_answer(*, hp: bool = False) -> dict[str, Any]:
    """The structured action that answers nothing: zeros and empty texts.

    Args:
        hp: with the fields of the stage assess_hp.
    """
    action: dict[str, Any] = dict.fromkeys(TEXTS, "")
    for name, (shape, _) in SLOTS.items():
        action[name] = np.zeros(shape, np.int8) if shape else np.int64(0)
    return {name: action[name] for name in FIELDS if hp or not name.endswith("_hp")}


def to_action(answers: Iterable[tuple[Request, Prediction]], *, hp: bool = False) -> dict[str, Any]:
    """Write typed predictions as a structured action, as far as it can express them.

    It cannot express reasoning; the order of tags and goals; emotions outside the 20 items, or an emotion
    twice; an unknown intensity (which becomes 4); questions without a slot, and comparisons beyond the 12th;
    free-text options; line breaks within an item of the follow-up (which become spaces); stated PANAS totals.

    Args:
        answers: requests with their predictions, each stage at most once.
        hp: with the fields of the stage assess_hp, whether it is answered or not.
    """
    given = list(answers)
    action = no_answer(hp=hp or any(isinstance(said, AssessHP) for _, said in given))
    for request, said in given:
        if isinstance(said, Draft):
            action["draft"] = said.text
        elif isinstance(said, Prefer):
            for shown in request.comparisons[:COMPARISONS]:
                if (pick := said.picks.get(shown.index)) is not None:
                    action["picks"][shown.number - 1] = 1 if shown.to_shown(pick) == "A" else 2
        elif isinstance(said, Reflect):
            _put_reflect(action, request, said)
        else:
            suffix = "_hp" if isinstance(said, AssessHP) else ""
            for name, known in (("observed", said.observed), ("preferred", said.preferred)):
                action[name + suffix][:] = [{"no": 1, "yes": 2}.get(known.get(q, ""), 0) for q in BINARY_IDS]
            if isinstance(said, Assess):
                action["none"][0] = said.tags == ()
                for tag in reversed(said.tags or ()):  # of two tags of the same emotion, the first counts
                    if tag.emotion in EMOTIONS:
                        action["emotions"][EMOTIONS.index(tag.emotion)] = tag.intensity or UNKNOWN_INTENSITY
    return action


def _put_reflect(action: dict[str, Any], request: Request, said: Reflect) -> None:
    goals, clarity, fit, _ = (request.options[name] for name in OPTION_FIELDS)
    panas, moved = (said.panas_change or {}, NO_CHANGE) if request.wants_change else (said.panas, 0)
    action["panas"][:] = [panas[name] + moved if name in panas else 0 for name in EMOTIONS]
    action["branches"][:] = [said.branches.get(name, 0) for name in BRANCHES]
    chosen = [_number(goal, goals) for goal in said.q1 or ()]
    action["q1"][:] = [number in chosen for number in range(1, len(goals) + 1)]
    action["none"][1:] = said.q1 == (), said.q3_follow_up == ()
    action["q2"], action["q3"] = np.int64(_number(said.q2, clarity)), np.int64(_number(said.q3, fit))
    action["follow_up"] = "\n".join(item.replace("\n", " ") for item in said.q3_follow_up or ())


def _number(text: str | None, options: tuple[str, ...]) -> int:
    """The 1-based number of an option, ignoring case; 0 if it is none of them."""
    folded = [option.strip().casefold() for option in options]
    wanted = None if text is None else text.strip().casefold()
    return folded.index(wanted) + 1 if wanted in folded else 0
